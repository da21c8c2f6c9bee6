package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers"
	"github.com/rocanalyze/rocanalyze/analyzers/rules"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/report"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// version is the tool's version, schemaVersion that of the JSON output.
const (
	version       = "0.1.0"
	schemaVersion = 2
)

// app is what a command may touch of the outside.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string
}

func newRoot(a *app) *cobra.Command {
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
	}
	start := newRunner(a, &rules.Cmd, root)
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		if err := mistyped(cmd, args[0]); err != nil {
			return err
		}
		return start(args).run(cmd.Context())
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w (see '%s --help')", err, cmd.CommandPath())
	})
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newDevices(a), newMetrics(a), newQuery(a), newRules(a), newExplain(a), newDemo(a))
	for _, c := range analyzers.Commands() {
		root.AddCommand(newCommand(a, c))
	}
	return root
}

// mistyped refuses a first argument that is neither a path nor looks like one.
func mistyped(root *cobra.Command, arg string) error {
	if _, err := os.Stat(arg); err == nil || arg == ingest.Stdin || strings.ContainsAny(arg, `/\.`) {
		return nil
	}
	if near := root.SuggestionsFor(arg); len(near) > 0 {
		return fmt.Errorf("unknown command %q, and no such path; did you mean '%s %s'?", arg, root.Name(), near[0])
	}
	return fmt.Errorf("unknown command %q, and no such path (see '%s --help')", arg, root.Name())
}

// formats are those of every command.
var formats = []string{"text", "json", "csv", "markdown"}

// warn prints remarks, one a line.
func (a *app) warn(notes []string) {
	for _, n := range notes {
		fmt.Fprintf(a.stderr, "rocanalyze: %s\n", oneLine(n))
	}
}

// notesOf lists a trace's remarks as lines; info ones only when asked for.
func notesOf(t *trace.Trace, all bool) []string {
	var out []string
	for _, n := range t.Notes {
		if n.Level > trace.Info || all {
			out = append(out, n.String())
		}
	}
	return out
}

// sourcesOf says what each source was recognised as, by what, and how it is
// read: one file can hold several things.
func sourcesOf(t *trace.Trace) []string {
	type source struct{ path, by string }
	var order []source
	formats := map[source][]string{}
	for _, s := range t.Sources {
		key := source{s.Path, s.By}
		if formats[key] == nil {
			order = append(order, key)
		}
		formats[key] = append(formats[key], s.Format)
	}
	var out []string
	for _, s := range order {
		out = append(out, fmt.Sprintf("source: %s: %s, read as %s", s.path, s.by, strings.Join(formats[s], " and ")))
	}
	return out
}

// partial is the error of a command that showed what could be read.
func partial(t *trace.Trace) error {
	return errors.New("parts of the input could not be read: the results are partial" + t.Lost())
}

// closed closes what was read, which cannot lose anything.
func closed(t *trace.Trace) { _ = t.Close() }

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
