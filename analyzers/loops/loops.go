// Package loops is the analyzer that says what a kernel's loops execute, cost
// and could reach.
package loops

import (
	"cmp"
	_ "embed"
	"math"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/shape"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// Analyzer returns a *Result.
var Analyzer = analysis.New(analysis.Analyzer{
	Name:     "loops",
	Doc:      doc,
	Needs:    []analysis.Evidence{analysis.ThreadTraces},
	Requires: []analysis.Required{code.Analyzer, flow.Analyzer, replay.Analyzer, exposed.Analyzer, stalls.Analyzer, shape.Analyzer},
	Params: []analysis.Param{
		{Name: "top", Default: 10, Unit: "rows", Doc: "hazards and prefetch distances listed; 0 keeps all"},
		{Name: "registers", Default: 0, Doc: "1 lists the registers alive at every instruction"},
		{Name: "tile_m", Unit: "rows", Doc: "GEMM tile to compare the main matrix loop with; 0 for none"},
		{Name: "tile_n", Unit: "columns", Doc: "same"},
		{Name: "tile_k", Unit: "elements", Doc: "same"},
		{Name: "tile_bits", Unit: "bits", Doc: "size of the tile's elements"},
		{Name: "tile_waves", Default: 4, Unit: "waves", Doc: "waves of a workgroup that share the tile's columns"},
	},
	Rules: rule.Rules(checks()),
}, run)

// builder describes one kernel.
type builder struct {
	p      *analysis.Pass
	tt     *trace.ThreadTrace
	kernel trace.Kernel
	k      int

	machine *capture.Trace
	listing *code.Listing
	insts   []isa.Inst
	flow    *flow.Flow
	replay  *replay.Replay
	split   *exposed.Split
	stalls  *stalls.Breakdown
	// total is the kernel's exposed cycles, or its stall: shares are of it.
	total float64
}

func run(p *analysis.Pass) (*Result, error) {
	res := &Result{Kernels: []Kernel{}}
	for _, tt := range p.Trace.ThreadTraces {
		if tt.Flavour == trace.Samples {
			continue
		}
		for k, kn := range tt.Kernels {
			if !p.Selects(p.Capture.Trace(tt).Kernels[k].Names) {
				continue
			}
			listing := code.Analyzer.Of(p, tt)
			b := &builder{
				p: p, tt: tt, machine: p.Capture.Trace(tt), kernel: kn, k: k, listing: listing, insts: listing.Insts, flow: flow.Analyzer.Of(p, tt),
				replay: replay.Analyzer.Of(p, tt), split: exposed.Analyzer.Of(p, tt), stalls: stalls.Analyzer.Of(p, tt),
			}
			x, err := b.build()
			if err != nil {
				return nil, err
			}
			x.trace, x.kernel = tt, k
			res.Kernels = append(res.Kernels, x)
		}
	}
	return res, nil
}

func (b *builder) build() (Kernel, error) {
	all := b.sum(b.rows())
	k := Kernel{
		Name: b.machine.Kernels[b.k].Names.Shown(), Symbol: b.kernel.Symbol, Path: b.tt.Path, Dispatch: b.tt.DispatchID, Arch: b.listing.Arch,
		Waves: b.waves(), FilesMissing: b.replay.Report.Missing, FilesDamaged: b.replay.Report.Damaged,
		LatencyCycles: all.LatencyCycles, StallCycles: all.StallCycles,
		ExposedAbsent: b.split.Absent, Loops: []Loop{},
		IndirectJumps: b.flow.Indirect, IrregularCycles: b.flow.Irregular,
	}
	b.total = float64(all.StallCycles)
	if b.split.Absent == "" {
		t := b.split.SIMD
		k.SIMD, b.total = &t, all.exposed
		k.SIMDs = b.simds()
	}
	first := slices.IndexFunc(b.flow.Loops, func(l flow.Loop) bool { return l.Kernel == b.k })
	main, most := -1, int64(-1)
	for l := range b.flow.Loops {
		if b.flow.Loops[l].Kernel != b.k {
			continue
		}
		x, ok := b.loop(l, l-first+1, first)
		if !ok {
			k.NotExecuted++
			continue
		}
		if x.Depth == 1 && x.LatencyCycles > most {
			main, most = l, x.LatencyCycles
		}
		k.Loops = append(k.Loops, x)
	}
	slices.SortStableFunc(k.Loops, func(a, b Loop) int {
		return cmp.Or(cmp.Compare(b.SharePct, a.SharePct), cmp.Compare(b.LatencyCycles, a.LatencyCycles), cmp.Compare(a.ID, b.ID))
	})
	if main >= 0 {
		k.Phases = b.phases(main, all)
	}
	k.Registers = b.registers()
	k.needs = b.needs()
	s := &subject{builder: b, shape: shape.Analyzer.Of(b.p, b.tt).Kernels[b.k], k: &k, prefetches: b.prefetches(k.Loops, first), hazards: b.hazards()}
	k.Hazards, k.Prefetches = top(b, s.hazards), top(b, s.prefetches)
	k.Tile = b.tile(k.Loops)
	k.Found = analysis.Find(b.p, checks(), s, finding.Place{Path: k.Path, Kernel: k.Name})
	err := b.split.Bound(b.p, b.replay, b.stalls.AllWaves, k.Found)
	b.p.Report(k.Found...)
	return k, err
}

// waves counts the kernel's waves that the figures count.
func (b *builder) waves() int {
	n := b.replay.Kernels[b.k].Waves
	if b.stalls.AllWaves {
		return n[replay.Working] + n[replay.NoWork]
	}
	return n[replay.Working]
}

func (b *builder) rows() []int {
	out := make([]int, 0, b.kernel.Last-b.kernel.First)
	for row := b.kernel.First; row < b.kernel.Last; row++ {
		out = append(out, row)
	}
	return out
}

// rowsOf lists the rows of blocks.
func (b *builder) rowsOf(blocks []int) []int {
	var out []int
	for _, x := range blocks {
		for row := b.flow.Blocks[x].First; row < b.flow.Blocks[x].Last; row++ {
			out = append(out, row)
		}
	}
	return out
}

// sums are the counts of some rows, and the exposed part of their stalls and
// drains.
type sums struct {
	trace.Counts
	exposed float64
}

func (b *builder) sum(rows []int) sums {
	var s sums
	for _, row := range rows {
		s.Add(b.stalls.Rows[row].Counts)
		x := b.split.Row(row, b.stalls.AllWaves)
		s.exposed += x.Stall + x.Drain
	}
	return s
}

// known is nil for exposed cycles that are not known.
func (b *builder) known(x float64) *float64 {
	if b.split.Absent != "" {
		return nil
	}
	x = thousandth(x)
	return &x
}

func (b *builder) loopWaves(l int) (out replay.LoopWaves, ok bool) {
	if !b.replay.HasWaves {
		return out, false
	}
	out = b.replay.Loops[replay.Working][l]
	if b.stalls.AllWaves {
		both := replay.LoopWaves{}
		both.Merge(&b.replay.Loops[replay.Working][l])
		both.Merge(&b.replay.Loops[replay.NoWork][l])
		out = both
	}
	return out, true
}

// loop describes loop l of the flow; ok is false when nothing executed it.
func (b *builder) loop(l, id, first int) (out Loop, ok bool) {
	fl := &b.flow.Loops[l]
	rows := b.rowsOf(fl.Blocks)
	s := b.sum(rows)
	line := func(row int) int { return b.tt.Code[row].Line }
	out = Loop{
		ID: id, at: l, Depth: fl.Depth, HeadLine: line(fl.Head), FirstLine: line(rows[0]), LastLine: line(rows[len(rows)-1]),
		Source: b.tt.Code[fl.Head].Source, Instructions: len(rows), Iterations: b.stalls.Rows[fl.Head].Hits,
		LatencyCycles: s.LatencyCycles, StallCycles: s.StallCycles, IdleCycles: s.IdleCycles, ExposedCycles: b.known(s.exposed),
	}
	for _, row := range fl.Latches {
		out.BackLines = append(out.BackLines, line(row))
	}
	if fl.Parent >= 0 {
		parent := fl.Parent - first + 1
		out.Parent = &parent
	}
	if w, has := b.loopWaves(l); has && w.Waves > 0 {
		out.Iterations, out.Waves, out.Entries = w.Iterations, &w.Waves, &w.Entries
		out.Trips = trips(&w)
	}
	if out.Iterations == 0 {
		return out, false
	}
	cost := float64(s.StallCycles)
	if b.split.Absent == "" {
		cost = s.exposed
	}
	if b.total > 0 {
		out.SharePct = 100 * cost / b.total
	}
	b.describe(&out, l, rows, s)
	return out, true
}

func trips(w *replay.LoopWaves) *Trips {
	t := &Trips{Min: w.Least, Max: w.Trips.Max()}
	t.Median, _ = w.Trips.Quantile(0.5)
	if w.Entries > 0 {
		t.PerEntry = thousandth(float64(w.Iterations) / float64(w.Entries))
	}
	return t
}

func (b *builder) describe(out *Loop, l int, rows []int, s sums) {
	out.PerIteration, out.Mix = b.perIteration(rows, s, out.Iterations)
	if out.PerIteration.MFMAs > 0 {
		out.Ratios = b.ratios(&out.PerIteration, rows)
	}
	out.Stalls = b.blocked(rows, b.stalls.AllWaves, func(x exposed.Row) float64 { return x.Stall })
	if b.split.Absent == "" {
		out.Matrix = b.coverage(l, rows)
		out.Ideal = b.ideal(l, rows)
	}
}

// perIteration divides the sums of rows by iterations.
func (b *builder) perIteration(rows []int, s sums, iterations int64) (PerIteration, []Mix) {
	n := float64(iterations)
	per := PerIteration{
		Instructions: float64(s.Hits) / n, Cycles: float64(s.LatencyCycles+s.IdleCycles) / n,
		IssueCycles: float64(s.IssueCycles()) / n, StallCycles: float64(s.StallCycles) / n, IdleCycles: float64(s.IdleCycles) / n,
		ExposedCycles: b.known(s.exposed / n),
	}
	var byClass [256]int64
	for _, row := range rows {
		in, hits := &b.insts[row], b.stalls.Rows[row].Hits
		byClass[in.Class] += hits
		switch in.Class {
		case isa.MFMA:
			per.MFMAs += float64(hits) / n
			if in.Matrix != nil {
				per.MatrixFLOPs += float64(hits) * float64(in.Matrix.FLOPs) / n
			}
		case isa.Barrier, isa.BarrierWait:
			per.Barriers += float64(hits) / n
		}
	}
	per.Bytes = b.bytes(rows, n)
	var mix []Mix
	for c, hits := range byClass {
		if hits > 0 {
			mix = append(mix, Mix{isa.Class(c).String(), float64(hits) / n, 100 * float64(hits) / float64(s.Hits)})
		}
	}
	slices.SortFunc(mix, func(a, b Mix) int { return cmp.Or(cmp.Compare(b.Pct, a.Pct), cmp.Compare(a.Kind, b.Kind)) })
	return per, mix
}

// bytes sums what one wave moves per iteration.
func (b *builder) bytes(rows []int, iterations float64) *Bytes {
	lanes := float64(b.machine.Wave)
	if lanes == 0 {
		return nil
	}
	out := &Bytes{}
	to := map[isa.Class]*float64{
		isa.VMEMLoad: &out.MemoryLoad, isa.FlatLoad: &out.MemoryLoad, isa.ScratchLoad: &out.MemoryLoad, isa.VMEMToLDS: &out.MemoryToLDS,
		isa.VMEMStore: &out.MemoryStore, isa.FlatStore: &out.MemoryStore, isa.ScratchStore: &out.MemoryStore, isa.VMEMFromLDS: &out.MemoryStore,
		isa.LDSRead: &out.LDSRead, isa.LDSTranspose: &out.LDSRead, isa.LDSWrite: &out.LDSWrite,
	}
	for _, row := range rows {
		in := &b.insts[row]
		sum, ok := to[in.Class]
		if !ok {
			continue
		}
		hits := float64(b.stalls.Rows[row].Hits) / iterations
		if in.BytesPerLane == 0 {
			out.Unsized += hits
		}
		*sum += hits * lanes * float64(in.BytesPerLane)
	}
	return out
}

// isMemory are the classes that the guide counts as memory instructions.
func isMemory(c isa.Class) bool {
	switch c {
	case isa.VMEMLoad, isa.VMEMStore, isa.VMEMAtomic, isa.VMEMToLDS, isa.VMEMFromLDS, isa.LDSRead, isa.LDSWrite, isa.LDSAtomic,
		isa.LDSTranspose, isa.FlatLoad, isa.FlatStore, isa.FlatAtomic, isa.ScratchLoad, isa.ScratchStore, isa.TensorDMA:
		return true
	}
	return false
}

func (b *builder) ratios(per *PerIteration, rows []int) *Ratios {
	var all, memory int64
	for _, row := range rows {
		all += b.stalls.Rows[row].Hits
		if isMemory(b.insts[row].Class) {
			memory += b.stalls.Rows[row].Hits
		}
	}
	r := &Ratios{MFMAPct: 100 * per.MFMAs / per.Instructions, MemoryPct: 100 * float64(memory) / float64(all)}
	switch {
	case r.MFMAPct > b.p.Param(mfmaGood):
		r.MFMAVerdict = "good: compute dominates"
	case r.MFMAPct >= b.p.Param(mfmaLow):
		r.MFMAVerdict = "acceptable: some overhead"
	default:
		r.MFMAVerdict = "low: too much beside the matrix instructions"
	}
	switch {
	case r.MemoryPct < b.p.Param(memoryGood):
		r.MemoryVerdict = "good: overlaps"
	case r.MemoryPct <= b.p.Param(memoryMost):
		r.MemoryVerdict = "high"
	default:
		r.MemoryVerdict = "memory dominates: more matrix work for each load"
	}
	return r
}

// blocked splits the stalls of rows by class; pick chooses the exposed part.
func (b *builder) blocked(rows []int, all bool, pick func(exposed.Row) float64) []Blocked {
	type both struct {
		stall   int64
		exposed float64
	}
	bySums := map[stalls.Class]*both{}
	for _, row := range rows {
		r, x := &b.stalls.Rows[row], pick(b.split.Row(row, all))
		for _, p := range r.Parts {
			if r.StallCycles == 0 {
				continue
			}
			s := bySums[p.Class]
			if s == nil {
				s = &both{}
				bySums[p.Class] = s
			}
			s.stall += p.Cycles
			s.exposed += x * r.ExposedShare(p)
		}
	}
	out := []Blocked{}
	for c, s := range bySums {
		if s.stall > 0 {
			out = append(out, Blocked{c, s.stall, b.known(s.exposed)})
		}
	}
	slices.SortFunc(out, func(a, b Blocked) int {
		return cmp.Or(cmp.Compare(value(b.ExposedCycles), value(a.ExposedCycles)), cmp.Compare(b.StallCycles, a.StallCycles), cmp.Compare(a.Class, b.Class))
	})
	return out
}

// phases splits the kernel at a loop: before it is all that can still reach
// it, after it all that can be reached from it.
func (b *builder) phases(l int, all sums) []Phase {
	fl := &b.flow.Loops[l]
	before := b.flow.Reaches(fl.Blocks)
	after := b.flow.Reached(fl.Blocks)
	parts := []Phase{{Name: "prologue"}, {Name: "loop"}, {Name: "epilogue"}, {Name: "beside"}}
	rows := make([][]int, len(parts))
	for _, row := range b.rows() {
		at, block := 3, b.flow.BlockOf[row]
		switch {
		case b.flow.In(l, row):
			at = 1
		case before[block]:
			at = 0
		case after[block]:
			at = 2
		}
		rows[at] = append(rows[at], row)
	}
	out := parts[:0]
	for i, p := range parts {
		if len(rows[i]) == 0 {
			continue
		}
		s := b.sum(rows[i])
		p.Instructions, p.LatencyCycles, p.StallCycles, p.ExposedCycles = len(rows[i]), s.LatencyCycles, s.StallCycles, b.known(s.exposed)
		if all.LatencyCycles > 0 {
			p.LatencyPct = 100 * float64(s.LatencyCycles) / float64(all.LatencyCycles)
		}
		out = append(out, p)
	}
	return out
}

func top[T any](b *builder, in []T) []T {
	if n := int(b.p.Param("top")); n > 0 && len(in) > n {
		return in[:n]
	}
	return in
}

func thousandth(x float64) float64 { return math.Round(x*1000) / 1000 }

func value(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}
