package advice

import (
	"fmt"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
)

var loadWaits = []stalls.Class{stalls.VMEMWait, stalls.VMEMToLDSWait}

// loopRules look at loops.
func loopRules() []Rule {
	return []Rule{
		{
			ID: "vmem_drain_in_loop", Title: "Full drain of loads inside a loop", Kind: MemoryWaits, Severity: finding.Low, Needs: regime.MissingTrace,
			Fires:  "waits for all loads (vmcnt(0), loadcnt 0) inside a loop take at least 5 % of wave cycles",
			Fix:    "wait for the loads that are needed, vmcnt(N), and leave those of the next iteration in flight",
			Source: guide + ", sections 0 and 9; " + gemm + ", section 8.4",
			Params: sharePct(5, "share of wave cycles from which it is worth a finding"),
			check:  func(s *subject, r *Rule) []hit { return s.stallCheck(r, loadWaits, s.drains) },
		},
		{
			ID: "no_double_buffer", Title: "Loads that no matrix work overlaps", Kind: MemoryWaits, Severity: finding.Low, Needs: regime.MissingTrace,
			Fires:  "inside a loop with matrix work, waits for loads that were issued in the same iteration and that no matrix instruction stands behind take at least 5 % of wave cycles",
			Fix:    "double-buffer (lds_stage=2): load the tile of the next iteration before computing this one; not where a second buffer would spill",
			Source: guide + ", sections 2, 4 and 11; " + gemm + ", sections 2 and 13",
			Params: sharePct(5, "share of wave cycles from which it is worth a finding"),
			check:  func(s *subject, r *Rule) []hit { return s.stallCheck(r, loadWaits, s.sameIteration) },
		},
		{
			ID: "scalar_load_in_loop", Title: "Scalar loads inside a loop", Kind: Waits, Severity: finding.Low, Needs: regime.MissingTrace,
			Fires:  "a loop that was executed holds s_load or s_buffer_load instructions",
			Fix:    "hoist them in front of the loop, or batch them; descriptors and kernel arguments do not change",
			Source: guide + ", section 7 (scalar registers); LLVM AMDGPUUsage",
			check:  scalarLoads,
		},
		{
			ID: "matrix_share_of_loop", Title: "Few matrix instructions in the matrix loop", Kind: Matrix, Severity: finding.Low, Needs: regime.MissingTrace,
			Fires:  "less than 40 % of the instructions that the hottest loop with matrix work executes are matrix instructions; below 30 % it is more urgent",
			Fix:    "cut address arithmetic, conversions and waits in the loop: larger tiles per wave, wider LDS reads and loads, precomputed offsets",
			Source: guide + ", section 11; " + gemm + ", sections 9.3 and 13",
			Params: []analysis.Param{
				{Name: "good_pct", Default: 40, Unit: "%", Doc: "share of executed instructions from which a loop is good"},
				{Name: "poor_pct", Default: 30, Unit: "%", Doc: "share below which the overhead is too large"},
			},
			check: matrixShare,
		},
		{
			ID: "memory_share_of_loop", Title: "Mostly memory instructions in the matrix loop", Kind: Matrix, Severity: finding.Low, Needs: regime.MissingTrace,
			Fires:  "more than 50 % of the instructions of the hottest loop with matrix work access memory or LDS",
			Fix:    "larger tile_k, wider accesses, or more reuse of fragments in registers",
			Source: gemm + ", section 9.3",
			Params: []analysis.Param{{Name: "most_pct", Default: 50, Unit: "%", Doc: "share of executed instructions above which memory dominates"}},
			check:  memoryShare,
		},
	}
}

// drains reports whether a row waits, inside a loop, for all loads.
func (s *subject) drains(row int) bool {
	if s.loop(row) < 0 {
		return false
	}
	return slices.ContainsFunc(s.insts[row].Waits, func(w isa.Wait) bool {
		return w.Count == 0 && (w.Counter == isa.Vmcnt || w.Counter == isa.Loadcnt)
	})
}

