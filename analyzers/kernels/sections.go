package kernels

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/report"
)

// View says what to show of a Result.
type View struct {
	// Top is how many rows are shown; 0 is all.
	Top int
	// Runtime shows the kernels of the runtime as rows of their own.
	Runtime bool
	// Verbose adds launch shapes, queues and sources.
	Verbose bool
	// FullNames keeps long kernel names whole.
	FullNames bool
}

// Bounds of the usual view.
const (
	nameWidth  = 60
	fewRows    = 8 // GPUs and copies without Verbose
	shapesEach = 5 // shapes of a kernel with Verbose
)

// titles are the headings of the rows' first column.
var titles = map[string]string{"kernel": "kernel", "shape": "kernel", "agent": "GPU", "process": "process", "stream": "stream"}

// Sections lays a result out for reading.
func Sections(r *Result, v View) report.Document {
	rows, hidden := shown(r, v)
	first := report.Section{ID: "kernels", Title: "Where the GPU time goes", Items: []report.Item{
		report.KeyValues{Items: summary(r)}, timeTable(r, rows, v),
	}}
	if text := hiddenText(r, hidden, v); text != "" {
		first.Items = append(first.Items, report.Paragraph{Text: text})
	}
	doc := report.Document{Sections: []report.Section{first}}
	if len(rows) > 0 {
		doc.Sections = append(doc.Sections, report.Section{
			ID: "variation", Title: "How the calls vary", Items: []report.Item{variationTable(r, rows, v)},
		})
	}
	if len(r.GPUs) > 0 {
		doc.Sections = append(doc.Sections, report.Section{ID: "gpus", Title: "How busy the GPUs are", Items: []report.Item{gpuTable(r, v)}})
	}
	if len(r.Copies) > 0 {
		doc.Sections = append(doc.Sections, report.Section{ID: "copies", Title: "Memory copies", Items: []report.Item{copyTable(r, v)}})
	}
	if v.Verbose {
		doc.Sections = append(doc.Sections, verbose(r, rows, v)...)
	}
	return doc
}

// place is a row with its rank among all rows.
type place struct {
	*Row
	rank int
}

// shown picks the rows to show, and returns how many others there are.
func shown(r *Result, v View) (rows []place, more int) {
	all := r.Rows()
	for i := range all {
		switch {
		case all[i].Runtime && !v.Runtime:
		case v.Top > 0 && len(rows) == v.Top:
			more++
		default:
			rows = append(rows, place{&all[i], len(rows) + 1})
		}
	}
	return rows, more
}

// hiddenText says what the rows do not show.
func hiddenText(r *Result, more int, v View) string {
	var parts []string
	if more > 0 {
		what := titles[r.By]
		if r.By == "shape" {
			what = "shape"
		}
		parts = append(parts, fmt.Sprintf("%s more (--top 0 shows all)", count(more, what)))
	}
	if rt := r.Runtime; rt != nil && !v.Runtime {
		parts = append(parts, fmt.Sprintf("%s of the runtime (fills, copies): %s, %s, %s of the time (--runtime lists them)",
			count(rt.Kernels, titles[r.By]), count(int(rt.Calls), "call"), report.Duration(float64(rt.TotalNs)), report.Pct(rt.SharePct).Text))
	}
	return strings.Join(parts, "; ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if what == "process" {
		what += "e"
	}
	return fmt.Sprintf("%s %ss", report.Count(int64(n)), what)
}

