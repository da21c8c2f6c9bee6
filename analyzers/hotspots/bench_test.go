package hotspots_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/hotspots"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

// BenchmarkHotspots reads and analyses whole captures, wave files included.
func BenchmarkHotspots(b *testing.B) {
	dirs, err := filepath.Glob(filepath.Join(data, "*", "ui_output_*"))
	if err != nil {
		b.Fatal(err)
	}
	fixtures, err := filepath.Glob("../../fixtures/att/*/ui_output_*")
	if err != nil {
		b.Fatal(err)
	}
	for _, dir := range append(dirs, fixtures...) {
		b.Run(filepath.Base(filepath.Dir(dir)), func(b *testing.B) {
			b.SetBytes(size(b, dir))
			b.ReportAllocs()
			for b.Loop() {
				tr, err := ingest.Open(b.Context(), []string{dir}, ingest.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := analysis.Run(b.Context(), tr, analysis.Options{Workers: 2}, hotspots.Analyzer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func size(b *testing.B, dir string) int64 {
	b.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	var n int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			b.Fatal(err)
		}
		n += info.Size()
	}
	return n
}
