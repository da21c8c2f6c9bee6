package jsonscan

import "testing"

func TestExactInt(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"0", 0, true},
		{"-0", 0, true},
		{"-0.000e5", 0, true},
		{"0e99999999999", 0, true},
		{"4.0", 4, true},
		{"4e0", 4, true},
		{"40E-1", 4, true},
		{"0.05e2", 5, true},
		{"1.5e1", 15, true},
		{"100.50e1", 1005, true},
		{"100.05e1", 0, false},
		{"0.5", 0, false},
		{"1e-1", 0, false},
		{"1e-99999999999", 0, false},
		{"1e18", 1000000000000000000, true},
		{"1e19", 0, false},
		{"9007199254740993.0", 9007199254740993, true},
		{"9223372036854775807", 1<<63 - 1, true},
		{"9223372036854775808", 0, false},
		{"-9223372036854775808", -1 << 63, true},
		{"-9223372036854775809", 0, false},
		{"18446744073709551616", 0, false},
		{"92233720368547758070e-1", 1<<63 - 1, true},
	} {
		if got, ok := exactInt([]byte(c.text)); got != c.want || ok != c.ok {
			t.Errorf("%s: %d %v, want %d %v", c.text, got, ok, c.want, c.ok)
		}
	}
}

func TestShortInt(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		next int // -1: not a short number
	}{
		{"0,", 0, 1},
		{"7]", 7, 1},
		{"1234567,", 1234567, 7},
		{"1234567,9999", 1234567, 7},
		{"12345678,9999", 12345678, 8},
		{"123456789012345678]x", 123456789012345678, 18},
		{"1234567890123456789,", 0, -1},
		{"01,4567890", 0, -1},
		{"00000001,", 0, -1},
		{"4:567890123", 4, 1},
		{"4/567890123", 4, 1},
		{"45\xff\xff\xff\xff\xff\xff\xff", 45, 2},
		{"-1,45678901", 0, -1},
		{"9", 9, 1},
		{"", 0, -1},
		{"x", 0, -1},
	} {
		got, next := shortInt([]byte(c.text), 0)
		if c.next < 0 {
			c.next = len(c.text)
		}
		if got != c.want || next != c.next {
			t.Errorf("%q: %d to %d, want %d to %d", c.text, got, next, c.want, c.next)
		}
	}
}
