package exposed

import (
	"context"

	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
)

// SIMDTimeName names what bounds of stalls are of.
const SIMDTimeName = "the traced SIMDs' time"

// Bound sets the bounds of findings that save stalls: in percent of the traced
// SIMDs' time, the cycles in which a wave of a SIMD is in one of those stalls
// and none issues. Severities that follow the bound follow it again. All waves
// or only the working ones count. Without a split the findings stay as they
// are.
func (s *Split) Bound(p *analysis.Pass, r *replay.Replay, all bool, found []finding.Finding) error {
	if s.Absent != "" || s.SIMD.Total <= 0 {
		return nil
	}
	var bound []*finding.Finding
	var saves [][]finding.Saving
	for i := range found {
		if f := &found[i]; f.Bound != nil && len(f.Saves) > 0 {
			bound = append(bound, f)
			saves = append(saves, f.Saves)
		}
	}
	cycles, err := s.Ceilings(p.Context, p.Workers, r, all, saves)
	if err != nil {
		return err
	}
	for i, f := range bound {
		f.Bound = &finding.Bound{Pct: 100 * float64(cycles[i]) / float64(s.SIMD.Total), Of: SIMDTimeName}
		if f.Graded {
			f.Severity = p.Scale().Of(f.Bound.Pct)
		}
	}
	return nil
}

// Ceilings returns for each group of stalls the SIMD cycles that would at most
// be gone without it. Of a wait that is only in part for the group its union
// with the others counts, but no more than that part of the waves' cycles: the
// rest of it would have to be waited for all the same.
func (s *Split) Ceilings(ctx context.Context, workers int, r *replay.Replay, all bool, groups [][]finding.Saving) ([]int64, error) {
	if len(groups) == 0 || s.Absent != "" {
		return make([]int64, len(groups)), nil
	}
	sets := make([][]replay.StallRef, 0, 2*len(groups))
	shared := make([]int64, len(groups))
	for i, group := range groups {
		var whole, every []replay.StallRef
		for _, x := range group {
			ref := replay.StallRef{Row: x.Row, Drain: x.Drain}
			every = append(every, ref)
			shared[i] += x.Cycles
			if x.Cycles == 0 {
				whole = append(whole, ref)
			}
		}
		sets = append(sets, every)
		if shared[i] > 0 {
			sets = append(sets, whole)
		}
	}
	unions, err := r.Unions(ctx, workers, all, sets)
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(groups))
	at := 0
	for i := range groups {
		out[i] = unions[at]
		at++
		if shared[i] > 0 {
			out[i] = min(out[i], unions[at]+shared[i])
			at++
		}
	}
	return out, nil
}
