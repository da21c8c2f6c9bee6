package rules

import (
	"fmt"

	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// counterRules look at counters other than those of L2 and memory.
func counterRules() []rule.Check[*subject] {
	return []rule.Check[*subject]{
		{Rule: rule.Rule{
			ID: "bank_conflicts", Title: "LDS bank conflicts, counted", Kind: rule.Waits, Severity: finding.Low, Needs: needsCounters,
			Fires:  "bank conflicts take at least {share_pct} % of the cycles in which the GPU is busy",
			Fix:    "XOR swizzle of the column by the row, the same on write and read, or rows padded by a multiple of the access width (less makes the accesses unaligned); recheck masks tuned for 32 banks on gfx950",
			Source: guide + ", section 3; " + gemm + ", section 3; rocprofiler-sdk LDSBankConflict",
			Params: sharePct(5, "share of busy cycles from which it is worth a finding"),
		}, When: bankConflicts},
		{Rule: rule.Rule{
			ID: "unaligned_lds", Title: "Unaligned LDS accesses, counted", Kind: rule.Waits, Severity: finding.Low, Needs: needsCounters,
			Fires:  "unaligned accesses take at least {share_pct} % of the cycles in which the GPU is busy",
			Fix:    "align every access to its width: a row pitch, padding included, that is a multiple of 16 bytes for 16-byte accesses (8 for 8), or narrower accesses; a XOR swizzle avoids bank conflicts without padding",
			Source: "rocprofiler-sdk counter_defs.yaml (SQ_LDS_UNALIGNED_STALL); a batched GEMM on MI300X whose padded rows halved the conflicts and made it 29 % slower",
			Params: sharePct(5, "share of busy cycles from which it is worth a finding"),
		}, When: unalignedLDS},
		{Rule: rule.Rule{
			ID: "uncoalesced", Title: "Uncoalesced accesses, counted", Kind: rule.Memory, Severity: finding.Medium, Needs: needsCounters,
			Because: "medium: each access takes several times the requests, whether memory is the bound is not asked",
			Fires:   "coalescing is below {poor_pct} %: lanes scatter",
			Fix:     "neighbouring lanes on neighbouring addresses; transpose through LDS where the layout forbids it. 8 bytes per lane give 25 % even when perfect",
			Source:  "rocprofiler-compute memory bandwidth analysis (coalescing)",
			Params:  []rule.Param{{Name: "poor_pct", Default: 25, Unit: "%", Doc: "coalescing below this is poor whatever the width: a stream of 8 bytes per lane has 25 %"}},
		}, When: uncoalesced},
	}
}

// metric is the first value of a metric among the counter runs.
func (s *subject) metric(id string) (value float64, source string, ok bool) {
	for _, m := range s.k.Counted {
		if v, has := m.Counters.Metrics[id]; has && v.Value != nil {
			return *v.Value, v.Source + " [" + m.Counters.Run + "]", true
		}
	}
	return 0, "", false
}

func bankConflicts(s *subject, values rule.Values) []rule.Hit {
	return s.ldsStalls("lds_bank_conflict_pct", "LDS bank conflicts", values)
}

func unalignedLDS(s *subject, values rule.Values) []rule.Hit {
	return s.ldsStalls("lds_unaligned_pct", "unaligned LDS accesses", values)
}

// ldsStalls are stalls of the LDS that take a share of the busy cycles.
func (s *subject) ldsStalls(id, what string, values rule.Values) []rule.Hit {
	pct, source, ok := s.metric(id)
	limit := values("share_pct")
	if !ok || pct < min(limit, values(rule.MinorPct)) {
		return nil
	}
	hit := rule.Hit{
		Text:     fmt.Sprintf("%s take %.1f %% of the busy cycles", what, pct),
		Evidence: []finding.Evidence{{Metric: id, Value: pct, Unit: "%", Threshold: &limit, Source: source}},
		Bound:    &finding.Bound{Pct: pct, Of: "the GPU's busy cycles"}, Minor: pct < limit,
	}
	if useful, source, ok := s.metric("lds_useful_pct"); ok {
		hit.Text += fmt.Sprintf("; %.1f %% are LDS cycles that move data", useful)
		hit.Evidence = append(hit.Evidence, finding.Evidence{Metric: "lds_useful_pct", Value: useful, Unit: "%", Source: source})
	}
	return []rule.Hit{hit}
}

func uncoalesced(s *subject, values rule.Values) []rule.Hit {
	pct, source, ok := s.metric("coalescing_pct")
	limit := values("poor_pct")
	if !ok || pct >= limit {
		return nil
	}
	return []rule.Hit{{
		Text:     fmt.Sprintf("coalescing is at %.1f %%", pct),
		Evidence: []finding.Evidence{{Metric: "coalescing_pct", Value: pct, Unit: "%", Threshold: &limit, Source: source}},
	}}
}
