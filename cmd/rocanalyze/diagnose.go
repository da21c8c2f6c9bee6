package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/rules"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

type diagnoseFlags struct {
	common
	kernels  int
	set      []string
	rules    string
	failOn   string
	allWaves bool
}

const diagnoseLong = `Joins everything that the given paths hold about each kernel and decides what
bounds it: compute, bandwidth, latency (with what waves wait for, or a machine
that is not filled), or that the evidence does not tell. Says how sure that is,
which numbers it rests on, what to do, and what to capture next.

PATH is anything that ROCm's profilers leave: dispatch directories of thread
traces, counter tables, rocpd databases, kernel traces, code objects, directory
trees or archives of them, several together. Kernels are joined by symbol or
name and launch shape; where captures disagree, that is said.

Counters decide before estimates of a trace. A trace without counters gives the
bytes that its instructions request: an upper bound of memory traffic.

Exit status:
  0  done
  1  a finding at or above --fail-on
  2  bad usage, or an input that cannot be read (whole)
  3  readable, but no verdict can be given on any kernel`

func newDiagnose(a *app) *cobra.Command {
	f := &diagnoseFlags{}
	cmd := &cobra.Command{
		Use:   "diagnose PATH...",
		Short: "What bounds each kernel, how sure that is, and what to do",
		Long:  diagnoseLong,
		Example: `  rocanalyze diagnose ui_output_agent_14705_dispatch_25
  rocanalyze diagnose traces/ counters/ run_results.db
  rocanalyze diagnose --format json out/ | jq '.kernels[] | {name, regime, subtype, confidence}'
  rocanalyze diagnose --set vmem_wait.share_pct=10 --fail-on high out/
  rocanalyze diagnose --format markdown out/ > comment.md`,
		Args: somePath("a capture, or several"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.diagnose(cmd.Context(), f, args)
		},
	}
	f.flags(cmd)
	return cmd
}

// flags registers the flags of diagnose on a command.
func (f *diagnoseFlags) flags(cmd *cobra.Command) {
	f.register(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.top, "top", 5, "`findings` shown for each kernel; 0 shows all")
	fl.IntVar(&f.kernels, "kernels", 5, "`kernels` shown in detail in text and markdown; 0 shows all")
	fl.StringArrayVar(&f.set, "set", nil, "change a threshold: `RULE.PARAM=VALUE` (see 'rocanalyze rules')")
	fl.StringVar(&f.rules, "rules", "", "`file` of RULE.PARAM=VALUE lines; # begins a comment")
	fl.StringVar(&f.failOn, "fail-on", "", "exit 1 on a finding of this `severity` or a higher one: low, medium or high")
	fl.BoolVar(&f.allWaves, "all-waves", false, "count waves that did no work")
}

var failSeverities = []string{"low", "medium", "high"}

// diagnoseOutput is the machine output of the command.
type diagnoseOutput struct {
	*rules.Result
	// Gates are what is to be said about the captures.
	Gates []finding.Finding `json:"gates"`
}

// checkAll validates the flags that have a closed set of values.
func (f *diagnoseFlags) checkAll() error {
	if err := f.check(); err != nil {
		return err
	}
	if f.failOn == "" {
		return nil
	}
	return oneOf("--fail-on", f.failOn, failSeverities)
}

func (a *app) diagnose(ctx context.Context, f *diagnoseFlags, paths []string) error {
	if err := f.checkAll(); err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	busy := a.busy("reading " + strings.Join(paths, " "))
	defer busy.stop()
	d, err := a.judge(ctx, paths, opts)
	if err != nil {
		return err
	}
	busy.stop()
	if f.kernel != "" && len(d.res.Kernels) == 0 {
		return fmt.Errorf("no kernel matches --kernel %q; the captures hold: %s", f.kernel, kernelNames(d.trace))
	}
	return a.showDiagnosis(f, paths, d)
}

// diagnosis is what was read and what it says.
type diagnosis struct {
	trace *trace.Trace
	res   *rules.Result
	gates []finding.Finding
}

