package replay_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

// TestWorkersDoNotMatter: whoever reads which wave, the sums, sites and
// producers are the same, and they close: the waves of both groups sum to
// code.json, a wait's combinations to its stall and executions.
func TestWorkersDoNotMatter(t *testing.T) {
	dirs, err := filepath.Glob("../../fixtures/att/*/ui_output_*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, dir := range dirs {
		var first string
		for _, workers := range []int{1, 2, 5} {
			tr, err := ingest.Open(t.Context(), []string{dir}, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: workers}, replay.Analyzer)
			if err != nil {
				t.Fatal(err)
			}
			r := replay.Analyzer.Of(out, tr.ThreadTraces[0])
			if r.Mismatch.Rows != 0 || r.Unmatched != 0 || r.EdgesDiffer != 0 {
				t.Errorf("%s: %+v, %d unmatched, %d of %d waves' edges differ", dir, r.Mismatch, r.Unmatched, r.EdgesDiffer, r.EdgeWaves)
			}
			var sites []*replay.Site
			for row := range tr.ThreadTraces[0].Code {
				s := r.Site(row, true)
				sites = append(sites, s)
				if s == nil || len(s.Combos) == 0 {
					continue
				}
				var cycles, executions int64
				for _, c := range s.Combos {
					cycles += c.Cycles
					executions += c.Executions
				}
				in := tr.ThreadTraces[0].Code[row]
				if cycles != in.StallCycles || executions != in.Hits || s.Executions.Sum() != cycles || s.Executions.Count() != executions {
					t.Errorf("%s, line %d: %d cycles in %d executions, code.json has %d in %d", dir, in.Line, cycles, executions, in.StallCycles, in.Hits)
				}
			}
			for _, s := range r.SIMDs {
				if s.IssuingVALU > s.Issuing || s.Issuing > s.Resident || s.Resident > s.Last-s.First {
					t.Errorf("%s: %+v", dir, s)
				}
			}
			text, err := json.Marshal([]any{r.Counts, r.SIMDs, r.Kernels, sites})
			if err != nil {
				t.Fatal(err)
			}
			if first == "" {
				first = string(text)
			} else if string(text) != first {
				t.Errorf("%s: %d workers give another result", dir, workers)
			}
		}
	}
}
