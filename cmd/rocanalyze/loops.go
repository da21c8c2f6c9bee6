package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers/loops"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

type loopsFlags struct {
	common
	loop     int
	tile     string
	dtype    string
	waves    int
	allWaves bool
	regs     bool
}

func newLoops(a *app) *cobra.Command {
	f := &loopsFlags{}
	cmd := &cobra.Command{
		Use:   "loops PATH...",
		Short: "What a traced kernel's loops execute, cost and could reach",
		Long: `Finds the loops of a decoded thread trace, follows its waves through them, and
says per iteration what is executed, which stalls cost time, how well the matrix
pipes are covered, and the least time that each unit would need.

PATH is what hotspots takes: a dispatch directory, a tree or an archive of them.

Exit status:
  0  done
  2  bad usage, or an input that cannot be read (whole)
  3  readable, but nothing was executed`,
		Example: `  rocanalyze loops ui_output_agent_14705_dispatch_25
  rocanalyze loops --loop 2 traces/
  rocanalyze loops --gemm-tile 64,256,128 --dtype fp8 traces/
  rocanalyze loops --format json traces/ | jq '.kernels[].loops[].ideal'`,
		Args: somePath("a dispatch directory, a tree or an archive of them"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.loops(cmd.Context(), f, args) },
	}
	f.register(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.top, "top", 5, "`rows` of each table; 0 shows all")
	fl.IntVar(&f.loop, "loop", 0, "describe the loop of this `number` (default: the costliest matrix loop)")
	fl.BoolVar(&f.regs, "registers", false, "list the vector registers alive at every instruction")
	fl.StringVar(&f.tile, "gemm-tile", "", "compare the main matrix loop with a GEMM tile `M,N,K`")
	fl.StringVar(&f.dtype, "dtype", "", "`type` of the tile's elements: fp4, fp6, fp8, int8, fp16, bf16 or fp32")
	fl.IntVar(&f.waves, "tile-waves", 4, "`waves` of a workgroup that share the tile's columns")
	fl.BoolVar(&f.allWaves, "all-waves", false, "count waves that did no work")
	return cmd
}

// dtypeBits are the sizes of the element types.
var dtypeBits = map[string]float64{"fp4": 4, "fp6": 6, "fp8": 8, "bf8": 8, "int8": 8, "fp16": 16, "bf16": 16, "fp32": 32}

// tileParams sets the parameters that --gemm-tile and --dtype name.
func (f *loopsFlags) tileParams(params map[string]float64) error {
	if f.tile == "" {
		return nil
	}
	parts := strings.Split(f.tile, ",")
	bits, ok := dtypeBits[strings.ToLower(f.dtype)]
	switch {
	case len(parts) != 3:
		return fmt.Errorf("--gemm-tile is %q: give M,N,K, for example 64,256,128", f.tile)
	case !ok:
		return fmt.Errorf("--gemm-tile needs --dtype: fp4, fp6, fp8, int8, fp16, bf16 or fp32 (it is %q)", f.dtype)
	case f.waves < 1:
		return fmt.Errorf("--tile-waves is %d: give a positive number", f.waves)
	}
	for i, name := range []string{"m", "n", "k"} {
		n, err := strconv.Atoi(strings.TrimSpace(parts[i]))
		if err != nil || n < 1 || n > 1<<20 {
			return fmt.Errorf("--gemm-tile is %q: %q is not a size", f.tile, parts[i])
		}
		params["loops.tile_"+name] = float64(n)
	}
	params["loops.tile_bits"], params["loops.tile_waves"] = bits, float64(f.waves)
	return nil
}

// loopsOutput is the machine output of the command.
type loopsOutput struct {
	*loops.Result
	Findings []finding.Finding `json:"findings"`
}

func (a *app) loops(ctx context.Context, f *loopsFlags, paths []string) error {
	if err := f.check(); err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	opts.Params["loops.top"] = float64(f.top)
	opts.Params["exposed.matrix_gaps"] = 1
	if f.allWaves {
		opts.Params["stalls.all_waves"] = 1
	}
	if f.regs {
		opts.Params["loops.registers"] = 1
	}
	if err := f.tileParams(opts.Params); err != nil {
		return err
	}
	busy := a.busy("reading " + strings.Join(paths, " "))
	defer busy.stop()
	t, err := ingest.Open(ctx, paths, ingest.Options{})
	if err != nil {
		return err
	}
	out, err := analysis.Run(ctx, t, opts, loops.Analyzer)
	if err != nil {
		return err
	}
	busy.stop()
	res := loops.Analyzer.Of(out)
	if res == nil {
		return fmt.Errorf("no thread trace in %s: give a ui_output_agent_*_dispatch_* directory", strings.Join(paths, " "))
	}
	if len(res.Kernels) == 0 {
		return &statusError{exitNothingSaid, fmt.Sprintf("no kernel with cycles to show; the traces hold: %s", kernelNames(t))}
	}
	if f.loop != 0 && !hasLoop(res, f.loop) {
		return fmt.Errorf("--loop is %d: no kernel executed a loop of that number", f.loop)
	}
	partial := t.Damaged() || slices.ContainsFunc(res.Kernels, func(k loops.Kernel) bool { return k.FilesMissing+k.FilesDamaged > 0 })
	findings, notes := loops.Findings(res), notesOf(t, f.verbose)
	v := loops.View{Loop: f.loop, Top: f.top, Verbose: f.verbose, FullNames: f.fullNames}
	shown := view{
		doc: loops.Sections(res, findings, v), tables: loops.Tables(res), table: loops.TableID,
		result: loopsOutput{res, findings}, env: envelope("loops", paths, partial, notes),
	}
	if err := a.show(&f.common, shown); err != nil {
		return err
	}
	a.warn(&f.common, notes)
	switch {
	case partial:
		return &statusError{exitUnreadable, "parts of the input could not be read: the results are partial"}
	case !slices.ContainsFunc(res.Kernels, func(k loops.Kernel) bool { return k.LatencyCycles > 0 }):
		return &statusError{exitNothingSaid, "no traced wave executed an instruction"}
	}
	return nil
}

// hasLoop reports whether any kernel executed a loop of a number.
func hasLoop(res *loops.Result, id int) bool {
	return slices.ContainsFunc(res.Kernels, func(k loops.Kernel) bool {
		return slices.ContainsFunc(k.Loops, func(l loops.Loop) bool { return l.ID == id })
	})
}
