package isa

import (
	"iter"
	"slices"
	"strings"
)

// inferable are the targets that InferTarget tells apart, one for each
// instruction set: gfx900 stands for gfx902 and the other siblings without dot
// products, gfx1030 for gfx103x, gfx1100 for gfx110x, gfx1150 for gfx115x,
// gfx1200 for gfx1201. gfx1250 and gfx1251 have the same instructions but not
// the same costs.
var inferable = []Target{
	"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1030",
	"gfx1100", "gfx1150", "gfx1200", "gfx1250", "gfx1251",
}

// Groups of targets that the rules name.
const (
	onGFX9     = "gfx900 gfx906 gfx908 gfx90a gfx942 gfx950"
	onGFX10    = "gfx1010 gfx1030"
	onGFX11    = "gfx1100 gfx1150"
	onGFX125   = "gfx1250 gfx1251"
	onGFX12    = "gfx1200 " + onGFX125
	onCDNA3    = "gfx942 gfx950"
	onCDNA2    = "gfx90a " + onCDNA3
	onCDNA     = "gfx908 " + onCDNA2
	onPreGFX11 = onGFX9 + " " + onGFX10
	onPreGFX12 = onPreGFX11 + " " + onGFX11
	onGFX11Up  = onGFX11 + " " + onGFX12
	onGFX10Up  = onGFX10 + " " + onGFX11Up
)

// clue tells how a target rule recognises an instruction.
type clue uint8

const (
	clueExact      clue = iota // the mnemonic
	cluePrefix                 // the beginning of the mnemonic
	clueEncoding               // the mnemonic's encoding suffix
	clueModifier               // a modifier of a vector memory instruction
	clueModifierIn             // the beginning of such a modifier
	clueWideLDS                // a load of 12 or 16 bytes per lane into LDS
	clueAGPR                   // an accumulation register operand
	clueAGPRMemory             // the same in a memory instruction
)

// targetRule limits the targets by an instruction that was seen.
type targetRule struct {
	clue    clue
	match   string // separated by spaces
	targets string // separated by spaces
	reason  string
	source  string
}

