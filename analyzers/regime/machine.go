package regime

import (
	"fmt"
	"path"

	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// deviceOf finds the GPU of a capture: the agent tables beside it, the name
// that the user gave, or what all devices of its architecture have in common.
func deviceOf(agents []trace.Agent, named, arch string) (d *gpu.Device, source string, assumed bool) {
	if d := commonAgent(agents); d != nil {
		return d, path.Base(agents[0].Origin.File), false
	}
	if named != "" {
		if m, err := gpu.FindDevices(named); err == nil && len(m.Devices) == 1 {
			return &m.Devices[0], "--device", false
		}
	}
	if d := commonDevice(arch); d != nil {
		return d, "assumed: all " + arch + " devices of the table have its CUs and memory", true
	}
	return nil, "", false
}

// commonAgent is the device of all GPUs of an agent table, nil where they
// differ or are not known.
func commonAgent(agents []trace.Agent) *gpu.Device {
	var out *gpu.Device
	for i := range agents {
		a := &agents[i]
		d, err := gpu.DeviceOf(gpu.Agent{
			Gfx: a.Gfx, DeviceID: whole(a.DeviceID), Product: a.Product, CUs: whole(a.CUs), XCCs: whole(a.XCCs), MaxMHz: float64(whole(a.MaxClockMHz)),
		})
		if err != nil {
			return nil
		}
		if out != nil && (out.Name != d.Name || out.CUs != d.CUs || out.MemoryGBps != d.MemoryGBps) {
			return nil
		}
		out = &d
	}
	return out
}

// commonDevice is the device that stands for an architecture: all of its
// devices in the table have the same CUs and memory bandwidth. The clock is
// the highest of them.
func commonDevice(arch string) *gpu.Device {
	if arch == "" {
		return nil
	}
	m, err := gpu.FindDevices(arch)
	if err != nil || m.How != "architecture" {
		return nil
	}
	out := m.Devices[0]
	for _, d := range m.Devices[1:] {
		if d.CUs != out.CUs || d.MemoryGBps != out.MemoryGBps {
			return nil
		}
		if d.Name != out.Name {
			out.Name += " or " + d.Name
		}
		out.MaxMHz = max(out.MaxMHz, d.MaxMHz)
	}
	return &out
}

// maxFigure is far above any figure of an agent; what exceeds it is unknown.
const maxFigure = 1 << 30

func whole(p *int64) int {
	if p == nil || *p < 0 || *p > maxFigure {
		return 0
	}
	return int(*p)
}

// hbmShare is the memory peak in bytes per clock and CU at a clock.
func hbmShare(d *gpu.Device, mhz float64) (share float64, how string, ok bool) {
	if d == nil || d.MemoryGBps <= 0 || d.CUs <= 0 || mhz <= 0 {
		return 0, "", false
	}
	share = d.MemoryGBps * 1e9 / float64(d.CUs) / (mhz * 1e6)
	return share, fmt.Sprintf("%g GB/s / %d CUs / %.0f MHz", d.MemoryGBps, d.CUs, mhz), true
}
