// Package hotspots is the analyzer that ranks where a kernel's cycles go:
// instructions, source lines, waits and classes of stall.
package hotspots

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/balance"
	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/analyzers/loops"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/shape"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// Analyzer returns a *Result.
var Analyzer = analysis.New(analysis.Analyzer{
	Name:     "hotspots",
	Doc:      doc,
	Needs:    []analysis.Evidence{analysis.ThreadTraces},
	Requires: []analysis.Required{balance.Analyzer, code.Analyzer, replay.Analyzer, exposed.Analyzer, loops.Analyzer, shape.Analyzer, stalls.Analyzer, trust.Analyzer},
	Params: []analysis.Param{
		{Name: "top", Default: 15, Unit: "rows", Doc: "rows of each ranking; 0 keeps all"},
		{Name: "context", Default: 3, Unit: "lines", Doc: "source lines around a hot line"},
	},
}, run)

// topInLine is how many instructions of a source line are listed.
const topInLine = 5

// builder makes the Kernel of one kernel of one thread trace.
type builder struct {
	p      *analysis.Pass
	tt     *trace.ThreadTrace
	kernel trace.Kernel
	k      int

	resolved *capture.Trace
	listing  *code.Listing
	replay   *replay.Replay
	stalls   *stalls.Breakdown
	trust    *trust.Kernel
	split    *exposed.Split
	shape    rule.Shape

	// counted are the sums that percentages are of.
	counted trace.Counts
	drain   int64
	// cost is what exposed shares are of; its pointers are nil without a split.
	cost cost
}

func run(p *analysis.Pass) (*Result, error) {
	looped := loops.Analyzer.Of(p)
	res := &Result{Kernels: []Kernel{}}
	for _, tt := range p.Trace.ThreadTraces {
		if len(tt.Code) == 0 {
			res.Empty = append(res.Empty, EmptyTrace{Path: tt.Path, Why: "no instruction was decoded", Occupancy: occupancyOf(tt, p.Capture.Trace(tt).Machine)})
			continue
		}
		var kernels []Kernel
		for k, kn := range tt.Kernels {
			if !p.Selects(p.Capture.Trace(tt).Kernels[k].Names) {
				continue
			}
			b := &builder{
				p: p, tt: tt, resolved: p.Capture.Trace(tt), kernel: kn, k: k, listing: code.Analyzer.Of(p, tt),
				replay: replay.Analyzer.Of(p, tt), stalls: stalls.Analyzer.Of(p, tt), trust: &trust.Analyzer.Of(p, tt).Kernels[k],
				split: exposed.Analyzer.Of(p, tt), shape: shape.Analyzer.Of(p, tt).Kernels[k],
			}
			x := b.build()
			x.trace, x.kernel = tt, k
			if l := looped.Kernel(tt, k); l != nil && !x.LinesRanked && x.Samples == nil {
				x.Loops = l.Loops
				x.loops = l
			}
			kernels = append(kernels, x)
		}
		slices.SortStableFunc(kernels, func(a, b Kernel) int {
			return cmp.Compare(b.weight(), a.weight())
		})
		res.Kernels = append(res.Kernels, kernels...)
	}
	return res, nil
}

// weight orders the kernels of one trace.
func (k *Kernel) weight() int64 {
	if k.Samples != nil {
		return k.Samples.Issued + k.Samples.Stalled
	}
	return k.Totals.LatencyCycles
}

// Hot reports whether the kernel has anything to rank.
func (k *Kernel) Hot() bool { return k.weight() > 0 || k.Totals.Hits > 0 }

