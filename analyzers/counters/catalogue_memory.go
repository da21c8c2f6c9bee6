package counters

// The byte formulas of the L2-to-fabric interface (EA). Requests are 32, 64 or
// 128 bytes; the counter of all of them is not enough to know how many bytes
// moved. Sources: rocprofiler-compute analysis_configs/*/1700_L2_cache.yaml;
// rocprofiler-sdk counter_defs.yaml (FETCH_SIZE, WRITE_SIZE); rocm-systems
// #1039 (128-byte requests are part of RDREQ), #2501 (gfx950), #8022 (gfx12),
// #2352, #3100 (gfx1151).
const (
	readOneDie = "64 * (TCC_EA0_RDREQ - TCC_EA0_RDREQ_32B) + 32 * TCC_EA0_RDREQ_32B"
	readCDNA3  = "128 * TCC_BUBBLE + 64 * (TCC_EA0_RDREQ - TCC_BUBBLE - TCC_EA0_RDREQ_32B) + 32 * TCC_EA0_RDREQ_32B"
	readCDNA4  = "128 * TCC_EA0_RDREQ_128B + 64 * TCC_EA0_RDREQ_64B + 32 * TCC_EA0_RDREQ_32B"
	readRDNA   = "32 * GL2C_EA_RDREQ_32B + 64 * GL2C_EA_RDREQ_64B + 96 * GL2C_EA_RDREQ_96B + 128 * GL2C_EA_RDREQ_128B"
	readGFX12  = "32 * GL2C_EA_RDREQ_32B + 64 * GL2C_EA_RDREQ_64B + 128 * GL2C_EA_RDREQ_128B + 256 * (GL2C_EA_RDREQ - GL2C_EA_RDREQ_32B - GL2C_EA_RDREQ_64B - GL2C_EA_RDREQ_128B)"
	writeCDNA  = "64 * TCC_EA0_WRREQ_64B + 32 * (TCC_EA0_WRREQ - TCC_EA0_WRREQ_64B)"
	writeRDNA  = "64 * GL2C_EA_WRREQ_64B + 32 * (GL2C_MC_WRREQ - GL2C_EA_WRREQ_64B)"
	writeGFX12 = "64 * GL2C_EA_WRREQ_64B + 256 * (GL2C_EA_WRREQ - GL2C_EA_WRREQ_64B)"
	// lowAllButSmall and highAllButSmall bound the bytes when the 32-byte
	// requests are known and the others may be 64 or 128 bytes.
	lowAllButSmall  = "64 * (TCC_EA0_RDREQ - TCC_EA0_RDREQ_32B) + 32 * TCC_EA0_RDREQ_32B"
	highAllButSmall = "128 * (TCC_EA0_RDREQ - TCC_EA0_RDREQ_32B) + 32 * TCC_EA0_RDREQ_32B"
	noteRange       = "requests of 64 and 128 bytes were not told apart"
	noteHalf        = "FETCH_SIZE counted half of the bytes on this architecture before it was fixed (gfx950: rocm-systems #2501; gfx1151: #2352, #3100)"
	noteFetchAny    = "the architecture is not known, and FETCH_SIZE counted half of the bytes on some (gfx950: rocm-systems #2501; gfx1151: #2352, #3100; gfx94x before ROCm 6.3)"
	noteFetchOld    = "rocprof v1 and v2 count every read of gfx94x that is not 32 bytes as 128: half of it where they are 64"
	noteFetch       = "the profiler's own FETCH_SIZE; on gfx94x it counted 128-byte reads as 64 before ROCm 6.3"
)

// halved are the architectures whose FETCH_SIZE was half for a while.
func halved() []string { return []string{"gfx950", "gfx1151"} }

// fetchWhole are those whose FETCH_SIZE is right.
func fetchWhole() []string {
	var out []string
	for _, a := range append(oneDie(), append(cdna3(), rdna23()...)...) {
		if a != "gfx1151" {
			out = append(out, a)
		}
	}
	return out
}

