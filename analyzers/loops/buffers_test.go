package loops_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/loops"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

// TestNeedOfRealWaits: of four drains of copies to LDS the reads behind them
// are of the other buffer, as one reads in the code: the barrier that makes
// the copies of all waves visible comes later. Nothing is issued too late there.
func TestNeedOfRealWaits(t *testing.T) {
	dirs, _ := filepath.Glob("../../../shared/data/att/flash_attn_func/ui_output*")
	if len(dirs) == 0 {
		t.Skip("no shared captures")
	}
	if _, err := os.Stat(dirs[0]); err != nil {
		t.Skip(err)
	}
	tr, err := ingest.Open(t.Context(), dirs[:1], ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2}, loops.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	tt := tr.ThreadTraces[0]
	k := loops.Analyzer.Of(out).Kernel(tt, 0)
	needless := map[int]bool{973: true, 1011: true, 1709: true, 1742: true}
	for row := range tt.Code {
		if line := tt.Code[row].Line; needless[line] && k.Need(row) != loops.NeedsOlder {
			t.Errorf("line %d needs %d", line, k.Need(row))
		}
	}
	for i := range out.Findings {
		if f := &out.Findings[i]; f.ID == "late_prefetch" && f.Place.Line != nil && needless[*f.Place.Line] {
			t.Errorf("%s", f.Line())
		}
	}
}
