package stalls_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

// TestReports: captures whose EXPECT.md says what some lines wait for.
func TestReports(t *testing.T) {
	for report, lines := range map[string]map[int]stalls.Class{
		"buffer_inv_counts": {5: stalls.VMEMWait, 7: stalls.FenceWait},
		"device_fence":      {4: stalls.VMEMWait, 8: stalls.StoreWait, 10: stalls.FenceWait, 12: stalls.AtomicWait},
		"polling_loop":      {4: stalls.PollWait, 6: stalls.PollWait, 9: stalls.VMEMWait},
	} {
		t.Run(report, func(t *testing.T) {
			dir := filepath.Join("../../../shared/data/reports", report)
			if _, err := os.Stat(dir); err != nil {
				t.Skip("the reports are not here")
			}
			tr, err := ingest.Open(t.Context(), []string{dir}, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2}, stalls.Analyzer)
			if err != nil {
				t.Fatal(err)
			}
			b := stalls.Analyzer.Of(out, tr.ThreadTraces[0])
			for row := range b.Rows {
				line := tr.ThreadTraces[0].Code[row].Line
				if want, ok := lines[line]; ok && (b.Rows[row].Class() != want || b.Rows[row].Parts[0].Cycles != b.Rows[row].StallCycles) {
					t.Errorf("line %d: %+v, want all of %d as %s", line, b.Rows[row].Parts, b.Rows[row].StallCycles, want)
				}
			}
		})
	}
}
