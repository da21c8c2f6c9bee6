package counters

// flopsVALU is 64 lanes times operations; a fused multiply-add counts as two.
// Source: rocprofiler-compute analysis_configs/*/1100_compute_unit_compute_pipeline.yaml.
func flopsVALU(typ string) string {
	return "64 * (SQ_INSTS_VALU_ADD_" + typ + " + SQ_INSTS_VALU_MUL_" + typ + " + SQ_INSTS_VALU_TRANS_" + typ + " + 2 * SQ_INSTS_VALU_FMA_" + typ + ")"
}

// mops counts matrix operations in units of 512 (FLOPs, not multiply-adds: a
// 16x16x16 fp16 instruction is 8192 FLOPs and 16 MOPS).
const mops = "512 * SQ_INSTS_VALU_MFMA_MOPS_"

func computeMetrics() []Metric {
	util := func(id, title, expr string) Metric {
		return Metric{
			ID: id, Group: GroupCompute, Title: title, Unit: "%", Denominator: "of GPU busy x CUs", Max: 100, Over: overXCC,
			Formulas: on(gfx9(), expr, srcCompute),
		}
	}
	mfma := util("mfma_util_pct", "MFMA (matrix) busy", "100 * SQ_VALU_MFMA_BUSY_CYCLES / (GX * CU * SIMD)")
	mfma.Denominator = "of GPU busy x SIMDs"
	mfma.Formulas[0].Archs = cdna2up()
	mfma.Formulas = append(mfma.Formulas, perDie("MfmaUtil")...)
	valu := util("valu_util_pct", "VALU busy", "100 * SQ_ACTIVE_INST_VALU / (GX * CU)")
	valu.Over = overDual
	valu.Formulas = append(append(valu.Formulas, perDie("VALUBusy")...), own("ValuPipeIssueUtil"))
	salu := util("salu_util_pct", "scalar ALU busy", "100 * SQ_ACTIVE_INST_SCA / (GX * CU)")
	salu.Formulas = append(append(salu.Formulas, perDie("SALUBusy")...), own("ScaPipeIssueUtil"))
	out := []Metric{
		mfma, valu, salu,
		util("vmem_util_pct", "vector memory issue", "100 * (SQ_ACTIVE_INST_FLAT + SQ_ACTIVE_INST_VMEM) / (GX * CU)"),
		util("branch_util_pct", "branch unit busy", "100 * SQ_ACTIVE_INST_MISC / (GX * CU)"),
		util("cu_util_pct", "CUs busy", "100 * SQ_BUSY_CU_CYCLES / (GX * CU)"),
		{
			ID: "valu_active_threads", Group: GroupCompute, Title: "active lanes per VALU instruction", Unit: "lanes", Denominator: "per instruction", Max: 64, Over: overPasses,
			Formulas: append(on(cdna(), "SQ_THREAD_CYCLES_VALU / SQ_ACTIVE_INST_VALU", srcCompute), own("AvgNumActiveThreads")),
		},
		{
			ID: "ipc", Group: GroupCompute, Title: "instructions per cycle", Unit: "instructions", Denominator: "per busy CU cycle", Max: 5, Over: overPasses,
			Formulas: on(gfx9(), "SQ_INSTS / SQ_BUSY_CU_CYCLES", srcCompute),
		},
	}
	out = append(out, flopMetrics()...)
	for _, c := range []struct {
		id, title, counter string
		archs              []string
	}{
		{"valu_instructions", "VALU instructions", "SQ_INSTS_VALU", nil},
		{"salu_instructions", "scalar ALU instructions", "SQ_INSTS_SALU", nil},
		{"vmem_instructions", "vector memory instructions", "SQ_INSTS_VMEM", nil},
		{"smem_instructions", "scalar memory instructions", "SQ_INSTS_SMEM", nil},
		{"mfma_instructions", "MFMA instructions", "SQ_INSTS_MFMA", cdna2up()},
	} {
		out = append(out, Metric{
			ID: c.id, Group: GroupCompute, Title: c.title, Unit: "instructions", Denominator: "per dispatch",
			Formulas: on(c.archs, c.counter, srcSDK),
		})
	}
	return out
}

