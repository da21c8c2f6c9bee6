package loops

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/report"
)

// View says what to show of a Result.
type View struct {
	// Loop is the loop to describe; 0 takes the costliest matrix loop, else
	// the costliest.
	Loop int
	// Top bounds the rows of the tables; 0 for all.
	Top int
	// Verbose describes every loop and lists hazards and registers.
	Verbose   bool
	FullNames bool
}

const nameWidth = 60

// TableID is the id of the table that CSV makes.
const TableID = "loops"

// Sections lays a result out for reading.
func Sections(r *Result, findings []finding.Finding, v View) report.Document {
	var doc report.Document
	for i := range r.Kernels {
		k := &r.Kernels[i]
		suffix := fmt.Sprintf("-%d", i)
		doc.Sections = append(doc.Sections, head(k, suffix, v), report.Section{
			ID: "loops" + suffix, Title: "Loops", Items: []report.Item{loopItem(k, "loops"+suffix, v)},
		})
		for _, l := range described(k, v) {
			doc.Sections = append(doc.Sections, loopSections(k, l, suffix, v)...)
		}
		if len(k.Prefetches) > 0 {
			doc.Sections = append(doc.Sections, report.Section{ID: "prefetch" + suffix, Title: "How far ahead of their waits operations are issued", Items: []report.Item{prefetchTable(k, "prefetch"+suffix, v)}})
		}
		if len(k.Hazards) > 0 {
			doc.Sections = append(doc.Sections, report.Section{ID: "hazards" + suffix, Title: "Matrix results read early", Items: []report.Item{hazardTable(k, "hazards"+suffix, v)}})
		}
		if v.Verbose && len(k.SIMDs) > 0 {
			doc.Sections = append(doc.Sections, report.Section{ID: "simds" + suffix, Title: "SIMDs", Items: []report.Item{simdTable(k, "simds"+suffix)}})
		}
		if k.Registers != nil && len(k.Registers.ByInstruction) > 0 {
			doc.Sections = append(doc.Sections, report.Section{ID: "registers" + suffix, Title: "Vector registers alive", Items: []report.Item{aliveTable(k.Registers, "registers"+suffix)}})
		}
		if k.Tile != nil {
			doc.Sections = append(doc.Sections, tileSection(k.Tile, suffix))
		}
		doc.Sections = append(doc.Sections, findingSection(k, findings, suffix, v)...)
	}
	return doc
}

// CSV is the table of all loops of all kernels, with all columns.
func CSV(r *Result) report.Table {
	all := report.Table{ID: TableID, Columns: append([]report.Column{{Key: "path", Title: "trace"}, {Key: "kernel", Title: "kernel"}}, wholeColumns...)}
	for i := range r.Kernels {
		k := &r.Kernels[i]
		for j := range k.Loops {
			all.Rows = append(all.Rows, append([]report.Cell{report.Text(k.Path), report.Text(k.Name)}, wholeRow(&k.Loops[j])...))
		}
	}
	return all
}

func head(k *Kernel, suffix string, v View) report.Section {
	name := k.Name
	if !v.FullNames {
		name = report.ShortenName(name, nameWidth)
	}
	kv := report.KeyValues{Items: []report.KV{
		{Key: "trace", Value: k.Path},
		{Key: "arch", Value: k.Arch.String()},
		{Key: "waves", Value: fmt.Sprintf("%d traced", k.Waves)},
	}}
	if k.FilesMissing+k.FilesDamaged > 0 {
		kv.Items = append(kv.Items, report.KV{Key: "lost", Value: fmt.Sprintf("%d wave files missing, %d damaged: figures are partial", k.FilesMissing, k.FilesDamaged)})
	}
	if t := k.SIMD; t != nil && t.Total > 0 {
		kv.Items = append(kv.Items, report.KV{Key: "SIMD time", Value: fmt.Sprintf("%s cycles = %.1f %% issuing + %.1f %% exposed + %.1f %% empty",
			report.Count(t.Total), pct(t.Issuing, t.Total), pct(t.Exposed, t.Total), pct(t.Empty, t.Total))})
	} else if k.ExposedAbsent != "" {
		kv.Items = append(kv.Items, report.KV{Key: "exposed", Value: "not known: " + k.ExposedAbsent})
	}
	if len(k.Phases) > 0 {
		var parts []string
		for _, p := range k.Phases {
			parts = append(parts, fmt.Sprintf("%s %.1f %%", p.Name, p.LatencyPct))
		}
		kv.Items = append(kv.Items, report.KV{Key: "latency", Value: strings.Join(parts, ", ")})
	}
	if k.Registers != nil {
		kv.Items = append(kv.Items, report.KV{Key: "registers", Value: registersText(k.Registers), Note: "static"})
	}
	if k.IndirectJumps+k.IrregularCycles > 0 {
		kv.Items = append(kv.Items, report.KV{Key: "flow", Value: fmt.Sprintf("%d indirect jumps, %d irregular cycles: loops may be missing", k.IndirectJumps, k.IrregularCycles)})
	}
	return report.Section{ID: "kernel" + suffix, Title: name, Items: []report.Item{kv}}
}

