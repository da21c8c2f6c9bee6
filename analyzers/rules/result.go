package rules

import (
	"cmp"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/efficiency"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// Result is the machine output, kernels in the order of the verdicts.
type Result struct {
	Kernels []Kernel `json:"kernels"`
}

// Kernel is a verdict with what follows from it.
type Kernel struct {
	regime.Kernel
	// Findings are those worth acting on, the largest bound first.
	Findings []finding.Finding `json:"findings"`
	// Silenced are rules that fired and that the verdict makes moot.
	Silenced []Silenced `json:"silenced,omitempty"`
	// NotRun are rules that lacked their evidence.
	NotRun []NotRun `json:"rules_not_run,omitempty"`
	// Efficiency is the way from the peak to what was achieved, of the trace that
	// the verdict rests on.
	Efficiency *efficiency.Efficiency `json:"efficiency,omitempty"`
	Next       []Capture              `json:"next_capture"`
}

// Silenced is a rule that fired in vain.
type Silenced struct {
	ID  string `json:"id"`
	Why string `json:"reason"`
}

// NotRun is a rule without its evidence.
type NotRun struct {
	ID    string         `json:"id"`
	Lacks regime.Missing `json:"lacks"`
}

// take keeps what rules found, but for what the verdict makes moot.
func (k *Kernel) take(found []finding.Finding) {
	for i := range found {
		f := &found[i]
		why := moot(f.Kind, &k.Kernel)
		switch {
		case f.Gate: // about the capture
		case why == "":
			k.Findings = append(k.Findings, *f)
		default:
			k.silence(f.ID, why)
		}
	}
}

// silence notes once that a rule fired in vain.
func (k *Kernel) silence(id, why string) {
	if x := (Silenced{id, why}); !slices.Contains(k.Silenced, x) {
		k.Silenced = append(k.Silenced, x)
	}
}

// refined says which rules say more precisely what others say as well; those
// that are of one place each only do so there.
var refined = []struct {
	rule     string
	of       []string
	oneplace bool
}{
	{"no_double_buffer", []string{"vmem_drain_in_loop", "vmem_wait", "vmem_to_lds_wait"}, false},
	{"late_prefetch", []string{"vmem_drain_in_loop", "vmem_wait", "vmem_to_lds_wait", "lds_wait", "smem_wait", "lds_or_smem_wait", "cross_lane_wait"}, true},
	{"matrix_result_read_early", []string{"mfma_dependency", "pipeline_bubble"}, true},
	{"vmem_drain_in_loop", []string{"vmem_wait", "vmem_to_lds_wait"}, false},
	{"narrow_stores", []string{"store_drain"}, false},
	{"narrow_loads", []string{"vmem_issue"}, true},
	{"scalar_load_in_loop", []string{"smem_wait"}, false},
	{"spilled_values", []string{"spills"}, false},
	{"compare_select_nops", []string{"pipeline_bubble"}, false},
	{"lds_read_use_pairs", []string{"lds_wait"}, false},
	{"bank_conflicts", []string{"lds_issue"}, false},
}

// refine silences findings that a more precise one stands for: one that holds
// at least mostOfPct of their bound.
func (k *Kernel) refine(mostOfPct float64) {
	for _, r := range refined {
		precise := slices.DeleteFunc(slices.Clone(k.Findings), func(f finding.Finding) bool { return f.ID != r.rule })
		k.Findings = slices.DeleteFunc(k.Findings, func(f finding.Finding) bool {
			moot := slices.Contains(r.of, f.ID) && slices.ContainsFunc(precise, func(p finding.Finding) bool {
				here := p.Place.Line != nil && f.Place.Line != nil && *p.Place.Line == *f.Place.Line
				return p.BoundPct() >= mostOfPct/100*f.BoundPct() && (here || !r.oneplace)
			})
			if moot {
				k.silence(f.ID, r.rule+" says it more precisely")
			}
			return moot
		})
	}
}

// leads names the rule that says what to do about a verdict's subtype.
var leads = map[string]string{regime.UnderFilled: "grid_under_filled", regime.Tail: "tail", regime.Imbalance: "imbalance", regime.LDSUnaligned: "unaligned_lds", regime.LDSConflicts: "bank_conflicts"}

// lead puts first what follows from the verdict itself: as long as it stands,
// the others are what to do within it.
func (k *Kernel) lead() {
	follows := func(f finding.Finding) int {
		if f.Kind == string(rule.Verdict) || f.ID == leads[k.Subtype] && k.Regime == regime.Latency {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(k.Findings, func(a, b finding.Finding) int { return cmp.Compare(follows(a), follows(b)) })
}

// Cut keeps the first top findings (0: all), minor ones and low ones of a rule
// that was heard only if asked for, and says how many it left out.
func (k *Kernel) Cut(top int, minor bool) (left int) {
	kept, heard := []finding.Finding{}, map[string]bool{}
	for _, f := range k.Findings {
		again := heard[f.ID] && f.Severity == finding.Low
		if (f.Minor || again) && !minor || top > 0 && len(kept) >= top {
			left++
			continue
		}
		heard[f.ID] = true
		kept = append(kept, f)
	}
	k.Findings = kept
	return left
}
