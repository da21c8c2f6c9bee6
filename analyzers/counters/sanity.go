package counters

import (
	"fmt"
	"slices"
)

// checkWaves counts dispatches whose SQ_WAVES is not what grid and workgroup
// need. The grid's total in work-items does not tell partial workgroups of two
// dimensions, so only whole ones are checked.
func (b *builder) checkWaves(g *group, d *dispatch) {
	n, ok := b.col.counters.index["SQ_WAVES"]
	if !ok || d.grid <= 0 || d.workgroup <= 0 || d.grid%d.workgroup != 0 {
		return
	}
	i, has := slices.BinarySearch(d.counters, n)
	wave := int64(g.machine.GPU.Wave)
	if !has || wave == 0 || g.machine.GPU.WaveOpen {
		return
	}
	g.waveSeen++
	if d.values[i] != float64(d.grid/d.workgroup)*float64((d.workgroup+wave-1)/wave) {
		g.waveWrong++
	}
}

// slack is how far sums that come from different passes may lie apart.
const slack = 0.02

// check is one cheap test of counters against each other.
type check struct {
	id string
	// needs are canonical names; wrong gets their values in order.
	needs []string
	wrong func(v []float64) bool
	text  string
}

// checks are the sanity checks. Sources of the causes: rocprofiler #48, #85,
// #87, #95, #150; rocprofiler-sdk #47; rocm-systems #833, #5683, #5953, #8523.
func checks() []check {
	return []check{
		{
			"hit_miss_req",
			[]string{"TCC_HIT", "TCC_MISS", "TCC_REQ"},
			func(v []float64) bool { return v[2] > 0 && (v[0]+v[1] > v[2]*(1+slack) || v[0]+v[1] < v[2]*(1-slack)) },
			"TCC_HIT + TCC_MISS is not TCC_REQ: some requests (writes, probes) are neither, the counters are of different passes, or not all channels were summed",
		},
		{
			"req_sizes",
			[]string{"TCC_EA0_RDREQ", "TCC_EA0_RDREQ_32B", "TCC_BUBBLE"},
			func(v []float64) bool { return v[1]+v[2] > v[0]*(1+slack) },
			"32- and 128-byte reads are more than all reads: they were counted in different passes, or TCC_BUBBLE counts something else here",
		},
		{
			"req_32B",
			[]string{"TCC_EA0_RDREQ", "TCC_EA0_RDREQ_32B"},
			func(v []float64) bool { return v[1] > v[0]*(1+slack) },
			"32-byte reads are more than all reads: they were counted in different passes",
		},
		{
			"write_sizes",
			[]string{"TCC_EA0_WRREQ", "TCC_EA0_WRREQ_64B"},
			func(v []float64) bool { return v[1] > v[0]*(1+slack) },
			"64-byte writes are more than all writes: they were counted in different passes",
		},
		{
			"read_twice",
			[]string{"TCC_EA0_RDREQ_DRAM", "TCC_EA0_RDREQ"},
			func(v []float64) bool { return v[1] > 0 && v[0] > v[1]*(1+slack) },
			"more reads went to HBM than there were: they were counted in different passes",
		},
	}
}

// sanity adds notes about counters that cannot be right.
func (b *builder) sanity(k *Kernel, g *group) {
	value := func(name string) (float64, bool) {
		v, ok := k.Counters[b.col.spelled[name]]
		return v, ok
	}
	note := func(id, format string, a ...any) {
		k.Notes = append(k.Notes, Note{ID: id, Text: fmt.Sprintf(format, a...)})
	}
	for _, c := range checks() {
		var v []float64
		for _, name := range c.needs {
			if x, ok := value(name); ok {
				v = append(v, x)
			}
		}
		if len(v) == len(c.needs) && c.wrong(v) {
			note(c.id, "%s", c.text)
		}
	}
	if g.waveWrong > 0 {
		note("waves", "SQ_WAVES is not what grid and workgroup need in %d of %d dispatches: not all shader engines were counted (rocm-systems #3828), or waves were saved and restored", g.waveWrong, g.waveSeen)
	}
	if g.differ > 0 {
		note("repeated", "%d dispatches have a counter twice with different values at the same time: the mean was taken", g.differ)
	}
	b.busyNote(k, note)
	b.archNotes(k, note)
	b.passNotes(k, note)
}

