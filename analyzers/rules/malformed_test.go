package rules_test

import (
	"path/filepath"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/rules"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

// Captures that are wrong in some way still give a result, with a verdict in
// words for every kernel.
func TestMalformedCaptures(t *testing.T) {
	dirs, err := filepath.Glob("../../fixtures/att/malformed/*/ui_output_*")
	if err != nil || len(dirs) < 15 {
		t.Fatalf("%d captures, %v", len(dirs), err)
	}
	if real, err := filepath.Glob("../../../shared/data/att/synthetic/*/ui_output_*"); err == nil {
		dirs = append(dirs, real...)
	}
	for _, dir := range dirs {
		tr, err := ingest.Open(t.Context(), []string{dir}, ingest.Options{})
		if err != nil {
			continue // not readable at all
		}
		out, err := analysis.Run(t.Context(), tr, analysis.Options{}, rules.Analyzer)
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		for _, k := range rules.Analyzer.Of(out).Kernels {
			if k.Verdict == "" || k.Regime == "" || k.Confidence == "" || len(k.Sources) == 0 {
				t.Errorf("%s: %q has regime %q, confidence %q: %q", dir, k.Name, k.Regime, k.Confidence, k.Verdict)
			}
			for _, f := range k.Findings {
				if f.Bound != nil && !(f.Bound.Pct >= 0 && f.Bound.Pct <= 100) {
					t.Errorf("%s: %s is bound by %g %%", dir, f.ID, f.Bound.Pct)
				}
			}
		}
	}
}
