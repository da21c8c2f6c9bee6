package analyzers_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/rules"
	"github.com/rocanalyze/rocanalyze/analyzers/shape"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// needs says what a kernel must have for a phrase to make sense.
var needs = []struct {
	phrase *regexp.Regexp
	shape  rule.Shape
}{
	{regexp.MustCompile(`tile_[mnk]|CShuffle|split-K|stream-K|lds_stage|A0 prefetch`), rule.GEMM},
	{regexp.MustCompile(`iteration|double.buffer|loop-carried`), rule.Loop},
	{regexp.MustCompile(`MFMA|matrix|\btiles?\b|accumulator`), rule.MatrixWork},
	{regexp.MustCompile(`LDS writes?\b`), rule.LDSWrites},
	{regexp.MustCompile(`LDS reads?\b|fragment`), rule.LDSReads},
	{regexp.MustCompile(`asynchronous|copies`), rule.Copies | rule.LDSWrites},
	{regexp.MustCompile(`barrier`), rule.Barriers},
	{regexp.MustCompile(`hot_loop_scheduler`), rule.MatrixLoop},
}

// lacking names the phrase of a fix that a kernel of some shape has no use for,
// "" for none.
func lacking(fix string, s rule.Shape) string {
	for _, n := range needs {
		if word := n.phrase.FindString(fix); word != "" && !s.Has(n.shape) {
			return word
		}
	}
	return ""
}

// traces lists the thread traces below a folder.
func traces(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "code.json" {
			out = append(out, filepath.Dir(path))
		}
		return nil
	})
	return out
}

// TestFixesFit: no fix speaks of what the kernel does not have.
func TestFixesFit(t *testing.T) {
	dirs := append(traces(t, "../fixtures/att"), traces(t, "../../shared/data")...)
	if len(dirs) == 0 {
		t.Fatal("no traces")
	}
	for _, dir := range dirs {
		tr, err := ingest.Open(t.Context(), []string{dir}, ingest.Options{})
		if err != nil {
			continue // not readable on purpose
		}
		out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2}, rules.Analyzer, shape.Analyzer, stalls.Analyzer)
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range tr.ThreadTraces {
			for k, s := range shape.Analyzer.Of(out, tt).Kernels {
				kn := tt.Kernels[k]
				for _, sum := range stalls.Analyzer.Of(out, tt).Sum(kn.First, kn.Last) {
					class := stalls.InfoOf(sum.Class)
					if word := lacking(class.FixFor(s), s); word != "" {
						t.Errorf("%s: class %s speaks of %q: %s", dir, class.Class, word, class.FixFor(s))
					}
				}
				if len(tt.Kernels) > 1 {
					continue
				}
				for i := range out.Findings {
					if f := &out.Findings[i]; !f.Gate {
						if word := lacking(f.Fix, s); word != "" {
							t.Errorf("%s: %s speaks of %q: %s", dir, f.ID, word, f.Fix)
						}
					}
				}
			}
		}
	}
}
