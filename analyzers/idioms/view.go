package idioms

import (
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/report"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// Cmd shows the result.
var Cmd = view.Command{
	Use:     "idioms PATH...",
	Short:   "What the instructions cost that the code repeats at many places",
	Help:    doc,
	Example: "  rocanalyze idioms ui_output_agent_14705_dispatch_25",
	Exit:    [4]string{3: "readable, but there is no kernel"},
	Takes:   "a dispatch directory, a tree or an archive of them",
	Reads:   trace.ThreadTraces,
	Runs:    []analysis.Required{Analyzer},
	Flags:   []view.Flag{{Name: "top", Default: 5, Usage: "repeated sequences listed, in `rows`", Param: "idioms.top"}},
	Show:    show,
	Output:  &Result{},
}

// row is one line of the table.
type row struct {
	kernel, what string
	Cost
	removed *float64
}

var columns = report.Columns[row]{
	{Column: report.Column{Key: "title", Title: "idiom or sequence", Flex: true, Min: 20}, Cell: func(r row) report.Cell { return report.Text(r.what) }},
	report.Col("places", "places", func(r row) report.Cell { return report.Cycles(r.Places) }),
	report.Col("executions", "executions", func(r row) report.Cell { return report.Cycles(r.Executions) }),
	report.Col("spent_pct", "cycles", func(r row) report.Cell { return report.Pct(r.Pct) }),
	report.Col("removed_pct", "removable", func(r row) report.Cell {
		if r.removed == nil {
			return report.Absent("")
		}
		return report.Pct(*r.removed)
	}),
	report.Col("line", "at line", func(r row) report.Cell { return report.Cycles(r.Example[0].Line) }),
}

// rows are the patterns and sequences of a kernel.
func rows(k *Kernel) []row {
	var out []row
	for i := range k.Idioms {
		x := &k.Idioms[i]
		out = append(out, row{k.Name, x.ID, x.Cost, &x.RemovedPct})
	}
	for i := range k.Sequences {
		x := &k.Sequences[i]
		out = append(out, row{k.Name, strings.Join(x.Instructions, ", "), x.Cost, nil})
	}
	return out
}

func show(in *view.Input) (*view.Shown, error) {
	res := Analyzer.Of(in.Outcome)
	if res == nil {
		return nil, in.NoThreadTrace()
	}
	if len(res.Kernels) == 0 && in.Selects() {
		return nil, in.NoKernel(in.KernelNames())
	}
	if len(res.Kernels) == 0 {
		return nil, view.Nothing("no kernel with cycles to show; the traces hold: " + in.FirstKernels())
	}
	s := &view.Shown{Result: res, Findings: in.Findings()}
	var all []row
	for i := range res.Kernels {
		k := &res.Kernels[i]
		t := columns.Table("idioms", rows(k))
		t.Note = "cycles: latency and idle, of all wave cycles; removable: the part that the remedy removes; at line: the costliest place"
		s.Document.Sections = append(s.Document.Sections, report.Section{ID: "idioms", Title: k.Name, Items: []report.Item{t}})
		for _, r := range rows(k) {
			all = append(all, r)
			s.Rows = append(s.Rows, k.Name)
		}
	}
	s.Table = columns.Table("idioms", all)
	return s, nil
}
