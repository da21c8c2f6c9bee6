package gpu

import (
	"fmt"
	"strings"
)

// Agent is what a capture says about the GPU it ran on: a whole device, a GCD
// of an MI200, or a partition of an MI300. Zero means not said.
type Agent struct {
	// Gfx is the architecture name.
	Gfx string
	// DeviceID is the PCI device id, Product the marketing name, which
	// drivers may report as "unknown" or leave empty.
	DeviceID int
	Product  string
	// CUs and XCCs are this agent's own (Cu_Count, Num_Xcc).
	CUs, XCCs int
	// MaxMHz is the peak engine clock (Max_Engine_Clk_Fcompute).
	MaxMHz float64
	// MemoryPartitions is N of an NPSn memory mode: such an agent reaches
	// 1/N of the memory bandwidth.
	MemoryPartitions int
}

// DeviceOf returns the device that an agent is, scaled to the agent's CUs,
// dies and clock. It looks for the device id, then for the product name, each
// only within the agent's architecture. A GPU that is not in the table becomes
// a device of its architecture with what the agent says. It fails when the
// architecture is unknown, or when nothing identifies the agent.
func DeviceOf(g Agent) (Device, error) {
	all, err := Devices()
	if err != nil {
		return Device{}, err
	}
	arch := ""
	if g.Gfx != "" {
		a, err := ArchByName(g.Gfx)
		if err != nil {
			return Device{}, err
		}
		arch = a.Name
	}
	for _, d := range all {
		if g.DeviceID != 0 && d.ID == g.DeviceID && (arch == "" || d.Arch == arch) {
			return d.Scale(g), nil
		}
	}
	for _, pick := range []func([]Device, string) []Device{byName, byNameInQuery} {
		for _, d := range pick(all, words(g.Product)) {
			if arch == "" || d.Arch == arch {
				return d.Scale(g), nil
			}
		}
	}
	if arch == "" {
		return Device{}, fmt.Errorf("no device with id %d or name %q, and no architecture given", g.DeviceID, g.Product)
	}
	return Device{
		Name: arch, Arch: arch, ID: g.DeviceID, Dies: g.XCCs, CUs: g.CUs, MaxMHz: g.MaxMHz,
		Scaled: "not in the device table: CUs and clock as the agent reports them",
	}, nil
}

// Scale returns the part of a device that an agent is. CUs, dies and clock
// that the agent does not give stay as they are; an MI200 agent with half of
// the CUs is one die. Memory bandwidth is divided by dies only where each die
// has memory of its own; a partition of an MI300 reaches the whole memory,
// together with its neighbours, unless the memory is partitioned too.
func (d Device) Scale(g Agent) Device {
	var how []string
	if g.XCCs == 0 && d.MemoryPerDie && g.CUs > 0 && g.CUs*d.Dies == d.CUs {
		g.XCCs = 1
	}
	if g.XCCs > 0 && d.Dies > 0 && g.XCCs != d.Dies {
		how = append(how, fmt.Sprintf("%d of %d dies", g.XCCs, d.Dies))
		if d.MemoryPerDie {
			d.MemoryGBps *= float64(g.XCCs) / float64(d.Dies)
			d.VRAMGiB *= float64(g.XCCs) / float64(d.Dies)
		}
	}
	if g.CUs > 0 && g.CUs != d.CUs {
		how = append(how, fmt.Sprintf("%d of %d CUs", g.CUs, d.CUs))
		d.CUs = g.CUs
	}
	if g.MaxMHz > 0 && g.MaxMHz != d.MaxMHz {
		how = append(how, fmt.Sprintf("%g MHz (table: %s)", g.MaxMHz, orUnknown(d.MaxMHz)))
		d.MaxMHz = g.MaxMHz
	}
	if g.MemoryPartitions > 1 {
		how = append(how, fmt.Sprintf("1 of %d memory partitions", g.MemoryPartitions))
		d.MemoryGBps /= float64(g.MemoryPartitions)
		d.VRAMGiB /= float64(g.MemoryPartitions)
	}
	if g.XCCs > 0 {
		d.Dies = g.XCCs
	}
	if len(how) > 0 {
		d.Scaled = "scaled to " + strings.Join(how, ", ")
		d.Published = nil // of the whole device
	}
	return d
}

func orUnknown(v float64) string {
	if v == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%g", v)
}
