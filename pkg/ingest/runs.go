package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/kerneltrace"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/resultsjson"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/rocpd"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxRunFiles bounds the databases and tables of one tree.
const maxRunFiles = 1 << 16

// databaseSuffixes are the names of files that may be databases.
var databaseSuffixes = []string{"_results.db", ".db", ".rpd", ".sqlite", ".sqlite3"}

// runSuffixes are the names of files that hold dispatches, the best source of
// one output prefix first: a profiler that wrote several formats wrote the
// same dispatches into each.
var runSuffixes = append(databaseSuffixes, "_kernel_trace.csv", "kernel_trace.csv", "_results.json", "results.json", "_kernel_stats.csv", "kernel_stats.csv")

// databaseCandidate says by name whether a file of a tree may be a database.
func databaseCandidate(name string) bool {
	_, rank := runPrefix(name)
	return rank < len(databaseSuffixes)
}

// runPrefix returns a file's name without its suffix, and the place of that
// among runSuffixes.
func runPrefix(name string) (prefix string, rank int) {
	for i, suffix := range runSuffixes {
		if prefix, ok := strings.CutSuffix(name, suffix); ok {
			return prefix, i
		}
	}
	return name, len(runSuffixes)
}

// bestRuns drops the files that repeat the dispatches of a better source of the
// same output prefix.
func bestRuns(names []string) (kept, repeated []string) {
	best := map[string]int{}
	for _, n := range names {
		if prefix, rank := runPrefix(n); rank < len(runSuffixes) {
			if old, ok := best[prefix]; !ok || rank < old {
				best[prefix] = rank
			}
		}
	}
	for _, n := range names {
		if prefix, rank := runPrefix(n); rank < len(runSuffixes) && rank > best[prefix] {
			repeated = append(repeated, n)
		} else {
			kept = append(kept, n)
		}
	}
	return kept, repeated
}

// runFiles reads those files of a tree that hold dispatches, and returns how
// many there are. One that cannot be read does not stop the others.
func (o *opener) runFiles(fsys fs.FS, names []string, display, real string) (read int, err error) {
	kept, repeated := bestRuns(names)
	for _, name := range repeated {
		o.tr.Notes = append(o.tr.Notes, trace.Note{
			Level: trace.Info, Place: path.Join(filepath.ToSlash(display), name),
			Text: "left out: a better source of the same run lies beside it",
		})
	}
	for _, name := range kept {
		if err := o.ctx.Err(); err != nil {
			return read, err
		}
		f := located{
			fsys: fsys, name: name,
			shown: path.Join(filepath.ToSlash(display), name), real: filepath.Join(real, filepath.FromSlash(name)),
		}
		ok, err := o.runFile(f, false)
		if err != nil {
			o.tr.Notes = append(o.tr.Notes, trace.Note{Level: damageOf(err), Place: f.shown, Text: strings.TrimPrefix(err.Error(), f.shown+": ")})
		}
		if ok {
			read++
		}
	}
	return read, nil
}

// damageOf is how much it matters that a file of a tree was not read: one that
// is merely something else is no loss.
func damageOf(err error) trace.Level {
	var other *rocpd.NotDatabase
	if errors.As(err, &other) && !other.Damaged {
		return trace.Warning
	}
	return trace.Damage
}

// runCandidate says by name whether a file of a tree may hold dispatches.
func runCandidate(name string) bool {
	_, rank := runPrefix(name)
	return rank < len(runSuffixes)
}

// runAdvice is what to give where there are no dispatches.
const runAdvice = "give the database (*_results.db) or the *_kernel_trace.csv that rocprofv3 --kernel-trace wrote, its *_kernel_stats.csv or *_results.json"

// notRuns refuses a file without dispatches.
func notRuns(p string) error {
	return &PathError{Path: p, Problem: "not recognised", Advice: runAdvice}
}

// runTree reads the files of a tree that hold dispatches.
func (o *opener) runTree(fsys fs.FS, files []string, p, display, real string) error {
	read, err := o.runFiles(fsys, files, display, real)
	if err == nil && read == 0 {
		return &PathError{Path: p, Problem: "no dispatches below " + p, Advice: runAdvice}
	}
	return err
}

// sniffed is an open file of which the first bytes were read.
type sniffed struct {
	fs.File
	head []byte
}

// rest gives the whole file.
func (s *sniffed) rest() io.Reader { return io.MultiReader(bytes.NewReader(s.head), s.File) }

// sniff opens a file and reads its first bytes.
func sniff(f located) (*sniffed, error) {
	file, err := f.fsys.Open(f.name)
	if err != nil {
		return nil, err
	}
	head := make([]byte, kerneltrace.SniffBytes)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.Join(err, file.Close())
	}
	return &sniffed{file, head[:n]}, nil
}

