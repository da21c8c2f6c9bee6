package csvtable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// MaxRecord bounds one row, in bytes, as a quote that is never closed would
// otherwise take in the whole file. blockBytes is how much of a file one worker
// parses at a time; blocks are cut at the same places however many workers
// there are.
const (
	MaxRecord  = 16 << 20
	blockBytes = 1 << 20
)

// Rows reads the rows of a CSV file (RFC 4180) as bytes, without a byte order
// mark: one by one, or the rest of them in blocks.
type Rows struct {
	in     io.Reader
	buf    []byte // memory; data is a part of it
	data   []byte // read, but not yet given
	offset int64  // of data in the file
	err    error  // what ended the reading
}

// NewRows reads from in.
func NewRows(in io.Reader) *Rows { return &Rows{in: in} }

// Next returns the next row, without its line end and valid until the next
// call, and where it begins; rows of white space alone are passed over. The
// error is io.EOF behind the last row.
func (r *Rows) Next() (row []byte, at int64, err error) {
	for {
		row, rest, whole := nextRow(r.data)
		switch {
		case len(row) > MaxRecord:
			r.data, r.err = nil, fmt.Errorf("a row is longer than %d MiB", MaxRecord>>20)
		case whole || errors.Is(r.err, io.EOF) && len(r.data) > 0:
			at = r.offset
			r.offset += int64(len(r.data) - len(rest))
			r.data = rest
			if at == 0 {
				row = bytes.TrimPrefix(row, []byte("\uFEFF"))
			}
			if len(bytes.TrimSpace(row)) > 0 {
				return row, at, nil
			}
		case r.err != nil:
			return nil, r.offset, r.err
		default:
			r.fill()
		}
	}
}

// fill reads more behind data. The buffer doubles as long as one row fills it.
func (r *Rows) fill() {
	if len(r.data) > len(r.buf)/2 || r.buf == nil {
		r.buf = make([]byte, max(2*len(r.buf), 64<<10))
	}
	n := copy(r.buf, r.data)
	m, err := readFull(r.in, r.buf[n:])
	r.data, r.err = r.buf[:n+m], err
}

// readFull reads until buf is full or an error comes, which is that of the
// reader: unlike io.ReadFull it tells the end of a file from a damaged one.
func readFull(in io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var m int
		m, err = in.Read(buf[n:])
		n += m
	}
	return n, err
}

// Block is whole rows of a file, and where they begin in it.
type Block struct {
	data   []byte
	offset int64
}

// Each calls f for every row that is not only white space, with its place.
func (b Block) Each(f func(row []byte, at int64)) {
	for data := b.data; len(data) > 0; {
		at := b.offset + int64(len(b.data)-len(data))
		var row []byte
		row, data, _ = nextRow(data)
		if len(bytes.TrimSpace(row)) > 0 {
			f(row, at)
		}
	}
}

// Blocks cuts the rows that were not read yet into blocks, and hands each to
// one of the workers, which share the buffers. It returns the place behind the
// last byte that was read.
func (r *Rows) Blocks(ctx context.Context, workers int, work func(worker int, b Block)) (end int64, err error) {
	free := make(chan []byte, workers+1)
	for range workers + 1 {
		free <- make([]byte, 0, blockBytes+blockBytes/4)
	}
	full := make(chan Block, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for b := range full {
				if ctx.Err() == nil {
					work(w, b)
				}
				free <- b.data[:0]
			}
		})
	}
	end, err = cut(ctx, io.MultiReader(bytes.NewReader(r.data), r.in), r.offset, free, full)
	close(full)
	wg.Wait()
	return end, err
}

// cut reads blocks into free buffers. What follows the last whole row of one
// begins the next.
func cut(ctx context.Context, r io.Reader, offset int64, free <-chan []byte, full chan<- Block) (end int64, err error) {
	buf := <-free
	for {
		if err := ctx.Err(); err != nil {
			return offset + int64(len(buf)), err
		}
		n, err := readFull(r, buf[len(buf):len(buf)+blockBytes])
		buf = buf[:len(buf)+n]
		switch {
		case errors.Is(err, io.EOF):
			full <- Block{buf, offset}
			return offset + int64(len(buf)), nil
		case err != nil:
			return offset + int64(len(buf)), err
		}
		end := lastRow(buf)
		if end == 0 {
			if len(buf) > MaxRecord {
				return offset + int64(len(buf)), fmt.Errorf("a row at byte %d is longer than %d MiB", offset, MaxRecord>>20)
			}
			if cap(buf)-len(buf) < blockBytes {
				buf = append(make([]byte, 0, 2*len(buf)+blockBytes), buf...)
			}
			continue
		}
		next := <-free
		if cap(next) < len(buf)-end+blockBytes {
			next = make([]byte, 0, len(buf)-end+blockBytes)
		}
		next = append(next, buf[end:]...)
		full <- Block{buf[:end], offset}
		offset += int64(end)
		buf = next
	}
}