// busyOver and busyUnder are the shares of duration x highest clock that the busy
// cycles of a die may be without a word: above, they cannot all be of the kernel;
// below, the clock that they mean is an idle one. Clocks under load were 0.7 of
// the highest and more in all captures with both.
const (
	busyOver  = 1.3
	busyUnder = 0.5
)

// busyNote warns where busy cycles and duration mean a clock that the device
// cannot have had while the kernel ran.
func (b *builder) busyNote(k *Kernel, note func(id, format string, a ...any)) {
	busy, ok := k.Metrics["gui_active_per_xcd_cycles"]
	highest := k.Machine.highestMHz()
	d, timed := k.Metrics["duration_ns"]
	if !ok || highest <= 0 || !timed || busy.Value == nil || d.Value == nil || *d.Value <= 0 {
		return
	}
	mhz := *busy.Value / *d.Value * 1000
	means := fmt.Sprintf("GRBM_GUI_ACTIVE over the duration means a clock of %.0f MHz, %.2f of the highest (%.0f MHz)", mhz, mhz/highest, highest)
	switch x := mhz / highest; {
	case x > busyOver:
		note("gui_active_long", "%s: it includes launch and profiling, so shares of GPU busy cycles are too low by up to that factor", means)
	case x > 0 && x < busyUnder:
		note("gui_active_short", "%s: the GPU was idle, or at an idle clock, for most of the time between the timestamps (a short kernel, a power state), or not all dies were counted; rates per second and shares of busy cycles are not of the same time", means)
	}
}

// highestMHz is the highest shader clock: the agent's, else that of the fastest
// device that it can be; 0 when unknown.
func (m *Machine) highestMHz() float64 {
	if f, ok := m.Facts["CLOCK_MHZ"]; ok {
		return f.Value
	}
	if m.GPU == nil || m.GPU.Device == nil {
		return 0
	}
	return m.GPU.Device.MaxMHz
}

// archNotes warns of counters that are known to be wrong on an architecture.
func (b *builder) archNotes(k *Kernel, note func(id, format string, a ...any)) {
	arch := k.Machine.Arch()
	bubble, hasBubble := k.Counters[b.col.spelled["TCC_BUBBLE"]]
	if arch == "gfx950" && hasBubble && bubble == 0 && !k.has["TCC_EA0_RDREQ_128B"] && k.has["TCC_EA0_RDREQ"] {
		note("bubble_gfx950", "TCC_BUBBLE reads 0 on gfx950: 128-byte reads are counted by TCC_EA0_RDREQ_128B (rocm-systems #2501)")
	}
	if arch == "gfx1201" && k.has["SQC_LDS_BANK_CONFLICT"] {
		note("lds_gfx1201", "bank conflicts read 0 on gfx1201 (rocm-systems #5953)")
	}
	if slices.Contains(halved(), arch) && k.has["FETCH_SIZE"] {
		note("fetch_size_half", "%s", noteHalf)
	}
	for _, n := range k.Machine.Notes {
		note("machine", "%s", n)
	}
}

// passNotes says when passes do not hold the same dispatches, and when only
// some channels were recorded.
func (b *builder) passNotes(k *Kernel, note func(id, format string, a ...any)) {
	var least int64
	for _, v := range k.Metrics {
		if v.Dispatches > 0 && (least == 0 || v.Dispatches < least) {
			least = v.Dispatches
		}
	}
	if least > 0 {
		note("passes_differ", "the passes do not hold the same dispatches: some metrics rest on %d of %d", least, k.Dispatches)
	}
	for _, c := range k.Channels {
		if c.Partial {
			note("channels_partial", "only %d of %d L2 channels were recorded for %s and perhaps others: the balance is partial", c.Channels, c.Of, c.Counter)
			return
		}
	}
}
