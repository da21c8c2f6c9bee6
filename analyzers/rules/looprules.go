package rules

import (
	"fmt"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/loops"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

var loadWaits = []stalls.Class{stalls.VMEMWait, stalls.VMEMToLDSWait}

// loopRules look at loops.
func loopRules() []rule.Check[*subject] {
	return []rule.Check[*subject]{
		{Rule: rule.Rule{
			ID: "vmem_drain_in_loop", Title: "Full drain of loads inside a loop", Kind: rule.MemoryWaits, Severity: finding.Low, Needs: needsTrace,
			Fires:  "waits for all loads (vmcnt(0), loadcnt 0) inside a loop take at least {share_pct} % of wave cycles, and what is used behind them is not the youngest of these loads",
			Fix:    "wait for the loads that are needed, vmcnt(N), and leave those of the next iteration in flight",
			Source: guide + ", sections 0 and 9; " + gemm + ", section 8.4",
			Params: sharePct(5, "share of wave cycles from which it is worth a finding"),
			Advice: []rule.Advice{
				{When: rule.Copies, Text: "where LDS is read behind the wait the other buffer is being read: alias information (alias scopes) lets the compiler keep vmcnt(N) instead of draining before each read of LDS"},
			},
		}, When: stallCheck("vmem_drain_in_loop", loadWaits, (*subject).drains)},
		{Rule: rule.Rule{
			ID: "no_double_buffer", Title: "Loads that no matrix work overlaps", Kind: rule.MemoryWaits, Severity: finding.Low, Needs: needsTrace,
			Fires: "inside a loop with matrix work, waits for loads that were issued in the same iteration, are used right behind the wait, and that no matrix instruction stands behind take at least {share_pct} % of wave cycles",
			Advice: []rule.Advice{
				{Text: "double-buffer: load what the next iteration needs before computing this one; not where a second buffer would spill"},
				{When: rule.GEMM | rule.LDSWrites, Text: "lds_stage=2 does that in LDS"},
			},
			Source: guide + ", sections 2, 4 and 11; " + gemm + ", sections 2 and 13",
			Params: sharePct(5, "share of wave cycles from which it is worth a finding"),
		}, When: stallCheck("no_double_buffer", loadWaits, (*subject).sameIteration)},
		{Rule: rule.Rule{
			ID: "scalar_load_in_loop", Title: "Scalar loads inside a loop", Kind: rule.Waits, Severity: finding.Low, Needs: needsTrace,
			Fires:  "a loop that was executed holds s_load or s_buffer_load instructions",
			Fix:    "hoist them in front of the loop, or batch them; descriptors and kernel arguments do not change",
			Source: guide + ", section 7 (scalar registers); LLVM AMDGPUUsage",
		}, When: scalarLoads},
	}
}

// drains reports whether a row waits, inside a loop, for all loads, and need
// not wait for the youngest.
func (s *subject) drains(row int) bool {
	if n := s.need(row); s.loop(row) < 0 || n != loops.NeedsBatch && n != loops.NeedsOlder {
		return false
	}
	return slices.ContainsFunc(s.insts[row].Waits, func(w isa.Wait) bool {
		return w.Count == 0 && (w.Counter == isa.Vmcnt || w.Counter == isa.Loadcnt)
	})
}

// need says what a wait on loads is for.
func (s *subject) need(row int) loops.Need {
	if k := loops.Analyzer.Of(s.p).Kernel(s.tt, s.m.Kernel); k != nil {
		return k.Need(row)
	}
	return loops.NeedUnknown
}

// sameIteration reports whether a row waits, inside a loop with matrix work,
// most often for loads that stand before it in the same loop, with no matrix
// instruction between.
func (s *subject) sameIteration(row int) bool {
	l := s.loop(row)
	site := s.replay.Site(row, s.stalls.AllWaves)
	if n := s.need(row); l < 0 || site == nil || !s.hasMatrix(l) || n == loops.NeedsOlder || n == loops.NeedUnknown {
		return false
	}
	var same, other int64
	for _, p := range site.Producers {
		switch {
		case p.Class != replay.VMEM && p.Class != replay.VMEMToLDS:
		case s.loop(p.Row) == l && p.Row < row && !slices.ContainsFunc(s.insts[p.Row:row], isMatrix):
			same += p.Count
		default:
			other += p.Count
		}
	}
	return same > other
}

func isMatrix(in isa.Inst) bool { return in.Class == isa.MFMA }

// hasMatrix reports whether a loop holds matrix instructions.
func (s *subject) hasMatrix(l int) bool {
	first, last := s.flow.Rows(l)
	return slices.ContainsFunc(s.insts[first:last+1], isMatrix)
}

// scalarLoads counts scalar loads in executed loops; the bound is the waiting
// for scalar loads there.
func scalarLoads(s *subject, _ rule.Values) []rule.Hit {
	first, n := -1, 0
	var executed int64
	var c cost
	for row := range s.rows {
		if s.loop(row) < 0 {
			continue
		}
		c.add(s.stallOf(row, []stalls.Class{stalls.SMEMWait, stalls.SMEMIssue}))
		if s.insts[row].Class != isa.SMEM || s.tt.Code[row].Hits == 0 || s.insts[row].BytesPerWave == 0 {
			continue
		}
		if first < 0 {
			first = row
		}
		n++
		executed += s.stalls.Rows[row].Hits
	}
	if n == 0 {
		return nil
	}
	h := s.costHit("scalar_load_in_loop", c, 0)
	h.Place, h.Where = s.place(first)
	h.Text = fmt.Sprintf("%d scalar loads inside loops, executed %d times; waiting for scalar loads there takes %.1f %% of wave cycles", n, executed, s.share(c))
	return []rule.Hit{h}
}

func percent(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
