package waves

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// Cmd shows the waves over time.
var Cmd = view.Command{
	Use:   "waves PATH...",
	Short: "When the traced waves ran, and what they did",
	Help: `Draws the traced waves over time, SIMD by SIMD: how many are resident, when they
issue, wait and stall, how long they live, how evenly SIMDs and shader engines
are loaded, and who comes late to barriers.

PATH is what hotspots takes: a dispatch directory, a tree or an archive of them.
--kernel chooses traces by the kernels whose waves they hold.
--format perfetto writes trace events for Perfetto (ui.perfetto.dev) or
chrome://tracing.`,
	Example: `  rocanalyze waves ui_output_agent_14705_dispatch_25
  rocanalyze waves --se 1 --simd 0 traces/
  rocanalyze waves --format perfetto -o waves.json traces/`,
	Exit:  [4]string{3: "readable, but there are no waves"},
	Takes: "a dispatch directory, a tree or an archive of them",
	Reads: trace.ThreadTraces,
	Runs:  []analysis.Required{Analyzer},
	Flags: []view.Flag{
		{Name: "top", Default: 10, Usage: "`rows` of the barrier table; 0 shows all"},
		{Name: "se", Default: -1, Usage: "draw the shader engine of this `number` (default: the first)"},
		{Name: "simd", Default: -1, Usage: "draw the wave slots of the SIMD of this `number`, too"},
		{Name: "bins", Default: 60, Usage: "`columns` of the timelines", Param: "waves.bins"},
		{Name: "min-cycles", Default: 8, Usage: "perfetto: draw shorter stalls with the issue around them (`cycles`)"},
	},
	Prepare: func(in *view.Input) error {
		if n := in.Flags.Int("bins"); n < 1 || n > 1000 {
			return fmt.Errorf("--bins is %d: give 1 to 1000", n)
		}
		return nil
	},
	Show:    show,
	Formats: map[string]view.Writer{"perfetto": perfetto},
	Output:  &Result{},
}

func show(in *view.Input) (*view.Shown, error) {
	res := Analyzer.Of(in.Outcome)
	if res == nil {
		return nil, in.NoThreadTrace()
	}
	if len(res.Traces)+len(res.Without) == 0 && in.Selects() {
		return nil, in.NoKernel(in.KernelNames())
	}
	v := View{SE: in.Flags.Int("se"), SIMD: in.Flags.Int("simd"), Top: in.Top(), Verbose: in.Verbose(), FullNames: in.FullNames()}
	if err := v.in(res); err != nil {
		return nil, err
	}
	s := &view.Shown{Document: Sections(res, v), Table: CSV(res), Result: res}
	for i := range res.Traces {
		t := &res.Traces[i]
		s.Rows = append(s.Rows, t.Kernels[:min(1, len(t.Kernels))]...)
	}
	if len(res.Traces) == 0 {
		s.Nothing = noWaves
	}
	return s, nil
}

const noWaves = "no thread trace holds wave files: keep se*_sm*_sl*_wv*.json beside code.json"

// in refuses the number of an engine or SIMD that no trace has.
func (v *View) in(res *Result) error {
	engines, simds := map[int]bool{}, map[int]bool{}
	for i := range res.Traces {
		for j := range res.Traces[i].Units {
			u := &res.Traces[i].Units[j]
			engines[u.SE] = true
			for k := range u.SIMDs {
				simds[u.SIMDs[k].SIMD] = true
			}
		}
	}
	for _, x := range []struct {
		flag  string
		value int
		have  map[int]bool
	}{{"--se", v.SE, engines}, {"--simd", v.SIMD, simds}} {
		if x.value >= 0 && len(x.have) > 0 && !x.have[x.value] {
			return fmt.Errorf("%s is %d: there are traced waves on %v only", x.flag, x.value, slices.Sorted(maps.Keys(x.have)))
		}
	}
	return nil
}

// perfetto writes the waves as trace events while they are read.
func perfetto(ctx context.Context, w io.Writer, in *view.Input) error {
	if err := Perfetto(ctx, w, in.Trace, int64(in.Flags.Int("min-cycles"))); err != nil {
		return err
	}
	for _, tt := range in.Trace.ThreadTraces {
		if tt.Waves != nil {
			return nil
		}
	}
	return view.Nothing(noWaves)
}
