// Package rules is the analyzer that turns verdicts into findings: rules, as
// data, that each name what they saw, where, what to do about it and the most
// that it could give. It also says what to capture next.
package rules

import (
	_ "embed"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/balance"
	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/efficiency"
	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/analyzers/idioms"
	"github.com/rocanalyze/rocanalyze/analyzers/l2"
	"github.com/rocanalyze/rocanalyze/analyzers/loops"
	"github.com/rocanalyze/rocanalyze/analyzers/occupancy"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/shape"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

//go:embed doc.md
var doc string

// Analyzer returns a *Result.
var Analyzer = analysis.New(analysis.Analyzer{
	Name: "rules",
	Doc:  doc,
	Requires: []analysis.Required{
		code.Analyzer, replay.Analyzer, stalls.Analyzer, flow.Analyzer, exposed.Analyzer, shape.Analyzer, idioms.Analyzer, l2.Analyzer, loops.Analyzer, occupancy.Analyzer, balance.Analyzer, trust.Analyzer, regime.Analyzer,
		efficiency.Analyzer,
	},
	Params: []analysis.Param{
		{Name: paramMostOf, Default: 60, Unit: "%", Doc: "part of a general finding's bound from which a more precise one stands for it"},
	},
	Rules: rule.Rules(checks()),
}, run)

const paramMostOf = "most_of_pct"

func run(p *analysis.Pass) (*Result, error) {
	verdicts := regime.Analyzer.Of(p)
	own := checks()
	res := &Result{Kernels: []Kernel{}}
	for i := range verdicts.Kernels {
		k := Kernel{Kernel: verdicts.Kernels[i], Findings: []finding.Finding{}, Next: []Capture{}}
		s := newSubject(p, &verdicts.Kernels[i])
		k.NotRun = s.notRun()
		k.Efficiency = s.efficiency()
		k.take(s.own(own))
		k.take(s.measured())
		if err := s.boundAll(k.Findings); err != nil {
			return nil, err
		}
		k.refine(p.Param(paramMostOf))
		finding.Sort(k.Findings)
		k.lead()
		k.Next = next(&k)
		res.Kernels = append(res.Kernels, k)
		for _, f := range k.Findings {
			if slices.ContainsFunc(own, func(c rule.Check[*subject]) bool { return c.ID == f.ID }) {
				p.Report(f)
			}
		}
	}
	return res, nil
}