// readFormulas are the bytes that L2 read; tail is put behind every
// expression.
func readFormulas(tail string) []Formula {
	exact := func(archs []string, expr, source string) Formula {
		return Formula{Archs: archs, Expr: scaled(expr, tail), Source: source}
	}
	between := func(archs []string, low, high, note string) Formula {
		return Formula{Archs: archs, Low: scaled(low, tail), High: scaled(high, tail), Note: note, Source: srcCompute}
	}
	old := between(cdna3(), "512 * FETCH_SIZE", "1024 * FETCH_SIZE", noteFetchOld)
	old.Formats = []string{wideTables}
	fetch := exact(fetchWhole(), "1024 * FETCH_SIZE", srcSDK)
	fetch.Note = noteFetch
	return []Formula{
		exact(oneDie(), readOneDie, srcCompute),
		exact(cdna3(), readCDNA3, srcCompute),
		exact(cdna4(), readCDNA4, "rocm-systems #2501"),
		exact(rdna23(), readRDNA, srcSDK),
		exact(rdna4(), readGFX12, "rocm-systems #8022"),
		exact([]string{"gfx1250", "gfx1251"}, "32 * GC_EA_SE_SARB_DRAM_RD_SIZE_REQ", srcSDK),
		old,
		fetch,
		between(halved(), "1024 * FETCH_SIZE", "2048 * FETCH_SIZE", noteHalf),
		between(cdna34(), lowAllButSmall, highAllButSmall, noteRange),
		between(cdna34(), "32 * TCC_EA0_RDREQ", "128 * TCC_EA0_RDREQ", "requests of 32, 64 and 128 bytes were not told apart"),
		between(oneDie(), "32 * TCC_EA0_RDREQ", "64 * TCC_EA0_RDREQ", "requests of 32 and 64 bytes were not told apart"),
		between(cdna(), lowAllButSmall, highAllButSmall, "the architecture is not known: requests may be 64 or 128 bytes"),
		between(cdna(), "32 * TCC_EA0_RDREQ", "128 * TCC_EA0_RDREQ", "the architecture is not known: requests may be 32, 64 or 128 bytes"),
		between(nil, "1024 * FETCH_SIZE", "2048 * FETCH_SIZE", noteFetchAny),
	}
}

func writeFormulas(tail string) []Formula {
	exact := func(archs []string, expr, source string) Formula {
		return Formula{Archs: archs, Expr: scaled(expr, tail), Source: source}
	}
	size := exact(nil, "1024 * WRITE_SIZE", srcSDK)
	size.Note = "the profiler's own WRITE_SIZE"
	return []Formula{
		exact(cdna(), writeCDNA, srcCompute),
		exact(rdna23(), writeRDNA, srcSDK),
		exact(rdna4(), writeGFX12, srcSDK),
		exact([]string{"gfx1250", "gfx1251"}, "32 * GC_EA_SE_SARB_DRAM_WR_SIZE_REQ", srcSDK),
		size,
		exact(nil, "32 * WRITE_REQ_32B", srcDerived),
		{Archs: cdna(), Low: scaled("32 * TCC_EA0_WRREQ", tail), High: scaled("64 * TCC_EA0_WRREQ", tail), Note: "writes of 32 and 64 bytes were not told apart", Source: srcCompute},
	}
}

func scaled(expr, tail string) string {
	if tail == "" {
		return expr
	}
	return "(" + expr + ")" + tail
}

