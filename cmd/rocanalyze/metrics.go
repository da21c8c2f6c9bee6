package main

import (
	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"

	"github.com/rocanalyze/rocanalyze/pkg/view"
)

func newMetrics(a *app) *cobra.Command {
	var f view.Values
	cmd := &cobra.Command{
		Use:   "metrics [ID]",
		Short: "The catalogue of metrics, with their formulas and sources",
		Long: `Lists every metric that counters and l2 can compute, or explains one: its unit and
denominator, and for each architecture its formula, the counters that it needs and
where it comes from. Names of counters are sums over all instances of the block.

Exit status:
  0  done
  2  bad usage, or no metric of that id`,
		Example: `  rocanalyze metrics
  rocanalyze metrics ea_read_bytes
  rocanalyze metrics --format csv`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.metrics(f, args) },
	}
	f = plain(cmd, fileFlags)
	return cmd
}

// metricsOutput is the machine output of the command.
type metricsOutput struct {
	Metrics []counters.Metric `json:"catalogue"`
}

func (a *app) metrics(f view.Values, args []string) error {
	all := counters.Catalogue()
	if len(args) == 1 {
		m, err := counters.FindMetric(args[0])
		if err != nil {
			return err
		}
		all = []counters.Metric{m}
	}
	return a.print(f, shown{
		doc: counters.CatalogueSections(all), table: counters.CatalogueTable(all),
		result: metricsOutput{all},
		env:    envelope("metrics", args, false, nil),
	})
}
