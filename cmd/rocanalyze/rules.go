package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers"
	"github.com/rocanalyze/rocanalyze/analyzers/l2"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/rules"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/report"
	"github.com/rocanalyze/rocanalyze/pkg/rule"

	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// ruleOutput is the machine output of one rule.
type ruleOutput struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Kind     string `json:"kind"`
	Severity string `json:"severity"`
	// Because is why findings do not follow the scale of bounds.
	Because string `json:"severity_because,omitempty"`
	Needs   string `json:"needs,omitempty"`
	Fires   string `json:"fires"`
	Means   string `json:"means,omitempty"`
	Fix     string `json:"fix"`
	Source  string `json:"source"`
	// Analyzer defines the rule: each command that runs it shows the findings.
	Analyzer string        `json:"analyzer"`
	Params   []paramOutput `json:"parameters"`
}

// paramOutput is a threshold; Set is what --set takes.
type paramOutput struct {
	Set     string  `json:"set"`
	Default float64 `json:"default"`
	Unit    string  `json:"unit,omitempty"`
	Doc     string  `json:"doc"`
}

type rulesOutput struct {
	Rules []ruleOutput `json:"rules"`
	// Verdict are the thresholds of the regimes.
	Verdict []paramOutput `json:"verdict_parameters"`
	// Gates are those of the checks that come before a ranking.
	Gates []paramOutput `json:"gate_parameters"`
	// Others are those of the scale and of what several rules share.
	Others []paramOutput `json:"other_parameters"`
}

func newRules(a *app) *cobra.Command {
	var f view.Values
	cmd := &cobra.Command{
		Use:   "rules [ID...]",
		Short: "The rules behind the findings: when they fire, thresholds, fixes, sources",
		Long: `Lists the rules that findings are of, in diagnose as in each view, or explains
the named ones. Those of the kind gate ask whether the capture is good enough.
Thresholds are changed with 'diagnose --set RULE.PARAM=VALUE', or with a file of
such lines (--rules FILE). Those of the verdict itself are named regime.PARAM,
those of the checks that come before it trust.PARAM, those that several rules on
L2 share l2.PARAM, and the bounds that make a finding high or medium
severity.PARAM.

Exit status:
  0  done
  2  no such rule`,
		Example: `  rocanalyze rules
  rocanalyze rules vmem_wait
  rocanalyze rules --format json | jq -r '.rules[].parameters[].set'`,
		RunE: func(_ *cobra.Command, args []string) error { return a.rules(f, args) },
	}
	f = plain(cmd, listFlags)
	return cmd
}

func (a *app) rules(f view.Values, ids []string) error {
	out := rulesOutput{
		Rules: []ruleOutput{}, Verdict: paramOutputs(regime.Analyzer.Name, regime.Analyzer.Params), Gates: paramOutputs(trust.Analyzer.Name, trust.Analyzer.Params),
		Others: slices.Concat(paramOutputs(rule.ScaleName, rule.ScaleParams()), paramOutputs(rules.Analyzer.Name, rules.Analyzer.Params), paramOutputs(l2.Analyzer.Name, l2.Analyzer.Params)),
	}
	all := ruleOutputs()
	for _, id := range ids {
		at := slices.IndexFunc(all, func(r ruleOutput) bool { return r.ID == id })
		if at < 0 {
			return fmt.Errorf("no rule %q: 'rocanalyze rules' lists them", id)
		}
		out.Rules = append(out.Rules, all[at])
	}
	doc := rulesDetail(out)
	if len(ids) == 0 {
		out.Rules = all
		doc = rulesTable(out)
	}
	return a.print(f, shown{doc: doc, table: wideRules(out), result: out, env: envelope("rules", []string{}, false, nil)})
}

// ruleOutputs are the rules of all analyzers: those of diagnose first, gates
// last.
func ruleOutputs() []ruleOutput {
	var out, gates []ruleOutput
	all := analyzers.All()
	slices.SortStableFunc(all, func(a, b *analysis.Analyzer) int {
		return cmp.Compare(boolOf(b == rules.Analyzer.Analyzer), boolOf(a == rules.Analyzer.Analyzer))
	})
	for _, an := range all {
		for i := range an.Rules {
			r := &an.Rules[i]
			// Thresholds of other owners that the rule quotes are its own too.
			var shared []paramOutput
			rule.Quote(r.Fires, func(name string) float64 {
				if p, ok := sharedParam(name); ok {
					shared = append(shared, p)
				}
				return 0
			})
			x := ruleOutput{
				ID: r.ID, Title: r.Title, Kind: string(r.Kind), Severity: r.Severity.String(), Because: r.Because, Needs: r.Needs,
				Fires: rule.Quote(r.Fires, defaultOf(r)), Means: r.Means, Fix: r.Offer(), Source: r.Source,
				Analyzer: an.Name, Params: append(paramOutputs(r.ID, r.Params), shared...),
			}
			if r.Kind == rule.Gate {
				gates = append(gates, x)
			} else {
				out = append(out, x)
			}
		}
	}
	return append(out, gates...)
}

