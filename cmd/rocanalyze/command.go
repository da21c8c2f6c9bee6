package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/report"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// newCommand makes a command of a view.
func newCommand(a *app, c *view.Command) *cobra.Command {
	cmd := &cobra.Command{Use: c.Use, Short: c.Short, Long: help(c), Example: c.Example}
	start := newRunner(a, c, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return start(args).run(cmd.Context()) }
	return cmd
}

// newRunner gives a command the flags of a view, and returns what makes a run
// of it over paths.
func newRunner(a *app, c *view.Command, cmd *cobra.Command) func(paths []string) *runner {
	flags := append(view.Common(), c.Flags...)
	values := register(cmd, flags)
	if len(c.Formats) > 0 {
		cmd.Flags().Lookup("format").Usage = "output `format`: " + joinOr(formatsOf(c))
	}
	return func(paths []string) *runner {
		return &runner{app: a, c: c, flags: flags, in: &view.Input{Flags: values, Paths: append([]string{}, paths...)}}
	}
}

// usualExit are the meanings of the exit statuses, where a view has no other.
var usualExit = [4]string{"done", "a finding at or above --fail-on", "bad usage, or an input that cannot be read (whole)", ""}

// help is what a command does, and its exit statuses.
func help(c *view.Command) string {
	out := c.Help
	if strings.HasPrefix(out, "# ") {
		_, out, _ = strings.Cut(out, "\n")
	}
	out = strings.TrimSpace(out) + "\n\nExit status:"
	for status, text := range c.Exit {
		if text == "" {
			text = usualExit[status]
		}
		if text != "" {
			out += fmt.Sprintf("\n  %d  %s", status, text)
		}
	}
	return out
}

func formatsOf(c *view.Command) []string {
	out := slices.Clone(formats)
	for name := range c.Formats {
		out = append(out, name)
	}
	slices.Sort(out[len(formats):])
	return out
}

