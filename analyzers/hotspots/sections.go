package hotspots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/loops"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/report"
)

// By selects one ranking.
type By string

// The rankings; BySummary shows all of them.
const (
	BySummary     By = ""
	ByInstruction By = "instruction"
	ByLine        By = "line"
	ByWait        By = "wait"
	ByClass       By = "class"
)

// View says what to show of a Result.
type View struct {
	By By
	// Detail adds source snippets and the stalling instructions of each line.
	Detail bool
	// Verbose adds the instruction mix and everything that is usually left
	// out.
	Verbose bool
	// FullNames keeps long kernel names whole.
	FullNames bool
}

// nameWidth is how long a shortened kernel name may be.
const nameWidth = 60

// Sections lays a result out for reading: every kernel with its findings;
// those of a whole trace stand with its first kernel.
func Sections(r *Result, findings []finding.Finding, v View) report.Document {
	var doc report.Document
	if !v.Verbose { // what to do is what loops and diagnose are about
		findings = slices.DeleteFunc(slices.Clone(findings), func(f finding.Finding) bool { return !f.Gate })
	}
	add := func(sections ...report.Section) { doc.Sections = append(doc.Sections, sections...) }
	for i := range r.Empty {
		add(emptySection(i, &r.Empty[i]))
		add(findingSection(fmt.Sprintf("empty-%d-findings", i), about(findings, r.Empty[i].Path, "", true), v)...)
	}
	told := map[string]bool{}
	for i := range r.Kernels {
		k := &r.Kernels[i]
		add(headSection(i, k, v))
		if k.Hot() {
			add(rankings(i, k, v)...)
		}
		add(findingSection(fmt.Sprintf("findings-%d", i), about(findings, k.Path, k.Name, !told[k.Path]), v)...)
		told[k.Path] = true
	}
	return doc
}

// about selects the findings on a kernel of a trace, and with whole also those
// on the trace itself.
func about(findings []finding.Finding, path, kernel string, whole bool) []finding.Finding {
	var out []finding.Finding
	for _, f := range findings {
		if f.Place.Path == path && (f.Place.Kernel == kernel || whole && f.Place.Kernel == "") {
			out = append(out, f)
		}
	}
	return out
}

// CSV lays the one ranking that v selects (by instruction, if none) out as
// a single table over all kernels. It fails when cycles and program-counter
// samples would have to share its columns.
func CSV(r *Result, v View) (report.Table, error) {
	table := tableBy(v.By)
	all := withTrace(exposedLast(table(TableID, &Kernel{})))
	for i := range r.Kernels {
		k := &r.Kernels[i]
		if (k.Samples != nil) != (r.Kernels[0].Samples != nil) {
			return report.Table{}, fmt.Errorf("%s and %s do not fit one table: one has cycles, the other samples; give them one at a time", r.Kernels[0].Path, k.Path)
		}
		t := exposedLast(table(TableID, k))
		all.Columns = withTrace(t).Columns
		for _, row := range t.Rows {
			all.Rows = append(all.Rows, append([]report.Cell{report.Text(k.Path), report.Text(k.Name)}, row...))
		}
	}
	return all, nil
}

