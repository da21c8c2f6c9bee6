package occupancy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/report"
)

// View says what to show of a Result.
type View struct {
	// Top is how many kernels are shown; 0 is all.
	Top int
	// Verbose adds the arithmetic of every limit, and what is usually left
	// out.
	Verbose bool
	// FullNames keeps long kernel names whole.
	FullNames bool
	// LLVM and WhatIf say that those parts were asked for.
	LLVM, WhatIf bool
	// Flag is the flag that named the GPU, where one did.
	Flag string
}

// Bounds of the usual view: details are shown for few kernels, and few
// findings.
const (
	detailed  = 2
	nameWidth = 60
	findingsN = 5
	flagsName = "(flags)"
)

// Sections lays a result out for reading.
func Sections(r *Result, findings []finding.Finding, v View) report.Document {
	kernels := r.Kernels
	if v.Top > 0 && len(kernels) > v.Top {
		kernels = kernels[:v.Top]
	}
	items := []report.Item{summary(r, kernels, v)}
	heads := machines(r.Kernels)
	if v.Verbose {
		heads = append(heads, evidence(r.Kernels, v.Flag)...)
	}
	if len(heads) > 0 {
		items = append([]report.Item{report.KeyValues{Items: heads}}, items...)
	}
	doc := report.Document{Sections: []report.Section{{ID: "occupancy", Title: "Occupancy", Items: items}}}
	for i := range kernels {
		k := &kernels[i]
		if len(kernels) > detailed && !v.Verbose && !v.WhatIf {
			break
		}
		if s, ok := detail(i, k, v); ok {
			doc.Sections = append(doc.Sections, s)
		}
	}
	if s, ok := findingSection(r, findings, v); ok {
		doc.Sections = append(doc.Sections, s)
	}
	return doc
}

// machines says which GPUs the kernels are judged for, once each, and where
// that comes from.
func machines(kernels []Kernel) []report.KV {
	var out []report.KV
	sources := map[string][]string{}
	for i := range kernels {
		k := &kernels[i]
		if k.Arch == "" {
			continue
		}
		name := k.Arch
		if k.Device != "" {
			name = k.Device + ", " + k.Arch
		}
		if k.CUs > 0 {
			name += fmt.Sprintf(", %d CUs", k.CUs)
		}
		if sources[name] == nil {
			out = append(out, report.KV{Key: "GPU", Value: name})
		}
		if !slices.Contains(sources[name], k.ArchSource) {
			sources[name] = append(sources[name], k.ArchSource)
		}
	}
	for i := range out {
		from := sources[out[i].Value]
		if n := len(from); n > 2 {
			from = append(from[:2:2], fmt.Sprintf("%d more", n-2))
		}
		out[i].Note = "from " + strings.Join(from, ", ")
	}
	return out
}

// evidence says from where each fact about the GPUs is, once each.
func evidence(kernels []Kernel, flag string) []report.KV {
	var out []report.KV
	told := map[*capture.Machine]bool{nil: true}
	for i := range kernels {
		m := kernels[i].GPU
		if told[m] {
			continue
		}
		told[m] = true
		kv := report.KV{Key: "evidence", Value: strings.ReplaceAll(m.Evidence(), capture.SourceFlag, flag)}
		if !slices.Contains(out, kv) {
			out = append(out, kv)
		}
	}
	return out
}

