package kernels

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// sharedData is where the real and generated databases lie.
const sharedData = "../../../shared/data/rocpd"

func shared(t *testing.T, pattern string) []string {
	t.Helper()
	if _, err := os.Stat(sharedData); err != nil {
		t.Skipf("no data folder: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(sharedData, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing matches %s: %v", pattern, err)
	}
	return files
}

func resultOf(t *testing.T, paths ...string) *Result {
	t.Helper()
	r, _ := readOf(t, paths...)
	return r
}

func readOf(t *testing.T, paths ...string) (*Result, *trace.Trace) {
	t.Helper()
	tr, err := ingest.Open(t.Context(), paths, ingest.Options{Only: trace.Dispatches})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2}, Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return Analyzer.Of(out), tr
}

// figures is a result as JSON without the names of its files.
func figures(t *testing.T, r *Result) string {
	t.Helper()
	for i := range r.Runs {
		r.Runs[i].Path, r.Runs[i].Set, r.Runs[i].Schema, r.Runs[i].Kind = "", "", "", ""
	}
	for i := range r.GPUs {
		r.GPUs[i].Run = ""
	}
	for i := range r.Copies {
		r.Copies[i].Run = ""
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every schema gives the same answer.
func TestRealVariants(t *testing.T) {
	want := figures(t, resultOf(t, shared(t, "variants/small_schema_3.db")...))
	for _, path := range shared(t, "variants/*.db") {
		if diff := cmp.Diff(want, figures(t, resultOf(t, path))); diff != "" {
			t.Errorf("%s differs from schema 3:\n%s", path, diff)
		}
	}
}

// A merged file is its parts given together.
func TestRealMerged(t *testing.T) {
	merged, parts := resultOf(t, shared(t, "multi.db")...), resultOf(t, shared(t, "multi.p?.db")...)
	if len(merged.Runs) != 2 || merged.Runs[0].PID == nil || *merged.Runs[0].PID != *parts.Runs[0].PID {
		t.Fatalf("%+v\n%+v", merged.Runs, parts.Runs)
	}
	if diff := cmp.Diff(figures(t, parts), figures(t, merged)); diff != "" {
		t.Error(diff)
	}
}

// Totals per kernel are those of SQL.
func TestRealTotals(t *testing.T) {
	for _, path := range append(shared(t, "real/*.db"), shared(t, "*.db")...) {
		q, err := ingest.Query(t.Context(), nil, path, `SELECT k.display_name, k.arch_vgpr_count, count(*), sum(d."end" - d.start), min(d."end" - d.start), max(d."end" - d.start)
FROM rocpd_kernel_dispatch d JOIN rocpd_info_kernel_symbol k ON k.id = d.kernel_id AND k.guid = d.guid
GROUP BY k.display_name, k.arch_vgpr_count, k.accum_vgpr_count, k.sgpr_count, k.group_segment_size`, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, row := range q.Rows {
			want[fmt.Sprintf("%v/%v", row[0], row[1])] += fmt.Sprint(row[2:])
		}
		got := map[string]string{}
		for _, k := range resultOf(t, path).Kernels {
			got[fmt.Sprintf("%s/%d", k.Name, *k.Registers.VGPRs)] += fmt.Sprint([]any{k.Calls, k.TotalNs, *k.MinNs, *k.MaxNs})
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

// The database, the kernel trace, the statistics and a tree of one run say the
// same.
func TestFixturesAgree(t *testing.T) {
	const fixtures = "../../fixtures"
	db := resultOf(t, fixtures+"/rocpd/gemm.db")
	csv := resultOf(t, fixtures+"/att/gemm/gemm_kernel_trace.csv")
	if len(db.Kernels) != 2 || len(csv.Kernels) != 2 || db.TotalNs != 35510 {
		t.Fatalf("%+v", db)
	}
	for i := range db.Kernels {
		a, b := db.Kernels[i], csv.Kernels[i]
		a.Agents[0].Host, a.Registers.StaticLDS, b.Registers.StaticLDS = "", nil, nil
		if diff := cmp.Diff(a, b); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff(db.GPUs[0].Gaps, csv.GPUs[0].Gaps); diff != "" || db.GPUs[0].BusyNs != 35510 || csv.GPUs[0].BusyNs != 35510 {
		t.Error(diff)
	}
	if diff := cmp.Diff(figures(t, resultOf(t, fixtures+"/rocpd/gemm.db")), figures(t, resultOf(t, fixtures+"/rocpd/gemm41.db"))); diff != "" {
		t.Error(diff)
	}
	tree, tr := readOf(t, fixtures+"/rocpd/train")
	if len(tree.Runs) != 2 || len(tree.GPUs) != 2 || len(tree.GPUs[0].Queues) != 2 || tree.GPUs[0].BusyNs >= tree.GPUs[0].KernelNs {
		t.Errorf("%+v", tree.GPUs)
	}
	if notes := lines(tr); !strings.Contains(notes, "70011_results.db: dispatches that are in no sum: 1 (no start or end time), 1 (ends before it starts), 1 (ends when it starts), 1 (longer than an hour)") {
		t.Error(notes)
	}
}

// A merged database holds the runs of its parts: together, and in the folder
// of all, they count once, whatever comes first.
func TestSameRuns(t *testing.T) {
	var files []string
	for _, name := range []string{"multi.db", "multi.p0.db", "multi.p1.db"} {
		files = append(files, shared(t, name)...)
	}
	want := resultOf(t, files[0])
	for _, order := range [][]int{{0, 1, 2}, {1, 0, 2}, {2, 1, 0}} {
		got, tr := readOf(t, files[order[0]], files[order[1]], files[order[2]])
		if got.TotalNs != want.TotalNs || got.Calls != want.Calls || len(got.Runs) != 2 {
			t.Errorf("%v: %d ns in %d calls of %d runs, want %d in %d of 2", order, got.TotalNs, got.Calls, len(got.Runs), want.TotalNs, want.Calls)
		}
		if n := strings.Count(lines(tr), "the same run as in"); n != 2 {
			t.Errorf("%v: said %d times:\n%s", order, n, lines(tr))
		}
	}
}
