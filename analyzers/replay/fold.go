package replay

import (
	"cmp"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/stats"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxPages bounds the pages of cycles that one worker keeps: 8 KiB each, so
// 64 MiB, enough for half a second of every SIMD of a compute unit.
const maxPages = 8192

// maxMorePages bounds in the same way the pages of what loops and exposed
// stalls need beyond that.
const maxMorePages = 16384

// folder sums the waves that one worker reads.
type folder struct {
	prog      *program
	groups    [numGroups]group
	kernels   []KernelWaves
	unmatched int64
	simds     map[simdID]*simd
	left      int
	tooLong   bool
	leftMore  int
	noShares  bool

	edgeWaves, edgesDiffer int
	alone                  alone

	// Reused from wave to wave.
	kept  keeper
	pend  pending
	walk  loopWalk
	cut   spanner
	mfmas int32
	busy  int64 // until when a matrix instruction of the wave keeps the pipe
	young youngest
	edges edgeCheck
	in    loopSpan
	seen  []int32
	epoch int32
}

type group struct {
	counts []trace.Counts
	sites  []*site
	loops  []LoopWaves
	// ownPipe are, by row, the cycles in which a matrix instruction was
	// stalled while one of its own wave kept the pipe.
	ownPipe []int64
}

type simdID struct{ se, cu, simd int }

// simd gathers one SIMD's cycles.
type simd struct {
	waves                 int
	first, last           int64
	resident, issue, valu *bitmap
	matrix, matrixIssue   *bitmap
	stalled               *levels
	loops                 []*bitmap // by loop, nil for those never entered
}

func newFolder(prog *program) *folder {
	f := newScratch(prog)
	f.kept.left = &prog.keep
	f.noShares, f.kept.given = prog.noCycles, prog.noCycles
	f.walk = newLoopWalk(prog.flow, prog.headOf)
	for g := range f.groups {
		f.groups[g] = group{
			counts: make([]trace.Counts, len(prog.ops)), sites: make([]*site, len(prog.ops)),
			loops: make([]LoopWaves, len(prog.flow.Loops)), ownPipe: make([]int64, len(prog.ops)),
		}
	}
	return f
}

// newScratch makes a folder that can tell groups of waves and sums nothing.
func newScratch(prog *program) *folder {
	return &folder{
		prog: prog, kernels: make([]KernelWaves, len(prog.kernelLen)), simds: map[simdID]*simd{},
		left: maxPages, leftMore: maxMorePages, seen: make([]int32, len(prog.ops)),
	}
}

// Wave adds one wave.
func (f *folder) Wave(w *trace.Wave) {
	g := Working
	if kernel, ok := f.kernel(w); ok {
		if f.noWork(w, kernel) {
			g = NoWork
		}
		f.kernels[kernel].Waves[g]++
	}
	s := f.simd(w)
	f.pend.reset()
	f.edges.start(w.Waits, f.prog.comparesEdges)
	f.kept.start(w, g)
	f.walk.start()
	f.in = loopSpan{loop: -1}
	f.mfmas, f.busy = 0, w.Begin
	f.cut = spanner{begin: w.Begin, end: w.End, stalled: w.Begin}
	prev := w.Begin
	for i := range w.Records {
		r := &w.Records[i]
		row := f.prog.executed(r)
		if row < 0 {
			f.unmatched++
			continue
		}
		c := &f.groups[g].counts[row]
		c.Hits++
		c.LatencyCycles += r.Duration
		c.StallCycles += r.Stall
		c.IdleCycles += max(r.Time-prev, 0)
		f.walk.step(row, f.groups[g].loops)
		if !f.noShares {
			f.mark(s, row, prev, r.Time+r.Duration)
		}
		prev = max(prev, r.Time+r.Duration)
		f.share(&f.groups[g], s, r, row)
		f.execute(&f.groups[g], s, r, row)
	}
	f.walk.end(f.groups[g].loops)
	f.flush(s)
	f.kept.end()
	f.countEdges()
}

// share marks the cycles in which the wave was stalled or draining, and those
// in which its matrix instruction kept the pipe.
func (f *folder) share(g *group, s *simd, r *trace.Record, row int) {
	if f.noShares {
		return
	}
	ok, m := true, f.prog.matrix[row]
	if end := f.prog.ops[row].role == endpgm; end || r.Stall > 0 {
		x := f.cut.cut(r, end)
		f.kept.keep(row, x)
		ok = s.stalled.add(x.Stall[0], x.Stall[1]) && s.stalled.add(x.Drain[0], x.Drain[1])
		if f.prog.pipe[row] == MatrixPipe {
			g.ownPipe[row] += max(min(x.Stall[1], f.busy)-x.Stall[0], 0)
		}
	}
	if m > 0 && ok {
		f.busy = max(f.busy, r.Time+r.Stall+m)
		ok = s.matrix.set(r.Time+r.Stall, r.Time+r.Stall+m)
	}
	f.noShares = !ok
}

// execute replays one instruction: outstanding operations, waits, issue.
func (f *folder) execute(g *group, s *simd, r *trace.Record, row int) {
	o := &f.prog.ops[row]
	switch o.role {
	case memory:
		f.pend.issue(o, producer{row: int32(row), class: o.class, issued: r.Time + r.Stall, mfmas: f.mfmas})
	case wait:
		st := g.site(row)
		y := &f.young
		y.start()
		key := f.pend.retire(o, func(w int, pr producer, sure bool) {
			st.produced(pr)
			y.saw(w, pr, sure)
			if sure {
				f.edges.produced(o.waits[w].Counter, int(pr.row))
			}
		})
		st.combine(key, 1, r.Stall)
		st.hist.Add(r.Stall)
		st.lead(y, r, f.mfmas)
		f.alone.book(st, y, r)
		f.edges.next(f.prog, row)
	case barrier:
		g.site(row).hist.Add(r.Stall)
	case endpgm:
		g.site(row).hist.Add(r.Duration - r.Stall)
		return
	case matrix:
		f.mfmas++
	}
	if f.tooLong {
		return
	}
	from, to := r.Time+r.Stall, r.Time+r.Duration
	ok := s.issue.set(from, to)
	switch {
	case !ok:
	case f.prog.pipe[row] == VectorALU:
		ok = s.valu.set(from, to)
	case f.prog.pipe[row] == MatrixPipe:
		ok = s.matrixIssue.set(from, to)
	}
	f.tooLong = !ok
}

// kernel returns the kernel of the wave's first instruction that has a row.
func (f *folder) kernel(w *trace.Wave) (int, bool) {
	for i := range w.Records {
		if row := f.prog.row(w.Records[i].Line); row >= 0 {
			return f.prog.kernelOf[row], true
		}
	}
	return 0, false
}

// noWork reports whether a wave left without doing the kernel's work: few
// instructions, few of the kernel's, and none that it is run for.
func (f *folder) noWork(w *trace.Wave, kernel int) bool {
	if len(w.Records) > f.prog.noWorkMax {
		return false
	}
	f.epoch++
	distinct := 0
	for i := range w.Records {
		row := f.prog.row(w.Records[i].Line)
		if row >= 0 && f.prog.work[row] {
			return false
		}
		if row >= 0 && f.seen[row] != f.epoch {
			f.seen[row] = f.epoch
			distinct++
		}
	}
	return float64(distinct)*100 < f.prog.noWorkPct*float64(f.prog.kernelLen[kernel])
}

func (f *folder) simd(w *trace.Wave) *simd {
	id := simdID{w.SE, w.CU, w.SIMD}
	s := f.simds[id]
	if s == nil {
		s = &simd{
			first: w.Begin, last: w.End, resident: newBitmap(&f.left), issue: newBitmap(&f.left), valu: newBitmap(&f.left),
			matrix: newBitmap(&f.leftMore), matrixIssue: newBitmap(&f.leftMore), stalled: newLevels(&f.leftMore),
		}
		f.simds[id] = s
	}
	s.waves++
	s.first, s.last = min(s.first, w.Begin), max(s.last, w.End)
	if !f.tooLong {
		f.tooLong = !s.resident.set(w.Begin, w.End)
	}
	return s
}

func (g *group) site(row int) *site {
	if g.sites[row] == nil {
		g.sites[row] = newSite()
	}
	return g.sites[row]
}

// mergeFolders adds up what the workers saw; nil when there were none.
func mergeFolders(prog *program, folders []*folder) *folder {
	if len(folders) == 0 {
		return nil
	}
	total := folders[0]
	for _, f := range folders[1:] {
		total.merge(f)
	}
	return total
}

func (f *folder) merge(o *folder) {
	f.unmatched += o.unmatched
	f.tooLong = f.tooLong || o.tooLong
	f.noShares = f.noShares || o.noShares
	f.edgeWaves += o.edgeWaves
	f.edgesDiffer += o.edgesDiffer
	f.alone.merge(&o.alone)
	for k := range f.kernels {
		for g := range numGroups {
			f.kernels[k].Waves[g] += o.kernels[k].Waves[g]
		}
	}
	for g := range f.groups {
		for l := range f.groups[g].loops {
			f.groups[g].loops[l].Merge(&o.groups[g].loops[l])
		}
		for row := range f.groups[g].counts {
			f.groups[g].counts[row].Add(o.groups[g].counts[row])
			f.groups[g].ownPipe[row] += o.groups[g].ownPipe[row]
			if s := o.groups[g].sites[row]; s != nil {
				f.groups[g].site(row).merge(s)
			}
		}
	}
	for id, s := range o.simds {
		mine := f.simds[id]
		if mine == nil {
			f.simds[id] = s
			continue
		}
		mine.waves += s.waves
		mine.first, mine.last = min(mine.first, s.first), max(mine.last, s.last)
		mine.resident.merge(s.resident)
		mine.issue.merge(s.issue)
		mine.valu.merge(s.valu)
		mine.matrix.merge(s.matrix)
		mine.matrixIssue.merge(s.matrixIssue)
		mine.stalled.merge(s.stalled)
		mine.mergeLoops(s)
	}
}

func (s *simd) mergeLoops(o *simd) {
	if s.loops == nil {
		s.loops = o.loops
		return
	}
	for l, b := range o.loops {
		switch {
		case b == nil:
		case s.loops[l] == nil:
			s.loops[l] = b
		default:
			s.loops[l].merge(b)
		}
	}
}

func (f *folder) exportSIMDs() []SIMD {
	var out []SIMD
	for id, s := range f.simds {
		x := SIMD{SE: id.se, CU: id.cu, SIMD: id.simd, Waves: s.waves, First: s.first, Last: s.last}
		if !f.tooLong {
			x.Resident, x.Issuing, x.IssuingVALU = s.resident.count(), s.issue.count(), s.valu.count()
		}
		if !f.tooLong && !f.noShares && !s.stalled.full {
			x.Cycles = &Cycles{resident: s.resident, issue: s.issue, valu: s.valu, matrix: s.matrix, matrixIssue: s.matrixIssue, stalled: s.stalled, loops: s.loops}
			x.IssuingResident = s.issue.intersect(s.resident)
		}
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b SIMD) int {
		return cmp.Or(cmp.Compare(a.SE, b.SE), cmp.Compare(a.CU, b.CU), cmp.Compare(a.SIMD, b.SIMD))
	})
	return out
}

