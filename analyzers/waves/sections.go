package waves

import (
	"fmt"
	"math"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/report"
)

// View says what to show of a Result.
type View struct {
	// SE is the engine whose timelines are drawn, -1 for the first; SIMD adds
	// the slots of one SIMD, -1 for none.
	SE, SIMD int
	// Top bounds the barriers; 0 for all.
	Top int
	// Verbose draws every engine with every slot.
	Verbose   bool
	FullNames bool
}

const nameWidth = 60

// TableID is the id of the table that CSV makes.
const TableID = "waves"

// Sections lays a result out for reading.
func Sections(r *Result, v View) report.Document {
	var doc report.Document
	for i := range r.Traces {
		t := &r.Traces[i]
		suffix := fmt.Sprintf("-%d", i)
		doc.Sections = append(doc.Sections, head(t, suffix, v))
		if t.Load != nil {
			doc.Sections = append(doc.Sections, loadSection(t.Load, suffix))
		}
		if len(t.Counters) > 0 {
			doc.Sections = append(doc.Sections, report.Section{ID: "counters" + suffix, Title: "Counters over time", Items: []report.Item{phaseTable(t, "counters"+suffix)}})
		}
		for j := range t.Units {
			u := &t.Units[j]
			if v.Verbose || v.SE == u.SE || v.SE < 0 && j == 0 {
				doc.Sections = append(doc.Sections, timeline(u, fmt.Sprintf("%s-%d", suffix, j), v))
			}
		}
		if len(t.Barriers) > 0 {
			doc.Sections = append(doc.Sections, report.Section{ID: "barriers" + suffix, Title: "Arrival at barriers", Items: []report.Item{barrierTable(t, "barriers"+suffix, v)}})
		}
	}
	for i, path := range r.Without {
		doc.Sections = append(doc.Sections, report.Section{ID: fmt.Sprintf("without-%d", i), Title: "No waves", Items: []report.Item{
			report.Paragraph{Text: path + " holds no wave files"},
		}})
	}
	return doc
}

// CSV is one table of all SIMDs.
func CSV(r *Result) report.Table {
	all := report.Table{ID: TableID, Columns: append([]report.Column{{Key: "path", Title: "trace"}}, simdColumns...)}
	for i := range r.Traces {
		for _, row := range simdRows(&r.Traces[i]) {
			all.Rows = append(all.Rows, append([]report.Cell{report.Text(r.Traces[i].Path)}, row...))
		}
	}
	return all
}

func head(t *Trace, suffix string, v View) report.Section {
	var names []string
	for _, n := range t.Kernels {
		if !v.FullNames {
			n = report.ShortenName(n, nameWidth)
		}
		names = append(names, n)
	}
	title := strings.Join(names, ", ")
	if title == "" {
		title = "waves"
	}
	kv := report.KeyValues{}
	add := func(key, format string, args ...any) {
		kv.Items = append(kv.Items, report.KV{Key: key, Value: fmt.Sprintf(format, args...)})
	}
	add("trace", "%s", t.Path)
	add("waves", "%d on %s", t.Waves, unitsText(t))
	if t.FilesMissing+t.FilesDamaged > 0 {
		add("lost", "%d wave files missing, %d damaged: what is drawn is partial", t.FilesMissing, t.FilesDamaged)
	}
	l := t.Lifetime
	add("lifetime", "%s to %s cycles, median %s, 95 %% within %s", report.Count(l.Min), report.Count(l.Max), report.Count(l.Median), report.Count(l.P95))
	if n := t.States.Total(); n > 0 {
		s := t.States
		add("wave time", "%.1f %% issuing, %.1f %% waiting, %.1f %% stalled, %.1f %% between instructions", pct(s.Issue, n), pct(s.Wait, n), pct(s.Stall, n), pct(s.Idle, n))
	}
	if t.SIMDSpreadPct != nil && t.UnitSpreadPct != nil {
		add("imbalance", "the busiest SIMD holds %.1f %% more wave time than the mean; the longest engine runs %.1f %% longer", *t.SIMDSpreadPct, *t.UnitSpreadPct)
	}
	if w := t.Longest; w != nil {
		add("longest", "SE%d CU%d SIMD %d slot %d wave %d: %s cycles", w.SE, w.CU, w.SIMD, w.Slot, w.ID, report.Count(w.LifetimeCycles))
	}
	if t.BarriersCut {
		add("barriers", "too many to keep: left out")
	}
	return report.Section{ID: "kernel" + suffix, Title: title, Items: []report.Item{kv, simdTable(t, "simds"+suffix)}}
}

func unitsText(t *Trace) string {
	simds := 0
	for i := range t.Units {
		simds += len(t.Units[i].SIMDs)
	}
	return fmt.Sprintf("%d SIMDs of %d shader engines", simds, len(t.Units))
}

func right(key, title string) report.Column {
	return report.Column{Key: key, Title: title, Align: report.AlignRight}
}

var simdColumns = []report.Column{
	right("se", "SE"), right("cu", "CU"), right("simd", "SIMD"), right("waves", "waves"), right("mean_resident_waves", "mean"),
	right("peak_resident_waves", "peak"), right("resident_wave_cycles", "wave time"), right("issue_pct", "issue"), right("wait_pct", "wait"),
	right("stall_pct", "stall"), right("start_up_cycles", "start-up"), right("drain_cycles", "drain"), right("start_ns", "from ns"),
}

