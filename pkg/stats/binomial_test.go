package stats

import (
	"math"
	"testing"
)

// Figures of R's binom::binom.wilson and of the closed forms at the ends.
func TestBinomial(t *testing.T) {
	for _, c := range []struct {
		k, n      int64
		low, high float64
	}{
		{70, 100, 0.604152, 0.781051},
		{0, 10, 0, 0.277533},
		{10, 10, 0.722467, 1},
		{1, 2, 0.094531, 0.905469},
	} {
		low, high, ok := Binomial(c.k, c.n, 0.95)
		if !ok || math.Abs(low-c.low) > 1e-6 || math.Abs(high-c.high) > 1e-6 {
			t.Errorf("%d of %d: %g to %g, %v; want %g to %g", c.k, c.n, low, high, ok, c.low, c.high)
		}
	}
	for _, c := range [][2]int64{{0, 0}, {-1, 4}, {5, 4}} {
		if _, _, ok := Binomial(c[0], c[1], 0.95); ok {
			t.Errorf("%d of %d has an interval", c[0], c[1])
		}
	}
	if _, _, ok := Binomial(1, 2, 1); ok {
		t.Error("an interval that is certain")
	}
}
