// Package stats keeps the distributions that the readers and analyzers gather,
// and gives their quantiles. It is the only place for gonum.
package stats

import (
	"math"
	"math/bits"
)

// leadBits is the number of leading bits of a value that a Histogram keeps:
// values below 2^leadBits are exact, larger ones share a bucket with those of
// the same leading bits, which is 1 part in 2^(leadBits-1) wide.
const leadBits = 11

// chunkSize is the number of buckets that get their memory together.
const chunkSize = 32

// Histogram counts non-negative integer values in bounded memory: values below
// 2048 exactly, larger ones within 0.1 %. Its sum, count and maximum are exact.
// The zero value is empty and ready to use.
type Histogram struct {
	chunks []*[chunkSize]int64 // counts by bucket; nil where all are 0
	n, sum int64
	max    int64
}

// bucket is the number of a value's bucket: buckets are in the order of values.
func bucket(v int64) int {
	octave := octave(v)
	return octave<<(leadBits-1) + int(v>>octave)
}

// octave is how many bits of v its bucket does not tell.
func octave(v int64) int { return max(bits.Len64(uint64(v))-leadBits, 0) }

// floor is the least value of a bucket.
func floor(bucket int) int64 {
	octave := max(bucket>>(leadBits-1)-1, 0)
	return int64(bucket-octave<<(leadBits-1)) << octave
}

// Add counts v once; negative values count as 0.
func (h *Histogram) Add(v int64) {
	v = max(v, 0)
	b := bucket(v)
	h.chunk(b / chunkSize)[b%chunkSize]++
	h.n++
	h.sum += v
	h.max = max(h.max, v)
}

func (h *Histogram) chunk(i int) *[chunkSize]int64 {
	if i >= len(h.chunks) {
		h.chunks = append(h.chunks, make([]*[chunkSize]int64, i+1-len(h.chunks))...)
	}
	if h.chunks[i] == nil {
		h.chunks[i] = new([chunkSize]int64)
	}
	return h.chunks[i]
}

// Merge adds all that o counted.
func (h *Histogram) Merge(o *Histogram) {
	for i, counts := range o.chunks {
		if counts == nil {
			continue
		}
		mine := h.chunk(i)
		for j, n := range counts {
			mine[j] += n
		}
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

// From returns how many of the values are v or more, those of the same bucket
// included.
func (h *Histogram) From(v int64) int64 {
	first := bucket(max(v, 0))
	var n int64
	for c, counts := range h.chunks {
		if counts == nil || (c+1)*chunkSize <= first {
			continue
		}
		for j := max(first-c*chunkSize, 0); j < chunkSize; j++ {
			n += counts[j]
		}
	}
	return n
}

// Quantile returns the smallest counted value that at least a share p (0 to 1)
// of the values do not exceed; ok is false when nothing was counted. A value
// from 2048 on stands for the least of its bucket.
func (h *Histogram) Quantile(p float64) (v int64, ok bool) {
	if h.n == 0 {
		return 0, false
	}
	share := math.Ceil(min(max(p, 0), 1) * float64(h.n))
	return h.at(int64(max(share, 1)) - 1), true
}

// at returns the least value of the bucket that holds rank i, counted from 0.
func (h *Histogram) at(i int64) int64 {
	for c, counts := range h.chunks {
		if counts == nil {
			continue
		}
		for j, n := range counts {
			if i -= n; i < 0 {
				return floor(c*chunkSize + j)
			}
		}
	}
	return 0
}
