package rocpd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// NotDatabase is the error for a file that is something else than a rocpd
// database, or one that cannot be read at all.
type NotDatabase struct {
	// Problem says what it is, Advice what to do.
	Problem, Advice string
	// Damaged is set for one that is, or was to be, a database.
	Damaged bool
}

// Error returns both in one line.
func (e *NotDatabase) Error() string { return e.Problem + ": " + e.Advice }

// strangers are other databases, by a table that they have.
var strangers = []struct{ table, problem, advice string }{
	{"rocpd_api", "an rpd trace of rocmProfileData, not a rocpd database", "profile with rocprofv3 --kernel-trace, which writes rocpd"},
	{"compute_metadata", "a database of rocprof-compute, not a rocpd one", "give the workload directory that rocprof-compute profile wrote"},
	{"_rocpd_kernel_dispatch", "a database of an early rocprofiler-systems prototype", "profile with a release, or with rocprofv3 --kernel-trace"},
}

// recaptureAdvice is what to do where there is nothing to read.
const recaptureAdvice = "profile with rocprofv3 --kernel-trace --output-format rocpd"

// recognise says what a database is when it is no rocpd one.
func recognise(s *schema) error {
	for _, o := range strangers {
		if s.has(o.table) {
			return &NotDatabase{Problem: o.problem, Advice: o.advice}
		}
	}
	for _, set := range s.sets {
		if set.tables[dispatchTable] != nil {
			return nil
		}
	}
	if len(s.sets) > 0 {
		return &NotDatabase{Problem: "a rocpd database without a table of kernel dispatches", Advice: recaptureAdvice}
	}
	return &NotDatabase{Problem: "an SQLite database, but not a rocpd one", Advice: recaptureAdvice}
}

// ErrEmpty is the error for a file of no bytes.
var ErrEmpty error = &NotDatabase{Problem: "an empty file (0 bytes): the profiler did not finish writing it", Advice: recaptureAdvice, Damaged: true}

// NotSQLite says what a file is that has the name of a database and begins
// otherwise.
func NotSQLite(head []byte) error {
	problem := "not an SQLite database"
	advice := recaptureAdvice
	for _, p := range []struct{ magic, name string }{{"\x28\xb5\x2f\xfd", "zstd"}, {"\x1f\x8b", "gzip"}, {"\x04\x22\x4d\x18", "lz4"}, {"\xfd7zXZ", "xz"}} {
		if strings.HasPrefix(string(head), p.magic) {
			problem, advice = "a compressed file ("+p.name+")", "unpack it and give the database"
		}
	}
	return &NotDatabase{Problem: problem, Advice: advice}
}

// Open reads everything but the dispatches of a database: one run per table
// set that has a dispatch table. The error is a *NotDatabase where the file is
// something else.
func Open(ctx context.Context, f File) (runs []*trace.Run, err error) {
	s, err := f.sql()
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := s.Close(); err == nil {
			err = cerr
		}
	}()
	sch, err := s.schema(ctx)
	if err != nil {
		return nil, s.unreadable(ctx, err)
	}
	if err := recognise(sch); err != nil {
		return nil, err
	}
	notes := s.notes(f.Shown)
	for _, set := range sch.sets {
		if set.tables[dispatchTable] == nil {
			notes = append(notes, trace.Note{
				Level: trace.Warning, Place: f.Shown,
				Text: fmt.Sprintf("table set %s has no kernel dispatches and is left out", set.label()),
			})
			continue
		}
		run, err := s.run(ctx, f, set)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	if len(runs) > 1 {
		for i, r := range runs {
			r.Set = strings.TrimPrefix(sch.sets[i].suffix, "_")
		}
	}
	runs[0].Notes = append(notes, runs[0].Notes...)
	return runs, nil
}

// label names a set in messages.
func (t *tableSet) label() string {
	if t.suffix == "" {
		return "without suffix"
	}
	return strings.TrimPrefix(t.suffix, "_")
}

// unreadable says why not even the list of tables can be read.
func (s *session) unreadable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	const advice = "copy it again, or recover what is left with sqlite3's .recover"
	problem := fmt.Sprintf("a damaged SQLite database (%s), 0 rows were read", sqlText(err))
	if s.missing > 0 {
		problem = fmt.Sprintf("cut short: its header says %d pages of %d bytes, the file holds %d; not even its list of tables can be read, so 0 rows were",
			s.pages, s.pageSize, s.fileSize/int64(s.pageSize))
	}
	return &NotDatabase{Problem: problem, Advice: advice, Damaged: true}
}

// sqlText is an error of SQLite without the number behind it.
func sqlText(err error) string {
	text, _, _ := strings.Cut(err.Error(), " (")
	return strings.TrimPrefix(text, "SQL logic error: ")
}

// notes says what is odd about the file as a whole.
func (s *session) notes(shown string) []trace.Note {
	var out []trace.Note
	if s.missing > 0 {
		out = append(out, trace.Note{
			Level: trace.Damage, Place: shown,
			Text: fmt.Sprintf("cut short: %d of its %d pages are missing", s.missing, s.pages),
		})
	}
	if n := len(s.log); n > 0 {
		out = append(out, trace.Note{Level: trace.Info, Place: shown, Text: fmt.Sprintf("%s came from its write-ahead log (-wal)", pagesText(n))})
	}
	if s.logDropped > 0 {
		out = append(out, trace.Note{
			Level: trace.Warning, Place: shown,
			Text: fmt.Sprintf("the last transaction of its write-ahead log was not committed: %s are left out", pagesText(int(s.logDropped))),
		})
	}
	return out
}

// run reads the small tables of one set.
func (s *session) run(ctx context.Context, f File, set *tableSet) (*trace.Run, error) {
	i := &info{session: s, ctx: ctx, set: set, shown: f.Shown}
	r := &trace.Run{Path: f.Shown, Kind: "rocpd"}
	i.metadata(r)
	i.process(r)
	i.agents(r)
	i.kernels(r)
	tracks := i.tracks()
	i.counters(r)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	src := &dispatches{f: f, set: set, tracks: tracks, shared: i.sharedIDs()}
	copies, note, err := src.copies(ctx, i)
	if err != nil {
		return nil, err
	}
	r.Copies = copies
	r.Notes = append(i.notes, note...)
	r.Dispatches = src
	return r, nil
}

// info reads the small tables of a set. What cannot be read is a note.
type info struct {
	*session
	ctx   context.Context
	set   *tableSet
	shown string
	notes []trace.Note
}

// query fills rows from columns of a table; a table that is not there gives
// none.
func (i *info) query(base string, rows any, tail string, columns ...string) {
	t := i.set.tables[base]
	if t == nil {
		return
	}
	err := i.db.SelectContext(i.ctx, rows, t.selects(columns...)+" "+tail)
	if err != nil && !errors.Is(err, context.Canceled) {
		i.notes = append(i.notes, trace.Note{
			Level: trace.Damage, Place: i.shown, Text: fmt.Sprintf("table %s cannot be read (%s)", t.name, sqlText(err)),
		})
	}
}
