package balance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// checks are the rules on one trace's load.
func checks() []rule.Check[*Balance] {
	return []rule.Check[*Balance]{
		{Rule: rule.Rule{
			ID: "imbalance", Title: "Compute units with unequal work", Kind: rule.Launch, Severity: finding.Low, Needs: "thread_trace",
			Fires:  "of the compute units that held waves, the one with the most resident time exceeds their mean by at least {share_pct} % of the span of all waves; from {severity.medium_pct} % where units had like waves",
			Fix:    "start the longest workgroups first, split them, or let persistent workgroups take work from a queue",
			Source: "occupancy.json has every wave of the traced engines; Osama et al., \"Stream-K\", PPoPP 2023, on work-centric decomposition",
			Params: []rule.Param{
				{Name: "share_pct", Default: 5, Unit: "%", Doc: "share of the span of all waves that even loads would save, from which it is worth a finding"},
				{Name: "long_wave", Default: 1.5, Unit: "x", Doc: "the longest wave's life over the median's from which waves count as unequal"},
			},
		}, When: uneven},
		{Rule: rule.Rule{
			ID: "empty_simds", Title: "SIMDs without waves in busy compute units", Kind: rule.Launch, Severity: finding.Low, Needs: "thread_trace",
			Fires:  "while a compute unit holds a wave, at most {fill_pct} % of its SIMDs hold one on average",
			Fix:    "four waves per workgroup, or enough workgroups per unit, so that every SIMD has one: split the work of a wave",
			Source: "occupancy.json; a workgroup's waves go to the SIMDs in turn",
			Params: []rule.Param{{Name: "fill_pct", Default: 60, Unit: "%", Doc: "share of the SIMDs that hold a wave while their unit does, up to which it is worth a finding"}},
		}, When: emptySIMDs},
	}
}

func uneven(b *Balance, values rule.Values) []rule.Hit {
	least := values("share_pct")
	if b.LossPct < least {
		return nil
	}
	source := "occupancy.json"
	if b.Aligned {
		source += ", realtime.json"
	}
	e := []finding.Evidence{
		{Metric: "even loads would save", Value: b.LossPct, Unit: "% of the span of all waves", Threshold: &least, Source: source},
		{Metric: "time of the used compute units with a wave resident", Value: b.UsedResidentPct, Unit: "%", Source: source},
		{Metric: "last waves end, median compute unit", Value: b.FinishPct.Median, Unit: "% of the span of all waves", Source: source},
	}
	cause, fix, mends := b.cause(values("long_wave"))
	return []rule.Hit{{
		Text: fmt.Sprintf("a wave is resident in %.0f %% of the time of the used compute units: %s; %s",
			b.UsedResidentPct, b.FinishText(), cause),
		Fix: fix, Evidence: e, Bound: &finding.Bound{Pct: b.LossPct, Of: "the span of the traced engines' waves"},
		Minor: !mends && b.LossPct < values(rule.MediumPct),
	}}
}

// FinishText says when the units are done.
func (b *Balance) FinishText() string {
	if b.Used < 2 {
		return "the only one with waves is done at the end"
	}
	return fmt.Sprintf("half of the %d are done by %.0f %% of the span of all waves, %d by %.0f %%", b.Used, b.FinishPct.Median, b.MostCUs, b.MostByPct)
}

// cause tells what makes loads unequal, and what to do about it; "" leaves the
// rule's fix. mends is false where the units had like waves. long is the longest life over the median's from which waves are
// unequal.
func (b *Balance) cause(long float64) (text, fix string, mends bool) {
	if l := b.Lifetimes; l != nil && l.Median > 0 && l.Max >= long*l.Median {
		text = fmt.Sprintf("waves live unequally long (%.0f to %.0f cycles, median %.0f)", l.Min, l.Max, l.Median)
		i := slices.IndexFunc(b.Trips, func(t Trips) bool { return float64(t.Most) >= long*float64(t.Median) })
		if i < 0 {
			return text, "start the longest workgroups first, split them, or let persistent workgroups take work from a queue" + b.streamK(), true
		}
		t := &b.Trips[i]
		text += fmt.Sprintf(", and so do the trips of the loop of lines %d to %d differ (%d to %d, median %d)", t.FirstLine, t.LastLine, t.Least, t.Most, t.Median)
		return text, "start the workgroups with the most trips first, pair long with short ones (with a causal mask: the first row block with the last), split the long ones, or let persistent workgroups take work from a queue", true
	}
	if b.Waves.Max > b.Waves.Min {
		return fmt.Sprintf("%g to %g waves a unit, of like lives", b.Waves.Min, b.Waves.Max), "workgroups that make whole rounds, more and smaller ones for the last round, or persistent workgroups that share it" + b.streamK(), true
	}
	return fmt.Sprintf("as many waves on each (%g), of like lives", b.Waves.Max), "no schedule mends it: look at what makes like work take unequally long (channel conflicts, remote memory, a cold cache); more and smaller workgroups average it out", false
}

func (b *Balance) streamK() string {
	if b.Shape.Has(rule.GEMM) {
		return "; stream-K cuts the product into even pieces"
	}
	return ""
}

func emptySIMDs(b *Balance, values rule.Values) []rule.Hit {
	most := values("fill_pct")
	if b.SIMDFillPct == nil || *b.SIMDFillPct > most {
		return nil
	}
	var parts []string
	for _, s := range b.SIMDs {
		parts = append(parts, fmt.Sprintf("SIMD %d %d waves", s.SIMD, s.Starts))
	}
	return []rule.Hit{{
		SizePct: 100 - *b.SIMDFillPct,
		Text:    fmt.Sprintf("%.0f %% of a compute unit's SIMDs hold a wave while the unit holds one (%s)", *b.SIMDFillPct, strings.Join(parts, ", ")),
		Evidence: []finding.Evidence{{
			Metric: "SIMDs with a wave in units with one", Value: *b.SIMDFillPct, Unit: "%", Threshold: &most, Source: "occupancy.json",
		}},
	}}
}
