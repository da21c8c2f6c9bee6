package capture

import (
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// seen is an occupancy of kernel "k" with a number of waves on each engine, that
// ran for us microseconds at 2 GHz.
func seen(us int64, starts ...int64) *trace.Occupancy {
	o := &trace.Occupancy{Kernels: []trace.KernelWaves{{ID: 1, Name: "k"}}}
	for se, n := range starts {
		o.Engines = append(o.Engines, trace.EngineOccupancy{SE: se, Starts: n, Ends: n, First: 1000, Last: 1000 + 2000*us})
		o.Kernels[0].Starts += n
	}
	return o
}

// clock pairs of engine 0 are a second apart, at 2 GHz.
func clock() *trace.Clocks {
	return &trace.Clocks{RealHz: 100e6, Engines: []trace.EngineClock{{Points: []trace.ClockPoint{{Gfx: 0, Real: 0}, {Gfx: 2e9, Real: 100e6}}}}}
}

// launchOf is a row of workgroups of 256 that took us microseconds.
func launchOf(dispatch, groups, us int64, calls *trace.Calls) trace.Launch {
	l := row(dispatch, "Agent 2")
	l.Workgroup, l.Grid = &[3]int64{256, 1, 1}, &[3]int64{256 * groups, 1, 1}
	l.StartNs, l.EndNs, l.Calls = new(int64(0)), new(1000*us), calls
	return l
}

func TestRowOfTheLaunch(t *testing.T) {
	few := func(timed, medianUs int64) *trace.Calls {
		return &trace.Calls{Timed: timed, MedianNs: 1000 * medianUs, MaxNs: 9000 * medianUs}
	}
	lost := seen(10, 60, 60, 60, 60)
	lost.Engines[0].Unmatched = 4
	two := seen(10, 89, 89, 89, 89)
	two.Kernels = []trace.KernelWaves{{ID: 1, Name: "k", Starts: 256}, {ID: 2, Name: "z", Starts: 100}}
	named := seen(10, 64, 64, 64, 64)
	named.Kernels[0].Name = "z"
	for _, c := range []struct {
		name   string
		ran    *trace.Occupancy
		agent  trace.Agent
		rows   []trace.Launch
		taken  int // row from 1, 0 for none
		us     int64
		median int64 // of how many calls
		says   []string
	}{
		{name: "waves and span agree", ran: seen(10, 64, 64, 64, 64), rows: []trace.Launch{launchOf(1, 512, 12, nil)}, taken: 1, us: 12},
		{
			name: "another shape", ran: seen(10, 64, 64, 64, 64), rows: []trace.Launch{launchOf(1, 64, 12, nil)},
			says: []string{"another launch", "64 workgroups of 4 waves", "4 of 32 shader engines 32 waves", "256 started", "neither its shape nor its times"},
		},
		{name: "fewer waves than the grid", ran: seen(10, 16, 16, 16, 16), rows: []trace.Launch{launchOf(1, 512, 12, nil)}, says: []string{"256 waves; 64 started"}},
		{name: "a share that is no whole number is rounded either way", ran: seen(10, 12, 12, 8, 12), rows: []trace.Launch{launchOf(1, 84, 12, nil)}, taken: 1, us: 12},
		{name: "and not further", ran: seen(10, 12, 12, 12, 16), rows: []trace.Launch{launchOf(1, 84, 12, nil)}, says: []string{"32 to 48 waves; 52 started"}},
		{name: "workgroups are dealt whole", ran: seen(10, 12, 12, 12, 12, 12, 12, 12, 10), rows: []trace.Launch{launchOf(1, 84, 12, nil)}, says: []string{"94 started"}},
		{name: "engines of 9 and of 10 units", agent: mi300x(2), ran: seen(10, 80), rows: []trace.Launch{launchOf(1, 608, 12, nil)}, taken: 1, us: 12},
		{name: "engines of more units than there are", agent: mi300x(2), ran: seen(10, 88), rows: []trace.Launch{launchOf(1, 608, 12, nil)}, says: []string{"64 to 80 waves; 88 started"}},
		{name: "lost waves prove nothing", ran: lost, rows: []trace.Launch{launchOf(1, 512, 12, nil)}, taken: 1, us: 12},
		{name: "unless they are too many", ran: lost, rows: []trace.Launch{launchOf(1, 64, 12, nil)}, says: []string{"240 started"}},
		{name: "other kernels ran beside", ran: two, rows: []trace.Launch{launchOf(1, 512, 1, nil)}, taken: 1, us: 1},
		{name: "another name is of the only kernel", ran: named, rows: []trace.Launch{launchOf(1, 64, 12, nil)}, says: []string{"another launch"}},
		{name: "no occupancy", rows: []trace.Launch{launchOf(1, 64, 1, nil)}, taken: 1, us: 1},

		{
			name: "a sibling's row with the id, and one of the launch", ran: seen(10, 64, 64, 64, 64),
			rows: []trace.Launch{launchOf(1, 64, 3, nil), launchOf(9, 512, 14, few(7, 13))}, taken: 2, us: 13, median: 7,
			says: []string{"another launch", "dispatch 9 of the same kernel with the waves of the traced one", "median of 7 calls of that shape, 13.00 us"},
		},
		{
			name: "of two rows with the id the one of the launch", ran: seen(10, 64, 64, 64, 64),
			rows: []trace.Launch{launchOf(1, 64, 3, nil), launchOf(1, 512, 12, nil)}, taken: 2, us: 12,
		},
		{
			name: "another shape does not make it open which", ran: seen(10, 64, 64, 64, 64),
			rows: []trace.Launch{launchOf(8, 64, 3, few(1, 3)), launchOf(9, 512, 14, few(1, 14))}, taken: 2, us: 14, median: 1, says: []string{"median of 1 call of"},
		},
		{name: "nobody proves the shape of another dispatch", rows: []trace.Launch{launchOf(9, 512, 14, few(7, 13))}, taken: 1, says: []string{"its times are not"}},

		{
			name: "a row faster than the waves", ran: seen(10, 64, 64, 64, 64), rows: []trace.Launch{launchOf(1, 512, 8, few(9, 12))}, taken: 1, us: 12, median: 9,
			says: []string{"its waves ran 10.00 us, its row says 8.00 us", "another run", "median of 9 calls"},
		},
		{name: "all rows are", ran: seen(10, 64, 64, 64, 64), rows: []trace.Launch{launchOf(1, 512, 8, few(9, 8))}, taken: 1, says: []string{"its times are not"}},
		{name: "by less than the clocks tell", ran: seen(10, 64, 64, 64, 64), rows: []trace.Launch{func() trace.Launch {
			l := launchOf(1, 512, 10, nil)
			*l.EndNs -= 15
			return l
		}()}, taken: 1, us: 9},
		{
			name: "a slow call that the waves do not show", ran: seen(10, 64, 64, 64, 64), rows: []trace.Launch{launchOf(1, 512, 60, few(112, 12))}, taken: 1, us: 12, median: 112,
			says: []string{"5.0 times the median of 112", "60.00 us, not 12.00 us", "waves ran 10.00 us"},
		},
		{
			name: "a slow call that they do show", ran: seen(55, 64, 64, 64, 64), rows: []trace.Launch{launchOf(1, 512, 60, few(112, 12))}, taken: 1, us: 60,
			says: []string{"5.0 times the median of 112", "its own time is used"},
		},
		{name: "a quick call", ran: seen(5, 64, 64, 64, 64), rows: []trace.Launch{launchOf(1, 512, 6, few(112, 12))}, taken: 1, us: 6, says: []string{"0.5 times", "its own time is used"}},
		{name: "two calls have no usual time", ran: seen(10, 64, 64, 64, 64), rows: []trace.Launch{launchOf(1, 512, 60, few(2, 12))}, taken: 1, us: 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := c.agent
			if a.Gfx == "" {
				a = mi350x(2)
			}
			a.XCCs = new(int64(8))
			tr := traceOf(9, []trace.Agent{a}, c.rows, onGFX9)
			tt := tr.ThreadTraces[0]
			tt.Occupancy, tt.Clocks = c.ran, clock()
			resolved, err := Resolve(tr, "")
			if err != nil {
				t.Fatal(err)
			}
			k := resolved.Trace(tt).Kernels[0]
			switch {
			case c.taken == 0:
				if k.Companion != nil {
					t.Fatalf("row %d is taken", k.Companion.Launch.Origin.Row)
				}
			case k.Companion == nil || k.Companion.Launch != &tt.Launches[c.taken-1]:
				t.Fatalf("companion %+v, want row %d", k.Companion, c.taken)
			case k.Companion.Time == nil:
				if c.us != 0 {
					t.Error("no time")
				}
			case k.Companion.Time.Ns/1000 != c.us || k.Companion.Time.Calls != c.median:
				t.Errorf("time %+v, want %d us of %d calls", *k.Companion.Time, c.us, c.median)
			}
			if (k.Doubt == nil) != (c.says == nil) {
				t.Fatalf("it says %q", k.Why)
			}
			for _, s := range c.says {
				if !strings.Contains(k.Why, s) {
					t.Errorf("it says %q, want %q in it", k.Why, s)
				}
			}
		})
	}
}

