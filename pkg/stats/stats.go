// Package stats is the project's only user of gonum: quantiles of the
// distributions that the readers and analyzers keep.
package stats

import (
	"maps"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// exactBits is the number of leading bits of a value that a Histogram keeps:
// values below 2^exactBits are exact, larger ones are rounded down by less
// than 1 part in 2^(exactBits-1).
const exactBits = 11

// Histogram counts non-negative integer values in bounded memory: values below
// 2048 exactly, larger ones within 0.1 %. Its sum, count and maximum are exact.
// The zero value is empty and ready to use.
type Histogram struct {
	counts map[int64]int64
	n, sum int64
	max    int64
}

// Add counts v once; negative values count as 0.
func (h *Histogram) Add(v int64) {
	v = max(v, 0)
	if h.counts == nil {
		h.counts = map[int64]int64{}
	}
	h.counts[rounded(v)]++
	h.n++
	h.sum += v
	h.max = max(h.max, v)
}

// Merge adds all that o counted.
func (h *Histogram) Merge(o *Histogram) {
	if h.counts == nil {
		h.counts = map[int64]int64{}
	}
	for v, n := range o.counts {
		h.counts[v] += n
	}
	h.n += o.n
	h.sum += o.sum
	h.max = max(h.max, o.max)
}

// Count returns the number of values.
func (h *Histogram) Count() int64 { return h.n }

// Sum returns the sum of the values.
func (h *Histogram) Sum() int64 { return h.sum }

// Max returns the largest value, 0 when there is none.
func (h *Histogram) Max() int64 { return h.max }

// Quantile returns the smallest counted value that at least a share p (0 to 1)
// of the values do not exceed; ok is false when nothing was counted.
func (h *Histogram) Quantile(p float64) (v int64, ok bool) {
	if h.n == 0 {
		return 0, false
	}
	keys := slices.Sorted(maps.Keys(h.counts))
	x := make([]float64, len(keys))
	w := make([]float64, len(keys))
	for i, k := range keys {
		x[i], w[i] = float64(k), float64(h.counts[k])
	}
	return int64(stat.Quantile(min(max(p, 0), 1), stat.Empirical, x, w)), true
}

// rounded clears the bits of v below its exactBits leading ones.
func rounded(v int64) int64 {
	drop := bits.Len64(uint64(v)) - exactBits
	if drop <= 0 {
		return v
	}
	return v >> drop << drop
}