// targetRules are the clues. The names are those that the disassembler prints;
// the assembler also accepts older spellings on newer targets. Sources are the
// pages of LLVM's documentation and the LLVM 22.1 assembler's tables.
var targetRules = []targetRule{
	{cluePrefix, "v_permlane32_swap", "gfx950", "swap of 32 lanes, wave64 only", "AMDGPUAsmGFX950"},
	{cluePrefix, "v_permlane16_swap", "gfx950 " + onGFX125, "lane swaps are new in gfx950", "AMDGPUAsmGFX950"},
	{cluePrefix, "v_bitop3 v_prng_b32 v_ashr_pk_ v_cvt_pk_f16_f32 v_pk_minimum3 v_pk_maximum3", "gfx950 " + onGFX125, "new in gfx950", "AMDGPUAsmGFX950"},
	{clueExact, "v_cvt_pk_bf16_f32", "gfx950 " + onGFX125, "bf16 conversion is new in gfx950", "AMDGPUAsmGFX950"},
	{clueExact, "v_maximum3_f32 v_minimum3_f32", "gfx950 " + onGFX12, "IEEE-754 2019 maximum is new in gfx950 and gfx12", "AMDGPUAsmGFX950"},
	{cluePrefix, "v_cvt_scalef32_", "gfx950 " + onGFX125, "block-scaled conversions", "AMDGPUAsmGFX950"},
	{cluePrefix, "ds_read_b64_tr ds_read_b96_tr", "gfx950", "transposing LDS reads", "AMDGPUAsmGFX950"},
	{clueWideLDS, "dwordx3 dwordx4", "gfx950", "12 and 16 bytes per lane into LDS are new in gfx950", "AMDGPUAsmGFX950"},
	{cluePrefix, "v_lshl_add_u64 v_mov_b64", onCDNA3 + " " + onGFX125, "64-bit moves and address arithmetic", "AMDGPUAsmGFX940"},
	{cluePrefix, "v_cvt_pk_fp8_f32 v_cvt_pk_bf8_f32 v_cvt_sr_fp8_f32 v_cvt_sr_bf8_f32", onCDNA3 + " " + onGFX12, "fp8 conversions", "AMDGPUAsmGFX940"},
	{clueExact, "buffer_inv", onCDNA3, "scoped cache invalidation", "AMDGPUAsmGFX940"},
	{clueModifier, "sc0 sc1 nt", onCDNA3, "cache scopes sc0, sc1, nt replace glc, slc, scc", "AMDGPUModifierSyntax"},
	{clueExact, "buffer_wbl2", onCDNA2, "L2 write-back", "AMDGPUAsmGFX90a"},
	{clueExact, "buffer_invl2", "gfx90a", "L2 invalidation of gfx90a", "AMDGPUAsmGFX90a"},
	{clueModifier, "scc", "gfx90a", "cache scope of gfx90a", "AMDGPUModifierSyntax"},
	{cluePrefix, "v_pk_fma_f32 v_pk_mul_f32 v_pk_add_f32 v_fmac_f64", onCDNA2 + " " + onGFX125, "packed fp32 and fp64 multiply-add", "AMDGPUAsmGFX90a"},
	{clueAGPRMemory, "", onCDNA2, "accumulation registers in memory instructions", "AMDGPUAsmGFX90a"},
	{clueAGPR, "", onCDNA, "accumulation registers", "AMDGPUAsmGFX908"},
	{cluePrefix, "v_accvgpr_", onCDNA, "accumulation registers", "AMDGPUAsmGFX908"},
	{clueExact, "v_fmac_f32", "gfx906 gfx908 gfx90a gfx942 gfx950 " + onGFX10Up, "not on gfx900", "AMDGPUAsmGFX906"},
	{clueExact, "buffer_wbinvl1_vol", "gfx900 gfx906 gfx908 gfx90a", "L1 invalidation before gfx940", "AMDGPUAsmGFX9"},
	{clueModifier, "glc slc", "gfx900 gfx906 gfx908 gfx90a " + onGFX10 + " " + onGFX11, "cache policy before gfx940 and gfx12", "AMDGPUModifierSyntax"},
	{clueModifier, "dlc", onGFX10 + " " + onGFX11, "cache policy of gfx10 and gfx11", "AMDGPUModifierSyntax"},
	{cluePrefix, "v_addc_co_u32 v_subb_co_u32 v_subbrev_co_u32 s_set_gpr_idx", onGFX9, "gfx9 spelling, gone in gfx10", "AMDGPUAsmGFX9"},
	{clueEncoding, "_sdwa", onPreGFX11, "sub-dword addressing ends with gfx10", "AMDGPUAsmGFX10"},
	{
		cluePrefix,
		"buffer_load_dword buffer_store_dword global_load_dword global_store_dword flat_load_dword flat_store_dword " +
			"scratch_load_dword scratch_store_dword s_load_dword s_buffer_load_dword ds_read ds_write s_andn2",
		onPreGFX11, "spelling before gfx11", "AMDGPUAsmGFX10",
	},
	{clueExact, "s_memtime s_memrealtime", onPreGFX11, "replaced in gfx11", "AMDGPUAsmGFX10"},
	{clueExact, "s_waitcnt", onPreGFX12, "compiled gfx12 code has a wait for each counter", "SIInsertWaitcnts"},
	{clueExact, "s_barrier", onPreGFX12, "gfx12 splits the barrier", "AMDGPUAsmGFX12"},
	{cluePrefix, "s_waitcnt_vscnt s_waitcnt_vmcnt s_waitcnt_lgkmcnt s_waitcnt_expcnt", onGFX10 + " " + onGFX11, "stores have their own counter", "AMDGPUAsmGFX10"},
	{cluePrefix, "buffer_gl0_inv buffer_gl1_inv", onGFX10 + " " + onGFX11, "cache levels of gfx10 and gfx11", "AMDGPUAsmGFX10"},
	{cluePrefix, "v_add_nc_ v_sub_nc_ v_subrev_nc_ v_add_co_ci_ v_sub_co_ci_ v_subrev_co_ci_ s_clause", onGFX10Up, "new in gfx10", "AMDGPUAsmGFX10"},
	{
		cluePrefix,
		"global_load_b32 global_load_b64 global_load_b96 global_load_b128 global_store_b8 global_store_b16 global_store_b32 " +
			"global_store_b64 global_store_b96 global_store_b128 buffer_load_b32 buffer_load_b64 buffer_load_b96 " +
			"buffer_load_b128 buffer_store_b8 buffer_store_b16 buffer_store_b32 buffer_store_b64 buffer_store_b96 " +
			"buffer_store_b128 flat_load_b32 flat_load_b64 flat_load_b128 flat_store_b32 flat_store_b64 flat_store_b128 " +
			"scratch_load_b32 scratch_load_b64 scratch_load_b128 scratch_store_b32 scratch_store_b64 scratch_store_b128 " +
			"s_load_b s_buffer_load_b ds_load_ ds_store_ s_and_not1 v_dual_ s_delay_alu s_sendmsg_rtn",
		onGFX11Up, "new or renamed in gfx11", "AMDGPUAsmGFX11",
	},
	{clueExact, "s_add_f32 s_sub_f32 s_mul_f32 s_fmac_f32 s_cvt_f32_i32 s_cvt_f32_u32", "gfx1150 " + onGFX12, "scalar floating point", "AMDGPUAsmGFX12"},
	{
		cluePrefix,
		"s_wait_loadcnt s_wait_storecnt s_wait_dscnt s_wait_kmcnt s_wait_alu s_barrier_signal s_barrier_wait " +
			"s_prefetch_ global_wb global_inv v_max_num_ v_min_num_ s_mul_u64",
		onGFX12, "new in gfx12", "AMDGPUAsmGFX12",
	},
	{clueModifierIn, "th: scope:", onGFX12, "cache policy of gfx12", "AMDGPUModifierSyntax"},
	{cluePrefix, "s_wait_samplecnt s_wait_bvhcnt s_wait_expcnt", "gfx1200", "no such counters on gfx125x", "AMDGPUAsmGFX12"},
	{
		cluePrefix,
		"s_wait_asynccnt s_wait_tensorcnt s_wait_xcnt tensor_ cluster_ global_load_async_to_lds " +
			"global_store_async_from_lds s_set_vgpr_msb ds_load_tr",
		onGFX125, "new in gfx1250", "AMDGPUUsage, gfx125x",
	},
}

