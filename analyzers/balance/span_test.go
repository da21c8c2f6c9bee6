package balance

import (
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// The span of an engine's waves is that of all compute units with waves, in
// whatever order they are.
func TestWaveSpan(t *testing.T) {
	for _, c := range []struct {
		name        string
		cus         []trace.CUWaves
		first, last int64
		ok          bool
	}{
		{"none", nil, 0, 0, false},
		{"no wave", []trace.CUWaves{{First: 3, Last: 9}}, 0, 0, false},
		{"one before zero", []trace.CUWaves{{Starts: 1, First: -8, Last: -2}}, -8, -2, true},
		{"the first ends last", []trace.CUWaves{{Starts: 1, First: 5, Last: 30}, {Starts: 2, First: 2, Last: 20}}, 2, 30, true},
		{"the last ends last", []trace.CUWaves{{Starts: 1, First: 5, Last: 10}, {First: 0, Last: 99}, {Starts: 1, First: 7, Last: 20}}, 5, 20, true},
	} {
		first, last, ok := waveSpan(&trace.EngineOccupancy{CUs: c.cus})
		if first != c.first || last != c.last || ok != c.ok {
			t.Errorf("%s: %d to %d, %v; want %d to %d, %v", c.name, first, last, ok, c.first, c.last, c.ok)
		}
	}
}
