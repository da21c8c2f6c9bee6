package regime

import (
	"fmt"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
)

// stalledUnits are units that can be busy without moving data: by the metrics of
// the counters analyzer, in percent of the same cycles, how busy they are, how
// much of that moves data, and with which stalls they spend the rest.
var stalledUnits = []struct {
	resource, busy, useful string
	causes                 []stallCause
}{
	{resLDS, "lds_util_pct", "lds_useful_pct", []stallCause{
		{LDSUnaligned, "lds_unaligned_pct", "unaligned accesses"},
		{LDSConflicts, "lds_bank_conflict_pct", "bank conflicts"},
		{LDSAddresses, "lds_addr_conflict_pct", "address conflicts of atomics"},
	}},
}

// stallCause is a subtype of latency, its metric and its words.
type stallCause struct{ subtype, metric, words string }

// stall is a unit that is busy, and mostly with what moves no data.
type stall struct {
	stallCause
	resource string
	// busy, useful and stalled are in percent of the same cycles; useful is the
	// most that it can be.
	busy, useful, stalled float64
	busyID, usefulID      string
}

// stall finds the unit that stalls take the most of; nil when there is none.
func (m *CounterMeasure) stall() *stall {
	value := func(id string) (counters.Value, float64) {
		v := m.Counters.Metrics[id]
		_, high, _ := ends(v, false)
		return v, high
	}
	var worst *stall
	for _, u := range stalledUnits {
		_, busy := value(u.busy)
		useful, high := value(u.useful)
		if useful.Value == nil && useful.Range == nil || high >= busy {
			continue
		}
		for _, c := range u.causes {
			v, pct := value(c.metric)
			if v.Value != nil && (worst == nil || pct > worst.stalled) {
				worst = &stall{c, u.resource, busy, high, pct, u.busy, u.useful}
			}
		}
	}
	return worst
}

// stalled decides for kernels whose busiest unit is busy with stalls, most of
// its time: it is what the waves wait for, and no use of its bandwidth.
func (l limits) stalled(f facts) (outcome, bool) {
	s := f.stall
	if s == nil || s.busy < l.bandwidth || s.stalled <= s.useful {
		return outcome{}, false
	}
	return outcome{regime: Latency, subtype: s.subtype, why: s.text()}, true
}

func (s *stall) text() string {
	return fmt.Sprintf("the %s is busy %.1f %% of the time, %.1f %% with %s, and moves data in %.1f %%", resourceWords[s.resource], s.busy, s.stalled, s.words, s.useful)
}

func (s *stall) evidence() []finding.Evidence {
	const unit = "% of GPU busy x CUs"
	return []finding.Evidence{
		{Metric: s.resource + "_busy", Value: s.busy, Unit: unit, Source: s.busyID},
		{Metric: s.subtype, Value: s.stalled, Unit: unit, Source: s.metric},
		{Metric: s.resource + "_useful", Value: s.useful, Unit: unit, Source: s.usefulID},
	}
}

// stallsL2 says what else keeps L2 busy: from 10 % of its busy cycles on
// (rocprofiler-compute memory bandwidth analysis) its requests are not moved
// bytes. "" for nothing, or nothing counted.
func (m *CounterMeasure) stallsL2() string {
	const from = 10
	if v := m.Counters.Metrics["l2_tag_stall_pct"]; v.Value != nil && *v.Value >= from {
		return fmt.Sprintf("%.0f %% of the L2's busy cycles are tag stalls (one line, or one set of the cache, asked for again and again; atomics)", *v.Value)
	}
	return ""
}

// stallWords names the stalls of a subtype; "" for others.
func stallWords(subtype string) string {
	for _, u := range stalledUnits {
		for _, c := range u.causes {
			if c.subtype == subtype {
				return c.words + " of the " + resourceWords[u.resource]
			}
		}
	}
	return ""
}
