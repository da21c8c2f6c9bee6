package capture

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Names of facts. Those in capitals are numbers that formulas of counters use.
const (
	FactArch   = "architecture"
	FactDevice = "device"
	FactAgent  = "agent"
	FactWave   = "wave size"
	FactMemory = "memory peak, GB/s"
	// FactEngines counts the shader engines of the device.
	FactEngines = "shader engines"

	FactXCC        = "XCC"
	FactCU         = "CU"
	FactSIMD       = "SIMD"
	FactL2Channels = "L2_CHANNELS"
	FactLDSBanks   = "LDS_BANKS"
	FactClockMHz   = "CLOCK_MHZ"
)

// SourceFlag is the source of what the user named.
const SourceFlag = "--device"

// Other sources that are no files. Those that say why begin with assumed or
// inferred.
const (
	fromInstructions = "instructions"
	fromTable        = "device table"
	assumed          = "assumed: "
	inferred         = "inferred: "
)

// Fact is one thing that is known about a GPU, and where from.
type Fact struct {
	Fact   string `json:"fact"`
	Value  string `json:"value"`
	Source string `json:"source"`
	// Number is Value where that is one.
	Number float64 `json:"-"`
}

// Machine is the GPU that something of a capture ran on, as far as it is
// known.
type Machine struct {
	Arch Arch
	// Device is the product, or the part of it that the agent is; nil when
	// unknown. Where it is Assumed, nothing names it, but all devices of the
	// architecture have its CUs and memory, and the clock is the highest.
	Device       *gpu.Device
	DeviceSource string
	Assumed      bool
	// Agents are the rows of agent tables that it can be.
	Agents []trace.CounterAgent
	// Wave is the wave size in lanes, 0 when unknown. WaveOpen is set where
	// the architecture has two and this is the agent's: a kernel may have been
	// compiled for the other.
	Wave     int
	WaveOpen bool
	// Facts are all that is known, each once.
	Facts []Fact

	major int
}

// Generation is 9 for gfx9 and so on, 0 when unknown: as the decoder of the
// trace wrote it down, else that of the target, else the one that all
// candidates have in common.
func (m *Machine) Generation() int {
	if m.major != 0 {
		return m.major
	}
	if m.Arch.Target != "" {
		return m.Arch.Target.Generation()
	}
	common := 0
	for i, c := range m.Arch.Candidates {
		if g := c.Generation(); i > 0 && g != common {
			return 0
		}
		common = c.Generation()
	}
	return common
}

// IsGFX9 reports whether latency is stall plus issue, so that issue cycles are
// known, and whether all SIMDs of the traced compute unit are traced. Later
// generations count execution as latency and trace one SIMD.
// Source: rocprof-trace-decoder, trace_decoder_types.h.
func (m *Machine) IsGFX9() bool { return m.Generation() == 9 }

// GPU returns the figures of the architecture; it fails when that is open or
// not in the table.
func (m *Machine) GPU() (gpu.Arch, error) {
	if m.Arch.Target == "" {
		return gpu.Arch{}, fmt.Errorf("the architecture is not known (%s)", m.Arch)
	}
	return gpu.ArchByName(string(m.Arch.Target))
}

// Number is a numeric fact.
func (m *Machine) Number(fact string) (Fact, bool) {
	i := slices.IndexFunc(m.Facts, func(f Fact) bool { return f.Fact == fact })
	if i < 0 {
		return Fact{}, false
	}
	return m.Facts[i], true
}

// MaxClockMHz is the highest shader clock: the agent's, else the device's where
// it is known.
func (m *Machine) MaxClockMHz() (Fact, bool) {
	if f, ok := m.Number(FactClockMHz); ok {
		return f, true
	}
	if m.Device == nil || m.Assumed || m.Device.MaxMHz <= 0 {
		return Fact{}, false
	}
	return Fact{Fact: FactClockMHz, Value: fmt.Sprintf("%.10g", m.Device.MaxMHz), Number: m.Device.MaxMHz, Source: fromTable}, true
}

// EngineCUs is the mean number of compute units of n shader engines: the
// device's, over its engines (304 CUs on 32 engines are 9.5: some have 10, some
// 9). It is nil where the device is open.
func (m *Machine) EngineCUs(n int) *float64 {
	cus, ok := m.Number(FactCU)
	engines, ok2 := m.Number(FactEngines)
	if !ok || !ok2 || n == 0 {
		return nil
	}
	return new(cus.Number * float64(n) / engines.Number)
}

