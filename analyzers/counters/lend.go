package counters

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/report"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// LentDuration is the id of the note that durations are those of another run.
const LentDuration = "duration_of_trace"

// shape is a launch shape in work-items; 0 is unknown.
type shape struct{ grid, workgroup int64 }

// shapeTimes are the times of one kernel beside its counters: per shape, and
// of all rows.
type shapeTimes struct {
	shapes map[shape]*trace.LaunchSum
	all    trace.LaunchSum
}

// lendDuration takes the durations of tables of times beside counters that
// have none: the means of the dispatches of the same kernel and shape there.
// Other shapes are other work, and their times say nothing.
func (b *builder) lendDuration(k *Kernel, names capture.Names, g *group, all []*sums) {
	if k.has[duration] {
		return
	}
	found := slices.DeleteFunc(b.beside().Find(names), func(t *shapeTimes) bool { return t.all.Timed == 0 })
	if len(found) == 0 {
		return
	}
	ns, outlier, ok := meanOf(found, g.shapes, b.p.Param(paramOutlier))
	if outlier != "" {
		k.Notes = append(k.Notes, Note{"outliers", outlier})
	}
	if !ok {
		k.Notes = append(k.Notes, Note{"other_shapes", "the counters have no times, and those beside them are of other launch shapes: they are left out"})
		return
	}
	for _, s := range all {
		s.timed, s.ns = s.dispatches, ns*float64(s.dispatches)
	}
	k.has[duration] = true
	k.Notes = append(k.Notes, Note{LentDuration, "the counters have no times: durations are the means of the kernel's dispatches in the times beside them, another run"})
}

// meanOf is the mean time in ns of so many dispatches of each shape; ok is
// false when there is none of one of the shapes. Sums tell no shapes, and
// stand for all. The longest of a shape is left out, and said to be, where it
// took more than factor times the mean of the others.
func meanOf(found []*shapeTimes, shapes map[shape]int64, factor float64) (ns float64, outlier string, ok bool) {
	var dispatches int64
	order := slices.SortedFunc(maps.Keys(shapes), func(a, b shape) int {
		return cmp.Or(cmp.Compare(a.grid, b.grid), cmp.Compare(a.workgroup, b.workgroup))
	})
	for _, s := range order {
		n := shapes[s]
		var total, timed, most int64
		for _, t := range found {
			sum := t.shapes[s]
			if unknown := t.shapes[shape{}]; sum == nil && (unknown != nil || s.grid == 0 || s.workgroup == 0) {
				sum = &t.all
			}
			if sum != nil {
				total, timed, most = total+sum.TotalNs, timed+sum.Timed, max(most, sum.MaxNs)
			}
		}
		if timed == 0 || total <= 0 {
			return 0, "", false
		}
		if rest := float64(total-most) / float64(timed-1); timed >= leastTimed && float64(most) > factor*rest {
			outlier = fmt.Sprintf("one of %d dispatches in the times beside the counters took %s, %.0f times the mean of the others: it is left out of the duration (first touch of memory, page faults, an idle clock)",
				timed, report.Duration(float64(most)), float64(most)/rest)
			total, timed = total-most, timed-1
		}
		ns += float64(total) / float64(timed) * float64(n)
		dispatches += n
	}
	return ns / float64(max(dispatches, 1)), outlier, dispatches > 0
}

// beside finds the times beside the counters, by kernel.
func (b *builder) beside() *capture.Index[*shapeTimes] {
	if b.besides != nil {
		return b.besides
	}
	b.besides = &capture.Index[*shapeTimes]{}
	byName := map[string]*shapeTimes{}
	for _, t := range b.run.LaunchTables {
		for i := range t.Launches {
			l := &t.Launches[i]
			s := byName[l.Kernel]
			if s == nil {
				s = &shapeTimes{shapes: map[shape]*trace.LaunchSum{}}
				byName[l.Kernel] = s
				b.besides.Add(capture.NamesOf("", l.Kernel), s)
			}
			s.add(l)
		}
	}
	return b.besides
}

func (t *shapeTimes) add(l *trace.LaunchSum) {
	var of shape
	if l.Grid != nil && l.Workgroup != nil {
		of.grid, _ = trace.Product(*l.Grid)
		of.workgroup, _ = trace.Product(*l.Workgroup)
	}
	if t.shapes[of] == nil {
		t.shapes[of] = &trace.LaunchSum{}
	}
	for _, s := range [...]*trace.LaunchSum{t.shapes[of], &t.all} {
		s.TotalNs, s.Timed, s.MaxNs = s.TotalNs+l.TotalNs, s.Timed+l.Timed, max(s.MaxNs, l.MaxNs)
	}
}