// sameIteration reports whether a row waits, inside a loop with matrix work,
// most often for loads that stand before it in the same loop, with no matrix
// instruction between.
func (s *subject) sameIteration(row int) bool {
	l := s.loop(row)
	site := s.replay.Site(row, s.stalls.AllWaves)
	if l < 0 || site == nil || !s.hasMatrix(l) {
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
	first, last := s.loopRows(l)
	return slices.ContainsFunc(s.insts[first:last+1], isMatrix)
}

// scalarLoads counts scalar loads in executed loops; the bound is the waiting
// for scalar loads there.
func scalarLoads(s *subject, r *Rule) []hit {
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
	h := s.costHit(r, c, 0)
	h.place, h.where = s.place(first)
	h.text = fmt.Sprintf("%d scalar loads inside loops, executed %d times; waiting for scalar loads there takes %.1f %% of wave cycles", n, executed, s.share(c))
	return []hit{h}
}

// mix counts what a loop executes.
type mix struct {
	all, matrix, memory int64
}

// matrixLoop is the innermost loop that executes the most matrix instructions.
func (s *subject) matrixLoop() (loop int, m mix, ok bool) {
	byLoop := map[int]*mix{}
	for row := range s.rows {
		l := s.loop(row)
		if l < 0 {
			continue
		}
		if byLoop[l] == nil {
			byLoop[l] = &mix{}
		}
		byLoop[l].count(&s.insts[row], s.stalls.Rows[row].Hits)
	}
	loop = -1
	for l := range s.flow.Loops {
		x := byLoop[l]
		if x != nil && x.matrix > 0 && (loop < 0 || x.matrix > byLoop[loop].matrix) {
			loop = l
		}
	}
	if loop < 0 {
		return 0, mix{}, false
	}
	return loop, *byLoop[loop], true
}

func (m *mix) count(in *isa.Inst, hits int64) {
	m.all += hits
	switch in.Class {
	case isa.MFMA:
		m.matrix += hits
	case isa.VMEMLoad, isa.VMEMStore, isa.VMEMAtomic, isa.VMEMToLDS, isa.VMEMFromLDS, isa.FlatLoad, isa.FlatStore,
		isa.LDSRead, isa.LDSWrite, isa.LDSAtomic, isa.LDSTranspose:
		m.memory += hits
	}
}

func matrixShare(s *subject, r *Rule) []hit {
	loop, m, ok := s.matrixLoop()
	good, poor := s.param(r, "good_pct"), s.param(r, "poor_pct")
	pct := percent(m.matrix, m.all)
	if !ok || pct >= good {
		return nil
	}
	h := s.loopHit(loop, "matrix instructions of the executed ones", pct, good)
	h.text = fmt.Sprintf("%.0f %% of what the matrix loop executes are matrix instructions", pct)
	if pct < poor {
		h.severity = new(finding.Medium)
	}
	return []hit{h}
}

func memoryShare(s *subject, r *Rule) []hit {
	loop, m, ok := s.matrixLoop()
	most := s.param(r, "most_pct")
	pct := percent(m.memory, m.all)
	if !ok || pct <= most {
		return nil
	}
	h := s.loopHit(loop, "memory and LDS instructions of the executed ones", pct, most)
	h.text = fmt.Sprintf("%.0f %% of what the matrix loop executes access memory or LDS", pct)
	return []hit{h}
}

func (s *subject) loopHit(loop int, metric string, pct, limit float64) hit {
	first, last := s.loopRows(loop)
	a, b := &s.tt.Code[first].Line, &s.tt.Code[last].Line
	return hit{
		place: Place{Line: a, LoopFirst: a, LoopLast: b, Source: shortSource(s.tt.Code[first].Source)},
		where: fmt.Sprintf("the loop of lines %d to %d", *a, *b),
		evidence: []finding.Evidence{{
			Metric: metric, Value: pct, Unit: "%", Threshold: &limit, Source: "code.json, wave files",
		}},
	}
}

func percent(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
