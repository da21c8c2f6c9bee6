package rocpd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func ask(t *testing.T, path, query string) string {
	t.Helper()
	res, err := Query(t.Context(), fileOf(path), query, 0)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return fmt.Sprint(res.Columns, res.Rows)
}

// The un-suffixed names and the views work in both schemas.
func TestQuery(t *testing.T) {
	for _, name := range []string{"gemm.db", "gemm41.db"} {
		path := filepath.Join(fixtures, name)
		tests := []struct{ query, want string }{
			{`SELECT count(*), sum("end" - start), min(agent_id), max(queue_id) FROM rocpd_kernel_dispatch`, "[[7 35510 2 1]]"}, // the durations of the kernel trace
			{
				`SELECT name, count(*) AS n, sum(duration) AS ns, max(lds_size) FROM kernels GROUP BY name ORDER BY ns`,
				"[[__amd_rocclr_fillBufferAligned 2 4960 0] [gemm_bf16_64x64x64 5 30550 32768]]",
			},
			{`SELECT name, size, duration FROM memory_copies`, "[[MEMORY_COPY_HOST_TO_DEVICE 2097152 40000]]"},
			{`SELECT environment, command FROM rocpd_info_process`, "[[<nil> python train.py]]"},
			{`SELECT count(*) FROM counters_collection`, "[[0]]"},
			{`WITH x(a) AS (VALUES (1), (2)) SELECT sum(a) FROM x`, "[[3]]"},
		}
		for _, tt := range tests {
			if got := ask(t, path, tt.query); !strings.HasSuffix(got, tt.want) {
				t.Errorf("%s: %s: %s, want %s", name, tt.query, got, tt.want)
			}
		}
	}
	if got := ask(t, filepath.Join(fixtures, "counters.db"), `SELECT dispatch_id, value, instances FROM counters_collection WHERE counter_name = 'SQ_WAVES' AND dispatch_id < 3`); !strings.HasSuffix(got, "[[1 14592 8] [2 14592 8]]") {
		t.Error(got)
	}
	// Environments are not shown through the suffixed table either.
	suffixed := ask(t, filepath.Join(fixtures, "gemm.db"), `SELECT * FROM "rocpd_info_process_0190a1b2_0000_7000_8000_000000000001"`)
	if strings.Contains(suffixed, "SECRET") {
		t.Error(suffixed)
	}
	res, err := Query(t.Context(), fileOf(filepath.Join(fixtures, "gemm.db")), `SELECT id FROM kernels`, 3)
	if err != nil || len(res.Rows) != 3 || !res.More {
		t.Errorf("%+v, %v", res, err)
	}
}

// Two sets in one file: ids repeat, views hold both, sets may differ in their
// columns.
func TestQuerySets(t *testing.T) {
	second := strings.ReplaceAll(strings.Replace(least, "guid TEXT, agent_id", "agent_id", 1), "{{s}}", "_u2")
	path := newDB(t, least, second,
		`INSERT INTO rocpd_kernel_dispatch{{s}} VALUES (1, 'g', 2, 7, 1000, 1500)`, `INSERT INTO rocpd_kernel_dispatch_u2 VALUES (1, 3, 7, 1000, 1400)`)
	if got := ask(t, path, `SELECT guid, agent_id, "end" - start FROM rocpd_kernel_dispatch ORDER BY agent_id`); !strings.HasSuffix(got, "[[g 2 500] [<nil> 3 400]]") {
		t.Error(got)
	}
	runs := open(t, path)
	if len(runs) != 2 || runs[0].Set != "u1" || runs[1].Set != "u2" {
		t.Errorf("%+v", runs)
	}
}

func TestQueryRefuses(t *testing.T) {
	path := newDB(t, least, `INSERT INTO rocpd_kernel_dispatch{{s}} VALUES (1, 'g', 2, 7, 1000, 1500)`,
		`CREATE TABLE rocpd_info_kernel_symbol{{s}} (id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT)`)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "new.db")
	const reading = "only reading is allowed"
	tests := []struct{ query, want string }{
		{"DELETE FROM rocpd_kernel_dispatch_u1", reading},
		{"DELETE FROM rocpd_kernel_dispatch", reading},
		{"DROP TABLE rocpd_metadata_u1", reading},
		{"CREATE TABLE x (a)", reading},
		{"CREATE TEMP TABLE x (a)", reading},
		{"SELECT 1; DELETE FROM rocpd_metadata_u1", reading},
		{"ATTACH '" + elsewhere + "' AS x", reading},
		{"ATTACH 'file:" + elsewhere + "?vfs=unix' AS x", reading},
		{"VACUUM INTO 'file:" + elsewhere + "?vfs=unix'", reading},
		{"PRAGMA journal_mode = WAL", reading},
		{"PRAGMA writable_schema = ON", reading},
		{"BEGIN", reading},
		{"SELEC 1", "syntax error"},
		{"SELECT * FROM rocpd_info_agents", "the table is rocpd_info_agent"},
		{"SELECT KernelName FROM rocpd_info_kernel_symbol", "kernel_name (mangled)"},
		{"SELECT * FROM rocpd_kernel_dispach", "did you mean rocpd_kernel_dispatch?"},
		{"SELECT agent FROM rocpd_kernel_dispatch", "PRAGMA table_info"},
		{"SELECT * FROM elsewhere", "there are: rocpd_info_kernel_symbol, rocpd_kernel_dispatch, rocpd_metadata"},
		{
			`SELECT ks.KernelName, ki.arch_vgpr_count, ki.accum_vgpr_count, ki.sgpr_count, ki.lds_size FROM rocpd_kernel_dispatch kd
JOIN rocpd_info_kernel_symbol ks ON kd.kernel_symbol_id = ks.id JOIN rocpd_info_kernel ki ON kd.kernel_id = ki.id WHERE ks.KernelName LIKE '%target_kernel%' LIMIT 5`,
			"columns of rocpd_info_kernel_symbol, which rocpd_kernel_dispatch.kernel_id names; names are in kernel_name",
		},
	}
	for _, tt := range tests {
		_, err := Query(t.Context(), fileOf(path), tt.query, 0)
		var q *QueryError
		if !errors.As(err, &q) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.query, err, tt.want)
		}
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Errorf("the file changed, %v", err)
	}
	if _, err := os.Stat(elsewhere); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("another file was written: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("files were left beside: %v, %v", entries, err)
	}
}

func TestEdits(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "bc", 1}, {"kitten", "sitting", 3}, {"a", "abcdefgh", 3}} {
		if got := edits(tt.a, tt.b, 3); got != tt.want {
			t.Errorf("%q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
