package isa

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// Matrix is the shape and the cost of a matrix instruction.
type Matrix struct {
	M, N, K, Blocks       int
	TypeA, TypeB, TypeOut string // fp64 fp32 xf32 fp16 bf16 fp8 bf8 fp6 bf6 fp4 int8 int4 int32
	Sparse                bool   // A has two of four values; FLOPs count the dense equivalent
	FLOPs                 int    // 2*M*N*K*Blocks operations per wave instruction
	// Cycles is how long one instruction keeps the matrix pipe of its SIMD busy;
	// 0 when unknown or when the target leaves it open.
	Cycles int
	Source string // source of Cycles, see the header of matrix.csv
}

// MatrixRow is one row of the matrix table.
type MatrixRow struct {
	Target   Target
	Mnemonic string
	AliasOf  string // the spelling that the disassembler prints, empty for itself
	Format   string // operand formats where the instruction has a choice
	Matrix
}

//go:embed matrix.csv
var matrixCSV string

// matrixColumns is the number of columns of matrix.csv.
const matrixColumns = 15

// matrixRows reads the embedded table. A row that does not read is left out;
// the tests check that there is none.
var matrixRows = sync.OnceValue(func() []MatrixRow {
	rows := make([]MatrixRow, 0, 700)
	for line := range strings.Lines(matrixCSV) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if strings.HasPrefix(line, "#") || len(fields) != matrixColumns {
			continue
		}
		if row, ok := parseMatrixRow(fields); ok {
			rows = append(rows, row)
		}
	}
	return rows
})

// parseMatrixRow reads one row; false for the heading.
func parseMatrixRow(f []string) (MatrixRow, bool) {
	row := MatrixRow{
		Target: Target(f[0]), Mnemonic: f[1], AliasOf: f[2], Format: f[10],
		Matrix: Matrix{TypeA: f[7], TypeB: f[8], TypeOut: f[9], Sparse: f[11] == "yes", Source: f[14]},
	}
	numbers := []struct {
		text string
		to   *int
	}{{f[3], &row.M}, {f[4], &row.N}, {f[5], &row.K}, {f[6], &row.Blocks}, {f[12], &row.FLOPs}, {f[13], &row.Cycles}}
	for i, n := range numbers {
		if i == len(numbers)-1 && n.text == "" {
			break // cycles may be absent
		}
		v, err := strconv.Atoi(n.text)
		if err != nil {
			return MatrixRow{}, false
		}
		*n.to = v
	}
	return row, true
}

// matrixIndex finds the rows of a mnemonic, in table order.
var matrixIndex = sync.OnceValue(func() map[string][]*MatrixRow {
	rows := matrixRows()
	index := make(map[string][]*MatrixRow, len(rows))
	for i := range rows {
		index[rows[i].Mnemonic] = append(index[rows[i].Mnemonic], &rows[i])
	}
	return index
})

// MatrixTable returns all rows of the matrix table, ordered by target,
// mnemonic and format. Their sources stand in the header of matrix.csv.
func MatrixTable() []MatrixRow {
	return append([]MatrixRow(nil), matrixRows()...)
}

// matrixFormats are the names of the operand formats by their number.
// Source: LLVM AMDGPU modifier syntax, cbsz and blgp of the f8f6f4 forms, and
// matrix_a_fmt of gfx1250; format 0 is what an absent modifier means.
var matrixFormats = []string{"FP8", "BF8", "FP6", "BF6", "FP4"}

// findMatrix returns the shape and cost of a matrix instruction for the target,
// nil when the table does not know it. Cycles and Source are dropped when the
// processors that the target may be do not agree.
func findMatrix(mnemonic, modifiers string, target Target) *Matrix {
	rows := matrixIndex()[mnemonic]
	if len(rows) == 0 {
		return nil
	}
	members := target.members()
	var found *Matrix
	for _, row := range rows {
		if !contains(members, row.Target) || row.Format != "" && row.Format != rowFormat(row.Target, modifiers) {
			continue
		}
		if found == nil {
			m := row.Matrix
			found = &m
			continue
		}
		if found.Cycles != row.Cycles {
			found.Cycles, found.Source = 0, ""
		}
	}
	return found
}

// contains reports whether t is in list.
func contains(list []Target, t Target) bool {
	for _, x := range list {
		if x == t {
			return true
		}
	}
	return false
}

// rowFormat spells the operand formats of an instruction as the table does.
func rowFormat(target Target, modifiers string) string {
	if target.Generation() == 9 {
		return numberOr0(modifiers, "cbsz") + "/" + numberOr0(modifiers, "blgp")
	}
	return formatName(modifiers, "matrix_a_fmt") + "/" + formatName(modifiers, "matrix_b_fmt")
}

// numberOr0 returns the value of a numeric modifier, "0" when it is absent.
func numberOr0(modifiers, name string) string {
	if v, ok := modifierValue(modifiers, name); ok {
		return v
	}
	return "0"
}

// formatName returns the name of a format modifier, given as a name
// (MATRIX_FMT_FP4) or as a number.
func formatName(modifiers, name string) string {
	v, ok := modifierValue(modifiers, name)
	if !ok {
		return matrixFormats[0]
	}
	if n, err := strconv.Atoi(v); err == nil && n >= 0 && n < len(matrixFormats) {
		return matrixFormats[n]
	}
	return strings.TrimPrefix(v, "MATRIX_FMT_")
}

// accumulator is the place of SrcC among the operands that a matrix instruction
// reads.
const accumulator = 2

// NeedsResult reports whether an instruction has to wait until a matrix
// instruction before it is done: it reads what that one writes. An accumulator
// that the same kind of instruction adds to is forwarded inside the pipe and
// waits for the pipe only. Source: AMD Instinct MI300 ISA reference guide,
// section 4.5 (back to back, SrcC exactly the same vDst).
func (in *Inst) NeedsResult(producer *Inst) bool {
	for i, r := range in.Reads {
		for _, w := range producer.Writes {
			forwarded := in.Class == MFMA && in.Mnemonic == producer.Mnemonic && i == accumulator && r == w
			if r.File == w.File && r.First < w.First+w.Count && w.First < r.First+r.Count && !forwarded {
				return true
			}
		}
	}
	return false
}
