package report

import "testing"

// TestColumns: a table has the declared columns in order, with the cells of
// each row.
func TestColumns(t *testing.T) {
	columns := Columns[int]{
		Col("n", "number", func(n int) Cell { return Int(n) }),
		Col("twice_ns", "twice", func(n int) Cell { return Positive(2 * n) }),
	}
	all := columns.Table("t", []int{0, 7})
	if len(all.Columns) != 2 || all.Columns[1].Title != "twice" || all.Rows[1][1].Value != int64(14) || all.Rows[0][1].Value != nil {
		t.Errorf("%+v", all)
	}
}