func simdRows(t *Trace) [][]report.Cell {
	var out [][]report.Cell
	for i := range t.Units {
		u := &t.Units[i]
		for j := range u.SIMDs {
			s := &u.SIMDs[j]
			n := s.States.Total()
			out = append(out, []report.Cell{
				report.Int(u.SE), report.Int(u.CU), report.Int(s.SIMD), report.Int(s.Waves), optional(s.MeanResident, 1), report.Int(s.PeakResident),
				report.Cycles(s.ResidentWaveCycles), report.Pct(pct(s.States.Issue, n)), report.Pct(pct(s.States.Wait, n)),
				report.Pct(pct(s.States.Stall, n)), report.Cycles(s.StartUpCycles), report.Cycles(s.DrainCycles), optional(u.StartNs, 0),
			})
		}
	}
	return out
}

// simdTable fits a terminal: the place in one column.
func simdTable(t *Trace, id string) report.Table {
	const place, left = 3, 6 // columns of the place, and the one left out
	table := report.Table{
		ID: id, Columns: []report.Column{{Key: "place", Title: "SE/CU/SIMD"}},
		Note: "mean: waves per SIMD over the cycles that hold one; issue, wait, stall: of the waves' time; from ns: start after the earliest engine",
	}
	table.Columns = append(append(table.Columns, simdColumns[place:left]...), simdColumns[left+1:]...)
	for _, row := range simdRows(t) {
		cells := []report.Cell{report.Text(row[0].Text + "/" + row[1].Text + "/" + row[2].Text)}
		table.Rows = append(table.Rows, append(append(cells, row[place:left]...), row[left+1:]...))
	}
	return table
}

func timeline(u *Unit, suffix string, v View) report.Section {
	t := report.Table{ID: "timeline" + suffix, Columns: []report.Column{
		{Key: "place", Title: "SIMD"}, {Key: "timeline", Title: fmt.Sprintf("%s cycles, %.0f a column", report.Count(u.WindowCycle), u.BinCycles)},
	}, Note: "issue: # a wave of the SIMD issues in at least half of the cycles, + in a quarter, - in less, blank none; waves: mean number resident, 9 for more"}
	slots := false
	for i := range u.SIMDs {
		s := &u.SIMDs[i]
		if s.Issuing != nil {
			t.Rows = append(t.Rows, []report.Cell{report.Text(fmt.Sprintf("%d issue", s.SIMD)), report.Text(issueLine(s.Issuing))})
		}
		t.Rows = append(t.Rows, []report.Cell{report.Text(fmt.Sprintf("%d waves", s.SIMD)), report.Text(residentLine(s.Resident))})
		if !v.Verbose && v.SIMD != s.SIMD {
			continue
		}
		slots = true
		for j := range s.Slots {
			t.Rows = append(t.Rows, []report.Cell{report.Text(fmt.Sprintf("%d slot %d", s.SIMD, s.Slots[j].Slot)), report.Text(slotLine(s.Slots[j].Bins))})
		}
	}
	if slots {
		t.Note += "; slots: # issues in at least half of the wave's cycles, + in a quarter, else most of them w waiting, s stalled, . between instructions"
	}
	return report.Section{ID: "timelines" + suffix, Title: fmt.Sprintf("SE%d CU%d", u.SE, u.CU), Items: []report.Item{t}}
}

func issueLine(bins []float64) string {
	line := make([]byte, len(bins))
	for i, x := range bins {
		switch {
		case x >= 0.5:
			line[i] = '#'
		case x >= 0.25:
			line[i] = '+'
		case x > 0:
			line[i] = '-'
		default:
			line[i] = ' '
		}
	}
	return string(line)
}

func residentLine(bins []float64) string {
	line := make([]byte, len(bins))
	for i, x := range bins {
		switch n := int(math.Round(x)); {
		case x == 0:
			line[i] = ' '
		default:
			line[i] = byte('0' + min(n, 9))
		}
	}
	return string(line)
}

func slotLine(bins []States) string {
	line := make([]byte, len(bins))
	for i := range bins {
		line[i] = slotMark(&bins[i])
	}
	return string(line)
}

func slotMark(s *States) byte {
	n := s.Total()
	switch {
	case n == 0:
		return ' '
	case 2*s.Issue >= n:
		return '#'
	case 4*s.Issue >= n:
		return '+'
	case s.Wait >= s.Stall && s.Wait >= s.Idle:
		return 'w'
	case s.Stall >= s.Idle:
		return 's'
	default:
		return '.'
	}
}

func barrierTable(t *Trace, id string, v View) report.Table {
	table := report.Table{ID: id, Columns: []report.Column{
		right("line", "line"), right("meetings", "meetings"), right("mean_waves", "waves"), right("wait_cycles", "waiting"),
		right("mean_spread_cycles", "mean spread"), right("max_spread_cycles", "max"),
		{Key: "late", Title: "last to come"},
	}, Note: "spread: cycles from the first to the last arrival; waiting: wave cycles; last to come: how often, by SIMD"}
	for i := range t.Barriers {
		b := &t.Barriers[i]
		if v.Top > 0 && i == v.Top {
			break
		}
		var late []string
		for _, l := range b.Late {
			late = append(late, fmt.Sprintf("%d: %d", l.SIMD, l.Times))
		}
		table.Rows = append(table.Rows, []report.Cell{
			report.Int(b.Line), report.Int(b.Meetings), report.Float(b.Waves, 1), report.Cycles(b.WaitCycles),
			report.Float(b.MeanSpread, 0), report.Cycles(b.MaxSpread), report.Text(strings.Join(late, ", ")),
		})
	}
	return table
}

func pct(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

func optional(x *float64, decimals int) report.Cell {
	if x == nil {
		return report.Absent("")
	}
	return report.Float(*x, decimals)
}
