package ingest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/att"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/codeobj"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/counters"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/kerneltrace"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/pcsampling"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/resultsjson"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/rocpd"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// format is a kind of file.
type format struct {
	// name is that of trace.Source.
	name string
	// holds says what may be in such a file.
	holds trace.Part
	// suffixes are the names that such files have. In a tree no other file is
	// looked into; of a file that is named the content alone decides.
	suffixes []string
	sniff    func(c *candidate) bool
	// open reads the light part; nil where there is nothing to read.
	open func(o *opener, c *candidate) error
}

// formats are all kinds of files. A file can be of several: a wide counter
// table holds dispatches as well.
func formats() []format {
	return []format{
		{"rocpd", trace.Dispatches | trace.Counters, databaseSuffixes, isDatabase, (*opener).database},
		{"counter_table", trace.Counters, []string{".csv"}, isCounterTable, (*opener).counterTable},
		{"results_json", trace.Dispatches | trace.Counters | trace.Sampled, []string{"results.json"}, isResults, (*opener).results},
		{"kernel_trace", trace.Dispatches, []string{".csv"}, isKernelTrace, (*opener).kernelTrace},
		{"kernel_stats", trace.Dispatches, []string{".csv"}, isKernelStats, (*opener).kernelStats},
		{"thread_trace_stats", trace.ThreadTraces, []string{".csv"}, isTraceStats, (*opener).traceStats},
		{"thread_trace_code", trace.ThreadTraces, nil, isTraceCode, (*opener).traceCode},
		{"pc_samples", trace.Sampled, []string{".csv"}, isSampleTable, (*opener).sampleTable},
		{"code_object", trace.Code, []string{".hsaco", ".co", ".out", ".o"}, isCodeObject, (*opener).codeObject},
		{"assembly", trace.Code, []string{".s", ".S", ".asm", ".amdgcn", ".out", ".o"}, isAssembly, (*opener).assembly},
	}
}

// databaseSuffixes are the names of databases.
var databaseSuffixes = []string{".db", ".rpd", ".sqlite", ".sqlite3"}

func (f *format) named(name string) bool {
	return slices.ContainsFunc(f.suffixes, func(s string) bool { return strings.HasSuffix(name, s) })
}

func isDatabase(c *candidate) bool {
	return rocpd.Sniff(c.head) || (&format{suffixes: databaseSuffixes}).named(c.name)
}

func isCounterTable(c *candidate) bool {
	k := counters.Sniff(c.head)
	return k == counters.LongTable || k == counters.WideTable
}

func isResults(c *candidate) bool {
	return resultsjson.Sniff(c.head)
}

func isKernelTrace(c *candidate) bool { return kerneltrace.Sniff(c.head) == kerneltrace.KernelTrace }

func isKernelStats(c *candidate) bool {
	return kerneltrace.SniffStats(c.head) && kerneltrace.StatsOf(c.head, c.name) == ""
}

// isTraceCode recognises a code.json that came without its directory: under that
// name it stands for the directory.
func isTraceCode(c *candidate) bool {
	return (c.streamed || path.Base(c.name) != "code.json") && att.SniffCode(c.head)
}

func isTraceStats(c *candidate) bool { return att.SniffStats(c.head) }

func isSampleTable(c *candidate) bool { return pcsampling.Sniff(c.head) != "" }

func isCodeObject(c *candidate) bool {
	return codeobj.Sniff(c.head) || c.given && codeobj.SniffHost(c.head)
}

// isAssembly looks for the marks of a listing in the whole file where its
// beginning has none: comments and the code of the host may stand before them.
func isAssembly(c *candidate) bool {
	if codeobj.SniffAssembly(c.head) {
		return true
	}
	if len(c.head) < headBytes {
		return false
	}
	rest, err := c.rest()
	if err != nil {
		return false // who opens the file says it
	}
	found, err := codeobj.FindAssembly(rest)
	return found && err == nil
}

// headBytes of a file are enough to recognise it.
const headBytes = counters.SniffBytes

// candidate is a file that is looked at. shown is its path as the user can
// find it, real its name on the machine, name that in its file system.
type candidate struct {
	fsys              fs.FS
	name, shown, real string
	// given says that the user named this very file, streamed that it is none
	// on disk.
	given, streamed bool
	// repeated says that a better source of the same dispatches lies beside it.
	repeated bool

	file fs.File // open; nil when somebody took it over
	head []byte  // its first bytes
	used bool    // the file is no longer at the end of head
}

// start opens the file and reads its first bytes.
func (c *candidate) start() error {
	f, err := c.fsys.Open(c.name)
	if err != nil {
		return err
	}
	c.file, c.head = f, make([]byte, headBytes)
	n, err := io.ReadFull(f, c.head)
	c.head = c.head[:n]
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.Join(err, c.stop())
	}
	return nil
}

// take hands over the open file.
func (c *candidate) take() fs.File {
	f := c.file
	c.file = nil
	return f
}

