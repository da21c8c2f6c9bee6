; s[0:1] = kernel arguments, s2 = workgroup, v0 = thread; lines of saxpy.hip.
  s_load_dwordx4 s[4:7], s[0:1], 0x0 ; 4
  s_load_dword s8, s[0:1], 0x10 ; 4
  v_lshl_or_b32 v0, s2, 8, v0 ; 5
  v_lshlrev_b32_e32 v0, 2, v0 ; 6
  s_waitcnt lgkmcnt(0) ; 6
  global_load_dword v1, v0, s[4:5] ; 6
  global_load_dword v2, v0, s[6:7] ; 7
  s_waitcnt vmcnt(0) ; 8
  v_fmac_f32_e32 v2, s8, v1 ; 8
  global_store_dword v0, v2, s[6:7] ; 8
  s_endpgm ; 9
