package main

import (
	"cmp"
	"slices"
	"strings"
)

// capture is one traced run as the profiler sees it: what every writer reads.
type capture struct {
	launch  *launch
	kernels []*kernel
	// waves has all waves of the target CUs in order of engine and launch.
	waves []wave
	// noWstates leaves wstates*.json out.
	noWstates bool
}

// run simulates a launch of one kernel on every traced engine.
func run(k *kernel, l *launch) *capture {
	c := &capture{launch: l, kernels: []*kernel{k}}
	for _, e := range l.engines {
		c.waves = append(c.waves, simulate(k, l, e)...)
	}
	return c
}

// traced lists the waves whose instructions were recorded.
func (c *capture) traced() []wave {
	var out []wave
	for _, w := range c.waves {
		if c.launch.tracedSIMD < 0 || w.simd == c.launch.tracedSIMD {
			out = append(out, w)
		}
	}
	return out
}

// The states of a wave's timeline. Source: rocprof-trace-decoder
// trace_decoder_types.h.
const (
	stateIdle  = 1
	stateExec  = 2
	stateWait  = 3
	stateStall = 4
)

// span is one state of a timeline and its cycles.
type span struct {
	state  int
	cycles int64
}

// timeline is what the decoder makes of a wave: idle until its first
// instruction, waiting in immediate instructions and in gfx9's s_endpgm,
// stalled in the stalls of the others, and executing the rest of the time.
func (w *wave) timeline() []span {
	var out []span
	at := w.begin
	upTo := func(t int64, state int) {
		if t <= at {
			return
		}
		if n := len(out); n > 0 && out[n-1].state == state {
			out[n-1].cycles += t - at
		} else {
			out = append(out, span{state, t - at})
		}
		at = t
	}
	for i, r := range w.records {
		if i == 0 {
			upTo(r.time, stateIdle)
		}
		upTo(r.time, stateExec)
		switch {
		case r.category == catImmed, w.kernel.arch.gfxip == 9 && w.kernel.insts[r.inst].text == "s_endpgm":
			upTo(r.time+r.duration, stateWait)
		case r.stall > 0:
			upTo(r.time+r.stall, stateStall)
		}
	}
	upTo(w.records[len(w.records)-1].time+w.records[len(w.records)-1].duration, stateExec)
	return out
}

// edge is one execution of a wait and the instructions that it waited for.
type edge struct {
	wait      int
	producers []int
}

// edges rebuilds the decoder's waitcnt list: for each counter of a wait, in the
// order lgkmcnt then vmcnt, the operations that must have ended.
// Source: rocprofiler-sdk att-tool waitcnt/gfx9.cpp, gfx12.cpp, analysis.cpp.
func (w *wave) edges() []edge {
	var out []edge
	queues := map[string][]int{}
	unordered := map[string]bool{} // scalar loads return in any order
	for _, r := range w.records {
		in := w.kernel.insts[r.inst]
		if in.class.counter != "" {
			queues[in.class.counter] = append(queues[in.class.counter], w.kernel.lineNumber(r.inst))
			unordered[in.class.counter] = unordered[in.class.counter] || in.class.category == catSMEM
		}
		waits := slices.Clone(in.waits)
		slices.SortFunc(waits, func(a, b waitFor) int { return strings.Compare(a.counter, b.counter) })
		for _, need := range waits {
			if need.left == 0 {
				unordered[need.counter] = false
			}
			queue := queues[need.counter]
			n := len(queue) - need.left
			if n <= 0 || unordered[need.counter] {
				continue
			}
			out = append(out, edge{w.kernel.lineNumber(r.inst), queue[:n:n]})
			queues[need.counter] = queue[n:]
		}
	}
	return out
}

// sums are the counts of one row of code.json.
type sums struct{ hit, latency, stall, idle int64 }

