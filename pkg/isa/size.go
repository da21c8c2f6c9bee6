package isa

import "strings"

// sizeName gives the bytes that a part of a mnemonic stands for.
type sizeName struct {
	part  string
	bytes int
}

// sizeNames are the parts of memory mnemonics that give the size of one element
// for one lane (or for the wave, in scalar memory instructions). Source: LLVM
// AMDGPUAsmGFX9 and AMDGPUAsmGFX11, operand sizes of the memory instructions.
var sizeNames = []sizeName{
	{"ubyte", 1},
	{"sbyte", 1},
	{"byte", 1},
	{"u8", 1},
	{"i8", 1},
	{"b8", 1},
	{"ushort", 2},
	{"sshort", 2},
	{"short", 2},
	{"u16", 2},
	{"i16", 2},
	{"b16", 2},
	{"dword", 4},
	{"dwordx2", 8},
	{"dwordx3", 12},
	{"dwordx4", 16},
	{"dwordx8", 32},
	{"dwordx16", 64},
	{"x2", 8},
	{"b32", 4},
	{"u32", 4},
	{"i32", 4},
	{"f32", 4},
	{"f16", 4},  // packed pairs: *_pk_add_f16
	{"bf16", 4}, // packed pairs: *_pk_add_bf16
	{"b64", 8},
	{"u64", 8},
	{"i64", 8},
	{"f64", 8},
	{"b96", 12},
	{"b128", 16},
	{"b256", 32},
	{"b512", 64},
}

// wholeSizes are the mnemonics whose parts do not give the size.
var wholeSizes = []sizeName{
	{"s_memtime", 8},
	{"s_memrealtime", 8},
	{"ds_read_b64_tr_b4", 8},
	{"ds_read_b64_tr_b8", 8},
	{"ds_read_b64_tr_b16", 8},
	{"ds_read_b96_tr_b6", 12},
}

// sizedClasses are the classes whose instructions move a size given by name.
var sizedClasses = [numClasses]bool{
	SMEM: true, VMEMLoad: true, VMEMStore: true, VMEMAtomic: true, VMEMToLDS: true, VMEMFromLDS: true,
	LDSRead: true, LDSWrite: true, LDSAtomic: true, LDSTranspose: true,
	FlatLoad: true, FlatStore: true, FlatAtomic: true, ScratchLoad: true, ScratchStore: true,
}

// sizes fills in the bytes that the instruction moves.
func (in *Inst) sizes() {
	if !sizedClasses[in.Class] || unsized(in.Mnemonic) {
		return
	}
	n := nameBytes(in.Mnemonic)
	if in.Class == SMEM {
		in.BytesPerWave = n
		return
	}
	in.BytesPerLane = n
}

// unsized reports whether the size depends on a format, a descriptor or a mask.
func unsized(mnemonic string) bool {
	return strings.Contains(mnemonic, "_format_") || strings.HasPrefix(mnemonic, "image_") ||
		strings.HasPrefix(mnemonic, "tbuffer_") || strings.HasSuffix(mnemonic, "_block") ||
		strings.Contains(mnemonic, "_gs_reg") || strings.HasPrefix(mnemonic, "ds_bvh_stack")
}

// nameBytes returns the bytes that the mnemonic names. Two-address forms move
// two elements; legacy atomics without a size move a dword.
func nameBytes(mnemonic string) int {
	for _, w := range wholeSizes {
		if w.part == mnemonic {
			return w.bytes
		}
	}
	n := 0
	for rest := mnemonic; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "_")
		for _, s := range sizeNames {
			if s.part == part {
				n = s.bytes
			}
		}
	}
	switch {
	case n == 0 && strings.Contains(mnemonic, "_atomic_"), mnemonic == "ds_append", mnemonic == "ds_consume",
		mnemonic == "ds_ordered_count":
		return 4
	case twoAddresses(mnemonic):
		return 2 * n
	}
	return n
}

// twoAddresses reports whether an LDS instruction accesses two elements.
func twoAddresses(mnemonic string) bool {
	for _, part := range []string{"ds_read2", "ds_write2", "ds_wrxchg2", "_2addr"} {
		if strings.Contains(mnemonic, part) {
			return true
		}
	}
	return false
}
