package l2_test

import (
	"os"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/l2"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// BenchmarkBig reads the table that scripts/gencounters -big writes;
// COUNTERS_BIG names it.
func BenchmarkBig(b *testing.B) {
	file := os.Getenv("COUNTERS_BIG")
	info, err := os.Stat(file)
	if err != nil {
		b.Skip("COUNTERS_BIG does not name a table: go run ./scripts/gencounters -big FILE")
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		tr, err := ingest.Open(b.Context(), []string{file}, ingest.Options{Only: trace.Counters})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := analysis.Run(b.Context(), tr, analysis.Options{Workers: 2}, l2.Analyzer); err != nil {
			b.Fatal(err)
		}
	}
}
