	.amdgcn_target "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"
	.amdhsa_code_object_version 6
	.text
	.globl	outer                           ; -- Begin function outer
	.type	outer,@function
outer:                                  ; @outer
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel outer
		.amdhsa_group_segment_fixed_size 8192
		.amdhsa_private_segment_fixed_size outer.private_seg_size
		.amdhsa_kernarg_size 24
		.amdhsa_uses_dynamic_stack outer.has_dyn_sized_stack|outer.has_recursion
		.amdhsa_next_free_vgpr max(totalnumvgprs(outer.num_agpr, outer.num_vgpr), 1, 0)
		.amdhsa_next_free_sgpr max(outer.numbered_sgpr+extrasgprs(outer.uses_vcc, outer.uses_flat_scratch, 1), 1, 0)-extrasgprs(outer.uses_vcc, outer.uses_flat_scratch, 1)
		.amdhsa_accum_offset ((((((alignto(max(1, outer.num_vgpr), 4))/4)-1)&(~65536))&63)+1)*4
		.amdhsa_reserve_vcc outer.uses_vcc
		.amdhsa_tg_split 0
	.end_amdhsa_kernel
	.text
	.set outer.num_vgpr, max(41, .Linner.num_vgpr)
	.set outer.num_agpr, max(0, .Linner.num_agpr)
	.set outer.numbered_sgpr, max(33, .Linner.numbered_sgpr)
	.set outer.private_seg_size, 16+.Linner.private_seg_size
	.set outer.uses_vcc, or(0, .Linner.uses_vcc)
	.set outer.uses_flat_scratch, or(1, .Linner.uses_flat_scratch)
	.set outer.has_dyn_sized_stack, or(0, .Linner.has_dyn_sized_stack)
	.set outer.has_recursion, or(1, .Linner.has_recursion)
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 4
; TotalNumSgprs: outer.numbered_sgpr+extrasgprs(outer.uses_vcc, outer.uses_flat_scratch, 1)
; NumVgprs: outer.num_vgpr
; NumAgprs: outer.num_agpr
; TotalNumVgprs: totalnumvgprs(outer.num_agpr, outer.num_vgpr)
; ScratchSize: outer.private_seg_size
; LDSByteSize: 8192 bytes/workgroup (compile time only)
; Occupancy: occupancy(8, 8, 8, 8, outer.num_vgpr)
	.text
inner:                                  ; @inner
	s_setpc_b64 s[30:31]
	.set .Linner.num_vgpr, 61
	.set .Linner.num_agpr, 36
	.set .Linner.numbered_sgpr, 40
	.set .Linner.private_seg_size, 32
	.set .Linner.uses_vcc, 1
	.set .Linner.uses_flat_scratch, 0
	.set .Linner.has_dyn_sized_stack, 0
	.set .Linner.has_recursion, 0
	.section	.AMDGPU.csdata,"",@progbits
; Function info:
; codeLenInByte = 4
; NumVgprs: 61
	.section	".note.GNU-stack","",@progbits
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     36
    .args:
      - .name:           out
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
    .group_segment_fixed_size: 8192
    .kernarg_segment_size: 24
    .max_flat_workgroup_size: 256
    .name:           'outer'
    .private_segment_fixed_size: 48
    .reqd_workgroup_size:
      - 64
      - 2
      - 2
    .sgpr_count:     46
    .sgpr_spill_count: 0
    .symbol:         outer.kd
    .uses_dynamic_stack: true
    .vgpr_count:     100
    .vgpr_spill_count: 7
    .wavefront_size: 64
amdhsa.target:   'amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-'
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
