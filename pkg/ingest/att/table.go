package att

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// table reads a CSV file row by row; cells are found by the names of the
// header, of which case, spaces and underscores do not count.
type table struct {
	csv  *csv.Reader
	in   *recordLimit
	cols map[string]int
	row  []string
	n    int // rows so far, bad ones included

	bad      int
	firstBad int
	err      error // what ended the reading early
}

// recordLimit ends the input when one record takes too many bytes: a quote
// that is never closed would otherwise take in the whole file.
type recordLimit struct {
	r    io.Reader
	left int
}

func (l *recordLimit) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, fmt.Errorf("a row is %w of %d MiB", errTooLarge, maxRecordBytes>>20)
	}
	n, err := l.r.Read(p)
	l.left -= n
	return n, err
}

// openTable reads the header.
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
		name = normalize(strings.TrimPrefix(name, "\uFEFF"))
		if _, ok := t.cols[name]; !ok {
			t.cols[name] = i
		}
	}
	return t, nil
}

func normalize(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", " ", "").Replace(name))
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

// note reports what was lost.
func (t *table) note(place string, n *notes) {
	if t.err != nil {
		n.add(trace.Damage, fmt.Sprintf("%s: row %d", place, t.n+1), "%s: what follows is lost", reason(t.err))
	}
	if t.bad > 0 {
		n.add(trace.Damage, fmt.Sprintf("%s: row %d", place, t.firstBad), "%d rows cannot be understood and are left out (this is the first)", t.bad)
	}
}

// has reports whether the header has the column.
func (t *table) has(name string) bool {
	_, ok := t.cols[name]
	return ok
}

// cell returns a cell of the current row, "" without such a column.
func (t *table) cell(name string) string {
	if i, ok := t.cols[name]; ok {
		return strings.TrimSpace(t.row[i])
	}
	return ""
}

// int returns an integer cell, nil when it is absent or not an integer.
func (t *table) int(name string) *int64 {
	v, err := strconv.ParseInt(t.cell(name), 10, 64)
	if err != nil {
		return nil
	}
	return &v
}

// triple returns three integer cells named by a prefix and x, y, z; nil unless
// all three are there.
func (t *table) triple(prefix string) *[3]int64 {
	x, y, z := t.int(prefix+"x"), t.int(prefix+"y"), t.int(prefix+"z")
	if x == nil || y == nil || z == nil {
		return nil
	}
	return &[3]int64{*x, *y, *z}
}
