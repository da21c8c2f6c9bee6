; s[0:1] = kernel arguments, s2 = program, v0 = thread; lines of early.py.
; "idle" says that only a wave without work takes the branch.
  s_load_dword s8, s[0:1], 0x10 ; 6
  s_waitcnt lgkmcnt(0) ; 9
  s_cmp_ge_i32 s2, s8 ; 9
  s_cbranch_scc1 end ; 9 idle
  s_load_dwordx4 s[4:7], s[0:1], 0x0 ; 6
  s_lshl_b32 s9, s2, 13 ; 12
  v_lshl_or_b32 v0, v0, 4, s9 ; 14
  v_mov_b32_e32 v1, 0 ; 14
  s_mov_b32 s10, 8 ; 13
  s_waitcnt lgkmcnt(0) ; 14
  v_lshl_add_u64 v[2:3], s[4:5], 0, v[0:1] ; 14
  v_lshl_add_u64 v[4:5], s[6:7], 0, v[0:1] ; 16
loop:
  global_load_dwordx4 v[8:11], v[2:3], off ; 14
  s_mov_b64 s[12:13], 0x400 ; 13
  v_lshl_add_u64 v[2:3], v[2:3], 0, s[12:13] ; 14
  s_waitcnt vmcnt(0) ; 15
  v_fma_f32 v8, v8, 0.5, 1.0 ; 15
  v_fma_f32 v9, v9, 0.5, 1.0 ; 15
  v_fma_f32 v10, v10, 0.5, 1.0 ; 15
  v_fma_f32 v11, v11, 0.5, 1.0 ; 15
  v_fma_f32 v8, v8, 0.5, 1.0 ; 15
  v_fma_f32 v9, v9, 0.5, 1.0 ; 15
  v_fma_f32 v10, v10, 0.5, 1.0 ; 15
  v_fma_f32 v11, v11, 0.5, 1.0 ; 15
  v_fma_f32 v8, v8, 0.5, 1.0 ; 15
  v_fma_f32 v9, v9, 0.5, 1.0 ; 15
  v_fma_f32 v10, v10, 0.5, 1.0 ; 15
  v_fma_f32 v11, v11, 0.5, 1.0 ; 15
  v_fma_f32 v8, v8, 0.5, 1.0 ; 15
  v_fma_f32 v9, v9, 0.5, 1.0 ; 15
  v_fma_f32 v10, v10, 0.5, 1.0 ; 15
  v_fma_f32 v11, v11, 0.5, 1.0 ; 15
  v_fma_f32 v8, v8, 0.5, 1.0 ; 15
  v_fma_f32 v9, v9, 0.5, 1.0 ; 15
  v_fma_f32 v10, v10, 0.5, 1.0 ; 15
  v_fma_f32 v11, v11, 0.5, 1.0 ; 15
  v_fma_f32 v8, v8, 0.5, 1.0 ; 15
  v_fma_f32 v9, v9, 0.5, 1.0 ; 15
  v_fma_f32 v10, v10, 0.5, 1.0 ; 15
  v_fma_f32 v11, v11, 0.5, 1.0 ; 15
  v_fma_f32 v8, v8, 0.5, 1.0 ; 15
  v_fma_f32 v9, v9, 0.5, 1.0 ; 15
  v_fma_f32 v10, v10, 0.5, 1.0 ; 15
  v_fma_f32 v11, v11, 0.5, 1.0 ; 15
  v_fma_f32 v8, v8, 0.5, 1.0 ; 15
  v_fma_f32 v9, v9, 0.5, 1.0 ; 15
  v_fma_f32 v10, v10, 0.5, 1.0 ; 15
  v_fma_f32 v11, v11, 0.5, 1.0 ; 15
  v_max_f32_e32 v8, 0, v8 ; 15
  v_max_f32_e32 v9, 0, v9 ; 15
  v_max_f32_e32 v10, 0, v10 ; 15
  v_max_f32_e32 v11, 0, v11 ; 15
  global_store_dwordx4 v[4:5], v[8:11], off ; 16
  v_lshl_add_u64 v[4:5], v[4:5], 0, s[12:13] ; 16
  s_add_i32 s10, s10, -1 ; 13
  s_cmp_lg_u32 s10, 0 ; 13
  s_cbranch_scc1 loop ; 13 x7
end:
  s_endpgm ; 10
