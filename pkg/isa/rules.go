package isa

import (
	"strings"
	"sync"
)

// form says which operands of an instruction are written and which of those are
// also read; bit i stands for operand i. All other operands are read.
type form struct {
	writes  uint8
	updates uint8 // written and read
}

var (
	formReads  = form{}              // stores, compares, branches
	formDst    = form{writes: 0b1}   // one destination first
	formDst2   = form{writes: 0b11}  // two destinations, such as a result and a carry
	formUpdate = form{updates: 0b1}  // a destination that is also a source
	formSwap   = form{updates: 0b11} // both operands exchanged
	formRays   = form{0b1, 0b11000}  // ray tests that also return origin and direction
	formStack  = form{0b1, 0b10}     // ray stack: result and updated stack address
)

// atomicKind says how an atomic says that it returns the old value.
type atomicKind uint8

const (
	notAtomic    atomicKind = iota
	atomicData              // a modifier decides; the data operand comes first and receives it
	atomicVdst              // a modifier decides; a destination is put in front of the operands
	atomicByName            // "_rtn" in the name, a destination comes first
)

// rule classifies the mnemonics that begin with a prefix. A prefix ends at an
// underscore or at the end of the mnemonic; the longest one that fits decides.
// Alternatives of the first part of a prefix are separated by "|".
type rule struct {
	prefixes string // separated by spaces
	class    Class
	track    tracker
	form     form
	atomic   atomicKind
}

