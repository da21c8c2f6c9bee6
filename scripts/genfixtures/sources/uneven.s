; s[0:1] = kernel arguments, v0 = thread; lines of uneven.hip. rest: taken by all
; waves of a workgroup but its first.
  s_load_dwordx2 s[4:5], s[0:1], 0x0 ; 11
  s_load_dwordx2 s[6:7], s[0:1], 0x8 ; 6
  v_lshlrev_b32_e32 v1, 2, v0 ; 11
  v_cmp_lt_u32_e32 vcc, 63, v0 ; 7
  s_waitcnt lgkmcnt(0) ; 6
  v_mov_b32_e32 v2, s6 ; 5
loop:
  s_cbranch_vccnz skip ; 7 rest
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
  v_fma_f32 v2, v2, s6, v2 ; 8
skip:
  s_barrier ; 9
  s_add_i32 s7, s7, -1 ; 6
  s_cmp_lg_u32 s7, 0 ; 6
  s_cbranch_scc1 loop ; 6 x19
  global_store_dword v1, v2, s[4:5] ; 11
  s_endpgm ; 12
