package csvtable

import "bytes"

// Rejoin makes one cell of those that a name with commas fell into where the
// writer did not quote it: rocprof before ROCm 5, and tools that rewrite tables.
// cells are those of a row, of which a good one has width; name is the place
// of the name. Only commas of the name can be too many, so that what stands on
// both sides of it is told by counting; ok is false when the cells behind it
// are not what stands there in such tables (numbers, addresses, the names of
// counters), or the name is partly quoted.
func Rejoin(row []byte, cells [][]byte, width, name int) (out [][]byte, ok bool) {
	extra := len(cells) - width
	if extra <= 0 || name < 0 || name >= width || bytes.IndexByte(row[CellStart(row, name):], '"') >= 0 {
		return cells, false
	}
	for _, cell := range cells[name+extra+1:] {
		if !Number(cell) && !word(cell) {
			return cells, false
		}
	}
	start := CellStart(row, name)
	end := start
	for _, cell := range cells[name : name+extra+1] {
		end += len(cell) + 1
	}
	cells[name] = row[start : end-1]
	return append(cells[:name+1], cells[name+extra+1:]...), true
}

// word reports whether a cell is one word of letters, digits and "_[].".
func word(cell []byte) bool {
	for _, c := range cell {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && bytes.IndexByte([]byte("_[]."), c) < 0 {
			return false
		}
	}
	return true
}
