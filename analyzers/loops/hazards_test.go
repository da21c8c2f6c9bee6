package loops

import (
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// straight makes a builder over code of which every instruction stalled 8
// cycles once.
func straight(texts ...string) *builder {
	tt := &trace.ThreadTrace{GfxMajor: 9, Kernels: []trace.Kernel{{First: 0, Last: len(texts)}}}
	b := &builder{tt: tt, kernel: tt.Kernels[0], split: &exposed.Split{Absent: "test"}, stalls: &stalls.Breakdown{}, replay: &replay.Replay{}}
	for row, text := range texts {
		c := trace.Counts{Hits: 1, StallCycles: 8, LatencyCycles: 12}
		tt.Code = append(tt.Code, trace.Instruction{Line: row, Text: text, Vaddr: int64(4 * row), Counts: c})
		b.insts = append(b.insts, isa.Parse(text, "gfx950"))
		b.stalls.Rows = append(b.stalls.Rows, stalls.Row{Counts: c, Parts: []stalls.Part{{Class: stalls.VALU, Cycles: 8}}})
	}
	b.flow = flow.Find(tt, b.insts)
	return b
}

const (
	// 16x16x32 bf16 takes 16 cycles on gfx950, so that its result can be read
	// after 16 + 12 = 28.
	mfma0 = "v_mfma_f32_16x16x32_bf16 v[0:3], v[40:43], v[44:47], v[0:3]"
	mfma4 = "v_mfma_f32_16x16x32_bf16 v[4:7], v[40:43], v[44:47], v[4:7]"
	fromA = "v_mfma_f32_16x16x32_bf16 v[8:11], v[0:3], v[44:47], v[8:11]"
	reads = "v_add_f32_e32 v20, v0, v21"
	other = "v_add_f32_e32 v22, v23, v24"
)

// TestHazards: distances worked out by hand.
func TestHazards(t *testing.T) {
	type want struct{ line, producer, distance, needed, nops int }
	for _, c := range []struct {
		name  string
		texts []string
		want  []want
	}{
		{"right after", []string{mfma0, reads}, []want{{1, 0, 4, 28, 0}}},
		{"s_nop is not distance", []string{mfma0, "s_nop 5", reads}, []want{{2, 0, 4, 28, 8}}},
		{"independent work is", []string{mfma0, other, other, reads}, []want{{3, 0, 12, 28, 0}}},
		{"far enough", []string{mfma0, other, other, other, other, other, other, reads}, nil},
		{"the accumulator is forwarded", []string{mfma0, mfma0}, nil},
		{"another operand is not, and waits for the pipe", []string{mfma0, fromA}, []want{{1, 0, 16, 28, 0}}},
		{"a second matrix instruction waits for the pipe", []string{mfma0, mfma4, reads}, []want{{2, 0, 20, 28, 0}}},
		{"overwritten before", []string{mfma0, "v_mov_b32_e32 v0, v30", reads}, nil},
		{"a loop sees its end", []string{reads, other, mfma0, "s_cbranch_scc1 65532", "s_endpgm"}, []want{{0, 2, 8, 28, 0}}},
		{"another block starts anew", []string{mfma0, "s_cbranch_scc1 1", reads, reads, "s_endpgm"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := straight(c.texts...).hazards()
			if len(got) != len(c.want) {
				t.Fatalf("%+v, want %+v", got, c.want)
			}
			for i, w := range c.want {
				h := got[i]
				if (want{h.Line, h.ProducerLine, h.DistanceCycles, h.NeededCycles, int(h.NopCycles)}) != w {
					t.Errorf("%+v, want %+v", h, w)
				}
			}
		})
	}
}

func TestWaitStates(t *testing.T) {
	for text, want := range map[string]int{"s_nop 0": 1, "s_nop 7": 8, "s_nop 0x3": 4, "v_nop": 1, "s_nop": 1, "s_nop x": 1} {
		in := isa.Parse(text, "gfx942")
		if got := waitStates(&in); got != want {
			t.Errorf("%q: %d wait states, want %d", text, got, want)
		}
	}
}

// TestRegisters: 130 registers named allow 3 waves; 4 need at most 128.
func TestRegisters(t *testing.T) {
	b := straight("s_nop 0", "s_nop 0", "s_nop 0", "s_nop 0", "s_nop 0")
	alive := []flow.Alive{{VGPRs: 100}, {VGPRs: 129}, {VGPRs: 128}, {VGPRs: 130}, {VGPRs: 100, AGPRs: 31}}
	a, err := gpu.ArchByName("gfx942")
	if err != nil {
		t.Fatal(err)
	}
	if got := wavesWith(a, 130, 0); got != 3 {
		t.Errorf("130 registers allow %d waves, want 512 / 136 = 3", got)
	}
	if got := wavesWith(a, 125, 4); got != 3 {
		t.Errorf("125 + 4 registers allow %d waves, want 512 / align(128 + 4) = 3", got)
	}
	r := &Registers{}
	r.above(b, a, alive, 128)
	if r.AboveCount != 3 || len(r.Above) != 2 || r.Above[0] != (RowRange{1, 1, 129}) || r.Above[1] != (RowRange{3, 4, 131}) {
		t.Errorf("%+v", r)
	}
}
