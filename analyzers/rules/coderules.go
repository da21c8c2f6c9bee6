package rules

import (
	"fmt"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// codeRules look at which instructions were executed.
func codeRules() []rule.Check[*subject] {
	return []rule.Check[*subject]{
		{Rule: rule.Rule{
			ID: "legacy_matrix_shape", Title: "Matrix shapes that reach half of the rate", Kind: rule.Matrix, Severity: finding.Medium, Needs: needsTrace,
			Fires:  "matrix instructions were executed that do at most {rate} times the operations per cycle of another shape of their types; medium where no utilisation bounds it",
			Fix:    "use the shape with the full rate; on gfx950 16x16x32 f16/bf16, f8f6f4 16x16x128 and i8 16x16x64",
			Source: "AMD matrix instruction calculator; LLVM SISchedule.td",
			Params: []rule.Param{{Name: "rate", Default: 0.5, Unit: "x", Doc: "operations per cycle of the shape over those of the best one, up to which it is worth a finding"}},
		}, When: legacyShapes},
		{Rule: rule.Rule{
			ID: "narrow_loads", Title: "Narrow loads in a streaming kernel", Kind: rule.Memory, Severity: finding.Low, Needs: needsTrace,
			Because: "low; medium where {nearly_all_pct} % or more are narrow, high where most have half of {bytes} bytes: what the loads then ask for is a fraction of what they could: more instructions and requests for the same bytes",
			Fires:   "a streaming kernel, without matrix work or synchronisation, executes at least {share_pct} % of its loads with {bytes} bytes or fewer per lane",
			Fix:     "load 16 bytes per lane (dwordx4): fewer instructions, whole 64 B and 128 B lines",
			Source:  guide + ", section 0 (bandwidth) and 11",
			Params: append(sharePct(50, "share of the executed loads that are narrow"), rule.Param{Name: "bytes", Default: 4, Unit: "bytes per lane", Doc: "a load of this width or less is narrow"},
				rule.Param{Name: "nearly_all_pct", Default: 90, Unit: "%", Doc: "share of narrow loads from which it is the first thing to change"}),
		}, When: narrowLoads},
		{Rule: rule.Rule{
			ID: "narrow_stores", Title: "Narrow stores that waves wait for", Kind: rule.Memory, Severity: finding.Low, Needs: needsTrace,
			Fires: "at least {share_pct} % of the executed stores have {bytes} bytes or fewer per lane, and waiting for stores takes at least {wait_pct} % of wave cycles",
			Advice: []rule.Advice{
				{Text: "store 8 or 16 bytes per lane, neighbouring lanes side by side"},
				{When: rule.GEMM | rule.LDSReads, Text: "a CShuffle epilogue through LDS does that (large tile_n, >= 128)"},
				{When: rule.Streaming, Text: "let a lane work on neighbouring elements"},
			},
			Source: guide + ", sections 6 and 11; " + gemm + ", sections 7 and 13",
			Params: append(sharePct(50, "share of the executed stores that are narrow"),
				rule.Param{Name: "bytes", Default: 4, Unit: "bytes per lane", Doc: "a store of this width or less is narrow"},
				rule.Param{Name: "wait_pct", Default: 5, Unit: "%", Doc: "share of wave cycles that waiting for stores has to take"}),
		}, When: narrowStores},
		{Rule: rule.Rule{
			ID: "narrow_lds_copies", Title: "Copies to LDS of 4 bytes where 16 are possible", Kind: rule.Memory, Severity: finding.Low, Needs: needsTrace,
			Fires:  "gfx950 executes loads to LDS of fewer than {bytes} bytes per lane",
			Fix:    "buffer_load_dwordx4 ... lds and global_load_lds_dwordx4 exist on gfx950: a quarter of the instructions",
			Source: guide + ", section 4; " + gemm + ", section 11.3",
			Params: []rule.Param{{Name: "bytes", Default: 16, Unit: "bytes per lane", Doc: "the widest load to LDS of gfx950: narrower ones fire"}},
		}, When: narrowCopies},
		{Rule: rule.Rule{
			ID: "low_matrix_utilisation", Title: "The matrix pipe is mostly idle", Kind: rule.Matrix, Severity: finding.Info, Needs: needsTrace,
			Fires:  "a kernel with matrix work keeps the matrix pipe busy for less than {low_pct} % of the time",
			Fix:    "the findings on waits and on instructions beside the matrix work say why",
			Source: guide + ", section 9; " + gemm + ", section 8.4",
			Params: []rule.Param{{Name: "low_pct", Default: 50, Unit: "%", Doc: "matrix utilisation below which it counts as low"}},
		}, When: lowMatrix},
		idleRule(),
	}
}

// bestRate is the most operations per cycle that a target's dense matrix
// instructions reach with the same input types, and the instruction.
func bestRate(table []isa.MatrixRow, target isa.Target, m *isa.Matrix) (rate float64, mnemonic string) {
	for _, r := range table {
		if r.Target != target || r.Sparse || r.Cycles <= 0 || r.AliasOf != "" || family(r.TypeA) != family(m.TypeA) || family(r.TypeB) != family(m.TypeB) {
			continue
		}
		if x := float64(r.FLOPs) / float64(r.Cycles); x > rate {
			rate, mnemonic = x, r.Mnemonic
		}
	}
	return rate, mnemonic
}

// family joins types that the same instructions take.
func family(t string) string {
	switch t {
	case "bf8":
		return "fp8"
	case "bf6":
		return "fp6"
	}
	return t
}

func legacyShapes(s *subject, values rule.Values) []rule.Hit {
	limit := values("rate")
	target := s.m.Hot.Arch.Target.Representative()
	table := isa.MatrixTable()
	var slow, all float64 // matrix pipe cycles
	first := -1
	better, worst := "", ""
	ratio := 1.0
	for row := range s.rows {
		m := s.insts[row].Matrix
		hits := float64(s.replay.Hits(s.tt, row))
		if m == nil || m.Cycles <= 0 || hits == 0 {
			continue
		}
		cycles := hits * float64(m.Cycles)
		all += cycles
		best, name := bestRate(table, target, m)
		if m.Sparse || best == 0 || float64(m.FLOPs)/float64(m.Cycles) > limit*best {
			continue
		}
		slow += cycles
		if first < 0 {
			first, better, worst = row, name, s.insts[row].Mnemonic
			ratio = float64(m.FLOPs) / float64(m.Cycles) / best
		}
	}
	if first < 0 {
		return nil
	}
	h := rule.Hit{
		Text: fmt.Sprintf("%s does %.2g times the operations per cycle of %s; %.0f %% of the matrix pipe's cycles are of such shapes", worst, ratio, better, 100*slow/all),
		Evidence: []finding.Evidence{
			{Metric: "operations per cycle of the best shape", Value: ratio, Unit: "x", Threshold: &limit, Source: "matrix instruction table"},
		},
	}
	h.Place, h.Where = s.place(first)
	if u := s.m.Hot.Utilisation; u != nil && u.MFMAPct != nil {
		h.Bound = &finding.Bound{Pct: *u.MFMAPct * slow / all * (1 - ratio), Of: "the traced SIMDs' time"}
	}
	return []rule.Hit{h}
}

// widths counts executed accesses of one direction by width.
func (s *subject) widths(classes map[isa.Class]bool, narrow float64) (all, few int64, first int) {
	first = -1
	for row := range s.rows {
		in := &s.insts[row]
		hits := s.stalls.Rows[row].Hits
		if !classes[in.Class] || in.BytesPerLane == 0 || hits == 0 {
			continue
		}
		all += hits
		if float64(in.BytesPerLane) <= narrow {
			few += hits
			if first < 0 || hits > s.stalls.Rows[first].Hits {
				first = row
			}
		}
	}
	return all, few, first
}

func narrowLoads(s *subject, values rule.Values) []rule.Hit {
	if !s.shape.Has(rule.Streaming) {
		return nil
	}
	limit, bytes := values("share_pct"), values("bytes")
	all, few, first := s.widths(map[isa.Class]bool{isa.VMEMLoad: true, isa.FlatLoad: true}, bytes)
	if first < 0 || percent(few, all) < limit {
		return nil
	}
	h := s.widthHit(first, percent(few, all), limit)
	h.Text = fmt.Sprintf("%.0f %% of the executed loads have %g bytes or fewer per lane", percent(few, all), bytes)
	var c cost
	for row := range s.rows {
		if in := &s.insts[row]; in.BytesPerLane > 0 && float64(in.BytesPerLane) <= bytes && (in.Class == isa.VMEMLoad || in.Class == isa.FlatLoad) {
			c.add(s.stallOf(row, []stalls.Class{stalls.VMEMIssue}))
		}
	}
	if c.cycles > 0 {
		h.Bound, h.Saves = s.bound(c), c.saves
		h.Text += fmt.Sprintf(", and cannot issue for %.1f %% of wave cycles", s.share(c))
	}
	if most := s.insts[first].BytesPerLane; percent(few, all) >= values("nearly_all_pct") {
		h.Text = strings.Replace(h.Text, " per lane", fmt.Sprintf(" per lane, most of them %d", most), 1)
		h.Severity = new(finding.Medium)
		if float64(most) <= bytes/2 {
			h.Severity = new(finding.High)
		}
	}
	return []rule.Hit{h}
}

func narrowStores(s *subject, values rule.Values) []rule.Hit {
	limit, bytes, waits := values("share_pct"), values("bytes"), values("wait_pct")
	all, few, first := s.widths(map[isa.Class]bool{isa.VMEMStore: true, isa.FlatStore: true}, bytes)
	if first < 0 || percent(few, all) < limit {
		return nil
	}
	var c cost
	for row := range s.rows {
		c.add(s.stallOf(row, []stalls.Class{stalls.StoreWait, stalls.StoreDrain}))
	}
	if s.share(c) < waits {
		return nil
	}
	h := s.widthHit(first, percent(few, all), limit)
	h.Bound, h.Saves = s.bound(c), c.saves
	h.Text = fmt.Sprintf("%.0f %% of the executed stores have %g bytes or fewer per lane, and waiting for stores takes %.1f %% of wave cycles", percent(few, all), bytes, s.share(c))
	return []rule.Hit{h}
}

func (s *subject) widthHit(row int, pct, limit float64) rule.Hit {
	h := rule.Hit{Evidence: []finding.Evidence{{Metric: "narrow accesses of the executed ones", Value: pct, Unit: "%", Threshold: &limit, Source: "code.json"}}}
	h.Place, h.Where = s.place(row)
	return h
}

func narrowCopies(s *subject, values rule.Values) []rule.Hit {
	if s.m.Hot.Arch.Target.Representative() != "gfx950" {
		return nil
	}
	all, few, first := s.widths(map[isa.Class]bool{isa.VMEMToLDS: true}, values("bytes")-1)
	if first < 0 {
		return nil
	}
	h := s.widthHit(first, percent(few, all), 0)
	h.Text = fmt.Sprintf("%.0f %% of the executed loads to LDS have %d bytes per lane", percent(few, all), s.insts[first].BytesPerLane)
	return []rule.Hit{h}
}

func lowMatrix(s *subject, values rule.Values) []rule.Hit {
	u, low := s.m.Hot.Utilisation, values("low_pct")
	if !s.m.HasMatrix || u == nil || u.MFMAPct == nil || *u.MFMAPct >= low {
		return nil
	}
	return []rule.Hit{{
		Text:     fmt.Sprintf("the matrix pipe of the traced SIMDs is busy for %.1f %% of the time", *u.MFMAPct),
		Evidence: []finding.Evidence{{Metric: "matrix utilisation", Value: *u.MFMAPct, Unit: "%", Threshold: &low, Source: "code.json, wave files, matrix instruction table"}},
		Minor:    true,
	}}
}
