package rocpd

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// sharedData is where the real and generated databases lie.
const sharedData = "../../../../shared/data/rocpd"

// sharedFiles lists databases of that folder; the test is skipped when it is
// not there.
func sharedFiles(t *testing.T, pattern string) []string {
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

func fileOf(path string) File {
	return File{FS: os.DirFS(filepath.Dir(path)), Name: filepath.Base(path), Shown: path}
}

// Rows that are decoded from pages are those that SQLite gives, for every
// table that is read that way.
func TestPagesEqualSQL(t *testing.T) {
	var paths []string
	for _, p := range []string{"*.db", "variants/*.db", "real/*.db", "edge/*.db"} {
		paths = append(paths, sharedFiles(t, p)...)
	}
	compared := 0
	for _, path := range paths {
		f := fileOf(path)
		s, err := f.sql()
		if err != nil {
			continue // no database
		}
		sch, err := s.schema(t.Context())
		if err != nil {
			t.Logf("%s: %v", path, err)
		} else {
			for _, set := range sch.sets {
				for _, name := range []string{dispatchTable, "rocpd_memory_copy", "rocpd_pmc_event", "rocpd_timestamp"} {
					if table := set.tables[name]; table != nil {
						compareTable(t, f, table)
						compared++
					}
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if compared < 90 {
		t.Errorf("only %d tables were compared", compared)
	}
}

func compareTable(t *testing.T, f File, tab *table) {
	t.Helper()
	read := func(tab *table) (rows [][]int64) {
		var parts []*[][]int64
		rep, err := f.scan(t.Context(), tab, tab.columns, 3, func() sink {
			part := new([][]int64)
			parts = append(parts, part)
			return func(row []int64) { *part = append(*part, slices.Clone(row)) }
		})
		for _, p := range parts {
			rows = append(rows, *p...)
		}
		if err != nil || rep.lost > 0 || int(rep.rows) != len(rows) {
			t.Fatalf("%s: %s: %v, lost %d: %v; %d rows of %d", f.Shown, tab.name, err, rep.lost, rep.first, len(rows), rep.rows)
		}
		return rows
	}
	viaSQL := *tab
	viaSQL.root = 0
	if tab.root == 0 {
		t.Fatalf("%s: %s is not ordinary", f.Shown, tab.name)
	}
	a, b := read(tab), read(&viaSQL)
	if !slices.EqualFunc(a, b, slices.Equal) {
		t.Errorf("%s: %s: pages and SQL differ (%d and %d rows)", f.Shown, tab.name, len(a), len(b))
	}
}

