package replay

import (
	"math/rand/v2"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/isa"
)

// TestBitmap compares with a plain set of cycles.
func TestBitmap(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	left := 100
	a, b := newBitmap(&left), newBitmap(&left)
	want := map[int64]bool{}
	for range 400 {
		from := rng.Int64N(300_000)
		to := from + rng.Int64N(500)
		set := a
		if rng.IntN(2) == 0 {
			set = b
		}
		if !set.set(from, to) {
			t.Fatal("out of pages")
		}
		for c := from; c < to; c++ {
			want[c] = true
		}
	}
	a.merge(b)
	if a.count() != int64(len(want)) {
		t.Errorf("%d cycles, want %d", a.count(), len(want))
	}
}

func TestBitmapEdges(t *testing.T) {
	left := 3
	b := newBitmap(&left)
	for _, r := range [][2]int64{{0, 0}, {63, 64}, {64, 128}, {65535, 65537}, {1 << 40, 1<<40 + 4}} {
		if !b.set(r[0], r[1]) {
			t.Fatalf("%v: out of pages", r)
		}
	}
	if got, want := b.count(), int64(1+64+2+4); got != want {
		t.Errorf("%d cycles, want %d", got, want)
	}
	if b.set(1<<41, 1<<41+1) {
		t.Error("a fourth page came out of an allowance of three")
	}
}

func ops(texts ...string) []op {
	out := make([]op, len(texts))
	for i, s := range texts {
		in := isa.Parse(s, "gfx942")
		out[i] = newOp(&in, false)
	}
	return out
}

// TestPending walks instructions by hand: what each wait takes is what the
// counters' definition says.
func TestPending(t *testing.T) {
	code := ops(
		"global_load_dwordx4 v[0:3], v[8:9], off",      // 0
		"global_load_dwordx4 v[4:7], v[8:9], off",      // 1
		"s_load_dwordx2 s[0:1], s[2:3], 0x0",           // 2
		"ds_read_b128 v[12:15], v16",                   // 3
		"global_store_dword v[8:9], v0, off",           // 4
		"buffer_load_dwordx4 v2, s[8:11], 0 offen lds", // 5
		"s_waitcnt vmcnt(3)",                           // takes 0
		"s_waitcnt vmcnt(1) lgkmcnt(0)",                // takes 1, 4 and 2, 3
		"s_waitcnt vmcnt(1)",                           // takes nothing
		"s_waitcnt vmcnt(0)",                           // takes 5
	)
	var p pending
	want := map[int][]int{6: {0}, 7: {1, 4, 2, 3}, 8: nil, 9: {5}}
	shares := map[int]map[WaitClass]float64{
		6: {VMEM: 1},
		7: {VMEM: 0.25, Store: 0.25, SMEM: 0.25, LDS: 0.25},
		8: {Nothing: 1},
		9: {VMEMToLDS: 1},
	}
	for row := range code {
		if code[row].role == memory {
			p.issue(&code[row], producer{row: int32(row), class: code[row].class})
			continue
		}
		var got []int
		c := p.retire(&code[row], func(_ int, pr producer, _ bool) { got = append(got, int(pr.row)) })
		if len(got) != len(want[row]) {
			t.Fatalf("row %d waited for %v, want %v", row, got, want[row])
		}
		for i := range got {
			if got[i] != want[row][i] {
				t.Errorf("row %d waited for %v, want %v", row, got, want[row])
			}
		}
		sum := map[WaitClass]float64{}
		c.share(func(w WaitClass, f float64) { sum[w] += f })
		for w, f := range shares[row] {
			if sum[w] != f {
				t.Errorf("row %d: class %d has %g, want %g", row, w, sum[w], f)
			}
		}
	}
}

// TestPendingSplit: a wait on two counters is split between them first, then
// on each counter between the kinds of operations.
func TestPendingSplit(t *testing.T) {
	code := ops(
		"s_load_dword s0, s[2:3], 0x0", "ds_read_b32 v0, v1", "ds_bpermute_b32 v2, v3, v4",
		"global_load_dword v5, v[6:7], off", "s_waitcnt vmcnt(0) lgkmcnt(0)",
	)
	var p pending
	for i := range code[:4] {
		p.issue(&code[i], producer{row: int32(i), class: code[i].class})
	}
	sum := map[WaitClass]float64{}
	p.retire(&code[4], func(int, producer, bool) {}).share(func(w WaitClass, f float64) { sum[w] += f })
	for w, want := range map[WaitClass]float64{VMEM: 0.5, SMEM: 1. / 6, LDS: 1. / 6, CrossLane: 1. / 6} {
		if sum[w] != want {
			t.Errorf("class %d has %g, want %g", w, sum[w], want)
		}
	}
}

// TestPendingUnordered: a wait for all but one of several operations that
// return in any order may be for each of them, and none is known to be done.
func TestPendingUnordered(t *testing.T) {
	code := ops("s_load_dword s0, s[2:3], 0x0", "ds_read_b32 v0, v1", "s_waitcnt lgkmcnt(1)", "s_waitcnt lgkmcnt(0)", "ds_read_b32 v0, v1", "ds_read_b32 v2, v1", "s_waitcnt lgkmcnt(1)")
	var p pending
	p.issue(&code[0], producer{row: 0, class: code[0].class})
	p.issue(&code[1], producer{row: 1, class: code[1].class})
	for _, c := range []struct {
		row  int
		rows []int32
		sure bool
	}{{2, []int32{0, 1}, false}, {3, []int32{0, 1}, true}} {
		var got []int32
		p.retire(&code[c.row], func(_ int, pr producer, sure bool) {
			got = append(got, pr.row)
			if sure != c.sure {
				t.Errorf("row %d: producer %d sure: %v", c.row, pr.row, sure)
			}
		})
		if len(got) != len(c.rows) {
			t.Errorf("row %d waits for %v, want %v", c.row, got, c.rows)
		}
	}
	// Nothing out of order is outstanding any more: in order again.
	p.issue(&code[4], producer{row: 4, class: code[4].class})
	p.issue(&code[5], producer{row: 5, class: code[5].class})
	var got []int32
	p.retire(&code[6], func(_ int, pr producer, _ bool) { got = append(got, pr.row) })
	if len(got) != 1 || got[0] != 4 {
		t.Errorf("the last wait is for %v, want the older read alone", got)
	}
}

// TestWaitedFor: synchronisation is no traffic.
func TestWaitedFor(t *testing.T) {
	for _, c := range []struct {
		text  string
		polls bool
		want  WaitClass
	}{
		{"global_load_dword v1, v0, s[0:1] sc1", false, VMEM},
		{"global_load_dword v1, v0, s[0:1] sc1", true, Poll},
		{"buffer_wbl2 sc1", false, Fence},
		{"buffer_inv sc1", false, Fence},
		{"buffer_inv sc1", true, Poll},
		{"global_atomic_add v10, v11, v12, s[2:3] sc0", false, Atomic},
		{"global_atomic_add_f32 v11, v12, s[2:3]", false, Store},
		{"flat_atomic_add v1, v[2:3], v4", false, Store},
		{"v_mov_b32_e32 v0, v1", true, Nothing},
	} {
		in := isa.Parse(c.text, "gfx942")
		if got := waitedFor(&in, c.polls); got != c.want {
			t.Errorf("%s (polls %t): %d, want %d", c.text, c.polls, got, c.want)
		}
	}
}
