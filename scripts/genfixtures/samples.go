package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// sample is one sample of a wave: where it was and what it did.
type sample struct {
	at       int // row of codeRows; -1 in code that was not decoded
	dispatch int
	time     int64
	issued   bool
	reason   string
}

// Prefixes of the profiler's names. Source: rocprofiler-sdk pc_sampling.h.
const (
	pcsType   = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_"
	pcsReason = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"
)

// samples looks n times at the kernel's waves, each instruction as often as its
// latency is long; some samples are of code that was not decoded.
func (c *capture) samples(n, undecoded int, seed uint64) []sample {
	rows := c.codeRows()
	var total int64
	for _, r := range rows {
		total += cyclesOf(r[7])
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	start, end := c.nanoseconds()
	var out []sample
	for i := range n {
		s := sample{dispatch: c.launch.dispatch, time: start + (end-start)*int64(i)/int64(n)}
		left := rng.Int64N(total)
		for at, r := range rows {
			if left -= cyclesOf(r[7]); left < 0 {
				s.at = at
				break
			}
		}
		r := rows[s.at]
		s.issued = rng.Int64N(cyclesOf(r[7])) >= cyclesOf(r[8])
		s.reason = reasonOf(r[0].(string))
		out = append(out, s)
	}
	for range undecoded {
		out = append(out, sample{at: -1, dispatch: 1, time: start - 1000, reason: "OTHER_WAIT"})
	}
	return out
}

// cyclesOf is a count of codeRows; those of labels are plain zeros.
func cyclesOf(v any) int64 {
	n, _ := v.(int64)
	return n
}

// reasonOf is why a wave at an instruction does not issue.
func reasonOf(text string) string {
	switch {
	case strings.HasPrefix(text, "s_waitcnt"), text == "s_endpgm":
		return "WAITCNT"
	case strings.HasPrefix(text, "s_barrier"):
		return "BARRIER_WAIT"
	case strings.HasPrefix(text, "v_mfma"), strings.HasPrefix(text, "ds_"), strings.HasPrefix(text, "global_"), strings.HasPrefix(text, "buffer_"):
		return "ARBITER_WIN_EX_STALL"
	}
	return "ARBITER_NOT_WIN"
}

var (
	hostTrapHeader   = []string{"Sample_Timestamp", "Exec_Mask", "Dispatch_Id", "Instruction", "Instruction_Comment", "Correlation_Id"}
	stochasticHeader = append(append([]string{}, hostTrapHeader...), "Wave_Issued_Instruction", "Instruction_Type", "Stall_Reason", "Wave_Count")
)

const allLanes uint64 = 1<<64 - 1

// sampleTable is a table of samples as rocprofv3 writes it. Source:
// rocprofiler-sdk output/generateCSV.cpp.
func (c *capture) sampleTable(samples []sample, stochastic bool) []byte {
	code := c.codeRows()
	var rows []row
	for _, s := range samples {
		text, comment := "", "Unrecognized code object id, physical virtual address of PC:139637976727552"
		if s.at >= 0 {
			text, comment = code[s.at][0].(string), code[s.at][3].(string)
		}
		r := row{s.time, allLanes, s.dispatch, text, comment, s.dispatch}
		if stochastic {
			issued, kind := 0, "NO_INST"
			if s.issued {
				issued, kind = 1, "VALU"
			}
			r = append(r, issued, pcsType+kind, pcsReason+s.reason, 4)
		}
		rows = append(rows, r)
	}
	if stochastic {
		return quotedCSV(stochasticHeader, rows)
	}
	return quotedCSV(hostTrapHeader, rows)
}

// sampleResults is a results.json with samples and no dispatches, of a release
// that writes numbers as names. Source: rocprofiler-sdk serialization/save.hpp.
func (c *capture) sampleResults(samples []sample) []byte {
	k, code := c.kernels[0], c.codeRows()
	index, texts, comments := map[int]int{}, []string{}, []string{}
	records := []object{}
	for _, s := range samples {
		n, known := index[s.at]
		if s.at < 0 {
			n, known = -1, true
		}
		if !known {
			n = len(texts)
			index[s.at] = n
			texts, comments = append(texts, code[s.at][0].(string)), append(comments, code[s.at][3].(string))
		}
		issued, offset, of := 0, any(0), 0
		if s.issued {
			issued = 1
		}
		if s.at >= 0 {
			offset, of = code[s.at][5], k.codeObject
		}
		records = append(records, object{"inst_index": n, "record": object{
			"wave_issued": issued, "inst_type": pcsType + "VALU", "pc": object{"code_object_id": of, "code_object_offset": offset},
			"exec_mask": allLanes, "wave_cnt": 4, "timestamp": s.time, "dispatch_id": s.dispatch, "snapshot": object{"stall_reason": pcsReason + s.reason},
		}})
	}
	return compact(object{"rocprofiler-sdk-tool": []object{{
		"metadata":         object{"pid": 9},
		"agents":           []object{{"id": object{"handle": 77}, "type": 2, "node_id": c.launch.gpu.node, "name": k.arch.name, "cu_count": c.launch.gpu.cus}},
		"counters":         []object{},
		"strings":          object{"pc_sample_instructions": texts, "pc_sample_comments": comments},
		"kernel_symbols":   []object{{"kernel_id": 17, "code_object_id": k.codeObject, "kernel_name": k.symbol + ".kd", "formatted_kernel_name": k.symbol}},
		"callback_records": object{"counter_collection": []object{}},
		"buffer_records":   object{"kernel_dispatch": []object{}, "pc_sample_host_trap": []object{}, "pc_sample_stochastic": records},
	}}})
}

// sampleFolders are captures under PC sampling.
func sampleFolders(c *capture) tree {
	out := tree{}
	out["stochastic/7_pc_sampling_stochastic.csv"] = c.sampleTable(c.samples(300, 6, 41), true)
	out["stochastic/7_kernel_trace.csv"] = c.kernelTrace()
	out["stochastic/7_agent_info.csv"] = c.launch.gpu.agentInfo()
	out["host_trap/8_pc_sampling_host_trap.csv"] = c.sampleTable(c.samples(120, 3, 42), false)
	out["results/9_results.json"] = c.sampleResults(c.samples(60, 2, 43))
	out["README.md"] = fmt.Appendf(nil, `# pcs

Captures under PC sampling of the kernel of ../att/gemm: hardware samples with the kernel trace and agent table of their run, samples of host traps
that nothing names the kernel of, and a results.json. Each instruction was sampled as often as the trace's latency of it is long; some samples are of
code that the profiler could not decode.
`)
	return out
}
