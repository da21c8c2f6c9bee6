package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
	sharer := c.NewSharer(true)
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

// stallList takes down what it is handed.
type stallList []string

func (l *stallList) Stall(_ *SIMD, g Group, row int, from, to int64, drain bool) {
	*l = append(*l, fmt.Sprint(g, row, from, to, drain))
}

// TestKeep: stalls that are kept come back as they were; when they do not fit
// all are given up.
func TestKeep(t *testing.T) {
	var left atomic.Int64
	left.Store(20) // two waves of a stall of 3 bytes and a drain of 7
	k := keeper{left: &left}
	w := &trace.Wave{Begin: 1000, End: 2000, Records: make([]trace.Record, 2)}
	book := func() {
		k.start(w, NoWork)
		k.keep(3, Spans{Stall: [2]int64{1000, 1004}, Issue: [2]int64{1004, 1008}, Drain: [2]int64{1004, 1004}})
		k.keep(0, Spans{Stall: [2]int64{1010, 1010}, Drain: [2]int64{1010, 1 << 31}})
		k.end()
	}
	book()
	book()
	r := &Replay{kept: []keeper{k}, bySIMD: map[simdID]*SIMD{{}: {}}}
	var got stallList
	if err := r.Stalls(t.Context(), 1, func() StallFolder { return &got }); err != nil {
		t.Fatal(err)
	}
	want := stallList{"1 3 1000 1004 false", "1 0 1010 2147483648 true", "1 3 1000 1004 false", "1 0 1010 2147483648 true"}
	if !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v", got, want)
	}
	book()
	if !k.given || k.waves != nil {
		t.Error("a wave beyond the allowance is kept")
	}
	left.Store(100)
	far := keeper{left: &left}
	far.start(&trace.Wave{Begin: 5, Records: make([]trace.Record, 1)}, Working)
	far.keep(1<<20, Spans{Stall: [2]int64{1 << 61, 1<<61 + 1<<40}})
	far.end()
	r.kept, got = []keeper{far}, nil
	if err := r.Stalls(t.Context(), 1, func() StallFolder { return &got }); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("0 %d %d %d false", 1<<20, 1<<61, 1<<61+1<<40); !slices.Equal(got, stallList{want}) {
		t.Errorf("kept %v, want %s", got, want)
	}
}
