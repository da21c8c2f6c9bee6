package counters

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// blockBytes is how much of a table one worker parses at a time; maxRecord
// bounds one row, as a quote that is never closed would otherwise take in the
// whole file. Blocks are cut at the same places however many workers there
// are.
const (
	blockBytes = 1 << 20
	maxRecord  = 16 << 20
)

// block is whole rows of a table, and where they begin in it.
type block struct {
	data   []byte
	offset int64
}

// blocks cuts a table into blocks of whole rows, and hands each to one of the
// workers, which share the buffers. It returns the number of bytes read.
func blocks(ctx context.Context, r io.Reader, offset int64, workers int, work func(worker int, b block)) (int64, error) {
	free := make(chan []byte, workers+1)
	for range workers + 1 {
		free <- make([]byte, 0, blockBytes+blockBytes/4)
	}
	full := make(chan block, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for b := range full {
				if ctx.Err() == nil {
					work(w, b)
				}
				free <- b.data[:0]
			}
		}()
	}
	n, err := cut(ctx, r, offset, free, full)
	close(full)
	wg.Wait()
	return n, err
}

// cut reads blocks into free buffers. What follows the last whole row of one
// begins the next.
func cut(ctx context.Context, r io.Reader, offset int64, free <-chan []byte, full chan<- block) (int64, error) {
	buf := <-free
	start := offset
	for {
		if err := ctx.Err(); err != nil {
			return offset + int64(len(buf)) - start, err
		}
		n, err := io.ReadFull(r, buf[len(buf):len(buf)+blockBytes])
		buf = buf[:len(buf)+n]
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			full <- block{buf, offset}
			return offset + int64(len(buf)) - start, nil
		case err != nil:
			return offset + int64(len(buf)) - start, err
		}
		end := lastRow(buf)
		if end == 0 {
			if len(buf) > maxRecord {
				return offset + int64(len(buf)) - start, fmt.Errorf("a row at byte %d is longer than %d MiB", offset, maxRecord>>20)
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
		full <- block{buf[:end], offset}
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

// nextRow splits the first row off data, without its line end.
func nextRow(data []byte) (row, rest []byte) {
	quotes := 0
	for from := 0; ; {
		at := bytes.IndexByte(data[from:], '\n')
		if at < 0 {
			return trimCR(data), nil
		}
		end := from + at
		quotes += bytes.Count(data[from:end], []byte{'"'})
		if quotes%2 == 0 {
			return trimCR(data[:end]), data[end+1:]
		}
		from = end + 1
	}
}

func trimCR(row []byte) []byte { return bytes.TrimSuffix(row, []byte{'\r'}) }

// splitRow splits a row into cells, which replace those in cells. Cells point
// into row; quotes are taken off.
func splitRow(row []byte, cells [][]byte) [][]byte {
	cells = cells[:0]
	for more := true; more; {
		var cell []byte
		cell, row, more = nextCell(row)
		cells = append(cells, cell)
	}
	return cells
}

// nextCell splits the first cell off a row; more says that others follow. Most
// cells are short, so a plain loop is faster than a search.
func nextCell(row []byte) (cell, rest []byte, more bool) {
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
	end, doubled := 1, false
	for {
		at := bytes.IndexByte(row[end:], '"')
		if at < 0 { // never closed
			return row[1:], nil, false
		}
		end += at
		if end+1 >= len(row) || row[end+1] != '"' {
			break
		}
		doubled = true
		end += 2
	}
	cell = row[1:end]
	if doubled {
		cell = bytes.ReplaceAll(cell, []byte(`""`), []byte(`"`))
	}
	_, rest, more = nextCell(row[end+1:])
	return cell, rest, more
}

// cellStart is where the nth cell of a row begins.
func cellStart(row []byte, n int) int {
	rest := row
	for range n {
		_, rest, _ = nextCell(rest)
	}
	return len(row) - len(rest)
}
