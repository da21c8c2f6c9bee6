package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
)

func TestMoments(t *testing.T) {
	var m Moments
	if _, ok := m.Mean(); ok {
		t.Error("an empty sum has a mean")
	}
	for _, v := range []int64{2, 4, 4, 4, 5, 5, 7, 9} { // a textbook example: mean 5, sum of squares about it 32
		m.Add(v)
	}
	mean, _ := m.Mean()
	sd, ok := m.StdDev()
	if mean != 5 || !ok || math.Abs(sd-math.Sqrt(32.0/7)) > 1e-15 || m.Min() != 2 || m.Max() != 9 || m.Sum() != 40 || m.Count() != 8 {
		t.Errorf("mean %v, sd %v, min %d, max %d", mean, sd, m.Min(), m.Max())
	}
	var one Moments
	one.Add(3)
	if _, ok := one.StdDev(); ok {
		t.Error("one value has a deviation")
	}
}

// Values whose squares exceed 64 bits, and close ones far from zero, where
// floating-point sums of squares would lose everything.
func TestMomentsKeepPrecision(t *testing.T) {
	const far = int64(3_600_000_000_000)
	var whole, a, b Moments
	for i := range int64(1000) {
		v := far + i%3 // deviations -1, 0, 1 about far+1, but for the last value
		whole.Add(v)
		if i < 400 {
			a.Add(v)
		} else {
			b.Add(v)
		}
	}
	b.Merge(&a)
	b.Merge(&Moments{})
	x := make([]float64, 1000)
	for i := range x {
		x[i] = float64(i % 3)
	}
	want := stat.StdDev(x, nil)
	for _, m := range []*Moments{&whole, &b} {
		if sd, ok := m.StdDev(); !ok || math.Abs(sd-want) > 1e-12 {
			t.Errorf("sd %v, want %v", sd, want)
		}
	}
	if whole != b {
		t.Errorf("parts give %+v, the whole %+v", b, whole)
	}
}

// reference interpolates between the sorted values, as numpy.percentile does.
func reference(v []int64, p float64) float64 {
	s := slices.Sorted(slices.Values(v))
	h := float64(len(s)-1) * p
	i := int(h)
	if i+1 == len(s) {
		return float64(s[i])
	}
	return float64(s[i]) + (h-float64(i))*float64(s[i+1]-s[i])
}

func TestQuantiles(t *testing.T) {
	tests := []struct {
		values      []int64
		median, p95 float64
	}{
		{[]int64{7}, 7, 7},
		{[]int64{1, 3}, 2, 2.9},
		{[]int64{3, 1, 2}, 2, 2.9},
		{[]int64{4, 1, 3, 2}, 2.5, 3.85},
		{[]int64{5, 5, 5, 5, 5}, 5, 5},
		{[]int64{1 << 40, 1, 2, 1 << 41}, 549755813889, 2034096511385.6}, // beyond 32 bits
	}
	for _, tt := range tests {
		var s Sample
		for _, v := range tt.values {
			s.Add(v)
		}
		q, ok := s.Quantiles(0.5, 0.95)
		if !ok || !s.Exact() || math.Abs(q[0]-tt.median) > 0.001 || math.Abs(q[1]-tt.p95) > 0.01 {
			t.Errorf("%v: %v, want %v and %v", tt.values, q, tt.median, tt.p95)
		}
	}
	var none Sample
	if _, ok := none.Quantiles(0.5); ok {
		t.Error("no values have a median")
	}
}

// A sample in parts gives what the whole gives, exact or rounded.
func TestSampleMerge(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1000, maxExact, maxExact + 1, 3 * maxExact} {
		values := make([]int64, n)
		for i := range values {
			values[i] = int64(math.Exp(random.Float64()*20)) + 1
		}
		var whole, a, b Sample
		for i, v := range values {
			whole.Add(v)
			if i%3 == 0 {
				a.Add(v)
			} else {
				b.Add(v)
			}
		}
		b.Merge(&a)
		if whole.Exact() != (n <= maxExact) || b.Exact() != whole.Exact() {
			t.Errorf("%d values: exact %v and %v", n, whole.Exact(), b.Exact())
		}
		ps := []float64{0, 0.05, 0.5, 0.95, 0.999, 1}
		qa, _ := whole.Quantiles(ps...)
		qb, _ := b.Quantiles(ps...)
		if !slices.Equal(qa, qb) {
			t.Errorf("%d values: %v in one piece, %v in parts", n, qa, qb)
		}
		for i, p := range ps {
			want := reference(values, p)
			if tolerance := map[bool]float64{true: 0.001, false: 0.0005*want + 1}[n <= maxExact]; math.Abs(qa[i]-want) > tolerance {
				t.Errorf("%d values: quantile %v is %v, want %v", n, p, qa[i], want)
			}
		}
	}
}

// selectRank agrees with sorting on orders that are hard for it.
func TestSelectRank(t *testing.T) {
	makers := map[string]func(i int) uint32{
		"rising": func(i int) uint32 { return uint32(i) }, "falling": func(i int) uint32 { return uint32(1000 - i) },
		"equal": func(int) uint32 { return 5 }, "two": func(i int) uint32 { return uint32(i % 2) },
		"organ pipe": func(i int) uint32 { return uint32(min(i, 1000-i)) }, "mixed": func(i int) uint32 { return uint32(i * 7919 % 1009) },
	}
	for name, f := range makers {
		for _, n := range []int{1, 2, 3, 10, 777} {
			v := make([]uint32, n)
			for i := range v {
				v[i] = f(i)
			}
			sorted := slices.Sorted(slices.Values(v))
			for _, k := range []int{0, n / 2, n * 95 / 100, n - 1} {
				if got := selectRank(v, k); got != sorted[k] {
					t.Errorf("%s, %d values: rank %d is %d, want %d", name, n, k, got, sorted[k])
				}
			}
		}
	}
}
