package replay

import (
	"slices"
	"sync/atomic"
	"testing"
)

// TestUnions by hand: two waves of a SIMD stall at rows 1 and 2, over a page
// border; a third set does not fit and gets the sum of its stalls.
func TestUnions(t *testing.T) {
	left := 100
	c := &Cycles{
		resident: newBitmap(&left), issue: newBitmap(&left), valu: newBitmap(&left), matrix: newBitmap(&left),
		matrixIssue: newBitmap(&left), stalled: newLevels(&left),
	}
	const page = 1 << pageBits
	c.resident.set(page-100, page+100)
	c.issue.set(page-20, page-10)
	c.stalled.add(page-100, page+100)
	c.finish()
	r := &Replay{SIMDs: []SIMD{{Cycles: c}}}
	sets := [][]StallRef{{{Row: 1}}, {{Row: 1}, {Row: 2}}, {{Row: 1}, {Row: 2}}, {{Row: 1, Drain: true}}, {{Row: 9}}}
	for _, x := range []struct {
		exact int
		all   bool
		want  []int64
	}{
		{5, false, []int64{50, 100, 100, 10, 0}},
		{5, true, []int64{60, 110, 110, 10, 0}},
		{2, false, []int64{50, 100, 120, 10, 0}},
	} {
		u := &unions{all: x.all, of: setsOf(sets, 9), sums: make([]atomic.Int64, len(sets))}
		m := u.marks([]*SIMD{&r.SIMDs[0]}, 0, x.exact)
		m.rest = true
		one, two := &unionFolder{marks: m}, &unionFolder{marks: m}
		one.Stall(&r.SIMDs[0], Working, 1, page-40, page+20, false) // 50 exposed
		two.Stall(&r.SIMDs[0], Working, 2, page, page+70, false)    // 70, of them 50 beyond
		two.Stall(&r.SIMDs[0], Working, 1, page+80, page+90, true)
		one.Stall(&r.SIMDs[0], NoWork, 1, page-90, page-80, false)
		got := make([]int64, len(sets))
		m.sum()
		for k := range got {
			got[k] = u.sums[k].Load()
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%d exact, all waves %t: %v, want %v", x.exact, x.all, got, x.want)
		}
	}
}
