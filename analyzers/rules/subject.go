package rules

import (
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/efficiency"
	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/analyzers/idioms"
	"github.com/rocanalyze/rocanalyze/analyzers/loops"
	"github.com/rocanalyze/rocanalyze/analyzers/occupancy"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/shape"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// subject is one kernel as the rules see it.
type subject struct {
	p *analysis.Pass
	k *regime.Kernel
	// occ is the occupancy, nil when it is not known.
	occ *occupancy.Kernel

	// m is the trace that the verdict rests on, nil without one; the rest is
	// of that trace.
	m      *regime.TraceMeasure
	tt     *trace.ThreadTrace
	kernel trace.Kernel
	insts  []isa.Inst
	stalls *stalls.Breakdown
	replay *replay.Replay
	flow   *flow.Flow
	split  *exposed.Split
	shape  rule.Shape
	// repeats says of each loop whether it was gone round more than once.
	repeats []bool
	// waveCycles are latency and idle of the counted waves.
	waveCycles int64
}

func newSubject(p *analysis.Pass, k *regime.Kernel) *subject {
	s := &subject{p: p, k: k, occ: k.Static, m: k.Main}
	if k.GPU != nil {
		if dies, ok := k.GPU.Number("XCC"); ok && dies.Number > 1 {
			s.shape = rule.ManyDies
		}
	}
	if s.m == nil {
		return s
	}
	s.occ = s.m.Occupancy
	s.tt = s.m.Trace
	s.kernel = s.tt.Kernels[s.m.Kernel]
	s.insts = code.Analyzer.Of(p, s.tt).Insts
	s.stalls = stalls.Analyzer.Of(p, s.tt)
	s.replay = replay.Analyzer.Of(p, s.tt)
	s.flow = flow.Analyzer.Of(p, s.tt)
	s.split = exposed.Analyzer.Of(p, s.tt)
	shapes := shape.Analyzer.Of(p, s.tt)
	s.repeats = shapes.Repeats
	s.shape |= shapes.Kernels[s.m.Kernel]
	s.waveCycles = s.m.Hot.Counted.LatencyCycles + s.m.Hot.Counted.IdleCycles
	return s
}

// Shape is what the kernel does; nothing is known without a trace.
func (s *subject) Shape() rule.Shape { return s.shape }

// lacks names the evidence that a rule needs and the kernel does not have.
func (s *subject) lacks(needs string) regime.Missing {
	has := true
	switch needs {
	case needsTrace:
		has = s.m != nil && s.waveCycles > 0
	case needsCounters:
		has = len(s.k.Counted) > 0
	case needsLaunch:
		has = s.occ != nil && s.occ.Launch != nil && s.occ.Launch.LaunchShape != nil
	}
	if has {
		return ""
	}
	return regime.Missing(needs)
}

// notRun lists the rules that lack their evidence.
func (s *subject) notRun() []NotRun {
	var out []NotRun
	for _, r := range Rules() {
		if lacks := s.lacks(r.Needs); lacks != "" {
			out = append(out, NotRun{r.ID, lacks})
		}
	}
	return out
}

// own is what the rules find that are no measure's.
func (s *subject) own(checks []rule.Check[*subject]) []finding.Finding {
	able := slices.DeleteFunc(slices.Clone(checks), func(c rule.Check[*subject]) bool { return s.lacks(c.Needs) != "" })
	place := finding.Place{Kernel: s.k.Name}
	if len(s.k.Sources) > 0 {
		place.Path = s.k.Sources[0].Path
	}
	return analysis.Find(s.p, able, s, place)
}

// efficiency is the way from the peak to what the trace achieved, nil where it
// is not of this kernel.
func (s *subject) efficiency() *efficiency.Efficiency {
	if s.m == nil {
		return nil
	}
	if e := efficiency.Analyzer.Of(s.p, s.tt); e != nil && e.Kernel == s.m.Kernel {
		return e
	}
	return nil
}

// measured is what the measures found about the kernel. Of several counter runs
// the first that an L2 rule fired on tells.
func (s *subject) measured() []finding.Finding {
	var out []finding.Finding
	if s.occ != nil {
		out = append(out, s.occ.Found...)
	}
	if s.m != nil {
		if k := loops.Analyzer.Of(s.p).Kernel(s.tt, s.m.Kernel); k != nil {
			out = append(out, k.Found...)
		}
		if s.m.Balance != nil {
			out = append(out, s.m.Balance.Found...)
		}
		if k := idioms.Analyzer.Of(s.p).Kernel(s.tt, s.m.Kernel); k != nil {
			out = append(out, k.Found...)
		}
	}
	told := map[string]bool{}
	for _, m := range s.k.Counted {
		if m.L2 == nil {
			continue
		}
		for _, f := range m.L2.Found {
			if !told[f.ID] {
				out = append(out, f)
			}
			told[f.ID] = true
		}
	}
	return out
}

// all rows of the kernel, in file order.
func (s *subject) rows(yield func(int) bool) {
	for row := s.kernel.First; row < s.kernel.Last; row++ {
		if !yield(row) {
			return
		}
	}
}

// loop is the innermost loop around a row that was gone round more than once,
// -1 for none.
func (s *subject) loop(row int) int {
	l := int(s.flow.Innermost[row])
	for l >= 0 && !s.repeats[l] {
		l = s.flow.Loops[l].Parent
	}
	return l
}

// place names a row, and the loop around it.
func (s *subject) place(row int) (finding.Place, string) { return s.flow.Place(s.tt, row) }

// cost is what some instructions cost: cycles of the waves, and the part of
// them that no other wave hid.
type cost struct {
	cycles  int64
	exposed float64
	saves   []finding.Saving
}

func (c *cost) add(o cost) {
	c.cycles += o.cycles
	c.exposed += o.exposed
	c.saves = append(c.saves, o.saves...)
}

// stallOf is the part of a row's stall that falls into some classes, the drain
// at s_endpgm included where asked for.
func (s *subject) stallOf(row int, classes []stalls.Class) cost {
	r := &s.stalls.Rows[row]
	var c cost
	x := s.split.Row(row, s.stalls.AllWaves)
	var share float64
	for _, p := range r.Parts {
		if slices.Contains(classes, p.Class) {
			c.cycles += p.Cycles
			share += r.ExposedShare(p)
		}
	}
	c.exposed = x.Stall * share
	switch {
	case c.cycles == 0:
	case share > nearlyAll:
		c.saves = append(c.saves, finding.Saving{Row: row})
	default:
		c.saves = append(c.saves, finding.Saving{Row: row, Cycles: c.cycles})
	}
	if slices.Contains(classes, stalls.StoreDrain) {
		c.cycles += r.DrainCycles
		c.exposed += x.Drain
		c.saves = append(c.saves, finding.Saving{Row: row, Drain: true})
	}
	return c
}

// nearlyAll of a stall is all of it, but for rounding.
const nearlyAll = 1 - 1e-9

// share is a cost in percent of all wave cycles.
func (s *subject) share(c cost) float64 { return 100 * float64(c.cycles) / float64(s.waveCycles) }

// bound is the most that saving a cost could give: the exposed part of the
// SIMDs' time where it is known, else its share of the wave cycles. The exposed
// part of a finding is that of its share until all findings are bound together.
func (s *subject) bound(c cost) *finding.Bound {
	if s.split.Absent == "" && s.split.SIMD.Total > 0 {
		return &finding.Bound{Pct: 100 * c.exposed / float64(s.split.SIMD.Total), Of: exposed.SIMDTimeName}
	}
	return &finding.Bound{Pct: s.share(c), Of: "wave cycles"}
}

// boundAll sets the bounds of the findings that save stalls, in one look at them.
func (s *subject) boundAll(found []finding.Finding) error {
	if s.m == nil {
		return nil
	}
	return s.split.Bound(s.p, s.replay, s.stalls.AllWaves, found)
}
