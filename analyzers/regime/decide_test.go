package regime

import (
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/balance"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
)

// defaults are the thresholds as documented.
func defaults() limits {
	return limitsOf(func(name string) float64 {
		return Analyzer.Params[slices.IndexFunc(Analyzer.Params, func(p analysis.Param) bool { return p.Name == name })].Default
	})
}

func lv(resource string, r Regime, pct float64, b Basis) Level {
	return Level{Resource: resource, Regime: r, Pct: pct, Basis: b}
}

func TestJudge(t *testing.T) {
	matrix := func(pct float64) Level { return lv(resMatrix, Compute, pct, Traced) }
	issue := func(pct float64) Level { return lv(resIssue, Compute, pct, Traced) }
	valu := func(pct float64) Level { return lv(resVALU, Compute, pct, Traced) }
	hbm := func(pct float64) Level { return lv(resHBM, Bandwidth, pct, Measured) }
	asked := func(pct float64) Level { return lv(resHBM, Bandwidth, pct, UpperBound) }
	vmem := []Wait{{Kind: waitVMEM, SharePct: 70}, {Kind: waitBarrier, SharePct: 30}}
	busyTail := &gpu.LaunchShape{Workgroups: 612, Units: 304, Unit: "CU", Slots: 608, Rounds: 2, LastRoundPct: 100 * 4.0 / 608}
	for _, c := range []struct {
		name    string
		facts   facts
		regime  Regime
		subtype string
		likely  bool
		roof    bool
	}{
		{"matrix at 70", facts{levels: []Level{matrix(70), hbm(20)}}, Compute, "matrix", false, false},
		{"matrix at 80 is the roof", facts{levels: []Level{matrix(80), hbm(20)}}, Compute, "matrix", false, true},
		{"matrix at 65 is likely", facts{levels: []Level{matrix(65), hbm(20)}}, Compute, "matrix", true, false},
		{"issue at 65 is not", facts{levels: []Level{issue(65), hbm(20)}, waiting: new(50.0), waits: vmem}, Latency, "vmem", false, false},
		{"issue at 71", facts{levels: []Level{issue(71), valu(62), hbm(20)}}, Compute, "issue", false, false},
		{"HBM at 60", facts{levels: []Level{matrix(20), hbm(60)}}, Bandwidth, "hbm", false, false},
		{"HBM at 59", facts{levels: []Level{matrix(20), hbm(59)}, waiting: new(50.0), waits: vmem}, Latency, "vmem", false, false},
		{"HBM at 85", facts{levels: []Level{matrix(20), hbm(85)}}, Bandwidth, "hbm", false, true},
		{"a stream at 52", facts{levels: []Level{matrix(5), {Resource: resHBM, Regime: Bandwidth, Pct: 52, Basis: Measured, Streaming: true}}}, Bandwidth, "hbm", true, false},
		{"two within ten points", facts{levels: []Level{matrix(75), hbm(66)}}, Mixed, "matrix+hbm", false, false},
		{"two ten points apart", facts{levels: []Level{matrix(76), hbm(66)}}, Compute, "matrix", false, false},
		{"LDS", facts{levels: []Level{matrix(10), hbm(10), lv(resLDS, Bandwidth, 90, Traced)}}, Bandwidth, "lds", false, true},
		{"requested bytes suggest", facts{levels: []Level{issue(10), asked(75)}}, Bandwidth, "hbm", true, false},
		{"requested beyond the peak is no roof", facts{levels: []Level{issue(10), asked(209)}}, Bandwidth, "hbm", true, false},
		{"busy issue ports silence requests", facts{levels: []Level{issue(72), asked(95)}}, Compute, "issue", false, false},
		{"a flagged figure decides nothing", facts{levels: []Level{issue(10), {Resource: resHBM, Regime: Bandwidth, Pct: 303, Basis: Measured, Flag: "x"}, asked(20)}, waiting: new(90.0), waits: vmem}, Latency, "vmem", false, false},
		{"undecided requests leave it likely", facts{levels: []Level{matrix(18), {Resource: resHBM, Regime: Bandwidth, Pct: 88, Basis: UpperBound, Undecided: true}}, waiting: new(91.0), waits: vmem}, Latency, "vmem", true, false},
		{"waits below 40", facts{levels: []Level{matrix(30), hbm(30)}, waiting: new(39.0), waits: vmem}, Inconclusive, "balanced", false, false},
		{"memory waits, memory unknown", facts{levels: []Level{issue(10)}, waiting: new(90.0), waits: vmem}, Inconclusive, "memory_counters", false, false},
		{"barriers, memory unknown", facts{levels: []Level{issue(10)}, waiting: new(90.0), waits: []Wait{{Kind: waitBarrier, SharePct: 80}, {Kind: waitVMEM, SharePct: 20}}}, Latency, "barrier", false, false},
		{"nothing known", facts{}, Inconclusive, "thread_trace", false, false},
		{"a gate", facts{levels: []Level{matrix(90)}, gate: "left early", missing: MissingWork}, Inconclusive, "working_waves", false, false},
		{"fewer workgroups than CUs", facts{levels: []Level{issue(6), asked(15)}, launch: &gpu.LaunchShape{Workgroups: 84, Units: 256, Unit: "CU", UnderFilled: true}}, Latency, UnderFilled, false, false},
		{"a full machine is not under-filled", facts{levels: []Level{matrix(75), hbm(1)}, launch: &gpu.LaunchShape{Workgroups: 84, Units: 256, Unit: "CU", UnderFilled: true}}, Compute, "matrix", false, false},
		{"unknown launch, a third of the CUs", facts{levels: []Level{issue(6), asked(15)}, fill: 0.34}, Latency, UnderFilled, false, false},
		{"tail", facts{levels: []Level{issue(6), asked(15)}, waiting: new(90.0), waits: vmem, launch: busyTail}, Latency, Tail, false, false},
		{"a tail that the units do not show", facts{levels: []Level{issue(6), hbm(15)}, waiting: new(90.0), waits: vmem, launch: busyTail, balance: &balance.Balance{Engines: 2, LossPct: 19}}, Latency, "vmem", false, false},
		{"a tail that one engine does not show", facts{levels: []Level{issue(6), hbm(15)}, waiting: new(90.0), waits: vmem, launch: busyTail, balance: &balance.Balance{Engines: 1, LossPct: 19}}, Latency, Tail, false, false},
		{"unequal work", facts{levels: []Level{issue(6), hbm(15)}, waiting: new(90.0), waits: vmem, balance: &balance.Balance{Engines: 2, LossPct: 25}}, Latency, Imbalance, false, false},
		{"nearly equal work", facts{levels: []Level{issue(6), hbm(15)}, waiting: new(90.0), waits: vmem, balance: &balance.Balance{Engines: 2, LossPct: 24}}, Latency, "vmem", false, false},
		{"unequal work of a busy pipe", facts{levels: []Level{matrix(75), hbm(1)}, balance: &balance.Balance{Engines: 2, LossPct: 50}}, Compute, "matrix", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.facts.fill == 0 {
				c.facts.fill = 1
			}
			o := defaults().judge(c.facts)
			if o.regime != c.regime || o.subtype != c.subtype || o.likely != c.likely || o.atRoof != c.roof {
				t.Errorf("%s %s, likely %v, roof %v; want %s %s, %v, %v", o.regime, o.subtype, o.likely, o.atRoof, c.regime, c.subtype, c.likely, c.roof)
			}
		})
	}
}