// summary says what was read.
func summary(r *Result) []report.KV {
	total := report.KV{Key: "total", Value: fmt.Sprintf("%s of kernels in %s", report.Duration(float64(r.TotalNs)), count(int(r.Calls), "call"))}
	out := []report.KV{total}
	var kinds []string
	for _, x := range r.Runs {
		if k := kindText(x); !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	if n := len(r.Runs); n == 1 {
		out = append(out, report.KV{Key: "source", Value: label(r.Runs[0].Path, r.Runs[0].Set), Note: kinds[0]})
	} else {
		out = append(out, report.KV{Key: "sources", Value: fmt.Sprintf("%d, %s to %s", n, label(r.Runs[0].Path, r.Runs[0].Set), label(r.Runs[n-1].Path, r.Runs[n-1].Set)), Note: strings.Join(kinds, ", ")})
	}
	return out
}

func kindText(r Run) string {
	kind := strings.ReplaceAll(r.Kind, "_", " ")
	if r.Schema != "" {
		kind += " schema " + r.Schema
	}
	return kind
}

// nameColumn is the first column of a table of rows.
func nameColumn(r *Result, v View) report.Column {
	c := report.Column{Key: "name", Title: titles[r.By], Elide: report.ElideName, Max: nameWidth, Min: 12, Flex: true}
	if r.By != "kernel" && r.By != "shape" {
		c.Elide = report.ElideMiddle
	}
	if v.FullNames {
		c.Max, c.Elide = 0, report.ElideTail
	}
	return c
}

// rowName tells rows of one name apart.
func rowName(r *Result, p place) string {
	name := p.Name
	if r.By == "shape" && len(p.Shapes) == 1 {
		return extents(p.Shapes[0].Grid) + " / " + extents(p.Shapes[0].Workgroup) + " " + name
	}
	all := r.Rows()
	same := 0
	for i := range all {
		if all[i].Name == name {
			same++
		}
	}
	if same < 2 || p.Registers == nil {
		return name
	}
	return registersText(p.Registers) + " " + name
}

func registersText(g *Registers) string {
	var parts []string
	add := func(what string, n *int64) {
		if n != nil {
			parts = append(parts, fmt.Sprintf("%s%d", what, *n))
		}
	}
	add("v", g.VGPRs)
	add("a", g.Accum)
	add("s", g.SGPRs)
	add("lds", g.StaticLDS)
	return "[" + strings.Join(parts, " ") + "]"
}

func extents(v []int64) string {
	if len(v) == 0 {
		return "?"
	}
	for len(v) > 1 && v[len(v)-1] == 1 {
		v = v[:len(v)-1]
	}
	parts := make([]string, len(v))
	for i, x := range v {
		parts[i] = fmt.Sprint(x)
	}
	return strings.Join(parts, "x")
}

// ns is a cell with a time; an absent one is blank.
func ns[N int64 | float64](p *N) report.Cell {
	if p == nil {
		return report.Absent("")
	}
	return nsOf(float64(*p), *p)
}

func nsOf(x float64, value any) report.Cell {
	return report.Cell{Text: report.Duration(x), Value: value}
}

func pct(p *float64) report.Cell {
	if p == nil {
		return report.Absent("")
	}
	return report.Pct(*p)
}

// timeTable ranks the rows by what they take.
func timeTable(r *Result, rows []place, v View) report.Table {
	right := report.AlignRight
	t := report.Table{ID: "time", Columns: []report.Column{
		{Key: "rank", Title: "#", Align: right},
		nameColumn(r, v),
		{Key: "calls", Title: "calls", Align: right},
		{Key: "total_ns", Title: "total", Align: right},
		{Key: "share_pct", Title: "share", Align: right, Bar: true},
		{Key: "mean_ns", Title: "mean", Align: right},
		{Key: "max_speedup", Title: "at most", Align: right},
	}}
	for _, p := range rows {
		bound := report.Text("all of it")
		if p.MaxSpeedup != nil {
			bound = report.Float(*p.MaxSpeedup, 2)
			bound.Text += "x"
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.Int(p.rank), report.Text(rowName(r, p)), report.Cycles(p.Calls), nsOf(float64(p.TotalNs), p.TotalNs),
			report.Pct(p.SharePct), nsOf(p.MeanNs, p.MeanNs), bound,
		})
	}
	t.Note = "share: of the summed kernel time. at most: how many times shorter that gets if the row took no time (Amdahl)"
	if r.By == "shape" {
		t.Note += ". Shapes are grid / workgroup in work-items"
	}
	return t
}

// variationTable shows how the calls of the same rows vary.
func variationTable(r *Result, rows []place, v View) report.Table {
	right := report.AlignRight
	t := report.Table{ID: "variation", Columns: []report.Column{
		{Key: "rank", Title: "#", Align: right},
		nameColumn(r, v),
		{Key: "min_ns", Title: "min", Align: right},
		{Key: "median_ns", Title: "median", Align: right},
		{Key: "p95_ns", Title: "p95", Align: right},
		{Key: "max_ns", Title: "max", Align: right},
		{Key: "cv_pct", Title: "CV", Align: right},
		{Key: "shapes", Title: "shapes", Align: right},
		{Key: "gpus", Title: "GPUs", Align: right},
	}}
	last := func(p place) report.Cell { return report.Int(len(p.Shapes)) }
	if r.By != "kernel" && r.By != "shape" {
		t.Columns[7] = report.Column{Key: "kernel_count", Title: "kernels", Align: right}
		last = func(p place) report.Cell { return report.Int(p.Kernels) }
	}
	rounded := false
	for _, p := range rows {
		rounded = rounded || p.Rounded
		shapes, gpus := last(p), report.Int(len(p.Agents))
		if len(p.Agents) == 0 {
			shapes, gpus = report.Absent(""), report.Absent("a statistics table tells neither")
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.Int(p.rank), report.Text(rowName(r, p)), ns(p.MinNs), ns(p.MedianNs), ns(p.P95Ns), ns(p.MaxNs), pct(p.CVPct), shapes, gpus,
		})
	}
	t.Note = "CV: standard deviation in percent of the mean"
	if rounded {
		t.Note += "; median and p95 of more than 65,536 calls are within 0.05 %"
	}
	return t
}

