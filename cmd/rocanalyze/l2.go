package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/analyzers/l2"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
)

type l2Flags struct {
	common
	idealGB, idealBytes float64
	channels            int
	given               func(name string) bool
}

func newL2(a *app) *cobra.Command {
	f := &l2Flags{}
	cmd := &cobra.Command{
		Use:   "l2 SOURCE...",
		Short: "What the L2 cache and memory did, and what follows from it",
		Long: `Shows, per kernel, hits and misses, the bytes that L2 read from and wrote to
memory, bandwidth against the device's peak, the share of HBM, partial lines,
over-fetch and the balance of the channels, and decides: at the roof, channels
uneven, partial lines, over-fetch, reuse lost, streaming, cached.

` + counterSources + `

Bytes follow the sizes of the requests (32, 64, 128 B), which need other counters
on each architecture; without them a range is given. --ea-channels is accepted and
not needed: no counter is multiplied.

Exit status:
  0  done
  2  bad usage, or an input that cannot be read (whole)
  3  readable, but no dispatch or no metric of L2`,
		Example: `  rocanalyze l2 out_counter_collection.csv
  rocanalyze l2 --kernel 'pa_decode' --ideal-gb 8.59 pass_1/ pass_2/
  rocanalyze l2 --device MI300X --format json out/ | jq '.kernels[].decisions[0]'`,
		Args: someSource,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.given = cmd.Flags().Changed
			return a.l2(cmd.Context(), f, args)
		},
	}
	f.register(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.top, "top", 15, "`kernels` shown in text and markdown; 0 shows all")
	fl.Float64Var(&f.idealGB, "ideal-gb", 0, "`GB` (1e9 bytes) that one dispatch has to read")
	fl.Float64Var(&f.idealBytes, "ideal-bytes", 0, "`bytes` that one dispatch has to read")
	fl.IntVar(&f.channels, "ea-channels", 0, "not needed: bytes follow from the sizes of requests")
	return cmd
}

// l2Output is the machine output of the command.
type l2Output struct {
	*l2.Result
	Findings []finding.Finding `json:"findings"`
}

func (a *app) l2(ctx context.Context, f *l2Flags, paths []string) error {
	if err := f.check(); err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	ideal, err := f.ideal()
	if err != nil {
		return err
	}
	opts.Params["l2.ideal_bytes"] = ideal
	t, out, err := a.counted(ctx, paths, opts, l2.Analyzer)
	if err != nil {
		return err
	}
	counted := counters.Analyzer.Of(out)
	if counted == nil {
		return noCounters(paths)
	}
	t.Notes = append(t.Notes, counted.Read...)
	if err := a.nothingCounted(&f.common, t, counted); err != nil {
		return err
	}
	res := l2.Analyzer.Of(out)
	if res == nil {
		return noCounters(paths)
	}
	notes := notesOf(t, f.verbose)
	if f.given("ea-channels") {
		notes = append(notes, "info: --ea-channels is not needed: bytes follow from the sizes of requests, no counter is multiplied")
	}
	findings := out.Findings
	if findings == nil {
		findings = []finding.Finding{}
	}
	v := counters.View{Top: f.top, Verbose: f.verbose, FullNames: f.fullNames}
	err = a.show(&f.common, view{
		doc: l2.Sections(res, v), tables: l2.Tables(res), table: l2.TableID,
		result: l2Output{res, findings}, env: envelope("l2", paths, t.Damaged(), notes),
	})
	if err != nil {
		return err
	}
	a.warn(&f.common, notes)
	return a.l2Status(t.Damaged(), res)
}

// ideal is the number of bytes that a dispatch has to read; 0 is not known.
func (f *l2Flags) ideal() (float64, error) {
	switch {
	case f.given("ideal-gb") && f.given("ideal-bytes"):
		return 0, errors.New("--ideal-gb and --ideal-bytes say the same: give one")
	case f.idealGB < 0 || f.idealBytes < 0:
		return 0, errors.New("--ideal-gb and --ideal-bytes are not negative")
	case f.given("ideal-gb"):
		return f.idealGB * 1e9, nil
	}
	return f.idealBytes, nil
}

func (a *app) l2Status(damaged bool, res *l2.Result) error {
	if damaged {
		return &statusError{exitUnreadable, "parts of the input could not be read: the results are partial"}
	}
	for i := range res.Kernels {
		for id := range res.Kernels[i].Metrics {
			if id != "duration_ns" {
				return nil
			}
		}
	}
	return &statusError{exitNothingSaid, "no counter of L2 or memory was taken: see rocanalyze metrics l2_hit_pct"}
}
