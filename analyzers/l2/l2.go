// Package l2 is the analyzer that says what the L2 cache and memory did for
// each kernel, and what follows from it.
package l2

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

//go:embed doc.md
var doc string

// Analyzer returns a *Result.
var Analyzer = analysis.New(analysis.Analyzer{
	Name:     "l2",
	Doc:      doc,
	Needs:    []analysis.Evidence{analysis.Counters},
	Requires: []analysis.Required{counters.Analyzer},
	Params:   params(),
	Rules:    rules(),
}, run)

// metricIDs are the metrics that are about L2 and memory, in the order in
// which they are shown.
func metricIDs() []string {
	return []string{
		"duration_ns", "l2_hits", "l2_misses", "l2_requests", "l2_hit_pct", "l2_bw_GBps", "l2_util_pct", "l1_l2_read_requests", "l1_l2_read_bytes", "l1_l2_requests", "l1_l2_bytes", "l1_l2_GBps",
		"ea_read_bytes", "ea_write_bytes", "ea_read_GBps", "ea_write_GBps", "hbm_read_bytes", "hbm_write_bytes", "remote_read_bytes",
		"hbm_read_req_pct", "remote_read_req_pct", "hbm_write_req_pct", "req_32B_pct", "req_64B_pct", "req_128B_pct", "partial_write_pct",
		"ea_read_latency_cyc", "ea_write_latency_cyc", "hbm_credit_stall_pct", "fetch_GBps",
	}
}

// wanted are the metrics that the decisions rest on: counters for them are
// proposed.
func wanted() []string {
	return []string{"l2_hit_pct", "ea_read_bytes", "ea_write_bytes", "req_32B_pct", "hbm_read_req_pct", "l1_l2_bytes"}
}

func run(p *analysis.Pass) (*Result, error) {
	res := &Result{Kernels: []Kernel{}}
	for _, c := range counters.Analyzer.Of(p).Kernels {
		k := Kernel{
			Name: c.Name, Run: c.Run, Machine: c.Machine, Dispatches: c.Dispatches, TotalNs: c.TotalNs,
			Metrics: map[string]counters.Value{}, Channels: c.Channels, Decisions: []Decision{}, Notes: notes(c.Notes),
		}
		for _, id := range metricIDs() {
			if v, ok := c.Metrics[id]; ok {
				k.Metrics[id] = v
			}
		}
		for _, a := range c.Absent {
			if slices.Contains(metricIDs(), a.ID) {
				k.Absent = append(k.Absent, a)
			}
		}
		k.Traffic = traffic(&k)
		k.OverFetch = fetched(&k, p.Param(paramIdeal))
		k.Reuse = reuse(&k)
		k.Next = counters.Plan(k.Absent, k.Metrics, wanted())
		d := &decider{k: &k, p: p}
		d.decide()
		res.Kernels = append(res.Kernels, k)
	}
	return res, nil
}

// notes leaves out those about metrics that are not shown.
func notes(all []counters.Note) []counters.Note {
	out := []counters.Note{}
	for _, n := range all {
		if id := n.Metric(); id == "" || slices.Contains(metricIDs(), id) {
			out = append(out, n)
		}
	}
	return out
}

// bounds returns a metric as a range, equal at both ends where it is known.
func bounds(k *Kernel, id string) (counters.Range, bool) {
	v, ok := k.Metrics[id]
	switch {
	case !ok:
		return counters.Range{}, false
	case v.Value != nil:
		return counters.Range{Low: *v.Value, High: *v.Value}, true
	case v.Range != nil:
		return *v.Range, true
	}
	return counters.Range{}, false
}

// traffic adds reads and writes. Where one of them was not counted, the other is
// the least that moved.
func traffic(k *Kernel) *Traffic {
	t := &Traffic{}
	r, okR := bounds(k, "ea_read_bytes")
	w, okW := bounds(k, "ea_write_bytes")
	switch {
	case !okR && !okW:
		return nil
	case !okW:
		t.Only = "reads"
	case !okR:
		t.Only = "writes"
	}
	t.Bytes = counters.Range{Low: r.Low + w.Low, High: r.High + w.High}
	rr, rateR := bounds(k, "ea_read_GBps")
	ww, rateW := bounds(k, "ea_write_GBps")
	if rateR != okR || rateW != okW {
		return t
	}
	t.GBps = &counters.Range{Low: rr.Low + ww.Low, High: rr.High + ww.High}
	if peak := k.Machine.Memory; peak != nil && peak.Value > 0 {
		t.PeakGBps, t.PeakSource = peak.Value, peak.Source
		// What two rates of one duration add up to may still be impossible.
		if t.GBps.Low <= peak.Value {
			t.PctOfPeak = &counters.Range{Low: 100 * t.GBps.Low / peak.Value, High: 100 * min(t.GBps.High/peak.Value, 1)}
			if t.Only != "" {
				t.PctOfPeak.High = 100
			}
		}
	}
	return t
}

// fetched compares the bytes read with those that had to be.
func fetched(k *Kernel, ideal float64) *OverFetch {
	r, ok := bounds(k, "ea_read_bytes")
	if !ok || ideal <= 0 {
		return nil
	}
	return &OverFetch{IdealBytes: ideal, Ratio: counters.Range{Low: r.Low / ideal, High: r.High / ideal}}
}

// reuse is how many bytes L1 asked for, for each byte of memory traffic. L2's
// own requests are of 64 to 128 bytes.
func reuse(k *Kernel) *counters.Range {
	if k.Traffic == nil || k.Traffic.Only != "" || k.Traffic.Bytes.Low <= 0 {
		return nil
	}
	asked, ok := bounds(k, "l1_l2_bytes")
	if !ok {
		hits, okH := bounds(k, "l2_hits")
		misses, okM := bounds(k, "l2_misses")
		if !okH || !okM {
			return nil
		}
		asked = counters.Range{Low: 64 * (hits.Low + misses.Low), High: 128 * (hits.High + misses.High)}
	}
	return &counters.Range{Low: asked.Low / k.Traffic.Bytes.High, High: asked.High / k.Traffic.Bytes.Low}
}

// decide applies the rules.
func (d *decider) decide() {
	for _, r := range ladder() {
		out, ok := r.decide(d)
		if !ok {
			continue
		}
		out.ID, out.Fix = r.ID, rule.Fit(r.Fix, r.Advice, d.shape())
		hit := rule.Hit{Text: out.Text, Evidence: out.Evidence, Where: d.k.Run, Fix: out.Fix}
		d.k.Found = append(d.k.Found, d.p.Found(&r.Rule, hit, finding.Place{Path: d.k.Run, Kernel: d.k.Name}))
		d.k.Decisions = append(d.k.Decisions, out)
	}
	d.p.Report(d.k.Found...)
	if len(d.k.Decisions) > 0 {
		return
	}
	out := Decision{ID: "undecided", Evidence: []finding.Evidence{}}
	if v, ok := d.value("l2_hit_pct"); ok {
		out.Text = fmt.Sprintf("undecided: %.1f %% hits, and nothing that was counted stands out", v)
		hit := d.evidence("l2_hit_pct", 0)
		hit.Threshold = nil
		out.Evidence = append(out.Evidence, hit)
	} else {
		out.Text = "undecided: hits and misses were not counted"
	}
	out.Counters = d.next()
	d.k.Decisions = append(d.k.Decisions, out)
}
