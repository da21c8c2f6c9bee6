package trust

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Others says how the waves of the compute units that were not traced lived,
// by occupancy.json, beside those that were.
type Others struct {
	// TracedCycles is the median life of the waves of the traced compute units.
	TracedCycles int64
	// CUs are those whose waves lived longer, the longest first; none where
	// waves live alike wherever they ran.
	CUs []OtherCU
	// Units is the number of compute units that were not traced.
	Units int
}

// OtherCU is a compute unit that was not traced.
type OtherCU struct {
	SE, CU int
	// Cycles is the longest life of its waves.
	Cycles int64
}

// cu is one compute unit of the device.
type cu struct{ se, cu int }

func tracedCUs(r *replay.Replay) map[cu]bool {
	out := map[cu]bool{}
	for _, s := range r.SIMDs {
		out[cu{s.SE, s.CU}] = true
	}
	return out
}

// longerLife is how many times as long as the median of the traced waves a
// wave has to live to have done something else. Waves that leave at once differ
// by the latency of a few loads; those that work live far longer.
const longerLife = 4

// lives compares the lives of waves; nil without occupancy.json, or where it
// holds no other compute unit.
func lives(tt *trace.ThreadTrace, r *replay.Replay) *Others {
	if tt.Occupancy == nil || !r.HasWaves {
		return nil
	}
	isTraced := tracedCUs(r)
	var traced []int64
	var others []OtherCU
	for _, e := range tt.Occupancy.Engines {
		for _, u := range e.CUs {
			switch n := len(u.Lifetimes); {
			case n == 0:
			case isTraced[cu{e.SE, u.CU}]:
				traced = append(traced, u.Lifetimes...)
			default:
				others = append(others, OtherCU{e.SE, u.CU, u.Lifetimes[n-1]})
			}
		}
	}
	if len(traced) == 0 || len(others) == 0 {
		return nil
	}
	slices.Sort(traced)
	o := &Others{TracedCycles: traced[len(traced)/2], Units: len(others)}
	for _, u := range others {
		if u.Cycles >= longerLife*max(o.TracedCycles, 1) {
			o.CUs = append(o.CUs, u)
		}
	}
	slices.SortStableFunc(o.CUs, func(a, b OtherCU) int { return int(min(max(b.Cycles-a.Cycles, -1), 1)) })
	return o
}

// shownCUs is how many compute units are named.
const shownCUs = 4

func (o *Others) text() string {
	if len(o.CUs) == 0 {
		return fmt.Sprintf("the waves of the %d other compute units lived alike (occupancy.json)", o.Units)
	}
	return fmt.Sprintf("on %d of the %d other compute units waves lived longer, up to %d cycles beside a median of %d (occupancy.json)",
		len(o.CUs), o.Units, o.CUs[0].Cycles, o.TracedCycles)
}

// fix says what to capture instead.
func (o *Others) fix() string {
	if len(o.CUs) == 0 {
		return "capture another dispatch of the kernel: another compute unit of this one shows the same"
	}
	var names []string
	for _, u := range o.CUs[:min(len(o.CUs), shownCUs)] {
		names = append(names, fmt.Sprintf("CU %d of engine %d", u.CU, u.SE))
	}
	return "capture a compute unit that worked (--att-target-cu): " + strings.Join(names, ", ")
}

// atypical fires when the waves of the traced compute units lived shorter or
// longer than most of all waves: what they show is not what the kernel does.
func atypical(s *subject, _ rule.Values) []rule.Hit {
	o := s.tt.Occupancy
	if o == nil || !s.replay.HasWaves || severalKernels(o) {
		return nil
	}
	isTraced := tracedCUs(s.replay)
	var traced, all []int64
	for _, e := range o.Engines {
		for _, u := range e.CUs {
			all = append(all, u.Lifetimes...)
			if isTraced[cu{e.SE, u.CU}] {
				traced = append(traced, u.Lifetimes...)
			}
		}
	}
	if len(traced) == 0 || len(all) == len(traced) {
		return nil
	}
	limit := s.p.Param("atypical_pct")
	text, off := apart(traced, all)
	if text == "" || off < limit {
		return nil
	}
	return []rule.Hit{{
		Text:     text,
		Evidence: []finding.Evidence{{Metric: "median life of the traced waves beside that of all", Value: off, Unit: "% off", Threshold: &limit, Source: "occupancy.json"}},
	}}
}

// apart says how the lives of the traced waves differ from those of all, and by
// how many percent their medians do; "" where theirs lies among the middle half
// of all.
func apart(traced, all []int64) (text string, off float64) {
	slices.Sort(traced)
	slices.Sort(all)
	mine, first, median, third := traced[len(traced)/2], all[len(all)/4], all[len(all)/2], all[3*len(all)/4]
	if mine >= first && mine <= third {
		return "", 0
	}
	return fmt.Sprintf("the traced waves lived %d cycles (median of %d), half of all %d waves between %d and %d: they are not typical",
		mine, len(traced), len(all), first, third), 100 * math.Abs(float64(mine-median)) / float64(max(median, 1))
}

// severalKernels reports whether waves of several kernels ran.
func severalKernels(o *trace.Occupancy) bool {
	n := 0
	for _, k := range o.Kernels {
		if k.Starts > 0 {
			n++
		}
	}
	return n > 1
}
