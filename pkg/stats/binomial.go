package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Binomial is the Wilson score interval of a share of which k of n samples were:
// with the given confidence (0.95) the share lies in it. Both are from 0 to 1;
// ok is false without samples. Source: E. B. Wilson, "Probable inference, the
// law of succession, and statistical inference", JASA 22 (1927).
func Binomial(k, n int64, confidence float64) (low, high float64, ok bool) {
	if n <= 0 || k < 0 || k > n || !(confidence > 0 && confidence < 1) {
		return 0, 0, false
	}
	z := distuv.UnitNormal.Quantile((1 + confidence) / 2)
	total := float64(n)
	p := float64(k) / total
	middle := p + z*z/(2*total)
	half := z * math.Sqrt(p*(1-p)/total+z*z/(4*total*total))
	scale := 1 + z*z/total
	return max((middle-half)/scale, 0), min((middle+half)/scale, 1), true
}
