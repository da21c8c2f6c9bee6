package rules

import (
	"fmt"

	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// clockRules look at the clock that the traced waves ran at.
func clockRules() []rule.Check[*subject] {
	return []rule.Check[*subject]{
		{Rule: rule.Rule{
			ID: "clock_below_max", Title: "The shader clock is below its highest", Kind: rule.Launch, Severity: finding.Low, Needs: needsTrace,
			Fires:  "the mean shader clock of the trace is at least {loss_pct} % below the device's highest; at most medium for a kernel that HBM bounds, which has a clock of its own",
			Fix:    "look for a power or thermal limit while it runs (amd-smi metric --power --clock --temperature); warm the GPU up and repeat a short kernel, which is over before the clock has risen; to compare versions hold the clock (amd-smi set --perf-determinism MHZ)",
			Source: "realtime.json: pairs of shader clock and real time; AMD SMI documentation",
			Params: []rule.Param{{Name: "loss_pct", Default: 5, Unit: "%", Doc: "share of the highest clock that is missing, from which it is worth a finding"}},
		}, When: slowClock},
	}
}

func slowClock(s *subject, values rule.Values) []rule.Hit {
	least := values("loss_pct")
	highest, ok := s.m.Resolved.MaxClockMHz()
	if !ok || s.m.Hot.Machine.ClockMHz == nil {
		return nil
	}
	mhz := *s.m.Hot.Machine.ClockMHz
	loss := 100 * (1 - mhz/highest.Number)
	if loss < least {
		return nil
	}
	h := rule.Hit{
		Text: fmt.Sprintf("the shader clock was %.0f MHz on average, %.0f %% below the highest of %.0f MHz%s", mhz, loss, highest.Number, s.clockRange()),
		Evidence: []finding.Evidence{
			{Metric: "shader clock", Value: mhz, Unit: "MHz", Threshold: new(highest.Number * (1 - least/100)), Source: "realtime.json; highest: " + highest.Source},
		},
		Bound: &finding.Bound{Pct: loss, Of: "the time that follows the shader clock"},
	}
	if s.k.Regime == regime.Bandwidth && s.k.Subtype == "hbm" && loss >= values(rule.HighPct) {
		h.Severity = new(finding.Medium)
	}
	return []rule.Hit{h}
}

// clockRange says over what the clock is a mean, where that is much longer than
// waves ran: the clock may have been another then.
func (s *subject) clockRange() string {
	c, b := s.tt.Clocks, s.m.Balance
	if c == nil || b == nil || len(c.Engines) == 0 || c.RealHz <= 0 {
		return ""
	}
	points := c.Engines[0].Points
	if len(points) < 2 {
		return ""
	}
	between := float64(points[len(points)-1].Real-points[0].Real) / float64(c.RealHz) * 1e6
	waves := float64(b.SpanCycles) / *s.m.Hot.Machine.ClockMHz
	if between < muchLonger*waves {
		return ""
	}
	return fmt.Sprintf(", over the %.0f us between two readings; waves ran for %.1f us of them, at a clock that may differ", between, waves)
}

// muchLonger is how many times longer than the waves the readings are apart for
// that to be said.
const muchLonger = 2
