package stalls_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// breakDownOf analyses a report; it skips the test where they are not.
func breakDownOf(t *testing.T, report string) (*trace.ThreadTrace, *stalls.Breakdown) {
	t.Helper()
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
	return tr.ThreadTraces[0], stalls.Analyzer.Of(out, tr.ThreadTraces[0])
}

// TestReports: captures whose EXPECT.md says what some lines wait for.
func TestReports(t *testing.T) {
	for report, lines := range map[string]map[int]stalls.Class{
		"buffer_inv_counts": {5: stalls.VMEMWait, 7: stalls.FenceWait},
		"device_fence":      {4: stalls.VMEMWait, 8: stalls.StoreWait, 10: stalls.FenceWait, 12: stalls.AtomicWait},
		"polling_loop":      {4: stalls.PollWait, 6: stalls.PollWait, 9: stalls.VMEMWait},
		"combined_wait":     {4: stalls.LDSWait, 2: stalls.SMEMWait},
	} {
		t.Run(report, func(t *testing.T) {
			tt, b := breakDownOf(t, report)
			for row := range b.Rows {
				line := tt.Code[row].Line
				if want, ok := lines[line]; ok && (b.Rows[row].Class() != want || b.Rows[row].Parts[0].Cycles != b.Rows[row].StallCycles) {
					t.Errorf("line %d: %+v, want all of %d as %s", line, b.Rows[row].Parts, b.Rows[row].StallCycles, want)
				}
			}
		})
	}
}

// TestCombinedWait: six lone LDS reads of 48 cycles each say what LDS explains
// of the wait for a load and an LDS read.
func TestCombinedWait(t *testing.T) {
	tt, b := breakDownOf(t, "combined_wait")
	sums := map[stalls.Class]int64{}
	for _, s := range b.Sum(0, len(b.Rows)) {
		sums[s.Class] += s.Cycles
		if s.EstimatedCycles != 0 {
			t.Errorf("%s is not sure: %+v", s.Class, s)
		}
	}
	for row := range b.Rows {
		if tt.Code[row].Line != 23 {
			continue
		}
		r := &b.Rows[row]
		if r.Class() != stalls.VMEMWait || len(r.Parts) != 2 || r.Parts[1].Class != stalls.LDSWait || r.Parts[1].Cycles > 192 ||
			r.Parts[0].Cycles+r.Parts[1].Cycles != r.StallCycles {
			t.Errorf("line 23: %+v of %d", r.Parts, r.StallCycles)
		}
	}
	if sums[stalls.LDSWait] > 1344 || sums[stalls.VMEMWait] < 2208 {
		t.Errorf("sums %v", sums)
	}
}

// TestStages: the four waits of the GEMM's loop, and the four before it, wait
// for loads that are all under way at the first of them.
func TestStages(t *testing.T) {
	tr, err := ingest.Open(t.Context(), []string{"../../fixtures/att/gemm"}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2}, stalls.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	tt := tr.ThreadTraces[0]
	b := stalls.Analyzer.Of(out, tt)
	want := map[int]int{60: 60, 62: 60, 64: 60, 66: 60, 99: 99, 101: 99, 103: 99, 105: 99}
	for row := range tt.Code {
		line, first := tt.Code[row].Line, b.StageOf(row)
		switch {
		case first >= 0 && tt.Code[first].Line != want[line]:
			t.Errorf("line %d is in the stage of line %d, want %d", line, tt.Code[first].Line, want[line])
		case first < 0 && want[line] != 0:
			t.Errorf("line %d is in no stage", line)
		case first == row && len(b.Stage(row)) != 4:
			t.Errorf("the stage of line %d is %v", line, b.Stage(row))
		}
	}
}
