; s[0:1] = kernel arguments, ttmp9 = workgroup, v0 = thread; lines of wmma.hip.
  s_load_b128 s[4:7], s[0:1], 0x0 ; 7
  s_load_b64 s[8:9], s[0:1], 0x10 ; 7
  s_load_b32 s10, s[0:1], 0x18 ; 7
  v_lshlrev_b32_e32 v2, 4, v0 ; 10
  s_lshl_b32 s11, ttmp9, 11 ; 10
  v_xor_b32_e32 v3, 0x200, v2 ; 13
  v_add_nc_u32_e32 v1, s11, v2 ; 10
  s_wait_kmcnt 0x0 ; 11
  global_load_b128 v[4:7], v1, s[4:5] ; 11
  global_load_b128 v[8:11], v1, s[6:7] ; 12
  v_dual_mov_b32 v20, 0 :: v_dual_mov_b32 v21, 0 ; 14
  v_dual_mov_b32 v22, 0 :: v_dual_mov_b32 v23, 0 ; 14
  v_dual_mov_b32 v24, 0 :: v_dual_mov_b32 v25, 0 ; 14
  v_dual_mov_b32 v26, 0 :: v_dual_mov_b32 v27, 0 ; 14
loop:
  s_wait_loadcnt 0x1 ; 16
  ds_store_b128 v2, v[4:7] ; 16
  s_wait_loadcnt 0x0 ; 17
  ds_store_b128 v2, v[8:11] offset:2048 ; 17
  v_add_nc_u32_e32 v28, 0x800, v1 ; 18
  global_load_b128 v[4:7], v28, s[4:5] ; 18
  global_load_b128 v[8:11], v28, s[6:7] ; 19
  s_wait_dscnt 0x0 ; 20
  s_barrier_signal -1 ; 20
  s_add_co_i32 s10, s10, -1 ; 25
  v_mov_b32_e32 v1, v28 ; 18
  s_barrier_wait 0xffff ; 20
  ds_load_b128 v[12:15], v3 ; 21
  ds_load_b128 v[16:19], v3 offset:2048 ; 22
  s_wait_dscnt 0x0 ; 23
  v_wmma_f32_16x16x16_bf16 v[20:27], v[12:15], v[16:19], v[20:27] ; 23
  s_barrier_signal -1 ; 24
  s_barrier_wait 0xffff ; 24
  s_cmp_lg_u32 s10, 0 ; 25
  s_cbranch_scc1 loop ; 25 x5
  v_lshlrev_b32_e32 v2, 1, v2 ; 26
  s_lshl_b32 s11, s11, 1 ; 26
  v_add_nc_u32_e32 v2, s11, v2 ; 26
  global_store_b128 v2, v[20:23], s[8:9] ; 26
  global_store_b128 v2, v[24:27], s[8:9] offset:16 ; 26
  s_sendmsg sendmsg(MSG_DEALLOC_VGPRS) ; 27
  s_endpgm ; 27
