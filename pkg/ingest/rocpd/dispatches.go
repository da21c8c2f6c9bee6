package rocpd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// dispatches is the trace.DispatchSource of one table set.
type dispatches struct {
	db     *DB
	set    *tableSet
	tracks map[int64]track
	// shared is set when dispatches may share an id, as kernel replay makes
	// them, and no column counts the replays.
	shared bool
	// counted collects the dispatches that counters are of, on the way; nil
	// where nobody asks for counters.
	counted *counted
}

// Places of the columns in a scanned row.
const (
	colKernel = iota
	colAgent
	colQueue
	colStream
	colStart
	colEnd
	colLDS
	colScratch
	colWorkgroup // and the next two
	colGrid      = colWorkgroup + 3
	colReplay    = colGrid + 3
	colTrack     = colReplay + 1
	colID        = colTrack + 1
	colPID       = colID + 1
	colEvent     = colPID + 1
)

// dispatchColumns are in the order of those places.
var dispatchColumns = []string{
	"kernel_id", "agent_id", "queue_id", "stream_id", "start", "end", "group_segment_size", "private_segment_size",
	"workgroup_size_x", "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z",
	"replay_pass", "track_id", "dispatch_id", "pid", "event_id",
}

// Fold reads the dispatch table.
func (s *dispatches) Fold(ctx context.Context, workers int, newFolder func() trace.DispatchFolder) (trace.DispatchReport, error) {
	var rep scanReport
	err := s.db.with(func(db *session) (err error) {
		rep, err = s.fold(ctx, db, workers, newFolder)
		return err
	})
	if err != nil {
		return s.failed(ctx, err)
	}
	out := trace.DispatchReport{Rows: rep.rows}
	if n, ok := rep.note(s.db.f.Shown, "dispatches"); ok {
		out.Notes = append(out.Notes, n)
	}
	return out, nil
}

func (s *dispatches) fold(ctx context.Context, db *session, workers int, newFolder func() trace.DispatchFolder) (scanReport, error) {
	t := s.set.tables[dispatchTable]
	want, times, err := s.timeColumns(ctx, db, t, dispatchColumns)
	if err != nil {
		return scanReport{}, err
	}
	s.counted.mark(ctx, db)
	if s.shared {
		workers = 1 // the first dispatch of an id is told by its place
	}
	rep, err := db.scan(ctx, t, want, workers, func() sink { return s.counted.beside(s.sink(newFolder(), times)) })
	s.counted.finish(times)
	return rep, err
}

// failed reports a table that cannot be read at all.
func (s *dispatches) failed(ctx context.Context, err error) (trace.DispatchReport, error) {
	if ctx.Err() != nil {
		return trace.DispatchReport{}, ctx.Err()
	}
	return trace.DispatchReport{Notes: []trace.Note{{
		Level: trace.Damage, File: s.db.f.Shown, Text: fmt.Sprintf("damaged: no dispatch could be read (%s)", sqlText(err)),
	}}}, nil
}

// sink makes dispatches of rows for one folder.
func (s *dispatches) sink(to trace.DispatchFolder, times *timestamps) sink {
	var d trace.Dispatch
	seen := idSet{}
	return func(row []int64) {
		d = trace.Dispatch{
			ID: row[colID], Kernel: row[colKernel], Agent: row[colAgent], Queue: row[colQueue], Stream: row[colStream],
			Start: row[colStart], End: row[colEnd], LDSBytes: row[colLDS], ScratchBytes: row[colScratch],
			Workgroup: [3]int64(row[colWorkgroup:]), Grid: [3]int64(row[colGrid:]),
		}
		switch {
		case row[colReplay] > 0:
			d.Replay = row[colReplay]
		case s.shared && seen.has(row[colPID], row[colID]):
			d.Replay = 1
		}
		if s.tracks != nil {
			d.Agent, d.Queue, d.Stream = s.track(row[colTrack])
		}
		if times != nil {
			d.Start, d.End = times.at(d.Start), times.at(d.End)
		}
		to.Dispatch(&d)
	}
}

// idSet holds the dispatch ids of processes, 64 to an entry.
type idSet map[[2]int64]uint64

// has adds an id, and reports whether it was there. Ids begin with 1: others
// are none.
func (s idSet) has(pid, id int64) bool {
	if id < 1 {
		return false
	}
	key, bit := [2]int64{pid, id >> 6}, uint64(1)<<(id&63)
	was := s[key]
	s[key] = was | bit
	return was&bit != 0
}

func (s *dispatches) track(id int64) (agent, queue, stream int64) {
	t, ok := s.tracks[id]
	if !ok {
		return trace.Absent, trace.Absent, trace.Absent
	}
	return t.agent, t.queue, t.stream
}

