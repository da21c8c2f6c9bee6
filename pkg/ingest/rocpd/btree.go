package rocpd

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Page types of a table's b-tree. Source: SQLite "Database File Format",
// section 1.6.
const (
	interiorPage = 0x05
	leafPage     = 0x0d
)

// maxTreeDepth is above the depth of any real table: a page of 512 bytes
// points to at least 30 others.
const maxTreeDepth = 20

// treeError is a page that is not what the tree needs.
type treeError struct {
	page uint32
	what string
}

func (e *treeError) Error() string { return fmt.Sprintf("page %d %s", e.page, e.what) }

// leaves returns the leaf pages of a table in the order of its rowids. Pages
// that make no sense are left out and counted.
func (m *image) leaves(ctx context.Context, root uint32) (pages []uint32, bad int, err error) {
	w := treeWalk{m: m, ctx: ctx, buf: make([]byte, m.pageSize)}
	err = w.visit(root, 0)
	return w.leaves, w.bad, err
}

// treeWalk collects the leaves of one tree.
type treeWalk struct {
	m      *image
	ctx    context.Context
	buf    []byte
	leaves []uint32
	seen   int64
	bad    int
}

// visit looks at a page and those below it. All pages below an interior page
// are of one kind, so that of a row of leaves only the first one is read.
func (w *treeWalk) visit(page uint32, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.seen++; w.seen > w.m.pages || int64(len(w.leaves)) > w.m.pages || depth > maxTreeDepth {
		return &treeError{page, "is part of a tree that never ends"}
	}
	kind, children, err := w.page(page)
	switch {
	case err != nil:
		w.bad++
		return nil
	case kind == leafPage:
		w.leaves = append(w.leaves, page)
		return nil
	}
	for i, child := range children {
		if i == 0 {
			if kind, _, err = w.page(child); err == nil && kind == leafPage {
				w.leaves = append(w.leaves, children...)
				return nil
			}
		}
		if err := w.visit(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// page reads the kind of a page, and the children of an interior one.
func (w *treeWalk) page(page uint32) (kind byte, children []uint32, err error) {
	if page == 0 || int64(page) > w.m.pages {
		return 0, nil, &treeError{page, "does not exist"}
	}
	if err := w.m.readPage(w.buf, page); err != nil {
		return 0, nil, err
	}
	p, cells, err := pageCells(w.buf, page, w.m.usable)
	if err != nil || p.kind == leafPage {
		return p.kind, nil, err
	}
	for i := range cells {
		at := p.cell(i)
		if at < 0 || at+4 > w.m.usable {
			return 0, nil, &treeError{page, "points outside of itself"}
		}
		children = append(children, binary.BigEndian.Uint32(w.buf[at:]))
	}
	return p.kind, append(children, binary.BigEndian.Uint32(w.buf[p.header+8:])), nil
}

func (m *image) readPage(buf []byte, page uint32) error {
	_, err := m.ReadAt(buf[:m.pageSize], int64(page-1)*int64(m.pageSize))
	return err
}

// pageView is a page of a tree.
type pageView struct {
	buf    []byte
	kind   byte
	header int // where the page's header begins
	cells  int // where its cell pointers begin
}

// pageCells reads the header of a page and the number of its cells.
func pageCells(buf []byte, page uint32, usable int) (p pageView, n int, err error) {
	p = pageView{buf: buf}
	if page == 1 {
		p.header = headerSize
	}
	p.kind = buf[p.header]
	n = int(binary.BigEndian.Uint16(buf[p.header+3:]))
	p.cells = p.header + 8
	switch p.kind {
	case interiorPage:
		p.cells += 4
	case leafPage:
	default:
		return p, 0, &treeError{page, "belongs to no table"}
	}
	if p.cells+2*n > usable {
		return p, 0, &treeError{page, "has more rows than it can hold"}
	}
	return p, n, nil
}

// cell is where cell i begins.
func (p *pageView) cell(i int) int { return int(binary.BigEndian.Uint16(p.buf[p.cells+2*i:])) }

// columns are the columns to take out of each row, by their position in the
// table; -1 gives trace.Absent. rowid is the position of the INTEGER PRIMARY
// KEY, -1 for none.
type columns struct {
	want  []int
	rowid int
	// slots gives, by position up to the last wanted one, where in the result
	// a column goes, -1 for nowhere.
	slots []int
}

func newColumns(want []int, rowid int) columns {
	c := columns{want: want, rowid: rowid}
	for slot, at := range want {
		for len(c.slots) <= at {
			c.slots = append(c.slots, -1)
		}
		if at >= 0 {
			c.slots[at] = slot
		}
	}
	return c
}

// rows hands the rows of a leaf to f, in the order of their rowids; row is
// valid during the call only. Values that are no whole numbers are Absent.
func (c *columns) rows(buf []byte, page uint32, usable int, row []int64, f func(row []int64)) error {
	p, n, err := pageCells(buf, page, usable)
	if err != nil {
		return err
	}
	if p.kind != leafPage {
		return &treeError{page, "is no leaf"}
	}
	for i := range n {
		at := p.cell(i)
		if at < p.cells || at >= usable || !c.decode(buf[at:usable], row) {
			return &treeError{page, fmt.Sprintf("holds a row that makes no sense, its number %d", i+1)}
		}
		f(row)
	}
	return nil
}

// decode reads the wanted columns of the cell at the beginning of b. Of a cell
// that continues on other pages, what is here is read; a wanted column that is
// not makes the cell senseless.
func (c *columns) decode(b []byte, row []int64) bool {
	_, n := uvarint(b)
	rowid, k := uvarint(b[n:])
	if n == 0 || k == 0 {
		return false
	}
	b = b[n+k:]
	size, n := uvarint(b)
	if n == 0 || size > uint64(len(b)) || int(size) < n {
		return false
	}
	types, body := b[n:size], b[size:]
	for i := range row {
		row[i] = trace.Absent
	}
	for col, slot := range c.slots {
		if len(types) == 0 {
			return true // columns that were added later than the row
		}
		kind := uint64(types[0])
		if kind < 0x80 {
			types = types[1:]
		} else {
			if kind, n = uvarint(types); n == 0 {
				return false
			}
			types = types[n:]
		}
		width := serialWidth(kind)
		if width > uint64(len(body)) {
			return kind >= 12 && col == len(c.slots)-1 // a text that goes on elsewhere, and the last one
		}
		switch {
		case slot < 0:
		case col == c.rowid && kind == 0:
			row[slot] = int64(rowid)
		default:
			row[slot] = integer(kind, body)
		}
		body = body[width:]
	}
	return true
}

// serialWidth is the size of a value in bytes by its type. Source: SQLite
// "Database File Format", section 2.1.
func serialWidth(kind uint64) uint64 {
	if kind >= 12 {
		return (kind - 12) / 2
	}
	return uint64([12]byte{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0}[kind])
}

// integer decodes a whole number; Absent for anything else. Its bytes are
// there.
func integer(kind uint64, b []byte) int64 {
	switch kind {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	case 3:
		return int64(int8(b[0]))<<16 | int64(b[1])<<8 | int64(b[2])
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	case 5:
		return int64(int16(binary.BigEndian.Uint16(b)))<<32 | int64(binary.BigEndian.Uint32(b[2:]))
	case 6:
		return int64(binary.BigEndian.Uint64(b))
	case 7:
		return wholeFloat(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case 8, 9:
		return int64(kind) - 8
	}
	return trace.Absent
}

// wholeFloat is a float as an integer, Absent when it is none: writers store
// what exceeds an int64 as a float.
func wholeFloat(f float64) int64 {
	if f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return trace.Absent
	}
	return int64(f)
}

// uvarint reads a variable-length integer of up to 9 bytes; n is 0 when b is
// too short. Source: SQLite "Database File Format", section 1.6.
func uvarint(b []byte) (v uint64, n int) {
	for i := range min(len(b), 8) {
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	if len(b) < 9 {
		return 0, 0
	}
	return v<<8 | uint64(b[8]), 9
}
