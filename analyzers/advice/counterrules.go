package advice

import (
	"fmt"

	"github.com/rocanalyze/rocanalyze/analyzers/l2"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
)

// counterRules take over what the L2 analyzer decides, one rule each, and add
// those of other counters.
func counterRules() []Rule {
	var out []Rule
	for _, d := range l2.Rules() {
		out = append(out, Rule{
			ID: "l2_" + d.ID, Title: "L2 and memory: " + d.ID, Kind: Memory, Severity: d.Severity, Needs: regime.MissingMemory,
			Fires: d.Fires, Fix: d.Fix, Source: guide + ", sections 9 and 11 (memory); rocprofiler-compute memory bandwidth analysis; thresholds: parameters of l2",
			check: l2Decision(d.ID),
		})
	}
	return append(out,
		Rule{
			ID: "bank_conflicts", Title: "LDS bank conflicts, counted", Kind: Waits, Severity: finding.Low, Needs: regime.MissingMemory,
			Fires:  "bank conflicts take at least 5 % of the cycles in which the GPU is busy",
			Fix:    "XOR swizzle of the column by the row, the same on write and read, or padding by 1 to 4 elements per row; recheck masks tuned for 32 banks on gfx950",
			Source: guide + ", section 3; " + gemm + ", section 3; rocprofiler-sdk LDSBankConflict",
			Params: sharePct(5, "share of busy cycles from which it is worth a finding"),
			check:  bankConflicts,
		},
		Rule{
			ID: "uncoalesced", Title: "Uncoalesced accesses, counted", Kind: Memory, Severity: finding.Medium, Needs: regime.MissingMemory,
			Fires:  "coalescing is below 25 %: lanes scatter",
			Fix:    "neighbouring lanes on neighbouring addresses; transpose through LDS where the layout forbids it. 8 bytes per lane give 25 % even when perfect",
			Source: "rocprofiler-compute memory bandwidth analysis (coalescing)",
			Params: []analysis.Param{{Name: "poor_pct", Default: 25, Unit: "%", Doc: "coalescing below this is poor whatever the width: a stream of 8 bytes per lane has 25 %"}},
			check:  uncoalesced,
		},
	)
}

func l2Decision(id string) func(*subject, *Rule) []hit {
	return func(s *subject, _ *Rule) []hit {
		for _, m := range s.k.Counted {
			if m.L2 == nil {
				continue
			}
			for _, d := range m.L2.Decisions {
				if d.ID == id {
					return []hit{{text: d.Text, evidence: d.Evidence, fix: d.Fix, where: m.L2.Run}}
				}
			}
		}
		return nil
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

func bankConflicts(s *subject, r *Rule) []hit {
	pct, source, ok := s.metric("lds_bank_conflict_pct")
	limit := s.param(r, "share_pct")
	if !ok || pct < minorPct {
		return nil
	}
	return []hit{{
		text:     fmt.Sprintf("LDS bank conflicts take %.1f %% of the busy cycles", pct),
		evidence: []finding.Evidence{{Metric: "lds_bank_conflict_pct", Value: pct, Unit: "%", Threshold: &limit, Source: source}},
		bound:    &pct, boundOf: "the GPU's busy cycles", minor: pct < limit,
	}}
}

func uncoalesced(s *subject, r *Rule) []hit {
	pct, source, ok := s.metric("coalescing_pct")
	limit := s.param(r, "poor_pct")
	if !ok || pct >= limit {
		return nil
	}
	return []hit{{
		text:     fmt.Sprintf("coalescing is at %.1f %%", pct),
		evidence: []finding.Evidence{{Metric: "coalescing_pct", Value: pct, Unit: "%", Threshold: &limit, Source: source}},
	}}
}