func (b *builder) build() Kernel {
	var all trace.Counts
	for row := b.kernel.First; row < b.kernel.Last; row++ {
		all.Add(b.tt.Code[row].Counts)
		b.counted.Add(b.stalls.Rows[row].Counts)
		b.drain += b.stalls.Rows[row].DrainCycles
	}
	b.cost = b.costOf(b.allRows()...)
	cov := b.listing.Coverage(b.tt, b.k)
	k := Kernel{
		Name: b.resolved.Kernels[b.k].Names.Shown(), Symbol: b.kernel.Symbol, Path: b.tt.Path, Dispatch: b.tt.DispatchID,
		Schema: b.tt.Schema, Flavour: b.tt.Flavour.String(), Arch: b.listing.Arch,
		Totals: totals(all), Counted: totals(b.counted), Waiting: b.waiting(),
		Coverage:   Coverage{cov, cov.ExecutedPct()},
		Waves:      b.waves(all),
		Machine:    b.machine(),
		GPU:        b.resolved.Machine,
		Registers:  b.listing.Registers[b.k],
		Launch:     b.launch(),
		Samples:    b.samples(),
		Confidence: b.trust.Confidence, ConfidenceReasons: b.trust.Reasons,
		LinesRanked: b.trust.Ranked(),
		Exposed:     b.exposed(), RankedBy: "stall",
	}
	if k.Exposed != nil {
		k.RankedBy = "exposed"
	}
	k.Utilisation = b.utilisation()
	k.Stalls = b.classes(b.stalls.Sum(b.kernel.First, b.kernel.Last), b.allRows())
	k.Combinations = b.combinations()
	k.Instructions = b.instructions()
	k.Lines = b.lines()
	k.Waits = b.waits()
	k.Mix = b.mix()
	return k
}

func totals(c trace.Counts) Totals {
	t := Totals{Hits: c.Hits, LatencyCycles: c.LatencyCycles, StallCycles: c.StallCycles, IdleCycles: c.IdleCycles}
	if issue := c.IssueCycles(); issue >= 0 {
		t.IssueCycles, t.StallPct = &issue, ratioPct(c.StallCycles, c.LatencyCycles)
	}
	return t
}

func (b *builder) waiting() *Waiting {
	if b.counted.LatencyCycles <= 0 || b.counted.IssueCycles() < 0 {
		return nil
	}
	w := &Waiting{Cycles: b.counted.StallCycles + b.drain, DrainCycles: b.drain}
	w.Pct = 100 * float64(w.Cycles) / float64(b.counted.LatencyCycles)
	w.DrainPct = 100 * float64(w.DrainCycles) / float64(b.counted.LatencyCycles)
	return w
}

func (b *builder) waves(all trace.Counts) *Waves {
	r := b.replay.Report
	if !b.replay.HasWaves && r.Missing+r.Damaged == 0 {
		return nil
	}
	w := &Waves{Missing: r.Missing, Damaged: r.Damaged}
	if b.replay.HasWaves {
		n := b.replay.Kernels[b.k].Waves
		w.Sampled, w.NoWork = n[replay.Working]+n[replay.NoWork], n[replay.NoWork]
		var idle int64
		for row := b.kernel.First; row < b.kernel.Last; row++ {
			idle += b.replay.Counts[replay.NoWork][row].StallCycles
		}
		w.NoWorkStallPct = value(ratioPct(idle, all.StallCycles))
	}
	if c := b.trust.Companion; c != nil {
		if n, ok := c.WavesInDispatch(int64(b.resolved.Wave)); ok {
			w.InDispatch = &n
		}
	} else if n, ok := b.ran().InDispatch(); ok {
		w.InDispatch = &n
	}
	return w
}

func (b *builder) launch() *Launch {
	c := b.trust.Companion
	if c == nil {
		return fromOccupancy(b.ran())
	}
	l := &Launch{Source: c.Launch.Origin.File, Row: c.Launch.Origin.Row, SameDispatch: c.SameDispatch}
	if w := c.Launch.Workgroup; w != nil {
		l.Workgroup = w[:]
	}
	if g := c.Launch.Grid; g != nil {
		l.Grid = g[:]
	}
	if n, ok := c.Launch.Workgroups(); ok {
		l.Workgroups = &n
	}
	if n, ok := c.WavesInDispatch(int64(b.resolved.Wave)); ok {
		l.Waves = &n
	}
	if t := c.Time; t != nil {
		l.DurationNs, l.Calls = new(float64(t.Ns)), t.Calls
	}
	return l
}

