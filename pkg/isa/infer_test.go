package isa

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestInferTarget(t *testing.T) {
	cases := []struct {
		name  string
		texts string // separated by "|"
		want  string
	}{
		{"bitop3 alone", "v_bitop3_b32 v12, v10, v12, v0 bitop3:0xde", "gfx950 gfx1250 gfx1251"},
		{"bitop3 with old spelling", "s_load_dword s0, s[0:1], 0x0|v_bitop3_b32 v12, v10, v12, v0 bitop3:0xde", "gfx950"},
		{"lane swap of 16", "v_permlane16_swap_b32_e32 v1, v2", "gfx950 gfx1250 gfx1251"},
		{"lane swap of 32", "v_permlane32_swap_b32_e32 v1, v2", "gfx950"},
		{"wide LDS load", "buffer_load_dwordx4 v0, s[0:3], 0 offen lds", "gfx950"},
		{"narrow LDS load", "s_set_gpr_idx_off|buffer_load_dword v0, s[0:3], 0 offen lds", "gfx900 gfx906 gfx908 gfx90a gfx942 gfx950"},
		{"maximum3", "s_barrier|v_maximum3_f32 v9, v9, 0, v10", "gfx950"},
		{"new mfma spelling", "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], 0", "gfx942 gfx950"},
		{"old mfma spelling", "v_mfma_f32_16x16x16f16 a[0:3], v[4:5], v[6:7], 0", "gfx908 gfx90a"},
		{"xf32", "v_mfma_f32_16x16x8_xf32 a[0:3], v[4:5], v[6:7], 0", "gfx942"},
		{"fp8 mfma", "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[4:5], v[6:7], 0", "gfx942 gfx950"},
		{"scaled mfma", "v_mfma_scale_f32_16x16x128_f8f6f4 v[14:17], v[52:59], v[36:43], 0, v0, v0", "gfx950"},
		{"scopes", "global_store_dword v[2:3], v5, off sc0 sc1", "gfx942 gfx950"},
		{"glc", "global_load_dword v3, v[0:1], off glc", "gfx900 gfx906 gfx908 gfx90a gfx1010 gfx1030"},
		{"byte stores are old", "global_store_byte v[0:1], v2, off|global_store_byte_d16_hi v[0:1], v2, off|v_addc_co_u32_e32 v3, vcc, v3, v1, vcc", "gfx900 gfx906 gfx908 gfx90a gfx942 gfx950"},
		{"glc of a scalar load", "s_load_dword s0, s[2:3], 0x0 glc|v_addc_co_u32_e32 v3, vcc, v3, v1, vcc", "gfx900 gfx906 gfx908 gfx90a gfx942 gfx950"},
		{"accumulators", "v_accvgpr_read_b32 v0, a1", "gfx908 gfx90a gfx942 gfx950"},
		{"accumulators in memory", "ds_read_b32 a1, v0", "gfx90a gfx942 gfx950"},
		{"gfx90a invalidation", "buffer_invl2", "gfx90a"},
		{"vscnt", "s_waitcnt_vscnt null, 0x0", "gfx1010 gfx1030 gfx1100 gfx1150"},
		{"vscnt with old spelling", "s_waitcnt_vscnt null, 0x0|global_load_dword v0, v[0:1], off", "gfx1010 gfx1030"},
		{"gfx11", "s_waitcnt vmcnt(0)|global_load_b128 v[0:3], v0, s[0:1]", "gfx1100 gfx1150"},
		{"gfx11 wmma", "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]|s_waitcnt vmcnt(0)", "gfx1100 gfx1150"},
		{"scalar float", "s_waitcnt vmcnt(0)|s_mul_f32 s0, s1, s2", "gfx1150"},
		{"gfx12", "s_wait_loadcnt 0x0", "gfx1200 gfx1250 gfx1251"},
		{"sample counter", "s_wait_samplecnt 0x0", "gfx1200"},
		{"gfx12 cache policy", "global_load_b32 v0, v[1:2], off scope:SCOPE_SYS", "gfx1200 gfx1250 gfx1251"},
		{"tensor", "tensor_load_to_lds s[0:3], s[4:11]", "gfx1250 gfx1251"},
		{"async wait", "s_wait_asynccnt 0x0", "gfx1250 gfx1251"},
		{"sdwa", "v_or_b32_sdwa v1, v2, v3 dst_sel:DWORD", "gfx900 gfx906 gfx908 gfx90a gfx942 gfx950 gfx1010 gfx1030"},
		{"nothing telling", "s_endpgm", "gfx900 gfx906 gfx908 gfx90a gfx942 gfx950 gfx1010 gfx1030 gfx1100 gfx1150 gfx1200 gfx1250 gfx1251"},
		{"no code", "; label|garbage", ""},
		{"contradiction", "s_wait_loadcnt 0x0|v_accvgpr_read_b32 v0, a1", ""},
	}
	for _, c := range cases {
		candidates, evidence := InferTarget(slices.Values(strings.Split(c.texts, "|")))
		var names []string
		for _, t := range candidates {
			names = append(names, string(t))
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %s, want %s (%q)", c.name, got, c.want, evidence)
		}
		if narrowed := len(candidates) < len(inferable) && c.name != "no code"; narrowed != (len(evidence) > 0) {
			t.Errorf("%s: evidence %q", c.name, evidence)
		}
	}
}

