package analyzers_test

import (
	"context"
	"fmt"
	"log"

	"github.com/rocanalyze/rocanalyze/analyzers/rules"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

// Anything that a profiler left is opened, judged, and said in words. What the
// inputs do not tell is part of the result: an inconclusive verdict names what
// is missing, Outcome.Skipped what to capture; errors are of inputs that cannot
// be read.
func Example() {
	ctx := context.Background()
	t, err := ingest.Open(ctx, []string{"../fixtures/att/judged/uneven"}, ingest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = t.Close() }()
	out, err := analysis.Run(ctx, t, analysis.Options{}, rules.Analyzer)
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range rules.Analyzer.Of(out).Kernels {
		fmt.Printf("%s: %s, confidence %s\n", k.Name, k.Verdict, k.Confidence)
		for _, f := range k.Findings {
			if f.Severity >= finding.High {
				fmt.Printf("%s: %s: %s. %s\n", f.Severity, f.ID, f.Text, f.Fix)
			}
		}
	}
	for _, s := range out.Skipped {
		fmt.Printf("%s needs %s\n", s.Analyzer, s.Lacks)
	}
	// Output:
	// uneven_phases: latency-bound: the busiest resource (instruction issue) is at 21 %, waves wait 69 % of their time, most for barriers (42 %), confidence medium
	// high: barrier: 42.0 % of wave cycles; 100 % of that at s_barrier. fewer barriers per iteration (two LDS buffers need one), the next phase's loads before the barrier; give all waves equal work: the last one to come sets the time
	// counters needs hardware counters
	// l2 needs hardware counters
	// samples needs PC samples
}
