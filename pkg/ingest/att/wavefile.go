package att

import (
	"bytes"
	"fmt"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/jsonscan"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Ranges of a wave's times, in cycles: sums of a start and a length stay below
// 1<<63, and no shader runs for 1<<48 cycles (39 hours at 2 GHz).
const (
	maxTime   = 1 << 62
	maxLength = 1 << 40
)

// waveReader reads wave files one after the other into the same memory.
type waveReader struct {
	cursor
	timeline bool // read the timeline too
	v2       bool // rocprofv2 wrote it, without the compute unit
	wave     trace.Wave
	found    fields
	lines    []int // the memory of all Producers
	spans    []trace.Span
}

// fields says which of a wave's numbers the file has.
type fields struct{ cu, begin, end bool }

// read parses a wave file. The wave is valid until the next read; problem is
// "" when the whole file was understood.
func (r *waveReader) read(b []byte, l listedWave) (problem string) {
	r.Restart(b, 0)
	r.clear(l)
	seen := false
	ok := r.Object(func(key []byte) bool {
		if string(key) != "wave" {
			return r.Skip()
		}
		seen = true
		r.clear(l)
		return r.Object(r.field)
	}) && r.End()
	switch {
	case !ok:
		return r.Place()
	case !seen:
		return `there is no "wave"`
	case !r.found.cu && !r.v2 || !r.found.begin || !r.found.end:
		return "cu, begin or end is missing"
	case r.wave.Begin > r.wave.End:
		return fmt.Sprintf("it ends (%d) before it begins (%d)", r.wave.End, r.wave.Begin)
	}
	if r.v2 {
		r.fromV2()
	}
	return ""
}

// fromV2 gives waits their stall, as in code.json, and drops rocprofv2's lists
// of what was waited for: it took whatever was in flight.
func (r *waveReader) fromV2() {
	r.wave.Waits = r.wave.Waits[:0]
	for i := range r.wave.Records {
		if rec := &r.wave.Records[i]; rec.Category == trace.CatImmed {
			rec.Stall = rec.Duration
		}
	}
}

func (r *waveReader) clear(l listedWave) {
	w := &r.wave
	*w = trace.Wave{
		File: l.file, SE: l.se, SIMD: l.simd, Slot: l.slot, ID: l.id,
		Records: w.Records[:0], Waits: w.Waits[:0],
	}
	r.found = fields{}
	r.lines = r.lines[:0]
}

// field reads one member of "wave".
func (r *waveReader) field(key []byte) bool {
	w := &r.wave
	switch string(key) {
	case "cu":
		return r.place64(&w.CU, maxCU, &r.found.cu)
	case "simd":
		return r.place64(&w.SIMD, maxSIMD, nil)
	case "slot":
		return r.place64(&w.Slot, maxSlot, nil)
	case "id":
		return r.place64(&w.ID, maxWaveID, nil)
	case "begin":
		return r.time(&w.Begin, &r.found.begin)
	case "end":
		return r.time(&w.End, &r.found.end)
	case "instructions":
		return r.records()
	case "waitcnt":
		return r.waits()
	case "timeline":
		if r.timeline {
			return r.states()
		}
		if end, ok := endOfPairs(r.Text, r.At); ok {
			r.At = end
			return true
		}
	}
	return r.Skip()
}

// endOfPairs finds the end of a compact list of flat lists of numbers, which a
// timeline is: "]]" ends it, unless a string or a deeper list lies before. The
// numbers are not looked at. ok is false for anything else.
func endOfPairs(b []byte, i int) (end int, ok bool) {
	if !bytes.HasPrefix(b[i:], []byte("[[")) {
		return 0, false
	}
	n := bytes.Index(b[i:], []byte("]]"))
	if n < 0 {
		return 0, false
	}
	list := b[i : i+n+2]
	for _, c := range []byte(`"{}`) {
		if bytes.IndexByte(list, c) >= 0 {
			return 0, false
		}
	}
	if bytes.Count(list, []byte("[")) != bytes.Count(list, []byte("]")) {
		return 0, false
	}
	return i + len(list), true
}

// place64 reads a number of [0, limit); null counts as absent.
func (r *waveReader) place64(to *int, limit int64, found *bool) bool {
	if r.Null() {
		return true
	}
	v, ok := r.Int()
	if !ok {
		return false
	}
	if v < 0 || v >= limit {
		return r.Fail(fmt.Sprintf("%d is out of range", v))
	}
	*to = int(v)
	if found != nil {
		*found = true
	}
	return true
}

func (r *waveReader) time(to *int64, found *bool) bool {
	if r.Null() {
		return true
	}
	v, ok := r.Int()
	if !ok {
		return false
	}
	if v < 0 || v >= maxTime {
		return r.Fail(fmt.Sprintf("time %d is out of range", v))
	}
	*to, *found = v, true
	return true
}

// records reads [[time, category, stall, duration, line], ...].
func (r *waveReader) records() bool {
	recs := r.wave.Records[:0]
	var row [5]int64
	ok := r.Null() || r.Array(func() bool {
		before := len(recs)
		if recs, r.At = plainRecords(r.Text, r.At, recs); len(recs) > before {
			return true
		}
		n, ok := r.Ints(row[:])
		if !ok {
			return false
		}
		if n < len(row) {
			return r.Fail("an instruction has less than 5 numbers")
		}
		if !inRange(&row) {
			return r.Fail("a number of an instruction is out of range")
		}
		recs = append(recs, record(&row))
		return true
	})
	r.wave.Records = recs
	return ok
}

// plainRecords reads records from i on, as long as they are five plain
// decimals in range with nothing but a comma between them. It returns what
// follows the last of them, or i.
func plainRecords(b []byte, i int, recs []trace.Record) ([]trace.Record, int) {
	after := i
	for i < len(b) && b[i] == '[' {
		var row [5]int64
		n, next, done := jsonscan.PlainInts(b, i+1, row[:])
		if !done || n < len(row) || !inRange(&row) {
			break
		}
		recs = append(recs, record(&row))
		after = next
		if next >= len(b) || b[next] != ',' {
			break
		}
		i = next + 1
	}
	return recs, after
}

// inRange says whether a record's numbers can be; one unsigned comparison
// refuses negative numbers too.
func inRange(row *[5]int64) bool {
	return uint64(row[0]) < maxTime && uint64(row[1]) <= 255 && uint64(row[2]) < maxLength &&
		uint64(row[3]) < maxLength && uint64(row[4]) <= maxLine
}

func record(row *[5]int64) trace.Record {
	return trace.Record{Time: row[0], Category: trace.Category(row[1]), Stall: row[2], Duration: row[3], Line: int(row[4])}
}

// waits reads [[line, [[producer, 0], ...]], ...].
func (r *waveReader) waits() bool {
	r.wave.Waits = r.wave.Waits[:0]
	if r.Null() {
		return true
	}
	return r.Array(func() bool {
		var edge trace.WaitEdge
		cell := 0
		ok := r.Array(func() bool {
			cell++
			switch cell {
			case 1:
				return r.line(&edge.Line)
			case 2:
				return r.producers(&edge)
			default:
				return r.Skip()
			}
		})
		if ok && cell < 2 {
			return r.Fail("a wait has less than 2 parts")
		}
		r.wave.Waits = append(r.wave.Waits, edge)
		return ok
	})
}

func (r *waveReader) line(to *int) bool {
	v, ok := r.Int()
	if ok && (v < 0 || v > maxLine) {
		return r.Fail("a line number is out of range")
	}
	*to = int(v)
	return ok
}

func (r *waveReader) producers(edge *trace.WaitEdge) bool {
	if r.Null() {
		return true
	}
	first := len(r.lines)
	var row [1]int64
	ok := r.Array(func() bool {
		n, ok := r.Ints(row[:])
		if ok && (n < 1 || uint64(row[0]) > maxLine) {
			return r.Fail("a line number is missing or out of range")
		}
		r.lines = append(r.lines, int(row[0]))
		return ok
	})
	edge.Producers = r.lines[first:len(r.lines):len(r.lines)]
	return ok
}

// states reads [[state, cycles], ...].
func (r *waveReader) states() bool {
	r.spans = r.spans[:0]
	var row [2]int64
	ok := r.Null() || r.Array(func() bool {
		n, ok := r.Ints(row[:])
		if ok && (n < 2 || uint64(row[0]) > 255 || uint64(row[1]) >= maxLength) {
			return r.Fail("a timeline entry is short or out of range")
		}
		r.spans = append(r.spans, trace.Span{State: uint8(row[0]), Cycles: row[1]})
		return ok
	})
	r.wave.Timeline = r.spans
	return ok
}