func TestInferEvidence(t *testing.T) {
	_, evidence := InferTarget(slices.Values([]string{
		"s_load_dword s0, s[0:1], 0x0", "s_load_dwordx2 s[0:1], s[0:1], 0x0", "v_bitop3_b32 v12, v10, v12, v0 bitop3:0xde",
	}))
	want := []string{
		"s_load_dword: spelling before gfx11 (LLVM AMDGPUAsmGFX10)",
		"v_bitop3_b32: new in gfx950 (LLVM AMDGPUAsmGFX950)",
	}
	if !slices.Equal(evidence, want) {
		t.Errorf("%q, want %q", evidence, want)
	}
}

// TestTargetRulesAgainstNames holds each rule by name against the lists of
// names: a target that the rule leaves out must not have such a name.
func TestTargetRulesAgainstNames(t *testing.T) {
	lists := []struct {
		file    string
		targets string
	}{
		{"gfx90a", "gfx90a"},
		{"gfx942", "gfx942"},
		{"gfx950", "gfx950"},
		{"gfx10", onGFX10},
		{"gfx11", onGFX11},
		{"gfx12", "gfx1200"},
		{"gfx1250", onGFX125},
	}
	for _, list := range lists {
		names := testLines(t, filepath.Join("testdata", "mnemonics_"+list.file+".txt"))
		for i := range targetRules {
			r := &targetRules[i]
			if r.clue != clueExact && r.clue != cluePrefix {
				continue
			}
			allowed := slices.ContainsFunc(strings.Fields(list.targets), func(t string) bool {
				return slices.Contains(strings.Fields(r.targets), t)
			})
			for _, m := range strings.Fields(r.match) {
				found := ""
				for _, name := range names {
					if r.clue.found(&Inst{Mnemonic: name}, m) {
						found = name
					}
				}
				// The gfx12 assembler still takes s_waitcnt; compilers do not emit it.
				if found != "" && !allowed && found != "s_waitcnt" {
					t.Errorf("%s has %s, but rule %q leaves it out", list.file, found, r.reason)
				}
			}
		}
	}
}

// TestTargetRulesAreWellFormed: rules name inferable targets, reasons, sources.
func TestTargetRulesAreWellFormed(t *testing.T) {
	for _, r := range targetRules {
		for _, name := range strings.Fields(r.targets) {
			if !slices.Contains(inferable, Target(name)) {
				t.Errorf("%s: %s", r.reason, name)
			}
		}
		if r.reason == "" || r.source == "" || r.targets == "" {
			t.Errorf("%+v", r)
		}
	}
}
