package rocpd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// elderDispatch is what a row of an elder database says.
type elderDispatch struct {
	kernel                     string
	agent, queue, start, nanos int64
	workgroup, grid, lds       int64
}

func openElder(t *testing.T, path, kind string) (*trace.Run, []elderDispatch, []string) {
	t.Helper()
	db, err := Open(t.Context(), File{FS: os.DirFS(filepath.Dir(path)), Name: filepath.Base(path), Shown: path})
	if err != nil {
		t.Fatal(err)
	}
	if len(db.Runs) != 1 || db.Runs[0].Kind != kind {
		t.Fatalf("runs %+v, want one of %s", db.Runs, kind)
	}
	r := db.Runs[0]
	names := map[int64]string{}
	for _, k := range r.Kernels {
		names[k.ID] = k.Name
	}
	all, rep := collected(t, r, 2)
	if rep.Rows != int64(len(all)) || len(rep.Notes) > 0 {
		t.Errorf("report %+v of %d dispatches", rep, len(all))
	}
	var out []elderDispatch
	for i := range all {
		d := &all[i]
		ns, _ := d.DurationNs()
		out = append(out, elderDispatch{names[d.Kernel], d.Agent, d.Queue, d.Start, ns, d.Workgroup[0], d.Grid[0], d.LDSBytes})
	}
	var notes []string
	for _, n := range db.Notes {
		notes = append(notes, n.Text)
	}
	return r, out, notes
}

// TestElders reads databases of older profilers: kernels count, all else is
// said.
func TestElders(t *testing.T) {
	const none = trace.Absent
	for _, c := range []struct {
		file, kind string
		want       []elderDispatch
		notes      string
	}{
		{"trace.rpd", "rpd", []elderDispatch{
			{"gemm_bf16_64x64x64", 2, 0, 2000000, 6000, none, none, none},
			{"gemm_bf16_64x64x64", 2, 0, 2010000, 6200, none, none, none},
			{"scaled_relu_rows", 2, 1, 2012000, 1800, none, none, none},
			{"gemm_bf16_64x64x64", 3, 0, 2000000, 5800, none, none, none},
		}, "UserMarker operations are not kernels and are left out: 1 call, 2000000 ns\n" +
			"barriers and markers are not kernels and are left out: 1 call, 0 ns\ncopies are not kernels and are left out: 1 call, 500000 ns"},
		{"ops.db", "rocprof_db", []elderDispatch{
			{"gemm_bf16_64x64x64", 0, 0, 2000000, 6000, none, none, none},
			{"gemm_bf16_64x64x64", 0, 0, 2010000, 6200, none, none, none},
		}, "barriers and markers are not kernels and are left out: 1 call, 500 ns"},
		{"kern.db", "rocprof_db", []elderDispatch{
			{"gemm_bf16_64x64x64", 1, 0, 2000000, 6000, 256, 65536, 32768},
			{"scaled_relu_rows(float*, int)", 1, 0, 2010000, 1800, 64, 4096, 0},
			{"gemm_bf16_64x64x64", 1, 0, 2020000, 6200, 256, 65536, 32768},
		}, ""},
	} {
		r, got, notes := openElder(t, filepath.Join(fixtures, "elder", c.file), c.kind)
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(elderDispatch{})); diff != "" {
			t.Errorf("%s: %s", c.file, diff)
		}
		if strings.Join(notes, "\n") != c.notes {
			t.Errorf("%s: notes %q", c.file, notes)
		}
		if c.file == "kern.db" && (*r.Kernels[1].VGPRs != 12 || *r.Kernels[1].AccumVGPRs != 4 || *r.Kernels[1].SGPRs != 32) {
			t.Errorf("registers %+v", r.Kernels[1])
		}
	}
}

// TestElderColumns: tables of old releases lack columns, and KERN has no rows
// where only operations were traced.
func TestElderColumns(t *testing.T) {
	_, got, _ := openElder(t, newDB(t,
		`CREATE TABLE KERN ("Index" INTEGER, KernelName TEXT, BeginNs INTEGER, EndNs INTEGER);
		CREATE TABLE OPS (BeginNs INTEGER, EndNs INTEGER, Name TEXT);
		INSERT INTO OPS VALUES (10, 30, 'k.kd'), (NULL, 40, 'k.kd'), (50, 60, NULL), ('x', 70, 'k.kd');`), "rocprof_db")
	if len(got) != 3 || got[0].nanos != 20 || got[1].nanos != 0 || got[0].kernel != "k" || got[0].agent != trace.Absent {
		t.Errorf("%+v", got)
	}
	for _, bad := range []string{
		`CREATE TABLE KERN ("Index" INTEGER, KernelName TEXT)`,
		`CREATE TABLE rocpd_op (id INTEGER, name TEXT)`,
		`CREATE VIEW OPS AS SELECT 1 AS BeginNs, 2 AS EndNs, 'k' AS Name`,
	} {
		path := newDB(t, bad)
		if _, err := Open(t.Context(), File{FS: os.DirFS(filepath.Dir(path)), Name: filepath.Base(path), Shown: path}); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}
