package rocpd

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

func TestRecognise(t *testing.T) {
	tests := []struct {
		sql, want string
		damaged   bool
	}{
		{`CREATE TABLE t (x)`, "an SQLite database, but not a rocpd one", false},
		{`CREATE TABLE rocpd_api (x); CREATE TABLE rocpd_op (x); CREATE TABLE rocpd_metadata (id, tag, value)`, "a trace of rocmProfileData without operations", false},
		{`CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (x)`, "an export of Nsight Systems", false},
		{`CREATE TABLE compute_metadata (x)`, "database of rocprof-compute", false},
		{`CREATE TABLE _rocpd_kernel_dispatch (x)`, "early rocprofiler-systems prototype", false},
		{`CREATE TABLE rocpd_metadata_u1 (id, tag, value)`, "without a table of kernel dispatches", false},
	}
	for _, tt := range tests {
		_, err := Open(t.Context(), fileOf(newDB(t, tt.sql)))
		var n *NotDatabase
		if !errors.As(err, &n) || !strings.Contains(err.Error(), tt.want) || n.Damaged != tt.damaged {
			t.Errorf("%s: %v", tt.sql, err)
		}
	}
	if !Sniff([]byte(magic)) || Sniff([]byte("SQLite format 2\x00")) || Sniff(nil) {
		t.Error("Sniff is wrong about the magic")
	}
	if err := NotSQLite([]byte("\x28\xb5\x2f\xfd....")); !strings.Contains(err.Error(), "zstd") {
		t.Error(err)
	}
}

// The least database gives its dispatches, NULLs as absent, and columns that
// it lacks as well.
func TestLeast(t *testing.T) {
	path := newDB(t, least,
		`INSERT INTO rocpd_kernel_dispatch{{s}} VALUES (1, 'g', 2, 7, 1000, 1500), (2, 'g', NULL, NULL, NULL, 9.2e18), (3, 'g', -1, 300, 70000, -5)`)
	runs := open(t, path)
	got, rep := collected(t, runs[0], 1)
	if len(runs) != 1 || runs[0].Schema != "9.9" || rep.Rows != 3 || len(got) != 3 {
		t.Fatalf("%+v, %+v", runs[0], rep)
	}
	first := got[0]
	if first.Agent != 2 || first.Kernel != 7 || first.Start != 1000 || first.End != 1500 || first.Queue != trace.Absent || first.Grid[2] != trace.Absent {
		t.Errorf("%+v", first)
	}
	if got[1].Agent != trace.Absent || got[1].Start != trace.Absent || got[1].End != 9_200_000_000_000_000_000 {
		t.Errorf("%+v", got[1])
	}
	if got[2].Agent != -1 || got[2].Kernel != 300 || got[2].End != -5 {
		t.Errorf("%+v", got[2])
	}
}

// A table that is not an ordinary one is read with SQL, with the same rows.
func TestExtraordinaryTables(t *testing.T) {
	const rows = `INSERT INTO rocpd_kernel_dispatch{{s}} VALUES (1, 'g', 2, 7, 1000, 1500), (2, 'g', 3, 8, 2000, 2600)`
	without := strings.Replace(least, `"end" BIGINT)`, `"end" BIGINT) WITHOUT ROWID`, 1)
	plainRuns, odd := open(t, newDB(t, least, rows)), open(t, newDB(t, without, rows))
	a, _ := collected(t, plainRuns[0], 2)
	b, rep := collected(t, odd[0], 2)
	if rep.Rows != 2 || len(b) != 2 || a[0] != b[0] || a[1] != b[1] {
		t.Errorf("%+v\n%+v", a, b)
	}
}

