package counters

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/report"
)

// Outlier is a dispatch that took much longer than the others of its kernel and
// shape for the same work: the first touch of memory, page faults, an idle
// clock. It is in no metric.
type Outlier struct {
	ID         *int64  `json:"dispatch_id,omitempty"`
	DurationNs float64 `json:"duration_ns"`
	// MedianNs is that of its kernel and shape.
	MedianNs float64 `json:"median_ns"`
}

// launched is what tells dispatches of one kernel and shape.
type launched struct {
	kernel, agent   int32
	grid, workgroup int64
}

// slow is a dispatch that takes many times the median.
type slow struct {
	dispatch
	median float64
}

// Bounds: fewer dispatches than leastTimed have no median to hold one against;
// mostSlow are looked at one by one.
const (
	leastTimed = 3
	mostSlow   = 1000
)

// medians are the median durations of the kernels and shapes of which some
// dispatch takes more than factor times that.
func (c *collection) medians(factor float64) map[launched]float64 {
	out := map[launched]float64{}
	var ns []float64
	for i := 0; i < len(c.fragments); {
		key := c.fragments[i].launched()
		ns = ns[:0]
		k := i
		for ; k < len(c.fragments) && c.fragments[k].launched() == key; k++ {
			if d := c.fragments[k].duration; d > 0 {
				ns = append(ns, d)
			}
		}
		i = k
		if len(ns) < leastTimed || slices.Max(ns) <= factor*slices.Min(ns) {
			continue
		}
		slices.Sort(ns)
		if m := ns[(len(ns)-1)/2]; ns[len(ns)-1] > factor*m {
			out[key] = m
		}
	}
	return out
}

func (f *fragment) launched() launched { return launched{f.kernel, f.agent, f.grid, f.workgroup} }

// setAside keeps a dispatch that is much slower than the median of those like
// it, until it is known what they counted; it reports whether it did.
func (b *builder) setAside(g *group, d *dispatch) bool {
	m, ok := b.medians[launched{d.kernel, d.agent, d.grid, d.workgroup}]
	if !ok || d.duration <= b.p.Param(paramOutlier)*m || len(g.slow) == mostSlow {
		return false
	}
	s := slow{*d, m}
	s.counters, s.values, s.instances = slices.Clone(d.counters), slices.Clone(d.values), slices.Clone(d.instances)
	g.slow = append(g.slow, s)
	return true
}

// settle takes the slow dispatches in that did more work as well; the others are
// outliers.
func (b *builder) settle(g *group) {
	mean := b.sampler(g.ordered())(nil).values
	kept := g.slow[:0]
	for _, s := range g.slow {
		if b.moreWork(&s, mean) {
			g.add(&s.dispatch)
			continue
		}
		g.dispatches++
		kept = append(kept, s)
	}
	g.slow = kept
}

// moreWork reports whether a slow dispatch counted half as many times the mean
// as it took the time, or more: then it is work, and not the machine.
func (b *builder) moreWork(s *slow, mean map[string]float64) bool {
	var ratios []float64
	for i, c := range s.counters {
		name := b.col.counters.list[c]
		if m := mean[name]; isWork(name) && m > 0 {
			ratios = append(ratios, s.values[i]/m)
		}
	}
	if len(ratios) == 0 {
		return false
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2] >= s.duration/s.median/2
}

// isWork tells counters of instructions, requests and bytes from those that go
// on with the time.
func isWork(name string) bool {
	for _, prefix := range []string{"FETCH_SIZE", "WRITE_SIZE", "SQ_INSTS", "TCC_HIT", "TCC_MISS", "TCC_REQ", "TCC_EA0_RDREQ", "TCC_EA0_WRREQ", "GL2C_", "TCP_T"} {
		if strings.HasPrefix(name, prefix) {
			return !strings.Contains(name, "STALL") && !strings.Contains(name, "LEVEL") && !strings.Contains(name, "CYCLES") && !strings.Contains(name, "BUSY")
		}
	}
	return false
}

// outliers makes a kernel's list of them, with the words about it.
func (k *Kernel) outliers(all []slow, note func(id, text string)) {
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(a, b slow) int { return cmp.Or(cmp.Compare(b.duration, a.duration), cmp.Compare(a.id, b.id)) })
	for _, s := range all {
		o := Outlier{DurationNs: s.duration, MedianNs: s.median}
		if s.id >= 0 {
			o.ID = new(s.id)
		}
		k.Outliers = append(k.Outliers, o)
	}
	worst := all[0]
	which := ""
	if worst.id >= 0 {
		which = fmt.Sprintf(" (dispatch %d)", worst.id)
	}
	text := fmt.Sprintf("%d of %d dispatches are outliers and are in no metric: one%s took %s, %.0f times the median of %s, for the same work (first touch of memory, page faults, an idle clock)",
		len(all), k.Dispatches, which, report.Duration(worst.duration), worst.duration/worst.median, report.Duration(worst.median))
	note("outliers", text)
}
