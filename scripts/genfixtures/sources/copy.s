; s[0:1] = kernel arguments, s2 = workgroup, v0 = thread; lines of copy.hip.
  s_load_dwordx4 s[4:7], s[0:1], 0x0 ; 4
  s_load_dword s8, s[0:1], 0x10 ; 4
  v_lshl_or_b32 v0, s2, 10, v0 ; 5
  v_ashrrev_i32_e32 v1, 31, v0 ; 5
  v_lshlrev_b64 v[2:3], 4, v[0:1] ; 7
  s_waitcnt lgkmcnt(0) ; 6
  v_cmp_gt_i32_e32 vcc, s8, v0 ; 6
  s_and_saveexec_b64 s[10:11], vcc ; 6
  s_cbranch_execz end ; 6
  v_lshl_add_u64 v[4:5], s[4:5], 0, v[2:3] ; 7
  v_lshl_add_u64 v[6:7], s[6:7], 0, v[2:3] ; 8
  global_load_dwordx4 v[8:11], v[4:5], off nt ; 10
  s_mov_b64 s[12:13], 0x1000 ; 10
  v_lshl_add_u64 v[26:27], v[4:5], 0, s[12:13] ; 10
  global_load_dwordx4 v[12:15], v[26:27], off nt ; 10
  s_mov_b64 s[14:15], 0x2000 ; 10
  v_lshl_add_u64 v[28:29], v[4:5], 0, s[14:15] ; 10
  global_load_dwordx4 v[16:19], v[28:29], off nt ; 10
  s_mov_b64 s[16:17], 0x3000 ; 10
  v_lshl_add_u64 v[30:31], v[4:5], 0, s[16:17] ; 10
  global_load_dwordx4 v[20:23], v[30:31], off nt ; 10
  s_waitcnt vmcnt(3) ; 11
  global_store_dwordx4 v[6:7], v[8:11], off nt ; 11
  v_lshl_add_u64 v[26:27], v[6:7], 0, s[12:13] ; 11
  s_waitcnt vmcnt(3) ; 11
  global_store_dwordx4 v[26:27], v[12:15], off nt ; 11
  v_lshl_add_u64 v[28:29], v[6:7], 0, s[14:15] ; 11
  s_waitcnt vmcnt(3) ; 11
  global_store_dwordx4 v[28:29], v[16:19], off nt ; 11
  v_lshl_add_u64 v[30:31], v[6:7], 0, s[16:17] ; 11
  s_waitcnt vmcnt(3) ; 11
  global_store_dwordx4 v[30:31], v[20:23], off nt ; 11
end:
  s_endpgm ; 12
