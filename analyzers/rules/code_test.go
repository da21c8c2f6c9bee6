package rules_test

import (
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/rules"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// row is one instruction with its hits, latency and stall.
type row struct {
	text                 string
	hits, latency, stall int64
}

type noFiles struct{}

func (noFiles) Lines(string) ([]string, bool, error) { return nil, false, nil }

// traced makes a thread trace of gfx950 code without wave files; every
// instruction takes 8 bytes, so that "s_cbranch_scc1 N" goes back (65536-N)/2+1
// instructions.
func traced(rows ...row) *trace.Trace {
	tt := &trace.ThreadTrace{Path: "t", GfxMajor: 9, Files: noFiles{}, Kernels: []trace.Kernel{{Symbol: "k", First: 0, Last: len(rows)}}}
	for i, r := range rows {
		tt.Code = append(tt.Code, trace.Instruction{
			Line: i + 1, Text: r.text, Source: "k.hip:7", CodeObject: 1, Vaddr: int64(8 * i),
			Counts: trace.Counts{Hits: r.hits, LatencyCycles: r.latency, StallCycles: r.stall},
		})
	}
	return &trace.Trace{ThreadTraces: []*trace.ThreadTrace{tt}}
}

func adviseOn(t *testing.T, tr *trace.Trace) rules.Kernel {
	t.Helper()
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Device: "gfx950"}, rules.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return rules.Analyzer.Of(out).Kernels[0]
}

// The rules that need neither waves nor counters, each fired and not fired by
// code that differs in what the rule looks at.
func TestCodeRules(t *testing.T) {
	end := row{"s_endpgm", 4, 16, 0}
	for _, c := range []struct {
		rule  string
		fires bool
		rows  []row
	}{
		{"legacy_matrix_shape", true, []row{{"v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]", 4, 64, 0}, end}},
		{"legacy_matrix_shape", false, []row{{"v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]", 4, 64, 0}, end}},
		{"legacy_matrix_shape", true, []row{{"v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[4:5], v[6:7], v[0:3]", 4, 64, 0}, end}},
		{"legacy_matrix_shape", true, []row{{"v_mfma_i32_16x16x32_i8 v[0:3], v[4:5], v[6:7], v[0:3]", 4, 64, 0}, end}},
		{"legacy_matrix_shape", false, []row{{"v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]", 0, 0, 0}, {"s_nop 0", 4, 16, 0}, end}},
		{"narrow_loads", true, []row{{"global_load_dword v1, v0, s[2:3]", 4, 16, 0}, end}},
		{"narrow_loads", false, []row{{"global_load_dwordx4 v[4:7], v0, s[2:3]", 4, 16, 0}, end}},
		{"narrow_loads", false, []row{{"global_load_dword v1, v0, s[2:3]", 4, 16, 0}, {"v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]", 4, 64, 0}, end}},
		{"narrow_lds_copies", true, []row{{"buffer_load_dword v1, s[4:7], 0 offen lds", 4, 16, 0}, end}},
		{"narrow_lds_copies", false, []row{{"buffer_load_dwordx4 v1, s[4:7], 0 offen lds", 4, 16, 0}, end}},
		{"spills", true, []row{{"scratch_load_dword v1, off, off offset:16", 4, 16, 0}, end}},
		{"spills", false, []row{{"scratch_load_dword v1, off, off offset:16", 0, 0, 0}, {"s_nop 0", 4, 16, 0}, end}},
		{"scalar_load_in_loop", true, []row{{"s_load_dwordx2 s[4:5], s[0:1], 0x0", 40, 160, 0}, {"s_waitcnt lgkmcnt(0)", 40, 8000, 8000}, {"s_cbranch_scc1 65531", 40, 160, 0}, end}},
		{"scalar_load_in_loop", false, []row{{"s_load_dwordx2 s[4:5], s[0:1], 0x0", 4, 16, 0}, {"s_nop 0", 40, 160, 0}, {"s_cbranch_scc1 65533", 40, 160, 0}, end}},
		{"vmem_drain_in_loop", true, []row{{"global_load_dwordx4 v[4:7], v0, s[2:3]", 40, 160, 0}, {"global_load_dwordx4 v[8:11], v0, s[2:3]", 40, 160, 0}, {"s_waitcnt vmcnt(0)", 40, 8000, 8000}, {"v_add_f32_e32 v20, v4, v21", 40, 160, 0}, {"s_cbranch_scc1 65527", 40, 160, 0}, end}},
		{"vmem_drain_in_loop", false, []row{{"global_load_dwordx4 v[4:7], v0, s[2:3]", 40, 160, 0}, {"global_load_dwordx4 v[8:11], v0, s[2:3]", 40, 160, 0}, {"s_waitcnt vmcnt(1)", 40, 8000, 8000}, {"s_cbranch_scc1 65529", 40, 160, 0}, end}},
		{"narrow_stores", true, []row{{"global_store_dword v0, v1, s[2:3]", 4, 16, 0}, {"s_endpgm", 4, 4000, 0}}},
		{"narrow_stores", false, []row{{"global_store_dwordx4 v0, v[4:7], s[2:3]", 4, 16, 0}, {"s_endpgm", 4, 4000, 0}}},
	} {
		k := adviseOn(t, traced(c.rows...))
		f := find(k, c.rule)
		if (f != nil) != c.fires {
			t.Errorf("%s on %q: fires %v, want %v", c.rule, c.rows[0].text, f != nil, c.fires)
		}
		if f != nil && (f.Place.Source != "k.hip:7" || !strings.Contains(f.Where, "line 1")) && c.rule != "vmem_drain_in_loop" {
			t.Errorf("%s: at %+v (%s)", c.rule, f.Place, f.Where)
		}
	}
}

