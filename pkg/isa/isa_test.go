package isa

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// regNames spells registers one name per dword, as in testdata/operands.tsv.
func regNames(regs []Reg) string {
	prefix := map[RegFile]string{VGPR: "v", AGPR: "a", SGPR: "s", TTMP: "ttmp", VCC: "vcc", EXEC: "exec", M0: "m"}
	var names []string
	for _, r := range regs {
		for i := range r.Count {
			names = append(names, fmt.Sprint(prefix[r.File], r.First+i))
		}
	}
	return strings.Join(names, ",")
}

// shortRegs spells registers as ranges: "v[4:7] s0 vcc[0:1]".
func shortRegs(regs []Reg) string {
	prefix := map[RegFile]string{VGPR: "v", AGPR: "a", SGPR: "s", TTMP: "ttmp", VCC: "vcc", EXEC: "exec", M0: "m"}
	var names []string
	for _, r := range regs {
		if r.Count == 1 {
			names = append(names, fmt.Sprint(prefix[r.File], r.First))
			continue
		}
		names = append(names, fmt.Sprintf("%s[%d:%d]", prefix[r.File], r.First, r.First+r.Count-1))
	}
	return strings.Join(names, " ")
}

func counterList(cs []Counter) string {
	var names []string
	for _, c := range cs {
		names = append(names, c.String())
	}
	return strings.Join(names, " ")
}

func waitList(ws []Wait) string {
	var names []string
	for _, w := range ws {
		names = append(names, fmt.Sprintf("%s=%d", w.Counter, w.Count))
	}
	return strings.Join(names, " ")
}

// instCase is one hand-written expectation. Zero values are expected too.
type instCase struct {
	target Target
	text   string
	class  Class
	counts string
	writes string
	reads  string
	lane   int // bytes per lane
	wave   int // bytes per wave
}

