package exposed_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// naiveWaves keeps the waves of a trace as they are.
type naiveWaves struct {
	mu    sync.Mutex
	waves []trace.Wave
}

func (n *naiveWaves) Wave(w *trace.Wave) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := *w
	c.Records = append([]trace.Record(nil), w.Records...)
	n.waves = append(n.waves, c)
}

type naiveSIMD struct{ se, cu, simd int }

// naiveStall is a row's stall or drain of one wave.
type naiveStall struct {
	row      int
	drain    bool
	from, to int64
}

// naiveCycle is what happens in one cycle of a SIMD; vector and matrix are the
// waves that issue such an instruction, pipe those that keep the matrix pipe.
type naiveCycle struct {
	resident, issue bool
	vector, pipe    map[int]bool
	in              []finding.Saving
}

// cycleByCycle works the waves of one SIMD out cycle by cycle, in another way than the
// analyzers: an array of cycles, and for each what every wave does in it.
func cycleByCycle(insts []isa.Inst, row map[int]int, waves []trace.Wave) (cycles []naiveCycle, contended map[int]int64) {
	first, last := waves[0].Begin, waves[0].End
	for _, w := range waves {
		first, last = min(first, w.Begin), max(last, w.End)
	}
	cycles = make([]naiveCycle, last-first)
	var stalls [][]naiveStall
	each := func(from, to int64, do func(*naiveCycle)) {
		for c := max(from, first); c < min(to, last); c++ {
			do(&cycles[c-first])
		}
	}
	for no, w := range waves {
		each(w.Begin, w.End, func(c *naiveCycle) { c.resident = true })
		var mine []naiveStall
		done := w.Begin
		for _, r := range w.Records {
			at, ok := row[r.Line]
			if !ok {
				continue
			}
			in := &insts[at]
			issued, over := r.Time+r.Stall, r.Time+r.Duration
			mine = append(mine, naiveStall{at, false, max(r.Time, done, w.Begin), min(issued, w.End)})
			if r.Stall > 0 {
				done = max(done, issued)
			}
			if in.Class == isa.EndPgm {
				mine = append(mine, naiveStall{at, true, max(issued, w.Begin), min(over, w.End)})
				continue
			}
			each(issued, over, func(c *naiveCycle) {
				c.issue = true
				if in.Class == isa.VALU || in.Class == isa.Trans || in.Class == isa.MFMA {
					c.vector = with(c.vector, no)
				}
			})
			if in.Matrix != nil {
				each(issued, issued+int64(in.Matrix.Cycles), func(c *naiveCycle) { c.pipe = with(c.pipe, no) })
			}
		}
		stalls = append(stalls, mine)
	}
	contended = map[int]int64{}
	for no, mine := range stalls {
		for _, s := range mine {
			each(s.from, s.to, func(c *naiveCycle) {
				c.in = append(c.in, finding.Saving{Row: s.row, Drain: s.drain})
				if s.drain {
					return
				}
				switch insts[s.row].Class {
				case isa.VALU, isa.Trans:
					contended[s.row] += others(c.vector, no)
				case isa.MFMA:
					if !c.pipe[no] {
						contended[s.row] += others(c.pipe, no)
					}
				}
			})
		}
	}
	return cycles, contended
}

func with(set map[int]bool, wave int) map[int]bool {
	if set == nil {
		set = map[int]bool{}
	}
	set[wave] = true
	return set
}

// others is 1 when a wave but the given one is in the set.
func others(set map[int]bool, wave int) int64 {
	for w := range set {
		if w != wave {
			return 1
		}
	}
	return 0
}

// TestAgainstNaive recomputes the bounds of groups of stalls and the contention
// of every instruction from arrays of cycles.
func TestAgainstNaive(t *testing.T) {
	var dirs []string
	for _, pattern := range []string{"../../fixtures/att/gemm/ui_*", "../../fixtures/att/judged/uneven/ui_*", data + "/pa/ui_*", data + "/iree_wave_gfx950/ui_*", data + "/topk_gating_softmax/ui_*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, found...)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) { againstNaive(t, dir) })
	}
}

func againstNaive(t *testing.T, dir string) {
	tr, err := ingest.Open(t.Context(), []string{dir}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2}, exposed.Analyzer, code.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	tt := tr.ThreadTraces[0]
	s, r := exposed.Analyzer.Of(out, tt), replay.Analyzer.Of(out, tt)
	insts := code.Analyzer.Of(out, tt).Insts
	if s.Absent != "" {
		t.Fatal(s.Absent)
	}
	all := &naiveWaves{}
	if _, err := tt.Waves.Fold(t.Context(), 1, func() trace.Folder { return all }); err != nil {
		t.Fatal(err)
	}
	row := map[int]int{}
	for i := range tt.Code {
		if _, ok := row[tt.Code[i].Line]; !ok && tt.Code[i].Line > 0 {
			row[tt.Code[i].Line] = i
		}
	}
	groups := groupsOf(insts)
	want := make([]int64, len(groups))
	contended := map[int]int64{}
	bySIMD := map[naiveSIMD][]trace.Wave{}
	for _, w := range all.waves {
		id := naiveSIMD{w.SE, w.CU, w.SIMD}
		bySIMD[id] = append(bySIMD[id], w)
	}
	for _, waves := range bySIMD {
		cycles, taken := cycleByCycle(insts, row, waves)
		for row, n := range taken {
			contended[row] += n
		}
		for i := range cycles {
			c := &cycles[i]
			if !c.resident || c.issue {
				continue
			}
			for g, group := range groups {
				if anyOf(c.in, group) {
					want[g]++
				}
			}
		}
	}
	got, err := s.Ceilings(t.Context(), 2, r, true, groups)
	if err != nil {
		t.Fatal(err)
	}
	some := false
	for g := range groups {
		some = some || want[g] > 0
		if got[g] != want[g] {
			t.Errorf("group %d of %d stalls: bound of %d cycles, by hand %d", g, len(groups[g]), got[g], want[g])
		}
	}
	for row := range insts {
		if got := s.Row(row, true).Contended; got != contended[row] {
			t.Errorf("%s: %d contended cycles, by hand %d", tt.Code[row].Text, got, contended[row])
		}
	}
	if !some {
		t.Error("no group costs anything")
	}
}

// groupsOf puts the stalls of each class of instructions together, and each
// third row by itself.
func groupsOf(insts []isa.Inst) [][]finding.Saving {
	byClass := map[isa.Class][]finding.Saving{}
	for row := range insts {
		c := insts[row].Class
		byClass[c] = append(byClass[c], finding.Saving{Row: row}, finding.Saving{Row: row, Drain: true})
	}
	var out [][]finding.Saving
	for _, c := range isa.Classes() {
		if len(byClass[c]) > 0 {
			out = append(out, byClass[c])
		}
	}
	for row := 0; row < len(insts); row += 3 {
		out = append(out, []finding.Saving{{Row: row}})
	}
	return out
}

func anyOf(in, group []finding.Saving) bool {
	for _, x := range in {
		for _, y := range group {
			if x == y {
				return true
			}
		}
	}
	return false
}
