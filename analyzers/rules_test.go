package analyzers_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers"
	"github.com/rocanalyze/rocanalyze/analyzers/rules"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// pair are two captures that differ in what a rule looks at: it fires on the
// first and not on the second.
type pair struct {
	fires, not func(t *testing.T) *trace.Trace
	// device is the user's, params the thresholds of both.
	device string
	params map[string]float64
	// minor rules only have minor findings; for others these do not count.
	minor bool
}

// made is a capture that needs nothing to be made.
func made(tr *trace.Trace) func(*testing.T) *trace.Trace {
	return func(*testing.T) *trace.Trace { return tr }
}

// fixture is one of fixtures/.
func fixture(paths ...string) func(*testing.T) *trace.Trace {
	return func(t *testing.T) *trace.Trace {
		all := slices.Clone(paths)
		for i := range all {
			all[i] = "../fixtures/" + all[i]
		}
		return opened(t, all...)
	}
}

// counts are counters of one dispatch.
func counts(lists ...[]string) func(*testing.T) *trace.Trace {
	return func(t *testing.T) *trace.Trace { return counted(t, slices.Concat(lists...)...) }
}

var (
	endpgm = inst{"s_endpgm", 0, 4}
	load   = inst{"global_load_dwordx4 v[4:7], v0, s[2:3]", 0, 4}
	other  = inst{"v_mov_b32_e32 v100, v101", 0, 4}
	mfma   = inst{"v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]", 0, 16}
	wait   = "s_waitcnt vmcnt(0)"
)

// share makes a pair of a kernel of 1000 cycles in which the last instruction
// of code stalls 5 % of them, and one in which it stalls 4.9 %.
func share(code ...inst) pair {
	with := func(stall int64) func(*testing.T) *trace.Trace {
		c := slices.Clone(code)
		c[len(c)-1].stall = stall
		left := 1000 - stall
		for _, in := range c {
			left -= in.issue
		}
		end := endpgm
		end.issue = 0 // what it takes is waiting for stores
		return made(of(listed(nil, append(c, inst{"v_mov_b32_e32 v100, v101", 0, left}, end)...)))
	}
	return pair{fires: with(50), not: with(49), device: "gfx950"}
}

// loop is a loop of some instructions, each executed as often.
func loop(times int64, code ...inst) func(*testing.T) *trace.Trace {
	code = append(code, inst{branch(len(code)), 0, 4}, endpgm)
	hits := make([]int64, len(code)-1)
	for i := range hits {
		hits[i] = times
	}
	return made(of(listed(hits, code...)))
}

// branch jumps from a row to row 0.
func branch(row int) string {
	return "s_cbranch_scc1 " + map[int]string{1: "65533", 2: "65531", 3: "65529", 4: "65527", 5: "65525"}[row]
}

// kernel is a pair of made traces for gfx950.
func kernel(fires, not *trace.ThreadTrace) pair {
	return pair{fires: made(of(fires)), not: made(of(not)), device: "gfx950"}
}

// spoiled is a pair of a trace that no gate minds and what one change makes of
// it, with a lesser change for the near miss.
func spoiled(fires, not func(*trace.ThreadTrace)) pair {
	return pair{fires: made(of(good(), fires)), not: made(of(good(), not)), device: "gfx942"}
}

func good() *trace.ThreadTrace {
	return waved(nil, inst{"s_load_dword s0, s[2:3], 0x0", 4, 4}, inst{"s_waitcnt lgkmcnt(0)", 4, 4}, inst{"v_add_f32 v0, v1, v2", 4, 4},
		inst{"global_store_dword v[0:1], v2, off sc0", 4, 4}, inst{"s_endpgm", 4, 4})
}

// waits is a kernel that waits for memory on an MI300X most of the time.
func waits(vgprs, lds, size, groups int64) func(*testing.T) *trace.Trace {
	return made(of(waved(nil, load, inst{wait, 9000, 4}, endpgm), launched(vgprs, lds, size, groups)))
}

func spill(n int) func(*testing.T) *trace.Trace {
	return made(compiled(trace.CodeKernel{VGPRSpills: &n, ScratchBytes: new(0)}))
}