// EnginesSource says where the number of shader engines is from, "" where it is
// not known.
func (m *Machine) EnginesSource() string {
	f, _ := m.Number(FactEngines)
	return f.Source
}

// DeviceName is the product's name, "" where none is known or it is assumed.
func (m *Machine) DeviceName() string {
	if m.Device == nil || m.Assumed || m.Device.Name == m.Device.Arch || m.Device.Name == string(m.Arch.Target) {
		return ""
	}
	return m.Device.Name
}

// Only is the device, nil also where it stands for several of an architecture.
func (m *Machine) Only() *gpu.Device {
	if m.Assumed && len(devicesOf(m.Arch.Target)) > 1 {
		return nil
	}
	return m.Device
}

func (m *Machine) say(fact, value, source string) {
	if _, known := m.Number(fact); !known && value != "" {
		m.Facts = append(m.Facts, Fact{Fact: fact, Value: value, Source: source})
	}
}

func (m *Machine) number(fact string, v float64, source string) {
	if _, known := m.Number(fact); !known && v > 0 {
		m.Facts = append(m.Facts, Fact{Fact: fact, Value: fmt.Sprintf("%.10g", v), Source: source, Number: v})
	}
}

// maxFigure is far above any figure of an agent; what exceeds it is unknown.
const maxFigure = 1 << 30

func whole(p *int64) int {
	if p == nil || *p < 0 || *p > maxFigure {
		return 0
	}
	return int(*p)
}

// agentGPU is what an agent row says about its GPU.
func agentGPU(a *trace.CounterAgent) gpu.Agent {
	g := gpu.Agent{
		Gfx: a.Gfx, DeviceID: whole(a.DeviceID), Product: a.Product, CUs: whole(a.CUs), XCCs: whole(a.XCCs), MaxMHz: float64(whole(a.MaxClockMHz)),
	}
	g.MemoryPartitions = MemoryPartitions(a)
	return g
}

// MemoryPartitions is N of an agent's NPSn memory mode, 0 when unknown.
func MemoryPartitions(a *trace.CounterAgent) (n int) {
	if _, err := fmt.Sscanf(strings.ToUpper(a.MemoryPartition), "NPS%d", &n); err != nil {
		return 0
	}
	return n
}

// deviceOf is the device that an agent is; inTable is false for one that only
// its agent row describes.
func deviceOf(a *trace.CounterAgent) (d gpu.Device, inTable bool, err error) {
	if d, err = gpu.DeviceOf(agentGPU(a)); err != nil {
		return d, false, err
	}
	if d.Name == d.Arch {
		d.Name = a.Gfx
		return d, false, nil
	}
	return d, true, nil
}

// place names the row of an agent.
func place(a *trace.CounterAgent) string {
	if a.Origin.Row == 0 {
		return path.Base(a.Origin.File)
	}
	return fmt.Sprintf("%s, row %d", path.Base(a.Origin.File), a.Origin.Row)
}

// commonTarget is the architecture that all agents have that name one.
func commonTarget(agents []trace.CounterAgent) (t isa.Target, from *trace.CounterAgent) {
	for i := range agents {
		a := &agents[i]
		switch {
		case a.Gfx == "":
		case t == "":
			t, from = isa.Target(a.Gfx), a
		case string(t) != a.Gfx:
			return "", nil
		}
	}
	return t, from
}

// commonDevice is the device that all agents are, nil where they differ or are
// not known.
func commonDevice(agents []trace.CounterAgent) *gpu.Device {
	var out *gpu.Device
	for i := range agents {
		d, _, err := deviceOf(&agents[i])
		if err != nil || out != nil && (out.Name != d.Name || out.CUs != d.CUs || out.MemoryGBps != d.MemoryGBps) {
			return nil
		}
		if out == nil {
			out = &d
		}
	}
	return out
}

// assumedDevice stands for an architecture: all of its devices in the table
// have the same CUs and memory bandwidth. The clock is the highest of them.
func assumedDevice(t isa.Target) *gpu.Device {
	devices := devicesOf(t)
	if len(devices) == 0 {
		return nil
	}
	out := devices[0]
	for _, d := range devices[1:] {
		if d.CUs != out.CUs || d.MemoryGBps != out.MemoryGBps {
			return nil
		}
		out.Name += " or " + d.Name
		out.MaxMHz = math.Max(out.MaxMHz, d.MaxMHz)
	}
	return &out
}

