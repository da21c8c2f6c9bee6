package samples

import (
	"fmt"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/report"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// Cmd shows the result.
var Cmd = view.Command{
	Use:   "samples PATH...",
	Short: "Where waves were and what they waited for, by PC sampling",
	Help:  doc,
	Example: `  rocanalyze samples out/node/7_pc_sampling_stochastic.csv
  rocanalyze samples --kernel axpy --top 30 out/
  rocanalyze samples --format json out/node/7_results.json | jq '.kernels[].waits'`,
	Exit:   [4]string{3: "readable, but there is no sample"},
	Takes:  "a *_pc_sampling_*.csv, a results.json or a directory of them",
	Reads:  trace.Sampled,
	Runs:   []analysis.Required{Analyzer},
	Flags:  []view.Flag{{Name: "top", Default: 15, Usage: "`rows` of each ranking; 0 shows all", Param: "samples.top"}},
	Show:   show,
	Output: &Result{},
}

// NameWidth is how much of a kernel's name a title shows.
const NameWidth = 60

// Title names a kernel, or the dispatches of which it is not known which kernels
// they were.
func (k *Kernel) Title(full bool) string {
	switch {
	case k.Name == "":
		return "kernels of " + trace.Many(k.Dispatches, "dispatch", "dispatches") + " (not named)"
	case full:
		return k.Name
	}
	return report.ShortenName(k.Name, NameWidth)
}

// instructionColumns are those of the ranking, in text and in CSV.
func instructionColumns(k *Kernel) report.Columns[Instruction] {
	out := report.Columns[Instruction]{
		{Column: report.Column{Key: "samples", Title: "samples", Align: report.AlignRight}, Cell: func(x Instruction) report.Cell { return report.Cycles(x.Samples) }},
		report.Col("pct", "share", func(x Instruction) report.Cell { return report.Pct(x.Pct) }),
		report.Col("interval", "within", func(x Instruction) report.Cell { return report.Text(x.within()) }),
	}
	if k.Method == trace.Stochastic {
		out = append(
			out,
			report.Col("issued_samples", "issued", func(x Instruction) report.Cell { return report.IntOf(x.Issued) }),
			report.Col("reason", "not issued, mostly", func(x Instruction) report.Cell { return report.TextOf(strings.ReplaceAll(x.Reason, "_", " ")) }),
		)
	}
	return append(out, report.ColumnOf[Instruction]{
		Column: report.Column{Key: "instruction", Title: "instruction", Flex: true, Min: 16}, Cell: func(x Instruction) report.Cell { return report.Text(x.Instruction) },
	})
}

// csvColumns are those of the table of all kernels.
var csvColumns = report.Columns[row]{
	report.Col("path", "path", func(r row) report.Cell { return report.Text(r.k.Path) }),
	report.Col("kernel", "kernel", func(r row) report.Cell { return report.Text(r.k.Title(true)) }),
	report.Col("method", "method", func(r row) report.Cell { return report.Text(string(r.k.Method)) }),
	report.Col("samples", "samples", func(r row) report.Cell { return report.Int(r.x.Samples) }),
	report.Col("pct", "share", func(r row) report.Cell { return report.Pct(r.x.Pct) }),
	report.Col("low_pct", "low", func(r row) report.Cell { return report.Pct(r.x.LowPct) }),
	report.Col("high_pct", "high", func(r row) report.Cell { return report.Pct(r.x.HighPct) }),
	report.Col("issued_samples", "issued", func(r row) report.Cell { return report.IntOf(r.x.Issued) }),
	report.Col("stalled_samples", "not issued", func(r row) report.Cell { return report.IntOf(r.x.Stalled) }),
	report.Col("reason", "reason", func(r row) report.Cell { return report.TextOf(r.x.Reason) }),
	report.Col("instruction", "instruction", func(r row) report.Cell { return report.Text(r.x.Instruction) }),
	report.Col("source", "source", func(r row) report.Cell { return report.TextOf(r.x.Source) }),
}

type row struct {
	k *Kernel
	x *Instruction
}

// Words name a reason: what the profiler calls it, and what that means.
func (r Reason) Words() string { return strings.ReplaceAll(r.Reason, "_", " ") + ": " + r.Title }

// within is the interval of a share.
func (s Share) within() string { return fmt.Sprintf("%.0f to %.0f %%", s.LowPct, s.HighPct) }

// Interval says where a share lies.
func (s Share) Interval() string { return s.within() + " with 95 % confidence" }

// Words are a share with its interval.
func (s Share) Words() string { return fmt.Sprintf("%.0f %% (%s)", s.Pct, s.within()) }

// shares are the columns of a table of shares.
func shares[T any](id, title string, name func(T) string, share func(T) Share) report.Columns[T] {
	return report.Columns[T]{
		{Column: report.Column{Key: id, Title: title, Flex: true, Min: 20}, Cell: func(x T) report.Cell { return report.Text(name(x)) }},
		{Column: report.Column{Key: "samples", Title: "samples", Align: report.AlignRight}, Cell: func(x T) report.Cell { return report.Cycles(share(x).Samples) }},
		{Column: report.Column{Key: "pct", Title: "share", Bar: true}, Cell: func(x T) report.Cell { return report.Pct(share(x).Pct) }},
		report.Col("interval", "within", func(x T) report.Cell { return report.Text(share(x).within()) }),
	}
}

// Sections are what samples say of one kernel. suffix tells its sections from
// those of others.
func (k *Kernel) Sections(suffix string, full bool) []report.Section {
	title := k.Title(full)
	head := report.KeyValues{}
	add := func(key, value, note string) {
		if value != "" {
			head.Items = append(head.Items, report.KV{Key: key, Value: value, Note: note})
		}
	}
	path := k.Path
	if k.Processes > 1 {
		path += fmt.Sprintf(" and %d more", k.Processes-1)
	}
	add("samples", path, k.Process)
	add("method", methods[k.Method], "")
	counted := report.Count(k.Samples) + " in " + trace.Many(k.Dispatches, "dispatch", "dispatches")
	if k.Processes > 1 {
		counted += fmt.Sprintf(" of %d processes", k.Processes)
	}
	if len(k.Agents) > 1 {
		counted += fmt.Sprintf(" on %d GPUs", len(k.Agents))
	}
	if k.Undecoded > 0 {
		counted += ", " + report.Count(k.Undecoded) + " of them not decoded and in no share"
	}
	add("taken", counted, "")
	if k.Issued != nil {
		decoded := k.Samples - k.Undecoded
		add("waves", fmt.Sprintf("%s issued, %s did not", k.Issued.Words(), report.Count(decoded-k.Issued.Samples)), "of "+report.Count(decoded))
	}
	if k.MeanWaves != nil {
		add("occupancy", fmt.Sprintf("%.1f waves on the sampled CU", *k.MeanWaves), "mean")
	}
	if k.MeanLanes != nil {
		add("lanes", fmt.Sprintf("%.1f switched on", *k.MeanLanes), "mean")
	}
	out := []report.Section{{ID: "samples" + suffix, Title: title, Items: []report.Item{head}}}
	table := func(id, title string, t report.Table) {
		if len(t.Rows) > 0 {
			out = append(out, report.Section{ID: id + suffix, Title: title, Items: []report.Item{t}})
		}
	}
	waits := shares("wait", "waited for", func(w Wait) string { return w.Title }, func(w Wait) Share { return w.Share }).Table("sampled_waits"+suffix, k.Waits)
	waits.Note = "share: of all decoded samples; the rest issued. within: 95 % confidence"
	if k.Method != trace.Stochastic {
		waits.Note = "by the instruction that the wave was at: host traps know no reasons. within: 95 % confidence"
	}
	table("sampled_waits", "What the waves waited for", waits)
	table("sampled_reasons", "Why waves did not issue", shares("reason", "reason", func(r Reason) string { return r.Words() },
		func(r Reason) Share { return r.Share }).Table("sampled_reasons"+suffix, k.Reasons))
	table("sampled_instructions", "Instructions that waves were at", instructionColumns(k).Table("sampled_instructions"+suffix, k.Instructions))
	table("sampled_lines", "Source lines that waves were at", shares("source", "source line", func(l Line) string { return l.Source }, func(l Line) Share { return l.Share }).
		Table("sampled_lines"+suffix, k.Lines))
	return out
}

// methods are the methods in words.
var methods = map[trace.SampleMethod]string{
	trace.Stochastic: "stochastic: hardware samples, which know whether the wave issued and why not",
	trace.HostTrap:   "host trap: interrupts, which know where the wave was, some instructions late, and no reasons",
}

// Document lays out a result.
func (r *Result) Document(full bool) report.Document {
	var doc report.Document
	for i := range r.Kernels {
		suffix := ""
		if i > 0 {
			suffix = fmt.Sprintf("-%d", i+1)
		}
		doc.Sections = append(doc.Sections, r.Kernels[i].Sections(suffix, full)...)
	}
	return doc
}

// Table is the ranking of all kernels.
func (r *Result) Table() report.Table {
	var rows []row
	for i := range r.Kernels {
		for j := range r.Kernels[i].Instructions {
			rows = append(rows, row{&r.Kernels[i], &r.Kernels[i].Instructions[j]})
		}
	}
	return csvColumns.Table("samples", rows)
}

func show(in *view.Input) (*view.Shown, error) {
	res := Analyzer.Of(in.Outcome)
	if res == nil {
		return nil, fmt.Errorf("no PC samples in %s: give a *_pc_sampling_stochastic.csv or *_pc_sampling_host_trap.csv, or a results.json with samples", in.Where())
	}
	if len(res.Kernels) == 0 && in.Selects() {
		return nil, in.NoKernel(in.KernelNames())
	}
	s := &view.Shown{Document: res.Document(in.FullNames()), Table: res.Table(), Result: res, Findings: in.Findings()}
	for i := range res.Kernels {
		s.Rows = append(s.Rows, res.Kernels[i].Title(true))
	}
	if len(res.Kernels) == 0 {
		s.Nothing = "there is no sample in " + in.Where()
	}
	return s, nil
}