// runFile reads a file that holds dispatches one by one, or sums of them; ok
// is false when it does not. named says that the user named this very file.
func (o *opener) runFile(f located, named bool) (ok bool, err error) {
	s, err := sniff(f)
	if err != nil {
		return false, &PathError{Path: f.shown, Problem: cause(err), Err: err}
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	switch {
	case rocpd.Sniff(s.head), databaseCandidate(path.Base(f.name)):
		return true, o.databaseRuns(f, s)
	case kerneltrace.Sniff(s.head) == kerneltrace.KernelTrace:
		return true, o.kernelTraceRun(f, s.rest())
	case kerneltrace.SniffStats(s.head):
		return true, o.kernelStats(f, s.rest())
	case resultsjson.Sniff(s.head):
		return true, o.resultsRuns(f, s.rest())
	case named && kerneltrace.Sniff(s.head) != kerneltrace.NotTable:
		return false, notKernelTrace(f.shown, kerneltrace.Sniff(s.head))
	}
	return false, nil
}

// database reads what a database holds beside its dispatches.
func (o *opener) database(f located, s *sniffed) ([]*trace.Run, error) {
	var err error
	var runs []*trace.Run
	switch {
	case len(s.head) == 0:
		err = rocpd.ErrEmpty
	case !rocpd.Sniff(s.head):
		err = rocpd.NotSQLite(s.head)
	default:
		runs, err = rocpd.Open(o.ctx, rocpd.File{FS: f.fsys, Name: f.name, Shown: f.shown})
	}
	var other *rocpd.NotDatabase
	switch {
	case err == nil || o.ctx.Err() != nil:
		return runs, o.ctx.Err()
	case errors.As(err, &other):
		return nil, &PathError{Path: f.shown, Problem: other.Problem, Advice: other.Advice, Err: err}
	}
	return nil, &PathError{Path: f.shown, Problem: cause(err), Err: err}
}

func (o *opener) databaseRuns(f located, s *sniffed) error {
	if !o.once(f.real) {
		return nil
	}
	runs, err := o.database(f, s)
	o.tr.Runs = append(o.tr.Runs, runs...)
	return err
}

func (o *opener) kernelTraceRun(f located, r io.Reader) error {
	if !o.once(f.real) {
		return nil
	}
	t, err := readLaunchTable(f, r)
	if err != nil {
		return &PathError{Path: f.shown, Problem: cause(err), Err: err}
	}
	d := &kerneltrace.Dispatches{FS: f.fsys, Name: f.name, Shown: f.shown}
	o.tr.Runs = append(o.tr.Runs, d.Run(t))
	return nil
}

// otherStats are parts of the names of statistics tables that are not of
// kernels.
var otherStats = []string{"api_stats", "domain_stats", "memory_copy_stats", "marker", "scratch_memory_stats", "memory_allocation_stats"}

func (o *opener) kernelStats(f located, r io.Reader) error {
	for _, part := range otherStats {
		if strings.Contains(path.Base(f.name), part) {
			return &PathError{Path: f.shown, Problem: "statistics, but not of kernels", Advice: "give the *_kernel_stats.csv, or better the *_kernel_trace.csv or the database"}
		}
	}
	if !o.once(f.real) {
		return nil
	}
	t, err := kerneltrace.ReadStats(r, f.shown)
	if err != nil {
		return &PathError{Path: f.shown, Problem: cause(err), Err: err}
	}
	o.tr.KernelStats = append(o.tr.KernelStats, t)
	return nil
}

func (o *opener) resultsRuns(f located, r io.Reader) error {
	if !o.once(f.real) {
		return nil
	}
	runs, err := resultsjson.Read(r, f.shown)
	if err != nil {
		return &PathError{Path: f.shown, Problem: cause(err), Advice: "write rocpd instead (rocprofv3 --output-format rocpd)", Err: err}
	}
	o.tr.Runs = append(o.tr.Runs, runs...)
	return nil
}

// databaseLaunches sums the dispatches of a database by what decides the occupancy.
func (o *opener) databaseLaunches(f located, s *sniffed) error {
	if !o.once(f.real) {
		return nil
	}
	runs, err := o.database(f, s)
	if err != nil {
		return err
	}
	for _, r := range runs {
		t, err := launchTableOf(o.ctx, r)
		if err != nil {
			return err
		}
		if r.Set != "" {
			t.Path = fmt.Sprintf("%s (%s)", t.Path, r.Set)
		}
		o.tr.LaunchTables = append(o.tr.LaunchTables, t)
	}
	return nil
}
