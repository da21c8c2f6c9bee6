package trust

import (
	"fmt"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// check is the state of judging one thread trace.
type check struct {
	p       *analysis.Pass
	tt      *trace.ThreadTrace
	listing *code.Listing
	replay  *replay.Replay
	stalls  *stalls.Breakdown
}

// judge runs the gates: those of the trace, then those of each kernel.
func (c *check) judge() *Judgement {
	j := &Judgement{Kernels: make([]Kernel, len(c.tt.Kernels))}
	c.emptyTrace()
	traceGates := []func() (Confidence, *finding.Finding){c.damaged, c.totals, c.statsTable, c.lostWaves, c.edges, c.architecture, c.estimated}
	for k := range j.Kernels {
		j.Kernels[k].Confidence = High
		j.Kernels[k].Lines = spread(c.code(k), c.p.Param("line_collapse_pct"))
	}
	for _, gate := range traceGates {
		if conf, f := gate(); f != nil {
			c.fire(nil, conf, *f)
			for k := range j.Kernels {
				j.Kernels[k].fired(conf, *f)
			}
		}
	}
	for k := range j.Kernels {
		kn := &j.Kernels[k]
		if !c.p.Selects(c.tt.Kernels[k].Symbol, c.tt.Kernels[k].Demangled) {
			continue
		}
		for _, gate := range []func(int, *Kernel) (Confidence, *finding.Finding){
			c.executed, c.impossible, c.coverage, c.fewWaves, c.noWork, c.lines, c.companion,
		} {
			if conf, f := gate(k, kn); f != nil {
				f.Place.Kernel = c.tt.Kernels[k].Name()
				c.fire(kn, conf, *f)
			}
		}
	}
	return j
}

func (c *check) code(k int) []trace.Instruction {
	return c.tt.Code[c.tt.Kernels[k].First:c.tt.Kernels[k].Last]
}

// fire reports a gate's finding and lowers the kernel's confidence.
func (c *check) fire(kn *Kernel, conf Confidence, f finding.Finding) {
	f.Gate = true
	f.Place.Path = c.tt.Path
	c.p.Report(f)
	if kn != nil {
		kn.fired(conf, f)
	}
}

func (k *Kernel) fired(conf Confidence, f finding.Finding) {
	k.Gates = append(k.Gates, f.ID)
	if conf != High {
		k.lower(conf, f.Text)
	}
}

// captureAgain is what to do when nothing was decoded.
// Source: ROCm documentation, "Using thread trace with rocprofv3".
const captureAgain = "capture again with a compute unit and shader engines that get work (--att-target-cu, --att-shader-engine-mask), a larger --att-buffer-size, and a dispatch with enough workgroups"

// emptyTrace fires when nothing was decoded at all.
func (c *check) emptyTrace() {
	why := map[trace.CodeState]string{
		trace.CodeMissing:    "there is no code.json",
		trace.CodeNull:       `code.json holds "code": null`,
		trace.CodeEmpty:      "code.json holds no instructions",
		trace.CodeUnreadable: "code.json cannot be read",
	}[c.tt.CodeState]
	if why == "" {
		return
	}
	text := "no instruction was decoded: " + why
	if o := c.tt.Occupancy; o != nil && o.Starts() > 0 {
		text += fmt.Sprintf("; occupancy.json still knows %s on %s", count(o.Starts(), "wave"), count(int64(len(o.Engines)), "shader engine"))
	}
	c.fire(nil, None, finding.Finding{ID: "empty_trace", Severity: finding.Blocker, Text: text, Fix: captureAgain})
}

// executed fires when a kernel has code and none of it ran.
func (c *check) executed(k int, _ *Kernel) (Confidence, *finding.Finding) {
	if c.tt.Flavour == trace.Samples {
		return High, nil
	}
	for _, in := range c.code(k) {
		if in.Hits > 0 {
			return High, nil
		}
	}
	return None, &finding.Finding{
		ID: "no_hits", Severity: finding.Blocker,
		Text: fmt.Sprintf("none of the kernel's %d instructions was executed by a traced wave", len(c.code(k))),
		Fix:  captureAgain,
	}
}

// impossible fires when a kernel stalls longer than its instructions took:
// stall is a part of latency.
func (c *check) impossible(k int, _ *Kernel) (Confidence, *finding.Finding) {
	var all trace.Counts
	for _, in := range c.code(k) {
		all.Add(in.Counts)
	}
	if all.StallCycles <= all.LatencyCycles {
		return High, nil
	}
	return Low, &finding.Finding{
		ID: "stall_over_latency", Severity: finding.High,
		Text: fmt.Sprintf("%d stall cycles are more than the %d cycles of latency that they are a part of", all.StallCycles, all.LatencyCycles),
		Fix:  "the trace is damaged or from a decoder with a defect: decode it again with rocprof-trace-decoder 0.1.6 or later",
	}
}

// coverage fires when the traced waves did not do the kernel's work.
func (c *check) coverage(k int, _ *Kernel) (Confidence, *finding.Finding) {
	if c.tt.Flavour == trace.Samples {
		return High, nil
	}
	kn := c.tt.Kernels[k]
	cov := c.listing.Coverage(c.tt, k)
	if cov.Executed == 0 {
		return High, nil
	}
	limit := c.p.Param("coverage_pct")
	pct := cov.ExecutedPct()
	why := ""
	switch {
	case pct < limit:
		why = fmt.Sprintf("only %.1f %% of the code was executed (%d of %d instructions)", pct, cov.Executed, cov.Total)
	case cov.MFMAStatic > 0 && cov.MFMAExecuted == 0:
		why = fmt.Sprintf("none of the %d matrix instructions was executed", cov.MFMAStatic)
	case !c.reachesLoop(kn):
		why = "every wave ended before the first loop"
	default:
		return High, nil
	}
	return Low, &finding.Finding{
		ID: "low_coverage", Severity: finding.High,
		Text:     why + ": the traced waves left early, the ranking does not show the kernel's work",
		Evidence: []finding.Evidence{{Metric: "executed instructions", Value: pct, Unit: "%", Threshold: &limit, Source: "code.json Hit"}},
		Fix:      "capture another compute unit or another dispatch",
	}
}

// reachesLoop reports whether the kernel has no loop, or some instruction of
// some loop was executed.
func (c *check) reachesLoop(kn trace.Kernel) bool {
	loops := false
	for row := kn.First; row < kn.Last; row++ {
		head, ok := c.listing.LoopHead(c.tt, kn, row)
		if !ok {
			continue
		}
		loops = true
		for i := head; i <= row; i++ {
			if c.tt.Code[i].Hits > 0 {
				return true
			}
		}
	}
	return !loops
}

// fewWaves fires when there are too few waves to generalise from.
func (c *check) fewWaves(k int, _ *Kernel) (Confidence, *finding.Finding) {
	if !c.replay.HasWaves {
		return High, nil
	}
	limit := c.p.Param("few_waves")
	working := c.replay.Kernels[k].Waves[replay.Working]
	if working == 0 && c.replay.Kernels[k].Waves[replay.NoWork] == 0 {
		return High, nil // a function that no wave starts in
	}
	why := ""
	switch {
	case float64(working) < limit:
		why = fmt.Sprintf("only %s traced", count(int64(working), "working wave"))
	case len(c.replay.SIMDs) == 1 && c.tt.GfxMajor == 9:
		why = "all traced waves ran on one SIMD"
	default:
		return High, nil
	}
	return Low, &finding.Finding{
		ID: "few_waves", Severity: finding.Medium, Text: why + ": what they waited for may not be typical",
		Evidence: []finding.Evidence{{Metric: "working waves", Value: float64(working), Unit: "waves", Threshold: &limit, Source: "wave files"}},
		Fix:      "trace more shader engines (--att-shader-engine-mask) or a larger dispatch",
	}
}

// noWork tells how many waves were split off.
func (c *check) noWork(k int, _ *Kernel) (Confidence, *finding.Finding) {
	if !c.replay.HasWaves {
		return High, nil
	}
	n := c.replay.Kernels[k].Waves
	if n[replay.NoWork] == 0 {
		return High, nil
	}
	kn := c.tt.Kernels[k]
	var idle, all int64
	for row := kn.First; row < kn.Last; row++ {
		idle += c.replay.Counts[replay.NoWork][row].StallCycles
		all += c.tt.Code[row].StallCycles
	}
	kept := "left out of every breakdown (--all-waves keeps them)"
	if c.stalls.AllWaves {
		kept = "kept in, as asked"
	}
	f := &finding.Finding{
		ID: "no_work_waves", Severity: finding.Info,
		Text: fmt.Sprintf("%d of %d waves did no work and hold %.1f %% of the stall; %s",
			n[replay.NoWork], n[replay.NoWork]+n[replay.Working], pct(idle, all), kept),
		Evidence: []finding.Evidence{
			{Metric: "no-work waves", Value: float64(n[replay.NoWork]), Unit: "waves", Source: "wave files"},
			{Metric: "their share of stall cycles", Value: pct(idle, all), Unit: "%", Source: "wave files, code.json Stall"},
		},
	}
	if pct(idle, all) >= c.p.Param("no_work_stall_pct") {
		f.Severity = finding.Low
		f.Fix = "launch fewer workgroups, or give the idle ones work"
	}
	return High, f
}

// lines fires when source lines cannot be told apart.
func (c *check) lines(_ int, kn *Kernel) (Confidence, *finding.Finding) {
	s := kn.Lines
	switch {
	case s.Total == 0:
		return High, nil
	case s.Mapped == 0:
		return High, &finding.Finding{
			ID: "no_source", Severity: finding.Info,
			Text: "no instruction has a source position: source lines are not ranked",
			Fix:  "compile with debug information (-g), for Python kernels with line information on, and capture again",
		}
	case s.Collapsed:
		limit := c.p.Param("line_collapse_pct")
		return High, &finding.Finding{
			ID: "line_collapse", Severity: finding.Low,
			Text:     fmt.Sprintf("%s holds %.1f %% of the instructions: source lines are ranked on request only", s.Top, s.TopPct),
			Evidence: []finding.Evidence{{Metric: "instructions on one source line", Value: s.TopPct, Unit: "%", Threshold: &limit, Source: "code.json Source"}},
			Fix:      "rank loops (rocanalyze loops), instructions (--by instruction) or waits (--by wait); make the compiler keep line information inside the kernel",
		}
	}
	return High, nil
}

// damaged fires when a part of the capture could not be read.
func (c *check) damaged() (Confidence, *finding.Finding) {
	var texts []string
	for _, n := range c.tt.Notes {
		if n.Level == trace.Damage {
			texts = append(texts, n.Place+": "+n.Text)
		}
	}
	for _, n := range c.replay.Report.Notes {
		if n.Level == trace.Damage {
			texts = append(texts, n.Place+": "+n.Text)
		}
	}
	if len(texts) == 0 {
		return High, nil
	}
	more := ""
	if len(texts) > 3 {
		more = fmt.Sprintf("; and %d more", len(texts)-3)
		texts = texts[:3]
	}
	return Low, &finding.Finding{
		ID: "damaged_input", Severity: finding.High,
		Text: "parts of the capture could not be read, the results are partial: " + strings.Join(texts, "; ") + more,
		Fix:  "decode the capture again; check that all files were copied",
	}
}

// totals fires when the waves do not add up to code.json.
func (c *check) totals() (Confidence, *finding.Finding) {
	m := c.replay.Mismatch
	if !c.replay.HasWaves || (m.Rows == 0 && c.replay.Unmatched == 0) {
		return High, nil
	}
	var all trace.Counts
	for i := range c.tt.Code {
		all.Add(c.tt.Code[i].Counts)
	}
	return Medium, &finding.Finding{
		ID: "totals_mismatch", Severity: finding.Medium,
		Text: fmt.Sprintf("the waves do not add up to code.json: %d instructions differ, %d of %d hits and %d of %d stall cycles are not in the wave files, %d records have no instruction",
			m.Rows, m.Missing.Hits, all.Hits, m.Missing.StallCycles, all.StallCycles, c.replay.Unmatched),
		Evidence: []finding.Evidence{{Metric: "instructions that differ", Value: float64(m.Rows), Unit: "instructions", Source: "wave files, code.json"}},
		Fix:      "totals are code.json's; what waits waited for is taken from the waves that are there. Copy the whole directory, or decode again",
	}
}

// statsTable fires when the stats CSV beside the directory has other sums
// than code.json: one of the two is from another run, or cut.
func (c *check) statsTable() (Confidence, *finding.Finding) {
	if c.tt.Stats == nil || len(c.tt.Code) == 0 || c.tt.Flavour == trace.Samples {
		return High, nil
	}
	var all trace.Counts
	for i := range c.tt.Code {
		all.Add(c.tt.Code[i].Counts)
	}
	if c.tt.Stats.Counts == all {
		return High, nil
	}
	return High, &finding.Finding{
		ID: "stats_mismatch", Severity: finding.Low,
		Text: fmt.Sprintf("%s sums to %d hits and %d stall cycles, code.json to %d and %d: they are not of the same trace",
			c.tt.Stats.File, c.tt.Stats.Hits, c.tt.Stats.StallCycles, all.Hits, all.StallCycles),
		Fix: "code.json is used; remove the stats CSV of the other trace",
	}
}

// lostWaves compares the waves that started on the traced compute units with
// the wave files.
func (c *check) lostWaves() (Confidence, *finding.Finding) {
	if !c.replay.HasWaves || c.tt.Occupancy == nil {
		return High, nil
	}
	type cu struct{ se, cu int }
	files := map[cu]int64{}
	for _, s := range c.replay.SIMDs {
		files[cu{s.SE, s.CU}] += int64(s.Waves)
	}
	var traced, started int64
	for _, e := range c.tt.Occupancy.Engines {
		for _, u := range e.CUs {
			if n, ok := files[cu{e.SE, u.CU}]; ok {
				traced += n
				started += u.Starts
			}
		}
	}
	if started <= traced || c.tt.GfxMajor != 9 {
		return High, nil // gfx10 and later trace one SIMD of the unit
	}
	lost := 100 * float64(started-traced) / float64(started)
	return Medium, &finding.Finding{
		ID: "waves_lost", Severity: finding.Medium,
		Text:     fmt.Sprintf("%d waves started on the traced compute units, %d have a wave file: %.1f %% were lost", started, traced, lost),
		Evidence: []finding.Evidence{{Metric: "waves without a file", Value: lost, Unit: "%", Source: "occupancy.json, wave files"}},
		Fix:      "a larger --att-buffer-size, fewer shader engines, or a shorter kernel",
	}
}

// edges fires when the decoder's own wait lists contradict the rebuilt ones.
func (c *check) edges() (Confidence, *finding.Finding) {
	if c.replay.EdgesDiffer == 0 {
		return High, nil
	}
	return Medium, &finding.Finding{
		ID: "wait_edges_differ", Severity: finding.Low,
		Text: fmt.Sprintf("in %d of %d waves the decoder's wait lists differ from those rebuilt from the instructions", c.replay.EdgesDiffer, c.replay.EdgeWaves),
		Fix:  "what waits waited for is taken from the rebuilt lists; look for lost data in the capture",
	}
}

// architecture fires when it is not known which instructions these are.
func (c *check) architecture() (Confidence, *finding.Finding) {
	a := c.listing.Arch
	unknown, first := 0, ""
	for i := range c.listing.Insts {
		if c.listing.Insts[i].Class == isa.Unknown {
			if unknown == 0 {
				first = c.listing.Insts[i].Mnemonic
			}
			unknown++
		}
	}
	switch {
	case a.Conflict != "":
		return Medium, &finding.Finding{ID: "architecture_conflict", Severity: finding.Medium, Text: a.Conflict, Fix: "name the device with --device"}
	case unknown > 0:
		return Medium, &finding.Finding{
			ID: "unknown_instructions", Severity: finding.Low,
			Text: fmt.Sprintf("%d of %d instructions are not known to this version (first: %s) and count as \"other\"", unknown, len(c.listing.Insts), first),
		}
	case a.Target == "" && len(a.Candidates) > 1:
		return High, &finding.Finding{
			ID: "architecture_open", Severity: finding.Info,
			Text: fmt.Sprintf("the trace does not say which architecture this is (by its instructions %s); figures that differ between them are left out", a),
			Fix:  "name it with --device, or keep the agent_info.csv that rocprofv3 writes beside the trace",
		}
	}
	return High, nil
}

// estimated fires when there are no waves to tell producers from.
func (c *check) estimated() (Confidence, *finding.Finding) {
	if c.replay.HasWaves || len(c.tt.Code) == 0 || c.tt.Flavour == trace.Samples {
		return High, nil
	}
	return Medium, &finding.Finding{
		ID: "no_wave_files", Severity: finding.Info,
		Text: "there are no wave files: what waits waited for is estimated from the code, and waves, issue and matrix utilisation are not known",
		Fix:  "keep the se*_sm*_sl*_wv*.json files of the dispatch directory",
	}
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func pct(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

func frameText(f trace.Frame) string { return fmt.Sprintf("%s:%d", f.File, f.Line) }
