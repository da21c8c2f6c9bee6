package replay

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"
)

// StallRef names the stalls of a row of the code, or the drains of an s_endpgm.
type StallRef struct {
	Row   int
	Drain bool
}

// maxUnionPages bounds the pages of cycles of the sets of one pass over the
// stalls: 64 MiB.
const maxUnionPages = 8192

// Unions returns for each set of stalls in how many exposed cycles of a SIMD at
// least one wave was in one of them, summed over the SIMDs: the time that would
// at most be gone without them. It takes the stalls of the working waves or of
// all waves, and must only be called when every SIMD has Cycles.
//
// Stalls that were kept are looked at SIMD by SIMD, over as many passes as
// their cycles need memory. Where the waves must be read again there is one
// pass over all SIMDs: the first sets that fit are exact, and the others get a
// larger number, the exposed cycles of each of their stalls summed up, which is
// a bound as well.
func (r *Replay) Unions(ctx context.Context, workers int, all bool, sets [][]StallRef) ([]int64, error) {
	return r.unions(ctx, workers, all, sets, maxUnionPages)
}

func (r *Replay) unions(ctx context.Context, workers int, all bool, sets [][]StallRef, pages int) ([]int64, error) {
	u := &unions{all: all, of: setsOf(sets, len(r.sites[Working])), pages: pages, sums: make([]atomic.Int64, len(sets))}
	var err error
	if r.kept == nil {
		err = u.readAgain(ctx, r, workers)
	} else {
		err = u.bySIMD(ctx, r, workers)
	}
	out := make([]int64, len(sets))
	for k := range out {
		out[k] = u.sums[k].Load()
	}
	return out, err
}

// setsOf lists the sets of each row's stalls and drains.
func setsOf(sets [][]StallRef, rows int) (of [2][][]int) {
	of = [2][][]int{make([][]int, rows), make([][]int, rows)}
	for i, set := range sets {
		for _, x := range set {
			if x.Row >= rows {
				continue
			}
			n := &of[drainIndex(x.Drain)][x.Row]
			if len(*n) == 0 || (*n)[len(*n)-1] != i {
				*n = append(*n, i)
			}
		}
	}
	return of
}

// unions sums the cycles of sets of stalls over all workers.
type unions struct {
	all   bool
	of    [2][][]int
	pages int // that the cycles of one pass may take
	sums  []atomic.Int64
	free  sync.Pool // of empty pages
}

