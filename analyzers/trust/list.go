package trust

// Gate describes one check of a trace.
type Gate struct {
	// ID is the id of its finding.
	ID string
	// Fires says when it fires, Means what that does to the results.
	Fires, Means string
}

// Gates lists the gates, gravest first.
func Gates() []Gate {
	return []Gate{
		{"empty_trace", "no instruction was decoded", "no verdict and no ranking"},
		{"no_hits", "none of a kernel's instructions was executed by a traced wave", "no verdict and no ranking"},
		{"low_coverage", "less of the code ran than trust.coverage_pct, or none of its matrix instructions, or no loop was reached", "the traced waves left early: the ranking is not of the kernel's work; low confidence"},
		{"stall_over_latency", "the stall cycles are more than the latency that they are a part of", "the decoding is at fault; low confidence"},
		{"damaged_input", "a file could not be read whole", "the results are partial (exit status 2); low confidence"},
		{"few_waves", "fewer working waves than trust.few_waves, or all on one SIMD where four are traced", "what they waited for may not be typical; low confidence"},
		{"totals_mismatch", "the waves do not add up to code.json", "totals are of code.json, producers of the waves that are there; medium confidence"},
		{"waves_lost", "more waves started on the traced compute units than have a file", "the waves that are there may not be typical; medium confidence"},
		{"wait_edges_differ", "the decoder's wait lists contradict those rebuilt from the instructions", "the rebuilt ones count; medium confidence"},
		{"architecture_conflict", "the instructions are not of the architecture that the agent table names", "figures of the architecture may be wrong; medium confidence"},
		{"unknown_instructions", "an instruction is not known to this version", "it counts as other; medium confidence"},
		{"no_wave_files", "there are no wave files", "producers are estimated from the code; utilisation and waves are not known; medium confidence"},
		{"stats_mismatch", "the stats CSV beside the directory has other sums than code.json", "code.json counts"},
		{"companion_mismatch", "the kernel-trace row beside the trace is of another dispatch or kernel", "it is used with this warning, or not at all"},
		{"line_collapse", "one source line holds at least trust.line_collapse_pct of the instructions", "source lines are ranked on request only: rank loops, instructions or waits"},
		{"no_source", "no instruction has a source position", "source lines are not ranked"},
		{"no_work_waves", "waves left at once", "they are counted and left out of every breakdown (--all-waves keeps them); from trust.no_work_stall_pct of the stall on this is a warning"},
		{"architecture_open", "neither the agent table nor the instructions tell the architecture", "figures that differ between the candidates are left out"},
	}
}