func fabricMetrics() []Metric {
	return []Metric{
		{
			ID: "ea_read_bytes", Group: GroupFabric, Title: "L2 reads from memory", Unit: "bytes", Denominator: "per dispatch", Over: overPasses,
			Doc:      "Bytes that L2 fetched over the fabric: HBM, the memory-side cache, other GPUs and the host. 128-byte requests are counted by TCC_BUBBLE on gfx94x and by TCC_EA0_RDREQ_128B on gfx950, where TCC_BUBBLE reads 0.",
			Formulas: readFormulas(""),
		},
		{
			ID: "ea_write_bytes", Group: GroupFabric, Title: "L2 writes to memory", Unit: "bytes", Denominator: "per dispatch", Over: overPasses,
			Doc:      "Dirty lines that stay in L2 past the end of the kernel are not in it.",
			Formulas: writeFormulas(""),
		},
		{
			ID: "hbm_read_bytes", Group: GroupFabric, Title: "read from HBM", Unit: "bytes", Denominator: "per dispatch",
			Formulas: on(cdna4(), "32 * TCC_EA0_RDREQ_DRAM_32B", "rocm-systems #2501"),
		},
		{
			ID: "hbm_write_bytes", Group: GroupFabric, Title: "written to HBM", Unit: "bytes", Denominator: "per dispatch",
			Formulas: on(cdna4(), "32 * (TCC_EA0_WRREQ_WRITE_DRAM_32B + TCC_EA0_WRREQ_ATOMIC_DRAM_32B)", "rocm-systems #2501"),
		},
		{
			ID: "remote_read_bytes", Group: GroupFabric, Title: "read from other GPUs and the host", Unit: "bytes", Denominator: "per dispatch",
			Formulas: on(cdna4(), "32 * (TCC_EA0_RDREQ_GMI_32B + TCC_EA0_RDREQ_IO_32B)", "rocm-systems #2501"),
		},
		{
			ID: "hbm_read_req_pct", Group: GroupFabric, Title: "reads that go to HBM", Unit: "%", Denominator: "of L2 read requests", Max: 100, Over: overPasses,
			Doc:      "The rest goes to other GPUs (GMI, xGMI) or the host (IO).",
			Formulas: on(gfx9(), "100 * TCC_EA0_RDREQ_DRAM / TCC_EA0_RDREQ", srcCompute),
		},
		{
			ID: "remote_read_req_pct", Group: GroupFabric, Title: "reads from elsewhere (GMI, IO)", Unit: "%", Denominator: "of L2 read requests", Max: 100, Over: overPasses,
			Formulas: on(gfx9(), "100 * (TCC_EA0_RDREQ - TCC_EA0_RDREQ_DRAM) / TCC_EA0_RDREQ", srcCompute),
		},
		{
			ID: "hbm_write_req_pct", Group: GroupFabric, Title: "writes that go to HBM", Unit: "%", Denominator: "of L2 write requests", Max: 100, Over: overPasses,
			Formulas: on(gfx9(), "100 * TCC_EA0_WRREQ_DRAM / TCC_EA0_WRREQ", srcCompute),
		},
		{
			ID: "req_32B_pct", Group: GroupFabric, Title: "partial reads (32 B)", Unit: "%", Denominator: "of L2 read requests", Max: 100, Over: overPasses,
			Formulas: []Formula{
				{Archs: gfx9(), Expr: "100 * TCC_EA0_RDREQ_32B / TCC_EA0_RDREQ", Source: srcCompute},
				{Archs: rdna(), Expr: "100 * GL2C_EA_RDREQ_32B / GL2C_EA_RDREQ", Source: srcSDK},
			},
		},
		{
			ID: "req_64B_pct", Group: GroupFabric, Title: "half-line reads (64 B)", Unit: "%", Denominator: "of L2 read requests", Max: 100, Over: overPasses,
			Doc: "The line is 128 B: a 64-byte read fetched half of it.",
			Formulas: []Formula{
				{Archs: cdna3(), Expr: "100 * (TCC_EA0_RDREQ - TCC_BUBBLE - TCC_EA0_RDREQ_32B) / TCC_EA0_RDREQ", Source: "rocm-systems #1039"},
				{Archs: cdna4(), Expr: "100 * TCC_EA0_RDREQ_64B / TCC_EA0_RDREQ", Source: "rocm-systems #2501"},
			},
		},
		{
			ID: "req_128B_pct", Group: GroupFabric, Title: "full-line reads (128 B)", Unit: "%", Denominator: "of L2 read requests", Max: 100, Over: overPasses,
			Formulas: []Formula{
				{Archs: cdna3(), Expr: "100 * TCC_BUBBLE / TCC_EA0_RDREQ", Source: "rocm-systems #1039"},
				{Archs: cdna4(), Expr: "100 * TCC_EA0_RDREQ_128B / TCC_EA0_RDREQ", Source: "rocm-systems #2501"},
			},
		},
		{
			ID: "partial_write_pct", Group: GroupFabric, Title: "partial writes (32 B)", Unit: "%", Denominator: "of L2 write requests", Max: 100, Over: overPasses,
			Formulas: on(gfx9(), "100 * (TCC_EA0_WRREQ - TCC_EA0_WRREQ_64B) / TCC_EA0_WRREQ", srcCompute),
		},
	}
}

