package counters

import (
	"fmt"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// SourceHelp describes SOURCE in the help of the commands that read counters.
const SourceHelp = `SOURCE is a counter table of rocprofv3 (*_counter_collection.csv), of rocprof v1 or
v2, a results.json, a rocprof-compute workload directory, or a directory tree with
pass_N (pmc_N) directories. Files that are named together are passes of one run;
in a tree, files of one directory and prefix are.

The GPU comes from agent_info.csv or sysinfo.csv beside the counters, else from
--device, else from counters that only one architecture has.`

// Takes says what to give to the commands that read counters.
const Takes = "a counter table or a directory of them"

// Cmd shows all metrics.
var Cmd = view.Command{
	Use:   "counters SOURCE...",
	Short: "Every metric that the counters of a run allow",
	Help: `Computes, per kernel, every metric of the catalogue (see metrics) whose counters
were taken, and proposes the one further pass that would unlock most.

` + SourceHelp + `

A metric is computed over the sums of all dispatches; --aggregation mean gives the
mean of each dispatch's value, as older rocprof-compute did. A value that cannot be
right is left out, with the usual cause; without the counters of request sizes,
bytes are a range.`,
	Example: `  rocanalyze counters out_counter_collection.csv
  rocanalyze counters --kernel gemm pass_1/ pass_2/ -v
  rocanalyze counters --device MI300X --per-dispatch --format csv out/
  rocanalyze counters --format json workload/ | jq '.kernels[].metrics.l2_hit_pct'`,
	Exit:  [4]string{3: "readable, but no dispatch or no metric"},
	Takes: Takes,
	Reads: trace.Counters,
	Runs:  []analysis.Required{Analyzer},
	Flags: []view.Flag{
		view.Top(3, "`kernels` shown in text and markdown"),
		{Name: "aggregation", Default: "sum", Words: []string{"sum", "mean"}, Usage: "over dispatches: `sum` (of sums) or mean (of each dispatch's value)", Param: "counters." + paramMean},
		{Name: "per-dispatch", Default: false, Usage: "show every dispatch as well", Param: "counters." + paramPerDispatch},
	},
	Show:   show,
	Output: &Result{},
}

func show(in *view.Input) (*view.Shown, error) {
	res, err := Counted(in)
	if err != nil {
		return nil, err
	}
	v := View{Top: in.Top(), Verbose: in.Verbose(), FullNames: in.FullNames()}
	s := &view.Shown{Document: Sections(res, v), Table: CSV(res, in.Flags.Is("per-dispatch")), Result: res, Nothing: "the counters allow no metric"}
	for i := range res.Kernels {
		k := &res.Kernels[i]
		s.Rows = append(s.Rows, k.Name)
		if len(k.Metrics) > 0 {
			s.Nothing = ""
		}
	}
	return s, nil
}

// KernelNames lists the names of the kernels that the inputs hold, those that
// were counted included.
func KernelNames(in *view.Input) []string {
	names := in.KernelNames()
	if res := Analyzer.Of(in.Outcome); res != nil {
		names = append(names, res.Names...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Counted is what was counted, for the commands that need at least one kernel
// of it.
func Counted(in *view.Input) (*Result, error) {
	res := Analyzer.Of(in.Outcome)
	switch {
	case res == nil && slices.ContainsFunc(in.Trace.Sources, func(s trace.Source) bool { return s.Format == "rocpd" }):
		return nil, view.Nothing("no dispatch was counted: the workload is empty")
	case res == nil:
		return nil, fmt.Errorf("no counters in %s: give the *_counter_collection.csv that rocprofv3 --pmc wrote, or a directory of them", in.Where())
	case len(res.Kernels) > 0:
		return res, nil
	case len(res.Names) > 0:
		return nil, in.NoKernel(res.Names)
	case in.Trace.Damaged():
		return nil, fmt.Errorf("%s: no dispatch could be read%s", in.Where(), in.Trace.Lost())
	}
	return nil, view.Nothing("no dispatch was counted: the workload is empty")
}
