package replay

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// TestShares compares the shares of stalls with a cycle by cycle count.
func TestShares(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const span = 200_000
	left := 1000
	c := &Cycles{resident: newBitmap(&left), issue: newBitmap(&left), matrix: newBitmap(&left), stalled: newLevels(&left)}
	other := newLevels(&left)
	var resident, issue, matrix [span]bool
	var stalls [span]int
	mark := func(set []bool, from, to int64) {
		for i := from; i < to; i++ {
			set[i] = true
		}
	}
	at := func(most int64) (from, to int64) {
		from = rng.Int64N(span - most)
		return from, from + rng.Int64N(most)
	}
	for range 300 {
		from, to := at(3000)
		c.resident.set(from, to)
		mark(resident[:], from, to)
		from, to = at(90)
		c.issue.set(from, to)
		mark(issue[:], from, to)
		from, to = at(200)
		c.matrix.set(from, to)
		mark(matrix[:], from, to)
		from, to = at(2500)
		if rng.IntN(2) == 0 {
			c.stalled.add(from, to)
		} else {
			other.add(from, to)
		}
		for i := from; i < to; i++ {
			stalls[i]++
		}
	}
	c.stalled.merge(other)
	if c.stalled.full {
		t.Fatal("more stalls at once than the test means to make")
	}
	c.finish()
	sharer := c.NewSharer()
	for range 200 {
		from, to := at(70_000)
		checkShare(t, sharer, from, to, resident[:], issue[:], matrix[:], stalls[:])
	}
	var exposed, stalled int64
	for i := range resident {
		if resident[i] && !issue[i] {
			exposed++
			if stalls[i] > 0 {
				stalled++
			}
		}
	}
	if a, b := c.Exposed(); a != exposed || b != stalled {
		t.Errorf("exposed %d, of it stalled %d; cycle by cycle %d and %d", a, b, exposed, stalled)
	}
}

func checkShare(t *testing.T, c *Sharer, from, to int64, resident, issue, matrix []bool, stalls []int) {
	t.Helper()
	var all, gap, off int64
	for i := from; i < to; i++ {
		if !matrix[i] {
			off++
		}
		if !resident[i] || issue[i] || stalls[i] == 0 {
			continue
		}
		all += Unit / int64(stalls[i])
		if !matrix[i] {
			gap += Unit / int64(stalls[i])
		}
	}
	if a, g := c.Share(from, to); a != all || g != gap {
		t.Fatalf("[%d, %d): %d and %d units, cycle by cycle %d and %d", from, to, a, g, all, gap)
	}
	if got := c.OffMatrix(from, to); got != off {
		t.Fatalf("[%d, %d): matrix pipe idle in %d cycles, counted %d", from, to, got, off)
	}
}

// TestUnit: every number of waves that can be counted divides a unit.
func TestUnit(t *testing.T) {
	for n := 1; n <= maxLevel; n++ {
		if Unit%n != 0 {
			t.Errorf("%d waves do not share a cycle evenly", n)
		}
	}
}

func TestLevelsFull(t *testing.T) {
	left := levelBits
	l := newLevels(&left)
	for i := range maxLevel {
		if !l.add(10, 20) || l.full {
			t.Fatalf("wave %d does not fit", i+1)
		}
	}
	l.add(19, 21)
	if !l.full {
		t.Error("16 waves in a cycle go unnoticed")
	}
	if l.add(1<<30, 1<<30+1) {
		t.Error("a second page came out of an allowance of one")
	}
}

// TestSpans: stalls do not overlap, and nothing lies outside of the life.
func TestSpans(t *testing.T) {
	s := spanner{begin: 100, end: 200, stalled: 100}
	for i, c := range []struct {
		r    trace.Record
		end  bool
		want Spans
	}{
		{trace.Record{Time: 90, Stall: 20, Duration: 24}, false, Spans{[2]int64{100, 110}, [2]int64{110, 114}, [2]int64{}}},
		{trace.Record{Time: 106, Stall: 10, Duration: 14}, false, Spans{[2]int64{110, 116}, [2]int64{116, 120}, [2]int64{}}},
		{trace.Record{Time: 150, Stall: 0, Duration: 54}, true, Spans{[2]int64{150, 150}, [2]int64{}, [2]int64{150, 200}}},
	} {
		if got := s.cut(&c.r, c.end); got != c.want {
			t.Errorf("record %d: %+v, want %+v", i, got, c.want)
		}
	}
}

// TestLoopWalk follows one wave by hand: outer loop rows 1 to 4, inner 2 to 3.
func TestLoopWalk(t *testing.T) {
	texts := []string{"s_nop 0", "s_nop 1", "s_nop 2", "s_cbranch_scc1 65534", "s_cbranch_scc0 65532", "s_endpgm"}
	tt := &trace.ThreadTrace{GfxMajor: 9, Kernels: []trace.Kernel{{First: 0, Last: len(texts)}}}
	var insts []isa.Inst
	for row, text := range texts {
		tt.Code = append(tt.Code, trace.Instruction{Line: row + 1, Text: text, Vaddr: int64(4 * row)})
		insts = append(insts, isa.Parse(text, "gfx942"))
	}
	fl := flow.Find(tt, insts)
	walk := newLoopWalk(fl, []int32{-1, 0, 1, -1, -1, -1})
	sums := make([]LoopWaves, 2)
	for range 2 {
		walk.start()
		for _, row := range []int{0, 1, 2, 3, 2, 3, 2, 3, 4, 1, 2, 3, 4, 5} {
			walk.step(row, sums)
		}
		walk.end(sums)
	}
	for l, want := range [][3]int64{{2, 2, 4}, {2, 4, 8}} {
		if got := [3]int64{sums[l].Waves, sums[l].Entries, sums[l].Iterations}; got != want {
			t.Errorf("loop %d: waves, entries, iterations %v, want %v", l, got, want)
		}
	}
	if sums[1].Trips.Max() != 4 {
		t.Errorf("a wave makes %d inner trips, want 4", sums[1].Trips.Max())
	}
}

type countWaves struct {
	waves   int
	cycles  int64
	records int
}

func (c *countWaves) Wave(w *trace.Wave) {
	c.waves++
	for _, r := range w.Records {
		c.cycles += r.Time + r.Stall + r.Duration + int64(r.Line)
		c.records++
	}
}

// TestKeep: waves that are kept come back whole; when they do not fit all are
// given up.
func TestKeep(t *testing.T) {
	w := &trace.Wave{Begin: 1000, End: 2000, Records: []trace.Record{{Time: 996, Stall: 4, Duration: 8, Line: 3}, {Time: 1004, Stall: 0, Duration: 1 << 31, Line: 4}}}
	want := &countWaves{}
	want.Wave(w)
	want.Wave(w)
	var left atomic.Int64
	left.Store(4)
	k := keeper{left: &left}
	k.keep(w)
	k.keep(w)
	got := &countWaves{}
	k.replay(context.Background(), got)
	if *got != *want {
		t.Errorf("kept %+v, want %+v", *got, *want)
	}
	k.keep(w)
	if !k.given || k.waves != nil {
		t.Error("a wave beyond the allowance is kept")
	}
	left.Store(100)
	far := keeper{left: &left}
	far.keep(&trace.Wave{Records: []trace.Record{{Time: 1 << 40}}})
	if !far.given {
		t.Error("a time that does not fit is kept")
	}
}
