package stats

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// Moments sums integer values exactly, so that the sums of parts, merged in
// any order, give the same variance. The zero value is empty and ready to use.
// The sum of the values must fit an int64.
type Moments struct {
	n, sum   int64
	min, max int64
	hi, lo   uint64 // the sum of squares, 128 bits
}

// Add counts v once; v must not be negative.
func (m *Moments) Add(v int64) {
	if m.n == 0 || v < m.min {
		m.min = v
	}
	m.max = max(m.max, v)
	m.n++
	m.sum += v
	hi, lo := bits.Mul64(uint64(v), uint64(v))
	var carry uint64
	m.lo, carry = bits.Add64(m.lo, lo, 0)
	m.hi, _ = bits.Add64(m.hi, hi, carry)
}

// Merge adds all that o counted.
func (m *Moments) Merge(o *Moments) {
	if o.n == 0 {
		return
	}
	if m.n == 0 || o.min < m.min {
		m.min = o.min
	}
	m.max = max(m.max, o.max)
	m.n += o.n
	m.sum += o.sum
	var carry uint64
	m.lo, carry = bits.Add64(m.lo, o.lo, 0)
	m.hi, _ = bits.Add64(m.hi, o.hi, carry)
}

// Count returns the number of values.
func (m *Moments) Count() int64 { return m.n }

// Sum returns the sum of the values.
func (m *Moments) Sum() int64 { return m.sum }

// Min and Max return the extremes, 0 when there is no value.
func (m *Moments) Min() int64 { return m.min }

// Max returns the largest value, 0 when there is none.
func (m *Moments) Max() int64 { return m.max }

// Mean returns the arithmetic mean; ok is false when there is no value.
func (m *Moments) Mean() (mean float64, ok bool) {
	if m.n == 0 {
		return 0, false
	}
	return float64(m.sum) / float64(m.n), true
}

// StdDev returns the sample standard deviation, that of n-1 degrees of
// freedom; ok is false for fewer than two values.
func (m *Moments) StdDev() (sd float64, ok bool) {
	if m.n < 2 {
		return 0, false
	}
	squares := new(big.Int).SetUint64(m.hi)
	squares.Lsh(squares, 64).Add(squares, new(big.Int).SetUint64(m.lo))
	n, sum := big.NewInt(m.n), big.NewInt(m.sum)
	squares.Mul(squares, n).Sub(squares, sum.Mul(sum, sum))
	num, _ := new(big.Float).SetInt(squares).Float64()
	return math.Sqrt(num / (float64(m.n) * float64(m.n-1))), true
}

// maxExact is how many values a Sample keeps as they are.
const maxExact = 1 << 16

// Sample keeps values for quantiles in bounded memory: up to 65,536 values
// exactly, more of them within 0.05 %. Which of both it is depends on the
// number of values only, not on how they came. The zero value is empty.
type Sample struct {
	small   []uint32   // exact values below 2^32
	large   []int64    // the others
	spilled *Histogram // nil while the sample is exact
	n       int64
}

// Add counts v once; negative values count as 0.
func (s *Sample) Add(v int64) {
	v = max(v, 0)
	s.n++
	switch {
	case s.spilled != nil:
		s.spilled.Add(v)
	case v <= math.MaxUint32:
		s.small = append(s.small, uint32(v))
	default:
		s.large = append(s.large, v)
	}
	if s.spilled == nil && s.n > maxExact {
		s.spill()
	}
}

// Merge adds all that o counted. o must not be used afterwards.
func (s *Sample) Merge(o *Sample) {
	s.n += o.n
	if s.spilled == nil && o.spilled == nil && s.n <= maxExact {
		s.small = append(s.small, o.small...)
		s.large = append(s.large, o.large...)
		return
	}
	if s.spilled == nil {
		s.spill()
	}
	if o.spilled == nil {
		o.spill()
	}
	s.spilled.Merge(o.spilled)
}

// Exact reports whether quantiles are those of the values themselves.
func (s *Sample) Exact() bool { return s.spilled == nil }

func (s *Sample) spill() {
	s.spilled = &Histogram{}
	for _, v := range s.small {
		s.spilled.Add(int64(v))
	}
	for _, v := range s.large {
		s.spilled.Add(v)
	}
	s.small, s.large = nil, nil
}

// Quantiles returns the quantiles p (0 to 1) with linear interpolation between
// neighbouring values, as numpy and most spreadsheets do (type 7 of Hyndman
// and Fan, "Sample Quantiles in Statistical Packages", 1996); ok is false when
// there is no value. They are rounded to 0.001. It may reorder what the sample keeps.
func (s *Sample) Quantiles(ps ...float64) (qs []float64, ok bool) {
	if s.n == 0 {
		return nil, false
	}
	slices.Sort(s.large)
	for _, p := range ps {
		h := float64(s.n-1) * min(max(p, 0), 1)
		i := int64(h)
		a := s.at(i)
		if frac := h - float64(i); frac > 0 {
			a += frac * (s.at(i+1) - a)
		}
		qs = append(qs, math.Round(a*1000)/1000)
	}
	return qs, true
}

// at returns the value at rank i, counted from 0, once large is sorted.
func (s *Sample) at(i int64) float64 {
	if s.spilled != nil {
		// The middle of the bucket.
		v := s.spilled.at(i)
		return float64(v) + float64(int64(1)<<octave(v)-1)/2
	}
	if i < int64(len(s.small)) {
		return float64(selectRank(s.small, int(i)))
	}
	return float64(s.large[i-int64(len(s.small))])
}

// selectRank returns the value at rank k of v, and puts v in an order in which
// it is at place k (Hoare, "Algorithm 65: Find", 1961).
func selectRank(v []uint32, k int) uint32 {
	lo, hi := 0, len(v)-1
	for rounds := 2 * bits.Len(uint(len(v))); lo < hi; rounds-- {
		if rounds == 0 { // an order that keeps halving from working
			slices.Sort(v[lo : hi+1])
			break
		}
		pivot := v[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return v[k]
		}
	}
	return v[k]
}
