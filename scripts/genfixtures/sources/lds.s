; s[0:1] = kernel arguments, v0 = thread; lines of lds.hip.
  s_load_dwordx2 s[4:5], s[0:1], 0x0 ; 10
  s_load_dword s6, s[0:1], 0x8 ; 7
  v_lshlrev_b32_e32 v1, 4, v0 ; 9
  s_waitcnt lgkmcnt(0) ; 7
loop:
  ds_read_b128 v[8:11], v1 offset:0 ; 9
  ds_read_b128 v[12:15], v1 offset:1024 ; 9
  ds_read_b128 v[16:19], v1 offset:2048 ; 9
  ds_read_b128 v[20:23], v1 offset:3072 ; 9
  ds_read_b128 v[24:27], v1 offset:4096 ; 9
  ds_read_b128 v[28:31], v1 offset:5120 ; 9
  ds_read_b128 v[32:35], v1 offset:6144 ; 9
  ds_read_b128 v[36:39], v1 offset:7168 ; 9
  s_waitcnt lgkmcnt(0) ; 9
  v_pk_add_f32 v[4:5], v[4:5], v[8:9] ; 9
  v_pk_add_f32 v[4:5], v[4:5], v[16:17] ; 9
  v_pk_add_f32 v[4:5], v[4:5], v[24:25] ; 9
  v_pk_add_f32 v[4:5], v[4:5], v[32:33] ; 9
  s_add_i32 s6, s6, -1 ; 7
  s_cmp_lg_u32 s6, 0 ; 7
  s_cbranch_scc1 loop ; 7 x15
  global_store_dwordx4 v1, v[4:7], s[4:5] ; 10
  s_endpgm ; 11
