package loops

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// needsTrace is the evidence that all rules need, as in the verdict's list of
// what is missing.
const needsTrace = "thread_trace"

// The documents that rules come from.
const (
	guide = "FlyDSL kernel tuning guide"
	gemm  = "FlyDSL GEMM optimization guide"
)

// The thresholds of the instruction mix of a loop.
const (
	mfmaGood   = "matrix_share_of_loop.good_pct"
	mfmaLow    = "matrix_share_of_loop.poor_pct"
	memoryGood = "memory_share_of_loop.good_pct"
	memoryMost = "memory_share_of_loop.most_pct"
)

// subject is one kernel with all of its waits and hazards, of which the result
// keeps the first.
type subject struct {
	*builder
	shape      rule.Shape
	k          *Kernel
	prefetches []Prefetch
	hazards    []Hazard
}

// Shape is what the kernel does.
func (s *subject) Shape() rule.Shape { return s.shape }

func exposedShare() []rule.Param {
	return []rule.Param{{Name: "share_pct", Default: 5, Unit: "%", Doc: "share of the kernel's exposed cycles from which it is worth a finding"}}
}

// checks are the rules on one kernel's loops.
func checks() []rule.Check[*subject] {
	return []rule.Check[*subject]{
		{
			Rule: rule.Rule{
				ID: "late_prefetch", Title: "Operations issued too shortly before their wait", Kind: rule.Waits, Severity: finding.Low, Needs: needsTrace,
				Fires:  "a wait holds at least {share_pct} % of the kernel's exposed cycles, and what it waits for is issued fewer cycles ahead of it than it takes; waits for loads that absorb each other are one finding",
				Fix:    "issue what is waited for earlier, by the cycles or matrix instructions that are missing",
				Source: guide + ", section 4 (prefetch); " + gemm + ", sections 4 and 8.4",
				Params: exposedShare(),
			},
			When: late,
		},
		{
			Rule: rule.Rule{
				ID: "matrix_result_read_early", Title: "Matrix results read before they are there", Kind: rule.Waits, Severity: finding.Low, Needs: needsTrace,
				Fires:  "an instruction that reads a matrix result too soon, with the s_nop before it, holds at least {share_pct} % of the kernel's exposed cycles",
				Fix:    "put independent instructions between the matrix instruction and the reader",
				Source: "AMD Instinct MI300 ISA reference guide, section 4.5",
				Params: exposedShare(),
			},
			When: early,
		},
		{
			Rule: rule.Rule{
				ID: "matrix_share_of_loop", Title: "Few matrix instructions in the matrix loop", Kind: rule.Matrix, Severity: finding.Low, Needs: needsTrace,
				Because: "low, medium where instructions alone issue in at least {medium_pct} % of the SIMDs' time, or where that is not known: how many of them can be cut is not known, so that there is no bound",
				Fires: "less than {good_pct} % of the instructions that the loop with the most matrix work executes are matrix instructions, and its matrix pipe is busy for less than {covered_pct} % of the loop's time and other instructions alone issue in at least {share_pct} % of the SIMDs' time, where that is known; " +
					"where it is not, low, and medium below {poor_pct} %",
				Advice: []rule.Advice{
					{Text: "cut in the loop what is no matrix work: address arithmetic (precomputed offsets), conversions, guards, multiplications and additions that are not fused; rocanalyze idioms lists what is repeated"},
					{When: rule.LDSReads, Text: "wider LDS reads"},
					{When: rule.GEMM, Text: "larger tiles per wave: more matrix work for each fragment"},
				},
				Source: guide + ", section 11; " + gemm + ", sections 9.3 and 13",
				Params: []rule.Param{
					{Name: "good_pct", Default: 40, Unit: "%", Doc: "share of executed instructions from which a loop is dominated by compute"},
					{Name: "poor_pct", Default: 30, Unit: "%", Doc: "share below which there is too much beside them"},
					{Name: "covered_pct", Default: 70, Unit: "%", Doc: "share of the loop's time with the matrix pipe busy from which what is beside it is hidden"},
					{Name: "medium_pct", Default: 20, Unit: "%", Doc: "share of the SIMDs' time from which instructions alone make it medium"},
					{Name: "share_pct", Default: 5, Unit: "%", Doc: "share of the SIMDs' time that instructions beside the matrix pipe's work take, from which it is worth a finding"},
				},
			},
			When: matrixShare,
		},
		{
			Rule: rule.Rule{
				ID: "memory_share_of_loop", Title: "Mostly memory instructions in the matrix loop", Kind: rule.Matrix, Severity: finding.Low, Needs: needsTrace,
				Fires: "more than {most_pct} % of the instructions of the loop with the most matrix work access memory or LDS",
				Advice: []rule.Advice{
					{Text: "wider accesses, or more reuse of fragments in registers"},
					{When: rule.GEMM, Text: "larger tiles per wave"},
				},
				Source: gemm + ", section 9.3",
				Params: []rule.Param{
					{Name: "good_pct", Default: 40, Unit: "%", Doc: "share of executed instructions below which they overlap well"},
					{Name: "most_pct", Default: 50, Unit: "%", Doc: "share above which memory dominates"},
				},
			},
			When: memoryShare,
		},
	}
}