func rateMetrics() []Metric {
	return []Metric{
		{
			ID: "ea_read_GBps", Group: GroupFabric, Title: "L2 read bandwidth", Unit: "GB/s", Denominator: "of the duration", Peak: "memory", Over: overPeak,
			Formulas: readFormulas(" / DURATION_NS"),
		},
		{
			ID: "ea_write_GBps", Group: GroupFabric, Title: "L2 write bandwidth", Unit: "GB/s", Denominator: "of the duration", Peak: "memory", Over: overPeak,
			Formulas: writeFormulas(" / DURATION_NS"),
		},
		{
			ID: "ea_read_latency_cyc", Group: GroupFabric, Title: "read latency", Unit: "cycles", Denominator: "per L2 read request",
			Formulas: on(gfx9(), "TCC_EA0_RDREQ_LEVEL / TCC_EA0_RDREQ", srcCompute),
		},
		{
			ID: "ea_write_latency_cyc", Group: GroupFabric, Title: "write latency", Unit: "cycles", Denominator: "per L2 write request",
			Formulas: on(gfx9(), "TCC_EA0_WRREQ_LEVEL / TCC_EA0_WRREQ", srcCompute),
		},
		{
			ID: "ea_atomic_latency_cyc", Group: GroupFabric, Title: "atomic latency", Unit: "cycles", Denominator: "per L2 atomic request",
			Formulas: on(gfx9(), "TCC_EA0_ATOMIC_LEVEL / TCC_EA0_ATOMIC", srcCompute),
		},
		{
			ID: "fetch_GBps", Group: GroupFabric, Title: "FETCH_SIZE bandwidth", Unit: "GB/s", Denominator: "of the duration",
			Doc:      "FETCH_SIZE is in KiB. It was half of the truth on gfx950 (rocm-systems #2501) and gfx1151 (#2352, #3100), and 0 on gfx12 (#8022), before these were fixed.",
			Formulas: one("1024 * FETCH_SIZE / DURATION_NS", srcSDK),
		},
	}
}

func l1Metrics() []Metric {
	const misses = "(TCP_TCC_READ_REQ + TCP_TCC_WRITE_REQ + TCP_TCC_ATOMIC_WITH_RET_REQ + TCP_TCC_ATOMIC_WITHOUT_RET_REQ)"
	return []Metric{
		{
			ID: "vl1d_hit_pct", Group: GroupL1, Title: "vL1D hit rate", Unit: "%", Denominator: "of cache accesses", Max: 100, Over: overPasses,
			Formulas: []Formula{
				{Archs: cdna(), Expr: "100 - 100 * " + misses + " / TCP_TOTAL_CACHE_ACCESSES", Source: srcCompute},
				{Archs: rdna(), Expr: "100 * (TCP_REQ - TCP_REQ_MISS) / TCP_REQ", Source: srcCompute},
			},
		},
		{
			ID: "gl1_hit_pct", Group: GroupL1, Title: "GL1 hit rate", Unit: "%", Denominator: "of GL1 requests", Max: 100, Over: overPasses,
			Formulas: on(rdna(), "100 * (GL1C_REQ - GL1C_REQ_MISS) / GL1C_REQ", srcCompute),
		},
		{
			ID: "vl1d_bw_GBps", Group: GroupL1, Title: "vL1D bandwidth", Unit: "GB/s", Denominator: "of the duration",
			Cap: "1024 * SQ_INSTS_VMEM / DURATION_NS", OverCap: "each access was counted as a whole line, of which lanes take a part", Nominal: true,
			Doc: "Counts every access as a whole line (64 B up to gfx90a, 128 B later).",
			Formulas: []Formula{
				{Archs: oneDie(), Expr: "64 * TCP_TOTAL_CACHE_ACCESSES / DURATION_NS", Source: srcCompute},
				{Archs: cdna34(), Expr: "128 * TCP_TOTAL_CACHE_ACCESSES / DURATION_NS", Source: srcCompute},
			},
		},
		{ID: "vl1d_accesses", Group: GroupL1, Title: "vL1D cache accesses", Unit: "accesses", Denominator: "per dispatch", Formulas: on(gfx9(), "TCP_TOTAL_CACHE_ACCESSES", srcSDK)},
		{
			ID: "coalescing_pct", Group: GroupL1, Title: "coalescing", Unit: "%", Denominator: "of perfect coalescing", Max: 100, Over: overPasses,
			Doc:      "25 % is the worst. A stream of 8 bytes per lane has 25 % as well: there it is no fault.",
			Formulas: on(cdna(), "100 * TA_TOTAL_WAVEFRONTS * 64 / (TCP_TOTAL_ACCESSES * 4)", srcCompute),
		},
		{
			ID: "utcl1_hit_pct", Group: GroupL1, Title: "UTCL1 (TLB) hit rate", Unit: "%", Denominator: "of translation requests", Max: 100, Over: overPasses,
			Formulas: on(gfx9(), "100 * TCP_UTCL1_TRANSLATION_HIT / TCP_UTCL1_REQUEST", srcCompute),
		},
		{
			ID: "ta_busy_pct", Group: GroupL1, Title: "address unit busy", Unit: "%", Denominator: "of GPU busy x CUs", Max: 100, Over: overXCC,
			Formulas: on(gfx9(), "100 * TA_TA_BUSY / (GX * CU)", srcCompute),
		},
		{
			ID: "td_busy_pct", Group: GroupL1, Title: "data return unit busy", Unit: "%", Denominator: "of GPU busy x CUs", Max: 100, Over: overXCC,
			Formulas: on(gfx9(), "100 * TD_TD_BUSY / (GX * CU)", srcCompute),
		},
		{
			ID: "l1_l2_stall_pct", Group: GroupL1, Title: "vL1D waiting for L2", Unit: "%", Denominator: "of vL1D busy cycles", Max: 100, Over: overPasses,
			Formulas: on(gfx9(), "100 * TCP_PENDING_STALL_CYCLES / TCP_GATE_EN2", srcCompute),
		},
	}
}

