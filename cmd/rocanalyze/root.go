package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/report"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// version is the tool's version, schemaVersion that of the JSON output.
const (
	version       = "0.1.0"
	schemaVersion = 1
)

// app is what a command may touch of the outside.
type app struct {
	stdout, stderr io.Writer
	env            func(string) string
}

func newRoot(a *app) *cobra.Command {
	f := &diagnoseFlags{}
	root := &cobra.Command{
		Use:   "rocanalyze [PATH...]",
		Short: "What bounds an AMD GPU kernel, read from the profiler's files",
		Long: `rocanalyze reads what ROCm's profilers leave behind and says, per kernel, where
its cycles go, what they wait for and how far the capture can be trusted. It
needs no GPU, no ROCm and no network.

With PATH and no command it is 'rocanalyze diagnose PATH...': what bounds each
kernel, and what to do. 'rocanalyze demo' shows that on a bundled capture.`,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			if err := mistyped(cmd, args[0]); err != nil {
				return err
			}
			return a.diagnose(cmd.Context(), f, args)
		},
	}
	f.flags(root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w (see '%s --help')", err, cmd.CommandPath())
	})
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newHotspots(a), newLoops(a), newWaves(a), newOccupancy(a), newDevices(a), newL2(a), newCounters(a), newMetrics(a), newKernels(a), newQuery(a), newDiagnose(a), newRules(a), newExplain(a), newRoofline(a), newDemo(a))
	return root
}

// mistyped refuses a first argument that is neither a path nor looks like one.
func mistyped(root *cobra.Command, arg string) error {
	if _, err := os.Stat(arg); err == nil || strings.ContainsAny(arg, `/\.`) {
		return nil
	}
	if near := root.SuggestionsFor(arg); len(near) > 0 {
		return fmt.Errorf("unknown command %q, and no such path; did you mean '%s %s'?", arg, root.Name(), near[0])
	}
	return fmt.Errorf("unknown command %q, and no such path (see '%s --help')", arg, root.Name())
}

// common are the flags that every view has.
type common struct {
	format    string
	output    string
	top       int
	kernel    string
	device    string
	verbose   bool
	quiet     bool
	color     string
	fullNames bool
}

func (c *common) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.format, "format", "text", "output `format`: text, json, csv or markdown")
	f.StringVarP(&c.output, "output", "o", "", "write to `file` instead of standard output")
	f.StringVar(&c.kernel, "kernel", "", "only kernels whose name matches this `regexp`")
	f.StringVar(&c.device, "device", "", "`name` of the device or architecture (MI300X, gfx950)")
	f.BoolVarP(&c.verbose, "verbose", "v", false, "show more")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "no warnings on standard error")
	f.StringVar(&c.color, "color", "auto", "colour: auto, always or never")
	f.BoolVar(&c.fullNames, "full-names", false, "do not shorten kernel names")
}

var formats = []string{"text", "json", "csv", "markdown"}

// check validates the flags that have a closed set of values.
func (c *common) check() error {
	if c.top < 0 {
		return fmt.Errorf("--top is %d: give 0 for all rows, or a positive number", c.top)
	}
	return oneOf("--format", c.format, formats)
}

func oneOf(flag, value string, allowed []string) error {
	for _, v := range allowed {
		if v == value {
			return nil
		}
	}
	last := len(allowed) - 1
	return fmt.Errorf("%s is %q: use %s or %s", flag, value, strings.Join(allowed[:last], ", "), allowed[last])
}

// somePath refuses a command line without a path.
func somePath(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("no PATH given: name %s (see '%s --help')", what, cmd.CommandPath())
		}
		return nil
	}
}

// options makes the analysis options from the flags.
func (c *common) options() (analysis.Options, error) {
	opts := analysis.Options{Device: c.device, Workers: runtime.GOMAXPROCS(0), Params: map[string]float64{}}
	if c.kernel != "" {
		re, err := regexp.Compile(c.kernel)
		if err != nil {
			return opts, fmt.Errorf("--kernel %q is not a regular expression: %w", c.kernel, err)
		}
		opts.Kernel = re
	}
	return opts, nil
}

// warn prints the readers' remarks, the more important ones always.
func (a *app) warn(c *common, notes []string) {
	if c.quiet {
		return
	}
	for _, n := range notes {
		fmt.Fprintf(a.stderr, "rocanalyze: %s\n", oneLine(n))
	}
}

// notesOf lists a trace's remarks as lines; info ones only when asked for.
func notesOf(t *trace.Trace, all bool) []string {
	var out []string
	add := func(path string, notes []trace.Note) {
		for _, n := range notes {
			if n.Level == trace.Info && !all {
				continue
			}
			place := n.Place
			if path != "" {
				place = path + ": " + place
			}
			out = append(out, fmt.Sprintf("%s: %s: %s", n.Level, place, n.Text))
		}
	}
	add("", t.Notes)
	for _, tt := range t.ThreadTraces {
		add(tt.Path, tt.Notes)
	}
	for _, lt := range t.LaunchTables {
		add("", lt.Notes)
	}
	for _, co := range t.CodeObjects {
		add("", co.Notes)
	}
	for _, cr := range t.CounterRuns {
		add("", cr.Notes)
	}
	return out
}

// view is what a command shows, in every format.
type view struct {
	doc    report.Document // text and markdown
	tables report.Document // csv
	table  string          // csv: which table of tables
	result any             // json
	env    report.Envelope
}

// show renders a view as the flags ask.
func (a *app) show(c *common, v view) (err error) {
	w := a.stdout
	if c.output != "" {
		f, err := os.Create(c.output)
		if err != nil {
			return fmt.Errorf("cannot write the output: %w", err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		w = f
	}
	switch c.format {
	case "json":
		return report.JSON(w, v.env, v.result)
	case "csv":
		return report.CSV(w, v.tables, v.table)
	case "markdown":
		return report.Markdown(w, v.doc)
	}
	opts, err := report.TerminalOptions(w, c.color, a.env)
	if err != nil {
		return err
	}
	return report.Terminal(w, v.doc, opts)
}

// envelope begins the JSON output of a command.
func envelope(command string, inputs []string, partial bool, warnings []string) report.Envelope {
	return report.Envelope{
		SchemaVersion: schemaVersion, ToolVersion: version, Command: command,
		Inputs: inputs, Partial: partial, Warnings: warnings,
	}
}

// oneLine makes a message safe and single-lined for a terminal.
func oneLine(s string) string {
	return report.Escape(strings.Join(strings.Fields(s), " "))
}
