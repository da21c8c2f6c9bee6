package rocpd

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// fixtures is the folder of the project's own databases.
const fixtures = "../../../fixtures/rocpd"

// newDB makes a database from SQL. {{s}} is the suffix of its tables.
func newDB(t testing.TB, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out.db")
	db := writable(t, path)
	for _, s := range statements {
		if _, err := db.Exec(strings.ReplaceAll(s, "{{s}}", "_u1")); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func writable(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

// least is the least that makes a rocpd database.
const least = `CREATE TABLE rocpd_metadata{{s}} (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
INSERT INTO rocpd_metadata{{s}} VALUES (1, 'schema_version', '9.9');
CREATE TABLE rocpd_kernel_dispatch{{s}} (id INTEGER PRIMARY KEY, guid TEXT, agent_id INTEGER, kernel_id INTEGER, start BIGINT, "end" BIGINT);`

// collected are the dispatches of a run in the order of their parts.
func collected(t testing.TB, r *trace.Run, workers int) ([]trace.Dispatch, trace.DispatchReport) {
	t.Helper()
	var parts []*[]trace.Dispatch
	rep, err := r.Dispatches.Fold(t.Context(), workers, func() trace.DispatchFolder {
		part := new([]trace.Dispatch)
		parts = append(parts, part)
		return dispatchFunc(func(d *trace.Dispatch) { *part = append(*part, *d) })
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []trace.Dispatch
	for _, p := range parts {
		all = append(all, *p...)
	}
	return all, rep
}

func open(t testing.TB, path string) []*trace.Run {
	t.Helper()
	return openDB(t, fileOf(path)).Runs
}

// openDB opens a database until the end of the test.
func openDB(t testing.TB, f File) *DB {
	t.Helper()
	db, err := Open(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// countersOf gives the counters of all runs of a database.
func countersOf(t testing.TB, db *DB, pass string) []*Counters {
	t.Helper()
	var out []*Counters
	for _, r := range db.Runs {
		c, err := db.Counters(t.Context(), r, pass)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

func fileOf(path string) File {
	return File{FS: os.DirFS(filepath.Dir(path)), Name: filepath.Base(path), Shown: path}
}

// counterFunc is a function as a trace.CounterFolder.
type counterFunc func(d *trace.CounterDispatch)

func (f counterFunc) Dispatch(d *trace.CounterDispatch) { f(d) }
