package l2

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/pkg/report"
)

// TableID is the table that the CSV output has: one row per kernel.
const TableID = "l2"

// detailed is how many kernels are shown in detail without -v.
const detailed = 3

// Sections lays a result out for reading.
func Sections(r *Result, v counters.View) report.Document {
	kernels := r.Kernels
	if v.Top > 0 && len(kernels) > v.Top {
		kernels = kernels[:v.Top]
	}
	var doc report.Document
	if len(r.Kernels) > 1 {
		t := summary(kernels, v)
		if n := len(r.Kernels) - len(kernels); n > 0 {
			t.Note = strings.TrimPrefix(t.Note+fmt.Sprintf("; %d more kernels (--top 0 shows all)", n), "; ")
		}
		doc.Sections = append(doc.Sections, report.Section{ID: "kernels", Title: "L2 and memory", Items: []report.Item{t}})
	}
	for i := range kernels {
		if i == detailed && !v.Verbose {
			break
		}
		doc.Sections = append(doc.Sections, detail(i, &kernels[i], v))
	}
	return doc
}

// summary is one line per kernel.
func summary(kernels []Kernel, v counters.View) report.Table {
	t := report.Table{ID: "kernels", Columns: []report.Column{
		{Key: "kernel", Title: "kernel", Elide: report.ElideName, Max: 40, Min: 12, Flex: true},
		{Key: "dispatches", Title: "runs", Align: report.AlignRight},
		{Key: "l2_hit_pct", Title: "hit", Align: report.AlignRight},
		{Key: "read", Title: "read GB/s", Align: report.AlignRight},
		{Key: "write", Title: "write GB/s", Align: report.AlignRight},
		{Key: "pct_of_peak", Title: "peak", Align: report.AlignRight},
		{Key: "decision", Title: "decision"},
	}}
	if v.FullNames {
		t.Columns[0].Elide, t.Columns[0].Max, t.Columns[0].Flex = report.ElideTail, 0, false
	}
	for i := range kernels {
		k := &kernels[i]
		peak := report.Absent("")
		if k.Traffic != nil && k.Traffic.PctOfPeak != nil {
			peak = report.Cell{Text: k.Traffic.share(), Value: k.Traffic.PctOfPeak.Low}
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.Text(k.Name), report.Cycles(k.Dispatches), cell(k, "l2_hit_pct"), rate(k, "ea_read_GBps"), rate(k, "ea_write_GBps"), peak,
			report.Text(k.Decisions[0].ID),
		})
	}
	return t
}

func cell(k *Kernel, id string) report.Cell {
	v, ok := k.Metrics[id]
	if !ok {
		return report.Absent("")
	}
	return counters.Cell(v)
}

// rate is a bandwidth without its unit.
func rate(k *Kernel, id string) report.Cell {
	c := cell(k, id)
	c.Text = strings.ReplaceAll(c.Text, " GB/s", "")
	c.Reason = ""
	return c
}

// detail is the section of one kernel.
func detail(i int, k *Kernel, v counters.View) report.Section {
	kv := report.KeyValues{Items: []report.KV{
		{Key: "run", Value: k.Run},
		counters.GPUText(k.Machine),
		{Key: "dispatches", Value: counters.DispatchText(k.Dispatches, k.TotalNs)},
	}}
	if v.Verbose {
		kv.Items = append(kv.Items, counters.EvidenceText(k.Machine))
	}
	for _, f := range facts(k) {
		if f.Value != "" {
			kv.Items = append(kv.Items, f)
		}
	}
	items := []report.Item{kv, decisions(k)}
	if len(k.Channels) > 0 && (v.Verbose || k.Decisions[0].ID == imbalanced) {
		items = append(items, counters.ChannelTable(fmt.Sprintf("channels-%d", i), k.Channels))
	}
	if v.Verbose {
		items = append(items, formulas(i, k))
	}
	if k.Next != nil {
		items = append(items, report.Paragraph{Text: "One more pass gives " + strings.Join(k.Next.Unlocks, ", ") + ": " + k.Next.Command})
	}
	if len(k.Notes) > 0 {
		items = append(items, counters.NoteList(k.Notes))
	}
	return report.Section{ID: fmt.Sprintf("kernel-%d", i), Title: v.Title(k.Name), Items: items}
}

