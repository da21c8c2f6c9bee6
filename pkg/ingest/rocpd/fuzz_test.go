package rocpd

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// seeds are small real databases.
func seeds(f *testing.F) {
	for _, name := range []string{"gemm.db", "gemm41.db", "counters.db", "elder/trace.rpd", "elder/ops.db", "elder/kern.db"} {
		data, err := os.ReadFile(filepath.Join(fixtures, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, []byte(nil))
	}
}

// FuzzOpen reads damaged databases through SQLite and the page decoder:
// neither may panic or run away, whatever they make of them.
func FuzzOpen(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data, log []byte) {
		files := fstest.MapFS{"x.db": {Data: data}}
		if len(log) > 0 {
			files["x.db-wal"] = &fstest.MapFile{Data: log}
		}
		file := File{FS: readerAtFS{files}, Name: "x.db", Shown: "x.db"}
		db, err := Open(t.Context(), file)
		if err != nil {
			return
		}
		for _, r := range db.Runs {
			n := int64(0)
			rep, err := r.Dispatches.Fold(t.Context(), 1, func() trace.DispatchFolder {
				return dispatchFunc(func(*trace.Dispatch) { n++ })
			})
			if err != nil || rep.Rows != n {
				t.Errorf("%d rows, the report says %d, %v", n, rep.Rows, err)
			}
		}
	})
}

// readerAtFS gives files that can be read at any offset, as those on disk.
type readerAtFS struct{ fstest.MapFS }

type readerAtFile struct {
	fs.File
	*bytes.Reader
}

func (f readerAtFile) Read(p []byte) (int, error) { return f.Reader.Read(p) }

func (r readerAtFS) Open(name string) (fs.File, error) {
	file, err := r.MapFS.Open(name)
	if err != nil {
		return nil, err
	}
	return readerAtFile{file, bytes.NewReader(r.MapFS[name].Data)}, nil
}

// FuzzPages decodes one page as a leaf, and walks a tree from it.
func FuzzPages(f *testing.F) {
	data, err := os.ReadFile(filepath.Join(fixtures, "gemm.db"))
	if err != nil {
		f.Fatal(err)
	}
	for at := 0; at+1024 <= len(data); at += 1024 {
		f.Add(data[at : at+1024])
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		file := make([]byte, 3*512)
		copy(file, data[:headerSize])
		file[offPageSize], file[offPageSize+1], file[offPages+3] = 2, 0, 3
		copy(file[512:], page)
		m, err := newImage(bytes.NewReader(file), int64(len(file)), nil, 0)
		if err != nil {
			return
		}
		table := &table{name: "t", root: 2, columns: []string{"id", "a", "value", "b"}, rowid: 0}
		rows := int64(0)
		rep, err := m.scan(t.Context(), table, []string{"id", realColumn, "b", "missing"}, 1, func() sink {
			return func(row []int64) {
				if rows++; row[3] != trace.Absent {
					t.Errorf("a missing column is %d", row[3])
				}
			}
		})
		if err == nil && rep.rows != rows {
			t.Errorf("%d rows, the report says %d", rows, rep.rows)
		}
	})
}

// FuzzInflate never gives more than the limit.
func FuzzInflate(f *testing.F) {
	f.Add([]byte("\x04\x22\x4d\x18\x60\x40\x82\x06\x00\x00\x00\x32ab-\x03\x00\x10!\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := inflate(data, 1000)
		if err == nil && len(out) > 1000 && !bytes.Equal(out, data) {
			t.Errorf("%d bytes", len(out))
		}
	})
}
