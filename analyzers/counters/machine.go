package counters

import (
	"fmt"
	"path"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Fact is a number about the GPU and where it comes from.
type Fact struct {
	Value  float64 `json:"value"`
	Source string  `json:"source"`
}

// Machine is the GPU that a kernel ran on, as far as it is known.
type Machine struct {
	// Archs are the architectures that it can be; ArchSource says why.
	Archs      []string `json:"archs"`
	ArchSource string   `json:"arch_source"`
	// Device is the name in the device table, "" when not identified.
	Device string `json:"device,omitempty"`
	// Facts are XCC, CU, SIMD, L2_CHANNELS, LDS_BANKS, CLOCK_MHZ.
	Facts map[string]Fact `json:"facts"`
	// Memory, L2 and LDS are ceilings.
	Memory *gpu.Peak `json:"memory_peak,omitempty"`
	L2     *gpu.Peak `json:"l2_peak,omitempty"`
	LDS    *gpu.Peak `json:"lds_peak,omitempty"`
	// Measured is the memory bandwidth that a roofline.csv holds.
	Measured *gpu.Peak `json:"measured_memory,omitempty"`
	Notes    []string  `json:"remarks,omitempty"`
	// GPU is what all of this is of.
	GPU *capture.Machine `json:"-"`
}

// Arch is the architecture, or "" when several are possible.
func (m *Machine) Arch() string {
	if len(m.Archs) == 1 {
		return m.Archs[0]
	}
	return ""
}

// factNames are the facts that formulas use.
var factNames = [...]string{"XCC", "CU", "SIMD", "L2_CHANNELS", "LDS_BANKS", "CLOCK_MHZ"}

// machineOf is a GPU of the capture in the words of the machine output.
func machineOf(m *capture.Machine, roofs []trace.MeasuredRoof) *Machine {
	out := &Machine{GPU: m, ArchSource: path.Base(m.Arch.Source), Facts: map[string]Fact{}}
	for _, t := range m.Arch.Candidates {
		out.Archs = append(out.Archs, string(t))
	}
	if m.Arch.Target != "" {
		out.Archs = []string{string(m.Arch.Target)}
	}
	if len(m.Agents) == 0 {
		out.ArchSource = m.Arch.Source
	}
	for _, name := range factNames {
		if f, ok := m.Number(name); ok {
			out.Facts[name] = Fact{f.Number, f.Source}
		}
	}
	if _, err := m.GPU(); err != nil && m.Arch.Target != "" {
		out.Notes = append(out.Notes, err.Error())
	}
	if d := m.Only(); d != nil {
		out.peaks(d)
	}
	if out.Memory == nil && len(m.Agents) > 0 {
		out.recordedPeak(&m.Agents[0])
	}
	out.measured(roofs)
	return out
}

// peaks are the device's ceilings.
func (m *Machine) peaks(d *gpu.Device) {
	m.Device = d.Name
	p, err := d.Peaks()
	if err != nil {
		m.Notes = append(m.Notes, err.Error())
		return
	}
	m.Memory, m.L2, m.LDS = p.Memory, p.L2, p.LDSWrite
}

// recordedPeak takes the memory's peak from the clock and channels that the
// profiler recorded, where the device is not in the table: 32 bytes a clock
// and channel (rocprofiler-compute, hbm_bw).
func (m *Machine) recordedPeak(a *trace.CounterAgent) {
	if a.MemoryClockMHz == nil || a.MemoryChannels == nil {
		return
	}
	v := float64(*a.MemoryClockMHz) / 1000 * 32 * float64(*a.MemoryChannels) / float64(max(capture.MemoryPartitions(a), 1))
	m.Memory = &gpu.Peak{
		Value: v, Unit: "GB/s", Source: path.Base(a.Origin.File),
		Formula: fmt.Sprintf("%d MHz x 32 B x %d channels", *a.MemoryClockMHz, *a.MemoryChannels),
	}
}

// tell says which architectures have the counters of a run; bubble says that
// TCC_BUBBLE counted something. Source: rocprofiler-sdk counter_defs.yaml.
func tell(col *collection, bubble bool) capture.Counters {
	has := func(prefix string) bool {
		for _, name := range col.spelled {
			if strings.HasPrefix(name, prefix) {
				return true
			}
		}
		return false
	}
	for _, rule := range []struct {
		archs     []string
		ok        bool
		why       string
		exclusive bool
	}{
		{cdna4(), has("TCC_EA0_RDREQ_128B") || has("TCC_EA0_RDREQ_DRAM_32B") || has("SQ_INSTS_VALU_MFMA_MOPS_F6F4"), "only gfx950 has these counters", true},
		{[]string{"gfx942"}, has("TCC_EA0_") && bubble, "TCC_BUBBLE counts 128-byte reads only on gfx94x", false},
		{oneDie(), has("TCC_EA_"), "gfx908 and gfx90a alone spell counters TCC_EA_", false},
		{cdna34(), has("TCC_EA0_"), "counters TCC_EA0_ are of gfx94x and gfx950", false},
		{rdna(), has("GL2C_") || has("SQC_LDS_") || has("GL1C_"), "counters GL2C_, GL1C_, SQC_LDS_ are of RDNA", false},
		{cdna(), has("TCC_") || has("TCP_TCC_") || has("TCP_TOTAL_"), "counters TCC_ and TCP_TCC_ are of CDNA", false},
		{cdna2up(), has("SQ_INSTS_MFMA") || has("SQ_VALU_MFMA_") || has("SQ_INSTS_VALU_MFMA_"), "MFMA counters are of gfx90a and later CDNA", false},
		{cdna(), has("SQ_ACTIVE_INST_") || has("SQ_BUSY_CU_") || has("SQ_LDS_"), "only CDNA has these SQ counters", false},
		{AllArchs(), true, "nothing tells the architecture: give --device, or the agent_info.csv beside the counters", false},
	} {
		if rule.ok {
			out := capture.Counters{Why: rule.why, Exclusive: rule.exclusive}
			for _, a := range rule.archs {
				out.Archs = append(out.Archs, isa.Target(a))
			}
			return out
		}
	}
	return capture.Counters{}
}

// measured keeps the memory bandwidth of a roofline.csv.
func (m *Machine) measured(roofs []trace.MeasuredRoof) {
	for _, r := range roofs {
		if r.Name == "HBM" {
			m.Measured = &gpu.Peak{Value: r.Value, Unit: "GB/s", Source: path.Base(r.Origin.File) + " (measured)"}
			return
		}
	}
}
