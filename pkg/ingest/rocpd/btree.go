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
	// real is the one of want that may hold any number: its result is the bits
	// of a float64, of a NaN for what is none. -1 for none.
	real int
	// slots gives, by position up to the last wanted one, where in the result
	// a column goes, -1 for nowhere.
	slots []int
}

func newColumns(want []int, rowid, real int) columns {
	c := columns{want: want, rowid: rowid, real: real}
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

// decoder takes columns out of rows. It is used by one goroutine.
type decoder struct {
	*columns
	row []int64
	// layouts are by the types of a row: few differ in one table.
	layouts map[string]*layout
	last    *layout
}

// maxLayouts bounds what a decoder remembers.
const maxLayouts = 4096

// layout is where the wanted columns of a row are.
type layout struct {
	types  string
	fields []field
	// missing are wanted columns of the table that such a row has no number
	// for.
	missing []int
	size    int // of what the fields need
}

// field is one wanted column: where its bytes begin, and of which type they
// are.
type field struct {
	slot, at int
	kind     uint64
}

// rowidKind is the type of a field that is the row's key.
const rowidKind = 10

func newDecoder(c *columns) *decoder {
	d := &decoder{columns: c, row: make([]int64, len(c.want)), layouts: map[string]*layout{}}
	for slot := range d.row {
		d.row[slot] = d.absent(slot)
	}
	d.last = d.layout(nil)
	return d
}

// absent is what stands in a row for no number.
func (c *columns) absent(slot int) int64 {
	if slot == c.real {
		return noNumber
	}
	return trace.Absent
}

// rows hands the rows of a leaf to f, in the order of their rowids; a row is
// valid during the call only. Values that are no whole numbers are Absent.
func (d *decoder) rows(buf []byte, page uint32, usable int, f func(row []int64)) error {
	p, n, err := pageCells(buf, page, usable)
	if err != nil {
		return err
	}
	if p.kind != leafPage {
		return &treeError{page, "is no leaf"}
	}
	for i := range n {
		at := p.cell(i)
		if at < p.cells || at >= usable || !d.decode(buf[at:usable]) {
			return &treeError{page, fmt.Sprintf("holds a row that makes no sense, its number %d", i+1)}
		}
		f(d.row)
	}
	return nil
}

// decode reads the wanted columns of the cell at the beginning of b. Of a cell
// that continues on other pages, what is here is read; a wanted number that is
// not makes the cell senseless.
func (d *decoder) decode(b []byte) bool {
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
	l := d.last
	if string(types) != l.types {
		if l = d.layout(types); l == nil {
			return false
		}
		d.last = l
	}
	if l.size > len(body) {
		return false
	}
	for _, slot := range l.missing {
		d.row[slot] = d.absent(slot)
	}
	for i := range l.fields {
		f := &l.fields[i]
		if f.kind == rowidKind {
			d.row[f.slot] = int64(rowid)
			continue
		}
		if f.slot == d.real {
			d.row[f.slot] = realBits(f.kind, body[f.at:])
			continue
		}
		d.row[f.slot] = integer(f.kind, body[f.at:])
	}
	return true
}

// noNumber are the bits of a value that is no number.
const noNumber = 0x7ff8000000000001

// realBits decodes any number: SQLite stores floats without a fraction as
// integers.
func realBits(kind uint64, b []byte) int64 {
	if kind == 7 {
		return int64(binary.BigEndian.Uint64(b))
	}
	if v := integer(kind, b); v != trace.Absent {
		return int64(math.Float64bits(float64(v)))
	}
	return noNumber
}

// layout works out where the columns of rows with such types are; nil when the
// types make no sense. Columns that were added later than a row are in none of
// its fields.
func (d *decoder) layout(types []byte) *layout {
	if l := d.layouts[string(types)]; l != nil {
		return l
	}
	l := &layout{types: string(types)}
	at := 0
	for col, slot := range d.slots {
		if len(types) == 0 {
			if slot >= 0 {
				l.missing = append(l.missing, slot)
			}
			continue
		}
		kind, n := uvarint(types)
		if n == 0 {
			return nil
		}
		types = types[n:]
		width := serialWidth(kind)
		if width > maxPayload || at > maxPayload {
			return nil
		}
		switch {
		case slot < 0:
		case col == d.rowid && kind == 0:
			l.fields = append(l.fields, field{slot: slot, kind: rowidKind})
		case kind < 10:
			l.fields = append(l.fields, field{slot: slot, at: at, kind: kind})
			l.size = at + int(width)
		default:
			l.missing = append(l.missing, slot)
		}
		at += int(width)
	}
	if len(d.layouts) < maxLayouts {
		d.layouts[l.types] = l
	}
	return l
}

// maxPayload bounds a row. Source: SQLite "Limits", SQLITE_MAX_LENGTH.
const maxPayload = 1<<31 - 1

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