// facts are the lines of one kernel.
func facts(k *Kernel) []report.KV {
	return []report.KV{
		{Key: "L2", Value: join(
			text(k, "l2_hit_pct", "%s hits", "hit rate"), text(k, "l2_hits", "%s hits", ""), text(k, "l2_misses", "%s misses", ""), text(k, "l2_requests", "%s requests", ""),
		), Note: perDispatch(k)},
		{Key: "L1 to L2", Value: join(text(k, "l1_l2_read_requests", "%s reads", ""), text(k, "l1_l2_requests", "%s requests", ""), text(k, "l1_l2_bytes", "%s", ""))},
		{Key: "L2 rate", Value: rateText(k, "l2_bw_GBps", "l2")},
		{Key: "read", Value: join(text(k, "ea_read_bytes", "%s", "bytes"), rateText(k, "ea_read_GBps", "")), Note: noteOf(k, "ea_read_bytes")},
		{Key: "write", Value: join(text(k, "ea_write_bytes", "%s", "bytes"), rateText(k, "ea_write_GBps", "")), Note: noteOf(k, "ea_write_bytes")},
		{Key: "memory", Value: trafficText(k)},
		{Key: "reads from", Value: join(
			text(k, "hbm_read_req_pct", "HBM %s", "HBM"), text(k, "hbm_read_bytes", "%s", ""),
			text(k, "remote_read_req_pct", "elsewhere (GMI, IO) %s", ""), text(k, "remote_read_bytes", "%s", ""),
		)},
		{Key: "sizes", Value: join(
			text(k, "req_128B_pct", "%s of reads are 128 B", ""), text(k, "req_64B_pct", "%s 64 B", ""), text(k, "req_32B_pct", "%s of reads are 32 B", ""), text(k, "partial_write_pct", "%s of writes are 32 B", ""),
		)},
		{Key: "over-fetch", Value: overFetchText(k)},
		{Key: "latency", Value: join(text(k, "ea_read_latency_cyc", "%s per read", ""), text(k, "ea_write_latency_cyc", "%s per write", ""))},
	}
}

func perDispatch(k *Kernel) string {
	if _, counted := k.Metrics["l2_hits"]; counted && k.Dispatches > 1 {
		return "counts are per dispatch"
	}
	return ""
}

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// text shows a metric. Where there is none, it says so if missing names it.
func text(k *Kernel, id, format, missing string) string {
	v, ok := k.Metrics[id]
	switch {
	case ok && (v.Value != nil || v.Range != nil):
		return fmt.Sprintf(format, counters.Cell(v).Text)
	case missing == "":
		return ""
	case ok:
		return missing + " " + v.Note
	}
	return missing + " not known"
}

func noteOf(k *Kernel, id string) string {
	if v := k.Metrics[id]; v.Value != nil || v.Range != nil {
		return v.Note
	}
	return ""
}

// rateText shows a bandwidth with its share of the peak.
func rateText(k *Kernel, id, peak string) string {
	v, ok := k.Metrics[id]
	if !ok || v.Value == nil && v.Range == nil {
		return ""
	}
	s := counters.Cell(v).Text
	if v.PctOfPeak != nil && peak != "" {
		s += fmt.Sprintf(" = %.1f %% of the peak: %s", *v.PctOfPeak, counters.PeakText(peak, v.Peak))
	}
	return s
}

