// Package viewtest compares what a command prints with a file.
package viewtest

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/report"
	"github.com/rocanalyze/rocanalyze/pkg/view"
)

var update = flag.Bool("update", false, "rewrite the expected outputs")

// Golden runs a command over paths with its flags as they are by default, and
// compares the text that it prints with a file. With -update it writes the file.
func Golden(t *testing.T, c *view.Command, file string, paths ...string) {
	t.Helper()
	in := &view.Input{Flags: view.Defaults(c.Flags), Paths: paths, Options: analysis.Options{Params: map[string]float64{}}}
	in.Flags.Params(c.Flags, in.Options.Params)
	if c.Prepare != nil {
		if err := c.Prepare(in); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if in.Trace, err = ingest.Open(t.Context(), paths, ingest.Options{Only: c.Reads}); err != nil {
		t.Fatal(err)
	}
	if in.Outcome, err = analysis.Run(t.Context(), in.Trace, in.Options, c.Runs...); err != nil {
		t.Fatal(err)
	}
	shown, err := c.Show(in)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := report.Terminal(&got, shown.Document, report.Options{Width: report.DefaultWidth}); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("%s differs (-have +want; -update rewrites it):\n%s", file, d)
	}
}
