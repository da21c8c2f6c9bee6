package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers/rules"
	"github.com/rocanalyze/rocanalyze/fixtures"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// demoName is what the bundled capture is called.
const demoName = "demo.tar.gz"

func newDemo(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "diagnose on a bundled capture, with no file of yours",
		Long: `Shows what diagnose says about a bundled capture: a simulated thread trace of a
pipelined GEMM on MI350X, with the kernel trace and the agent table of its run.

Exit status:
  0  done
  1  a finding at or above --fail-on
  2  bad usage`,
		Example: `  rocanalyze demo
  rocanalyze demo --format markdown`,
		Args: cobra.NoArgs,
	}
	start := newRunner(a, &rules.Cmd, cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		r := start([]string{demoName})
		if r.in.Trace, err = readDemo(cmd.Context()); err != nil {
			return err
		}
		return r.run(cmd.Context())
	}
	return cmd
}

// readDemo puts the bundled capture into a folder of its own for as long as it
// is read, and reads it from inside there, so that its name is the same
// everywhere.
func readDemo(ctx context.Context) (t *trace.Trace, err error) {
	home, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "rocanalyze-demo-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.Chdir(home), os.RemoveAll(dir)) }()
	if err := os.Chdir(dir); err != nil {
		return nil, err
	}
	if err := os.WriteFile(demoName, fixtures.Demo, 0o600); err != nil {
		return nil, err
	}
	return open(ctx, "diagnose", []string{demoName})
}