// devicesOf are the devices of an architecture, each as the agent that a
// kernel runs on.
func devicesOf(t isa.Target) []gpu.Device {
	if t == "" {
		return nil
	}
	m, err := gpu.FindDevices(string(t))
	if err != nil || m.How != "architecture" {
		return nil
	}
	return perAgent(m.Devices)
}

// perAgent makes agents of products: each die of an MI200 is one.
func perAgent(devices []gpu.Device) []gpu.Device {
	out := slices.Clone(devices)
	for i := range out {
		out[i] = out[i].OneAgent()
	}
	return out
}

// complete fills in what follows from the architecture, device and agents.
func (m *Machine) complete(f *flag) {
	m.say(FactArch, string(m.Arch.Target), m.Arch.Source)
	switch d := commonDevice(m.Agents); {
	case d != nil:
		m.Device, m.DeviceSource = d, path.Base(m.Agents[0].Origin.File)
		if n := f.single(); n != nil && m.DeviceName() == "" {
			m.Device = new(n.Scale(agentGPU(&m.Agents[0])))
			m.DeviceSource = SourceFlag
		}
	case f.single() != nil && f.arch == canonical(m.Arch.Target):
		m.Device, m.DeviceSource = f.single(), SourceFlag
	default:
		if m.Device = assumedDevice(m.Arch.Target); m.Device != nil {
			m.DeviceSource, m.Assumed = assumed+"all "+string(m.Arch.Target)+" devices of the table have its CUs and memory", true
		}
	}
	m.figures(f)
	m.wave()
}

// figures are the numbers that formulas use: the agents', else those in which
// all devices of the name agree that the user gave, else those in which all of
// the architecture do.
func (m *Machine) figures(f *flag) {
	if m.Device != nil && m.Device.Name != string(m.Arch.Target) {
		m.say(FactDevice, m.Device.Name, m.DeviceSource)
	}
	m.described()
	if f.known() && f.arch == canonical(m.Arch.Target) {
		m.agreed(f.devices, SourceFlag)
	}
	m.agreed(devicesOf(m.Arch.Target), "all known "+string(m.Arch.Target))
	if a, err := m.GPU(); err == nil {
		m.number(FactSIMD, float64(a.CU.SIMDs), "architecture")
		m.number(FactLDSBanks, float64(a.LDSWriteBytes/4), "architecture")
		if xcc, ok := m.Number(FactXCC); ok {
			// 16 L2 channels a die; a partition has those of its own dies.
			m.number(FactL2Channels, float64(a.L2ChannelsPerDie)*math.Trunc(xcc.Number), "architecture x dies")
			m.number(FactEngines, float64(a.EnginesPerDie)*math.Trunc(xcc.Number), "architecture x dies")
		}
	}
	if m.Device != nil {
		m.number(FactMemory, m.Device.MemoryGBps, fromTable)
	}
}

// described takes in the figures in which all agents are the same.
func (m *Machine) described() {
	for _, f := range []struct {
		fact string
		of   func(*trace.CounterAgent) *int64
	}{
		{FactXCC, func(a *trace.CounterAgent) *int64 { return a.XCCs }},
		{FactEngines, func(a *trace.CounterAgent) *int64 { return a.Engines }},
		{FactCU, func(a *trace.CounterAgent) *int64 { return a.CUs }},
		{FactSIMD, func(a *trace.CounterAgent) *int64 { return a.SIMDsPerCU }},
		{FactL2Channels, func(a *trace.CounterAgent) *int64 { return a.L2Channels }},
		{FactLDSBanks, func(a *trace.CounterAgent) *int64 { return a.LDSBanks }},
		{FactClockMHz, func(a *trace.CounterAgent) *int64 { return a.MaxClockMHz }},
	} {
		v := 0
		for i := range m.Agents {
			n := whole(f.of(&m.Agents[i]))
			if i > 0 && n != v {
				v = 0
				break
			}
			v = n
		}
		if v > 0 {
			m.number(f.fact, float64(v), path.Base(m.Agents[0].Origin.File))
		}
	}
}

// agreed adds the figures in which all of some devices are the same.
func (m *Machine) agreed(devices []gpu.Device, source string) {
	if len(devices) == 0 {
		return
	}
	var names []string
	for _, d := range devices {
		names = append(names, d.Name)
	}
	for _, f := range []struct {
		fact string
		of   func(gpu.Device) float64
	}{
		{FactXCC, func(d gpu.Device) float64 { return float64(d.Dies) }},
		{FactCU, func(d gpu.Device) float64 { return float64(d.CUs) }},
		{FactClockMHz, func(d gpu.Device) float64 { return d.MaxMHz }},
	} {
		v := f.of(devices[0])
		if !slices.ContainsFunc(devices, func(d gpu.Device) bool { return f.of(d) != v }) {
			m.number(f.fact, v, source+": "+strings.Join(names, ", "))
		}
	}
}

