package l2

import (
	"fmt"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// Names of the parameters.
const (
	paramIdeal     = "ideal_bytes"
	paramRoof      = "roof_pct"
	paramStream    = "streaming_hit_pct"
	paramLow       = "low_hit_pct"
	paramCached    = "cached_hit_pct"
	paramPartial   = "partial_pct"
	paramFetch     = "over_fetch"
	paramImbalance = "imbalance_cv"
	paramWeight    = "weight_pct"
)

func params() []analysis.Param {
	return []analysis.Param{
		{Name: paramIdeal, Unit: "bytes", Doc: "bytes that one dispatch has to read from memory; 0 is not known"},
		{Name: paramRoof, Default: 80, Unit: "%", Doc: "of the memory's peak: at the roof (Nsight Compute SpeedOfLight: saturated)"},
		{Name: paramStream, Default: 5, Unit: "%", Doc: "a hit rate below this is a stream"},
		{Name: paramLow, Default: 50, Unit: "%", Doc: "a hit rate up to this is low (rocprofiler-compute memory bandwidth analysis)"},
		{Name: paramCached, Default: 90, Unit: "%", Doc: "a hit rate from this on is good (rocprofiler-compute memory bandwidth analysis)"},
		{Name: paramPartial, Default: 5, Unit: "%", Doc: "partial requests above this waste bandwidth"},
		{Name: paramFetch, Default: 1.1, Unit: "x", Doc: "bytes read over the bytes needed, above which something is read again"},
		{Name: paramImbalance, Default: 0.1, Doc: "coefficient of variation over L2 channels from which on they are uneven; even streams measured below 0.01"},
		{Name: paramWeight, Default: 10, Unit: "%", Doc: "part of the memory traffic that reads, or writes, have to be for advice about them: what moves little is no matter"},
	}
}

// needsCounters is the evidence that all rules need, as in the verdict's list of
// what is missing.
const needsCounters = "memory_counters"

const source = "FlyDSL kernel tuning guide, sections 9 and 11 (memory); rocprofiler-compute memory bandwidth analysis; thresholds: parameters of l2"

// decision is a rule with what it decides.
type decision struct {
	rule.Rule
	decide func(d *decider) (Decision, bool)
}

// Streaming is the id of the rule for data that crosses L2 once, imbalanced that
// for channels of uneven traffic.
const (
	Streaming  = "l2_streaming"
	imbalanced = "l2_channel_imbalance"
)

// ladder lists the rules in their order of importance.
func ladder() []decision {
	out := []decision{
		{rule.Rule{
			ID: "l2_at_the_roof", Title: "Memory at its roof", Severity: finding.Info,
			Fires: "reads and writes reach {l2.roof_pct} % of the memory's peak",
			Fix:   "move fewer bytes: fuse kernels, smaller types, more reuse in LDS or registers; nothing else gains much",
		}, atTheRoof},
		{rule.Rule{
			ID: imbalanced, Title: "L2 channels with uneven traffic", Severity: finding.Medium, Because: "medium: the busiest channel delays all, by how much is not counted",
			Fires:  "the coefficient of variation of the L2 channels' traffic is {l2.imbalance_cv} or more",
			Fix:    "spread the addresses: pad leading dimensions that are powers of two",
			Advice: []rule.Advice{{When: rule.ManyDies, Text: "swizzle workgroup ids over the XCDs so that neighbours share an L2"}},
		}, imbalance},
		{rule.Rule{
			ID: "l2_partial_lines", Title: "Requests of partial lines", Severity: finding.Medium, Because: "medium: the rest of the line is moved in vain, what that costs is not counted",
			Fires: "more than {l2.partial_pct} % of reads or writes are 32 bytes, or of reads 64 bytes where the line has 128, and these reads or writes are {l2.weight_pct} % of the traffic or more",
			Fix:   "access whole 128-byte lines: neighbouring lanes neighbouring addresses, 16 bytes per lane, aligned rows",
		}, partialLines},
		{rule.Rule{
			ID: "l2_over_fetch", Title: "Bytes that are read again", Severity: finding.Medium, Because: "medium: memory traffic that need not be, whether it is the bound is not asked",
			Fires:  "more than {l2.over_fetch} times the bytes needed are read (--ideal-bytes)",
			Fix:    "keep what is read again in L2: smaller blocks at a time",
			Advice: []rule.Advice{{When: rule.ManyDies, Text: "workgroups that share data on one XCD"}},
		}, overFetch},
		{rule.Rule{
			ID: "l2_reuse_lost", Title: "Reuse that L2 does not catch", Severity: finding.Low,
			Fires:  "the hit rate is between {l2.streaming_hit_pct} and {l2.low_hit_pct} %, L1 reads more than memory delivers or something is read again, lines are whole, and reads are {l2.weight_pct} % of the traffic or more",
			Fix:    "block for L2, and order workgroups so that those which share data run at the same time",
			Advice: []rule.Advice{{When: rule.ManyDies, Text: "on one XCD (swizzle)"}},
		}, reuseLost},
		{rule.Rule{
			ID: Streaming, Title: "A stream through L2", Severity: finding.Info,
			Fires: "each byte crosses L2 once: a hit rate below {l2.streaming_hit_pct} %, no over-fetch, or as many bytes of memory traffic as L1 asks for",
			Fix:   "nothing to gain in L2: the data is used once",
		}, streaming},
		{rule.Rule{
			ID: "l2_cached", Title: "L2 hits nearly always", Severity: finding.Info,
			Fires: "the hit rate is {l2.cached_hit_pct} % or more", Fix: "no more hits to gain: where L2 itself is busy, ask it for less (reuse in L1, LDS or registers)",
		}, cached},
	}
	for i := range out {
		r := &out[i].Rule
		r.Kind, r.Needs, r.Source = rule.Memory, needsCounters, source
	}
	return out
}

func rules() []rule.Rule {
	var out []rule.Rule
	for _, d := range ladder() {
		out = append(out, d.Rule)
	}
	return out
}

// decider is one kernel while it is judged.
type decider struct {
	k *Kernel
	p *analysis.Pass
}

// value returns a metric that is known.
func (d *decider) value(id string) (float64, bool) {
	v, ok := d.k.Metrics[id]
	if !ok || v.Value == nil {
		return 0, false
	}
	return *v.Value, true
}

func (d *decider) evidence(id string, threshold float64) finding.Evidence {
	v := d.k.Metrics[id]
	e := finding.Evidence{Metric: id, Unit: v.Unit, Threshold: &threshold, Source: v.Source}
	if v.Value != nil {
		e.Value = *v.Value
	}
	return e
}

func atTheRoof(d *decider) (Decision, bool) {
	limit := d.p.Param(paramRoof)
	t := d.k.Traffic
	if t == nil || t.PctOfPeak == nil || t.PctOfPeak.Low < limit {
		return Decision{}, false
	}
	return Decision{
		Text: fmt.Sprintf("at the roof: %s of %.4g GB/s (%s)", t.share(), t.PeakGBps, t.PeakSource),
		Evidence: []finding.Evidence{
			{Metric: "memory traffic of peak", Value: t.PctOfPeak.Low, Unit: "%", Threshold: &limit, Source: t.PeakSource},
		},
		Counters: d.spelled("TCC_EA0_RDREQ_DRAM_CREDIT_STALL", "TCC_EA0_WRREQ_DRAM_CREDIT_STALL", "TCC_BUSY"),
	}, true
}

// next are the counters of the next pass, if one is proposed.
func (d *decider) next() []string {
	if d.k.Next == nil {
		return nil
	}
	return d.k.Next.Counters
}

// spelled names counters as the profiler takes them.
func (d *decider) spelled(names ...string) []string {
	var out []string
	for _, n := range names {
		out = append(out, counters.Spell(n, d.k.Machine.Archs))
	}
	return out
}

func imbalance(d *decider) (Decision, bool) {
	limit := d.p.Param(paramImbalance)
	var worst *counters.Balance
	for i := range d.k.Channels {
		c := &d.k.Channels[i]
		if c.Little || c.Partial || !balanced(c.Counter) || c.CV < limit {
			continue
		}
		if worst == nil || c.CV > worst.CV {
			worst = c
		}
	}
	if worst == nil {
		return Decision{}, false
	}
	return Decision{
		Text: fmt.Sprintf("channel imbalance: %s varies by %.1f %% over %d channels, the busiest has %.2f times the mean", worst.Counter, 100*worst.CV, worst.Channels, worst.MaxOverAvg),
		Evidence: []finding.Evidence{
			{Metric: worst.Counter + " coefficient of variation", Value: worst.CV, Threshold: &limit, Source: "values per channel"},
			{Metric: worst.Counter + " max over mean", Value: worst.MaxOverAvg, Source: "values per channel"},
		},
	}, true
}

// balanced are the counters whose spread tells about addresses: what comes in
// and what goes out. Hits of a stream are few and uneven.
func balanced(counter string) bool {
	switch counter {
	case "TCC_REQ", "TCC_MISS", "TCC_EA0_RDREQ", "TCC_EA0_WRREQ", "TCC_EA_RDREQ", "TCC_EA_WRREQ":
		return true
	}
	return false
}

// matters reports whether the bytes of a metric are enough of the memory traffic
// for advice about them; they are where the traffic is not known.
func (d *decider) matters(bytes string) bool {
	part, ok := bounds(d.k, bytes)
	t := d.k.Traffic
	if !ok || t == nil || t.Only != "" || t.Bytes.High <= 0 {
		return true
	}
	rest := t.Bytes.Low - part.Low
	return part.High > 0 && 100*part.High/(part.High+rest) >= d.p.Param(paramWeight)
}

func partialLines(d *decider) (Decision, bool) {
	limit := d.p.Param(paramPartial)
	out := Decision{Text: "partial lines:"}
	for _, m := range []struct{ id, text, of string }{
		{"req_32B_pct", "of reads are 32 B", "ea_read_bytes"},
		{"req_64B_pct", "of reads are 64 B, half of a line", "ea_read_bytes"},
		{"partial_write_pct", "of writes are 32 B", "ea_write_bytes"},
	} {
		v, ok := d.value(m.id)
		if !ok || v <= limit || !d.matters(m.of) {
			continue
		}
		if len(out.Evidence) > 0 {
			out.Text += ","
		}
		out.Text += fmt.Sprintf(" %.1f %% %s", v, m.text)
		out.Evidence = append(out.Evidence, d.evidence(m.id, limit))
	}
	out.Counters = d.spelled("TA_TOTAL_WAVEFRONTS", "TCP_TOTAL_ACCESSES")
	return out, len(out.Evidence) > 0
}

func overFetch(d *decider) (Decision, bool) {
	limit := d.p.Param(paramFetch)
	o := d.k.OverFetch
	if o == nil || o.Ratio.Low <= limit {
		return Decision{}, false
	}
	return Decision{
		Text: fmt.Sprintf("over-fetch: %s the %.4g bytes that a dispatch has to read", times(o.Ratio), o.IdealBytes),
		Evidence: []finding.Evidence{
			{Metric: "bytes read over bytes needed", Value: o.Ratio.Low, Unit: "x", Threshold: &limit, Source: d.k.Metrics["ea_read_bytes"].Source},
		},
	}, true
}

func reuseLost(d *decider) (Decision, bool) {
	hit, ok := d.value("l2_hit_pct")
	low := d.p.Param(paramLow)
	if !ok || hit < d.p.Param(paramStream) || hit > low {
		return Decision{}, false
	}
	fetch := d.p.Param(paramFetch)
	again := d.k.OverFetch != nil && d.k.OverFetch.Ratio.Low > fetch
	reuse := d.k.OverFetch == nil && d.k.Reuse != nil && d.k.Reuse.Low > fetch && d.readsAgain(fetch)
	if !again && !reuse || !d.matters("ea_read_bytes") {
		return Decision{}, false
	}
	if v, ok := d.value("req_32B_pct"); ok && v > d.p.Param(paramPartial) {
		return Decision{}, false // the waste has another name
	}
	out := Decision{Evidence: []finding.Evidence{d.evidence("l2_hit_pct", low)}}
	if again {
		out.Text = fmt.Sprintf("reuse lost: %s of what is needed is read, and only %.1f %% hits", times(d.k.OverFetch.Ratio), hit)
		out.Evidence = append(out.Evidence, finding.Evidence{Metric: "bytes read over bytes needed", Value: d.k.OverFetch.Ratio.Low, Unit: "x", Threshold: &fetch})
		return out, true
	}
	out.Text = fmt.Sprintf("reuse lost: L1 asks for %s the bytes of memory traffic, but only %.1f %% hits", times(*d.k.Reuse), hit)
	out.Evidence = append(out.Evidence, finding.Evidence{Metric: "L1-to-L2 bytes over memory traffic", Value: d.k.Reuse.Low, Unit: "x", Threshold: &fetch})
	return out, true
}

// readsAgain reports whether L1 reads more than memory delivers, as far as
// reads and writes are told apart: written lines that are still in L2 when the
// kernel ends are traffic to come, not reuse.
func (d *decider) readsAgain(times float64) bool {
	asked, ok := bounds(d.k, "l1_l2_read_bytes")
	read, known := bounds(d.k, "ea_read_bytes")
	return !ok || !known || asked.Low > times*read.High
}

// shape is what the remedies depend on.
func (d *decider) shape() rule.Shape {
	if d.k.Machine.Facts["XCC"].Value > 1 {
		return rule.ManyDies
	}
	return 0
}

func streaming(d *decider) (Decision, bool) {
	fetch, stream := d.p.Param(paramFetch), d.p.Param(paramStream)
	if o := d.k.OverFetch; o != nil && o.Ratio.Low > fetch {
		return Decision{}, false // something is read again
	}
	hit, known := d.value("l2_hit_pct")
	switch {
	case known && hit < stream:
		return Decision{
			Text:     fmt.Sprintf("streaming: only %.2f %% hits, there is no reuse to exploit", hit),
			Evidence: []finding.Evidence{d.evidence("l2_hit_pct", stream)},
		}, true
	case d.k.OverFetch != nil && d.k.OverFetch.Ratio.High <= fetch:
		return Decision{
			Text:     fmt.Sprintf("streaming: %s of what is needed is read, each byte once", times(d.k.OverFetch.Ratio)),
			Evidence: []finding.Evidence{{Metric: "bytes read over bytes needed", Value: d.k.OverFetch.Ratio.High, Unit: "x", Threshold: &fetch}},
		}, true
	case d.k.Reuse != nil && d.k.Reuse.High <= fetch && (!known || hit <= d.p.Param(paramLow)):
		return Decision{
			Text:     fmt.Sprintf("streaming: memory moves as much as L1 asks for (%s), hits are only the other halves of lines", times(*d.k.Reuse)),
			Evidence: []finding.Evidence{{Metric: "L1-to-L2 bytes over memory traffic", Value: d.k.Reuse.High, Unit: "x", Threshold: &fetch}},
		}, true
	case known && hit <= d.p.Param(paramLow) && d.k.Reuse != nil && d.k.Reuse.Low <= 1:
		return Decision{
			Text:     fmt.Sprintf("probably streaming: %.1f %% hits, but a stream of half-line requests has up to 50 %%; L1 asks for %s the bytes of memory traffic", hit, times(*d.k.Reuse)),
			Evidence: []finding.Evidence{d.evidence("l2_hit_pct", d.p.Param(paramLow)), {Metric: "L1-to-L2 bytes over memory traffic", Value: d.k.Reuse.Low, Unit: "x"}},
			Counters: d.next(),
		}, true
	}
	return Decision{}, false
}

func cached(d *decider) (Decision, bool) {
	hit, ok := d.value("l2_hit_pct")
	limit := d.p.Param(paramCached)
	if !ok || hit < limit {
		return Decision{}, false
	}
	return Decision{
		Text:     fmt.Sprintf("cached: %.1f %% hits", hit),
		Evidence: []finding.Evidence{d.evidence("l2_hit_pct", limit)},
	}, true
}

// times writes a ratio or a range of it.
func times(r counters.Range) string { return span(r, 2) + "x" }

// share is the part of the peak that is used.
func (t *Traffic) share() string {
	if t.Only != "" {
		return fmt.Sprintf("at least %.1f %%", t.PctOfPeak.Low)
	}
	return percent(*t.PctOfPeak)
}

func percent(r counters.Range) string { return span(r, 1) + " %" }

// span writes both ends of a range, or one where they look the same.
func span(r counters.Range, decimals int) string {
	low, high := fmt.Sprintf("%.*f", decimals, r.Low), fmt.Sprintf("%.*f", decimals, r.High)
	if low == high {
		return low
	}
	return low + " to " + high
}
