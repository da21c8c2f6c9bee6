package report

import (
	"bytes"
	"strings"
	"testing"
)

// TestShortenNamesApart: names that differ are not shortened to the same text
// where what tells them apart fits.
func TestShortenNamesApart(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit int
		names []string
		want  []string
	}{
		{"template arguments", 28, []string{
			"void mat_vec_q<(qtype)2, 1, true, false>(void const*, float*, int)",
			"void mat_vec_q<(qtype)2, 1, false, false>(void const*, float*, int)",
			"void mat_vec_q<(qtype)14, 1, false, false>(void const*, float*, int)",
		}, []string{"mat_vec_q<..., true, ...>", "mat_vec_q<..., false, ...>", "mat_vec_q<(qtype)14, 1, ...>"}},
		{"overloads", 15, []string{"scale(float*, int)", "scale(__half*, int)"}, []string{"scale(float*)", "scale(__half*)"}},
		{"nested", 30, []string{
			"void run<ck::Gemm<ck::Tile<256, 128, 64>, ck::Pipe<2>, half_t, row, col>, (int)1>(Args)",
			"void run<ck::Gemm<ck::Tile<256, 128, 32>, ck::Pipe<2>, half_t, row, col>, (int)1>(Args)",
		}, []string{"run<Gemm<Tile<256, 128, 64>>>", "run<Gemm<Tile<256, 128, 32>>>"}},
		{"generated", 24, []string{
			"Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI16x16x16_SN_WG32_8_1",
			"Cijk_Ailk_Bljk_HHS_BH_MT128x064x32_MI16x16x16_SN_WG32_8_1",
		}, nil},
		{"fits", 40, []string{"f<1>(int)", "f<2>(int)"}, []string{"f<1>(int)", "f<2>(int)"}},
	} {
		short := shortenNames(c.names, c.limit, "...")
		seen := map[string]bool{}
		for i, n := range c.names {
			got := short[n]
			if displayWidth(got) > c.limit {
				t.Errorf("%s: %q takes %d cells, at most %d", c.name, got, displayWidth(got), c.limit)
			}
			if seen[got] {
				t.Errorf("%s: %q stands for two names", c.name, got)
			}
			seen[got] = true
			if c.want != nil && got != c.want[i] {
				t.Errorf("%s: %q became %q, want %q", c.name, n, got, c.want[i])
			}
		}
	}
}

// TestTableNamesApart: a table gives up its bars before it shows two names
// alike; the same name twice stays the same.
func TestTableNamesApart(t *testing.T) {
	table := Table{ID: "t", Columns: []Column{
		{Key: "kernel", Title: "kernel", Flex: true, Elide: ElideName},
		{Key: "share", Title: "share", Bar: true},
	}}
	for _, n := range []string{"work<float, 1024, true>(int)", "work<float, 1024, false>(int)", "work<float, 1024, true>(int)"} {
		table.Rows = append(table.Rows, []Cell{Text(n), Pct(30)})
	}
	var out bytes.Buffer
	if err := Terminal(&out, Document{Sections: []Section{{Title: "x", Items: []Item{table}}}}, Options{Width: 40}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	rows := lines[len(lines)-3:]
	if rows[0] == rows[1] || rows[0] != rows[2] {
		t.Errorf("rows:\n%s", strings.Join(rows, "\n"))
	}
	if strings.Contains(out.String(), "#") {
		t.Errorf("bars are kept at the cost of names:\n%s", out.String())
	}
}

// FuzzShortenNames: no name outgrows its column, whatever it is.
func FuzzShortenNames(f *testing.F) {
	f.Add("void f<(a)1, b<2>>(int)", "void f<(a)1, b<3>>(int)", 9)
	f.Add("a_b_c", "a_b_d", 3)
	f.Add("f(<", "f(>", 1)
	f.Fuzz(func(t *testing.T, a, b string, limit int) {
		limit %= 200
		a, b = Escape(a), Escape(b)
		for n, s := range shortenNames([]string{a, b}, limit, "...") {
			if w := displayWidth(s); w > max(limit, 0) && w > 2 {
				t.Errorf("%q became %q: %d cells, at most %d", n, s, w, limit)
			}
		}
	})
}
