package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/analyzers/occupancy"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/report"
	"github.com/rocanalyze/rocanalyze/pkg/rule"

	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// topic is one entry of the glossary.
type topic = rule.Term

type explainOutput struct {
	Topics []topic `json:"topics"`
}

func newExplain(a *app) *cobra.Command {
	var f view.Values
	cmd := &cobra.Command{
		Use:   "explain [TOPIC...]",
		Short: "What a regime, a stall class, a limiter or a counter metric means",
		Long: `A short glossary with sources. TOPIC is a regime (latency), a subtype of one
(under_filled), a stall class (vmem_wait), a limiter of the occupancy (lds), a
metric of counters (l2_hit_pct), the id of a rule, or of a remark on a trace
(low_coverage). Without TOPIC all are named.

Exit status:
  0  done
  2  no such topic`,
		Example: `  rocanalyze explain latency under_filled
  rocanalyze explain vmem_wait
  rocanalyze explain l2_hit_pct`,
		RunE: func(_ *cobra.Command, args []string) error { return a.explain(f, args) },
	}
	f = plain(cmd, listFlags)
	return cmd
}

func (a *app) explain(f view.Values, names []string) error {
	all := topics()
	var out explainOutput
	for _, n := range names {
		found := slices.Concat(topicsNamed(all, n), counterTopic(n), analyzerTopic(n))
		if len(found) == 0 {
			return fmt.Errorf("no topic %q: 'rocanalyze explain' names them all", n)
		}
		out.Topics = append(out.Topics, found...)
	}
	doc := topicDetail(out.Topics)
	if len(names) == 0 {
		out.Topics = all
		doc = topicList(all)
	}
	return a.print(f, shown{doc: doc, table: topicTable(out.Topics), result: out, env: envelope("explain", []string{}, false, nil)})
}

func topicsNamed(all []topic, name string) []topic {
	name = strings.ToLower(strings.NewReplacer("-", "_", " ", "_").Replace(strings.TrimSpace(name)))
	var out []topic
	for _, t := range all {
		if strings.EqualFold(t.Name, name) || strings.TrimSuffix(name, "_bound") == t.Name {
			out = append(out, t)
		}
	}
	return out
}

// counterTopic names the metrics that use a hardware counter.
func counterTopic(name string) []topic {
	bare := strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(name)), "_SUM")
	if !strings.Contains(bare, "_") {
		return nil
	}
	var uses []string
	for _, m := range counters.Catalogue() {
		if slices.ContainsFunc(m.Formulas, func(f counters.Formula) bool {
			return slices.Contains(strings.FieldsFunc(f.Expr+" "+f.Low+" "+f.High, func(r rune) bool { return strings.ContainsRune("+-*/() ", r) }), bare)
		}) {
			uses = append(uses, m.ID)
		}
	}
	if uses == nil {
		return nil
	}
	return []topic{{Name: bare, Kind: "counter", Text: "used by the metrics " + strings.Join(uses, ", "), Source: "rocprofiler-sdk counter_defs.yaml"}}
}

// topics lists the glossary.
func topics() []topic {
	out := slices.Concat(regime.Terms(), occupancy.Terms(), regime.WaitTerms(), stalls.Terms())
	for _, m := range counters.Catalogue() {
		text := m.Title + ", in " + m.Unit
		if m.Denominator != "" {
			text += ", " + m.Denominator
		}
		if m.Doc != "" {
			text += ". " + strings.TrimSuffix(m.Doc, ".")
		}
		source := ""
		if len(m.Formulas) > 0 {
			source = m.Formulas[0].Source
			if m.Formulas[0].Expr != "" {
				text += ". Formula: " + m.Formulas[0].Expr
			}
		}
		out = append(out, topic{Name: m.ID, Kind: "counter metric", Text: text, Source: source})
	}
	for _, r := range ruleOutputs() {
		t := topic{Name: r.ID, Kind: "rule", Text: r.Title + ": fires when " + r.Fires, Fix: r.Fix, Source: r.Source}
		if r.Kind == string(rule.Gate) {
			t.Kind, t.Text = "gate", "Fires when "+r.Fires+". Then "+r.Means+"."
		}
		out = append(out, t)
	}
	return out
}

func topicDetail(ts []topic) report.Document {
	var doc report.Document
	for i, t := range ts {
		kv := report.KeyValues{Items: []report.KV{{Key: t.Kind, Value: t.Text}}}
		if t.Fix != "" {
			kv.Items = append(kv.Items, report.KV{Key: "what to do", Value: t.Fix})
		}
		if t.Source != "" {
			kv.Items = append(kv.Items, report.KV{Key: "source", Value: t.Source})
		}
		doc.Sections = append(doc.Sections, report.Section{ID: fmt.Sprintf("topic-%d", i), Title: t.Name, Items: []report.Item{kv}})
	}
	return doc
}

// topicList names all topics by kind.
func topicList(ts []topic) report.Document {
	var kinds []string
	names := map[string][]string{}
	for _, t := range ts {
		if !slices.Contains(kinds, t.Kind) {
			kinds = append(kinds, t.Kind)
		}
		names[t.Kind] = append(names[t.Kind], t.Name)
	}
	kv := report.KeyValues{}
	for _, k := range kinds {
		kv.Items = append(kv.Items, report.KV{Key: k, Value: strings.Join(names[k], ", ")})
	}
	return report.Document{Sections: []report.Section{{ID: "topics", Title: "Topics", Items: []report.Item{kv}}}}
}

func topicTable(ts []topic) report.Table {
	t := report.Table{ID: "topics", Columns: []report.Column{
		{Key: "topic", Title: "topic"}, {Key: "kind", Title: "kind"}, {Key: "text", Title: "text"}, {Key: "what_to_do", Title: "what to do"}, {Key: "source", Title: "source"},
	}}
	for _, x := range ts {
		t.Rows = append(t.Rows, []report.Cell{report.Text(x.Name), report.Text(x.Kind), report.Text(x.Text), report.Text(x.Fix), report.Text(x.Source)})
	}
	return t
}