// halved is a gfx950 kernel trace of vector and accumulation register counts.
func halved(counts ...[2]int64) func(*testing.T) *trace.Trace {
	a := trace.Agent{Origin: trace.Origin{File: "x_agent_info.csv", Row: 1}, NodeID: 2, Gfx: "gfx950", DeviceID: new(int64(30112)), CUs: new(int64(256)), XCCs: new(int64(8))}
	var ls []trace.Launch
	for i, c := range counts {
		l := row(c[0], 0, 256, 4096)
		l.AccumVGPRs = &c[1]
		l.Kernel += string(rune('a' + i))
		ls = append(ls, l)
	}
	return made(table(a, ls...))
}

// twice is some instructions two times, and the end.
func twice(code ...inst) []inst { return append(slices.Concat(code, code), endpgm) }

// exp2 is the guarded exponential of a register whose argument is in v2.
func exp2(of string) []inst {
	return []inst{
		{"v_cmp_gt_f32_e32 vcc, s4, v1", 0, 4},
		{"s_nop 1", 4, 4},
		{"v_cndmask_b32_e32 v5, 0, v6, vcc", 0, 4},
		{"v_add_f32_e32 v2, v1, v5", 0, 4},
		{"v_exp_f32_e32 v7, " + of, 0, 16},
		{"v_cndmask_b32_e32 v8, 0, v9, vcc", 0, 4},
		{"v_ldexp_f32 v7, v7, v8", 0, 4},
	}
}

// addressed makes two addresses, in a loop or, with no iterations, outside.
func addressed(iterations int64) func(*testing.T) *trace.Trace {
	code := []inst{
		{"v_lshl_add_u64 v[2:3], v[0:1], 2, s[4:5]", 0, 4},
		{"global_load_dword v4, v[2:3], off", 0, 4},
		{"v_lshl_add_u64 v[6:7], v[0:1], 2, s[6:7]", 0, 4},
		{"global_load_dword v5, v[6:7], off", 0, 4},
	}
	if iterations > 0 {
		return loop(iterations, code...)
	}
	return made(of(listed(nil, append(code, endpgm)...)))
}

