package hotspots

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/samples"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/report"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// Cmd shows where cycles go.
var Cmd = view.Command{
	Use:   "hotspots PATH...",
	Short: "Where a traced kernel's cycles go, and what they wait for",
	Help: `Ranks the instructions, source lines and waits of a decoded thread trace by
stall cycles, after checking whether the trace can be trusted. One ranking at a
time (--by class, instruction or line) goes by exposed cycles, where there are
wave files: the part of a stall, or of the drain at s_endpgm, in which no wave of
the SIMD issues. Waits, and the overview without --by, go by all cycles.

PATH is a dispatch directory (ui_output_agent_*_dispatch_*, as rocprofv3 --att
writes it), its code.json, a directory tree holding several, or a .tar.gz, .tar
or .zip of any of them.

Waits are charged to the instructions that they waited for. Waves that left
without doing the kernel's work are counted and left out of the rankings.

Samples of the program counter (*_pc_sampling_*.csv, results.json) are ranked as
what they are: see 'rocanalyze samples --help'.`,
	Example: `  rocanalyze hotspots ui_output_agent_14705_dispatch_25
  rocanalyze hotspots --by wait --top 5 traces/
  rocanalyze hotspots --by line --detail --context 5 bugreport.tar.gz
  rocanalyze hotspots --format json --top 0 traces/ | jq '.kernels[].stalls'`,
	Exit:  [4]string{3: "readable, but nothing was decoded or executed"},
	Takes: "a dispatch directory, a tree or an archive of them, or PC samples",
	Reads: trace.ThreadTraces | trace.Sampled,
	Runs:  []analysis.Required{Analyzer, samples.Analyzer},
	Flags: []view.Flag{
		{Name: "top", Default: 15, Usage: "`rows` of each ranking; 0 shows all", Param: "hotspots.top"},
		{Name: "by", Default: "", Words: []string{"", "instruction", "line", "wait", "class"}, Usage: "one `ranking` only: instruction, line, wait or class"},
		{Name: "detail", Default: false, Usage: "show the source and the instructions of each hot line"},
		{Name: "context", Default: 3, Usage: "source `lines` shown around a hot line", Param: "hotspots.context"},
		view.AllWaves(),
	},
	Prepare: func(in *view.Input) error {
		in.Set("samples.top", float64(in.Top()))
		in.Set("hotspots.context", float64(max(in.Flags.Int("context"), 0)))
		if in.Flags.Text("by") == "" && !in.Flags.Is("detail") {
			in.Set("replay.cycles", 0) // the overview shows no split
		}
		return nil
	},
	Show:   show,
	Output: output{},
}

// output is the machine output.
type output struct {
	*Result
	// Samples are what PC sampling says; nil where there is none.
	Samples  *samples.Result   `json:"pc_samples,omitempty"`
	Findings []finding.Finding `json:"findings"`
}

func show(in *view.Input) (*view.Shown, error) {
	res, sampled := Analyzer.Of(in.Outcome), samples.Analyzer.Of(in.Outcome)
	if res == nil {
		return showSamples(in, sampled)
	}
	if len(res.Kernels) == 0 && sampled == nil && (len(res.Empty) == 0 || in.Selects()) {
		return nil, in.NoKernel(in.KernelNames())
	}
	v := View{By: By(in.Flags.Text("by")), Detail: in.Flags.Is("detail"), Verbose: in.Verbose(), FullNames: in.FullNames()}
	if v.Detail && v.By == "" {
		v.By = ByLine
	}
	table, err := CSV(res, v)
	if err != nil && in.Flags.Text("format") == "csv" {
		return nil, err
	}
	findings := in.Findings()
	s := &view.Shown{Document: Sections(res, findings, v), Table: table, Result: output{res, sampled, findings}, Findings: findings}
	for i := range res.Kernels {
		s.Rows = append(s.Rows, res.Kernels[i].Name)
	}
	if sampled != nil {
		for i := range sampled.Kernels {
			k := &sampled.Kernels[i]
			s.Document.Sections = append(s.Document.Sections, sampledBy(k.Sections(fmt.Sprintf("-sampled%d", i+1), v.FullNames), v.By)...)
			s.Rows = append(s.Rows, k.Title(true))
		}
		if len(sampled.Kernels) > 0 {
			return s, nil
		}
	}
	if !slices.ContainsFunc(res.Kernels, func(k Kernel) bool { return k.Hot() }) {
		s.Nothing = "nothing to rank: no traced wave executed an instruction (see the findings)"
	}
	return s, nil
}

// sampledRankings are the sections of samples that each ranking is.
var sampledRankings = map[By][]string{
	ByInstruction: {"sampled_instructions"}, ByLine: {"sampled_lines"}, ByWait: {"sampled_waits"}, ByClass: {"sampled_waits", "sampled_reasons"},
}

// sampledBy leaves the ranking that was asked for, and the header.
func sampledBy(all []report.Section, by By) []report.Section {
	ids, one := sampledRankings[by]
	if !one {
		return all
	}
	return slices.DeleteFunc(all, func(s report.Section) bool {
		return !strings.HasPrefix(s.ID, "samples") && !slices.ContainsFunc(ids, func(id string) bool { return strings.HasPrefix(s.ID, id) })
	})
}

// showSamples shows samples where there is no thread trace.
func showSamples(in *view.Input, res *samples.Result) (*view.Shown, error) {
	switch {
	case res == nil:
		return nil, in.NoThreadTrace()
	case len(res.Kernels) == 0 && in.Selects():
		return nil, in.NoKernel(in.KernelNames())
	}
	findings := in.Findings()
	s := &view.Shown{Table: res.Table(), Result: output{&Result{Kernels: []Kernel{}}, res, findings}, Findings: findings}
	for i := range res.Kernels {
		suffix := ""
		if i > 0 {
			suffix = fmt.Sprintf("-%d", i+1)
		}
		k := &res.Kernels[i]
		s.Document.Sections = append(s.Document.Sections, sampledBy(k.Sections(suffix, in.FullNames()), By(in.Flags.Text("by")))...)
		s.Rows = append(s.Rows, k.Title(true))
	}
	if len(res.Kernels) == 0 {
		s.Nothing = "there is no sample in " + in.Where()
	}
	return s, nil
}
