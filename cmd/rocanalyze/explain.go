package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/report"
	"github.com/rocanalyze/rocanalyze/pkg/rule"

	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// topic is one entry of the glossary.
type topic struct {
	Name string `json:"topic"`
	// Kind is "regime", "subtype of latency", "limiter", "stall class",
	// "counter metric", "counter", "rule", or "gate" (of a trace).
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Fix    string `json:"what_to_do,omitempty"`
	Source string `json:"source,omitempty"`
}

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

// limiters explains the limits of the occupancy.
func limiters() []topic {
	const src = "LLVM AMDGPUUsage and AMDGPUBaseInfo.cpp"
	return []topic{
		{"vgpr", "limiter", "Vector registers: a SIMD's register file divided by what one wave allocates, rounded up to the granule (8 on gfx90a and later CDNA). Arch and accumulation registers share one file of 512 there: 64 registers allow 8 waves, 128 allow 4, 168 allow 3, 256 allow 2.", "fewer live values: smaller tiles, fewer buffers, asynchronous copies to LDS", src},
		{"sgpr", "limiter", "Scalar registers, gfx9 only: 800 per SIMD in granules of 16, with 16 more for the trap handler. Rarely the limit.", "fewer descriptors and uniform values alive", src},
		{"lds", "limiter", "LDS: the CU's pool (64 KiB, 160 KiB on gfx950) divided by what a workgroup takes, launch-time LDS included.", "smaller tile_k, fewer buffers", src},
		{"wg_slots", "limiter", "Workgroup slots: a CU has room for 16 workgroups of more than one wave (32 in WGP mode).", "larger workgroups", src},
		{"waves", "limiter", "Wave slots: 8 per SIMD on gfx90a and later CDNA (10 before, 16 on RDNA). Nothing more fits.", "", src},
	}
}

// regimes explains the verdicts.
func regimes() []topic {
	const src = "FlyDSL kernel tuning guide, section 0; Nsight Compute SpeedOfLight"
	out := []topic{
		{string(regime.Compute), "regime", "The matrix pipe or the VALU is at {compute_pct} % of its peak or more ({likely_pct} to {compute_pct} %: likely), or the SIMDs issue in {compute_pct} % of the cycles with a wave resident. What waves wait for is mostly hidden.", "cut instructions that are not the work; full-rate matrix shapes", src},
		{string(regime.Bandwidth), "regime", "HBM, L2 or LDS moves at {bandwidth_pct} % of its peak or more; clean streaming reaches {streaming_pct} to {bandwidth_pct} % of HBM's peak and more on real parts.", "move fewer or better-shaped bytes", src},
		{string(regime.Latency), "regime", "No resource is busy, and waves wait {waiting_pct} % of their time or more: the pipes are idle while results are on their way. The subtype is what waves wait for.", "more overlap (prefetch, interleaving) and more waves, not more bandwidth", src},
		{regime.UnderFilled, "subtype of latency", "The grid has fewer workgroups than the GPU has CUs: the others have no work, whatever the code does.", "smaller tiles, split-K", src},
		{regime.Tail, "subtype of latency", "The last round of workgroups leaves CUs idle for a good part of the time.", "tiles that make whole rounds, persistent kernels", src},
		{string(regime.Mixed), "regime", "Two resources are within {mixed_points} points of each other: easing one alone gains little.", "", src},
		{string(regime.Inconclusive), "regime", "A gate fired (the traced waves did not do the kernel's work), or the evidence that decides is missing; the verdict says which, and what to capture.", "", src},
		{"roof", "regime", "A resource at {roof_pct} % of its peak or more is at its roof: stop tuning, or do less work.", "", "Nsight Compute SpeedOfLight"},
	}
	values := defaultOf(&rule.Rule{Params: regime.Analyzer.Params})
	for i := range out {
		out[i].Text = rule.Quote(out[i].Text, values)
	}
	return out
}

// topics lists the glossary.
func topics() []topic {
	out := append(regimes(), limiters()...)
	for _, k := range regime.WaitKinds() {
		var classes []string
		for _, c := range k.Classes {
			classes = append(classes, string(c))
		}
		if !slices.Contains(classes, k.Kind) {
			out = append(out, topic{Name: k.Kind, Kind: "subtype of latency", Text: "Waves wait most for " + k.Words + ": the sum of " + strings.Join(classes, ", ") + ".", Source: "stall classes"})
		}
	}
	for _, c := range stalls.Classes {
		out = append(out, topic{string(c.Class), "stall class", c.Title + ": " + c.Meaning, c.Fix, "FlyDSL kernel tuning guide, sections 0 to 9"})
	}
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
		t := topic{r.ID, "rule", r.Title + ": fires when " + r.Fires, r.Fix, r.Source}
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
