package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// CSV writes one table of the document, the one whose ID is tableID, and nothing else: a header of column keys, then
// one line a row. Numbers are the raw values, in full and with a point ("45.234567", never "45.2%"); what is absent is
// empty ("" where it would leave a blank line). Lines end in "\n"; fields are quoted where RFC 4180 or a reader that
// splits at ";" needs it.
//
// Strings pass through Escape, so a field never holds a line end. One that a spreadsheet would run as a formula (it
// begins with = + - or @, full-width ones included, and is not a number) gets an apostrophe in front.
//
// The error is the writer's, or names the tables there are, or says which part of the document is malformed (nothing is
// written then).
func CSV(w io.Writer, doc Document, tableID string) error {
	if err := doc.check(); err != nil {
		return err
	}
	for _, t := range doc.tables() {
		if t.ID == tableID {
			_, err := io.WriteString(w, csvTable(t))
			return err
		}
	}
	ids := doc.TableIDs()
	if len(ids) == 0 {
		return fmt.Errorf("no table %q: there are no tables here", tableID)
	}
	return fmt.Errorf("no table %q: use one of %s", tableID, strings.Join(ids, ", "))
}

func csvTable(t Table) string {
	var b strings.Builder
	fields := make([]string, len(t.Columns))
	for j, c := range t.Columns {
		fields[j] = csvString(c.Key)
	}
	b.WriteString(strings.Join(fields, ",") + "\n")
	for _, row := range t.Rows {
		for j := range t.Columns {
			fields[j] = csvField(cellAt(row, j).Value)
		}
		line := strings.Join(fields, ",")
		if line == "" {
			line = `""` // the one cell of the row is absent: readers skip blank lines
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// csvField prints a value that checkValue has accepted.
func csvField(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return csvString(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

func csvString(s string) string {
	s = Escape(s)
	if formula(s) {
		s = "'" + s
	}
	if strings.ContainsAny(s, "\",;") || strings.TrimSpace(s) != s || s == "" {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}

// formula reports whether a spreadsheet would take s for a formula (OWASP, "CSV Injection"). Numbers are none.
func formula(s string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, " "))
	return strings.ContainsRune("=+-@＝＋－＠", first) && !isDecimal(s)
}

// isDecimal is stricter than strconv.ParseFloat, which also takes "-Inf" and hexadecimal.
func isDecimal(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && strings.Trim(s, "+-.0123456789eE") == ""
}
