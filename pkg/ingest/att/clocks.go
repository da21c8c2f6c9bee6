package att

import (
	"sort"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxPoints bounds the clock points of one engine.
const maxPoints = 1 << 20

// readClocks reads the bytes of realtime.json:
// {"SE0": [[gfx, real], ...], "metadata": {"frequency": Hz}}.
func readClocks(b []byte, n *notes) *trace.Clocks {
	const file = "realtime.json"
	c := newCursor(b)
	clocks := &trace.Clocks{}
	engines := map[int][]trace.ClockPoint{}
	skipped := 0
	ok := c.Object(func(key []byte) bool {
		if string(key) == "metadata" {
			return c.frequency(&clocks.RealHz)
		}
		digits, ok := strings.CutPrefix(string(key), "SE")
		se, isSE := smallDecimal(digits, maxSE)
		if !ok || !isSE || c.Peek() != '[' {
			return c.Skip()
		}
		engines[se] = nil
		return c.Array(func() bool {
			var row [2]int64
			good, ok := c.record(row[:])
			if good && uint64(row[0]) < maxTime && uint64(row[1]) < maxTime && len(engines[se]) < maxPoints {
				engines[se] = append(engines[se], trace.ClockPoint{Gfx: row[0], Real: row[1]})
			} else if ok {
				skipped++
			}
			return ok
		})
	}) && c.End()
	if !ok {
		n.add(trace.Damage, file, "%s: the points before it are used", c.Place())
	}
	if skipped > 0 {
		n.add(trace.Damage, file, "%s", trace.LeftOut(skipped, "point", "points"))
	}
	for se, points := range engines {
		clocks.Engines = append(clocks.Engines, trace.EngineClock{SE: se, Points: points})
	}
	sort.Slice(clocks.Engines, func(i, j int) bool { return clocks.Engines[i].SE < clocks.Engines[j].SE })
	return clocks
}

// record reads a list of at least len(row) integers. good is false when it is
// another value, which is skipped; ok is false when the text is broken.
func (c *cursor) record(row []int64) (good, ok bool) {
	m := c.Mark()
	if n, ok := c.Ints(row); ok && n >= len(row) {
		return true, true
	}
	c.Reset(m)
	return false, c.Skip()
}

func (c *cursor) frequency(hz *int64) bool {
	*hz = 0
	if c.Peek() != '{' {
		return c.Skip()
	}
	return c.Object(func(key []byte) bool {
		if string(key) != "frequency" {
			return c.Skip()
		}
		m := c.Mark()
		if v, ok := c.Int(); ok {
			*hz = max(v, 0)
			return true
		}
		c.Reset(m)
		return c.Skip()
	})
}

// countersPerBank is how many counters one sample has.
const countersPerBank = 4

// readPerfCounters sums the bytes of a se*_perfcounter.json:
// {"data": [[time, c0, c1, c2, c3, cu, bank], ...]}. A value is the increment
// since the last sample of its bank; counter i of a bank is the trace's counter
// bank*4 + i. Source: rocprofiler-sdk att-tool, perfcounter.cpp.
func readPerfCounters(b []byte, file string, se int, names []string, n *notes) (trace.EngineCounters, bool) {
	c := newCursor(b)
	sum := trace.EngineCounters{SE: se}
	values := make([]int64, len(names))
	skipped, unnamed := 0, 0
	ok := c.Object(func(key []byte) bool {
		if string(key) != "data" || c.Peek() != '[' {
			return c.Skip()
		}
		sum.Samples = 0
		clear(values)
		return c.Array(func() bool {
			var row [countersPerBank + 3]int64
			good, ok := c.record(row[:])
			if bank := row[countersPerBank+2]; good && uint64(bank) < maxNames {
				sum.Samples++
				unnamed += addSample(values, row[1:1+countersPerBank], int(bank)*countersPerBank)
			} else if ok {
				skipped++
			}
			return ok
		})
	}) && c.End()
	if !ok {
		n.add(trace.Damage, file, "%s: the samples before it are used", c.Place())
	}
	if skipped > 0 {
		n.add(trace.Damage, file, "%s", trace.LeftOut(skipped, "sample", "samples"))
	}
	if unnamed > 0 {
		n.add(trace.Warning, file, "%s to counters that filenames.json does not name: left out", trace.Many(unnamed, "value belongs", "values belong"))
	}
	for i, name := range names {
		sum.Values = append(sum.Values, trace.CounterSum{Name: name, Value: values[i]})
	}
	return sum, sum.Samples > 0
}

// addSample adds the counters of one bank; first is the index of its first
// counter. It returns how many values other than 0 have no place.
func addSample(values, row []int64, first int) (unnamed int) {
	for i, v := range row {
		switch {
		case first+i < len(values):
			values[first+i] += v
		case v != 0:
			unnamed++
		}
	}
	return unnamed
}
