package trust

import (
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// gate is a check of a trace, and how far it lowers the confidence.
type gate struct {
	rule.Check[*subject]
	lowers Confidence
	// kernel is set for checks of one kernel.
	kernel bool
}

// The documents that the fixes are from.
const (
	attDocs    = "ROCm documentation, \"Using thread trace with rocprofv3\""
	attTool    = "rocprofiler-sdk att-tool and thread trace documentation"
	sameRunRow = "keep the kernel_trace.csv of the same run beside the trace"
	// captureAgain is what to do when nothing was decoded.
	captureAgain = "capture again with a compute unit and shader engines that get work (--att-target-cu, --att-shader-engine-mask), a larger --att-buffer-size, and a dispatch with enough workgroups"
)

func ofTrace(id, title string, s finding.Severity, lowers Confidence, fires, means, fix, source string, when func(*subject, rule.Values) []rule.Hit) gate {
	return gate{rule.Check[*subject]{
		Rule: rule.Rule{ID: id, Title: title, Kind: rule.Gate, Severity: s, Fires: fires, Means: means, Fix: fix, Source: source},
		When: when,
	}, lowers, false}
}

func ofKernel(id, title string, s finding.Severity, lowers Confidence, fires, means, fix, source string, when func(*subject, rule.Values) []rule.Hit) gate {
	g := ofTrace(id, title, s, lowers, fires, means, fix, source, when)
	g.kernel = true
	return g
}

// gates are all checks in the order in which they run: those of the trace, then
// those of each kernel.
func gates() []gate {
	return []gate{
		ofTrace("empty_trace", "Nothing was decoded", finding.Blocker, None,
			"no instruction was decoded", "no verdict and no ranking", captureAgain, attDocs, emptyTrace),
		ofTrace("damaged_input", "Parts of the capture are lost", finding.High, Low,
			"a file could not be read whole", "the results are partial (exit status 2); low confidence",
			"decode the capture again; check that all files were copied", attTool, damaged),
		ofTrace("totals_mismatch", "Waves and totals differ", finding.Medium, Medium,
			"the waves do not add up to code.json", "totals are of code.json, producers of the waves that are there; medium confidence",
			"totals are code.json's; what waits waited for is taken from the waves that are there. Copy the whole directory, or decode again", attTool, totals),
		ofTrace("stats_mismatch", "A stats table of another trace", finding.Low, High,
			"the stats CSV beside the directory has other sums than code.json", "code.json counts",
			"code.json is used; remove the stats CSV of the other trace", attTool, statsTable),
		ofTrace("waves_lost", "Waves without a file", finding.Medium, Medium,
			"more waves started on the traced compute units than have a file", "the waves that are there may not be typical; medium confidence",
			"a larger --att-buffer-size, fewer shader engines, or a shorter kernel", attDocs, lostWaves),
		ofTrace("sample_not_typical", "Traced waves that are not typical", finding.Medium, Low,
			"the median life of the traced waves is outside of the middle half of all waves, and at least {trust.atypical_pct} % from their median", "what the traced waves do is not what most do; low confidence",
			"trace another compute unit (--att-target-cu), or more shader engines (--att-shader-engine-mask)", attDocs, atypical),
		ofTrace("wait_edges_differ", "Wait lists contradict the code", finding.Low, Medium,
			"the decoder's wait lists contradict those rebuilt from the instructions", "the rebuilt ones count; medium confidence",
			"what waits waited for is taken from the rebuilt lists; look for lost data in the capture", attTool, edges),
		ofTrace("architecture_conflict", "Code of another architecture", finding.Medium, Medium,
			"the instructions are not of the architecture that the agent table names", "figures of the architecture may be wrong; medium confidence",
			"name the device with --device", "LLVM AMDGPU instruction syntax", conflict),
		ofTrace("unknown_instructions", "Instructions that are not known", finding.Low, Medium,
			"an instruction is not known to this version", "it counts as other; medium confidence",
			"", "LLVM AMDGPU instruction syntax", unknownInstructions),
		ofTrace("architecture_open", "An architecture that is not named", finding.Info, High,
			"neither the agent table nor the instructions tell the architecture", "figures that differ between the candidates are left out",
			"name it with --device, or keep the agent_info.csv that rocprofv3 writes beside the trace", "LLVM AMDGPU instruction syntax", open),
		ofTrace("no_wave_files", "No wave files", finding.Info, Medium,
			"there are no wave files", "producers are estimated from the code; utilisation and waves are not known; medium confidence",
			"keep the whole ui_output_* directory, with its se*_sm*_sl*_wv*.json files", attTool, estimated),
		ofTrace("cycles_only", "No stall was counted", finding.Info, Medium,
			"the trace is of rocprofv2, which counts executions and cycles", "the cycles of waits count as stall, those of all other instructions as issue; medium confidence",
			"capture with rocprofv3 --att, which counts stall apart", "ROCm/rocprofiler plugin/att: att.py, stitch.py", cyclesOnly),

		ofKernel("no_hits", "Code that no traced wave executed", finding.Blocker, None,
			"none of a kernel's instructions was executed by a traced wave", "no verdict and no ranking", captureAgain, attDocs, executed),
		ofKernel("stall_over_latency", "More stall than time", finding.High, Low,
			"the stall cycles are more than the latency that they are a part of", "the decoding is at fault; low confidence",
			"the trace is damaged or from a decoder with a defect: decode it again with rocprof-trace-decoder 0.1.6 or later", attTool, impossible),
		ofKernel("low_coverage", "Waves that left early", finding.High, Low,
			"none of the kernel's stores, atomics and matrix instructions was executed, or none of its matrix instructions; of code without any, less than {trust.coverage_pct} % ran or no loop was reached",
			"the traced waves left early: the ranking is not of the kernel's work; low confidence",
			"capture another compute unit or another dispatch (with occupancy.json beside the trace, which of them is said)", attDocs, coverage),
		ofKernel("few_waves", "Too few waves to generalise from", finding.Medium, Low,
			"fewer working waves than {trust.few_waves}, or all on one SIMD where four are traced", "what they waited for may not be typical; low confidence",
			"trace more shader engines (--att-shader-engine-mask) or a larger dispatch", attDocs, fewWaves),
		ofKernel("no_work_waves", "Waves without work", finding.Info, High,
			"waves left at once; from {trust.no_work_stall_pct} % of the stall on this is low, no remark", "they are counted and left out of every breakdown (--all-waves keeps them)",
			"", attTool, noWork),
		ofKernel("no_source", "No source positions", finding.Info, High,
			"no instruction has a source position", "source lines are not ranked",
			"compile with debug information (-g), for Python kernels with line information on, and capture again", attTool, noSource),
		ofKernel("line_collapse", "One source line for most of the code", finding.Low, High,
			"one source line holds at least {trust.line_collapse_pct} % of the instructions", "source lines are ranked on request only: rank loops, instructions or waits",
			"rank loops (rocanalyze loops), instructions (--by instruction) or waits (--by wait); make the compiler keep line information inside the kernel", attTool, collapsed),
		ofKernel("companion_mismatch", "A row that is not of the traced launch", finding.Low, High,
			"the kernel-trace row beside the trace is of another kernel, launch or run: by its name, its registers, the waves and the time that occupancy.json and realtime.json show, or as a call unlike the others of its shape",
			"its shape is used where the waves prove it, and the median time of all calls of that shape; else nothing of it",
			sameRunRow, attTool, doubtful),
	}
}

func rules() []rule.Rule {
	gates := gates()
	out := make([]rule.Rule, 0, len(gates))
	for i := range gates {
		out = append(out, gates[i].Rule)
	}
	return out
}
