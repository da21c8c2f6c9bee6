	.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
	.amdhsa_kernel wide
		.amdhsa_next_free_vgpr 97
		.amdhsa_next_free_sgpr 20
		.amdhsa_wavefront_size32 0
		.amdhsa_workgroup_processor_mode 0
	.end_amdhsa_kernel
	.amdhsa_kernel narrow
		.amdhsa_next_free_vgpr 97
		.amdhsa_next_free_sgpr 20
		.amdhsa_workgroup_processor_mode 1
	.end_amdhsa_kernel
	.amdhsa_kernel unsaid
		.amdhsa_next_free_vgpr 97
		.amdhsa_next_free_sgpr 20
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .name:           narrow
    .symbol:         narrow.kd
    .vgpr_count:     97
    .wavefront_size: 32
    .workgroup_processor_mode: 1
amdhsa.version:
  - 1
  - 2
...
	.end_amdgpu_metadata