// fromOccupancy is the launch as the trace itself tells it: its waves.
func fromOccupancy(r *capture.Ran) *Launch {
	n, ok := r.InDispatch()
	if !ok {
		return nil
	}
	return &Launch{Source: OccupancyFile, SameDispatch: true, Waves: &n}
}

func (b *builder) samples() *Samples {
	if b.tt.Flavour != trace.Samples {
		return nil
	}
	s := &Samples{}
	reasons := make([]int64, len(trace.StallReasons))
	for row := b.kernel.First; row < b.kernel.Last; row++ {
		pc := b.tt.Code[row].PC
		if pc == nil {
			continue
		}
		s.Issued += pc.Issued
		s.Stalled += pc.Stalled
		for i, n := range pc.Reasons {
			if i < len(reasons) {
				reasons[i] += n
			}
		}
	}
	for i, n := range reasons {
		if n > 0 {
			s.Reasons = append(s.Reasons, ReasonCount{trace.StallReasons[i], n})
		}
	}
	slices.SortStableFunc(s.Reasons, func(a, b ReasonCount) int { return cmp.Compare(b.Count, a.Count) })
	return s
}

// classes turns the class sums of some rows into rows of their own, the most
// costly first. The drain at s_endpgm is no stall: where it costs SIMD time it
// has a row without stall cycles.
func (b *builder) classes(sums []stalls.ClassSum, rows []int) []Stall {
	costs, drain := b.classCosts(rows)
	out := make([]Stall, 0, len(sums)+1)
	for _, s := range sums {
		info := stalls.InfoOf(s.Class)
		out = append(out, Stall{
			Class: s.Class, Title: info.Title, StallCycles: s.Cycles,
			SharePct: value(ratioPct(s.Cycles, b.counted.StallCycles)), EstimatedCycles: s.EstimatedCycles, Fix: info.FixFor(b.shape),
			Cost: b.exported(cost{stall: costs[s.Class]}, s.Cycles),
		})
	}
	if drain > 0 {
		info := stalls.InfoOf(stalls.StoreDrain)
		out = append(out, Stall{Class: info.Class, Title: info.Title, Fix: info.FixFor(b.shape), Cost: b.exported(cost{drain: drain}, 0)})
	}
	slices.SortStableFunc(out, func(a, b Stall) int { return cmp.Compare(b.total(), a.total()) })
	return out
}

// mix counts the kernel's instructions by class, most executed first.
func (b *builder) mix() []Mix {
	index := map[string]int{}
	var out []Mix
	for row := b.kernel.First; row < b.kernel.Last; row++ {
		kind := b.listing.Insts[row].Class.String()
		i, ok := index[kind]
		if !ok {
			i = len(out)
			index[kind] = i
			out = append(out, Mix{Kind: kind})
		}
		r := &b.stalls.Rows[row]
		out[i].Static++
		out[i].Executed += r.Hits
		out[i].LatencyCycles += r.LatencyCycles
		out[i].StallCycles += r.StallCycles
	}
	for i := range out {
		out[i].ExecutedPct = value(ratioPct(out[i].Executed, b.counted.Hits))
	}
	slices.SortFunc(out, func(a, b Mix) int {
		return cmp.Or(cmp.Compare(b.Executed, a.Executed), cmp.Compare(b.Static, a.Static), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// top cuts a ranking to the rows that were asked for.
func top[T any](b *builder, in []T) []T {
	n := int(b.p.Param("top"))
	if n > 0 && len(in) > n {
		return in[:n]
	}
	return in
}

func ratioPct(part, whole int64) *float64 {
	if whole <= 0 {
		return nil
	}
	f := 100 * float64(part) / float64(whole)
	return &f
}

func perHit(cycles, hits int64) *float64 {
	if hits <= 0 {
		return nil
	}
	f := float64(cycles) / float64(hits)
	return &f
}

// value is 0 for an absent ratio: a share of nothing.
func value(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}

func frameText(f trace.Frame) string { return fmt.Sprintf("%s:%d", f.File, f.Line) }