// Replays of a dispatch share its id: all but the first are marked, whatever
// the number of workers. Ids of other processes, and none, are not shared.
func TestReplays(t *testing.T) {
	const table = `CREATE TABLE rocpd_metadata{{s}} (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE rocpd_kernel_dispatch{{s}} (id INTEGER PRIMARY KEY, pid INTEGER, dispatch_id INTEGER, start BIGINT, "end" BIGINT);
INSERT INTO rocpd_kernel_dispatch{{s}} VALUES `
	tests := []struct{ rows, want string }{
		{`(1, 9, 1, 5, 9), (2, 9, 2, 5, 9)`, "00"},
		{`(1, 9, 1, 5, 9), (2, 9, 1, 5, 9), (3, 9, 1, 5, 9), (4, 9, 2, 5, 9), (5, 8, 2, 5, 9), (6, 8, 2, 5, 9)`, "011001"},
		{`(1, 9, 0, 5, 9), (2, 9, 0, 5, 9), (3, 9, NULL, 5, 9), (4, 9, NULL, 5, 9)`, "0000"},
	}
	for _, tt := range tests {
		got := ""
		rows, _ := collected(t, open(t, newDB(t, table+tt.rows))[0], 4)
		for _, d := range rows {
			got += string(rune('0' + d.Replay))
		}
		if got != tt.want {
			t.Errorf("%s: replays %s, want %s", tt.rows, got, tt.want)
		}
	}
}

