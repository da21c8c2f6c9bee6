package waves

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/report"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Perfetto writes all waves of the thread traces as Chrome trace events, which
// Perfetto and chrome://tracing open. Spans shorter than minCycles are drawn
// with their neighbours. The waves are read once more, in the order of their
// files, and written while they are read.
// What cannot be read is noted in the trace.
// Format: "Trace Event Format", the JSON object form with complete events.
func Perfetto(ctx context.Context, out io.Writer, t *trace.Trace, minCycles int64) error {
	w := &eventWriter{w: bufio.NewWriterSize(out, 1<<16), min: minCycles}
	w.raw(`{"displayTimeUnit":"ns","traceEvents":[`)
	for i, tt := range t.ThreadTraces {
		if tt.Waves == nil {
			continue
		}
		w.start(i, tt)
		report, err := tt.Waves.Fold(ctx, 1, func() trace.Folder { return w })
		if err != nil {
			return err
		}
		t.AddNotes(report.Notes...)
	}
	w.raw("\n]}\n")
	if w.err == nil {
		w.err = w.w.Flush()
	}
	if w.err != nil {
		return fmt.Errorf("cannot write the trace events: %w", w.err)
	}
	return nil
}

// maxUnits is the number of process ids that one thread trace may use.
const maxUnits = 1 << 16

// eventWriter is the Folder that writes waves as events.
type eventWriter struct {
	w   *bufio.Writer
	err error
	min int64

	tt     *trace.ThreadTrace
	number int
	lines  map[int]int // LineNumber to row
	clocks map[int]clock
	pids   map[unitID]int
	named  map[slotID]bool
	any    bool
}

func (w *eventWriter) raw(s string) {
	if w.err == nil {
		_, w.err = w.w.WriteString(s)
	}
}

// start begins another thread trace. Time 0 is its earliest clock point.
func (w *eventWriter) start(i int, tt *trace.ThreadTrace) {
	w.tt, w.number, w.lines = tt, i, map[int]int{}
	w.clocks, w.pids, w.named = map[int]clock{}, map[unitID]int{}, map[slotID]bool{}
	for row := range tt.Code {
		if _, ok := w.lines[tt.Code[row].Line]; !ok {
			w.lines[tt.Code[row].Line] = row
		}
	}
	if tt.Clocks == nil {
		return
	}
	for _, e := range tt.Clocks.Engines {
		w.clocks[e.SE] = newClock(tt.Clocks, e.SE)
	}
}

// us is a time in microseconds, the unit of the format.
func (w *eventWriter) us(se int, cycle int64) float64 {
	if ns, ok := w.clocks[se].ns(cycle); ok {
		return ns / 1000
	}
	return float64(cycle) / 1000
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', 4, 64) }

func quoted(s string) string {
	b, err := json.Marshal(report.Escape(s))
	if err != nil {
		return `"?"`
	}
	return string(b)
}

func (w *eventWriter) event(fields string) {
	if w.any {
		w.raw(",")
	}
	w.any = true
	w.raw("\n{" + fields + "}")
}

// place returns the process and thread of a wave, naming them when they are
// new.
func (w *eventWriter) place(x *trace.Wave) (pid, tid int) {
	unit := unitID{x.SE, x.CU}
	pid, ok := w.pids[unit]
	if !ok {
		pid = w.number*maxUnits + len(w.pids)%maxUnits + 1
		w.pids[unit] = pid
		name := fmt.Sprintf("%s SE%d CU%d", w.tt.Name, x.SE, x.CU)
		w.event(fmt.Sprintf(`"ph":"M","name":"process_name","pid":%d,"args":{"name":%s}`, pid, quoted(name)))
	}
	tid = x.SIMD<<16 | x.Slot
	slot := slotID{x.SE, x.CU, x.SIMD, x.Slot}
	if !w.named[slot] {
		w.named[slot] = true
		w.event(fmt.Sprintf(`"ph":"M","name":"thread_name","pid":%d,"tid":%d,"args":{"name":"SIMD %d slot %02d"}`, pid, tid, x.SIMD, x.Slot))
		w.event(fmt.Sprintf(`"ph":"M","name":"thread_sort_index","pid":%d,"tid":%d,"args":{"sort_index":%d}`, pid, tid, tid))
	}
	return pid, tid
}

// Wave writes one wave.
func (w *eventWriter) Wave(x *trace.Wave) {
	pid, tid := w.place(x)
	slice := func(name, cat string, from, to int64, args string) {
		if to <= from {
			return
		}
		at := w.us(x.SE, from)
		w.event(fmt.Sprintf(`"ph":"X","name":%s,"cat":%q,"pid":%d,"tid":%d,"ts":%s,"dur":%s%s`,
			quoted(name), cat, pid, tid, number(at), number(w.us(x.SE, to)-at), args))
	}
	slice(fmt.Sprintf("wave %d", x.ID), "wave", x.Begin, x.End, fmt.Sprintf(`,"args":{"begin":%d,"end":%d,"instructions":%d}`, x.Begin, x.End, len(x.Records)))
	at, issueFrom := x.Begin, int64(-1)
	flush := func(to int64) {
		if issueFrom >= 0 {
			slice("issue", "issue", issueFrom, to, "")
		}
		issueFrom = -1
	}
	for i := range x.Records {
		r := &x.Records[i]
		row, ok := w.lines[r.Line]
		if !ok {
			continue
		}
		from := min(max(r.Time, at), x.End)
		issued, over := min(max(r.Time+r.Stall, from), x.End), min(max(r.Time+r.Duration, from), x.End)
		text := w.tt.Code[row].Text
		if from-at >= max(w.min, 1) {
			flush(at)
		}
		if mnemonic, _, _ := strings.Cut(text, " "); mnemonic == "s_endpgm" {
			flush(from)
			slice("drain: s_endpgm", "wait", from, over, "")
		} else {
			if issued-from >= max(w.min, 1) {
				flush(from)
				slice("stall: "+text, "stall", from, issued, fmt.Sprintf(`,"args":{"line":%d,"cycles":%d}`, r.Line, issued-from))
				from = issued
			}
			if issueFrom < 0 && over > from {
				issueFrom = from
			}
		}
		at = max(at, over)
	}
	flush(at)
}
