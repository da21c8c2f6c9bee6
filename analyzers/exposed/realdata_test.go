package exposed_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const data = "../../../shared/data/att"

// dispatches lists the real captures and our own fixtures.
func dispatches(t testing.TB) []string {
	t.Helper()
	dirs, err := filepath.Glob("../../fixtures/att/*/ui_output_*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no fixtures", err)
	}
	if _, err := os.Stat(data); err != nil {
		t.Log("the real captures are not here: " + data)
		return dirs
	}
	real, err := filepath.Glob(filepath.Join(data, "*", "ui_output_*"))
	if err != nil {
		t.Fatal(err)
	}
	return append(real, dirs...)
}

func analyse(t testing.TB, dir string, workers int, change func(*trace.ThreadTrace)) (*trace.ThreadTrace, *replay.Replay, *exposed.Split) {
	t.Helper()
	return analyseWith(t, dir, workers, change, map[string]float64{"exposed.matrix_gaps": 1})
}

func analyseWith(t testing.TB, dir string, workers int, change func(*trace.ThreadTrace), params map[string]float64) (*trace.ThreadTrace, *replay.Replay, *exposed.Split) {
	t.Helper()
	tr, err := ingest.Open(t.Context(), []string{dir}, ingest.Options{})
	if err != nil {
		if !strings.Contains(filepath.ToSlash(dir), "/synthetic/") {
			t.Fatal(err)
		}
		t.Skip(err) // damaged on purpose
	}
	if len(tr.ThreadTraces) != 1 {
		t.Skip("not one trace")
	}
	if change != nil {
		change(tr.ThreadTraces[0])
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: workers, Params: params}, exposed.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return tr.ThreadTraces[0], replay.Analyzer.Of(out, tr.ThreadTraces[0]), exposed.Analyzer.Of(out, tr.ThreadTraces[0])
}

// TestConservation: exposed + issuing + empty is the SIMDs' time, what the
// instructions are charged with is what the SIMDs had exposed, and no
// instruction is charged with more than it stalled.
func TestConservation(t *testing.T) {
	for _, dir := range dispatches(t) {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			tt, r, s := analyse(t, dir, 2, nil)
			if s.Absent != "" {
				t.Skip(s.Absent)
			}
			x := s.SIMD
			if x.Issuing+x.Exposed+x.Empty != x.Total || x.Stalled+x.Between != x.Exposed {
				t.Errorf("SIMD time does not close: %+v", x)
			}
			if got, want := s.Charged(), x.Stalled*replay.Unit; got != want {
				t.Errorf("instructions are charged with %d units, the SIMDs have %d", got, want)
			}
			for row := range tt.Code {
				in, e := r.Counts[replay.Working][row], s.Row(row, false)
				if e.Stall > float64(in.StallCycles) || e.Drain > float64(in.IssueCycles()) || e.Stall < 0 || e.Drain < 0 {
					t.Errorf("line %d: exposed %+v of %+v", tt.Code[row].Line, e, in)
				}
				if e.StallOffMatrix > e.Stall || e.DrainOffMatrix > e.Drain || e.IssueOffMatrix > in.IssueCycles() {
					t.Errorf("line %d: off the matrix pipe %+v", tt.Code[row].Line, e)
				}
			}
			t.Logf("%+v", x)
		})
	}
}

// naive computes the exposed stall of every row cycle by cycle, from the
// definition: for each SIMD an array of its cycles.
type naive struct {
	tt    *trace.ThreadTrace
	waves map[[3]int][]trace.Wave
	lines map[int]int
}

func (n *naive) Wave(w *trace.Wave) {
	c := *w
	c.Records = append([]trace.Record(nil), w.Records...)
	key := [3]int{w.SE, w.CU, w.SIMD}
	n.waves[key] = append(n.waves[key], c)
}

func (n *naive) rows() (rows []float64, exposed, issuing int64) {
	rows = make([]float64, len(n.tt.Code))
	for _, waves := range n.waves {
		first, last := waves[0].Begin, waves[0].End
		for _, w := range waves {
			first, last = min(first, w.Begin), max(last, w.End)
		}
		resident, issue := make([]bool, last-first), make([]bool, last-first)
		stalls := make([][]int, last-first)
		for _, w := range waves {
			for c := w.Begin; c < w.End; c++ {
				resident[c-first] = true
			}
			for _, r := range w.Records {
				row, ok := n.lines[r.Line]
				if !ok || r.Line == 0 {
					continue
				}
				end := n.tt.Code[row].Text == "s_endpgm"
				for c := max(r.Time, w.Begin); c < min(r.Time+r.Duration, w.End); c++ {
					if end || c < r.Time+r.Stall {
						stalls[c-first] = append(stalls[c-first], row)
					} else {
						issue[c-first] = true
					}
				}
			}
		}
		for c := range resident {
			switch {
			case !resident[c]:
			case issue[c]:
				issuing++
			default:
				exposed++
				for _, row := range stalls[c] {
					rows[row] += 1 / float64(len(stalls[c]))
				}
			}
		}
	}
	return rows, exposed, issuing
}

