package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers/roofline"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

type rooflineFlags struct {
	common
	gemm, dtype string
	micros      float64
}

func newRoofline(a *app) *cobra.Command {
	f := &rooflineFlags{}
	cmd := &cobra.Command{
		Use:   "roofline [PATH...]",
		Short: "How far a kernel, or a matrix product of a given size, is from the roof",
		Long: `Puts kernels under the ceilings of their device: operations per byte at each
memory level, ridge points, what was achieved, what is attainable, and a plot.

Operations and bytes come from counters, from --gemm, or from a thread trace
(matrix operations and requested bytes, with what that leaves out said). Roofs
are the device table's peaks; a roofline.csv beside the counters (as
rocprof-compute writes it) replaces them by measured ones.

Exit status:
  0  done
  2  bad usage, or an input that cannot be read (whole)
  3  readable, but nothing in it tells operations`,
		Example: `  rocanalyze roofline --gemm 5120,5120,8320 --dtype fp8 --device MI300X
  rocanalyze roofline --gemm 4096,4096,4096 --dtype bf16 --time-us 310 --device MI355X
  rocanalyze roofline --format json workloads/vcopy/MI300X_A1`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.roofline(cmd.Context(), f, args) },
	}
	f.register(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.gemm, "gemm", "", "a matrix product: `M,N,K`")
	fl.StringVar(&f.dtype, "dtype", "fp8", "its element `type`: fp8, bf8, int8, int4, fp4, fp6, bf16, fp16, xf32, fp32 or fp64")
	fl.Float64Var(&f.micros, "time-us", 0, "how long it took, in `microseconds`")
	return cmd
}

// options checks the flags and makes the analysis options of them.
func (f *rooflineFlags) options() (analysis.Options, error) {
	opts, err := f.common.options()
	if err != nil {
		return opts, err
	}
	if f.micros < 0 || math.IsNaN(f.micros) || math.IsInf(f.micros, 0) {
		return opts, fmt.Errorf("--time-us is %g: give a time above 0", f.micros)
	}
	if f.gemm == "" {
		if f.micros > 0 {
			return opts, errors.New("--time-us is the time of --gemm: give both")
		}
		return opts, nil
	}
	at, err := roofline.DtypeIndex(f.dtype)
	if err != nil {
		return opts, fmt.Errorf("--dtype: %w", err)
	}
	parts := strings.FieldsFunc(f.gemm, func(r rune) bool { return r == ',' || r == 'x' })
	if len(parts) != 3 {
		return opts, fmt.Errorf("--gemm is %q: give M,N,K", f.gemm)
	}
	for i, name := range []string{"m", "n", "k"} {
		n, err := strconv.ParseInt(strings.TrimSpace(parts[i]), 10, 64)
		if err != nil || n < 1 || n > 1<<30 {
			return opts, fmt.Errorf("--gemm is %q: %q is not a size from 1 to 2^30", f.gemm, parts[i])
		}
		opts.Params["roofline."+name] = float64(n)
	}
	opts.Params["roofline.dtype"] = float64(at)
	opts.Params["roofline.time_ns"] = f.micros * 1000
	return opts, nil
}

func (a *app) roofline(ctx context.Context, f *rooflineFlags, paths []string) error {
	if err := f.check(); err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	if len(paths) == 0 && f.gemm == "" {
		return errors.New("nothing to do: give a PATH with counters or a thread trace, or a product with --gemm M,N,K")
	}
	busy := a.busy("reading " + strings.Join(paths, " "))
	defer busy.stop()
	t := &trace.Trace{}
	if len(paths) > 0 {
		if t, err = openAll(ctx, paths); err != nil {
			return err
		}
	}
	opts.Params["occupancy.allow_unknown_gpu"] = 1
	out, err := analysis.Run(ctx, t, opts, roofline.Analyzer)
	if err != nil {
		return err
	}
	busy.stop()
	res := roofline.Analyzer.Of(out)
	if res == nil {
		return errors.New("nothing was computed")
	}
	if paths == nil {
		paths = []string{}
	}
	notes := notesOf(t, f.verbose)
	err = a.show(&f.common, view{
		doc:    roofline.Sections(res, roofline.View{Verbose: f.verbose, FullNames: f.fullNames}),
		tables: roofline.Tables(res), table: roofline.TableID,
		result: res, env: envelope("roofline", paths, t.Damaged(), notes),
	})
	if err != nil {
		return err
	}
	a.warn(&f.common, notes)
	switch {
	case t.Damaged():
		return &statusError{exitUnreadable, "parts of the input could not be read: the results are partial"}
	case len(res.Points) == 0:
		return &statusError{exitNothingSaid, "nothing in " + strings.Join(paths, " ") + " tells operations: counters (SQ_INSTS_VALU_*), matrix instructions in a trace, or --gemm"}
	}
	return nil
}
