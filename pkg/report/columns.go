package report

// Columns declares the columns of tables whose rows are made of Ts, each with
// its cell, so that text, CSV and JSON names cannot differ.
type Columns[T any] []ColumnOf[T]

// ColumnOf is a column and the cell that a row has in it.
type ColumnOf[T any] struct {
	Column
	Cell func(row T) Cell
}

// Table makes a table of all columns.
func (c Columns[T]) Table(id string, rows []T) Table {
	t := Table{ID: id}
	for i := range c {
		t.Columns = append(t.Columns, c[i].Column)
	}
	for _, row := range rows {
		cells := make([]Cell, len(c))
		for i := range c {
			cells[i] = c[i].Cell(row)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// Col is a column with a key and a title.
func Col[T any](key, title string, cell func(row T) Cell) ColumnOf[T] {
	return ColumnOf[T]{Column{Key: key, Title: title}, cell}
}

// IntOf is an integer, absent where it is not known.
func IntOf[N Integer](p *N) Cell {
	if p == nil {
		return Absent("")
	}
	return Int(*p)
}

// FloatOf is a number with decimals, absent where it is not known.
func FloatOf(p *float64, decimals int) Cell {
	if p == nil {
		return Absent("")
	}
	return Float(*p, decimals)
}

// Positive is a count of which zero and less mean unknown.
func Positive[N Integer](n N) Cell {
	if n <= 0 {
		return Absent("")
	}
	return Int(n)
}

// TextOf is a text of which none means unknown.
func TextOf(s string) Cell {
	if s == "" {
		return Absent("")
	}
	return Text(s)
}
