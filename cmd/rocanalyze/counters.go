package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// counterSources describes SOURCE in the help of the commands that read
// counters.
const counterSources = `SOURCE is a counter table of rocprofv3 (*_counter_collection.csv), of rocprof v1 or
v2, a results.json, a rocprof-compute workload directory, or a directory tree with
pass_N (pmc_N) directories. Files that are named together are passes of one run;
in a tree, files of one directory and prefix are.

The GPU comes from agent_info.csv or sysinfo.csv beside the counters, else from
--device, else from counters that only one architecture has.`

type countersFlags struct {
	common
	aggregation string
	perDispatch bool
}

func newCounters(a *app) *cobra.Command {
	f := &countersFlags{}
	cmd := &cobra.Command{
		Use:   "counters SOURCE...",
		Short: "Every metric that the counters of a run allow",
		Long: `Computes, per kernel, every metric of the catalogue (see metrics) whose counters
were taken, and proposes the one further pass that would unlock most.

` + counterSources + `

A metric is computed over the sums of all dispatches; --aggregation mean gives the
mean of each dispatch's value, as older rocprof-compute did. A value that cannot be
right is left out, with the usual cause; without the counters of request sizes,
bytes are a range.

Exit status:
  0  done
  2  bad usage, or an input that cannot be read (whole)
  3  readable, but no dispatch or no metric`,
		Example: `  rocanalyze counters out_counter_collection.csv
  rocanalyze counters --kernel gemm pass_1/ pass_2/ -v
  rocanalyze counters --device MI300X --per-dispatch --format csv out/
  rocanalyze counters --format json workload/ | jq '.kernels[].metrics.l2_hit_pct'`,
		Args: someSource,
		RunE: func(cmd *cobra.Command, args []string) error { return a.counters(cmd.Context(), f, args) },
	}
	f.register(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.top, "top", 3, "`kernels` shown in text and markdown; 0 shows all")
	fl.StringVar(&f.aggregation, "aggregation", "sum", "over dispatches: `sum` (of sums) or mean (of each dispatch's value)")
	fl.BoolVar(&f.perDispatch, "per-dispatch", false, "show every dispatch as well")
	return cmd
}

func someSource(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no SOURCE given: name a counter table or a directory of them (see '%s --help')", cmd.CommandPath())
	}
	return nil
}

func (a *app) counters(ctx context.Context, f *countersFlags, paths []string) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := oneOf("--aggregation", f.aggregation, []string{"sum", "mean"}); err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	if f.aggregation == "mean" {
		opts.Params["counters.mean_of_ratios"] = 1
	}
	table := counters.TableID
	if f.perDispatch {
		opts.Params["counters.per_dispatch"] = 1
		table = counters.DispatchTableID
	}
	t, out, err := a.counted(ctx, paths, opts, counters.Analyzer)
	if err != nil {
		return err
	}
	res := counters.Analyzer.Of(out)
	if res == nil {
		return noCounters(paths)
	}
	t.Notes = append(t.Notes, res.Read...)
	if err := a.nothingCounted(&f.common, t, res); err != nil {
		return err
	}
	notes := notesOf(t, f.verbose)
	v := counters.View{Top: f.top, Verbose: f.verbose, FullNames: f.fullNames}
	err = a.show(&f.common, view{
		doc: counters.Sections(res, v), tables: counters.Tables(res), table: table,
		result: res, env: envelope("counters", paths, t.Damaged(), notes),
	})
	if err != nil {
		return err
	}
	a.warn(&f.common, notes)
	return a.countersStatus(t, res)
}

// counted reads counters and runs an analyzer over them.
func (a *app) counted(ctx context.Context, paths []string, opts analysis.Options, analyzer analysis.Required) (*trace.Trace, *analysis.Outcome, error) {
	busy := a.busy("reading " + strings.Join(paths, " "))
	defer busy.stop()
	t, err := ingest.Open(ctx, paths, ingest.Options{Counters: true})
	if err != nil {
		return nil, nil, err
	}
	out, err := analysis.Run(ctx, t, opts, analyzer)
	if err != nil && ctx.Err() == nil {
		err = errors.New("--device: " + err.Error())
	}
	return t, out, err
}

func noCounters(paths []string) error {
	return fmt.Errorf("no counters in %s: give the *_counter_collection.csv that rocprofv3 --pmc wrote, or a directory of them", strings.Join(paths, " "))
}

// nothingCounted says why there is no kernel to show, if there is none.
func (a *app) nothingCounted(f *common, t *trace.Trace, res *counters.Result) error {
	if len(res.Kernels) > 0 {
		return nil
	}
	a.warn(f, notesOf(t, f.verbose))
	switch {
	case len(res.Names) > 0:
		return fmt.Errorf("no kernel matches --kernel %q; there are: %s", f.kernel, firstNames(res.Names))
	case t.Damaged():
		return &statusError{exitUnreadable, "no dispatch could be read"}
	}
	return &statusError{exitNothingSaid, "no dispatch was counted: the workload is empty"}
}

// countersStatus is the exit status of what was shown.
func (a *app) countersStatus(t *trace.Trace, res *counters.Result) error {
	if t.Damaged() {
		return &statusError{exitUnreadable, "parts of the input could not be read: the results are partial"}
	}
	for i := range res.Kernels {
		if len(res.Kernels[i].Metrics) > 0 {
			return nil
		}
	}
	return &statusError{exitNothingSaid, "the counters allow no metric"}
}
