package replay

import (
	"context"
	"math/bits"
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
// The sets are looked at together, over as many passes as their cycles need
// memory. Where a pass would read the waves again there is only one: the first
// sets that fit are exact, and the others get a larger number, the exposed
// cycles of each of their stalls summed up, which is a bound as well.
func (r *Replay) Unions(ctx context.Context, workers int, all bool, sets [][]StallRef) ([]int64, error) {
	out := make([]int64, len(sets))
	fit := max(maxUnionPages/max(r.pagesOfSets(), 1), 1)
	for from := 0; from < len(sets); from += fit {
		exact := min(fit, len(sets)-from)
		u := newUnions(r, all, sets[from:], exact)
		if r.kept != nil {
			u = newUnions(r, all, sets[from:from+exact], exact)
		}
		if err := r.Stalls(ctx, workers, func() StallFolder { return u.folder() }); err != nil {
			return nil, err
		}
		u.sum(out[from:])
		if r.kept == nil {
			break
		}
	}
	return out, nil
}

// pagesOfSets is how many pages one set can take over all SIMDs.
func (r *Replay) pagesOfSets() int {
	n := 0
	for i := range r.SIMDs {
		n += len(r.SIMDs[i].Cycles.resident.pages)
	}
	return n
}

// unions marks the cycles of sets of stalls, of all workers together: bits are
// only ever set, so that the order does not matter.
type unions struct {
	all bool
	// of lists the sets of each row's stalls and drains; the first exact of
	// them are marked, of the others the exposed cycles are summed.
	of     [2]map[int][]int
	exact  int
	number int
	simds  map[*SIMD]*unionSIMD
	sums   []atomic.Int64
}

// unionSIMD holds the sets of one SIMD, their pages in the order of index.
type unionSIMD struct {
	cycles *Cycles
	index  map[int64]int
	sets   [][]atomic.Pointer[page]
}

func newUnions(r *Replay, all bool, sets [][]StallRef, exact int) *unions {
	u := &unions{all: all, exact: exact, number: len(sets), simds: map[*SIMD]*unionSIMD{}, sums: make([]atomic.Int64, len(sets))}
	u.of = [2]map[int][]int{{}, {}}
	for i, set := range sets {
		for _, x := range set {
			of := u.of[drainIndex(x.Drain)]
			if n := of[x.Row]; len(n) == 0 || n[len(n)-1] != i {
				of[x.Row] = append(n, i)
			}
		}
	}
	for i := range r.SIMDs {
		s := &r.SIMDs[i]
		x := &unionSIMD{cycles: s.Cycles, index: make(map[int64]int, len(s.Cycles.resident.pages)), sets: make([][]atomic.Pointer[page], exact)}
		for no := range s.Cycles.resident.pages {
			x.index[no] = len(x.index)
		}
		for k := range x.sets {
			x.sets[k] = make([]atomic.Pointer[page], len(x.index))
		}
		u.simds[s] = x
	}
	return u
}

func drainIndex(drain bool) int {
	if drain {
		return 1
	}
	return 0
}

func (u *unions) folder() StallFolder { return &unionFolder{unions: u} }

// unionFolder remembers the SIMD of the last stall.
type unionFolder struct {
	*unions
	last *SIMD
	simd *unionSIMD
}

// Stall marks one stall in the sets that hold it.
func (f *unionFolder) Stall(s *SIMD, g Group, row int, from, to int64, drain bool) {
	sets := f.of[drainIndex(drain)][row]
	if len(sets) == 0 || g != Working && !f.all {
		return
	}
	if s != f.last {
		f.last, f.simd = s, f.simds[s]
	}
	for _, k := range sets {
		if k >= f.exact {
			f.sums[k].Add(f.simd.cycles.exposed.countIn(from, to))
			continue
		}
		f.simd.mark(k, from, to)
	}
}

func (x *unionSIMD) mark(set int, from, to int64) {
	for from < to {
		no := from >> pageBits
		end := min(to, (no+1)<<pageBits)
		if at, ok := x.index[no]; ok {
			shared(&x.sets[set][at]).setShared(uint(from-no<<pageBits), uint(end-no<<pageBits))
		}
		from = end
	}
}

// shared is the page of all workers.
func shared(at *atomic.Pointer[page]) *page {
	if at.Load() == nil {
		at.CompareAndSwap(nil, new(page))
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

// sum adds up the sets over the SIMDs.
func (u *unions) sum(out []int64) {
	for _, x := range u.simds {
		for no, at := range x.index {
			exposed := x.cycles.exposed.pages[no]
			for k := range x.sets {
				if p := x.sets[k][at].Load(); p != nil {
					out[k] += p.intersect(&exposed.set)
				}
			}
		}
	}
	for k := u.exact; k < u.number; k++ {
		var most int64
		for _, x := range u.simds {
			most += x.cycles.exposed.shared
		}
		out[k] = min(u.sums[k].Load(), most)
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