func registersText(r *Registers) string {
	s := fmt.Sprintf("%d VGPRs + %d AGPRs alive at most (line %d); the code names %d + %d", r.PeakVGPRs, r.PeakAGPRs, r.PeakLine, r.NamedVGPRs, r.NamedAGPRs)
	if r.NextWaves == nil {
		return s
	}
	s += fmt.Sprintf("; %d waves per SIMD need at most %d", *r.NextWaves, *r.NextLimit)
	if r.AboveCount == 0 {
		return s + ", and no instruction has more alive"
	}
	var ranges []string
	for i, x := range r.Above {
		if i == 3 {
			ranges = append(ranges, "...")
			break
		}
		ranges = append(ranges, fmt.Sprintf("%d-%d", x.First, x.Last))
	}
	return s + fmt.Sprintf(": %d instructions have more alive (lines %s)", r.AboveCount, strings.Join(ranges, ", "))
}

// described are the loops to describe one by one.
func described(k *Kernel, v View) []*Loop {
	var out []*Loop
	for i := range k.Loops {
		if v.Verbose || k.Loops[i].ID == v.Loop {
			out = append(out, &k.Loops[i])
		}
	}
	if v.Loop > 0 || v.Verbose || len(k.Loops) == 0 {
		return out
	}
	at := slices.IndexFunc(k.Loops, func(l Loop) bool { return l.Matrix != nil })
	return []*Loop{&k.Loops[max(at, 0)]}
}

func right(key, title string) report.Column {
	return report.Column{Key: key, Title: title, Align: report.AlignRight}
}

// Table is the table of a kernel's loops that fits a terminal.
func Table(k *Kernel, id string) report.Table { return loopTable(k, id, View{}) }

func loopItem(k *Kernel, id string, v View) report.Item {
	if len(k.Loops) == 0 {
		return report.Paragraph{Text: fmt.Sprintf("no loop was executed (%d in the code)", k.NotExecuted)}
	}
	return loopTable(k, id, v)
}

func loopTable(k *Kernel, id string, v View) report.Table {
	t := report.Table{ID: id, Columns: []report.Column{
		right("loop_id", "loop"),
		{Key: "lines", Title: "lines"},
		right("depth", "depth"),
		{Key: "trips", Title: "trips/wave", Align: report.AlignRight},
		right("executed_instructions_per_iteration", "instr."), right("mfma_instructions_per_iteration", "MFMA"), right("cycles_per_iteration", "cycles"),
		right("stall_cycles_per_iteration", "stall"), right("exposed_cycles_per_iteration", "exposed"), right("share_pct", "share"),
	}, Note: "per iteration of a wave, inner loops included; trips: min/median/max; share of the kernel's exposed cycles"}
	if k.SIMD == nil {
		t.Note = "per iteration of a wave, inner loops included; trips: min/median/max; share of the kernel's stall"
	}
	for i := range k.Loops {
		if v.Top > 0 && i == v.Top {
			break
		}
		l := &k.Loops[i]
		p := &l.PerIteration
		t.Rows = append(t.Rows, []report.Cell{
			report.Int(l.ID), report.Text(fmt.Sprintf("%d-%d", l.FirstLine, l.LastLine)), report.Int(l.Depth), tripsCell(l),
			report.Float(p.Instructions, 1), report.Float(p.MFMAs, 1), report.Float(p.Cycles, 0), report.Float(p.StallCycles, 0),
			optional(p.ExposedCycles), report.Pct(l.SharePct),
		})
	}
	if k.NotExecuted > 0 {
		t.Note += fmt.Sprintf("; %d loops were not executed", k.NotExecuted)
	}
	return t
}

