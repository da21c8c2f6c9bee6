package shape_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/shape"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

// shapeOf lists the features of the first kernel of a capture.
func shapeOf(t *testing.T, path string) string {
	t.Helper()
	tr, err := ingest.Open(t.Context(), []string{path}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 1}, shape.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(shape.Analyzer.Of(out, tr.ThreadTraces[0]).Kernels[0].Words(), ", ")
}

// TestRealShapes holds the shapes of captures against what their kernels do,
// read from their code.
func TestRealShapes(t *testing.T) {
	const data = "../../../shared/data/"
	if _, err := os.Stat(data); err != nil {
		t.Skip("no shared captures")
	}
	for dir, want := range map[string]string{
		"att/vec_add":                    "one pass, no matrix work, stores, streaming",
		"att/flash_attn_func":            "a loop, matrix work, matrix work in a loop, LDS reads, LDS writes, copies to LDS, barriers, barriers in a loop, stores",
		"att/preshuffle_gemm":            "a loop, matrix work, matrix work in a loop, a GEMM, LDS reads, LDS writes, barriers, barriers in a loop, stores",
		"att/moe_gemm":                   "a loop, matrix work, matrix work in a loop, a GEMM, LDS reads, LDS writes, barriers, barriers in a loop, stores",
		"att/hgemm_splitk":               "one pass, matrix work, a GEMM, LDS reads, LDS writes, copies to LDS, barriers, synchronisation",
		"att/blockscale_preshuffle_gemm": "one pass, matrix work, a GEMM, LDS reads, LDS writes, barriers, stores",
		"att/pa":                         "one pass, matrix work, LDS reads, LDS writes, barriers, stores",
		"att/pa_mqa_logits_fp4":          "a loop, matrix work, matrix work in a loop, stores",
		"att/rmsnorm":                    "one pass, no matrix work, LDS reads, LDS writes, barriers, stores, streaming, a reduction",
		"att/layernorm":                  "one pass, no matrix work, LDS reads, LDS writes, barriers, stores, streaming, a reduction",
		"att/moe_reduce":                 "one pass, no matrix work, stores, streaming",
		"att/topk_gating_softmax":        "one pass, no matrix work, stores, streaming, a reduction",
		"att/iree_wave_gfx950":           "one pass, matrix work, a GEMM, LDS reads, LDS writes, copies to LDS, barriers, stores",
		"att/vibesys_gfx90a":             "one pass, no matrix work, stores, streaming",
		"reports/polling_loop":           "one pass, no matrix work, stores, synchronisation",
		"reports/device_fence":           "one pass, matrix work, a GEMM, stores, synchronisation",
	} {
		path := data + dir
		if dirs, _ := filepath.Glob(path + "/ui_output*"); len(dirs) > 0 {
			path = dirs[0]
		}
		if got := shapeOf(t, path); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}
