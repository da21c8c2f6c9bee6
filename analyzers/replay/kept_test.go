package replay

import (
	"slices"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

// TestStallsReadAgain: a trace whose stalls were not kept hands over the same
// ones from its files.
func TestStallsReadAgain(t *testing.T) {
	tr, err := ingest.Open(t.Context(), []string{"../../fixtures/att/gemm", "../../fixtures/att/early"}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2}, Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	for i, tt := range tr.ThreadTraces {
		r := Analyzer.Of(out, tt)
		kept := stallsOf(t, r)
		if r.kept == nil || len(kept) == 0 {
			t.Fatalf("%s: nothing was kept", tr.ThreadTraces[i].Path)
		}
		var sets [][]StallRef
		for row := range tt.Code {
			sets = append(sets, []StallRef{{Row: row}, {Row: row, Drain: true}, {Row: (row + 1) % len(tt.Code)}})
		}
		bounds := unionsOf(t, r, sets, maxUnionPages)
		if fewer := unionsOf(t, r, sets, 5); !slices.Equal(bounds, fewer) || slices.Max(bounds) == 0 {
			t.Errorf("%s: in several passes the bounds are %v, in one %v", tt.Path, fewer, bounds)
		}
		r.kept = nil
		if again := unionsOf(t, r, sets, maxUnionPages); !slices.Equal(bounds, again) {
			t.Errorf("%s: bounds of kept stalls %v, of those read again %v", tt.Path, bounds, again)
		}
		if again := stallsOf(t, r); !slices.Equal(kept, again) {
			t.Errorf("%s: %d stalls were kept, %d are read again, or they differ", tr.ThreadTraces[i].Path, len(kept), len(again))
		}
	}
}

func unionsOf(t *testing.T, r *Replay, sets [][]StallRef, pages int) []int64 {
	t.Helper()
	out, err := r.unions(t.Context(), 2, false, sets, pages)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func stallsOf(t *testing.T, r *Replay) []string {
	t.Helper()
	var lists []*stallList
	err := r.Stalls(t.Context(), 2, func() StallFolder {
		lists = append(lists, &stallList{})
		return lists[len(lists)-1]
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, l := range lists {
		all = append(all, *l...)
	}
	slices.Sort(all)
	return all
}