func gpuTable(r *Result, v View) report.Table {
	right := report.AlignRight
	t := report.Table{ID: "gpus", Columns: []report.Column{
		{Key: "gpu", Title: "GPU", Max: 40, Min: 12, Flex: true},
		{Key: "dispatches", Title: "calls", Align: right},
		{Key: "busy_pct", Title: "busy", Align: right, Bar: true},
		{Key: "busy_ns", Title: "busy", Align: right},
		{Key: "kernel_ns", Title: "kernels", Align: right},
		{Key: "gaps", Title: "gaps", Align: right},
		{Key: "gap_median_ns", Title: "median", Align: right},
		{Key: "gap_max_ns", Title: "longest", Align: right},
	}}
	several := len(r.Runs) > 1
	for i := range r.GPUs {
		g := &r.GPUs[i]
		if i == fewRows && !v.Verbose {
			t.Note = fmt.Sprintf("%d more (-v shows all). ", len(r.GPUs)-fewRows)
			break
		}
		name := g.Name
		if several {
			agent, _, _ := strings.Cut(name, ",")
			name = agent + ", " + processName(g)
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.Text(name), report.Cycles(g.Dispatches), report.Pct(g.BusyPct), nsOf(float64(g.BusyNs), g.BusyNs),
			nsOf(float64(g.KernelNs), g.KernelNs), report.Cycles(g.Gaps.Count), ns(g.Gaps.MedianNs), nsOf(float64(g.Gaps.MaxNs), g.Gaps.MaxNs),
		})
	}
	t.Note += "busy: at least one dispatch runs; % of the time from the process's first dispatch to its last end"
	if len(r.Runs) == 1 {
		t.Note += ", " + report.Duration(float64(r.Runs[0].SpanNs))
	}
	t.Note += ". kernels: summed durations; more than busy where they overlap"
	return t
}

// processName tells the processes of a job apart.
func processName(g *GPU) string {
	if g.PID != nil {
		return fmt.Sprintf("pid %d", *g.PID)
	}
	return path.Base(g.Run)
}

func copyTable(r *Result, v View) report.Table {
	right := report.AlignRight
	t := report.Table{ID: "copies", Columns: []report.Column{
		{Key: "kind", Title: "kind", Max: 30},
		{Key: "source", Title: "from"},
		{Key: "target", Title: "to"},
		{Key: "count", Title: "copies", Align: right},
		{Key: "bytes", Title: "bytes", Align: right},
		{Key: "total_ns", Title: "time", Align: right},
		{Key: "mean_bytes_per_second", Title: "mean rate", Align: right},
	}}
	copies := slices.Clone(r.Copies)
	slices.SortStableFunc(copies, func(a, b Copy) int { return cmp.Compare(b.TotalNs, a.TotalNs) })
	var total int64
	for i, c := range copies {
		total += c.TotalNs
		if i >= fewRows && !v.Verbose {
			continue
		}
		rate := report.Absent("no times")
		if c.Rate != nil {
			rate = report.Cell{Text: report.Rate(*c.Rate), Value: *c.Rate}
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.Text(strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(c.Kind, "MEMORY_COPY_"), "_", " "))),
			report.Text(c.Source), report.Text(c.Target), report.Cycles(c.Count),
			{Text: report.Bytes(c.Bytes), Value: c.Bytes},
			nsOf(float64(c.TotalNs), c.TotalNs), rate,
		})
	}
	t.Note = "copy time in all: " + report.Duration(float64(total)) + ", summed"
	if more := len(copies) - fewRows; more > 0 && !v.Verbose {
		t.Note = fmt.Sprintf("%d more (-v shows all). ", more) + t.Note
	}
	return t
}

