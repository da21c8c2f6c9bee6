package flow

import (
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/isa"
)

// Polling reports whether a row lies in a polling loop.
func (f *Flow) Polling(row int) bool {
	l := f.Innermost[row]
	return l >= 0 && f.Loops[l].Polls
}

const (
	// maxPollInstructions bounds a polling loop: compilers make about ten of
	// one, with a timeout and a lock twice that.
	maxPollInstructions = 48
	// maxFlagBytes is the widest flag that one access reads.
	maxFlagBytes = 8
)

// pollRole is what an instruction may be in a polling loop.
type pollRole uint8

const (
	pollWork  pollRole = iota // something that a polling loop does not do
	pollSpare                 // no work
	pollRead                  // asks for the flag
)

// pollRoles are the classes of instructions of a polling loop: it computes a
// little, waits, sleeps and jumps, but stores nothing, uses neither LDS nor
// the matrix pipe and takes part in no barrier.
var pollRoles = map[isa.Class]pollRole{
	isa.SALU: pollSpare, isa.VALU: pollSpare, isa.WaitCount: pollSpare, isa.Nop: pollSpare, isa.Sleep: pollSpare,
	isa.Branch: pollSpare, isa.CacheControl: pollSpare,
	isa.VMEMLoad: pollRead, isa.FlatLoad: pollRead, isa.VMEMAtomic: pollRead, isa.FlatAtomic: pollRead, isa.SMEM: pollRead,
}

// markPolls finds the polling loops: innermost loops whose only memory
// accesses ask past the compute unit's caches for one small value at an address
// that does not change, and that look at what they got. Returning atomics with
// data that does not change ask too (test-and-set, a spin lock); those that
// compute their data from the old value are updates.
func (f *Flow) markPolls(insts []isa.Inst) {
	hasInner := make([]bool, len(f.Loops))
	for _, l := range f.Loops {
		if l.Parent >= 0 {
			hasInner[l.Parent] = true
		}
	}
	for i := range f.Loops {
		f.Loops[i].Polls = !hasInner[i] && f.polls(&f.Loops[i], insts)
	}
}

func (f *Flow) polls(l *Loop, insts []isa.Inst) bool {
	var body []*isa.Inst
	for _, b := range l.Blocks {
		for row := f.Blocks[b].First; row < f.Blocks[b].Last; row++ {
			if len(body) == maxPollInstructions {
				return false
			}
			body = append(body, &insts[row])
		}
	}
	// An invalidation of the scalar cache makes its loads coherent.
	dcache := slices.ContainsFunc(body, func(in *isa.Inst) bool { return in.Mnemonic == "s_dcache_inv" })
	asks := 0
	for _, in := range body {
		switch pollRoles[in.Class] {
		case pollWork:
			return false
		case pollRead:
			if in.Class == isa.SMEM && len(in.Reads) == 0 {
				continue // a clock, or the cache operation
			}
			if !asksForFlag(in, dcache) || !fixed(body, in) || !looksAt(body, in) {
				return false
			}
			asks++
		}
	}
	return asks > 0
}

// asksForFlag reports whether an access reads a small value where others
// write it.
func asksForFlag(in *isa.Inst, dcache bool) bool {
	switch in.Class {
	case isa.VMEMAtomic, isa.FlatAtomic:
		return in.Returns && in.BytesPerLane <= maxFlagBytes
	case isa.SMEM:
		return in.BytesPerWave <= maxFlagBytes && len(in.Writes) > 0 && (in.Coherent || dcache)
	}
	return in.Coherent && in.BytesPerLane > 0 && in.BytesPerLane <= maxFlagBytes
}

// fixed reports whether the registers that an access reads are the same in
// every iteration: written from nothing that the loop writes, if at all.
func fixed(body []*isa.Inst, in *isa.Inst) bool {
	return !slices.ContainsFunc(body, func(w *isa.Inst) bool {
		return overlap(w.Writes, in.Reads) && (w == in || writtenIn(body, w.Reads))
	})
}

func writtenIn(body []*isa.Inst, regs []isa.Reg) bool {
	return slices.ContainsFunc(body, func(w *isa.Inst) bool { return overlap(w.Writes, regs) })
}

// looksAt reports whether an instruction of the loop reads what the access
// returned.
func looksAt(body []*isa.Inst, in *isa.Inst) bool {
	return slices.ContainsFunc(body, func(r *isa.Inst) bool { return r != in && overlap(r.Reads, in.Writes) })
}

func overlap(a, b []isa.Reg) bool {
	return slices.ContainsFunc(a, func(x isa.Reg) bool {
		return slices.ContainsFunc(b, func(y isa.Reg) bool {
			return x.File == y.File && x.First < y.First+y.Count && y.First < x.First+x.Count
		})
	})
}
