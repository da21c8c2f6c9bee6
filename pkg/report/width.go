package report

import (
	"strings"
	"unicode"
)

// wide is the characters that take two terminal cells: the W and F classes of Unicode's EastAsianWidth.txt (16.0),
// with neighbouring ranges joined over unassigned and rare characters. Joining can only count too much, so that a line
// never outgrows its width.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1},
		{0x231a, 0x231b, 1},
		{0x2329, 0x232a, 1},
		{0x23e9, 0x23f3, 1},
		{0x25fd, 0x25fe, 1},
		{0x2614, 0x2615, 1},
		{0x2630, 0x2637, 1},
		{0x2648, 0x2653, 1},
		{0x267f, 0x267f, 1},
		{0x268a, 0x268f, 1},
		{0x2693, 0x2693, 1},
		{0x26a1, 0x26a1, 1},
		{0x26aa, 0x26ab, 1},
		{0x26bd, 0x26be, 1},
		{0x26c4, 0x26c5, 1},
		{0x26ce, 0x26ce, 1},
		{0x26d4, 0x26d4, 1},
		{0x26ea, 0x26ea, 1},
		{0x26f2, 0x26fd, 1},
		{0x2705, 0x2705, 1},
		{0x270a, 0x270b, 1},
		{0x2728, 0x2728, 1},
		{0x274c, 0x274e, 1},
		{0x2753, 0x2757, 1},
		{0x2795, 0x2797, 1},
		{0x27b0, 0x27bf, 1},
		{0x2b1b, 0x2b1c, 1},
		{0x2b50, 0x2b55, 1},
		{0x2e80, 0x303e, 1},
		{0x3041, 0xa4cf, 1},
		{0xa960, 0xa97f, 1},
		{0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1},
		{0xfe10, 0xfe19, 1},
		{0xfe30, 0xfe6f, 1},
		{0xff01, 0xff60, 1},
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x18dff, 1},
		{0x1aff0, 0x1b2ff, 1},
		{0x1d300, 0x1d376, 1},
		{0x1f004, 0x1f004, 1},
		{0x1f0cf, 0x1f0cf, 1},
		{0x1f18e, 0x1faff, 1},
		{0x20000, 0x3fffd, 1},
	},
}

// runeWidth is the number of terminal cells a printable character takes: 0 for combining marks, 2 for wide ones.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// displayWidth is the number of terminal cells of an escaped string.
func displayWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// splitAt cuts s after at most width cells, keeping combining marks with their base.
func splitAt(s string, width int) (head, tail string) {
	n := 0
	for i, r := range s {
		n += runeWidth(r)
		if n > width {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// lastCells returns the longest end of s that takes at most width cells and does not begin with a combining mark.
func lastCells(s string, width int) string {
	n := displayWidth(s)
	for i, r := range s {
		if n <= width && runeWidth(r) > 0 {
			return s[i:]
		}
		n -= runeWidth(r)
	}
	return ""
}

// pad fills s with spaces to width cells, at the left when right is set.
func pad(s string, width int, right bool) string {
	fill := strings.Repeat(" ", max(0, width-displayWidth(s)))
	if right {
		return fill + s
	}
	return s + fill
}

// elide shortens an escaped string to width cells and puts mark ("..." or the ellipsis) where text is missing. Where
// not even the mark fits beside a character, the text is cut without one.
func elide(s string, width int, how Elide, mark string) string {
	if displayWidth(s) <= width {
		return s
	}
	if how == ElideName {
		return shortenName(s, width, mark)
	}
	room := width - displayWidth(mark)
	if room < 1 {
		head, _ := splitAt(s, max(width, 0))
		return head
	}
	switch how {
	case ElideHead:
		return mark + lastCells(s, room)
	case ElideMiddle:
		head, _ := splitAt(s, room-room/2)
		return head + mark + lastCells(s, room/2)
	}
	head, _ := splitAt(s, room)
	return head + mark
}

// wrap breaks text at spaces into lines of at most width cells; a word that is longer than a line is broken too. Only a
// character wider than the whole line can outgrow it.
func wrap(text string, width int) []string {
	var lines []string
	line, used := "", 0
	for _, word := range strings.Fields(text) {
		w := displayWidth(word)
		if line != "" && used+1+w <= width {
			line, used = line+" "+word, used+1+w
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for w > width {
			head, tail := splitAt(word, width)
			if head == "" {
				break
			}
			lines = append(lines, head)
			word, w = tail, displayWidth(tail)
		}
		line, used = word, w
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