// cases has a pair for every rule.
func cases() map[string]pair {
	launch := func(size, items, notSize, notItems int64) pair {
		r := func(size, items int64) func(*testing.T) *trace.Trace {
			return made(table(mi300x(), row(32, 0, size, items)))
		}
		return pair{fires: r(size, items), not: r(notSize, notItems)}
	}
	busy := func(matrix, rest int) *trace.ThreadTrace {
		return waved(append(repeat(matrix, []int{0}, nil), repeat(rest, []int{1}, []int{2})...), inst{mfma.text, 12, 4}, inst{"s_sleep 1", 12, 4}, endpgm)
	}
	return map[string]pair{
		// Verdicts: matrix pipe at 85, 75 and 25 % of the time.
		"at_the_roof":            {fires: made(of(busy(85, 15))), not: made(of(busy(75, 25))), device: "MI300X"},
		"compute_bound":          {fires: made(of(busy(75, 25))), not: made(of(busy(25, 75))), device: "MI300X"},
		"bandwidth_bound":        {fires: fixture("att/copy"), not: fixture("pmc/judged/stream")}, // the stream is at its roof
		"low_matrix_utilisation": {fires: made(of(busy(49, 51))), not: made(of(busy(51, 49))), device: "MI300X", minor: true},

		// Stall classes, each 5 % of the wave cycles and a little less.
		"vmem_wait":        share(load, inst{wait, 0, 4}),
		"vmem_to_lds_wait": share(inst{"buffer_load_dwordx4 v1, s[4:7], 0 offen lds", 0, 4}, inst{wait, 0, 4}),
		"store_drain":      share(inst{"global_store_dwordx4 v0, v[4:7], s[2:3]", 0, 4}, inst{wait, 0, 4}),
		"fence_wait":       share(inst{"buffer_wbl2 sc1", 0, 4}, inst{wait, 0, 4}),
		"atomic_wait":      share(inst{"global_atomic_add v1, v0, v2, s[2:3] sc0", 0, 4}, inst{wait, 0, 4}),
		"spin_wait": {
			fires:  loop(10, inst{"global_load_dword v1, v0, s[0:1] sc0 sc1", 0, 4}, inst{wait, 100, 4}, inst{"v_cmp_ne_u32_e32 vcc, 1, v1", 0, 4}),
			not:    loop(10, inst{"global_load_dword v1, v0, s[0:1]", 0, 4}, inst{wait, 100, 4}, inst{"v_cmp_ne_u32_e32 vcc, 1, v1", 0, 4}),
			device: "gfx950",
		},
		"lds_wait":         share(inst{"ds_read_b128 v[0:3], v4", 0, 4}, inst{"s_waitcnt lgkmcnt(0)", 0, 4}),
		"cross_lane_wait":  share(inst{"ds_bpermute_b32 v1, v2, v3", 0, 4}, inst{"s_waitcnt lgkmcnt(0)", 0, 4}),
		"smem_wait":        share(inst{"s_load_dwordx2 s[4:5], s[0:1], 0x0", 0, 4}, inst{"s_waitcnt lgkmcnt(0)", 0, 4}),
		"lds_or_smem_wait": share(inst{"s_waitcnt lgkmcnt(0)", 0, 4}),
		"barrier":          share(inst{"s_barrier", 0, 4}),
		"lds_issue":        share(inst{"ds_read_b128 v[0:3], v4", 0, 4}),
		"vmem_issue":       share(load),
		"mfma_dependency":  share(inst{"v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]", 0, 4}, inst{"v_add_f32_e32 v20, v0, v21", 0, 4}),
		"pipeline_bubble":  share(inst{"s_nop 7", 0, 4}),
		"valu_dependency":  share(inst{"v_add_f32_e32 v20, v0, v21", 0, 4}),
		"idle_between": {
			fires: made(of(listed(nil, other, endpgm), func(tt *trace.ThreadTrace) { tt.Code[0].LatencyCycles, tt.Code[0].IdleCycles = 896, 100 })),
			not:   made(of(listed(nil, other, endpgm), func(tt *trace.ThreadTrace) { tt.Code[0].LatencyCycles, tt.Code[0].IdleCycles = 897, 99 })),
		},

		// Loops.
		"vmem_drain_in_loop": { // behind the wait the older load is used, and the youngest
			fires:  loop(10, load, inst{"global_load_dwordx4 v[8:11], v0, s[2:3]", 0, 4}, inst{wait, 900, 4}, inst{"v_add_f32_e32 v20, v4, v21", 0, 4}),
			not:    loop(10, load, inst{"global_load_dwordx4 v[8:11], v0, s[2:3]", 0, 4}, inst{wait, 900, 4}, inst{"v_add_f32_e32 v20, v8, v21", 0, 4}),
			device: "gfx950",
		},
		"no_double_buffer": kernel( // the matrix instruction is behind the wait, and between load and wait
			waved(repeat(20, []int{0, 1, 2, 3}, []int{4}), load, inst{wait, 900, 4}, mfma, inst{branch(3), 0, 4}, endpgm),
			waved(repeat(20, []int{0, 1, 2, 3}, []int{4}), load, mfma, inst{wait, 900, 4}, inst{branch(3), 0, 4}, endpgm)),
		"scalar_load_in_loop": {
			fires: loop(10, inst{"s_load_dwordx2 s[4:5], s[0:1], 0x0", 0, 4}, inst{"s_waitcnt lgkmcnt(0)", 900, 4}),
			not:   made(of(listed([]int64{1, 1, 10, 10}, inst{"s_nop 0", 0, 4}, inst{"s_load_dwordx2 s[4:5], s[0:1], 0x0", 0, 4}, other, inst{"s_cbranch_scc1 65533", 0, 4}, endpgm))),
		},
		"late_prefetch": kernel( // 500 cycles late; the same beside a wait of 24 times that
			waved(nil, inst{"v_mov_b32_e32 v100, v101", 0, 600}, load, inst{wait, 500, 4}, other, endpgm),
			waved(nil, inst{"v_mov_b32_e32 v100, v101", 0, 600}, load, inst{wait, 500, 4}, inst{"s_barrier", 12000, 4}, endpgm)),
		"matrix_result_read_early": kernel( // read after 4 cycles, and after enough
			waved(nil, mfma, inst{"v_add_f32_e32 v20, v0, v21", 24, 4}, endpgm),
			waved(nil, mfma, other, other, other, other, other, other, other, inst{"v_add_f32_e32 v20, v0, v21", 24, 4}, endpgm)),
		"matrix_share_of_loop": {fires: loop(10, mfma, other, other), not: loop(10, mfma, mfma, other, other), device: "gfx950"}, // 1 of 4, 2 of 5
		"memory_share_of_loop": {fires: loop(10, load, load, load, mfma), not: loop(10, load, load, mfma), device: "gfx950"},     // 3 of 5, 2 of 4

		// Code.
		"legacy_matrix_shape": kernel(listed(nil, mfma, endpgm), listed(nil, inst{"v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]", 0, 16}, endpgm)),
		"narrow_loads": kernel( // half, and a third
			listed(nil, inst{"global_load_dword v1, v0, s[2:3]", 0, 4}, load, endpgm),
			listed(nil, inst{"global_load_dword v1, v0, s[2:3]", 0, 4}, load, load, endpgm)),
		"narrow_stores": kernel( // the drain is 5 % of the time, and less
			listed(nil, inst{"global_store_dword v0, v1, s[2:3]", 0, 4}, inst{"v_mov_b32_e32 v100, v101", 0, 946}, inst{"s_endpgm", 0, 50}),
			listed(nil, inst{"global_store_dword v0, v1, s[2:3]", 0, 4}, inst{"v_mov_b32_e32 v100, v101", 0, 947}, inst{"s_endpgm", 0, 49})),

		// Idioms: the pattern at two places; the data does not connect, or it is at one.
		"exp2_scaffold": kernel(
			listed(nil, twice(exp2("v2")...)...),
			listed(nil, twice(exp2("v3")...)...)), // another value is exponentiated
		"spilled_values": kernel(
			listed(nil, inst{"scratch_store_dword off, v1, off", 0, 4}, inst{"scratch_load_dword v1, off, off", 0, 4}, endpgm),
			listed(nil, inst{"scratch_load_dword v1, off, off", 0, 4}, endpgm)),
		"compare_select_nops": kernel(
			listed(nil, twice(inst{"v_cmp_gt_f32_e32 vcc, 0, v1", 0, 4}, inst{"s_nop 1", 4, 4}, inst{"v_cndmask_b32_e32 v2, v3, v4, vcc", 0, 4})...),
			listed(nil, twice(inst{"v_cmp_gt_f32_e64 s[4:5], 0, v1", 0, 4}, inst{"s_nop 1", 4, 4}, inst{"v_cndmask_b32_e32 v2, v3, v4, vcc", 0, 4})...)),
		"lds_read_use_pairs": kernel(
			listed(nil, twice(inst{"ds_read_b32 v1, v2", 0, 4}, inst{"s_waitcnt lgkmcnt(0)", 90, 4}, inst{"v_add_f32_e32 v3, v1, v4", 0, 4})...),
			listed(nil, twice(inst{"ds_read_b32 v1, v2", 0, 4}, inst{"s_waitcnt lgkmcnt(0)", 90, 4}, inst{"v_add_f32_e32 v3, v5, v4", 0, 4})...)),
		"unfused_multiply_add": kernel(
			listed(nil, twice(inst{"v_mul_f32_e32 v1, v2, v3", 0, 4}, inst{"v_add_f32_e32 v4, v1, v5", 0, 4})...),
			listed(nil, twice(inst{"v_mul_f32_e32 v1, v2, v3", 0, 4}, inst{"v_add_f32_e32 v4, v6, v5", 0, 4})...)),
		"conversion_chains": kernel(
			listed(nil, twice(inst{"v_cvt_f32_f16_e32 v1, v2", 0, 4}, inst{"v_cvt_pk_bf16_f32 v3, v1, v1", 0, 4})...),
			listed(nil, twice(inst{"v_cvt_f32_f16_e32 v1, v2", 0, 4}, inst{"v_cvt_pk_bf16_f32 v3, v4, v4", 0, 4})...)),
		"address_recomputation": {
			fires:  addressed(10),
			not:    addressed(0),
			device: "gfx950",
		},

		"narrow_lds_copies": kernel(
			listed(nil, inst{"buffer_load_dword v1, s[4:7], 0 offen lds", 0, 4}, endpgm),
			listed(nil, inst{"buffer_load_dwordx4 v1, s[4:7], 0 offen lds", 0, 4}, endpgm)),

		// Launches on 304 CUs, with 32 registers: eight workgroups of 256 on a CU.
		"grid_under_filled":   launch(256, 303, 256, 304),
		"tail":                launch(256, 2433, 256, 2432*2),
		"idle_lanes":          launch(243, 2432, 244, 2432), // 13 and 12 of 256
		"one_wave_workgroups": launch(64, 9728, 128, 4864),
		"occupancy":           {fires: waits(132, 0, 256, 4096), not: waits(132, 0, 256, 600)}, // 3 a CU: 912 places
		"registers_over_half": {fires: waits(264, 0, 256, 4096), not: waits(256, 0, 256, 4096)},
		"lds_over_half":       {fires: waits(32, 33280, 256, 4096), not: waits(32, 32768, 256, 4096)},
		"does_not_fit":        {fires: made(table(mi300x(), row(32, 65537, 256, 4096))), not: made(table(mi300x(), row(32, 65536, 256, 4096)))},
		"spills":              {fires: spill(1), not: spill(0)},
		"scratch": {
			fires: made(compiled(trace.CodeKernel{VGPRSpills: new(0), ScratchBytes: new(16)})),
			not:   made(compiled(trace.CodeKernel{VGPRSpills: new(4), ScratchBytes: new(16)})),
		},
		"dynamic_stack":               {fires: made(compiled(trace.CodeKernel{DynamicStack: new(true)})), not: made(compiled(trace.CodeKernel{DynamicStack: new(false)}))},
		"more_observed_than_possible": {fires: observed(2), not: observed(1)},
		"fewer_registers_than_code":   {fires: named(40), not: named(31)},
		"halved_vgpr_count":           {fires: halved([2]int64{68, 0}), not: halved([2]int64{64, 8})},
		"mixed_vgpr_counts":           {fires: halved([2]int64{68, 0}, [2]int64{64, 8}), not: halved([2]int64{72, 0}, [2]int64{64, 8})},

		"imbalance": {fires: loaded(occupied(1000, 1000, 1000), occupied(900, 900)), not: loaded(occupied(1000, 1000, 1000), occupied(902, 902))},
		// 7 and 8 of the 9.5 CUs of an engine.
		"cus_without_work": {fires: made(of(busy(25, 75), onCUs(7))), not: made(of(busy(25, 75), onCUs(8)))},
		"clock_below_max":  {fires: clocked(1995), not: clocked(1996)}, // of 2100 MHz
		"empty_simds":      {fires: loaded(occupied(1000, 1000, 1000, 400)), not: loaded(occupied(1000, 1000, 1000, 404))},

		// Counters.
		"bank_conflicts": {fires: counts([]string{"SQ_LDS_BANK_CONFLICT=1900", "GRBM_GUI_ACTIVE=1000"}), not: counts([]string{"SQ_LDS_BANK_CONFLICT=1890", "GRBM_GUI_ACTIVE=1000"}), device: "MI300X"},
		"unaligned_lds":  {fires: counts([]string{"SQ_LDS_UNALIGNED_STALL=1900", "GRBM_GUI_ACTIVE=1000"}), not: counts([]string{"SQ_LDS_UNALIGNED_STALL=1890", "GRBM_GUI_ACTIVE=1000"}), device: "MI300X"},
		"uncoalesced":    {fires: counts([]string{"TA_TOTAL_WAVEFRONTS_sum=24", "TCP_TOTAL_ACCESSES_sum=1600"}), not: counts([]string{"TA_TOTAL_WAVEFRONTS_sum=25", "TCP_TOTAL_ACCESSES_sum=1600"}), device: "MI300X"},
		// 30,000 x 128 + 12,000 x 64 bytes in 1000 ns are 87 % of 5324.8 GB/s.
		"l2_at_the_roof":       {fires: counts(traffic(30000, 12000, 10, 990)), not: counts(traffic(27000, 12000, 10, 990)), device: "MI300X"},
		"l2_channel_imbalance": {fires: counts(channels(1.3)), not: counts(channels(1.2)), device: "MI300X"}, // CV 12 and 8 %
		"l2_partial_lines":     {fires: counts([]string{"TCC_EA0_WRREQ_sum=100", "TCC_EA0_WRREQ_64B_sum=94"}), not: counts([]string{"TCC_EA0_WRREQ_sum=100", "TCC_EA0_WRREQ_64B_sum=95"}), device: "MI300X"},
		"l2_over_fetch":        {fires: counts(traffic(1110, 0, 0, 0)), not: counts(traffic(1100, 0, 0, 0)), device: "MI300X", params: map[string]float64{"l2.ideal_bytes": 128000}},
		"l2_reuse_lost":        {fires: counts(traffic(2000, 0, 50, 50)), not: counts(traffic(2000, 0, 51, 49)), device: "MI300X", params: map[string]float64{"l2.ideal_bytes": 128000}},
		"l2_streaming":         {fires: counts(traffic(1000, 0, 199, 3801)), not: counts(traffic(1000, 0, 200, 3800)), device: "MI300X"},
		"l2_cached":            {fires: counts(traffic(1000, 0, 90, 10)), not: counts(traffic(1000, 0, 89, 11)), device: "MI300X"},

		// Gates.
		"empty_trace": {
			fires: made(of(&trace.ThreadTrace{Path: "t", CodeState: trace.CodeNull, Files: noFiles{}})),
			not:   made(of(listed(nil, endpgm))),
		},
		"no_hits": {fires: made(of(listed([]int64{0, 0}, other, endpgm))), not: made(of(listed([]int64{0, 1}, other, endpgm)))},
		"stall_over_latency": spoiled(
			func(tt *trace.ThreadTrace) { tt.Code[2].LatencyCycles, tt.Code[2].StallCycles = 0, 33+8*8*4 },
			func(tt *trace.ThreadTrace) { tt.Code[2].StallCycles = tt.Code[2].LatencyCycles }),
		"low_coverage": spoiled(
			func(tt *trace.ThreadTrace) { extra(tt, mfma.text) },
			func(tt *trace.ThreadTrace) { extra(tt, other.text) }),
		"few_waves": spoiled(
			func(tt *trace.ThreadTrace) { keep(tt, 3) },
			func(tt *trace.ThreadTrace) { keep(tt, 4) }),
		"no_work_waves": {fires: fixture("att/early"), not: fixture("att/gemm")},
		"line_collapse": spoiled( // 3 of 5, 2 of 5
			func(tt *trace.ThreadTrace) {
				tt.Code[1].Source, tt.Code[2].Source = tt.Code[0].Source, tt.Code[0].Source
			},
			func(tt *trace.ThreadTrace) { tt.Code[1].Source = tt.Code[0].Source }),
		"no_source": spoiled(
			func(tt *trace.ThreadTrace) { unmap(tt, 0) },
			func(tt *trace.ThreadTrace) { unmap(tt, 1) }),
		"damaged_input": spoiled(
			func(tt *trace.ThreadTrace) { remark(tt, trace.Damage) },
			func(tt *trace.ThreadTrace) { remark(tt, trace.Warning) }),
		"totals_mismatch": spoiled(
			func(tt *trace.ThreadTrace) { tt.Code[2].StallCycles += 4 },
			func(tt *trace.ThreadTrace) { keep(tt, 7) }),
		"stats_mismatch": spoiled(
			func(tt *trace.ThreadTrace) { tt.Stats = sums(tt, 1) },
			func(tt *trace.ThreadTrace) { tt.Stats = sums(tt, 0) }),
		"waves_lost": spoiled(
			func(tt *trace.ThreadTrace) { started(tt, 9) },
			func(tt *trace.ThreadTrace) { started(tt, 8) }),
		"sample_not_typical": spoiled(
			func(tt *trace.ThreadTrace) { lived(tt, 126) },
			func(tt *trace.ThreadTrace) { lived(tt, 124) }),
		"wait_edges_differ": spoiled(
			func(tt *trace.ThreadTrace) { edge(tt, 3) },
			func(tt *trace.ThreadTrace) { edge(tt, 1) }),
		"architecture_conflict": {
			fires: made(of(listed(nil, inst{"v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]", 0, 16}, endpgm), agent("gfx90a"))),
			not:   made(of(listed(nil, inst{"v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]", 0, 16}, endpgm), agent("gfx950"))),
		},
		"unknown_instructions": spoiled(
			func(tt *trace.ThreadTrace) { tt.Code[2].Text = "q_frobnicate v0" },
			func(tt *trace.ThreadTrace) { tt.Code[2].Text = "v_sub_f32 v0, v1, v2" }),
		"architecture_open":  {fires: made(of(listed(nil, other, endpgm))), not: made(of(listed(nil, other, endpgm), agent("gfx942")))},
		"cycles_only":        spoiled(func(tt *trace.ThreadTrace) { tt.CyclesOnly = true }, func(*trace.ThreadTrace) {}),
		"no_wave_files":      spoiled(func(tt *trace.ThreadTrace) { tt.Waves = nil }, func(*trace.ThreadTrace) {}),
		"companion_mismatch": spoiled(dispatched(2), dispatched(1)),
	}
}

