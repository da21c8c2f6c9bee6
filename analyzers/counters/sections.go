package counters

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/report"
)

// View says what to show of a Result.
type View struct {
	// Top is how many kernels are shown; 0 is all.
	Top int
	// Verbose adds the formulas, all absent metrics and the channels.
	Verbose bool
	// FullNames keeps long kernel names whole.
	FullNames bool
}

// TableID is the table that the CSV output has: one row per kernel and metric.
const TableID = "metrics"

// DispatchTableID is the CSV table of single dispatches.
const DispatchTableID = "dispatches"

// nameWidth is the width of a kernel's name in a heading.
const nameWidth = 66

// shown cuts the kernels to those that are shown.
func (v View) shown(kernels []Kernel) []Kernel {
	if v.Top > 0 && len(kernels) > v.Top {
		return kernels[:v.Top]
	}
	return kernels
}

// Title is a kernel's name as a heading.
func (v View) Title(name string) string {
	if v.FullNames {
		return name
	}
	return report.ShortenName(name, nameWidth)
}

// Sections lays a result out for reading.
func Sections(r *Result, v View) report.Document {
	var doc report.Document
	kernels := v.shown(r.Kernels)
	for i := range kernels {
		doc.Sections = append(doc.Sections, section(i, r, &kernels[i], v))
	}
	if n := len(r.Kernels) - len(kernels); n > 0 {
		doc.Sections = append(doc.Sections, report.Section{ID: "more", Items: []report.Item{
			report.Paragraph{Text: fmt.Sprintf("%d more kernels (--top 0 shows all)", n)},
		}})
	}
	return doc
}

func section(i int, r *Result, k *Kernel, v View) report.Section {
	head := report.KeyValues{Items: []report.KV{
		{Key: "run", Value: k.Run},
		GPUText(k.Machine),
		{Key: "dispatches", Value: DispatchText(k.Dispatches, k.TotalNs)},
	}}
	if k.Grid > 0 && k.Workgroup > 0 {
		head.Items = append(head.Items, report.KV{Key: "launch", Value: fmt.Sprintf("%d workgroups of %d work-items", (k.Grid-1)/k.Workgroup+1, k.Workgroup)})
	}
	if v.Verbose {
		head.Items = append(head.Items, EvidenceText(k.Machine))
	}
	if r.Aggregation == "mean" {
		head.Items = append(head.Items, report.KV{Key: "values", Value: "means of each dispatch's value"})
	}
	items := []report.Item{head, metricTable(i, k, v)}
	if v.Verbose && len(k.Channels) > 0 {
		items = append(items, ChannelTable(fmt.Sprintf("channels-%d", i), k.Channels))
	}
	if len(k.PerDispatch) > 0 {
		items = append(items, perDispatchTable(i, k))
	}
	items = append(items, absentItems(i, k, v)...)
	if len(k.Notes) > 0 {
		items = append(items, NoteList(k.Notes))
	}
	return report.Section{ID: fmt.Sprintf("kernel-%d", i), Title: v.Title(k.Name), Items: items}
}

// GPUText says which GPU a kernel ran on and how that is known.
func GPUText(m *Machine) report.KV {
	name := strings.Join(m.Archs, " or ")
	if len(m.Archs) > 3 {
		name = "not known"
	}
	if m.Device != "" && m.Device != m.Arch() {
		name = m.Device + ", " + name
	}
	for _, f := range []struct{ fact, unit string }{{"CU", "CUs"}, {"XCC", "XCCs"}, {"L2_CHANNELS", "L2 channels"}} {
		if x, ok := m.Facts[f.fact]; ok {
			name += fmt.Sprintf(", %g %s", x.Value, f.unit)
		}
	}
	return report.KV{Key: "GPU", Value: name, Note: m.ArchSource}
}

// EvidenceText says from where each fact about the GPU is.
func EvidenceText(m *Machine) report.KV {
	return report.KV{Key: "evidence", Value: m.GPU.Evidence()}
}

// DispatchText counts dispatches, with their time.
func DispatchText(n int64, ns *float64) string {
	s := report.Count(n)
	if ns != nil && n > 0 {
		s += ", " + report.Duration(math.Round(*ns)) + " in all"
	}
	return s
}

