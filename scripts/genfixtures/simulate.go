package main

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// record is one executed instruction: when it was first tried, how long it
// stalled, how long it took with the stall, and which instruction it was.
type record struct {
	time, stall, duration int64
	category, inst        int
}

// wave is one simulated wave. Times are on the clock of its shader engine.
type wave struct {
	kernel     *kernel
	se, cu     int
	simd, slot int
	// id counts the waves of a slot, group the workgroups of a CU.
	id, group  int
	begin, end int64
	records    []record
}

// resident is a wave that the machine is running.
type resident struct {
	wave
	idle bool // without work: takes the idleOnly branches
	rest bool // not the first wave of its workgroup: takes the restOnly branches
	pc   int
	// ready is when the next instruction can first be tried; tried is when it
	// was, -1 before.
	ready, tried int64
	// visits counts how often a branch was taken.
	visits map[int]int
	// done holds, for each wait counter, when its operations end.
	done map[string][]int64
	// arrivals are the times at which this wave came to a barrier, and passed
	// how many of them it is through.
	arrivals []int64
	passed   int
	finished bool
	peers    *[]*resident
}

// machine runs a kernel's waves on one CU. It issues in order, oldest wave
// first, and at most one instruction for each pipe of a SIMD in a quantum.
type machine struct {
	k     *kernel
	l     *launch
	e     engine
	rng   *rand.Rand
	now   int64
	waves []*resident // in order of launch
	// slots holds the running wave of each SIMD and slot, ids how many waves
	// the slot has had.
	slots [][]*resident
	ids   [][]int
	// free is when a pipe has done its work: by SIMD, the shared pipes in row 0.
	free [][pipeCount]int64
	// served is when the memory has done its loads and its stores.
	served [2]int64
}

// simulate runs the workgroups of one engine's target CU and returns the waves
// in order of launch.
func simulate(k *kernel, l *launch, e engine) []wave {
	m := &machine{k: k, l: l, e: e, rng: rand.New(rand.NewPCG(l.seed, uint64(e.se)))}
	m.now = clockAtLaunch - engineSkew*int64(e.se)
	m.now += m.jitter(10 * k.arch.quantum)
	for range k.arch.simds {
		m.slots = append(m.slots, make([]*resident, l.resident))
		m.ids = append(m.ids, make([]int, l.resident))
		m.free = append(m.free, [pipeCount]int64{})
	}
	next := m.now
	for started := 0; started < e.groups || m.running(); m.now += k.arch.quantum {
		if started < e.groups && m.now >= next && m.start(started) {
			started++
			next = m.now + 32
		}
		m.step()
	}
	out := make([]wave, len(m.waves))
	for i, w := range m.waves {
		out[i] = w.wave
	}
	return out
}

// jitter is a whole number of quanta below n cycles.
func (m *machine) jitter(n int64) int64 {
	q := m.k.arch.quantum
	if n < q {
		return 0
	}
	return m.rng.Int64N(n/q) * q
}

func (m *machine) running() bool {
	for _, w := range m.waves {
		if !w.finished || w.end > m.now {
			return true
		}
	}
	return false
}

// start places a workgroup if every one of its waves finds a slot.
func (m *machine) start(group int) bool {
	a := m.k.arch
	n := m.l.wavesPerGroup(a)
	peers := make([]*resident, 0, n)
	for i := range n {
		simd := (group*n + i) % a.simds
		slot := m.freeSlot(simd)
		if slot < 0 {
			for _, w := range peers { // the group does not fit: take it back
				m.slots[w.simd][w.slot] = nil
			}
			return false
		}
		w := &resident{visits: map[int]int{}, done: map[string][]int64{}, tried: -1, peers: &peers}
		w.wave = wave{kernel: m.k, se: m.e.se, cu: m.e.target, simd: simd, slot: slot, group: group}
		w.rest = i > 0
		w.idle = m.l.working >= 0 && group >= m.l.working
		w.begin = m.now + int64(i)*a.quantum
		w.ready = w.begin + 7*a.quantum + a.quantum*m.rng.Int64N(3)
		m.slots[simd][slot] = w
		peers = append(peers, w)
	}
	for _, w := range peers {
		w.id = m.ids[w.simd][w.slot]
		m.ids[w.simd][w.slot]++
	}
	m.waves = append(m.waves, peers...)
	return true
}

func (m *machine) freeSlot(simd int) int {
	for slot, w := range m.slots[simd] {
		if w == nil || w.finished && w.end <= m.now {
			return slot
		}
	}
	return -1
}

// step is one quantum of the CU. The SIMDs take turns at the shared pipes.
func (m *machine) step() {
	a := m.k.arch
	issued := make([][pipeCount]bool, a.simds)
	turn := int(m.now/a.quantum) % a.simds
	for i := range a.simds {
		simd := (turn + i) % a.simds
		for _, w := range m.oldestFirst(simd) {
			if w.finished || m.now < w.ready {
				continue
			}
			in := &m.k.insts[w.pc]
			lost := in.class.pipe != pipeSequencer && issued[simd][in.class.pipe]
			if lost { // to an older wave: no attempt, so this is idle time
				continue
			}
			if w.tried < 0 {
				m.try(w, in)
			}
			if m.canIssue(w, in) {
				issued[simd][in.class.pipe] = true
				m.issue(w, in)
			}
		}
	}
}

func (m *machine) oldestFirst(simd int) []*resident {
	var out []*resident
	for _, w := range m.slots[simd] {
		if w != nil {
			out = append(out, w)
		}
	}
	slices.SortStableFunc(out, func(a, b *resident) int { return int(a.begin - b.begin) })
	return out
}

