package trust

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// subject is one thread trace, or one kernel of it, as the gates see it.
type subject struct {
	p       *analysis.Pass
	tt      *trace.ThreadTrace
	listing *code.Listing
	replay  *replay.Replay
	stalls  *stalls.Breakdown

	// k is the kernel's index, out what is known about it, row the launch whose
	// use is doubtful, and why; those of gates on kernels only.
	k   int
	out *Kernel
	row *trace.Launch
	why string
}

// judge runs the gates: those of the trace, then those of each kernel.
func (s *subject) judge() *Judgement {
	j := &Judgement{Lost: s.lost(), Kernels: make([]Kernel, len(s.tt.Kernels))}
	for k := range j.Kernels {
		j.Kernels[k].Confidence = High
		j.Kernels[k].Lines = spread(s.code(k), s.p.Param("line_collapse_pct"))
	}
	gates := gates()
	for i := range gates {
		if g := &gates[i]; !g.kernel {
			for _, f := range g.check(s, "") {
				for k := range j.Kernels {
					j.Kernels[k].fired(g.lowers, f)
				}
			}
		}
	}
	for k := range j.Kernels {
		kn := &s.p.Capture.Trace(s.tt).Kernels[k]
		if !s.p.Selects(kn.Names) {
			continue
		}
		s.k, s.out = k, &j.Kernels[k]
		s.out.Companion, s.row, s.why = kn.Companion, kn.Doubt, kn.Why
		for i := range gates {
			if g := &gates[i]; g.kernel {
				for _, f := range g.check(s, kn.Names.Shown()) {
					s.out.fired(g.lowers, f)
				}
			}
		}
	}
	return j
}

// check reports what one gate finds.
func (g *gate) check(s *subject, kernel string) []finding.Finding {
	return analysis.Check(s.p, []rule.Check[*subject]{g.Check}, s, finding.Place{Path: s.tt.Path, Kernel: kernel})
}

func (s *subject) code(k int) []trace.Instruction {
	return s.tt.Code[s.tt.Kernels[k].First:s.tt.Kernels[k].Last]
}

// counts sums the rows of the kernel, or of all code.
func counts(code []trace.Instruction) (all trace.Counts) {
	for i := range code {
		all.Add(code[i].Counts)
	}
	return all
}

func (k *Kernel) fired(conf Confidence, f finding.Finding) {
	k.Gates = append(k.Gates, f.ID)
	if conf != High {
		k.lower(conf, f.Text)
	}
}

// says is a gate that fires with a text.
func says(format string, args ...any) []rule.Hit {
	return []rule.Hit{{Text: fmt.Sprintf(format, args...)}}
}

// emptyTrace fires when nothing was decoded at all.
func emptyTrace(s *subject, _ rule.Values) []rule.Hit {
	why := map[trace.CodeState]string{
		trace.CodeMissing:    "there is no code.json",
		trace.CodeNull:       `code.json holds "code": null`,
		trace.CodeEmpty:      "code.json holds no instructions",
		trace.CodeUnreadable: "code.json cannot be read",
	}[s.tt.CodeState]
	if why == "" {
		return nil
	}
	text := "no instruction was decoded: " + why
	if o := s.tt.Occupancy; o != nil && o.Starts() > 0 {
		text += fmt.Sprintf("; occupancy.json still knows %s on %s", count(o.Starts(), "wave"), count(int64(len(o.Engines)), "shader engine"))
	}
	return says("%s", text)
}

// executed fires when a kernel has code and none of it ran.
func executed(s *subject, _ rule.Values) []rule.Hit {
	code := s.code(s.k)
	if s.tt.Flavour == trace.Samples || slices.ContainsFunc(code, func(in trace.Instruction) bool { return in.Hits > 0 }) {
		return nil
	}
	return says("none of the kernel's %d instructions was executed by a traced wave", len(code))
}

// impossible fires when a kernel stalls longer than its instructions took:
// stall is a part of latency.
func impossible(s *subject, _ rule.Values) []rule.Hit {
	all := counts(s.code(s.k))
	if all.StallCycles <= all.LatencyCycles {
		return nil
	}
	return says("%d stall cycles are more than the %d cycles of latency that they are a part of", all.StallCycles, all.LatencyCycles)
}

