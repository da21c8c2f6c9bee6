package report

import (
	"fmt"
	"io"
	"strings"
)

// Terminal draws the document as text for people. No line is wider than Options.Width cells (or MinWidth, if that is
// more) and none ends in a space. Running text wraps; text cells of tables are elided where they have to be; numbers
// never are: a table whose numbers do not fit side by side is drawn as one "title: value" line a cell instead.
//
// The error is the writer's, or says which part of the document is malformed (nothing is written then).
func Terminal(w io.Writer, doc Document, o Options) error {
	if err := doc.check(); err != nil {
		return err
	}
	p := newPrinter(o)
	for _, s := range doc.Sections {
		p.gap = p.out.Len() > 0
		p.section(s)
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}

// printer collects lines; glyphs and styles are strings so that the drawing code asks no questions.
type printer struct {
	out   strings.Builder
	width int
	gap   bool // a blank line is due before the next line, if one comes
	glyphs
	styles
}

type glyphs struct {
	rule, ellipsis string
	bar            string // a full cell
	barParts       []string
}

var (
	asciiGlyphs = glyphs{rule: "-", ellipsis: "...", bar: "#"}
	blockGlyphs = glyphs{rule: "─", ellipsis: "…", bar: "█", barParts: []string{"▏", "▎", "▍", "▌", "▋", "▊", "▉"}}
)

// styles are ANSI (ECMA-48 SGR) sequences; all empty without colour.
type styles struct {
	bold, reset string
	severity    map[Severity]string
}

func newPrinter(o Options) *printer {
	p := &printer{width: max(o.Width, MinWidth), glyphs: asciiGlyphs}
	if o.Width <= 0 {
		p.width = DefaultWidth
	}
	if o.Unicode {
		p.glyphs = blockGlyphs
	}
	if o.Color {
		p.styles = styles{
			bold: "\x1b[1m", reset: "\x1b[0m",
			severity: map[Severity]string{SeverityInfo: "\x1b[36m", SeverityWarning: "\x1b[33m", SeverityError: "\x1b[31m"},
		}
	}
	return p
}

// line writes one line without trailing spaces.
func (p *printer) line(s string) {
	if p.gap {
		p.out.WriteByte('\n')
		p.gap = false
	}
	p.out.WriteString(strings.TrimRight(s, " "))
	p.out.WriteByte('\n')
}

// styled writes one line in a style, if there is one.
func (p *printer) styled(style, s string) {
	s = strings.TrimRight(s, " ")
	if style != "" && s != "" {
		s = style + s + p.reset
	}
	p.line(s)
}

func (p *printer) section(s Section) {
	p.heading(oneLine(s.Title))
	start := p.out.Len()
	for _, item := range s.Items {
		p.gap = p.gap || p.out.Len() > start
		switch item := item.(type) {
		case Paragraph:
			p.wrapped("", "", oneLine(item.Text))
		case KeyValues:
			p.keyValues(item)
		case Table:
			p.table(item)
		case Snippet:
			p.snippet(item)
		case Notes:
			p.notes(item)
		}
	}
}

// heading draws the title and fills its last line with a rule.
func (p *printer) heading(title string) {
	start := strings.Repeat(p.rule, 2) + " "
	lines := wrap(title, p.width-displayWidth(start)-1)
	for i, text := range lines {
		text = start + text
		if i == len(lines)-1 {
			text += " "
			text += strings.Repeat(p.rule, max(0, p.width-displayWidth(text)))
		}
		p.styled(p.bold, text)
	}
}

// wrapped writes text behind a first-line prefix; the lines after it are indented by rest, which is as wide.
func (p *printer) wrapped(first, rest, text string) {
	lines := wrap(text, p.width-displayWidth(rest))
	if len(lines) == 0 && first != "" {
		p.line(first)
	}
	for i, l := range lines {
		if i == 0 {
			p.line(first + l)
			continue
		}
		p.line(rest + l)
	}
}

// keyValues aligns the values unless a key takes more than a third of the line; then that value goes below its key.
func (p *printer) keyValues(kvs KeyValues) {
	limit, keys := p.width/3, 0
	for _, kv := range kvs.Items {
		if w := displayWidth(oneLine(kv.Key)); w <= limit {
			keys = max(keys, w)
		}
	}
	indent := strings.Repeat(" ", keys+2)
	for _, kv := range kvs.Items {
		key, value := oneLine(kv.Key), oneLine(kv.Value)
		if kv.Note != "" {
			value += " (" + oneLine(kv.Note) + ")"
		}
		first := pad(key, keys+2, false)
		if displayWidth(key) > keys {
			p.wrapped("", "", key)
			first = indent
		}
		p.wrapped(first, indent, value)
	}
}

func (p *printer) notes(n Notes) {
	for _, note := range n.Items {
		p.note(note)
	}
}

// note writes "severity: text" with the rest of the text indented behind a short severity, by two cells behind a long
// one. The colour is put in after wrapping, where it cannot count as width.
func (p *printer) note(n Note) {
	const indent = "  "
	tag := oneLine(string(n.Severity))
	if tag == "" {
		p.wrapped("- ", indent, oneLine(n.Text))
		return
	}
	tag += ":"
	style := p.severity[n.Severity]
	for i, l := range wrap(tag+" "+oneLine(n.Text), p.width-len(indent)) {
		switch rest, tagged := strings.CutPrefix(l, tag); {
		case i > 0:
			p.line(indent + l)
		case tagged && style != "":
			p.line(style + tag + p.reset + rest)
		default:
			p.line(l)
		}
	}
}

// snippet draws a path and its lines: mark, measurement, line number, source text. Source is cut, not wrapped.
func (p *printer) snippet(s Snippet) {
	p.wrapped("", "", oneLine(s.Path))
	for _, l := range snippetLines(s) {
		text := elide(l.prefix+l.text, p.width, ElideTail, p.ellipsis)
		if l.mark {
			p.styled(p.bold, text)
			continue
		}
		p.line(text)
	}
}

type snippetLine struct {
	prefix, text string
	mark         bool
}

// snippetLines lays out the columns in front of the source text, for Terminal and Markdown alike.
func snippetLines(s Snippet) []snippetLine {
	left, digits := 0, 0
	for _, l := range s.Lines {
		left = max(left, displayWidth(Escape(l.Left)))
		digits = max(digits, len(lineNumber(l.Number)))
	}
	out := make([]snippetLine, len(s.Lines))
	for i, l := range s.Lines {
		mark := " "
		if l.Mark {
			mark = ">"
		}
		prefix := mark + " "
		if left > 0 {
			prefix += pad(Escape(l.Left), left, true) + "  "
		}
		if digits > 0 {
			prefix += pad(lineNumber(l.Number), digits, true) + " "
		}
		out[i] = snippetLine{prefix: prefix + "| ", text: sourceLine(l.Text), mark: l.Mark}
	}
	return out
}

func lineNumber(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
