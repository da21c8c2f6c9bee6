// Package csvtable reads the CSV tables of ROCm's profilers row by row: columns
// are found by the names of the header, rows that cannot be understood are
// counted, and the memory of a row is bounded.
package csvtable

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxRecordBytes bounds one row: a quote that is never closed would otherwise
// take in the whole file.
const maxRecordBytes = 16 << 20

// recordLimit ends the input when one row takes too many bytes.
type recordLimit struct {
	r    io.Reader
	left int
}

func (l *recordLimit) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, fmt.Errorf("a row is longer than %d MiB", maxRecordBytes>>20)
	}
	n, err := l.r.Read(p)
	l.left -= n
	return n, err
}

// Table reads a CSV file row by row. Cells are found by the names of the
// header, of which case, spaces, hyphens and underscores do not count: methods
// take names in lower case without them ("kernelname").
type Table struct {
	csv  *csv.Reader
	in   *recordLimit
	cols map[string]int
	row  []string
	n    int // rows so far, bad ones included

	bad, firstBad int
	err           error // what ended the reading early
}

// Open reads the header; an empty file has no columns.
func Open(r io.Reader) (*Table, error) {
	in := &recordLimit{r: withoutBOM(r), left: maxRecordBytes}
	t := &Table{csv: csv.NewReader(in), in: in, cols: map[string]int{}}
	t.csv.ReuseRecord = true
	t.csv.FieldsPerRecord = -1
	header, err := t.csv.Read()
	if errors.Is(err, io.EOF) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	t.row = make([]string, len(header))
	for i, name := range header {
		name = Normalize(name)
		if _, ok := t.cols[name]; !ok && name != "" {
			t.cols[name] = i
		}
	}
	return t, nil
}

// withoutBOM drops a byte order mark, before which a quote would be an error.
// Reading errors come back from the reader that it returns.
func withoutBOM(r io.Reader) io.Reader {
	const bom = "\uFEFF"
	b := bufio.NewReader(r)
	if head, err := b.Peek(len(bom)); err == nil && string(head) == bom {
		if _, err := b.Discard(len(bom)); err != nil {
			return strings.NewReader("") // cannot be: the bytes were there
		}
	}
	return b
}

// Normalize is the form in which a header's names are compared.
func Normalize(name string) string {
	name = strings.NewReplacer("_", "", " ", "", "-", "").Replace(name)
	return strings.ToLower(name)
}

// Next reads the next good row.
func (t *Table) Next() bool {
	width := len(t.row)
	for {
		t.in.left = maxRecordBytes
		row, err := t.csv.Read()
		if errors.Is(err, io.EOF) {
			return false
		}
		var syntax *csv.ParseError
		if err != nil && !errors.As(err, &syntax) {
			t.err = err
			return false
		}
		t.n++
		if err == nil && len(row) == width {
			t.row = row
			return true
		}
		t.Reject()
	}
}

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
			Level: trace.Damage, Place: fmt.Sprintf("%s: row %d", file, t.n+1),
			Text: t.err.Error() + ": what follows is lost",
		})
	}
	if t.bad > 0 {
		out = append(out, trace.Note{
			Level: trace.Damage, Place: fmt.Sprintf("%s: row %d", file, t.firstBad),
			Text: fmt.Sprintf("%d rows cannot be understood and are left out (this is the first)", t.bad),
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
		return strings.TrimSpace(t.row[i])
	}
	return ""
}

// Int returns a whole number that is not negative; nil when the cell is absent
// or holds anything else. Some writers use floats or scientific notation.
func (t *Table) Int(name string) *int64 {
	s := t.Cell(name)
	if s == "" {
		return nil
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return natural(v)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return nil
	}
	return natural(int64(f))
}

func natural(v int64) *int64 {
	if v < 0 {
		return nil
	}
	return &v
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
