package att

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Limits of the sizes of files, in bytes: far above what the profiler writes,
// low enough that a hostile input cannot take all memory.
const (
	maxCodeBytes   = 1 << 30
	maxEventsBytes = 1 << 30
	maxWaveBytes   = 256 << 20
	maxListBytes   = 256 << 20
	maxSourceBytes = 16 << 20
	maxTreeBytes   = 16 << 20
)

var (
	errTooLarge   = errors.New("larger than the limit")
	errNotRegular = errors.New("not a regular file")
)

// folder is one directory of which only the direct children are read, and of
// these only regular files. Links are followed as far as the fs.FS does.
type folder struct {
	fsys fs.FS
	// display is the directory as the user can find it again.
	display string
	types   map[string]fs.FileMode
	names   []string // sorted
}

func openFolder(fsys fs.FS) (*folder, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	d := &folder{fsys: fsys, types: make(map[string]fs.FileMode, len(entries))}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		d.types[e.Name()] = e.Type()
		d.names = append(d.names, e.Name())
	}
	return d, nil
}

// has reports whether the folder has a file of that name.
func (d *folder) has(name string) bool {
	_, ok := d.types[name]
	return ok
}

// open opens a file. A name that is not one of the folder's own files is
// fs.ErrNotExist; a pipe or device is never opened, because that may block.
func (d *folder) open(name string) (fs.File, error) {
	mode, ok := d.types[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	if mode&fs.ModeSymlink != 0 {
		info, err := fs.Stat(d.fsys, name)
		if err != nil {
			return nil, err
		}
		mode = info.Mode().Type()
	}
	if !mode.IsRegular() {
		return nil, errNotRegular
	}
	return d.fsys.Open(name)
}

// quickReader is a file system that reads a regular file of its top directory
// without the cost of an fs.File. It answers fs.ErrInvalid for what is not one.
type quickReader interface {
	ReadFileInto(name string, buf []byte, limit int) ([]byte, error)
}

// read returns a file's bytes in buf, which grows as bytes arrive.
func (d *folder) read(name string, buf []byte, limit int) ([]byte, error) {
	if q, ok := d.fsys.(quickReader); ok && d.has(name) && d.types[name].IsRegular() {
		quick, err := q.ReadFileInto(name, buf, limit)
		if err == nil && len(quick) > limit {
			err = tooLarge(limit)
		}
		if !errors.Is(err, fs.ErrInvalid) {
			return quick, err
		}
	}
	f, err := d.open(name)
	if err != nil {
		return buf[:0], err
	}
	buf, err = readAll(f, buf[:0], limit)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return buf, err
}

func tooLarge(limit int) error { return fmt.Errorf("%w of %d MiB", errTooLarge, limit>>20) }

// readAll appends all of r to buf. The memory taken follows the bytes that
// arrive, not a size that a header claims.
func readAll(r io.Reader, buf []byte, limit int) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), max(16<<10, 2*cap(buf)))
			copy(grown, buf)
			buf = grown
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if len(buf) > limit {
			return buf, tooLarge(limit)
		}
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}

// reason is an error without the path that package fs puts before it.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// notes collects remarks.
type notes []trace.Note

// add adds a remark about a file: one inside of the dispatch directory by its
// name, which locate completes, any other by its path.
func (n *notes) add(level trace.Level, file, format string, args ...any) {
	*n = append(*n, trace.Note{Level: level, File: file, Text: fmt.Sprintf(format, args...)})
}

// locate turns the names of a directory's files into their paths.
func (n notes) locate(display string) notes {
	for i := range n {
		n[i].File = below(display, n[i].File)
	}
	return n
}

// below is the path of a file of a directory. A listed name may hold "..":
// it is not cleaned.
func below(display, name string) string {
	if display == "." {
		return name
	}
	return display + "/" + name
}

// readOptional reads a file that may be absent; ok is false when there is
// nothing to parse. Any other failure is noted.
func (d *folder) readOptional(name string, limit int, n *notes) (b []byte, ok bool) {
	b, err := d.read(name, nil, limit)
	switch {
	case err == nil:
		return b, true
	case errors.Is(err, fs.ErrNotExist):
		return nil, false
	default:
		n.add(trace.Damage, name, "cannot be read (%s): left out", reason(err))
		return nil, false
	}
}
