package regime

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/analyzers/l2"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
)

// CounterMeasure is what one run under a counter profiler tells about a kernel.
type CounterMeasure struct {
	Counters *counters.Kernel
	// L2 is nil without counters of L2 and memory.
	L2 *l2.Kernel
}

// counted says which metric of the counters analyzer is the use of which
// resource. The first that has a value counts.
var counted = []struct {
	resource string
	regime   Regime
	metrics  []string
	// peak takes the share of a peak instead of the value.
	peak bool
	// upper figures are an upper end: requests of unknown size. They suggest, as
	// requested bytes do, and where requests stall they do not even that.
	upper bool
}{
	{resMatrix, Compute, []string{"mfma_util_pct"}, false, false},
	{resVALU, Compute, []string{"valu_util_pct"}, false, false},
	{resL2, Bandwidth, []string{"l1_l2_GBps"}, true, false},
	{resL2, Bandwidth, []string{"l2_bw_GBps"}, true, true},
	{resLDS, Bandwidth, []string{"lds_useful_pct"}, false, false},
}

// counterRuns adds every kernel of every run under a counter profiler.
func (j *joiner) counterRuns() {
	res, memory := counters.Analyzer.Of(j.p), l2.Analyzer.Of(j.p)
	if res == nil {
		return
	}
	for i := range res.Kernels {
		c := &res.Kernels[i]
		m := &CounterMeasure{Counters: c}
		for n := range memory.Kernels {
			x := &memory.Kernels[n]
			if x.Name == c.Name && x.Run == c.Run && x.Machine == c.Machine {
				m.L2 = x
			}
		}
		k := j.kernel(capture.NamesOf(c.Symbol, c.Name), Shape{})
		k.Counted = append(k.Counted, m)
		k.Sources = append(k.Sources, Source{Kind: "counters", Path: c.Run})
		if c.Machine != nil && k.Arch == "" {
			k.Arch, k.Device, k.GPU = c.Machine.Arch(), c.Machine.Device, c.Machine.GPU
		}
	}
}

// countedShapes fills in the launch of kernels that only their counters know;
// they are not told apart by it.
func (j *joiner) countedShapes() {
	for _, k := range j.kernels {
		for _, m := range k.Counted {
			if c := m.Counters; k.Shape.Workgroups == 0 && len(k.Counted) == 1 && c.Grid > 0 && c.Workgroup > 0 {
				s := Shape{Workgroup: c.Workgroup, Grid: c.Grid, Workgroups: (c.Grid-1)/c.Workgroup + 1}
				if k.Shape.Fits(s) {
					k.Shape.Take(s)
				}
			}
		}
	}
}

// countedLaunch is how the grid that counters tell covers the GPU: whether each
// CU gets a workgroup. More takes the occupancy. nil where it is not known, work
// goes to pairs of CUs, or a figure of how busy the kernel was cannot be right.
func (k *Kernel) countedLaunch(levels []Level) *gpu.LaunchShape {
	if len(k.Counted) != 1 || k.Shape.Workgroups <= 0 || slices.ContainsFunc(levels, func(l Level) bool { return l.Flag != "" }) {
		return nil
	}
	m := k.Counted[0].Counters.Machine
	if m == nil {
		return nil
	}
	cus, ok := m.Facts["CU"]
	if !ok || m.Arch() == "" || !strings.HasPrefix(m.Arch(), "gfx9") {
		return nil
	}
	return &gpu.LaunchShape{
		Workgroups: k.Shape.Workgroups, WorkgroupSize: int(k.Shape.Workgroup), CUs: int(cus.Value), Unit: "CU", Units: int(cus.Value),
		UnderFilled: float64(k.Shape.Workgroups) < cus.Value,
	}
}

// counterFacts are the facts of one counter run.
func (d *decider) counterFacts(m *CounterMeasure) facts {
	f := facts{fill: 1, stall: m.stall()}
	for _, c := range counted {
		if slices.ContainsFunc(f.levels, func(l Level) bool { return l.Resource == c.resource }) {
			continue
		}
		if l, ok := d.level(m, c.resource, c.regime, c.metrics, c.peak, c.upper); ok {
			f.levels = append(f.levels, l)
		}
	}
	if l, ok := d.traffic(m); ok {
		f.levels = append(f.levels, l)
	}
	f.rate = m.rate()
	if v, ok := m.Counters.Metrics["dep_wait_pct_of_wave_cycles"]; ok && v.Value != nil {
		f.waiting, f.waitingFrom = v.Value, "counters: "+v.Source
	}
	return f
}