// A wait of 8000 of 8656 cycles: bound 92.42 % of wave cycles, high.
func TestShareByHand(t *testing.T) {
	k := adviseOn(t, traced(
		row{"global_load_dwordx4 v[4:7], v0, s[2:3]", 40, 160, 0}, row{"global_load_dwordx4 v[8:11], v0, s[2:3]", 40, 160, 0},
		row{"s_waitcnt vmcnt(0)", 40, 8000, 8000}, row{"v_add_f32_e32 v20, v4, v21", 40, 160, 0},
		row{"s_cbranch_scc1 65527", 40, 160, 0}, row{"s_endpgm", 4, 16, 0}))
	f := find(k, "vmem_drain_in_loop")
	if f == nil || f.Bound == nil || f.Bound.Pct < 92.41 || f.Bound.Pct > 92.43 || f.Severity != finding.High || f.Bound.Of != "wave cycles" {
		t.Fatalf("%+v", f)
	}
	if f.Place.LoopFirst == nil || *f.Place.LoopFirst != 1 || *f.Place.LoopLast != 5 || *f.Place.Line != 3 {
		t.Errorf("place %+v", f.Place)
	}
	if find(k, "vmem_wait") != nil {
		t.Error("the general finding stands beside the precise one")
	}
}

// Names go into shells and regular expressions.
func TestNamesAreQuoted(t *testing.T) {
	tr := traced(row{"s_endpgm", 4, 16, 0})
	tr.ThreadTraces[0].Kernels[0].Symbol = `k'; rm -rf "$HOME"` + "\n#.*"
	k := adviseOn(t, tr)
	for _, c := range k.Next {
		for _, line := range strings.Split(c.Input, "\n") {
			if strings.HasPrefix(line, "#") {
				t.Errorf("the name breaks the line: %q", c.Input)
			}
			if v, ok := strings.CutPrefix(strings.TrimSpace(line), "kernel_include_regex: "); ok && (v[0] != '"' || strings.Contains(v[1:len(v)-1], ` "$`)) {
				t.Errorf("%q is not quoted", v)
			}
		}
	}
}

// A trace may hold two kernels of one name, of two code objects: the one that
// ran is judged.
func TestSameNameTwice(t *testing.T) {
	tr := traced(row{"s_endpgm", 0, 0, 0}, row{"global_load_dword v1, v0, s[2:3]", 4, 16, 0}, row{"s_waitcnt vmcnt(0)", 4, 4000, 4000}, row{"s_endpgm", 4, 16, 0})
	tr.ThreadTraces[0].Kernels = []trace.Kernel{{Symbol: "k", First: 0, Last: 1}, {Symbol: "k", CodeObject: 2, First: 1, Last: 4}}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Device: "gfx950"}, rules.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	ks := rules.Analyzer.Of(out).Kernels
	if len(ks) != 1 || len(ks[0].Sources) != 1 || strings.Contains(ks[0].Verdict, "no traced wave") || find(ks[0], "vmem_wait") == nil {
		t.Fatalf("%d kernels, first: %s, %+v", len(ks), ks[0].Verdict, ks[0].Findings)
	}
}
