package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers/kernels"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

type kernelsFlags struct {
	common
	by, sort     string
	since, until string
	runtime      bool

	// given names the flags that the user set.
	given func(name string) bool
}

func newKernels(a *app) *cobra.Command {
	f := &kernelsFlags{}
	cmd := &cobra.Command{
		Use:   "kernels SOURCE...",
		Short: "Which kernels take the GPU time, and which one to optimise first",
		Long: `Sums the kernel dispatches of a run: per kernel calls, total, share, mean, median,
p95, extremes, variation, launch shapes and GPUs, with Amdahl's bound of what
optimising it can give; how busy the dispatches keep each GPU; memory copies.

SOURCE is a rocpd database (*_results.db of rocprofv3 or rocprofiler-systems, any
schema), a *_kernel_trace.csv, a *_results.json, a *_kernel_stats.csv, or a
directory of them. Several are read as processes of one job; where a directory
holds several formats of one run, the first of this list is taken.

Kernels that the runtime launches by itself (fills, copies) are summed in one
line; JSON and CSV mark them. JSON and CSV hold all rows unless --top is given.

--since and --until take nanoseconds of the run's clock, or a share of each run
("25%"), from its first dispatch to the end of its last; a dispatch counts by
its start.

Exit status:
  0  done
  2  bad usage, an input that cannot be read (whole), or one without dispatches`,
		Example: `  rocanalyze kernels 4242_results.db
  rocanalyze kernels --by shape --kernel attn --sort mean out/
  rocanalyze kernels --since 25% --until 75% rank0.db rank1.db
  rocanalyze kernels --format json --top 0 out.db | jq '.kernels[] | {name, total_ns, share_pct}'`,
		Args: somePath("a rocpd database, a kernel trace or a directory of them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.given = cmd.Flags().Changed
			return a.kernels(cmd.Context(), f, args)
		},
	}
	f.register(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.top, "top", 15, "`rows` shown; 0 shows all")
	fl.StringVar(&f.by, "by", "kernel", "what a row stands for: kernel, shape, agent, process or `stream`")
	fl.StringVar(&f.sort, "sort", "total", "`order`: total, calls, mean, median, p95, min, max, cv or name")
	fl.StringVar(&f.since, "since", "", "only dispatches from this `time` on (ns, or 25%)")
	fl.StringVar(&f.until, "until", "", "only dispatches before this `time` (ns, or 75%)")
	fl.BoolVar(&f.runtime, "runtime", false, "list the kernels of the runtime as well")
	return cmd
}

// options checks the flags and makes the analysis options of them.
func (f *kernelsFlags) options() (analysis.Options, error) {
	opts, err := f.common.options()
	if err != nil {
		return opts, err
	}
	if err := errors.Join(oneOf("--by", f.by, kernels.Groupings), oneOf("--sort", f.sort, kernels.Orders)); err != nil {
		return opts, err
	}
	opts.Params["kernels.by"] = float64(slices.Index(kernels.Groupings, f.by))
	opts.Params["kernels.sort"] = float64(slices.Index(kernels.Orders, f.sort))
	for _, w := range []struct{ flag, text string }{{"since", f.since}, {"until", f.until}} {
		if w.text == "" {
			continue
		}
		text, share := strings.CutSuffix(w.text, "%")
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0) || share && v > 100 || v > 1<<53 || !share && v != math.Trunc(v) {
			return opts, fmt.Errorf("--%s is %q: give nanoseconds of the run's clock, or a share of the run (25%%)", w.flag, w.text)
		}
		unit := "_ns"
		if share {
			unit = "_pct"
		}
		opts.Params["kernels."+w.flag+unit] = v
	}
	return opts, nil
}

func (a *app) kernels(ctx context.Context, f *kernelsFlags, paths []string) error {
	if err := f.check(); err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	busy := a.busy("reading " + strings.Join(paths, " "))
	defer busy.stop()
	t, err := ingest.Open(ctx, paths, ingest.Options{Runs: true})
	if err != nil {
		return err
	}
	out, err := analysis.Run(ctx, t, opts, kernels.Analyzer)
	if err != nil {
		return err
	}
	busy.stop()
	res := kernels.Analyzer.Of(out)
	if res == nil {
		return errors.New("no kernels were summed")
	}
	return a.showKernels(f, paths, t, res)
}

func (a *app) showKernels(f *kernelsFlags, paths []string, t *trace.Trace, res *kernels.Result) error {
	partial := t.Damaged() || res.Partial()
	notes := append(notesOf(t, f.verbose), res.Notes(f.verbose)...)
	if len(res.Rows()) == 0 {
		a.warn(&f.common, notes)
		return f.nothing(paths, res, partial)
	}
	v := kernels.View{Top: f.top, Runtime: f.runtime, Verbose: f.verbose, FullNames: f.fullNames}
	whole := v
	if !f.given("top") {
		whole.Top = 0
	}
	err := a.show(&f.common, view{
		doc: kernels.Sections(res, v), tables: kernels.Tables(res, whole), table: kernels.TableID,
		result: res.Cut(whole.Top), env: envelope("kernels", paths, partial, notes),
	})
	if err != nil {
		return err
	}
	a.warn(&f.common, notes)
	if partial {
		return &statusError{exitUnreadable, "parts of the input could not be read: the results are partial"}
	}
	return nil
}

// nothing says why there is no row at all.
func (f *kernelsFlags) nothing(paths []string, res *kernels.Result, partial bool) error {
	where := strings.Join(paths, " ")
	var read int64
	for _, r := range res.Runs {
		read += r.Rows
	}
	switch {
	case partial:
		return fmt.Errorf("%s: no kernel dispatch could be read", where)
	case read == 0:
		return fmt.Errorf("%s: no kernel dispatches in it, as in a thread-trace run: profile with rocprofv3 --kernel-trace, or give the ui_output_agent_* directory to 'rocanalyze hotspots'", where)
	case res.Calls == 0:
		return fmt.Errorf("%s: none of its %d kernel dispatches counts (bad times, or outside of --since and --until)", where, read)
	}
	return fmt.Errorf("no kernel matches --kernel %q", f.kernel)
}