// coverage fires when the traced waves did not do the kernel's work: stores,
// atomics and matrix instructions. Which loops they went through tells only of
// code without any of these: a branch may jump over a loop of no trips to what
// stands behind it.
func coverage(s *subject, _ rule.Values) []rule.Hit {
	cov := s.listing.Coverage(s.tt, s.k)
	if s.tt.Flavour == trace.Samples || cov.Executed == 0 {
		return nil
	}
	limit := s.p.Param("coverage_pct")
	pct := cov.ExecutedPct()
	why, e := "", finding.Evidence{Metric: "executed stores, atomics and matrix instructions", Value: float64(cov.WorkExecuted), Unit: "instructions", Source: "code.json Hit"}
	switch {
	case cov.WorkStatic > 0 && cov.WorkExecuted == 0:
		why = fmt.Sprintf("none of the kernel's %d stores, atomics and matrix instructions was executed", cov.WorkStatic)
	case cov.MFMAStatic > 0 && cov.MFMAExecuted == 0:
		why = fmt.Sprintf("none of the %d matrix instructions was executed", cov.MFMAStatic)
	case cov.WorkStatic > 0:
		return nil
	case pct < limit:
		why = fmt.Sprintf("only %.1f %% of the code was executed (%d of %d instructions)", pct, cov.Executed, cov.Total)
		e = finding.Evidence{Metric: "executed instructions", Value: pct, Unit: "%", Threshold: &limit, Source: "code.json Hit"}
	case !s.reachesLoop(s.tt.Kernels[s.k]):
		why = "every wave ended before the first loop"
	default:
		return nil
	}
	h := rule.Hit{Text: why + ": the traced waves left early, the ranking does not show the kernel's work", Evidence: []finding.Evidence{e}}
	if l := lives(s.tt, s.replay); l != nil {
		s.out.Others = l
		h.Text += "; " + l.text()
		h.Fix = l.fix()
	}
	return []rule.Hit{h}
}

// reachesLoop reports whether the kernel has no loop, or some instruction of
// some loop was executed.
func (s *subject) reachesLoop(kn trace.Kernel) bool {
	loops := false
	for row := kn.First; row < kn.Last; row++ {
		head, ok := s.listing.LoopHead(s.tt, kn, row)
		if !ok {
			continue
		}
		loops = true
		for i := head; i <= row; i++ {
			if s.tt.Code[i].Hits > 0 {
				return true
			}
		}
	}
	return !loops
}

// fewWaves fires when there are too few waves to generalise from.
func fewWaves(s *subject, _ rule.Values) []rule.Hit {
	if !s.replay.HasWaves {
		return nil
	}
	limit := s.p.Param("few_waves")
	waves := s.replay.Kernels[s.k].Waves
	working := waves[replay.Working]
	if working == 0 && waves[replay.NoWork] == 0 {
		return nil // a function that no wave starts in
	}
	why := ""
	switch {
	case float64(working) < limit:
		why = fmt.Sprintf("only %s traced", count(int64(working), "working wave"))
	case len(s.replay.SIMDs) == 1 && s.p.Capture.Trace(s.tt).IsGFX9():
		why = "all traced waves ran on one SIMD"
	default:
		return nil
	}
	return []rule.Hit{{
		Text:     why + ": what they waited for may not be typical",
		Evidence: []finding.Evidence{{Metric: "working waves", Value: float64(working), Unit: "waves", Threshold: &limit, Source: "wave files"}},
	}}
}

// noWork tells how many waves were split off.
func noWork(s *subject, _ rule.Values) []rule.Hit {
	if !s.replay.HasWaves {
		return nil
	}
	n := s.replay.Kernels[s.k].Waves
	if n[replay.NoWork] == 0 {
		return nil
	}
	kn := s.tt.Kernels[s.k]
	var idle int64
	for row := kn.First; row < kn.Last; row++ {
		idle += s.replay.Counts[replay.NoWork][row].StallCycles
	}
	share := pct(idle, counts(s.code(s.k)).StallCycles)
	kept := "left out of every breakdown (--all-waves keeps them)"
	if s.stalls.AllWaves {
		kept = "kept in, as asked"
	}
	h := rule.Hit{
		Text: fmt.Sprintf("%d of %d waves did no work and hold %.1f %% of the stall; %s",
			n[replay.NoWork], n[replay.NoWork]+n[replay.Working], share, kept),
		Evidence: []finding.Evidence{
			{Metric: "no-work waves", Value: float64(n[replay.NoWork]), Unit: "waves", Source: "wave files"},
			{Metric: "their share of stall cycles", Value: share, Unit: "%", Source: "wave files, code.json Stall"},
		},
	}
	if share >= s.p.Param("no_work_stall_pct") {
		h.Severity, h.Fix = new(finding.Low), "launch fewer workgroups, or give the idle ones work"
	}
	return []rule.Hit{h}
}

