package loops_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/analyzers/loops"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

const data = "../../../shared/data/att"

// captures lists the real dispatch directories with waves, and our fixtures.
func captures(t testing.TB) []string {
	t.Helper()
	dirs, err := filepath.Glob("../../fixtures/att/*/ui_output_*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no fixtures", err)
	}
	real, err := filepath.Glob(filepath.Join(data, "*", "ui_output_*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(real) == 0 {
		t.Log("the real captures are not here: " + data)
	}
	return append(real, dirs...)
}

func one(t testing.TB, kernel string) string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(data, kernel, "ui_output_*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) != 1 {
		t.Skip("the real captures are not here: " + data)
	}
	return dirs[0]
}

func analyse(t testing.TB, dir string, workers int, params map[string]float64) *loops.Kernel {
	t.Helper()
	tr, err := ingest.Open(t.Context(), []string{dir}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{"loops.top": 0, "stalls.all_waves": 1, "exposed.matrix_gaps": 1}
	for k, v := range params {
		all[k] = v
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: workers, Params: all}, loops.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return &loops.Analyzer.Of(out).Kernels[0]
}

// rawWave is a wave file, read without any of our code.
type rawWave struct {
	Wave struct {
		Instructions [][5]int64
	}
}

func rawWaves(t testing.TB, dir string) []rawWave {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "se*_sm*_sl*_wv*.json"))
	if err != nil {
		t.Fatal(err)
	}
	out := make([]rawWave, len(files))
	for i, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestTripsByHand: loops, trips and matrix instructions per iteration, from
// reading the branches of code.json.
//
//   - preshuffle_gemm: the only branch, line 346, jumps -308 dwords to line
//     206, 1,020 times executed by 68 waves: 15 trips each. Lines 206 to 346
//     hold 141 instructions, 32 of them v_mfma.
//   - flash_attn_func: the only way in is the branch at 470 to 942, past the
//     first half of the body; 1781 and 1910 jump back to 471, and 941 falls
//     through to 942 again, 264 - 32 times. So 942 is the head, executed
//     32 + 232 = 264 times by 32 waves. Line 1912 jumps back to 123, and no way
//     leads from there to it again. All 64 v_mfma of the kernel lie between.
//   - iree_wave: three branches, all forward: no loop.
func TestTripsByHand(t *testing.T) {
	for _, c := range []struct {
		kernel                       string
		head, first, last            int
		waves, iterations            int64
		mfmas, instructions          float64
		loops, instructionsInTheLoop int
	}{
		{"preshuffle_gemm", 206, 206, 346, 68, 1020, 32, 141, 1, 141},
		{"flash_attn_func", 942, 471, 1910, 32, 264, 64, -1, 1, -1},
		{"iree_wave_gfx950", 0, 0, 0, 0, 0, 0, 0, 0, 0},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			k := analyse(t, one(t, c.kernel), 2, nil)
			if len(k.Loops)+k.NotExecuted != c.loops {
				t.Fatalf("%d loops, want %d", len(k.Loops)+k.NotExecuted, c.loops)
			}
			if c.loops == 0 {
				return
			}
			l := k.Loops[0]
			if l.HeadLine != c.head || l.FirstLine != c.first || l.LastLine != c.last || *l.Waves != c.waves || l.Iterations != c.iterations {
				t.Errorf("loop %+v", l)
			}
			if math.Abs(l.PerIteration.MFMAs-c.mfmas) > 1e-9 {
				t.Errorf("%g MFMAs per iteration, want %g", l.PerIteration.MFMAs, c.mfmas)
			}
			if c.instructions > 0 && math.Abs(l.PerIteration.Instructions-c.instructions) > 1e-9 {
				t.Errorf("%g instructions per iteration, want %g", l.PerIteration.Instructions, c.instructions)
			}
			if c.instructionsInTheLoop > 0 && l.Instructions != c.instructionsInTheLoop {
				t.Errorf("%d instructions in the loop, want %d", l.Instructions, c.instructionsInTheLoop)
			}
		})
	}
}

// TestTripsByWalk counts, in the raw wave files, how often each wave executes
// the head of each loop.
func TestTripsByWalk(t *testing.T) {
	for _, dir := range captures(t) {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			k := analyse(t, dir, 2, nil)
			waves := rawWaves(t, dir)
			if len(waves) == 0 || len(k.Loops) == 0 {
				t.Skip("no waves, or no loop")
			}
			for _, l := range k.Loops {
				var trips []int64
				var total int64
				for _, w := range waves {
					var n int64
					for _, r := range w.Wave.Instructions {
						if r[4] == int64(l.HeadLine) {
							n++
						}
					}
					if n > 0 {
						trips = append(trips, n)
						total += n
					}
				}
				slices.Sort(trips)
				n := len(trips)
				want := loops.Trips{Min: trips[0], Median: trips[(n-1)/2], Max: trips[n-1], PerEntry: l.Trips.PerEntry}
				if *l.Trips != want || *l.Waves != int64(n) || l.Iterations != total {
					t.Errorf("loop %d: %+v over %d waves, %d iterations; want %+v, %d, %d", l.ID, *l.Trips, *l.Waves, l.Iterations, want, n, total)
				}
			}
		})
	}
}

