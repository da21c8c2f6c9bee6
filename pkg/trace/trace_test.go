package trace

import (
	"slices"
	"testing"
)

func TestFrames(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []Frame
	}{
		{"", nil},
		{"/a/k.py:12", []Frame{{"/a/k.py", 12}}},
		{"/lib/h.h:2 -> /a/k.cpp:3", []Frame{{"/lib/h.h", 2}, {"/a/k.cpp", 3}}},
		{"C:/k.cpp:7", []Frame{{"C:/k.cpp", 7}}},
		{"/a/k.py:0", []Frame{{"/a/k.py", 0}}},
		{"/a/k.py", []Frame{{"/a/k.py", 0}}},
		{"/a/k.py:", []Frame{{"/a/k.py:", 0}}},
		{"/a/k.py:x1", []Frame{{"/a/k.py:x1", 0}}},
		{"k:99999999999999999999", []Frame{{"k:99999999999999999999", 0}}},
	} {
		if got := Frames(c.in); !slices.Equal(got, c.want) {
			t.Errorf("Frames(%q) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestWorkgroups(t *testing.T) {
	for _, c := range []struct {
		group, grid [3]int64
		want        int64
		ok          bool
	}{
		{[3]int64{256, 1, 1}, [3]int64{2560000, 1, 1}, 10000, true},
		{[3]int64{256, 1, 1}, [3]int64{257, 2, 1}, 4, true}, // partial groups count whole
		{[3]int64{0, 1, 1}, [3]int64{256, 1, 1}, 0, false},
		{[3]int64{256, 1, 1}, [3]int64{0, 1, 1}, 0, false},
		{[3]int64{1, 1, 1}, [3]int64{1 << 40, 1 << 40, 1}, 0, false}, // does not fit
	} {
		l := Launch{Workgroup: &c.group, Grid: &c.grid}
		if got, ok := l.Workgroups(); got != c.want || ok != c.ok {
			t.Errorf("grid %v of groups %v: %d, %v; want %d, %v", c.grid, c.group, got, ok, c.want, c.ok)
		}
	}
	if _, ok := (&Launch{}).Workgroups(); ok {
		t.Error("a launch without a shape has workgroups")
	}
}

func TestGfxHz(t *testing.T) {
	// 86,588 cycles in 3,952 ticks of 10 ns are 2.191 GHz.
	c := Clocks{RealHz: 100_000_000}
	e := EngineClock{Points: []ClockPoint{{6316, 236565190914961}, {92904, 236565190918913}}}
	if hz, ok := c.GfxHz(e); !ok || hz < 2.1909e9 || hz > 2.1911e9 {
		t.Errorf("%g Hz, %v", hz, ok)
	}
	for name, bad := range map[string]EngineClock{
		"one point":     {Points: e.Points[:1]},
		"no time":       {Points: []ClockPoint{{1, 5}, {9, 5}}},
		"backwards":     {Points: []ClockPoint{{9, 5}, {1, 9}}},
		"no points yet": {},
	} {
		if hz, ok := c.GfxHz(bad); ok {
			t.Errorf("%s: %g Hz", name, hz)
		}
	}
	if _, ok := (&Clocks{}).GfxHz(e); ok {
		t.Error("a clock of unknown frequency gives Hz")
	}
}