// site gathers the executions of one waiting instruction.
type site struct {
	hist      stats.Histogram
	producers []ProducerCount
	hint      int
	combos    []ComboCycles
	leads     Lead
	mixes     map[mixKey]int64 // cycles
}

func newSite() *site { return &site{} }

// produced counts one instruction that was waited for. Executions name their
// producers in the same order, so the one after the last hit is tried first.
func (s *site) produced(pr producer) {
	for i := range s.producers {
		at := s.hint + i
		if at >= len(s.producers) {
			at -= len(s.producers)
		}
		if s.producers[at].Row == int(pr.row) {
			s.producers[at].Count++
			s.hint = at + 1
			if s.hint == len(s.producers) {
				s.hint = 0
			}
			return
		}
	}
	s.producers = append(s.producers, ProducerCount{int(pr.row), pr.class, 1})
}

func (s *site) combine(key combo, executions, cycles int64) {
	for i := range s.combos {
		if s.combos[i].key == key {
			s.combos[i].Executions += executions
			s.combos[i].Cycles += cycles
			return
		}
	}
	s.combos = append(s.combos, ComboCycles{key: key, Executions: executions, Cycles: cycles})
}

func (s *site) merge(o *site) {
	s.hist.Merge(&o.hist)
	s.leads.merge(&o.leads)
	s.producers = mergeProducers(s.producers, o.producers)
	if s.mixes == nil {
		s.mixes = make(map[mixKey]int64, len(o.mixes))
	}
	for key, cycles := range o.mixes {
		s.mixes[key] += cycles
	}
	for _, c := range o.combos {
		s.combine(c.key, c.Executions, c.Cycles)
	}
}

