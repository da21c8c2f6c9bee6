package trace

// Trace is everything that was read from the inputs of one command.
type Trace struct {
	// ThreadTraces are the decoded thread traces, sorted by Path.
	ThreadTraces []*ThreadTrace
	// LaunchTables are kernel-trace tables, in the order in which they were
	// named and found.
	LaunchTables []*LaunchTable
	// CodeObjects are code objects, assembly listings and kernels that the
	// user described, in the same order.
	CodeObjects []*CodeObject
	// CounterRuns are runs under a counter profiler, in the same order.
	CounterRuns []*CounterRun
	// Runs hold dispatches one by one, KernelStats sums of them; both in the
	// same order.
	Runs        []*Run
	KernelStats []*KernelStats
	// Notes are remarks about the inputs as a whole.
	Notes []Note
}

// Damaged reports whether any part of any input could not be read, so that
// what is shown is only a part.
func (t *Trace) Damaged() bool {
	if anyDamaged(t.Notes) {
		return true
	}
	for _, tt := range t.ThreadTraces {
		if anyDamaged(tt.Notes) {
			return true
		}
	}
	for _, lt := range t.LaunchTables {
		if anyDamaged(lt.Notes) {
			return true
		}
	}
	for _, co := range t.CodeObjects {
		if anyDamaged(co.Notes) {
			return true
		}
	}
	for _, cr := range t.CounterRuns {
		if anyDamaged(cr.Notes) {
			return true
		}
	}
	for _, r := range t.Runs {
		if anyDamaged(r.Notes) {
			return true
		}
	}
	for _, ks := range t.KernelStats {
		if anyDamaged(ks.Notes) {
			return true
		}
	}
	return false
}

func anyDamaged(notes []Note) bool {
	for _, n := range notes {
		if n.Level == Damage {
			return true
		}
	}
	return false
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
	// Place is the file, and where it helps the row or byte, for example
	// "code.json: row 12".
	Place string
	// Text says what is wrong and what follows from it, in one line.
	Text string
}

// Origin says where a fact came from.
type Origin struct {
	// File is the path of the file, as the input named it.
	File string
	// Row is the 1-based data row of a table; 0 when the file is not a table.
	Row int
}