func boolOf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sharedParam finds an analyzer's parameter by its full name.
func sharedParam(full string) (paramOutput, bool) {
	owner, _, ok := strings.Cut(full, ".")
	for _, an := range analyzers.All() {
		if !ok || an.Name != owner {
			continue
		}
		for _, p := range paramOutputs(owner, an.Params) {
			if p.Set == full {
				return p, true
			}
		}
	}
	return paramOutput{}, false
}

// defaultOf gives the defaults of a rule's parameters, and of all others by
// their full names.
func defaultOf(r *rule.Rule) rule.Values {
	return func(name string) float64 {
		if p, ok := sharedParam(name); ok {
			return p.Default
		}
		return rule.Defaults(r.Params)(name)
	}
}

func paramOutputs(owner string, params []analysis.Param) []paramOutput {
	out := []paramOutput{}
	for _, p := range params {
		out = append(out, paramOutput{owner + "." + p.Name, p.Default, p.Unit, p.Doc})
	}
	return out
}

func (p paramOutput) text() string {
	return strings.TrimSpace(fmt.Sprintf("%s=%g %s", p.Set, p.Default, p.Unit))
}

func rulesTable(out rulesOutput) report.Document {
	t := report.Table{
		ID: "rules", Columns: []report.Column{
			{Key: "id", Title: "rule"},
			{Key: "needs", Title: "needs"},
			{Key: "title", Title: "about", Flex: true},
		},
		Note: "'rocanalyze rules ID' tells thresholds, fix and source",
	}
	for _, r := range out.Rules {
		t.Rows = append(t.Rows, []report.Cell{report.Text(r.ID), report.Text(strings.ReplaceAll(r.Needs, "_", " ")), report.Text(r.Title)})
	}
	return report.Document{Sections: []report.Section{
		{ID: "rules", Title: "Rules", Items: []report.Item{t}},
		{ID: "verdict", Title: "Thresholds of the verdict", Items: []report.Item{thresholds(out.Verdict)}},
		{ID: "gates", Title: "Thresholds of the checks of a trace", Items: []report.Item{thresholds(out.Gates)}},
		{ID: "others", Title: "Thresholds that rules share", Items: []report.Item{thresholds(out.Others)}},
	}}
}

// wideRules has a column for everything.
func wideRules(out rulesOutput) report.Table {
	t := report.Table{ID: "rules"}
	for _, key := range []string{"id", "kind", "needs", "title", "fires", "parameters", "fix", "source"} {
		t.Columns = append(t.Columns, report.Column{Key: key, Title: key})
	}
	for _, r := range out.Rules {
		var params []string
		for _, p := range r.Params {
			params = append(params, p.text())
		}
		var row []report.Cell
		for _, s := range []string{r.ID, r.Kind, r.Needs, r.Title, r.Fires, strings.Join(params, "; "), r.Fix, r.Source} {
			row = append(row, report.Text(s))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func thresholds(params []paramOutput) report.KeyValues {
	kv := report.KeyValues{}
	for _, p := range params {
		kv.Items = append(kv.Items, report.KV{Key: p.Set, Value: fmt.Sprintf("%g %s", p.Default, p.Unit), Note: p.Doc})
	}
	return kv
}

// why says what decides about the severity.
func (r *ruleOutput) why() string {
	switch {
	case r.Because != "":
		return r.Because
	case r.Kind == string(rule.Gate):
		return ""
	}
	scale := &rule.Rule{Params: rule.ScaleParams()}
	return rule.Quote("by its bound where it has one: high from {high_pct} %, medium from {medium_pct} %", defaultOf(scale))
}

func rulesDetail(out rulesOutput) report.Document {
	var doc report.Document
	for _, r := range out.Rules {
		kv := report.KeyValues{}
		add := func(key, value, note string) {
			if value != "" {
				kv.Items = append(kv.Items, report.KV{Key: key, Value: value, Note: note})
			}
		}
		add("title", r.Title, "")
		add("fires when", r.Fires, "")
		add("means", r.Means, "")
		add("needs", strings.ReplaceAll(r.Needs, "_", " "), "")
		add("fix", r.Fix, "")
		add("severity", r.Severity, r.why())
		for _, p := range r.Params {
			add("threshold", p.text(), p.Doc)
		}
		add("source", r.Source, "")
		doc.Sections = append(doc.Sections, report.Section{ID: "rule-" + r.ID, Title: r.ID, Items: []report.Item{kv}})
	}
	return doc
}
