package rules

import (
	"slices"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// What follows from the verdict comes first, whatever bounds more; the others
// keep their order.
func TestVerdictLeads(t *testing.T) {
	for _, c := range []struct {
		regime  regime.Regime
		subtype string
		want    []string
	}{
		{regime.Latency, regime.UnderFilled, []string{"grid_under_filled", "bandwidth_bound", "vmem_wait", "tail", "imbalance"}},
		{regime.Latency, regime.Tail, []string{"tail", "bandwidth_bound", "vmem_wait", "grid_under_filled", "imbalance"}},
		{regime.Latency, regime.Imbalance, []string{"imbalance", "bandwidth_bound", "vmem_wait", "grid_under_filled", "tail"}},
		{regime.Latency, "vmem", []string{"bandwidth_bound", "vmem_wait", "grid_under_filled", "tail", "imbalance"}},
		{regime.Bandwidth, regime.Tail, []string{"bandwidth_bound", "vmem_wait", "grid_under_filled", "tail", "imbalance"}},
	} {
		k := Kernel{Kernel: regime.Kernel{Regime: c.regime, Subtype: c.subtype}}
		for _, id := range []string{"vmem_wait", "grid_under_filled", "tail", "imbalance"} {
			k.Findings = append(k.Findings, finding.Finding{ID: id, Severity: finding.High})
		}
		k.Findings = append(k.Findings, finding.Finding{ID: "bandwidth_bound", Kind: string(rule.Verdict)})
		k.lead()
		var got []string
		for _, f := range k.Findings {
			got = append(got, f.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: %v, want %v", c.regime, c.subtype, got, c.want)
		}
	}
}
