package isa

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// formatModifiers spells the formats of a table row as an instruction does.
func formatModifiers(row *MatrixRow) string {
	a, b, ok := strings.Cut(row.Format, "/")
	switch {
	case !ok:
		return ""
	case row.Target.Generation() == 9:
		return " cbsz:" + a + " blgp:" + b
	}
	return " matrix_a_fmt:MATRIX_FMT_" + a + " matrix_b_fmt:MATRIX_FMT_" + b
}

// TestMatrixTable: every row reads, is found again from a text, and its
// operations follow from its shape.
func TestMatrixTable(t *testing.T) {
	lines := 0
	for line := range strings.Lines(matrixCSV) {
		if !strings.HasPrefix(line, "#") {
			lines++
		}
	}
	rows := MatrixTable()
	if len(rows) != lines-1 {
		t.Fatalf("%d rows of %d read", len(rows), lines-1)
	}
	for i := range rows {
		row := &rows[i]
		in := Parse(row.Mnemonic+" v[0:3], v[4:7], v[8:11], v[0:3]"+formatModifiers(row), row.Target)
		if in.Class != MFMA || in.Matrix == nil {
			t.Errorf("%s %s %s: class %s, no shape", row.Target, row.Mnemonic, row.Format, in.Class)
			continue
		}
		if diff := cmp.Diff(row.Matrix, *in.Matrix); diff != "" {
			t.Errorf("%s %s %s (-table +parsed):\n%s", row.Target, row.Mnemonic, row.Format, diff)
		}
		if ops := 2 * row.M * row.N * row.K * row.Blocks; row.FLOPs != ops {
			t.Errorf("%s %s: %d operations, want %d", row.Target, row.Mnemonic, row.FLOPs, ops)
		}
		if (row.Cycles == 0) != (row.Source == "") {
			t.Errorf("%s %s: %d cycles from %q", row.Target, row.Mnemonic, row.Cycles, row.Source)
		}
	}
}

// TestMatrixAliases: an alias has the shape and cost of what it stands for.
func TestMatrixAliases(t *testing.T) {
	rows := MatrixTable()
	for i := range rows {
		row := &rows[i]
		if row.AliasOf == "" {
			continue
		}
		in := Parse(row.AliasOf+" a[0:3], v[0:1], v[2:3], a[0:3]", row.Target)
		if in.Matrix == nil {
			t.Errorf("%s %s: %s is not in the table", row.Target, row.Mnemonic, row.AliasOf)
			continue
		}
		if diff := cmp.Diff(row.Matrix, *in.Matrix); diff != "" {
			t.Errorf("%s %s and %s differ:\n%s", row.Target, row.Mnemonic, row.AliasOf, diff)
		}
	}
}

// TestMatrixShapes reads shape, blocks and types from the names, which spell
// them, and holds them against the table.
func TestMatrixShapes(t *testing.T) {
	types := map[string]string{
		"f32": "fp32", "f16": "fp16", "bf16": "bf16", "f64": "fp64", "xf32": "xf32", "i8": "int8", "iu8": "int8", "iu4": "int4",
		"fp8": "fp8", "bf8": "bf8", "f4": "fp4", "i32": "int32", "bf16f32": "bf16",
	}
	rows := MatrixTable()
	for i := range rows {
		row := &rows[i]
		parts := strings.Split(row.Mnemonic, "_")
		at := 2 // v_mfma_f32_16x16x4...
		for !strings.Contains(parts[at+1], "x") {
			at++
		}
		if got := types[parts[at]]; got != row.TypeOut {
			t.Errorf("%s: result %s, table has %s", row.Mnemonic, got, row.TypeOut)
		}
		dims := strings.SplitN(parts[at+1], "x", 3)
		digits := len(dims[2]) - len(strings.TrimLeft(dims[2], "0123456789"))
		if name := strings.Join([]string{dims[0], dims[1], dims[2][:digits]}, "x"); name != shapeName(row) {
			t.Errorf("%s: shape %s, table has %s", row.Mnemonic, name, shapeName(row))
		}
		rest := parts[at+2:]
		if tail := dims[2][digits:]; tail != "" {
			rest = append([]string{tail}, rest...) // old spelling: 16x16x4f32
		}
		if len(rest) > 0 && strings.HasSuffix(rest[0], "b") && strings.Trim(rest[0], "0123456789b") == "" {
			if rest[0] != strconv.Itoa(row.Blocks)+"b" {
				t.Errorf("%s: %s blocks, table has %d", row.Mnemonic, rest[0], row.Blocks)
			}
			rest = rest[1:]
		}
		if rest[0] == "f8f6f4" {
			continue // the formats choose the types
		}
		b := rest[0]
		if len(rest) > 1 && rest[1] != "1k" {
			b = rest[1]
		}
		if types[rest[0]] != row.TypeA || types[b] != row.TypeB {
			t.Errorf("%s: types %v, table has %s %s", row.Mnemonic, rest, row.TypeA, row.TypeB)
		}
	}
}

func shapeName(row *MatrixRow) string {
	return strconv.Itoa(row.M) + "x" + strconv.Itoa(row.N) + "x" + strconv.Itoa(row.K)
}

