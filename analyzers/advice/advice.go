// Package advice is the analyzer that turns verdicts into findings: rules, as
// data, that each name what they saw, where, what to do about it and the most
// that it could give. It also says what to capture next.
package advice

import (
	_ "embed"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/analyzers/l2"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
)

//go:embed doc.md
var doc string

// Analyzer returns a *Result.
var Analyzer = analysis.New(analysis.Analyzer{
	Name: "advice",
	Doc:  doc,
	Requires: []analysis.Required{
		code.Analyzer, replay.Analyzer, stalls.Analyzer, flow.Analyzer, exposed.Analyzer, l2.Analyzer, regime.Analyzer,
	},
	Params: params(),
}, run)

// params declares every rule's parameters, as RULE.PARAM.
func params() []analysis.Param {
	var out []analysis.Param
	for _, r := range Rules() {
		for _, p := range r.Params {
			p.Name = r.ID + "." + p.Name
			out = append(out, p)
		}
	}
	return out
}

func run(p *analysis.Pass) (*Result, error) {
	verdicts := regime.Analyzer.Of(p)
	rules := Rules()
	res := &Result{Kernels: []Kernel{}}
	for i := range verdicts.Kernels {
		k := Kernel{Kernel: verdicts.Kernels[i], Findings: []Finding{}, Next: []Capture{}}
		s := newSubject(p, &verdicts.Kernels[i])
		for n := range rules {
			k.apply(s, &rules[n])
		}
		k.refine()
		k.sort()
		k.Next = next(&k)
		res.Kernels = append(res.Kernels, k)
	}
	return res, nil
}