// timeColumns replaces the names of the time columns where a table names rows
// of rocpd_timestamp instead (4.0.0), and reads those.
func (s *dispatches) timeColumns(ctx context.Context, db *session, t *table, columns []string) ([]string, *timestamps, error) {
	stamps := s.set.tables["rocpd_timestamp"]
	if t.has("start") || !t.has("start_id") || stamps == nil {
		return columns, nil, nil
	}
	want := slices.Clone(columns)
	for i, c := range want {
		if c == "start" || c == "end" {
			want[i] = c + "_id"
		}
	}
	out := &timestamps{}
	rep, err := db.scan(ctx, stamps, []string{"id", "value"}, 1, func() sink {
		return func(row []int64) { out.add(row[0], row[1]) }
	})
	if err == nil && rep.lost > 0 {
		err = errors.Join(errors.New("the table of timestamps is damaged"), rep.first)
	}
	return want, out, err
}

// timestamps are the rows of rocpd_timestamp in the order of their ids.
type timestamps struct{ ids, values []int64 }

func (t *timestamps) add(id, value int64) {
	t.ids, t.values = append(t.ids, id), append(t.values, value)
}

// at returns the time of an id: mostly ids have no gaps.
func (t *timestamps) at(id int64) int64 {
	if len(t.ids) == 0 || id < t.ids[0] {
		return trace.Absent
	}
	if i := id - t.ids[0]; i < int64(len(t.ids)) && t.ids[i] == id {
		return t.values[i]
	}
	if i, ok := slices.BinarySearch(t.ids, id); ok {
		return t.values[i]
	}
	return trace.Absent
}

// Places of the columns of a copy.
const (
	copyName = iota
	copySource
	copyTarget
	copyBytes
	copyStart
	copyEnd
)

var copyColumns = []string{"name_id", "src_agent_id", "dst_agent_id", "size", "start", "end"}

// maxCopyKinds bounds the different kinds of copies that are told apart.
const maxCopyKinds = 4096

// copies sums the memory copies of a set.
func (s *dispatches) copies(ctx context.Context, i *info) ([]trace.CopySum, []trace.Note, error) {
	t := s.set.tables["rocpd_memory_copy"]
	if t == nil {
		return nil, nil, nil
	}
	want, times, err := s.timeColumns(ctx, i.session, t, copyColumns)
	if err != nil {
		return nil, s.lostCopies(err), ctx.Err()
	}
	sums := map[[3]int64]*trace.CopySum{}
	rep, err := i.scan(ctx, t, want, 1, func() sink {
		return func(row []int64) {
			key := [3]int64(row)
			c := sums[key]
			if c == nil {
				if len(sums) == maxCopyKinds {
					return
				}
				c = &trace.CopySum{Source: known64(row[copySource]), Target: known64(row[copyTarget])}
				sums[key] = c
			}
			start, end := row[copyStart], row[copyEnd]
			if times != nil {
				start, end = times.at(start), times.at(end)
			}
			c.Add(row[copyBytes], start, end)
		}
	})
	if err != nil {
		return nil, s.lostCopies(err), ctx.Err()
	}
	var notes []trace.Note
	if n, ok := rep.note(s.db.f.Shown, "memory copies"); ok {
		notes = append(notes, n)
	}
	return i.nameCopies(sums), notes, nil
}

func (s *dispatches) lostCopies(err error) []trace.Note {
	return []trace.Note{{Level: trace.Damage, File: s.db.f.Shown, Text: fmt.Sprintf("damaged: no memory copy could be read (%s)", sqlText(err))}}
}

func known64(v int64) *int64 {
	if v == trace.Absent {
		return nil
	}
	return &v
}

// nameCopies names the sums by their strings and joins those of one name.
func (i *info) nameCopies(sums map[[3]int64]*trace.CopySum) []trace.CopySum {
	keys := make([][3]int64, 0, len(sums))
	var ids []int64
	for k := range sums {
		keys = append(keys, k)
		ids = append(ids, k[copyName])
	}
	slices.SortFunc(keys, func(a, b [3]int64) int { return slices.Compare(a[:], b[:]) })
	names := i.strings(ids)
	out := make([]trace.CopySum, 0, len(keys))
	for _, k := range keys {
		c := *sums[k]
		c.Kind = cmp.Or(names[k[copyName]], "unknown")
		out = append(out, c)
	}
	return out
}

// strings reads rows of rocpd_string by their ids.
func (i *info) strings(ids []int64) map[int64]string {
	t := i.set.tables["rocpd_string"]
	out := map[int64]string{}
	if t == nil {
		return out
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		var s string
		if err := i.db.GetContext(i.ctx, &s, "SELECT coalesce(string, '') FROM "+quote(t.name)+" WHERE id = ?", id); err == nil {
			out[id] = s
		}
	}
	return out
}
