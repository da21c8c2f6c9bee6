package rules

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
)

// Capture is one more run of a profiler.
type Capture struct {
	// Why says what it would decide.
	Why     string `json:"why"`
	Command string `json:"command"`
	// Input is the YAML file that the command names.
	Input string `json:"input,omitempty"`
}

// next lists what to capture for a kernel, the most useful first.
func next(k *Kernel) []Capture {
	var out []Capture
	for _, c := range []struct {
		missing []regime.Missing
		capture func(*Kernel) Capture
	}{
		{[]regime.Missing{regime.MissingWork, regime.MissingWaves, regime.MissingTrace}, threadTrace},
		{[]regime.Missing{regime.MissingMemory, regime.MissingCompute}, counterPasses},
		{[]regime.Missing{regime.MissingLaunch, regime.MissingDevice}, kernelTrace},
		{[]regime.Missing{regime.MissingSource}, debugInfo},
	} {
		if slices.ContainsFunc(c.missing, func(m regime.Missing) bool { return slices.Contains(k.Missing, m) }) {
			out = append(out, c.capture(k))
		}
	}
	if out == nil {
		out = []Capture{}
	}
	return out
}

// pattern is a piece of a kernel's name, safe inside quotes. rocprofv3 searches
// for it in the demangled name (ROCPROF_DEMANGLE_KERNELS is on unless it is
// turned off; rocprofiler-sdk tool.cpp and output_config.cpp), so a mangled one
// would match nothing.
func pattern(k *Kernel) string {
	n := capture.NamesOf(k.Symbol, k.Name)
	name := cmp.Or(n.Demangled, n.Symbol, n.Display)
	name = strings.TrimPrefix(name, "void ")
	const anonymous = "(anonymous namespace)"
	inside := 0 // how far name is known to have no arguments
	if i := strings.LastIndex(name, anonymous+"::"); i >= 0 && !strings.ContainsAny(strings.ReplaceAll(name[:i], anonymous, ""), "(<") {
		inside = i + len(anonymous)
	}
	if i := strings.IndexAny(name[inside:], "(<"); i > 0 {
		name = name[:inside+i]
	}
	for len(name) > maxPattern {
		_, rest, ok := strings.Cut(name, "::")
		if !ok {
			name = strings.ToValidUTF8(name[:maxPattern], "")
			break
		}
		name = rest
	}
	return regexp.QuoteMeta(name)
}

// maxPattern keeps a line of an input file on a terminal.
const maxPattern = 44

// attInput asks for all four SIMDs of one CU on four engines, with a buffer of
// 96 MiB an engine. Source: rocprofiler-sdk documentation, "Using thread trace".
func threadTrace(k *Kernel) Capture {
	why := "a thread trace says what waves wait for, and how busy the SIMDs are"
	cu := 1
	if slices.Contains(k.Missing, regime.MissingWork) {
		why, cu = otherWork(k)
	}
	return Capture{
		Why:     why,
		Command: "rocprofv3 -i att.yaml -d out -- <application>",
		Input: fmt.Sprintf(`jobs:
  - advanced_thread_trace: true
    kernel_include_regex: %s
    att_target_cu: %d
    att_shader_engine_mask: "0xf"
    att_simd_select: "0xf"
    att_buffer_size: "0x6000000"
`, strconv.Quote(pattern(k)), cu),
	}
}

// otherWork says where the work is that the traced waves did not do.
func otherWork(k *Kernel) (why string, cu int) {
	o := (*trust.Others)(nil)
	if k.Main != nil {
		o = k.Main.Others
	}
	switch {
	case o == nil:
		return "the traced waves did no work: another compute unit, more engines", 2
	case len(o.CUs) == 0:
		return "the traced waves did no work, and those of the other compute units lived alike: another dispatch of the kernel", 1
	}
	return fmt.Sprintf("the traced waves did no work: on compute unit %d of engine %d they lived longer", o.CUs[0].CU, o.CUs[0].SE), o.CUs[0].CU
}