// bound is what some exposed cycles are of the SIMDs' time, when their share of
// all exposed cycles is large enough to tell.
func (s *subject) bound(cost *float64, share float64) (*finding.Bound, bool) {
	t := s.k.SIMD
	if cost == nil || t == nil || t.Exposed <= 0 || 100**cost/float64(t.Exposed) < share {
		return nil, false
	}
	return &finding.Bound{Pct: 100 * *cost / float64(t.Total), Of: exposed.SIMDTimeName}, true
}

// late finds waits whose operations are issued too late: what is missing is what
// an earlier issue could save. Waits for loads that absorb each other are one
// finding, as none of them saves anything alone.
func late(s *subject, values rule.Values) []rule.Hit {
	var out []rule.Hit
	told := map[int]bool{}
	for i := range s.prefetches {
		stage := s.stalls.StageOf(s.prefetches[i].row)
		if told[stage] {
			continue
		}
		h, ok := s.lateAlone(&s.prefetches[i], values("share_pct"))
		if stage >= 0 {
			told[stage] = true
			h, ok = s.lateStage(stage, values("share_pct"))
		}
		if ok {
			out = append(out, h)
		}
	}
	return out
}

// prefetched are the stalls of operations that a wave can issue ahead of their
// use. Fences, atomics and flags wait for others.
var prefetched = []stalls.Class{
	stalls.VMEMWait, stalls.VMEMToLDSWait, stalls.LDSWait, stalls.CrossLaneWait, stalls.SMEMWait, stalls.LGKMWait,
}

// movable reports whether what a wait waits for could be issued earlier: it is
// data, not prefetched already, and in a loop or with time of the wave before
// it. Scalar loads at the start of a kernel wait for nothing but its arguments.
func (s *subject) movable(p *Prefetch) bool {
	if !slices.Contains(prefetched, p.Class) || s.k.Need(p.row) == NeedsOlder {
		return false
	}
	return p.LoopID != nil || s.timeBefore(p.row) >= *p.EarlierCycles
}

