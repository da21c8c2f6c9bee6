package flow

import (
	"fmt"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// program makes a kernel of 4-byte instructions; @N in a text becomes the
// branch offset to row N.
func program(texts ...string) (*trace.ThreadTrace, []isa.Inst) {
	tt := &trace.ThreadTrace{GfxMajor: 9, Kernels: []trace.Kernel{{First: 0, Last: len(texts)}}}
	var insts []isa.Inst
	for row, text := range texts {
		var to int
		if _, err := fmt.Sscanf(text[max(len(text)-3, 0):], "@%02d", &to); err == nil {
			text = fmt.Sprintf("%s%d", text[:len(text)-3], uint16(to-row-1))
		}
		tt.Code = append(tt.Code, trace.Instruction{Line: row + 1, Text: text, Vaddr: int64(4 * row)})
		insts = append(insts, isa.Parse(text, "gfx942"))
	}
	return tt, insts
}

func loopsOf(f *Flow) string {
	s := ""
	for _, l := range f.Loops {
		rows := 0
		for _, b := range l.Blocks {
			rows += f.Blocks[b].Last - f.Blocks[b].First
		}
		s += fmt.Sprintf("[head %d back %v rows %d depth %d in %d]", l.Head, l.Latches, rows, l.Depth, l.Parent)
	}
	return s
}

// TestLoops: loops worked out by hand.
func TestLoops(t *testing.T) {
	for _, c := range []struct {
		name  string
		texts []string
		want  string
		odd   [2]int // indirect, irregular
	}{
		{"straight", []string{"s_nop 0", "s_endpgm"}, "", [2]int{}},
		{"do while", []string{"s_nop 0", "v_mov_b32_e32 v0, v1", "s_cbranch_scc1 @01", "s_endpgm"}, "[head 1 back [2] rows 2 depth 1 in -1]", [2]int{}},
		{
			"while, tested at the top",
			[]string{"s_nop 0", "s_cbranch_scc1 @04", "v_mov_b32_e32 v0, v1", "s_branch @01", "s_endpgm"},
			"[head 1 back [3] rows 3 depth 1 in -1]",
			[2]int{},
		},
		{
			"nested, with two ways back to the outer head",
			[]string{
				"s_nop 0", "s_nop 1", "s_nop 2", "s_cbranch_scc1 @02", // inner 2..3
				"s_cbranch_scc0 @01", "s_cbranch_vccz @01", "s_endpgm",
			},
			"[head 1 back [4 5] rows 5 depth 1 in -1][head 2 back [3] rows 2 depth 2 in 0]",
			[2]int{},
		},
		{
			"body placed behind the end",
			[]string{"s_branch @03", "s_nop 0", "s_endpgm", "v_mov_b32_e32 v0, v1", "s_cbranch_scc1 @01", "s_branch @03"},
			"[head 3 back [5] rows 3 depth 1 in -1]",
			[2]int{},
		},
		{
			"two entries into a cycle make no loop",
			[]string{"s_cbranch_scc1 @03", "s_nop 0", "s_nop 1", "s_nop 2", "s_cbranch_vccz @02", "s_endpgm"},
			"",
			[2]int{0, 1},
		},
		{
			"a jump back that cannot come again is no loop",
			[]string{"s_branch @03", "s_nop 0", "s_endpgm", "s_branch @01"},
			"",
			[2]int{},
		},
		{"indirect jump", []string{"s_setpc_b64 s[0:1]", "s_endpgm"}, "", [2]int{1, 0}},
		{"target outside", []string{"s_cbranch_scc1 9", "s_endpgm"}, "", [2]int{}},
		{"one instruction", []string{"s_cbranch_scc1 @00", "s_endpgm"}, "[head 0 back [0] rows 1 depth 1 in -1]", [2]int{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tt, insts := program(c.texts...)
			f := Find(tt, insts)
			if got := loopsOf(f); got != c.want {
				t.Errorf("loops %s, want %s", got, c.want)
			}
			if f.Indirect != c.odd[0] || f.Irregular != c.odd[1] {
				t.Errorf("%d indirect, %d irregular, want %v", f.Indirect, f.Irregular, c.odd)
			}
		})
	}
}

func TestIn(t *testing.T) {
	tt, insts := program("s_nop 0", "s_nop 1", "s_nop 2", "s_cbranch_scc1 @02", "s_cbranch_scc0 @01", "s_endpgm")
	f := Find(tt, insts)
	for row, want := range [][2]bool{{false, false}, {true, false}, {true, true}, {true, true}, {true, false}, {false, false}} {
		if got := [2]bool{f.In(0, row), f.In(1, row)}; got != want {
			t.Errorf("row %d: in outer and inner loop %v, want %v", row, got, want)
		}
	}
}

// TestLive: alive registers worked out by hand.
func TestLive(t *testing.T) {
	tt, insts := program(
		"v_mov_b32_e32 v0, 1",                      // writes v0
		"v_mov_b32_e32 v1, 2",                      // v0, v1
		"v_mov_b32_e32 v9, 2",                      // never read: v0, v1 and itself
		"v_add_u32_e32 v2, v0, v1",                 // before: v0, v1; after: v0, v2
		"v_add_u32_e32 v2, v2, v0",                 // loop: v0, v2
		"s_cbranch_scc1 @04",                       // v0, v2 come again
		"v_accvgpr_write_b32 a3, v2",               // v2, then a3
		"v_accvgpr_read_b32 v3, a3",                // a3, then v3
		"global_store_dwordx2 v[4:5], v[3:4], off", // v3, v4, v5: the last two are never written
		"s_endpgm",
	)
	got := Find(tt, insts).Live(tt.Kernels[0], insts)
	// v4 and v5 are never written, so that they are alive from the start on:
	// the larger of what is alive before and after each row, with them.
	want := []int{3, 4, 5, 4, 4, 4, 3, 3, 3, 0}
	if len(got) != len(want) {
		t.Fatalf("%d rows", len(got))
	}
	for row := range want {
		if got[row].Total() != want[row] {
			t.Errorf("row %d %q: %+v alive, want %d", row, insts[row].Text, got[row], want[row])
		}
	}
}

// FuzzFind: any branch offsets make a graph whose blocks cover the code once
// and whose loops contain their heads and latches.
func FuzzFind(f *testing.F) {
	f.Add([]byte{0, 3, 1, 250, 2, 9})
	f.Add([]byte{7, 255, 7, 254, 7, 1})
	f.Fuzz(func(t *testing.T, raw []byte) {
		mnemonics := []string{"s_nop", "s_cbranch_scc1", "s_branch", "s_endpgm", "s_setpc_b64 s[0:1]", "s_cbranch_execz", "s_call_b64 s[0:1],", "v_mov_b32_e32 v0,"}
		tt := &trace.ThreadTrace{}
		var insts []isa.Inst
		for i := 0; i+1 < len(raw) && i < 400; i += 2 {
			text := fmt.Sprintf("%s %d", mnemonics[raw[i]%8], uint16(int8(raw[i+1])))
			tt.Code = append(tt.Code, trace.Instruction{Line: i, Text: text, Vaddr: int64(2 * i)})
			insts = append(insts, isa.Parse(text, "gfx942"))
		}
		half := len(insts) / 2
		tt.Kernels = []trace.Kernel{{First: 0, Last: half}, {First: half, Last: len(insts)}}
		fl := Find(tt, insts)
		at := 0
		for _, b := range fl.Blocks {
			if b.First != at || b.Last <= b.First {
				t.Fatalf("block %+v after row %d", b, at)
			}
			at = b.Last
		}
		if at != len(insts) {
			t.Fatalf("blocks end at %d of %d", at, len(insts))
		}
		for l := range fl.Loops {
			if !fl.In(l, fl.Loops[l].Head) {
				t.Fatalf("loop %d does not contain its head", l)
			}
			for _, row := range fl.Loops[l].Latches {
				if !fl.In(l, row) {
					t.Fatalf("loop %d does not contain row %d that closes it", l, row)
				}
			}
		}
		for _, kn := range tt.Kernels {
			if got := fl.Live(kn, insts); len(got) != kn.Last-kn.First {
				t.Fatalf("%d rows alive of %d", len(got), kn.Last-kn.First)
			}
		}
	})
}
