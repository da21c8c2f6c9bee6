package advice

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
)

// Result is the machine output, kernels in the order of the verdicts.
type Result struct {
	Kernels []Kernel `json:"kernels"`
}

// Kernel is a verdict with what follows from it.
type Kernel struct {
	regime.Kernel
	// Findings are those worth acting on, the largest bound first.
	Findings []Finding `json:"findings"`
	// Silenced are rules that fired and that the verdict makes moot.
	Silenced []Silenced `json:"silenced,omitempty"`
	// NotRun are rules that lacked their evidence.
	NotRun []NotRun  `json:"rules_not_run,omitempty"`
	Next   []Capture `json:"next_capture"`
}

// Finding is one thing to do.
type Finding struct {
	// ID is the rule's.
	ID       string             `json:"id"`
	Severity finding.Severity   `json:"severity"`
	Text     string             `json:"text"`
	Evidence []finding.Evidence `json:"evidence,omitempty"`
	Fix      string             `json:"fix"`
	// Where names the place for people, Place for programs.
	Where string `json:"where,omitempty"`
	Place Place  `json:"place"`
	// BoundPct is the most that the fix can give, in percent of BoundOf: a
	// bound, not a promise. Absent where there is none.
	BoundPct *float64 `json:"bound_pct,omitempty"`
	BoundOf  string   `json:"bound_of,omitempty"`
	// Minor findings bound less than their rule's share.
	Minor bool `json:"minor,omitempty"`
}

// Place is where in the code a finding points: LineNumbers of code.json.
type Place struct {
	Line *int `json:"line,omitempty"`
	// LoopFirst and LoopLast are the first and last line of the loop around it.
	LoopFirst *int   `json:"loop_first_line,omitempty"`
	LoopLast  *int   `json:"loop_last_line,omitempty"`
	Source    string `json:"source,omitempty"`
}

// Silenced is a rule that fired in vain.
type Silenced struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// NotRun is a rule without its evidence.
type NotRun struct {
	ID    string         `json:"id"`
	Lacks regime.Missing `json:"lacks"`
}

// apply runs one rule on a kernel.
func (k *Kernel) apply(s *subject, r *Rule) {
	if lacks := s.lacks(r.Needs); lacks != "" {
		k.NotRun = append(k.NotRun, NotRun{r.ID, lacks})
		return
	}
	for _, h := range r.check(s, r) {
		if why := moot(r.Kind, s.k); why != "" {
			k.Silenced = append(k.Silenced, Silenced{r.ID, why})
			return
		}
		f := Finding{
			ID: r.ID, Severity: r.Severity, Text: h.text, Evidence: h.evidence, Fix: r.Fix,
			Place: h.place, Where: h.where, BoundPct: h.bound, BoundOf: h.boundOf, Minor: h.minor,
		}
		if h.id != "" {
			f.ID = h.id
		}
		if h.fix != "" {
			f.Fix = h.fix
		}
		if h.bound != nil {
			f.Severity = severityOf(*h.bound)
		}
		if h.severity != nil {
			f.Severity = *h.severity
		}
		k.Findings = append(k.Findings, f)
	}
}

// severityOf grades a bound in percent.
func severityOf(pct float64) finding.Severity {
	switch {
	case pct >= highPct:
		return finding.High
	case pct >= mediumPct:
		return finding.Medium
	}
	return finding.Low
}

// Bounds in percent from which a finding is high, and medium.
const (
	highPct   = 25
	mediumPct = 10
)

// refined says which rules say more precisely what others say as well.
var refined = []struct {
	rule string
	of   []string
}{
	{"no_double_buffer", []string{"vmem_drain_in_loop", "vmem_wait", "vmem_to_lds_wait"}},
	{"vmem_drain_in_loop", []string{"vmem_wait", "vmem_to_lds_wait"}},
	{"narrow_stores", []string{"store_drain"}},
	{"scalar_load_in_loop", []string{"smem_wait"}},
	{"bank_conflicts", []string{"lds_issue"}},
}

// mostOf is the part of a general finding's bound that a precise one has to
// hold to stand for it.
const mostOf = 0.6

// refine silences findings that a more precise one stands for.
func (k *Kernel) refine() {
	for _, r := range refined {
		at := slices.IndexFunc(k.Findings, func(f Finding) bool { return f.ID == r.rule })
		if at < 0 {
			continue
		}
		precise := boundOf(k.Findings[at])
		k.Findings = slices.DeleteFunc(k.Findings, func(f Finding) bool {
			moot := slices.Contains(r.of, f.ID) && precise >= mostOf*boundOf(f)
			if moot {
				k.Silenced = append(k.Silenced, Silenced{f.ID, r.rule + " says it more precisely"})
			}
			return moot
		})
	}
}

// sort puts the most severe first, then the largest bound.
func (k *Kernel) sort() {
	slices.SortStableFunc(k.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(boundOf(b), boundOf(a)), cmp.Compare(a.ID, b.ID))
	})
}

func boundOf(f Finding) float64 {
	if f.BoundPct == nil {
		return 0
	}
	return *f.BoundPct
}

// Cut keeps the first top findings (0: all), minor ones only if asked for, and
// says how many it left out.
func (k *Kernel) Cut(top int, minor bool) (left int) {
	kept := []Finding{}
	for _, f := range k.Findings {
		if f.Minor && !minor || top > 0 && len(kept) >= top {
			left++
			continue
		}
		kept = append(kept, f)
	}
	k.Findings = kept
	return left
}

// lineText names an instruction for people.
func lineText(line int, source string) string {
	s := fmt.Sprintf("line %d", line)
	if source != "" {
		s += " (" + source + ")"
	}
	return s
}
