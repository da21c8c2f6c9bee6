package occupancy

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// machine is the GPU that a kernel is judged for. A machine without an
// architecture is unknown.
type machine struct {
	arch gpu.Arch
	// device is a product's name, "" for none; cus is 0 when unknown.
	device string
	cus    int
	// source says where this comes from.
	source string
}

func (m machine) known() bool { return m.arch.Name != "" }

// machineOfFlag resolves what the user named: an architecture, or a device. A
// name of several devices of one architecture gives the architecture.
func machineOfFlag(name string) (machine, error) {
	if name == "" {
		return machine{}, nil
	}
	if a, err := gpu.ArchByName(name); err == nil {
		return machine{arch: a, source: "--arch"}, nil
	}
	found, err := gpu.FindDevices(name)
	if err != nil {
		return machine{}, fmt.Errorf("--device: %w", err)
	}
	first := found.Devices[0]
	for _, d := range found.Devices {
		if d.Arch != first.Arch {
			return machine{}, fmt.Errorf("--device %s names %s (%s) and %s (%s): name one of them", name, first.Name, first.Arch, d.Name, d.Arch)
		}
	}
	a, err := gpu.ArchByName(first.Arch)
	if err != nil {
		return machine{}, err
	}
	m := machine{arch: a, source: "--device"}
	if len(found.Devices) == 1 {
		m.device, m.cus = first.Name, first.CUs
	}
	return m, nil
}

// machineOfAgents finds the agent of a dispatch in an agent table: the one
// that the row names, else what all GPUs of the table have in common.
func machineOfAgents(agents []trace.Agent, id string) (machine, error) {
	if a := agentOf(agents, id); a != nil {
		return machineOfAgent(a)
	}
	var common machine
	for i := range agents {
		m, err := machineOfAgent(&agents[i])
		switch {
		case err != nil:
			return machine{}, err
		case i == 0:
			common = m
		case m.arch.Name != common.arch.Name:
			return machine{}, nil
		case m.cus != common.cus:
			common.cus, common.device = 0, ""
		}
	}
	return common, nil
}

// agentOf reads the Agent_Id column: "Agent 6" and "6" are node ids, "GPU 0"
// counts the GPUs (rocprofv3 --agent-index).
func agentOf(agents []trace.Agent, id string) *trace.Agent {
	words := strings.Fields(id)
	if len(words) == 0 {
		return nil
	}
	n, err := strconv.ParseInt(words[len(words)-1], 10, 64)
	if err != nil {
		return nil
	}
	if strings.EqualFold(words[0], "GPU") && len(words) == 2 {
		if n >= 0 && n < int64(len(agents)) {
			return &agents[n]
		}
		return nil
	}
	for i := range agents {
		if agents[i].NodeID == n {
			return &agents[i]
		}
	}
	return nil
}

func machineOfAgent(a *trace.Agent) (machine, error) {
	where := fmt.Sprintf("%s, row %d", a.Origin.File, a.Origin.Row)
	arch, err := gpu.ArchByName(a.Gfx)
	if err != nil {
		return machine{}, fmt.Errorf("%s: %w", where, err)
	}
	d, err := gpu.DeviceOf(gpu.Agent{
		Gfx: a.Gfx, DeviceID: whole(a.DeviceID), Product: a.Product, CUs: whole(a.CUs), XCCs: whole(a.XCCs), MaxMHz: float64(whole(a.MaxClockMHz)),
	})
	if err != nil {
		return machine{}, fmt.Errorf("%s: %w", where, err)
	}
	m := machine{arch: arch, cus: d.CUs, source: path.Base(a.Origin.File)}
	if d.Name != arch.Name {
		m.device = d.Name
	}
	return m, nil
}

// maxFigure is far above any figure of an agent or a dispatch; what exceeds it
// is unknown.
const maxFigure = 1 << 30

// whole is a figure as an int, 0 when it is absent or absurd.
func whole(p *int64) int {
	if p == nil || *p < 0 || *p > maxFigure {
		return 0
	}
	return int(*p)
}

// machineFor resolves the GPU of a capture: its agents, else the flag.
func (b *builder) machineFor(agents []trace.Agent, id string) (machine, error) {
	m, err := machineOfAgents(agents, id)
	if err != nil {
		if b.flag.known() {
			return b.flag, nil
		}
		return machine{}, fmt.Errorf("%w; or name the GPU with --device or --arch", err)
	}
	switch {
	case !m.known():
		return b.flag, nil
	case m.cus == 0 && b.flag.cus > 0 && b.flag.arch.Name == m.arch.Name:
		m.cus, m.device = b.flag.cus, b.flag.device
	}
	return m, nil
}

// flagIgnored says that a capture's own GPU was taken instead of the named one.
func (b *builder) flagIgnored(m machine) (gpu.Note, bool) {
	if !b.flag.known() || b.flag.arch.Name == m.arch.Name {
		return gpu.Note{}, false
	}
	return note("device_flag_unused", "%s says %s: %s %s is not used", m.source, m.arch.Name, b.flag.source, b.p.Device), true
}

func note(id gpu.NoteID, format string, args ...any) gpu.Note {
	return gpu.Note{ID: id, Text: fmt.Sprintf(format, args...)}
}