var wholeColumns = []report.Column{
	right("loop_id", "loop"), right("parent_loop_id", "in"), right("depth", "depth"), right("first_line", "first"), right("last_line", "last"),
	right("waves", "waves"), right("entries", "entries"), right("iterations", "iterations"),
	right("trips_per_wave_min", "min"), right("trips_per_wave_median", "median"), right("trips_per_wave_max", "max"),
	right("executed_instructions_per_iteration", "instr."), right("mfma_instructions_per_iteration", "MFMA"), right("cycles_per_iteration", "cycles"),
	right("issue_cycles_per_iteration", "issue"), right("stall_cycles_per_iteration", "stall"), right("exposed_cycles_per_iteration", "exposed"),
	right("share_pct", "share"), right("matrix_busy_pct", "matrix"),
	{Key: "bound_by", Title: "bound"},
	right("best_speedup", "speed-up"),
}

func wholeRow(l *Loop) []report.Cell {
	p := &l.PerIteration
	row := []report.Cell{
		report.Int(l.ID), optionalInt(l.Parent), report.Int(l.Depth), report.Int(l.FirstLine), report.Int(l.LastLine),
		optionalCount(l.Waves), optionalCount(l.Entries), report.Int(l.Iterations),
	}
	if t := l.Trips; t != nil {
		row = append(row, report.Int(t.Min), report.Int(t.Median), report.Int(t.Max))
	} else {
		row = append(row, report.Absent(""), report.Absent(""), report.Absent(""))
	}
	row = append(row, report.Float(p.Instructions, 1), report.Float(p.MFMAs, 1), report.Float(p.Cycles, 1), report.Float(p.IssueCycles, 1),
		report.Float(p.StallCycles, 1), optional(p.ExposedCycles), report.Pct(l.SharePct))
	if l.Matrix != nil {
		row = append(row, report.Pct(l.Matrix.BusyPct))
	} else {
		row = append(row, report.Absent(""))
	}
	if l.Ideal == nil || l.Ideal.Bound == "" {
		return append(row, report.Absent(""), report.Absent(""))
	}
	return append(row, report.Text(l.Ideal.Bound), report.Float(l.Ideal.SpeedUp, 2))
}

func tripsCell(l *Loop) report.Cell {
	if l.Trips == nil {
		return report.Absent("there are no wave files")
	}
	t := l.Trips
	if t.Min == t.Max {
		return report.Text(fmt.Sprint(t.Max))
	}
	return report.Text(fmt.Sprintf("%d/%d/%d", t.Min, t.Median, t.Max))
}

func loopSections(k *Kernel, l *Loop, suffix string, v View) []report.Section {
	id := fmt.Sprintf("loop%s-%d", suffix, l.ID)
	s := report.Section{ID: id, Title: fmt.Sprintf("Loop %d, lines %d-%d", l.ID, l.FirstLine, l.LastLine), Items: []report.Item{loopFacts(l)}}
	if l.Matrix != nil {
		s.Items = append(s.Items, gapTable(l.Matrix, id+"-gaps", v))
	} else if len(l.Stalls) > 0 {
		s.Items = append(s.Items, stallTable(l, id+"-stalls", v))
	}
	if l.Ideal != nil && len(l.Ideal.Units) > 0 {
		s.Items = append(s.Items, idealTable(l, id+"-ideal"))
	}
	return []report.Section{s}
}

