package main

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestSizeOf(t *testing.T) {
	tests := []struct {
		arch arch
		text string
		want int
	}{
		{cdna("gfx950"), "s_mov_b32 s27, 0x27000", 8},
		{cdna("gfx950"), "s_mov_b32 s26, -1", 4},
		{cdna("gfx950"), "v_xor_b32_e32 v17, 64, v10", 4},
		{cdna("gfx950"), "v_add_u32_e32 v5, 0x80, v5", 8},
		{cdna("gfx950"), "v_mul_lo_u32 v5, v5, s19", 8},
		{cdna("gfx950"), "s_load_dword s18, s[0:1], 0x20", 8},
		{cdna("gfx950"), "s_nop 7", 4},
		{cdna("gfx950"), "buffer_load_dwordx4 v[20:23], v5, s[24:27], 0 offen", 8},
		{rdna4("gfx1201"), "global_load_b128 v[4:7], v1, s[4:5]", 12},
		{rdna4("gfx1201"), "s_barrier_wait 0xffff", 4},
		{rdna4("gfx1201"), "v_dual_mov_b32 v20, 0 :: v_dual_mov_b32 v21, 0", 8},
	}
	for _, tt := range tests {
		if got := tt.arch.sizeOf(tt.text); got != tt.want {
			t.Errorf("%s: %d bytes, want %d", tt.text, got, tt.want)
		}
	}
}

// An assembler agrees with every text, size and branch of the listings. It
// needs an llvm-mc that knows gfx950 and gfx1201 (LLVM 20 or later); the
// environment variable LLVM_BIN may name its folder.
func TestListingsAssemble(t *testing.T) {
	mc := filepath.Join(os.Getenv("LLVM_BIN"), "llvm-mc")
	for _, l := range []struct {
		listing string
		arch    arch
	}{
		{"gemm.s", cdna("gfx950")},
		{"copy.s", cdna("gfx942")},
		{"early.s", cdna("gfx942")},
		{"wmma.s", rdna4("gfx1201")},
		{"saxpy.s", cdna("gfx942")},
		{"scale.s", cdna("gfx942")},
	} {
		t.Run(l.listing, func(t *testing.T) {
			k := &kernel{arch: l.arch}
			if err := k.assemble(l.listing); err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for _, in := range k.insts {
				text.WriteString(in.text + "\n")
			}
			if out, err := assembler(mc, l.arch, "s_nop 0\n"); err != nil || strings.Contains(out, "not a recognized processor") {
				t.Skipf("no llvm-mc that knows %s: %v", l.arch.name, err)
			}
			out, err := assembler(mc, l.arch, text.String())
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			compareEncodings(t, k, out)
		})
	}
}

func assembler(mc string, a arch, text string) (string, error) {
	cmd := exec.Command(mc, "-triple=amdgcn-amd-amdhsa", "-mcpu="+a.name, "-show-encoding")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var encoding = regexp.MustCompile(`(?m)^\s*(\S.*?)\s*(?:;|//) encoding: \[([0-9a-fx,]+)\]`)

func compareEncodings(t *testing.T, k *kernel, out string) {
	t.Helper()
	found := encoding.FindAllStringSubmatch(out, -1)
	if len(found) != len(k.insts) {
		t.Fatalf("%d encodings for %d instructions", len(found), len(k.insts))
	}
	for i, m := range found {
		in := k.insts[i]
		raw, err := hex.DecodeString(strings.NewReplacer("0x", "", ",", "").Replace(m[2]))
		if err != nil {
			t.Fatal(err)
		}
		if m[1] != in.text || len(raw) != in.bytes {
			t.Errorf("%q: assembler has %q in %d bytes, want %d", in.text, m[1], len(raw), in.bytes)
		}
		if in.target >= 0 {
			offset := int(int16(uint16(raw[0]) | uint16(raw[1])<<8))
			if want := k.insts[in.target].vaddr; in.vaddr+4+4*offset != want {
				t.Errorf("%q goes to %d, want %d", in.text, in.vaddr+4+4*offset, want)
			}
		}
	}
}
