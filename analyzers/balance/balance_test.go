package balance

import (
	"math"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// agent has eight compute units an engine, on two engines.
func agent() trace.Agent {
	return trace.Agent{Origin: trace.Origin{File: "x_agent_info.csv", Row: 1}, Gfx: "gfx942", CUs: new(int64(16)), Engines: new(int64(2)), SIMDsPerCU: new(int64(4))}
}

// cu is a unit with one wave on SIMD 0.
func cu(n int, first, last int64) trace.CUWaves {
	life := last - first
	return trace.CUWaves{
		CU: n, Starts: 1, First: first, Last: last, ResidentCycles: life, WaveCycles: life, Lifetimes: []int64{life},
		SIMDs: []trace.SIMDWaves{{SIMD: 0, Starts: 1, ResidentCycles: life, WaveCycles: life}},
	}
}

func engine(se int, cus ...trace.CUWaves) trace.EngineOccupancy {
	return trace.EngineOccupancy{SE: se, CUs: cus, Starts: int64(len(cus)), Ends: int64(len(cus))}
}

func balanceOf(t *testing.T, tt *trace.ThreadTrace) *Balance {
	t.Helper()
	out, err := analysis.Run(t.Context(), &trace.Trace{ThreadTraces: []*trace.ThreadTrace{tt}}, analysis.Options{}, Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return Analyzer.Of(out, tt)
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// Two engines, 500 cycles apart on the clocks that realtime.json relates: engine
// 1 starts 100 cycles later. Units are resident for 400, 200 and 100 cycles of a
// span of 400: the mean is 233.3, the longest exceeds it by 41.7 % of the span.
func TestByHand(t *testing.T) {
	tt := &trace.ThreadTrace{
		GfxMajor: 9, Agents: []trace.Agent{agent()},
		Occupancy: &trace.Occupancy{Engines: []trace.EngineOccupancy{
			engine(0, cu(1, 1000, 1400), cu(2, 1000, 1200)), engine(1, cu(1, 600, 700)),
		}},
		Clocks: &trace.Clocks{RealHz: 100e6, Engines: []trace.EngineClock{
			{SE: 0, Points: []trace.ClockPoint{{Gfx: 900, Real: 50}, {Gfx: 2900, Real: 150}}},
			{SE: 1, Points: []trace.ClockPoint{{Gfx: 600, Real: 60}, {Gfx: 2600, Real: 160}}},
		}},
	}
	b := balanceOf(t, tt)
	if !b.Aligned || b.SpanCycles != 400 || b.Used != 3 || !near(*b.CUs, 16) || !near(*b.ResidentPct, 100*700.0/400/16) || !near(b.UsedResidentPct, 100*700.0/1200) {
		t.Errorf("%+v", b)
	}
	if !near(b.LossPct, 100*(400-700.0/3)/400) || b.FinishPct != (Range{50, 50, 100}) || b.MostCUs != 3 || b.MostByPct != 100 {
		t.Errorf("loss %v, finish %+v, %d by %v", b.LossPct, b.FinishPct, b.MostCUs, b.MostByPct)
	}
	if b.SIMDFillPct == nil || !near(*b.SIMDFillPct, 25) || len(b.SIMDs) != 1 || !near(b.SIMDs[0].ResidentPct, 100) {
		t.Errorf("SIMDs %+v", b.SIMDs)
	}
	tt.Clocks = nil // the engines start together
	if b = balanceOf(t, tt); b.Aligned || b.SpanCycles != 400 || b.FinishPct.Min != 25 {
		t.Errorf("without clocks: %+v", b)
	}
}

// Clocks that leave the engines without a common moment are not believed.
func TestClocksThatCannotBe(t *testing.T) {
	tt := &trace.ThreadTrace{
		Occupancy: &trace.Occupancy{Engines: []trace.EngineOccupancy{engine(0, cu(1, 0, 100)), engine(1, cu(1, 0, 100))}},
		Clocks: &trace.Clocks{RealHz: 100e6, Engines: []trace.EngineClock{
			{SE: 0, Points: []trace.ClockPoint{{Gfx: 0, Real: 0}, {Gfx: 2000, Real: 100}}},
			{SE: 1, Points: []trace.ClockPoint{{Gfx: 0, Real: 1 << 40}, {Gfx: 2000, Real: 1<<40 + 100}}},
		}},
	}
	if b := balanceOf(t, tt); b.Aligned || b.SpanCycles != 100 || b.UsedResidentPct != 100 {
		t.Errorf("%+v", b)
	}
}

func TestNothingKnown(t *testing.T) {
	for _, o := range []*trace.Occupancy{nil, {}, {Engines: []trace.EngineOccupancy{{SE: 1}}}, {Engines: []trace.EngineOccupancy{engine(0, cu(1, 5, 5))}}} {
		if b := balanceOf(t, &trace.ThreadTrace{Occupancy: o}); b != nil {
			t.Errorf("%+v: %+v", o, b)
		}
	}
}

// What is advised follows from what makes the loads unequal.
func TestCause(t *testing.T) {
	unlike := &Range{Min: 10, Median: 100, Max: 1000}
	alike := &Range{Min: 90, Median: 100, Max: 110}
	for _, c := range []struct {
		name      string
		b         Balance
		text, fix string
		mends     bool
	}{
		{"long waves", Balance{Lifetimes: unlike}, "live unequally long (10 to 1000", "longest workgroups first", true},
		{"long waves of a product", Balance{Lifetimes: unlike, Shape: rule.GEMM}, "live unequally", "stream-K", true},
		{"trips", Balance{Lifetimes: unlike, Trips: []Trips{{FirstLine: 4, LastLine: 9, Least: 1, Median: 7, Most: 15}}}, "lines 4 to 9 differ (1 to 15", "causal mask", true},
		{"trips that hardly differ", Balance{Lifetimes: unlike, Trips: []Trips{{Least: 7, Median: 7, Most: 8}}}, "live unequally", "longest workgroups first", true},
		{"rounds", Balance{Lifetimes: alike, Waves: Range{12, 16, 20}}, "12 to 20 waves a unit", "whole rounds", true},
		{"one round", Balance{Lifetimes: alike, Waves: Range{4, 4, 4}}, "as many waves on each (4)", "no schedule mends it", false},
	} {
		text, fix, mends := c.b.cause(1.5)
		if !strings.Contains(text, c.text) || !strings.Contains(fix, c.fix) || mends != c.mends {
			t.Errorf("%s: %q, %q", c.name, text, fix)
		}
	}
}