// summary is one line per kernel.
func summary(r *Result, kernels []Kernel, v View) report.Table {
	t := report.Table{ID: "kernels", Columns: []report.Column{
		{Key: "kernel", Title: "kernel", Elide: report.ElideName, Max: nameWidth, Min: 10, Flex: true},
		{Key: "waves_per_simd", Title: "waves/SIMD", Align: report.AlignRight},
		{Key: "workgroups_per_unit", Title: "wg/" + units(kernels), Align: report.AlignRight},
		{Key: "limited_by", Title: "limited by", Max: 14},
		{Key: "next_step", Title: "next step", Min: 26, Max: 36},
	}}
	if v.FullNames {
		t.Columns[0].Elide, t.Columns[0].Max, t.Columns[0].Flex = report.ElideTail, 0, false
	}
	if v.LLVM {
		t.Columns = append(t.Columns[:2:2], append([]report.Column{{Key: "llvm", Title: "LLVM", Align: report.AlignRight}}, t.Columns[2:]...)...)
	}
	timed := false
	for i := range kernels {
		timed = timed || share(r, &kernels[i]) >= 0
	}
	if timed {
		t.Columns = append([]report.Column{{Key: "time_pct", Title: "time%", Align: report.AlignRight}}, t.Columns...)
	}
	// A binary has the same kernel for several GPUs; a capture ran it on one, and
	// its share of the time takes the room.
	several := !timed && slices.ContainsFunc(kernels, func(k Kernel) bool { return k.Arch != "" && k.Arch != kernels[0].Arch })
	if several {
		t.Columns[len(t.Columns)-1].Min = 20
		t.Columns = slices.Insert(t.Columns, 1, report.Column{Key: "arch", Title: "GPU"})
	}
	for i := range kernels {
		t.Rows = append(t.Rows, summaryRow(r, &kernels[i], v, timed, several))
	}
	t.Note = summaryNote(r, kernels, timed)
	return t
}

func summaryRow(r *Result, k *Kernel, v View, timed, several bool) []report.Cell {
	var row []report.Cell
	if timed {
		row = append(row, report.Absent(""))
		if pct := share(r, k); pct >= 0 {
			row[0] = report.Float(pct, 1)
		} else if k.Source.Kind == "thread_trace" {
			row[0] = report.Cell{Text: "trace"}
		}
	}
	row = append(row, report.Text(k.Name))
	if several {
		row = append(row, report.TextOf(k.Arch))
	}
	row = append(row, wavesCell(k))
	if v.LLVM {
		row = append(row, report.Absent(""))
		if k.LLVM != nil {
			row[len(row)-1] = report.Int(k.LLVM.WavesPerSIMD)
		}
	}
	groups := report.Absent("")
	if k.WorkgroupsPerUnit != nil {
		groups = report.Int(*k.WorkgroupsPerUnit)
	}
	return append(row, groups, report.Text(strings.Join(k.Limiters, ", ")), report.Text(k.brief))
}

func wavesCell(k *Kernel) report.Cell {
	if k.WavesPerSIMD == nil {
		return report.Absent("")
	}
	return report.Cell{Text: fmt.Sprintf("%s of %d", figure(*k.WavesPerSIMD), k.MaxWavesPerSIMD), Value: *k.WavesPerSIMD}
}

// units is what the kernels' workgroups share: "CU", "WGP", or "unit" for both.
func units(kernels []Kernel) string {
	out := ""
	for i := range kernels {
		u := kernels[i].Unit
		switch {
		case u == "" || u == out:
		case out == "":
			out = u
		default:
			return "unit" // CUs and WGPs
		}
	}
	if out == "" {
		return "CU"
	}
	return out
}

// share is the kernel's percentage of the time of its dispatches' table; -1 when
// that is not known.
func share(r *Result, k *Kernel) float64 {
	if k.Source.Kind != "kernel_trace" && k.Source.Kind != "rocpd" {
		return -1
	}
	var own, all int64
	for i := range r.Kernels {
		if o := &r.Kernels[i]; o.Source.Kind == k.Source.Kind && o.Source.Path == k.Source.Path {
			all = addNs(all, o.timeNs())
		}
	}
	if own = k.timeNs(); all == 0 {
		return -1
	}
	return 100 * float64(own) / float64(all)
}

func (k *Kernel) timeNs() int64 {
	var ns int64
	for _, g := range k.Launches {
		ns = addNs(ns, g.TotalNs)
	}
	return ns
}

