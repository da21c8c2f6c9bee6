package replay

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/stats"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// youngest keeps, of the operations that one execution of a wait has to wait
// for, the last one, and of each kind the issue of the youngest.
type youngest struct {
	pr       producer
	counters int // counters that something was outstanding on
	last     int
	sure     bool
	kinds    uint16 // set of WaitClass
	issued   [numWaitClasses]int64
}

func (y *youngest) start() { y.counters, y.kinds = 0, 0 }

func (y *youngest) saw(w int, pr producer, sure bool) {
	if y.counters == 0 || y.last != w {
		y.counters++
		y.last = w
	}
	y.pr, y.sure = pr, sure
	if y.kinds&(1<<pr.class) == 0 || pr.issued > y.issued[pr.class] {
		y.issued[pr.class] = pr.issued
	}
	y.kinds |= 1 << pr.class
}

// mixKey describes executions of a wait for operations of several kinds: how
// long they stalled, and how long before the wait the youngest operation of
// each kind was issued, both rounded (see rounded).
type mixKey struct {
	kinds uint16
	stall uint8
	ages  [numWaitClasses]uint8
}

// mix are the stall cycles of the executions of one key.
type mix struct {
	key    mixKey
	cycles int64
}

// alone are, for each kind of operation, the latencies of those that a wait
// waited for alone: from the issue of the youngest to the end of the wait.
type alone [numWaitClasses]stats.Histogram

// book adds one execution: to the lone latencies if all that it waited for was
// of one kind, else to what has to be shared out.
func (a *alone) book(s *site, y *youngest, r *trace.Record) {
	switch {
	case y.kinds == 0:
	case y.kinds&(y.kinds-1) == 0:
		if y.sure && r.Stall > waitIssueCycles {
			class := bits.TrailingZeros16(y.kinds)
			a[class].Add(r.Time + r.Stall - y.issued[class])
		}
	case r.Stall > 0:
		key := mixKey{kinds: y.kinds, stall: rounded(r.Stall)}
		for class := range y.issued {
			if y.kinds&(1<<class) != 0 {
				key.ages[class] = rounded(r.Time - y.issued[class])
			}
		}
		if s.mixes == nil {
			s.mixes = map[mixKey]int64{}
		}
		s.mixes[key] += r.Stall
	}
}

func (a *alone) merge(o *alone) {
	for i := range a {
		a[i].Merge(&o[i])
	}
}

// latencies are lone latencies by kind: the median in cycles, -1 where it is
// not known, and all of them.
type latencies struct {
	median [numWaitClasses]int64
	all    *alone
}

// minAlone is how many lone waits tell a latency.
const minAlone = 4

func (a *alone) latencies() *latencies {
	l := &latencies{all: a}
	for i := range a {
		l.median[i] = -1
		if median, ok := a[i].Quantile(0.5); ok && a[i].Count() >= minAlone {
			l.median[i] = median
		}
	}
	return l
}

// roundedBits of the leading digits of a number are kept: it is 6 % off at
// most.
const roundedBits = 3

// rounded makes a number of cycles one of 256: exact below 16, then 8 steps for
// each doubling.
func rounded(cycles int64) uint8 {
	if cycles < 2<<roundedBits {
		return uint8(max(cycles, 0))
	}
	shift := bits.Len64(uint64(cycles)) - 1 - roundedBits
	return uint8(min(shift<<roundedBits+int(cycles>>shift), 255))
}

// middle is the middle of what is rounded to a number.
func middle(r uint8) int64 {
	if r < 2<<roundedBits {
		return int64(r)
	}
	shift := int64(r>>roundedBits) - 1
	return (int64(r)-shift<<roundedBits)<<shift + 1<<shift/2
}

// part is a kind of operation in one combined wait.
type part struct {
	class WaitClass
	// left is how much of the stall it may have lasted, age how long before
	// the wait it was issued.
	left, age int64
	known     bool
	// reach is the share of the lone latencies that last to the end of the
	// wait, most the longest of them over the time to it.
	reach, most float64
}

