package flow

import (
	"math/bits"

	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Alive is how many vector registers hold a value that may still be read, at
// one instruction: the more of those before it, and those after it with the
// ones that it writes.
type Alive struct {
	VGPRs, AGPRs int
}

// Total is the sum of both files.
func (a Alive) Total() int { return a.VGPRs + a.AGPRs }

// maxVectorRegisters is the most registers of one file: gfx1250 has 1024.
// Source: LLVM AMDGPUUsage, gfx125x register file.
const maxVectorRegisters = 1024

// fileWords is the number of words for one file's registers.
const fileWords = maxVectorRegisters / 64

// regSet holds VGPRs, then AGPRs.
type regSet [2 * fileWords]uint64

func (s *regSet) add(r isa.Reg, on bool) {
	base, ok := 0, r.File == isa.VGPR
	if r.File == isa.AGPR {
		base, ok = maxVectorRegisters, true
	}
	if !ok || r.First < 0 {
		return
	}
	for n := r.First; n < r.First+r.Count && n < maxVectorRegisters; n++ {
		bit := uint64(1) << ((base + n) & 63)
		if on {
			s[(base+n)>>6] |= bit
		} else {
			s[(base+n)>>6] &^= bit
		}
	}
}

func (s *regSet) count() Alive {
	var a Alive
	for i, w := range s {
		if i < fileWords {
			a.VGPRs += bits.OnesCount64(w)
		} else {
			a.AGPRs += bits.OnesCount64(w)
		}
	}
	return a
}

// before turns the registers alive after an instruction into those before it.
func (s *regSet) before(in *isa.Inst) {
	for _, r := range in.Writes {
		s.add(r, false)
	}
	for _, r := range in.Reads {
		s.add(r, true)
	}
}

// Live returns the vector registers alive at each row of a kernel, parallel to
// the rows [kernel.First, kernel.Last).
func (f *Flow) Live(kn trace.Kernel, insts []isa.Inst) []Alive {
	if kn.First == kn.Last {
		return nil
	}
	first, last := int(f.BlockOf[kn.First]), int(f.BlockOf[kn.Last-1])
	in := f.liveIn(insts, first, last)
	out := make([]Alive, kn.Last-kn.First)
	for b := first; b <= last; b++ {
		s := f.liveOut(in, first, b)
		for row := f.Blocks[b].Last - 1; row >= f.Blocks[b].First; row-- {
			after := s
			for _, r := range insts[row].Writes {
				after.add(r, true)
			}
			s.before(&insts[row])
			x, y := after.count(), s.count()
			if y.Total() > x.Total() {
				x = y
			}
			out[row-kn.First] = x
		}
	}
	return out
}

func (f *Flow) liveOut(in []regSet, first, b int) regSet {
	var s regSet
	for _, to := range f.Blocks[b].Succ {
		for i, w := range in[to-first] {
			s[i] |= w
		}
	}
	return s
}

// liveIn iterates the blocks backwards until nothing changes: the classic
// backward data-flow problem.
func (f *Flow) liveIn(insts []isa.Inst, first, last int) []regSet {
	in := make([]regSet, last-first+1)
	queued := make([]bool, len(in))
	var todo []int
	push := func(b int) {
		if !queued[b-first] {
			queued[b-first] = true
			todo = append(todo, b)
		}
	}
	for b := first; b <= last; b++ {
		push(b)
	}
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		queued[b-first] = false
		s := f.liveOut(in, first, b)
		for row := f.Blocks[b].Last - 1; row >= f.Blocks[b].First; row-- {
			s.before(&insts[row])
		}
		if s == in[b-first] {
			continue
		}
		in[b-first] = s
		for _, p := range f.Blocks[b].Pred {
			push(p)
		}
	}
	return in
}
