package idioms

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
	"github.com/rocanalyze/rocanalyze/pkg/view/viewtest"
)

// TestGolden compares what the command prints with testdata/gemm.txt;
// go test ./analyzers/idioms -update rewrites it.
func TestGolden(t *testing.T) {
	viewtest.Golden(t, &Cmd, "testdata/gemm.txt", "../../fixtures/att/gemm")
}

func TestNeedsEvidence(t *testing.T) {
	out, err := analysis.Run(t.Context(), &trace.Trace{}, analysis.Options{}, Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(out.Skipped, func(s analysis.Skip) bool { return s.Analyzer == "idioms" }) {
		t.Errorf("skipped %v, without idioms", out.Skipped)
	}
}

// TestPatternsAreWhole: every relation of a step names a step before it, every
// step but the anchor has one, and something is removed.
func TestPatternsAreWhole(t *testing.T) {
	for i := range patterns {
		p := &patterns[i]
		names, removes := []string{""}, false
		for n, s := range p.Steps {
			for _, other := range []string{s.Makes, s.Uses, s.Before, s.After} {
				if !slices.Contains(names, other) {
					t.Errorf("%s: %s names %q, which is no earlier step", p.ID, s.Name, other)
				}
			}
			if n > 0 && s.Makes+s.Uses+s.Before+s.After == "" || len(s.Mnemonics)+len(s.Classes) == 0 {
				t.Errorf("%s: nothing tells %s", p.ID, s.Name)
			}
			names = append(names, s.Name)
			removes = removes || !s.Keeps
		}
		if !removes {
			t.Errorf("%s removes nothing", p.ID)
		}
	}
}

// TestMatchFollowsData: two scaffolds that a scheduler has interleaved are told
// apart, and the instruction between that reads the same register is not taken.
func TestMatchFollowsData(t *testing.T) {
	var insts []isa.Inst
	for _, text := range []string{
		"v_cmp_gt_f32_e64 s[6:7], s4, v1",     // 0 a
		"v_cmp_gt_f32_e32 vcc, s4, v11",       // 1 b
		"v_cndmask_b32_e64 v2, 0, v8, s[6:7]", // 2 a
		"s_nop 1",                             // 3 b
		"v_cndmask_b32_e32 v12, 0, v8, vcc",   // 4 b
		"v_add_f32_e32 v2, v1, v2",            // 5 a
		"v_fma_f32 v12, v11, v20, v12",        // 6 b
		"v_exp_f32_e32 v3, v2",                // 7 a
		"v_mul_f32_e32 v30, v31, v32",         // 8
		"v_exp_f32_e32 v13, v12",              // 9 b
		"v_cndmask_b32_e64 v4, 0, v9, s[6:7]", // 10 a
		"v_ldexp_f32 v3, v3, v4",              // 11 a
		"v_ldexp_f32 v13, v13, v14",           // 12 b
		"v_mul_f32_e32 v40, v3, v13",          // 13
	} {
		insts = append(insts, isa.Parse(text, "gfx950"))
	}
	m := &matcher{insts: insts, taken: map[int]bool{}}
	got := m.in(&flow.Block{First: 0, Last: len(insts)}, &patterns[0])
	want := [][]int{{0, 2, 5, 7, 10, 11}, {1, 3, 4, 6, 9, 12}}
	if len(got) != 2 || !slices.Equal(got[0].sortedRows(), want[0]) || !slices.Equal(got[1].sortedRows(), want[1]) {
		t.Errorf("places %v, want %v", got, want)
	}
	if fma := patterns[0].Steps[1]; !fma.leaves(&insts[6]) || fma.leaves(&insts[5]) {
		t.Error("a fused multiply-add is work, an addition of the shift is not")
	}
}

// TestRealScaffold: the guard around exp2 takes 17 % of the wave cycles of an
// attention kernel, counted apart by the mnemonics that only it uses.
func TestRealScaffold(t *testing.T) {
	dirs, _ := filepath.Glob("../../../shared/data/att/flash_attn_func/ui_output*")
	if len(dirs) == 0 {
		t.Skip("no shared captures")
	}
	tr, err := ingest.Open(t.Context(), dirs[:1], ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2}, Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	k := &Analyzer.Of(out).Kernels[0]
	i := slices.IndexFunc(k.Idioms, func(x Idiom) bool { return x.ID == "exp2_scaffold" })
	if i < 0 {
		t.Fatal("not found")
	}
	exps := 0
	for _, in := range tr.ThreadTraces[0].Code {
		if in.Hits > 0 && len(in.Text) > 9 && in.Text[:9] == "v_exp_f32" {
			exps++
		}
	}
	if x := k.Idioms[i]; x.Places != exps || x.RemovedPct < 16 || x.RemovedPct > 18.5 {
		t.Errorf("%d places of %d exponentials, %.1f %%", x.Places, exps, x.RemovedPct)
	}
	seen := map[int]bool{}
	for _, s := range k.Sequences {
		for _, l := range s.Example {
			if seen[l.Line] {
				t.Errorf("line %d is in two sequences", l.Line)
			}
			seen[l.Line] = true
		}
	}
}