// verbose are the sections that are usually left out.
func verbose(r *Result, rows []place, v View) []report.Section {
	var out []report.Section
	if r.By == "kernel" && len(rows) > 0 {
		out = append(out, report.Section{ID: "shapes", Title: "Launch shapes", Items: []report.Item{shapeTable(r, rows, v)}})
	}
	if len(r.GPUs) > 0 {
		out = append(out, report.Section{ID: "queues", Title: "Queues", Items: []report.Item{queueTable(r)}})
	}
	return append(out, report.Section{ID: "runs", Title: "Sources", Items: []report.Item{runTable(r)}})
}

func shapeTable(r *Result, rows []place, v View) report.Table {
	right := report.AlignRight
	t := report.Table{ID: "shapes", Columns: []report.Column{
		{Key: "rank", Title: "#", Align: right},
		nameColumn(r, v),
		{Key: "grid", Title: "grid"},
		{Key: "workgroup", Title: "workgroup"},
		{Key: "lds_bytes", Title: "LDS", Align: right},
		{Key: "calls", Title: "calls", Align: right},
		{Key: "total_ns", Title: "total", Align: right},
		{Key: "mean_ns", Title: "mean", Align: right},
	}}
	cut := false
	for _, p := range rows {
		for i, s := range p.Shapes {
			if i == shapesEach && v.Top > 0 {
				cut = true
				break
			}
			lds := report.Absent("")
			if s.LDSBytes != nil {
				lds = report.Cell{Text: report.Bytes(*s.LDSBytes), Value: *s.LDSBytes}
			}
			t.Rows = append(t.Rows, []report.Cell{
				report.Int(p.rank), report.Text(rowName(r, p)), report.Text(extents(s.Grid)), report.Text(extents(s.Workgroup)), lds,
				report.Cycles(s.Calls), nsOf(float64(s.TotalNs), s.TotalNs), nsOf(s.MeanNs, s.MeanNs),
			})
		}
	}
	t.Note = "grid and workgroup in work-items"
	if cut {
		t.Note += fmt.Sprintf("; the %d of each kernel that took most (--top 0 shows all)", shapesEach)
	}
	return t
}

func queueTable(r *Result) report.Table {
	right := report.AlignRight
	t := report.Table{ID: "queues", Columns: []report.Column{
		{Key: "gpu", Title: "GPU", Max: 40, Min: 12, Flex: true},
		{Key: "queue", Title: "queue", Align: right},
		{Key: "dispatches", Title: "calls", Align: right},
		{Key: "busy_ns", Title: "busy", Align: right},
		{Key: "kernel_ns", Title: "kernels", Align: right},
		{Key: "gaps", Title: "gaps", Align: right},
		{Key: "gap_median_ns", Title: "median", Align: right},
		{Key: "gap_max_ns", Title: "longest", Align: right},
	}}
	for i := range r.GPUs {
		for _, q := range r.GPUs[i].Queues {
			id := report.Absent("")
			if q.ID != nil {
				id = report.Int(*q.ID)
			}
			t.Rows = append(t.Rows, []report.Cell{
				report.Text(r.GPUs[i].Name), id, report.Cycles(q.Dispatches), nsOf(float64(q.BusyNs), q.BusyNs), nsOf(float64(q.KernelNs), q.KernelNs),
				report.Cycles(q.Gaps.Count), ns(q.Gaps.MedianNs), nsOf(float64(q.Gaps.MaxNs), q.Gaps.MaxNs),
			})
		}
	}
	return t
}

func runTable(r *Result) report.Table {
	right := report.AlignRight
	t := report.Table{ID: "runs", Columns: []report.Column{
		{Key: "path", Title: "path", Max: 60, Min: 16, Flex: true, Elide: report.ElideHead},
		{Key: "kind", Title: "kind"},
		{Key: "pid", Title: "pid", Align: right},
		{Key: "dispatches_read", Title: "read", Align: right},
		{Key: "calls", Title: "counted", Align: right},
		{Key: "span_ns", Title: "span", Align: right},
	}}
	for _, x := range r.Runs {
		pid := report.Absent("")
		if x.PID != nil {
			pid = report.Int(*x.PID)
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.Text(label(x.Path, x.Set)), report.Text(kindText(x)), pid, report.Cycles(x.Rows), report.Cycles(x.Calls), nsOf(float64(x.SpanNs), x.SpanNs),
		})
	}
	return t
}
