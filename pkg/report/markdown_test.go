package report

import (
	"strings"
	"testing"
)

func TestMarkdownHostileStrings(t *testing.T) {
	const hostile = "a|b`c`*d*_e_<img src=x>[l](u)~s~&lt;$x$#!\\|\n## h\u202e https://x.y WWW.x.y"
	const want = "a\\|b\\`c\\`\\*d\\*\\_e\\_\\<img src=x\\>\\[l\\](u)\\~s\\~\\&lt;\\$x\\$\\#\\!\\\\\\|"
	doc := Document{[]Section{{Title: hostile, Items: []Item{
		Paragraph{hostile},
		KeyValues{[]KV{{hostile, hostile, hostile}}},
		Table{
			ID: "t", Note: hostile,
			Columns: []Column{{Key: "a", Title: hostile}},
			Rows:    [][]Cell{{Text(hostile)}, {Absent(hostile)}},
		},
		Notes{[]Note{{SeverityWarning, hostile}, {Severity(hostile), ""}}},
		Snippet{Path: hostile},
	}}}}
	var b strings.Builder
	if err := Markdown(&b, doc); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	running := want + " \\#\\# h\\\\u202e https\\://x.y WWW\\.x.y"
	cell := want + "\\\\n\\#\\# h\\\\u202e https\\://x.y WWW\\.x.y"
	for _, c := range []struct {
		text string
		n    int
	}{
		{running, 12}, // once each, the column's title twice: it comes again with the absent cell's reason
		{cell, 1},
	} {
		if n := strings.Count(got, c.text); n != c.n {
			t.Errorf("%d times %q in\n%s, want %d", n, c.text, got, c.n)
		}
	}
	unescaped := strings.ReplaceAll(got, `\<img`, "")
	for _, raw := range []string{"\u202e", "<img", "\n## h"} {
		if strings.Contains(unescaped, raw) {
			t.Errorf("%q survives in\n%s", raw, got)
		}
	}
}

func TestMarkdownBlock(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"- item", `\- item`},
		{"-", `\-`},
		{"---", `\---`},
		{"-3 cycles", "-3 cycles"},
		{"+ item", `\+ item`},
		{"12. item", `12\. item`},
		{"12) item", `12\) item`},
		{"12.5 us", "12.5 us"},
		{"12 - 3", "12 - 3"},
		{"12", "12"},
		{"# h", `\# h`},
		{"> q", `\> q`},
		{"===", `\===`},
		{"", ""},
	} {
		if got := markdownBlock(c.in); got != c.want {
			t.Errorf("markdownBlock(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestMarkdownSnippetFence(t *testing.T) {
	got := markdownSnippet(Snippet{Path: "a_b.c", Lines: []SnippetLine{{Number: 7, Text: "x ````", Mark: true}}})
	if want := "a\\_b.c\n\n`````text\n> 7 | x ````\n`````\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMarkdownTableElidesToMax(t *testing.T) {
	got := markdownTable(Table{
		Columns: []Column{{Key: "k", Title: "k", Max: 8, Elide: ElideName}, {Key: "n", Title: "n", Exact: true}},
		Rows:    [][]Cell{{Text("void foo<LongType>(int)"), Cycles(12345678)}},
	})
	if want := "| k | n |\n| --- | ---: |\n| foo\\<...\\> | 12,345,678 |\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
