; s[0:1] = kernel arguments, s2 = workgroup, v0 = thread; lines of saxpy.hip.
  s_load_dwordx2 s[4:5], s[0:1], 0x0 ; 11
  s_load_dword s8, s[0:1], 0x8 ; 11
  v_lshl_or_b32 v0, s2, 8, v0 ; 12
  v_lshlrev_b32_e32 v0, 2, v0 ; 13
  s_waitcnt lgkmcnt(0) ; 13
  global_load_dword v1, v0, s[4:5] ; 13
  s_waitcnt vmcnt(0) ; 13
  v_mul_f32_e32 v1, s8, v1 ; 13
  global_store_dword v0, v1, s[4:5] ; 13
  s_endpgm ; 14
