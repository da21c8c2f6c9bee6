package ingest

import (
	"io/fs"
	"os"
	"path/filepath"
)

// dirFS is a directory of the operating system. Neither a name nor a link
// inside leads out of it (os.Root sees to that), and no handle stays open
// between calls, so that there is nothing to close.
type dirFS string

var (
	_ fs.ReadDirFS = dirFS("")
	_ fs.StatFS    = dirFS("")
	_ fs.SubFS     = dirFS("")
)

// in runs f on the opened directory. The name is checked first: os.Root takes
// names in the form of the operating system.
func (d dirFS) in(op, name string, f func(root *os.Root, name string) error) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	local, err := filepath.Localize(name)
	if err != nil {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return err
	}
	err = f(root, local)
	if closeErr := root.Close(); err == nil {
		err = closeErr
	}
	return err
}

// Open opens a file for reading.
func (d dirFS) Open(name string) (file fs.File, err error) {
	err = d.in("open", name, func(root *os.Root, name string) error {
		f, err := root.Open(name)
		if err == nil {
			file = f
		}
		return err
	})
	return file, err
}

// Stat describes a file; it follows links that stay inside.
func (d dirFS) Stat(name string) (info fs.FileInfo, err error) {
	err = d.in("stat", name, func(root *os.Root, name string) (err error) {
		info, err = root.Stat(name)
		return err
	})
	return info, err
}

// ReadDir lists a directory, sorted by name. The directory itself is listed
// directly: through os.Root every entry would cost another system call.
func (d dirFS) ReadDir(name string) (entries []fs.DirEntry, err error) {
	if name == "." {
		return os.ReadDir(string(d))
	}
	err = d.in("readdir", name, func(root *os.Root, name string) (err error) {
		entries, err = fs.ReadDir(root.FS(), filepath.ToSlash(name))
		return err
	})
	return entries, err
}

// Sub returns the directory below as a file system of its own, out of which
// nothing leads either.
func (d dirFS) Sub(dir string) (fs.FS, error) {
	if dir == "." {
		return d, nil
	}
	local, err := filepath.Localize(dir)
	if err != nil {
		return nil, &fs.PathError{Op: "sub", Path: dir, Err: fs.ErrInvalid}
	}
	return dirFS(filepath.Join(string(d), local)), nil
}
