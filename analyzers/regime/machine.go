package regime

import (
	"fmt"

	"github.com/rocanalyze/rocanalyze/pkg/gpu"
)

// hbmShare is the memory peak in bytes per clock and CU at a clock.
func hbmShare(d *gpu.Device, mhz float64) (share float64, how string, ok bool) {
	if d == nil || d.MemoryGBps <= 0 || d.CUs <= 0 || mhz <= 0 {
		return 0, "", false
	}
	share = d.MemoryGBps * 1e9 / float64(d.CUs) / (mhz * 1e6)
	return share, fmt.Sprintf("%g GB/s / %d CUs / %.0f MHz", d.MemoryGBps, d.CUs, mhz), true
}