// matrixSiblings maps targets of the matrix table to inferable targets.
var matrixSiblings = []struct{ from, to Target }{{"gfx1151", "gfx1150"}, {"gfx1201", "gfx1200"}}

// inferableOf maps a target's prefix to the inferable target with the same
// instruction set; the first prefix that fits decides.
var inferableOf = []struct {
	prefix string
	target Target
}{
	{"gfx906", "gfx906"},
	{"gfx908", "gfx908"},
	{"gfx90a", "gfx90a"},
	{"gfx90", "gfx900"},
	{"gfx94", "gfx942"},
	{"gfx950", "gfx950"},
	{"gfx101", "gfx1010"},
	{"gfx103", "gfx1030"},
	{"gfx110", "gfx1100"},
	{"gfx115", "gfx1150"},
	{"gfx120", "gfx1200"},
	{"gfx1250", "gfx1250"},
	{"gfx1251", "gfx1251"},
}

// Representative returns the target that InferTarget names for code of t, ""
// when t is not one that it knows.
func (t Target) Representative() Target {
	name := t.processor()
	for _, r := range inferableOf {
		if strings.HasPrefix(name, r.prefix) {
			return r.target
		}
	}
	return ""
}

// InferTarget returns the targets whose instruction set has all of the
// instructions, given as disassembled text, in a fixed order, and the evidence:
// the instruction that narrowed the choice, the reason and its source. Several
// candidates mean that the code does not tell. No candidate means that the
// instructions contradict each other, or that there are none.
func InferTarget(instructions iter.Seq[string]) (candidates []Target, evidence []string) {
	seen := make([]bool, len(targetRules))
	matrices := map[string]bool{}
	known := false
	shapes := map[string]bool{}
	var shape []byte
	for text := range instructions {
		shape = appendShape(shape[:0], text)
		if shapes[string(shape)] {
			continue
		}
		if len(shapes) < maxShapes {
			shapes[string(shape)] = true
		}
		in := Parse(text, "")
		if in.Class == Unknown {
			continue
		}
		if !known {
			known, candidates = true, slices.Clone(inferable)
		}
		for i := range targetRules {
			r := &targetRules[i]
			if !seen[i] && r.matches(&in) {
				seen[i] = true
				candidates, evidence = narrow(candidates, evidence, in.Mnemonic, strings.Fields(r.targets), r.reason, r.source)
			}
		}
		if in.Class == MFMA && !matrices[in.Mnemonic] {
			matrices[in.Mnemonic] = true
			candidates, evidence = narrow(candidates, evidence, in.Mnemonic, matrixTargets(in.Mnemonic),
				"matrix instruction of that spelling", "AMDGPUAsm pages, VOP3P")
		}
	}
	return candidates, evidence
}

