//go:build unix

package ingest

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// ReadFileInto reads a file of the directory itself into buf and returns it,
// with memory that follows the bytes that arrive. A dispatch directory holds
// thousands of small files, and opening a root and a pollable os.File for each
// takes twice as long as reading it. Links are not followed: the error is then
// fs.ErrInvalid, and the caller goes through Open.
func (d dirFS) ReadFileInto(name string, buf []byte, limit int) ([]byte, error) {
	if !fs.ValidPath(name) || strings.ContainsAny(name, "/\\") {
		return buf[:0], fs.ErrInvalid
	}
	path := filepath.Join(string(d), name)
	fd, err := ignoreEINTR(func() (int, error) {
		return syscall.Open(path, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	})
	if errors.Is(err, syscall.ELOOP) {
		return buf[:0], fs.ErrInvalid
	}
	if err != nil {
		return buf[:0], &fs.PathError{Op: "open", Path: name, Err: err}
	}
	buf, err = readFD(fd, buf[:0], limit)
	if closeErr := syscall.Close(fd); err == nil {
		err = closeErr
	}
	if err != nil {
		err = &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return buf, err
}

// readFD reads to the end of the file, or until there is more than limit
// bytes: the caller tells that from the length.
func readFD(fd int, buf []byte, limit int) ([]byte, error) {
	for len(buf) <= limit {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), max(64<<10, 2*cap(buf)))
			copy(grown, buf)
			buf = grown
		}
		n, err := ignoreEINTR(func() (int, error) { return syscall.Read(fd, buf[len(buf):cap(buf)]) })
		if err != nil || n <= 0 {
			return buf, err
		}
		buf = buf[:len(buf)+n]
	}
	return buf, nil
}

func ignoreEINTR(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