// bySIMD looks at the kept stalls of one SIMD after the other.
func (u *unions) bySIMD(ctx context.Context, r *Replay, workers int) error {
	waves := r.keptOf()
	workers = max(1, min(workers, len(r.SIMDs)))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(r.SIMDs) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				s := &r.SIMDs[i]
				fit := max(u.pages/workers/max(len(s.Cycles.resident.pages), 1), 1)
				for from := 0; from < len(u.sums); from += fit {
					m := u.marks([]*SIMD{s}, from, min(from+fit, len(u.sums)))
					replayKept(ctx, s, waves[i], &unionFolder{marks: m})
					m.sum()
				}
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// readAgain looks at the stalls of all SIMDs while the waves are read again.
func (u *unions) readAgain(ctx context.Context, r *Replay, workers int) error {
	simds, pages := make([]*SIMD, len(r.SIMDs)), 0
	for i := range r.SIMDs {
		simds[i] = &r.SIMDs[i]
		pages += len(simds[i].Cycles.resident.pages)
	}
	m := u.marks(simds, 0, min(max(u.pages/max(pages, 1), 1), len(u.sums)))
	m.rest = true
	err := r.Stalls(ctx, workers, func() StallFolder { return &unionFolder{marks: m} })
	m.sum()
	return err
}

// marks are the cycles of the sets [first, last) of some SIMDs. Bits are only
// ever set, so that several workers can share them and order does not matter.
type marks struct {
	*unions
	first, last int
	// rest adds up the exposed cycles of each stall of the sets from last on.
	rest  bool
	simds map[*SIMD]*unionSIMD
}

// unionSIMD holds the sets of one SIMD, their pages in the order of index.
type unionSIMD struct {
	cycles *Cycles
	index  map[int64]int
	sets   [][]atomic.Pointer[page]
}

func (u *unions) marks(simds []*SIMD, first, last int) *marks {
	m := &marks{unions: u, first: first, last: last, simds: map[*SIMD]*unionSIMD{}}
	for _, s := range simds {
		x := &unionSIMD{cycles: s.Cycles, index: make(map[int64]int, len(s.Cycles.resident.pages)), sets: make([][]atomic.Pointer[page], last-first)}
		for no := range s.Cycles.resident.pages {
			x.index[no] = len(x.index)
		}
		for k := range x.sets {
			x.sets[k] = make([]atomic.Pointer[page], len(x.index))
		}
		m.simds[s] = x
	}
	return m
}

func drainIndex(drain bool) int {
	if drain {
		return 1
	}
	return 0
}

// unionFolder remembers the SIMD and the page of the last stall.
type unionFolder struct {
	*marks
	lastSIMD *SIMD
	simd     *unionSIMD
	no       int64 // the page of the last mark, and its index
	at       int
}

// Stall marks one stall in the sets that hold it.
func (f *unionFolder) Stall(s *SIMD, g Group, row int, from, to int64, drain bool) {
	sets := f.of[drainIndex(drain)][row]
	if len(sets) == 0 || g != Working && !f.all {
		return
	}
	if s != f.lastSIMD {
		f.lastSIMD, f.simd, f.no = s, f.simds[s], -1
	}
	for _, k := range sets {
		switch {
		case k >= f.first && k < f.last:
			f.mark(k-f.first, from, to)
		case k >= f.last && f.rest:
			f.sums[k].Add(f.simd.cycles.exposed.countIn(from, to))
		}
	}
}

// mark adds the cycles [from, to) to a set.
func (f *unionFolder) mark(set int, from, to int64) {
	for from < to {
		no := from >> pageBits
		end := min(to, (no+1)<<pageBits)
		if at := f.page(no); at >= 0 {
			f.shared(&f.simd.sets[set][at]).setShared(uint(from-no<<pageBits), uint(end-no<<pageBits))
		}
		from = end
	}
}

// page is the index of a page, -1 for one in which no wave was resident.
func (f *unionFolder) page(no int64) int {
	if no != f.no {
		at, ok := f.simd.index[no]
		if !ok {
			return -1
		}
		f.no, f.at = no, at
	}
	return f.at
}

// shared is the page of all workers.
func (m *marks) shared(at *atomic.Pointer[page]) *page {
	if p := at.Load(); p != nil {
		return p
	}
	p, ok := m.free.Get().(*page)
	if !ok {
		p = new(page)
	}
	if !at.CompareAndSwap(nil, p) {
		m.free.Put(p)
	}
	return at.Load()
}

// setShared adds the bits [from, to) of a page that other workers write as well.
func (p *page) setShared(from, to uint) {
	first, last := from>>6, (to-1)>>6
	for i := first; i <= last; i++ {
		w := ^uint64(0)
		if i == first {
			w &= ^uint64(0) << (from & 63)
		}
		if i == last {
			w &= ^uint64(0) >> (63 - (to-1)&63)
		}
		if atomic.LoadUint64(&p[i])&w != w {
			atomic.OrUint64(&p[i], w)
		}
	}
}

// countIn returns how many cycles of the set lie in [from, to).
func (w *weights) countIn(from, to int64) int64 {
	var n int64
	for from < to {
		no := from >> pageBits
		end := min(to, (no+1)<<pageBits)
		if p := w.pages[no]; p != nil {
			n += p.set.countIn(uint(from-no<<pageBits), uint(end-no<<pageBits))
		}
		from = end
	}
	return n
}

// sum adds the sets up, and frees them; what was added up of the rest is not more than all.
func (m *marks) sum() {
	var most int64
	for _, x := range m.simds {
		most += x.cycles.exposed.shared
		for no, at := range x.index {
			exposed := x.cycles.exposed.pages[no]
			for k := range x.sets {
				if p := x.sets[k][at].Load(); p != nil {
					m.sums[m.first+k].Add(p.intersect(&exposed.set))
					*p = page{}
					m.free.Put(p)
				}
			}
		}
	}
	for k := m.last; m.rest && k < len(m.sums); k++ {
		m.sums[k].Store(min(m.sums[k].Load(), most))
	}
}

// intersect returns the number of bits in both pages.
func (p *page) intersect(o *page) int64 {
	n := 0
	for i, w := range p {
		n += bits.OnesCount64(w & o[i])
	}
	return int64(n)
}
