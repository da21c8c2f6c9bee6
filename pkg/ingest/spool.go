package ingest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"time"
)

// spoolMemory is how much of what was unpacked is held in memory; beyond that
// it lies in a temporary file that has no name any more.
const spoolMemory = 64 << 20

// spool holds what was unpacked, to be read at any offset. It is written first
// and then read.
type spool struct {
	// given was in memory already; chunks hold what was written, all but the
	// last of them full: one slice that grows would leave twice its size behind.
	given  []byte
	chunks [][]byte
	file   *os.File
	name   string // of the file where it could not be removed while it is open
	size   int64
}

// chunkBytes is the size of a chunk.
const chunkBytes = 1 << 20

// Write appends.
func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && s.size+int64(len(p)) > spoolMemory {
		if err := s.spill(); err != nil {
			return 0, err
		}
	}
	if s.file == nil {
		s.keep(p)
		return len(p), nil
	}
	n, err := s.file.Write(p)
	s.size += int64(n)
	return n, err
}

// keep appends to the chunks.
func (s *spool) keep(p []byte) {
	s.size += int64(len(p))
	for len(p) > 0 {
		last := len(s.chunks) - 1
		if last < 0 || len(s.chunks[last]) == chunkBytes {
			s.chunks = append(s.chunks, make([]byte, 0, chunkBytes))
			last++
		}
		n := min(len(p), chunkBytes-len(s.chunks[last]))
		s.chunks[last] = append(s.chunks[last], p[:n]...)
		p = p[n:]
	}
}

// spill moves what there is to a temporary file.
func (s *spool) spill() error {
	f, err := os.CreateTemp("", "rocanalyze-")
	if err != nil {
		return err
	}
	if os.Remove(f.Name()) != nil { // some systems do not remove open files
		s.name = f.Name()
	}
	s.file = f
	for _, c := range s.chunks {
		if _, err := f.Write(c); err != nil {
			return err
		}
	}
	s.chunks = nil
	return nil
}

// ReadAt reads at an offset.
func (s *spool) ReadAt(p []byte, off int64) (int, error) {
	if s.file != nil {
		return s.file.ReadAt(p, off)
	}
	if s.given != nil {
		return bytes.NewReader(s.given).ReadAt(p, off)
	}
	if off < 0 {
		return 0, fs.ErrInvalid
	}
	n := 0
	for n < len(p) && off < s.size {
		m := copy(p[n:], s.chunks[off/chunkBytes][off%chunkBytes:])
		n, off = n+m, off+int64(m)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Close gives up the memory or the file.
func (s *spool) Close() error {
	f := s.file
	s.given, s.chunks, s.file = nil, nil, nil
	if f == nil {
		return nil
	}
	err := f.Close()
	if s.name != "" {
		err = errors.Join(err, os.Remove(s.name))
	}
	return err
}

// fill copies at most limit bytes into a new spool.
func fill(r io.Reader, limit int64) (*spool, error) {
	s := &spool{}
	n, err := io.Copy(s, io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = tooLarge(limit)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// spooledFS is a file system with one file in a place of it that holds what was
// unpacked or came through a pipe.
type spooledFS struct {
	fs.FS
	name string
	data *spool
}

// Open opens a file of it.
func (f *spooledFS) Open(name string) (fs.File, error) {
	if name != f.name {
		return f.FS.Open(name)
	}
	return &spooledFile{SectionReader: io.NewSectionReader(f.data, 0, f.data.size), name: path.Base(name)}, nil
}

// spooledFile is an open file over a spool, which stays.
type spooledFile struct {
	*io.SectionReader
	name string
}

// Stat describes it.
func (f *spooledFile) Stat() (fs.FileInfo, error) { return f, nil }

// Close does nothing.
func (f *spooledFile) Close() error { return nil }

// Name is its name.
func (f *spooledFile) Name() string { return f.name }

// Mode is that of a file.
func (f *spooledFile) Mode() fs.FileMode { return 0o444 }

// ModTime is not known.
func (f *spooledFile) ModTime() time.Time { return time.Time{} }

// IsDir is false.
func (f *spooledFile) IsDir() bool { return false }

// Sys is nothing.
func (f *spooledFile) Sys() any { return nil }

// noFiles is a file system without files.
type noFiles struct{}

// Open finds nothing.
func (noFiles) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}
