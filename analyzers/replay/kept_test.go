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
		r.kept = nil
		if again := stallsOf(t, r); !slices.Equal(kept, again) {
			t.Errorf("%s: %d stalls were kept, %d are read again, or they differ", tr.ThreadTraces[i].Path, len(kept), len(again))
		}
	}
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