// instCases, by the page of LLVM's documentation that gives the operands. The
// counters are from AMDGPUUsage's memory model.
var instCases = []instCase{
	// AMDGPUAsmGFX9, AMDGPUAsmGFX90a, AMDGPUAsmGFX940.
	{"gfx90a", "s_load_dwordx4 s[4:7], s[0:1], 0x8", SMEM, "lgkmcnt", "s[4:7]", "s[0:1]", 0, 16},
	{"gfx90a", "s_buffer_load_dword s0, s[4:7], s8", SMEM, "lgkmcnt", "s0", "s[4:7] s8", 0, 4},
	{"gfx906", "s_store_dwordx2 s[2:3], s[4:5], 0x10", SMEM, "lgkmcnt", "", "s[2:3] s[4:5]", 0, 8},
	{"gfx906", "s_atomic_add s5, s[2:3], 0x0 glc", SMEM, "lgkmcnt", "s5", "s5 s[2:3]", 0, 4},
	{"gfx906", "s_atomic_add s5, s[2:3], 0x0", SMEM, "lgkmcnt", "", "s5 s[2:3]", 0, 4},
	{"gfx942", "s_dcache_inv", SMEM, "lgkmcnt", "", "", 0, 0},
	{"gfx942", "s_memtime s[4:5]", SMEM, "lgkmcnt", "s[4:5]", "", 0, 8},
	{"gfx942", "buffer_load_dwordx4 v[4:7], v0, s[8:11], 0 offen offset:64", VMEMLoad, "vmcnt", "v[4:7]", "v0 s[8:11]", 16, 0},
	{"gfx942", "buffer_load_dword v9, s[4:7], 0 offen lds", VMEMToLDS, "vmcnt", "", "v9 s[4:7]", 4, 0},
	{"gfx950", "buffer_load_dwordx4 v9, s[4:7], s12 offen lds", VMEMToLDS, "vmcnt", "", "v9 s[4:7] s12", 16, 0},
	{"gfx950", "global_load_lds_dwordx4 v[0:1], off offset:16", VMEMToLDS, "vmcnt", "", "v[0:1]", 16, 0},
	{"gfx942", "buffer_load_ubyte_d16_hi v1, v2, s[0:3], 0 offen", VMEMLoad, "vmcnt", "v1", "v1 v2 s[0:3]", 1, 0},
	{"gfx942", "buffer_load_format_xyzw v[0:3], v4, s[0:3], 0 idxen", VMEMLoad, "vmcnt", "v[0:3]", "v4 s[0:3]", 0, 0},
	{"gfx942", "buffer_store_dwordx2 v[0:1], v2, s[4:7], 0 offen", VMEMStore, "vmcnt", "", "v[0:1] v2 s[4:7]", 8, 0},
	{"gfx942", "buffer_store_lds_dword s[4:7], 0 offset:4 lds", VMEMFromLDS, "vmcnt", "", "s[4:7]", 4, 0},
	{"gfx90a", "buffer_atomic_add v1, off, s[4:7], 0 glc", VMEMAtomic, "vmcnt", "v1", "v1 s[4:7]", 4, 0},
	{"gfx90a", "buffer_atomic_cmpswap_x2 v[0:3], v4, s[4:7], 0 offen", VMEMAtomic, "vmcnt", "", "v[0:3] v4 s[4:7]", 8, 0},
	{"gfx942", "global_load_dwordx3 v[4:6], v2, s[2:3]", VMEMLoad, "vmcnt", "v[4:6]", "v2 s[2:3]", 12, 0},
	{"gfx942", "global_store_short_d16_hi v[68:69], v70, off", VMEMStore, "vmcnt", "", "v[68:69] v70", 2, 0},
	{"gfx942", "global_atomic_add v1, v1, v3, s[10:11] sc0", VMEMAtomic, "vmcnt", "v1", "v1 v3 s[10:11]", 4, 0},
	{"gfx942", "global_atomic_pk_add_bf16 v[0:1], v6, off offset:12", VMEMAtomic, "vmcnt", "", "v[0:1] v6", 4, 0},
	{"gfx942", "global_atomic_add_f64 v[0:1], v[2:3], off sc1", VMEMAtomic, "vmcnt", "", "v[0:1] v[2:3]", 8, 0},
	{"gfx90a", "flat_load_dword v1, v[2:3]", FlatLoad, "vmcnt lgkmcnt", "v1", "v[2:3]", 4, 0},
	{"gfx90a", "flat_store_dwordx4 v[2:3], v[4:7]", FlatStore, "vmcnt lgkmcnt", "", "v[2:3] v[4:7]", 16, 0},
	{"gfx90a", "flat_atomic_add v1, v[2:3], v4 glc", FlatAtomic, "vmcnt lgkmcnt", "v1", "v[2:3] v4", 4, 0},
	{"gfx942", "scratch_load_dword v69, off, s33", ScratchLoad, "vmcnt", "v69", "s33", 4, 0},
	{"gfx942", "scratch_store_dwordx2 off, v[0:1], off offset:4", ScratchStore, "vmcnt", "", "v[0:1]", 8, 0},
	{"gfx90a", "buffer_load_dword a1, v0, s[8:11], 0 offen", VMEMLoad, "vmcnt", "a1", "v0 s[8:11]", 4, 0},
	{"gfx90a", "ds_read_b128 v[56:59], v13", LDSRead, "lgkmcnt", "v[56:59]", "v13", 16, 0},
	{"gfx90a", "ds_read2st64_b32 v[70:71], v100 offset1:1", LDSRead, "lgkmcnt", "v[70:71]", "v100", 8, 0},
	{"gfx90a", "ds_read_u8_d16 v1, v2", LDSRead, "lgkmcnt", "v1", "v1 v2", 1, 0},
	{"gfx950", "ds_read_b64_tr_b16 v[192:193], v163 offset:8", LDSTranspose, "lgkmcnt", "v[192:193]", "v163", 8, 0},
	{"gfx950", "ds_read_b96_tr_b6 v[0:2], v163", LDSTranspose, "lgkmcnt", "v[0:2]", "v163", 12, 0},
	{"gfx90a", "ds_write2_b64 v40, v[36:37], v[38:39] offset1:4", LDSWrite, "lgkmcnt", "", "v40 v[36:37] v[38:39]", 16, 0},
	{"gfx90a", "ds_write_b8_d16_hi v23, v16 offset:8", LDSWrite, "lgkmcnt", "", "v23 v16", 1, 0},
	{"gfx90a", "ds_add_rtn_u32 v1, v2, v3", LDSAtomic, "lgkmcnt", "v1", "v2 v3", 4, 0},
	{"gfx90a", "ds_add_f64 v2, v[4:5]", LDSAtomic, "lgkmcnt", "", "v2 v[4:5]", 8, 0},
	{"gfx908", "ds_add_u32 v2, v3 gds", LDSAtomic, "lgkmcnt expcnt", "", "v2 v3", 4, 0},
	{"gfx90a", "ds_gws_barrier v0 gds", Barrier, "lgkmcnt expcnt", "", "v0", 0, 0},
	{"gfx90a", "ds_swizzle_b32 v35, v1 offset:swizzle(SWAP,8)", CrossLane, "lgkmcnt", "v35", "v1", 0, 0},
	{"gfx90a", "ds_bpermute_b32 v1, v39, v0", CrossLane, "lgkmcnt", "v1", "v39 v0", 0, 0},
	{"gfx942", "buffer_wbl2 sc1", CacheControl, "vmcnt", "", "", 0, 0},
	{"gfx942", "buffer_inv sc1", CacheControl, "vmcnt", "", "", 0, 0},
	{"gfx950", "buffer_inv sc0 sc1", CacheControl, "vmcnt", "", "", 0, 0},
	{"gfx90a", "buffer_invl2", CacheControl, "", "", "", 0, 0},
	{"gfx90a", "buffer_wbinvl1_vol", CacheControl, "", "", "", 0, 0},
	{"gfx1100", "buffer_gl1_inv", CacheControl, "", "", "", 0, 0},
	{"gfx90a", "image_sample v[0:3], v[4:5], s[0:7], s[8:11] dmask:0xf", VMEMLoad, "vmcnt", "v[0:3]", "v[4:5] s[0:7] s[8:11]", 0, 0},
	{"gfx942", "s_sendmsg sendmsg(MSG_INTERRUPT)", Message, "lgkmcnt", "", "", 0, 0},
	{"gfx942", "s_barrier", Barrier, "", "", "", 0, 0},
	{"gfx942", "s_endpgm", EndPgm, "", "", "", 0, 0},
	{"gfx942", "s_setprio 1", SALU, "", "", "", 0, 0},
	{"gfx942", "s_nop 7", Nop, "", "", "", 0, 0},
	{"gfx942", "s_sleep 2", Sleep, "", "", "", 0, 0},
	{"gfx942", "s_and_saveexec_b64 s[4:5], s[2:3]", SALU, "", "s[4:5]", "s[2:3]", 0, 0},
	{"gfx942", "s_andn2_b64 vcc, exec, s[4:5]", SALU, "", "vcc[0:1]", "exec[0:1] s[4:5]", 0, 0},
	{"gfx942", "s_add_i32 m0, s6, 0x17000", SALU, "", "m0", "s6", 0, 0},
	{"gfx942", "s_cmp_eq_u32 s16, s11", SALU, "", "", "s16 s11", 0, 0},
	{"gfx942", "s_addk_i32 s3, 0x3000", SALU, "", "s3", "s3", 0, 0},
	{"gfx942", "s_set_gpr_idx_on s40, gpr_idx(SRC0)", SALU, "", "", "s40", 0, 0},
	{"gfx942", "s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s3", SALU, "", "", "s3", 0, 0},
	{"gfx942", "s_getpc_b64 s[4:5]", SALU, "", "s[4:5]", "", 0, 0},
	{"gfx942", "s_swappc_b64 s[30:31], s[4:5]", Branch, "", "s[30:31]", "s[4:5]", 0, 0},
	{"gfx942", "s_setpc_b64 s[30:31]", Branch, "", "", "s[30:31]", 0, 0},
	{"gfx942", "v_add_co_u32_e32 v2, vcc, s6, v0", VALU, "", "v2 vcc[0:1]", "s6 v0", 0, 0},
	{"gfx942", "v_addc_co_u32_e32 v3, vcc, v3, v1, vcc", VALU, "", "v3 vcc[0:1]", "v3 v1 vcc[0:1]", 0, 0},
	{"gfx942", "v_div_scale_f32 v26, s[4:5], v25, v25, 1.0", VALU, "", "v26 s[4:5]", "v25 v25", 0, 0},
	{"gfx942", "v_mad_u64_u32 v[142:143], s[2:3], s12, v2, v[138:139]", VALU, "", "v[142:143] s[2:3]", "s12 v2 v[138:139]", 0, 0},
	{"gfx942", "v_cmp_eq_u32_e64 s[4:5], 0, v0", VALU, "", "s[4:5]", "v0", 0, 0},
	{"gfx942", "v_cmp_gt_f32_e32 vcc, s23, v172", VALU, "", "vcc[0:1]", "s23 v172", 0, 0},
	{"gfx942", "v_cmpx_lt_f32_e64 s[4:5], v1, v2", VALU, "", "s[4:5]", "v1 v2", 0, 0},
	{"gfx942", "v_cndmask_b32_e64 v7, 0, v135, s[2:3]", VALU, "", "v7", "v135 s[2:3]", 0, 0},
	{"gfx942", "v_max_f32_e64 v9, |v4|, -|v5|", VALU, "", "v9", "v4 v5", 0, 0},
	{"gfx942", "v_fma_f32 v7, -v7, neg(v14), v13 clamp", VALU, "", "v7", "v7 v14 v13", 0, 0},
	{"gfx942", "v_fmac_f32_e32 v181, v170, v159", VALU, "", "v181", "v181 v170 v159", 0, 0},
	{"gfx950", "v_permlane32_swap_b32_e32 v174, v176", VALU, "", "v174 v176", "v174 v176", 0, 0},
	{"gfx942", "v_swap_b32 v1, v2", VALU, "", "v1 v2", "v1 v2", 0, 0},
	{"gfx942", "v_readfirstlane_b32 s13, v2", VALU, "", "s13", "v2", 0, 0},
	{"gfx942", "v_readlane_b32 s5, v198, s38", VALU, "", "s5", "v198 s38", 0, 0},
	{"gfx942", "v_writelane_b32 v0, s3, 5", VALU, "", "v0", "v0 s3", 0, 0},
	{"gfx942", "v_accvgpr_read_b32 v80, a2", VALU, "", "v80", "a2", 0, 0},
	{"gfx942", "v_accvgpr_write_b32 a3, v1", VALU, "", "a3", "v1", 0, 0},
	{"gfx942", "v_mov_b32_dpp v10, v11 row_shr:8 row_mask:0xf bank_mask:0xc", VALU, "", "v10", "v10 v11", 0, 0},
	{"gfx942", "v_mov_b32_dpp v10, v10 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", VALU, "", "v10", "v10 v10", 0, 0},
	{"gfx942", "v_or_b32_sdwa v1, v64, v174 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:WORD_1", VALU, "", "v1", "v64 v174", 0, 0},
	{"gfx942", "v_or_b32_sdwa v1, sext(v64), v174 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:WORD_1", VALU, "", "v1", "v1 v64 v174", 0, 0},
	{"gfx942", "v_exp_f32_e32 v172, v172", Trans, "", "v172", "v172", 0, 0},
	{"gfx942", "v_rcp_iflag_f32_e32 v1, v2", Trans, "", "v1", "v2", 0, 0},
	{"gfx942", "v_nop", Nop, "", "", "", 0, 0},
	{"gfx942", "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] cbsz:1 abid:2 blgp:3", MFMA, "", "a[0:15]", "v[0:1] v[2:3] a[0:15]", 0, 0},
	{"gfx942", "v_smfmac_f32_16x16x32_f16 v[1:4], a[28:29], v[8:11], v132", MFMA, "", "v[1:4]", "v[1:4] a[28:29] v[8:11] v132", 0, 0},

	// AMDGPUAsmGFX10, AMDGPUAsmGFX1030.
	{"gfx1030", "global_store_dword v[0:1], v2, off", VMEMStore, "vscnt", "", "v[0:1] v2", 4, 0},
	{"gfx1030", "global_load_dword v2, v[0:1], off glc dlc", VMEMLoad, "vmcnt", "v2", "v[0:1]", 4, 0},
	{"gfx1030", "buffer_atomic_add v1, off, s[4:7], 0", VMEMAtomic, "vscnt", "", "v1 s[4:7]", 4, 0},
	{"gfx1030", "buffer_atomic_add v1, off, s[4:7], 0 glc", VMEMAtomic, "vmcnt", "v1", "v1 s[4:7]", 4, 0},
	{"gfx1030", "flat_store_dword v[0:1], v2", FlatStore, "vscnt lgkmcnt", "", "v[0:1] v2", 4, 0},
	{"gfx1030", "flat_atomic_add v[0:1], v2", FlatAtomic, "vscnt lgkmcnt", "", "v[0:1] v2", 4, 0},
	{"gfx1030", "scratch_store_dword off, v2, s32", ScratchStore, "vscnt", "", "v2 s32", 4, 0},
	{"gfx1030", "v_cmpx_lt_f32_e32 v1, v2", VALU, "", "", "v1 v2", 0, 0},
	{"gfx1030", "v_cmp_lt_f32_e32 vcc_lo, v243, v138", VALU, "", "vcc0", "v243 v138", 0, 0},
	{"gfx1030", "image_sample v[0:1], [v2, v3, v9], s[0:7], s[8:11] dmask:0x3 dim:SQ_RSRC_IMG_2D", VMEMLoad, "vmcnt", "v[0:1]", "v2 v3 v9 s[0:7] s[8:11]", 0, 0},
	{"gfx1030", "exp mrt0 v0, off, v2, v3 done vm", Export, "expcnt", "", "v0 v2 v3", 0, 0},
	{"gfx1030", "buffer_gl0_inv", CacheControl, "", "", "", 0, 0},
	{"gfx1030", "s_gl1_inv", SMEM, "lgkmcnt", "", "", 0, 0},
	{"gfx1030", "s_clause 0x3", Nop, "", "", "", 0, 0},
	{"gfx1030", "s_subvector_loop_begin s56, 113", Branch, "", "s56", "s56", 0, 0},

	// AMDGPUAsmGFX11.
	{"gfx1100", "global_load_b128 v[0:3], v0, s[0:1]", VMEMLoad, "vmcnt", "v[0:3]", "v0 s[0:1]", 16, 0},
	{"gfx1100", "buffer_store_b96 v[0:2], v3, s[0:3], 0 offen", VMEMStore, "vscnt", "", "v[0:2] v3 s[0:3]", 12, 0},
	{"gfx1100", "s_load_b512 s[16:31], s[4:5], 0x0", SMEM, "lgkmcnt", "s[16:31]", "s[4:5]", 0, 64},
	{"gfx1100", "ds_load_2addr_stride64_b64 v[0:3], v4 offset1:1", LDSRead, "lgkmcnt", "v[0:3]", "v4", 16, 0},
	{"gfx1100", "ds_store_b16_d16_hi v0, v1", LDSWrite, "lgkmcnt", "", "v0 v1", 2, 0},
	{"gfx1100", "ds_storexchg_2addr_rtn_b32 v[0:1], v2, v3, v4", LDSAtomic, "lgkmcnt", "v[0:1]", "v2 v3 v4", 8, 0},
	{"gfx1100", "lds_param_load v221, attr32.x wait_vdst:15", LDSRead, "expcnt", "v221", "", 0, 0},
	{"gfx1100", "buffer_load_lds_b32 v1, s[0:3], 0 offen", VMEMToLDS, "vmcnt", "", "v1 s[0:3]", 4, 0},
	{"gfx1100", "s_sendmsg_rtn_b64 s[26:27], sendmsg(MSG_RTN_GET_REALTIME)", Message, "lgkmcnt", "s[26:27]", "", 0, 0},
	{"gfx1100", "s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)", Nop, "", "", "", 0, 0},
	{"gfx1100", "v_dual_fmac_f32 v254, v158, v249 :: v_dual_mov_b32 v1, 0.15915494", VALU, "", "v254 v1", "v254 v158 v249", 0, 0},
	{"gfx1100", "v_add_f16_e32 v1.h, v2.l, v3.h", VALU, "", "v1", "v2 v3", 0, 0},
	{"gfx1100", "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", MFMA, "", "v[0:7]", "v[8:15] v[16:23] v[0:7]", 0, 0},
	{"gfx1100", "ds_bvh_stack_rtn_b32 v0, v44, v1, v[67:70]", LDSAtomic, "lgkmcnt", "v0 v44", "v44 v1 v[67:70]", 0, 0},

	// AMDGPUAsmGFX12.
	{"gfx1200", "global_load_b32 v0, v[1:2], off th:TH_LOAD_NT scope:SCOPE_SYS", VMEMLoad, "loadcnt", "v0", "v[1:2]", 4, 0},
	{"gfx1200", "global_store_b64 v[0:1], v[2:3], off", VMEMStore, "storecnt", "", "v[0:1] v[2:3]", 8, 0},
	{"gfx1200", "global_atomic_add_u32 v0, v1, v2, s[0:1] th:TH_ATOMIC_RETURN", VMEMAtomic, "loadcnt", "v0", "v1 v2 s[0:1]", 4, 0},
	{"gfx1200", "global_atomic_add_u64 v1, v[2:3], s[0:1]", VMEMAtomic, "storecnt", "", "v1 v[2:3] s[0:1]", 8, 0},
	{"gfx1200", "buffer_atomic_add_u32 v1, off, s[0:3], s4 th:TH_ATOMIC_NT_RETURN", VMEMAtomic, "loadcnt", "v1", "v1 s[0:3] s4", 4, 0},
	{"gfx1200", "buffer_atomic_add_u32 v1, off, s[0:3], s4 th:TH_ATOMIC_CASCADE_RT", VMEMAtomic, "storecnt", "", "v1 s[0:3] s4", 4, 0},
	{"gfx1200", "flat_load_b32 v0, v[2:3]", FlatLoad, "loadcnt dscnt", "v0", "v[2:3]", 4, 0},
	{"gfx1200", "image_sample v0, [v1, v2], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D", VMEMLoad, "samplecnt", "v0", "v1 v2 s[0:7] s[8:11]", 0, 0},
	{"gfx1200", "image_load v0, v1, s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_1D", VMEMLoad, "loadcnt", "v0", "v1 s[0:7]", 0, 0},
	{"gfx1200", "image_bvh64_intersect_ray v[0:3], [v[4:5], v6, v[7:9], v[10:12], v[13:15]], s[0:3]", VMEMLoad, "bvhcnt", "v[0:3]", "v[4:5] v6 v[7:9] v[10:12] v[13:15] s[0:3]", 0, 0},
	{"gfx1201", "image_bvh8_intersect_ray v[0:9], [v[10:11], v[12:13], v[14:16], v[17:19], v20], s[0:3]", VMEMLoad, "bvhcnt", "v[0:9] v[14:16] v[17:19]", "v[10:11] v[12:13] v[14:16] v[17:19] v20 s[0:3]", 0, 0},
	{"gfx1200", "s_load_b96 s[0:2], s[4:5], 0x0", SMEM, "kmcnt", "s[0:2]", "s[4:5]", 0, 12},
	{"gfx1200", "s_load_u16 s0, s[4:5], 0x0", SMEM, "kmcnt", "s0", "s[4:5]", 0, 2},
	{"gfx1200", "s_prefetch_data s[4:5], 0x0, s6, 3", CacheControl, "", "", "s[4:5] s6", 0, 0},
	{"gfx1200", "s_get_barrier_state s3, m0", Message, "kmcnt", "s3", "m0", 0, 0},
	{"gfx1200", "s_barrier_signal -1", BarrierSignal, "", "", "", 0, 0},
	{"gfx1200", "s_barrier_signal_isfirst -1", BarrierSignal, "kmcnt", "", "", 0, 0},
	{"gfx1200", "s_barrier_wait -1", BarrierWait, "", "", "", 0, 0},
	{"gfx1200", "ds_load_b32 v0, v1", LDSRead, "dscnt", "v0", "v1", 4, 0},
	{"gfx1200", "global_inv scope:SCOPE_DEV", CacheControl, "loadcnt", "", "", 0, 0},
	{"gfx1200", "global_wb scope:SCOPE_DEV", CacheControl, "storecnt", "", "", 0, 0},
	{"gfx1200", "export mrt0 v0, v1, off, off done", Export, "expcnt", "", "v0 v1", 0, 0},
	{"gfx1200", "global_load_block v[9:40], v[0:1], off", VMEMLoad, "loadcnt", "v[9:40]", "v[0:1]", 0, 0},
	{"gfx1200", "v_s_exp_f32 s1, s2", Trans, "", "s1", "s2", 0, 0},

	// AMDGPUUsage and the LLVM tests of gfx1250.
	{"gfx1250", "global_load_b32 v0, v[1:2], off", VMEMLoad, "loadcnt xcnt", "v0", "v[1:2]", 4, 0},
	{"gfx1250", "s_load_b64 s[0:1], s[4:5], 0x0", SMEM, "kmcnt xcnt", "s[0:1]", "s[4:5]", 0, 8},
	{"gfx1250", "global_load_async_to_lds_b128 v0, v[1:2], off", VMEMToLDS, "asynccnt xcnt", "", "v0 v[1:2]", 16, 0},
	{"gfx1250", "global_store_async_from_lds_b64 v[1:2], v0, off", VMEMFromLDS, "asynccnt xcnt", "", "v[1:2] v0", 8, 0},
	{"gfx1250", "cluster_load_async_to_lds_b32 v0, v1, s[0:1]", VMEMToLDS, "asynccnt xcnt", "", "v0 v1 s[0:1]", 4, 0},
	{"gfx1250", "tensor_load_to_lds s[0:3], s[4:11]", TensorDMA, "tensorcnt", "", "s[0:3] s[4:11]", 0, 0},
	{"gfx1250", "ds_load_tr16_b128 v[0:3], v4", LDSTranspose, "dscnt", "v[0:3]", "v4", 16, 0},
	{"gfx1250", "ds_atomic_async_barrier_arrive_b64 v0", LDSAtomic, "asynccnt", "", "v0", 8, 0},
	{"gfx1250", "global_prefetch_b8 v[0:1], off scope:SCOPE_SE", CacheControl, "", "", "v[0:1]", 0, 0},
	{"gfx1250", "v_add_nc_u32_e32 v1 /*v257*/, v2 /*v[514]*/, v3", VALU, "", "v257", "v514 v3", 0, 0},
	{"gfx1250", "v_wmma_scale_f32_16x16x128_f8f6f4 v[0:7], v[8:23], v[24:39], v[40:47], v1, v2", MFMA, "", "v[0:7]", "v[8:23] v[24:39] v[40:47] v1 v2", 0, 0},

	// Unknown target: everything but the counters.
	{"", "global_load_dword v2, v[0:1], off", VMEMLoad, "", "v2", "v[0:1]", 4, 0},

	// Not instructions.
	{"gfx942", "", Unknown, "", "", "", 0, 0},
	{"gfx942", "; kernel", Unknown, "", "", "", 0, 0},
	{"gfx942", "s_frobnicate s0, s1", Unknown, "", "", "", 0, 0},
	{"gfx942", "frob v0, v1", Unknown, "", "", "", 0, 0},
	{"gfx942", ".long 0x12345", Unknown, "", "", "", 0, 0},
	{"gfx942", "<invalid>", Unknown, "", "", "", 0, 0},
}

