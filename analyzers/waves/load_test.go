package waves

import (
	"math"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Two engines sampled for 100 and 300 cycles: the counter counts 100 in the
// first tenth of both, 400 cycles together, and nothing later.
func TestPhases(t *testing.T) {
	slices := func(v float64) []float64 {
		out := make([]float64, trace.CounterSlices)
		out[0], out[1] = v/2, v/2
		return out
	}
	tt := &trace.ThreadTrace{Counters: []trace.EngineCounters{
		{SE: 0, First: 50, Last: 150, Values: []trace.CounterSum{{Name: "A", Value: 25, Slices: slices(25)}}},
		{SE: 1, First: 0, Last: 300, Values: []trace.CounterSum{{Name: "A", Value: 75, Slices: slices(75)}}},
		{SE: 2, First: 9, Last: 9, Values: []trace.CounterSum{{Name: "A", Value: 7}}}, // one sample covers no time
	}}
	got := phases(tt)
	if len(got) != 1 || got[0].Value != 100 || got[0].PerCycle != 0.25 {
		t.Fatalf("%+v", got)
	}
	sum := 0.0
	for i, x := range got[0].Slices {
		want := 0.0
		if i < 2 {
			want = 50.0 / 20 // of 400 / 20 cycles
		}
		if math.Abs(x-want) > 1e-12 {
			t.Errorf("slice %d: %g, want %g", i, x, want)
		}
		sum += x
	}
	if math.Abs(sum/trace.CounterSlices-got[0].PerCycle) > 1e-12 {
		t.Errorf("slices have a mean of %g, all %g", sum/trace.CounterSlices, got[0].PerCycle)
	}
	if line := phaseLine([]float64{0, 0.05, 1, 2}, 2); line != " 059" {
		t.Errorf("%q", line)
	}
	if phases(&trace.ThreadTrace{}) != nil {
		t.Error("phases of nothing")
	}
}