func flopMetrics() []Metric {
	total := func(id, title, expr string) Metric {
		return Metric{
			ID: id, Group: GroupCompute, Title: title, Unit: "FLOP", Denominator: "per dispatch",
			Formulas: on(cdna2up(), expr, srcCompute),
		}
	}
	valu := flopsVALU("F16") + " + " + flopsVALU("F32") + " + " + flopsVALU("F64")
	all := []string{"F16", "BF16", "F32", "F64"}
	sum := ""
	for i, t := range all {
		if i > 0 {
			sum += " + "
		}
		sum += mops + t
	}
	matrix := total("mfma_flops", "matrix FLOPs", "")
	matrix.Doc = "Floating-point types alone; integer operations are apart."
	matrix.Formulas = []Formula{
		{Archs: cdna4(), Expr: sum + " + " + mops + "F8 + " + mops + "F6F4", Source: srcCompute},
		{Archs: cdna34(), Expr: sum + " + " + mops + "F8", Source: srcCompute},
		{Archs: cdna2up(), Expr: sum, Source: srcCompute},
		own("MfmaFlops"),
	}
	out := []Metric{total("valu_flops", "VALU FLOPs", valu), matrix}
	rate := total("valu_GFLOPs", "VALU rate", "("+valu+") / DURATION_NS")
	rate.Unit, rate.Denominator = "GFLOP/s", "of the duration"
	out = append(out, rate)
	for _, t := range []struct {
		id, suffix string
		archs      []string
	}{
		{"f16", "F16", cdna2up()},
		{"bf16", "BF16", cdna2up()},
		{"f32", "F32", cdna2up()},
		{"f64", "F64", cdna2up()},
		{"f8", "F8", cdna34()},
		{"f6f4", "F6F4", cdna4()},
		{"i8", "I8", cdna2up()},
	} {
		m := total("mfma_flops_"+t.id, "matrix operations, "+t.id, mops+t.suffix)
		m.Formulas[0].Archs = t.archs
		switch t.suffix {
		case "I8":
			m.Unit = "OP"
		case "F16", "BF16", "F32", "F64":
			m.Formulas = append(m.Formulas, own("MfmaFlops"+t.suffix))
		}
		out = append(out, m)
	}
	for _, t := range []struct{ id, suffix string }{{"f16", "F16"}, {"f32", "F32"}, {"f64", "F64"}} {
		out = append(out, total("valu_flops_"+t.id, "VALU operations, "+t.id, flopsVALU(t.suffix)))
	}
	return out
}

func waveMetrics() []Metric {
	share := func(id, title, counter, name, doc string) Metric {
		return Metric{
			ID: id, Group: GroupWaves, Title: title, Unit: "%", Denominator: "of wave cycles", Max: 100, Over: overPasses, Doc: doc,
			Formulas: append(one("100 * "+counter+" / SQ_WAVE_CYCLES", srcCompute), own(name)),
		}
	}
	return []Metric{
		share("dep_wait_pct_of_wave_cycles", "waiting for a dependency", "SQ_WAIT_ANY", "WaveDepWait", "s_waitcnt and the like: memory, LDS, barriers."),
		share("issue_wait_pct_of_wave_cycles", "waiting to issue", "SQ_WAIT_INST_ANY", "WaveIssueWait", "Ready, but another wave issued or the pipe was taken."),
		share("active_pct_of_wave_cycles", "issuing", "SQ_ACTIVE_INST_ANY", "WaveExec", ""),
		{
			ID: "wave_occupancy_from_wave_cycles", Group: GroupWaves, Title: "resident waves", Unit: "waves", Denominator: "mean over the whole GPU",
			Doc:      "Wave cycles are counted in units of four cycles.",
			Formulas: on(cdna(), "4 * SQ_WAVE_CYCLES / GX", srcCompute),
		},
		{
			ID: "wave_occupancy", Group: GroupWaves, Title: "resident waves (accumulated level)", Unit: "waves", Denominator: "mean over the whole GPU",
			Formulas: on(gfx9(), "SQ_LEVEL_WAVES_ACCUM / GX", srcCompute),
		},
		{
			ID: "occupancy_pct", Group: GroupWaves, Title: "occupancy", Doc: "32 slots a CU, 40 on gfx908.", Unit: "%", Denominator: "of the wave slots", Max: 100, Over: overXCC,
			Formulas: []Formula{
				{Archs: cdna2up(), Expr: "400 * SQ_WAVE_CYCLES / GX / CU / 32", Source: srcSDK},
				{Archs: []string{"gfx908"}, Expr: "400 * SQ_WAVE_CYCLES / GX / CU / 40", Source: srcSDK},
				own("OccupancyPercent"),
				{Archs: cdna2up(), Expr: "100 * MeanOccupancyPerCU / 32", Source: srcSDK, Note: ownNote("MeanOccupancyPerCU")},
			},
		},
		{
			ID: "vmem_latency_cyc", Group: GroupWaves, Title: "vector memory latency", Unit: "cycles", Denominator: "per vector memory instruction",
			Formulas: on(gfx9(), "SQ_INST_LEVEL_VMEM_ACCUM / SQ_INSTS_VMEM", srcCompute),
		},
		{
			ID: "smem_latency_cyc", Group: GroupWaves, Title: "scalar memory latency", Unit: "cycles", Denominator: "per scalar memory instruction",
			Formulas: on(gfx9(), "SQ_INST_LEVEL_SMEM_ACCUM / SQ_INSTS_SMEM", srcCompute),
		},
		{
			ID: "lds_latency_cyc", Group: GroupWaves, Title: "LDS latency", Unit: "cycles", Denominator: "per LDS instruction",
			Formulas: on(gfx9(), "SQ_INST_LEVEL_LDS_ACCUM / SQ_INSTS_LDS", srcCompute),
		},
		{
			ID: "waves", Group: GroupWaves, Title: "waves", Unit: "waves", Denominator: "per dispatch",
			Formulas: []Formula{{Expr: "SQ_WAVES", Source: srcSDK}, {Expr: "Wavefronts", Source: srcSDK}},
		},
	}
}