func joinOr(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// register adds flags to a command and returns their values to be.
func register(cmd *cobra.Command, flags []view.Flag) view.Values {
	pointers := map[string]any{}
	fl := cmd.Flags()
	for _, f := range flags {
		switch def := f.Default.(type) {
		case bool:
			pointers[f.Name] = fl.BoolP(f.Name, f.Letter, def, f.Usage)
		case int:
			pointers[f.Name] = fl.IntP(f.Name, f.Letter, def, f.Usage)
		case float64:
			pointers[f.Name] = fl.Float64P(f.Name, f.Letter, def, f.Usage)
		case string:
			pointers[f.Name] = fl.StringP(f.Name, f.Letter, def, f.Usage)
		case []string:
			pointers[f.Name] = fl.StringArrayP(f.Name, f.Letter, def, f.Usage)
		}
	}
	return view.NewValues(pointers, fl.Changed)
}

// runner is one run of a view.
type runner struct {
	app   *app
	c     *view.Command
	flags []view.Flag
	in    *view.Input
}

// destination is where the result goes.
func (r *runner) destination() destination {
	return destination{r.in.Flags.Text("output"), r.in.Flags.Is("force"), r.in.Paths}
}

func (r *runner) run(ctx context.Context) error {
	row, err := r.prepare()
	if err != nil {
		return err
	}
	if err := r.destination().check(); err != nil {
		return err
	}
	busy := r.app.busy("reading " + r.in.Where())
	defer busy.stop()
	if err := r.open(ctx); err != nil {
		return err
	}
	defer closed(r.in.Trace)
	if write, ok := r.c.Formats[r.in.Flags.Text("format")]; ok {
		err := r.app.write(r.destination(), func(w io.Writer) error { return write(ctx, w, r.in) })
		busy.stop()
		r.warn(nil)
		if r.in.Trace.Damaged() && (err == nil || errors.As(err, new(view.Nothing))) {
			err = partial(r.in.Trace)
		}
		return err
	}
	shown, err := r.analyse(ctx, row)
	busy.stop()
	if err != nil {
		r.warn(nil)
		return err
	}
	return r.show(shown)
}

// prepare checks the flags and makes the options of them. row is that of
// --kernel '#N', 0 for none.
func (r *runner) prepare() (row int, err error) {
	in := r.in
	if f := in.Flags.Text("format"); !slices.Contains(formatsOf(r.c), f) {
		return 0, view.OneOf("--format", f, formatsOf(r.c))
	}
	if err := in.Flags.Check(r.flags); err != nil {
		return 0, err
	}
	if len(in.Paths) == 0 && r.c.Takes != "" {
		what, _, _ := strings.Cut(strings.Trim(strings.TrimPrefix(r.c.Use, r.c.Name()), " []"), ".")
		return 0, fmt.Errorf("no %s given: name %s (see 'rocanalyze %s --help')", what, r.c.Takes, r.c.Name())
	}
	if d := in.Flags.Text("device"); d != "" {
		if err := capture.CheckDevice(d); err != nil {
			return 0, err
		}
	}
	in.Options = analysis.Options{Device: in.Flags.Text("device"), Workers: runtime.GOMAXPROCS(0), Params: map[string]float64{}}
	in.Flags.Params(r.flags, in.Options.Params)
	if row, err = r.selection(in.Flags.Text("kernel")); err != nil {
		return 0, err
	}
	if r.c.Prepare != nil {
		if err := r.c.Prepare(in); err != nil {
			return 0, err
		}
	}
	return row, r.assign()
}

// selection reads --kernel: a regular expression, or #N.
func (r *runner) selection(kernel string) (row int, err error) {
	if n, ok := strings.CutPrefix(kernel, "#"); ok {
		switch row, err = strconv.Atoi(n); {
		case err == nil && row > 0:
			return row, nil
		case err == nil:
			return 0, fmt.Errorf("--kernel '%s': rows are counted from #1", kernel)
		}
	}
	if kernel != "" {
		if r.in.Options.Kernel, err = regexp.Compile(kernel); err != nil {
			return 0, fmt.Errorf("--kernel %q is not a regular expression: %w", kernel, err)
		}
	}
	return 0, nil
}

// assign sets the parameters of --rules and --set, the latter last. One file
// serves all commands: what it sets of analyzers that do not run has no effect.
func (r *runner) assign() error {
	lines, err := ruleLines(r.in.Flags.Text("rules"))
	if err != nil {
		return err
	}
	var every []analysis.Required
	for _, a := range analyzers.All() {
		every = append(every, a)
	}
	all, err := analysis.Params(every...)
	if err != nil {
		return err
	}
	known, err := analysis.Params(r.c.Runs...)
	if err != nil {
		return err
	}
	filed := map[string]float64{}
	for _, s := range lines {
		if err := analysis.Assign(filed, s, all); err != nil {
			return fmt.Errorf("--rules: %w", err)
		}
	}
	for _, p := range known {
		if v, ok := filed[p.Name]; ok {
			r.in.Options.Params[p.Name] = v
		}
	}
	for _, s := range r.in.Flags.List("set") {
		if err := analysis.Assign(r.in.Options.Params, s, known); err != nil {
			return err
		}
	}
	return nil
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

// open reads the inputs, unless the flags describe what there is.
func (r *runner) open(ctx context.Context) (err error) {
	if r.in.Trace == nil {
		r.in.Trace = &trace.Trace{}
		if len(r.in.Paths) > 0 {
			r.in.Trace, err = ingest.Open(ctx, r.in.Paths, ingest.Options{Only: r.c.Reads, Stdin: r.app.stdin, Arch: capture.ArchOf(r.in.Options.Device)})
		}
	}
	return err
}

// analyse runs the analyzers and lays out what they found; where a row is
// selected twice, the first time to learn which kernel is in it.
func (r *runner) analyse(ctx context.Context, row int) (*view.Shown, error) {
	shown, err := r.once(ctx)
	if err != nil {
		return nil, err
	}
	if row == 0 || len(shown.Rows) == 0 {
		shown.Number()
		return shown, nil
	}
	if row > len(shown.Rows) {
		return nil, fmt.Errorf("--kernel '#%d': the last row of kernels is #%d", row, len(shown.Rows))
	}
	r.in.Options.Kernel = regexp.MustCompile("^" + regexp.QuoteMeta(shown.Rows[row-1]) + "$")
	return r.once(ctx)
}

func (r *runner) once(ctx context.Context) (*view.Shown, error) {
	out, err := analysis.Run(ctx, r.in.Trace, r.in.Options, r.c.Runs...)
	if err != nil {
		return nil, err
	}
	r.in.Outcome = out
	return r.c.Show(r.in)
}

// show renders what is shown, then says what remains to be said, as the exit
// status does.
func (r *runner) show(s *view.Shown) error {
	flags := r.in.Flags
	notes := r.notes(s.Notes)
	if len(s.Document.Sections) > 0 || flags.Text("format") == "json" {
		err := r.app.render(target{flags.Text("format"), flags.Text("color"), r.destination()}, shown{
			doc: s.Document, table: s.Table, result: s.Result,
			env: envelope(r.c.Name(), r.in.Paths, r.in.Trace.Damaged(), notes),
		})
		if err != nil {
			return err
		}
	}
	r.warn(s.Notes)
	failed := failure(s.Findings, flags.Text("fail-on"))
	switch {
	case r.in.Trace.Damaged():
		return partial(r.in.Trace)
	case failed != "":
		return &statusError{exitFailed, "a finding is at or above --fail-on " + flags.Text("fail-on") + ": " + failed}
	case s.Nothing != "":
		return view.Nothing(s.Nothing)
	}
	return nil
}

// failure names the worst finding at or above a severity, "" when there is
// none or no severity is given.
func failure(fs []finding.Finding, least string) string {
	fs = slices.Clone(fs)
	finding.Sort(fs)
	for _, f := range fs {
		if least != "" && !f.Minor && f.Severity >= severityOf(least) {
			return f.ID + " in " + cmp.Or(f.Place.Kernel, f.Place.Path)
		}
	}
	return ""
}

func severityOf(name string) finding.Severity {
	for s := finding.Info; s <= finding.Blocker; s++ {
		if s.String() == name {
			return s
		}
	}
	return finding.Blocker + 1
}

// notes are the remarks of the readers, and others, as lines.
func (r *runner) notes(more []string) []string {
	return append(notesOf(r.in.Trace, r.in.Flags.Is("verbose")), more...)
}

func (r *runner) warn(more []string) {
	if r.in.Flags.Is("quiet") {
		return
	}
	if r.in.Flags.Is("verbose") {
		r.app.warn(sourcesOf(r.in.Trace))
	}
	r.app.warn(r.notes(more))
}

// target is where and how a result is written.
type target struct {
	format, color string
	destination
}

// shown is a result in every format.
type shown struct {
	doc    report.Document // text and markdown
	table  report.Table    // csv
	result any             // json
	env    report.Envelope
}

// render writes a result.
func (a *app) render(o target, s shown) error {
	return a.write(o.destination, func(w io.Writer) error {
		switch o.format {
		case "json":
			return report.JSON(w, s.env, s.result)
		case "csv":
			return report.CSV(w, report.Document{Sections: []report.Section{{Items: []report.Item{s.table}}}}, s.table.ID)
		case "markdown":
			return report.Markdown(w, s.doc)
		}
		opts, err := report.TerminalOptions(w, o.color, a.env)
		if err != nil {
			return err
		}
		return report.Terminal(w, s.doc, opts)
	})
}