// TestByCycle compares with the definition worked out cycle by cycle.
func TestByCycle(t *testing.T) {
	for _, dir := range dispatches(t) {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			tt, r, s := analyse(t, dir, 2, nil)
			if s.Absent != "" {
				t.Skip(s.Absent)
			}
			n := &naive{tt: tt, waves: map[[3]int][]trace.Wave{}, lines: map[int]int{}}
			for row := range tt.Code {
				n.lines[tt.Code[row].Line] = row
			}
			if _, err := tt.Waves.Fold(t.Context(), 1, func() trace.Folder { return n }); err != nil {
				t.Fatal(err)
			}
			rows, exp, issuing := n.rows()
			if exp != s.SIMD.Exposed || issuing != s.SIMD.Issuing {
				t.Errorf("exposed %d, issuing %d; cycle by cycle %d and %d", s.SIMD.Exposed, s.SIMD.Issuing, exp, issuing)
			}
			for row, want := range rows {
				e := s.Row(row, true)
				if d := e.Stall + e.Drain - want; d > 0.01 || d < -0.01 {
					t.Errorf("line %d %q: %.3f exposed cycles, cycle by cycle %.3f (waves %d)", tt.Code[row].Line, tt.Code[row].Text, e.Stall+e.Drain, want, r.Report.Read)
				}
			}
		})
	}
}

// shuffled reads the waves of a source in the opposite order.
type shuffled struct{ trace.WaveSource }

type keeper struct{ waves []trace.Wave }

func (k *keeper) Wave(w *trace.Wave) {
	c := *w
	c.Records = append([]trace.Record(nil), w.Records...)
	k.waves = append(k.waves, c)
}

// TestOrder: the order and the number of workers do not matter.
func TestOrder(t *testing.T) {
	for _, dir := range dispatches(t) {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			_, _, one := analyse(t, dir, 1, nil)
			_, _, many := analyse(t, dir, 5, nil)
			if !reflect.DeepEqual(one, many) {
				t.Error("one worker and five give different splits")
			}
			_, _, back := analyse(t, dir, 2, func(tt *trace.ThreadTrace) {
				if tt.Waves != nil {
					tt.Waves = shuffled{tt.Waves}
				}
			})
			if !reflect.DeepEqual(one, back) {
				t.Error("reading the waves backwards gives a different split")
			}
		})
	}
}

// Fold hands the waves over in reverse, in turn to each folder.
func (s shuffled) Fold(ctx context.Context, workers int, newFolder func() trace.Folder) (trace.WaveReport, error) {
	k := &keeper{}
	report, err := s.WaveSource.Fold(ctx, 1, func() trace.Folder { return k })
	folders := make([]trace.Folder, workers)
	for i := range folders {
		folders[i] = newFolder()
	}
	for i := len(k.waves) - 1; i >= 0; i-- {
		folders[i%workers].Wave(&k.waves[i])
	}
	return report, err
}

// TestWithoutGaps: the stalls that were kept give the same split as reading
// the waves again, which also tells the matrix pipe's idle cycles apart.
func TestWithoutGaps(t *testing.T) {
	for _, dir := range dispatches(t) {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			tt, _, again := analyse(t, dir, 2, nil)
			_, _, kept := analyseWith(t, dir, 2, nil, nil)
			if kept.Gaps || again.Absent == "" && !again.Gaps || kept.SIMD != again.SIMD {
				t.Errorf("SIMD time %+v and %+v, gaps %v and %v", kept.SIMD, again.SIMD, kept.Gaps, again.Gaps)
			}
			for row := range tt.Code {
				for _, all := range []bool{false, true} {
					a, b := kept.Row(row, all), again.Row(row, all)
					if a.Stall != b.Stall || a.Drain != b.Drain {
						t.Errorf("line %d: %+v, read again %+v", tt.Code[row].Line, a, b)
					}
				}
			}
		})
	}
}