// noSource fires when there are no source lines at all.
func noSource(s *subject, _ rule.Values) []rule.Hit {
	if l := s.out.Lines; l.Total == 0 || l.Mapped > 0 {
		return nil
	}
	return says("no instruction has a source position: source lines are not ranked")
}

// collapsed fires when source lines cannot be told apart.
func collapsed(s *subject, _ rule.Values) []rule.Hit {
	l, limit := s.out.Lines, s.p.Param("line_collapse_pct")
	if !l.Collapsed {
		return nil
	}
	return []rule.Hit{{
		Text:     fmt.Sprintf("%s holds %.1f %% of the instructions: source lines are ranked on request only", l.Top, l.TopPct),
		Evidence: []finding.Evidence{{Metric: "instructions on one source line", Value: l.TopPct, Unit: "%", Threshold: &limit, Source: "code.json Source"}},
	}}
}

// damaged fires when a part of the capture could not be read.
func damaged(s *subject, _ rule.Values) []rule.Hit {
	var texts []string
	for _, n := range s.p.Trace.Notes {
		if file, ok := n.Inside(s.tt.Path); ok && n.Level == trace.Damage {
			n.File = file
			texts = append(texts, n.Where()+": "+n.Text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	more := ""
	if len(texts) > 3 {
		more = fmt.Sprintf("; and %d more", len(texts)-3)
		texts = texts[:3]
	}
	return says("parts of the capture could not be read, the results are partial: %s%s", strings.Join(texts, "; "), more)
}

// totals fires when the waves do not add up to code.json.
func totals(s *subject, _ rule.Values) []rule.Hit {
	m := s.replay.Mismatch
	if !s.replay.HasWaves || (m.Rows == 0 && s.replay.Unmatched == 0) {
		return nil
	}
	all := counts(s.tt.Code)
	return []rule.Hit{{
		Text: fmt.Sprintf("the waves do not add up to code.json: %d instructions differ, %d of %d hits and %d of %d stall cycles are not in the wave files, %d records have no instruction",
			m.Rows, m.Missing.Hits, all.Hits, m.Missing.StallCycles, all.StallCycles, s.replay.Unmatched),
		Evidence: []finding.Evidence{{Metric: "instructions that differ", Value: float64(m.Rows), Unit: "instructions", Source: "wave files, code.json"}},
	}}
}

// statsTable fires when the stats CSV beside the directory has other sums
// than code.json: one of the two is from another run, or cut.
func statsTable(s *subject, _ rule.Values) []rule.Hit {
	if s.tt.Stats == nil || len(s.tt.Code) == 0 || s.tt.Flavour == trace.Samples {
		return nil
	}
	all := counts(s.tt.Code)
	if s.tt.Stats.Counts == all {
		return nil
	}
	return says("%s sums to %d hits and %d stall cycles, code.json to %d and %d: they are not of the same trace",
		s.tt.Stats.File, s.tt.Stats.Hits, s.tt.Stats.StallCycles, all.Hits, all.StallCycles)
}

// lostWaves compares the waves that started on the traced compute units with
// the wave files.
func lostWaves(s *subject, _ rule.Values) []rule.Hit {
	read, started := s.started()
	if started <= read {
		return nil
	}
	lost := 100 * float64(started-read) / float64(started)
	return []rule.Hit{{
		Text:     fmt.Sprintf("%d waves started on the traced compute units, %d have a wave file: %.1f %% were lost", started, read, lost),
		Evidence: []finding.Evidence{{Metric: "waves without a file", Value: lost, Unit: "%", Source: "occupancy.json, wave files"}},
	}}
}

// started counts the waves that started on the traced compute units, and of
// them those that were read; 0 of 0 where that cannot be told: gfx10 and later
// trace one SIMD of the unit.
func (s *subject) started() (read, started int64) {
	if !s.replay.HasWaves || s.tt.Occupancy == nil || !s.p.Capture.Trace(s.tt).IsGFX9() {
		return 0, 0
	}
	files := map[cu]int64{}
	for _, x := range s.replay.SIMDs {
		files[cu{x.SE, x.CU}] += int64(x.Waves)
	}
	for _, e := range s.tt.Occupancy.Engines {
		for _, u := range e.CUs {
			if n, ok := files[cu{e.SE, u.CU}]; ok {
				read += n
				started += u.Starts
			}
		}
	}
	return read, started
}

// lost is Judgement.Lost.
func (s *subject) lost() float64 {
	if !s.replay.HasWaves {
		return 0
	}
	r := s.replay.Report
	missing := int64(r.Missing + r.Damaged)
	read, started := s.started()
	return max(share(missing, missing+int64(r.Read)), share(started-read, started), share(s.replay.Mismatch.Missing.Hits, counts(s.tt.Code).Hits))
}

// share is a part of a whole as 0 to 1.
func share(part, whole int64) float64 {
	if part <= 0 || whole <= 0 {
		return 0
	}
	return min(float64(part)/float64(whole), 1)
}

// edges fires when the decoder's own wait lists contradict the rebuilt ones.
func edges(s *subject, _ rule.Values) []rule.Hit {
	if s.replay.EdgesDiffer == 0 {
		return nil
	}
	return says("in %d of %d waves the decoder's wait lists differ from those rebuilt from the instructions", s.replay.EdgesDiffer, s.replay.EdgeWaves)
}

// unknown counts the instructions that this version does not know, and names
// the first.
func (s *subject) unknown() (n int, first string) {
	for i := range s.listing.Insts {
		if s.listing.Insts[i].Class == isa.Unknown {
			if n == 0 {
				first = s.listing.Insts[i].Mnemonic
			}
			n++
		}
	}
	return n, first
}

// conflict, unknownInstructions and open fire when it is not known which
// instructions these are; the first that holds says it.
func conflict(s *subject, _ rule.Values) []rule.Hit {
	if s.listing.Arch.Conflict == "" {
		return nil
	}
	return says("%s", s.listing.Arch.Conflict)
}

func unknownInstructions(s *subject, _ rule.Values) []rule.Hit {
	n, first := s.unknown()
	if n == 0 || s.listing.Arch.Conflict != "" {
		return nil
	}
	return says("%d of %d instructions are not known to this version (first: %s) and count as \"other\"", n, len(s.listing.Insts), first)
}

func open(s *subject, _ rule.Values) []rule.Hit {
	a := s.listing.Arch
	if n, _ := s.unknown(); a.Conflict != "" || n > 0 || a.Target != "" || len(a.Candidates) < 2 {
		return nil
	}
	return says("the trace does not say which architecture this is (by its instructions %s); figures that differ between them are left out", a)
}

// estimated fires when there are no waves to tell producers from.
func estimated(s *subject, _ rule.Values) []rule.Hit {
	if s.replay.HasWaves || len(s.tt.Code) == 0 || s.tt.Flavour == trace.Samples {
		return nil
	}
	without := "there are no wave files"
	if s.tt.StatsOnly {
		without = "this is the table of a thread trace, without the directory that it belongs to"
	}
	return says("%s: what waits waited for is estimated from the code, and waves, issue and matrix utilisation are not known", without)
}

// cyclesOnly fires where the stall of what is no wait was not counted.
func cyclesOnly(s *subject, _ rule.Values) []rule.Hit {
	if !s.tt.CyclesOnly {
		return nil
	}
	return says("written by rocprofv2, which counts executions and cycles: the cycles of waits count as stall, those of all other instructions as issue")
}

// doubtful fires when the launch beside the trace is of another dispatch or
// kernel.
func doubtful(s *subject, _ rule.Values) []rule.Hit {
	if s.row == nil {
		return nil
	}
	return says("%s, row %d: %s", s.row.Origin.File, s.row.Origin.Row, s.why)
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
