// Package waves is the analyzer that lays out what the traced waves did over
// time.
package waves

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"sort"

	"github.com/rocanalyze/rocanalyze/analyzers/balance"
	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/stats"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// Analyzer returns a *Result.
var Analyzer = analysis.New(analysis.Analyzer{
	Name:     "waves",
	Doc:      doc,
	Needs:    []analysis.Evidence{analysis.ThreadTraces},
	Requires: []analysis.Required{code.Analyzer, replay.Analyzer, balance.Analyzer},
	Params: []analysis.Param{
		{Name: "bins", Default: 60, Unit: "bins", Doc: "columns of the timelines, 1 to 1000"},
	},
}, run)

func run(p *analysis.Pass) (*Result, error) {
	res := &Result{Traces: []Trace{}}
	for _, tt := range p.Trace.ThreadTraces {
		replayed := replay.Analyzer.Of(p, tt)
		if !selected(p, tt, replayed) {
			continue
		}
		if !replayed.HasWaves {
			res.Without = append(res.Without, tt.Path)
			continue
		}
		b := newBuilder(p, tt, code.Analyzer.Of(p, tt), replayed)
		t, err := b.build()
		if err != nil {
			return nil, err
		}
		res.Traces = append(res.Traces, t)
	}
	return res, nil
}

// selected reports whether a trace is to be laid out: one of the kernels whose
// waves it holds is selected, or one of its kernels when it holds no waves. The
// other waves of a trace stay: they share the SIMDs.
func selected(p *analysis.Pass, tt *trace.ThreadTrace, r *replay.Replay) bool {
	for k, kn := range p.Capture.Trace(tt).Kernels {
		if (!r.HasWaves || ran(r, k)) && p.Selects(kn.Names) {
			return true
		}
	}
	return p.Kernel == nil
}

// ran reports whether there are waves of a kernel.
func ran(r *replay.Replay, k int) bool {
	n := r.Kernels[k].Waves
	return n[replay.Working]+n[replay.NoWork] > 0
}

// state is what a wave does.
type state int

const (
	issue state = iota
	wait
	stall
	idle
	numStates
)

type unitID struct{ se, cu int }

type slotID struct{ se, cu, simd, slot int }

// window is a stretch of an engine's clock.
type window struct{ first, last int64 }

// builder lays out one trace.
type builder struct {
	p       *analysis.Pass
	tt      *trace.ThreadTrace
	replay  *replay.Replay
	waiting []bool // rows whose stall is a wait
	barrier []bool
	bins    int
	windows map[unitID]window
}

func newBuilder(p *analysis.Pass, tt *trace.ThreadTrace, l *code.Listing, r *replay.Replay) *builder {
	b := &builder{
		p: p, tt: tt, replay: r, bins: min(max(int(p.Param("bins")), 1), 1000), windows: map[unitID]window{},
		waiting: make([]bool, len(l.Insts)), barrier: make([]bool, len(l.Insts)),
	}
	for row := range l.Insts {
		c := l.Insts[row].Class
		b.barrier[row] = c == isa.Barrier || c == isa.BarrierWait
		b.waiting[row] = b.barrier[row] || c == isa.WaitCount || c == isa.Sleep || c == isa.EndPgm
	}
	for _, s := range r.SIMDs {
		id := unitID{s.SE, s.CU}
		w, ok := b.windows[id]
		if !ok {
			w = window{s.First, s.Last}
		}
		b.windows[id] = window{min(w.first, s.First), max(w.last, s.Last)}
	}
	return b
}