// TestRanAlone: a trace tells its launch without any table where the
// architecture tells the engines.
func TestRanAlone(t *testing.T) {
	for _, c := range []struct {
		name string
		text string
		ran  *trace.Occupancy
		n    int64 // waves of the launch, 0 for unknown
	}{
		{"gfx950", onGFX950, seen(10, 64, 64, 64, 64), 2048},
		{"an engine without waves is not counted", onGFX950, seen(10, 64, 0, 64, 64, 64), 2048},
		{"the GPU is open", onGFX9, seen(10, 64, 64, 64, 64), 0},
		{"nothing started", onGFX950, seen(10, 0), 0},
	} {
		tr := traceOf(9, nil, nil, c.text)
		tt := tr.ThreadTraces[0]
		tt.Occupancy, tt.Clocks = c.ran, clock()
		resolved, err := Resolve(tr, "")
		if err != nil {
			t.Fatal(err)
		}
		r := resolved.Trace(tt).Kernels[0].Ran
		if n, ok := r.InDispatch(); n != c.n || ok != (c.n != 0) {
			t.Errorf("%s: %d waves, want %d", c.name, n, c.n)
		}
		if r != nil && (r.SpanNs == nil || *r.SpanNs != 10000) {
			t.Errorf("%s: span %v", c.name, r.SpanNs)
		}
	}
}