func summaryNote(r *Result, kernels []Kernel, timed bool) string {
	var notes []string
	if n := len(r.Kernels) - len(kernels); n > 0 {
		notes = append(notes, fmt.Sprintf("%d more kernels (--top 0 shows all)", n))
	}
	if timed {
		notes = append(notes, "time%: of the summed dispatch time of the selected kernels")
	}
	if hasNote(kernels, gpu.NoteStaticLDS) {
		notes = append(notes, "LDS is static: --lds BYTES counts what is added at launch")
	}
	if hasNote(kernels, noteWaveAssumed) {
		notes = append(notes, "the wave size is not in a kernel trace, the default is assumed: --wave 32|64")
	}
	for i := range kernels {
		if why := kernels[i].Advice; kernels[i].shape == nil && !slices.Contains(notes, why) {
			notes = append(notes, why)
		}
	}
	return strings.Join(notes, "; ")
}

// noteWaveAssumed says that the default wave size stands in for an unknown one.
const noteWaveAssumed gpu.NoteID = "wave_size_assumed"

func hasNote(kernels []Kernel, id gpu.NoteID) bool {
	for i := range kernels {
		for _, n := range kernels[i].Notes {
			if n.ID == id {
				return true
			}
		}
	}
	return false
}

// detail is the section of one kernel.
func detail(i int, k *Kernel, v View) (report.Section, bool) {
	kv := report.KeyValues{}
	add := func(key, value, note string) {
		if value != "" {
			kv.Items = append(kv.Items, report.KV{Key: key, Value: value, Note: note})
		}
	}
	add("source", sourceText(k), "")
	add("registers", registersText(k), "")
	add("workgroup", workgroupText(k), "")
	add("launch", launchText(k), "")
	add("observed", observedText(k), "")
	add("LLVM", llvmText(k), "")
	for _, s := range k.NextStep {
		add("step", s.Text, "")
	}
	if k.Together != nil {
		add("together", k.Together.Text, "then limited by "+strings.Join(k.Together.ThenLimitedBy, ", "))
	}
	items := []report.Item{kv}
	if v.Verbose && k.shape != nil {
		items = append(items, limitLines(k))
	}
	if k.WhatIf != nil {
		items = append(items, curveTable(i, k))
	}
	if notes := kernelNotes(k, v); len(notes) > 0 {
		items = append(items, report.Notes{Items: notes})
	}
	name := k.Name
	if !v.FullNames {
		name = report.ShortenName(name, nameWidth)
	}
	return report.Section{ID: fmt.Sprintf("kernel-%d", i), Title: name, Items: items}, len(kv.Items)+len(items) > 1
}

func sourceText(k *Kernel) string {
	switch {
	case k.Source.Kind == capture.KindFlags:
		return ""
	case k.Source.Table != "" && k.Source.Table != k.Source.Path:
		return fmt.Sprintf("%s; %s, row %d", k.Source.Path, path.Base(k.Source.Table), k.Source.Row)
	case k.Source.Row > 0:
		return fmt.Sprintf("%s, row %d", k.Source.Path, k.Source.Row)
	}
	return k.Source.Path
}

func registersText(k *Kernel) string {
	r := &k.Registers
	var parts []string
	count := func(p *int, format string) {
		if p != nil {
			parts = append(parts, fmt.Sprintf(format, *p))
		}
	}
	count(r.VGPRs, "%d VGPRs")
	count(r.Metadata, "metadata %d")
	if r.Allocated != nil && r.VGPRs != nil && *r.Allocated != *r.VGPRs {
		count(r.Allocated, "descriptor %d")
	}
	if r.AGPRs != nil && *r.AGPRs > 0 {
		count(r.AGPRs, "of them %d AGPRs")
	}
	if r.SGPRs != nil && *r.SGPRs > 0 {
		count(r.SGPRs, "%d SGPRs")
	}
	if n := r.Named; n != nil {
		named := fmt.Sprintf("code names %d v", n.VGPRs)
		if n.AGPRs > 0 {
			named += fmt.Sprintf(" + %d a", n.AGPRs)
		}
		parts = append(parts, named)
	}
	count(r.LDSBytes, "%d B LDS")
	if r.ScratchBytes != nil && *r.ScratchBytes > 0 {
		count(r.ScratchBytes, "%d B scratch per lane")
	}
	return strings.Join(parts, ", ")
}

