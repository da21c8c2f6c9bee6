package att

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Bounds of snapshots.json: the files that it may list, the length of a path.
const (
	maxSources = 1 << 16
	maxPath    = 4096
)

// sources gives the files that snapshots.json lists. It is safe for use by
// several goroutines at once.
type sources struct {
	dir *folder
	// exact has the paths as written, clean the same without "..", "." and
	// double slashes.
	exact, clean map[string]string

	mu   sync.Mutex
	read map[string]sourceText
}

type sourceText struct {
	lines []string
	err   error
}

var _ trace.SourceFiles = (*sources)(nil)

// readSources reads the bytes of snapshots.json: a tree of the elements of
// paths ("/" is the first of an absolute one) whose leaves are file names.
// Source: rocprofiler-sdk att-tool, code.cpp.
func readSources(b []byte, d *folder, n *notes) *sources {
	s := &sources{dir: d, exact: map[string]string{}, clean: map[string]string{}, read: map[string]sourceText{}}
	if b == nil {
		return s
	}
	c := newCursor(b)
	if !s.tree(&c, nil) || !c.End() {
		n.add(trace.Damage, "snapshots.json", "%s: the source files before it are used", c.Place())
	}
	return s
}

func (s *sources) tree(c *cursor, elements []string) bool {
	switch c.Peek() {
	case '{':
		return c.Object(func(key []byte) bool {
			if len(key) > maxPath {
				return c.Skip()
			}
			return s.tree(c, append(elements, string(key)))
		})
	case '"':
		file, ok := c.Str()
		if name := joinElements(elements); ok && len(s.exact) < maxSources && len(name) <= maxPath {
			s.add(name, string(file))
		}
		return ok
	default:
		return c.Skip()
	}
}

// add records a file; of two paths that clean to the same the first counts.
func (s *sources) add(name, file string) {
	s.exact[name] = file
	if cleaned := path.Clean(name); s.clean[cleaned] == "" {
		s.clean[cleaned] = file
	}
}

// joinElements puts a path together again; "/" as the first element is the
// root.
func joinElements(elements []string) string {
	if len(elements) > 0 && elements[0] == "/" {
		return "/" + strings.Join(elements[1:], "/")
	}
	return strings.Join(elements, "/")
}

// Lines returns the lines of a source file; see trace.SourceFiles.
func (s *sources) Lines(name string) (lines []string, ok bool, err error) {
	file, ok := s.exact[name]
	if !ok {
		file, ok = s.clean[path.Clean(name)]
	}
	if !ok {
		return nil, false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.read[file]
	if !ok {
		text = s.load(file)
		s.read[file] = text
	}
	return text.lines, true, text.err
}

func (s *sources) load(file string) sourceText {
	b, err := s.dir.read(file, nil, maxSourceBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return sourceText{err: fmt.Errorf("%q is listed in snapshots.json, but is not in the trace's directory", file)}
	case err != nil:
		return sourceText{err: fmt.Errorf("%q cannot be read: %s", file, reason(err))}
	default:
		return sourceText{lines: splitLines(strings.ToValidUTF8(string(b), "\uFFFD"))}
	}
}

// splitLines splits at \n and \r\n; a line end at the end of the text starts
// no further line.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}
