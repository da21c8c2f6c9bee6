package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/report"
)

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
