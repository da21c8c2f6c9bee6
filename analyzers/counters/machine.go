package counters

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/gpu"
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
	Notes    []string  `json:"notes,omitempty"`
}

// Arch is the architecture, or "" when several are possible.
func (m *Machine) Arch() string {
	if len(m.Archs) == 1 {
		return m.Archs[0]
	}
	return ""
}

// machines finds the GPU of each agent of a run.
type machines struct {
	run    *trace.CounterRun
	device string // what the user named
	col    *collection
	bubble bool // TCC_BUBBLE counted something
}

// of returns the machine of the rows that name an agent.
func (ms *machines) of(agent string) (*Machine, error) {
	m := &Machine{Facts: map[string]Fact{}}
	a := ms.find(agent)
	switch {
	case a != nil:
		m.describe(a)
	case ms.device != "":
		if err := m.named(ms.device); err != nil {
			return nil, err
		}
	default:
		m.infer(ms.col, ms.bubble)
	}
	if a != nil && ms.device != "" && len(m.Facts) < len(factNames) {
		// The capture says less than everything: the flag fills the gaps.
		if err := m.fill(ms.device, "--device"); err != nil {
			return nil, err
		}
	}
	m.defaults()
	m.measured(ms.run.Rooflines)
	return m, nil
}

// find returns the description of an agent: the one of that name, else the
// only one, or the first of several that are alike.
func (ms *machines) find(agent string) *trace.CounterAgent {
	list := ms.run.Agents
	for i := range list {
		if slices.Contains(list[i].Names, agent) {
			return &list[i]
		}
	}
	for i := range list {
		if !alike(&list[0], &list[i]) {
			return nil
		}
	}
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

func alike(a, b *trace.CounterAgent) bool {
	same := func(x, y *int64) bool { return x == nil && y == nil || x != nil && y != nil && *x == *y }
	return a.Gfx == b.Gfx && same(a.CUs, b.CUs) && same(a.XCCs, b.XCCs) && same(a.MaxClockMHz, b.MaxClockMHz)
}

// factNames are the facts that formulas use.
var factNames = [...]string{"XCC", "CU", "SIMD", "L2_CHANNELS", "LDS_BANKS", "CLOCK_MHZ"}

// describe takes in what a table beside the counters says.
func (m *Machine) describe(a *trace.CounterAgent) {
	source := path.Base(a.Origin.File)
	m.Archs, m.ArchSource = []string{a.Gfx}, source
	for name, v := range map[string]*int64{
		"XCC": a.XCCs, "CU": a.CUs, "SIMD": a.SIMDsPerCU, "L2_CHANNELS": a.L2Channels, "LDS_BANKS": a.LDSBanks, "CLOCK_MHZ": a.MaxClockMHz,
	} {
		if v != nil && *v > 0 {
			m.Facts[name] = Fact{float64(*v), source}
		}
	}
	g := gpu.Agent{Gfx: a.Gfx, Product: a.Product}
	for _, f := range []struct {
		to *int
		v  *int64
	}{{&g.CUs, a.CUs}, {&g.XCCs, a.XCCs}, {&g.DeviceID, a.DeviceID}} {
		if f.v != nil {
			*f.to = int(*f.v)
		}
	}
	if a.MaxClockMHz != nil {
		g.MaxMHz = float64(*a.MaxClockMHz)
	}
	if _, err := fmt.Sscanf(strings.ToUpper(a.MemoryPartition), "NPS%d", &g.MemoryPartitions); err != nil {
		g.MemoryPartitions = 0
	}
	m.peaks(g)
	m.recordedPeak(a, g.MemoryPartitions)
}

// peaks looks up the device's ceilings.
func (m *Machine) peaks(g gpu.Agent) {
	d, err := gpu.DeviceOf(g)
	if err != nil {
		m.Notes = append(m.Notes, err.Error())
		return
	}
	m.Device = d.Name
	m.take(d)
}

func (m *Machine) take(d gpu.Device) {
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
func (m *Machine) recordedPeak(a *trace.CounterAgent, partitions int) {
	if m.Memory != nil || a.MemoryClockMHz == nil || a.MemoryChannels == nil {
		return
	}
	v := float64(*a.MemoryClockMHz) / 1000 * 32 * float64(*a.MemoryChannels) / float64(max(partitions, 1))
	m.Memory = &gpu.Peak{
		Value: v, Unit: "GB/s", Source: path.Base(a.Origin.File),
		Formula: fmt.Sprintf("%d MHz x 32 B x %d channels", *a.MemoryClockMHz, *a.MemoryChannels),
	}
}

// named takes the GPU from the user: a device, or an architecture.
func (m *Machine) named(name string) error {
	found, err := gpu.FindDevices(name)
	if err != nil {
		return err
	}
	m.Archs, m.ArchSource = []string{found.Devices[0].Arch}, "--device"
	for _, d := range found.Devices {
		if d.Arch != m.Archs[0] {
			return fmt.Errorf("%q is %s or %s: name one", name, found.Devices[0].Name, d.Name)
		}
	}
	return m.fill(name, "--device")
}

// fill adds what all devices of a name agree on.
func (m *Machine) fill(name, source string) error {
	found, err := gpu.FindDevices(name)
	if err != nil {
		return err
	}
	if len(m.Archs) == 1 && found.Devices[0].Arch != m.Archs[0] {
		m.Notes = append(m.Notes, fmt.Sprintf("%s names a %s, but the capture is of %s: not used", source, found.Devices[0].Arch, m.Archs[0]))
		return nil
	}
	m.agree(found.Devices, source)
	return nil
}

// agree adds the facts in which all of some devices are the same.
func (m *Machine) agree(devices []gpu.Device, source string) {
	ds := make([]gpu.Device, len(devices))
	for i, d := range devices {
		if d.MemoryPerDie && d.Dies > 1 { // each die of an MI200 is an agent
			d = d.Scale(gpu.Agent{XCCs: 1, CUs: d.CUs / d.Dies})
		}
		ds[i] = d
	}
	for _, f := range []struct {
		name string
		of   func(gpu.Device) float64
	}{
		{"XCC", func(d gpu.Device) float64 { return float64(d.Dies) }},
		{"CU", func(d gpu.Device) float64 { return float64(d.CUs) }},
		{"CLOCK_MHZ", func(d gpu.Device) float64 { return d.MaxMHz }},
	} {
		v := f.of(ds[0])
		same := !slices.ContainsFunc(ds, func(d gpu.Device) bool { return f.of(d) != v })
		if _, known := m.Facts[f.name]; !known && same && v > 0 {
			m.Facts[f.name] = Fact{v, fmt.Sprintf("%s: %s", source, deviceNames(ds))}
		}
	}
	if len(ds) == 1 && m.Memory == nil {
		m.Device = ds[0].Name
		m.take(ds[0])
	}
}

func deviceNames(ds []gpu.Device) string {
	var names []string
	for _, d := range ds {
		names = append(names, d.Name)
	}
	return strings.Join(names, ", ")
}

// infer tells architectures by the counters that only they have. Source:
// rocprofiler-sdk counter_defs.yaml.
func (m *Machine) infer(col *collection, bubble bool) {
	has := func(prefix string) bool {
		for _, name := range col.spelled {
			if strings.HasPrefix(name, prefix) {
				return true
			}
		}
		return false
	}
	for _, rule := range []struct {
		archs []string
		ok    bool
		why   string
	}{
		{cdna4(), has("TCC_EA0_RDREQ_128B") || has("TCC_EA0_RDREQ_DRAM_32B") || has("SQ_INSTS_VALU_MFMA_MOPS_F6F4"), "only gfx950 has these counters"},
		{[]string{"gfx942"}, has("TCC_EA0_") && bubble, "TCC_BUBBLE counts 128-byte reads only on gfx94x"},
		{oneDie(), has("TCC_EA_"), "gfx908 and gfx90a alone spell counters TCC_EA_"},
		{cdna34(), has("TCC_EA0_"), "counters TCC_EA0_ are of gfx94x and gfx950"},
		{rdna(), has("GL2C_") || has("SQC_LDS_") || has("GL1C_"), "counters GL2C_, GL1C_, SQC_LDS_ are of RDNA"},
		{cdna(), has("TCC_") || has("TCP_TCC_") || has("TCP_TOTAL_"), "counters TCC_ and TCP_TCC_ are of CDNA"},
		{cdna2up(), has("SQ_INSTS_MFMA") || has("SQ_VALU_MFMA_") || has("SQ_INSTS_VALU_MFMA_"), "MFMA counters are of gfx90a and later CDNA"},
		{cdna(), has("SQ_ACTIVE_INST_") || has("SQ_BUSY_CU_") || has("SQ_LDS_"), "only CDNA has these SQ counters"},
		{AllArchs(), true, "nothing tells the architecture: give --device, or the agent_info.csv beside the counters"},
	} {
		if rule.ok {
			m.Archs, m.ArchSource = rule.archs, "inferred: "+rule.why
			return
		}
	}
}

// defaults fills in what the architecture alone decides.
func (m *Machine) defaults() {
	if len(m.Archs) != 1 {
		return
	}
	arch, err := gpu.ArchByName(m.Archs[0])
	if err != nil {
		m.Notes = append(m.Notes, err.Error())
		return
	}
	set := func(name string, v int, why string) {
		if _, known := m.Facts[name]; !known && v > 0 {
			m.Facts[name] = Fact{float64(v), why}
		}
	}
	if found, err := gpu.FindDevices(arch.Name); err == nil {
		m.agree(found.Devices, "all known "+arch.Name)
	}
	set("SIMD", arch.CU.SIMDs, "architecture")
	set("LDS_BANKS", arch.LDSWriteBytes/4, "architecture")
	if xcc, ok := m.Facts["XCC"]; ok {
		// 16 L2 channels a die; a partition has those of its own dies.
		set("L2_CHANNELS", arch.L2ChannelsPerDie*int(xcc.Value), "architecture x dies")
	}
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
