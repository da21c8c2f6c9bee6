package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/att"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Bounds of the search below a directory.
const (
	maxDepth      = 16
	maxDirs       = 100_000
	maxDispatches = 4096
)

// Options says what to read beyond the usual.
type Options struct {
	// Timeline asks for the timelines of waves (trace.Wave.Timeline).
	Timeline bool
	// Kernels asks for what describes kernels: kernel traces, code objects and
	// assembly listings in directory trees, and whole kernel traces beside
	// dispatch directories. Files of these kinds that are named are always
	// read.
	Kernels bool
	// Runs asks for dispatches one by one: databases, kernel traces,
	// statistics tables and results.json become runs, and nothing else is
	// read.
	Runs bool
	// Counters asks for counter tables and results.json; without it they are
	// not read, not even where they are named.
	Counters bool
}

// PathError says which path cannot be read, why, and what to do.
type PathError struct {
	// Path is the path as it was given.
	Path string
	// Problem is what is wrong, Advice what to do about it; Advice may be
	// empty.
	Problem, Advice string
	// Err is the cause, nil when there is no other error behind it.
	Err error
}

// Error returns all parts in one line.
func (e *PathError) Error() string {
	if e.Advice == "" {
		return e.Path + ": " + e.Problem
	}
	return e.Path + ": " + e.Problem + ": " + e.Advice
}

// Unwrap returns the cause.
func (e *PathError) Unwrap() error { return e.Err }

