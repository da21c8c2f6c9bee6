package counters

// Profilers compute figures of their own from counters, which people collect
// instead of these. Sources of the definitions: rocprofiler
// src/core/counters/metrics/derived_counters.xml (rocprof v1 and v2),
// rocprofiler-sdk counter_defs.yaml (rocprofv3).
const srcDerived = "rocprofiler derived_counters.xml, rocprofiler-sdk counter_defs.yaml"

// wideTables is the format of rocprof v1 and v2: one column for each counter.
const wideTables = "counter CSV, wide"

// ownNote says that a figure is the profiler's.
func ownNote(name string) string {
	return "the profiler's own " + name + ", a mean over the dispatches"
}

// own is a figure that the profiler computed.
func own(name string) Formula { return Formula{Expr: name, Source: srcDerived, Note: ownNote(name)} }

// perDie is a share of GPU busy cycles that the profiler computed. On gfx94x and
// gfx950 rocprof v1 and v2 divide by the busy cycles of all dies together, of
// which there are up to eight (rocprofiler #147: 11 % for 46 %; later
// definitions of MfmaUtil and OccupancyPercent multiply by XCC_NUM).
func perDie(name string) []Formula {
	return []Formula{
		{
			Archs: cdna34(), Formats: []string{wideTables}, Low: name, High: "8 * " + name, Source: srcDerived,
			Note: ownNote(name) + ": rocprof v1 and v2 divide by the busy cycles of all dies together, so that it may be up to eight times as much",
		},
		own(name),
	}
}

// alias gives the one name of figures that profilers spell in several ways.
// FetchSize and WriteSize are KiB, as FETCH_SIZE and WRITE_SIZE.
func alias(name string) string {
	switch name {
	case "FetchSize":
		return "FETCH_SIZE"
	case "WriteSize":
		return "WRITE_SIZE"
	case "MemWrites32B":
		return "WRITE_REQ_32B"
	case "GPU_UTIL", "GpuUtil":
		return "GPUBusy"
	}
	return name
}

// derivedMetrics are figures that profilers compute themselves, with the
// counters that they are of where these can be had instead.
func derivedMetrics() []Metric {
	var out []Metric
	for _, d := range []struct {
		id, name, doc string
		formulas      []Formula
	}{
		{
			"gpu_busy_pct", "GPUBusy", "Share of the time between the counter's start and stop in which the GPU was busy with anything.", nil,
		},
		{
			"valu_lanes_pct", "VALUUtilization", "Lanes that are active in a VALU instruction: lower with divergence, or workgroups that are no multiple of the wave.",
			on(cdna(), "100 * SQ_THREAD_CYCLES_VALU / SQ_ACTIVE_INST_VALU / 64", srcDerived),
		},
		{"mem_unit_busy_pct", "MemUnitBusy", "Share of the time in which the busiest texture address unit is active, stalls included. rocprof v1 and v2, and early SDKs, divide it by the number of shader engines as well: it is then that many times too low.", nil},
		{"mem_unit_stalled_pct", "MemUnitStalled", "Share of the time in which the vector L1 keeps the address unit waiting; divided by the number of shader engines as well, so that many times too low.", nil},
		{"write_unit_stalled_pct", "WriteUnitStalled", "Share of the time in which L2 channels that write to memory are stalled, the worst channel.", nil},
		{"alu_stalled_by_lds_pct", "ALUStalledByLDS", "Share of the time in which waves wait to issue to the LDS.", nil},
	} {
		out = append(out, Metric{
			ID: d.id, Group: GroupDerived, Title: d.name, Unit: "%", Denominator: "as the profiler defines it", Max: 100, Doc: d.doc,
			Over: "the profiler's own formula", Formulas: append(d.formulas, own(d.name)),
		})
	}
	for _, d := range []struct{ id, name, what, expr string }{
		{"valu_insts_per_wave", "VALUInsts", "VALU instructions", "SQ_INSTS_VALU / SQ_WAVES"},
		{"salu_insts_per_wave", "SALUInsts", "scalar ALU instructions", "SQ_INSTS_SALU / SQ_WAVES"},
		{"smem_insts_per_wave", "SFetchInsts", "scalar memory instructions", "SQ_INSTS_SMEM / SQ_WAVES"},
		{"vector_reads_per_wave", "VFetchInsts", "vector memory reads, without FLAT", ""},
		{"vector_writes_per_wave", "VWriteInsts", "vector memory writes, without FLAT", ""},
		{"flat_vmem_insts_per_wave", "FlatVMemInsts", "FLAT instructions that touch memory", ""},
		{"lds_insts_per_wave", "LDSInsts", "LDS instructions, without FLAT", ""},
		{"flat_lds_insts_per_wave", "FlatLDSInsts", "FLAT instructions that touch LDS", ""},
		{"gds_insts_per_wave", "GDSInsts", "GDS instructions", "SQ_INSTS_GDS / SQ_WAVES"},
	} {
		m := Metric{
			ID: d.id, Group: GroupDerived, Title: d.what + " (" + d.name + ")", Unit: "instructions", Denominator: "per wave",
			Doc: "The profiler's documentation says per work-item: each instruction of a wave is one of each of its work-items.",
		}
		if d.expr != "" {
			m.Formulas = one(d.expr, srcDerived)
		}
		m.Formulas = append(m.Formulas, own(d.name))
		out = append(out, m)
	}
	for _, d := range []struct{ id, name, of string }{
		{"mean_waves_per_cu", "MeanOccupancyPerCU", "CU"},
		{"mean_waves_per_active_cu", "MeanOccupancyPerActiveCU", "CU with a wave"},
	} {
		out = append(out, Metric{
			ID: d.id, Group: GroupDerived, Title: "resident waves (" + d.name + ")", Unit: "waves", Denominator: "per " + d.of, Max: 40, Over: overXCC,
			Formulas: perDie(d.name),
		})
	}
	return out
}