// TestMatrixCycles; the figures are passes of the CDNA3 ISA document (table of
// MFMA opcodes) times 4, and of the gfx950 rules for mixed formats.
func TestMatrixCycles(t *testing.T) {
	cases := []struct {
		target Target
		text   string
		cycles int
		a, b   string
	}{
		{"gfx942", "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", 32, "fp16", "fp16"},
		{"gfx942:xnack-", "v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], 0", 16, "fp16", "fp16"},
		{"gfx940", "v_mfma_f32_16x16x32_fp8_bf8 a[0:3], v[0:1], v[2:3], 0", 16, "fp8", "bf8"},
		{"gfx90a", "v_mfma_f32_16x16x16f16 a[0:3], v[0:1], v[2:3], 0", 32, "fp16", "fp16"},
		{"gfx942", "v_mfma_f64_16x16x4_f64 a[0:7], v[0:1], v[2:3], 0", 32, "fp64", "fp64"},
		{"gfx950", "v_mfma_f64_16x16x4_f64 a[0:7], v[0:1], v[2:3], 0", 64, "fp64", "fp64"},
		{"gfx950", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3]", 32, "fp8", "fp8"},
		{"gfx950", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:9], v[12:17], v[0:3] cbsz:2 blgp:3", 16, "fp6", "bf6"},
		{"gfx950", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[12:19], v[0:3] cbsz:4", 32, "fp4", "fp8"},
		{"gfx950", "v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[16:19], v[20:23], v[0:15], v24, v25 op_sel_hi:[0,0,0] cbsz:4 blgp:4", 32, "fp4", "fp4"},
		{"gfx950", "v_mfma_f32_16x16x32_bf16 v[6:9], v[88:91], v[56:59], 0", 16, "bf16", "bf16"},
		{"gfx1100", "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", 32, "fp16", "fp16"},
		{"gfx1102", "v_wmma_i32_16x16x16_iu4 v[0:7], v[8:9], v[10:11], v[0:7]", 16, "int4", "int4"},
		{"gfx1201", "v_wmma_f32_16x16x16_fp8_fp8 v[0:7], v[8:9], v[10:11], v[0:7]", 8, "fp8", "fp8"},
		{"gfx1250", "v_wmma_f32_16x16x128_f8f6f4 v[0:7], v[8:15], v[16:23], v[0:7] matrix_a_fmt:MATRIX_FMT_FP4 matrix_b_fmt:MATRIX_FMT_FP4", 4, "fp4", "fp4"},
		{"gfx1250", "v_wmma_f32_16x16x128_f8f6f4 v[0:7], v[8:23], v[24:39], v[0:7] matrix_b_fmt:1", 8, "fp8", "bf8"},
		{"gfx1250", "v_wmma_bf16f32_16x16x32_bf16 v[0:3], v[8:15], v[16:23], v[24:31]", 0, "bf16", "bf16"},
		// The targets agree, or they do not.
		{"gfx9", "v_mfma_f32_32x32x2_f32 a[0:15], v0, v1, a[0:15]", 64, "fp32", "fp32"},
		{"gfx9", "v_mfma_f32_16x16x16f16 a[0:3], v[0:1], v[2:3], 0", 0, "fp16", "fp16"},
		{"", "v_mfma_f32_16x16x16f16 a[0:3], v[0:1], v[2:3], 0", 0, "fp16", "fp16"},
		{"gfx9-4-generic", "v_mfma_f64_16x16x4_f64 a[0:7], v[0:1], v[2:3], 0", 0, "fp64", "fp64"},
		{"gfx12", "v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], v[12:15], v[0:7]", 0, "fp16", "fp16"},
	}
	for _, c := range cases {
		m := Parse(c.text, c.target).Matrix
		if m == nil {
			t.Errorf("%s %q: no shape", c.target, c.text)
			continue
		}
		if m.Cycles != c.cycles || m.TypeA != c.a || m.TypeB != c.b {
			t.Errorf("%s %q: %d cycles %s %s, want %d %s %s", c.target, c.text, m.Cycles, m.TypeA, m.TypeB, c.cycles, c.a, c.b)
		}
	}
}

func TestNoMatrix(t *testing.T) {
	for _, c := range []struct {
		target Target
		text   string
	}{
		{"gfx90a", "v_mfma_f32_16x16x32_fp8_fp8 a[0:3], v[0:1], v[2:3], 0"},
		{"gfx906", "v_mfma_f32_16x16x16f16 a[0:3], v[0:1], v[2:3], 0"},
		{"gfx1030", "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]"},
		{"gfx950", "v_mfma_f32_16x16x8_xf32 a[0:3], v[0:1], v[2:3], 0"},
		{"gfx950", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[12:19], v[0:3] cbsz:7"},
		{"gfx942", "v_mfma_f32_99x99x9_f16 a[0:3], v[0:1], v[2:3], 0"},
		{"gfx942", "v_fma_f32 v0, v1, v2, v3"},
	} {
		if m := Parse(c.text, c.target).Matrix; m != nil {
			t.Errorf("%s %q: %+v", c.target, c.text, *m)
		}
	}
}

// TestMatrixIsACopy: changing a result leaves the table alone.
func TestMatrixIsACopy(t *testing.T) {
	const text = "v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], 0"
	Parse(text, "gfx942").Matrix.Cycles = 1
	if got := Parse(text, "gfx942").Matrix.Cycles; got != 16 {
		t.Errorf("%d cycles", got)
	}
}