func trafficText(k *Kernel) string {
	t := k.Traffic
	if t == nil || t.GBps == nil {
		return ""
	}
	s := fmt.Sprintf("%s GB/s both ways", span(*t.GBps, 1))
	if t.Only != "" {
		s = fmt.Sprintf("at least %.1f GB/s, %s alone", t.GBps.Low, t.Only)
	}
	switch {
	case t.PctOfPeak != nil:
		s += fmt.Sprintf(" = %s of the peak of %.5g GB/s (%s)", t.share(), t.PeakGBps, t.PeakSource)
	case t.PeakGBps > 0:
		s += fmt.Sprintf(": more than the peak of %.5g GB/s (%s), so the device or the duration is another", t.PeakGBps, t.PeakSource)
	default:
		s += "; the peak is not known: give --device"
	}
	if m := k.Machine.Measured; m != nil {
		s += fmt.Sprintf("; %.4g GB/s %s", m.Value, m.Source)
	}
	return s
}

func overFetchText(k *Kernel) string {
	if k.OverFetch == nil {
		return ""
	}
	return fmt.Sprintf("%s the %s that a dispatch has to read", times(k.OverFetch.Ratio), counters.Figure(k.OverFetch.IdealBytes, "bytes"))
}

// decisions shows what follows.
func decisions(k *Kernel) report.Item {
	notes := report.Notes{}
	for _, d := range k.Decisions {
		s := d.Text
		if d.Fix != "" {
			s += ". " + strings.ToUpper(d.Fix[:1]) + d.Fix[1:]
		}
		if len(d.Counters) > 0 && (k.Next == nil || !slices.Equal(d.Counters, k.Next.Counters)) {
			s += ". Surer with: " + strings.Join(d.Counters, " ")
		}
		notes.Items = append(notes.Items, report.Note{Severity: "decision", Text: s + " [" + d.ID + "]"})
	}
	return notes
}

// formulas shows how each figure was computed.
func formulas(i int, k *Kernel) report.Table {
	t := report.Table{ID: fmt.Sprintf("formulas-%d", i), Columns: []report.Column{
		{Key: "metric", Title: "metric"}, {Key: "value", Title: "value", Align: report.AlignRight}, {Key: "formula", Title: "formula", Flex: true, Min: 20},
	}}
	for _, id := range metricIDs() {
		if v, ok := k.Metrics[id]; ok {
			t.Rows = append(t.Rows, []report.Cell{report.Text(id), counters.Cell(v), report.Text(v.Source)})
		}
	}
	return t
}

// CSV is the CSV output: one row per kernel.
func CSV(r *Result) report.Table {
	t := report.Table{ID: TableID, Columns: []report.Column{{Key: "path"}, {Key: "kernel"}, {Key: "dispatches"}, {Key: "decision"}}}
	for _, id := range metricIDs() {
		t.Columns = append(t.Columns, report.Column{Key: id})
		if id == "ea_read_bytes" || id == "ea_read_GBps" {
			t.Columns = append(t.Columns, report.Column{Key: id + "_low"}, report.Column{Key: id + "_high"})
		}
	}
	t.Columns = append(t.Columns, report.Column{Key: "pct_of_peak"}, report.Column{Key: "over_fetch"})
	for i := range r.Kernels {
		k := &r.Kernels[i]
		row := []report.Cell{report.Text(k.Run), report.Text(k.Name), report.Int(k.Dispatches), report.Text(k.Decisions[0].ID)}
		for _, id := range metricIDs() {
			v := k.Metrics[id]
			row = append(row, number(v.Value))
			if id == "ea_read_bytes" || id == "ea_read_GBps" {
				row = append(row, low(v.Range), high(v.Range))
			}
		}
		var pct, over *counters.Range
		if k.Traffic != nil {
			pct = k.Traffic.PctOfPeak
		}
		if k.OverFetch != nil {
			over = &k.OverFetch.Ratio
		}
		t.Rows = append(t.Rows, append(row, low(pct), low(over)))
	}
	return t
}

func number(v *float64) report.Cell {
	if v == nil {
		return report.Absent("")
	}
	return report.Cell{Text: fmt.Sprint(*v), Value: *v}
}

func low(r *counters.Range) report.Cell {
	if r == nil {
		return report.Absent("")
	}
	return number(&r.Low)
}

func high(r *counters.Range) report.Cell {
	if r == nil {
		return report.Absent("")
	}
	return number(&r.High)
}
