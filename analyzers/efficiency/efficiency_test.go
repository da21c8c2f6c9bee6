package efficiency_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/efficiency"
	"github.com/rocanalyze/rocanalyze/analyzers/hotspots"
	"github.com/rocanalyze/rocanalyze/analyzers/roofline"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// measured runs the analyzers on a directory.
func measured(t *testing.T, dir string) (*efficiency.Efficiency, *analysis.Outcome, *trace.ThreadTrace) {
	t.Helper()
	tr, err := ingest.Open(t.Context(), []string{dir}, ingest.Options{})
	if err != nil || len(tr.ThreadTraces) != 1 {
		return nil, nil, nil
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2}, efficiency.Analyzer, hotspots.Analyzer, roofline.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return efficiency.Analyzer.Of(out, tr.ThreadTraces[0]), out, tr.ThreadTraces[0]
}

func dirs(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, p := range []string{"../../fixtures/att/*/ui_output_*", "../../fixtures/att/*/*/ui_output_*", "../../../shared/data/att/*/ui_output_*"} {
		d, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, d...)
	}
	return out
}

// The factors multiply to what was achieved, and the roofline of the same
// capture says the same.
func TestFactorsMultiply(t *testing.T) {
	told := 0
	for _, dir := range dirs(t) {
		e, out, _ := measured(t, dir)
		if e == nil || e.Absent != "" {
			continue
		}
		told++
		product := 1.0
		for _, f := range e.Factors {
			product *= f.Value
			if !(f.Value > 0) || math.Abs(f.LeftPct-100*product) > 1e-9 {
				t.Errorf("%s: %s %g leaves %g", dir, f.ID, f.Value, f.LeftPct)
			}
		}
		if math.Abs(100*product / *e.AchievedPct - 1) > 1e-9 {
			t.Errorf("%s: factors give %g %%, achieved %g %%", dir, 100*product, *e.AchievedPct)
		}
		for _, p := range roofline.Analyzer.Of(out).Points {
			if p.PeakPct != nil && e.Over == "the dispatch" && math.Abs(*p.PeakPct / *e.AchievedPct - 1) > 0.01 {
				t.Errorf("%s: roofline %g %%, achieved %g %%", dir, *p.PeakPct, *e.AchievedPct)
			}
		}
	}
	if told == 0 {
		t.Error("nothing to multiply")
	}
}

// costs are cycles of matrix instructions by hand, from AMD's matrix instruction
// calculator: passes x 4.
var costs = map[string]int{
	"v_mfma_f32_16x16x32_fp8_fp8": 16, "v_mfma_f32_32x32x16_bf16": 32, "v_mfma_f32_16x16x32_bf16": 16,
	"v_mfma_scale_f32_16x16x128_f8f6f4": 32, "v_mfma_f32_32x32x8_bf16_1k": 32, "v_mfma_f32_16x16x16_bf16": 16, "v_mfma_f32_16x16x16_bf16_1k": 16, "v_mfma_f32_32x32x16_fp8_fp8": 32,
}

var shape = regexp.MustCompile(`^v_mfma_(?:scale_)?[a-z0-9]+_(?:[a-z0-9]+_)?(\d+)x(\d+)x(\d+)`)

// raw are sums over the wave files of a directory, read by another reader.
type raw struct {
	flops, cycles, loopCycles float64
	waves                     int
	// resident and inLoop are the cycles of each SIMD with a wave, and with one
	// in the loop.
	resident, inLoop map[[3]int][]bool
}

// mostCycles is beyond the last cycle of the captures here.
const mostCycles = 1 << 19

