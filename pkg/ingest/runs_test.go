package ingest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

func TestRepeats(t *testing.T) {
	names := []string{
		"a/1_kernel_stats.csv", "a/1_kernel_trace.csv", "a/1_results.db", "a/1_results.json", "a/2_kernel_stats.csv", "a/2_results.json",
		"b/1_kernel_trace.csv", "kernel_trace.csv", "results.json", "code.hsaco", "out.db",
	}
	var kept []string
	repeated := repeats(names)
	for _, n := range names {
		if !repeated[n] {
			kept = append(kept, n)
		}
	}
	if diff := cmp.Diff([]string{"a/1_results.db", "a/2_results.json", "b/1_kernel_trace.csv", "kernel_trace.csv", "code.hsaco", "out.db"}, kept); diff != "" {
		t.Error(diff)
	}
}

// The databases of a job, named or in a tree, each once: gemm41.db is gemm.db in
// another schema, and elder/ has three of older profilers. Kernels and counters
// see the same.
func TestDatabases(t *testing.T) {
	const fixtures = "../../fixtures/rocpd"
	tr, err := Open(t.Context(), []string{fixtures + "/train", fixtures + "/train/70011_results.db"}, Options{Only: trace.Dispatches})
	if err != nil || len(tr.Runs) != 2 || tr.Damaged() {
		t.Fatalf("%+v, %v", tr, err)
	}
	tr, err = Open(t.Context(), []string{fixtures}, Options{})
	if err != nil || len(tr.Runs) != 7 || len(tr.CounterRuns) != 1 || len(tr.CounterRuns[0].Sources) != 1 {
		t.Fatalf("%d runs, %d counter runs, %v", len(tr.Runs), len(tr.CounterRuns), err)
	}
	_, err = Query(t.Context(), nil, fixtures+"/gemm.db", "SELECT nonsense", 0)
	if err == nil || !strings.Contains(err.Error(), "no such column: nonsense") {
		t.Error(err)
	}
	var pe *PathError
	if _, err := Query(t.Context(), nil, "runs.go", "SELECT 1", 0); !errors.As(err, &pe) || !strings.Contains(pe.Problem, "not an SQLite database") {
		t.Error(err)
	}
}