// Columns that were added later have no value in old rows, and a deep tree
// with pages of 512 bytes has all rows.
func TestManyPages(t *testing.T) {
	path := newDB(t, `PRAGMA page_size = 512; `+least,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO rocpd_kernel_dispatch{{s}} SELECT i, 'a guid of some length', i % 3, i % 17, 1000 * i, 1000 * i + i % 900 FROM n`,
		`ALTER TABLE rocpd_kernel_dispatch{{s}} ADD COLUMN replay_pass INTEGER`,
		`INSERT INTO rocpd_kernel_dispatch{{s}} VALUES (20001, 'g', 1, 1, 5, 6, 4)`)
	run := open(t, path)[0]
	var sums [2]int64
	for i, workers := range []int{1, 5} {
		got, rep := collected(t, run, workers)
		if rep.Rows != 20001 || len(rep.Notes) > 0 {
			t.Fatalf("%+v", rep)
		}
		for n, d := range got {
			sums[i] += d.End - d.Start
			if want := int64(1000 * (n + 1)); n < 20000 && (d.Start != want || d.Replay != 0) {
				t.Fatalf("row %d: %+v", n, d)
			}
		}
		if got[20000].Replay != 4 {
			t.Errorf("the replay of the last row is %d", got[20000].Replay)
		}
	}
	var want int64 = 1 // the last row's
	for i := range int64(20000) {
		want += (i + 1) % 900
	}
	if sums[0] != want || sums[1] != want {
		t.Errorf("sums %v, want %d", sums, want)
	}
}

// Rows that are only in a write-ahead log are read; those of a transaction
// that was not committed are not; nothing is written.
func TestWriteAheadLog(t *testing.T) {
	path := newDB(t, `PRAGMA journal_mode = WAL`, least, `INSERT INTO rocpd_kernel_dispatch{{s}} VALUES (1, 'g', 2, 7, 1000, 1500)`)
	db := writable(t, path)
	for _, s := range []string{
		`PRAGMA wal_autocheckpoint = 0`,
		`INSERT INTO rocpd_kernel_dispatch_u1 VALUES (2, 'g', 2, 7, 2000, 2500)`,
		`INSERT INTO rocpd_kernel_dispatch_u1 SELECT id + 100, guid, 3, kernel_id, start, "end" FROM rocpd_kernel_dispatch_u1`,
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "copy.db"+suffix), data, 0o444); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(dir, "copy.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	frame := len(log) / 2 // inside of the last transaction, or of the first
	tests := []struct {
		log  []byte
		want int
	}{
		{log, 4},
		{nil, 1},
		{log[:len(log)-1], 2},   // the last commit is torn
		{damage(log, frame), 1}, // checksums end at the damage
		{[]byte("short"), 1},
	}
	for i, tt := range tests {
		name := filepath.Join(dir, "copy.db")
		if err := os.Remove(name + "-wal"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name+"-wal", tt.log, 0o444); err != nil {
			t.Fatal(err)
		}
		got, _ := collected(t, open(t, name)[0], 1)
		if len(got) != tt.want {
			t.Errorf("log %d: %d rows, want %d", i, len(got), tt.want)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("reading left %v beside the database", entries)
	}
}

func damage(b []byte, at int) []byte {
	out := bytes.Clone(b)
	out[len(out)-at] ^= 1
	return out
}

// A file that was cut short gives what is left, and says so; a page of zeros
// in a table loses its rows only.
func TestDamaged(t *testing.T) {
	whole, err := os.ReadFile(newDB(t, least,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
INSERT INTO rocpd_kernel_dispatch{{s}} SELECT i, 'a guid of some length', 2, 1, 1000 * i, 1000 * i + 500 FROM n`))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "cut.db")
	read := func(data []byte) (int, string) {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(t.Context(), fileOf(name))
		if err != nil {
			return 0, err.Error()
		}
		got, rep := collected(t, db.Runs[0], 2)
		text := ""
		for _, n := range append(db.Notes, rep.Notes...) {
			text += n.Level.String() + ": " + n.Text + "\n"
		}
		return len(got), text
	}
	if n, text := read(whole); n != 3000 || text != "" {
		t.Errorf("whole: %d rows, %s", n, text)
	}
	half := whole[:len(whole)/2]
	if n, text := read(half); n < 1000 || n > 2000 || !strings.Contains(text, "damage: cut short") || !strings.Contains(text, "are lost") {
		t.Errorf("half: %d rows, %s", n, text)
	}
	hole := bytes.Clone(whole)
	clear(hole[20*4096 : 21*4096])
	if n, text := read(hole); n < 2800 || n > 2999 || !strings.Contains(text, "those of 1 page are lost") {
		t.Errorf("hole: %d rows, %s", n, text)
	}
	if n, text := read(whole[:50]); n != 0 || !strings.Contains(text, "cut short") {
		t.Errorf("50 bytes: %d rows, %s", n, text)
	}
	hot := name + "-journal"
	if err := os.WriteFile(hot, []byte("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 and more"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, text := read(whole); !strings.Contains(text, "writing it was cut short") {
		t.Errorf("hot journal: %s", text)
	}
}

// Names: display, then demangled, then mangled without ".kd", then a number.
func TestKernelNames(t *testing.T) {
	path := newDB(t, least,
		`CREATE TABLE rocpd_info_kernel_symbol{{s}} (id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT, arch_vgpr_count INTEGER, extdata TEXT)`,
		`INSERT INTO rocpd_info_kernel_symbol{{s}} VALUES (1, '_Z1fv.kd', 'f()', 8, '{}'), (2, '_Z1gv.kd', '', 8, '{"demangled_kernel_name": "g() [clone .kd]"}'),
 (3, 'triton.kd', NULL, 8, NULL), (4, NULL, NULL, NULL, 'not json'), (5, '', 'x.kd', 8, NULL), (6, CAST(x'62ff' AS TEXT), NULL, 8, NULL)`)
	var got []string
	for _, k := range open(t, path)[0].Kernels {
		got = append(got, k.Name)
	}
	if want := "f(), g(), triton, kernel #4, x, b\uFFFD"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", strings.Join(got, ", "), want)
	}
}

// The fixtures: two schemas of one run, with all that their tables hold.
func TestFixtures(t *testing.T) {
	for _, name := range []string{"gemm.db", "gemm41.db"} {
		run := open(t, filepath.Join(fixtures, name))[0]
		got, _ := collected(t, run, 2)
		if len(got) != 7 || len(run.Kernels) != 2 || len(run.Agents) != 1 || len(run.Copies) != 1 || run.HasCounters {
			t.Fatalf("%s: %d dispatches, %+v", name, len(got), run)
		}
		d := got[2]
		if d.Agent != 2 || d.Queue != 1 || d.Stream != 0 || d.Start != 3100440991850 || d.End-d.Start != 6430 || d.LDSBytes != 32768 || d.Grid != [3]int64{4096, 16, 1} {
			t.Errorf("%s: %+v", name, d)
		}
		a, c := run.Agents[0], run.Copies[0]
		if a.Gfx != "gfx950" || *a.CUs != 256 || *a.Engines != 32 || *a.DeviceID != 30112 || *a.MaxClockMHz != 2200 {
			t.Errorf("%s: %+v", name, a)
		}
		if c.Kind != "MEMORY_COPY_HOST_TO_DEVICE" || c.Bytes != 2<<20 || c.TotalNs != 40000 || *c.Target != 2 {
			t.Errorf("%s: %+v", name, c)
		}
		if *run.Process.PID != 70001 || run.Process.Host != "node1" {
			t.Errorf("%s: %+v", name, run.Process)
		}
	}
}