// TestConservation: phases are the whole kernel, coverage closes, nothing is
// blocked or needed for longer than the loop's time.
func TestConservation(t *testing.T) {
	for _, dir := range captures(t) {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			k := analyse(t, dir, 2, nil)
			var latency, stall int64
			for _, p := range k.Phases {
				latency += p.LatencyCycles
				stall += p.StallCycles
			}
			if len(k.Phases) > 0 && (latency != k.LatencyCycles || stall != k.StallCycles) {
				t.Errorf("phases sum to %d and %d, the kernel has %d and %d", latency, stall, k.LatencyCycles, k.StallCycles)
			}
			var simds exposed.SIMDTime
			for _, x := range k.SIMDs {
				simds.Total += x.Total
				simds.Issuing += x.Issuing
				simds.Exposed += x.Exposed
				simds.Empty += x.Empty
				simds.Stalled += x.Stalled
				simds.Between += x.Between
				if x.MatrixBusyPct != nil && *x.MatrixBusyPct > 100.5 {
					t.Errorf("SIMD %d/%d: matrix pipe busy %g %%", x.SE, x.SIMD, *x.MatrixBusyPct)
				}
			}
			if k.SIMD != nil && simds != *k.SIMD {
				t.Errorf("SIMDs sum to %+v, together they have %+v", simds, *k.SIMD)
			}
			for i := range k.Loops {
				checkLoop(t, &k.Loops[i])
			}
		})
	}
}

func checkLoop(t *testing.T, l *loops.Loop) {
	t.Helper()
	if l.ExposedCycles != nil && *l.ExposedCycles > float64(l.LatencyCycles) {
		t.Errorf("loop %d: exposed %g of %d", l.ID, *l.ExposedCycles, l.LatencyCycles)
	}
	p := &l.PerIteration
	if math.Abs(p.IssueCycles+p.StallCycles+p.IdleCycles-p.Cycles) > 1e-6*p.Cycles {
		t.Errorf("loop %d: an iteration does not sum up: %+v", l.ID, *p)
	}
	var mix float64
	for _, m := range l.Mix {
		mix += m.PerIteration
	}
	if math.Abs(mix-p.Instructions) > 1e-6*mix {
		t.Errorf("loop %d: the mix has %g of %g instructions", l.ID, mix, p.Instructions)
	}
	if m := l.Matrix; m != nil {
		var blocked float64
		for _, b := range m.BlockedBy {
			blocked += *b.ExposedCycles
		}
		if m.BusyCycles+m.GapCycles != m.SIMDCycles || m.GapIssuing+m.GapExposed != m.GapCycles || m.GapIssuing < 0 || blocked > float64(m.GapExposed)+0.1 {
			t.Errorf("loop %d: coverage does not close: %+v, blocked %g", l.ID, *m, blocked)
		}
		// Traces have an MFMA issue up to 4 cycles before its predecessor is
		// through; see the coverage of 12 instead of 16 cycles in some.
		if m.CyclesPerMFMA < 0.99*m.FloorCycles {
			t.Errorf("loop %d: %g cycles per MFMA, below the floor %g", l.ID, m.CyclesPerMFMA, m.FloorCycles)
		}
	}
	if l.Ideal != nil {
		for _, u := range l.Ideal.Units {
			if u.IdealCycles > 1.01*float64(l.Ideal.SIMDCycles) {
				t.Errorf("loop %d: %s needs %g of %d cycles", l.ID, u.Unit, u.IdealCycles, l.Ideal.SIMDCycles)
			}
		}
	}
}

// TestLoopTime works the preshuffle loop out cycle by cycle, from the raw
// files: a SIMD is in the loop from the end of the instruction before a wave's
// first one inside to the end of its last one inside; its matrix pipe is busy
// for 32 cycles from the issue of each MFMA (16x16x128 f8f6f4 with FP8 operands
// on gfx950).
func TestLoopTime(t *testing.T) {
	dir := one(t, "preshuffle_gemm")
	k := analyse(t, dir, 3, nil)
	text := texts(t, dir)
	type cycles struct{ loop, matrix, issue map[int64]bool }
	simds := map[string]*cycles{}
	files, err := filepath.Glob(filepath.Join(dir, "se*_sm*_sl*_wv*.json"))
	if err != nil {
		t.Fatal(err)
	}
	fill := func(set map[int64]bool, from, to int64) {
		for c := from; c < to; c += 4 { // gfx9 times are multiples of 4
			set[c] = true
		}
	}
	for i, w := range rawWaves(t, dir) {
		name := strings.Join(strings.Split(filepath.Base(files[i]), "_")[:2], "_")
		x := simds[name]
		if x == nil {
			x = &cycles{map[int64]bool{}, map[int64]bool{}, map[int64]bool{}}
			simds[name] = x
		}
		prev := int64(0)
		for _, r := range w.Wave.Instructions {
			issued, end := r[0]+r[2], r[0]+r[3]
			if r[4] >= 206 && r[4] <= 346 {
				fill(x.loop, prev, end)
			}
			if strings.HasPrefix(text[r[4]], "v_mfma") {
				fill(x.matrix, issued, issued+32)
			}
			if text[r[4]] != "s_endpgm" {
				fill(x.issue, issued, end)
			}
			prev = max(prev, end)
		}
	}
	var loop, busy, exposed int64
	for _, x := range simds {
		for c := range x.loop {
			loop += 4
			switch {
			case x.matrix[c]:
				busy += 4
			case !x.issue[c]:
				exposed += 4
			}
		}
	}
	m := k.Loops[0].Matrix
	if m.SIMDCycles != loop || m.BusyCycles != busy || m.GapExposed != exposed {
		t.Errorf("loop %d, busy %d, gaps exposed %d; the files say %d, %d, %d", m.SIMDCycles, m.BusyCycles, m.GapExposed, loop, busy, exposed)
	}
}

