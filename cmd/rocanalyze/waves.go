package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers/waves"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

type wavesFlags struct {
	common
	se, simd  int
	bins      int
	minCycles int64
}

func newWaves(a *app) *cobra.Command {
	f := &wavesFlags{}
	cmd := &cobra.Command{
		Use:   "waves PATH...",
		Short: "When the traced waves ran, and what they did",
		Long: `Draws the traced waves over time, SIMD by SIMD: how many are resident, when they
issue, wait and stall, how long they live, how evenly SIMDs and shader engines
are loaded, and who comes late to barriers.

PATH is what hotspots takes: a dispatch directory, a tree or an archive of them.
--format perfetto writes trace events for Perfetto (ui.perfetto.dev) or
chrome://tracing.

Exit status:
  0  done
  2  bad usage, or an input that cannot be read (whole)
  3  readable, but there are no waves`,
		Example: `  rocanalyze waves ui_output_agent_14705_dispatch_25
  rocanalyze waves --se 1 --simd 0 traces/
  rocanalyze waves --format perfetto -o waves.json traces/`,
		Args: somePath("a dispatch directory, a tree or an archive of them"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.waves(cmd.Context(), f, args) },
	}
	f.register(cmd)
	fl := cmd.Flags()
	fl.Lookup("format").Usage = "output `format`: text, json, csv, markdown or perfetto"
	fl.IntVar(&f.top, "top", 10, "`rows` of the barrier table; 0 shows all")
	fl.IntVar(&f.se, "se", -1, "draw the shader engine of this `number` (default: the first)")
	fl.IntVar(&f.simd, "simd", -1, "draw the wave slots of the SIMD of this `number`, too")
	fl.IntVar(&f.bins, "bins", 60, "`columns` of the timelines")
	fl.Int64Var(&f.minCycles, "min-cycles", 8, "perfetto: draw shorter stalls with the issue around them (`cycles`)")
	return cmd
}

func (a *app) waves(ctx context.Context, f *wavesFlags, paths []string) error {
	perfetto := f.format == "perfetto"
	if !perfetto {
		if err := f.check(); err != nil {
			return err
		}
	}
	if f.bins < 1 || f.bins > 1000 {
		return fmt.Errorf("--bins is %d: give 1 to 1000", f.bins)
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	opts.Params["waves.bins"] = float64(f.bins)
	busy := a.busy("reading " + strings.Join(paths, " "))
	defer busy.stop()
	t, err := ingest.Open(ctx, paths, ingest.Options{})
	if err != nil {
		return err
	}
	notes := notesOf(t, f.verbose)
	if perfetto {
		err := a.perfetto(ctx, f, t)
		busy.stop()
		a.warn(&f.common, notes)
		return err
	}
	out, err := analysis.Run(ctx, t, opts, waves.Analyzer)
	if err != nil {
		return err
	}
	busy.stop()
	res := waves.Analyzer.Of(out)
	if res == nil {
		return fmt.Errorf("no thread trace in %s: give a ui_output_agent_*_dispatch_* directory", strings.Join(paths, " "))
	}
	if err := f.inTrace(res); err != nil {
		return err
	}
	lost := 0
	for i := range res.Traces {
		lost += res.Traces[i].FilesMissing + res.Traces[i].FilesDamaged
	}
	v := waves.View{SE: f.se, SIMD: f.simd, Top: f.top, Verbose: f.verbose, FullNames: f.fullNames}
	err = a.show(&f.common, view{
		doc: waves.Sections(res, v), tables: waves.Tables(res), table: waves.TableID,
		result: res, env: envelope("waves", paths, t.Damaged() || lost > 0, notes),
	})
	if err != nil {
		return err
	}
	a.warn(&f.common, notes)
	return wavesStatus(t, len(res.Traces), lost)
}

// inTrace refuses the number of an engine or SIMD that no trace has.
func (f *wavesFlags) inTrace(res *waves.Result) error {
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
	}{{"--se", f.se, engines}, {"--simd", f.simd, simds}} {
		if x.value >= 0 && len(x.have) > 0 && !x.have[x.value] {
			return fmt.Errorf("%s is %d: there are traced waves on %v only", x.flag, x.value, slices.Sorted(maps.Keys(x.have)))
		}
	}
	return nil
}

func wavesStatus(t *trace.Trace, withWaves, lost int) error {
	switch {
	case t.Damaged() || lost > 0:
		return &statusError{exitUnreadable, "parts of the input could not be read: the results are partial"}
	case withWaves == 0:
		return &statusError{exitNothingSaid, "no thread trace holds wave files: keep se*_sm*_sl*_wv*.json beside code.json"}
	}
	return nil
}

// perfetto writes the waves as trace events while they are read.
func (a *app) perfetto(ctx context.Context, f *wavesFlags, t *trace.Trace) (err error) {
	var w io.Writer = a.stdout
	if f.output != "" {
		file, err := os.Create(f.output)
		if err != nil {
			return fmt.Errorf("cannot write the output: %w", err)
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		w = file
	}
	with := 0
	for _, tt := range t.ThreadTraces {
		if tt.Waves != nil {
			with++
		}
	}
	lost, err := waves.Perfetto(ctx, w, t.ThreadTraces, f.minCycles)
	if err != nil {
		return err
	}
	return wavesStatus(t, with, lost)
}
