package report

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestCSVFields(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{nil, ""},
		{"", `""`},
		{"plain text", "plain text"},
		{"a,b", `"a,b"`},
		{`a"b`, `"a""b"`},
		{"a;b", `"a;b"`},
		{" a", `" a"`},
		{"a\nb\tc", `a\nb\tc`},
		{"\x1b[31m", `\x1b[31m`},
		{"=1+1", "'=1+1"},
		{"+cmd|x", "'+cmd|x"},
		{"-2+3", "'-2+3"},
		{"@SUM(A1)", "'@SUM(A1)"},
		{" =1", "' =1"},
		{"＝1", "'＝1"},
		{"\t=1", `\t=1`},
		{"-", "'-"},
		{"-Inf", "'-Inf"},
		{"-12", "-12"},
		{"+1.5e3", "+1.5e3"},
		{"1=2", "1=2"},
		{int64(-3), "-3"},
		{7, "7"},
		{int32(-7), "-7"},
		{uint32(7), "7"},
		{uint64(math.MaxUint64), "18446744073709551615"},
		{45.234567, "45.234567"},
		{31.0, "31"},
		{1e21, "1000000000000000000000"},
		{1e-7, "0.0000001"},
	} {
		if got := csvField(c.value); got != c.want {
			t.Errorf("csvField(%#v) = %q, want %q", c.value, got, c.want)
		}
	}
}

func TestCSVUnknownTable(t *testing.T) {
	for _, c := range []struct {
		doc  Document
		want string
	}{
		{sample(), `no table "x": use one of hotspots`},
		{Document{}, `no table "x": there are no tables here`},
	} {
		var b strings.Builder
		if err := CSV(&b, c.doc, "x"); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// Whatever the strings, a standard reader gets as many records and fields as the table has, and nothing unprintable.
func TestCSVReadsBack(t *testing.T) {
	for seed := range uint64(200) {
		g := generator{rand.New(rand.NewPCG(seed, 3))}
		table, _ := g.table(0)
		table.ID = "t"
		var b strings.Builder
		if err := CSV(&b, Document{[]Section{{Items: []Item{table}}}}, "t"); err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
		if err != nil {
			t.Fatalf("seed %d: %v in\n%s", seed, err, b.String())
		}
		if len(records) != 1+len(table.Rows) {
			t.Errorf("seed %d: %d records for %d rows", seed, len(records), len(table.Rows))
		}
		for i, row := range table.Rows {
			for j, cell := range row {
				want, ok := cell.Value.(string)
				if want = Escape(want); ok && strings.TrimPrefix(records[i+1][j], "'") != want {
					t.Errorf("seed %d: row %d: %q, want %q", seed, i, records[i+1][j], want)
				}
			}
		}
		if lines := strings.Split(b.String(), "\n"); slices.ContainsFunc(lines, func(l string) bool { return Escape(l) != l }) {
			t.Errorf("seed %d: unprintable characters in %q", seed, lines)
		}
	}
}
