package ingest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBestRuns(t *testing.T) {
	names := []string{
		"a/1_kernel_stats.csv", "a/1_kernel_trace.csv", "a/1_results.db", "a/1_results.json", "a/2_kernel_stats.csv", "a/2_results.json",
		"b/1_kernel_trace.csv", "kernel_trace.csv", "results.json", "code.hsaco", "out.db",
	}
	kept, repeated := bestRuns(names)
	if diff := cmp.Diff([]string{"a/1_results.db", "a/2_results.json", "b/1_kernel_trace.csv", "kernel_trace.csv", "code.hsaco", "out.db"}, kept); diff != "" {
		t.Error(diff)
	}
	if len(repeated) != 5 {
		t.Errorf("%v", repeated)
	}
}

// The databases of a job, named or in a tree, each once; kernels and counters
// see the same.
func TestDatabases(t *testing.T) {
	const fixtures = "../../fixtures/rocpd"
	tr, err := Open(t.Context(), []string{fixtures + "/train", fixtures + "/train/70011_results.db"}, Options{Runs: true})
	if err != nil || len(tr.Runs) != 2 || tr.Damaged() {
		t.Fatalf("%+v, %v", tr, err)
	}
	tr, err = Open(t.Context(), []string{fixtures}, Options{Kernels: true, Counters: true})
	if err != nil || len(tr.LaunchTables) != 5 || len(tr.CounterRuns) != 1 || len(tr.CounterRuns[0].Sources) != 1 {
		t.Fatalf("%d launch tables, %d counter runs, %v", len(tr.LaunchTables), len(tr.CounterRuns), err)
	}
	lt := tr.LaunchTables[0] // counters.db: four equal launches
	if lt.Kind != "rocpd" || !lt.LDSDispatched || lt.Rows != 4 || len(lt.Launches) != 1 || lt.Launches[0].TotalNs != 4*21000+600 || lt.Launches[0].AgentID != "Agent 2" {
		t.Errorf("%+v", lt)
	}
	_, err = Query(t.Context(), fixtures+"/gemm.db", "SELECT nonsense", 0)
	if err == nil || !strings.Contains(err.Error(), "no such column: nonsense") {
		t.Error(err)
	}
	var pe *PathError
	if _, err := Query(t.Context(), "runs.go", "SELECT 1", 0); !errors.As(err, &pe) || !strings.Contains(pe.Problem, "not an SQLite database") {
		t.Error(err)
	}
}
