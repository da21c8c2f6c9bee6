// Package rule is the one engine of findings: a rule is data that says what is
// worth telling, on what evidence, and what to do about it; a check applies it
// to a subject. One scale turns bounds into severities.
package rule

import (
	"fmt"
	"math"
	"regexp"

	"github.com/rocanalyze/rocanalyze/pkg/finding"
)

// Param is a declared number: a threshold or a switch (0 or 1).
type Param struct {
	// Name is unique within its owner; users write OWNER.NAME.
	Name    string
	Default float64
	Unit    string
	// Doc says what it does and where the default comes from.
	Doc string
}

// Kind groups rules by what a verdict can make moot.
type Kind string

// The kinds of rules.
const (
	// Waits: waves wait. Moot when a resource is busy whatever they do.
	Waits Kind = "waits"
	// MemoryWaits: waves wait for memory. Moot too when memory is likely busy.
	MemoryWaits Kind = "memory waits"
	// Verdict: what the regime itself asks for. Never moot.
	Verdict Kind = "verdict"
	// Room: more waves on a SIMD. Moot when there are no more to place.
	Room Kind = "occupancy"
	// Launch: how the grid fills the machine. Never moot.
	Launch Kind = "launch"
	// Matrix: work of the matrix pipe. Moot when memory is the bound.
	Matrix Kind = "matrix"
	// Memory: which bytes move, and how. Moot when compute is the bound.
	Memory Kind = "memory"
	// Work: instructions that need not be. Never moot.
	Work Kind = "work"
	// Gate: whether the evidence is good enough. Never moot.
	Gate Kind = "gate"
)

// Rule is what can be said, without how it is found.
type Rule struct {
	// ID is stable: scripts select on it, --set names its parameters.
	ID    string
	Title string
	Kind  Kind
	// Severity is that of findings without a bound; those with one follow the
	// scale. Because gives the reason where they do not, and Severity counts
	// for them as well; "" where they do.
	Severity finding.Severity
	Because  string
	// Needs is the evidence without which it cannot run; "" for none.
	Needs string
	// Fires says when, in words, thresholds as "{name}" of a parameter of its
	// own or "{owner.name}" of another's; Fix what to do; Source where the rule
	// comes from.
	Fires, Fix, Source string
	// Advice is what to do beyond Fix where the kernel's shape allows it.
	Advice []Advice
	// Means says what a gate does to the results; "" for other rules.
	Means  string
	Params []Param
}

// Values gives the values of a rule's parameters by name, and those of other
// owners that its analyzer knows by owner and name.
type Values func(name string) float64

var quoted = regexp.MustCompile(`\{[a-z0-9_.]+\}`)

// Quote puts the values of parameters in place of their names in braces.
func Quote(text string, values Values) string {
	return quoted.ReplaceAllStringFunc(text, func(name string) string {
		return fmt.Sprintf("%g", values(name[1:len(name)-1]))
	})
}

// Defaults are the values of parameters that a user left alone; NaN for a name
// that none of them has.
func Defaults(params []Param) Values {
	return func(name string) float64 {
		for _, p := range params {
			if p.Name == name {
				return p.Default
			}
		}
		return math.NaN()
	}
}

// Term is a word of the output and what it means.
type Term struct {
	Name string `json:"topic"`
	// Kind is "regime", "subtype of latency", "limiter", "stall class",
	// "counter metric", "counter", "rule", or "gate" (of a trace).
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Fix    string `json:"what_to_do,omitempty"`
	Source string `json:"source,omitempty"`
}

// Check is a rule with its test on subjects of type S.
type Check[S any] struct {
	Rule
	// When returns the places at which the rule fires, most important first.
	When func(subject S, values Values) []Hit
}

// Rules are the rules of checks, in their order.
func Rules[S any](checks []Check[S]) []Rule {
	out := make([]Rule, 0, len(checks))
	for i := range checks {
		out = append(out, checks[i].Rule)
	}
	return out
}

// Hit is one place where a rule fires. What is empty is as the rule and the
// subject have it.
type Hit struct {
	Text string
	// Fix replaces the rule's.
	Fix string
	// Severity replaces what rule and scale give, for the reason that the text
	// of the rule states; nil does not.
	Severity *finding.Severity
	Evidence []finding.Evidence
	Place    finding.Place
	// Where names the place for people.
	Where string
	Bound *finding.Bound
	// SizePct grades and ranks a hit without a bound: the share that its text
	// tells, in percent.
	SizePct float64
	// Saves are the stalls that the bound is of.
	Saves []finding.Saving
	// Minor hits bound less than the rule's share.
	Minor bool
	// Kind replaces the rule's where it differs from place to place.
	Kind Kind
	// Lacks are features of the kernel that the place has no part in: their
	// advice is left out.
	Lacks Shape
}

// Offer is all that the rule may advise, each with the shape that it takes.
func (r *Rule) Offer() string { return Offer(r.Fix, r.Advice) }

// Finding makes the finding of a hit on a kernel of some shape. place fills
// what the hit's place leaves open.
func (r *Rule) Finding(h Hit, scale Scale, place finding.Place, shape Shape) finding.Finding {
	f := finding.Finding{
		ID: r.ID, Severity: r.Severity, Gate: r.Kind == Gate, Text: h.Text, Evidence: h.Evidence, Fix: Fit(r.Fix, r.Advice, shape&^h.Lacks),
		Place: h.Place, Where: h.Where, Bound: h.Bound, Minor: h.Minor, Kind: string(r.Kind),
		Saves: h.Saves, SizePct: h.SizePct,
	}
	if h.Kind != "" {
		f.Kind = string(h.Kind)
	}
	if f.Place.Path == "" {
		f.Place.Path = place.Path
	}
	if f.Place.Kernel == "" {
		f.Place.Kernel = place.Kernel
	}
	if h.Fix != "" {
		f.Fix = h.Fix
	}
	f.Graded = (h.Bound != nil || h.SizePct > 0) && r.Because == "" && h.Severity == nil
	if f.Graded {
		f.Severity = scale.Of(f.RankPct())
	}
	if h.Severity != nil {
		f.Severity = *h.Severity
	}
	return f
}

// Scale grades bounds, in percent: from High on a finding is high, from Medium
// on medium, below low.
type Scale struct{ High, Medium float64 }

// Of grades a bound in percent.
func (s Scale) Of(pct float64) finding.Severity {
	switch {
	case pct >= s.High:
		return finding.High
	case pct >= s.Medium:
		return finding.Medium
	}
	return finding.Low
}

// ScaleName is the owner of the scale's parameters, the others are their full
// names.
const (
	ScaleName = "severity"
	HighPct   = ScaleName + ".high_pct"
	MediumPct = ScaleName + ".medium_pct"
	// MinorPct is the least share that rules with a share tell at all.
	MinorPct = ScaleName + ".minor_pct"
)

// ScaleParams are the parameters of the scale.
func ScaleParams() []Param {
	return []Param{
		{Name: "high_pct", Default: 25, Unit: "%", Doc: "bound of a finding from which it is high"},
		{Name: "medium_pct", Default: 10, Unit: "%", Doc: "bound of a finding from which it is medium; below it is low"},
		{Name: "minor_pct", Default: 1, Unit: "%", Doc: "share from which a finding below its rule's share_pct is told on request (-v)"},
	}
}
