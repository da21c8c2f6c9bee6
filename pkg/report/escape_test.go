package report

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"foo<int>(float*) | `x`", "foo<int>(float*) | `x`"},
		{`C:\new`, `C:\new`},
		{"a\x1b[31mb", `a\x1b[31mb`},
		{"a\nb\r\tc\x00\x7f", `a\nb\r\tc\x00\x7f`},
		{"\xff\xfea\xc3", `\xff\xfea\xc3`},
		{"\u0085\u009b", `\u0085\u009b`},
		{"a\u202eb\u2066c\u200fd", `a\u202eb\u2066c\u200fd`},
		{"a\u200bb\ufeffc\u00ad", `a\u200bb\ufeffc\u00ad`},
		{"a\u00a0b\u2028c\u3000", `a\u00a0b\u2028c\u3000`},
		{"\U000e0041", `\U000e0041`},
		{"é µ カ \ufffd e\u0301", "é µ カ \ufffd e\u0301"},
		{"\ufffd\xff", "\ufffd" + `\xff`},
	} {
		if got := Escape(c.in); got != c.want {
			t.Errorf("Escape(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	if got, want := oneLine("  a \r\n\tb\x1b  c\n"), `a b\x1b c`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSourceLine(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain  text \t\r\n", "plain  text"},
		{"\ta", "    a"},
		{"ab\tc", "ab  c"},
		{"abcd\te", "abcd    e"},
		{"カ\tx\x1b", `カ  x\x1b`},
	} {
		if got := sourceLine(c.in); got != c.want {
			t.Errorf("sourceLine(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b[31m", "\u202e\u2066", "\xff\xc3\x28", "\U000e0041\u2028", "カ\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for what, got := range map[string]string{"Escape": Escape(s), "oneLine": oneLine(s), "sourceLine": sourceLine(s)} {
			if !utf8.ValidString(got) {
				t.Errorf("%s(%q) = %q is not UTF-8", what, s, got)
			}
			if i := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
				t.Errorf("%s(%q) = %q has a character that does not print", what, s, got)
			}
		}
		if again := Escape(Escape(s)); again != Escape(s) {
			t.Errorf("escaping %q twice gives %q", s, again)
		}
	})
}
