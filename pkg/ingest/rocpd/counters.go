package rocpd

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Counters are the counters of one table set. It is a trace.CounterSource.
type Counters struct {
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

// Counters reads what the counters of a run of the database are called. pass is
// the pass of the profiler that the file holds, "" for none.
func (db *DB) Counters(ctx context.Context, run *trace.Run, pass string) (*Counters, error) {
	src, ok := run.Dispatches.(*dispatches)
	if !ok || src.db != db {
		return nil, errors.New("not a run of this database")
	}
	src.counted = &counted{set: src.set}
	c := &Counters{pass: pass, run: run, src: src, process: strings.TrimPrefix(src.set.suffix, "_")}
	if c.process == "" && run.Process.PID != nil {
		c.process = strconv.FormatInt(*run.Process.PID, 10)
	}
	err := db.with(func(s *session) error {
		i := &info{session: s, ctx: ctx, set: src.set, shown: db.f.Shown}
		c.names = i.counterNames()
		db.Notes = append(db.Notes, i.notes...)
		return ctx.Err()
	})
	return c, err
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

// maxKeptRows bounds the counter rows that are held in memory, 32 bytes each,
// until the dispatches are known; of more the table is read a second time.
const maxKeptRows = 1 << 22

// maybeBits is the logarithm of the size of a filter of events, 128 KiB.
const maybeBits = 20

// counted finds the dispatches that counters are of while all dispatches are
// read for something else, so that their table is read once. The methods of
// nil do nothing.
type counted struct {
	set *tableSet
	// events have counters, sorted; maybe has the last bits of their numbers, so
	// that most others are told quickly. rows are the counter rows; nil if they
	// are too many.
	events []int64
	maybe  [1 << maybeBits / 64]uint64
	rows   *slab
	marked bool
	// apart is set where rows of one event do not all stand together.
	apart  bool
	report scanReport // of the counter rows
	err    error      // why they cannot be read
	// parts are rows of dispatches, in the order of their parts of the table.
	parts []*slab
	times *timestamps
	// done is set when parts is complete.
	done bool
}

// slab keeps rows in blocks, so that growing copies nothing.
type slab struct {
	full [][]int64
	last []int64
	rows int
}

// blockRows are the rows of a block.
const blockRows = 1 << 12

func (s *slab) add(row []int64) {
	if len(s.last)+len(row) > cap(s.last) {
		s.full = append(s.full, s.last)
		s.last = make([]int64, 0, blockRows*len(row))
	}
	s.last = append(s.last, row...)
	s.rows++
}

// each hands every row of a width on, in order.
func (s *slab) each(width int, f func(row []int64)) {
	for _, block := range append(slices.Clip(s.full), s.last) {
		for ; len(block) > 0; block = block[width:] {
			f(block[:width])
		}
	}
}

// mark reads which events have counters.
func (c *counted) mark(ctx context.Context, db *session) {
	if c == nil || c.marked {
		return
	}
	c.marked, c.rows = true, &slab{}
	last, kept := int64(trace.Absent), 0
	c.report, c.err = db.scan(ctx, c.set.tables["rocpd_pmc_event"], counterColumns, 1, func() sink {
		return func(row []int64) {
			if event := row[pmcEvent]; event != last {
				last = event
				c.mention(event)
			}
			if kept++; kept <= maxKeptRows {
				c.rows.add(row)
			}
		}
	})
	if kept > maxKeptRows {
		c.rows = nil
	}
	stretches := len(c.events)
	slices.Sort(c.events)
	c.events = slices.Compact(c.events)
	c.apart = len(c.events) < stretches
}

// mention notes an event that a counter row names.
func (c *counted) mention(event int64) {
	if event == trace.Absent {
		return
	}
	c.events = append(c.events, event)
	c.maybe[event>>6&(int64(len(c.maybe))-1)] |= 1 << (event & 63)
}

// has reports whether an event has counters.
func (c *counted) has(event int64) bool {
	if c.maybe[event>>6&(int64(len(c.maybe))-1)]&(1<<(event&63)) == 0 {
		return false
	}
	_, ok := slices.BinarySearch(c.events, event)
	return ok
}

// beside has a sink's rows looked at as well.
func (c *counted) beside(to sink) sink {
	if c == nil || c.done {
		return to
	}
	part := &slab{}
	c.parts = append(c.parts, part)
	return func(row []int64) {
		if c.has(row[colEvent]) {
			part.add(row)
		}
		to(row)
	}
}

// finish is called when all dispatches were read.
func (c *counted) finish(times *timestamps) {
	if c != nil {
		c.times, c.done = times, true
	}
}

// counterFold is one reading of a source.
type counterFold struct {
	c      *Counters
	folder trace.CounterFolder
	rep    trace.CounterReport
	// counted are the dispatches that were counted, by event.
	counted map[int64]*trace.CounterDispatch
	// seen counts the values of a counter in a dispatch: of all dispatches where
	// apart is set, else of the one at hand.
	seen  map[[2]int64]int
	apart bool
	// piece holds rows of one event that stand together, inPiece how many of
	// each counter.
	piece   []counterRow
	inPiece map[int64]int
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

// Fold reads the counter rows, and the dispatches unless that was done; see
// trace.CounterSource. It uses one worker.
func (c *Counters) Fold(ctx context.Context, _ int, newFolder func() trace.CounterFolder) (trace.CounterReport, error) {
	f := &counterFold{c: c, folder: newFolder(), inPiece: map[int64]int{}, seen: map[[2]int64]int{}, event: trace.Absent}
	f.rep.File, f.rep.GUID = c.src.db.f.Shown, c.run.GUID
	found := c.src.counted
	if found.set.tables["rocpd_pmc_event"] == nil {
		f.rep.Empty = true
		return f.rep, nil
	}
	if !found.done {
		rep, err := c.src.Fold(ctx, 1, func() trace.DispatchFolder { return dispatchFunc(func(*trace.Dispatch) {}) })
		if err != nil {
			return f.rep, err
		}
		f.rep.Notes = rep.Notes
	}
	if found.err != nil {
		return f.rep, fmt.Errorf("its counters: %w", found.err)
	}
	f.counted = make(map[int64]*trace.CounterDispatch, len(found.events))
	f.dispatches(found)
	f.apart = found.apart
	if err := f.values(ctx, found); err != nil {
		return f.rep, err
	}
	if n, ok := found.report.note(c.src.db.f.Shown, "counter rows"); ok {
		f.rep.Notes = append(f.rep.Notes, n)
	}
	f.flush()
	f.finish()
	c.src.counted = &counted{set: found.set} // another reading begins anew
	return f.rep, ctx.Err()
}

// values takes in the counter rows.
func (f *counterFold) values(ctx context.Context, found *counted) error {
	if found.rows != nil {
		found.rows.each(len(counterColumns), f.addRow)
		return nil
	}
	return f.c.src.db.with(func(s *session) error {
		_, err := s.scan(ctx, found.set.tables["rocpd_pmc_event"], counterColumns, 1, func() sink { return f.addRow })
		return err
	})
}

// dispatches makes the dispatches that have counters. Replays share the id of
// their dispatch; where no column counts them, their order does.
func (f *counterFold) dispatches(found *counted) {
	kernels := map[int64]string{}
	for _, k := range f.c.run.Kernels {
		kernels[k.ID] = k.Name
	}
	replays := map[int64]int{}
	agents := map[int64]string{}
	rows := 0
	for _, part := range found.parts {
		rows += part.rows
	}
	all := make([]trace.CounterDispatch, 0, rows)
	var row []int64
	convert := f.c.src.sink(dispatchFunc(func(d *trace.Dispatch) {
		name, ok := kernels[d.Kernel]
		if !ok {
			name = UnknownKernel(d.Kernel)
		}
		agent, ok := agents[d.Agent]
		if !ok {
			agent = agentLabel(d.Agent)
			agents[d.Agent] = agent
		}
		all = append(all, trace.CounterDispatch{
			Pass: f.c.pass, Process: f.c.process, Agent: agent, Kernel: name, Grid: product(d.Grid), Workgroup: product(d.Workgroup),
			LDSBytes: max(d.LDSBytes, -1), ID: max(row[colID], -1), XCC: trace.AllInstances, Replay: int(d.Replay),
		})
		out := &all[len(all)-1]
		if d.Start > 0 && d.End > 0 {
			out.StartNs, out.EndNs = d.Start, d.End
		}
		if row[colReplay] <= 0 && out.ID >= 0 {
			out.Replay = replays[out.ID]
			replays[out.ID]++
		}
		f.counted[row[colEvent]] = out
	}), found.times)
	for _, part := range found.parts {
		part.each(len(dispatchColumns), func(r []int64) {
			row = r
			convert(r)
		})
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
	clear(f.inPiece)
	if !f.apart {
		clear(f.seen)
	}
	for _, r := range f.piece {
		f.inPiece[r.counter]++
	}
	d.Order, d.Values = f.row, d.Values[:0]
	for _, r := range f.piece {
		key := [2]int64{f.event, r.counter}
		instance := trace.AllInstances
		if f.inPiece[r.counter] > 1 || f.seen[key] > 0 {
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
	f.rep.Empty = len(f.counted) == 0
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
			f.rep.Notes = append(f.rep.Notes, trace.Note{Level: n.level, File: f.c.src.db.f.Shown, Text: fmt.Sprintf("%d %s", n.count, n.text)})
		}
	}
}
