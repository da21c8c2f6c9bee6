package advice

import (
	"fmt"
	"path"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/analyzers/occupancy"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
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
	// waveCycles are latency and idle of the counted waves.
	waveCycles int64
}

func newSubject(p *analysis.Pass, k *regime.Kernel) *subject {
	s := &subject{p: p, k: k, occ: k.Static, m: k.Main}
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
	s.waveCycles = s.m.Hot.Counted.LatencyCycles + s.m.Hot.Counted.IdleCycles
	return s
}

// lacks names the evidence that a rule needs and the kernel does not have.
func (s *subject) lacks(needs regime.Missing) regime.Missing {
	switch needs {
	case regime.MissingTrace:
		if s.m == nil || s.waveCycles == 0 {
			return needs
		}
	case regime.MissingMemory:
		if len(s.k.Counted) == 0 {
			return needs
		}
	case regime.MissingLaunch:
		if s.occ == nil || s.occ.Launch == nil || s.occ.Launch.LaunchShape == nil {
			return needs
		}
	}
	return ""
}

// param is a rule's parameter.
func (s *subject) param(r *Rule, name string) float64 { return s.p.Param(r.ID + "." + name) }

// all rows of the kernel, in file order.
func (s *subject) rows(yield func(int) bool) {
	for row := s.kernel.First; row < s.kernel.Last; row++ {
		if !yield(row) {
			return
		}
	}
}

// loop is the innermost loop around a row, -1 for none.
func (s *subject) loop(row int) int { return int(s.flow.Innermost[row]) }

// place names a row, and the loop around it.
func (s *subject) place(row int) (Place, string) {
	in := &s.tt.Code[row]
	p := Place{Line: &in.Line, Source: shortSource(in.Source)}
	where := lineText(in.Line, p.Source)
	if l := s.loop(row); l >= 0 {
		first, last := s.loopRows(l)
		p.LoopFirst, p.LoopLast = &s.tt.Code[first].Line, &s.tt.Code[last].Line
		where += fmt.Sprintf(", in the loop of lines %d to %d", *p.LoopFirst, *p.LoopLast)
	}
	return p, where
}

// loopRows are the first and the last row of a loop.
func (s *subject) loopRows(l int) (first, last int) {
	lp := &s.flow.Loops[l]
	first, last = lp.Head, lp.Head
	for _, b := range lp.Blocks {
		first = min(first, s.flow.Blocks[b].First)
		last = max(last, s.flow.Blocks[b].Last-1)
	}
	return first, last
}

// shortSource is the innermost frame, without its folders.
func shortSource(source string) string {
	frames := trace.Frames(source)
	if len(frames) == 0 || frames[0].Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", path.Base(strings.ReplaceAll(frames[0].File, `\`, "/")), frames[0].Line)
}

// cost is what some instructions cost: cycles of the waves, and the part of
// them that no other wave hid.
type cost struct {
	cycles  int64
	exposed float64
}

func (c *cost) add(o cost) {
	c.cycles += o.cycles
	c.exposed += o.exposed
}

// stallOf is the part of a row's stall that falls into some classes, the drain
// at s_endpgm included where asked for.
func (s *subject) stallOf(row int, classes []stalls.Class) cost {
	r := &s.stalls.Rows[row]
	var c cost
	for _, p := range r.Parts {
		if contains(classes, p.Class) {
			c.cycles += p.Cycles
		}
	}
	x := s.split.Row(row, s.stalls.AllWaves)
	if c.cycles > 0 && r.StallCycles > 0 {
		c.exposed = x.Stall * float64(c.cycles) / float64(r.StallCycles)
	}
	if contains(classes, stalls.StoreDrain) {
		c.cycles += r.DrainCycles
		c.exposed += x.Drain
	}
	return c
}

func contains(cs []stalls.Class, c stalls.Class) bool {
	for _, x := range cs {
		if x == c {
			return true
		}
	}
	return false
}

// share is a cost in percent of all wave cycles.
func (s *subject) share(c cost) float64 { return 100 * float64(c.cycles) / float64(s.waveCycles) }

// bound is the most that saving a cost could give: the exposed part of the
// SIMDs' time where it is known, else its share of the wave cycles.
func (s *subject) bound(c cost) (pct float64, of string) {
	if s.split.Absent == "" && s.split.SIMD.Total > 0 {
		return 100 * c.exposed / float64(s.split.SIMD.Total), "the traced SIMDs' time"
	}
	return s.share(c), "wave cycles"
}
