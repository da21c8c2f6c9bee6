package regime_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

const attData = "../../../shared/data/att"

// diagnose judges the captures under a path.
func diagnose(t *testing.T, paths ...string) []regime.Kernel {
	t.Helper()
	tr, err := ingest.Open(t.Context(), paths, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2}, regime.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return regime.Analyzer.Of(out).Kernels
}

func skipWithoutData(t *testing.T) {
	if _, err := os.Stat(attData); err != nil {
		t.Skipf("no real captures at %s", attData)
	}
}

// TestPublishedVerdicts compares with what kernel engineers published, where
// the trace supports it.
func TestPublishedVerdicts(t *testing.T) {
	skipWithoutData(t)
	raw, err := os.ReadFile(filepath.Join(attData, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Dispatches []struct {
			Kernel, Dispatch string
			Label            struct {
				Class  string
				Accept []string
			}
			Holds string `json:"label_holds"`
		}
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	if len(want.Dispatches) == 0 {
		t.Fatal("expected.json lists no dispatch")
	}
	for _, w := range want.Dispatches {
		t.Run(w.Kernel, func(t *testing.T) {
			ks := diagnose(t, filepath.Join(attData, w.Kernel))
			if len(ks) != 1 {
				t.Fatalf("%d kernels", len(ks))
			}
			k := ks[0]
			t.Logf("%s\n    %s, %s: %s\n    also %s", k.Verdict, k.Subtype, k.Confidence, strings.Join(k.ConfidenceReasons, "; "), strings.Join(k.Also, "; "))
			if w.Holds == "yes" && !slices.Contains(append(w.Label.Accept, w.Label.Class), string(k.Regime)) {
				t.Errorf("%s (%s), want %s or %v", k.Regime, k.Verdict, w.Label.Class, w.Label.Accept)
			}
		})
	}
}

// TestRequestedBytes holds the trace-only figures against ones that were
// computed apart from this code: bytes requested over HBM's share, times fill.
func TestRequestedBytes(t *testing.T) {
	skipWithoutData(t)
	for dir, want := range map[string]float64{
		"vec_add": 1.06, "moe_reduce": 0.75, "rmsnorm": 2.09, "layernorm": 0.90, "moe_gemm": 0.88, "preshuffle_gemm": 1.79,
		"pa_mqa_logits_fp4": 1.04, "flash_attn_func": 0.58, "blockscale_preshuffle_gemm": 0.38, "topk_gating_softmax": 0.38, "hgemm_splitk": 0.23,
	} {
		m := diagnose(t, filepath.Join(attData, dir))[0].Traces[0]
		if m.WindowRatio == nil {
			t.Errorf("%s: no ratio", dir)
			continue
		}
		if got := *m.WindowRatio * m.Held; got < want-0.006 || got > want+0.006 {
			t.Errorf("%s: ratio x fill %.3f, want %.2f", dir, got, want)
		}
	}
}
