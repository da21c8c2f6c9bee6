package kerneltrace

import (
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

// table reads a CSV file row by row. Cells are found by the names of the
// header, of which case, spaces and underscores do not count.
type table struct {
	csv  *csv.Reader
	in   *recordLimit
	cols map[string]int
	row  []string
	n    int // rows so far, bad ones included

	bad, firstBad int
	err           error // what ended the reading early
}

// openTable reads the header; an empty file has no columns.
func openTable(r io.Reader) (*table, error) {
	in := &recordLimit{r: r, left: maxRecordBytes}
	t := &table{csv: csv.NewReader(in), in: in, cols: map[string]int{}}
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
		name = normalize(name)
		if _, ok := t.cols[name]; !ok && name != "" {
			t.cols[name] = i
		}
	}
	return t, nil
}

func normalize(name string) string {
	name = strings.NewReplacer("_", "", " ", "", "-", "", "\uFEFF", "").Replace(name)
	return strings.ToLower(name)
}

// next reads the next good row.
func (t *table) next() bool {
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
		t.reject()
	}
}

// reject counts the current row as bad.
func (t *table) reject() {
	if t.bad++; t.bad == 1 {
		t.firstBad = t.n
	}
}

// notes says what was lost.
func (t *table) notes(file string) []trace.Note {
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

// column is the first of several names that the header has, "" for none.
func (t *table) column(names ...string) string {
	for _, n := range names {
		if _, ok := t.cols[n]; ok {
			return n
		}
	}
	return ""
}

// cell returns a cell of the current row, "" without such a column.
func (t *table) cell(name string) string {
	if i, ok := t.cols[name]; ok {
		return strings.TrimSpace(t.row[i])
	}
	return ""
}

// int returns a whole number that is not negative; nil when the cell is absent
// or holds anything else. Some writers use floats or scientific notation.
func (t *table) int(name string) *int64 {
	s := t.cell(name)
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

// extents returns three cells named by a prefix and x, y, z; a single cell of
// that name stands for work-items in one dimension.
func (t *table) extents(prefixes ...string) *[3]int64 {
	for _, p := range prefixes {
		x, y, z := t.int(p+"x"), t.int(p+"y"), t.int(p+"z")
		if x != nil && y != nil && z != nil {
			return &[3]int64{*x, *y, *z}
		}
		if n := t.int(p); n != nil {
			return &[3]int64{*n, 1, 1}
		}
	}
	return nil
}
