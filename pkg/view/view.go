// Package view is the contract between an analyzer and the command line: a
// command is a value that stands beside its analyzer and says what it takes,
// which parameters its flags set, and what of a result is shown. One runner
// opens the inputs, runs the analyzers, renders, and decides the exit status.
package view

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/report"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Command is a command that shows what analyzers found.
type Command struct {
	// Use is the command's name and what it takes: "hotspots PATH...".
	Use string
	// Short is its line in a list of commands, Help what it does at length,
	// without the exit statuses: an analyzer's doc.md will do.
	Short, Help string
	// Example are command lines, indented by two spaces.
	Example string
	// Exit replaces the usual meaning of exit statuses 0 to 3 in the help; ""
	// is as usual, and no such status for 3.
	Exit [4]string
	// Takes names what to give where no path is.
	Takes string
	// Reads is what of the inputs is looked at: the rest stays closed. 0 stands
	// for everything.
	Reads trace.Part
	// Runs are the analyzers of which the result is.
	Runs []analysis.Required
	// Flags are those that the command has beside the common ones.
	Flags []Flag
	// Prepare, if any, checks flags, sets the parameters that they mean, and
	// makes the trace that they describe where there are no paths.
	Prepare func(in *Input) error
	// Show says what a result shows. A Nothing is an error of inputs that are
	// readable; others are of bad usage or of inputs that hold nothing of use.
	Show func(in *Input) (*Shown, error)
	// Formats are output formats of its own, which need no analysis.
	Formats map[string]Writer
	// Output is a value of the type of Shown.Result.
	Output any
}

// Name is the command's name.
func (c *Command) Name() string {
	name, _, _ := strings.Cut(c.Use, " ")
	return name
}

// Writer writes what the inputs hold.
type Writer func(ctx context.Context, w io.Writer, in *Input) error

// Input is what a command shows: what the user gave and what was found.
type Input struct {
	Flags Values
	Paths []string
	// Options are those of the run; Prepare adds parameters.
	Options analysis.Options
	Trace   *trace.Trace
	Outcome *analysis.Outcome
}

// Where names the inputs in a message.
func (in *Input) Where() string { return strings.Join(in.Paths, " ") }

// Set sets a parameter, OWNER.NAME.
func (in *Input) Set(param string, value float64) { in.Options.Params[param] = value }

// Verbose, FullNames and Top are the common flags that a result's layout
// follows.
func (in *Input) Verbose() bool   { return in.Flags.Is("verbose") }
func (in *Input) FullNames() bool { return in.Flags.Is("full-names") }
func (in *Input) Top() int        { return in.Flags.Int("top") }

// Findings are those of the run, never nil.
func (in *Input) Findings() []finding.Finding {
	return append([]finding.Finding{}, in.Outcome.Findings...)
}

// NoThreadTrace is the error of inputs that hold no thread trace.
func (in *Input) NoThreadTrace() error {
	return fmt.Errorf("no thread trace in %s: give a ui_output_agent_*_dispatch_* directory", in.Where())
}

// NoKernel is the error of a --kernel that selects none of the names.
func (in *Input) NoKernel(names []string) error {
	more := ""
	if k := in.Options.Kernel; k != nil && slices.ContainsFunc(names, k.MatchString) {
		return fmt.Errorf("there is nothing to show of the kernels that --kernel %q selects", in.Flags.Text("kernel"))
	}
	if len(names) > 0 {
		more = "; there are: " + first(names)
	}
	return fmt.Errorf("no kernel matches --kernel %q%s", in.Flags.Text("kernel"), more)
}

// Selects reports whether kernels are selected by name.
func (in *Input) Selects() bool { return in.Options.Kernel != nil }

// KernelNames lists the names of the kernels that the inputs hold, each once.
func (in *Input) KernelNames() []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, tt := range in.Trace.ThreadTraces {
		for _, k := range tt.Kernels {
			add(capture.TracedNames(k).Shown())
		}
	}
	for _, r := range in.Trace.Runs {
		for i := range r.Kernels {
			add(capture.NamesOf(r.Kernels[i].Symbol, r.Kernels[i].Name).Shown())
		}
	}
	for _, co := range in.Trace.CodeObjects {
		for i := range co.Kernels {
			add(capture.NamesOf(co.Kernels[i].Symbol, co.Kernels[i].Name).Shown())
		}
	}
	slices.Sort(names)
	for _, r := range in.Trace.SampleRuns {
		for i := range r.Kernels {
			if k := &r.Kernels[i]; k.Symbol != "" || k.Name != "" {
				add(capture.NamesOf(k.Symbol, k.Name).Shown())
			}
		}
	}
	return names
}

// FirstKernels names the first kernels of the inputs.
func (in *Input) FirstKernels() string { return first(in.KernelNames()) }

// first joins the first of a list of names.
func first(names []string) string {
	const most = 5
	switch {
	case len(names) == 0:
		return "no kernels"
	case len(names) > most:
		names = append(names[:most:most], fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(names, ", ")
}

// Shown is what a command shows, in every format.
type Shown struct {
	// Document is the text, for people.
	Document report.Document
	// Table is the CSV.
	Table report.Table
	// Result is the JSON beside the envelope.
	Result any
	// Rows are the names of the kernels in the rows of the table, or in the
	// order of the sections, those that --top leaves out included: --kernel '#2'
	// selects the second.
	Rows []string
	// Findings are those that --fail-on judges.
	Findings []finding.Finding
	// Notes are remarks beside those of the trace, as "level: text".
	Notes []string
	// Nothing says why the result tells nothing; "" when it does.
	Nothing string
}

// Number puts the numbers that --kernel '#N' takes before the rows of the table
// of kernels and before the titles of their sections, where there are several.
func (s *Shown) Number() {
	if len(s.Rows) < 2 {
		return
	}
	for i := range s.Document.Sections {
		sec := &s.Document.Sections[i]
		if n, ok := strings.CutPrefix(sec.ID, "kernel-"); ok {
			if n, err := strconv.Atoi(n); err == nil {
				sec.Title = fmt.Sprintf("#%d %s", n+1, sec.Title)
			}
		}
		for j, item := range sec.Items {
			if t, ok := item.(report.Table); ok && t.ID == "kernels" && t.Columns[0].Key != "rank" && len(t.Rows) <= len(s.Rows) {
				sec.Items[j] = ranked(t)
			}
		}
	}
}

// ranked is a table with the numbers of its rows in front.
func ranked(t report.Table) report.Table {
	t.Columns = append([]report.Column{{Key: "rank", Title: "#", Align: report.AlignRight}}, t.Columns...)
	rows := t.Rows
	t.Rows = make([][]report.Cell, len(rows))
	for i, row := range rows {
		t.Rows[i] = append([]report.Cell{report.Int(i + 1)}, row...)
	}
	return t
}

// Nothing is the error of inputs that are readable and hold nothing to tell.
type Nothing string

func (n Nothing) Error() string { return string(n) }
