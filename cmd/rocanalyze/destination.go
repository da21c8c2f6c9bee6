package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

// destination is where a result goes.
type destination struct {
	// file is the path, "" or "-" for standard output.
	file string
	// force allows to overwrite what is no capture.
	force bool
	// inputs are the paths that are read, which stay as they are.
	inputs []string
}

// check refuses a file that is not to be written to: an input, one in an input
// directory, any other capture, and without force any file that is there.
func (o destination) check() error {
	if o.file == "" || o.file == "-" {
		return nil
	}
	refuse := func(why string) error {
		return fmt.Errorf("--output %s: %s", o.file, why)
	}
	info, err := os.Stat(o.file)
	there := err == nil
	if there && info.IsDir() {
		return refuse("it is a directory: name a file")
	}
	for _, in := range o.inputs {
		input, err := os.Stat(in)
		switch {
		case err != nil:
		case there && os.SameFile(info, input):
			return refuse("it is an input: name another file")
		case input.IsDir() && below(in, o.file):
			return refuse("it lies in the input directory " + in + ": name a file elsewhere")
		}
	}
	switch {
	case !there || !info.Mode().IsRegular():
		return nil
	case ingest.IsCapture(o.file):
		return refuse("there is a capture: name another file")
	case !o.force:
		return refuse("it exists: --force overwrites it")
	}
	return nil
}

// below reports whether a file lies, links followed, below a directory.
func below(dir, file string) bool {
	real := func(p string) string {
		abs, err := filepath.Abs(p)
		if err != nil {
			return p
		}
		if followed, err := filepath.EvalSymlinks(abs); err == nil {
			return followed
		}
		if parent, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil { // a new file
			return filepath.Join(parent, filepath.Base(abs))
		}
		return abs
	}
	rel, err := filepath.Rel(real(dir), real(file))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// write gives a function the file, or standard output. The file appears whole or
// not at all.
func (a *app) write(o destination, f func(w io.Writer) error) error {
	if o.file == "" || o.file == "-" {
		return f(a.stdout)
	}
	if err := o.check(); err != nil {
		return err
	}
	err := o.replace(f)
	if err != nil && errors.As(err, new(*fs.PathError)) {
		return fmt.Errorf("cannot write the output: %w", err)
	}
	return err
}

// replace writes a file beside the wanted one, and gives it its name in the end.
func (o destination) replace(f func(w io.Writer) error) error {
	path := o.file
	if followed, err := filepath.EvalSymlinks(path); err == nil {
		path = followed // a link stays one
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return filled(path, os.O_WRONLY, f) // a pipe or a device
	}
	temporary := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d", filepath.Base(path), os.Getpid()))
	err := filled(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		_ = os.Remove(temporary) // the first error is the one to tell
	}
	return err
}

// filled opens a file, fills and closes it.
func filled(path string, how int, f func(w io.Writer) error) error {
	w, err := os.OpenFile(path, how, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(f(w), w.Close())
}