// wave is the one rule of wave size: 64 on gfx9; later generations have two,
// and the agent's is taken.
func (m *Machine) wave() {
	switch a, err := m.GPU(); {
	case m.IsGFX9():
		m.Wave = 64
		m.number(FactWave, 64, "architecture")
	case err == nil && a.Wave64.PerSIMD == 0:
		m.Wave = 32
		m.number(FactWave, 32, "architecture")
	default:
		for i := range m.Agents {
			n := whole(m.Agents[i].WaveSize)
			if m.Wave != 0 && n != m.Wave {
				m.Wave = 0
				return
			}
			m.Wave = n
		}
		if m.Wave > 0 {
			m.WaveOpen = true
			m.number(FactWave, float64(m.Wave), path.Base(m.Agents[0].Origin.File))
		}
	}
}

// waveSizes are the wave sizes that a kernel can have, the likely one first.
func (m *Machine) waveSizes() []int64 {
	switch {
	case m.Wave == 0:
		return nil
	case m.WaveOpen:
		return []int64{int64(m.Wave), 32, 64}
	}
	return []int64{int64(m.Wave)}
}

// flag is what the user named: an architecture, or a device.
type flag struct {
	name    string
	arch    isa.Target // the table's name
	own     isa.Target // the processor as it was named
	devices []gpu.Device
	isArch  bool
}

// CheckDevice fails when a name is of no device and no architecture, or of
// devices of several.
func CheckDevice(name string) error {
	_, err := parseFlag(name)
	return err
}

// ArchOf is the architecture of what the user named; "" where it is none.
func ArchOf(name string) string {
	f, err := parseFlag(name)
	if err != nil {
		return ""
	}
	return string(f.arch)
}

func parseFlag(name string) (*flag, error) {
	f := &flag{name: name}
	if name == "" {
		return f, nil
	}
	if a, err := gpu.ArchByName(name); err == nil {
		own, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(name)), ":")
		f.arch, f.own, f.isArch, f.devices = isa.Target(a.Name), isa.Target(own), true, devicesOf(isa.Target(a.Name))
		return f, nil
	}
	m, err := gpu.FindDevices(name)
	if err != nil {
		return nil, fmt.Errorf("--device: %w", err)
	}
	first := m.Devices[0]
	for _, d := range m.Devices {
		if d.Arch != first.Arch {
			return nil, fmt.Errorf("--device %s names %s (%s) and %s (%s): name one of them", name, first.Name, first.Arch, d.Name, d.Arch)
		}
	}
	f.arch, f.own, f.devices = isa.Target(first.Arch), isa.Target(first.Arch), perAgent(m.Devices)
	return f, nil
}

func (f *flag) known() bool { return f.name != "" }

// single is the one device that was named, nil for none and for several.
func (f *flag) single() *gpu.Device {
	if len(f.devices) != 1 || f.isArch {
		return nil
	}
	return &f.devices[0]
}

// fits reports whether an agent can be what the user named.
func (f *flag) fits(a *trace.CounterAgent) bool {
	if a.Gfx != "" && canonical(isa.Target(a.Gfx)) != f.arch {
		return false
	}
	d, inTable, err := deviceOf(a)
	if err != nil || f.isArch || !inTable {
		return true
	}
	return slices.ContainsFunc(f.devices, func(o gpu.Device) bool { return o.Name == d.Name })
}

// canonical is the table's name of an architecture.
func canonical(t isa.Target) isa.Target {
	if a, err := gpu.ArchByName(string(t)); err == nil {
		return isa.Target(a.Name)
	}
	return t
}

// contradicts is the error of a flag that cannot be what something ran on.
func (f *flag) contradicts(what, ran, source string) error {
	is := ""
	if !f.isArch && !strings.EqualFold(f.name, string(f.arch)) {
		is = " is " + string(f.arch)
	}
	return fmt.Errorf("--device %s%s, but %s ran on %s (%s)", f.name, is, what, ran, source)
}

// refuses is contradicts for an agent.
func (f *flag) refuses(what string, a *trace.CounterAgent) error {
	ran := a.Gfx
	if canonical(isa.Target(a.Gfx)) == f.arch || ran == "" {
		if d, _, err := deviceOf(a); err == nil {
			ran = d.Name
		}
	}
	return f.contradicts(what, ran, place(a))
}
