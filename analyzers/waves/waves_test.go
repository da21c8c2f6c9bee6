package waves

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const data = "../../../shared/data/att"

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

func analyse(t testing.TB, dir string, workers int) (*trace.Trace, *Result) {
	t.Helper()
	tr, err := ingest.Open(t.Context(), []string{dir}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: workers}, Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return tr, Analyzer.Of(out)
}

// lives gathers the waves' lives, SIMD by SIMD.
type lives struct {
	n     int
	cycle map[[3]int]int64
	edges map[[3]int][][2]int64
	all   []int64
}

func (l *lives) Wave(w *trace.Wave) {
	key := [3]int{w.SE, w.CU, w.SIMD}
	l.n++
	l.cycle[key] += w.End - w.Begin
	l.edges[key] = append(l.edges[key], [2]int64{w.Begin, w.End})
	l.all = append(l.all, w.End-w.Begin)
}

// peak counts, at each begin, the waves that are resident then.
func (l *lives) peak(key [3]int) int {
	most := 0
	for _, a := range l.edges[key] {
		n := 0
		for _, b := range l.edges[key] {
			if b[0] <= a[0] && a[0] < b[1] {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// TestConservation: the states sum to the waves' lives, in all, per SIMD and
// over the bins of the slots; peaks are those of a plain count.
func TestConservation(t *testing.T) {
	for _, dir := range captures(t) {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			tr, res := analyse(t, dir, 2)
			if len(res.Traces) == 0 {
				t.Skip("no waves")
			}
			l := &lives{cycle: map[[3]int]int64{}, edges: map[[3]int][][2]int64{}}
			if _, err := tr.ThreadTraces[0].Waves.Fold(t.Context(), 1, func() trace.Folder { return l }); err != nil {
				t.Fatal(err)
			}
			x := &res.Traces[0]
			slices.Sort(l.all)
			if x.Waves != l.n || x.Lifetime.Min != l.all[0] || x.Lifetime.Max != l.all[len(l.all)-1] {
				t.Errorf("%d waves, lives %+v; want %d, %d to %d", x.Waves, x.Lifetime, l.n, l.all[0], l.all[len(l.all)-1])
			}
			for _, u := range x.Units {
				for i := range u.SIMDs {
					s := &u.SIMDs[i]
					key := [3]int{u.SE, u.CU, s.SIMD}
					if s.ResidentWaveCycles != l.cycle[key] || s.States.Total() != l.cycle[key] {
						t.Errorf("SIMD %v: %d resident wave cycles, states %+v, want %d", key, s.ResidentWaveCycles, s.States, l.cycle[key])
					}
					if want := l.peak(key); s.PeakResident != want {
						t.Errorf("SIMD %v: peak %d, want %d", key, s.PeakResident, want)
					}
					var mean float64
					for i, n := range s.Resident {
						from, to := window{u.FirstCycle, u.LastCycle}.bin(i, len(s.Resident))
						mean += n * float64(to-from)
					}
					if math.Abs(mean-float64(l.cycle[key])) > 1 {
						t.Errorf("SIMD %v: resident waves integrate to %g, want %d", key, mean, l.cycle[key])
					}
				}
			}
		})
	}
}

// TestBarriers: preshuffle_gemm runs 17 workgroups of 4 waves whose loop of
// two barriers takes 15 trips: 255 meetings of 4 at each.
func TestBarriers(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(data, "preshuffle_gemm", "ui_output_*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) != 1 {
		t.Skip("the real captures are not here: " + data)
	}
	_, res := analyse(t, dirs[0], 2)
	found := 0
	for _, b := range res.Traces[0].Barriers {
		if b.Line == 275 || b.Line == 339 {
			found++
			if b.Meetings != 255 || b.Waves != 4 {
				t.Errorf("line %d: %d meetings of %g", b.Line, b.Meetings, b.Waves)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d of the loop's barriers", found)
	}
}

// TestMeet: spread and lateness by hand.
func TestMeet(t *testing.T) {
	var b Barrier
	b.meet([]arrival{{arrived: 10, left: 100, simd: 0}, {arrived: 70, left: 104, simd: 2}, {arrived: 40, left: 100, simd: 1}})
	b.meet([]arrival{{arrived: 500, left: 520, simd: 2}})
	if b.Meetings != 1 || b.MaxSpread != 60 || b.WaitCycles != 90+34+60 || len(b.Late) != 1 || b.Late[0] != (LateSIMD{2, 1}) {
		t.Errorf("%+v", b)
	}
}

// TestResidency: two waves that follow each other without a gap are one at a
// time.
func TestResidency(t *testing.T) {
	edges := []edge{{0, 1}, {100, -1}, {100, 1}, {300, -1}, {150, 1}, {250, -1}}
	peak, up, drain := residency(edges, 0, 300)
	if peak != 2 || up != 150 || drain != 50 {
		t.Errorf("peak %d, start-up %d, drain %d; want 2, 150, 50", peak, up, drain)
	}
}

// TestFiller: what is put in comes out of the bins, whatever the window.
func TestFiller(t *testing.T) {
	for _, c := range []struct {
		w          window
		bins       int
		spans      [][2]int64
		wantTotals int64
	}{
		{window{100, 200}, 10, [][2]int64{{100, 117}, {117, 117}, {117, 200}}, 100},
		{window{100, 103}, 60, [][2]int64{{100, 102}, {102, 103}}, 3},
		{window{0, 1 << 62}, 1000, [][2]int64{{0, 1 << 40}, {1 << 40, 1 << 62}}, 1 << 62},
		{window{5, 5}, 4, [][2]int64{{5, 5}}, 0},
	} {
		f := filler{c.w, make([]States, c.bins)}
		at := c.spans[0][0]
		for i, s := range c.spans {
			at = f.span(at, s[1], state(i%int(numStates)))
		}
		var sum States
		for i := range f.bins {
			from, to := c.w.bin(i, c.bins)
			if n := f.bins[i].Total(); n != to-from {
				t.Errorf("%+v: bin %d of %d cycles holds %d", c.w, i, to-from, n)
			}
			sum.add(&f.bins[i])
		}
		if sum.Total() != c.wantTotals {
			t.Errorf("%+v: %d cycles, want %d", c.w, sum.Total(), c.wantTotals)
		}
	}
}

func TestSlotMark(t *testing.T) {
	for _, c := range []struct {
		s    States
		want byte
	}{
		{States{}, ' '},
		{States{Issue: 5, Wait: 5}, '#'},
		{States{Issue: 3, Wait: 7}, '+'},
		{States{Issue: 1, Wait: 5, Stall: 4}, 'w'},
		{States{Wait: 4, Stall: 5, Idle: 1}, 's'},
		{States{Idle: 9, Stall: 1}, '.'},
	} {
		if got := slotMark(&c.s); got != c.want {
			t.Errorf("%+v: %q, want %q", c.s, got, c.want)
		}
	}
}

// TestSameBytes: the number of workers does not matter.
func TestSameBytes(t *testing.T) {
	for _, dir := range captures(t) {
		_, a := analyse(t, dir, 1)
		_, b := analyse(t, dir, 6)
		x, err1 := json.Marshal(a)
		y, err2 := json.Marshal(b)
		if err1 != nil || err2 != nil || !bytes.Equal(x, y) {
			t.Errorf("%s: one worker and six differ (%v, %v)", dir, err1, err2)
		}
	}
}

// event is one trace event, as a reader of the format sees it.
type event struct {
	Ph, Name, Cat string
	Pid, Tid      int
	Ts, Dur       float64
}

// TestPerfetto: the file is JSON, has a slice per wave, and the slices in it
// lie inside their wave and do not overlap.
func TestPerfetto(t *testing.T) {
	for _, dir := range captures(t) {
		name := filepath.Base(filepath.Dir(dir))
		if slices.Contains([]string{"moe_reduce", "flash_attn_func", "flash_attn_func_recapture", "preshuffle_gemm", "pa_mqa_logits_fp4"}, name) {
			continue // large, and no different
		}
		t.Run(name, func(t *testing.T) {
			tr, res := analyse(t, dir, 2)
			var out bytes.Buffer
			if err := Perfetto(t.Context(), &out, tr, 0); err != nil || tr.Damaged() {
				t.Fatal(tr.Notes, err)
			}
			var doc struct{ TraceEvents []event }
			if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
				t.Fatal(err)
			}
			want := 0
			for i := range res.Traces {
				want += res.Traces[i].Waves
			}
			if got := checkSlices(t, doc.TraceEvents); got != want {
				t.Errorf("%d wave slices, want %d", got, want)
			}
		})
	}
}

// checkSlices returns the number of wave slices; the events of a wave follow
// it.
func checkSlices(t *testing.T, events []event) (waves int) {
	t.Helper()
	const rounding = 0.0002 // microseconds
	type place struct{ pid, tid int }
	wave, last := map[place]event{}, map[place]float64{}
	for _, e := range events {
		at := place{e.Pid, e.Tid}
		switch {
		case e.Ph != "X":
		case e.Cat == "wave":
			waves++
			wave[at], last[at] = e, e.Ts
		default:
			w := wave[at]
			if e.Ts < last[at]-rounding || e.Ts+e.Dur > w.Ts+w.Dur+rounding {
				t.Errorf("%+v lies outside of %+v, or before %g", e, w, last[at])
				return waves
			}
			last[at] = e.Ts + e.Dur
		}
	}
	return waves
}

// TestPerfettoNames: names from a trace cannot break the JSON.
func TestPerfettoNames(t *testing.T) {
	for _, s := range []string{`a"b\c`, "a\nb", "\xff", strings.Repeat("x", 10)} {
		var back string
		if err := json.Unmarshal([]byte(quoted(s)), &back); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
}
