package codeobj

import (
	"strings"
	"testing"
	"time"
)

// nextFree reads a listing and gives the registers behind the last one that it
// names, of both kinds, and whether they are known.
func nextFree(t *testing.T, text string) (vgpr, sgpr int64, known bool) {
	t.Helper()
	f := &listingFile{name: "x.s", given: "gfx90a"}
	f.begin()
	if err := f.read(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return f.l.symbols.now[nextFreeVGPR], f.l.symbols.now[nextFreeSGPR], !f.l.pre.unsure && !f.l.unnamed
}

// What the symbols hold; each row is what llvm-mc 19 says of it.
func TestNextFreeRegister(t *testing.T) {
	tests := []struct {
		name, text string
		vgpr, sgpr int64
		known      bool
	}{
		{"none", "s_endpgm", 0, 0, true},
		{"names that are no registers", "v_mov_b32 v3, s4\nvalue v_9, s_8, vcc, src_v77, a200", 4, 5, true},
		{"ranges", "global_load_dwordx4 v[4:7], v[0:1], off\ns_load_dwordx2 s[8:9], s[0:1], 0", 8, 10, true},
		{"modifiers and lists", "v_fma_f32 v1, -v2, |v9|, neg(v11)\nimage_sample v0, [v3,v14], s[0:7], s[8:11]", 15, 12, true},
		{"halves", "v_mov_b16 v6.h, v2.l", 7, 0, true},
		{"comments", "v_mov_b32 v1, v2 // v40\nv_mov_b32 v1, v2 ; v41\n/* v42\nv43 */ v_mov_b32 v3, v2", 4, 0, true},
		{"behind a label", "loop: v_mov_b32 v30, v2", 31, 0, true},
		{"symbols", ".set base, 10\nwidth = 4\nv_mov_b32 v[base+width], s[2*base]", 15, 21, true},
		{"set back", "v_mov_b32 v30, 0\n.set .amdgcn.next_free_vgpr, 0\nv_mov_b32 v3, 0", 4, 0, true},
		{"macro", ".macro use a, b=7\nv_mov_b32 v\\a, v[\\b]\n.endm\nuse 3\nuse 4, 12\nuse b=20, a=1", 21, 0, true},
		{"macro that is not called", ".macro use a\nv_mov_b32 v\\a, 0\n.endm", 0, 0, true},
		{"repeated", ".n=0\n.rept 5\nv_mov_b32 v[.n], 0\n.n=.n+2\n.endr", 9, 0, true},
		{"branch", ".set n, 4\n.if n == 1\nv_mov_b32 v50, 0\n.elseif n >= 4\nv_mov_b32 v5, 0\n.else\nv_mov_b32 v60, 0\n.endif", 6, 0, true},
		{"nested branches", ".if 0\n.if 1\nv_mov_b32 v50, 0\n.endif\n.else\n.ifndef other\nv_mov_b32 v7, 0\n.endif\n.endif", 8, 0, true},
		{"unknown symbol", "v_mov_b32 v[given], 0", 0, 0, false},
		{"unknown branch", ".if given\nv_mov_b32 v1, 0\n.else\nv_mov_b32 v2, 0\n.endif", 3, 0, false},
		{"another file", ".include \"common.inc\"", 0, 0, false},
	}
	for _, tt := range tests {
		vgpr, sgpr, known := nextFree(t, tt.text)
		if vgpr != tt.vgpr || sgpr != tt.sgpr || known != tt.known {
			t.Errorf("%s: %d, %d, known %v; want %d, %d, %v", tt.name, vgpr, sgpr, known, tt.vgpr, tt.sgpr, tt.known)
		}
	}
}

// Macros that call each other, or repeat without end, do not keep the reader.
func TestMacroBounds(t *testing.T) {
	begin := time.Now()
	for _, text := range []string{
		".macro a\na\na\n.endm\na\n",
		".macro a\nb\nb\nb\nb\n.endm\n.macro b\na\na\na\n.endm\na\n",
		".rept 0x7fffffffffffffff\nv_mov_b32 v1, 0\n.endr\n",
		".rept 100000\n.rept 100000\n.rept 100000\ns_nop 0\n.endr\n.endr\n.endr\n",
		".macro a x\na \\x\\x\\x\\x\n.endm\na vvvvvvvv\n",
		strings.Repeat(".if 1\n", 100000),
		".macro a\n",
	} {
		f := &listingFile{name: "x.s"}
		f.begin()
		if err := f.read(strings.NewReader(text)); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if d := time.Since(begin); d > 15*time.Second {
		t.Errorf("it took %s", d)
	}
}
