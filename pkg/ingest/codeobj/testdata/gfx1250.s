	.amdgcn_target "amdgcn-amd-amdhsa-unknown-gfx1250"
	.text
	.section	.rodata,"a",@progbits
	.amdhsa_kernel barriers
		.amdhsa_group_segment_fixed_size 323584
		.amdhsa_kernarg_size 8
		.amdhsa_wavefront_size32 1
		.amdhsa_next_free_vgpr 600
		.amdhsa_next_free_sgpr 56
		.amdhsa_named_barrier_count 2
	.end_amdhsa_kernel
	.text
; Kernel info:
; NumSgprs: 58
; NumVgprs: 600
; ScratchSize: 0
; Occupancy: 1