// metricTable is one kernel's figures.
func metricTable(i int, k *Kernel, v View) report.Table {
	t := report.Table{ID: fmt.Sprintf("metrics-%d", i), Columns: []report.Column{
		{Key: "metric", Title: "metric"},
		{Key: "value", Title: "value", Align: report.AlignRight},
		{Key: "of", Title: "", Flex: true, Min: 12},
		{Key: "pct_of_peak", Title: "of peak", Align: report.AlignRight},
	}}
	if v.Verbose {
		t.Columns = append(t.Columns, report.Column{Key: "formula", Title: "formula", Flex: true, Min: 20})
	}
	for _, m := range Catalogue() {
		x, ok := k.Metrics[m.ID]
		if !ok {
			continue
		}
		if !v.Verbose && byType(m.ID) && x.Value != nil && *x.Value == 0 {
			continue // types that the kernel does not use
		}
		row := []report.Cell{report.Text(m.ID), Cell(x), report.Text(m.Denominator), peakCell(x)}
		if v.Verbose {
			row = append(row, report.Text(x.Source))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Note = peakNote(k)
	return t
}

// byType reports whether a metric counts one type of arithmetic.
func byType(id string) bool {
	return strings.HasPrefix(id, "mfma_flops_") || strings.HasPrefix(id, "valu_flops_")
}

func peakCell(x Value) report.Cell {
	if x.PctOfPeak == nil {
		return report.Cell{Text: ""}
	}
	return report.Pct(*x.PctOfPeak)
}

// peakNote names the peaks that the table compares with.
func peakNote(k *Kernel) string {
	var parts []string
	for _, m := range Catalogue() {
		x, ok := k.Metrics[m.ID]
		if !ok || x.Peak == nil || x.PctOfPeak == nil {
			continue
		}
		if s := PeakText(m.Peak, x.Peak); !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "peak: " + strings.Join(parts, "; ")
}

// PeakText names a peak and its source.
func PeakText(name string, p *gpu.Peak) string {
	source, _, _ := strings.Cut(p.Source, "; rates:")
	return fmt.Sprintf("%s %.5g %s (%s)", name, p.Value, p.Unit, source)
}

// Cell shows a figure in its unit.
func Cell(x Value) report.Cell {
	switch {
	case x.Value != nil:
		return report.Cell{Text: Figure(*x.Value, x.Unit), Value: *x.Value}
	case x.Range != nil:
		return report.Cell{Text: Figure(x.Range.Low, x.Unit) + " to " + Figure(x.Range.High, x.Unit)}
	}
	return report.Absent(x.Note)
}

// Figure prints a number in a metric's unit.
func Figure(v float64, unit string) string {
	switch unit {
	case "%":
		return fmt.Sprintf("%.2f%%", v)
	case "ns":
		return report.Duration(v)
	case "bytes":
		return withUnit(v, "B")
	case "GB/s":
		return report.Rate(v * 1e9)
	case "FLOP", "OP":
		return withUnit(v, unit)
	case "GFLOP/s":
		return fmt.Sprintf("%.4g %s", v, unit)
	}
	if unit == "cycles" || unit == "waves" || unit == "lanes" {
		return decimals(v) + " " + unit
	}
	return decimals(v)
}

// decimals prints two decimals where there are any.
func decimals(v float64) string {
	switch {
	case v != math.Trunc(v) && math.Abs(v) < 1e5:
		return fmt.Sprintf("%.2f", v)
	case math.Abs(v) >= 1<<62:
		return fmt.Sprintf("%.4g", v)
	}
	return report.Count(int64(math.Round(v)))
}

// withUnit prints a count with its decimal prefix at the unit: "1.074 GB".
func withUnit(v float64, unit string) string {
	if math.Abs(v) >= 1<<62 {
		return fmt.Sprintf("%.4g %s", v, unit)
	}
	s := report.Count(int64(math.Round(v)))
	if last := s[len(s)-1]; last >= '0' && last <= '9' {
		return s + " " + unit
	}
	return s + unit
}

// brief are the figures of single dispatches that fit a line.
func brief() []struct{ id, title string } {
	return []struct{ id, title string }{
		{"duration_ns", "duration"},
		{"l2_hit_pct", "L2 hit"},
		{"ea_read_bytes", "read"},
		{"ea_write_bytes", "write"},
		{"waves", "waves"},
	}
}

// perDispatchTable has one row per dispatch, with the figures that fit.
func perDispatchTable(i int, k *Kernel) report.Table {
	const most = 50
	t := report.Table{ID: fmt.Sprintf("dispatches-%d", i), Columns: []report.Column{{Key: "dispatch_id", Title: "dispatch"}, {Key: "grid", Title: "grid"}}}
	for _, m := range brief() {
		t.Columns = append(t.Columns, report.Column{Key: m.id, Title: m.title, Align: report.AlignRight})
	}
	for n := range k.PerDispatch {
		if n == most {
			t.Note = fmt.Sprintf("%d more dispatches: --format json or csv has all", len(k.PerDispatch)-most)
			break
		}
		d := &k.PerDispatch[n]
		row := []report.Cell{optional(d.ID), report.Int(d.Grid)}
		for _, m := range brief() {
			row = append(row, single(d, m.id, k.Metrics[m.id].Unit))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func optional(id *int64) report.Cell {
	if id == nil {
		return report.Absent("")
	}
	return report.Int(*id)
}

func single(d *Dispatch, id, unit string) report.Cell {
	v, ok := d.Metrics[id]
	if !ok {
		return report.Absent("")
	}
	return report.Cell{Text: Figure(v, unit), Value: v}
}

// absentItems says what is missing: how many metrics, and the pass that would
// unlock most of them.
func absentItems(i int, k *Kernel, v View) []report.Item {
	var items []report.Item
	if v.Verbose && len(k.Absent) > 0 {
		t := report.Table{ID: fmt.Sprintf("absent-%d", i), Columns: []report.Column{
			{Key: "metric", Title: "without a value"}, {Key: "reason", Title: "because", Flex: true},
		}}
		for _, a := range k.Absent {
			t.Rows = append(t.Rows, []report.Cell{report.Text(a.ID), report.Text(a.Reason)})
		}
		items = append(items, t)
	}
	if k.Next != nil {
		text := fmt.Sprintf("One more pass unlocks %d of %d absent metrics (%s): %s", len(k.Next.Unlocks), len(k.Absent), listed(k.Next.Unlocks, 4), k.Next.Command)
		if !v.Verbose {
			text += " (-v lists all that is absent, and why)"
		}
		items = append(items, report.Paragraph{Text: text})
	}
	return items
}

func listed(ids []string, most int) string {
	if len(ids) > most {
		return strings.Join(ids[:most], ", ") + ", ..."
	}
	return strings.Join(ids, ", ")
}

// NoteList shows notes.
func NoteList(notes []Note) report.Notes {
	var out report.Notes
	for _, n := range notes {
		out.Items = append(out.Items, report.Note{Severity: report.SeverityWarning, Text: n.Text})
	}
	return out
}

// ChannelTable shows how evenly L2 channels are used.
func ChannelTable(id string, channels []Balance) report.Table {
	t := report.Table{ID: id, Columns: []report.Column{
		{Key: "counter", Title: "per L2 channel"},
		{Key: "channels_recorded", Title: "channels", Align: report.AlignRight},
		{Key: "mean", Title: "mean", Align: report.AlignRight},
		{Key: "min", Title: "min", Align: report.AlignRight},
		{Key: "max", Title: "max", Align: report.AlignRight},
		{Key: "cv", Title: "CV", Align: report.AlignRight},
		{Key: "max_over_mean", Title: "max/mean", Align: report.AlignRight},
	}, Note: "per dispatch; CV: standard deviation over mean"}
	for _, c := range channels {
		count := report.Int(c.Channels)
		if c.Partial {
			count.Text = fmt.Sprintf("%d of %d", c.Channels, c.Of)
		}
		cv := report.Float(c.CV, 4)
		if c.Little {
			cv = report.Absent("too little traffic to judge")
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.Text(c.Counter), count, whole(c.Mean), whole(c.Min), whole(c.Max), cv, report.Float(c.MaxOverAvg, 3),
		})
	}
	return t
}

func whole(v float64) report.Cell {
	return report.Cell{Text: report.Count(int64(math.Round(v))), Value: v}
}

// CSV is the CSV output: a row for each metric of each kernel, or of each
// single dispatch.
func CSV(r *Result, perDispatch bool) report.Table {
	all := report.Table{ID: TableID, Columns: []report.Column{
		{Key: "path"},
		{Key: "kernel"},
		{Key: "dispatches"},
		{Key: "metric"},
		{Key: "value"},
		{Key: "low"},
		{Key: "high"},
		{Key: "unit"},
		{Key: "pct_of_peak"},
		{Key: "formula"},
	}}
	each := report.Table{ID: DispatchTableID, Columns: []report.Column{
		{Key: "path"}, {Key: "kernel"}, {Key: "rank"}, {Key: "ordinal"}, {Key: "dispatch_id"}, {Key: "metric"}, {Key: "value"},
	}}
	for i := range r.Kernels {
		k := &r.Kernels[i]
		name := []report.Cell{report.Text(k.Run), report.Text(k.Name)}
		for _, m := range Catalogue() {
			if x, ok := k.Metrics[m.ID]; ok {
				all.Rows = append(all.Rows, append(slices.Clone(name), csvCells(k, m.ID, x)...))
			}
		}
		for n := range k.PerDispatch {
			d := &k.PerDispatch[n]
			for _, m := range Catalogue() {
				if x, ok := d.Metrics[m.ID]; ok {
					each.Rows = append(each.Rows, append(slices.Clone(name), report.Int(d.Rank), report.Int(d.Ordinal), optional(d.ID), report.Text(m.ID), raw(x)))
				}
			}
		}
	}
	if perDispatch {
		return each
	}
	return all
}

func csvCells(k *Kernel, id string, x Value) []report.Cell {
	value, low, high, pct := report.Absent(""), report.Absent(""), report.Absent(""), report.Absent("")
	if x.Value != nil {
		value = raw(*x.Value)
	}
	if x.Range != nil {
		low, high = raw(x.Range.Low), raw(x.Range.High)
	}
	if x.PctOfPeak != nil {
		pct = raw(*x.PctOfPeak)
	}
	return []report.Cell{report.Int(k.Dispatches), report.Text(id), value, low, high, report.Text(x.Unit), pct, report.Text(x.Source)}
}

func raw(v float64) report.Cell { return report.Cell{Text: fmt.Sprint(v), Value: v} }

// CatalogueSections lists the metrics, or explains one.
func CatalogueSections(metrics []Metric) report.Document {
	if len(metrics) == 1 {
		return explain(metrics[0])
	}
	var doc report.Document
	for _, g := range Groups() {
		t := report.Table{ID: "group-" + strings.ReplaceAll(string(g), " ", "_"), Columns: []report.Column{
			{Key: "id", Title: "id"}, {Key: "title", Title: "what", Flex: true, Min: 20}, {Key: "unit", Title: "unit", Flex: true},
		}}
		for _, m := range metrics {
			if m.Group == g {
				t.Rows = append(t.Rows, []report.Cell{report.Text(m.ID), report.Text(m.Title), report.Text(m.Unit)})
			}
		}
		if len(t.Rows) > 0 {
			doc.Sections = append(doc.Sections, report.Section{ID: t.ID, Title: string(g), Items: []report.Item{t}})
		}
	}
	return doc
}

// explain shows all about one metric.
func explain(m Metric) report.Document {
	kv := report.KeyValues{Items: []report.KV{{Key: "what", Value: m.Title}, {Key: "unit", Value: strings.TrimSpace(m.Unit + " " + m.Denominator)}}}
	for _, e := range []struct{ key, value string }{{"tells", m.Doc}, {"peak", m.Peak}} {
		if e.value != "" {
			kv.Items = append(kv.Items, report.KV{Key: e.key, Value: e.value})
		}
	}
	if m.Max > 0 {
		kv.Items = append(kv.Items, report.KV{Key: "at most", Value: fmt.Sprintf("%g %s", m.Max, m.Unit), Note: "above: " + m.Over})
	}
	items := []report.Item{kv}
	for _, f := range m.Formulas {
		items = append(items, formulaItem(f))
	}
	return report.Document{Sections: []report.Section{{ID: "metric", Title: m.ID, Items: items}}}
}

func formulaItem(f Formula) report.Item {
	archs := "all"
	if len(f.Archs) > 0 {
		archs = strings.Join(f.Archs, ", ")
	}
	text := f.Expr
	if text == "" {
		text = "between " + f.Low + " and " + f.High
	}
	kv := report.KeyValues{Items: []report.KV{{Key: "on", Value: archs}, {Key: "formula", Value: text, Note: f.Source}}}
	if f.Note != "" {
		kv.Items = append(kv.Items, report.KV{Key: "note", Value: f.Note})
	}
	if names, err := Needs(f); err == nil {
		archs := f.Archs
		for i, n := range names {
			names[i] = Spell(n, archs)
		}
		kv.Items = append(kv.Items, report.KV{Key: "counters", Value: strings.Join(names, " ")})
	}
	return kv
}

// Needs lists the counters of a formula, in canonical names. It fails when the
// formula cannot be read.
func Needs(f Formula) ([]string, error) {
	var all []string
	for _, text := range []string{f.Expr, f.Low, f.High} {
		if text == "" {
			continue
		}
		e, err := parse(text)
		if err != nil {
			return nil, err
		}
		all = append(all, e.names()...)
	}
	counters, _ := split(all)
	return slices.DeleteFunc(counters, func(c string) bool { return c == duration }), nil
}

// CatalogueTable is the CSV of the catalogue: one row per formula.
func CatalogueTable(metrics []Metric) report.Table {
	t := report.Table{ID: TableID, Columns: []report.Column{
		{Key: "id"}, {Key: "group"}, {Key: "title"}, {Key: "unit"}, {Key: "denominator"}, {Key: "archs"}, {Key: "formula"}, {Key: "source"},
	}}
	for _, m := range metrics {
		for _, f := range m.Formulas {
			text := f.Expr
			if text == "" {
				text = f.Low + " to " + f.High
			}
			t.Rows = append(t.Rows, []report.Cell{
				report.Text(m.ID), report.Text(string(m.Group)), report.Text(m.Title), report.Text(m.Unit), report.Text(m.Denominator),
				report.Text(strings.Join(f.Archs, " ")), report.Text(text), report.Text(f.Source),
			})
		}
	}
	return t
}
