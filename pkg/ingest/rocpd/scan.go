package rocpd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// windowBytes is how much of the file is read at once.
const windowBytes = 256 << 10

// scanReport says what a scan read.
type scanReport struct {
	rows int64
	// lost are pages whose rows could not be read, the first for this reason.
	lost  int
	first error
}

func (r *scanReport) add(o scanReport) {
	r.rows += o.rows
	r.lost += o.lost
	if r.first == nil {
		r.first = o.first
	}
}

// sink takes in the rows that one goroutine reads. A row is valid only during
// the call.
type sink func(row []int64)

// scan hands every row of a table to sinks, up to workers at a time, each with
// a contiguous part of the table; newSink is called once per part, in order.
// Columns that the table lacks are Absent. The error is that of the context,
// or of a table that cannot be read at all.
func (s *session) scan(ctx context.Context, t *table, want []string, workers int, newSink func() sink) (scanReport, error) {
	if t.root == 0 {
		return s.scanSQL(ctx, t, want, newSink())
	}
	return s.image.scan(ctx, t, want, workers, newSink)
}

// minLeaves is how many pages are worth a goroutine.
const minLeaves = 64

func (m *image) scan(ctx context.Context, t *table, want []string, workers int, newSink func() sink) (scanReport, error) {
	at := make([]int, len(want))
	for i, name := range want {
		at[i] = slices.Index(t.columns, columnName(name))
	}
	cols := newColumns(at, t.rowid, slices.Index(want, realColumn))
	leaves, bad, err := m.leaves(ctx, t.root)
	if err != nil {
		return scanReport{}, err
	}
	parts := min(max(workers, 1), max(len(leaves)/minLeaves, 1))
	reports := make([]scanReport, parts)
	errs := make([]error, parts)
	var wg sync.WaitGroup
	for i := range parts {
		part := leaves[i*len(leaves)/parts : (i+1)*len(leaves)/parts]
		to := newSink()
		wg.Go(func() { reports[i], errs[i] = m.scanLeaves(ctx, part, &cols, to) })
	}
	wg.Wait()
	out := scanReport{lost: bad}
	for i := range parts {
		if errs[i] != nil {
			return out, errs[i]
		}
		out.add(reports[i])
	}
	if out.lost > 0 && out.first == nil {
		out.first = errors.New(trace.Many(out.lost, "page of its tree is damaged", "pages of its tree are damaged"))
	}
	return out, nil
}

// scanLeaves reads leaves through a window of the file, since neighbours in a
// table are mostly neighbours in the file.
func (m *image) scanLeaves(ctx context.Context, leaves []uint32, cols *columns, to sink) (scanReport, error) {
	var out scanReport
	d := newDecoder(cols)
	perWindow := uint32(max(windowBytes/m.pageSize, 1))
	window := make([]byte, int(perWindow)*m.pageSize)
	var first, held uint32 // the pages in the window
	count := func(row []int64) { out.rows++; to(row) }
	for _, page := range leaves {
		if page < first || page >= first+held {
			if err := ctx.Err(); err != nil {
				return out, err
			}
			n, err := m.ReadAt(window, (int64(page)-1)*int64(m.pageSize))
			if err != nil && err != io.EOF {
				return out, err
			}
			first, held = page, uint32(n/m.pageSize)
			if held == 0 {
				out.add(scanReport{lost: 1, first: &treeError{page, "does not exist"}})
				continue
			}
		}
		buf := window[int(page-first)*m.pageSize:][:m.pageSize]
		if err := d.rows(buf, page, m.usable, count); err != nil {
			out.add(scanReport{lost: 1, first: err})
		}
	}
	return out, nil
}

// scanSQL reads a table that is not an ordinary one.
func (s *session) scanSQL(ctx context.Context, t *table, want []string, to sink) (rep scanReport, err error) {
	names := make([]string, len(want))
	for i := range want {
		names[i] = columnName(want[i])
	}
	rows, err := s.db.QueryContext(ctx, t.selects(names...))
	if err != nil {
		return rep, err
	}
	values, into := make([]any, len(want)), make([]any, len(want))
	for i := range values {
		into[i] = &values[i]
	}
	row := make([]int64, len(want))
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return rep, err
		}
		for i, v := range values {
			if row[i] = wholeValue(v); want[i] == realColumn {
				row[i] = realValue(v)
			}
		}
		rep.rows++
		to(row)
	}
	if err := rows.Err(); err != nil && ctx.Err() == nil {
		rep.lost, rep.first = 1, err
	}
	if err := rows.Close(); err != nil {
		return rep, err
	}
	return rep, ctx.Err()
}

// wholeValue is what integer is for a value that SQLite decoded.
func wholeValue(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case float64:
		return wholeFloat(v)
	}
	return trace.Absent
}

// realColumn is the only column that is read as a float, that of counters.
const realColumn = "value AS REAL"

// columnName is the name of a wanted column in its table.
func columnName(want string) string {
	name, _, _ := strings.Cut(want, " AS ")
	return name
}

// realValue is what realBits is for a value that SQLite decoded.
func realValue(v any) int64 {
	switch v := v.(type) {
	case int64:
		return int64(math.Float64bits(float64(v)))
	case float64:
		return int64(math.Float64bits(v))
	}
	return noNumber
}

// note says what a scan lost; ok is false when that is nothing.
func (r *scanReport) note(file, what string) (trace.Note, bool) {
	if r.lost == 0 {
		return trace.Note{}, false
	}
	return trace.Note{
		Level: trace.Damage, File: file,
		Text: fmt.Sprintf("damaged: %d %s were read, those of %s are lost (%s)", r.rows, what, trace.Many(r.lost, "page", "pages"), strings.TrimSpace(r.first.Error())),
	}, true
}
