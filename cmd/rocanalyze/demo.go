package main

import (
	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers/rules"
	"github.com/rocanalyze/rocanalyze/fixtures"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
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
		if r.in.Trace, err = ingest.OpenArchive(cmd.Context(), demoName, fixtures.Demo, ingest.Options{Only: rules.Cmd.Reads}); err != nil {
			return err
		}
		return r.run(cmd.Context())
	}
	return cmd
}
