; Expects s[0:1] = kernel arguments, s2 and s3 = workgroup x and y, v0 = thread.
; The number behind ; is the line of gemm.hip; xN says that a wave takes the branch N times.
  s_load_dwordx4 s[4:7], s[0:1], 0x0 ; 18
  s_load_dwordx2 s[12:13], s[0:1], 0x10 ; 18
  s_load_dwordx2 s[16:17], s[0:1], 0x18 ; 18
  s_load_dword s18, s[0:1], 0x20 ; 18
  v_lshrrev_b32_e32 v1, 3, v0 ; 21
  v_and_b32_e32 v2, 7, v0 ; 21
  v_lshlrev_b32_e32 v2, 4, v2 ; 21
  v_lshlrev_b32_e32 v3, 7, v1 ; 14
  v_lshlrev_b32_e32 v4, 4, v1 ; 14
  v_and_b32_e32 v4, 0x70, v4 ; 14
  v_xor_b32_e32 v4, v4, v2 ; 14
  v_or_b32_e32 v3, v3, v4 ; 14
  s_lshl_b32 s20, s2, 6 ; 22
  s_lshl_b32 s21, s3, 6 ; 22
  s_waitcnt lgkmcnt(0) ; 25
  s_lshl_b32 s19, s18, 1 ; 25
  v_add_u32_e32 v5, s20, v1 ; 25
  v_mul_lo_u32 v5, v5, s19 ; 25
  v_add_u32_e32 v5, v5, v2 ; 25
  v_add_u32_e32 v6, s21, v1 ; 26
  v_mul_lo_u32 v6, v6, s19 ; 26
  v_add_u32_e32 v6, v6, v2 ; 26
  s_lshl_b32 s22, s19, 5 ; 25
  v_add_u32_e32 v7, s22, v5 ; 25
  v_add_u32_e32 v8, s22, v6 ; 26
  s_mov_b32 s24, s4 ; 27
  s_and_b32 s25, s5, 0xffff ; 27
  s_mov_b32 s26, -1 ; 27
  s_mov_b32 s27, 0x27000 ; 27
  s_mov_b32 s28, s6 ; 28
  s_and_b32 s29, s7, 0xffff ; 28
  s_mov_b32 s30, -1 ; 28
  s_mov_b32 s31, s27 ; 28
  buffer_load_dwordx4 v[20:23], v5, s[24:27], 0 offen ; 31
  buffer_load_dwordx4 v[24:27], v7, s[24:27], 0 offen ; 31
  buffer_load_dwordx4 v[28:31], v6, s[28:31], 0 offen ; 32
  buffer_load_dwordx4 v[32:35], v8, s[28:31], 0 offen ; 32
  v_and_b32_e32 v9, 15, v0 ; 35
  v_bfe_u32 v10, v0, 4, 2 ; 36
  v_bfe_u32 v13, v0, 6, 1 ; 34
  v_lshrrev_b32_e32 v14, 7, v0 ; 34
  v_lshlrev_b32_e32 v11, 7, v9 ; 14
  v_lshl_or_b32 v12, v14, 12, v11 ; 37
  v_lshl_or_b32 v11, v13, 12, v11 ; 36
  v_and_b32_e32 v15, 7, v9 ; 14
  v_xor_b32_e32 v16, v10, v15 ; 14
  v_lshlrev_b32_e32 v16, 4, v16 ; 14
  v_or_b32_e32 v10, v11, v16 ; 36
  v_xor_b32_e32 v17, 64, v10 ; 51
  v_or_b32_e32 v18, v12, v16 ; 37
  v_xor_b32_e32 v19, 64, v18 ; 52
  v_mov_b64_e32 v[64:65], 0 ; 38
  v_mov_b64_e32 v[66:67], 0 ; 38
  v_mov_b64_e32 v[68:69], 0 ; 38
  v_mov_b64_e32 v[70:71], 0 ; 38
  v_mov_b64_e32 v[72:73], 0 ; 38
  v_mov_b64_e32 v[74:75], 0 ; 38
  v_mov_b64_e32 v[76:77], 0 ; 38
  v_mov_b64_e32 v[78:79], 0 ; 38
  s_waitcnt vmcnt(3) ; 41
  ds_write_b128 v3, v[20:23] ; 41
  s_waitcnt vmcnt(2) ; 41
  ds_write_b128 v3, v[24:27] offset:4096 ; 41
  s_waitcnt vmcnt(1) ; 41
  ds_write_b128 v3, v[28:31] offset:8192 ; 41
  s_waitcnt vmcnt(0) ; 41
  ds_write_b128 v3, v[32:35] offset:12288 ; 41
  s_lshr_b32 s23, s18, 6 ; 42
  s_add_i32 s23, s23, -1 ; 42
  s_waitcnt lgkmcnt(0) ; 43
  s_barrier ; 43
