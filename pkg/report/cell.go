package report

import (
	"math"
	"strconv"
	"strings"
)

// Cell is one cell of a Table: what people read and what a program gets.
type Cell struct {
	Text   string // shown by Terminal and Markdown
	Value  any    // written by CSV: an int, int32, int64, uint32, uint64, float64 or string; nil when absent
	Reason string // of an absent cell: why; shown once below the table
}

// Integer is the integer types whose every value fits an int64.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32
}

// absentText stands for a value that is not known; zero stays "0".
const absentText = "-"

// Int is an integer with plain digits: an identifier, a line number, a small count.
func Int[N Integer](n N) Cell {
	return Cell{Text: strconv.FormatInt(int64(n), 10), Value: int64(n)}
}

// Cycles is a count that may be large (cycles, hits, waves, instructions), shown by Count, or in full in a column with
// Exact.
func Cycles[N Integer](n N) Cell {
	return Cell{Text: Count(int64(n)), Value: int64(n)}
}

// Pct is a share in percent (12.34 is 12.34 %) with one decimal. A share that is not zero but would be printed as
// 0.0% is "<0.1%" (">-0.1%" below zero). NaN and infinities are absent.
func Pct(x float64) Cell {
	if !finite(x) {
		return Absent("")
	}
	text := fixed(x, 1) + "%"
	if text == "0.0%" && x > 0 {
		text = "<0.1%"
	}
	if text == "0.0%" && x < 0 {
		text = ">-0.1%"
	}
	return Cell{Text: text, Value: x}
}

// Float is a number with the given count of decimals. NaN and infinities are absent.
func Float(x float64, decimals int) Cell {
	if !finite(x) {
		return Absent("")
	}
	return Cell{Text: fixed(x, max(decimals, 0)), Value: x}
}

// Text is a string that is shown and written as it is.
func Text(s string) Cell { return Cell{Text: s, Value: s} }

// Absent is a value that is not known, drawn as "-" and left empty in CSV. The reason may be empty.
func Absent(reason string) Cell { return Cell{Text: absentText, Reason: reason} }

// fixed prints x with a fixed number of decimals and without the sign of a negative zero.
func fixed(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return s
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// number returns a cell's value as a float64 (for bars, alignment and checks, never for printing).
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int32:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint32:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// exactText returns all digits of an integer value, "" for anything else.
func exactText(v any) string {
	switch v := v.(type) {
	case int:
		return groupDigits(strconv.Itoa(v))
	case int32:
		return groupDigits(strconv.FormatInt(int64(v), 10))
	case int64:
		return groupDigits(strconv.FormatInt(v, 10))
	case uint32:
		return groupDigits(strconv.FormatUint(uint64(v), 10))
	case uint64:
		return groupDigits(strconv.FormatUint(v, 10))
	}
	return ""
}

// text is what people read in column c, escaped.
func (c Column) text(cell Cell) string {
	if c.Exact {
		if s := exactText(cell.Value); s != "" {
			return s
		}
	}
	return Escape(cell.Text)
}

// elidable reports whether a cell may be cut: numbers and the mark for an absent one never are.
func elidable(cell Cell) bool {
	_, isNumber := number(cell.Value)
	return !isNumber && cell.Text != absentText
}
