package report

import (
	"slices"
	"testing"
)

func TestDisplayWidth(t *testing.T) {
	for _, c := range []struct {
		s    string
		want int
	}{
		{"", 0}, {"abc", 3}, {"é", 1}, {"e\u0301", 1}, {"カ", 2}, {"한글", 4}, {"─█▏…", 4}, {"😀", 2}, {"µs", 2},
	} {
		if got := displayWidth(c.s); got != c.want {
			t.Errorf("%q takes %d cells, want %d", c.s, got, c.want)
		}
	}
}

func TestElide(t *testing.T) {
	for _, c := range []struct {
		s     string
		width int
		how   Elide
		mark  string
		want  string
	}{
		{"abcdefghij", 10, ElideTail, "...", "abcdefghij"},
		{"abcdefghij", 9, ElideTail, "...", "abcdef..."},
		{"abcdefghij", 9, ElideHead, "...", "...efghij"},
		{"abcdefghij", 9, ElideMiddle, "...", "abc...hij"},
		{"abcdefghij", 8, ElideMiddle, "...", "abc...ij"},
		{"abcdefghij", 9, ElideTail, "…", "abcdefgh…"},
		{"abcdefghij", 3, ElideTail, "...", "abc"},
		{"abcdefghij", 0, ElideHead, "...", ""},
		{"abcdefghij", -1, ElideTail, "…", ""},
		{"カカカカ", 7, ElideTail, "...", "カカ..."},
		{"カカカカ", 6, ElideHead, "...", "...カ"},
		{"e\u0301e\u0301e\u0301", 2, ElideHead, "…", "…e\u0301"},
		{"e\u0301e\u0301e\u0301", 2, ElideTail, "…", "e\u0301…"},
		{"void ns::foo<LongType>(int)", 10, ElideName, "…", "foo<...>"},
		{"flat_kernel_name", 9, ElideName, "…", "flat…name"},
	} {
		if got := elide(c.s, c.width, c.how, c.mark); got != c.want {
			t.Errorf("elide(%q, %d, %d, %q) = %q, want %q", c.s, c.width, c.how, c.mark, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 5, nil},
		{"a b c", 5, []string{"a b c"}},
		{"aa bb cc", 5, []string{"aa bb", "cc"}},
		{"abcdefghijkl m", 5, []string{"abcde", "fghij", "kl m"}},
		{"x abcdefg", 5, []string{"x", "abcde", "fg"}},
		{"カカカ", 5, []string{"カカ", "カ"}},
	} {
		if got := wrap(c.text, c.width); !slices.Equal(got, c.want) {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