func TestParse(t *testing.T) {
	for _, c := range instCases {
		in := Parse(c.text, c.target)
		got := instCase{
			c.target, in.Text, in.Class, counterList(in.Counts), shortRegs(in.Writes), shortRegs(in.Reads),
			in.BytesPerLane, in.BytesPerWave,
		}
		if diff := cmp.Diff(c, got, cmp.AllowUnexported(instCase{})); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", c.target, c.text, diff)
		}
	}
}

// TestParseSpacing: comments and spacing do not change what is found.
func TestParseSpacing(t *testing.T) {
	want := Parse("buffer_load_dword v1, v2, s[0:3], 0 offen offset:4 glc", "gfx90a")
	for _, text := range []string{
		"\tbuffer_load_dword   v1,v2,s[0:3],0   offen offset:4 glc\r\n",
		"buffer_load_dword v1 , v2 , s[0:3] , 0 offen offset:4 glc // 000000001234: E0501004 80000102",
		"buffer_load_dword v1, v2, s[0:3], 0 offen offset:4 glc ; encoding: [0x04]",
	} {
		got := Parse(text, "gfx90a")
		got.Text = want.Text
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestParseIsBounded(t *testing.T) {
	long := "image_sample v0, [" + strings.Repeat("v1, ", 1<<16) + "v2], s[0:7]"
	in := Parse(long, "gfx1200")
	if in.Class != VMEMLoad || len(in.Reads) > maxOperands {
		t.Errorf("class %s with %d reads", in.Class, len(in.Reads))
	}
	for _, text := range []string{"v_mov_b32 v99999, v1", "v_mov_b32 v[7:3], v[1:", "v_mov_b32 v[0:4096], v1024"} {
		if in := Parse(text, "gfx942"); len(in.Writes) != 0 {
			t.Errorf("%q writes %v", text, in.Writes)
		}
	}
}

// TestOperandsAgainstLLVM compares reads and writes with LLVM's descriptions.
func TestOperandsAgainstLLVM(t *testing.T) {
	n := 0
	for _, line := range testLines(t, "testdata/operands.tsv") {
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			t.Fatalf("bad line %q", line)
		}
		n++
		in := Parse(f[1], Target(f[0]))
		if w := distinctNames(in.Writes); w != sortedList(f[2]) {
			t.Errorf("%s %q writes %s, want %s", f[0], f[1], w, f[2])
		}
		if r := distinctNames(in.Reads); r != sortedList(f[3]) {
			t.Errorf("%s %q reads %s, want %s", f[0], f[1], r, f[3])
		}
	}
	if n < 500 {
		t.Errorf("only %d instructions", n)
	}
}

// distinctNames lists general registers once, sorted.
func distinctNames(regs []Reg) string {
	regs = slices.DeleteFunc(slices.Clone(regs), func(r Reg) bool { return r.File > TTMP })
	return sortedList(regNames(regs))
}

func sortedList(s string) string {
	names := strings.Split(strings.TrimPrefix(s, "-"), ",")
	sort.Strings(names)
	return strings.Join(slices.Compact(names), ",")
}

// testLines reads the lines of a file, comments left out.
func testLines(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	scan := bufio.NewScanner(f)
	for scan.Scan() {
		if line := scan.Text(); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestDocumentedMnemonics: every name of the documentation has a class.
func TestDocumentedMnemonics(t *testing.T) {
	files, err := filepath.Glob("testdata/mnemonics_*.txt")
	if err != nil || len(files) != 7 {
		t.Fatalf("%d lists: %v", len(files), err)
	}
	for _, path := range files {
		names := testLines(t, path)
		if len(names) < 1000 {
			t.Errorf("%s: only %d names", path, len(names))
		}
		for _, name := range names {
			in := Parse(name, "")
			if in.Class == Unknown {
				t.Errorf("%s: %s is unknown", path, name)
			}
			if strings.HasPrefix(name, "v_") != isVectorALU(in.Class) && name != "v_nop" {
				t.Errorf("%s: %s is %s", path, name, in.Class)
			}
		}
	}
}

func isVectorALU(c Class) bool { return c == VALU || c == Trans || c == MFMA }

func TestClassNames(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Classes() {
		name := c.String()
		if name == "" || seen[name] {
			t.Errorf("class %d is named %q", c, name)
		}
		seen[name] = true
	}
	if Class(250).String() != "unknown" || Counter(250).String() != "unknown" || RegFile(250).String() != "unknown" {
		t.Error("names out of range")
	}
}

// TestRulesAreDistinct: no prefix stands twice in the table.
func TestRulesAreDistinct(t *testing.T) {
	n := 0
	for _, r := range rules {
		for _, p := range strings.Fields(r.prefixes) {
			n += strings.Count(p, "|") + 1
		}
	}
	if got := len(ruleIndex()); got != n {
		t.Errorf("%d prefixes in the table, %d distinct", n, got)
	}
}

func TestTarget(t *testing.T) {
	cases := []struct {
		target Target
		gen    int
		is125x bool
	}{
		{"gfx90a", 9, false},
		{"gfx942:sramecc+:xnack-", 9, false},
		{"gfx9", 9, false},
		{"gfx9-4-generic", 9, false},
		{"gfx1030", 10, false},
		{"gfx10-3-generic", 10, false},
		{"gfx1100", 11, false},
		{"gfx11", 11, false},
		{"gfx1201", 12, false},
		{"gfx12", 12, false},
		{"gfx1250", 12, true},
		{"gfx1251:xnack+", 12, true},
		{"gfx803", 8, false},
		{"", 0, false},
		{"sm_90", 0, false},
		{"gfx", 0, false},
		{"gfxx42", 0, false},
	}
	for _, c := range cases {
		if g, x := c.target.Generation(), c.target.IsGFX125x(); g != c.gen || x != c.is125x {
			t.Errorf("%q: generation %d, gfx125x %t", c.target, g, x)
		}
	}
}

func TestBranches(t *testing.T) {
	ptr := func(n int) *int { return &n }
	cases := []struct {
		text        string
		conditional bool
		offset      *int
	}{
		{"s_branch 737", false, ptr(737)},
		{"s_cbranch_execnz 65529", true, ptr(-7)},
		{"s_cbranch_scc0 65085 // 000000002A08: BF84FE3D <kernel+0x12>", true, ptr(-451)},
		{"s_cbranch_vccz 0x8000", true, ptr(-32768)},
		{"s_branch -3", false, ptr(-3)},
		{"s_branch .LBB0_2", false, nil},
		{"s_branch 65536", false, nil},
		{"s_call_b64 s[84:85], 55074", false, ptr(-10462)},
		{"s_cbranch_i_fork s[2:3], 12", true, ptr(12)},
		{"s_setpc_b64 s[30:31]", false, nil},
		{"s_subvector_loop_begin s56, 113", true, ptr(113)},
	}
	for _, c := range cases {
		in := Parse(c.text, "gfx942")
		if in.Class != Branch || in.Conditional != c.conditional || !cmp.Equal(in.BranchOffset, c.offset) {
			t.Errorf("%q: %s conditional %t offset %v", c.text, in.Class, in.Conditional, in.BranchOffset)
		}
	}
}

// TestWaits; the raw immediates are decoded by hand from the bit positions that
// the ISA documents give for each generation.
func TestWaits(t *testing.T) {
	cases := []struct {
		target     Target
		text, want string
	}{
		{"gfx942", "s_waitcnt vmcnt(0)", "vmcnt=0"},
		{"gfx942", "s_waitcnt lgkmcnt(0)", "lgkmcnt=0"},
		{"gfx942", "s_waitcnt vmcnt(3) expcnt(2) lgkmcnt(1)", "vmcnt=3 expcnt=2 lgkmcnt=1"},
		{"gfx942", "s_waitcnt lgkmcnt(0) & vmcnt(63)", "lgkmcnt=0 vmcnt=63"},
		{"gfx942", "s_waitcnt lgkmcnt(0), vmcnt(0x10)", "lgkmcnt=0 vmcnt=16"},
		{"gfx942", "s_waitcnt vmcnt(1)lgkmcnt(2)", "vmcnt=1 lgkmcnt=2"},
		{"gfx942", "s_waitcnt 0xc07f", "lgkmcnt=0"},
		{"gfx942", "s_waitcnt 0", "vmcnt=0 expcnt=0 lgkmcnt=0"},
		{"gfx942", "s_waitcnt 0x4f71", "vmcnt=17"},
		{"gfx1030", "s_waitcnt 0xc07f", "lgkmcnt=0"},
		{"gfx1030", "s_waitcnt 0x3f70", "vmcnt=0"},
		{"gfx1030", "s_waitcnt 0xd27f", "lgkmcnt=18"},
		{"gfx1100", "s_waitcnt 0xfc07", "lgkmcnt=0"},
		{"gfx1100", "s_waitcnt 0x0bf7", "vmcnt=2"},
		{"gfx1100", "s_waitcnt 0x3f7", "vmcnt=0"},
		{"", "s_waitcnt 0xc07f", ""},
		{"", "s_waitcnt vmcnt(0)", "vmcnt=0"},
		{"gfx1030", "s_waitcnt_vscnt null, 0x0", "vscnt=0"},
		{"gfx1030", "s_waitcnt_vmcnt null, 5", "vmcnt=5"},
		{"gfx1030", "s_waitcnt_expcnt null, 1", "expcnt=1"},
		{"gfx1030", "s_waitcnt_lgkmcnt null, 2", "lgkmcnt=2"},
		{"gfx1030", "s_waitcnt_vscnt s0, 0x0", ""},
		{"gfx1100", "s_waitcnt_depctr 0xfffe", ""},
		{"gfx1200", "s_wait_loadcnt 0x3", "loadcnt=3"},
		{"gfx1200", "s_wait_storecnt 0x0", "storecnt=0"},
		{"gfx1200", "s_wait_samplecnt 0x1", "samplecnt=1"},
		{"gfx1200", "s_wait_bvhcnt 0x2", "bvhcnt=2"},
		{"gfx1200", "s_wait_expcnt 0x0", "expcnt=0"},
		{"gfx1200", "s_wait_dscnt 0xa", "dscnt=10"},
		{"gfx1200", "s_wait_kmcnt 0x0", "kmcnt=0"},
		{"gfx1200", "s_wait_loadcnt_dscnt 0x102", "loadcnt=1 dscnt=2"},
		{"gfx1200", "s_wait_storecnt_dscnt 0x3f3f", "storecnt=63 dscnt=63"},
		{"gfx1200", "s_wait_alu 0xfffe", ""},
		{"gfx1200", "s_wait_event 0x1", ""},
		{"gfx1200", "s_wait_idle", "loadcnt=0 storecnt=0 samplecnt=0 bvhcnt=0 dscnt=0 kmcnt=0 expcnt=0"},
		{"gfx1100", "s_wait_idle", "vmcnt=0 vscnt=0 lgkmcnt=0 expcnt=0"},
		{"gfx1250", "s_wait_idle", "loadcnt=0 storecnt=0 dscnt=0 kmcnt=0 xcnt=0 asynccnt=0 tensorcnt=0"},
		{"gfx1250", "s_wait_xcnt 0x0", "xcnt=0"},
		{"gfx1250", "s_wait_asynccnt 0x4", "asynccnt=4"},
		{"gfx1250", "s_wait_tensorcnt 0x1", "tensorcnt=1"},
		{"gfx1250", "s_wait_loadcnt", ""},
		{"gfx942", "s_waitcnt vmcnt(", ""},
		{"gfx942", "s_waitcnt vmcnt(x) lgkmcnt(0)", "lgkmcnt=0"},
	}
	for _, c := range cases {
		in := Parse(c.text, c.target)
		if got := waitList(in.Waits); in.Class != WaitCount || got != c.want {
			t.Errorf("%s %q: %s %q, want %q", c.target, c.text, in.Class, got, c.want)
		}
		if idle := c.text == "s_wait_idle"; in.WaitsAll != idle {
			t.Errorf("%q: waits for all %t", c.text, in.WaitsAll)
		}
	}
}

func TestAtomicReturns(t *testing.T) {
	cases := []struct {
		text string
		want bool
	}{
		{"ds_add_rtn_u32 v1, v2, v3", true},
		{"ds_add_u32 v2, v3", false},
		{"global_atomic_add v[0:1], v2, off", false},
		{"global_atomic_add v5, v[0:1], v2, off sc0 sc1", true},
		{"flat_atomic_swap v[0:1], v2 sc1", false},
		{"flat_atomic_cond_sub_u32 v27, v[89:90], v244 th:TH_ATOMIC_0x7", true},
		{"flat_atomic_add_u32 v[89:90], v244 th:TH_ATOMIC_0x4", false},
		{"global_load_dword v1, v[2:3], off glc", false},
	}
	for _, c := range cases {
		if got := Parse(c.text, "gfx942").Returns; got != c.want {
			t.Errorf("%q returns %t", c.text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range instCases {
		f.Add(c.text, string(c.target))
	}
	f.Add("s_waitcnt 0xffff", "gfx1100")
	f.Add("v_mov_b32 v1 /*", "gfx1250")
	f.Add("a|b :: c [ ( ] )", "gfx9-4-generic")
	f.Fuzz(func(t *testing.T, text, target string) {
		in := Parse(text, Target(target))
		if in.Text != text || in.Class >= numClasses || len(in.Reads) > 2*maxOperands || len(in.Writes) > 2*maxOperands {
			t.Fatalf("%q: %+v", text, in)
		}
		for _, r := range append(in.Reads, in.Writes...) {
			if r.File >= numRegFiles || r.First < 0 || r.Count < 1 || r.First+r.Count > maxRegister {
				t.Fatalf("%q: register %+v", text, r)
			}
		}
		for _, w := range in.Waits {
			if w.Counter >= numCounters || w.Count < 0 || w.Count > 1<<16 {
				t.Fatalf("%q: wait %+v", text, w)
			}
		}
		if in.Class == Unknown && (in.Counts != nil || in.Reads != nil || in.Writes != nil || in.Matrix != nil) {
			t.Fatalf("%q: facts of an unknown instruction", text)
		}
		again := Parse(text, Target(target))
		if !cmp.Equal(in, again) {
			t.Fatalf("%q: %+v then %+v", text, in, again)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c := &instCases[i%len(instCases)]
		Parse(c.text, c.target)
		i++
	}
}

func TestRepresentative(t *testing.T) {
	for target, want := range map[Target]Target{
		"gfx1201": "gfx1200", "gfx941": "gfx942", "gfx942:sramecc+:xnack-": "gfx942", "gfx90c": "gfx900", "gfx1036": "gfx1030",
		"gfx1151": "gfx1150", "gfx1102": "gfx1100", "gfx1251": "gfx1251", "gfx700": "", "": "", "sm_90": "",
	} {
		if got := target.Representative(); got != want {
			t.Errorf("%s is represented by %q, want %q", target, got, want)
		}
	}
	for _, target := range inferable {
		if got := target.Representative(); got != target {
			t.Errorf("%s is represented by %q, not by itself", target, got)
		}
	}
}

// TestInferTargetSkipsOnlyRepeats: instructions that differ in numbers alone
// are looked at once; what they tell must not depend on it.
func TestInferTargetSkipsOnlyRepeats(t *testing.T) {
	code := []string{"v_mov_b32_e32 v1, v2", "v_mov_b32_e32 v3, v4", "buffer_load_dwordx4 v2, s[8:11], 0 offen lds", "buffer_load_dwordx4 v[2:5], v0, s[8:11], 0 offen"}
	together, _ := InferTarget(slices.Values(code))
	if !slices.Equal(together, []Target{"gfx950"}) {
		t.Errorf("candidates %v, want gfx950 alone", together)
	}
}
