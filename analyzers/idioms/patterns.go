package idioms

import (
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// Pattern is a group of instructions that belong together by their data. To
// add one, add a row to patterns: its first step is the anchor, from which the
// others are found.
type Pattern struct {
	// ID, Title, Advice and Source are those of its rule.
	ID, Title, Source string
	Kind              rule.Kind
	Advice            []rule.Advice
	// Removes names what the remedy removes, for people.
	Removes string
	// InLoop patterns only count inside loops that were gone round.
	InLoop bool
	Steps  []Step
}

// Step is one instruction of a pattern. All relations that it names must hold,
// within the basic block; others may stand between but for Before and After.
type Step struct {
	// Name is what other steps call it by.
	Name string
	// Mnemonics are the beginnings of those that match, Classes whole classes.
	Mnemonics []string
	Classes   []isa.Class
	// Makes: it makes what that step reads. Uses: it reads what that step
	// makes. Before and After: it stands next to that step.
	Makes, Uses, Before, After string
	// Keeps: the remedy leaves it. KeepsAlso are mnemonics that it leaves.
	Keeps     bool
	KeepsAlso []string
	Optional  bool
	// Shared: several places may have it, and other patterns as well.
	Shared bool
}

// The instructions that convert and repack values.
var conversions = []string{"v_cvt_", "v_pack_b32", "v_perm_b32", "v_bfe_u32", "v_bfi_b32", "v_alignbit", "v_alignbyte", "v_lshl_or_b32", "v_and_or_b32"}

// patterns are looked for in this order: an instruction belongs to the first.
var patterns = []Pattern{
	{
		ID: "exp2_scaffold", Title: "Denormal-safe exp2 around the hardware's", Kind: rule.Work,
		Source:  "LLVM AMDGPU legalizer, expansion of exp2 for f32 with denormals (scale the argument below -126, undo it behind)",
		Removes: "the comparison, selections, shift of the argument and scaling of the result around each v_exp",
		Advice: []rule.Advice{{Text: "use the raw instruction, __builtin_amdgcn_exp2f (afn or fast-math exp2, exp with log2(e) folded into the factor): " +
			"results below 2^-126 become 0, which a softmax does not notice"}},
		Steps: []Step{
			{Name: "exp", Mnemonics: []string{"v_exp_f32"}, Keeps: true},
			{Name: "shift", Mnemonics: []string{"v_add_f32", "v_fma_f32", "v_fmac_f32", "v_sub_f32", "v_pk_add_f32"}, Makes: "exp", KeepsAlso: []string{"v_fma", "v_sub"}},
			{Name: "select", Mnemonics: []string{"v_cndmask_b32"}, Makes: "shift"},
			{Name: "compare", Mnemonics: []string{"v_cmp_"}, Makes: "select"},
			{Name: "scale", Mnemonics: []string{"v_ldexp_f32", "v_mul_f32"}, Uses: "exp"},
			{Name: "select back", Mnemonics: []string{"v_cndmask_b32"}, Makes: "scale", Optional: true},
			{Name: "nop", Mnemonics: []string{"s_nop"}, Before: "select", Optional: true},
			{Name: "nop back", Mnemonics: []string{"s_nop"}, Before: "select back", Optional: true},
		},
	},
	{
		ID: "spilled_values", Title: "Spilled values written and read back", Kind: rule.Work,
		Source:  "LLVM AMDGPUUsage, scratch memory",
		Removes: "the scratch accesses",
		Advice: []rule.Advice{
			{Text: "allow more registers per wave (__launch_bounds__, amdgpu_waves_per_eu), or keep fewer values alive at once"},
			{When: rule.MatrixWork, Text: "smaller tiles per wave"},
		},
		Steps: []Step{{Name: "access", Classes: []isa.Class{isa.ScratchLoad, isa.ScratchStore}}},
	},
	{
		ID: "compare_select_nops", Title: "Wait states between comparison and selection", Kind: rule.Waits,
		Source:  "LLVM GCNHazardRecognizer (a mask in scalar registers, read by a vector instruction)",
		Removes: "the s_nop between a comparison and the selection by it",
		Advice: []rule.Advice{
			{Text: "two comparisons, then two selections: the second pair fills the wait states of the first"},
			{Text: "v_max, v_min and v_med3 in place of compare and select; masks that do not change computed once"},
		},
		Steps: []Step{
			{Name: "nop", Mnemonics: []string{"s_nop"}},
			{Name: "select", Mnemonics: []string{"v_cndmask_b32"}, After: "nop", Keeps: true},
			{Name: "compare", Mnemonics: []string{"v_cmp_"}, Makes: "select", Before: "nop", Keeps: true},
		},
	},
	{
		ID: "lds_read_use_pairs", Title: "LDS reads waited for at once", Kind: rule.Waits,
		Source:  "FlyDSL kernel tuning guide, section 9",
		Removes: "the wait between an LDS read and the instruction right behind that uses it",
		Advice: []rule.Advice{
			{Text: "read one step ahead, into other registers, and wait for the older read only, lgkmcnt(N)"},
			{When: rule.MatrixWork, Text: "the MFMAs of the step before then hide the read"},
		},
		Steps: []Step{
			{Name: "wait", Mnemonics: []string{"s_waitcnt lgkmcnt", "s_wait_dscnt"}},
			{Name: "use", Classes: []isa.Class{isa.VALU, isa.Trans, isa.MFMA, isa.LDSWrite, isa.VMEMStore, isa.FlatStore}, After: "wait", Keeps: true},
			{Name: "read", Classes: []isa.Class{isa.LDSRead, isa.LDSTranspose}, Makes: "use", Keeps: true},
		},
	},
	{
		ID: "unfused_multiply_add", Title: "Products added by an instruction of their own", Kind: rule.Work,
		Source:  "LLVM language reference, fast-math flag contract; AMD Instinct MI300 and CDNA4 ISA reference guides (v_fma_f32, v_pk_fma_f32)",
		Removes: "the additions of products that a fused multiply-add does in the same step",
		Advice: []rule.Advice{
			{Text: "let multiplication and addition contract to v_fma or v_pk_fma (-ffp-contract=fast, the contract flag of the operations, or fma written out): one rounding less, so results differ in the last bit; products that are used elsewhere as well stay"},
			{Text: "two sums side by side, so that the packed form adds both"},
		},
		Steps: []Step{
			{Name: "add", Mnemonics: []string{"v_add_f32", "v_sub_f32", "v_pk_add_f32"}},
			{Name: "product", Mnemonics: []string{"v_mul_f32", "v_pk_mul_f32"}, Makes: "add", Keeps: true, Shared: true},
		},
	},
	{
		ID: "conversion_chains", Title: "Chains of conversions", Kind: rule.Work,
		Source:  "AMD Instinct MI300 and CDNA4 ISA reference guides (v_cvt_pk_*, v_cvt_scalef32_*)",
		Removes: "the conversions, where they can be done once or not at all",
		Advice: []rule.Advice{
			{Text: "packed conversions (v_cvt_pk_*) of two values at once; convert where a value is made, not at each use; keep the layout that the next instruction reads, so that nothing is permuted"},
		},
		Steps: []Step{
			{Name: "convert", Mnemonics: conversions},
			{Name: "again", Mnemonics: conversions, Uses: "convert"},
			{Name: "more", Mnemonics: conversions, Uses: "again", Optional: true},
		},
	},
	{
		ID: "address_recomputation", Title: "64-bit addresses computed in a loop", Kind: rule.Work, InLoop: true,
		Source:  "LLVM AMDGPUUsage, global and buffer addressing",
		Removes: "the address arithmetic of the loop",
		Advice: []rule.Advice{
			{Text: "a scalar base with a 32-bit offset (global_load with an SGPR pair, or a buffer descriptor) and immediate offsets; where the stride is constant, add it to the base once an iteration"},
		},
		Steps: []Step{
			{Name: "high", Mnemonics: []string{"v_addc_co_u32", "v_add_co_ci_u32", "v_lshl_add_u64", "v_mad_u64_u32", "v_mad_i64_i32", "v_lshlrev_b64", "v_add_nc_u64"}},
			{
				Name: "access", Uses: "high", Keeps: true,
				Classes: []isa.Class{isa.VMEMLoad, isa.VMEMStore, isa.FlatLoad, isa.FlatStore, isa.VMEMAtomic, isa.FlatAtomic},
			},
			{Name: "low", Mnemonics: []string{"v_add_co_u32", "v_lshlrev_b64", "v_mad_u64_u32"}, Makes: "high", Optional: true},
		},
	},
}
