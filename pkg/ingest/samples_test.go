package ingest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

func sampledOf(t *testing.T, paths ...string) *trace.Trace {
	t.Helper()
	tr, err := Open(t.Context(), paths, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tr.Close() })
	return tr
}

// The kernel trace of the same run names the kernels of samples, also where the
// table of samples alone is given; its samples count once although a
// results.json repeats them.
func TestSamplesOfARun(t *testing.T) {
	dir := "../../fixtures/pcs/"
	table := dir + "stochastic/7_pc_sampling_stochastic.csv"
	for _, path := range []string{table, dir + "stochastic"} {
		tr := sampledOf(t, path)
		if len(tr.SampleRuns) != 1 || tr.SampleRuns[0].Samples != 306 || tr.SampleRuns[0].Undecoded != 6 {
			t.Fatalf("%s: %+v", path, tr.SampleRuns)
		}
		if k := tr.SampleRuns[0].Kernels[0]; k.Name != "gemm_bf16_64x64x64" || k.Samples != 300 || k.Grid == nil || len(tr.SampleRuns[0].Agents) == 0 {
			t.Errorf("%s: %+v", path, k)
		}
	}
	both := write(t, map[string]string{
		"7_pc_sampling_stochastic.csv": fixture(t, "pcs/stochastic/7_pc_sampling_stochastic.csv"), "7_results.json": fixture(t, "pcs/results/9_results.json"),
	})
	if tr := sampledOf(t, both); len(tr.SampleRuns) != 1 || tr.SampleRuns[0].Samples != 306 {
		t.Errorf("a table and a results.json of one run: %+v", tr.SampleRuns)
	}
	if tr := sampledOf(t, filepath.Join(both, "7_results.json")); len(tr.SampleRuns) != 1 || tr.SampleRuns[0].Samples != 62 {
		t.Errorf("the results.json that was named: %+v", tr.SampleRuns)
	}
}

// A results.json without dispatches names kernels by their code objects; what
// nothing names is said.
func TestSamplesWithoutDispatches(t *testing.T) {
	tr := sampledOf(t, "../../fixtures/pcs/results")
	r := tr.SampleRuns[0]
	if r.Samples != 62 || r.Undecoded != 2 || len(r.Kernels) != 2 || r.Kernels[0].Symbol != "gemm_bf16_64x64x64" || r.Kernels[0].Insts[0].NotIssued["waitcnt"]+r.Kernels[0].Insts[0].Issued == 0 {
		t.Errorf("%+v", r.Kernels)
	}
	tr = sampledOf(t, "../../fixtures/pcs/host_trap")
	if len(tr.Notes) == 0 || !strings.Contains(tr.Notes[len(tr.Notes)-1].Text, "--kernel-trace") {
		t.Errorf("notes %v", tr.Notes)
	}
}
