package rocpd

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Prefixes of the tables that a table set begins with.
const (
	metadataTable = "rocpd_metadata"
	dispatchTable = "rocpd_kernel_dispatch"
)

// table is a table of the file, or a view in its place.
type table struct {
	name string
	// root is the page where its b-tree begins; 0 where the rows have to be
	// read with SQL.
	root    uint32
	columns []string
	// rowid is the position of the INTEGER PRIMARY KEY, -1 for none.
	rowid int
}

// has reports whether there is such a column; a table that is not there has
// none.
func (t *table) has(column string) bool { return t != nil && slices.Contains(t.columns, column) }

// quote makes a name an SQL identifier.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// selects is a SELECT of columns, NULL for those that the table lacks.
func (t *table) selects(columns ...string) string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = quote(c)
		if !t.has(c) {
			out[i] = "NULL AS " + quote(c)
		}
	}
	return "SELECT " + strings.Join(out, ", ") + " FROM " + quote(t.name)
}

// tableSet is the tables of one process, by their names without the suffix.
type tableSet struct {
	suffix string
	tables map[string]*table
}

// master is a row of sqlite_master.
type master struct {
	Type string `db:"type"`
	Name string `db:"name"`
	Root int64  `db:"rootpage"`
	SQL  string `db:"sql"`
}

// maxTables bounds the tables and views of one file.
const maxTables = 100_000

// schema is what a file holds.
type schema struct {
	objects map[string]master // tables and views by name
	sets    []*tableSet       // sorted by suffix
}

// has reports whether the file has such a table.
func (s *schema) has(name string) bool { return s.objects[name].Type == "table" }

// schema lists the tables, and sorts those of rocpd into sets.
func (s *session) schema(ctx context.Context) (*schema, error) {
	var rows []master
	const q = `SELECT type, name, rootpage, coalesce(sql, '') AS sql FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name LIMIT ?`
	if err := s.db.SelectContext(ctx, &rows, q, maxTables); err != nil {
		return nil, err
	}
	out := &schema{objects: map[string]master{}}
	for _, r := range rows {
		out.objects[r.Name] = r
	}
	for _, suffix := range out.suffixes(rows) {
		set := &tableSet{suffix: suffix, tables: map[string]*table{}}
		for _, r := range rows {
			base, ok := strings.CutSuffix(r.Name, suffix)
			if !ok || !known[base] {
				continue
			}
			t, err := s.table(ctx, r)
			if err != nil {
				return nil, err
			}
			set.tables[base] = t
		}
		out.sets = append(out.sets, set)
	}
	return out, nil
}

// known are the tables that are read, by their names without the suffix.
var known = map[string]bool{
	metadataTable: true, dispatchTable: true, "rocpd_string": true, "rocpd_info_node": true, "rocpd_info_process": true,
	"rocpd_info_agent": true, "rocpd_info_kernel_symbol": true, "rocpd_info_pmc": true, "rocpd_pmc_event": true,
	"rocpd_memory_copy": true, "rocpd_track": true, "rocpd_timestamp": true, "rocpd_info_queue": true, "rocpd_info_stream": true,
	sampleTable: true, // only counted
}

// suffixes are those of the metadata tables. A file without any, which
// somebody put together by hand, is sorted by its dispatch tables.
func (s *schema) suffixes(rows []master) []string {
	for _, prefix := range []string{metadataTable, dispatchTable} {
		var out []string
		for _, r := range rows {
			suffix, ok := strings.CutPrefix(r.Name, prefix)
			if ok && s.has(r.Name) && (suffix == "" || suffix[0] == '_') {
				out = append(out, suffix)
			}
		}
		if len(out) > 0 {
			slices.Sort(out)
			return out
		}
	}
	return nil
}

// table describes one table.
func (s *session) table(ctx context.Context, m master) (*table, error) {
	var columns []struct {
		Name string `db:"name"`
		Type string `db:"type"`
		PK   int    `db:"pk"`
		// Hidden is 2 or 3 for generated columns, which may not be stored.
		Hidden int `db:"hidden"`
	}
	if err := s.db.SelectContext(ctx, &columns, `SELECT name, type, pk, hidden FROM pragma_table_xinfo(?)`, m.Name); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	t := &table{name: m.Name, rowid: -1}
	keys, generated := 0, false
	for i, c := range columns {
		t.columns = append(t.columns, c.Name)
		generated = generated || c.Hidden != 0
		if c.PK > 0 {
			keys++
			t.rowid = i
		}
	}
	if keys != 1 || !strings.EqualFold(columns[t.rowid].Type, "INTEGER") {
		t.rowid = -1
	}
	ordinary := m.Type == "table" && !generated && !strings.Contains(strings.ToUpper(m.SQL), "WITHOUT")
	if ordinary && m.Root > 0 && m.Root <= maxPage {
		t.root = uint32(m.Root)
	}
	return t, nil
}

// maxPage is the largest page number. Source: SQLite "Limits".
const maxPage = 1<<32 - 2
