// Package analysis is the contract between analyzers and the driver that
// orders and runs them, after the model of golang.org/x/tools/go/analysis: an
// analysis is a documented value that declares what it needs and returns a
// typed result.
package analysis

import (
	"context"
	"regexp"

	"github.com/rocanalyze/rocanalyze/pkg/finding"
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
)

// Capture says how to capture each kind of evidence.
var Capture = map[Evidence]string{
	Counters:     "rocprofv3 --pmc TCC_HIT_sum TCC_MISS_sum TCC_EA0_RDREQ_sum TCC_EA0_WRREQ_sum -d out -f csv -- <application>",
	ThreadTraces: "rocprofv3 --att --att-library-path <decoder> -d out -- <application>",
}

// Param is a declared number that an analyzer can be given: a threshold or a
// switch (0 or 1).
type Param struct {
	// Name is unique within the analyzer; users write ANALYZER.NAME.
	Name    string
	Default float64
	Unit    string
	// Doc says what it does and where the default comes from.
	Doc string
}

// Analyzer is one analysis.
type Analyzer struct {
	// Name is the analyzer's folder name.
	Name string
	// Doc is the analyzer's doc.md: its first line is "# " and a title.
	Doc string
	// Needs lists evidence without which the analyzer is skipped.
	Needs []Evidence
	// Requires lists analyzers whose results Run reads with Pass.ResultOf.
	Requires []*Analyzer
	Params   []Param
	// Run does the work. An error stops the command; a lack of data is not an
	// error but something that the result or a finding says.
	Run func(p *Pass) (any, error)
}

// Pass is what a Run is given.
type Pass struct {
	Context context.Context
	Trace   *trace.Trace
	// Kernel selects kernels by name; nil selects all.
	Kernel *regexp.Regexp
	// Device is a device or architecture that the user named; "" for none.
	Device string
	// Workers is the number of goroutines for heavy reading, at least 1.
	Workers int

	analyzer *Analyzer
	params   map[string]float64
	results  map[*Analyzer]any
	findings *[]finding.Finding
}

// ResultOf returns the result of an analyzer that the running one requires,
// or nil when that one was skipped. Asking for an analyzer that is not in
// Requires is a programming error and also returns nil.
func (p *Pass) ResultOf(a *Analyzer) any {
	for _, r := range p.analyzer.Requires {
		if r == a {
			return p.results[a]
		}
	}
	return nil
}

// Param returns the value of a declared parameter: the user's, else its
// default. An undeclared name gives 0.
func (p *Pass) Param(name string) float64 {
	if v, ok := p.params[p.analyzer.Name+"."+name]; ok {
		return v
	}
	for _, d := range p.analyzer.Params {
		if d.Name == name {
			return d.Default
		}
	}
	return 0
}

// Report adds a finding.
func (p *Pass) Report(f finding.Finding) { *p.findings = append(*p.findings, f) }

// Selects reports whether the user's kernel selection, if any, takes one of
// the given names.
func (p *Pass) Selects(names ...string) bool {
	if p.Kernel == nil {
		return true
	}
	for _, n := range names {
		if p.Kernel.MatchString(n) {
			return true
		}
	}
	return false
}
