package report

import (
	"math"
	"testing"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{
		{0, "0"},
		{999, "999"},
		{1000, "1,000"},
		{-1000, "-1,000"},
		{5309332, "5,309,332"},
		{9999999, "9,999,999"},
		{-9999999, "-9,999,999"},
		{10000000, "10.00 M"},
		{59012345, "59.01 M"},
		{59015000, "59.02 M"}, // a half rounds away from zero
		{-59015000, "-59.02 M"},
		{99994999, "99.99 M"},
		{99995000, "100.0 M"},
		{999949999, "999.9 M"},
		{999950000, "1.000 G"},
		{1234567890123, "1.235 T"},
		{math.MaxInt64, "9.223 E"},
		{math.MinInt64, "-9.223 E"},
	} {
		if got := Count(c.n); got != c.want {
			t.Errorf("Count(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}

func TestBytes(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{
		{0, "0 B"},
		{1023, "1023 B"},
		{1024, "1 KiB"},
		{1536, "1.500 KiB"},
		{65536, "64 KiB"},
		{65000, "63.48 KiB"}, // 63.4765625
		{163840, "160 KiB"},
		{1048575, "1.000 MiB"}, // 1023.999 KiB
		{1048576, "1 MiB"},
		{1047552, "1023 KiB"},
		{309237645312, "288 GiB"},
		{math.MaxInt64, "8 EiB"}, // 2^63-1 as a float64 is 2^63
		{-65536, "-64 KiB"},
	} {
		if got := Bytes(c.n); got != c.want {
			t.Errorf("Bytes(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		ns   float64
		want string
	}{
		{0, "0 ns"},
		{math.Copysign(0, -1), "0 ns"},
		{812, "812 ns"},
		{812.5, "812.5 ns"},
		{0.5, "0.500 ns"},
		{999.96, "1.000 us"},
		{1000, "1 us"},
		{12342, "12.34 us"},
		{999949, "999.9 us"},
		{999951, "1.000 ms"},
		{1.5e9, "1.500 s"},
		{123456.7e9, "123457 s"},
		{-2500, "-2.500 us"},
		{math.NaN(), "-"},
		{math.Inf(1), "-"},
	} {
		if got := Duration(c.ns); got != c.want {
			t.Errorf("Duration(%v) = %q, want %q", c.ns, got, c.want)
		}
	}
}

func TestRate(t *testing.T) {
	for _, c := range []struct {
		bytesPerSecond float64
		want           string
	}{
		{0, "0 GB/s"},
		{8e12, "8,000 GB/s"},
		{5.3251e12, "5,325 GB/s"},
		{812.34e9, "812.3 GB/s"},
		{56320e9, "56,320 GB/s"},
		{9.9996e9, "10.00 GB/s"},
		{12.3e6, "0.012 GB/s"},
		{1, "<0.001 GB/s"},
		{-1, ">-0.001 GB/s"},
		{-8e12, "-8,000 GB/s"},
		{math.Inf(-1), "-"},
	} {
		if got := Rate(c.bytesPerSecond); got != c.want {
			t.Errorf("Rate(%v) = %q, want %q", c.bytesPerSecond, got, c.want)
		}
	}
}

func TestCells(t *testing.T) {
	type tick int32
	for _, c := range []struct {
		name string
		cell Cell
		want Cell
	}{
		{"int", Int(1234567), Cell{Text: "1234567", Value: int64(1234567)}},
		{"named int", Int(tick(-7)), Cell{Text: "-7", Value: int64(-7)}},
		{"cycles", Cycles(uint32(59012345)), Cell{Text: "59.01 M", Value: int64(59012345)}},
		{"pct", Pct(45.25), Cell{Text: "45.2%", Value: 45.25}}, // 45.25 is exact in binary: to even
		{"pct zero", Pct(0), Cell{Text: "0.0%", Value: 0.0}},
		{"pct tiny", Pct(0.04), Cell{Text: "<0.1%", Value: 0.04}},
		{"pct tiny negative", Pct(-0.04), Cell{Text: ">-0.1%", Value: -0.04}},
		{"pct full", Pct(100), Cell{Text: "100.0%", Value: 100.0}},
		{"pct nan", Pct(math.NaN()), Cell{Text: "-"}},
		{"float", Float(2.345, 2), Cell{Text: "2.35", Value: 2.345}}, // 2.345 in binary is 2.34500000000000019984
		{"float negative zero", Float(-0.001, 2), Cell{Text: "0.00", Value: -0.001}},
		{"float inf", Float(math.Inf(1), 2), Cell{Text: "-"}},
		{"text", Text("a"), Cell{Text: "a", Value: "a"}},
		{"absent", Absent("why"), Cell{Text: "-", Reason: "why"}},
	} {
		if c.cell != c.want {
			t.Errorf("%s: got %#v, want %#v", c.name, c.cell, c.want)
		}
	}
}
