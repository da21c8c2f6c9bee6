package trust

import "testing"

// A part of nothing is no share, and no part is more than the whole.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		part, whole int64
		want        float64
	}{{1, 4, 0.25}, {4, 4, 1}, {5, 4, 1}, {0, 4, 0}, {-1, 4, 0}, {3, 0, 0}, {3, -4, 0}, {0, 0, 0}} {
		if got := share(c.part, c.whole); got != c.want {
			t.Errorf("share(%d, %d) = %g, want %g", c.part, c.whole, got, c.want)
		}
	}
}
