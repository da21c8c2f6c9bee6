package waves

import (
	"cmp"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/stats"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxArrivals bounds the barrier executions that are kept.
const maxArrivals = 1 << 20

// folder gathers the waves that one worker reads.
type folder struct {
	b        *builder
	reader   *replay.Reader
	slots    map[slotID]*slotBins
	edges    map[slotID][]edge // by SIMD, slot 0
	lives    stats.Histogram
	longest  *WaveID
	shortest *WaveID
	arrivals []arrival
	cut      bool
}

type slotBins struct {
	waves int
	bins  []States
}

// arrival is one execution of a barrier.
type arrival struct {
	unit           unitID
	row            int
	left, arrived  int64
	simd, slot, id int
}

func newFolder(b *builder) *folder {
	return &folder{b: b, reader: b.replay.NewReader(), slots: map[slotID]*slotBins{}, edges: map[slotID][]edge{}}
}

// Wave adds one wave.
func (f *folder) Wave(w *trace.Wave) {
	life := max(w.End-w.Begin, 0)
	f.lives.Add(life)
	f.extremes(&WaveID{w.SE, w.CU, w.SIMD, w.Slot, w.ID, life})
	simd := slotID{w.SE, w.CU, w.SIMD, 0}
	f.edges[simd] = append(f.edges[simd], edge{w.Begin, 1}, edge{w.End, -1})
	id := slotID{w.SE, w.CU, w.SIMD, w.Slot}
	s := f.slots[id]
	if s == nil {
		s = &slotBins{bins: make([]States, f.b.bins)}
		f.slots[id] = s
	}
	s.waves++
	unit := unitID{w.SE, w.CU}
	put := filler{window: f.b.windows[unit], bins: s.bins}
	at := w.Begin
	f.reader.Each(w, func(row int, r *trace.Record, x replay.Spans) {
		what := stall
		if f.b.waiting[row] {
			what = wait
		}
		at = put.span(at, x.Stall[0], idle)
		at = put.span(at, x.Stall[1], what)
		at = put.span(at, x.Issue[0], idle)
		at = put.span(at, x.Issue[1], issue)
		at = put.span(at, x.Drain[1], wait)
		if f.b.barrier[row] {
			f.arrive(arrival{unit, row, r.Time + r.Duration, r.Time, w.SIMD, w.Slot, w.ID})
		}
	})
	put.span(at, w.End, idle)
}

func (f *folder) arrive(a arrival) {
	if len(f.arrivals) >= maxArrivals {
		f.cut = true
		return
	}
	f.arrivals = append(f.arrivals, a)
}

// extremes keeps the longest and the shortest wave; of equal ones the first
// by place.
func (f *folder) extremes(w *WaveID) {
	if f.longest == nil || w.before(f.longest, -1) {
		f.longest = w
	}
	if f.shortest == nil || w.before(f.shortest, 1) {
		f.shortest = w
	}
}

func (w *WaveID) before(o *WaveID, sign int) bool {
	return cmp.Or(sign*cmp.Compare(w.LifetimeCycles, o.LifetimeCycles), cmp.Compare(w.SE, o.SE), cmp.Compare(w.CU, o.CU),
		cmp.Compare(w.SIMD, o.SIMD), cmp.Compare(w.Slot, o.Slot), cmp.Compare(w.ID, o.ID)) < 0
}

// filler spreads spans over the bins of a slot.
type filler struct {
	window window
	bins   []States
}

// span books the cycles from at to end, if there are any, and returns where
// the wave is then.
func (p *filler) span(at, end int64, what state) int64 {
	end = min(end, p.window.last)
	if end <= at || p.window.last <= p.window.first {
		return max(at, min(end, at))
	}
	i := p.window.binOf(at, len(p.bins))
	for from := at; from < end && i < len(p.bins); i++ {
		_, to := p.window.bin(i, len(p.bins))
		if to > from {
			p.bins[i].put(what, min(to, end)-from)
			from = min(to, end)
		}
	}
	return end
}

func (f *folder) merge(o *folder) {
	f.lives.Merge(&o.lives)
	f.cut = f.cut || o.cut || len(f.arrivals)+len(o.arrivals) > maxArrivals
	f.arrivals = append(f.arrivals, o.arrivals...)
	for _, w := range []*WaveID{o.longest, o.shortest} {
		if w != nil {
			f.extremes(w)
		}
	}
	for id, e := range o.edges {
		f.edges[id] = append(f.edges[id], e...)
	}
	for id, s := range o.slots {
		mine := f.slots[id]
		if mine == nil {
			f.slots[id] = s
			continue
		}
		mine.waves += s.waves
		for i := range s.bins {
			mine.bins[i].add(&s.bins[i])
		}
	}
}

// togetherCycles is how far apart waves of a workgroup leave a barrier: in
// traces of gfx950 by 0 or 4 cycles.
const togetherCycles = 8

// barriers finds the meetings at each barrier instruction.
func (b *builder) barriers(all []arrival) []Barrier {
	slices.SortFunc(all, func(x, y arrival) int {
		return cmp.Or(cmp.Compare(x.row, y.row), cmp.Compare(x.unit.se, y.unit.se), cmp.Compare(x.unit.cu, y.unit.cu),
			cmp.Compare(x.left, y.left), cmp.Compare(x.arrived, y.arrived), cmp.Compare(x.simd, y.simd), cmp.Compare(x.slot, y.slot), cmp.Compare(x.id, y.id))
	})
	var out []Barrier
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j].row == all[i].row && all[j].unit == all[i].unit && all[j].left-all[j-1].left <= togetherCycles {
			j++
		}
		if n := len(out); n == 0 || out[n-1].Line != b.tt.Code[all[i].row].Line {
			out = append(out, Barrier{Line: b.tt.Code[all[i].row].Line, Text: b.tt.Code[all[i].row].Text})
		}
		out[len(out)-1].meet(all[i:j])
		i = j
	}
	out = slices.DeleteFunc(out, func(x Barrier) bool { return x.Meetings == 0 })
	for i := range out {
		x := &out[i]
		x.Waves /= float64(x.Meetings)
		x.MeanSpread /= float64(x.Meetings)
		slices.SortFunc(x.Late, func(a, b LateSIMD) int { return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.SIMD, b.SIMD)) })
	}
	slices.SortStableFunc(out, func(a, b Barrier) int {
		return cmp.Or(cmp.Compare(b.WaitCycles, a.WaitCycles), cmp.Compare(a.Line, b.Line))
	})
	return out
}

// meet adds one meeting; a wave alone meets nobody. Waves and MeanSpread are
// sums until all are in.
func (x *Barrier) meet(m []arrival) {
	if len(m) < 2 {
		return
	}
	first, last := m[0], m[0]
	for _, a := range m {
		x.WaitCycles += a.left - a.arrived
		if a.arrived < first.arrived {
			first = a
		}
		if a.arrived > last.arrived {
			last = a
		}
	}
	x.Meetings++
	x.Waves += float64(len(m))
	x.MeanSpread += float64(last.arrived - first.arrived)
	x.MaxSpread = max(x.MaxSpread, last.arrived-first.arrived)
	i := slices.IndexFunc(x.Late, func(l LateSIMD) bool { return l.SIMD == last.simd })
	if i < 0 {
		i = len(x.Late)
		x.Late = append(x.Late, LateSIMD{SIMD: last.simd})
	}
	x.Late[i].Times++
}
