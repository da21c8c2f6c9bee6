package roofline

import (
	"fmt"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/report"
)

// TableID is the id of the table of points.
const TableID = "roofline"

// View says what to show.
type View struct {
	// Verbose lists all roofs.
	Verbose bool
	// FullNames keeps long kernel names whole.
	FullNames bool
}

// Sections lays a result out: each point with its arithmetic, then the plot.
func Sections(r *Result, v View) report.Document {
	var doc report.Document
	for i := range r.Points {
		doc.Sections = append(doc.Sections, pointSection(i, &r.Points[i], r, v))
		if e := r.Points[i].Efficiency; e != nil {
			doc.Sections = append(doc.Sections, e.Section(fmt.Sprintf("efficiency-%d", i)))
		}
	}
	if lines := plot(r); lines != nil {
		s := report.Snippet{Path: "operations per second against operations per byte of memory, both logarithmic"}
		for _, l := range lines {
			s.Lines = append(s.Lines, report.SnippetLine{Text: l})
		}
		doc.Sections = append(doc.Sections, report.Section{ID: "plot", Title: "Roofline", Items: []report.Item{s}})
	}
	if v.Verbose || len(r.Points) == 0 {
		doc.Sections = append(doc.Sections, roofSection(r))
	}
	return doc
}

func pointSection(i int, p *Point, r *Result, v View) report.Section {
	name := p.Name
	if !v.FullNames {
		name = report.ShortenName(name, 60)
	}
	kv := report.KeyValues{}
	add := func(key, value, note string) {
		if value != "" {
			kv.Items = append(kv.Items, report.KV{Key: key, Value: value, Note: note})
		}
	}
	add("source", strings.TrimSpace(strings.ReplaceAll(p.Source, "_", " ")+" "+p.Path), "")
	add("device", r.Device, r.DeviceSource)
	if v.Verbose && r.GPU != nil {
		add("evidence", r.GPU.Evidence(), "")
	}
	add("operations", fmt.Sprintf("%.4g GFLOP", p.FLOPs/1e9), string(p.Math))
	if p.TimeNs != nil {
		add("achieved", rate(*p.AchievedGFLOPs)+ofPct(p.PeakPct, "of the compute roof"), "in "+report.Duration(*p.TimeNs))
	}
	if p.PeakGFLOPs != nil {
		add("compute roof", rate(*p.PeakGFLOPs), "")
	}
	for _, l := range p.Levels {
		add(l.Name, levelText(l), "")
	}
	if p.MinTimeNs != nil {
		add("at the roofs", report.Duration(*p.MinTimeNs)+" at least", "theoretical or measured roofs, nothing else")
	}
	if p.Bound != "" {
		add("bound", p.Bound, boundNote(p))
	}
	for _, n := range p.Notes {
		add("note", n, "")
	}
	return report.Section{ID: fmt.Sprintf("kernel-%d", i), Title: name, Items: []report.Item{kv}}
}

func boundNote(p *Point) string {
	for _, l := range p.Levels {
		if l.Name == levelHBM && l.Ridge != nil {
			return fmt.Sprintf("%.4g FLOP/B against the ridge at %.4g", l.Intensity, *l.Ridge)
		}
	}
	return ""
}

func levelText(l Level) string {
	s := fmt.Sprintf("%.4g MB, %.4g FLOP/B", l.Bytes/1e6, l.Intensity)
	if l.BytesLow != nil {
		s = fmt.Sprintf("%.4g to %s", *l.BytesLow/1e6, s)
	}
	if l.AchievedGBps != nil {
		s += fmt.Sprintf(", %.4g GB/s", *l.AchievedGBps) + ofPct(l.GBpsPct, "of its roof")
	}
	if l.AttainableGFLOPs != nil {
		s += ", attainable " + rate(*l.AttainableGFLOPs) + ofPct(l.AttainedPct, "of it achieved")
	}
	return s
}

func ofPct(pct *float64, what string) string {
	if pct == nil {
		return ""
	}
	if *pct > 100 {
		return fmt.Sprintf(" (more than 100 %% %s: flagged, caches serve a part or the roof is another device's)", what)
	}
	return fmt.Sprintf(" (%.1f %% %s)", *pct, what)
}

// rate prints GFLOP/s as TFLOP/s where that reads better.
func rate(g float64) string {
	if g >= 1000 {
		return fmt.Sprintf("%.4g TFLOP/s", g/1000)
	}
	return fmt.Sprintf("%.4g GFLOP/s", g)
}

func roofSection(r *Result) report.Section {
	t := report.Table{ID: "roofs", Columns: []report.Column{
		{Key: "roof", Title: "roof"},
		{Key: "value", Title: "value", Align: report.AlignRight},
		{Key: "unit", Title: "unit"},
		{Key: "kind", Title: "kind"},
		{Key: "source", Title: "source", Flex: true},
	}}
	for _, list := range [][]Roof{r.Memory, r.Math} {
		for _, x := range list {
			kind := "theoretical"
			if x.Measured {
				kind = "measured"
			}
			t.Rows = append(t.Rows, []report.Cell{report.Text(x.Name), report.Float(x.Value, 0), report.Text(x.Unit), report.Text(kind), report.Text(x.Source)})
		}
	}
	return report.Section{ID: "roofs", Title: "Roofs", Items: []report.Item{t}}
}

// row is a point at one memory level.
type row struct {
	*Point
	*Level
}

// columns are those of the CSV.
func columns() report.Columns[row] {
	text := func(key string, get func(row) string) report.ColumnOf[row] {
		return report.Col(key, key, func(r row) report.Cell { return report.Text(get(r)) })
	}
	number := func(key string, get func(row) *float64) report.ColumnOf[row] {
		return report.Col(key, key, func(r row) report.Cell { return report.FloatOf(get(r), 2) })
	}
	return report.Columns[row]{
		text("name", func(r row) string { return r.Point.Name }),
		text("kind", func(r row) string { return r.Source }),
		text("path", func(r row) string { return r.Path }),
		text("math", func(r row) string { return string(r.Math) }),
		number("flops", func(r row) *float64 { return &r.FLOPs }),
		number("time_ns", func(r row) *float64 { return r.TimeNs }),
		text("level", func(r row) string { return r.Level.Name }),
		number("bytes", func(r row) *float64 { return &r.Bytes }),
		number("flop_per_byte", func(r row) *float64 { return &r.Intensity }),
		number("ridge_flop_per_byte", func(r row) *float64 { return r.Ridge }),
		number("achieved_gflop_per_s", func(r row) *float64 { return r.AchievedGFLOPs }),
		number("attainable_gflop_per_s", func(r row) *float64 { return r.AttainableGFLOPs }),
		number("achieved_pct_of_peak", func(r row) *float64 { return r.PeakPct }),
		text("bound_by", func(r row) string { return r.Bound }),
	}
}

// CSV lays the points out as one table, a row for each level.
func CSV(r *Result) report.Table {
	var rows []row
	for i := range r.Points {
		p := &r.Points[i]
		for j := range p.Levels {
			rows = append(rows, row{p, &p.Levels[j]})
		}
	}
	return columns().Table(TableID, rows)
}
