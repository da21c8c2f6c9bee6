// Package analysis is the contract between analyzers and the driver that
// orders and runs them, after the model of golang.org/x/tools/go/analysis: an
// analysis is a documented value that declares what it needs and returns a
// typed result.
package analysis

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Evidence is a kind of input that an analyzer cannot do without.
type Evidence string

// The kinds of evidence.
const (
	// ThreadTraces: at least one decoded thread trace.
	ThreadTraces Evidence = "thread trace"
	// Counters: at least one run under a counter profiler.
	Counters Evidence = "hardware counters"
	// Samples: at least one run under PC sampling.
	Samples Evidence = "PC samples"
)

// Capture says how to capture each kind of evidence.
var Capture = map[Evidence]string{
	Counters: "rocprofv3 --pmc TCC_HIT_sum TCC_MISS_sum TCC_EA0_RDREQ_sum TCC_EA0_WRREQ_sum -d out -f csv -- <application>",
	// Source: rocprofiler-sdk documentation, "Using PC sampling".
	Samples:      "rocprofv3 --pc-sampling-beta-enabled --pc-sampling-method stochastic --pc-sampling-unit cycles --pc-sampling-interval 1048576 --kernel-trace -f csv -d out -- <application>",
	ThreadTraces: "rocprofv3 --att --att-library-path <decoder> -d out -- <application>",
}

// Param is a declared number that an analyzer can be given: a threshold or a
// switch (0 or 1). Users write ANALYZER.NAME, or RULE.NAME for those of rules.
type Param = rule.Param

// Analyzer is one analysis without the type of its result; see Typed.
type Analyzer struct {
	// Name is the analyzer's folder name.
	Name string
	// Doc is the analyzer's doc.md: its first line is "# " and a title.
	Doc string
	// Needs lists evidence without which the analyzer is skipped.
	Needs []Evidence
	// Requires lists analyzers whose results the analyzer reads.
	Requires []Required
	Params   []Param
	// Rules are what the analyzer may report findings of.
	Rules []rule.Rule

	// run does the work. An error stops the command; a lack of data is not an
	// error but something that the result or a finding says.
	run func(p *Pass) (any, error)
}

// Required is an analyzer that others can require: an *Analyzer, a Typed or a
// PerTrace.
type Required interface{ analyzer() *Analyzer }

func (a *Analyzer) analyzer() *Analyzer { return a }

// Typed is an analyzer whose result is a T.
type Typed[T any] struct{ *Analyzer }

// New makes an analyzer of its description and what it runs. An error of run
// stops the command; a lack of data is not an error but something that the
// result or a finding says.
func New[T any](a Analyzer, run func(p *Pass) (T, error)) Typed[T] {
	a.run = func(p *Pass) (any, error) { return run(p) }
	return Typed[T]{&a}
}

// Results are those of the analyzers that ran: an *Outcome, or a *Pass for the
// analyzers that the running one requires.
type Results interface{ result(a *Analyzer) any }

// Of returns the analyzer's result, the zero T when it was skipped.
func (t Typed[T]) Of(r Results) T {
	out, _ := r.result(t.Analyzer).(T)
	return out
}

// PerTrace is an analyzer with one T for every thread trace.
type PerTrace[T any] struct{ *Analyzer }

// NewPerTrace makes an analyzer that runs once for every thread trace.
func NewPerTrace[T any](a Analyzer, run func(p *Pass, tt *trace.ThreadTrace) (T, error)) PerTrace[T] {
	a.Needs = append(slices.Clip(a.Needs), ThreadTraces)
	a.run = func(p *Pass) (any, error) {
		out := make(map[*trace.ThreadTrace]T, len(p.Trace.ThreadTraces))
		for _, tt := range p.Trace.ThreadTraces {
			x, err := run(p, tt)
			if err != nil {
				return nil, err
			}
			out[tt] = x
		}
		return out, nil
	}
	return PerTrace[T]{&a}
}

// Of returns the result for one thread trace, the zero T when there is none.
func (t PerTrace[T]) Of(r Results, tt *trace.ThreadTrace) T {
	all, _ := r.result(t.Analyzer).(map[*trace.ThreadTrace]T)
	return all[tt]
}

