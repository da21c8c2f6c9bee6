package report

import (
	"strconv"
	"strings"
)

// exactLimit is the first magnitude whose grouped digits need more than nine characters ("9,999,999" has nine).
const exactLimit = 10_000_000

// siUnits are the decimal prefixes Count scales by, smallest first.
var siUnits = [...]struct {
	size   uint64
	suffix string
}{
	{1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}, {1e18, "E"},
}

// Count prints a count: every digit in groups of three while they fit nine characters (the sign not counted), four
// significant digits and a decimal prefix beyond: "5,309,332", "59.01 M". Halves round away from zero; the rounding is
// done in integers, so it is exact.
func Count(n int64) string {
	sign, m := "", uint64(n)
	if n < 0 {
		sign, m = "-", -uint64(n) // two's complement: right for the least int64 too
	}
	if m < exactLimit {
		return sign + groupDigits(strconv.FormatUint(m, 10))
	}
	return sign + scaleCount(m)
}

// scaleCount prints m, at least 1e6, as d.ddd, dd.dd or ddd.d and a prefix.
func scaleCount(m uint64) string {
	for _, u := range siUnits {
		step := u.size / 1000
		for decimals := 3; decimals >= 1; decimals-- {
			q := (m + step/2) / step
			if q < 10_000 {
				digits := strconv.FormatUint(q, 10)
				point := len(digits) - decimals
				return digits[:point] + "." + digits[point:] + " " + u.suffix
			}
			step *= 10
		}
	}
	return strconv.FormatUint(m, 10) // not reached: 2^64 is 18.45 E
}

// groupDigits puts a comma between every three digits of a decimal integer.
func groupDigits(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	for i, d := range []byte(s) {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(d)
	}
	return sign + b.String()
}

// scaledUnit is one step of a unit family: values of at least size base units are printed in it.
type scaledUnit struct {
	size float64
	name string
}

var (
	byteUnits = [...]scaledUnit{
		{1, "B"}, {1 << 10, "KiB"}, {1 << 20, "MiB"}, {1 << 30, "GiB"}, {1 << 40, "TiB"}, {1 << 50, "PiB"}, {1 << 60, "EiB"},
	}
	timeUnits = [...]scaledUnit{{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}
)

// Bytes prints a size in binary units (1 KiB = 1024 B, IEC 80000-13). Whole multiples print without decimals
// ("64 KiB"), anything else with four significant digits ("63.48 KiB"). Beyond 2^53 bytes (8 PiB) the size is that of
// the nearest float64.
func Bytes(n int64) string { return scale(float64(n), 1024, byteUnits[:]) }

// Duration prints nanoseconds as ns, us, ms or s: whole numbers of the unit without decimals ("812 ns"), anything else
// with four significant digits ("12.34 us"). NaN and infinities print as absent.
func Duration(ns float64) string { return scale(ns, 1000, timeUnits[:]) }

// Rate prints a bandwidth, given in bytes a second, always in decimal GB/s (1e9 B/s, the unit of data sheets) so that
// two rates compare at a glance: four significant digits, at most three decimals. NaN and infinities print as absent.
func Rate(bytesPerSecond float64) string {
	const unit = " GB/s"
	g := bytesPerSecond / 1e9
	switch {
	case !finite(g):
		return absentText
	case g == 0:
		return "0" + unit
	case g > -0.0005 && g < 0:
		return ">-0.001" + unit
	case g > 0 && g < 0.0005:
		return "<0.001" + unit
	}
	whole, decimals, ok := strings.Cut(significant4(g), ".")
	if ok {
		decimals = "." + decimals
	}
	return groupDigits(whole) + decimals + unit
}

// scale prints x in the largest of the units in which it is, after rounding, at least one.
func scale(x, step float64, units []scaledUnit) string {
	if !finite(x) {
		return absentText
	}
	magnitude := max(x, -x)
	i := 0
	for i+1 < len(units) && round4(magnitude/units[i].size) >= step {
		i++
	}
	q := x / units[i].size
	if whole := strconv.FormatFloat(q, 'f', -1, 64); !strings.Contains(whole, ".") {
		if whole == "-0" {
			whole = "0"
		}
		return whole + " " + units[i].name
	}
	return significant4(q) + " " + units[i].name
}

// significant4 prints x with four significant digits, at most three decimals, and never fewer digits than its integer
// part has.
func significant4(x float64) string {
	// The exponent is taken after rounding to four digits: 9.9996 has the exponent of 10.00.
	mantissa := strconv.FormatFloat(x, 'e', 3, 64)
	exponent, err := strconv.Atoi(mantissa[strings.IndexByte(mantissa, 'e')+1:])
	if err != nil {
		return mantissa
	}
	return fixed(x, min(max(3-exponent, 0), 3))
}

// round4 rounds x to four significant digits.
func round4(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 3, 64), 64)
	if err != nil {
		return x
	}
	return y
}
