package csvtable

import (
	"strings"
	"testing"
)

// TestUnquotedNames: commas that nothing quotes belong to the name, whatever
// stands on either side of it.
func TestUnquotedNames(t *testing.T) {
	for _, c := range []struct{ row, want string }{
		{"0,f,4,5", "f"},
		{"0,f<int, 2>(a, b),4,5", "f<int, 2>(a, b)"},
		{`0,"f<int, 2>",4,5`, "f<int, 2>"},
		{"Agent 2,f(a, b),4,0x7f00", "f(a, b)"},
		{"0,f(a, b),(64,1", ""}, // a comma of another column
		{`0,"f<a",b>,4,5`, ""},  // quoted in part
		{"0,f,4", ""},
	} {
		table := open(t, "Index,Name,Calls,obj\n"+c.row+"\n")
		table.Named("name")
		got := ""
		if table.Next() {
			got = table.Cell("name")
			if last := c.row[strings.LastIndexByte(c.row, ',')+1:]; table.Cell("obj") != last {
				t.Errorf("%s: the last cell is %q", c.row, table.Cell("obj"))
			}
		}
		if got != c.want || (c.want == "") != (table.Bad() == 1) {
			t.Errorf("%s: name %q, want %q; %d rows left out", c.row, got, c.want, table.Bad())
		}
	}
	// Without such a column a row of too many cells is none.
	table := open(t, "Index,Name\n0,f(a, b)\n")
	if table.Next() || table.Bad() != 1 {
		t.Error("cells were joined without a column of names")
	}
}

// FuzzRejoin: what is left has the width, and the same bytes in the same order.
func FuzzRejoin(f *testing.F) {
	f.Add("0,f(a, b),1,2", 4, 1)
	f.Add(`"a",f(a, b),1`, 3, 1)
	f.Add("a,b,c", 1, 0)
	f.Fuzz(func(t *testing.T, row string, width, name int) {
		cells, ok := Split([]byte(row), nil)
		if !ok {
			return
		}
		before := len(cells)
		out, ok := Rejoin([]byte(row), cells, width, name)
		if !ok {
			if len(out) != before {
				t.Fatalf("%d cells of %d", len(out), before)
			}
			return
		}
		if len(out) != width {
			t.Fatalf("%d cells, want %d", len(out), width)
		}
		if rest := row[CellStart([]byte(row), name):]; !strings.HasPrefix(rest, string(out[name])) {
			t.Fatalf("the name is %q, the row goes on with %q", out[name], rest)
		}
	})
}
