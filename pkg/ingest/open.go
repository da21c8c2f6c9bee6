package ingest

import (
	"bufio"
	"cmp"
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
	"github.com/rocanalyze/rocanalyze/pkg/ingest/kerneltrace"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Bounds of the search below a directory.
const (
	maxDepth      = 16
	maxDirs       = 100_000
	maxDispatches = 4096
	maxFiles      = 1 << 16
)

// Options says what to read.
type Options struct {
	// Timeline asks for the timelines of waves (trace.Wave.Timeline).
	Timeline bool
	// Only leaves what is not in it closed: a caller that looks at counters
	// need not wait for thread traces. 0 stands for everything.
	Only trace.Part
	// Stdin is what the path "-" stands for.
	Stdin io.Reader
	// Arch is the architecture of assembly listings that do not name theirs.
	Arch string
}

// Stdin is the path of standard input.
const Stdin = "-"

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
// decoded thread trace, files inside one, databases, kernel traces, statistics,
// counter tables, code objects and assembly listings, directory trees and
// archives (zip, tar) that hold any of them; files and tar archives may be
// packed (gzip, zstd, xz, bzip2), and one may come through a pipe. What they are
// is told by their content, once; a file that several paths name is read once. Errors are
// *PathError, or that of the context; damage inside an input, and one of several
// paths that cannot be read, is a note in the trace instead.
//
// Dispatches, counters, waves and source files are read when they are asked
// for, so the inputs must stay in place until the trace is closed.
func Open(ctx context.Context, paths []string, opts Options) (*trace.Trace, error) {
	o := newOpener(ctx, opts)
	err := o.all(paths)
	return o.done(err)
}

// OpenArchive reads an archive that is held in memory as Open reads a file of
// that name. The name need not exist, and data must not change until the trace
// is closed.
func OpenArchive(ctx context.Context, name string, data []byte, opts Options) (*trace.Trace, error) {
	o := newOpener(ctx, opts)
	c := o.inMemory(name, &spool{given: data, size: int64(len(data))})
	if kindOf(data[:min(len(data), sniffBytes)], name) == notArchive {
		return o.done(&PathError{Path: name, Problem: "not an archive"})
	}
	err := o.read(name, &c)
	if err == nil {
		err = o.counterRuns()
	}
	return o.done(err)
}

// inMemory is a candidate of what is not a file on disk.
func (o *opener) inMemory(shown string, s *spool) candidate {
	o.tr.OnClose(s.Close)
	const name = "stream"
	return candidate{fsys: &spooledFS{FS: noFiles{}, name: name, data: s}, name: name, shown: shown, real: shown + "|", given: true, streamed: true}
}

func newOpener(ctx context.Context, opts Options) *opener {
	o := opener{
		ctx: ctx, opts: opts, only: opts.Only, tr: &trace.Trace{}, seen: map[string]bool{}, runs: map[string]*trace.Run{},
		tables: map[string]*kerneltrace.Table{}, agentTables: map[string]agentTable{},
		directories: map[string]*trace.ThreadTrace{},
	}
	if o.only == 0 {
		o.only = trace.ThreadTraces | trace.Dispatches | trace.Counters | trace.Code | trace.Sampled
	}
	return &o
}

// done gives the trace, or closes it when err ended the reading.
func (o *opener) done(err error) (*trace.Trace, error) {
	if err != nil {
		return nil, errors.Join(err, o.tr.Close())
	}
	o.addTraceTables()
	slices.SortStableFunc(o.tr.ThreadTraces, func(a, b *trace.ThreadTrace) int { return strings.Compare(a.Path, b.Path) })
	return o.tr, nil
}

// opener collects the trace of one Open.
type opener struct {
	ctx  context.Context
	opts Options
	only trace.Part
	tr   *trace.Trace
	seen map[string]bool // real paths of what was read
	// given are the real paths that the user named.
	given []string
	// counters are the counter files so far, runs the runs of databases by
	// their identity, databases how many databases were opened.
	counters  []counterFile
	runs      map[string]*trace.Run
	databases int
	// times are the tables of dispatches and of their sums.
	times times
	// tables and agentTables were read, by their real paths.
	tables      map[string]*kerneltrace.Table
	agentTables map[string]agentTable
	// directories are the traces of dispatch directories by their real paths,
	// traceTables those of tables beside such directories.
	directories map[string]*trace.ThreadTrace
	traceTables []besideTrace
}

func (o *opener) all(paths []string) error {
	for _, p := range paths {
		o.tr.Given = append(o.tr.Given, filepath.ToSlash(p))
		if streamed(p) {
			continue
		}
		real, _, err := resolve(p)
		if errors.Is(err, fs.ErrNotExist) {
			return err
		}
		o.given = append(o.given, real)
	}
	var failed []*PathError
	for _, p := range paths {
		err := o.path(p)
		var pe *PathError
		switch {
		case o.ctx.Err() != nil:
			return o.ctx.Err()
		case errors.As(err, &pe):
			failed = append(failed, pe)
		case err != nil:
			return err
		}
	}
	if len(failed) > 0 && len(failed) == len(paths) {
		return failed[0]
	}
	for _, pe := range failed {
		o.note(trace.Damage, pe.Path, strings.TrimPrefix(pe.Error(), pe.Path+": "))
	}
	return o.counterRuns()
}

// companion makes the remarks on a file what they are to the user: one that was
// neither named nor lies in a directory that is read is no part of the input,
// so that damage in it is a warning.
func (o *opener) companion(real string, notes []trace.Note) []trace.Note {
	if slices.ContainsFunc(o.given, func(g string) bool { return within(g, real) }) {
		return notes
	}
	return trace.Lower(notes, trace.Damage, trace.Warning)
}

// within reports whether a file is given, or is in a directory or archive that
// is.
func within(given, real string) bool {
	rest, ok := strings.CutPrefix(real, strings.TrimSuffix(given, string(filepath.Separator)))
	return given != "" && ok && (rest == "" || os.IsPathSeparator(rest[0]) || strings.HasPrefix(rest, "!"+string(filepath.Separator)))
}

// streamed reports whether a path is standard input or a pipe.
func streamed(p string) bool {
	if p == Stdin {
		return true
	}
	info, err := os.Stat(p)
	return err == nil && info.Mode()&fs.ModeNamedPipe != 0
}

// stream reads standard input or a pipe to its end.
func (o *opener) stream(p string) (c candidate, err error) {
	r := o.opts.Stdin
	if p != Stdin {
		f, err := os.Open(p)
		if err != nil {
			return c, &PathError{Path: p, Problem: cause(err), Err: err}
		}
		defer func() { _ = f.Close() }() // it was read to its end
		r = f
	}
	if r == nil {
		return c, &PathError{Path: p, Problem: "there is no standard input"}
	}
	s, err := fill(&contextReader{o.ctx, r}, archiveLimits().total)
	if err != nil {
		return c, &PathError{Path: p, Problem: cause(err), Advice: "write it to a file and give that", Err: err}
	}
	if s.size == 0 {
		return c, &PathError{Path: p, Problem: "nothing came through it", Advice: "see why the command before it wrote nothing"}
	}
	return o.inMemory(p, s), nil
}

// path reads one path.
func (o *opener) path(p string) error {
	if streamed(p) {
		if !o.once(p) {
			return nil
		}
		c, err := o.stream(p)
		if err != nil {
			return cmp.Or(o.ctx.Err(), err)
		}
		return o.read(p, &c)
	}
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
		if !o.wants(trace.ThreadTraces) {
			return nil // the caller says what is missing
		}
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

// file reads a file that was named.
func (o *opener) file(p, real string) error {
	c := candidate{fsys: dirFS(filepath.Dir(real)), name: filepath.Base(real), shown: filepath.ToSlash(p), real: real, given: true}
	return o.read(p, &c)
}

// read reads a file or stream that was named: an archive, a file of a known
// format, or the dispatch directory that it is in.
func (o *opener) read(p string, c *candidate) (err error) {
	if err := c.start(); err != nil {
		return &PathError{Path: p, Problem: cause(err), Err: err}
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	switch kindOf(c.head, c.real) {
	case zipArchive:
		return o.zip(p, c)
	case tarArchive:
		r, err := c.rest()
		if err != nil {
			return &PathError{Path: p, Problem: cause(err), Err: err}
		}
		return o.tar(p, c, r)
	case packed:
		if done, err := o.packed(p, c); done || err != nil {
			return err
		}
	}
	found, known, err := o.recogniseStarted(c)
	dir := filepath.Dir(c.real)
	switch {
	case err != nil || found != 0:
		return err
	case !known && !c.streamed && isDispatch(dir) && o.wants(trace.ThreadTraces):
		return o.dispatch(dirFS(filepath.Dir(dir)), filepath.Base(dir), filepath.Dir(p), dir)
	}
	return o.unwanted(p, c, known)
}

// unpackAdvice is what to do with an archive that cannot be read.
const unpackAdvice = "unpack it and give the directory"

// zip reads what is in a zip archive.
func (o *opener) zip(p string, c *candidate) error {
	if !o.once(c.real) {
		return nil
	}
	f := c.take()
	o.tr.OnClose(f.Close)
	info, err := f.Stat()
	at, ok := f.(io.ReaderAt)
	if err == nil && !ok {
		err = errors.New("an archive in an archive")
	}
	var fsys fs.FS
	var notes []trace.Note
	if err == nil {
		fsys, notes, err = readZip(at, info.Size(), archiveLimits())
	}
	return o.members(p, c, fsys, notes, err)
}

// tar reads what is in a tar archive. r is the archive.
func (o *opener) tar(p string, c *candidate, r io.Reader) error {
	if !o.once(c.real) {
		return nil
	}
	fsys, s, notes, err := readTar(&contextReader{o.ctx, r}, archiveLimits())
	if s != nil {
		o.tr.OnClose(s.Close)
	}
	return o.members(p, c, fsys, notes, err)
}

// members reads the files of an archive.
func (o *opener) members(p string, c *candidate, fsys fs.FS, notes []trace.Note, err error) error {
	if err != nil {
		return cmp.Or(o.ctx.Err(), error(&PathError{Path: p, Problem: cause(err), Advice: unpackAdvice, Err: err}))
	}
	for _, n := range notes {
		n.File = p
		o.tr.AddNotes(n)
	}
	// The mark keeps a directory at the archive's root from being taken for
	// the archive, which was seen.
	return o.tree(fsys, p, filepath.Clean(p), c.real+"!")
}

// packed unpacks a file. done says that it was an archive, which was read.
func (o *opener) packed(p string, c *candidate) (done bool, err error) {
	fail := func(err error) error {
		how := compressedAs(c.head)
		return cmp.Or(o.ctx.Err(), error(&PathError{Path: p, Problem: cause(err), Advice: "unpack it (" + how.command + ") and give what is in it", Err: err}))
	}
	r, err := o.unpacked(c)
	if err != nil {
		return false, fail(err)
	}
	head, err := r.Peek(sniffBytes)
	if err != nil && (len(head) == 0 || !errors.Is(err, io.EOF)) {
		return false, fail(err)
	}
	switch kindOf(head, unpackedName(c.name)) {
	case tarArchive:
		return true, o.tar(p, c, r)
	case zipArchive, packed:
		return false, fail(errors.New("an archive in a packed file"))
	}
	if err := o.replace(c, r); err != nil {
		return false, fail(err)
	}
	return false, nil
}

// unpacked gives what a packed file holds.
func (o *opener) unpacked(c *candidate) (*bufio.Reader, error) {
	how := compressedAs(c.head)
	if how.unpack == nil {
		return nil, errors.New("a file packed with " + how.name)
	}
	r, err := c.rest()
	if err != nil {
		return nil, err
	}
	return how.reader(&contextReader{o.ctx, r})
}

// replace puts what was unpacked in the place of a file.
func (o *opener) replace(c *candidate, r io.Reader) error {
	s, err := fill(r, archiveLimits().total)
	if err != nil {
		return err
	}
	o.tr.OnClose(s.Close)
	if err := c.stop(); err != nil {
		return err
	}
	c.name = unpackedName(c.name)
	c.fsys = &spooledFS{FS: c.fsys, name: c.name, data: s}
	return c.start()
}

// tree reads everything that is wanted of fsys. display and real are the user's
// and the real name of its root.
func (o *opener) tree(fsys fs.FS, p, display, real string) error {
	s := search{o: o, fsys: fsys, display: filepath.ToSlash(display)}
	if err := s.walk(".", 0); err != nil {
		return err
	}
	found, err := o.files(&s, real)
	if err != nil {
		return err
	}
	if err := s.remark(p, found || len(s.found) > 0 || s.other); err != nil {
		return err
	}
	for _, dir := range s.found {
		shown := filepath.Join(display, filepath.FromSlash(dir))
		if err := o.dispatch(fsys, dir, shown, filepath.Join(real, filepath.FromSlash(dir))); err != nil {
			return err
		}
	}
	return nil
}

// files reads the files of a tree, and reports whether there is any of use. One
// that cannot be read does not stop the others.
func (o *opener) files(s *search, real string) (found bool, err error) {
	repeated := repeats(s.files)
	counted, compiled := len(o.counters), len(o.tr.CodeObjects)
	for _, name := range s.files {
		if err := o.ctx.Err(); err != nil {
			return found, err
		}
		c := candidate{
			fsys: s.fsys, name: name, shown: path.Join(s.display, name), real: filepath.Join(real, filepath.FromSlash(name)),
			repeated: repeated[name],
		}
		parts, _, err := o.recognise(&c)
		if o.ctx.Err() != nil {
			return found, o.ctx.Err()
		}
		if err != nil {
			o.damaged(&c, err)
		}
		if c.repeated && parts&o.only&trace.Dispatches != 0 {
			o.note(trace.Info, c.shown, "left out: a better source of the same run lies beside it")
		}
		found = found || parts != 0
	}
	o.counters = append(o.counters[:counted:counted], withoutParts(o.counters[counted:])...)
	o.tr.CodeObjects = append(o.tr.CodeObjects[:compiled:compiled], o.withoutTwins(o.tr.CodeObjects[compiled:])...)
	return found, nil
}

// search finds dispatch directories and files that may be of use.
type search struct {
	o       *opener
	fsys    fs.FS
	display string // its root
	dirs    int
	found   []string
	files   []string
	// raw are thread traces that were not decoded, packed are archives: neither
	// is looked into.
	raw, packed []string
	// other is set when there is a thread trace and none is wanted.
	other, stopped bool
	// nvidia counts the files of other GPUs' kernels, where code is wanted.
	nvidia int
}

// walk looks at dir and all below it, in order of names, and does not follow
// links. The error is that of the context only.
func (s *search) walk(dir string, depth int) error {
	if err := s.o.ctx.Err(); err != nil {
		return err
	}
	if s.dirs == maxDirs || len(s.found) == maxDispatches || depth > maxDepth {
		s.stop(dir)
		return nil
	}
	s.dirs++
	if att.IsDispatchDir(s.fsys, dir) {
		if s.o.wants(trace.ThreadTraces) {
			s.found = append(s.found, dir)
		}
		s.other = !s.o.wants(trace.ThreadTraces)
		return nil
	}
	entries, err := fs.ReadDir(s.fsys, dir)
	if err != nil {
		s.o.note(trace.Damage, path.Join(s.display, dir), "the directory cannot be read: "+cause(err))
		return nil
	}
	for _, e := range entries {
		if !e.IsDir() {
			s.file(dir, e)
			continue
		}
		if err := s.walk(path.Join(dir, e.Name()), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// file keeps a file that may be of use, by its name; its content decides.
func (s *search) file(dir string, e fs.DirEntry) {
	if !e.Type().IsRegular() || len(s.files) == maxFiles {
		return
	}
	switch {
	case strings.HasSuffix(e.Name(), rawSuffix):
		s.raw = append(s.raw, path.Join(dir, e.Name()))
		return
	case isArchiveName(e.Name()):
		s.packed = append(s.packed, path.Join(dir, e.Name()))
		return
	case s.o.wants(trace.Code) && (path.Ext(e.Name()) == ".cubin" || path.Ext(e.Name()) == ".ptx"):
		s.nvidia++
		return
	}
	all := formats()
	for i := range all {
		if s.o.wants(all[i].holds) && all[i].named(unpackedName(e.Name())) {
			s.files = append(s.files, path.Join(dir, e.Name()))
			return
		}
	}
}

// remark says what of a tree is not looked into. It is an error where there is
// nothing else; any says that there is.
func (s *search) remark(p string, any bool) error {
	if len(s.raw) > 0 && len(s.found) == 0 && s.o.wants(trace.ThreadTraces) {
		what := trace.Many(len(s.raw), "thread trace that was not decoded", "thread traces that were not decoded") + " (" + path.Base(s.raw[0]) + ")"
		if !any {
			return &PathError{Path: p, Problem: what, Advice: helpDecoder}
		}
		s.o.note(trace.Warning, s.display, what+": "+helpDecoder)
	}
	if s.nvidia > 0 {
		if !any {
			return &PathError{Path: p, Problem: "only NVIDIA kernels (.cubin, .ptx)", Advice: "only code of AMD GPUs is read"}
		}
		s.o.note(trace.Info, s.display, trace.Many(s.nvidia, "file", "files")+" of NVIDIA kernels (.cubin, .ptx) left out")
	}
	if len(s.packed) > 0 {
		what, advice := path.Join(s.display, s.packed[0]), "give the archive itself"
		if _, ok := s.fsys.(*memberFS); ok {
			advice = "unpack " + p + " and give the archive in it"
		}
		if !any {
			return &PathError{Path: p, Problem: "nothing but archives in it (" + path.Base(what) + ")", Advice: advice}
		}
		s.o.note(trace.Info, what, trace.Many(len(s.packed), "archive is", "archives (this is the first) are")+" not looked into: "+advice)
	}
	if !any {
		return &PathError{Path: p, Problem: s.o.lacks() + " below " + p, Advice: s.o.advice()}
	}
	return nil
}

// stop notes once that the search is not complete.
func (s *search) stop(dir string) {
	if s.stopped {
		return
	}
	s.stopped = true
	s.o.note(trace.Damage, path.Join(s.display, dir), fmt.Sprintf(
		"the search ends here (limits: depth %d, %d directories, %d dispatches): give a directory further down", maxDepth, maxDirs, maxDispatches))
}

// dispatch reads one dispatch directory unless that was done.
func (o *opener) dispatch(fsys fs.FS, dir, display, real string) error {
	if !o.once(real) {
		return nil
	}
	around := real
	if dir != "." {
		around = filepath.Dir(real)
	}
	shown := filepath.ToSlash(display)
	tt, notes, err := att.Open(o.ctx, fsys, dir, shown, companions{o, around})
	if err != nil {
		if o.ctx.Err() != nil {
			return o.ctx.Err()
		}
		return &PathError{Path: display, Problem: "the directory cannot be read: " + cause(err), Err: err}
	}
	if w, ok := tt.Waves.(*att.Waves); ok {
		w.Timeline = o.opts.Timeline
	}
	o.tr.Sources = append(o.tr.Sources, trace.Source{Path: shown, Format: "thread_trace", By: "directory with a code.json"})
	o.tr.ThreadTraces = append(o.tr.ThreadTraces, tt)
	o.directories[real] = tt
	o.tr.AddNotes(notes...)
	return nil
}

// contextReader ends the input when the context does.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