// overLDS says what is in LDS cycles that no instruction explains.
const overLDS = "cycles of stalls are among them (SQ_LDS_UNALIGNED_STALL, SQ_LDS_ADDR_CONFLICT)"

// ldsUseful are the formulas of the LDS cycles that move data, times something:
// SQ_LDS_IDX_ACTIVE counts all cycles of indexed operations, also those in which
// the LDS is stalled. SQ_LDS_ATOMIC_RETURN are cycles that return data,
// SQ_LDS_MEM_VIOLATIONS are lanes, no cycles. Source: rocprofiler-sdk
// counter_defs.yaml, descriptions.
func ldsUseful(before, after string) []Formula {
	return []Formula{
		{Archs: cdna2up(), Expr: before + "(SQ_LDS_IDX_ACTIVE - SQ_LDS_BANK_CONFLICT - SQ_LDS_UNALIGNED_STALL - SQ_LDS_ADDR_CONFLICT)" + after, Source: srcSDK},
		{Archs: cdna2up(), Expr: before + "(SQ_LDS_IDX_ACTIVE - SQ_LDS_BANK_CONFLICT - SQ_LDS_UNALIGNED_STALL)" + after, Source: srcSDK},
	}
}

// ldsUnknown bounds the useful cycles where not all stalls were counted.
func ldsUnknown(low, high string) Formula {
	return Formula{Archs: cdna(), Low: low, High: high, Source: srcSDK, Note: "not all stalls of the LDS were counted: at most so much moved data"}
}