// rules is the classification. Sources: LLVM AMDGPUAsmGFX9, 90a, 940, 950, 10,
// 11 and 12 instruction syntax and the LLVM 22.1 assembler's mnemonics;
// destinations and tied operands as LLVM's instruction descriptions have them.
var rules = []rule{
	// Scalar arithmetic, moves, mode and control settings.
	{
		"s_abs s_absdiff s_add s_addc s_and s_andn1 s_andn2 s_ashr s_bcnt0 s_bcnt1 s_bfe s_bfm " +
			"s_bitreplicate s_brev s_ceil s_cls s_clz s_cselect s_ctz s_cvt s_ff0 s_ff1 s_flbit s_floor s_fmaak " +
			"s_fmamk s_getpc s_get_pc s_get_shader_cycles s_getreg s_lshl s_lshl1 s_lshl2 s_lshl3 s_lshl4 s_lshr " +
			"s_max s_maximum s_min s_minimum s_mov s_movk s_movrels s_movrelsd s_mul s_nand s_nor s_not s_or s_orn1 " +
			"s_orn2 s_pack s_quadmask s_rndne s_sext s_sub s_subb s_trunc s_wqm s_xnor s_xor",
		SALU, untracked, formDst, 0,
	},
	{"s_addk s_bitset0 s_bitset1 s_cmov s_cmovk s_fmac s_mulk s_movreld", SALU, untracked, formUpdate, 0},
	{
		"s_alloc_vgpr s_bitcmp0 s_bitcmp1 s_cmp s_cmpk s_decperflevel s_denorm_mode s_incperflevel s_inst_prefetch " +
			"s_round_mode s_set_gpr_idx s_set_inst_prefetch_distance s_set_vgpr_msb s_sethalt s_setkill s_setprio " +
			"s_setreg s_setvskip s_ttracedata",
		SALU, untracked, formReads, 0,
	},
	{"s_nop s_delay_alu s_clause s_code_end s_singleuse_vdst s_version v_nop ds_nop", Nop, untracked, formReads, 0},
	{"s_sleep s_monitor_sleep", Sleep, untracked, formReads, 0},
	{"s_endpgm", EndPgm, untracked, formReads, 0},
	{"s_wait s_waitcnt", WaitCount, untracked, formReads, 0},

	// Branches.
	{"s_branch s_cbranch s_rfe s_setpc s_set_pc s_add_pc s_trap", Branch, untracked, formReads, 0},
	{"s_call s_swappc s_swap_pc", Branch, untracked, formDst, 0},
	{"s_subvector_loop", Branch, untracked, formUpdate, 0},

	// Barriers and messages.
	{"s_barrier", Barrier, untracked, formReads, 0},
	{"s_barrier_init s_barrier_join s_barrier_signal s_wakeup_barrier", BarrierSignal, untracked, formReads, 0},
	{"s_barrier_signal_isfirst s_barrier_leave", BarrierSignal, trackMessage, formReads, 0},
	{"s_barrier_wait", BarrierWait, untracked, formReads, 0},
	{"ds_gws_barrier", Barrier, trackGDS, formReads, 0},
	{"ds_gws", BarrierSignal, trackGDS, formReads, 0},
	{"s_sendmsg s_sendmsghalt", Message, trackMessage, formReads, 0},
	{"s_sendmsg_rtn s_get_barrier_state", Message, trackMessage, formDst, 0},
	{"s_wakeup", Message, untracked, formReads, 0},

	// Scalar memory.
	{"s_load s_buffer_load s_scratch_load", SMEM, trackSMEM, formDst, 0},
	{"s_store s_buffer_store s_scratch_store s_dcache s_gl1_inv", SMEM, trackSMEM, formReads, 0},
	{"s_atomic s_buffer_atomic", SMEM, trackSMEM, formReads, atomicData},
	{"s_memtime s_memrealtime s_get_waveid_in_workgroup", SMEM, trackSMEM, formDst, 0},
	{"s_prefetch s_buffer_prefetch s_icache_inv s_atc_probe", CacheControl, untracked, formReads, 0},

	// Vector arithmetic.
	{"v", VALU, untracked, formDst, 0},
	{
		"v_exp v_log v_rcp v_rsq v_sqrt v_sin v_cos v_tanh " +
			"v_s_exp v_s_log v_s_rcp v_s_rsq v_s_sqrt",
		Trans, untracked, formDst, 0,
	},
	{
		"v_add_co v_addc_co v_sub_co v_subb_co v_subrev_co v_subbrev_co v_div_scale " +
			"v_mad_u64_u32 v_mad_i64_i32 v_mad_co_u64_u32 v_mad_co_i64_i32",
		VALU, untracked, formDst2, 0,
	},
	{
		"v_cvt_pk_bf8 v_cvt_pk_fp8 v_cvt_sr v_cvt_scalef32_f16 v_cvt_scalef32_pk_bf8 v_cvt_scalef32_pk_fp8 " +
			"v_cvt_scalef32_pk_fp4 v_cvt_scalef32_sr_bf8 v_cvt_scalef32_sr_fp8 v_cvt_scalef32_sr_pk_fp4 " +
			"v_dot2acc v_dot2c v_dot4c v_dot8c v_fma_mixhi v_fma_mixlo v_fmac v_interp_p2_f32 v_mac v_mad_mixhi " +
			"v_mad_mixlo v_movreld v_permlane16 v_permlanex16 v_pk_fmac v_writelane " +
			"v_dual_dot2acc v_dual_fmac",
		VALU, untracked, formUpdate, 0,
	},
	{"v_cvt_sr_pk", VALU, untracked, formDst, 0},
	{"v_swap v_swaprel v_permlane16_swap v_permlane32_swap", VALU, untracked, formSwap, 0},
	{"v_clrexcp v_pipeflush v_mfma_ld_scale v_wmma_ld_scale v_wmma_ld_scale16", VALU, untracked, formReads, 0},
	{"v_mfma v_wmma", MFMA, untracked, formDst, 0},
	{"v_smfmac v_swmmac", MFMA, untracked, formUpdate, 0},

	// Buffer, global, image.
	{"buffer|tbuffer|global|cluster_load image_load image_get_resinfo", VMEMLoad, trackLoad, formDst, 0},
	{
		"buffer|global_load_ubyte_d16 buffer|global_load_sbyte_d16 buffer|global_load_short_d16 " +
			"buffer|global_load_d16 buffer_load_format_d16_hi",
		VMEMLoad, trackLoad, formUpdate, 0,
	},
	{"buffer_load_d16_format", VMEMLoad, trackLoad, formDst, 0},
	{"buffer|tbuffer|global_store image_store", VMEMStore, trackStore, formReads, 0},
	{"buffer_atomic image_atomic", VMEMAtomic, trackLoad, formReads, atomicData},
	{"global_atomic", VMEMAtomic, trackLoad, formReads, atomicVdst},
	{"image_sample image_gather4 image_gather4h image_get_lod image_msaa_load", VMEMLoad, trackSample, formDst, 0},
	{"image_bvh image_bvh64", VMEMLoad, trackBVH, formDst, 0},
	{"image_bvh_dual image_bvh8", VMEMLoad, trackBVH, formRays, 0},
	{"buffer|global|scratch_load_lds", VMEMToLDS, trackLoad, formReads, 0},
	{"global|cluster_load_async_to_lds", VMEMToLDS, trackAsync, formReads, 0},
	{"global_store_async_from_lds", VMEMFromLDS, trackAsync, formReads, 0},
	{"buffer_store_lds", VMEMFromLDS, trackStore, formReads, 0},
	{"tensor_load_to_lds tensor_store_from_lds", TensorDMA, trackTensor, formReads, 0},
	{"tensor_save tensor_stop", TensorDMA, untracked, formReads, 0},

	// Caches.
	{
		"buffer_invl2 buffer_wbinvl1 buffer_gl0_inv buffer_gl1_inv global|flat_prefetch",
		CacheControl, untracked, formReads, 0,
	},
	{"buffer_wbl2 global_wb global_wbinv", CacheControl, trackWB, formReads, 0},
	{"buffer_inv global_inv", CacheControl, trackInv, formReads, 0},

	// Flat and scratch.
	{"flat_load", FlatLoad, trackFlatLd, formDst, 0},
	{"flat_store", FlatStore, trackFlatSt, formReads, 0},
	{"flat_atomic", FlatAtomic, trackFlatLd, formReads, atomicVdst},
	{"scratch_load", ScratchLoad, trackLoad, formDst, 0},
	{"scratch_store", ScratchStore, trackStore, formReads, 0},
	{
		"flat_load_ubyte_d16 flat_load_sbyte_d16 flat_load_short_d16 flat_load_d16",
		FlatLoad, trackFlatLd, formUpdate, 0,
	},
	{
		"scratch_load_ubyte_d16 scratch_load_sbyte_d16 scratch_load_short_d16 scratch_load_d16",
		ScratchLoad, trackLoad, formUpdate, 0,
	},

	// LDS.
	{"ds_read ds_read2 ds_read2st64 ds_load", LDSRead, trackLDS, formDst, 0},
	{
		"ds_read_i8_d16 ds_read_u8_d16 ds_read_u16_d16 ds_load_i8_d16 ds_load_u8_d16 ds_load_u16_d16",
		LDSRead, trackLDS, formUpdate, 0,
	},
	{
		"ds_read_b64_tr ds_read_b96_tr ds_load_tr4 ds_load_tr6 ds_load_tr8 ds_load_tr16",
		LDSTranspose, trackLDS, formDst, 0,
	},
	{"ds_write ds_write2 ds_write2st64 ds_store", LDSWrite, trackLDS, formReads, 0},
	{
		"ds_add ds_and ds_cmpst ds_cmpstore ds_cond_sub ds_condxchg32 ds_dec ds_inc ds_max ds_min ds_mskor ds_or " +
			"ds_pk_add ds_rsub ds_storexchg ds_sub ds_wrap ds_wrxchg ds_wrxchg2 ds_wrxchg2st64 ds_xor " +
			"ds_atomic_barrier_arrive",
		LDSAtomic, trackLDS, formReads, atomicByName,
	},
	{"ds_write_src2", LDSAtomic, trackLDS, formReads, 0},
	{"ds_append ds_consume", LDSAtomic, trackLDS, formDst, 0},
	{"ds_add_gs_reg ds_sub_gs_reg", LDSAtomic, trackGDS, formDst, 0},
	{"ds_ordered_count", LDSAtomic, trackGDS, formDst, 0},
	{"ds_bvh_stack", LDSAtomic, trackLDS, formStack, 0},
	{"ds_atomic_async_barrier_arrive", LDSAtomic, trackArrive, formReads, 0},
	{"ds_swizzle ds_permute ds_bpermute", CrossLane, trackLDS, formDst, 0},
	{"ds_direct_load ds_param_load lds_direct_load lds_param_load", LDSRead, trackExport, formDst, 0},

	{"exp export", Export, trackExport, formReads, 0},
}

// ruleIndex finds a rule by its prefix.
var ruleIndex = sync.OnceValue(func() map[string]*rule {
	index := make(map[string]*rule, 512)
	for i := range rules {
		for _, p := range strings.Fields(rules[i].prefixes) {
			first, rest, alternatives := cutLast(p, '|')
			if !alternatives {
				index[p] = &rules[i]
				continue
			}
			last, tail, _ := strings.Cut(rest, "_")
			for _, a := range append(strings.Split(first, "|"), last) {
				index[a+"_"+tail] = &rules[i]
			}
		}
	}
	return index
})

// cutLast cuts s around the last separator.
func cutLast(s string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return "", s, false
}

// findRule returns the rule with the longest prefix of the mnemonic, or nil.
func findRule(mnemonic string) *rule {
	index := ruleIndex()
	for name := mnemonic; name != ""; {
		if r := index[name]; r != nil {
			return r
		}
		i := strings.LastIndexByte(name, '_')
		if i < 0 {
			return nil
		}
		name = name[:i]
	}
	return nil
}