func (b *builder) build() (Trace, error) {
	var folders []*folder
	err := b.replay.Fold(b.p.Context, b.p.Workers, func() trace.Folder {
		f := newFolder(b)
		folders = append(folders, f)
		return f
	})
	if err != nil {
		return Trace{}, err
	}
	all := folders[0]
	for _, f := range folders[1:] {
		all.merge(f)
	}
	t := Trace{Path: b.tt.Path, Dispatch: b.tt.DispatchID, Waves: int(all.lives.Count()), BarriersCut: all.cut}
	t.FilesMissing, t.FilesDamaged = b.replay.Report.Missing, b.replay.Report.Damaged
	for k, kn := range b.p.Capture.Trace(b.tt).Kernels {
		if ran(b.replay, k) {
			t.Kernels = append(t.Kernels, kn.Names.Shown())
		}
	}
	t.Lifetime = spread(&all.lives)
	if all.shortest != nil {
		t.Lifetime.Min = all.shortest.LifetimeCycles // the distribution rounds it
	}
	t.Longest, t.Shortest = all.longest, all.shortest
	t.Units = b.units(all)
	for i := range t.Units {
		for j := range t.Units[i].SIMDs {
			t.States.add(&t.Units[i].SIMDs[j].States)
		}
	}
	t.SIMDSpreadPct, t.UnitSpreadPct = imbalance(t.Units)
	t.Load, t.Counters = balance.Analyzer.Of(b.p, b.tt), phases(b.tt)
	if !all.cut {
		t.Barriers = b.barriers(all.arrivals)
	}
	return t, nil
}

func (s *States) add(o *States) {
	s.Issue += o.Issue
	s.Wait += o.Wait
	s.Stall += o.Stall
	s.Idle += o.Idle
}

func (s *States) put(what state, cycles int64) {
	switch what {
	case issue:
		s.Issue += cycles
	case wait:
		s.Wait += cycles
	case stall:
		s.Stall += cycles
	default:
		s.Idle += cycles
	}
}

func spread(h *stats.Histogram) Spread {
	s := Spread{Max: h.Max()}
	s.Median, _ = h.Quantile(0.5)
	s.P95, _ = h.Quantile(0.95)
	if h.Count() > 0 {
		s.Mean = float64(h.Sum()) / float64(h.Count())
	}
	return s
}

// units lays out the compute units, in the order of engine and unit.
func (b *builder) units(f *folder) []Unit {
	var out []Unit
	for _, s := range b.replay.SIMDs {
		if n := len(out); n == 0 || out[n-1].SE != s.SE || out[n-1].CU != s.CU {
			w := b.windows[unitID{s.SE, s.CU}]
			out = append(out, Unit{
				SE: s.SE, CU: s.CU, FirstCycle: w.first, LastCycle: w.last, WindowCycle: w.last - w.first,
				BinCycles: float64(w.last-w.first) / float64(b.bins),
			})
		}
		u := &out[len(out)-1]
		u.Waves += s.Waves
		u.SIMDs = append(u.SIMDs, b.simd(&s, f))
	}
	b.align(out)
	return out
}

// simd lays out one SIMD; s is one of the replay's.
func (b *builder) simd(s *replay.SIMD, f *folder) SIMD {
	out := SIMD{SIMD: s.SIMD, Waves: s.Waves, Resident: make([]float64, b.bins), Slots: []Slot{}}
	var ids []slotID
	for id := range f.slots {
		if id.se == s.SE && id.cu == s.CU && id.simd == s.SIMD {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b slotID) int { return cmp.Compare(a.slot, b.slot) })
	w := b.windows[unitID{s.SE, s.CU}]
	for _, id := range ids {
		x := f.slots[id]
		out.Slots = append(out.Slots, Slot{Slot: id.slot, Waves: x.waves, Bins: x.bins})
		for i := range x.bins {
			out.States.add(&x.bins[i])
			if from, to := w.bin(i, b.bins); to > from {
				out.Resident[i] += float64(x.bins[i].Total()) / float64(to-from)
			}
		}
	}
	out.ResidentWaveCycles = out.States.Total()
	if s.Resident > 0 {
		mean := float64(out.ResidentWaveCycles) / float64(s.Resident)
		out.MeanResident = &mean
	}
	edges := f.edges[slotID{s.SE, s.CU, s.SIMD, 0}]
	out.PeakResident, out.StartUpCycles, out.DrainCycles = residency(edges, s.First, s.Last)
	if b.p.Capture.Trace(b.tt).IsGFX9() && s.Cycles != nil {
		for i := range b.bins {
			out.Issuing = append(out.Issuing, s.Cycles.IssuingIn(w.bin(i, b.bins)))
		}
	}
	return out
}