// 4 workgroups in the second of two rounds on 304 CUs: 300 CUs idle for half of
// the time.
func TestIdleInTail(t *testing.T) {
	s := &gpu.LaunchShape{Workgroups: 612, Units: 304, Slots: 608, Rounds: 2}
	if got, want := idleInTail(s), 100*300.0/304/2; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("%g, want %g", got, want)
	}
	s.Workgroups = 608 + 304 // a workgroup on every CU
	if got := idleInTail(s); got != 0 {
		t.Errorf("%g, want 0", got)
	}
}

func TestFlaggedFiguresAreNoFacts(t *testing.T) {
	for _, v := range []Level{
		{Resource: resHBM, Basis: Measured, Pct: 303, Flag: "x"},
		{Resource: resHBM, Basis: UpperBound, Pct: 209, Flag: "x"},
	} {
		if s := levelText(v); strings.Contains(s, "303") || strings.Contains(s, "209") {
			t.Errorf("%q prints a figure that cannot be", s)
		}
	}
}

func TestKernelsJoin(t *testing.T) {
	j := &joiner{named: map[string][]int{}}
	a := j.kernel(capture.NamesOf("", "scale"), Shape{Workgroup: 256, Grid: 1024})
	if b := j.kernel(capture.NamesOf("_Z5scalev", "scale"), Shape{}); a != b || a.Symbol != "_Z5scalev" {
		t.Errorf("one kernel is kept apart: %+v, %+v", a, b)
	}
	if b := j.kernel(capture.NamesOf("_Z5scalev", "scale()"), Shape{Workgroup: 64}); a == b {
		t.Error("another workgroup size is joined")
	}
}

