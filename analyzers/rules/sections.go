package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/report"
)

// View says what to show of a Result.
type View struct {
	// Verbose shows all figures, silenced rules, and all sources.
	Verbose bool
	// FullNames keeps long kernel names whole.
	FullNames bool
	// Kernels is how many kernels are shown in detail; 0 shows all.
	Kernels int
	// Left is how many findings of each kernel were cut.
	Left []int
}

// TableID is the id of the table that CSV makes.
const TableID = "kernels"

const nameWidth = 60

// Sections lays a result out for reading: a table where there are several
// kernels, then each with its numbers, findings and what to capture next.
func Sections(r *Result, gates []finding.Finding, v View) report.Document {
	var doc report.Document
	if len(r.Kernels) > 1 {
		doc.Sections = append(doc.Sections, report.Section{ID: TableID, Title: "Kernels", Items: []report.Item{kernelTable(r, v)}})
	}
	shown := 0
	for i := range r.Kernels {
		k := &r.Kernels[i]
		if !k.inDetail() && len(r.Kernels) > 1 {
			continue
		}
		if v.Kernels > 0 && shown == v.Kernels {
			break
		}
		shown++
		left := 0
		if i < len(v.Left) {
			left = v.Left[i]
		}
		doc.Sections = append(doc.Sections, kernelSections(i, k, gates, v, left)...)
	}
	if notes := leftOver(r, gates, v); len(notes.Items) > 0 {
		doc.Sections = append(doc.Sections, report.Section{ID: "gates", Title: "About other captures", Items: []report.Item{notes}})
	}
	return doc
}

// leftOver are the remarks on captures that no kernel is of, with what to do.
func leftOver(r *Result, gates []finding.Finding, v View) report.Notes {
	notes := report.Notes{}
	for _, g := range gates {
		known := slices.ContainsFunc(r.Kernels, func(k Kernel) bool {
			return slices.ContainsFunc(k.Sources, func(s regime.Source) bool { return s.Path == g.Place.Path })
		})
		if known || g.Severity < finding.Medium && !v.Verbose {
			continue
		}
		text := g.ID + ": " + g.Place.Path + ": " + g.Text
		if g.Fix != "" {
			text += ". Fix: " + g.Fix
		}
		notes.Items = append(notes.Items, report.Note{Severity: report.Severity(g.Severity.String()), Text: text + "."})
	}
	return notes
}

// inDetail leaves out kernels that only a list of dispatches knows, unless
// they matter.
func (k *Kernel) inDetail() bool {
	if len(k.Traces) > 0 || len(k.Counted) > 0 && len(k.Levels) > 0 {
		return true
	}
	fired := slices.ContainsFunc(k.Findings, func(f finding.Finding) bool { return f.Severity >= finding.Low })
	sampled := k.Sampled != nil && len(k.Sampled.Instructions) > 0
	return (k.Regime != regime.Inconclusive || fired || sampled) && (k.Time == nil || k.Time.Matters)
}

func kernelSections(i int, k *Kernel, gates []finding.Finding, v View, left int) []report.Section {
	out := []report.Section{head(i, k, v)}
	if len(k.Levels)+len(k.Evidence) > 0 {
		out = append(out, numbers(i, k, v))
	}
	if v.Verbose && k.Efficiency != nil {
		out = append(out, k.Efficiency.Section(fmt.Sprintf("efficiency-%d", i)))
	}
	if notes := findingNotes(k, left, v); len(notes.Items) > 0 {
		out = append(out, report.Section{ID: fmt.Sprintf("findings-%d", i), Title: "What to do", Items: []report.Item{notes}})
	}
	if notes := gateNotes(k, gates, v); len(notes.Items) > 0 {
		out = append(out, report.Section{ID: fmt.Sprintf("gates-%d", i), Title: "About the capture", Items: []report.Item{notes}})
	}
	if s, ok := nextSection(i, k, v); ok {
		out = append(out, s)
	}
	return out
}

func shortName(k *Kernel, v View) string {
	if v.FullNames {
		return k.Name
	}
	return report.ShortenName(k.Name, nameWidth)
}