// passes are the counters that decide a verdict, grouped so that each pass fits
// the hardware: bytes read, bytes written with hits and misses, and how busy
// the pipes are. Source of the names: rocprofiler-sdk counter_defs.yaml.
func passes(arch string) [][]string {
	sq := []string{
		"GRBM_GUI_ACTIVE", "SQ_WAVE_CYCLES", "SQ_WAIT_ANY", "SQ_WAIT_INST_ANY", "SQ_BUSY_CU_CYCLES",
		"SQ_VALU_MFMA_BUSY_CYCLES", "SQ_ACTIVE_INST_VALU", "SQ_LDS_IDX_ACTIVE", "SQ_LDS_BANK_CONFLICT",
	}
	hits := []string{"TCC_HIT_sum", "TCC_MISS_sum"}
	switch t := isa.Target(arch); {
	case arch == "gfx950":
		return [][]string{
			{"TCC_EA0_RDREQ_sum", "TCC_EA0_RDREQ_128B_sum", "TCC_EA0_RDREQ_64B_sum", "TCC_EA0_RDREQ_32B_sum"},
			append([]string{"TCC_EA0_WRREQ_sum", "TCC_EA0_WRREQ_64B_sum"}, hits...), sq,
		}
	case arch == "gfx942" || arch == "gfx940" || arch == "gfx941":
		return [][]string{
			{"TCC_EA0_RDREQ_sum", "TCC_EA0_RDREQ_32B_sum", "TCC_BUBBLE_sum"},
			append([]string{"TCC_EA0_WRREQ_sum", "TCC_EA0_WRREQ_64B_sum"}, hits...), sq,
		}
	case arch == "gfx90a" || arch == "gfx908":
		if arch == "gfx908" {
			sq = slices.DeleteFunc(sq, func(c string) bool { return strings.Contains(c, "MFMA") })
		}
		return [][]string{
			{"TCC_EA_RDREQ_sum", "TCC_EA_RDREQ_32B_sum"},
			append([]string{"TCC_EA_WRREQ_sum", "TCC_EA_WRREQ_64B_sum"}, hits...), sq,
		}
	case t.Generation() >= 10:
		return [][]string{{"FETCH_SIZE"}, {"WRITE_SIZE"}, {"GRBM_GUI_ACTIVE", "SQ_WAVE_CYCLES", "SQ_WAIT_ANY", "GL2C_HIT_sum", "GL2C_MISS_sum"}}
	}
	return [][]string{{"FETCH_SIZE"}, {"WRITE_SIZE"}, append(hits, "GRBM_GUI_ACTIVE", "SQ_WAVE_CYCLES", "SQ_WAIT_ANY")}
}

// counterPasses asks for counters: one pass more where some are there, else
// all passes.
func counterPasses(k *Kernel) Capture {
	why := "counters say how much of memory's bandwidth is really used"
	if slices.Contains(k.Missing, regime.MissingCompute) {
		why += ", and how busy the pipes are"
	}
	for _, m := range k.Counted {
		if m.L2 != nil && m.L2.Next != nil {
			return Capture{Why: why, Command: withKernel(counters.Command(m.L2.Next.Counters), k)}
		}
	}
	var in strings.Builder
	in.WriteString("jobs:\n")
	all := passes(k.Arch)
	if !slices.Contains(k.Missing, regime.MissingCompute) {
		all = all[:2] // how busy the pipes are, the trace tells
	}
	for _, p := range all {
		fmt.Fprintf(&in, "  - pmc: [%s]\n    kernel_include_regex: %s\n", folded(p), strconv.Quote(pattern(k)))
	}
	return Capture{Why: why, Command: "rocprofv3 -i pmc.yaml -d out -f csv -- <application>", Input: in.String()}
}

// folded joins counters, two on a line.
func folded(counters []string) string {
	var b strings.Builder
	for i, c := range counters {
		switch {
		case i == 0:
		case i%2 == 0:
			b.WriteString(",\n          ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(c)
	}
	return b.String()
}

func withKernel(command string, k *Kernel) string {
	quoted := "'" + strings.ReplaceAll(pattern(k), "'", `'\''`) + "'"
	return strings.Replace(command, " -d out", " --kernel-include-regex "+quoted+" -d out", 1)
}

func kernelTrace(*Kernel) Capture {
	return Capture{
		Why:     "how long the kernel takes, how it is launched, and on which device",
		Command: "rocprofv3 --kernel-trace --stats -f csv -d out -- <application>; keep *_kernel_trace.csv and *_agent_info.csv beside the dispatch directory",
	}
}

func debugInfo(*Kernel) Capture {
	return Capture{
		Why:     "source lines, so that findings name code instead of instructions",
		Command: "compile with -g (HIP, Triton) or with the kernel language's debug information on (FLYDSL_DEBUG_ENABLE_DEBUG_INFO=1), then trace again",
	}
}