// The HBM share of an MI300X at 2.1 GHz: 5324.8e9 / 304 / 2.1e9 = 8.34 B/clk.
func TestHBMShare(t *testing.T) {
	d := &gpu.Device{CUs: 304, MemoryGBps: 5324.8}
	share, _, ok := hbmShare(d, 2100)
	if !ok || share < 8.340 || share > 8.342 {
		t.Errorf("%g, %v", share, ok)
	}
	if _, _, ok := hbmShare(&gpu.Device{CUs: 304}, 2100); ok {
		t.Error("a share of unknown memory")
	}
}

// A range decides where one of its ends does.
func TestRanges(t *testing.T) {
	d := decider{limits: defaults()}
	for _, c := range []struct {
		low, high, pct           float64
		least, most, undecidable bool
	}{
		{60, 100, 60, true, false, false},
		{10, 59, 59, false, true, false},
		{59, 61, 61, false, true, true},
		{40, 40, 40, false, false, false},
	} {
		l := Level{Resource: resHBM, Regime: Bandwidth, Basis: Measured}
		d.between(&l, c.low, c.high)
		if l.Pct != c.pct || l.AtLeast != c.least || l.AtMost != c.most || l.Undecided != c.undecidable {
			t.Errorf("%g to %g: %+v", c.low, c.high, l)
		}
	}
}

// A unit that is busy with stalls bounds the kernel, not its bandwidth; a busy
// resource comes before it.
func TestStalledUnits(t *testing.T) {
	unaligned := &stall{stallCause: stalledUnits[0].causes[0], resource: resLDS, busy: 68, useful: 8, stalled: 57}
	valu, hbm := lv(resVALU, Compute, 8, Measured), lv(resHBM, Bandwidth, 35, Measured)
	for _, c := range []struct {
		name    string
		facts   facts
		regime  Regime
		subtype string
	}{
		{"unaligned", facts{levels: []Level{valu, hbm}, stall: unaligned, waiting: new(58.0)}, Latency, LDSUnaligned},
		{"waits are not known", facts{levels: []Level{valu, hbm}, stall: unaligned}, Latency, LDSUnaligned},
		{"memory is the bound", facts{levels: []Level{valu, lv(resHBM, Bandwidth, 70, Measured)}, stall: unaligned}, Bandwidth, resHBM},
		{"not busy", facts{levels: []Level{valu, hbm}, stall: &stall{stallCause: unaligned.stallCause, resource: resLDS, busy: 59, useful: 8, stalled: 50}, waiting: new(58.0)}, Latency, ""},
		{"mostly useful", facts{levels: []Level{valu, hbm}, stall: &stall{stallCause: unaligned.stallCause, resource: resLDS, busy: 70, useful: 50, stalled: 20}, waiting: new(58.0)}, Latency, ""},
	} {
		c.facts.fill = 1
		if o := defaults().judge(c.facts); o.regime != c.regime || o.subtype != c.subtype {
			t.Errorf("%s: %s %s", c.name, o.regime, o.subtype)
		}
	}
}
