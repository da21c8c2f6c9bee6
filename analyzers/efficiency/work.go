package efficiency

import (
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
)

// work is what the read waves did on one pipe.
type work struct {
	pipe string
	// amount are operations, or cycles for vector issue; cycles are those of
	// the pipe that they took.
	amount, cycles float64
	// rate is set where amount and cycles are not the same.
	rate float64
}

// mathOf is the kind of arithmetic of a matrix instruction by the type of its
// first operand.
var mathOf = map[string]gpu.Math{
	"fp64": gpu.MatrixFP64, "fp32": gpu.MatrixFP32, "xf32": gpu.MatrixXF32, "fp16": gpu.MatrixFP16, "bf16": gpu.MatrixBF16,
	"fp8": gpu.MatrixFP8, "bf8": gpu.MatrixFP8, "fp6": gpu.MatrixFP6, "bf6": gpu.MatrixFP6, "fp4": gpu.MatrixFP4,
	"int8": gpu.MatrixInt8, "int4": gpu.MatrixInt4,
}

// MathOf is the roof of a matrix instruction.
func MathOf(m *isa.Matrix) gpu.Math { return mathOf[m.TypeA] }

// matrixWork sums the matrix instructions that the read waves executed, and
// names the kind with the most operations.
func (b *builder) matrixWork() (w work, absent string) {
	w = work{pipe: "matrix pipe", rate: 1}
	byMath := map[gpu.Math]float64{}
	for row := b.kernel.First; row < b.kernel.Last; row++ {
		in := &b.insts[row]
		n := float64(b.replay.Hits(b.tt, row))
		if in.Class != isa.MFMA || n == 0 {
			continue
		}
		if in.Matrix == nil || in.Matrix.Cycles <= 0 {
			return w, "the cost of " + in.Mnemonic + " is not known"
		}
		w.amount += n * float64(in.Matrix.FLOPs)
		w.cycles += n * float64(in.Matrix.Cycles)
		byMath[MathOf(in.Matrix)] += n * float64(in.Matrix.FLOPs)
	}
	most := 0.0
	for _, m := range gpu.Maths() {
		if byMath[m] > most {
			most, b.out.Of = byMath[m], string(m)
		}
	}
	return w, ""
}

// matrixCycles are those of a loop.
func (b *builder) matrixCycles(loop int) float64 {
	sum := 0.0
	first, last := b.flow.Rows(loop)
	for row := first; row <= last; row++ {
		if in := &b.insts[row]; in.Class == isa.MFMA && in.Matrix != nil && b.flow.In(loop, row) {
			sum += float64(b.replay.Hits(b.tt, row)) * float64(in.Matrix.Cycles)
		}
	}
	return sum
}

// vectorWork are the cycles in which the traced SIMDs issued a vector
// instruction.
func (b *builder) vectorWork() (w work, absent string) {
	if b.replay.TooLong {
		return w, "the trace covers too many cycles to count those in which vector instructions issue"
	}
	w.pipe = "vector issue"
	for _, s := range b.replay.SIMDs {
		w.cycles += float64(s.IssuingVALU)
	}
	if w.cycles == 0 {
		return w, "no vector instruction was issued"
	}
	w.amount = w.cycles
	b.out.Of = VALUIssue
	return w, ""
}
