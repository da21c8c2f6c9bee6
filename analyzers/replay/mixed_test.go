package replay

import (
	"math"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// TestMixShare: combined waits worked out by hand.
func TestMixShare(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		name     string
		stall    int64
		vmem     int64 // age of the load
		lds      int64 // age of the LDS read
		loneVMEM int64
		loneLDS  int64
		want     float64 // of LDS
		unsure   bool
	}{
		{"both known: LDS is there after 6 of 12 cycles", 12, 0, 0, 11, 6, 0.25, false},
		{"the load is not known: it lasts to the end", 12, 4, 0, none, 6, 0.25, false},
		{"LDS is older than its latency", 12, 0, 12, none, 8, 0, false},
		{"the load is old, LDS the last", 12, 14, 0, 15, 9, 1 - 0.5/12, false},
		{"nothing known, of one age", 12, 3, 3, none, none, 0.5, true},
		{"nothing known: the younger one", 12, 0, 3, none, none, 0.2, true},
		{"neither reaches the end, memory comes closer", 400, 300, 0, 500, 40, 0.05, false},
		{"both beyond the end", 12, 0, 0, 400, 40, 0.5, false},
	} {
		var known alone
		for range minAlone {
			if c.loneVMEM != none {
				known[VMEM].Add(c.loneVMEM)
			}
			if c.loneLDS != none {
				known[LDS].Add(c.loneLDS)
			}
		}
		var a alone
		var s site
		var y youngest
		y.start()
		y.saw(0, producer{class: VMEM, issued: 100 - c.vmem}, true)
		y.saw(1, producer{class: LDS, issued: 90 - c.lds}, true)
		y.saw(1, producer{class: LDS, issued: 100 - c.lds}, true) // the youngest counts
		a.book(&s, &y, &trace.Record{Time: 100, Stall: c.stall, Duration: c.stall + 4})
		s.combine(combo{1 << VMEM, 1 << LDS}, 1, c.stall)
		got := s.export(known.latencies()).Shares()
		if math.Abs(got.Of[LDS]-c.want) > 1e-9 || math.Abs(got.Of[LDS]+got.Of[VMEM]-1) > 1e-9 {
			t.Errorf("%s: LDS %g, VMEM %g, want LDS %g", c.name, got.Of[LDS], got.Of[VMEM], c.want)
		}
		if unsure := got.Unsure[LDS] > 0; unsure != c.unsure {
			t.Errorf("%s: unsure %v, want %t", c.name, got.Unsure, c.unsure)
		}
	}
}

// TestAlone: only waits for one kind tell a latency, and only several of them.
func TestAlone(t *testing.T) {
	var a alone
	var s site
	var y youngest
	for i := range minAlone {
		if l := a.latencies().median; l[LDS] != -1 {
			t.Errorf("%d lone waits tell %d cycles", i, l[LDS])
		}
		y.start()
		y.saw(0, producer{class: LDS, issued: 80}, true)
		y.saw(0, producer{class: LDS, issued: 96}, true)
		a.book(&s, &y, &trace.Record{Time: 100, Stall: 60, Duration: 64})
	}
	y.saw(1, producer{class: VMEM, issued: 90}, true)
	a.book(&s, &y, &trace.Record{Time: 100, Stall: 900, Duration: 904})
	y.start()
	y.saw(0, producer{class: LDS, issued: 0}, false) // not sure
	a.book(&s, &y, &trace.Record{Time: 100, Stall: 900, Duration: 904})
	if l := a.latencies().median; l[LDS] != 64 || l[VMEM] != -1 {
		t.Errorf("lone latencies %v, want LDS 64 and no other", l)
	}
}

// TestRounded: numbers of cycles keep their order and 94 % of their size.
func TestRounded(t *testing.T) {
	last := int64(0)
	for n := int64(0); n < 1<<20; n = n + 1 + n/50 {
		m := middle(rounded(n))
		if m < last || math.Abs(float64(m-n)) > 0.065*float64(n) {
			t.Errorf("%d is taken for %d", n, m)
		}
		last = m
	}
	if rounded(-5) != 0 || rounded(math.MaxInt64) != 255 {
		t.Error("out of range")
	}
}
