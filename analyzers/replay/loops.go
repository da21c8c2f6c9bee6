package replay

import (
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/pkg/stats"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// LoopWaves says how waves went through a loop.
type LoopWaves struct {
	// Waves entered it, Entries times in all, and began Iterations: the
	// executions of its first instruction.
	Waves, Entries, Iterations int64
	// Trips are the iterations of each of those waves, Least the fewest.
	Trips stats.Histogram
	Least int64
}

// Merge adds o.
func (l *LoopWaves) Merge(o *LoopWaves) {
	if o.Waves > 0 && (l.Waves == 0 || o.Least < l.Least) {
		l.Least = o.Least
	}
	l.Waves += o.Waves
	l.Entries += o.Entries
	l.Iterations += o.Iterations
	l.Trips.Merge(&o.Trips)
}

// loopWalk follows one wave through the loops.
type loopWalk struct {
	flow *flow.Flow
	// headOf is the loop that begins at a row, -1 for none.
	headOf []int32

	trips   []int64
	touched []int
	prev    int
}

func newLoopWalk(f *flow.Flow, heads []int32) loopWalk {
	return loopWalk{flow: f, headOf: heads, trips: make([]int64, len(f.Loops))}
}

func (l *loopWalk) start() { l.prev = -1 }

// step takes one executed row.
func (l *loopWalk) step(row int, sums []LoopWaves) {
	if at := int(l.headOf[row]); at >= 0 {
		if l.trips[at] == 0 {
			l.touched = append(l.touched, at)
		}
		l.trips[at]++
		if l.prev < 0 || !l.flow.In(at, l.prev) {
			sums[at].Entries++
		}
	}
	l.prev = row
}

// end books the wave's trips.
func (l *loopWalk) end(sums []LoopWaves) {
	for _, at := range l.touched {
		if sums[at].Waves == 0 || l.trips[at] < sums[at].Least {
			sums[at].Least = l.trips[at]
		}
		sums[at].Waves++
		sums[at].Iterations += l.trips[at]
		sums[at].Trips.Add(l.trips[at])
		l.trips[at] = 0
	}
	l.touched = l.touched[:0]
}

// maxMarked bounds the loops around a row whose time is kept, from the
// innermost outwards.
const maxMarked = 8

// loopSpan is a stretch of a wave's time in one innermost loop, -1 for none.
type loopSpan struct {
	loop     int32
	from, to int64
}

// mark books the cycles from the end of the wave's last instruction to the
// end of this one for the loops around the row. Instructions follow each other
// without gaps, so a stretch in one loop is booked at once.
func (f *folder) mark(s *simd, row int, from, to int64) {
	l := f.prog.flow.Innermost[row]
	if int(l) != int(f.in.loop) {
		f.flush(s)
		f.in = loopSpan{loop: int32(l), from: from}
	}
	f.in.to = max(f.in.to, to)
}

// flush books the stretch that ends.
func (f *folder) flush(s *simd) {
	depth := 0
	for l := int(f.in.loop); l >= 0 && !f.noShares && depth < maxMarked; l = f.prog.flow.Loops[l].Parent {
		depth++
		if s.loops == nil {
			s.loops = make([]*bitmap, len(f.prog.flow.Loops))
		}
		if s.loops[l] == nil {
			s.loops[l] = newBitmap(&f.leftMore)
		}
		f.noShares = !s.loops[l].set(f.in.from, f.in.to)
	}
}

// Lead says how far ahead of a wait its operations were issued. It is over
// those executions that waited on one counter alone.
type Lead struct {
	// Executions of the wait that had operations to wait for; Cycles from the
	// issue of the youngest of them to the wait, MFMAs that the wave issued in
	// between: both sums.
	Executions, Cycles, MFMAs int64
	// Latency is, of the executions that stalled, the time from that issue to
	// the end of the wait: the latency of the youngest operation, or of an
	// older one that held it up.
	Latency stats.Histogram
}

func (l *Lead) merge(o *Lead) {
	l.Executions += o.Executions
	l.Cycles += o.Cycles
	l.MFMAs += o.MFMAs
	l.Latency.Merge(&o.Latency)
}

// lead books one execution of a wait.
func (s *site) lead(y *youngest, r *trace.Record, mfmas int32) {
	if y.counters != 1 || !y.sure {
		return
	}
	s.leads.Executions++
	s.leads.Cycles += max(r.Time-y.pr.issued, 0)
	s.leads.MFMAs += int64(mfmas - y.pr.mfmas)
	if r.Stall > waitIssueCycles {
		s.leads.Latency.Add(r.Time + r.Stall - y.pr.issued)
	}
}