func ldsMetrics() []Metric {
	return []Metric{
		{
			ID: "lds_conflicts_per_access", Group: GroupLDS, Title: "conflict cycles per access (rocprof-compute)", Unit: "cycles", Denominator: "per conflict-free LDS cycle",
			Formulas: append(on(cdna(), "SQ_LDS_BANK_CONFLICT / (SQ_LDS_IDX_ACTIVE - SQ_LDS_BANK_CONFLICT)", srcCompute), own("LdsBankConflict")),
		},
		{
			ID: "lds_bank_conflict_rate_pct", Group: GroupLDS, Title: "bank conflict rate (rocprof-compute)", Unit: "%", Denominator: "of the worst case, 32 cycles per access", Max: 100, Over: overPasses,
			Formulas: on(cdna(), "100 * SQ_LDS_BANK_CONFLICT / (SQ_LDS_IDX_ACTIVE - SQ_LDS_BANK_CONFLICT) / 32", srcCompute),
		},
		{
			ID: "lds_bank_conflict_pct", Group: GroupLDS, Title: "LDSBankConflict (SDK)", Doc: "On CDNA of GPU busy x CUs, on RDNA of the cycles in which LDS was active.", Unit: "%", Denominator: "of busy or LDS cycles", Max: 100, Over: overXCC,
			Formulas: append([]Formula{
				{Archs: cdna(), Expr: "100 * SQ_LDS_BANK_CONFLICT / (GX * CU)", Source: srcSDK},
				{Archs: rdna(), Expr: "100 * SQC_LDS_BANK_CONFLICT / SQC_LDS_IDX_ACTIVE", Source: srcSDK},
			}, perDie("LDSBankConflict")...),
		},
		{
			ID: "conflict_cycles_per_lds_inst", Group: GroupLDS, Title: "conflict cycles per instruction (Metrix)", Unit: "cycles", Denominator: "per LDS instruction",
			Formulas: on(gfx9(), "SQ_LDS_BANK_CONFLICT / SQ_INSTS_LDS", "AMDResearch intellikit Metrix"),
		},
		{
			ID: "lds_util_pct", Group: GroupLDS, Title: "LDS busy", Unit: "%", Denominator: "of GPU busy x CUs", Max: 100, Over: overXCC,
			Doc:      "Cycles of bank conflicts, unaligned accesses and address conflicts included: see lds_useful_pct.",
			Formulas: append(on(gfx9(), "100 * SQ_LDS_IDX_ACTIVE / (GX * CU)", srcCompute), own("LdsUtil")),
		},
		{
			ID: "lds_useful_pct", Group: GroupLDS, Title: "LDS useful cycles", Unit: "%", Denominator: "of GPU busy x CUs", Max: 100, Over: overXCC,
			Doc:      "LDS busy without the cycles in which it is stalled by bank conflicts, unaligned accesses and address conflicts: only these move data.",
			Cap:      "100 * 8 * SQ_INSTS_LDS / (GX * CU)",
			OverCap:  overLDS,
			Formulas: append(ldsUseful("100 * ", " / (GX * CU)"), ldsUnknown("0", "100 * (SQ_LDS_IDX_ACTIVE - SQ_LDS_BANK_CONFLICT) / (GX * CU)"), ldsUnknown("0", "100 * SQ_LDS_IDX_ACTIVE / (GX * CU)")),
		},
		{
			ID: "lds_unaligned_pct", Group: GroupLDS, Title: "LDS stalled by unaligned accesses", Unit: "%", Denominator: "of GPU busy x CUs", Max: 100, Over: overXCC,
			Doc:      "An access whose address is no multiple of its width is taken apart: 16 bytes at a row pitch that is no multiple of 16 take several times the cycles.",
			Formulas: on(cdna2up(), "100 * SQ_LDS_UNALIGNED_STALL / (GX * CU)", srcSDK),
		},
		{
			ID: "lds_unaligned_of_lds_pct", Group: GroupLDS, Title: "unaligned accesses", Unit: "%", Denominator: "of LDS busy cycles", Max: 100, Over: overPasses,
			Formulas: on(cdna2up(), "100 * SQ_LDS_UNALIGNED_STALL / SQ_LDS_IDX_ACTIVE", srcSDK),
		},
		{
			ID: "lds_addr_conflict_pct", Group: GroupLDS, Title: "LDS stalled by address conflicts", Unit: "%", Denominator: "of GPU busy x CUs", Max: 100, Over: overXCC,
			Doc:      "Lanes of one atomic instruction on the same address, one after another.",
			Formulas: on(cdna2up(), "100 * SQ_LDS_ADDR_CONFLICT / (GX * CU)", srcSDK),
		},
		{
			ID: "lds_bytes", Group: GroupLDS, Title: "LDS traffic", Unit: "bytes", Denominator: "per dispatch",
			Doc:      "Useful cycles times 4 bytes a bank: what the LDS could have moved in them. A wave's instruction moves 16 bytes per lane at most.",
			Cap:      "1024 * SQ_INSTS_LDS",
			OverCap:  overLDS,
			Formulas: append(ldsUseful("", " * 4 * LDS_BANKS"), on(cdna(), "(SQ_LDS_IDX_ACTIVE - SQ_LDS_BANK_CONFLICT) * 4 * LDS_BANKS", srcCompute)...),
		},
		{
			ID: "lds_bw_GBps", Group: GroupLDS, Title: "LDS bandwidth", Unit: "GB/s", Denominator: "of the duration", Peak: "lds", Over: overPeak,
			Cap:      "1024 * SQ_INSTS_LDS / DURATION_NS",
			OverCap:  overLDS,
			Formulas: append(ldsUseful("", " * 4 * LDS_BANKS / DURATION_NS"), on(cdna(), "(SQ_LDS_IDX_ACTIVE - SQ_LDS_BANK_CONFLICT) * 4 * LDS_BANKS / DURATION_NS", srcCompute)...),
		},
		{ID: "lds_instructions", Group: GroupLDS, Title: "LDS instructions", Unit: "instructions", Denominator: "per dispatch", Formulas: one("SQ_INSTS_LDS", srcSDK)},
	}
}
