package trust

import (
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// TestLives: where waves of another compute unit lived several times as long,
// it is named; where all lived alike, another dispatch is what helps.
func TestLives(t *testing.T) {
	cu := func(cu int, cycles ...int64) trace.CUWaves {
		return trace.CUWaves{CU: cu, Starts: int64(len(cycles)), Lifetimes: cycles}
	}
	r := &replay.Replay{HasWaves: true, SIMDs: []replay.SIMD{{SE: 1, CU: 2}, {SE: 1, CU: 2, SIMD: 1}}}
	for _, c := range []struct {
		cus       []trace.CUWaves
		text, fix string
	}{
		{[]trace.CUWaves{cu(2, 90, 100, 110), cu(3, 80, 399), cu(4, 100)}, "of the 2 other compute units lived alike", "another dispatch"},
		{[]trace.CUWaves{cu(2, 90, 100, 110), cu(3, 80, 400), cu(4, 100), cu(5, 500)}, "on 2 of the 3 other compute units waves lived longer, up to 500 cycles beside a median of 100", "CU 5 of engine 1, CU 3 of engine 1"},
		{[]trace.CUWaves{cu(2, 90)}, "", ""},
		{[]trace.CUWaves{cu(3, 90)}, "", ""},
	} {
		o := lives(&trace.ThreadTrace{Occupancy: &trace.Occupancy{Engines: []trace.EngineOccupancy{{SE: 1, CUs: c.cus}}}}, r)
		if (o == nil) != (c.text == "") || o != nil && (!strings.Contains(o.text(), c.text) || !strings.Contains(o.fix(), c.fix)) {
			t.Errorf("%+v: %+v", c.cus, o)
		}
	}
	if lives(&trace.ThreadTrace{}, r) != nil {
		t.Error("without occupancy.json it is not known")
	}
}

// TestApart: traced waves are typical inside of the middle half of all.
func TestApart(t *testing.T) {
	for _, c := range []struct {
		life int64
		said bool
		off  float64
	}{{79, true, 21}, {80, false, 0}, {100, false, 0}, {110, false, 0}, {111, true, 11}, {1000, true, 900}} {
		all := []int64{130, 70, 80, 90, 100, 100, 110, 120, 60}
		text, off := apart([]int64{c.life + 1, c.life, c.life - 1}, all)
		if (text != "") != c.said || off != c.off {
			t.Errorf("%d: %q, %g %%; want %g", c.life, text, off, c.off)
		}
	}
}

func TestSeveralKernels(t *testing.T) {
	o := &trace.Occupancy{Kernels: []trace.KernelWaves{{ID: 0}, {ID: 1, Starts: 3}}}
	if severalKernels(o) {
		t.Error("one kernel ran")
	}
	o.Kernels[0].Starts = 1
	if !severalKernels(o) {
		t.Error("two kernels ran")
	}
}
