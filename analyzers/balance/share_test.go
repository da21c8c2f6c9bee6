package balance

import (
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// TestDeviceShare: the share of all CUs' time over that of the traced CUs'
// windows, which hold gaps of their own.
func TestDeviceShare(t *testing.T) {
	o := &trace.Occupancy{Engines: []trace.EngineOccupancy{{SE: 1, CUs: []trace.CUWaves{
		{CU: 2, First: 100, Last: 300, ResidentCycles: 100}, {CU: 3, First: 100, Last: 300, ResidentCycles: 200}, {CU: 4, First: 100, Last: 300, ResidentCycles: 20},
	}}}}
	traced := func(cu int) []replay.SIMD { return []replay.SIMD{{SE: 1, CU: cu}, {SE: 1, CU: cu, SIMD: 1}} }
	for _, c := range []struct {
		resident float64
		simds    []replay.SIMD
		want     float64
	}{
		{40, traced(3), 0.4},
		{40, traced(2), 0.8}, // half of its window is a gap
		{40, append(traced(2), traced(3)...), 0.4 / 0.75},
		{40, traced(4), 1},                       // never more than all
		{40, []replay.SIMD{{SE: 2, CU: 3}}, 0.4}, // of another engine
	} {
		got := (&Balance{ResidentPct: &c.resident}).DeviceShare(o, c.simds)
		if got == nil || *got < c.want-1e-12 || *got > c.want+1e-12 {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if (&Balance{}).DeviceShare(o, traced(3)) != nil || (*Balance)(nil).DeviceShare(nil, nil) != nil {
		t.Error("what is not known is absent")
	}
}