func head(i int, k *Kernel, v View) report.Section {
	kv := report.KeyValues{}
	add := func(key, value string) {
		if value != "" {
			kv.Items = append(kv.Items, report.KV{Key: key, Value: value})
		}
	}
	add("verdict", k.Verdict)
	add("confidence", confidenceText(k))
	for _, a := range k.Also {
		add("also", a)
	}
	for _, c := range k.Contradictions {
		add("contradiction", c)
	}
	add("launch", launchText(k))
	if v.Verbose && k.GPU != nil {
		add("evidence", k.GPU.Evidence())
	}
	add("time", timeText(k.Time))
	shown := 0
	for _, s := range k.Sources {
		if !v.Verbose && (shown == maxSources || s.Kind == "dispatches" && shown > 0) {
			continue
		}
		shown++
		add("source", strings.ReplaceAll(s.Kind, "_", " ")+" "+s.Path)
	}
	return report.Section{ID: fmt.Sprintf("kernel-%d", i), Title: shortName(k, v), Items: []report.Item{kv}}
}

// maxSources is how many captures of a kernel are named.
const maxSources = 3

func confidenceText(k *Kernel) string {
	s := string(k.Confidence)
	if len(k.ConfidenceReasons) > 0 && k.Regime != regime.Inconclusive {
		s += ": " + strings.Join(k.ConfidenceReasons, "; ")
	}
	return s
}

func launchText(k *Kernel) string {
	var parts []string
	switch {
	case k.Device != "" && k.Arch != "" && k.Device != k.Arch:
		parts = append(parts, k.Device+" ("+k.Arch+")")
	case k.Device+k.Arch != "":
		parts = append(parts, max(k.Device, k.Arch))
	}
	if k.Shape.Workgroups > 0 {
		parts = append(parts, fmt.Sprintf("%d workgroups of %d work-items", k.Shape.Workgroups, k.Shape.Workgroup))
	} else if n, ok := k.Shape.Ran.InDispatch(); ok {
		parts = append(parts, fmt.Sprintf("about %d waves (occupancy.json)", n))
	}
	return strings.Join(parts, ", ")
}

