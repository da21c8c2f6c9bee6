// Package report is what every output shares: a Document of sections (paragraphs, key-values, tables, notes, source
// snippets) and one renderer per format:
//
//	Terminal   text that fits a width, for people
//	Markdown   for issues and pull requests
//	CSV        exactly one table of a document, with raw values
//	JSON       an envelope and the typed result of a command (not the document)
//
// The same document gives the same bytes, whatever the machine: a renderer probes no terminal, no clock and no
// environment. TerminalOptions is the one place that does, for the program's entry point to call.
//
// Strings in a document may come from hostile inputs (a kernel name, a path, a source line). Every renderer passes every
// string through Escape, so nothing that a terminal, a markdown viewer or a spreadsheet would obey survives.
package report

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Document is everything a command shows, in order.
type Document struct {
	Sections []Section
}

// Section is a titled group of items. A section without a title is drawn without a heading.
type Section struct {
	ID    string // stable machine name, e.g. "hotspots"
	Title string
	Items []Item
}

// Item is one of Paragraph, KeyValues, Table, Snippet and Notes.
type Item interface{ isItem() }

// Paragraph is running text; white space, line ends included, is collapsed and the text is wrapped.
type Paragraph struct {
	Text string
}

// KeyValues is a list of facts, one a line.
type KeyValues struct {
	Items []KV
}

// KV is one fact. Note says where it comes from or what limits it, and is shown in parentheses.
type KV struct {
	Key, Value, Note string
}

// Table is a table. A row may be shorter than Columns (the rest is blank), never longer.
type Table struct {
	ID      string // machine name, unique in the document; CSV selects a table by it
	Columns []Column
	Rows    [][]Cell
	Note    string // shown below the table: denominators, what was left out
}

// Column describes one column of a Table.
type Column struct {
	Key   string // machine name in snake_case with the unit, unique in the table: stall_cycles, share_pct
	Title string // short heading for people, with the unit where the cells do not carry it
	Align Align
	Min   int   // least width in display cells when the column has to shrink; 0 for the default, 8
	Max   int   // greatest width in display cells of a text cell, in text and markdown; 0 for no limit. Numbers ignore it
	Elide Elide // which part of a text cell that is too wide goes
	Flex  bool  // the first to shrink when the table is wider than the terminal
	Exact bool  // integer cells show every digit, in groups of three, instead of their scaled text
	Bar   bool  // Terminal draws the number, from 0 to 100, as a bar behind its text
}

// Align is the side a column's cells stand at.
type Align int

// The zero Align puts a column of numbers at the right and any other at the left.
const (
	AlignAuto Align = iota
	AlignLeft
	AlignRight
)

// Elide is the part of a text that goes when it is too wide.
type Elide int

// ElideName first shortens the text as a C++ kernel name, by ShortenName.
const (
	ElideTail Elide = iota
	ElideHead
	ElideMiddle
	ElideName
)

// Snippet is a piece of source or assembly with something measured beside each line.
type Snippet struct {
	Path  string
	Lines []SnippetLine
}

// SnippetLine is one line of a Snippet. Number 0 means that the line has no number.
type SnippetLine struct {
	Number int
	Text   string
	Mark   bool   // the line the report is about
	Left   string // the measurement, already formatted, e.g. "45.2%"
}

// Notes is a list of remarks: warnings, findings, what to capture next.
type Notes struct {
	Items []Note
}

// Note is one remark. Severity may be empty.
type Note struct {
	Severity Severity
	Text     string
}

// Severity is the word in front of a note. Any word may be used; the three below have a colour.
type Severity string

// The severities that Terminal colours.
const (
	SeverityInfo    Severity = "info"
	SeverityWarning Severity = "warning"
	SeverityError   Severity = "error"
)

func (Paragraph) isItem() {}
func (KeyValues) isItem() {}
func (Table) isItem()     {}
func (Snippet) isItem()   {}
func (Notes) isItem()     {}

// TableIDs lists the tables of the document in order: what CSV accepts.
func (d Document) TableIDs() []string {
	var ids []string
	for _, t := range d.tables() {
		ids = append(ids, t.ID)
	}
	return ids
}

func (d Document) tables() []Table {
	var tables []Table
	for _, s := range d.Sections {
		for _, item := range s.Items {
			if t, ok := item.(Table); ok {
				tables = append(tables, t)
			}
		}
	}
	return tables
}

// check refuses documents that a renderer could only draw by leaving something out or by guessing.
func (d Document) check() error {
	for i, s := range d.Sections {
		for j, item := range s.Items {
			switch item.(type) {
			case Paragraph, KeyValues, Table, Snippet, Notes:
			default:
				return fmt.Errorf("section %q (number %d): item %d is a %T, which no renderer knows", s.ID, i, j, item)
			}
		}
	}
	seen := map[string]bool{}
	for _, t := range d.tables() {
		if seen[t.ID] {
			return fmt.Errorf("two tables are named %q", t.ID)
		}
		seen[t.ID] = true
		if err := t.check(); err != nil {
			return fmt.Errorf("table %q: %w", t.ID, err)
		}
	}
	return nil
}

func (t Table) check() error {
	if len(t.Columns) == 0 {
		return errors.New("no columns")
	}
	seen := map[string]bool{}
	for _, c := range t.Columns {
		if c.Key == "" || seen[c.Key] {
			return fmt.Errorf("column key %q is empty or used twice", c.Key)
		}
		seen[c.Key] = true
	}
	for i, row := range t.Rows {
		if len(row) > len(t.Columns) {
			return fmt.Errorf("row %d has %d cells for %d columns", i, len(row), len(t.Columns))
		}
		for j, cell := range row {
			if err := checkValue(cell.Value); err != nil {
				return fmt.Errorf("row %d, column %s: %w", i, t.Columns[j].Key, err)
			}
		}
	}
	return nil
}

func checkValue(v any) error {
	if v == nil {
		return nil
	}
	if _, ok := v.(string); ok {
		return nil
	}
	x, ok := number(v)
	switch {
	case !ok:
		return fmt.Errorf("a value of type %T is neither an integer, a float64 nor a string", v)
	case math.IsNaN(x) || math.IsInf(x, 0):
		return fmt.Errorf("the value %v is not a number to print", x)
	}
	return nil
}

// cell returns the cell at column j; the cells that a short row lacks are blank.
func cellAt(row []Cell, j int) Cell {
	if j < len(row) {
		return row[j]
	}
	return Cell{}
}

// rightAligned resolves the alignment of column j.
func (t Table) rightAligned(j int) bool {
	if a := t.Columns[j].Align; a != AlignAuto {
		return a == AlignRight
	}
	numbers := false
	for _, row := range t.Rows {
		v := cellAt(row, j).Value
		if v == nil {
			continue
		}
		if _, ok := number(v); !ok {
			return false
		}
		numbers = true
	}
	return numbers
}

// absences lists, once each and in order of appearance, why cells of the table are absent, with the columns concerned.
func (t Table) absences() []string {
	var reasons []string
	columns := map[string][]string{}
	for _, row := range t.Rows {
		for j, cell := range row {
			if cell.Reason == "" {
				continue
			}
			if _, ok := columns[cell.Reason]; !ok {
				reasons = append(reasons, cell.Reason)
			}
			columns[cell.Reason] = appendNew(columns[cell.Reason], t.Columns[j].Title)
		}
	}
	lines := make([]string, len(reasons))
	for i, r := range reasons {
		lines[i] = fmt.Sprintf("- in %s: %s", strings.Join(columns[r], ", "), r)
	}
	return lines
}

func appendNew(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}
