package rules

import (
	"fmt"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// fetchBytes is the least that an instruction fetch brings: a line of the
// instruction cache. Source: LLVM AMDGPU.td, instruction cache line size: 64, and
// 128 bytes on later targets, which is a multiple.
const fetchBytes = 64

func idleRule() rule.Check[*subject] {
	return rule.Check[*subject]{Rule: rule.Rule{
		ID: "idle_between", Title: "Time between a wave's instructions", Kind: rule.Waits, Severity: finding.Low, Needs: needsTrace,
		Fires: "waves are idle between instructions for at least {share_pct} % of their cycles. Where at least {fetch_pct} % of that is behind jumps and at the first instruction of a cache line, " +
			"or the executed code exceeds {cache_kib} KiB, it is instruction fetch; else other waves are served first",
		Advice: []rule.Advice{
			{When: rule.Loop, Text: "instruction fetch: keep the loops inside the instruction cache (less unrolling), align their heads"},
			{When: rule.OnePass, Text: "instruction fetch: the code is passed once, each line of it is fetched anew: less code (less unrolling), fewer jumps"},
		},
		Source: "rocprofiler-sdk thread trace documentation (idle); AMD CDNA 3 white paper (64 KB of instruction cache for two CUs)",
		Params: append(sharePct(10, "share of wave cycles from which it is worth a finding"),
			rule.Param{Name: "fetch_pct", Default: 60, Unit: "%", Doc: "share of the idle time behind jumps and at cache lines from which fetch is the cause"},
			rule.Param{Name: "cache_kib", Default: 64, Unit: "KiB", Doc: "instruction cache that two CUs share on gfx942 and gfx950"}),
	}, When: idleBetween}
}

// idle says where waves are idle between instructions, in cycles.
type idle struct {
	all, jumps, lines, loops int64
	top                      int // the row with the most
	bytes                    int64
}

func (s *subject) idle() idle {
	x := idle{top: -1}
	for row := range s.rows {
		r := &s.stalls.Rows[row]
		if r.Hits == 0 {
			continue
		}
		in := &s.tt.Code[row]
		if row+1 < s.kernel.Last && s.tt.Code[row+1].Vaddr > in.Vaddr {
			x.bytes += s.tt.Code[row+1].Vaddr - in.Vaddr
		}
		n := r.IdleCycles
		x.all += n
		if s.loop(row) >= 0 {
			x.loops += n
		}
		if x.top < 0 || n > s.stalls.Rows[x.top].IdleCycles {
			x.top = row
		}
		switch {
		case s.jumpedTo(row):
			x.jumps += n
		case row > s.kernel.First && in.Vaddr/fetchBytes != s.tt.Code[row-1].Vaddr/fetchBytes:
			x.lines += n
		}
	}
	return x
}

// jumpedTo reports whether a row is the first of the kernel or a jump's target.
func (s *subject) jumpedTo(row int) bool {
	b := &s.flow.Blocks[s.flow.BlockOf[row]]
	return b.First == row && (row == s.kernel.First || slices.ContainsFunc(b.Pred, func(p int) bool {
		last := s.flow.Blocks[p].Last - 1
		return s.insts[last].Class == isa.Branch && (last != row-1 || len(s.flow.Blocks[p].Succ) == 1)
	}))
}

func idleBetween(s *subject, values rule.Values) []rule.Hit {
	x, limit := s.idle(), values("share_pct")
	pct := percent(x.all, s.waveCycles)
	if x.all == 0 || pct < values(rule.MinorPct) {
		return nil
	}
	fetch := percent(x.jumps+x.lines, x.all)
	h := rule.Hit{
		Text: fmt.Sprintf("waves are idle between instructions for %.1f %% of their cycles: %.0f %% of it behind jumps, %.0f %% at first instructions of cache lines, %.0f %% in loops; most before %s",
			pct, percent(x.jumps, x.all), percent(x.lines, x.all), percent(x.loops, x.all), s.tt.Code[x.top].Text),
		Evidence: []finding.Evidence{{Metric: "idle", Value: pct, Unit: "% of wave cycles", Threshold: &limit, Source: "code.json Idle"}},
		Bound:    &finding.Bound{Pct: pct, Of: "wave cycles"}, Minor: pct < limit,
	}
	if t := s.split.SIMD; s.split.Absent == "" && t.Total > 0 {
		h.Bound = &finding.Bound{Pct: percent(t.Between, t.Total), Of: exposed.SIMDTimeName}
	}
	if fetch < values("fetch_pct") && x.bytes <= int64(values("cache_kib"))<<10 {
		h.Fix, h.Minor = "nothing at this place: other waves of the SIMD or the unit are served first", true
	}
	h.Place, h.Where = s.place(x.top)
	return []rule.Hit{h}
}
