; s[0:1] = kernel arguments, v0 = thread; lines of mfma.hip.
  s_load_dwordx4 s[4:7], s[0:1], 0x0 ; 5
  s_load_dwordx2 s[8:9], s[0:1], 0x10 ; 10
  s_load_dword s10, s[0:1], 0x18 ; 7
  v_lshlrev_b32_e32 v1, 4, v0 ; 5
  s_waitcnt lgkmcnt(0) ; 5
  global_load_dwordx4 v[4:7], v1, s[4:5] ; 5
  global_load_dwordx4 v[8:11], v1, s[6:7] ; 5
  v_mov_b64_e32 v[16:17], 0 ; 6
  v_mov_b64_e32 v[18:19], 0 ; 6
  v_mov_b64_e32 v[20:21], 0 ; 6
  v_mov_b64_e32 v[22:23], 0 ; 6
  v_mov_b64_e32 v[24:25], 0 ; 6
  v_mov_b64_e32 v[26:27], 0 ; 6
  v_mov_b64_e32 v[28:29], 0 ; 6
  v_mov_b64_e32 v[30:31], 0 ; 6
  v_mov_b64_e32 v[32:33], 0 ; 6
  v_mov_b64_e32 v[34:35], 0 ; 6
  v_mov_b64_e32 v[36:37], 0 ; 6
  v_mov_b64_e32 v[38:39], 0 ; 6
  v_mov_b64_e32 v[40:41], 0 ; 6
  v_mov_b64_e32 v[42:43], 0 ; 6
  v_mov_b64_e32 v[44:45], 0 ; 6
  v_mov_b64_e32 v[46:47], 0 ; 6
  s_waitcnt vmcnt(0) ; 5
loop:
  v_mfma_f32_32x32x16_bf16 v[16:31], v[4:7], v[8:11], v[16:31] ; 9
  v_mfma_f32_32x32x16_bf16 v[32:47], v[4:7], v[8:11], v[32:47] ; 9
  v_mfma_f32_32x32x16_bf16 v[16:31], v[4:7], v[8:11], v[16:31] ; 9
  v_mfma_f32_32x32x16_bf16 v[32:47], v[4:7], v[8:11], v[32:47] ; 9
  v_mfma_f32_32x32x16_bf16 v[16:31], v[4:7], v[8:11], v[16:31] ; 9
  v_mfma_f32_32x32x16_bf16 v[32:47], v[4:7], v[8:11], v[32:47] ; 9
  v_mfma_f32_32x32x16_bf16 v[16:31], v[4:7], v[8:11], v[16:31] ; 9
  v_mfma_f32_32x32x16_bf16 v[32:47], v[4:7], v[8:11], v[32:47] ; 9
  s_add_i32 s10, s10, -1 ; 7
  s_cmp_lg_u32 s10, 0 ; 7
  s_cbranch_scc1 loop ; 7 x24
  s_nop 15 ; 10
  v_pk_add_f32 v[16:17], v[16:17], v[32:33] ; 10
  global_store_dwordx2 v1, v[16:17], s[8:9] ; 10
  s_endpgm ; 11