// exposedLast moves the exposed columns behind the others, so that each of those
// has the same place with and without them.
func exposedLast(t report.Table) report.Table {
	isExposed := func(c report.Column) bool { return strings.HasPrefix(c.Key, "exposed_") }
	order := make([]int, 0, len(t.Columns))
	for _, last := range []bool{false, true} {
		for j, c := range t.Columns {
			if isExposed(c) == last {
				order = append(order, j)
			}
		}
	}
	out := report.Table{ID: t.ID, Note: t.Note}
	for _, j := range order {
		out.Columns = append(out.Columns, t.Columns[j])
	}
	for _, row := range t.Rows {
		cells := make([]report.Cell, 0, len(row))
		for _, j := range order {
			cells = append(cells, row[j])
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// withTrace puts the columns that tell kernels apart before a table's own.
func withTrace(t report.Table) report.Table {
	t.Columns = append([]report.Column{{Key: "path", Title: "trace"}, {Key: "kernel", Title: "kernel"}}, t.Columns...)
	return t
}

// TableID is the id of the table that CSV makes.
const TableID = "hotspots"

func tableBy(by By) func(id string, k *Kernel) report.Table {
	switch by {
	case ByLine:
		return wholeLineTable
	case ByWait:
		return waitTable
	case ByClass:
		return classTable
	default:
		return wholeInstructionTable
	}
}

func emptySection(i int, e *EmptyTrace) report.Section {
	kv := report.KeyValues{Items: []report.KV{{Key: "trace", Value: e.Path}, {Key: "instructions", Value: e.Why}}}
	if o := e.Occupancy; o != nil {
		kv.Items = append(kv.Items, occupancyKV(o)...)
		for _, k := range o.Kernels {
			kv.Items = append(kv.Items, report.KV{Key: "kernel", Value: report.ShortenName(k.Name, nameWidth), Note: digits(k.Waves) + " waves"})
		}
	}
	return report.Section{ID: fmt.Sprintf("empty-%d", i), Title: "Nothing decoded", Items: []report.Item{kv}}
}

func headSection(i int, k *Kernel, v View) report.Section {
	name := k.Name
	if !v.FullNames {
		name = report.ShortenName(name, nameWidth)
	}
	kv := report.KeyValues{}
	add := func(key, value, note string) {
		if value != "" {
			kv.Items = append(kv.Items, report.KV{Key: key, Value: value, Note: note})
		}
	}
	add("trace", k.Path, "")
	add("arch", k.Arch.String(), archNote(k))
	if v.Verbose && k.GPU != nil {
		add("evidence", k.GPU.Evidence(), "")
	}
	add("code", codeText(k)+"; "+registersText(k), "")
	add("waves", wavesText(k), machineText(k))
	if k.Samples != nil {
		add("samples", samplesText(k.Samples), "program-counter samples: there are no cycles")
	} else {
		add("cycles", cyclesText(k.Totals), "")
		add("waiting", waitingText(k), "")
	}
	add("SIMD use", utilisationText(k), "")
	add("exposed", exposedText(k), "")
	add("window", windowText(k), "")
	add("duration", overheadText(k), "")
	if o := k.Machine.Occupancy; o != nil {
		kv.Items = append(kv.Items, occupancyKV(o)...)
	}
	if v.Verbose {
		for _, c := range k.Machine.Counters {
			add(c.Name, digits(c.Value), "sampled during the trace, all engines")
		}
	}
	add("trust", trustText(k), "")
	return report.Section{ID: fmt.Sprintf("kernel-%d", i), Title: name, Items: []report.Item{kv}}
}

func archNote(k *Kernel) string {
	if k.Arch.Source != "instructions" {
		return "from " + base(k.Arch.Source)
	}
	if len(k.Arch.Evidence) == 0 {
		return "from the instructions"
	}
	return "from the instructions: " + k.Arch.Evidence[0]
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func codeText(k *Kernel) string {
	c := k.Coverage
	s := fmt.Sprintf("%d of %d instructions executed (%.1f %%)", c.Executed, c.Total, c.ExecutedPct)
	if c.MFMAStatic > 0 {
		s += fmt.Sprintf(", %d of %d matrix", c.MFMAExecuted, c.MFMAStatic)
	}
	return s
}

func registersText(k *Kernel) string {
	return fmt.Sprintf("it names %d VGPRs, %d AGPRs, %d SGPRs", k.Registers.VGPRs, k.Registers.AGPRs, k.Registers.SGPRs)
}

func wavesText(k *Kernel) string {
	w := k.Waves
	if w == nil {
		return ""
	}
	s := fmt.Sprintf("%d traced", w.Sampled)
	if w.InDispatch != nil {
		about := ""
		if k.Launch != nil && !k.Launch.Tabled() {
			about = "about "
		}
		s += fmt.Sprintf(" of %s%d in the dispatch", about, *w.InDispatch)
	}
	if w.NoWork > 0 {
		s += fmt.Sprintf("; %d did no work", w.NoWork)
	}
	if w.Missing > 0 {
		s += fmt.Sprintf("; %d files missing", w.Missing)
	}
	if w.Damaged > 0 {
		s += fmt.Sprintf("; %d files damaged", w.Damaged)
	}
	return s
}

func machineText(k *Kernel) string {
	if k.Machine.SIMDs == 0 {
		return ""
	}
	return fmt.Sprintf("%s, %s", count(k.Machine.SIMDs, "SIMD"), count(len(k.Machine.Engines), "shader engine"))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func cyclesText(t Totals) string {
	issue := ", more than the latency"
	if t.IssueCycles != nil {
		issue = " + issue " + digits(*t.IssueCycles)
	}
	if t.StallPct != nil {
		issue = fmt.Sprintf(" (%.1f %%)", *t.StallPct) + issue
	}
	return fmt.Sprintf("latency %s = stall %s%s; idle %s; over all waves",
		digits(t.LatencyCycles), digits(t.StallCycles), issue, digits(t.IdleCycles))
}

// digits writes all digits in groups of three.
func digits(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func waitingText(k *Kernel) string {
	if k.Waiting == nil {
		return ""
	}
	s := fmt.Sprintf("%.1f %% of latency = stall + drain at s_endpgm (%s cycles, %.1f %%)", k.Waiting.Pct, digits(k.Waiting.DrainCycles), k.Waiting.DrainPct)
	if k.Waves != nil && k.Counted.LatencyCycles != k.Totals.LatencyCycles {
		s += "; without the no-work waves"
	}
	return s
}

func utilisationText(k *Kernel) string {
	u := k.Utilisation
	if u == nil {
		return ""
	}
	figures := func(share float64) string {
		var parts []string
		if u.IssuePct != nil {
			parts = append(parts, fmt.Sprintf("issuing %.0f %% of resident cycles (VALU %.0f %%)", share**u.IssuePct, share**u.VALUIssuePct))
		}
		if u.MFMAPct != nil && k.Coverage.MFMAStatic > 0 {
			parts = append(parts, fmt.Sprintf("matrix pipe %.1f %%", share**u.MFMAPct))
		}
		return strings.Join(parts, ", ")
	}
	s := figures(1)
	if s == "" {
		return strings.Join(u.Absent, "; ")
	}
	s = "of the SIMDs with waves: " + s
	if f := u.DeviceShare; f != nil && *f < 1 {
		s += fmt.Sprintf("; of the device, with %.0f %% of its CUs' time in use: %s", 100**f, strings.ReplaceAll(figures(*f), " of resident cycles", ""))
	}
	return s
}

// exposedText says what the SIMDs did, so that the exposed cycles of the
// tables have a whole to be compared with.
func exposedText(k *Kernel) string {
	if k.Exposed == nil {
		return ""
	}
	t := k.Exposed.SIMD
	s := fmt.Sprintf("%s of %s SIMD cycles (%.1f %%) have waves and none issues", digits(t.Exposed), digits(t.Total), value(ratioPct(t.Exposed, t.Total)))
	if k.Exposed.StallPct != nil {
		s += fmt.Sprintf("; %.1f %% of the stall is exposed, the rest hidden", *k.Exposed.StallPct)
	}
	return s
}

func windowText(k *Kernel) string {
	m := k.Machine
	if m.WindowCycles == nil {
		return ""
	}
	s := digits(*m.WindowCycles) + " cycles"
	if m.WindowNs != nil {
		s += fmt.Sprintf(" = %s at %.2f GHz", report.Duration(*m.WindowNs), *m.ClockMHz/1000)
	}
	switch {
	case m.WindowPctOfWaves != nil:
		s += fmt.Sprintf(", %.0f %% of the waves' %s", *m.WindowPctOfWaves, report.Duration(*m.WavesNs))
	case m.WindowPct != nil:
		s += fmt.Sprintf(", %.0f %% of the dispatch's %s", *m.WindowPct, durationText(k.Launch))
	}
	return s
}

// durationText says of what a launch's duration is.
func durationText(l *Launch) string {
	s := report.Duration(*l.DurationNs)
	if l.Calls > 0 {
		s += fmt.Sprintf(" (median of %s)", count(int(l.Calls), "call"))
	}
	return s
}

// overheadText compares the time in which the waves ran with the duration: the
// trace saw all of them, so that the rest is not a part of the kernel that was
// not traced.
func overheadText(k *Kernel) string {
	m, l := k.Machine, k.Launch
	if m.WavesNs == nil || l == nil || l.DurationNs == nil {
		return ""
	}
	s := fmt.Sprintf("%s; the waves ran %s of it", durationText(l), report.Duration(*m.WavesNs))
	switch {
	case *m.WavesNs >= *l.DurationNs:
		return s
	case l.Calls > 0:
		return s + ": the rest is launch overhead, or those calls took longer"
	}
	return s + ": the rest is launch overhead, or the row is of another run"
}

func occupancyKV(o *Occupancy) []report.KV {
	s := fmt.Sprintf("%s waves started on %s", digits(o.Waves), count(o.CUsHeld, "CU"))
	switch {
	case o.FillPct == nil:
	case *o.FillPct > 100:
		s += fmt.Sprintf(", more than the %g that the agent table allows", *o.CUsTotal)
	default:
		s += fmt.Sprintf(" of %g (%.0f %%)", *o.CUsTotal, *o.FillPct)
	}
	s += fmt.Sprintf("; peak %d per SIMD", o.PeakWavesPerSIMD)
	if o.MeanWavesPerSIMD != nil {
		s += fmt.Sprintf(", mean %.1f", *o.MeanWavesPerSIMD)
	}
	return []report.KV{{Key: "fill", Value: s, Note: count(o.Engines, "traced engine")}}
}

func samplesText(s *Samples) string {
	total := s.Issued + s.Stalled
	text := fmt.Sprintf("%s = %s issued + %s stalled", digits(total), digits(s.Issued), digits(s.Stalled))
	for i, r := range s.Reasons {
		if i == 4 {
			break
		}
		sep := ", "
		if i == 0 {
			sep = "; "
		}
		text += fmt.Sprintf("%s%s %s", sep, strings.ReplaceAll(r.Reason, "_", " "), digits(r.Count))
	}
	return text
}

func trustText(k *Kernel) string {
	if k.Confidence == "high" {
		return "high"
	}
	return string(k.Confidence) + ": see findings"
}

// rankings are the tables of one kernel that the view asks for.
func rankings(i int, k *Kernel, v View) []report.Section {
	var out []report.Section
	add := func(by By, id, title string, items ...report.Item) {
		if v.By == BySummary || v.By == by {
			out = append(out, report.Section{ID: fmt.Sprintf("%s-%d", id, i), Title: title, Items: items})
		}
	}
	suffix := fmt.Sprintf("-%d", i)
	if k.Samples != nil {
		add(ByClass, "reasons", "Why stalled samples did not issue", reasonTable("reasons"+suffix, k))
	} else {
		add(ByClass, "stalls", "What the stall cycles wait for", shortClassTable("stalls"+suffix, k))
		if len(k.Waits) > 0 {
			add(ByWait, "waits", "Waits that cost most", waitTables("waits"+suffix, k)...)
		}
	}
	add(ByInstruction, "instructions", "Instructions that stall most", instructionTable("instructions"+suffix, k))
	if len(k.Lines) > 0 && (k.LinesRanked || v.By == ByLine) {
		items := []report.Item{withoutEmptyCode(lineTable("lines"+suffix, k))}
		if v.Detail {
			items = append(items, details(i, k)...)
		}
		add(ByLine, "lines", "Source lines that stall most", items...)
	}
	if k.loops != nil && len(k.Loops) > 0 {
		add(ByLine, "loops", "Loops, as source lines cannot be told apart", loops.Table(k.loops, "loops"+suffix))
	}
	if v.Verbose {
		out = append(out, report.Section{ID: "mix" + suffix, Title: "Instruction mix", Items: []report.Item{mixTable("mix"+suffix, k)}})
		if len(k.Combinations) > 0 {
			out = append(out, report.Section{ID: "combinations" + suffix, Title: "Waits before they are split", Items: []report.Item{combinationTable("combinations"+suffix, k)}})
		}
	}
	return out
}

// Column shapes that several tables share.
var (
	colLine  = report.Column{Key: "line", Title: "line", Align: report.AlignRight}
	colStall = report.Column{Key: "stall_cycles", Title: "stall", Align: report.AlignRight}
	colShare = report.Column{Key: "share_pct", Title: "share", Align: report.AlignRight}

	colExposed      = report.Column{Key: "exposed_cycles", Title: "exposed", Align: report.AlignRight}
	colExposedShare = report.Column{Key: "exposed_share_pct", Title: "share", Align: report.AlignRight}

	colHits  = report.Column{Key: "hits", Title: "hits", Align: report.AlignRight}
	colClass = report.Column{Key: "class", Title: "class"}
)

func classTable(id string, k *Kernel) report.Table {
	if k.Samples != nil {
		return reasonTable(id, k)
	}
	t := report.Table{ID: id, Columns: []report.Column{
		{Key: "class", Title: "class"},
		{Key: "stall_cycles", Title: "stall cycles", Align: report.AlignRight, Exact: true},
		{Key: "share_pct", Title: "of stall", Align: report.AlignRight, Bar: k.Exposed == nil},
		{Key: "exposed_cycles", Title: "exposed", Align: report.AlignRight, Exact: true},
		{Key: "exposed_share_pct", Title: "of exposed", Align: report.AlignRight, Bar: true},
		{Key: "estimated_cycles", Title: "estimated", Align: report.AlignRight},
	}}
	for i := range k.Stalls {
		s := &k.Stalls[i]
		t.Rows = append(t.Rows, []report.Cell{
			classCell(s.Class), report.Cycles(s.StallCycles), report.Pct(s.SharePct),
			costCell(&s.Cost), shareCell(&s.Cost), report.Cycles(s.EstimatedCycles),
		})
	}
	return t
}

// costCell shows exposed cycles, stall and drain; whole ones, for people.
func costCell(c *Cost) report.Cell {
	if c.ExposedCycles == nil {
		return report.Absent("")
	}
	return report.Cycles(int64(math.Round(c.total())))
}

func shareCell(c *Cost) report.Cell {
	if c.ExposedPct == nil {
		return report.Absent("")
	}
	return report.Pct(*c.ExposedPct)
}

// without drops columns by key.
func without(t report.Table, keys ...string) report.Table {
	for j := len(t.Columns) - 1; j >= 0; j-- {
		if !slices.Contains(keys, t.Columns[j].Key) {
			continue
		}
		t.Columns = slices.Delete(t.Columns, j, j+1)
		for i := range t.Rows {
			t.Rows[i] = slices.Delete(t.Rows[i], j, j+1)
		}
	}
	return t
}

// cut drops the columns of a table that say less than others: the exposed ones
// where nothing is known of them, else those named.
func cut(t report.Table, k *Kernel, keys ...string) report.Table {
	if k.Exposed == nil {
		return without(t, "exposed_cycles", "exposed_share_pct")
	}
	return without(t, keys...)
}

// shortClassTable leaves out what says nothing: estimates where there are none.
func shortClassTable(id string, k *Kernel) report.Table {
	t := cut(classTable(id, k), k)
	if k.Samples == nil && !slices.ContainsFunc(k.Stalls, func(s Stall) bool { return s.EstimatedCycles > 0 }) {
		t = without(t, "estimated_cycles")
	}
	return t
}

// reasonTable shows the stall reasons of program-counter samples.
func reasonTable(id string, k *Kernel) report.Table {
	t := report.Table{ID: id, Columns: []report.Column{
		{Key: "reason", Title: "reason"},
		{Key: "stalled_samples", Title: "samples", Align: report.AlignRight, Exact: true},
		{Key: "share_pct", Title: "of stalled", Align: report.AlignRight, Bar: true},
	}}
	for _, r := range k.Samples.Reasons {
		t.Rows = append(t.Rows, []report.Cell{
			{Text: strings.ReplaceAll(r.Reason, "_", " "), Value: r.Reason},
			report.Cycles(r.Count), report.Pct(value(ratioPct(r.Count, k.Samples.Stalled))),
		})
	}
	return t
}

// instructionTable fits a terminal, wholeInstructionTable has all columns.
func instructionTable(id string, k *Kernel) report.Table {
	return cut(wholeInstructionTable(id, k), k, "share_pct", "latency_cycles")
}

func wholeInstructionTable(id string, k *Kernel) report.Table {
	if k.Samples != nil {
		return sampleTable(id, k)
	}
	t := report.Table{ID: id, Columns: []report.Column{
		colLine, colExposed, colExposedShare, colStall, colShare, colHits,
		{Key: "stall_cycles_per_hit", Title: "per hit", Align: report.AlignRight},
		{Key: "latency_cycles", Title: "latency", Align: report.AlignRight},
		colClass,
		{Key: "instruction", Title: "instruction", Flex: true, Elide: report.ElideTail},
	}}
	for i := range k.Instructions {
		in := &k.Instructions[i]
		t.Rows = append(t.Rows, []report.Cell{
			report.Int(in.Line), costCell(&in.Cost), shareCell(&in.Cost), report.Cycles(in.StallCycles), report.Pct(in.SharePct),
			report.Cycles(in.Hits), optional(in.StallPerHit, 1), report.Cycles(in.LatencyCycles),
			classCell(costClass(in.Class, &in.Cost)), report.Text(in.Text),
		})
	}
	return t
}

// costClass is the class of what costs most: the drain of s_endpgm, where
// that is more than its stall.
func costClass(c stalls.Class, cost *Cost) stalls.Class {
	if value(cost.DrainCycles) > value(cost.ExposedCycles) {
		return stalls.StoreDrain
	}
	return c
}

func sampleTable(id string, k *Kernel) report.Table {
	t := report.Table{ID: id, Columns: []report.Column{
		colLine,
		{Key: "stalled_samples", Title: "stalled", Align: report.AlignRight},
		{Key: "issued_samples", Title: "issued", Align: report.AlignRight},
		{Key: "share_pct", Title: "of stalled", Align: report.AlignRight},
		{Key: "instruction", Title: "instruction", Flex: true, Elide: report.ElideTail},
	}}
	for i := range k.Instructions {
		in := &k.Instructions[i]
		if in.Samples == nil {
			continue
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.Int(in.Line), report.Cycles(in.Samples.Stalled), report.Cycles(in.Samples.Issued),
			report.Pct(value(ratioPct(in.Samples.Stalled, k.Samples.Stalled))), report.Text(in.Text),
		})
	}
	return t
}

// lineTable fits a terminal, wholeLineTable has all columns.
func lineTable(id string, k *Kernel) report.Table {
	return cut(wholeLineTable(id, k), k, "share_pct", "latency_cycles")
}

func wholeLineTable(id string, k *Kernel) report.Table {
	t := report.Table{ID: id, Columns: []report.Column{
		colExposed, colExposedShare, colStall, colShare,
		{Key: "latency_cycles", Title: "latency", Align: report.AlignRight},
		colHits,
		{Key: "instructions", Title: "instr.", Align: report.AlignRight},
		{Key: "class", Title: "mostly"},
		{Key: "source", Title: "source", Elide: report.ElideHead, Flex: true},
		{Key: "code", Title: "code", Elide: report.ElideTail, Flex: true},
	}}
	if k.Samples != nil {
		t.Columns[2] = report.Column{Key: "stalled_samples", Title: "stalled", Align: report.AlignRight}
	}
	return withLines(t, k)
}

func withLines(t report.Table, k *Kernel) report.Table {
	for i := range k.Lines {
		l := &k.Lines[i]
		share := report.Pct(l.SharePct)
		if k.Samples != nil && l.Samples != nil {
			share = report.Pct(value(ratioPct(l.Samples.Stalled, k.Samples.Stalled)))
		}
		t.Rows = append(t.Rows, []report.Cell{
			costCell(&l.Cost), shareCell(&l.Cost), report.Cycles(l.heat()), share, report.Cycles(l.LatencyCycles), report.Cycles(l.Hits),
			report.Int(l.Instructions), classCell(l.Class), report.Text(l.Source), report.Text(l.Code),
		})
	}
	return t
}

// withoutEmptyCode drops the last column when the trace holds no source.
func withoutEmptyCode(t report.Table) report.Table {
	last := len(t.Columns) - 1
	for _, row := range t.Rows {
		if row[last].Text != "" {
			return t
		}
	}
	t.Columns = t.Columns[:last]
	for i := range t.Rows {
		t.Rows[i] = t.Rows[i][:last]
	}
	t.Note = "the trace holds none of these source lines"
	return t
}

// waitTable shows the waits with their statistics per execution.
func waitTable(id string, k *Kernel) report.Table {
	right := func(key, title string) report.Column {
		return report.Column{Key: key, Title: title, Align: report.AlignRight}
	}
	t := report.Table{ID: id, Columns: []report.Column{
		colLine, right("cycles", "cycles"), right("share_pct", "share"), right("executions", "count"),
		right("mean_cycles", "mean"), right("p95_cycles", "p95"), right("max_cycles", "max"), colClass,
		{Key: "instruction", Title: "wait", Elide: report.ElideTail, Flex: true},
		{Key: "producers", Title: "waits for", Elide: report.ElideTail, Flex: true},
		right("stage_first_line", "stage"),
	}}
	for i := range k.Waits {
		w := &k.Waits[i]
		stage := report.Absent("")
		if w.StageLine != nil {
			stage = report.Int(*w.StageLine)
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.Int(w.Line), report.Cycles(w.Cycles), report.Pct(w.SharePct), report.Cycles(w.Executions),
			optional(w.MeanCycles, 0), whole(w.P95Cycles), whole(w.MaxCycles), classCell(w.Class),
			report.Text(w.Text), report.Text(producersText(w)), stage,
		})
	}
	return t
}

// waitTables splits the wait table in two that fit a terminal: how long, and
// for what.
func waitTables(id string, k *Kernel) []report.Item {
	all := waitTable(id, k)
	const stats = 8 // columns up to the class
	long := report.Table{
		ID: id, Columns: all.Columns[:stats],
		Note: "cycles: stall, or the drain at s_endpgm; share of all stall and drain; mean, p95, max per execution",
	}
	end := len(all.Columns)
	what := report.Table{ID: id + "-producers"}
	if slices.ContainsFunc(k.Waits, func(w Wait) bool { return w.StageLine != nil }) {
		what.Note = "stage: the first wait of those for loads that absorb each other; moving the loads of one alone moves its stall to the next"
	} else {
		end--
	}
	what.Columns = append([]report.Column{colLine}, all.Columns[stats:end]...)
	for _, row := range all.Rows {
		long.Rows = append(long.Rows, row[:stats])
		what.Rows = append(what.Rows, append([]report.Cell{row[0]}, row[stats:end]...))
	}
	return []report.Item{long, what}
}

// producersText names what a wait waits for: mnemonics with the lines of the
// first few.
func producersText(w *Wait) string {
	var order []string
	lines := map[string][]string{}
	for _, p := range w.Producers {
		m, _, _ := strings.Cut(p.Text, " ")
		if _, ok := lines[m]; !ok {
			order = append(order, m)
		}
		lines[m] = append(lines[m], fmt.Sprint(p.Line))
	}
	parts := make([]string, 0, len(order))
	for _, m := range order {
		at := lines[m]
		more := ""
		if len(at) > 3 {
			more = fmt.Sprintf(",+%d", len(at)-3)
			at = at[:3]
		}
		parts = append(parts, m+"@"+strings.Join(at, ",")+more)
	}
	return strings.Join(parts, " ")
}

func mixTable(id string, k *Kernel) report.Table {
	t := report.Table{ID: id, Columns: []report.Column{
		{Key: "instruction_class", Title: "instructions"},
		{Key: "static", Title: "in code", Align: report.AlignRight},
		{Key: "executed", Title: "executed", Align: report.AlignRight, Exact: true},
		{Key: "executed_pct", Title: "of executed", Align: report.AlignRight},
		{Key: "latency_cycles", Title: "latency", Align: report.AlignRight, Exact: true},
		{Key: "stall_cycles", Title: "stall", Align: report.AlignRight, Exact: true},
	}}
	for _, m := range k.Mix {
		t.Rows = append(t.Rows, []report.Cell{
			report.Text(m.Kind), report.Int(m.Static), report.Cycles(m.Executed), report.Pct(m.ExecutedPct),
			report.Cycles(m.LatencyCycles), report.Cycles(m.StallCycles),
		})
	}
	return t
}

func combinationTable(id string, k *Kernel) report.Table {
	t := report.Table{ID: id, Columns: []report.Column{
		{Key: "counters", Title: "counters"},
		{Key: "producers", Title: "waited for", Flex: true},
		{Key: "stall_cycles", Title: "stall cycles", Align: report.AlignRight, Exact: true},
		{Key: "share_pct", Title: "of stall", Align: report.AlignRight},
	}}
	for _, c := range k.Combinations {
		t.Rows = append(t.Rows, []report.Cell{
			report.Text(c.Counters), report.Text(c.Producers), report.Cycles(c.StallCycles), report.Pct(c.SharePct),
		})
	}
	return t
}

// details shows the source around each hot line and its instructions.
func details(i int, k *Kernel) []report.Item {
	var out []report.Item
	for n := range k.Lines {
		l := &k.Lines[n]
		if len(l.snippet) == 0 {
			out = append(out, report.Paragraph{Text: fmt.Sprintf("%s: the trace does not hold this source line", l.Source)})
		} else {
			out = append(out, snippet(l))
		}
		out = append(out, instructionTable(fmt.Sprintf("line-%d-%d", i, n), &Kernel{Instructions: l.Top, Samples: k.Samples, Exposed: k.Exposed}))
	}
	return out
}

func snippet(l *Line) report.Snippet {
	s := report.Snippet{Path: l.Source}
	if len(l.InlinedAt) > 0 {
		s.Path += " (inlined at " + strings.Join(l.InlinedAt, ", ") + ")"
	}
	for n, text := range l.snippet {
		line := report.SnippetLine{Number: l.first + n, Text: text, Mark: l.first+n == l.frame.Line}
		if line.Mark {
			line.Left = fmt.Sprintf("%.1f%%", l.SharePct)
			if l.ExposedPct != nil {
				line.Left = fmt.Sprintf("%.1f%%", *l.ExposedPct)
			}
		}
		s.Lines = append(s.Lines, line)
	}
	return s
}

func findingSection(id string, findings []finding.Finding, v View) []report.Section {
	notes := report.Notes{}
	for _, f := range findings {
		if f.Severity == finding.Info && v.By != BySummary && !v.Verbose {
			continue
		}
		notes.Items = append(notes.Items, report.Note{Severity: report.Severity(f.Severity.String()), Text: f.Line()})
	}
	if len(notes.Items) == 0 {
		return nil
	}
	return []report.Section{{ID: id, Title: "Findings", Items: []report.Item{notes}}}
}

// classCell shows a class's title, and gives programs its id.
func classCell(c stalls.Class) report.Cell {
	return report.Cell{Text: stalls.InfoOf(c).Title, Value: string(c)}
}

func optional(f *float64, decimals int) report.Cell {
	if f == nil {
		return report.Absent("")
	}
	return report.Float(*f, decimals)
}

func whole(n *int64) report.Cell {
	if n == nil {
		return report.Absent("")
	}
	return report.Cycles(*n)
}
