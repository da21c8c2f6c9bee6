package rules

import (
	"fmt"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// stallRule is a rule on the share of some stall classes.
func stallRule(id, title, fires string, advice []rule.Advice, source string, kind rule.Kind, classes ...stalls.Class) rule.Check[*subject] {
	return rule.Check[*subject]{Rule: rule.Rule{
		ID: id, Title: title, Kind: kind, Severity: finding.Low, Needs: needsTrace,
		Fires: fires, Advice: advice, Source: source,
		Params: sharePct(5, "share of wave cycles from which it is worth a finding"),
	}, When: stallCheck(id, classes, func(*subject, int) bool { return true })}
}

// stallRules are one rule for each cause of stall with a remedy of its own.
func stallRules() []rule.Check[*subject] {
	return []rule.Check[*subject]{
		stallRule("vmem_wait", "Waiting for loads from memory",
			"waits behind loads from memory take at least {share_pct} % of wave cycles",
			[]rule.Advice{
				{When: rule.Loop, Text: "issue the loads of the next iteration before the work of this one (loop-carried double buffer in registers or LDS), and wait for those that are needed, vmcnt(N)"},
				{When: rule.OnePass | rule.MatrixWork, Text: "issue the loads of later steps before the work of earlier ones, and wait for those that are needed, vmcnt(N)"},
				{When: rule.OnePass | rule.NoMatrix, Text: "issue all loads that do not need each other's results before the first wait, and do the addresses and constants behind them"},
				{When: rule.GEMM | rule.MatrixLoop, Text: "larger tile_k for more work per byte"},
				{Text: "more waves per SIMD where they fit"},
			},
			guide+", sections 4, 9 and 11; "+gemm+", sections 4, 8.4 and 13", rule.MemoryWaits, stalls.VMEMWait),
		stallRule("vmem_to_lds_wait", "Waiting for loads that go straight to LDS",
			"waits behind buffer_load ... lds, asynchronous or tensor copies take at least {share_pct} % of wave cycles",
			[]rule.Advice{
				{When: rule.Loop, Text: "more copies in flight: a deeper asynchronous pipeline (three LDS buffers)"},
				{When: rule.BarrierLoop, Text: "issue the copies before the barrier instead of behind it"},
				{When: rule.OnePass, Text: "start the copies before all work that does not need them, and wait for those that are needed, vmcnt(N), step by step"},
			},
			guide+", section 4 (async copy); "+gemm+", section 11", rule.MemoryWaits, stalls.VMEMToLDSWait),
		stallRule("store_drain", "Waiting for stores to end",
			"waits behind stores, and the drain of s_endpgm, take at least {share_pct} % of wave cycles",
			[]rule.Advice{
				{When: rule.MatrixWork, Text: "store results as 8 to 16 bytes per lane, neighbouring lanes side by side"},
				{When: rule.GEMM | rule.LDSReads, Text: "a CShuffle epilogue through LDS does that (tile_n >= 128)"},
				{When: rule.Streaming, Text: "store 16 bytes per lane, and give a wave several rounds, so that the stores of one end behind the loads of the next"},
				{When: rule.NoMatrix | rule.Sync, Text: "store once, as late as others can wait"},
			},
			guide+", sections 6 and 11; "+gemm+", section 7", rule.MemoryWaits, stalls.StoreWait, stalls.StoreDrain),
		stallRule("lds_wait", "Waiting for LDS",
			"waits behind LDS reads and writes take at least {share_pct} % of wave cycles",
			[]rule.Advice{
				{When: rule.LDSReads, Text: "issue LDS reads earlier than their results are used, and wait for those that are needed, lgkmcnt(N)"},
				{When: rule.LDSReads | rule.MatrixWork, Text: "put MFMAs on fragments that are there between a read and its wait"},
				{When: rule.LDSReads | rule.MatrixLoop | rule.BarrierLoop | rule.GEMM, Text: "read the first fragment right behind the barrier (A0 prefetch)"},
				{When: rule.LDSWrites, Text: "put independent instructions between an LDS write and the wait behind it"},
				{When: rule.Reduction, Text: "reduce inside the wave first (DPP), so that one value per wave goes through LDS"},
				{Text: "where the LDS instructions stall themselves, remove bank conflicts first"},
			},
			guide+", sections 0, 3 and 9; "+gemm+", sections 4.3 and 8.4", rule.Waits, stalls.LDSWait),
		stallRule("cross_lane_wait", "Waiting for cross-lane operations",
			"waits behind ds_swizzle, ds_permute and ds_bpermute take at least {share_pct} % of wave cycles",
			[]rule.Advice{{Text: "use DPP or v_permlane* moves instead of the LDS crossbar, reduce several values per step, fewer steps"}},
			srcISA+" (DPP)", rule.Waits, stalls.CrossLaneWait),
		stallRule("smem_wait", "Waiting for scalar loads",
			"waits behind s_load and s_buffer_load take at least {share_pct} % of wave cycles",
			[]rule.Advice{
				{Text: "preload kernel arguments (amdgpu-kernarg-preload-count), load descriptors and arguments together at the start"},
				{When: rule.ScalarLoop, Text: "hoist scalar loads out of loops"},
			},
			"LLVM AMDGPUUsage, \"Preloaded Kernel Arguments\"", rule.Waits, stalls.SMEMWait),
		stallRule("lds_or_smem_wait", "Waiting for LDS or scalar loads",
			"lgkmcnt waits whose producer the code does not tell take at least {share_pct} % of wave cycles",
			[]rule.Advice{{Text: "capture with wave files: they tell LDS from scalar loads, and the remedies differ"}},
			guide+", section 9", rule.Waits, stalls.LGKMWait),
		stallRule("fence_wait", "Waiting for fences",
			"waits behind write-backs and invalidations of caches, and these themselves, take at least {share_pct} % of wave cycles",
			[]rule.Advice{
				{Text: "fewer fences: one per workgroup, not one per wave or element; none beside an atomic that orders already (acquire or release of its own)"},
				{Text: "narrower fences: workgroup scope where only the workgroup reads what was written, device scope instead of system scope"},
			},
			srcMemory, rule.Waits, stalls.FenceWait, stalls.CacheControl),
		stallRule("atomic_wait", "Waiting for atomics that return",
			"waits behind atomics that return the old value take at least {share_pct} % of wave cycles",
			[]rule.Advice{
				{Text: "fewer atomics on one address: combine in the wave and the workgroup first, then one atomic for each workgroup"},
				{Text: "where the old value is not needed use the form that does not return it; what loops on compare-and-swap is often an addition, minimum or maximum that the hardware has"},
			},
			srcMemory, rule.Waits, stalls.AtomicWait),
		stallRule("spin_wait", "Waiting in a polling loop",
			"reading a flag again and again takes at least {share_pct} % of wave cycles",
			[]rule.Advice{
				{Text: "the loads are not the problem: look at who sets the flag, another workgroup, GPU or the host, and why so late; one wave of a workgroup is enough to poll"},
			},
			srcMemory, rule.Waits, stalls.PollWait),
		stallRule("barrier", "Waiting at barriers",
			"barriers take at least {share_pct} % of wave cycles",
			[]rule.Advice{
				{When: rule.BarrierLoop, Text: "fewer barriers per iteration (two LDS buffers need one), the next phase's loads before the barrier"},
				{When: rule.Reduction, Text: "reduce inside the wave first (DPP), and exchange through LDS once, with one barrier"},
				{When: rule.OnePass | rule.MatrixWork, Text: "the next phase's loads before the barrier"},
				{Text: "give all waves equal work: the last one to come sets the time"},
			},
			guide+", sections 0, 9 and 11; "+gemm+", section 8.4", rule.Waits, stalls.Barrier),
		stallRule("lds_issue", "LDS instructions that cannot issue",
			"ds_* instructions stall by themselves for at least {share_pct} % of wave cycles",
			[]rule.Advice{
				{Text: "bank conflicts are the first suspect: XOR swizzle of the column by the row (the same on write and read), or padding; check the width of the swizzle for the banks of this architecture (gfx950: 64 for ds_read_b64 and b128, else 32)"},
				{When: rule.MatrixWork, Text: "else spread the LDS instructions between MFMAs"},
			},
			guide+", sections 3, 9 and 11; "+gemm+", sections 3 and 13", rule.Waits, stalls.LDSIssue),
		stallRule("vmem_issue", "Loads and stores that cannot issue",
			"vector memory instructions stall by themselves for at least {share_pct} % of wave cycles: their queue is full",
			[]rule.Advice{{Text: "fewer, wider and coalesced accesses (dwordx4, neighbouring lanes on neighbouring addresses), fewer loads at a time; if memory is saturated the loads cannot go faster"}},
			gemm+", section 8.4 (TA-blocked)", rule.MemoryWaits, stalls.VMEMIssue),
		stallRule("mfma_dependency", "Waiting for results of matrix instructions",
			"instructions that read a matrix result too soon stall for at least {share_pct} % of wave cycles",
			[]rule.Advice{{Text: "more independent accumulators between dependent MFMAs, reorder (sched_group_barrier hints), larger tiles per wave"}},
			guide+", section 5; "+gemm+", section 5", rule.Waits, stalls.MFMADependency),
		stallRule("pipeline_bubble", "s_nop wait states",
			"s_nop takes at least {share_pct} % of wave cycles",
			[]rule.Advice{
				{Text: "fill the wait states with independent instructions"},
				{When: rule.MatrixLoop, Text: "scheduling hints (hot_loop_scheduler, sched_group_barrier), loads between MFMAs"},
				{When: rule.NoMatrix, Text: "they stand between an instruction that writes a mask or moves lanes and its reader: work on two independent values in turn"},
			},
			guide+", sections 5, 9 and 11; "+gemm+", sections 5, 8.4 and 13", rule.Waits, stalls.Bubble),
		stallRule("valu_dependency", "Vector instructions that cannot issue",
			"VALU instructions stall for at least {share_pct} % of wave cycles while no other wave uses the VALU, or it is not known whether one does",
			[]rule.Advice{{Text: "interleave independent chains, use packed forms (v_pk_*), move uniform arithmetic to scalar instructions, more waves per SIMD"}},
			srcISA, rule.Waits, stalls.VALUDependency, stalls.VALU, stalls.ALUWait),
	}
}

// stallCheck adds up the stall of some classes over the rows that a rule looks
// at; the place is the row that costs most.
func stallCheck(id string, classes []stalls.Class, looks func(s *subject, row int) bool) func(*subject, rule.Values) []rule.Hit {
	return func(s *subject, values rule.Values) []rule.Hit {
		var sum, most cost
		top, sites, waitsForWrites := -1, 0, !slices.Contains(classes, stalls.LDSWait)
		for row := range s.rows {
			if !looks(s, row) {
				continue
			}
			c := s.stallOf(row, classes)
			if c.cycles == 0 {
				continue
			}
			sites++
			sum.add(c)
			waitsForWrites = waitsForWrites || s.waitsForWrites(row)
			if top < 0 || c.exposed > most.exposed || c.exposed == most.exposed && c.cycles > most.cycles {
				top, most = row, c
			}
		}
		limit := values("share_pct")
		if top < 0 || s.share(sum) < min(limit, values(rule.MinorPct)) {
			return nil
		}
		h := s.costHit(id, sum, limit)
		h.Place, h.Where = s.place(top)
		if !waitsForWrites {
			h.Lacks = rule.LDSWrites
		}
		h.Text = fmt.Sprintf("%.1f %% of wave cycles; %.0f %% of that at %s%s",
			s.share(sum), 100*float64(most.cycles)/float64(sum.cycles), s.tt.Code[top].Text, s.waitsFor(top, classes))
		if sites > 1 {
			h.Text += ", the rest at " + plural(int64(sites-1), "other place")
		}
		return []rule.Hit{h}
	}
}

// waitsForWrites reports whether a wait waited for writes to LDS.
func (s *subject) waitsForWrites(row int) bool {
	site := s.replay.Site(row, s.stalls.AllWaves)
	return site != nil && slices.ContainsFunc(site.Producers, func(p replay.ProducerCount) bool { return s.insts[p.Row].Class == isa.LDSWrite })
}

// costHit is a hit with a cost as evidence and bound.
func (s *subject) costHit(metric string, c cost, limit float64) rule.Hit {
	return rule.Hit{
		Bound: s.bound(c), Saves: c.saves, Minor: s.share(c) < limit,
		Evidence: []finding.Evidence{{Metric: metric, Value: s.share(c), Unit: "% of wave cycles", Threshold: &limit, Source: "code.json, wave files"}},
	}
}

// waitsFor names the instruction of some classes that a wait most often waited
// for.
func (s *subject) waitsFor(row int, classes []stalls.Class) string {
	site := s.replay.Site(row, s.stalls.AllWaves)
	if site == nil {
		return ""
	}
	var top replay.ProducerCount
	for _, p := range site.Producers {
		if slices.Contains(classes, stalls.OfWait(p.Class)) && p.Count > top.Count {
			top = p
		}
	}
	if top.Count == 0 {
		return ""
	}
	in := &s.tt.Code[top.Row]
	return fmt.Sprintf(", which waits for %s at line %d", s.insts[top.Row].Mnemonic, in.Line)
}
