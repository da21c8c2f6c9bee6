package rules

import (
	"fmt"

	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// verdictRules say what a regime asks for as a whole.
func verdictRules() []rule.Check[*subject] {
	return []rule.Check[*subject]{
		verdictRule("at_the_roof", "At the roof", "the bound resource is at {regime.roof_pct} % of its peak or more",
			[]rule.Advice{{Text: "stop here, or do less work: fewer bytes (fusion, smaller types), fewer operations, a better algorithm; scheduling and occupancy gain little"}},
			func(k *regime.Kernel) bool { return k.AtRoof }),
		verdictRule("bandwidth_bound", "Bandwidth-bound", "a memory level is the bound, and not at its roof",
			[]rule.Advice{
				{Text: "move fewer or better-shaped bytes: smaller types, fused kernels, 16 bytes per lane and whole lines"},
				{When: rule.MatrixWork, Text: "reuse in L2"},
				{When: rule.MatrixWork | rule.ManyDies, Text: "XCD swizzle of the workgroups"},
				{When: rule.GEMM | rule.MatrixLoop, Text: "larger tiles: each byte is used more often"},
			},
			func(k *regime.Kernel) bool { return k.Regime == regime.Bandwidth && !k.AtRoof }),
		verdictRule("compute_bound", "Compute-bound", "the matrix pipe, the VALU or instruction issue is the bound, and not at its roof",
			[]rule.Advice{
				{Text: "cut instructions that are not the work: address arithmetic, conversions, wait states; packed forms"},
				{When: rule.MatrixWork, Text: "full-rate matrix shapes; interleave the rest with the matrix instructions"},
			},
			func(k *regime.Kernel) bool { return k.Regime == regime.Compute && !k.AtRoof }),
		{Rule: rule.Rule{
			ID: "cus_without_work", Title: "Compute units that never held a wave", Kind: rule.Verdict, Severity: finding.High,
			Because: "high: nothing inside the kernel helps while CUs have no work",
			Fires:   "the launch is not known, and less than {regime.filled_pct} % of the CUs of the traced engines ever held a wave; with a known launch grid_under_filled says it",
			Advice: []rule.Advice{
				{Text: "more, smaller workgroups, or run several such kernels at once; more occupancy does not help"},
				{When: rule.MatrixWork, Text: "smaller tiles"},
				{When: rule.GEMM, Text: "split the reduction (split-K)"},
			},
			Source: guide + ", section 11 (tiling); occupancy.json",
		}, When: idleCUs},
	}
}

func verdictRule(id, title, fires string, advice []rule.Advice, when func(*regime.Kernel) bool) rule.Check[*subject] {
	return rule.Check[*subject]{
		Rule: rule.Rule{
			ID: id, Title: title, Kind: rule.Verdict, Severity: finding.Info, Fires: fires, Advice: advice, Source: guide + ", section 0; thresholds: parameters of regime",
		},
		When: func(s *subject, _ rule.Values) []rule.Hit {
			if !when(s.k) {
				return nil
			}
			return []rule.Hit{{Text: s.k.Verdict}}
		},
	}
}

func idleCUs(s *subject, _ rule.Values) []rule.Hit {
	known := s.lacks(needsLaunch) == ""
	if s.m == nil || s.k.Subtype != regime.UnderFilled || known {
		return nil
	}
	idle := 100 * (1 - s.m.Held)
	return []rule.Hit{{
		Text:     fmt.Sprintf("%.0f %% of the CUs of the traced engines never held a wave", idle),
		Bound:    &finding.Bound{Pct: idle, Of: "the GPU's CUs, which are idle"},
		Evidence: []finding.Evidence{{Metric: "CUs that held a wave", Value: 100 * s.m.Held, Unit: "%", Source: s.m.FillSource}},
	}}
}
