package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers/hotspots"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

type hotspotsFlags struct {
	common
	by       string
	detail   bool
	context  int
	allWaves bool
}

func newHotspots(a *app) *cobra.Command {
	f := &hotspotsFlags{}
	cmd := &cobra.Command{
		Use:   "hotspots PATH...",
		Short: "Where a traced kernel's cycles go, and what they wait for",
		Long: `Ranks the instructions, source lines and waits of a decoded thread trace by
stall cycles, after checking whether the trace can be trusted. One ranking at a
time (--by class, instruction or line) goes by exposed cycles, where there are
wave files: the part of a stall, or of the drain at s_endpgm, in which no wave of
the SIMD issues. Waits, and the overview without --by, go by all cycles.

PATH is a dispatch directory (ui_output_agent_*_dispatch_*, as rocprofv3 --att
writes it), its code.json, a directory tree holding several, or a .tar.gz, .tar
or .zip of any of them.

Waits are charged to the instructions that they waited for. Waves that left
without doing the kernel's work are counted and left out of the rankings.

Exit status:
  0  done
  2  bad usage, or an input that cannot be read (whole)
  3  readable, but nothing was decoded or executed`,
		Example: `  rocanalyze hotspots ui_output_agent_14705_dispatch_25
  rocanalyze hotspots --by wait --top 5 traces/
  rocanalyze hotspots --by line --detail --context 5 bugreport.tar.gz
  rocanalyze hotspots --format json --top 0 traces/ | jq '.kernels[].stalls'`,
		Args: somePath("a dispatch directory, a tree or an archive of them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.hotspots(cmd.Context(), f, args)
		},
	}
	f.register(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.top, "top", 15, "`rows` of each ranking; 0 shows all")
	fl.StringVar(&f.by, "by", "", "one `ranking` only: instruction, line, wait or class")
	fl.BoolVar(&f.detail, "detail", false, "show the source and the instructions of each hot line")
	fl.IntVar(&f.context, "context", 3, "source `lines` shown around a hot line")
	fl.BoolVar(&f.allWaves, "all-waves", false, "count waves that did no work")
	return cmd
}

var rankingNames = []string{"", "instruction", "line", "wait", "class"}

// hotspotsOutput is the machine output of the command.
type hotspotsOutput struct {
	*hotspots.Result
	Findings []finding.Finding `json:"findings"`
}

func (a *app) hotspots(ctx context.Context, f *hotspotsFlags, paths []string) error {
	if err := f.check(); err != nil {
		return err
	}
	if !slices.Contains(rankingNames, f.by) {
		return oneOf("--by", f.by, rankingNames[1:])
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	opts.Params["hotspots.top"] = float64(f.top)
	opts.Params["hotspots.context"] = float64(max(f.context, 0))
	if f.allWaves {
		opts.Params["stalls.all_waves"] = 1
	}
	if f.by == "" && !f.detail {
		opts.Params["replay.cycles"] = 0 // the overview shows no split
	}
	busy := a.busy("reading " + strings.Join(paths, " "))
	defer busy.stop()
	t, err := ingest.Open(ctx, paths, ingest.Options{})
	if err != nil {
		return err
	}
	out, err := analysis.Run(ctx, t, opts, hotspots.Analyzer)
	if err != nil {
		return err
	}
	busy.stop()
	res := hotspots.Analyzer.Of(out)
	if res == nil {
		return fmt.Errorf("no thread trace in %s: give a ui_output_agent_*_dispatch_* directory", strings.Join(paths, " "))
	}
	if len(res.Kernels) == 0 && len(res.Empty) == 0 {
		return fmt.Errorf("no kernel matches --kernel %q; the traces hold: %s", f.kernel, kernelNames(t))
	}
	return a.showHotspots(f, paths, t, res, out.Findings)
}

func (a *app) showHotspots(f *hotspotsFlags, paths []string, t *trace.Trace, res *hotspots.Result, findings []finding.Finding) error {
	partial := t.Damaged() || wavesLost(res)
	notes := notesOf(t, f.verbose)
	v := hotspots.View{By: hotspots.By(f.by), Detail: f.detail, Verbose: f.verbose, FullNames: f.fullNames}
	if f.detail && f.by == "" {
		v.By = hotspots.ByLine
	}
	if findings == nil {
		findings = []finding.Finding{}
	}
	tables, err := hotspots.Tables(res, v)
	if err != nil && f.format == "csv" {
		return err
	}
	err = a.show(&f.common, view{
		doc: hotspots.Sections(res, findings, v), tables: tables, table: hotspots.TableID,
		result: hotspotsOutput{res, findings}, env: envelope("hotspots", paths, partial, notes),
	})
	if err != nil {
		return err
	}
	a.warn(&f.common, notes)
	switch {
	case partial:
		return &statusError{exitUnreadable, "parts of the input could not be read: the results are partial (see the findings)"}
	case !slices.ContainsFunc(res.Kernels, func(k hotspots.Kernel) bool { return k.Hot() }):
		return &statusError{exitNothingSaid, "nothing to rank: no traced wave executed an instruction (see the findings)"}
	}
	return nil
}

// wavesLost reports whether wave files could not be used.
func wavesLost(res *hotspots.Result) bool {
	return slices.ContainsFunc(res.Kernels, func(k hotspots.Kernel) bool {
		return k.Waves != nil && k.Waves.Missing+k.Waves.Damaged > 0
	})
}

// kernelNames lists the first kernels of a trace.
func kernelNames(t *trace.Trace) string {
	var names []string
	for _, tt := range t.ThreadTraces {
		for _, k := range tt.Kernels {
			if !slices.Contains(names, k.Name()) {
				names = append(names, k.Name())
			}
		}
	}
	if len(names) == 0 {
		return "no kernels"
	}
	if len(names) > 5 {
		names = append(names[:5], fmt.Sprintf("and %d more", len(names)-5))
	}
	return strings.Join(names, ", ")
}
