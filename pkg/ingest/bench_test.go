package ingest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// BenchmarkOpenAndFold reads a whole capture: all files of the directory and
// all waves, as a command would.
func BenchmarkOpenAndFold(b *testing.B) {
	for _, kernel := range []string{"moe_reduce", "flash_attn_func"} {
		b.Run(kernel, func(b *testing.B) {
			dirs, err := filepath.Glob(filepath.Join("../../../shared/data/att", kernel, "ui_output_agent_*"))
			if err != nil || len(dirs) == 0 {
				b.Skip("no real captures in ../shared/data")
			}
			b.ReportAllocs()
			for b.Loop() {
				tr, err := Open(context.Background(), dirs[:1], Options{})
				if err != nil {
					b.Fatal(err)
				}
				report, err := tr.ThreadTraces[0].Waves.Fold(context.Background(), 2, func() trace.Folder { return &sumFolder{} })
				if err != nil || report.Missing+report.Damaged > 0 {
					b.Fatal(report, err)
				}
				b.SetBytes(report.Bytes)
			}
		})
	}
}
