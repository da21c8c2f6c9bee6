package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/rules"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

const realTraces = "../../../shared/data/att"

var confidences = []string{"none", "low", "medium", "high"}

// judge reads paths and judges the kernels in them.
func judge(t *testing.T, paths ...string) *rules.Result {
	t.Helper()
	tr, err := ingest.Open(t.Context(), paths, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2}, rules.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return rules.Analyzer.Of(out)
}

// judgeTraced returns the verdict on the traced kernel of some paths.
func judgeTraced(t *testing.T, paths ...string) rules.Kernel {
	t.Helper()
	for _, k := range judge(t, paths...).Kernels {
		if len(k.Traces) > 0 {
			return k
		}
	}
	t.Fatalf("no traced kernel in %v", paths)
	return rules.Kernel{}
}

// More evidence on a real capture never lowers the confidence, and never turns
// one verdict into another without saying why.
func TestEvidenceAddsUp(t *testing.T) {
	if _, err := os.Stat(realTraces); err != nil {
		t.Skipf("no real captures at %s", realTraces)
	}
	databases := filepath.Join(realTraces, "../rocpd/real")
	for _, name := range []string{"flash_attn_func", "hgemm_splitk", "layernorm", "vec_add", "topk_gating_softmax", "blockscale_preshuffle_gemm"} {
		t.Run(name, func(t *testing.T) {
			dirs, err := filepath.Glob(filepath.Join(realTraces, name, "ui_output_*"))
			if err != nil || len(dirs) != 1 {
				t.Fatalf("%v, %v", dirs, err)
			}
			bare := t.TempDir()
			if err := os.CopyFS(filepath.Join(bare, filepath.Base(dirs[0])), os.DirFS(dirs[0])); err != nil {
				t.Fatal(err)
			}
			steps := []rules.Kernel{judgeTraced(t, bare), judgeTraced(t, filepath.Join(realTraces, name))}
			db := filepath.Join(databases, "real_mi350x_"+name+".db")
			if _, err := os.Stat(db); err == nil {
				steps = append(steps, judgeTraced(t, filepath.Join(realTraces, name), db))
			}
			for i := 1; i < len(steps); i++ {
				was, is := steps[i-1], steps[i]
				if slices.Index(confidences, string(is.Confidence)) < slices.Index(confidences, string(was.Confidence)) {
					t.Errorf("confidence falls from %s to %s", was.Confidence, is.Confidence)
				}
				if was.Regime != regime.Inconclusive && is.Regime != was.Regime && len(is.Contradictions) == 0 {
					t.Errorf("%s becomes %s without a reason", was.Verdict, is.Verdict)
				}
			}
			if slices.Index(confidences, string(steps[1].Confidence)) <= slices.Index(confidences, string(steps[0].Confidence)) {
				t.Errorf("the companions do not raise the confidence: %s, %s", steps[0].Confidence, steps[1].Confidence)
			}
		})
	}
}

// The 90 % of the GPU time that get a verdict are the longest kernels.
func TestMattersByTime(t *testing.T) {
	sum, last := 0.0, int64(1<<62)
	for _, k := range judge(t, "../../fixtures/rocpd/train").Kernels {
		if k.Time == nil || k.Time.TotalNs > last {
			t.Fatalf("%s: time %+v behind %d ns", k.Name, k.Time, last)
		}
		if runtime := strings.HasPrefix(k.Name, "__amd_rocclr"); k.Time.Matters != (sum < 90 && !runtime) {
			t.Errorf("%s: matters %v at %.1f %%", k.Name, k.Time.Matters, sum)
		}
		sum += k.Time.SharePct
		last = k.Time.TotalNs
	}
	if sum < 99.9 || sum > 100.1 {
		t.Errorf("shares sum to %g %%", sum)
	}
}

// TestSetReachesEveryOwner: thresholds of rules, wherever they are defined, of
// analyzers and of the scale, are changed; what nobody has is refused.
func TestSetReachesEveryOwner(t *testing.T) {
	known, err := analysis.Params(rules.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	for text, ok := range map[string]bool{
		"vmem_wait.share_pct=7":        true,
		" vmem_wait.share_pct = 7 ":    true,
		"late_prefetch.share_pct=7":    true,
		"tail.full_pct=7":              true,
		"l2.roof_pct=7":                true,
		"regime.filled_pct=7":          true,
		"trust.coverage_pct=7":         true,
		"severity.high_pct=7":          true,
		"rules.most_of_pct=7":          true,
		"compute_pct=7":                false,
		"advice.vmem_wait.share_pct=7": false,
		"occupancy.tail_fill_pct=7":    false,
		"vmem_wait.share_pct=NaN":      false,
		"vmem_wait.share_pct=+Inf":     false,
	} {
		params := map[string]float64{}
		err := analysis.Assign(params, text, known)
		name, _, _ := strings.Cut(text, "=")
		if (err == nil) != ok || ok && params[strings.TrimSpace(name)] != 7 {
			t.Errorf("%q: %v, %v", text, params, err)
		}
	}
}

func FuzzAssignment(f *testing.F) {
	for _, s := range []string{"vmem_wait.share_pct=7", "regime.compute_pct=1e9", "=", "a=b=c", "x\x00=1"} {
		f.Add(s)
	}
	known, err := analysis.Params(rules.Analyzer)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		params := map[string]float64{}
		err := analysis.Assign(params, s, known)
		for name, value := range params {
			if err == nil && (name == "" || value != value) {
				t.Errorf("%q gives %q, %g", s, name, value)
			}
		}
	})
}