// Pass is what an analyzer runs on.
type Pass struct {
	Context context.Context
	Trace   *trace.Trace
	// Capture says which GPU and which kernel each part of Trace is of.
	Capture *capture.Capture
	// Kernel selects kernels by name; nil selects all.
	Kernel *regexp.Regexp
	// Workers is the number of goroutines for heavy reading, at least 1.
	Workers int

	running *Analyzer
	params  map[string]float64
	out     *Outcome
}

// result is that of an analyzer that the running one requires, nil when that
// one was skipped. Asking for any other is a programming error and gives nil.
func (p *Pass) result(a *Analyzer) any {
	for _, r := range p.running.Requires {
		if r.analyzer() == a {
			return p.out.results[a]
		}
	}
	return nil
}

// Param returns the value of a parameter of the running analyzer: the user's,
// else its default. OWNER.NAME is one of its rules' or of the scale. An
// undeclared name gives 0.
func (p *Pass) Param(name string) float64 {
	owner, rest, ok := strings.Cut(name, ".")
	if !ok {
		return p.value(p.running.Name, p.running.Params, name)
	}
	if owner == rule.ScaleName {
		return p.value(owner, rule.ScaleParams(), rest)
	}
	if owner == p.running.Name {
		return p.value(owner, p.running.Params, rest)
	}
	for i := range p.running.Rules {
		if r := &p.running.Rules[i]; r.ID == owner {
			return p.value(owner, r.Params, rest)
		}
	}
	return 0
}

// value is the user's value of a parameter, else its default.
func (p *Pass) value(owner string, declared []Param, name string) float64 {
	if v, ok := p.params[owner+"."+name]; ok {
		return v
	}
	for _, d := range declared {
		if d.Name == name {
			return d.Default
		}
	}
	return 0
}

// Report adds findings.
func (p *Pass) Report(fs ...finding.Finding) { p.out.Findings = append(p.out.Findings, fs...) }

// Found makes the finding of a rule's hit by the scale of the run; place is
// where it points beyond what the hit says. It does not report it.
func (p *Pass) Found(r *rule.Rule, h rule.Hit, place finding.Place) finding.Finding {
	return p.found(r, h, place, 0)
}

func (p *Pass) found(r *rule.Rule, h rule.Hit, place finding.Place, shape rule.Shape) finding.Finding {
	return r.Finding(h, p.Scale(), place, shape)
}

// Scale is what bounds are graded by.
func (p *Pass) Scale() rule.Scale {
	return rule.Scale{High: p.Param(rule.HighPct), Medium: p.Param(rule.MediumPct)}
}

// Find runs checks on a subject and returns what they find, in the order of
// the checks, without reporting it. A subject that is rule.Shaped gets the
// advice that fits it.
func Find[S any](p *Pass, checks []rule.Check[S], subject S, place finding.Place) []finding.Finding {
	var out []finding.Finding
	var shape rule.Shape
	if s, ok := any(subject).(rule.Shaped); ok {
		shape = s.Shape()
	}
	for i := range checks {
		c := &checks[i]
		values := func(name string) float64 {
			if strings.Contains(name, ".") {
				return p.Param(name)
			}
			return p.value(c.ID, c.Params, name)
		}
		for _, h := range c.When(subject, values) {
			out = append(out, p.found(&c.Rule, h, place, shape))
		}
	}
	return out
}

// Check is Find, and reports what it returns.
func Check[S any](p *Pass, checks []rule.Check[S], subject S, place finding.Place) []finding.Finding {
	out := Find(p, checks, subject, place)
	p.Report(out...)
	return out
}

// Note adds remarks about inputs that were made while they were read further.
func (p *Pass) Note(notes ...trace.Note) { p.Trace.AddNotes(notes...) }

// Selects reports whether the user's kernel selection, if any, takes one of the
// names by which the capture knows a kernel.
func (p *Pass) Selects(n capture.Names) bool {
	return p.Kernel == nil || slices.ContainsFunc(p.Capture.Called(n), p.Kernel.MatchString)
}
