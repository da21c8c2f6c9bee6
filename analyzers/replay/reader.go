package replay

import "github.com/rocanalyze/rocanalyze/pkg/trace"

// Spans are the parts of one executed instruction as cycles [from, to) of its
// engine's clock: stalled, issuing, and, for s_endpgm, draining. They lie in
// the life of the wave, and the stalls of a wave do not overlap.
type Spans struct {
	Stall, Issue, Drain [2]int64
}

// spanner cuts the records of one wave.
type spanner struct {
	begin, end int64
	// stalled is where the last stall ended.
	stalled int64
}

func (s *spanner) cut(r *trace.Record, end bool) Spans {
	issued, over := r.Time+r.Stall, r.Time+r.Duration
	x := Spans{Stall: s.clip(max(r.Time, s.stalled), issued)}
	if r.Stall > 0 {
		s.stalled = max(s.stalled, issued)
	}
	if end {
		x.Drain = s.clip(issued, over)
		return x
	}
	x.Issue = s.clip(issued, over)
	return x
}

func (s *spanner) clip(from, to int64) [2]int64 {
	from, to = max(from, s.begin), min(to, s.end)
	return [2]int64{from, max(from, to)}
}

// Reader replays waves for another analyzer that reads them again. It is used
// by one goroutine.
type Reader struct {
	f *folder
}

// NewReader returns a Reader; only a Replay that has waves gives one.
func (r *Replay) NewReader() *Reader { return &Reader{newScratch(r.prog)} }

// Group says to which group a wave belongs.
func (rd *Reader) Group(w *trace.Wave) Group {
	if kernel, ok := rd.f.kernel(w); ok && rd.f.noWork(w, kernel) {
		return NoWork
	}
	return Working
}

// Each visits the executed instructions of a wave that have a row.
func (rd *Reader) Each(w *trace.Wave, visit func(row int, r *trace.Record, s Spans)) {
	cut := spanner{begin: w.Begin, end: w.End, stalled: w.Begin}
	for i := range w.Records {
		r := &w.Records[i]
		if row := rd.f.prog.executed(r); row >= 0 {
			visit(row, r, cut.cut(r, rd.f.prog.ops[row].role == endpgm))
		}
	}
}

// SIMD returns the SIMD that a wave ran on; nil when the replay has not seen
// it.
func (r *Replay) SIMD(w *trace.Wave) *SIMD { return r.bySIMD[simdID{w.SE, w.CU, w.SIMD}] }
