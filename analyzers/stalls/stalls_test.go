package stalls

import (
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

func TestDivideSumsExactly(t *testing.T) {
	for _, c := range []struct {
		shares []float64
		total  int64
		want   []int64
	}{
		{[]float64{1}, 7, []int64{7}},
		{[]float64{0.5, 0.5}, 7, []int64{4, 3}},
		{[]float64{0, 1. / 3, 0, 2. / 3}, 10, []int64{3, 7}},
		{[]float64{1. / 3, 1. / 3, 1. / 3}, 1 << 60, nil},
		{[]float64{0.25, 0.75}, 0, []int64{0, 0}},
	} {
		var parts []Part
		for _, f := range c.shares {
			if f > 0 {
				parts = append(parts, Part{})
			}
		}
		divide(parts, c.shares, c.total)
		var sum int64
		for i, p := range parts {
			sum += p.Cycles
			if c.want != nil && p.Cycles != c.want[i] {
				t.Errorf("%v of %d: part %d is %d, want %d", c.shares, c.total, i, p.Cycles, c.want[i])
			}
		}
		if sum != c.total {
			t.Errorf("%v of %d sum to %d", c.shares, c.total, sum)
		}
	}
}

// TestEveryInstructionClassHasAStallClass: only unknown instructions may fall
// into "other", and every class has a title and a meaning.
func TestEveryInstructionClassHasAStallClass(t *testing.T) {
	for _, c := range isa.Classes() {
		got := ofInstruction(&isa.Inst{Class: c})
		if (got == Other) != (c == isa.Unknown) {
			t.Errorf("instruction class %s stalls as %s", c, got)
		}
	}
	seen := map[Class]bool{}
	for _, i := range Classes {
		if seen[i.Class] || i.Title == "" || i.Meaning == "" {
			t.Errorf("class %q is listed twice or has no title or meaning", i.Class)
		}
		seen[i.Class] = true
	}
	for _, c := range byWait {
		if !seen[c] {
			t.Errorf("class %q is not described", c)
		}
	}
	for _, c := range byInstruction {
		if !seen[c] {
			t.Errorf("class %q is not described", c)
		}
	}
}

func TestReadsMatrixResult(t *testing.T) {
	const mfma = "v_mfma_f32_32x32x8_f16 v[0:15], v[20:21], v[22:23], v[0:15]" // 8 passes on gfx942
	for _, c := range []struct {
		name string
		code []string
		want bool // of the last instruction
	}{
		{"reads the result at once", []string{mfma, "v_add_f32 v30, v3, v31"}, true},
		{"reads another register", []string{mfma, "v_add_f32 v30, v16, v31"}, false},
		{"accumulates into it, which waits for the pipe only", []string{mfma, "v_mfma_f32_32x32x8_f16 v[0:15], v[20:21], v[22:23], v[0:15]"}, false},
		{"multiplies it", []string{mfma, "v_mfma_f32_32x32x8_f16 v[32:47], v[0:1], v[22:23], v[32:47]"}, true},
		{"another shape accumulates into a part of it", []string{mfma, "v_mfma_f32_16x16x16_f16 v[0:3], v[20:21], v[22:23], v[0:3]"}, true},
		{"independent accumulator", []string{mfma, "v_mfma_f32_32x32x8_f16 v[40:55], v[20:21], v[22:23], v[40:55]"}, false},
		{"overwritten between", []string{mfma, "v_mov_b32 v3, 0", "v_add_f32 v30, v3, v31"}, false},
		{"behind a branch", []string{mfma, "s_cbranch_scc1 5", "v_add_f32 v30, v3, v31"}, false},
		{"one slot too early: 9 instructions later is cycle 40 of 32+12", append(append([]string{mfma}, fill(9)...), "v_add_f32 v30, v3, v31"), true},
		{"just in time: cycle 44", append(append([]string{mfma}, fill(10)...), "v_add_f32 v30, v3, v31"), false},
		{"behind a second matrix instruction, which starts at cycle 32", []string{mfma, "v_mfma_f32_32x32x8_f16 v[40:55], v[20:21], v[22:23], v[40:55]", "s_nop 0", "v_add_f32 v30, v3, v31"}, true},
		{"stores wait elsewhere", []string{mfma, "global_store_dword v[60:61], v3, off"}, false},
	} {
		insts := make([]isa.Inst, len(c.code))
		for i, s := range c.code {
			insts[i] = isa.Parse(s, "gfx942")
		}
		if insts[0].Matrix == nil || insts[0].Matrix.Cycles != 32 {
			t.Fatalf("the matrix instruction costs %+v, the test assumes 32 cycles", insts[0].Matrix)
		}
		got := readsMatrixResult(insts)
		if got[len(got)-1] != c.want {
			t.Errorf("%s: %v, want %v", c.name, got[len(got)-1], c.want)
		}
	}
}

func fill(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "s_add_u32 s0, s1, s2"
	}
	return out
}

// TestNoWorkIsTakenOnce: rows that share a LineNumber give up the no-work
// waves' counts only once, and never go below zero.
func TestNoWorkIsTakenOnce(t *testing.T) {
	tt := &trace.ThreadTrace{Code: []trace.Instruction{
		{Line: 1, Counts: trace.Counts{Hits: 3, StallCycles: 30}},
		{Line: 1, Counts: trace.Counts{Hits: 4, StallCycles: 40}},
		{Line: 2, Counts: trace.Counts{Hits: 5, StallCycles: 50}},
	}}
	r := &replay.Replay{HasWaves: true}
	r.Counts[replay.NoWork] = []trace.Counts{{Hits: 5, StallCycles: 50}, {}, {Hits: 1, StallCycles: 60}}
	got := countsOf(tt, r, false)
	want := []trace.Counts{{}, {Hits: 2, StallCycles: 20}, {Hits: 4}}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("row %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	for i, c := range countsOf(tt, r, true) {
		if c != tt.Code[i].Counts {
			t.Errorf("all waves, row %d: %+v", i, c)
		}
	}
}

// TestUnderWay: a wait absorbs what is gained at an earlier one when its loads
// were issued before that one.
func TestUnderWay(t *testing.T) {
	f := &flow.Flow{Innermost: []int32{-1, 0, 0, 0, 0, 0, 0, -1}, Loops: []flow.Loop{{Parent: -1}}}
	for _, c := range []struct {
		name         string
		earlier, row int
		producers    []replay.ProducerCount
		want         bool
	}{
		{"issued before both", 3, 4, []replay.ProducerCount{{Row: 1, Class: replay.VMEM, Count: 8}}, true},
		{"issued between them", 3, 5, []replay.ProducerCount{{Row: 4, Class: replay.VMEM, Count: 8}}, false},
		{"of the iteration before", 3, 4, []replay.ProducerCount{{Row: 6, Class: replay.VMEMToLDS, Count: 8}}, true},
		{"behind both, outside of the loop", 3, 4, []replay.ProducerCount{{Row: 7, Class: replay.VMEM, Count: 8}}, false},
		{"most between them", 3, 5, []replay.ProducerCount{{Row: 1, Class: replay.VMEM, Count: 3}, {Row: 4, Class: replay.VMEM, Count: 8}}, false},
		{"LDS is no load", 3, 4, []replay.ProducerCount{{Row: 1, Class: replay.LDS, Count: 8}}, false},
	} {
		if got := underWay(f, &replay.Site{Producers: c.producers}, c.earlier, c.row); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}