func mergeProducers(a, b []ProducerCount) []ProducerCount {
	out := slices.Clone(a)
	for _, p := range b {
		i := slices.IndexFunc(out, func(q ProducerCount) bool { return q.Row == p.Row })
		if i < 0 {
			out = append(out, p)
			continue
		}
		out[i].Count += p.Count
	}
	return out
}

// export sorts what was gathered, so that it does not depend on the order in
// which waves were read; lone is nil where latencies are not known.
func (s *site) export(lone *latencies) *Site {
	out := &Site{
		Executions: s.hist, Producers: slices.Clone(s.producers), Combos: slices.Clone(s.combos), Lead: s.leads,
		mixes: sortedMixes(s.mixes), lone: lone,
	}
	out.sort()
	return out
}

func (s *Site) sort() {
	slices.SortFunc(s.Producers, func(a, b ProducerCount) int { return cmp.Compare(a.Row, b.Row) })
	slices.SortFunc(s.Combos, func(a, b ComboCycles) int { return slices.Compare(a.key[:], b.key[:]) })
	for i := range s.Combos {
		s.Combos[i].Sets = s.Combos[i].key.sets()
	}
}

func (c combo) sets() [][]WaitClass {
	var out [][]WaitClass
	for _, set := range c {
		var classes []WaitClass
		for class := Nothing; class < numWaitClasses; class++ {
			if set&(1<<class) != 0 {
				classes = append(classes, class)
			}
		}
		out = append(out, classes)
	}
	return out
}

