package loops

import (
	"cmp"
	"math"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/isa"
)

// prefetches lists the waits on memory, LDS and scalar operations with the
// distance to what they wait for.
func (b *builder) prefetches(loops []Loop, first int) []Prefetch {
	out := []Prefetch{}
	for row := b.kernel.First; row < b.kernel.Last; row++ {
		if p, ok := b.prefetch(row, loops, first); ok {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b Prefetch) int {
		return cmp.Or(cmp.Compare(value(b.ExposedCycles), value(a.ExposedCycles)), cmp.Compare(b.StallCycles, a.StallCycles), cmp.Compare(a.Line, b.Line))
	})
	return out
}

func (b *builder) prefetch(row int, loops []Loop, first int) (Prefetch, bool) {
	s := b.replay.Site(row, b.stalls.AllWaves)
	if s == nil || s.Lead.Executions == 0 || len(b.insts[row].Waits) == 0 {
		return Prefetch{}, false
	}
	n, r := float64(s.Lead.Executions), &b.stalls.Rows[row]
	p := Prefetch{
		row: row, Line: b.tt.Code[row].Line, Text: b.tt.Code[row].Text, Class: r.Class(), Executions: s.Lead.Executions,
		AheadCycles: thousandth(float64(s.Lead.Cycles) / n), AheadMFMAs: thousandth(float64(s.Lead.MFMAs) / n),
		Stalled: s.Lead.Latency.Count(), StallCycles: r.StallCycles,
		ExposedCycles: b.known(b.split.Row(row, b.stalls.AllWaves).Stall),
	}
	if l := b.flow.Innermost[row]; l >= 0 {
		id := int(l) - first + 1
		p.LoopID = &id
	}
	median, ok := s.Lead.Latency.Quantile(0.5)
	if !ok {
		return p, true
	}
	p.LatencyMedian = &median
	if missing := median - int64(math.Round(p.AheadCycles)); missing > 0 {
		p.EarlierCycles = &missing
		p.EarlierMFMAs = mfmasFor(missing, p.LoopID, loops)
	}
	return p, true
}

// mfmasFor turns cycles into matrix instructions of the wave's loop, at the
// pace at which a wave goes through them.
func mfmasFor(cycles int64, loop *int, loops []Loop) *int64 {
	if loop == nil {
		return nil
	}
	i := slices.IndexFunc(loops, func(l Loop) bool { return l.ID == *loop })
	if i < 0 || loops[i].PerIteration.MFMAs == 0 {
		return nil
	}
	per := &loops[i].PerIteration
	n := int64(math.Ceil(float64(cycles) * per.MFMAs / per.Cycles))
	return &n
}

// isMatrixLoop reports whether a loop executes matrix instructions.
func isMatrixLoop(l *Loop) bool {
	return slices.ContainsFunc(l.Mix, func(m Mix) bool { return m.Kind == isa.MFMA.String() })
}
