package report

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

func render(t *testing.T, o Options, items ...Item) string {
	t.Helper()
	var b strings.Builder
	if err := Terminal(&b, Document{[]Section{{Items: items}}}, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTerminalTable(t *testing.T) {
	name := Column{Key: "kernel", Title: "kernel", Elide: ElideName, Flex: true}
	share := Column{Key: "share_pct", Title: "share", Bar: true}
	for _, c := range []struct {
		what string
		o    Options
		t    Table
		want string
	}{
		{
			"a bar of 47% rounds to five cells of ten",
			Options{},
			Table{Columns: []Column{share}, Rows: [][]Cell{{Pct(47)}, {Pct(100)}, {Pct(250)}, {Pct(-5)}, {Absent("")}}},
			" share\n 47.0% #####\n100.0% ##########\n250.0% ##########\n -5.0%\n     -\n",
		},
		{
			"and to 37.6, so 38 eighths of 80",
			Options{Unicode: true},
			Table{Columns: []Column{share}, Rows: [][]Cell{{Pct(47)}, {Pct(1)}, {Pct(0.6)}}},
			"share\n47.0% ████▊\n 1.0% ▏\n 0.6%\n",
		},
		{
			"names shrink to what the numbers leave",
			Options{Width: 24},
			Table{Columns: []Column{name, {Key: "n", Title: "n"}}, Rows: [][]Cell{{Text("void ns::foo<LongType, 3>(float*)"), Int(1234567)}}},
			"kernel                 n\nfoo<...>         1234567\n",
		},
		{
			"bars go before other text shrinks",
			Options{Width: 20},
			Table{Columns: []Column{{Key: "what", Title: "what"}, share}, Rows: [][]Cell{{Text("abcdefghijkl"), Pct(50)}}},
			"what          share\nabcdefghijkl  50.0%\n",
		},
		{
			"numbers that do not fit are stacked, whole",
			Options{Width: 20},
			Table{Columns: []Column{{Key: "a", Title: "a"}, {Key: "b", Title: "b", Exact: true, Max: 3}}, Rows: [][]Cell{
				{Int(123456789012), Cycles(123456789012)}, {Int(1), Absent("not measured")},
			}},
			"a: 123456789012\nb: 123,456,789,012\n\na: 1\nb: -\n- in b: not\n  measured\n",
		},
		{
			"a short row is blank at its end",
			Options{},
			Table{Columns: []Column{{Key: "a", Title: "a"}, {Key: "b", Title: "b"}}, Rows: [][]Cell{{Text("x")}, {}}, Note: "note"},
			"a  b\nx\n\nnote\n",
		},
		{
			"Max holds text, not numbers",
			Options{},
			Table{Columns: []Column{{Key: "a", Title: "a", Max: 5}}, Rows: [][]Cell{{Text("abcdefgh")}, {Int(12345678)}}},
			"a\nabcdefgh\n12345678\n",
		},
		{
			"no rows",
			Options{},
			Table{Columns: []Column{{Key: "a", Title: "a"}}},
			"a\n(no rows)\n",
		},
	} {
		if got := render(t, c.o, c.t); got != c.want {
			t.Errorf("%s:\n%q, want\n%q", c.what, got, c.want)
		}
	}
}

// Items that draw nothing leave no blank lines behind.
func TestTerminalBlankLines(t *testing.T) {
	got := render(t, Options{}, Notes{}, Paragraph{"a"}, Paragraph{" \n"}, KeyValues{}, Paragraph{"b"})
	if want := "a\n\nb\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMalformedDocuments(t *testing.T) {
	col := []Column{{Key: "a", Title: "a"}}
	for _, c := range []struct {
		what  string
		items []Item
		want  string
	}{
		{"long row", []Item{Table{ID: "t", Columns: col, Rows: [][]Cell{{Int(1), Int(2)}}}}, `table "t": row 0 has 2 cells for 1 columns`},
		{"same id", []Item{Table{ID: "t", Columns: col}, Table{ID: "t", Columns: col}}, `two tables are named "t"`},
		{"same key", []Item{Table{ID: "t", Columns: append(col, col...)}}, `column key "a" is empty or used twice`},
		{"no columns", []Item{Table{ID: "t"}}, "no columns"},
		{"value", []Item{Table{ID: "t", Columns: col, Rows: [][]Cell{{{Value: true}}}}}, "row 0, column a: a value of type bool"},
		{"not finite", []Item{Table{ID: "t", Columns: col, Rows: [][]Cell{{{Value: 1 / zero()}}}}}, "column a: the value +Inf"},
		{"nil item", []Item{nil}, "item 0 is a <nil>"},
		{"pointer", []Item{&Table{ID: "t", Columns: col}}, "item 0 is a *report.Table"},
	} {
		doc := Document{[]Section{{ID: "s", Items: c.items}}}
		var b strings.Builder
		for format, err := range map[string]error{
			"Terminal": Terminal(&b, doc, Options{}), "Markdown": Markdown(&b, doc), "CSV": CSV(&b, doc, "t"),
		} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: error %v, want one with %q", c.what, format, err, c.want)
			}
		}
		if b.Len() > 0 {
			t.Errorf("%s: wrote %q", c.what, b.String())
		}
	}
}

func zero() float64 { return 0 }

type failingWriter struct{}

