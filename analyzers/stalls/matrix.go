package stalls

import "github.com/rocanalyze/rocanalyze/pkg/isa"

// resultDelayCycles is how long after the end of its passes a matrix result
// can first be read by another instruction: 3 wait states of 4 cycles.
// Source: AMD Instinct MI300 ISA reference guide, section 4.5, "XDL write
// VGPR ... read": passes + 3 wait states.
const resultDelayCycles = 12

// unknownMatrixCycles stands in for a matrix instruction whose cost is not
// known: 8 passes, the middle of the tables.
const unknownMatrixCycles = 32

// issueCycles is the least time between two instructions of a wave.
const issueCycles = 4

// readsMatrixResult says for each instruction whether it needs the result of a
// matrix instruction shortly before it, too soon for it to be there. It goes by the earliest time at which each instruction can
// issue: one after the other in code order, matrix instructions not before the
// matrix pipe is free. A branch starts over.
func readsMatrixResult(insts []isa.Inst) []bool {
	out := make([]bool, len(insts))
	var recent []writer
	now, pipeFree := 0, 0
	for i := range insts {
		in := &insts[i]
		if in.Class == isa.Branch {
			recent = recent[:0]
		}
		if in.Class == isa.MFMA {
			now = max(now, pipeFree)
		}
		recent = expire(recent, now)
		if canWaitForMatrix(in.Class) {
			out[i] = readsAny(in, recent)
		}
		recent = overwritten(recent, in)
		if in.Class == isa.MFMA {
			pipeFree = now + matrixCycles(in)
			recent = append(recent, writer{in, pipeFree + resultDelayCycles})
		}
		now += issueCycles
	}
	return out
}

// writer is a matrix instruction whose result is there at a time.
type writer struct {
	in    *isa.Inst
	ready int
}

func matrixCycles(in *isa.Inst) int {
	if in.Matrix == nil || in.Matrix.Cycles <= 0 {
		return unknownMatrixCycles
	}
	return in.Matrix.Cycles
}

// canWaitForMatrix: memory instructions wait for their data elsewhere.
func canWaitForMatrix(c isa.Class) bool {
	return c == isa.MFMA || c == isa.VALU || c == isa.Trans
}

func expire(ws []writer, now int) []writer {
	kept := ws[:0]
	for _, w := range ws {
		if w.ready > now {
			kept = append(kept, w)
		}
	}
	return kept
}

func readsAny(in *isa.Inst, ws []writer) bool {
	for _, w := range ws {
		if in.NeedsResult(w.in) {
			return true
		}
	}
	return false
}

// overwritten drops writers whose result another instruction replaces.
func overwritten(ws []writer, in *isa.Inst) []writer {
	kept := ws[:0]
	for _, w := range ws {
		if !overlapAny(in.Writes, w.in.Writes) {
			kept = append(kept, w)
		}
	}
	return kept
}

func overlapAny(a, b []isa.Reg) bool {
	for _, x := range a {
		for _, y := range b {
			if x.File == y.File && x.First < y.First+y.Count && y.First < x.First+x.Count {
				return true
			}
		}
	}
	return false
}