// level makes a level of the first metric that has a value or a range, or of one
// that cannot be right.
func (d *decider) level(m *CounterMeasure, resource string, r Regime, metrics []string, peak, upper bool) (Level, bool) {
	for _, id := range metrics {
		v, ok := m.Counters.Metrics[id]
		if !ok {
			continue
		}
		l := Level{Resource: resource, Regime: r, Basis: Measured, How: v.Source, Source: "counters of " + m.Counters.Run}
		if low, high, ok := ends(v, peak); ok {
			d.between(&l, low, high)
			l.note = v.Note
			if upper {
				l.AtMost, l.note = true, "every request counts as a whole line, which not all are"
				l.Undecided = m.stallsL2() != "" && l.Pct >= d.bandwidth
				l.note = cmp.Or(m.stallsL2(), l.note)
			}
			if l.Pct > 100 {
				l.Flag = overPeak(v)
			}
			return l, true
		}
		if v.Computed != nil && !peak {
			l.Pct, l.Flag = *v.Computed, overPeak(v)
			return l, true
		}
	}
	return Level{}, false
}

// ends are both ends of a metric in percent, equal where it is known.
func ends(v counters.Value, peak bool) (low, high float64, ok bool) {
	scale := 1.0
	if peak {
		if v.Peak == nil || v.Peak.Value <= 0 {
			return 0, 0, false
		}
		scale = 100 / v.Peak.Value
	}
	switch {
	case v.Value != nil:
		return *v.Value * scale, *v.Value * scale, true
	case v.Range != nil:
		return v.Range.Low * scale, v.Range.High * scale, true
	}
	return 0, 0, false
}

// between gives a level a figure that is known to lie in a range: its lower end
// where that decides, its upper end where that does, or where neither does.
func (d *decider) between(l *Level, low, high float64) {
	from, _ := d.from(*l)
	l.Pct = low
	if high-low <= sameRange {
		return
	}
	l.How += fmt.Sprintf("; between %.0f and %.0f %%", low, high)
	switch {
	case low >= from:
		l.AtLeast = true
	case high < from:
		l.Pct, l.AtMost = high, true
	default:
		l.Pct, l.low, l.AtMost, l.Undecided = high, low, true, true
	}
}

// countedNotes are the remarks about counters that a verdict is not to be read
// without: what was left out, and what reads 0 and was not counted.
func countedNotes(all []*CounterMeasure) []string {
	var out []string
	for _, m := range all {
		for _, n := range m.Counters.Notes {
			switch n.ID {
			case "outliers", "not_counted", "l2_not_collected":
				if !slices.Contains(out, n.Text) {
					out = append(out, n.Text)
				}
			}
		}
	}
	return out
}

func overPeak(v counters.Value) string {
	if v.Note != "" {
		return v.Note
	}
	return "more than the peak: the clock, the number of dies or the passes do not fit"
}

// traffic is what L2 and memory exchanged, in percent of the memory's peak.
func (d *decider) traffic(m *CounterMeasure) (Level, bool) {
	if m.L2 == nil || m.L2.Traffic == nil || m.L2.Traffic.PctOfPeak == nil {
		return m.impossibleTraffic()
	}
	t := m.L2.Traffic
	low, high := t.PctOfPeak.Low, t.PctOfPeak.High
	l := Level{
		Resource: resHBM, Regime: Bandwidth, Basis: Measured,
		How:    fmt.Sprintf("bytes between L2 and memory / duration / %.0f GB/s", t.PeakGBps),
		Source: "counters of " + m.Counters.Run + "; peak: " + t.PeakSource,
	}
	if mm := measuredMemory(m); mm != nil && t.PeakGBps > 0 && mm.Value > 0 {
		low, high = low*t.PeakGBps/mm.Value, high*t.PeakGBps/mm.Value
		l.How = fmt.Sprintf("bytes between L2 and memory / duration / %.0f GB/s, a measured peak (theoretical: %.0f GB/s)", mm.Value, t.PeakGBps)
		l.Source = "counters of " + m.Counters.Run + "; peak: " + mm.Source
	}
	if slices.ContainsFunc(m.Counters.Notes, func(n counters.Note) bool { return n.ID == counters.LentDuration }) {
		l.How += "; the duration is of another run"
	}
	l.Streaming = slices.ContainsFunc(m.L2.Decisions, func(d l2.Decision) bool { return d.ID == l2.Streaming })
	if t.Only != "" {
		l.How = t.Only + " alone, " + l.How
		l.note = "only " + t.Only + " were counted"
	}
	for _, id := range []string{"ea_read_bytes", "ea_write_bytes"} {
		if v := m.Counters.Metrics[id]; v.Range != nil {
			l.note = strings.TrimPrefix(l.note+"; "+v.Note, "; ")
		}
	}
	d.between(&l, low, high)
	if l.Pct > 100 {
		l.Flag = "more than memory can give: the MALL serves a part, or the passes do not fit"
	}
	return l, true
}