func workgroupText(k *Kernel) string {
	if k.shape == nil {
		return ""
	}
	return fmt.Sprintf("%d work-items = %s of %d lanes on the %d SIMDs of a %s",
		k.WorkgroupSize, count(k.WavesPerWorkgroup, "wave"), k.WaveSize, k.shape.SIMDs, k.Unit)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func launchText(k *Kernel) string {
	l := k.Launch
	switch {
	case l == nil:
		return ""
	case l.LaunchShape == nil:
		return fmt.Sprintf("%d workgroups%s", l.Groups, gridsText(l))
	case l.Slots == 0:
		return fmt.Sprintf("%d workgroups: %s", l.Groups, l.Why)
	}
	s := fmt.Sprintf("%d workgroups on %d %ss with room for %d", l.Groups, l.Units, l.Unit, l.Slots)
	switch {
	case l.Rounds > 1:
		s += fmt.Sprintf(": %d rounds, the last %.0f %% full", l.Rounds, l.LastRoundPct)
	case l.BelowSlots && l.WavesPerSIMD < k.shape.WavesPerSIMD:
		s += fmt.Sprintf(": at most %s of %s waves/SIMD in use", figure(l.WavesPerSIMD), figure(k.shape.WavesPerSIMD))
	}
	return s + gridsText(l) + ". Does more occupancy help? " + strings.ToUpper(l.Why[:1]) + l.Why[1:]
}

func gridsText(l *Launch) string {
	if l.Grids > 1 {
		return fmt.Sprintf(" (the longest of %d grids)", l.Grids)
	}
	return ""
}

func observedText(k *Kernel) string {
	o := k.Observed
	if o == nil {
		return ""
	}
	s := fmt.Sprintf("peak %d", o.Peak)
	if o.Mean != nil {
		s += fmt.Sprintf(", mean %.1f", *o.Mean)
	}
	s += fmt.Sprintf(" waves/SIMD on %s", count(o.Engines, "traced shader engine"))
	if o.Possible != nil {
		s += fmt.Sprintf("; possible are %d", *o.Possible)
	}
	if o.Kernels > 1 {
		s += fmt.Sprintf("; waves of %d kernels ran", o.Kernels)
	}
	return s
}

func llvmText(k *Kernel) string {
	if k.LLVM == nil {
		return ""
	}
	s := fmt.Sprintf("prints %d waves/SIMD, limited by %s", k.LLVM.WavesPerSIMD, strings.Join(k.LLVM.LimitedBy, ", "))
	if len(k.LLVM.Reasons) == 0 {
		return s + "; the hardware rule agrees"
	}
	why := make([]string, 0, len(k.LLVM.Reasons))
	for _, r := range k.LLVM.Reasons {
		why = append(why, reasonWords(r))
	}
	return s + "; hardware holds " + fmt.Sprint(*k.FullestSIMD) + ": " + strings.Join(why, ", ")
}

func reasonWords(r gpu.Reason) string {
	words := map[gpu.Reason]string{
		gpu.WholeGroups: "only whole workgroups start",
		gpu.LDSGranule:  "LDS is rounded to its granule",
		gpu.SGPRReserve: "the trap handler takes 16 SGPRs",
		gpu.CannotFit:   "not even one workgroup fits",
	}
	if w := words[r]; w != "" {
		return w
	}
	return string(r)
}

// limitLines shows the arithmetic of every limit; those that bind are marked.
func limitLines(k *Kernel) report.KeyValues {
	kv := report.KeyValues{}
	for _, l := range k.shape.Limits {
		name := limiterName(l.Resource)
		text := k.Limits[name].Arithmetic
		if slices.Contains(k.Limiters, name) {
			text += " <- binds"
		}
		kv.Items = append(kv.Items, report.KV{Key: name, Value: text})
	}
	return kv
}

// curveTable shows the occupancy over all amounts of one resource.
func curveTable(i int, k *Kernel) report.Table {
	w := k.WhatIf
	t := report.Table{ID: fmt.Sprintf("what-if-%d", i), Columns: []report.Column{
		{Key: w.Resource, Title: w.Unit, Align: report.AlignRight},
		{Key: "now", Title: ""},
		{Key: "waves_per_simd", Title: "waves/SIMD", Align: report.AlignRight},
		{Key: "workgroups_per_unit", Title: "wg/" + k.Unit, Align: report.AlignRight},
		{Key: "of_maximum_pct", Title: fmt.Sprintf("of %d waves", k.MaxWavesPerSIMD), Align: report.AlignRight, Bar: true},
		{Key: "limited_by", Title: "limited by"},
	}, Note: fmt.Sprintf("all else as it is; limited by: at the upper end of the range; the kernel has %d %s", w.Now, w.Unit)}
	for _, p := range w.Points {
		now := ""
		if p.From <= w.Now && w.Now <= p.To {
			now = "<-"
		}
		amount := fmt.Sprintf("%d to %d", p.From, p.To)
		if p.From == p.To {
			amount = fmt.Sprint(p.From)
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.Text(amount), report.Text(now),
			{Text: figure(p.WavesPerSIMD), Value: p.WavesPerSIMD},
			report.Int(p.WorkgroupsPerUnit), report.Pct(100 * p.WavesPerSIMD / float64(k.MaxWavesPerSIMD)), report.Text(strings.Join(p.LimitedBy, ", ")),
		})
	}
	return t
}