// bin returns the cycles of a bin.
func (w window) bin(i, bins int) (from, to int64) {
	return w.start(i, bins), w.start(i+1, bins)
}

// start is first + n x i / bins, for n that times i would not fit.
func (w window) start(i, bins int) int64 {
	n, b := w.last-w.first, int64(bins)
	return w.first + n/b*int64(i) + n%b*int64(i)/b
}

// binOf returns the bin that holds a cycle of the window.
func (w window) binOf(at int64, bins int) int {
	return max(sort.Search(bins, func(i int) bool { return w.start(i, bins) > at })-1, 0)
}

// edge is the begin (+1) or the end (-1) of a wave.
type edge struct {
	at    int64
	delta int
}

// residency walks the begins and ends of a SIMD's waves.
func residency(edges []edge, first, last int64) (peak int, startUp, drain int64) {
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.delta, b.delta)) })
	n := 0
	reached, left := first, last
	for i, e := range edges {
		n += e.delta
		if i+1 < len(edges) && edges[i+1].at == e.at {
			continue
		}
		if n > peak {
			peak, reached = n, e.at
		}
		if n == peak && i+1 < len(edges) {
			left = edges[i+1].at
		}
	}
	return peak, reached - first, last - left
}

// align puts the engines' starts on the real-time clock.
func (b *builder) align(units []Unit) {
	if b.tt.Clocks == nil {
		return
	}
	starts := make([]*float64, len(units))
	least := 0.0
	for i := range units {
		ns, ok := newClock(b.tt.Clocks, units[i].SE).ns(units[i].FirstCycle)
		if !ok {
			return
		}
		starts[i] = &ns
		if i == 0 || ns < least {
			least = ns
		}
	}
	for i := range units {
		*starts[i] = math.Round((*starts[i]-least)*10) / 10
		units[i].StartNs = starts[i]
	}
}

// clock turns an engine's cycles into real-time nanoseconds.
type clock struct {
	ok     bool
	origin trace.ClockPoint
	// realNs is the length of a tick, cycleNs that of a cycle.
	realNs, cycleNs float64
}

func newClock(c *trace.Clocks, se int) clock {
	if c == nil {
		return clock{}
	}
	for _, e := range c.Engines {
		if hz, ok := c.GfxHz(e); ok && e.SE == se {
			at := e.Points[0]
			at.Real -= earliest(c)
			return clock{true, at, 1e9 / float64(c.RealHz), 1e9 / hz}
		}
	}
	return clock{}
}

// earliest is the first real-time reading of all engines: times count from
// there, so that fractions of nanoseconds survive.
func earliest(c *trace.Clocks) int64 {
	var first int64
	seen := false
	for _, e := range c.Engines {
		if len(e.Points) > 0 && (!seen || e.Points[0].Real < first) {
			first, seen = e.Points[0].Real, true
		}
	}
	return first
}

func (c clock) ns(cycle int64) (float64, bool) {
	return float64(c.origin.Real)*c.realNs + float64(cycle-c.origin.Gfx)*c.cycleNs, c.ok
}

// imbalance compares the SIMDs' resident wave cycles, and the units' windows.
func imbalance(units []Unit) (simds, windows *float64) {
	var a, b []int64
	for i := range units {
		b = append(b, units[i].WindowCycle)
		for j := range units[i].SIMDs {
			a = append(a, units[i].SIMDs[j].ResidentWaveCycles)
		}
	}
	return overMean(a), overMean(b)
}

func overMean(v []int64) *float64 {
	var sum, most int64
	for _, n := range v {
		sum += n
		most = max(most, n)
	}
	if sum <= 0 {
		return nil
	}
	pct := 100 * (float64(most)*float64(len(v))/float64(sum) - 1)
	return &pct
}