// maxShapes bounds the shapes that are remembered; code has a few hundred.
const maxShapes = 1 << 14

// appendShape appends an instruction's text without the digits of its
// operands: mnemonic, register files and modifiers, all that a clue can be in.
func appendShape(b []byte, text string) []byte {
	operands := false
	for i := range min(len(text), maxText) {
		c := text[i]
		operands = operands || c == ' '
		if !operands || c < '0' || c > '9' {
			b = append(b, c)
		}
	}
	return b
}

// narrow keeps the candidates that are among the targets, and notes why when
// that leaves fewer.
func narrow(candidates []Target, evidence []string, mnemonic string, targets []string, reason, source string) ([]Target, []string) {
	kept := slices.DeleteFunc(slices.Clone(candidates), func(t Target) bool {
		return !slices.Contains(targets, string(t))
	})
	if len(kept) < len(candidates) {
		evidence = append(evidence, mnemonic+": "+reason+" (LLVM "+source+")")
	}
	return kept, evidence
}

// matrixTargets returns the targets on which the disassembler prints a matrix
// mnemonic; for one that the table does not know, all.
func matrixTargets(mnemonic string) []string {
	var targets []string
	for _, row := range matrixIndex()[mnemonic] {
		if row.AliasOf != "" {
			continue
		}
		targets = append(targets, string(row.Target))
		for _, s := range matrixSiblings {
			if s.from == row.Target {
				targets = append(targets, string(s.to))
			}
		}
	}
	if len(targets) == 0 {
		for _, t := range inferable {
			targets = append(targets, string(t))
		}
	}
	return targets
}

// matches reports whether the instruction is a clue of the rule.
func (r *targetRule) matches(in *Inst) bool {
	switch r.clue {
	case clueAGPR:
		return usesAGPR(in)
	case clueAGPRMemory:
		return isVectorMemory(in.Class) && usesAGPR(in)
	case clueWideLDS:
		return in.Class == VMEMToLDS && in.BytesPerLane >= 12 && strings.Contains(in.Mnemonic, "dword")
	case clueModifier, clueModifierIn:
		if !isVectorMemory(in.Class) {
			return false
		}
	}
	for rest := r.match; rest != ""; {
		var m string
		m, rest, _ = strings.Cut(rest, " ")
		if r.clue.found(in, m) {
			return true
		}
	}
	return false
}

// found reports whether the instruction has the name or modifier m.
func (c clue) found(in *Inst, m string) bool {
	switch c {
	case clueExact:
		return in.Mnemonic == m
	case cluePrefix:
		return strings.HasPrefix(in.Mnemonic, m)
	case clueEncoding:
		word, _ := cutWord(in.Text)
		return strings.HasSuffix(word, m)
	case clueModifier, clueModifierIn:
		var ops operands
		_, rest := cutWord(stripComment(in.Text))
		ops.split(rest)
		return ops.has(m) || c == clueModifierIn && strings.Contains(" "+ops.modifiers, " "+m)
	}
	return false
}

// usesAGPR reports whether an accumulation register is an operand.
func usesAGPR(in *Inst) bool {
	isAGPR := func(r Reg) bool { return r.File == AGPR }
	return slices.ContainsFunc(in.Reads, isAGPR) || slices.ContainsFunc(in.Writes, isAGPR)
}

// isVectorMemory reports whether the class is of instructions that move vector
// registers to or from memory or LDS.
func isVectorMemory(c Class) bool {
	switch c {
	case VMEMLoad, VMEMStore, VMEMAtomic, VMEMToLDS, VMEMFromLDS, FlatLoad, FlatStore, FlatAtomic,
		ScratchLoad, ScratchStore, LDSRead, LDSWrite, LDSAtomic, LDSTranspose, CrossLane:
		return true
	}
	return false
}