// ran runs diagnose's analyzers.
func ran(t *testing.T, p pair, tr *trace.Trace) *analysis.Outcome {
	t.Helper()
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2, Device: p.device, Params: p.params}, rules.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEveryRuleFiresAndMisses: every rule fires on a capture, by its scale or
// for a stated reason, and not on one that lacks one condition.
func TestEveryRuleFiresAndMisses(t *testing.T) {
	cases := cases()
	for _, a := range analyzers.All() {
		for i := range a.Rules {
			r := &a.Rules[i]
			t.Run(r.ID, func(t *testing.T) {
				p, ok := cases[r.ID]
				if !ok {
					t.Fatal("no capture in which it fires, none in which it does not")
				}
				delete(cases, r.ID)
				fired := func(f finding.Finding) bool { return f.ID == r.ID && f.Minor == p.minor }
				out := ran(t, p, p.fires(t))
				at := slices.IndexFunc(out.Findings, fired)
				if at < 0 {
					t.Fatalf("does not fire: %s", said(out))
				}
				graded(t, r, &out.Findings[at])
				if out := ran(t, p, p.not(t)); slices.ContainsFunc(out.Findings, fired) {
					t.Errorf("fires on the near miss: %s", said(out))
				}
			})
		}
	}
	for id := range cases {
		t.Errorf("%s is no rule", id)
	}
}

