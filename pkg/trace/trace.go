package trace

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Trace is everything that was read from the inputs of one command.
type Trace struct {
	// Sources are the files and directories that were recognised, in the order
	// in which they were named and found.
	Sources []Source
	// ThreadTraces are the decoded thread traces, sorted by Path.
	ThreadTraces []*ThreadTrace
	// CodeObjects are code objects, assembly listings and kernels that the
	// user described, in the order in which they were named and found.
	CodeObjects []*CodeObject
	// CounterRuns are runs under a counter profiler, in the same order.
	CounterRuns []*CounterRun
	// SampleRuns are runs under PC sampling, in the same order.
	SampleRuns []*SampleRun
	// Runs hold dispatches one by one, KernelStats sums of them; both in the
	// same order.
	Runs        []*Run
	KernelStats []*KernelStats
	// Given are the paths that the user named.
	Given []string
	// Notes are all remarks about the inputs: those of Open, and those of what
	// is read later. AddNotes adds to them.
	Notes []Note

	known  map[Note]bool // those of Notes that AddNotes has seen
	closes []func() error
}

// Part is a set of kinds of what captures hold.
type Part uint8

// The kinds.
const (
	// ThreadTraces are decoded thread traces, with what lies beside them.
	ThreadTraces Part = 1 << iota
	// Dispatches are kernel dispatches, one by one or summed.
	Dispatches
	// Counters are hardware counters of dispatches.
	Counters
	// Code is code objects and assembly listings.
	Code
	// Sampled is samples of where waves were.
	Sampled
)

// Source is a file or directory that was recognised.
type Source struct {
	// Path is as the user can find it again.
	Path string
	// Format is what it was recognised as: "thread_trace", "rocpd",
	// "kernel_trace", "kernel_stats", "results_json", "counter_table",
	// "pc_samples", "agent_table", "code_object", "assembly",
	// "thread_trace_stats", "rpd" or "rocprof_db".
	Format string
	// By says in words what it was recognised by: "rocprof v1 results.csv
	// (columns Index, KernelName, BeginNs)", "SQLite database".
	By string
}

// AddNotes adds remarks, each once.
func (t *Trace) AddNotes(notes ...Note) {
	if t.known == nil {
		t.known = map[Note]bool{}
		for _, n := range t.Notes {
			t.known[n] = true
		}
	}
	for _, n := range notes {
		if !t.known[n] {
			t.known[n] = true
			t.Notes = append(t.Notes, n)
		}
	}
}

// Damaged reports whether any part of any input could not be read, so that
// what is shown is only a part. It is complete when all was read.
func (t *Trace) Damaged() bool {
	return slices.ContainsFunc(t.Notes, func(n Note) bool { return n.Level == Damage })
}

// Lost names what could not be read, for the end of a message: the first place,
// that of a file that the user named before others, and how many more there
// are; "" when all could.
func (t *Trace) Lost() string {
	var first Note
	n := 0
	for _, note := range t.Notes {
		if note.Level != Damage {
			continue
		}
		if n++; n == 1 || !slices.Contains(t.Given, first.File) && slices.Contains(t.Given, note.File) {
			first = note
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return " (" + first.Where() + ")"
	}
	return fmt.Sprintf(" (%s, and %d more)", first.Where(), n-1)
}

// OnClose has something done by Close.
func (t *Trace) OnClose(f func() error) { t.closes = append(t.closes, f) }

// Close closes the files that reading kept open. What was not read by then
// cannot be read any more.
func (t *Trace) Close() error {
	var errs []error
	for _, f := range t.closes {
		errs = append(errs, f())
	}
	t.closes = nil
	return errors.Join(errs...)
}

// Level says how much a Note matters.
type Level int

// The levels of a Note.
const (
	// Info is worth knowing and changes no number.
	Info Level = iota
	// Warning means that a number may not be what it seems.
	Warning
	// Damage means that a part of the input could not be read: the results
	// are partial.
	Damage
)

// String returns "info", "warning" or "damage".
func (l Level) String() string {
	switch l {
	case Warning:
		return "warning"
	case Damage:
		return "damage"
	default:
		return "info"
	}
}

// Note is a remark of a reader about an input: what was missing, skipped or
// odd, and where.
type Note struct {
	Level Level
	// File is the path of the file or directory as the user can find it.
	File string
	// Place is what the remark is about inside of it: "row 12", "byte 80", a
	// process of several; "" for all of it.
	Place string
	// Text says what is wrong and what follows from it, in one line.
	Text string
}

// Where is the file and the place inside of it.
func (n Note) Where() string {
	if n.Place == "" {
		return n.File
	}
	return n.File + ": " + n.Place
}

// Inside returns the path of the file below a directory; ok is false when it is
// not in there.
func (n Note) Inside(dir string) (rel string, ok bool) {
	if dir == "." {
		return n.File, !strings.HasPrefix(n.File, "../") && !strings.HasPrefix(n.File, "/")
	}
	return strings.CutPrefix(n.File, dir+"/")
}

// String is the remark as one line.
func (n Note) String() string { return n.Level.String() + ": " + n.Where() + ": " + n.Text }

// Lower makes the remarks of one level be of another.
func Lower(notes []Note, from, to Level) []Note {
	out := slices.Clone(notes)
	for i := range out {
		if out[i].Level == from {
			out[i].Level = to
		}
	}
	return out
}

// Many is a count and what is counted, in the number that it takes.
func Many[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// LeftOut says of so many things, "row" for one, that a reader had to skip them.
func LeftOut[N int | int64](n N, one, many string) string {
	return Many(n, one+" cannot be understood and is left out", many+" cannot be understood and are left out")
}

// Origin says where a fact came from.
type Origin struct {
	// File is the path of the file, as the input named it.
	File string
	// Row is the 1-based data row of a table; 0 when the file is not a table.
	Row int
}
