package rocpd

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Counters are the counters of one table set. It is a trace.CounterSource.
type Counters struct {
	f    File
	pass string
	run  *trace.Run
	src  *dispatches
	// process tells the sets of a job apart.
	process string
	names   map[int64]string // of counters, by their ids
}

var _ trace.CounterSource = (*Counters)(nil)

// maxCounterNames bounds the counters that a set describes: a GPU has a few
// thousand.
const maxCounterNames = 1 << 20

// OpenCounters reads what the counters of a database are called: one source
// per run of Open, which has counters or not. pass is the pass of the profiler
// that the file holds, "" for none.
func OpenCounters(ctx context.Context, f File, pass string, runs []*trace.Run) (out []*Counters, err error) {
	s, err := f.sql()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, r := range runs {
		src, ok := r.Dispatches.(*dispatches)
		if !ok {
			return nil, errors.New("not a run of a database")
		}
		i := &info{session: s, ctx: ctx, set: src.set, shown: f.Shown}
		c := &Counters{f: f, pass: pass, run: r, src: src, process: strings.TrimPrefix(src.set.suffix, "_"), names: i.counterNames()}
		if c.process == "" && r.Process.PID != nil {
			c.process = strconv.FormatInt(*r.Process.PID, 10)
		}
		r.Notes = append(r.Notes, i.notes...)
		out = append(out, c)
	}
	return out, ctx.Err()
}

// counterNames leaves out the descriptions, which hold the whole JSON of an
// agent each.
func (i *info) counterNames() map[int64]string {
	var rows []struct {
		ID   sql.NullInt64  `db:"id"`
		Name sql.NullString `db:"name"`
	}
	i.query("rocpd_info_pmc", &rows, fmt.Sprintf("ORDER BY id LIMIT %d", maxCounterNames), "id", "name")
	out := map[int64]string{}
	for _, r := range rows {
		if name := text(r.Name); r.ID.Valid && name != "" {
			out[r.ID.Int64] = name
		}
	}
	return out
}

// CounterAgents are the GPUs of a run, by the names that its counters use.
func CounterAgents(r *trace.Run) []trace.CounterAgent {
	out := make([]trace.CounterAgent, 0, len(r.Agents))
	for _, a := range r.Agents {
		out = append(out, trace.CounterAgent{Names: []string{agentLabel(a.NodeID)}, Agent: a})
	}
	return out
}

func agentLabel(id int64) string {
	if id == trace.Absent {
		return ""
	}
	return fmt.Sprintf("Agent %d", id)
}

// Places of the columns of a counter row.
const (
	pmcEvent = iota
	pmcCounter
	pmcSample
	pmcValue
)

// counterColumns are in the order of those places.
var counterColumns = []string{"event_id", "pmc_id", "sample_id", realColumn}

// counterFold is one reading of a source.
type counterFold struct {
	c      *Counters
	folder trace.CounterFolder
	rep    trace.CounterReport
	// counted are the dispatches that were counted, by event.
	counted map[int64]*trace.CounterDispatch
	// seen counts the values of a counter in a dispatch.
	seen map[[2]int64]int
	// piece holds rows of one event that stand together.
	piece   []counterRow
	event   int64
	row     int64
	spm     int64 // rows of a streaming monitor
	other   int64 // rows of events that are no dispatches
	unnamed int64
}

type counterRow struct {
	counter int64
	value   float64
}

// Fold reads the counter rows, once to learn which dispatches were counted and
// once for their values; see trace.CounterSource. It uses one worker.
func (c *Counters) Fold(ctx context.Context, _ int, newFolder func() trace.CounterFolder) (trace.CounterReport, error) {
	f := &counterFold{c: c, folder: newFolder(), counted: map[int64]*trace.CounterDispatch{}, seen: map[[2]int64]int{}, event: trace.Absent}
	values := c.src.set.tables["rocpd_pmc_event"]
	if values == nil {
		f.rep.Empty = true
		return f.rep, nil
	}
	steps := []struct {
		table *table
		want  []string
		to    sink
		what  string
	}{
		{values, []string{"event_id"}, f.markEvent, ""},
		{c.src.set.tables[dispatchTable], nil, nil, "dispatches"},
		{values, counterColumns, f.addRow, "counter rows"},
	}
	for _, s := range steps {
		rep, err := c.step(ctx, f, s.table, s.want, s.to)
		if ctx.Err() != nil {
			return f.rep, ctx.Err()
		}
		if err != nil {
			return f.rep, fmt.Errorf("%s: %w", c.f.Shown, err)
		}
		if n, ok := rep.note(c.f.Shown, s.what); ok && s.what != "" {
			f.rep.Notes = append(f.rep.Notes, n)
		}
	}
	f.flush()
	f.finish()
	return f.rep, nil
}