// usual are the notes of a kernel that are shown without -v; the others are
// said once elsewhere or change nothing.
var usual = map[gpu.NoteID]bool{
	gpu.NotePadded: true, gpu.NoteMixed: true, gpu.NoteIrregular: true, gpu.NoteOneWave: true,
	"largest_workgroup": true, "descriptor_padded": true, "descriptor_allocates": true, "agprs_apart": true, "launched": true, "generic_target": true, noteWaveAssumed: true, "registers_from_code": true,
	noteFlagUnused: true, "dynamic_vgpr_block_unknown": true, "cus_unknown": true, "other_dispatch": true,
	"launch_unknown": true, "columns_missing": true, "metadata": true,
}

func kernelNotes(k *Kernel, v View) []report.Note {
	var out []report.Note
	for _, n := range k.Notes {
		if v.Verbose || usual[n.ID] {
			out = append(out, report.Note{Severity: report.SeverityInfo, Text: n.Text})
		}
	}
	return out
}

// findingSection shows findings, those of one kind that concern several
// kernels as one, by the kernel that takes the most time; with -v all of them.
func findingSection(r *Result, findings []finding.Finding, v View) (report.Section, bool) {
	place := map[string]int{}
	for i := range r.Kernels {
		if _, ok := place[r.Kernels[i].Name]; !ok {
			place[r.Kernels[i].Name] = i
		}
	}
	if !v.Verbose {
		findings = slices.DeleteFunc(slices.Clone(findings), func(f finding.Finding) bool { return f.Minor })
	}
	first, many := map[string]int{}, map[string]int{}
	var order []string
	for i, f := range findings {
		at, ok := first[f.ID]
		if !ok {
			order = append(order, f.ID)
		}
		if !ok || place[f.Place.Kernel] < place[findings[at].Place.Kernel] {
			first[f.ID] = i
		}
		many[f.ID]++
	}
	var notes []report.Note
	for _, id := range order {
		notes = append(notes, findingNote(&findings[first[id]], many[id]-1))
	}
	if v.Verbose {
		notes = nil
		for i := range findings {
			notes = append(notes, findingNote(&findings[i], 0))
		}
	}
	if n := len(notes) - findingsN; n > 0 && !v.Verbose {
		notes = append(notes[:findingsN:findingsN], report.Note{Text: fmt.Sprintf("%d more kinds of findings (-v)", n)})
	}
	return report.Section{ID: "findings", Title: "Findings", Items: []report.Item{report.Notes{Items: notes}}}, len(notes) > 0
}

// findingNote writes one finding; others is how many more of its kind there
// are.
func findingNote(f *finding.Finding, others int) report.Note {
	text := f.Line()
	if f.Place.Kernel != "" && f.Place.Kernel != flagsName {
		text = report.ShortenName(f.Place.Kernel, nameWidth) + ": " + text
	}
	if others > 0 {
		text += fmt.Sprintf(" And %d more like this (-v).", others)
	}
	return report.Note{Severity: report.Severity(f.Severity.String()), Text: text}
}
