// Package finding holds what an analysis has to say in words: findings with
// their evidence, place, fix and the bound of what the fix could give.
package finding

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity orders findings.
type Severity int

// Severities, from least to most urgent.
const (
	Info Severity = iota
	Low
	Medium
	High
	// Blocker means that the evidence is not good enough to rank anything.
	Blocker
)

var severityNames = [...]string{"info", "low", "medium", "high", "blocker"}

// String returns the severity's name in lower case.
func (s Severity) String() string {
	if s < 0 || int(s) >= len(severityNames) {
		return "unknown"
	}
	return severityNames[s]
}

// MarshalText encodes the severity as its name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Evidence is one number that a finding rests on.
type Evidence struct {
	// Metric names what was measured, Unit what Value counts ("%", "cycles",
	// "waves").
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit,omitempty"`
	// Threshold is what Value was held against; nil when there was none.
	Threshold *float64 `json:"threshold,omitempty"`
	// Source is the file, column or table that Value came from.
	Source string `json:"source,omitempty"`
}

// Place says where in the inputs a finding points.
type Place struct {
	// Path is the capture, Kernel the kernel's name.
	Path   string `json:"path,omitempty"`
	Kernel string `json:"kernel,omitempty"`
	// Line is an instruction's LineNumber in code.json, LoopFirst and LoopLast
	// those of the first and last instruction of the loop around it; nil for
	// none.
	Line      *int `json:"line,omitempty"`
	LoopFirst *int `json:"loop_first_line,omitempty"`
	LoopLast  *int `json:"loop_last_line,omitempty"`
	// Source is a source position, file:line.
	Source string `json:"source,omitempty"`
}

// Bound is the most that a fix could give.
type Bound struct {
	// Pct is an upper bound in percent of Of.
	Pct float64 `json:"pct"`
	Of  string  `json:"of"`
}

// Saving is a stall, of a row of a thread trace's code, that a fix could save.
type Saving struct {
	Row int
	// Drain is set for the drain of an s_endpgm instead.
	Drain bool
	// Cycles are the part of the waves' stall that the fix is about, where the
	// rest of the same wait is for something else; 0 for all of it.
	Cycles int64
}

// Finding is one thing worth telling.
type Finding struct {
	// ID is stable: scripts select on it.
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	// Gate marks a finding about whether the evidence is good enough, as
	// opposed to one about the kernel.
	Gate bool `json:"gate,omitempty"`
	// Text says what was found, in one sentence with its numbers.
	Text     string     `json:"text"`
	Evidence []Evidence `json:"evidence,omitempty"`
	Place    Place      `json:"place"`
	// Where names the place for people.
	Where string `json:"where,omitempty"`
	// Fix says what to do about it.
	Fix   string `json:"fix,omitempty"`
	Bound *Bound `json:"bound,omitempty"`
	// Saves are the stalls that the bound is of; empty where it is of something
	// else. Graded is set where the severity follows the bound.
	Saves  []Saving `json:"-"`
	Graded bool     `json:"-"`
	// SizePct ranks a finding without a bound: the share that its text tells.
	SizePct float64 `json:"-"`
	// Minor findings bound less than their rule's share.
	Minor bool `json:"minor,omitempty"`
	// Kind groups findings by what a verdict can make moot; see rule.Kind.
	Kind string `json:"-"`
}

// Line is the finding as one line of text, without its severity.
func (f *Finding) Line() string { return f.LineOf("") }

// LineOf is Line below a heading that says what bounds are of: only other ones
// say it themselves.
func (f *Finding) LineOf(said string) string {
	text := f.ID
	switch {
	case f.Bound == nil:
	case f.Bound.Of == said:
		text += fmt.Sprintf(" (at most %.0f %%)", f.Bound.Pct)
	default:
		text += fmt.Sprintf(" (at most %.0f %% of %s)", f.Bound.Pct, f.Bound.Of)
	}
	text += ": " + f.Text
	if f.Where != "" {
		text += ". At " + f.Where
	}
	if f.Fix != "" {
		text += ". Fix: " + f.Fix
	}
	return text + "."
}

// Sort orders findings: most severe first, then by bound, then by place and
// id, so that the order never depends on how they were found.
func Sort(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(b.Severity, a.Severity),
			cmp.Compare(b.RankPct(), a.RankPct()),
			cmp.Compare(a.Place.Path, b.Place.Path),
			cmp.Compare(a.Place.Kernel, b.Place.Kernel),
			cmp.Compare(a.ID, b.ID),
			cmp.Compare(a.Text, b.Text),
		)
	})
}

// RankPct is the bound in percent, the size of a finding without one.
func (f *Finding) RankPct() float64 {
	if f.Bound == nil {
		return f.SizePct
	}
	return f.Bound.Pct
}

// BoundPct is the bound in percent, 0 without one.
func (f *Finding) BoundPct() float64 {
	if f.Bound == nil {
		return 0
	}
	return f.Bound.Pct
}
