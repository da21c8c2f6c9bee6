package rules

import (
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// Cmd shows what bounds each kernel and what to do.
var Cmd = view.Command{
	Use:   "diagnose PATH...",
	Short: "What bounds each kernel, how sure that is, and what to do",
	Help: `Joins everything that the given paths hold about each kernel and decides what
bounds it: compute, bandwidth, latency (with what waves wait for, or a machine
that is not filled), or that the evidence does not tell. Says how sure that is,
which numbers it rests on, what to do, and what to capture next.

PATH is anything that ROCm's profilers leave: dispatch directories of thread
traces, counter tables, rocpd databases, kernel traces, code objects, directory
trees or archives of them, several together. Kernels are joined by symbol or
name and launch shape; where captures disagree, that is said.

Counters decide before estimates of a trace. A trace without counters gives the
bytes that its instructions request: an upper bound of memory traffic.`,
	Example: `  rocanalyze diagnose ui_output_agent_14705_dispatch_25
  rocanalyze diagnose traces/ counters/ run_results.db
  rocanalyze diagnose --format json out/ | jq '.kernels[] | {name, regime, subtype, confidence}'
  rocanalyze diagnose --set vmem_wait.share_pct=10 --fail-on high out/
  rocanalyze diagnose --format markdown out/ > comment.md`,
	Exit:  [4]string{3: "readable, but no verdict can be given on any kernel"},
	Takes: "a capture, or several",
	Runs:  []analysis.Required{Analyzer},
	Flags: []view.Flag{
		view.Top(5, "`findings` shown for each kernel"),
		{Name: "kernels", Default: 5, Usage: "`kernels` shown in detail in text and markdown; 0 shows all"},
		view.AllWaves(),
	},
	Show:   show,
	Output: output{},
}

// output is the machine output.
type output struct {
	*Result
	// Gates are what is to be said about the captures.
	Gates []finding.Finding `json:"gates"`
}

func show(in *view.Input) (*view.Shown, error) {
	res := Analyzer.Of(in.Outcome)
	if in.Selects() && len(res.Kernels) == 0 {
		return nil, in.NoKernel(counters.KernelNames(in))
	}
	gates := slices.DeleteFunc(in.Findings(), func(f finding.Finding) bool { return !f.Gate })
	s := &view.Shown{Result: output{res, gates}, Nothing: "no verdict can be given: no kernel was found in " + in.Where()}
	if len(res.Kernels) > 0 {
		s.Nothing = "no verdict can be given: " + strings.TrimPrefix(res.Kernels[0].Verdict, "inconclusive: ")
	}
	v := View{Verbose: in.Verbose(), FullNames: in.FullNames(), Kernels: in.Flags.Int("kernels")}
	s.Findings = slices.Clone(gates)
	for i := range res.Kernels {
		k := &res.Kernels[i]
		s.Rows = append(s.Rows, k.Name)
		if k.Regime != regime.Inconclusive {
			s.Nothing = ""
		}
		for _, f := range k.Findings {
			f.Place.Kernel = k.Name
			s.Findings = append(s.Findings, f)
		}
		v.Left = append(v.Left, k.Cut(in.Top(), v.Verbose))
	}
	if len(res.Kernels)+len(gates) > 0 {
		s.Document = Sections(res, gates, v)
	}
	s.Table = CSV(res)
	return s, nil
}
