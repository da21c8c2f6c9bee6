package flow

import "testing"

// TestPolls: which loops only wait for a flag.
func TestPolls(t *testing.T) {
	const (
		wait = "s_waitcnt vmcnt(0)"
		cmp  = "v_cmp_ne_u32_e32 vcc, 1, v1"
	)
	for _, c := range []struct {
		name string
		loop []string // closed by a branch back to its first row
		want bool
	}{
		{"a flag of another GPU", []string{"global_load_dword v1, v0, s[0:1] sc0 sc1", wait, cmp, "s_sleep 1"}, true},
		{"with an acquire and a timeout", []string{"flat_load_dword v1, v[2:3] sc1", wait, "buffer_inv sc1", "s_memrealtime s[6:7]", cmp}, true},
		{"the address made anew", []string{"v_mov_b32_e32 v0, s4", "global_load_dword v1, v0, s[0:1] sc1", wait, cmp}, true},
		{"a scalar load past its cache", []string{"s_dcache_inv", "s_load_dword s6, s[0:1], 0x0", "s_waitcnt lgkmcnt(0)", "s_cmp_eq_u32 s6, 0"}, true},
		{"test and set", []string{"global_atomic_swap v1, v0, v2, s[0:1] sc0", wait, cmp}, true},
		{"an ordinary load", []string{"global_load_dword v1, v0, s[0:1]", wait, cmp}, false},
		{"a scalar load through its cache", []string{"s_load_dword s6, s[0:1], 0x0", "s_waitcnt lgkmcnt(0)", "s_cmp_eq_u32 s6, 0"}, false},
		{"16 bytes", []string{"global_load_dwordx4 v[4:7], v0, s[0:1] sc1", wait, "v_cmp_ne_u32_e32 vcc, 1, v4"}, false},
		{"a list is followed", []string{"flat_load_dwordx2 v[2:3], v[2:3] sc1", wait, "v_cmp_ne_u64_e32 vcc, 0, v[2:3]"}, false},
		{"an array is walked", []string{"global_load_dword v1, v0, s[0:1] sc1", wait, "v_add_u32_e32 v0, 4, v0", cmp}, false},
		{"it stores", []string{"global_load_dword v1, v0, s[0:1] sc1", wait, "global_store_dword v0, v1, s[2:3]", cmp}, false},
		{"it works in LDS", []string{"global_load_dword v1, v0, s[0:1] sc1", wait, "ds_write_b32 v0, v1", cmp}, false},
		{"nobody looks", []string{"global_load_dword v1, v0, s[0:1] sc1", wait, "s_add_u32 s6, s6, 1"}, false},
		{"an update by compare and swap", []string{"v_add_f32_e32 v2, v3, v1", "global_atomic_cmpswap v1, v0, v[2:3], s[0:1] sc0", wait, cmp}, false},
		{"only sleep", []string{"s_sleep 1", "s_sub_u32 s6, s6, 1"}, false},
	} {
		texts := append([]string{"s_nop 0"}, c.loop...)
		texts = append(texts, "s_cbranch_vccnz @01", "s_endpgm")
		tt, insts := program(texts...)
		f := Find(tt, insts)
		if len(f.Loops) != 1 {
			t.Fatalf("%s: %d loops", c.name, len(f.Loops))
		}
		if f.Loops[0].Polls != c.want || f.Polling(1) != c.want || f.Polling(0) {
			t.Errorf("%s: polls is %t, want %t", c.name, f.Loops[0].Polls, c.want)
		}
	}
}