// try notes the first attempt; a barrier counts it as the wave's arrival.
func (m *machine) try(w *resident, in *inst) {
	w.tried = m.now
	if in.text == "s_barrier" {
		w.arrivals = append(w.arrivals, m.now)
	}
}

func (m *machine) canIssue(w *resident, in *inst) bool {
	for _, need := range in.waits {
		if w.outstanding(need.counter, m.now) > need.left {
			return false
		}
	}
	if isBarrierWait(in) && !w.barrierOpen(m.now) {
		return false
	}
	return *m.pipeOf(w, in.class.pipe) <= m.now+in.class.queue
}

func isBarrierWait(in *inst) bool {
	return in.text == "s_barrier" || strings.HasPrefix(in.text, "s_barrier_wait")
}

func (m *machine) pipeOf(w *resident, p pipe) *int64 {
	if p >= pipeLDS {
		return &m.free[0][p]
	}
	return &m.free[w.simd][p]
}

func (w *resident) outstanding(counter string, now int64) int {
	n := 0
	for _, t := range w.done[counter] {
		if t > now {
			n++
		}
	}
	return n
}

// barrierOpen says whether every wave of the workgroup has come to the barrier
// before now. Waves that have ended no longer count.
func (w *resident) barrierOpen(now int64) bool {
	for _, p := range *w.peers {
		if !p.finished && (len(p.arrivals) <= w.passed || p.arrivals[w.passed] >= now) {
			return false
		}
	}
	return true
}

// issue ends the current instruction of a wave and writes its record.
func (m *machine) issue(w *resident, in *inst) {
	a, c := m.k.arch, in.class
	r := record{time: w.tried, category: c.category, inst: w.pc}
	if n := len(w.records); c.category == catImmed && a.gfxip > 9 && n > 0 {
		// The decoder sees only the end of a wait, and lets it begin where the
		// instruction before it ends.
		last := w.records[n-1]
		r.time = min(m.now, last.time+last.duration)
	}
	r.stall = m.now - r.time
	r.duration = r.stall + m.cost(in)
	w.ready, w.tried = m.now+a.quantum, -1
	if a.gfxip == 9 {
		w.ready = r.time + r.duration
	}
	if c.pipe != pipeSequencer {
		free := m.pipeOf(w, c.pipe)
		*free = max(*free, m.now) + c.busy
	}
	if c.counter != "" {
		w.done[c.counter] = append(w.done[c.counter], m.complete(w, c))
	}
	switch {
	case isBarrierWait(in):
		w.passed++
	case strings.HasPrefix(in.text, "s_barrier_signal"):
		w.arrivals = append(w.arrivals, m.now)
	case in.text == "s_endpgm":
		m.finish(w, &r)
	}
	if c.category == catImmed && a.gfxip == 9 {
		r.stall = r.duration // the decoder books all of it as stall
	}
	m.follow(w, in, &r)
	w.records = append(w.records, r)
}

// cost is what an instruction takes behind its stall: its issue on gfx9, its
// execution later.
func (m *machine) cost(in *inst) int64 {
	a := m.k.arch
	if a.gfxip > 9 {
		return in.class.execute
	}
	if nop, ok := nopStates(in.text); ok {
		return a.quantum * nop
	}
	if in.class.category != catImmed && in.class.category != catMessage && m.rng.IntN(24) == 0 {
		return 2 * a.quantum // a late token
	}
	return a.quantum
}

func nopStates(text string) (int64, bool) {
	arg, ok := strings.CutPrefix(text, "s_nop ")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(arg, 10, 64)
	return n + 1, err == nil
}

// complete is when a memory operation ends. Scalar loads end in any order, the
// others in order of issue.
func (m *machine) complete(w *resident, c class) int64 {
	done := m.now + c.latency + m.jitter(c.jitter)
	if c.pipe == pipeVMEM {
		queue, serve := &m.served[0], m.l.serveLoad
		if c.store {
			queue, serve = &m.served[1], m.l.serveStore
		}
		*queue = max(*queue, m.now) + serve
		done = max(done, *queue+c.latency/2)
	}
	q := m.k.arch.quantum
	done = (done + q - 1) / q * q
	if c.category == catSMEM {
		return done
	}
	for _, t := range w.done[c.counter] {
		done = max(done, t)
	}
	return done
}

// follow moves on to the next instruction.
func (m *machine) follow(w *resident, in *inst, r *record) {
	at := w.pc
	w.pc++
	if in.target >= 0 {
		taken := w.visits[at] < in.taken
		if in.idleOnly {
			taken = w.idle
		}
		if in.restOnly {
			taken = w.rest
		}
		if taken {
			w.visits[at]++
			w.pc = in.target
			r.category = catJump
			w.ready += 4 * m.k.arch.quantum // the instructions have to be fetched anew
		} else {
			w.visits[at] = 0
		}
	}
	if w.pc < len(m.k.insts) && r.category == catVALU {
		next := m.k.insts[w.pc].class.pipe
		if next == pipeVMEM || next == pipeLDS { // the address has to be there
			w.ready += 2 * m.k.arch.quantum
		}
	}
}

// finish ends a wave. gfx9's s_endpgm takes until all stores are through, and
// the decoder's end of the wave may lie four cycles before it; later
// architectures give the wave up at once.
func (m *machine) finish(w *resident, r *record) {
	w.finished = true
	if m.k.arch.gfxip == 9 {
		for _, t := range w.done["vmcnt"] {
			r.duration = max(r.duration, t-r.time)
		}
	}
	w.end = r.time + r.duration
	if m.k.arch.gfxip == 9 && r.duration > 4 && m.rng.IntN(3) == 0 {
		w.end -= 4
	}
}
