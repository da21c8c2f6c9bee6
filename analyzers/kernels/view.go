package kernels

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// Cmd shows where the GPU time of runs goes.
var Cmd = view.Command{
	Use:   "kernels SOURCE...",
	Short: "Which kernels take the GPU time, and which one to optimise first",
	Help: `Sums the kernel dispatches of a run: per kernel calls, total, share, mean, median,
p95, extremes, variation, launch shapes and GPUs, with Amdahl's bound of what
optimising it can give; how busy the dispatches keep each GPU; memory copies.

SOURCE is a rocpd database (*_results.db of rocprofv3 or rocprofiler-systems, any
schema), a *_kernel_trace.csv, a *_results.json, a *_kernel_stats.csv, a table of
counters with times, or a directory of them. Several are read as processes of one job; where a directory
holds several formats of one run, the first of this list is taken.

Kernels that the runtime launches by itself (fills, copies) are summed in one
line; JSON and CSV mark them. JSON and CSV hold all rows unless --top is given.

--since and --until take nanoseconds of the run's clock, or a share of each run
("25%"), from its first dispatch to the end of its last; a dispatch counts by
its start.`,
	Example: `  rocanalyze kernels 4242_results.db
  rocanalyze kernels --by shape --kernel attn --sort mean out/
  rocanalyze kernels --since 25% --until 75% rank0.db rank1.db
  rocanalyze kernels --format json --top 0 out.db | jq '.kernels[] | {name, total_ns, share_pct}'`,
	Exit:  [4]string{2: "bad usage, an input that cannot be read (whole), or one without dispatches"},
	Takes: "a rocpd database, a kernel trace or a directory of them",
	Reads: trace.Dispatches | trace.Counters,
	Runs:  []analysis.Required{Analyzer},
	Flags: []view.Flag{
		view.Top(15, "`rows` shown"),
		{Name: "by", Default: "kernel", Words: Groupings, Usage: "what a row stands for: kernel, shape, agent, process or `stream`", Param: "kernels." + paramBy},
		{Name: "sort", Default: "total", Words: Orders, Usage: "`order`: total, calls, mean, median, p95, min, max, cv or name", Param: "kernels." + paramSort},
		{Name: "since", Default: "", Usage: "only dispatches from this `time` on (ns, or 25%)"},
		{Name: "until", Default: "", Usage: "only dispatches before this `time` (ns, or 75%)"},
		{Name: "runtime", Default: false, Usage: "list the kernels of the runtime as well"},
	},
	Prepare: times,
	Show:    show,
	Output:  &Result{},
}

// times sets the parameters that --since and --until mean.
func times(in *view.Input) error {
	in.Set("kernels."+paramCounted, 1)
	for _, flag := range []string{"since", "until"} {
		given := in.Flags.Text(flag)
		if given == "" {
			continue
		}
		text, share := strings.CutSuffix(given, "%")
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0) || share && v > 100 || v > 1<<53 || !share && v != math.Trunc(v) {
			return fmt.Errorf("--%s is %q: give nanoseconds of the run's clock, or a share of the run (25%%)", flag, given)
		}
		unit := "_ns"
		if share {
			unit = "_pct"
		}
		in.Set("kernels."+flag+unit, v)
	}
	return nil
}

func show(in *view.Input) (*view.Shown, error) {
	res := Analyzer.Of(in.Outcome)
	if len(res.Rows()) == 0 {
		return nil, nothing(in, res)
	}
	v := View{Top: in.Top(), Runtime: in.Flags.Is("runtime"), Verbose: in.Verbose(), FullNames: in.FullNames()}
	whole := v
	if !in.Flags.Given("top") {
		whole.Top = 0
	}
	s := &view.Shown{
		Document: Sections(res, v), Table: CSV(res, whole), Result: res.Cut(whole.Top),
	}
	if res.Kernels != nil {
		rows, _ := shown(res, View{Runtime: v.Runtime})
		for _, p := range rows {
			s.Rows = append(s.Rows, p.Name)
		}
	}
	return s, nil
}

// nothing says why there is no row at all.
func nothing(in *view.Input, res *Result) error {
	var read int64
	for _, r := range res.Runs {
		read += r.Rows
	}
	switch {
	case in.Trace.Damaged():
		return fmt.Errorf("%s: no kernel dispatch could be read%s", in.Where(), in.Trace.Lost())
	case read == 0:
		return fmt.Errorf("%s: no kernel dispatches in it, as in a thread-trace run: profile with rocprofv3 --kernel-trace, or give the ui_output_agent_* directory to 'rocanalyze hotspots'", in.Where())
	case res.Calls == 0:
		return fmt.Errorf("%s: none of its %d kernel dispatches counts (bad times, or outside of --since and --until)", in.Where(), read)
	}
	return in.NoKernel(in.KernelNames())
}
