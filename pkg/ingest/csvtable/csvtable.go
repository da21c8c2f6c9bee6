// Package csvtable reads the CSV tables of ROCm's profilers row by row: columns
// are found by the names of the header, rows that cannot be understood are
// counted, and the memory of a row is bounded.
package csvtable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Table reads a CSV file row by row. Cells are found by the names of the
// header, of which case, spaces, hyphens and underscores do not count: methods
// take names in lower case without them ("kernelname").
type Table struct {
	rows  *Rows
	cols  map[string]int
	width int
	name  int // the column of names that may hold commas without quotes, -1 for none
	row   [][]byte
	n     int  // rows so far, bad ones included
	wrong bool // a number of the current row is none

	bad, firstBad int
	err           error // what ended the reading early
}

// Open reads the header; an empty file has no columns.
func Open(r io.Reader) (*Table, error) {
	t := &Table{rows: NewRows(r), cols: map[string]int{}, name: -1}
	header, _, err := t.rows.Next()
	if errors.Is(err, io.EOF) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	names, ok := Split(header, nil)
	if !ok {
		return nil, errors.New("a quote in the header is out of place, or never closed")
	}
	t.width = len(names)
	for i, name := range names {
		name := Normalize(string(name))
		if _, ok := t.cols[name]; !ok && name != "" {
			t.cols[name] = i
		}
	}
	t.row = make([][]byte, t.width)
	return t, nil
}

// Normalize is the form in which a header's names are compared.
func Normalize(name string) string {
	name = strings.NewReplacer("_", "", " ", "", "-", "").Replace(name)
	return strings.ToLower(name)
}

// Next reads the next good row.
func (t *Table) Next() bool {
	for {
		row, _, err := t.rows.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.err = err
			}
			return false
		}
		t.n++
		t.wrong = false
		cells, ok := Split(row, t.row)
		if ok && len(cells) > t.width {
			cells, _ = Rejoin(row, cells, t.width, t.name)
		}
		if t.row = cells; ok && len(cells) == t.width {
			return true
		}
		t.Reject()
	}
}

// Named says which column holds names that may have commas although nothing
// quotes them; see Rejoin.
func (t *Table) Named(column string) {
	if i, ok := t.cols[column]; ok {
		t.name = i
	}
}

// Bad is the number of rows that were left out so far.
func (t *Table) Bad() int { return t.bad }

// Row is the number of the current row, from 1; bad rows count.
func (t *Table) Row() int { return t.n }

// Reject counts the current row as bad.
func (t *Table) Reject() {
	if t.bad++; t.bad == 1 {
		t.firstBad = t.n
	}
}

// Notes says what was lost.
func (t *Table) Notes(file string) []trace.Note {
	var out []trace.Note
	if t.err != nil {
		out = append(out, trace.Note{
			Level: trace.Damage, File: file, Place: fmt.Sprintf("row %d", t.n+1),
			Text: t.err.Error() + ": what follows is lost",
		})
	}
	if t.bad > 0 {
		out = append(out, trace.Note{
			Level: trace.Damage, File: file, Place: fmt.Sprintf("row %d", t.firstBad),
			Text: trace.LeftOut(t.bad, "row", "rows") + " (this is the first)",
		})
	}
	return out
}

// Column is the first of several names that the header has, "" for none.
func (t *Table) Column(names ...string) string {
	for _, n := range names {
		if _, ok := t.cols[n]; ok {
			return n
		}
	}
	return ""
}

// Cell returns a cell of the current row, "" without such a column.
func (t *Table) Cell(name string) string {
	if i, ok := t.cols[name]; ok {
		return string(bytes.TrimSpace(t.row[i]))
	}
	return ""
}

// Int returns a cell's whole number; see Whole. It is nil without one, and the
// row is Wrong when something else stands there.
func (t *Table) Int(name string) *int64 {
	v, present := t.ID(name)
	t.wrong = t.wrong || v == nil && present && !Number(t.row[t.cols[name]])
	return v
}

// Nearest returns the whole number that is nearest to a cell's: averages over
// passes have fractions.
func (t *Table) Nearest(name string) *int64 {
	v, present := t.ID(name)
	if v != nil || !present {
		return v
	}
	if f := t.Float(name); f != nil && *f >= 0 && *f < 1<<62 {
		n := int64(math.Round(*f))
		return &n
	}
	return nil
}

// ID returns a whole number that names something: some writers have words
// there. present is false without such a column.
func (t *Table) ID(name string) (v *int64, present bool) {
	i, found := t.cols[name]
	if !found {
		return nil, false
	}
	if v, ok := Whole(bytes.TrimSpace(t.row[i])); ok {
		return &v, true
	}
	return nil, true
}

// Float returns a cell's number, as Int does.
func (t *Table) Float(name string) *float64 {
	cell := t.Cell(name)
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		t.wrong = t.wrong || !Number([]byte(cell))
		return nil
	}
	return &v
}

// Wrong reports whether a number of the current row that was asked for is none:
// the row is damaged.
func (t *Table) Wrong() bool { return t.wrong }

// Number reports whether a cell may stand where a number belongs: one, of
// whatever size and sign, or nothing. Marks of pandas and of rocprof-compute
// for "not there" are nothing; C writes the root of a negative zero as "-nan".
func Number(cell []byte) bool {
	cell = bytes.TrimSpace(cell)
	if _, err := strconv.ParseFloat(string(cell), 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return true
	}
	switch strings.ToLower(string(cell)) {
	case "", "na", "n/a", "none", "null", "-nan":
		return true
	}
	return false
}

// Whole reads a whole number that is not negative; ok is false for anything
// else. Some writers use floats or scientific notation.
func Whole(cell []byte) (v int64, ok bool) {
	if v, err := strconv.ParseInt(string(cell), 10, 64); err == nil {
		return v, v >= 0
	}
	f, err := strconv.ParseFloat(string(cell), 64)
	if err != nil || f < 0 || f > 1<<53 || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

// Extents returns three cells named by a prefix and x, y, z; a single cell of
// that name stands for work-items in one dimension.
func (t *Table) Extents(prefixes ...string) *[3]int64 {
	for _, p := range prefixes {
		x, y, z := t.Int(p+"x"), t.Int(p+"y"), t.Int(p+"z")
		if x != nil && y != nil && z != nil {
			return &[3]int64{*x, *y, *z}
		}
		if n := t.Int(p); n != nil {
			return &[3]int64{*n, 1, 1}
		}
	}
	return nil
}
