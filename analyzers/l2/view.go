package l2

import (
	"errors"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// Cmd shows what L2 and memory did.
var Cmd = view.Command{
	Use:   "l2 SOURCE...",
	Short: "What the L2 cache and memory did, and what follows from it",
	Help: `Shows, per kernel, hits and misses, the bytes that L2 read from and wrote to
memory, bandwidth against the device's peak, the share of HBM, partial lines,
over-fetch and the balance of the channels, and decides: at the roof, channels
uneven, partial lines, over-fetch, reuse lost, streaming, cached.

` + counters.SourceHelp + `

Bytes follow the sizes of the requests (32, 64, 128 B), which need other counters
on each architecture; without them a range is given. --ea-channels is accepted and
not needed: no counter is multiplied.`,
	Example: `  rocanalyze l2 out_counter_collection.csv
  rocanalyze l2 --kernel 'pa_decode' --ideal-gb 8.59 pass_1/ pass_2/
  rocanalyze l2 --device MI300X --format json out/ | jq '.kernels[].decisions[0]'`,
	Exit:  [4]string{3: "readable, but no dispatch or no metric of L2"},
	Takes: counters.Takes,
	Reads: trace.Counters,
	Runs:  []analysis.Required{counters.Analyzer, Analyzer},
	Flags: []view.Flag{
		view.Top(15, "`kernels` shown in text and markdown"),
		{Name: "ideal-gb", Default: 0.0, Usage: "`GB` (1e9 bytes) that one dispatch has to read"},
		{Name: "ideal-bytes", Default: 0.0, Usage: "`bytes` that one dispatch has to read"},
		{Name: "ea-channels", Default: 0, Usage: "not needed: bytes follow from the sizes of requests"},
	},
	Prepare: ideal,
	Show:    show,
	Output:  output{},
}

// output is the machine output.
type output struct {
	*Result
	Findings []finding.Finding `json:"findings"`
}

// ideal sets the number of bytes that a dispatch has to read; 0 is not known.
func ideal(in *view.Input) error {
	gb, bytes := in.Flags.Number("ideal-gb"), in.Flags.Number("ideal-bytes")
	switch {
	case in.Flags.Given("ideal-gb") && in.Flags.Given("ideal-bytes"):
		return errors.New("--ideal-gb and --ideal-bytes say the same: give one")
	case gb < 0 || bytes < 0:
		return errors.New("--ideal-gb and --ideal-bytes are not negative")
	case in.Flags.Given("ideal-gb"):
		bytes = gb * 1e9
	}
	in.Set("l2.ideal_bytes", bytes)
	return nil
}

func show(in *view.Input) (*view.Shown, error) {
	if _, err := counters.Counted(in); err != nil {
		return nil, err
	}
	res := Analyzer.Of(in.Outcome)
	v := counters.View{Top: in.Top(), Verbose: in.Verbose(), FullNames: in.FullNames()}
	findings := in.Findings()
	s := &view.Shown{
		Document: Sections(res, v), Table: CSV(res), Result: output{res, findings}, Findings: findings,
		Nothing: "no counter of L2 or memory was taken: see rocanalyze metrics l2_hit_pct",
	}
	if in.Flags.Given("ea-channels") {
		s.Notes = append(s.Notes, "info: --ea-channels is not needed: bytes follow from the sizes of requests, no counter is multiplied")
	}
	for i := range res.Kernels {
		k := &res.Kernels[i]
		s.Rows = append(s.Rows, k.Name)
		for id := range k.Metrics {
			if id != "duration_ns" {
				s.Nothing = ""
			}
		}
	}
	return s, nil
}