// Counters of the fixture: 8 dies times 1824 waves, hits of 100 id + die.
func TestCounters(t *testing.T) {
	db := openDB(t, fileOf(filepath.Join(fixtures, "counters.db")))
	runs := db.Runs
	if !runs[0].HasCounters {
		t.Fatal(runs)
	}
	sets := countersOf(t, db, "pass_1")
	n := int64(0)
	rep, err := sets[0].Fold(t.Context(), 4, func() trace.CounterFolder {
		return counterFunc(func(d *trace.CounterDispatch) {
			n++
			sums, instances := map[string]float64{}, map[string]int{}
			for _, v := range d.Values {
				sums[v.Counter] += v.Value
				instances[v.Counter] = v.Instance
			}
			if d.ID != n || d.Pass != "pass_1" || d.Agent != "Agent 2" || d.Grid != 933888 || d.Workgroup != 256 || d.EndNs-d.StartNs != 21000+100*(n-1) || d.XCC != trace.AllInstances {
				t.Errorf("%+v", d)
			}
			if sums["SQ_WAVES"] != 8*1824 || sums["TCC_HIT"] != float64(800*n+28) || sums["FETCH_SIZE"] != 14592 || sums["SQ_INSTS_LDS"] != 0 {
				t.Errorf("%v", sums)
			}
			if instances["SQ_WAVES"] != 7 || instances["FETCH_SIZE"] != trace.AllInstances {
				t.Errorf("%v", instances)
			}
		})
	})
	if err != nil || n != 4 || rep.Rows != 4*25 || rep.Bad != 0 || rep.Empty {
		t.Errorf("%d dispatches, %+v, %v", n, rep, err)
	}
	if a := CounterAgents(runs[0]); len(a) != 1 || a[0].Names[0] != "Agent 2" || *a[0].CUs != 304 {
		t.Errorf("%+v", a)
	}
}

// Rows of other events, of unknown counters and of a monitor are no counters;
// replays share the id of their dispatch.
func TestOddCounters(t *testing.T) {
	path := newDB(t, `CREATE TABLE rocpd_metadata{{s}} (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE rocpd_kernel_dispatch{{s}} (id INTEGER PRIMARY KEY, agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, event_id INTEGER, start BIGINT, "end" BIGINT);
CREATE TABLE rocpd_info_pmc{{s}} (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE rocpd_pmc_event{{s}} (id INTEGER PRIMARY KEY, event_id INTEGER, pmc_id INTEGER, value REAL, sample_id INTEGER);
INSERT INTO rocpd_info_pmc{{s}} VALUES (12884902189, 'A'), (5, 'B');
INSERT INTO rocpd_kernel_dispatch{{s}} VALUES (1, 2, 1, 1, 11, 5, 9), (2, 2, 1, 1, 12, 5, 9), (3, 2, 1, 2, NULL, 5, 9);
INSERT INTO rocpd_pmc_event{{s}} VALUES (1, 11, 5, 1.5, NULL), (2, 11, 12884902189, 2, NULL), (3, 12, 5, 4, NULL), (4, 99, 5, 8, NULL),
 (5, NULL, 5, 8, NULL), (6, 11, 77, 8, NULL), (7, 11, 5, NULL, NULL), (8, 11, 5, 8, 3)`)
	sets := countersOf(t, openDB(t, fileOf(path)), "")
	var got []string
	rep, err := sets[0].Fold(t.Context(), 1, func() trace.CounterFolder {
		return counterFunc(func(d *trace.CounterDispatch) {
			for _, v := range d.Values {
				got = append(got, strings.Join([]string{string(rune('0' + d.ID)), string(rune('0' + d.Replay)), v.Counter, string(rune('0' + int(2*v.Value)))}, " "))
			}
		})
	})
	if want := "1 0 B 3; 1 0 A 4; 1 1 B 8"; err != nil || strings.Join(got, "; ") != want {
		t.Errorf("%q, %v; want %q", strings.Join(got, "; "), err, want)
	}
	text := ""
	for _, n := range rep.Notes {
		text += n.Text + "\n"
	}
	if rep.Rows != 3 || rep.Bad != 2 || !strings.Contains(text, "1 samples") || !strings.Contains(text, "2 counter rows of events") {
		t.Errorf("%+v", rep)
	}
}