// lastRow is where the last whole row of data ends; data begins with a row.
func lastRow(data []byte) int {
	quotes := bytes.Count(data, []byte{'"'})
	for end := len(data); ; {
		at := bytes.LastIndexByte(data[:end], '\n')
		if at < 0 {
			return 0
		}
		quotes -= bytes.Count(data[at:end], []byte{'"'})
		if quotes%2 == 0 {
			return at + 1
		}
		end = at
	}
}

// nextRow splits the first row off data, without its line end; whole is false
// when data ends before the row does. Quotes that pair up are taken for right:
// Split tells.
func nextRow(data []byte) (row, rest []byte, whole bool) {
	end := bytes.IndexByte(data, '\n')
	if end >= 0 && bytes.Count(data[:end], []byte{'"'})%2 != 0 {
		end = oddEnd(data)
	}
	if end < 0 {
		return bytes.TrimSuffix(data, []byte{'\r'}), nil, false
	}
	return bytes.TrimSuffix(data[:end], []byte{'\r'}), data[end+1:], true
}

// oddEnd is where a row ends whose first line has an odd number of quotes: at
// the first line end outside of a quoted cell; behind a quote that is out of
// place, at the end of the line. It is -1 when data ends before.
func oddEnd(data []byte) int {
	for i := 0; i < len(data); i++ {
		if data[i] == '"' {
			n := closing(data[i:])
			if n < 0 {
				return -1
			}
			if i += n + 1; i < len(data) && bytes.IndexByte([]byte(",\r\n"), data[i]) < 0 {
				return lineEnd(data, i)
			}
		}
		n := bytes.IndexAny(data[i:], ",\n\"")
		if n < 0 {
			return -1
		}
		i += n
		if data[i] != ',' {
			return lineEnd(data, i)
		}
	}
	return -1
}

func lineEnd(data []byte, i int) int {
	n := bytes.IndexByte(data[i:], '\n')
	if n < 0 {
		return -1
	}
	return i + n
}

// closing is the quote that closes the one with which data begins, -1 when
// there is none. Doubled quotes do not close.
func closing(data []byte) int {
	for end := 1; ; end += 2 {
		at := bytes.IndexByte(data[min(end, len(data)):], '"')
		if at < 0 {
			return -1
		}
		end += at
		if end+1 >= len(data) || data[end+1] != '"' {
			return end
		}
	}
}

// Split splits a row into cells, which replace those in cells. Cells point
// into row; quotes are taken off. ok is false when a quote is out of place.
func Split(row []byte, cells [][]byte) (out [][]byte, ok bool) {
	out, ok = cells[:0], true
	quotes := bytes.IndexByte(row, '"') >= 0
	for more := true; more; {
		text := row
		var cell []byte
		cell, row, more = NextCell(row)
		out = append(out, cell)
		if quotes {
			ok = ok && rightQuotes(text[:len(text)-len(row)], more)
		}
	}
	return out, ok
}

// rightQuotes reports whether the quotes of a cell are where they may be; more
// says that it ends with a comma.
func rightQuotes(cell []byte, more bool) bool {
	if more {
		cell = cell[:len(cell)-1]
	}
	if len(cell) > 0 && cell[0] == '"' {
		return closing(cell) == len(cell)-1
	}
	return bytes.IndexByte(cell, '"') < 0
}

// NextCell splits the first cell off a row; more says that others follow. Most
// cells are short, so a plain loop is faster than a search.
func NextCell(row []byte) (cell, rest []byte, more bool) {
	if len(row) > 0 && row[0] == '"' {
		return quoted(row)
	}
	for i, c := range row {
		if c == ',' {
			return row[:i], row[i+1:], true
		}
	}
	return row, nil, false
}

// quoted splits a cell that begins with a quote off a row.
func quoted(row []byte) (cell, rest []byte, more bool) {
	end := closing(row)
	if end < 0 {
		return row[1:], nil, false
	}
	cell = row[1:end]
	if bytes.IndexByte(cell, '"') >= 0 {
		cell = bytes.ReplaceAll(cell, []byte(`""`), []byte(`"`))
	}
	_, rest, more = NextCell(row[end+1:])
	return cell, rest, more
}

// CellStart is where the nth cell of a row begins.
func CellStart(row []byte, n int) int {
	rest := row
	for range n {
		_, rest, _ = NextCell(rest)
	}
	return len(row) - len(rest)
}