// Open reads what the paths name into one trace: dispatch directories of a
// decoded thread trace, files inside one, kernel traces, code objects and
// assembly listings, directory trees and archives (.zip, .tar, .tar.gz) that
// hold any of them; code objects in archives are not read. A directory that several paths
// name is read once. Errors are *PathError, or that of the context; damage
// inside an input is a note in the trace instead.
//
// Wave and source files are read when they are asked for, so the inputs must
// stay in place; nothing has to be closed.
func Open(ctx context.Context, paths []string, opts Options) (*trace.Trace, error) {
	o := opener{ctx: ctx, opts: opts, tr: &trace.Trace{}, seen: map[string]bool{}}
	for _, p := range paths {
		if err := o.path(p); err != nil {
			return nil, err
		}
	}
	if err := o.counterRuns(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(o.tr.ThreadTraces, func(a, b *trace.ThreadTrace) int { return strings.Compare(a.Path, b.Path) })
	return o.tr, nil
}

// opener collects the trace of one Open.
type opener struct {
	ctx  context.Context
	opts Options
	tr   *trace.Trace
	seen map[string]bool // real paths of the directories that were read
	// counters are the counter files so far.
	counters []counterFile
}

// path reads one path.
func (o *opener) path(p string) error {
	real, info, err := resolve(p)
	if err != nil {
		return err
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return o.dir(p, real)
	case mode.IsRegular():
		return o.file(p, real)
	default:
		return &PathError{Path: p, Problem: "is neither a file nor a directory"}
	}
}

// resolve returns the absolute path behind p, links followed.
func resolve(p string) (string, fs.FileInfo, error) {
	abs, err := filepath.Abs(p)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	var info fs.FileInfo
	if err == nil {
		info, err = os.Stat(abs)
	}
	switch {
	case err == nil:
		return abs, info, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, &PathError{Path: p, Problem: "no such file or directory", Advice: "check the path", Err: err}
	default:
		return "", nil, &PathError{Path: p, Problem: cause(err), Err: err}
	}
}

// cause is an error without the path that package fs puts before it.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// dir reads a directory: a dispatch directory, or a tree of them. Its own
// parent belongs to the file system, for the companion tables there.
func (o *opener) dir(p, real string) error {
	if err := listable(real); err != nil {
		return &PathError{Path: p, Problem: "the directory cannot be read: " + cause(err), Err: err}
	}
	parent, base := filepath.Dir(real), filepath.Base(real)
	if isDispatch(real) {
		return o.dispatch(dirFS(parent), base, filepath.Clean(p), real)
	}
	return o.tree(dirFS(real), p, filepath.Clean(p), real)
}

// listable returns why a directory cannot be listed.
func listable(real string) error {
	f, err := os.Open(real)
	if err != nil {
		return err
	}
	_, err = f.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// isDispatch recognises a dispatch directory. The root of the file system,
// which has no parent for companion tables, is read as a tree.
func isDispatch(real string) bool {
	return filepath.Dir(real) != real && att.IsDispatchDir(dirFS(filepath.Dir(real)), filepath.Base(real))
}

// file reads an archive, or the dispatch directory that the file is in.
func (o *opener) file(p, real string) error {
	head, err := readHead(real)
	if err != nil {
		return &PathError{Path: p, Problem: cause(err), Err: err}
	}
	kind := kindOf(head, real)
	if kind == notArchive {
		f := located{fsys: dirFS(filepath.Dir(real)), name: filepath.Base(real), shown: filepath.ToSlash(p), real: real}
		if o.opts.Runs {
			if ok, err := o.runFile(f, true); ok || err != nil {
				return err
			}
			return notRuns(p)
		}
		if o.opts.Counters {
			if ok, err := o.counterFile(f, true); ok || err != nil {
				return err
			}
		}
		if ok, err := o.kernelFile(f, true); ok || err != nil {
			return err
		}
		if dir := filepath.Dir(real); isDispatch(dir) {
			return o.dispatch(dirFS(filepath.Dir(dir)), filepath.Base(dir), filepath.Dir(p), dir)
		}
		if o.opts.Counters && !o.opts.Kernels {
			return noCounterFile(p, "not recognised")
		}
		return &PathError{
			Path: p, Problem: "not recognised",
			Advice: "give the ui_output_agent_*_dispatch_* directory that rocprofv3 --att wrote, a directory above it, a .tar.gz or .zip of it, a rocpd database, a kernel_trace.csv, a counter table, a code object or its assembly (.s)",
		}
	}
	if o.seen[real] {
		return nil
	}
	o.seen[real] = true
	fsys, notes, err := openArchive(real, kind)
	if err != nil {
		return &PathError{Path: p, Problem: cause(err), Advice: "unpack it and give the directory", Err: err}
	}
	for _, n := range notes {
		n.Place = p
		o.tr.Notes = append(o.tr.Notes, n)
	}
	// The mark keeps a directory at the archive's root from being taken for
	// the archive, which was seen.
	return o.tree(fsys, p, filepath.Clean(p), real+"!")
}

func readHead(real string) ([]byte, error) {
	f, err := os.Open(real)
	if err != nil {
		return nil, err
	}
	head := make([]byte, sniffBytes)
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], errors.Join(err, f.Close())
}

// openArchive gives the files of an archive.
func openArchive(real string, kind archiveKind) (fsys fs.FS, notes []trace.Note, err error) {
	f, err := os.Open(real)
	if err != nil {
		return nil, nil, err
	}
	lim := archiveLimits()
	switch kind {
	case zipArchive:
		var data []byte
		if data, err = readMember(f, lim.file); err == nil {
			fsys, notes, err = readZip(data, lim)
		}
	case gzipArchive:
		fsys, notes, err = readGzip(f, lim)
	default:
		fsys, notes, err = readTar(f, lim)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, nil, err
	}
	return fsys, notes, nil
}

// tree reads every dispatch directory of fsys. display and real are the user's
// and the real name of its root.
func (o *opener) tree(fsys fs.FS, p, display, real string) error {
	s := search{fsys: fsys, kernels: o.opts.Kernels, counters: o.opts.Counters, runs: o.opts.Runs}
	if err := s.walk(o.ctx, ".", 0); err != nil {
		return err
	}
	for _, n := range s.notes {
		n.Place = path.Join(filepath.ToSlash(display), n.Place)
		o.tr.Notes = append(o.tr.Notes, n)
	}
	if o.opts.Runs {
		return o.runTree(fsys, s.runFiles, p, display, real)
	}
	described, err := o.kernelFiles(fsys, s.files, display, real)
	if err != nil {
		return err
	}
	counted, err := o.counterFiles(fsys, s.tables, display, real)
	if err != nil {
		return err
	}
	if len(s.found) == 0 && described == 0 && counted == 0 {
		return o.nothingBelow(p)
	}
	for _, dir := range s.found {
		shown := filepath.Join(display, filepath.FromSlash(dir))
		if err := o.dispatch(fsys, dir, shown, filepath.Join(real, filepath.FromSlash(dir))); err != nil {
			return err
		}
	}
	return nil
}

// nothingBelow says that a tree holds nothing of what was asked for.
func (o *opener) nothingBelow(p string) error {
	switch {
	case o.opts.Counters && !o.opts.Kernels:
		return noCounterFile(p, "no counter table below "+p)
	case o.opts.Kernels:
		return &PathError{
			Path: p, Problem: "no dispatch directory (code.json), kernel trace, code object or counter table below " + p,
			Advice: "give the directory that rocprofv3 wrote to (its -d)",
		}
	}
	return &PathError{
		Path: p, Problem: "no dispatch directory (code.json) below " + p,
		Advice: "give the ui_output_agent_*_dispatch_* directory that rocprofv3 --att wrote",
	}
}

// search finds dispatch directories.
type search struct {
	fsys  fs.FS
	dirs  int
	found []string
	notes []trace.Note
	// kernels asks for files that may describe kernels, listed in files.
	kernels bool
	files   []string
	// counters asks for files that may hold counters, listed in tables.
	counters bool
	tables   []string
	// runs asks for files that may hold dispatches, listed in runFiles.
	runs     bool
	runFiles []string
}

// walk looks at dir and all below it, in order of names, and does not follow
// links. The error is that of the context only.
func (s *search) walk(ctx context.Context, dir string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.dirs == maxDirs || len(s.found) == maxDispatches || depth > maxDepth {
		s.stop(dir)
		return nil
	}
	s.dirs++
	if att.IsDispatchDir(s.fsys, dir) {
		s.found = append(s.found, dir)
		return nil
	}
	entries, err := fs.ReadDir(s.fsys, dir)
	if err != nil {
		s.notes = append(s.notes, trace.Note{Level: trace.Damage, Place: dir, Text: "the directory cannot be read: " + cause(err)})
		return nil
	}
	for _, e := range entries {
		if !e.IsDir() {
			s.file(dir, e)
			continue
		}
		if err := s.walk(ctx, path.Join(dir, e.Name()), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// stop notes once that the search is not complete.
func (s *search) stop(dir string) {
	text := fmt.Sprintf("the search ends here (limits: depth %d, %d directories, %d dispatches): give a directory further down", maxDepth, maxDirs, maxDispatches)
	for _, n := range s.notes {
		if n.Text == text {
			return
		}
	}
	s.notes = append(s.notes, trace.Note{Level: trace.Damage, Place: dir, Text: text})
}

// dispatch reads one dispatch directory unless that was done.
func (o *opener) dispatch(fsys fs.FS, dir, display, real string) error {
	if o.seen[real] {
		return nil
	}
	o.seen[real] = true
	tt, err := att.Open(o.ctx, fsys, dir, filepath.ToSlash(display))
	if err != nil {
		if o.ctx.Err() != nil {
			return o.ctx.Err()
		}
		return &PathError{Path: display, Problem: "the directory cannot be read: " + cause(err), Err: err}
	}
	if w, ok := tt.Waves.(*att.Waves); ok {
		w.Timeline = o.opts.Timeline
	}
	if o.opts.Kernels {
		companionTables(fsys, dir, filepath.ToSlash(display), tt)
	}
	o.tr.ThreadTraces = append(o.tr.ThreadTraces, tt)
	return nil
}