// Rows of one dispatch that stand apart, with rows of another or of no event
// between them, count on where the others ended.
func TestCounterRowsApart(t *testing.T) {
	for _, between := range []string{"12", "NULL"} {
		path := newDB(t, `CREATE TABLE rocpd_metadata{{s}} (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE rocpd_kernel_dispatch{{s}} (id INTEGER PRIMARY KEY, agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, event_id INTEGER, start BIGINT, "end" BIGINT);
CREATE TABLE rocpd_info_pmc{{s}} (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE rocpd_pmc_event{{s}} (id INTEGER PRIMARY KEY, event_id INTEGER, pmc_id INTEGER, value REAL, sample_id INTEGER);
INSERT INTO rocpd_info_pmc{{s}} VALUES (5, 'B');
INSERT INTO rocpd_kernel_dispatch{{s}} VALUES (1, 2, 1, 1, 11, 5, 9), (2, 2, 1, 2, 12, 15, 19);
INSERT INTO rocpd_pmc_event{{s}} VALUES (1, 11, 5, 1, NULL), (2, 11, 5, 2, NULL), (3, `+between+`, 5, 4, NULL), (4, 11, 5, 3, NULL)`)
		var got []int
		_, err := countersOf(t, openDB(t, fileOf(path)), "")[0].Fold(t.Context(), 1, func() trace.CounterFolder {
			return counterFunc(func(d *trace.CounterDispatch) {
				for _, v := range d.Values {
					if d.ID == 1 {
						got = append(got, v.Instance, int(v.Value))
					}
				}
			})
		})
		if want := []int{0, 1, 1, 2, 2, 3}; err != nil || !slices.Equal(got, want) {
			t.Errorf("with event %s between: instances and values %v, %v; want %v", between, got, err, want)
		}
	}
}

func TestInflate(t *testing.T) {
	frame := func(blocks ...string) []byte {
		b := []byte("\x04\x22\x4d\x18\x60\x40\x82")
		for _, x := range blocks {
			b = append(b, byte(len(x)), 0, 0, 0)
			b = append(b, x...)
		}
		return append(b, 0, 0, 0, 0)
	}
	stored := frame("")
	stored = append(stored[:7], "\x03\x00\x00\x80abc\x00\x00\x00\x00"...)
	tests := []struct {
		in   []byte
		want string
		ok   bool
	}{
		{[]byte(`{"plain": 1}`), `{"plain": 1}`, true},
		{frame("\x30abc"), "abc", true},
		{frame("\x32ab-\x03\x00\x10!"), "ab-ab-ab-!", true}, // a match of 6 that overlaps what it writes
		{frame("\xf0\x01" + strings.Repeat("x", 16)), strings.Repeat("x", 16), true},
		{stored, "abc", true},
		{frame("\x30abc", "\x10d"), "abcd", true},
		{frame("\x32ab-\x09\x00\x10!"), "", false}, // from before the beginning
		{frame("\x90abc"), "", false},
		{frame("\x30abc")[:9], "", false},
	}
	for i, tt := range tests {
		got, err := inflate(tt.in, 1000)
		if (err == nil) != tt.ok || tt.ok && string(got) != tt.want {
			t.Errorf("%d: %q, %v", i, got, err)
		}
	}
	bomb := frame("\x1fx\x01\x00" + strings.Repeat("\xff", 100) + "\x00")
	if _, err := inflate(bomb, 1000); err == nil {
		t.Error("more than the limit was unpacked")
	}
}

