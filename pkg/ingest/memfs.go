package ingest

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"sort"
	"time"
)

// memFS holds files in memory. It is safe for use by several goroutines once
// it is filled.
type memFS struct {
	files map[string][]byte
	dirs  map[string]map[string]memInfo // children of each directory
	bytes int64
}

var (
	_ fs.ReadDirFS = (*memFS)(nil)
	_ fs.StatFS    = (*memFS)(nil)
)

func newMemFS() *memFS {
	return &memFS{files: map[string][]byte{}, dirs: map[string]map[string]memInfo{".": {}}}
}

// add stores a file and makes its directories. ok is false when the name is
// taken, or a part of it is a file.
func (m *memFS) add(name string, data []byte) (ok bool) {
	if m.files[name] != nil || m.dirs[name] != nil {
		return false
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if m.files[dir] != nil {
			return false
		}
	}
	if data == nil {
		data = []byte{}
	}
	m.files[name] = data
	m.bytes += int64(len(data))
	child := memInfo{name: path.Base(name), size: int64(len(data))}
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		known := m.dirs[dir] != nil
		if !known {
			m.dirs[dir] = map[string]memInfo{}
		}
		m.dirs[dir][child.name] = child
		if known {
			return true
		}
		child = memInfo{name: path.Base(dir), dir: true}
	}
}

// Open opens a file or a directory.
func (m *memFS) Open(name string) (fs.File, error) {
	info, err := m.stat("open", name)
	if err != nil {
		return nil, err
	}
	if !info.dir {
		return &memFile{Reader: bytes.NewReader(m.files[name]), info: info}, nil
	}
	entries, err := m.ReadDir(name)
	return &memDir{info: info, entries: entries}, err
}

// Stat describes a file or a directory.
func (m *memFS) Stat(name string) (fs.FileInfo, error) { return m.stat("stat", name) }

func (m *memFS) stat(op, name string) (memInfo, error) {
	if !fs.ValidPath(name) {
		return memInfo{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if data, ok := m.files[name]; ok {
		return memInfo{name: path.Base(name), size: int64(len(data))}, nil
	}
	if _, ok := m.dirs[name]; ok {
		return memInfo{name: path.Base(name), dir: true}, nil
	}
	return memInfo{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// ReadDir lists a directory, sorted by name.
func (m *memFS) ReadDir(name string) ([]fs.DirEntry, error) {
	children, ok := m.dirs[name]
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	entries := make([]fs.DirEntry, 0, len(children))
	for _, c := range children {
		entries = append(entries, c)
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	return entries, nil
}

// memFile is an open file.
type memFile struct {
	*bytes.Reader
	info memInfo
}

func (f *memFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *memFile) Close() error               { return nil }

// memDir is an open directory; entries are those not yet listed.
type memDir struct {
	info    memInfo
	entries []fs.DirEntry
}

func (d *memDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *memDir) Close() error               { return nil }

func (d *memDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.name, Err: fs.ErrInvalid}
}

func (d *memDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(d.entries)
	} else if len(d.entries) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.entries))
	list := d.entries[:n]
	d.entries = d.entries[n:]
	return list, nil
}

// memInfo describes a file or a directory.
type memInfo struct {
	name string
	size int64
	dir  bool
}

func (i memInfo) Name() string               { return i.name }
func (i memInfo) Size() int64                { return i.size }
func (i memInfo) ModTime() time.Time         { return time.Time{} }
func (i memInfo) IsDir() bool                { return i.dir }
func (i memInfo) Sys() any                   { return nil }
func (i memInfo) Info() (fs.FileInfo, error) { return i, nil }
func (i memInfo) Type() fs.FileMode          { return i.Mode().Type() }
func (i memInfo) String() string             { return fs.FormatFileInfo(i) }

func (i memInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}