func loopFacts(l *Loop) report.KeyValues {
	p := &l.PerIteration
	kv := report.KeyValues{}
	add := func(key, format string, args ...any) {
		kv.Items = append(kv.Items, report.KV{Key: key, Value: fmt.Sprintf(format, args...)})
	}
	if l.Source != "" {
		add("source", "%s", l.Source)
	}
	if l.Waves != nil {
		add("waves", "%d waves, %d entries, %d iterations", *l.Waves, *l.Entries, l.Iterations)
	}
	cycles := fmt.Sprintf("%.0f cycles = issue %.0f + stall %.0f + idle %.0f", p.Cycles, p.IssueCycles, p.StallCycles, p.IdleCycles)
	if p.ExposedCycles != nil {
		cycles += fmt.Sprintf("; %.0f SIMD cycles exposed", *p.ExposedCycles)
	}
	add("iteration", "%s", cycles)
	var mix []string
	for i, m := range l.Mix {
		if i == 6 {
			break
		}
		mix = append(mix, fmt.Sprintf("%s %.1f", m.Kind, m.PerIteration))
	}
	add("mix", "%.1f instructions: %s", p.Instructions, strings.Join(mix, ", "))
	if r := l.Ratios; r != nil {
		add("ratios", "MFMA %.1f %% (%s); memory and LDS %.1f %% (%s)", r.MFMAPct, r.MFMAVerdict, r.MemoryPct, r.MemoryVerdict)
	}
	if s := workText(p); s != "" {
		add("work", "%s", s)
	}
	if m := l.Matrix; m != nil {
		add("matrix", "pipe busy %.1f %% of %s SIMD cycles; %.1f cycles per MFMA, floor %.1f", m.BusyPct, report.Count(m.SIMDCycles), m.CyclesPerMFMA, m.FloorCycles)
		if s := besideText(m); s != "" {
			add("beside", "%s", s)
		}
		if m.GapCycles > 0 {
			add("gaps", "%s cycles = %.1f %% issuing other instructions + %.1f %% exposed", report.Count(m.GapCycles), pct(m.GapIssuing, m.GapCycles), pct(m.GapExposed, m.GapCycles))
		}
	}
	if l.Ideal != nil && l.Ideal.Bound != "" {
		add("bound", "%s: no schedule of these instructions is more than %.2f times as fast", l.Ideal.Bound, l.Ideal.SpeedUp)
	}
	return kv
}

// besideText says how much of the vector ALU's issue the matrix pipe hides.
func besideText(c *Coverage) string {
	cycles := func(list []Filled) int64 {
		for _, f := range list {
			if f.Kind == "valu" {
				return f.IssueCycles
			}
		}
		return 0
	}
	hidden, all := cycles(c.Beside), cycles(c.Beside)+cycles(c.FilledBy)
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %% of the vector instructions' issue runs while the matrix pipe is busy", pct(hidden, all))
}

func workText(p *PerIteration) string {
	var parts []string
	if p.MatrixFLOPs > 0 {
		parts = append(parts, report.Count(int64(math.Round(p.MatrixFLOPs)))+" matrix FLOPs")
	}
	if b := p.Bytes; b != nil {
		for _, x := range []struct {
			name string
			n    float64
		}{{"loaded", b.MemoryLoad}, {"loaded to LDS", b.MemoryToLDS}, {"stored", b.MemoryStore}, {"read from LDS", b.LDSRead}, {"written to LDS", b.LDSWrite}} {
			if x.n > 0 {
				parts = append(parts, report.Bytes(int64(math.Round(x.n)))+" "+x.name)
			}
		}
	}
	if p.Barriers > 0 {
		parts = append(parts, fmt.Sprintf("%.1f barriers", p.Barriers))
	}
	return strings.Join(parts, ", ")
}

func gapTable(c *Coverage, id string, v View) report.Table {
	t := report.Table{ID: id, Columns: []report.Column{
		{Key: "what", Title: "gap"},
		{Key: "class", Title: "by"},
		{Key: "cycles", Title: "cycles", Align: report.AlignRight, Exact: true},
		{Key: "gap_pct", Title: "of gaps", Align: report.AlignRight},
	}, Note: "blocked: exposed stalls; filled: issue of other instructions, in wave cycles (several waves may issue at once)"}
	for i, x := range c.BlockedBy {
		if x.ExposedCycles == nil || *x.ExposedCycles == 0 || v.Top > 0 && i >= v.Top {
			continue
		}
		n := int64(math.Round(*x.ExposedCycles))
		t.Rows = append(t.Rows, []report.Cell{report.Text("blocked"), classCell(x.Class), report.Cycles(n), report.Pct(100 * *x.ExposedCycles / float64(max(c.GapCycles, 1)))})
	}
	for i, x := range c.FilledBy {
		if v.Top > 0 && i >= v.Top {
			break
		}
		t.Rows = append(t.Rows, []report.Cell{report.Text("filled"), report.Text(x.Kind), report.Cycles(x.IssueCycles), report.Pct(pct(x.IssueCycles, c.GapCycles))})
	}
	return t
}

