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
	{"rocpd_api", "a trace of rocmProfileData without operations (rocpd_op)", recaptureAdvice},
	{"CUPTI_ACTIVITY_KIND_RUNTIME", "an export of Nsight Systems, of an NVIDIA GPU", "give a profile of an AMD GPU"},
	{"CUPTI_ACTIVITY_KIND_KERNEL", "an export of Nsight Systems, of an NVIDIA GPU", "give a profile of an AMD GPU"},
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

// DB is a rocpd database. It is used by one goroutine at a time.
type DB struct {
	// Runs are what its processes left, one per table set that has a dispatch
	// table. Their dispatches are read when they are asked for, which needs
	// the database to stay open.
	Runs []*trace.Run
	// Notes are remarks about all but the dispatches.
	Notes []trace.Note

	f File
	s *session // nil while it is closed
}

// Open reads everything but the dispatches of a database. The error is a
// *NotDatabase where the file is something else.
func Open(ctx context.Context, f File) (*DB, error) {
	db := &DB{f: f}
	if err := db.with(func(s *session) error { return db.read(ctx, s) }); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// with opens the database unless it is open, and closes it again unless it is
// to be kept open.
func (db *DB) with(f func(*session) error) error {
	if db.s == nil {
		s, err := db.f.sql()
		db.f.Opened = nil
		if err != nil {
			return err
		}
		db.s = s
	}
	err := f(db.s)
	if !db.f.Keep {
		if cerr := db.Close(); err == nil {
			err = cerr
		}
	}
	return err
}

// Close closes the database. What is read later opens it again.
func (db *DB) Close() error {
	if db.s == nil {
		return nil
	}
	s := db.s
	db.s = nil
	return s.Close()
}

// read reads the schema and the small tables.
func (db *DB) read(ctx context.Context, s *session) error {
	sch, err := s.schema(ctx)
	if err != nil {
		return s.unreadable(ctx, err)
	}
	run, err := db.elderRun(ctx, s, sch)
	if run != nil {
		db.Runs, db.Notes = append(db.Runs, run), append(s.notes(db.f.Shown), db.Notes...)
	}
	if run != nil || err != nil {
		return err
	}
	if err := recognise(sch); err != nil {
		return err
	}
	db.Notes = s.notes(db.f.Shown)
	var sets []*tableSet
	for _, set := range sch.sets {
		db.noteSamples(ctx, s, set)
		if set.tables[dispatchTable] == nil {
			db.Notes = append(db.Notes, trace.Note{
				Level: trace.Warning, File: db.f.Shown,
				Text: fmt.Sprintf("table set %s has no kernel dispatches and is left out", set.label()),
			})
			continue
		}
		sets = append(sets, set)
	}
	for _, set := range sets {
		run, err := db.run(ctx, s, set)
		if err != nil {
			return err
		}
		if len(sets) > 1 {
			run.Set = strings.TrimPrefix(set.suffix, "_")
		}
		db.Runs = append(db.Runs, run)
	}
	return nil
}

// sampleTable holds PC samples. Only a development schema has it (rocm-systems,
// tables.sql at 6f0d58b9), with columns that no release fixed.
const sampleTable = "rocpd_gpu_pc_sample"

// noteSamples says that the samples of a table set are not read.
func (db *DB) noteSamples(ctx context.Context, s *session, set *tableSet) {
	t := set.tables[sampleTable]
	if t == nil {
		return
	}
	var n int64
	if err := s.db.GetContext(ctx, &n, "SELECT count(*) FROM "+quote(t.name)); err != nil || n == 0 {
		return
	}
	db.Notes = append(db.Notes, trace.Note{
		Level: trace.Warning, File: db.f.Shown,
		Text: trace.Many(n, "PC sample is", "PC samples are") + " in it in the schema of a development version, and not read: take samples as CSV (rocprofv3 -f csv)",
	})
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
			Level: trace.Damage, File: shown,
			Text: fmt.Sprintf("cut short: %s missing", trace.Many(s.missing, fmt.Sprintf("of its %d pages is", s.pages), fmt.Sprintf("of its %d pages are", s.pages))),
		})
	}
	if n := len(s.log); n > 0 {
		out = append(out, trace.Note{Level: trace.Info, File: shown, Text: fmt.Sprintf("%s came from its write-ahead log (-wal)", trace.Many(n, "page", "pages"))})
	}
	if s.logDropped > 0 {
		out = append(out, trace.Note{
			Level: trace.Warning, File: shown,
			Text: fmt.Sprintf("the last transaction of its write-ahead log was not committed: %s left out", trace.Many(s.logDropped, "page is", "pages are")),
		})
	}
	return out
}

// run reads the small tables of one set.
func (db *DB) run(ctx context.Context, s *session, set *tableSet) (*trace.Run, error) {
	i := &info{session: s, ctx: ctx, set: set, shown: db.f.Shown}
	r := &trace.Run{Path: db.f.Shown, Kind: "rocpd", GUID: strings.TrimPrefix(set.suffix, "_")}
	i.metadata(r)
	i.process(r)
	i.agents(r)
	i.kernels(r)
	tracks := i.tracks()
	i.counters(r)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	src := &dispatches{db: db, set: set, tracks: tracks, shared: i.sharedIDs()}
	copies, notes, err := src.copies(ctx, i)
	if err != nil {
		return nil, err
	}
	r.Copies = copies
	db.Notes = append(append(db.Notes, i.notes...), notes...)
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
			Level: trace.Damage, File: i.shown, Text: fmt.Sprintf("table %s cannot be read (%s)", t.name, sqlText(err)),
		})
	}
}