// parts says how far into the stall each kind can have lasted: to its issue
// plus the median latency that it shows when it is waited for alone. One of them
// lasted to the end: any whose lone latency is not known, or, if all are known,
// the one whose lone latencies most often reach as far.
func (k *mixKey) parts(lone *latencies) []part {
	stall := max(middle(k.stall), 1)
	out := make([]part, 0, bits.OnesCount16(k.kinds))
	last := -1
	for class := range numWaitClasses {
		if k.kinds&(1<<class) == 0 {
			continue
		}
		p := part{class: class, age: middle(k.ages[class]), left: stall, known: lone.median[class] >= 0}
		if p.known {
			p.left = min(max(lone.median[class]-p.age, 0), stall)
			h := &lone.all[class]
			p.reach = float64(h.From(p.age+stall)) / float64(h.Count())
			p.most = float64(h.Max()) / float64(p.age+stall)
		}
		out = append(out, p)
	}
	for i, p := range out {
		if !p.known {
			last = -1
			break
		}
		if last < 0 || cmp.Or(cmp.Compare(p.reach, out[last].reach), cmp.Compare(p.most, out[last].most)) > 0 {
			last = i
		}
	}
	if last >= 0 {
		out[last].left = stall
	}
	slices.SortStableFunc(out, func(a, b part) int { return cmp.Compare(a.left, b.left) })
	return out
}

// share splits the executions of a key: every stretch of the stall equally over
// the kinds that can have lasted so long. What is left to several kinds of
// unknown latency goes to them by the inverse of their age, as the youngest
// likely came last; that is not sure unless it is the only one to the end. The shares sum to 1.
func (k *mixKey) share(lone *latencies, visit func(class WaitClass, share float64, sure bool)) {
	ps := k.parts(lone)
	stall := float64(ps[len(ps)-1].left)
	var unknown, weights float64
	strangers, toEnd := 0, 0
	var done int64
	var each float64 // of those that last at least as long as this one
	for i, p := range ps {
		each += float64(p.left-done) / float64(len(ps)-i) / stall
		done = p.left
		if p.left == ps[len(ps)-1].left {
			toEnd++
		}
		if p.known {
			visit(p.class, each, true)
			continue
		}
		strangers++
		unknown += each
		weights += 1 / float64(1+p.age)
	}
	for _, p := range ps {
		if !p.known {
			visit(p.class, unknown/float64(1+p.age)/weights, toEnd == 1)
		}
	}
}

// sortedMixes lists what has to be shared out, in an order that does not
// depend on that of the waves.
func sortedMixes(m map[mixKey]int64) []mix {
	out := make([]mix, 0, len(m))
	for key, cycles := range m {
		out = append(out, mix{key, cycles})
	}
	slices.SortFunc(out, func(a, b mix) int {
		return cmp.Or(cmp.Compare(a.key.kinds, b.key.kinds), cmp.Compare(a.key.stall, b.key.stall), bytes.Compare(a.key.ages[:], b.key.ages[:]))
	})
	return out
}

// Shares are fractions of a wait's cycles by what it waited for, indexed by
// WaitClass; they sum to 1. Unsure are the parts of them that no lone latency
// tells apart.
type Shares struct {
	Of, Unsure [numWaitClasses]float64
}

func (s *Shares) add(class WaitClass, share float64, sure bool) {
	s.Of[class] += share
	if !sure {
		s.Unsure[class] += share
	}
}

// Shares returns what the site's cycles waited for. Where no cycles were seen
// the executions are the weights; a site without either is all Nothing.
func (s *Site) Shares() Shares {
	var out Shares
	var cycles, executions float64
	for i := range s.Combos {
		cycles += float64(s.Combos[i].Cycles)
		executions += float64(s.Combos[i].Executions)
	}
	if cycles == 0 && executions == 0 {
		out.Of[Nothing] = 1
		return out
	}
	for i := range s.Combos {
		c := &s.Combos[i]
		weight := float64(c.Cycles) / cycles
		if cycles == 0 {
			weight = float64(c.Executions) / executions
		}
		kinds := c.key.kinds()
		several := kinds&(kinds-1) != 0
		if weight == 0 || several && cycles > 0 && s.lone != nil {
			continue
		}
		c.key.share(func(class WaitClass, f float64) { out.add(class, f*weight, !several) })
	}
	if cycles == 0 || s.lone == nil {
		return out
	}
	for i := range s.mixes {
		m := &s.mixes[i]
		weight := float64(m.cycles) / cycles
		m.key.share(s.lone, func(class WaitClass, f float64, sure bool) { out.add(class, f*weight, sure) })
	}
	return out
}

// kinds are the classes on all counters.
func (c *combo) kinds() uint16 {
	var all uint16
	for _, set := range c {
		all |= set
	}
	return all
}
