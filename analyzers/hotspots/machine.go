package hotspots

import (
	"math"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/balance"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

func (b *builder) machine() Machine {
	m := Machine{Occupancy: occupancyOf(b.tt, b.resolved.Machine), SIMDs: len(b.replay.SIMDs), Counters: counters(b.tt)}
	for _, s := range b.replay.SIMDs {
		if !slices.Contains(m.Engines, s.SE) {
			m.Engines = append(m.Engines, s.SE)
		}
	}
	if w, ok := window(b.replay.SIMDs); ok {
		m.WindowCycles = &w
	}
	m.ClockMHz = clockMHz(b.tt.Clocks)
	if r := b.ran(); r != nil {
		m.WavesNs = r.SpanNs
	}
	if m.WindowCycles == nil || m.ClockMHz == nil {
		return m
	}
	ns := float64(*m.WindowCycles) / *m.ClockMHz * 1000
	m.WindowNs = &ns
	if m.WavesNs != nil {
		// The clocks of the engines differ by a little.
		m.WindowPctOfWaves = new(min(100, 100*ns / *m.WavesNs))
	}
	if c := b.trust.Companion; c != nil && c.Time != nil {
		m.WindowPct = new(100 * ns / float64(c.Time.Ns))
	}
	return m
}

// ran is what the trace itself tells of the launch.
func (b *builder) ran() *capture.Ran { return b.resolved.Kernels[b.k].Ran }

// counters sums the sampled counters over the engines, in their own order.
func counters(tt *trace.ThreadTrace) []Counter {
	var out []Counter
	for _, e := range tt.Counters {
		for _, v := range e.Values {
			i := slices.IndexFunc(out, func(c Counter) bool { return c.Name == v.Name })
			if i < 0 {
				i = len(out)
				out = append(out, Counter{Name: v.Name})
			}
			out[i].Value += v.Value
		}
	}
	return out
}

// window is the longest time between first begin and last end over the traced
// compute units; their clocks differ, so it is taken within each.
func window(simds []replay.SIMD) (int64, bool) {
	type cu struct{ se, cu int }
	first, last := map[cu]int64{}, map[cu]int64{}
	var longest int64
	for _, s := range simds {
		id := cu{s.SE, s.CU}
		if f, ok := first[id]; !ok || s.First < f {
			first[id] = s.First
		}
		last[id] = max(last[id], s.Last)
		longest = max(longest, last[id]-first[id])
	}
	return longest, len(simds) > 0
}

// clockMHz is the mean of the engines' clocks.
func clockMHz(c *trace.Clocks) *float64 {
	if c == nil {
		return nil
	}
	var sum float64
	n := 0
	for _, e := range c.Engines {
		if hz, ok := c.GfxHz(e); ok {
			sum += hz
			n++
		}
	}
	if n == 0 {
		return nil
	}
	mhz := sum / float64(n) / 1e6
	return &mhz
}

func occupancyOf(tt *trace.ThreadTrace, m *capture.Machine) *Occupancy {
	o := tt.Occupancy
	if o == nil {
		return nil
	}
	out := &Occupancy{Engines: len(o.Engines), Waves: o.Starts()}
	var wave, simd int64
	for _, e := range o.Engines {
		out.CUsHeld += len(e.CUs)
		out.PeakWavesPerSIMD = max(out.PeakWavesPerSIMD, e.PeakPerSIMD)
		out.Unmatched += e.Unmatched
		wave += e.WaveCycles
		simd += e.SIMDCycles
	}
	for _, k := range o.Kernels {
		if k.Starts > 0 {
			out.Kernels = append(out.Kernels, KernelWaves{k.Name, k.Starts})
		}
	}
	if simd > 0 {
		mean := float64(wave) / float64(simd)
		out.MeanWavesPerSIMD = &mean
	}
	out.CUsTotal, out.CUsSource = m.EngineCUs(len(o.Engines)), m.EnginesSource()
	if out.CUsTotal != nil {
		pct := 100 * float64(out.CUsHeld) / *out.CUsTotal
		if out.CUsHeld <= int(math.Ceil(*out.CUsTotal)) {
			pct = min(pct, 100)
		}
		out.FillPct = &pct
	}
	return out
}

// utilisation of the traced SIMDs by this kernel's trace. Issue cycles are
// latency without stall, which holds on gfx9; later generations count
// execution as latency, so that the figure is left out there.
func (b *builder) utilisation() *Utilisation {
	if !b.replay.HasWaves {
		return nil
	}
	u := &Utilisation{DeviceShare: balance.Analyzer.Of(b.p, b.tt).DeviceShare(b.tt.Occupancy, b.replay.SIMDs)}
	var resident, issuing, valu, windows int64
	for _, s := range b.replay.SIMDs {
		resident += s.Resident
		issuing += s.Issuing
		valu += s.IssuingVALU
		windows += s.Last - s.First
	}
	switch {
	case !b.resolved.IsGFX9():
		u.Absent = append(u.Absent, "issue utilisation: latency includes execution on this generation, so that issue cycles are not known")
	case b.replay.TooLong:
		u.Absent = append(u.Absent, "issue utilisation: the trace covers too many cycles to count them")
	default:
		u.IssuePct, u.VALUIssuePct = ratioPct(issuing, resident), ratioPct(valu, resident)
	}
	cycles, unknown := b.matrixCycles()
	switch {
	case unknown != "":
		u.Absent = append(u.Absent, "matrix utilisation: the cost of "+unknown+" is not known for "+b.listing.Arch.String())
	default:
		u.MFMAPct = ratioPct(cycles, windows)
	}
	return u
}

// matrixCycles sums hits times cycles of the kernel's matrix instructions over
// all waves that were read; unknown names the first whose cost is not known.
func (b *builder) matrixCycles() (cycles int64, unknown string) {
	for row := b.kernel.First; row < b.kernel.Last; row++ {
		in := &b.listing.Insts[row]
		hits := b.replay.Hits(b.tt, row)
		if !isMatrix(in) || hits == 0 {
			continue
		}
		if in.Matrix == nil || in.Matrix.Cycles <= 0 {
			return 0, in.Mnemonic
		}
		cycles += hits * int64(in.Matrix.Cycles)
	}
	return cycles, ""
}
