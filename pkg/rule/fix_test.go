package rule

import "testing"

func TestAdviceByShape(t *testing.T) {
	more := []Advice{{Loop, "load ahead"}, {GEMM | MatrixLoop, "larger tile_k"}, {0, "more waves"}}
	for _, c := range []struct {
		shape Shape
		want  string
	}{
		{0, "wait less; more waves"},
		{Loop, "wait less; load ahead; more waves"},
		{Loop | GEMM, "wait less; load ahead; more waves"},
		{Loop | GEMM | MatrixLoop, "wait less; load ahead; larger tile_k; more waves"},
	} {
		if got := Fit("wait less", more, c.shape); got != c.want {
			t.Errorf("%v: %q, want %q", c.shape.Words(), got, c.want)
		}
	}
	if got, want := Offer("wait less", more), "wait less; more waves; with a loop: load ahead; with matrix work in a loop and a GEMM: larger tile_k"; got != want {
		t.Errorf("offer: %q, want %q", got, want)
	}
}

func TestEveryFeatureHasWords(t *testing.T) {
	for f := Loop; f <= Sync; f <<= 1 {
		if len(f.Words()) != 1 {
			t.Errorf("feature %d has the words %q", f, f.Words())
		}
	}
}
