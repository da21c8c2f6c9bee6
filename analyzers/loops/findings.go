package loops

import (
	"fmt"

	"github.com/rocanalyze/rocanalyze/pkg/finding"
)

// minSharePct is the least share of the kernel's exposed cycles that a finding
// about one wait, hazard or loop is told for.
const minSharePct = 5

// Findings are what a result has to say, sorted.
func Findings(r *Result) []finding.Finding {
	out := []finding.Finding{}
	for i := range r.Kernels {
		k := &r.Kernels[i]
		total := k.exposedCycles()
		for j := range k.Prefetches {
			if f, ok := late(k, &k.Prefetches[j], total); ok {
				out = append(out, f)
			}
		}
		for j := range k.Hazards {
			if f, ok := early(k, &k.Hazards[j], total); ok {
				out = append(out, f)
			}
		}
		for j := range k.Loops {
			if f, ok := overhead(k, &k.Loops[j]); ok {
				out = append(out, f)
			}
		}
	}
	finding.Sort(out)
	return out
}

// exposedCycles is what the shares of findings are of: the exposed time of the
// SIMDs.
func (k *Kernel) exposedCycles() float64 {
	if k.SIMD == nil {
		return 0
	}
	return float64(k.SIMD.Exposed)
}

// bound is the share of the SIMDs' time, when the share of the exposed cycles
// is large enough to tell.
func (k *Kernel) bound(cost *float64, exposed float64) (*finding.Bound, bool) {
	if cost == nil || exposed <= 0 || 100**cost/exposed < minSharePct {
		return nil, false
	}
	return &finding.Bound{Pct: 100 * *cost / float64(k.SIMD.Total), Of: "SIMD time"}, true
}

func late(k *Kernel, p *Prefetch, exposed float64) (finding.Finding, bool) {
	b, ok := k.bound(p.ExposedCycles, exposed)
	if !ok || p.EarlierCycles == nil {
		return finding.Finding{}, false
	}
	text := fmt.Sprintf("line %d, %s: its operations are issued %.0f cycles before it and take %d (median of the executions that wait)",
		p.Line, p.Text, p.AheadCycles, *p.LatencyMedian)
	fix := fmt.Sprintf("issue them %d cycles earlier", *p.EarlierCycles)
	if p.EarlierMFMAs != nil {
		plural := "s"
		if *p.EarlierMFMAs == 1 {
			plural = ""
		}
		fix = fmt.Sprintf("issue them %d MFMA%s earlier (%d cycles)", *p.EarlierMFMAs, plural, *p.EarlierCycles)
	}
	line := p.Line
	return finding.Finding{
		ID: "late_prefetch", Severity: finding.Medium, Text: text, Fix: fix, Bound: b,
		Place: finding.Place{Path: k.Path, Kernel: k.Name, Line: &line},
		Evidence: []finding.Evidence{
			{Metric: "distance", Value: p.AheadCycles, Unit: "cycles", Source: "wave files"},
			{Metric: "latency, median", Value: float64(*p.LatencyMedian), Unit: "cycles", Source: "wave files"},
			{Metric: "exposed", Value: *p.ExposedCycles, Unit: "cycles", Source: "wave files"},
		},
	}, true
}

func early(k *Kernel, h *Hazard, exposed float64) (finding.Finding, bool) {
	b, ok := k.bound(h.ExposedCycles, exposed)
	if !ok {
		return finding.Finding{}, false
	}
	line := h.Line
	return finding.Finding{
		ID: "matrix_result_read_early", Severity: finding.Medium,
		Text: fmt.Sprintf("line %d reads the result of the matrix instruction at line %d after %d cycles, which takes %d",
			h.Line, h.ProducerLine, h.DistanceCycles, h.NeededCycles),
		Fix:   fmt.Sprintf("put %d cycles of independent instructions in between", h.NeededCycles-h.DistanceCycles),
		Bound: b, Place: finding.Place{Path: k.Path, Kernel: k.Name, Line: &line},
		Evidence: []finding.Evidence{
			{Metric: "distance", Value: float64(h.DistanceCycles), Unit: "cycles", Source: "code"},
			{Metric: "exposed", Value: *h.ExposedCycles, Unit: "cycles", Source: "wave files"},
		},
	}, true
}

// overhead tells a hot matrix loop with few matrix instructions.
func overhead(k *Kernel, l *Loop) (finding.Finding, bool) {
	const hotPct = 30
	if l.Ratios == nil || l.SharePct < hotPct || l.Ratios.MFMAVerdict[0] != 'l' {
		return finding.Finding{}, false
	}
	line := l.HeadLine
	return finding.Finding{
		ID: "few_mfma_in_loop", Severity: finding.Low,
		Text: fmt.Sprintf("loop %d (lines %d-%d): %.1f %% of its instructions are matrix instructions, %.1f %% memory and LDS",
			l.ID, l.FirstLine, l.LastLine, l.Ratios.MFMAPct, l.Ratios.MemoryPct),
		Fix:      "move address and conversion work out of the loop, larger tiles or wider matrix instructions",
		Place:    finding.Place{Path: k.Path, Kernel: k.Name, Line: &line},
		Evidence: []finding.Evidence{{Metric: "matrix instructions", Value: l.Ratios.MFMAPct, Unit: "%", Source: "wave files"}},
	}, true
}