// rate says how much memory moved where its peak is not known; "" where it is, or
// nothing was counted.
func (m *CounterMeasure) rate() string {
	if m.L2 == nil || m.L2.Traffic == nil || m.L2.Traffic.GBps == nil || m.L2.Traffic.PeakGBps > 0 {
		return ""
	}
	t := m.L2.Traffic
	s := fmt.Sprintf("memory moves %.4g GB/s", t.GBps.Low)
	if t.Only != "" || t.GBps.High > t.GBps.Low {
		s = fmt.Sprintf("memory moves at least %.4g GB/s", t.GBps.Low)
	}
	return s
}

// traffic is the rate of the first counter run that has one, as evidence.
func (k *Kernel) traffic() []finding.Evidence {
	for _, m := range k.Counted {
		if m.L2 != nil && m.L2.Traffic != nil && m.L2.Traffic.GBps != nil {
			t := m.L2.Traffic
			e := finding.Evidence{Metric: "memory_traffic", Value: t.GBps.Low, Unit: "GB/s", Source: "bytes between L2 and memory / duration [counters of " + m.Counters.Run + "]"}
			if t.Only != "" || t.GBps.High > t.GBps.Low {
				e.Unit = "GB/s, or more"
			}
			return []finding.Evidence{e}
		}
	}
	return nil
}

// impossibleTraffic is memory traffic above the memory's peak, which the
// counters analyzer computed and does not call a value.
func (m *CounterMeasure) impossibleTraffic() (Level, bool) {
	machine := m.Counters.Machine
	if machine == nil || machine.Memory == nil || machine.Memory.Value <= 0 {
		return Level{}, false
	}
	l := Level{
		Resource: resHBM, Regime: Bandwidth, Basis: Measured,
		How: fmt.Sprintf("bytes between L2 and memory / duration / %.0f GB/s", machine.Memory.Value), Source: "counters of " + m.Counters.Run,
	}
	var sum float64
	for _, id := range []string{"ea_read_GBps", "ea_write_GBps"} {
		switch v := m.Counters.Metrics[id]; {
		case v.Value != nil:
			sum += *v.Value
		case v.Computed != nil:
			sum += *v.Computed
			l.Flag = overPeak(v)
		}
	}
	l.Pct = 100 * sum / machine.Memory.Value
	return l, l.Flag != ""
}

// sameRange is the width in points below which a range is one value.
const sameRange = 0.5

// measuredMemory is the bandwidth that a roofline.csv beside the counters holds.
func measuredMemory(m *CounterMeasure) *gpu.Peak {
	if m.Counters.Machine == nil {
		return nil
	}
	return m.Counters.Machine.Measured
}

// merged puts measured facts in place of a trace's.
func merged(f, c facts) facts {
	for _, l := range c.levels {
		at := slices.IndexFunc(f.levels, func(o Level) bool { return o.Resource == l.Resource })
		switch {
		case at < 0:
			f.levels = append(f.levels, l)
		case l.Flag == "" && f.levels[at].Basis != Measured:
			f.levels[at] = l
		}
	}
	if f.waiting == nil {
		f.waiting, f.waitingFrom = c.waiting, c.waitingFrom
	}
	f.rate = cmp.Or(f.rate, c.rate)
	if f.stall == nil {
		f.stall = c.stall
	}
	return f
}

// disagreements are resources that a trace and counters see differently.
func (d *decider) disagreements(f, c facts) []string {
	var out []string
	for _, l := range c.levels {
		at := slices.IndexFunc(f.levels, func(o Level) bool { return o.Resource == l.Resource })
		if at < 0 || l.Flag != "" {
			continue
		}
		t := f.levels[at]
		from, _ := d.from(t)
		switch {
		case t.Basis == UpperBound && t.Pct >= from && !l.Undecided && l.Pct < from:
			out = append(out, fmt.Sprintf("the trace requests %s of HBM's peak, counters measured %.0f %%: caches serve the rest; the counters are believed", requestText(t.Pct), l.Pct))
		case t.Basis == Traced && math.Abs(t.Pct-l.Pct) > d.disagree:
			out = append(out, fmt.Sprintf("%s: %.0f %% in the trace, %.0f %% by counters; the counters are believed, they cover whole dispatches", resourceWords[t.Resource], t.Pct, l.Pct))
		}
	}
	hbm := slices.IndexFunc(c.levels, func(l Level) bool { return l.Resource == resHBM && l.Flag == "" && !l.Undecided })
	if hbm >= 0 && c.levels[hbm].Pct < d.bandwidth && len(f.waits) > 0 && isMemoryWait(f.waits[0].Kind) {
		out = append(out, fmt.Sprintf("waves wait most for %s, yet HBM is at %.0f %% of its peak: latency, not bandwidth", kindWords[f.waits[0].Kind], c.levels[hbm].Pct))
	}
	return out
}

func requestText(pct float64) string {
	if pct > 100 {
		return "more than 100 %"
	}
	return fmt.Sprintf("%.0f %%", pct)
}