// timeBefore is the time that a wave spends before the oldest of what a wait
// outside of loops waits for, in instructions that are executed once.
func (s *subject) timeBefore(row int) int64 {
	site := s.replay.Site(row, s.stalls.AllWaves)
	if site == nil || len(site.Producers) == 0 {
		return 0
	}
	n, sum := s.stalls.Rows[row].Hits, int64(0)
	for at := s.kernel.First; at < site.Producers[0].Row; at++ {
		if c := &s.stalls.Rows[at].Counts; c.Hits == n && s.flow.Innermost[at] < 0 {
			sum += c.LatencyCycles + c.IdleCycles
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// lateAlone is the finding on one wait.
func (s *subject) lateAlone(p *Prefetch, share float64) (rule.Hit, bool) {
	b, ok := s.bound(p.ExposedCycles, share)
	if !ok || p.EarlierCycles == nil || !s.movable(p) {
		return rule.Hit{}, false
	}
	h := rule.Hit{
		Text: fmt.Sprintf("what %s waits for is issued %.0f cycles before it and takes %d (median of the executions that wait)",
			p.Text, p.AheadCycles, *p.LatencyMedian),
		Fix: "issue it " + earlierText(*p.EarlierCycles, p.EarlierMFMAs), Bound: b, Saves: []finding.Saving{{Row: p.row}},
		Evidence: []finding.Evidence{
			{Metric: "distance", Value: p.AheadCycles, Unit: "cycles", Source: "wave files"},
			{Metric: "latency, median", Value: float64(*p.LatencyMedian), Unit: "cycles", Source: "wave files"},
			{Metric: "exposed", Value: *p.ExposedCycles, Unit: "cycles", Source: "wave files"},
		},
	}
	return s.atWait(h, p.row), true
}

// lateStage is the finding on waits that absorb each other. Its place is the one
// that costs most; the stall of all of them in one pass is what their loads
// would have to be moved by.
func (s *subject) lateStage(first int, share float64) (rule.Hit, bool) {
	h := rule.Hit{}
	var exposed, pass, most float64
	var lines []string
	at, isLate := first, false
	for _, row := range s.stalls.Stage(first) {
		r := &s.stalls.Rows[row]
		x := s.split.Row(row, s.stalls.AllWaves).Stall
		if x > most {
			at, most = row, x
		}
		exposed += x
		pass += float64(r.StallCycles) / float64(max(r.Hits, 1))
		lines = append(lines, strconv.Itoa(s.tt.Code[row].Line))
		h.Saves = append(h.Saves, finding.Saving{Row: row})
		isLate = isLate || slices.ContainsFunc(s.prefetches, func(p Prefetch) bool { return p.row == row && p.EarlierCycles != nil && s.movable(&p) })
	}
	b, ok := s.bound(s.known(exposed), share)
	if !ok || !isLate {
		return rule.Hit{}, false
	}
	cycles := int64(math.Round(pass))
	var loop *int
	if i := slices.IndexFunc(s.prefetches, func(p Prefetch) bool { return p.row == at }); i >= 0 {
		loop = s.prefetches[i].LoopID
	}
	h.Bound = b
	h.Text = fmt.Sprintf("the waits of lines %s are one stage: the loads of the next are under way while one waits. They stall %d cycles in one pass, and moving the loads of one alone moves its stall to the next", listOf(lines), cycles)
	h.Fix = "issue the loads of all of them " + earlierText(cycles, mfmasFor(cycles, loop, s.k.Loops))
	h.Evidence = []finding.Evidence{
		{Metric: "stall of the stage in one pass", Value: pass, Unit: "cycles", Source: "wave files"},
		{Metric: "exposed", Value: thousandth(exposed), Unit: "cycles", Source: "wave files"},
	}
	return s.atWait(h, at), true
}

// maxListed is how many lines of a stage are named.
const maxListed = 6

func listOf(lines []string) string {
	if n := len(lines); n > maxListed {
		return fmt.Sprintf("%s and %d more", strings.Join(lines[:maxListed-1], ", "), n-maxListed+1)
	}
	return strings.Join(lines, ", ")
}

func earlierText(cycles int64, mfmas *int64) string {
	switch {
	case mfmas == nil:
		return fmt.Sprintf("%d cycles earlier", cycles)
	case *mfmas == 1:
		return fmt.Sprintf("1 MFMA earlier (%d cycles)", cycles)
	}
	return fmt.Sprintf("%d MFMAs earlier (%d cycles)", *mfmas, cycles)
}

// atWait gives a hit the place and the kind of a wait.
func (s *subject) atWait(h rule.Hit, row int) rule.Hit {
	if slices.ContainsFunc(s.insts[row].Waits, isMemoryCounter) {
		h.Kind = rule.MemoryWaits
	}
	h.Place, h.Where = s.flow.Place(s.tt, row)
	return h
}

// isMemoryCounter reports whether a wait is on vector memory.
func isMemoryCounter(w isa.Wait) bool {
	return w.Counter == isa.Vmcnt || w.Counter == isa.Loadcnt || w.Counter == isa.Vscnt || w.Counter == isa.Storecnt
}

func early(s *subject, values rule.Values) []rule.Hit {
	var out []rule.Hit
	for i := range s.hazards {
		x := &s.hazards[i]
		b, ok := s.bound(x.ExposedCycles, values("share_pct"))
		if !ok {
			continue
		}
		h := rule.Hit{
			Text: fmt.Sprintf("%s reads the result of the matrix instruction at line %d after %d cycles, which takes %d",
				x.Text, x.ProducerLine, x.DistanceCycles, x.NeededCycles),
			Fix:   fmt.Sprintf("put %d cycles of independent instructions in between", x.NeededCycles-x.DistanceCycles),
			Bound: b, Saves: x.saves,
			Evidence: []finding.Evidence{
				{Metric: "distance", Value: float64(x.DistanceCycles), Unit: "cycles", Source: "code"},
				{Metric: "exposed", Value: *x.ExposedCycles, Unit: "cycles", Source: "wave files"},
			},
		}
		h.Place, h.Where = s.flow.Place(s.tt, x.row)
		out = append(out, h)
	}
	return out
}

// matrixLoop is the loop that executes the most matrix instructions, of loops
// inside each other the innermost that has any.
func (s *subject) matrixLoop() *Loop {
	var most *Loop
	for i := range s.k.Loops {
		l := &s.k.Loops[i]
		outer := slices.ContainsFunc(s.k.Loops, func(in Loop) bool { return in.Parent != nil && *in.Parent == l.ID && in.Ratios != nil })
		if l.Ratios == nil || outer {
			continue
		}
		if most == nil || l.matrixHits() > most.matrixHits() || l.matrixHits() == most.matrixHits() && l.ID < most.ID {
			most = l
		}
	}
	return most
}

func (l *Loop) matrixHits() float64 { return l.PerIteration.MFMAs * float64(l.Iterations) }

func matrixShare(s *subject, values rule.Values) []rule.Hit {
	l, good := s.matrixLoop(), values("good_pct")
	// What could be known and was not asked for is left to who asks.
	if s.replay.HasWaves && s.replay.NoCycles {
		return nil
	}
	if l == nil || l.Ratios.MFMAPct >= good || l.Matrix != nil && l.Matrix.BusyPct >= values("covered_pct") {
		return nil
	}
	h := s.mixHit(l, "matrix instructions of the executed ones", l.Ratios.MFMAPct, good)
	h.Text = fmt.Sprintf("%.1f %% of what loop %d executes are matrix instructions, %.1f %% access memory or LDS", l.Ratios.MFMAPct, l.ID, l.Ratios.MemoryPct)
	if i := slices.IndexFunc(l.Mix, func(m Mix) bool { return m.Kind == isa.VALU.String() }); i >= 0 {
		h.Text += fmt.Sprintf(", %.1f %% are other vector instructions", l.Mix[i].Pct)
	}
	switch c := l.Matrix; {
	case c != nil && s.k.SIMD != nil && s.k.SIMD.Total > 0:
		// What cutting instructions saves is at most the time in which they
		// issue and the pipe is idle.
		alone := 100 * float64(c.GapIssuing) / float64(s.k.SIMD.Total)
		h.Minor = alone < values("share_pct")
		if alone >= values("medium_pct") {
			h.Severity = new(finding.Medium)
		}
		h.Evidence = append(h.Evidence, finding.Evidence{Metric: "instructions beside an idle matrix pipe", Value: alone, Unit: "% of " + exposed.SIMDTimeName, Source: "wave files"})
		h.Text += fmt.Sprintf("; it takes %.1f cycles per matrix instruction where the pipe needs %.1f: the pipe is busy for %.0f %% of the loop's time, other instructions alone issue in %.0f %%",
			c.CyclesPerMFMA, c.FloorCycles, c.BusyPct, 100*float64(c.GapIssuing)/float64(c.SIMDCycles))
	case l.Ratios.MFMAPct < values("poor_pct"):
		h.Severity = new(finding.Medium)
	}
	return []rule.Hit{h}
}

func memoryShare(s *subject, values rule.Values) []rule.Hit {
	l, most := s.matrixLoop(), values("most_pct")
	if l == nil || l.Ratios.MemoryPct <= most || l.Matrix != nil && l.Matrix.BusyPct >= values("matrix_share_of_loop.covered_pct") {
		return nil
	}
	h := s.mixHit(l, "memory and LDS instructions of the executed ones", l.Ratios.MemoryPct, most)
	h.Text = fmt.Sprintf("%.1f %% of what loop %d executes access memory or LDS", l.Ratios.MemoryPct, l.ID)
	return []rule.Hit{h}
}

func (s *subject) mixHit(l *Loop, metric string, pct, limit float64) rule.Hit {
	h := rule.Hit{Evidence: []finding.Evidence{{Metric: metric, Value: pct, Unit: "%", Threshold: &limit, Source: "code.json, wave files"}}}
	h.Place, h.Where = s.flow.LoopPlace(s.tt, l.at)
	return h
}
