package replay

import "testing"

// TestBusy: cycles in which another wave has the pipe, across a page border.
func TestBusy(t *testing.T) {
	left := 100
	c := &Cycles{
		resident: newBitmap(&left), issue: newBitmap(&left), valu: newBitmap(&left), matrix: newBitmap(&left),
		matrixIssue: newBitmap(&left), stalled: newLevels(&left),
	}
	const page = 1 << pageBits
	c.valu.set(page-10, page-6)
	c.matrixIssue.set(page-8, page+4)
	c.matrix.set(page-8, page+24)
	c.finish()
	s := c.NewSharer(false)
	for _, x := range []struct {
		pipe     Pipe
		from, to int64
		want     int64
	}{
		{VectorALU, page - 100, page + 100, 14},
		{VectorALU, page - 9, page + 1, 10},
		{VectorALU, page - 7, page - 7, 0},
		{MatrixPipe, page - 100, page + 100, 32},
		{MatrixPipe, page + 8, page + 20, 12},
		{MatrixPipe, 0, 64, 0},
		{NoPipe, page - 100, page + 100, 0},
	} {
		if got := s.Busy(x.pipe, x.from, x.to); got != x.want {
			t.Errorf("pipe %d, %d to %d: busy %d, want %d", x.pipe, x.from-page, x.to-page, got, x.want)
		}
	}
}
