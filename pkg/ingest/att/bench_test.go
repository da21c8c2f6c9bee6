package att

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// realData is where real captures are found; tests that need them skip without.
const realData = "../../../../shared/data/att"

// realDir returns the first dispatch directory of a kernel's real captures.
func realDir(tb testing.TB, kernel string) string {
	tb.Helper()
	dirs, err := filepath.Glob(filepath.Join(realData, kernel, "ui_output_agent_*"))
	if err != nil || len(dirs) == 0 {
		tb.Skipf("no real captures of %s in %s", kernel, realData)
	}
	return dirs[0]
}

func readReal(tb testing.TB, kernel, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(realDir(tb, kernel), name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func BenchmarkCode(b *testing.B) {
	data := readReal(b, "flash_attn_func", "code.json")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var n notes
		if doc := readCode(data, &n); len(doc.code) == 0 || len(n) > 0 {
			b.Fatal(n)
		}
	}
}

func BenchmarkOccupancy(b *testing.B) {
	data := readReal(b, "moe_reduce", "occupancy.json")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var n notes
		if occ := readOccupancy(data, nil, &n); occ.Starts() == 0 || len(n) > 0 {
			b.Fatal(n)
		}
	}
}

// BenchmarkWaveFile reads one large wave from memory.
func BenchmarkWaveFile(b *testing.B) {
	data := readReal(b, "flash_attn_func", "se0_sm0_sl0_wv0.json")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var r waveReader
	for b.Loop() {
		if problem := r.read(data, listedWave{}); problem != "" {
			b.Fatal(problem)
		}
	}
}

// countFolder counts what it is given.
type countFolder struct{ waves, records int }

func (f *countFolder) Wave(w *trace.Wave) {
	f.waves++
	f.records += len(w.Records)
}

// BenchmarkWaves reads all waves of a directory from its files.
func BenchmarkWaves(b *testing.B) {
	for _, kernel := range []string{"flash_attn_func", "moe_reduce"} {
		b.Run(kernel, func(b *testing.B) {
			dir := realDir(b, kernel)
			tt, _, err := Open(context.Background(), os.DirFS(filepath.Dir(dir)), filepath.Base(dir), dir, direct{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				report, err := tt.Waves.Fold(context.Background(), 1, func() trace.Folder { return &countFolder{} })
				if err != nil || report.Read != tt.Waves.Listed() {
					b.Fatal(report, err)
				}
				b.SetBytes(report.Bytes)
			}
		})
	}
}