var errFull = errors.New("disk full")

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	var w io.Writer = failingWriter{}
	for format, err := range map[string]error{
		"Terminal": Terminal(w, sample(), Options{}),
		"Markdown": Markdown(w, sample()),
		"CSV":      CSV(w, sample(), "hotspots"),
		"JSON":     JSON(w, Envelope{}, struct{}{}),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: error %v, want %v", format, err, errFull)
		}
	}
}

// Whatever the document, no line is wider than asked, none ends in a space, nothing but printable characters is
// written, and every number is there in full.
func TestTerminalProperties(t *testing.T) {
	for seed := range uint64(400) {
		g := generator{rand.New(rand.NewPCG(seed, 1))}
		doc, numbers := g.document()
		o := Options{Width: MinWidth + g.IntN(120), Unicode: g.IntN(2) == 0}
		var b strings.Builder
		if err := Terminal(&b, doc, o); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if w := displayWidth(line); w > o.Width {
				t.Errorf("seed %d: %d cells of %d: %q", seed, w, o.Width, line)
			}
			if strings.HasSuffix(line, " ") {
				t.Errorf("seed %d: trailing space: %q", seed, line)
			}
			if Escape(line) != line {
				t.Errorf("seed %d: unprintable characters: %q", seed, line)
			}
		}
		// Numbers may be broken over lines only where a line cannot hold them: compare without white space.
		all := strings.Join(strings.Fields(b.String()), "")
		for _, n := range numbers {
			if n = strings.ReplaceAll(n, " ", ""); !strings.Contains(all, n) {
				t.Errorf("seed %d: %s is missing in\n%s", seed, n, b.String())
			}
		}
		t.Run("again", func(t *testing.T) {
			var again strings.Builder
			if err := Terminal(&again, doc, o); err != nil || again.String() != b.String() {
				t.Errorf("seed %d: the second rendering differs (error %v)", seed, err)
			}
		})
	}
}

// Text cells that fit are shown as they are.
func TestTerminalShowsWholeCells(t *testing.T) {
	for seed := range uint64(200) {
		g := generator{rand.New(rand.NewPCG(seed, 2))}
		table, _ := g.table(0)
		for j := range table.Columns {
			table.Columns[j].Max = 0
		}
		got := render(t, Options{Width: 100_000}, table)
		for _, row := range table.Rows {
			for j, cell := range row {
				if want := strings.TrimRight(table.Columns[j].text(cell), " "); !strings.Contains(got, want) {
					t.Errorf("seed %d: %q is missing in\n%s", seed, want, got)
				}
			}
		}
	}
}

// generator makes random documents out of hostile and ordinary strings.
type generator struct{ *rand.Rand }

var pieces = []string{
	"a", "kernel", " ", "  ", "\n", "\t", "\x1b[31m", "\u202e", "\xff", "カ", "e\u0301", "<int, 4>", "::", "(float*)", "void ",
	"{lambda()#1}", "|", "`", "...", "a_long_word_without_any_space_in_it_to_break_a_line_at", "😀", "-",
}

func (g generator) text() string {
	var b strings.Builder
	for range g.IntN(12) {
		b.WriteString(pieces[g.IntN(len(pieces))])
	}
	return b.String()
}

func (g generator) document() (doc Document, numbers []string) {
	for s := range 1 + g.IntN(4) {
		section := Section{ID: fmt.Sprint(s), Title: g.text()}
		for range g.IntN(4) {
			switch g.IntN(5) {
			case 0:
				section.Items = append(section.Items, Paragraph{g.text()})
			case 1:
				section.Items = append(section.Items, KeyValues{[]KV{{g.text(), g.text(), g.text()}, {"k", g.text(), ""}}})
			case 2:
				section.Items = append(section.Items, Notes{[]Note{{Severity(g.text()), g.text()}, {SeverityWarning, g.text()}}})
			case 3:
				section.Items = append(section.Items, Snippet{g.text(), []SnippetLine{
					{g.IntN(3000), g.text(), true, g.text()}, {0, g.text(), false, ""},
				}})
			case 4:
				table, ns := g.table(len(numbers))
				table.ID = fmt.Sprint(s, len(section.Items))
				section.Items = append(section.Items, table)
				numbers = append(numbers, ns...)
			}
		}
		doc.Sections = append(doc.Sections, section)
	}
	return doc, numbers
}

func (g generator) table(start int) (t Table, numbers []string) {
	for j := range 1 + g.IntN(7) {
		t.Columns = append(t.Columns, Column{
			Key: fmt.Sprint("c", j), Title: g.text(), Align: Align(g.IntN(3)), Min: g.IntN(12), Max: g.IntN(30),
			Elide: Elide(g.IntN(4)), Flex: g.IntN(2) == 0, Exact: g.IntN(2) == 0, Bar: g.IntN(3) == 0,
		})
	}
	for range g.IntN(6) {
		var row []Cell
		for j := range t.Columns {
			cell := Text(g.text())
			switch g.IntN(4) {
			case 0:
				cell = Cycles(int64(start+len(numbers)+1) * 7_654_321)
			case 1:
				cell = Pct(g.Float64() * 100)
			case 2:
				cell = Absent(g.text())
			}
			if elidable(cell) {
				row = append(row, cell)
				continue
			}
			numbers = append(numbers, t.Columns[j].text(cell))
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Note = g.text()
	return t, numbers
}
