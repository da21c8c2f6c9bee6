package att

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// twoWaves has two waves on SIMD 1 of CU 3, at 10..30 and 20..40: two are
// resident for 10 cycles, one for 20.
var twoWaves = trace.EngineOccupancy{
	CUs: []trace.CUWaves{{
		CU: 3, Starts: 2, First: 10, Last: 40, ResidentCycles: 30, WaveCycles: 40, Lifetimes: []int64{20, 20},
		SIMDs: []trace.SIMDWaves{{SIMD: 1, Starts: 2, ResidentCycles: 30, WaveCycles: 40}},
	}},
	Starts: 2, Ends: 2,
	First: 10, Last: 40, PeakPerSIMD: 2, WaveCycles: 40, SIMDCycles: 30,
}

func TestReadOccupancy(t *testing.T) {
	kernels := []trace.Kernel{
		{Symbol: "low", CodeObject: 3, Vaddr: 0x1000},
		{Symbol: "_Zk", Demangled: "k()", CodeObject: 3, Vaddr: 0x1600},
		{Symbol: "high", CodeObject: 3, Vaddr: 0x2000},
		{Symbol: "other", CodeObject: 4, Vaddr: 0x1700},
	}
	rows := `[[10,3,1,0,1,7],[20,3,1,1,1,7],[30,3,1,0,0,7],[40,3,1,1,0,7]]`
	unnamed := []trace.KernelWaves{{ID: 7, Starts: 2}}
	for _, c := range []struct {
		name, json string
		want       *trace.Occupancy
		notes      []string
	}{
		{
			name: "six fields", json: `{"0":` + rows + `,"dispatches":{"0":"0 / 0x0","7":"3 / 0x1700"},"version":"3.0.0"}`,
			want: &trace.Occupancy{Engines: []trace.EngineOccupancy{twoWaves}, Kernels: []trace.KernelWaves{{ID: 7, Name: "k()", Starts: 2}}},
		},
		{
			name: "named fields after the rows", json: `{"0":[[9,7,10,1,0,3,1],[9,7,20,1,1,3,1],[9,7,30,0,0,3,1],[9,7,40,0,1,3,1]],"events":{"0":[{"kind":"event"}]},"occupancy_fields":["me_id","kernel_id","time","start","wave_id","cu","simd"]}`,
			want: &trace.Occupancy{Engines: []trace.EngineOccupancy{twoWaves}, Kernels: unnamed},
		},
		{
			name: "rows out of order", json: `{"0":[[40,3,1,1,0,7],[10,3,1,0,1,7],[30,3,1,0,0,7],[20,3,1,1,1,7]]}`,
			want: &trace.Occupancy{Engines: []trace.EngineOccupancy{twoWaves}, Kernels: unnamed},
		},
		{
			name: "damaged rows", json: `{"0":[[10,3,1,0,1,7],7,[1,2],[10.5,3,1,0,1,7],[10,1024,1,0,1,7],[10,3,16,0,1,7],[10,3,1,256,1,7],[10,3,1,0,2,7],[-1,3,1,0,1,7],[20,3,1,1,1,7],[30,3,1,0,0,7],[40,3,1,1,0,7]]}`,
			want:  &trace.Occupancy{Engines: []trace.EngineOccupancy{twoWaves}, Kernels: unnamed, Skipped: 8},
			notes: []string{"8 rows"},
		},
		{
			name: "a start without an end, twice in a slot, and an end without a start",
			// CU 130 is CU 2 of the second shader array. Slot 0 is taken at 10
			// and again at 20; slot 1 only ends; the trace ends at 50.
			json: `{"1":[[10,130,0,0,1,1],[20,130,0,0,1,2],[30,130,0,1,0,1],[50,2,0,0,0,1]]}`,
			want: &trace.Occupancy{
				Engines: []trace.EngineOccupancy{{
					SE: 1, CUs: []trace.CUWaves{{CU: 2}, {
						CU: 130, Starts: 2, First: 10, Last: 50, ResidentCycles: 40, WaveCycles: 40,
						SIMDs: []trace.SIMDWaves{{Starts: 2, ResidentCycles: 40, WaveCycles: 40}},
					}},
					Starts: 2, Ends: 2, Unmatched: 4,
					First: 10, Last: 50, PeakPerSIMD: 1, WaveCycles: 40, SIMDCycles: 40,
				}},
				Kernels: []trace.KernelWaves{{ID: 1, Starts: 1}, {ID: 2, Starts: 1}},
			},
		},
		{
			name: "a slot that is taken again in the same cycle is no peak",
			json: `{"0":[[10,0,0,0,1,1],[20,0,0,1,1,1],[20,0,0,0,0,1],[30,0,0,1,0,1]]}`,
			want: &trace.Occupancy{
				Engines: []trace.EngineOccupancy{{
					CUs: []trace.CUWaves{{
						Starts: 2, First: 10, Last: 30, ResidentCycles: 20, WaveCycles: 20, Lifetimes: []int64{10, 10},
						SIMDs: []trace.SIMDWaves{{Starts: 2, ResidentCycles: 20, WaveCycles: 20}},
					}},
					Starts: 2, Ends: 2, First: 10, Last: 30, PeakPerSIMD: 1, WaveCycles: 20, SIMDCycles: 20,
				}},
				Kernels: []trace.KernelWaves{{ID: 1, Starts: 2}},
			},
		},
		{
			name: "starts only", json: `{"0":[[10,0,0,0,1,1],[10,0,0,1,1,1]],"1":[],"2":null,"5000":[[1]]}`,
			want: &trace.Occupancy{
				Engines: []trace.EngineOccupancy{
					{
						CUs:    []trace.CUWaves{{Starts: 2, First: 10, Last: 10, SIMDs: []trace.SIMDWaves{{Starts: 2}}}},
						Starts: 2, Unmatched: 2, First: 10, Last: 10, PeakPerSIMD: 2,
					}, {SE: 1},
				},
				Kernels: []trace.KernelWaves{{ID: 1, Starts: 2}},
			},
		},
		{
			name: "cut", json: `{"0":[[10,3,1,0,1,7],[20,3,1,1,1,7],[30,3,1,0,0,7],[40,3,1,1,0,7],[50,3,`,
			want:  &trace.Occupancy{Engines: []trace.EngineOccupancy{twoWaves}, Kernels: unnamed},
			notes: []string{"the rows before it are used"},
		},
		{name: "fields without cu", json: `{"occupancy_fields":["time"],"0":` + rows + `}`, notes: []string{"lacks one of"}},
		{name: "no rows", json: `{}`, want: &trace.Occupancy{Kernels: []trace.KernelWaves{}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n notes
			got := readOccupancy([]byte(c.json), kernels, &n)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			checkNotes(t, n, c.notes)
		})
	}
}

