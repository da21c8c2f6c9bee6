package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers/advice"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/report"
)

// ruleOutput is the machine output of one rule.
type ruleOutput struct {
	ID       string        `json:"id"`
	Title    string        `json:"title"`
	Kind     string        `json:"kind"`
	Severity string        `json:"severity"`
	Needs    string        `json:"needs,omitempty"`
	Fires    string        `json:"fires"`
	Fix      string        `json:"fix"`
	Source   string        `json:"source"`
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
}

func newRules(a *app) *cobra.Command {
	f := &common{}
	cmd := &cobra.Command{
		Use:   "rules [ID...]",
		Short: "The rules behind the findings: when they fire, thresholds, fixes, sources",
		Long: `Lists the rules that diagnose applies, or explains the named ones. Thresholds are
changed with 'diagnose --set RULE.PARAM=VALUE', or with a file of such lines
(--rules FILE). Those of the verdict itself are named regime.PARAM,
those of the checks that come before it trust.PARAM ('explain' tells what a check
means).

Exit status:
  0  done
  2  no such rule`,
		Example: `  rocanalyze rules
  rocanalyze rules vmem_wait
  rocanalyze rules --format json | jq -r '.rules[].parameters[].set'`,
		RunE: func(_ *cobra.Command, args []string) error { return a.rules(f, args) },
	}
	f.register(cmd)
	return cmd
}

func (a *app) rules(f *common, ids []string) error {
	if err := f.check(); err != nil {
		return err
	}
	rules := advice.Rules()
	if len(ids) > 0 {
		rules = nil
		for _, id := range ids {
			r, err := advice.FindRule(id)
			if err != nil {
				return err
			}
			rules = append(rules, r)
		}
	}
	out := rulesOutput{Rules: []ruleOutput{}, Verdict: paramOutputs("regime.", regime.Analyzer.Params), Gates: paramOutputs("trust.", trust.Analyzer.Params)}
	for i := range rules {
		r := &rules[i]
		out.Rules = append(out.Rules, ruleOutput{
			ID: r.ID, Title: r.Title, Kind: string(r.Kind), Severity: r.Severity.String(), Needs: string(r.Needs),
			Fires: r.Fires, Fix: r.Fix, Source: r.Source, Params: paramOutputs(r.ID+".", r.Params),
		})
	}
	doc := rulesTable(out)
	if len(ids) > 0 {
		doc = rulesDetail(out)
	}
	return a.show(f, view{doc: doc, tables: rulesTable(out), table: "rules", result: out, env: envelope("rules", []string{}, false, nil)})
}

func paramOutputs(prefix string, params []analysis.Param) []paramOutput {
	out := []paramOutput{}
	for _, p := range params {
		out = append(out, paramOutput{prefix + p.Name, p.Default, p.Unit, p.Doc})
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
	}}
}

func thresholds(params []paramOutput) report.KeyValues {
	kv := report.KeyValues{}
	for _, p := range params {
		kv.Items = append(kv.Items, report.KV{Key: p.Set, Value: fmt.Sprintf("%g %s", p.Default, p.Unit), Note: p.Doc})
	}
	return kv
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
		add("needs", strings.ReplaceAll(r.Needs, "_", " "), "")
		add("fix", r.Fix, "")
		add("severity", r.Severity, "by its bound where it has one: high from 25 %, medium from 10 %")
		for _, p := range r.Params {
			add("threshold", p.text(), p.Doc)
		}
		add("source", r.Source, "")
		doc.Sections = append(doc.Sections, report.Section{ID: "rule-" + r.ID, Title: r.ID, Items: []report.Item{kv}})
	}
	return doc
}