// stop closes the file.
func (c *candidate) stop() error {
	if f := c.take(); f != nil {
		return f.Close()
	}
	return nil
}

// rest gives the whole file. For a second reader it is opened again.
func (c *candidate) rest() (io.Reader, error) {
	if c.used || c.file == nil {
		if err := c.stop(); err != nil {
			return nil, err
		}
		if err := c.start(); err != nil {
			return nil, err
		}
	}
	c.used = true
	return io.MultiReader(bytes.NewReader(c.head), c.file), nil
}

// fail makes an error about the file.
func (c *candidate) fail(err error, advice string) error {
	var pe *PathError
	if err == nil || errors.As(err, &pe) {
		return err
	}
	text := strings.TrimPrefix(cause(err), c.shown+": ")
	return &PathError{Path: c.shown, Problem: text, Advice: advice, Err: err}
}

// recognise opens a file as every format that it has. found is what it may
// hold of what is wanted, and known whether it was recognised at all.
func (o *opener) recognise(c *candidate) (found trace.Part, known bool, err error) {
	if err := c.start(); err != nil {
		return 0, false, c.fail(err, "")
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	if kindOf(c.head, "") == packed {
		r, err := o.unpacked(c)
		if err == nil {
			err = o.replace(c, r)
		}
		if err != nil {
			return 0, false, c.fail(err, "")
		}
	}
	return o.recogniseStarted(c)
}

func (o *opener) recogniseStarted(c *candidate) (found trace.Part, known bool, err error) {
	all := formats()
	for i := range all {
		f := &all[i]
		wanted := o.wants(f.holds) || o.lends(f, c)
		if !c.given && (!wanted || !f.named(c.name)) || !f.sniff(c) {
			continue
		}
		known = true
		if !wanted {
			continue
		}
		if o.wants(f.holds) {
			found |= f.holds
		}
		if !o.once(c.real + "\x00" + f.name) {
			continue
		}
		o.tr.Sources = append(o.tr.Sources, trace.Source{Path: c.shown, Format: f.name, By: recognisedBy(f.name, c)})
		if err := f.open(o, c); err != nil {
			return found, known, err
		}
	}
	return found, known, nil
}

// lends reports whether a file is read for its times alone, where counters are
// wanted.
func (o *opener) lends(f *format, c *candidate) bool {
	return (f.name == "kernel_stats" || f.name == "kernel_trace") && o.wants(trace.Counters) && len(counters.Columns(c.head)) == 0
}

// wants says whether something of a set was asked for.
func (o *opener) wants(p trace.Part) bool { return o.only&p != 0 }

// once reports whether a file was not read yet.
func (o *opener) once(real string) bool {
	if o.seen[real] {
		return false
	}
	o.seen[real] = true
	return true
}

// note adds a remark about a file.
func (o *opener) note(level trace.Level, file, text string) {
	o.tr.AddNotes(trace.Note{Level: level, File: file, Text: text})
}

// damaged notes that a file of a tree cannot be read: that does not stop the
// others. One that is merely something else is no loss.
func (o *opener) damaged(c *candidate, err error) {
	level := trace.Damage
	var other *rocpd.NotDatabase
	if errors.As(err, &other) && !other.Damaged {
		level = trace.Warning
	}
	o.note(level, c.shown, strings.TrimPrefix(err.Error(), c.shown+": "))
}

// dispatchSuffixes are the names of files that hold dispatches, the best source
// of one output prefix first: a profiler that wrote several formats wrote the
// same dispatches into each.
var dispatchSuffixes = []string{
	"_results.db", ".db", ".rpd", ".sqlite", ".sqlite3", "_kernel_trace.csv", "kernel_trace.csv", "_results.json", "results.json", "_kernel_stats.csv", "kernel_stats.csv",
}

// runPrefix returns a file's name without its suffix, and the place of that
// among dispatchSuffixes.
func runPrefix(name string) (prefix string, rank int) {
	name = unpackedName(name)
	for i, suffix := range dispatchSuffixes {
		if prefix, ok := strings.CutSuffix(name, suffix); ok {
			return prefix, i
		}
	}
	return name, len(dispatchSuffixes)
}

// repeats are the files that repeat the dispatches of a better source of the
// same output prefix.
func repeats(names []string) map[string]bool {
	best := map[string]int{}
	for _, n := range names {
		if prefix, rank := runPrefix(n); rank < len(dispatchSuffixes) {
			if old, ok := best[prefix]; !ok || rank < old {
				best[prefix] = rank
			}
		}
	}
	out := map[string]bool{}
	for _, n := range names {
		prefix, rank := runPrefix(n)
		out[n] = rank < len(dispatchSuffixes) && rank > best[prefix]
	}
	return out
}

// beside is a file in the same directory as another.
func (c *candidate) beside(name string) candidate {
	return candidate{fsys: c.fsys, name: path.Join(path.Dir(c.name), name), shown: path.Join(path.Dir(c.shown), name), real: realBeside(c.real, name)}
}
