package regime

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/balance"
	"github.com/rocanalyze/rocanalyze/analyzers/hotspots"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
)

// regimeWords names a regime in a sentence.
var regimeWords = map[Regime]string{
	Compute: "compute-bound", Bandwidth: "bandwidth-bound", Latency: "latency-bound", Mixed: "bound by two resources", Inconclusive: "inconclusive",
}

// sentence says the verdict with its deciding numbers.
func (d *decider) sentence(f facts, o outcome) string {
	s := regimeWords[o.regime]
	if o.likely {
		s = "likely " + s
	}
	switch {
	case o.regime == Inconclusive:
		return s + ": " + o.why
	case o.subtype == Imbalance:
		return s + " (imbalance): " + o.why + "; " + d.busiest(f) + waitText(f)
	case o.subtype == UnderFilled, o.subtype == Tail:
		s = "under-filled"
		if o.subtype == Tail {
			s += " (tail)"
		}
		return s + ": " + o.why + "; " + d.busiest(f) + waitText(f)
	case stallWords(o.subtype) != "":
		return s + " (" + stallWords(o.subtype) + "): " + o.why + waitText(f)
	case o.regime == Latency:
		return s + ": " + d.busiest(f) + waitText(f)
	}
	parts := make([]string, 0, len(o.top))
	for _, v := range o.top {
		parts = append(parts, levelText(v))
	}
	s += ": " + strings.Join(parts, " and ")
	if o.atRoof {
		s += "; at the roof, there is little left to gain but doing less work"
	}
	return s
}

// levelText names a level with its figure; more than the peak is not shown as
// a figure.
func levelText(v Level) string {
	name := resourceWords[v.Resource]
	switch {
	case v.Basis == UpperBound && v.Pct > 100:
		return "more bytes are requested than " + name + " can give, caches serve a part"
	case v.Basis == UpperBound:
		return fmt.Sprintf("%s at no more than %.0f %% of its peak, by the bytes requested", name, v.Pct)
	case v.Flag != "":
		return name + " above its peak (flagged)"
	case v.AtLeast:
		return fmt.Sprintf("%s at %.0f %% of its peak or more", name, v.Pct)
	case v.AtMost:
		return fmt.Sprintf("%s at no more than %.0f %% of its peak", name, v.Pct)
	}
	return fmt.Sprintf("%s at %.0f %% of its peak", name, v.Pct)
}

// busiest names the level that comes closest to its peak.
func (d *decider) busiest(f facts) string {
	var top *Level
	for i := range f.levels {
		v := &f.levels[i]
		if v.Basis != UpperBound && v.Flag == "" && (top == nil || v.Pct > top.Pct) {
			top = v
		}
	}
	if top == nil {
		return "no resource is known to be busy"
	}
	return fmt.Sprintf("the busiest resource (%s) is at %.0f %%", resourceWords[top.Resource], top.Pct)
}

func waitText(f facts) string {
	if f.waiting == nil {
		return ""
	}
	s := fmt.Sprintf(", waves wait %.0f %% of their time", *f.waiting)
	if len(f.waits) > 0 {
		s += fmt.Sprintf(", most for %s (%.0f %%)", kindWords[f.waits[0].Kind], f.waits[0].CyclesPct)
	}
	return s
}

// evidence lists the figures that the verdict rests on, each with what it was
// held against.
func (d *decider) evidence(f facts, m *TraceMeasure) []finding.Evidence {
	out := []finding.Evidence{}
	for _, v := range f.levels {
		from, _ := d.from(v)
		e := finding.Evidence{Metric: v.Resource + "_utilisation", Value: v.Pct, Unit: "% of peak", Threshold: &from, Source: v.How + " [" + v.Source + "]"}
		if v.Basis == UpperBound {
			e.Metric, e.Unit = v.Resource+"_requested", "% of peak, upper bound"
		}
		out = append(out, e)
	}
	out = append(out, d.k.traffic()...)
	if f.stall != nil && f.stall.stalled > f.stall.useful {
		out = append(out, f.stall.evidence()...)
	}
	if f.waiting != nil {
		out = append(out, finding.Evidence{Metric: "waiting", Value: *f.waiting, Unit: f.waitingUnit(), Threshold: new(d.waiting), Source: f.waitingFrom})
	}
	out = append(out, d.sampledEvidence()...)
	if m == nil {
		return out
	}
	if m.FillSource != "" {
		out = append(out, finding.Evidence{Metric: "cus_in_use", Value: 100 * m.Fill, Unit: "%", Threshold: new(d.filled), Source: m.FillSource})
	}
	if b := m.Balance; b != nil {
		out = append(out, loadEvidence(b, d.imbalance)...)
	}
	if m.BytesPerClockCU != nil {
		e := finding.Evidence{Metric: "requested_bytes_per_clock_per_cu", Value: *m.BytesPerClockCU, Unit: "B/clk/CU", Source: "code.json, wave files"}
		if m.HBMShare != nil {
			e.Threshold = m.HBMShare
			_, how, _ := hbmShare(m.Device, m.ClockMHz)
			e.Source += "; threshold: HBM's share, " + how
		}
		out = append(out, e)
	}
	return append(out, m.windowEvidence()...)
}

