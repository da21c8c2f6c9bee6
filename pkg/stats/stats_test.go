package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHistogramEmpty(t *testing.T) {
	var h Histogram
	if _, ok := h.Quantile(0.5); ok || h.Count() != 0 || h.Max() != 0 {
		t.Errorf("an empty histogram has a median, %d values, maximum %d", h.Count(), h.Max())
	}
}

func TestHistogramNearestRank(t *testing.T) {
	// The nearest rank of 1..20: the 95 % quantile is the 19th value.
	var h Histogram
	for v := int64(20); v >= 1; v-- {
		h.Add(v)
	}
	for p, want := range map[float64]int64{0: 1, 0.05: 1, 0.5: 10, 0.95: 19, 0.951: 20, 1: 20} {
		if got, ok := h.Quantile(p); !ok || got != want {
			t.Errorf("quantile %g is %d, want %d", p, got, want)
		}
	}
}

// TestHistogramAgainstSorting compares with the sorted values themselves: the
// error bound, and that merging in any split changes nothing.
func TestHistogramAgainstSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var whole, a, b Histogram
	var values []int64
	var sum int64
	for range 5000 {
		v := int64(1) << rng.IntN(40)
		v += rng.Int64N(v)
		values = append(values, v)
		sum += v
		whole.Add(v)
		if rng.IntN(2) == 0 {
			a.Add(v)
		} else {
			b.Add(v)
		}
	}
	a.Merge(&b)
	slices.Sort(values)
	if whole.Sum() != sum || whole.Max() != values[len(values)-1] || whole.Count() != 5000 {
		t.Errorf("sum %d max %d count %d", whole.Sum(), whole.Max(), whole.Count())
	}
	for _, p := range []float64{0.01, 0.25, 0.5, 0.9, 0.95, 0.99} {
		exact := values[int(p*5000)-1]
		got, _ := whole.Quantile(p)
		if got > exact || float64(exact-got) > float64(exact)/1024 {
			t.Errorf("quantile %g is %d, exactly %d", p, got, exact)
		}
		if merged, _ := a.Quantile(p); merged != got {
			t.Errorf("merged quantile %g is %d, not %d", p, merged, got)
		}
	}
}

func TestHistogramFrom(t *testing.T) {
	var h Histogram
	for _, v := range []int64{0, 3, 3, 40, 100, 5000} {
		h.Add(v)
	}
	for v, want := range map[int64]int64{-1: 6, 0: 6, 1: 5, 3: 5, 4: 3, 40: 3, 41: 2, 101: 1, 5000: 1, 6000: 0} {
		if got := h.From(v); got != want {
			t.Errorf("%d values from %d on, want %d", got, v, want)
		}
	}
}