func stallTable(l *Loop, id string, v View) report.Table {
	t := report.Table{ID: id, Columns: []report.Column{
		{Key: "class", Title: "stall"}, {Key: "stall_cycles", Title: "cycles", Align: report.AlignRight, Exact: true}, right("exposed_cycles", "exposed"),
	}}
	for i, x := range l.Stalls {
		if v.Top > 0 && i >= v.Top {
			break
		}
		t.Rows = append(t.Rows, []report.Cell{classCell(x.Class), report.Cycles(x.StallCycles), optional(x.ExposedCycles)})
	}
	return t
}

func idealTable(l *Loop, id string) report.Table {
	t := report.Table{ID: id, Columns: []report.Column{
		{Key: "unit", Title: "unit"},
		{Key: "ideal_cycles", Title: "ideal SIMD cycles", Align: report.AlignRight},
		right("used_pct", "of loop"), right("speed_up", "speed-up at most"),
	}, Note: fmt.Sprintf("of %s SIMD cycles with a wave in the loop", report.Count(l.Ideal.SIMDCycles))}
	for _, u := range l.Ideal.Units {
		t.Rows = append(t.Rows, []report.Cell{report.Text(u.Unit), report.Cycles(int64(math.Round(u.IdealCycles))), report.Pct(u.UsedPct), report.Float(u.SpeedUp, 2)})
	}
	if len(l.Ideal.Absent) > 0 {
		t.Note += "; " + strings.Join(l.Ideal.Absent, "; ")
	}
	return t
}

func prefetchTable(k *Kernel, id string, v View) report.Table {
	t := report.Table{ID: id, Columns: []report.Column{
		right("line", "line"), right("loop_id", "loop"), right("exposed_cycles", "exposed"), right("executions", "count"),
		right("ahead_cycles", "ahead"), right("ahead_mfmas", "MFMAs"), right("latency_median_cycles", "latency"),
		right("issue_earlier_cycles", "missing"),
		{Key: "wait", Title: "wait", Flex: true, Elide: report.ElideTail},
	}, Note: "ahead: mean cycles, and MFMAs, from the youngest operation's issue to the wait; latency: median of the executions that waited"}
	for i := range k.Prefetches {
		p := &k.Prefetches[i]
		if v.Top > 0 && i == v.Top {
			break
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.Int(p.Line), optionalInt(p.LoopID), optional(p.ExposedCycles), report.Cycles(p.Executions), report.Float(p.AheadCycles, 0),
			report.Float(p.AheadMFMAs, 1), optionalCount(p.LatencyMedian), optionalCount(p.EarlierCycles), report.Text(p.Text),
		})
	}
	return t
}

func hazardTable(k *Kernel, id string, v View) report.Table {
	t := report.Table{ID: id, Columns: []report.Column{
		right("line", "line"), right("exposed_cycles", "exposed"), right("stall_cycles", "stall"), right("nop_stall_cycles", "s_nop"),
		right("distance_cycles", "distance"), right("needed_cycles", "needed"), right("producer_line", "from"),
		{Key: "reader", Title: "reader", Flex: true, Elide: report.ElideTail},
	}, Note: "distance: cycles between the earliest issues, without s_nop; needed: cost of the producer and 12 cycles; s_nop: its stall before the reader"}
	for i := range k.Hazards {
		h := &k.Hazards[i]
		if v.Top > 0 && i == v.Top {
			break
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.Int(h.Line), optional(h.ExposedCycles), report.Cycles(h.StallCycles), report.Cycles(h.NopCycles), report.Int(h.DistanceCycles),
			report.Int(h.NeededCycles), report.Int(h.ProducerLine), report.Text(h.Text),
		})
	}
	return t
}