// sum adds up the records of the traced waves for each instruction of a kernel.
// Source: rocprofiler-sdk att-tool profile_interface.cpp.
func (c *capture) sum(k *kernel) []sums {
	out := make([]sums, len(k.insts))
	for _, w := range c.traced() {
		if w.kernel != k {
			continue
		}
		end := w.begin
		for _, r := range w.records {
			s := &out[r.inst]
			s.hit++
			s.latency += r.duration
			s.stall += r.stall
			s.idle += max(r.time-end, 0)
			end = max(end, r.time+r.duration)
		}
	}
	return out
}

// event is the start or the end of a wave on any CU of a traced engine.
type event struct {
	time           int64
	cu, simd, slot int
	start          int
	kernelID       int
}

// occupancy lists the events of an engine by time. The CUs beside the target
// run the same waves a little later: enough for what is asked of them.
func (c *capture) occupancy(e engine) []event {
	q := c.kernels[0].arch.quantum
	var out []event
	for n, cu := range e.cus {
		shift := int64(0)
		if cu != e.target {
			shift = int64(3*n+2) * q
		}
		for _, w := range c.waves {
			if w.se != e.se || n >= len(e.cus)-e.short && w.group == e.groups-1 {
				continue
			}
			ev := event{w.begin + shift, cu, w.simd, w.slot, 1, c.kernelID(w.kernel)}
			out = append(out, ev)
			ev.time, ev.start = w.end+shift, 0
			out = append(out, ev)
		}
	}
	slices.SortStableFunc(out, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.start, b.start), cmp.Compare(a.cu, b.cu),
			cmp.Compare(a.simd, b.simd), cmp.Compare(a.slot, b.slot))
	})
	return out
}

// kernelID is the number that occupancy.json gives a kernel; 0 is kept for the
// unknown one.
func (c *capture) kernelID(k *kernel) int { return slices.Index(c.kernels, k) + 1 }

// stateCounts is how many traced waves are in a state from time[i] on.
func (c *capture) stateCounts(state int) (times, counts []int64) {
	change := map[int64]int64{}
	for _, w := range c.traced() {
		at := w.begin
		for _, s := range w.timeline() {
			if s.state == state {
				change[at]++
				change[at+s.cycles]--
			}
			at += s.cycles
		}
	}
	times, counts = []int64{}, []int64{}
	for t := range change {
		times = append(times, t)
	}
	slices.Sort(times)
	var n int64
	for _, t := range times {
		n += change[t]
		counts = append(counts, n)
	}
	return times, counts
}

// span returns when the first wave of an engine begins and the last one ends.
func (c *capture) span(e engine) (begin, end int64) {
	for _, ev := range c.occupancy(e) {
		if begin == 0 {
			begin = ev.time
		}
		end = ev.time
	}
	return begin, end
}

// realtime gives two points of an engine's clock: when the trace began and when
// it ended, in shader cycles and in ticks of the realtime clock.
func (c *capture) realtime(e engine) [2][2]int64 {
	const step = 400 // ticks; so that the cycles are whole, and of four on gfx9
	perStep := int64(c.launch.shaderMHz) * step * 1_000_000 / ticksPerSecond
	var last int64
	for _, e := range c.launch.engines {
		_, end := c.span(e) // 0 without waves
		last = max(last, end+engineSkew*int64(e.se))
	}
	steps := (last-clockAtTrace)/perStep + 2
	from := clockAtTrace - engineSkew*int64(e.se)
	return [2][2]int64{
		{from, c.launch.startTicks},
		{from + steps*perStep, c.launch.startTicks + steps*step},
	}
}

// nanoseconds gives the start and end of the dispatch on the host's clock,
// which the realtime clock ticks along with.
func (c *capture) nanoseconds() (start, end int64) {
	const perTick = 1_000_000_000 / ticksPerSecond
	for _, e := range c.launch.engines {
		begin, stop := c.span(e)
		if stop == 0 { // no waves
			continue
		}
		at := func(clock int64) int64 {
			cycles := clock + engineSkew*int64(e.se) - clockAtTrace
			return c.launch.startTicks*perTick + cycles*1000/int64(c.launch.shaderMHz)
		}
		if start == 0 || at(begin) < start {
			start = at(begin)
		}
		end = max(end, at(stop))
	}
	return start - 640, end + 1200 // the packet processor's part
}
