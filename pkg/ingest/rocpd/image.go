package rocpd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// Offsets in the header of a database. Source: SQLite "Database File Format",
// section 1.3.
const (
	headerSize      = 100
	offPageSize     = 16
	offWriteVersion = 18 // and 19, the read version: 2 is write-ahead logging
	offReserved     = 20
	offChange       = 24
	offPages        = 28
	offValidFor     = 92 // the change counter for which offPages holds
)

// magic begins every SQLite database.
const magic = "SQLite format 3\x00"

// image is a database as SQLite has to see it: the file, with the pages of its
// write-ahead log in their places, and zeros where the file was cut short. It
// is safe for concurrent use.
type image struct {
	file     io.ReaderAt
	fileSize int64
	pageSize int
	// usable is the part of a page that holds content.
	usable int
	// pages is the number of pages, those missing at the end included.
	pages int64
	// missing pages lie behind the end of the file.
	missing int64
	// log holds pages by number, as offsets in logFile.
	log     map[uint32]int64
	logFile io.ReaderAt
	// logDropped are frames of the log that were not committed.
	logDropped int64
}

// newImage reads the header of a database, and its write-ahead log when there
// is one.
func newImage(file io.ReaderAt, size int64, wal io.ReaderAt, walSize int64) (*image, error) {
	var h [headerSize]byte
	if _, err := file.ReadAt(h[:], 0); err != nil {
		return nil, fmt.Errorf("cut short: %d bytes are less than the header of a database", size)
	}
	m := &image{file: file, fileSize: size}
	m.pageSize = int(binary.BigEndian.Uint16(h[offPageSize:]))
	if m.pageSize == 1 {
		m.pageSize = 65536
	}
	m.usable = m.pageSize - int(h[offReserved])
	if m.pageSize < 512 || m.pageSize&(m.pageSize-1) != 0 || m.usable < 480 {
		return nil, errors.New("damaged: its header gives no possible page size")
	}
	m.pages = (size + int64(m.pageSize) - 1) / int64(m.pageSize)
	counted := int64(binary.BigEndian.Uint32(h[offPages:]))
	if counted > 0 && string(h[offChange:offChange+4]) == string(h[offValidFor:offValidFor+4]) {
		m.missing = max(counted-size/int64(m.pageSize), 0)
		m.pages = counted
	}
	if wal != nil && walSize > 0 {
		if err := m.readLog(wal, walSize); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// ReadAt reads the database at an offset, across pages.
func (m *image) ReadAt(p []byte, off int64) (int, error) {
	end := m.pages * int64(m.pageSize)
	if off < 0 || off >= end {
		return 0, io.EOF
	}
	var short error
	if int64(len(p)) > end-off {
		p, short = p[:end-off], io.EOF
	}
	if err := m.fill(p, off); err != nil {
		return 0, err
	}
	// SQLite would look for a log of its own: every committed page of it is
	// here already.
	for i := int64(offWriteVersion); i < offWriteVersion+2; i++ {
		if at := i - off; at >= 0 && at < int64(len(p)) {
			p[at] = 1
		}
	}
	return len(p), short
}

func (m *image) fill(p []byte, off int64) error {
	if len(m.log) == 0 {
		return m.readFile(p, off)
	}
	for len(p) > 0 {
		page, in := off/int64(m.pageSize), int(off%int64(m.pageSize))
		part := p[:min(len(p), m.pageSize-in)]
		at, logged := m.log[uint32(page)+1]
		var err error
		if logged {
			_, err = m.logFile.ReadAt(part, at+int64(in))
		} else {
			err = m.readFile(part, off)
		}
		if err != nil {
			return err
		}
		p, off = p[len(part):], off+int64(len(part))
	}
	return nil
}

// readFile reads the file, and zeros behind its end.
func (m *image) readFile(p []byte, off int64) error {
	n, err := m.file.ReadAt(p, off)
	if n < len(p) && !errors.Is(err, io.EOF) {
		return err
	}
	clear(p[n:])
	return nil
}

// imageName is the only file of an image's file system.
const imageName = "database"

// Open gives the image as the file "database" of a file system, the form in
// which SQLite takes it.
func (m *image) Open(name string) (fs.File, error) {
	if name != imageName {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	size := m.pages * int64(m.pageSize)
	return &imageFile{SectionReader: io.NewSectionReader(m, 0, size), size: size}, nil
}

// imageFile is an open image and its own description.
type imageFile struct {
	*io.SectionReader
	size int64
}

func (f *imageFile) Stat() (fs.FileInfo, error) { return imageInfo{f.size}, nil }
func (f *imageFile) Close() error               { return nil }

// imageInfo describes an image.
type imageInfo struct{ size int64 }

func (imageInfo) Name() string       { return imageName }
func (i imageInfo) Size() int64      { return i.size }
func (imageInfo) Mode() fs.FileMode  { return 0o444 }
func (imageInfo) ModTime() time.Time { return time.Time{} }
func (imageInfo) IsDir() bool        { return false }
func (imageInfo) Sys() any           { return nil }
