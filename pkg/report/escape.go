package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes a string safe and unambiguous to show on one line: line ends and tabs become \n, \r and \t, other ASCII
// control characters and bytes that are not UTF-8 become \x1b, and every other character that unicode.IsPrint refuses
// (C1 controls, bidirectional overrides, zero-width and other format characters, private use, spaces other than U+0020)
// becomes \u202e. A backslash stays as it is: the result is for reading, not for reversing.
func Escape(s string) string {
	if printable(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		escapeRune(&b, r, s[:size])
		s = s[size:]
	}
	return b.String()
}

func printable(s string) bool {
	for i, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			return false // a byte that is not UTF-8, not a replacement character that the input holds
		}
	}
	return true
}

func escapeRune(b *strings.Builder, r rune, raw string) {
	switch {
	case r == utf8.RuneError && len(raw) == 1, r < ' ' && !strings.ContainsRune("\n\r\t", r), r == 0x7f:
		fmt.Fprintf(b, `\x%02x`, raw[0])
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case unicode.IsPrint(r):
		b.WriteRune(r)
	case r > 0xffff:
		fmt.Fprintf(b, `\U%08x`, r)
	default:
		fmt.Fprintf(b, `\u%04x`, r)
	}
}

// oneLine is Escape for running text: runs of ASCII white space, line ends included, become one space.
func oneLine(s string) string {
	return Escape(strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return strings.ContainsRune(" \t\r\n", r)
	}), " "))
}

// tabWidth is the distance of tab stops in snippets, in display cells.
const tabWidth = 4

// sourceLine is Escape for a line of source: tabs become spaces up to the next tab stop.
func sourceLine(s string) string {
	s = strings.TrimRight(s, "\r\n \t")
	if !strings.Contains(s, "\t") {
		return Escape(s)
	}
	var b strings.Builder
	col := 0
	for i, part := range strings.Split(s, "\t") {
		if i > 0 {
			pad := tabWidth - col%tabWidth
			b.WriteString(strings.Repeat(" ", pad))
			col += pad
		}
		part = Escape(part)
		b.WriteString(part)
		col += displayWidth(part)
	}
	return b.String()
}