func simdTable(k *Kernel, id string) report.Table {
	t := report.Table{ID: id, Columns: []report.Column{
		{Key: "place", Title: "SE/CU/SIMD"},
		right("total_cycles", "cycles"), right("issuing_pct", "issuing"), right("exposed_pct", "exposed"),
		right("empty_pct", "empty"), right("matrix_busy_pct", "matrix pipe"),
	}, Note: "of the time from a SIMD's first wave to its last"}
	for i := range k.SIMDs {
		s := &k.SIMDs[i]
		busy := report.Absent("")
		if s.MatrixBusyPct != nil {
			busy = report.Pct(*s.MatrixBusyPct)
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.Text(fmt.Sprintf("%d/%d/%d", s.SE, s.CU, s.SIMD)), report.Cycles(s.Total), report.Pct(pct(s.Issuing, s.Total)),
			report.Pct(pct(s.Exposed, s.Total)), report.Pct(pct(s.Empty, s.Total)), busy,
		})
	}
	return t
}

func aliveTable(r *Registers, id string) report.Table {
	t := report.Table{ID: id, Columns: []report.Column{
		right("line", "line"), right("vgprs", "VGPRs"), right("agprs", "AGPRs"), {Key: "instruction", Title: "instruction", Flex: true, Elide: report.ElideTail},
	}, Note: r.Limits}
	for _, x := range r.ByInstruction {
		t.Rows = append(t.Rows, []report.Cell{report.Int(x.Line), report.Int(x.VGPRs), report.Int(x.AGPRs), report.Text(x.Text)})
	}
	return t
}

func tileSection(t *Tile, suffix string) report.Section {
	table := report.Table{ID: "tile" + suffix, Columns: []report.Column{
		{Key: "what", Title: "per wave and tile"},
		right("expected", "expected"), right("measured", "measured"),
		{Key: "formula", Title: "formula", Flex: true, Elide: report.ElideTail},
	}, Note: fmt.Sprintf("loop %d covers %.2f tiles of %d x %d x %d (%d bit, %d waves) per iteration", t.LoopID, t.TilesPerIteration, t.M, t.N, t.K, t.Bits, t.Waves)}
	for _, c := range t.Counts {
		table.Rows = append(table.Rows, []report.Cell{report.Text(c.What), whole(c.Expected), whole(c.Measured), report.Text(c.Formula)})
	}
	return report.Section{ID: "tile-section" + suffix, Title: "GEMM tile", Items: []report.Item{table}}
}

func whole(x float64) report.Cell {
	if x == math.Trunc(x) {
		return report.Cell{Text: report.Count(int64(x)), Value: x}
	}
	return report.Float(x, 1)
}

// findingSection shows the first findings of a kernel.
func findingSection(k *Kernel, findings []finding.Finding, suffix string, v View) []report.Section {
	notes := report.Notes{}
	for i := range findings {
		f := &findings[i]
		if f.Place.Path == k.Path && f.Place.Kernel == k.Name {
			notes.Items = append(notes.Items, report.Note{Severity: report.Severity(f.Severity.String()), Text: f.Line()})
		}
	}
	if n := len(notes.Items); v.Top > 0 && n > v.Top {
		notes.Items = append(notes.Items[:v.Top], report.Note{Severity: report.SeverityInfo, Text: fmt.Sprintf("%d more findings (--top 0 shows all)", n-v.Top)})
	}
	if len(notes.Items) == 0 {
		return nil
	}
	return []report.Section{{ID: "findings" + suffix, Title: "Findings", Items: []report.Item{notes}}}
}

func classCell(c stalls.Class) report.Cell {
	return report.Cell{Text: stalls.InfoOf(c).Title, Value: string(c)}
}

func pct(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

func optional(x *float64) report.Cell {
	if x == nil {
		return report.Absent("")
	}
	return report.Cell{Text: report.Count(int64(math.Round(*x))), Value: *x}
}

func optionalInt(n *int) report.Cell {
	if n == nil {
		return report.Absent("")
	}
	return report.Int(*n)
}

func optionalCount(n *int64) report.Cell {
	if n == nil {
		return report.Absent("")
	}
	return report.Cycles(*n)
}