// step scans one table; that of dispatches needs its own columns.
func (c *Counters) step(ctx context.Context, f *counterFold, t *table, want []string, to sink) (scanReport, error) {
	if to != nil {
		return c.f.scan(ctx, t, want, 1, func() sink { return to })
	}
	columns := slices.Concat(dispatchColumns, []string{"event_id"})
	columns, times, err := c.src.timeColumns(ctx, t, columns)
	if err != nil {
		return scanReport{}, err
	}
	return c.f.scan(ctx, t, columns, 1, func() sink { return f.dispatches(times) })
}

// markEvent notes that an event has counters.
func (f *counterFold) markEvent(row []int64) {
	if row[0] != f.event && row[0] != trace.Absent {
		f.event = row[0]
		f.counted[row[0]] = nil
	}
}

// dispatches keeps the dispatches that have counters. Replays share the id of
// their dispatch; where no column counts them, their order does.
func (f *counterFold) dispatches(times *timestamps) sink {
	event := len(dispatchColumns)
	kernels := map[int64]string{}
	for _, k := range f.c.run.Kernels {
		kernels[k.ID] = k.Name
	}
	replays := map[int64]int{}
	var row []int64
	convert := f.c.src.sink(dispatchFunc(func(d *trace.Dispatch) {
		if _, ok := f.counted[row[event]]; !ok {
			return
		}
		name, ok := kernels[d.Kernel]
		if !ok {
			name = UnknownKernel(d.Kernel)
		}
		out := &trace.CounterDispatch{
			Pass: f.c.pass, Process: f.c.process, Agent: agentLabel(d.Agent), Kernel: name, Grid: product(d.Grid), Workgroup: product(d.Workgroup),
			LDSBytes: max(d.LDSBytes, -1), ID: max(row[colID], -1), XCC: trace.AllInstances, Replay: int(d.Replay),
		}
		if d.Start > 0 && d.End > 0 {
			out.StartNs, out.EndNs = d.Start, d.End
		}
		if row[colReplay] <= 0 && out.ID >= 0 {
			out.Replay = replays[out.ID]
			replays[out.ID]++
		}
		f.counted[row[event]] = out
	}), times)
	return func(r []int64) {
		row = r
		convert(r)
	}
}

// dispatchFunc is a function as a trace.DispatchFolder.
type dispatchFunc func(d *trace.Dispatch)

// Dispatch calls the function.
func (f dispatchFunc) Dispatch(d *trace.Dispatch) { f(d) }

// product is the number of work-items; 0 when it is unknown or does not fit.
func product(v [3]int64) int64 {
	n := int64(1)
	for _, x := range v {
		if x <= 0 || x > 1<<62/n {
			return 0
		}
		n *= x
	}
	return n
}

// addRow takes in one counter row.
func (f *counterFold) addRow(row []int64) {
	f.row++
	if row[pmcSample] != trace.Absent {
		f.spm++
		return
	}
	if row[pmcEvent] != f.event {
		f.flush()
		f.event = row[pmcEvent]
	}
	if f.counted[f.event] == nil {
		f.other++
		return
	}
	value := math.Float64frombits(uint64(row[pmcValue]))
	if _, ok := f.c.names[row[pmcCounter]]; !ok || math.IsNaN(value) || math.IsInf(value, 0) {
		f.unnamed++
		return
	}
	f.piece = append(f.piece, counterRow{row[pmcCounter], value})
}

// flush hands on the rows of one dispatch. A counter with several rows has one
// for each hardware instance, in the order of its dimensions.
func (f *counterFold) flush() {
	d := f.counted[f.event]
	if len(f.piece) == 0 || d == nil {
		return
	}
	rows := map[int64]int{}
	for _, r := range f.piece {
		rows[r.counter]++
	}
	d.Order, d.Values = f.row, d.Values[:0]
	for _, r := range f.piece {
		key := [2]int64{f.event, r.counter}
		instance := trace.AllInstances
		if rows[r.counter] > 1 || f.seen[key] > 0 {
			instance = f.seen[key]
		}
		f.seen[key]++
		d.Values = append(d.Values, trace.CounterValue{Counter: f.c.names[r.counter], Instance: instance, Value: r.value})
	}
	f.rep.Rows += int64(len(f.piece))
	f.folder.Dispatch(d)
	f.piece = f.piece[:0]
}

// finish says what was left out.
func (f *counterFold) finish() {
	f.rep.Bad = f.unnamed
	f.rep.Empty = !slices.ContainsFunc(slices.Collect(maps.Values(f.counted)), func(d *trace.CounterDispatch) bool { return d != nil })
	for _, n := range []struct {
		count int64
		level trace.Level
		text  string
	}{
		{f.spm, trace.Info, "samples of a streaming monitor are no counters of a dispatch: left out"},
		{f.other, trace.Info, "counter rows of events that are no dispatches (KFD events, regions): left out"},
		{f.unnamed, trace.Warning, "counter rows name no counter of the database, or hold no number: left out"},
	} {
		if n.count > 0 {
			f.rep.Notes = append(f.rep.Notes, trace.Note{Level: n.level, Place: f.c.f.Shown, Text: fmt.Sprintf("%d %s", n.count, n.text)})
		}
	}
}
