package analyzers_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/rules"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
)

// advised are the findings of diagnose on some capture, by id.
func advised(t *testing.T, p pair) map[string]finding.Finding {
	t.Helper()
	out := map[string]finding.Finding{}
	for _, k := range rules.Analyzer.Of(ran(t, p, p.fires(t))).Kernels {
		for _, f := range k.Findings {
			if _, ok := out[f.ID]; !ok && !f.Minor {
				out[f.ID] = f
			}
		}
	}
	return out
}

// TestSynchronisationIsNoTraffic: fences, returning atomics and polling get
// their own remedies, and none of those of loads and stores.
func TestSynchronisationIsNoTraffic(t *testing.T) {
	for _, c := range []struct {
		dir   string
		says  []string
		lines []int // of waits for fences, atomics and flags
	}{
		{"device_fence", []string{"fence_wait", "atomic_wait"}, []int{10, 12}},
		{"polling_loop", []string{"spin_wait"}, []int{4}},
	} {
		path := "../../shared/data/reports/" + c.dir
		if _, err := os.Stat(path); err != nil {
			t.Skip("no shared captures")
		}
		tr := opened(t, path)
		out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2, Device: "MI300X"}, rules.Analyzer)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, f := range rules.Analyzer.Of(out).Kernels[0].Findings {
			if f.Minor {
				continue
			}
			ids = append(ids, f.ID)
			there := f.Place.Line != nil && slices.Contains(c.lines, *f.Place.Line)
			if f.ID == "narrow_loads" || there && !slices.Contains(c.says, f.ID) {
				t.Errorf("%s: %s", c.dir, f.Line())
			}
		}
		for _, id := range c.says {
			if !slices.Contains(ids, id) {
				t.Errorf("%s: no %s in %v", c.dir, id, ids)
			}
		}
	}
}

// TestNarrowLoadsComeFirst: where every load is narrow, no wait shows what wider
// ones would give.
func TestNarrowLoadsComeFirst(t *testing.T) {
	for text, want := range map[string]finding.Severity{
		"global_load_ushort v1, v0, s[2:3]": finding.High, "global_load_dword v1, v0, s[2:3]": finding.Medium,
	} {
		f, ok := advised(t, kernel(listed(nil, inst{text, 0, 4}, endpgm), nil))["narrow_loads"]
		if !ok || f.Severity != want {
			t.Errorf("%s: %v, want %s", text, f, want)
		}
	}
}

// TestMatrixShareAsksThePipe: the same share of matrix instructions, with the
// pipe covered and not.
func TestMatrixShareAsksThePipe(t *testing.T) {
	long := inst{"v_mfma_f32_32x32x8_f16 v[0:15], v[20:21], v[22:23], v[0:15]", 0, 4} // 32 cycles of the pipe on gfx950
	looped := func(rest int64) pair {
		return kernel(waved(repeat(40, []int{0, 1, 2, 3}, []int{4}), long, inst{other.text, 0, rest}, inst{other.text, 0, 4}, inst{branch(3), 0, 4}, endpgm), nil)
	}
	if f, ok := advised(t, looped(4))["matrix_share_of_loop"]; ok {
		t.Errorf("the pipe is covered, and yet: %s", f.Line())
	}
	if _, ok := advised(t, looped(400))["matrix_share_of_loop"]; !ok {
		t.Error("the pipe is idle, and nothing is said")
	}
}

// TestIdleNamesItsCause: idle time at every instruction is no instruction fetch.
func TestIdleNamesItsCause(t *testing.T) {
	var code []inst
	for range 16 {
		code = append(code, inst{"v_mov_b32_e32 v100, v101", 0, 4})
	}
	code = append(code, endpgm)
	for _, c := range []struct {
		every int // instructions of 8 bytes: 8 a cache line
		fetch bool
	}{{1, false}, {8, true}} {
		tt := listed(nil, code...)
		for i := range tt.Code {
			if i%c.every == 0 {
				tt.Code[i].IdleCycles = 40
			}
		}
		out, err := analysis.Run(t.Context(), of(tt), analysis.Options{Workers: 1, Device: "gfx950"}, rules.Analyzer)
		if err != nil {
			t.Fatal(err)
		}
		fs := rules.Analyzer.Of(out).Kernels[0].Findings
		i := slices.IndexFunc(fs, func(f finding.Finding) bool { return f.ID == "idle_between" })
		if i < 0 || strings.Contains(fs[i].Fix, "instruction fetch") != c.fetch {
			t.Errorf("idle at every %d. instruction: %+v", c.every, fs)
		}
	}
}