loop:
  v_add_u32_e32 v5, 0x80, v5 ; 46
  v_add_u32_e32 v7, 0x80, v7 ; 46
  v_add_u32_e32 v6, 0x80, v6 ; 47
  v_add_u32_e32 v8, 0x80, v8 ; 47
  buffer_load_dwordx4 v[20:23], v5, s[24:27], 0 offen ; 46
  buffer_load_dwordx4 v[24:27], v7, s[24:27], 0 offen ; 46
  buffer_load_dwordx4 v[28:31], v6, s[28:31], 0 offen ; 47
  buffer_load_dwordx4 v[32:35], v8, s[28:31], 0 offen ; 47
  ds_read_b128 v[36:39], v10 ; 51
  ds_read_b128 v[40:43], v10 offset:2048 ; 51
  ds_read_b128 v[44:47], v18 offset:8192 ; 52
  ds_read_b128 v[48:51], v18 offset:10240 ; 52
  ds_read_b128 v[52:55], v17 ; 51
  ds_read_b128 v[56:59], v17 offset:2048 ; 51
  ds_read_b128 v[60:63], v19 offset:8192 ; 52
  ds_read_b128 v[80:83], v19 offset:10240 ; 52
  s_waitcnt lgkmcnt(4) ; 57
  v_mfma_f32_16x16x32_bf16 v[64:67], v[36:39], v[44:47], v[64:67] ; 57
  v_mfma_f32_16x16x32_bf16 v[68:71], v[36:39], v[48:51], v[68:71] ; 57
  v_mfma_f32_16x16x32_bf16 v[72:75], v[40:43], v[44:47], v[72:75] ; 57
  v_mfma_f32_16x16x32_bf16 v[76:79], v[40:43], v[48:51], v[76:79] ; 57
  s_waitcnt lgkmcnt(0) ; 57
  v_mfma_f32_16x16x32_bf16 v[64:67], v[52:55], v[60:63], v[64:67] ; 57
  v_mfma_f32_16x16x32_bf16 v[68:71], v[52:55], v[80:83], v[68:71] ; 57
  v_mfma_f32_16x16x32_bf16 v[72:75], v[56:59], v[60:63], v[72:75] ; 57
  v_mfma_f32_16x16x32_bf16 v[76:79], v[56:59], v[80:83], v[76:79] ; 57
  v_xor_b32_e32 v3, 0x4000, v3 ; 59
  s_waitcnt vmcnt(3) ; 60
  ds_write_b128 v3, v[20:23] ; 60
  s_waitcnt vmcnt(2) ; 60
  ds_write_b128 v3, v[24:27] offset:4096 ; 60
  s_waitcnt vmcnt(1) ; 60
  ds_write_b128 v3, v[28:31] offset:8192 ; 60
  s_waitcnt vmcnt(0) ; 60
  ds_write_b128 v3, v[32:35] offset:12288 ; 60
  s_add_i32 s23, s23, -1 ; 58
  v_xor_b32_e32 v10, 0x4000, v10 ; 59
  v_xor_b32_e32 v17, 0x4000, v17 ; 59
  v_xor_b32_e32 v18, 0x4000, v18 ; 59
  v_xor_b32_e32 v19, 0x4000, v19 ; 59
  s_cmp_lg_u32 s23, 0 ; 58
  s_waitcnt lgkmcnt(0) ; 61
  s_barrier ; 61
  s_cbranch_scc1 loop ; 58 x3
  ds_read_b128 v[36:39], v10 ; 51
  ds_read_b128 v[40:43], v10 offset:2048 ; 51
  ds_read_b128 v[44:47], v18 offset:8192 ; 52
  ds_read_b128 v[48:51], v18 offset:10240 ; 52
  ds_read_b128 v[52:55], v17 ; 51
  ds_read_b128 v[56:59], v17 offset:2048 ; 51
  ds_read_b128 v[60:63], v19 offset:8192 ; 52
  ds_read_b128 v[80:83], v19 offset:10240 ; 52
  s_waitcnt lgkmcnt(4) ; 57
  v_mfma_f32_16x16x32_bf16 v[64:67], v[36:39], v[44:47], v[64:67] ; 57
  v_mfma_f32_16x16x32_bf16 v[68:71], v[36:39], v[48:51], v[68:71] ; 57
  v_mfma_f32_16x16x32_bf16 v[72:75], v[40:43], v[44:47], v[72:75] ; 57
  v_mfma_f32_16x16x32_bf16 v[76:79], v[40:43], v[48:51], v[76:79] ; 57
  s_waitcnt lgkmcnt(0) ; 57
  v_mfma_f32_16x16x32_bf16 v[64:67], v[52:55], v[60:63], v[64:67] ; 57
  v_mfma_f32_16x16x32_bf16 v[68:71], v[52:55], v[80:83], v[68:71] ; 57
  v_mfma_f32_16x16x32_bf16 v[72:75], v[56:59], v[60:63], v[72:75] ; 57
  v_mfma_f32_16x16x32_bf16 v[76:79], v[56:59], v[80:83], v[76:79] ; 57
  s_mov_b32 s24, s12 ; 64
  s_and_b32 s25, s13, 0xffff ; 64
  v_lshl_or_b32 v20, v14, 5, v9 ; 65
  v_add_u32_e32 v20, s21, v20 ; 65
  v_mul_lo_u32 v20, v20, s16 ; 68
  v_bfe_u32 v21, v0, 4, 2 ; 65
  v_lshlrev_b32_e32 v21, 2, v21 ; 65
  v_lshl_or_b32 v21, v13, 5, v21 ; 65
  v_add_u32_e32 v21, s20, v21 ; 65
  v_add_lshl_u32 v20, v20, v21, 2 ; 68
  s_lshl_b32 s19, s16, 6 ; 68
  v_add_u32_e32 v22, s19, v20 ; 68
  s_nop 4 ; 68
  buffer_store_dwordx4 v[64:67], v20, s[24:27], 0 offen ; 68
  buffer_store_dwordx4 v[72:75], v20, s[24:27], 0 offen offset:64 ; 68
  buffer_store_dwordx4 v[68:71], v22, s[24:27], 0 offen ; 68
  buffer_store_dwordx4 v[76:79], v22, s[24:27], 0 offen offset:64 ; 68
  s_endpgm ; 69