// judge reads the paths and judges them.
func (a *app) judge(ctx context.Context, paths []string, opts analysis.Options) (*diagnosis, error) {
	t, err := open(ctx, "diagnose", paths)
	if err != nil {
		return nil, err
	}
	defer closed(t)
	out, err := analysis.Run(ctx, t, opts, rules.Analyzer)
	if err != nil {
		return nil, err
	}
	res := rules.Analyzer.Of(out)
	if res == nil {
		return nil, errors.New("nothing was judged")
	}
	return &diagnosis{t, res, gatesOf(out.Findings)}, nil
}

// options makes the analysis options, thresholds of the rules file and of --set
// among them, the latter last.
func (f *diagnoseFlags) options() (analysis.Options, error) {
	opts, err := f.common.options()
	if err != nil {
		return opts, err
	}
	lines, err := ruleLines(f.rules)
	if err != nil {
		return opts, err
	}
	known, err := analysis.Params(rules.Analyzer)
	if err != nil {
		return opts, err
	}
	for _, s := range append(lines, f.set...) {
		if err := analysis.Assign(opts.Params, s, known); err != nil {
			return opts, err
		}
	}
	if f.allWaves {
		opts.Params["stalls.all_waves"] = 1
	}
	return opts, nil
}

// ruleLines reads the assignments of a rules file; none for no file.
func ruleLines(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--rules: %w", err)
	}
	var out []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	if err := errors.Join(lines.Err(), file.Close()); err != nil {
		return nil, fmt.Errorf("--rules: %w", err)
	}
	return out, nil
}

// gatesOf are the findings about the captures.
func gatesOf(fs []finding.Finding) []finding.Finding {
	out := []finding.Finding{}
	for _, f := range fs {
		if f.Gate {
			out = append(out, f)
		}
	}
	return out
}

func (a *app) showDiagnosis(f *diagnoseFlags, paths []string, d *diagnosis) error {
	t, res, gates := d.trace, d.res, d.gates
	notes := notesOf(t, f.verbose)
	v := rules.View{Verbose: f.verbose, FullNames: f.fullNames, Kernels: f.kernels}
	failed := f.failed(d)
	for i := range res.Kernels {
		v.Left = append(v.Left, res.Kernels[i].Cut(f.top, f.verbose))
	}
	if len(res.Kernels)+len(gates) > 0 || f.format == "json" {
		err := a.show(&f.common, view{
			doc: rules.Sections(res, gates, v), tables: rules.Tables(res), table: rules.TableID,
			result: diagnoseOutput{res, gates}, env: envelope("diagnose", paths, t.Damaged(), notes),
		})
		if err != nil {
			return err
		}
	}
	a.warn(&f.common, notes)
	switch {
	case t.Damaged():
		return partial(t)
	case failed != "":
		return &statusError{exitFailed, "a finding is at or above --fail-on " + f.failOn + ": " + failed}
	case len(res.Kernels) == 0:
		return &statusError{exitNothingSaid, "no verdict can be given: no kernel was found in " + strings.Join(paths, " ")}
	case !slices.ContainsFunc(res.Kernels, func(k rules.Kernel) bool { return k.Regime != regime.Inconclusive }):
		return &statusError{exitNothingSaid, "no verdict can be given: " + strings.TrimPrefix(res.Kernels[0].Verdict, "inconclusive: ")}
	}
	return nil
}

// failed names a finding at or above --fail-on, "" when there is none.
func (f *diagnoseFlags) failed(d *diagnosis) string {
	at := slices.Index(failSeverities, f.failOn)
	if at < 0 {
		return ""
	}
	limit := []finding.Severity{finding.Low, finding.Medium, finding.High}[at]
	all := slices.Clone(d.gates)
	for i := range d.res.Kernels {
		for _, x := range d.res.Kernels[i].Findings {
			x.Place.Kernel = d.res.Kernels[i].Name
			all = append(all, x)
		}
	}
	finding.Sort(all)
	for _, x := range all {
		if !x.Minor && x.Severity >= limit {
			return x.ID + " in " + max(x.Place.Kernel, x.Place.Path)
		}
	}
	return ""
}