// joined adds two exported sites.
func joined(a, b *Site) *Site {
	s := site{}
	for _, x := range []*Site{a, b} {
		o := site{hist: x.Executions, producers: x.Producers, combos: x.Combos, leads: x.Lead, mixes: map[mixKey]int64{}}
		for _, m := range x.mixes {
			o.mixes[m.key] = m.cycles
		}
		s.merge(&o)
	}
	return s.export(a.lone)
}

// edgeCheck compares the rebuilt wait edges of one wave with the decoder's.
// The decoder writes one edge per counter, lgkmcnt before vmcnt.
// Source: rocprofiler-sdk att-tool, waitcnt/gfx9.cpp.
type edgeCheck struct {
	on     bool
	differ bool
	waits  []trace.WaitEdge
	at     int
	first  []int // lgkmcnt
	second []int // any other counter
}

// start begins a wave that has the given edges.
func (e *edgeCheck) start(waits []trace.WaitEdge, compares bool) {
	*e = edgeCheck{waits: waits, on: compares && len(waits) > 0, first: e.first[:0], second: e.second[:0]}
}

func (e *edgeCheck) produced(c isa.Counter, row int) {
	if !e.on {
		return
	}
	if c == isa.Lgkmcnt {
		e.first = append(e.first, row)
		return
	}
	e.second = append(e.second, row)
}

// next compares the edges of one executed wait and starts over.
func (e *edgeCheck) next(p *program, row int) {
	if !e.on {
		return
	}
	for _, rows := range [2][]int{e.first, e.second} {
		if len(rows) > 0 && !e.matches(p, row, rows) {
			e.on, e.differ = false, true
			return
		}
	}
	e.first, e.second = e.first[:0], e.second[:0]
}

func (e *edgeCheck) matches(p *program, row int, rows []int) bool {
	if e.at >= len(e.waits) {
		return false
	}
	w := e.waits[e.at]
	e.at++
	return p.row(w.Line) == row && slices.EqualFunc(w.Producers, rows, func(line, row int) bool { return p.row(line) == row })
}

// countEdges adds the wave's comparison to the folder.
func (f *folder) countEdges() {
	e := &f.edges
	if !e.on && !e.differ {
		return
	}
	f.edgeWaves++
	if e.differ || e.at != len(e.waits) {
		f.edgesDiffer++
	}
}
