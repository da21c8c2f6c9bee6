package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// Options is how Terminal draws.
type Options struct {
	Width   int  // cells in a line; 0 for DefaultWidth, never taken as less than MinWidth
	Color   bool // ANSI colours and bold
	Unicode bool // block glyphs for bars, lines and the ellipsis; ASCII otherwise
}

// Limits of Options.Width, in terminal cells.
const (
	DefaultWidth = 80
	MinWidth     = 20
	maxWidth     = 1000 // of a width that the environment claims
)

// TerminalOptions chooses how to draw on w. Color is auto, always or never (the program's --color flag), anything else
// an error. In auto, colour needs a terminal, an empty NO_COLOR (no-color.org) and a TERM other than dumb. Glyphs need
// a terminal whose locale (LC_ALL, LC_CTYPE, LANG) is UTF-8, so that a file or a pipe gets the same bytes everywhere.
// The width is COLUMNS, else the terminal's, else DefaultWidth.
func TerminalOptions(w io.Writer, color string, env func(string) string) (Options, error) {
	fd, isTerminal := terminal(w)
	o := Options{Width: DefaultWidth, Unicode: isTerminal && utf8Locale(env)}
	switch color {
	case "auto":
		o.Color = isTerminal && env("NO_COLOR") == "" && env("TERM") != "dumb"
	case "always":
		o.Color = true
	case "never":
	default:
		return o, fmt.Errorf("color is %q: use auto, always or never", color)
	}
	if n, err := strconv.Atoi(env("COLUMNS")); err == nil && n > 0 {
		o.Width = min(max(n, MinWidth), maxWidth)
	} else if isTerminal {
		if n, _, err := term.GetSize(fd); err == nil && n > 0 {
			o.Width = min(max(n, MinWidth), maxWidth)
		}
	}
	return o, nil
}

func terminal(w io.Writer) (fd int, ok bool) {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0, false
	}
	fd = int(f.Fd())
	return fd, term.IsTerminal(fd)
}

// utf8Locale follows the order in which POSIX looks for the character set.
func utf8Locale(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