// texts reads the disassembly by LineNumber, without any of our code.
func texts(t testing.TB, dir string) map[int64]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "code.json"))
	if err != nil {
		t.Fatal(err)
	}
	var code struct{ Code [][]any }
	if err := json.Unmarshal(raw, &code); err != nil {
		t.Fatal(err)
	}
	out := map[int64]string{}
	for _, row := range code.Code {
		out[int64(row[2].(float64))] = row[0].(string)
	}
	return out
}

// TestPrefetch recomputes the distance of waits for all vector memory
// operations: from the last one that the wave issued.
func TestPrefetch(t *testing.T) {
	dir := one(t, "flash_attn_func")
	k := analyse(t, dir, 2, nil)
	text := texts(t, dir)
	type sum struct{ n, cycles, mfmas int64 }
	want := map[int]sum{}
	for _, w := range rawWaves(t, dir) {
		last, mfmas, atLast := int64(-1), int64(0), int64(0)
		for _, r := range w.Wave.Instructions {
			s := text[r[4]]
			switch {
			case strings.HasPrefix(s, "buffer_") || strings.HasPrefix(s, "global_"):
				last, atLast = r[0]+r[2], mfmas
			case strings.HasPrefix(s, "v_mfma"):
				mfmas++
			case s == "s_waitcnt vmcnt(0)":
				if last >= 0 {
					x := want[int(r[4])]
					want[int(r[4])] = sum{x.n + 1, x.cycles + r[0] - last, x.mfmas + mfmas - atLast}
				}
				last = -1
			}
		}
	}
	checked := 0
	for _, p := range k.Prefetches {
		w, ok := want[p.Line]
		if !ok {
			continue
		}
		checked++
		n := float64(w.n)
		if p.Executions != w.n || math.Abs(p.AheadCycles-float64(w.cycles)/n) > 0.001 || math.Abs(p.AheadMFMAs-float64(w.mfmas)/n) > 0.001 {
			t.Errorf("line %d: %+v, the files say %+v", p.Line, p, w)
		}
	}
	if checked != len(want) || checked < 4 {
		t.Errorf("%d of %d waits compared", checked, len(want))
	}
}

// TestSameBytes: schemas, the number of workers, and the waves' order do not
// matter.
func TestSameBytes(t *testing.T) {
	encode := func(k *loops.Kernel) string {
		k.Path, k.Dispatch, k.Arch = "", nil, code.Arch{}
		b, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if a, b := encode(analyse(t, one(t, "hgemm_splitk"), 1, nil)), encode(analyse(t, one(t, "schema31"), 4, nil)); a != b {
		t.Errorf("the schemas differ:\n%s\n%s", a, b)
	}
	for _, dir := range captures(t) {
		if a, b := encode(analyse(t, dir, 1, nil)), encode(analyse(t, dir, 7, nil)); a != b {
			t.Errorf("%s: one worker and seven differ", dir)
		}
	}
}

// TestTile: the preshuffle loop, by hand. 64 x 128 x ... is not known from the
// trace, but FLOPs are: 32 x 65,536 = 2,097,152 per wave and iteration, which
// is 2 x 64 x 256 x 256 / 4 waves: one tile of 64 x 256 x 256.
func TestTile(t *testing.T) {
	k := analyse(t, one(t, "preshuffle_gemm"), 2, map[string]float64{
		"loops.tile_m": 64, "loops.tile_n": 256, "loops.tile_k": 256, "loops.tile_bits": 8,
	})
	if k.Tile == nil || math.Abs(k.Tile.TilesPerIteration-1) > 1e-9 {
		t.Fatalf("tile %+v", k.Tile)
	}
	// k_unroll 256/64 = 4, m_repeat 4, num_acc_n 4: 4*4*4*2 = 128 MFMA of 32
	// bytes of K; the loop's are four times as deep.
	for _, c := range k.Tile.Counts {
		if c.What == "MFMA" && (c.Expected != 128 || c.Measured != 32) {
			t.Errorf("MFMA %+v, want 128 expected and 32 measured", c)
		}
	}
}