func TestResolveName(t *testing.T) {
	kernels := []trace.Kernel{{Symbol: "a", CodeObject: 3, Vaddr: 0x100}, {CodeObject: 3, Vaddr: 0x200}}
	for name, want := range map[string]string{
		"3 / 0x100": "a", "3 / 0x1ff": "a", "3 / 0xff": "3 / 0xff", "4 / 0x100": "4 / 0x100", "0 / 0x0": "0 / 0x0",
		"3 / 0x200": "3 / 0x200", "plain": "plain", "x / 0x100": "x / 0x100", "3 / 0xzz": "3 / 0xzz", "": "",
	} {
		if got := resolveName(name, kernels); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestReadClocks(t *testing.T) {
	for _, c := range []struct {
		name, json string
		want       *trace.Clocks
		notes      []string
	}{
		{
			name: "two engines", json: `{"SE10":[[5,9]],"SE2":[[100,7],[2100,1007]],"SEx":[[1,1]],"metadata":{"descriptor":"[gfx_clock, realtime_clock]","frequency":100000000}}`,
			want: &trace.Clocks{RealHz: 100000000, Engines: []trace.EngineClock{
				{SE: 2, Points: []trace.ClockPoint{{Gfx: 100, Real: 7}, {Gfx: 2100, Real: 1007}}}, {SE: 10, Points: []trace.ClockPoint{{Gfx: 5, Real: 9}}},
			}},
		},
		{name: "no frequency, bad points", json: `{"SE0":[[1],[-1,2],["a",2],[3,4,5]],"metadata":{"frequency":-5}}`, want: &trace.Clocks{Engines: []trace.EngineClock{{Points: []trace.ClockPoint{{Gfx: 3, Real: 4}}}}}, notes: []string{"3 points"}},
		{name: "cut", json: `{"SE0":[[3,4],[`, want: &trace.Clocks{Engines: []trace.EngineClock{{Points: []trace.ClockPoint{{Gfx: 3, Real: 4}}}}}, notes: []string{"before it are used"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n notes
			if diff := cmp.Diff(c.want, readClocks([]byte(c.json), &n)); diff != "" {
				t.Error(diff)
			}
			checkNotes(t, n, c.notes)
		})
	}
}

func TestReadPerfCounters(t *testing.T) {
	names := []string{"A", "B", "C", "D", "E"}
	for _, c := range []struct {
		name, json string
		want       []int64 // nil: no samples
		samples    int64
		notes      []string
	}{
		{name: "two banks", json: `{"data":[[1,10,20,30,40,0,0],[2,5,0,0,0,0,1],[3,1,2,3,4,1,0]]}`, want: []int64{11, 22, 33, 44, 5}, samples: 3},
		{name: "value without a name", json: `{"data":[[2,5,6,0,0,0,1]]}`, want: []int64{0, 0, 0, 0, 5}, samples: 1, notes: []string{"1 value belongs"}},
		{name: "bad rows", json: `{"data":[[1,2],[2,5,0,0,0,0,-1],[2,5,0,0,0,0,0.5],[1,1,1,1,1,1,0]]}`, want: []int64{1, 1, 1, 1, 0}, samples: 1, notes: []string{"3 samples"}},
		{name: "cut", json: `{"data":[[1,1,1,1,1,1,0],[`, want: []int64{1, 1, 1, 1, 0}, samples: 1, notes: []string{"before it are used"}},
		{name: "none", json: `{"data":[]}`},
		{name: "null", json: `{"data":null}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n notes
			got, ok := readPerfCounters([]byte(c.json), "se4_perfcounter.json", 4, names, &n)
			if ok != (c.want != nil) || got.Samples != c.samples || got.SE != 4 {
				t.Fatalf("%+v %v", got, ok)
			}
			for i, v := range c.want {
				if got.Values[i].Name != names[i] || got.Values[i].Value != v {
					t.Errorf("%+v, want %v", got.Values, c.want)
				}
			}
			checkNotes(t, n, c.notes)
		})
	}
}

// Two banks take turns, each sample covers 200 cycles: bank 0 of 0..200, 200..400
// and 400..600, bank 1 of 100..300 and 300..500.
func TestCounterSlices(t *testing.T) {
	var n notes
	got, ok := readPerfCounters([]byte(`{"data":[[200,40,0,0,0,3,0],[300,0,0,0,0,3,1],[400,80,0,0,0,3,0],[500,7,0,0,0,3,1],[600,0,0,0,0,3,0]]}`), "f", 0, []string{"A", "B", "C", "D", "E"}, &n)
	if !ok || got.First != 0 || got.Last != 600 || len(got.Values[0].Slices) != trace.CounterSlices {
		t.Fatalf("%+v", got)
	}
	for i := range trace.CounterSlices {
		var a, e float64 // cycle by cycle, 30 a slice
		for c := i * 30; c < (i+1)*30; c++ {
			switch {
			case c < 200:
				a += 40.0 / 200
			case c < 400:
				a += 80.0 / 200
			}
			if c >= 300 && c < 500 {
				e += 7.0 / 200
			}
		}
		if math.Abs(got.Values[0].Slices[i]-a) > 1e-9 || math.Abs(got.Values[4].Slices[i]-e) > 1e-9 {
			t.Errorf("slice %d: %g and %g, want %g and %g", i, got.Values[0].Slices[i], got.Values[4].Slices[i], a, e)
		}
	}
	if got, _ := readPerfCounters([]byte(`{"data":[[200,40,0,0,0,3,0]]}`), "f", 0, []string{"A"}, &n); got.Values[0].Slices != nil {
		t.Errorf("one sample covers %+v", got)
	}
}

// naiveWave is a wave as the naive count sees it: from a start to the next event
// of its slot, or to the last event of the engine.
type naiveWave struct {
	cu, simd, from, to int64
	ended              bool
}

// naiveWaves looks for each start through all later rows.
func naiveWaves(rows [][]int64) (waves []naiveWave, last int64) {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b []int64) int { return int(a[0] - b[0]) })
	last = rows[len(rows)-1][0]
	for i, r := range rows {
		if r[4] == 0 {
			continue
		}
		w := naiveWave{cu: r[1], simd: r[2], from: r[0], to: last}
		for _, later := range rows[i+1:] {
			if slices.Equal(later[1:4], r[1:4]) {
				w.to, w.ended = later[0], later[4] == 0
				break
			}
		}
		waves = append(waves, w)
	}
	return waves, last
}

// naiveSum looks at every cycle of the waves that of selects.
func naiveSum(waves []naiveWave, of func(naiveWave) bool) (starts, resident, wave int64, lifetimes []int64) {
	cycles := map[int64]bool{}
	for _, w := range waves {
		if !of(w) {
			continue
		}
		starts++
		for t := w.from; t < w.to; t++ {
			cycles[t] = true
			wave++
		}
		if w.ended {
			lifetimes = append(lifetimes, w.to-w.from)
		}
	}
	slices.Sort(lifetimes)
	return starts, int64(len(cycles)), wave, lifetimes
}

// naiveCUs sums rows as sumEvents does, but wave by wave and cycle by cycle.
func naiveCUs(rows [][]int64) []trace.CUWaves {
	var list []trace.CUWaves
	waves, _ := naiveWaves(rows)
	for cu := range int64(maxCU) {
		if !slices.ContainsFunc(rows, func(r []int64) bool { return r[1] == cu }) {
			continue
		}
		c := trace.CUWaves{CU: int(cu)}
		c.Starts, c.ResidentCycles, c.WaveCycles, c.Lifetimes = naiveSum(waves, func(w naiveWave) bool { return w.cu == cu })
		for _, w := range waves {
			if w.cu == cu {
				if c.First == 0 || w.from < c.First {
					c.First = w.from
				}
				c.Last = max(c.Last, w.to)
			}
		}
		for simd := range int64(maxSIMD) {
			s := trace.SIMDWaves{SIMD: int(simd)}
			s.Starts, s.ResidentCycles, s.WaveCycles, _ = naiveSum(waves, func(w naiveWave) bool { return w.cu == cu && w.simd == simd })
			if s.Starts > 0 {
				c.SIMDs = append(c.SIMDs, s)
			}
		}
		list = append(list, c)
	}
	return list
}

// occupancyJSON writes the rows of one engine.
func occupancyJSON(rows [][]int64) []byte {
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "[%d,%d,%d,%d,%d,%d]", r[0], r[1], r[2], r[3], r[4], r[5])
	}
	return []byte(`{"0":[` + b.String() + `]}`)
}

// TestOccupancyAgainstNaive takes waves at random, loses some of their starts
// and ends, and shuffles the rows of every other case.
func TestOccupancyAgainstNaive(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		free := map[[3]int64]int64{} // from when a slot is free
		var rows [][]int64
		for range 1 + rnd.IntN(60) {
			at := [3]int64{rnd.Int64N(3), rnd.Int64N(4), rnd.Int64N(3)}
			from := free[at] + 1 + rnd.Int64N(40)
			to := from + rnd.Int64N(80)
			free[at] = to
			if rnd.IntN(12) > 0 {
				rows = append(rows, []int64{from, at[0], at[1], at[2], 1, 1})
			}
			if rnd.IntN(12) > 0 {
				rows = append(rows, []int64{to, at[0], at[1], at[2], 0, 1})
			}
		}
		if len(rows) == 0 {
			continue
		}
		slices.SortStableFunc(rows, func(a, b []int64) int { return int(a[0] - b[0]) })
		want := naiveCUs(rows)
		if seed%2 == 1 {
			// Rows of one time keep their order: a wave without a length has both.
			slices.SortStableFunc(rows, func(a, b []int64) int { return int(a[0]%7 - b[0]%7) })
		}
		var n notes
		got := readOccupancy(occupancyJSON(rows), nil, &n)
		if diff := cmp.Diff(want, got.Engines[0].CUs); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
		var waveCycles int64
		for _, cu := range got.Engines[0].CUs {
			waveCycles += cu.WaveCycles
		}
		if waveCycles != got.Engines[0].WaveCycles {
			t.Errorf("seed %d: compute units have %d wave cycles, the engine %d", seed, waveCycles, got.Engines[0].WaveCycles)
		}
	}
}
