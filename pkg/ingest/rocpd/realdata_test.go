package rocpd

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
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
						compareTable(t, s, path, table)
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

func compareTable(t *testing.T, db *session, shown string, tab *table) {
	t.Helper()
	read := func(tab *table) (rows [][]int64) {
		var parts []*[][]int64
		want := slices.Clone(tab.columns)
		if i := slices.Index(want, "value"); i >= 0 && strings.HasPrefix(tab.name, "rocpd_pmc_event") {
			want[i] = realColumn
		}
		rep, err := db.scan(t.Context(), tab, want, 3, func() sink {
			part := new([][]int64)
			parts = append(parts, part)
			return func(row []int64) { *part = append(*part, slices.Clone(row)) }
		})
		for _, p := range parts {
			rows = append(rows, *p...)
		}
		if err != nil || rep.lost > 0 || int(rep.rows) != len(rows) {
			t.Fatalf("%s: %s: %v, lost %d: %v; %d rows of %d", shown, tab.name, err, rep.lost, rep.first, len(rows), rep.rows)
		}
		return rows
	}
	viaSQL := *tab
	viaSQL.root = 0
	if tab.root == 0 {
		t.Fatalf("%s: %s is not ordinary", shown, tab.name)
	}
	a, b := read(tab), read(&viaSQL)
	if !slices.EqualFunc(a, b, slices.Equal) {
		t.Errorf("%s: %s: pages and SQL differ (%d and %d rows)", shown, tab.name, len(a), len(b))
	}
}

// Real MI300X counters: the sums that plain SQL gives, 16384 waves for the
// 1048576 work-items of the vector copy, once per dispatch that counted them.
func TestRealCounters(t *testing.T) {
	for _, path := range append(sharedFiles(t, "real/*pmc.db"), sharedFiles(t, "*.db")...) {
		f := fileOf(path)
		got := map[string]float64{}
		rows := int64(0)
		for _, c := range countersOf(t, openDB(t, f), "") {
			rep, err := c.Fold(t.Context(), 1, func() trace.CounterFolder {
				return counterFunc(func(d *trace.CounterDispatch) {
					for _, v := range d.Values {
						got[v.Counter] += v.Value
						if v.Counter == "SQ_WAVES" && strings.Contains(path, "vcopy") && (v.Value <= 0 || d.Grid != 1048576) {
							t.Errorf("%s: %v waves of %d work-items", path, v.Value, d.Grid)
						}
					}
				})
			})
			if err != nil || rep.Bad > 0 || rep.Empty {
				t.Fatalf("%s: %v, %+v", path, err, rep)
			}
			rows += rep.Rows
		}
		res, err := Query(t.Context(), f, `SELECT p.name, sum(e.value), count(*) FROM rocpd_pmc_event e JOIN rocpd_info_pmc p ON p.id = e.pmc_id AND p.guid = e.guid GROUP BY 1`, 0)
		if err != nil {
			t.Fatal(err)
		}
		want, wantRows := map[string]float64{}, int64(0)
		for _, r := range res.Rows {
			want[r[0].(string)] = r[1].(float64)
			wantRows += r[2].(int64)
		}
		if rows != wantRows || len(got) != len(want) || len(want) == 0 {
			t.Errorf("%s: %d rows of %d counters, want %d of %d", path, rows, len(got), wantRows, len(want))
		}
		for name, w := range want {
			if math.Abs(got[name]-w) > 1e-9*math.Abs(w) {
				t.Errorf("%s: %s is %v, want %v", path, name, got[name], w)
			}
		}
	}
}

// Rows of a streaming monitor, 20 of them in each schema that has their
// column, are no counters.
func TestNoMonitorSamples(t *testing.T) {
	for _, path := range sharedFiles(t, "variants/*.db") {
		sets := countersOf(t, openDB(t, fileOf(path)), "")
		if len(sets) != 1 {
			t.Fatal(len(sets))
		}
		rep, err := sets[0].Fold(t.Context(), 1, func() trace.CounterFolder { return counterFunc(func(*trace.CounterDispatch) {}) })
		if err != nil || rep.Rows != 1272 {
			t.Errorf("%s: %d rows, %v; want 1272", path, rep.Rows, err)
		}
	}
}
