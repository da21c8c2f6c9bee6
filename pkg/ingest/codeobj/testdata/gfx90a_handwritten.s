/* a kernel in the style of hand-written assembly */
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a:xnack-"
.set vgprBase, 4
.set vgprBase, 8           // assigned twice: the value at the place holds
.text
.protected gemm
.globl gemm
.section .rodata,#alloc
.p2align 6
.amdhsa_kernel gemm
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_accum_offset 256 // accvgpr offset
  .amdhsa_next_free_vgpr 512 // vgprs
  .amdhsa_next_free_sgpr 90 // sgprs
  .amdhsa_reserve_flat_scratch 0
  .amdhsa_group_segment_fixed_size 65536 // lds bytes
.end_amdhsa_kernel
.amdhsa_kernel odd
  .amdhsa_accum_offset 4
  .amdhsa_next_free_vgpr vgprBase
  .amdhsa_next_free_sgpr nowhere+1
.end_amdhsa_kernel
.amdgpu_metadata
---
custom.config:
  .vgpr_count: 999
amdhsa.version:
- 1
- 1
amdhsa.kernels:
- .args:
  - .name: Sizes
    .offset: 0
    .vgpr_count: 998
  .group_segment_fixed_size: 65536
  .name: gemm
  .symbol: "gemm.kd"
  .reqd_workgroup_size: [256, 1, 1]
  .vgpr_count: 512
  .wavefront_size: 64
- .name: ghost
  .vgpr_count: 3
.end_amdgpu_metadata
gemm:
s_endpgm