// windowEvidence says what part of the launch was traced: of the time in which
// its waves ran where occupancy.json tells it, else of its duration.
func (m *TraceMeasure) windowEvidence() []finding.Evidence {
	h := m.Hot
	e := finding.Evidence{Metric: "traced_window", Source: "wave files, realtime.json, "}
	switch {
	case h.Machine.WindowPctOfWaves != nil:
		e.Value, e.Unit = *h.Machine.WindowPctOfWaves, "% of the time in which the launch's waves ran"
		e.Source += hotspots.OccupancyFile
	case h.Machine.WindowPct != nil:
		e.Value, e.Unit = *h.Machine.WindowPct, "% of the dispatch"
		e.Source += h.Launch.Source
	default:
		return nil
	}
	return []finding.Evidence{e}
}

// loadEvidence is what the units' time with waves says.
func loadEvidence(b *balance.Balance, imbalance float64) []finding.Evidence {
	share := finding.Evidence{Metric: "used_cu_time_with_a_wave", Value: b.UsedResidentPct, Unit: "% of the time of the used CUs", Source: "occupancy.json"}
	if b.ResidentPct != nil {
		share = finding.Evidence{Metric: "cu_time_with_a_wave", Value: *b.ResidentPct, Unit: "% of the time of the traced engines' CUs", Source: "occupancy.json, agent table"}
	}
	return []finding.Evidence{share, {
		Metric: "imbalance_loss", Value: b.LossPct, Unit: "% of the span of all waves", Threshold: &imbalance, Source: "occupancy.json",
	}}
}

// also names what limits the kernel beside its bound.
func (d *decider) also(f facts, o outcome) []string {
	var out []string
	if n, ok := d.notFilled(f); ok {
		if o.subtype != n.subtype {
			out = append(out, n.why)
		}
	} else if s := f.launch; s != nil && s.Rounds > 1 && s.LastRoundPct < d.filled && s.TailPct >= d.smallTail {
		out = append(out, fmt.Sprintf("tail: %s, %.0f %% of all places stay empty", tailText(s), s.TailPct))
	}
	for _, v := range f.levels {
		if v.Undecided && v.Pct >= d.bandwidth && (o.regime != Inconclusive || v.Basis != Measured) {
			out = append(out, levelText(v)+"; "+d.undecidedText(v))
		}
	}
	if at := hottest(d.k.Sampled); at != "" {
		out = append(out, at)
	}
	return out
}

// undecidedText says why a range, or requested bytes, prove nothing.
func (d *decider) undecidedText(v Level) string {
	if v.Basis == Measured {
		return cmp.Or(v.note, "the counters allow a range")
	}
	m := d.k.Main
	if m != nil && !m.HasMatrix && m.LaunchNs > 0 {
		return fmt.Sprintf("if its launch took %.2g us more than its waves it is %.0f %%: a kernel-trace row of the dispatch would decide", m.LaunchNs/1000, m.leastPct())
	}
	return "with matrix work, whose tiles caches serve, this proves nothing"
}

// missing lists the evidence that would decide or confirm more.
func (d *decider) missing(f facts, m *TraceMeasure) []Missing {
	var out []Missing
	add := func(x Missing) {
		if x != "" && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	add(f.missing)
	if m == nil && d.k.Sampled == nil {
		add(MissingTrace)
	}
	if !slices.ContainsFunc(f.levels, func(v Level) bool { return v.Resource == resHBM && v.Basis == Measured }) {
		add(MissingMemory)
	}
	if m == nil {
		if !slices.ContainsFunc(f.levels, func(v Level) bool { return v.Regime == Compute }) {
			add(MissingCompute)
		}
		return out
	}
	if !m.Hot.Launch.Tabled() {
		add(MissingLaunch)
	}
	if m.Device == nil {
		add(MissingDevice)
	}
	if !m.Hot.LinesRanked && m.Hot.Samples == nil {
		add(MissingSource)
	}
	return out
}