func said(out *analysis.Outcome) string {
	var s []string
	for i := range out.Findings {
		s = append(s, out.Findings[i].Severity.String()+" "+out.Findings[i].Line())
	}
	for _, k := range rules.Analyzer.Of(out).Kernels {
		s = append(s, k.Verdict)
		for _, x := range k.Silenced {
			s = append(s, x.ID+" is moot: "+x.Why)
		}
	}
	return "\n" + strings.Join(s, "\n")
}

// graded checks that the severity is the bound's, or that the rule says why
// not.
func graded(t *testing.T, r *rule.Rule, f *finding.Finding) {
	t.Helper()
	scale := rule.Scale{High: 25, Medium: 10}
	stated := r.Because != "" || r.Kind == rule.Gate || strings.Contains(r.Fires, f.Severity.String())
	if rank := f.RankPct(); f.Severity != scale.Of(rank) && (rank > 0 || f.Severity > finding.Low) && !stated {
		t.Errorf("%s without a bound of that size or a stated reason: %s", f.Severity, f.Line())
	}
	if f.Text == "" || f.Gate != (r.Kind == rule.Gate) || f.Place.Path == "" {
		t.Errorf("%+v", f)
	}
}

// TestRulesAreWhole: ids are unique, everything is described, thresholds in
// words are parameters, and no parameter has two owners of one name.
func TestRulesAreWhole(t *testing.T) {
	name := regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)
	literal := regexp.MustCompile(`[0-9] ?%`)
	owners := map[string]bool{rule.ScaleName: true}
	for _, a := range analyzers.All() {
		if owners[a.Name] && len(a.Params) > 0 {
			t.Errorf("%s owns parameters twice", a.Name)
		}
		owners[a.Name] = owners[a.Name] || len(a.Params) > 0
	}
	seen := map[string]bool{}
	for _, a := range analyzers.All() {
		for _, r := range a.Rules {
			if seen[r.ID] || !name.MatchString(r.ID) || owners[r.ID] && len(r.Params) > 0 {
				t.Errorf("id %q is taken or odd", r.ID)
			}
			seen[r.ID] = true
			whole := map[string]string{"title": r.Title, "kind": string(r.Kind), "fires": r.Fires, "source": r.Source}
			if r.Kind == rule.Gate {
				whole["means"] = r.Means
			} else {
				whole["fix"] = r.Offer()
			}
			for what, text := range whole {
				if text == "" {
					t.Errorf("%s has no %s", r.ID, what)
				}
			}
			if literal.MatchString(r.Fires) {
				t.Errorf("%s quotes a threshold that is no parameter: %s", r.ID, r.Fires)
			}
			for _, p := range r.Params {
				if !name.MatchString(p.Name) || p.Doc == "" {
					t.Errorf("%s: parameter %+v", r.ID, p)
				}
			}
		}
	}
}