func timeText(t *regime.Time) string {
	if t == nil {
		return ""
	}
	s := fmt.Sprintf("%.1f %% of the GPU time: %s of %s", t.SharePct, plural(t.Calls, "call"), report.Duration(t.MeanNs))
	if t.Serialised {
		s += " (under the counter profiler, one dispatch after another)"
	}
	if t.MaxSpeedup != nil {
		s += fmt.Sprintf("; without it all kernels together would be at most %.2f times faster", *t.MaxSpeedup)
	}
	return s
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// numbers shows the figures that the verdict rests on: the busiest compute and
// memory resource, waiting, and the share of the CUs in use. -v adds the others
// and the files that each is from.
func numbers(i int, k *Kernel, v View) report.Section {
	kv := report.KeyValues{}
	for _, l := range k.Levels {
		if !v.Verbose && !mainLevel(k, l) {
			continue
		}
		kv.Items = append(kv.Items, report.KV{Key: l.Resource, Value: levelValue(l), Note: basis(l.How, l.Source, v)})
	}
	for _, e := range k.Evidence {
		if value := evidenceValue(e); value != "" && (v.Verbose || mainEvidence(k, e)) {
			kv.Items = append(kv.Items, report.KV{Key: strings.ReplaceAll(e.Metric, "_", " "), Value: value, Note: basis("", e.Source, v)})
		}
	}
	if len(k.Waits) > 0 && (k.Sampled == nil || k.Main != nil) { // else the samples' own figures stand there
		kv.Items = append(kv.Items, report.KV{Key: "waits for", Value: waitsText(k.Waits)})
	}
	return report.Section{ID: fmt.Sprintf("numbers-%d", i), Title: "The numbers it rests on", Items: []report.Item{kv}}
}

// basis says how a figure came about; the files it is from would make the text
// longer than a screen and are shown on request.
func basis(how, source string, v View) string {
	if !v.Verbose || source == "" {
		return how
	}
	return strings.TrimPrefix(how+"; "+source, "; ")
}

// mainLevel picks the busiest level of each regime.
func mainLevel(k *Kernel, l regime.Level) bool {
	if l.Flag != "" || l.Resource == "hbm" || slices.Contains(strings.Split(k.Subtype, "+"), l.Resource) {
		return true
	}
	for _, o := range k.Levels {
		if o.Regime == l.Regime && o.Flag == "" && (o.Pct > l.Pct || o.Pct == l.Pct && o.Resource < l.Resource) {
			return false
		}
	}
	return true
}

// mainEvidence leaves out figures that another one says better: which units held
// a wave at all, where it is known for how long.
func mainEvidence(k *Kernel, e finding.Evidence) bool {
	switch e.Metric {
	case "imbalance_loss":
		return false // its finding says it
	case "cus_in_use":
		return !slices.ContainsFunc(k.Evidence, func(o finding.Evidence) bool { return o.Metric == "cu_time_with_a_wave" })
	}
	return true
}

func levelValue(l regime.Level) string {
	s := fmt.Sprintf("%.1f %% of peak", l.Pct)
	switch {
	case l.AtLeast:
		s = fmt.Sprintf("at least %.1f %% of peak", l.Pct)
	case l.Basis == regime.UpperBound, l.AtMost:
		s = fmt.Sprintf("at most %.1f %% of peak", l.Pct)
	}
	if l.Flag != "" {
		s = fmt.Sprintf("not a fact: %.0f %% of peak, %s", l.Pct, l.Flag)
	}
	return s
}

// evidenceValue formats the figures that are no levels.
func evidenceValue(e finding.Evidence) string {
	switch e.Metric {
	case "waiting":
		return fmt.Sprintf("%.1f %s (from %.0f %% on they bound an idle machine)", e.Value, e.Unit, *e.Threshold)
	case "cus_in_use":
		return fmt.Sprintf("%.0f %%", e.Value)
	case "cu_time_with_a_wave", "used_cu_time_with_a_wave", "imbalance_loss":
		return fmt.Sprintf("%.0f %s", e.Value, e.Unit)
	case "traced_window":
		return fmt.Sprintf("%.0f %s", e.Value, e.Unit)
	case "memory_traffic":
		return fmt.Sprintf("%.4g %s", e.Value, e.Unit)
	case "lds_busy", "lds_useful", regime.LDSUnaligned, regime.LDSConflicts, regime.LDSAddresses:
		return fmt.Sprintf("%.1f %s", e.Value, e.Unit)
	}
	if strings.HasPrefix(e.Metric, "sampled_") {
		return fmt.Sprintf("%.0f %s", e.Value, e.Unit)
	}
	return ""
}

func waitsText(ws []regime.Wait) string {
	var parts []string
	for _, w := range ws {
		if len(parts) == 4 || w.CyclesPct < 1 {
			break
		}
		parts = append(parts, fmt.Sprintf("%s %.0f %%", strings.ReplaceAll(w.Kind, "_", " "), w.CyclesPct))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + " (of wave cycles)"
}

// boundsText names once what the bounds of findings are of.
const boundsText = "at most N %: of " + exposed.SIMDTimeName + ", in which a wave is in such a stall and none issues; other bounds say of what they are."

func findingNotes(k *Kernel, left int, v View) report.Notes {
	notes := report.Notes{}
	if slices.ContainsFunc(k.Findings, func(f finding.Finding) bool { return f.Bound != nil && f.Bound.Of == exposed.SIMDTimeName }) {
		notes.Items = append(notes.Items, report.Note{Severity: report.SeverityInfo, Text: boundsText})
	}
	for i := range k.Findings {
		f := &k.Findings[i]
		notes.Items = append(notes.Items, report.Note{Severity: report.Severity(f.Severity.String()), Text: f.LineOf(exposed.SIMDTimeName)})
	}
	if left > 0 {
		notes.Items = append(notes.Items, report.Note{Severity: report.SeverityInfo, Text: fmt.Sprintf("%d smaller findings left out (-v, --top 0).", left)})
	}
	if v.Verbose {
		for _, s := range k.Silenced {
			notes.Items = append(notes.Items, report.Note{Severity: report.SeverityInfo, Text: s.ID + " fired and is moot: " + s.Why + "."})
		}
	}
	if len(k.NotRun) > 0 {
		notes.Items = append(notes.Items, report.Note{Severity: report.SeverityInfo, Text: notRunText(k, v)})
	}
	return notes
}

// notRunText names the rules that lacked evidence, once.
func notRunText(k *Kernel, v View) string {
	var ids []string
	for _, n := range k.NotRun {
		ids = append(ids, n.ID)
	}
	if !v.Verbose {
		return fmt.Sprintf("%d rules could not run for lack of evidence: see what to capture next (-v names them).", len(ids))
	}
	return "could not run for lack of evidence: " + strings.Join(ids, ", ") + "."
}

// gateNotes are remarks on the captures of a kernel.
func gateNotes(k *Kernel, gates []finding.Finding, v View) report.Notes {
	notes := report.Notes{}
	for _, g := range gates {
		mine := slices.ContainsFunc(k.Sources, func(s regime.Source) bool { return s.Path == g.Place.Path }) && (g.Place.Kernel == "" || g.Place.Kernel == k.Name)
		if !mine || !v.Verbose && (g.Severity < finding.Low || g.ID == "line_collapse") {
			continue
		}
		notes.Items = append(notes.Items, report.Note{Severity: report.Severity(g.Severity.String()), Text: g.ID + ": " + g.Text + "."})
	}
	return notes
}

// nextSection shows the most useful capture; all of them on request.
func nextSection(i int, k *Kernel, v View) (report.Section, bool) {
	var items []report.Item
	for n, c := range k.Next {
		if n > 0 && !v.Verbose {
			break
		}
		items = append(items, report.KeyValues{Items: []report.KV{{Key: "why", Value: c.Why}, {Key: "run", Value: c.Command}}})
		if c.Input != "" {
			items = append(items, inputSnippet(c))
		}
	}
	if len(items) == 0 {
		return report.Section{}, false
	}
	return report.Section{ID: fmt.Sprintf("next-%d", i), Title: "What to capture next", Items: items}, true
}

func inputSnippet(c Capture) report.Snippet {
	name := "att.yaml"
	if strings.Contains(c.Command, "pmc.yaml") {
		name = "pmc.yaml"
	}
	s := report.Snippet{Path: name}
	for _, line := range strings.Split(strings.TrimRight(c.Input, "\n"), "\n") {
		s.Lines = append(s.Lines, report.SnippetLine{Text: line})
	}
	return s
}

// kernelTable lists the verdicts, one kernel a line.
func kernelTable(r *Result, v View) report.Table {
	t := report.Table{ID: TableID, Columns: []report.Column{
		{Key: "kernel", Title: "kernel", Flex: true, Elide: report.ElideName, Min: 20},
		{Key: "time_share_pct", Title: "time", Align: report.AlignRight},
		{Key: "regime", Title: "bound by"},
		{Key: "subtype", Title: "in detail"},
		{Key: "confidence", Title: "sure"},
	}}
	for i := range r.Kernels {
		k := &r.Kernels[i]
		if v.Kernels > 0 && i >= 3*v.Kernels {
			t.Note = fmt.Sprintf("%d more kernels are not shown (--kernels 0 shows all)", len(r.Kernels)-i)
			break
		}
		t.Rows = append(t.Rows, kernelRow(k))
	}
	if slices.ContainsFunc(r.Kernels, func(k Kernel) bool { return k.Time != nil && !k.Time.Matters && k.Regime == regime.Inconclusive }) && t.Note == "" {
		t.Note = "time: share of the summed kernel time"
	}
	return t
}

func kernelRow(k *Kernel) []report.Cell {
	row := []report.Cell{report.Text(k.Name), report.Absent(""), report.Text(string(k.Regime)), detailCell(k), report.Text(string(k.Confidence))}
	if k.Time != nil {
		row[1] = report.Pct(k.Time.SharePct)
	}
	return row
}

// detailCell is the subtype; of an inconclusive kernel what is missing.
func detailCell(k *Kernel) report.Cell {
	text := strings.ReplaceAll(k.Subtype, "_", " ")
	if k.Regime == regime.Inconclusive && text != "" && text != "balanced" {
		text = "needs " + text
	}
	return report.Cell{Text: text, Value: k.Subtype}
}

// CSV lays the verdicts out as one table with raw values.
func CSV(r *Result) report.Table {
	t := kernelTable(r, View{})
	t.Columns = append(t.Columns, report.Column{Key: "finding", Title: "first finding"}, report.Column{Key: "path", Title: "source"}, report.Column{Key: "bound_pct", Title: "bound", Align: report.AlignRight}, report.Column{Key: "verdict", Title: "verdict"})
	for i := range r.Kernels {
		k := &r.Kernels[i]
		path, bound, first := report.Absent(""), report.Absent(""), report.Absent("")
		if len(k.Findings) > 0 {
			first = report.Text(k.Findings[0].ID)
		}
		if len(k.Sources) > 0 {
			path = report.Text(k.Sources[0].Path)
		}
		if len(k.Findings) > 0 && k.Findings[0].Bound != nil {
			bound = report.Pct(k.Findings[0].Bound.Pct)
		}
		t.Rows[i] = append(t.Rows[i], first, path, bound, report.Text(k.Verdict))
	}
	return t
}
