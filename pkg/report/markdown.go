package report

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the document in GitHub-flavoured markdown: level-two headings, pipe tables, lists and fenced
// snippets. Nothing is elided but text cells beyond their column's Max. Text is backslash-escaped so that no string can
// open markup, a link, an image or HTML; fences are longer than any run of backquotes inside them.
//
// The error is the writer's, or says which part of the document is malformed (nothing is written then).
func Markdown(w io.Writer, doc Document) error {
	if err := doc.check(); err != nil {
		return err
	}
	var blocks []string
	for _, s := range doc.Sections {
		if title := oneLine(s.Title); title != "" {
			blocks = append(blocks, "## "+markdownEscape(title)+"\n")
		}
		for _, item := range s.Items {
			if block := markdownItem(item); block != "" {
				blocks = append(blocks, block)
			}
		}
	}
	_, err := io.WriteString(w, strings.Join(blocks, "\n"))
	return err
}

func markdownItem(item Item) string {
	switch item := item.(type) {
	case Paragraph:
		return markdownParagraph(item.Text)
	case KeyValues:
		return markdownKeyValues(item)
	case Table:
		return markdownTable(item)
	case Snippet:
		return markdownSnippet(item)
	case Notes:
		return markdownNotes(item)
	}
	return ""
}

func markdownParagraph(text string) string {
	if text = oneLine(text); text == "" {
		return ""
	}
	return markdownBlock(text) + "\n"
}

func markdownKeyValues(kvs KeyValues) string {
	var b strings.Builder
	for _, kv := range kvs.Items {
		fmt.Fprintf(&b, "- %s: %s", markdownBlock(oneLine(kv.Key)), markdownEscape(oneLine(kv.Value)))
		if kv.Note != "" {
			fmt.Fprintf(&b, " (%s)", markdownEscape(oneLine(kv.Note)))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func markdownNotes(n Notes) string {
	var b strings.Builder
	for _, note := range n.Items {
		text := markdownBlock(oneLine(note.Text))
		if tag := oneLine(string(note.Severity)); tag != "" {
			text = "**" + markdownEscape(tag) + ":** " + text
		}
		b.WriteString(strings.TrimRight("- "+text, " ") + "\n")
	}
	return b.String()
}

func markdownTable(t Table) string {
	var b strings.Builder
	titles, rules := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for j, c := range t.Columns {
		titles[j] = markdownEscape(oneLine(c.Title))
		rules[j] = "---"
		if t.rightAligned(j) {
			rules[j] = "---:"
		}
	}
	markdownRow(&b, titles)
	markdownRow(&b, rules)
	for _, row := range t.Rows {
		texts := make([]string, len(t.Columns))
		for j, c := range t.Columns {
			cell := cellAt(row, j)
			text := c.text(cell)
			if c.Max > 0 && elidable(cell) {
				text = elide(text, c.Max, c.Elide, "...")
			}
			texts[j] = markdownEscape(text)
		}
		markdownRow(&b, texts)
	}
	for _, text := range append(t.absences(), t.Note) {
		if p := markdownParagraph(text); p != "" {
			b.WriteString("\n" + p)
		}
	}
	return b.String()
}

func markdownRow(b *strings.Builder, cells []string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func markdownSnippet(s Snippet) string {
	var b strings.Builder
	if path := markdownParagraph(s.Path); path != "" {
		b.WriteString(path + "\n")
	}
	lines := make([]string, len(s.Lines))
	for i, l := range snippetLines(s) {
		lines[i] = strings.TrimRight(l.prefix+l.text, " ") + "\n"
	}
	body := strings.Join(lines, "")
	fence := strings.Repeat("`", max(3, longestRun(body, '`')+1))
	b.WriteString(fence + "text\n" + body + fence + "\n")
	return b.String()
}

func longestRun(s string, c byte) int {
	longest, n := 0, 0
	for i := range len(s) {
		n++
		if s[i] != c {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}

// markdownPunctuation is what can open or close markup anywhere in a line of GitHub-flavoured markdown, mathematics
// and table cells included.
const markdownPunctuation = "\\`*_{}[]<>|~&$#!"

// markdownEscape escapes a string that Escape has made one line, and breaks what GitHub turns into links by itself
// (https://, www.). @names and mail addresses stay links where GitHub makes them: no escape keeps it from that.
func markdownEscape(s string) string {
	var b strings.Builder
	for i, r := range s {
		link := r == ':' && strings.HasPrefix(s[i:], "://") || r == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www")
		if link || strings.ContainsRune(markdownPunctuation, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// markdownBlock is markdownEscape for text at the start of a line or a list item, where a list marker or a rule would
// count too. Headings, quotes and fences begin with characters that are always escaped.
func markdownBlock(s string) string {
	rest := strings.TrimLeft(s, "0123456789")
	marker := rest != "" && strings.IndexByte("+-=", rest[0]) >= 0
	if digits := len(s) - len(rest); digits > 0 {
		marker = rest != "" && strings.IndexByte(".)", rest[0]) >= 0
	}
	if marker && (len(rest) == 1 || strings.IndexByte(" -=", rest[1]) >= 0) {
		return s[:len(s)-len(rest)] + "\\" + markdownEscape(rest)
	}
	return markdownEscape(s)
}