// rawSums goes through every record cycle by cycle. first and last are the lines
// of the loop.
func rawSums(t *testing.T, dir string, first, last int) raw {
	t.Helper()
	var code struct{ Code [][]any }
	decode(t, filepath.Join(dir, "code.json"), &code)
	flops, cycles := map[int]float64{}, map[int]float64{}
	for _, row := range code.Code {
		text, line := row[0].(string), int(row[2].(float64))
		m := shape.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		n := 2.0
		for _, s := range m[1:] {
			x, _ := strconv.ParseFloat(s, 64)
			n *= x
		}
		name := regexp.MustCompile(`^\S+`).FindString(text)
		cost, known := costs[name]
		if !known {
			t.Fatalf("no cost of %s", name)
		}
		flops[line], cycles[line] = n, float64(cost)
	}
	r := raw{resident: map[[3]int][]bool{}, inLoop: map[[3]int][]bool{}}
	files, _ := filepath.Glob(filepath.Join(dir, "se*_sm*_sl*_wv*.json"))
	for _, file := range files {
		var doc struct {
			Name string
			Wave struct {
				CU, SIMD     int
				Begin, End   int64
				Instructions [][]int64
			}
		}
		decode(t, file, &doc)
		se, _ := strconv.Atoi(doc.Name[2:])
		at := [3]int{se, doc.Wave.CU, doc.Wave.SIMD}
		if r.resident[at] == nil {
			r.resident[at], r.inLoop[at] = make([]bool, mostCycles), make([]bool, mostCycles)
		}
		r.waves++
		for c := doc.Wave.Begin; c < doc.Wave.End; c++ {
			r.resident[at][c] = true
		}
		before := doc.Wave.Begin
		for _, in := range doc.Wave.Instructions {
			line, end := int(in[4]), in[0]+in[3]
			r.flops += flops[line]
			r.cycles += cycles[line]
			if line >= first && line <= last {
				r.loopCycles += cycles[line]
				for c := before; c < end; c++ {
					r.inLoop[at][c] = true
				}
			}
			before = max(before, end)
		}
	}
	return r
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func count(sets map[[3]int][]bool) float64 {
	n := 0
	for _, s := range sets {
		for _, in := range s {
			if in {
				n++
			}
		}
	}
	return float64(n)
}

// TestAgainstRaw recomputes the waterfall from the files: what was achieved from
// the operations of the wave files and the launch, coverage and loop cycle by
// cycle.
func TestAgainstRaw(t *testing.T) {
	for _, c := range []struct {
		dir         string
		first, last int     // lines of the loop
		peak        float64 // of the device, FLOP/s, by hand
	}{
		{"../../../shared/data/att/preshuffle_gemm", 206, 346, 256 * 8192 * 2.2e9},
		{"../../../shared/data/att/moe_gemm", 239, 470, 256 * 8192 * 2.2e9},
		{"../../../shared/data/att/flash_attn_func", 471, 1910, 256 * 4096 * 2.2e9},
		{"../../fixtures/att/gemm", 0, 0, 256 * 4096 * 2.2e9},
	} {
		found, _ := filepath.Glob(c.dir + "/ui_output_*")
		if len(found) == 0 {
			continue
		}
		t.Run(filepath.Base(c.dir), func(t *testing.T) {
			e, out, tt := measured(t, found[0])
			if e == nil || e.Absent != "" {
				t.Fatalf("%+v", e)
			}
			factor := map[string]float64{}
			for _, f := range e.Factors {
				factor[f.ID] = f.Value
			}
			h := hotspots.Analyzer.Of(out).Kernel(tt, e.Kernel)
			r := rawSums(t, found[0], c.first, c.last)
			near := func(what string, got, want float64) {
				if want == 0 || math.Abs(got/want-1) > 0.01 {
					t.Errorf("%s: %g, want %g", what, got, want)
				}
			}
			if e.ScaledBy == "waves" {
				all := r.flops / float64(r.waves) * float64(*h.Waves.InDispatch)
				near("achieved", *e.AchievedPct, 100*all/(*h.Launch.DurationNs*1e-9)/c.peak)
			} else {
				near("achieved", *e.AchievedPct, 100*r.flops**e.Scale/(*h.Launch.DurationNs*1e-9)/c.peak)
			}
			near("coverage of SIMD time", factor[efficiency.StepLoop]*factor[efficiency.StepCoverage], r.cycles/count(r.resident))
			if c.last > 0 {
				near("coverage in the loop", factor[efficiency.StepCoverage], r.loopCycles/count(r.inLoop))
			}
		})
	}
}

// Operations and cycles are of the same waves: with a wave file missing nothing
// is told.
func TestMissingWaves(t *testing.T) {
	from, _ := filepath.Glob("../../fixtures/att/gemm/ui_output_*")
	dir := filepath.Join(t.TempDir(), filepath.Base(from[0]))
	if err := os.CopyFS(dir, os.DirFS(from[0])); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gemm_agent_info.csv", "gemm_kernel_trace.csv"} {
		b, err := os.ReadFile(filepath.Join(filepath.Dir(from[0]), name))
		if err == nil {
			err = os.WriteFile(filepath.Join(filepath.Dir(dir), name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if e, _, _ := measured(t, dir); e == nil || e.Absent != "" {
		t.Fatalf("of the whole directory: %+v", e)
	}
	if err := os.Remove(filepath.Join(dir, "se0_sm0_sl0_wv0.json")); err != nil {
		t.Fatal(err)
	}
	if e, _, _ := measured(t, dir); e == nil || e.Absent != "7 of the 8 waves of the traced CUs have wave files" {
		t.Errorf("without a wave file: %+v", e)
	}
}
