package hotspots

import (
	"strings"
	"testing"
)

// TestDurationText: where occupancy.json shows when the waves ran, the window is
// held against that, and what a duration has beyond it is not called untraced.
func TestDurationText(t *testing.T) {
	us := func(v float64) *float64 { return new(1000 * v) }
	for _, c := range []struct {
		name             string
		waves            *float64
		launch           *Launch
		ofWaves, ofWhole *float64
		window, duration string
	}{
		{"nothing is known", nil, nil, nil, nil, "6,000 cycles = 3 us at 2.00 GHz", ""},
		{"the duration alone", nil, &Launch{DurationNs: us(6)}, nil, new(50.0), ", 50 % of the dispatch's 6 us", ""},
		{"the waves alone", us(4), &Launch{Source: OccupancyFile}, new(75.0), nil, ", 75 % of the waves' 4 us", ""},
		{"a row", us(4), &Launch{DurationNs: us(6)}, new(75.0), new(50.0), ", 75 % of the waves' 4 us", "6 us; the waves ran 4 us of it: the rest is launch overhead, or the row is of another run"},
		{"other calls", us(4), &Launch{DurationNs: us(6), Calls: 9}, new(75.0), new(50.0), ", 75 % of", "6 us (median of 9 calls); the waves ran 4 us of it: the rest is launch overhead, or those calls took longer"},
		{"no rest", us(6), &Launch{DurationNs: us(6)}, new(50.0), new(50.0), ", 50 % of", "6 us; the waves ran 6 us of it"},
	} {
		k := &Kernel{Launch: c.launch, Machine: Machine{
			WindowCycles: new(int64(6000)), WindowNs: us(3), ClockMHz: new(2000.0),
			WavesNs: c.waves, WindowPctOfWaves: c.ofWaves, WindowPct: c.ofWhole,
		}}
		if got := windowText(k); !strings.Contains(got, c.window) || c.ofWhole == nil && c.ofWaves == nil && got != c.window {
			t.Errorf("%s: window %q, want %q in it", c.name, got, c.window)
		}
		if got := overheadText(k); got != c.duration {
			t.Errorf("%s: duration %q, want %q", c.name, got, c.duration)
		}
	}
}
