package csvtable

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

func open(t *testing.T, text string) *Table {
	t.Helper()
	table, err := Open(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestCellsByName(t *testing.T) {
	table := open(t, "\uFEFF\"Kernel_Name\",grid size_x,Grid_Size_Y,Grid_Size_Z,wgr,Time\n\"a,\"\"b\"\"\nc\", 8 ,2,1,256,1.5e2\nk,1,1,x,-3,1.5\n")
	if !table.Next() || table.Row() != 1 {
		t.Fatal("no first row")
	}
	if got := table.Cell("kernelname"); got != "a,\"b\"\nc" {
		t.Errorf("name %q", got)
	}
	if got := table.Extents("gridsize"); got == nil || *got != [3]int64{8, 2, 1} {
		t.Errorf("grid %v", got)
	}
	if got := table.Extents("nosuch", "wgr"); got == nil || *got != [3]int64{256, 1, 1} {
		t.Errorf("workgroup %v", got)
	}
	if got := table.Int("time"); got == nil || *got != 150 {
		t.Errorf("1.5e2 is %v", got)
	}
	if table.Column("nosuch", "time") != "time" || table.Column("nosuch") != "" || table.Cell("nosuch") != "" || table.Int("nosuch") != nil {
		t.Error("columns that are not there are found")
	}
	if !table.Next() || table.Extents("gridsize") != nil || table.Int("wgr") != nil || table.Int("time") != nil {
		t.Error("a letter, a negative number or a fraction was taken for a count")
	}
	if table.Next() || len(table.Notes("f")) != 0 {
		t.Errorf("more rows, or notes: %v", table.Notes("f"))
	}
}

func TestBadRowsAreCounted(t *testing.T) {
	table := open(t, "a,b\n1,2\n3\n4,5,6\n7,8\n")
	var rows []string
	for table.Next() {
		rows = append(rows, table.Cell("a"))
	}
	if strings.Join(rows, " ") != "1 7" {
		t.Errorf("rows %v", rows)
	}
	notes := table.Notes("f.csv")
	if len(notes) != 1 || notes[0].Level != trace.Damage || notes[0].Where() != "f.csv: row 2" || !strings.HasPrefix(notes[0].Text, "2 rows") {
		t.Errorf("notes %+v", notes)
	}
}

// TestRowTooLong: a quote that is never closed does not take in the file.
func TestRowTooLong(t *testing.T) {
	table := open(t, "a,b\n1,2\n\""+strings.Repeat("x\n", MaxRecord/2+1<<12))
	n := 0
	for table.Next() {
		n++
	}
	notes := table.Notes("f")
	if n != 1 || len(notes) != 1 || notes[0].Where() != "f: row 2" || !strings.Contains(notes[0].Text, "longer than 16 MiB") {
		t.Errorf("%d rows, notes %+v", n, notes)
	}
}

// FuzzTable compares with encoding/csv, which ends lines inside of quotes with
// a bare line feed and passes over empty rows only.
func FuzzTable(f *testing.F) {
	f.Add("a,b\n1,2\n")
	f.Add("\"a\",b\r\n\"x\ny\",2\r\n3\n")
	f.Add("a,b\n\"1\"\"\",2\n1\"x,2\n3,4\n\"5\"x,\"\n6\"\n\"7\n,8\",9\n\"")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		plain := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\uFEFF")))
		plain.FieldsPerRecord = -1
		next := func() []string {
			for {
				row, err := plain.Read()
				if err == io.EOF {
					return nil
				}
				if err == nil && len(row) == 1 && row[0] != "" && strings.TrimSpace(row[0]) == "" {
					t.Skip("white space, quoted or not: encoding/csv does not tell")
				}
				if err == nil {
					return row
				}
				var syntax *csv.ParseError
				if err != nil && !errors.As(err, &syntax) {
					t.Fatal(err)
				}
			}
		}
		table, err := Open(strings.NewReader(text))
		if err != nil {
			return
		}
		width := len(next())
		for {
			want := next()
			for want != nil && len(want) != width {
				want = next()
			}
			if got := table.Next(); got != (want != nil) {
				t.Fatalf("a row: %v, want %q", got, want)
			}
			if want == nil {
				return
			}
			for i, cell := range table.row {
				if got := strings.ReplaceAll(string(cell), "\r\n", "\n"); got != strings.ReplaceAll(want[i], "\r\n", "\n") {
					t.Fatalf("cell %q, want %q", got, want[i])
				}
			}
		}
	})
}

func TestNumber(t *testing.T) {
	for cell, want := range map[string]bool{"": true, " 12 ": true, "-1": true, "1e400": true, "nan": true, "-nan": true, "N/A": true, "abc": false, "12 ns": false, "0x": false} {
		if got := Number([]byte(cell)); got != want {
			t.Errorf("%q: %v", cell, got)
		}
	}
}
