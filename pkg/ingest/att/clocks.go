package att

import (
	"cmp"
	"slices"
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
	var samples []counterSample
	skipped, unnamed := 0, 0
	ok := c.Object(func(key []byte) bool {
		if string(key) != "data" || c.Peek() != '[' {
			return c.Skip()
		}
		sum.Samples = 0
		clear(values)
		samples = samples[:0]
		return c.Array(func() bool {
			var row [countersPerBank + 3]int64
			good, ok := c.record(row[:])
			if bank := row[countersPerBank+2]; good && uint64(bank) < maxNames {
				sum.Samples++
				samples = append(samples, counterSample{time: row[0], values: [countersPerBank]int64(row[1:]), bank: bank, cu: row[countersPerBank+1]})
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
	sliceSamples(samples, &sum)
	return sum, sum.Samples > 0
}

// counterSample is one row of a se*_perfcounter.json.
type counterSample struct {
	time     int64
	values   [countersPerBank]int64
	bank, cu int64
	from     int64 // where its increment begins
	first    bool  // of its bank and compute unit
}

// sliceSamples spreads the increments of samples over the time that they cover.
func sliceSamples(samples []counterSample, sum *trace.EngineCounters) {
	samples = slices.DeleteFunc(samples, func(s counterSample) bool { return uint64(s.time) >= maxTime })
	slices.SortStableFunc(samples, func(a, b counterSample) int { return cmp.Compare(a.time, b.time) })
	since(samples)
	for i := range samples {
		s := &samples[i]
		if i == 0 || s.from < sum.First {
			sum.First = s.from
		}
		sum.Last = s.time
	}
	if sum.Last <= sum.First {
		return
	}
	for i := range sum.Values {
		sum.Values[i].Slices = make([]float64, trace.CounterSlices)
	}
	for i := range samples {
		for j, v := range samples[i].values {
			if at := int(samples[i].bank)*countersPerBank + j; v != 0 && at < len(sum.Values) {
				spread(sum.Values[at].Slices, float64(v), float64(samples[i].from-sum.First), float64(samples[i].time-sum.First), float64(sum.Last-sum.First))
			}
		}
	}
}

// since finds where the increment of each of the sorted samples begins: at the
// sample of its bank and compute unit before it. The first is taken to cover as
// much as the second.
func since(samples []counterSample) {
	last := map[[2]int64]int{}
	for i := range samples {
		s := &samples[i]
		id := [2]int64{s.bank, s.cu}
		before, ok := last[id]
		last[id] = i
		if !ok {
			s.from, s.first = s.time, true
			continue
		}
		b := &samples[before]
		s.from = b.time
		if b.first {
			b.from = max(b.time-(s.time-b.time), 0)
		}
	}
}

// spread adds v to the slices of [0, whole) that [from, to] covers, in proportion.
func spread(into []float64, v, from, to, whole float64) {
	n := float64(len(into))
	at := func(t float64) int { return min(int(t/whole*n), len(into)-1) }
	if to <= from {
		into[at(to)] += v
		return
	}
	for i := at(from); i <= at(to); i++ {
		lo, hi := max(from, float64(i)*whole/n), min(to, float64(i+1)*whole/n)
		into[i] += v * max(hi-lo, 0) / (to - from)
	}
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