// The image reads like the file, whatever the offsets.
func TestImageReadAt(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(fixtures, "gemm.db"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := newImage(bytes.NewReader(data), int64(len(data)), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 3000)
	for _, off := range []int64{0, 1, 17, 19, 1000, 1024, 5000, int64(len(data)) - 10} {
		n, err := m.ReadAt(buf, off)
		if want := min(int64(len(buf)), int64(len(data))-off); int64(n) != want || (n < len(buf)) != errors.Is(err, io.EOF) || !bytes.Equal(buf[:n], data[off:off+want]) {
			t.Errorf("offset %d: %d bytes, %v", off, n, err)
		}
	}
	if _, err := m.ReadAt(buf, int64(len(data))); !errors.Is(err, io.EOF) {
		t.Errorf("behind the end: %v", err)
	}
}

// openings counts how often files are opened, and what is read of them.
type openings struct {
	fs.FS
	opened map[string]int
	bytes  int64
}

func (o *openings) Open(name string) (fs.File, error) {
	f, err := o.FS.Open(name)
	if err != nil {
		return nil, err
	}
	o.opened[name]++
	return &meteredFile{f.(*os.File), o}, nil
}

type meteredFile struct {
	*os.File
	o *openings
}

func (m *meteredFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := m.File.ReadAt(p, off)
	m.o.bytes += int64(n)
	return n, err
}

// A database that is kept open is opened once, for its dispatches and its
// counters; the counters take no second look at the dispatches.
func TestOpenedOnce(t *testing.T) {
	for _, keep := range []bool{true, false} {
		f := fileOf(filepath.Join(fixtures, "counters.db"))
		o := &openings{FS: f.FS, opened: map[string]int{}}
		f.FS, f.Keep = o, keep
		db := openDB(t, f)
		sets := countersOf(t, db, "")
		if rows, _ := collected(t, db.Runs[0], 2); len(rows) != 4 {
			t.Fatalf("%d dispatches", len(rows))
		}
		read := o.bytes
		rep, err := sets[0].Fold(t.Context(), 1, func() trace.CounterFolder { return counterFunc(func(*trace.CounterDispatch) {}) })
		if err != nil || rep.Rows != 100 || o.bytes != read {
			t.Errorf("%d rows, %v; %d bytes more", rep.Rows, err, o.bytes-read)
		}
		if n := o.opened["counters.db"]; keep && n != 1 || !keep && n != 3 {
			t.Errorf("kept open %v: opened %d times", keep, n)
		}
	}
}

// PC samples of a development schema are counted, not dropped in silence.
func TestSamplesAreSaid(t *testing.T) {
	const samples = `CREATE TABLE rocpd_gpu_pc_sample{{s}} (id INTEGER PRIMARY KEY, dispatch_id INTEGER)`
	for rows, want := range map[string]string{"": "", `; INSERT INTO rocpd_gpu_pc_sample{{s}} VALUES (1, 1), (2, 1)`: "2 PC samples are in it"} {
		path := newDB(t, least, samples+rows)
		db, err := Open(t.Context(), File{FS: os.DirFS(filepath.Dir(path)), Name: filepath.Base(path), Shown: path})
		if err != nil {
			t.Fatal(err)
		}
		said := slices.ContainsFunc(db.Notes, func(n trace.Note) bool { return want != "" && strings.Contains(n.Text, want) })
		if said != (want != "") || want == "" && len(db.Notes) > 0 {
			t.Errorf("%q: notes %v, want %q", rows, db.Notes, want)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
