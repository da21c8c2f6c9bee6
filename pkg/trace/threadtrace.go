package trace

import "strings"

// Flavour says what the counts of a thread trace's code mean.
type Flavour int

// The flavours of code.json.
const (
	// Cycles: hits and cycles of a decoded thread trace.
	Cycles Flavour = iota
	// Samples: program-counter samples; there are no cycles.
	Samples
)

// String returns "cycles" or "samples".
func (f Flavour) String() string {
	if f == Samples {
		return "samples"
	}
	return "cycles"
}

// ThreadTrace is one decoded dispatch directory: the code that ran, what each
// instruction cost, the waves it was summed from, and what lay beside it.
type ThreadTrace struct {
	// Path is the directory (or archive member) as the user can find it again.
	Path string
	// Name is the directory's own name, for example
	// "ui_output_agent_14705_dispatch_25".
	Name string
	// AgentHandle and DispatchID are the numbers in Name; nil when it has none.
	AgentHandle, DispatchID *int64
	// Schema is the "version" of code.json, for example "3.0.0"; may be empty.
	Schema string
	// GfxMajor is the major architecture number (gfxip of filenames.json: 9,
	// 10, 11, 12); 0 when unknown. It does not tell gfx90a from gfx942 or
	// gfx950.
	GfxMajor int
	// Flavour tells cycles from program-counter samples.
	Flavour Flavour
	// CodeState says why Code is empty, when it is.
	CodeState CodeState
	// CyclesOnly says that the source counts executions and cycles alone, as
	// rocprofv2 does: stall is the time of waits, that of other instructions is
	// not told from their issue.
	CyclesOnly bool
	// StatsOnly says that Code came from a stats CSV or a code.json without the
	// directory that it belongs to: there can be nothing but the code.
	StatsOnly bool

	// Code holds the instructions of all kernels in file order, label rows
	// left out.
	Code []Instruction
	// Kernels are the symbols of Code, as ranges of it, in file order. There
	// is always one when Code is not empty; its Symbol is empty when the file
	// has no label.
	Kernels []Kernel

	// Waves reads the wave files; nil when there are none.
	Waves WaveSource
	// Occupancy sums occupancy.json; nil without that file.
	Occupancy *Occupancy
	// Clocks is realtime.json; nil without that file.
	Clocks *Clocks
	// Counters are the sums of the performance-counter samples taken during
	// the trace, sorted by engine; nil when there are none.
	Counters []EngineCounters
	// Stats are the column sums of the stats CSV beside the directory; nil
	// without that file.
	Stats *StatsSums
	// Files gives the source files stored with the trace; never nil.
	Files SourceFiles
	// Launches are the rows of companion kernel-trace tables that have this
	// trace's dispatch id or one of its kernel names. Whether a row belongs to
	// the trace is for the analysis to decide.
	Launches []Launch
	// LaunchTables are those companion tables as a whole.
	LaunchTables []*LaunchTable
	// Agents are the rows of companion agent tables, GPUs only.
	Agents []Agent
}

// CodeState says what code.json held.
type CodeState int

// The states of a thread trace's code.
const (
	// CodeRead: rows were read.
	CodeRead CodeState = iota
	// CodeMissing: there is no code.json.
	CodeMissing
	// CodeNull: the decoder wrote "code": null, nothing was decoded.
	CodeNull
	// CodeEmpty: the list of rows is empty, or holds labels only.
	CodeEmpty
	// CodeUnreadable: the file is there and could not be understood.
	CodeUnreadable
)

// Counts are the four columns that the decoder sums over all decoded waves.
// Latency is stall + issue (gfx9) or stall + execution (gfx10 and later);
// Idle is the time before an instruction in which its wave did nothing.
// Source: rocprofiler-sdk att-tool, code.cpp; trace_decoder_types.h.
type Counts struct {
	Hits, LatencyCycles, StallCycles, IdleCycles int64
}

// Add adds o to c.
func (c *Counts) Add(o Counts) {
	c.Hits += o.Hits
	c.LatencyCycles += o.LatencyCycles
	c.StallCycles += o.StallCycles
	c.IdleCycles += o.IdleCycles
}

// Sub returns c - o.
func (c Counts) Sub(o Counts) Counts {
	return Counts{c.Hits - o.Hits, c.LatencyCycles - o.LatencyCycles, c.StallCycles - o.StallCycles, c.IdleCycles - o.IdleCycles}
}

// IssueCycles is latency without stall.
func (c Counts) IssueCycles() int64 { return c.LatencyCycles - c.StallCycles }

// PCSamples are the program-counter samples of one instruction.
type PCSamples struct {
	// Issued counts samples in which the instruction issued, Stalled those in
	// which it could not.
	Issued, Stalled int64
	// Reasons counts the stalled samples by reason; see StallReasons.
	Reasons []int64
}

// StallReasons names the entries of PCSamples.Reasons. Source: rocprofiler-sdk
// pc_sampling.h, rocprofiler_pc_sampling_instruction_not_issued_reason_t.
var StallReasons = [...]string{
	"none", "no_instruction_available", "alu_dependency", "waitcnt", "internal_instruction",
	"barrier_wait", "arbiter_not_win", "arbiter_win_ex_stall", "other_wait", "sleep_wait",
}

// Instruction is one row of code.json.
type Instruction struct {
	// Line is the LineNumber column: the key that wave files use. It is an
	// ordinal, not a source line, and may have gaps or repeat.
	Line int
	// Text is the disassembly.
	Text string
	// Source is the unparsed source column, "" when unknown; see Frames.
	Source string
	// CodeObject is the load id of the code object (0: unknown, and Vaddr is
	// then a memory address); Vaddr is the address inside it, in bytes.
	CodeObject, Vaddr int64
	Counts
	// PC holds samples when the trace's Flavour is Samples.
	PC *PCSamples
}

// Kernel is one symbol of a thread trace: Code[First:Last].
type Kernel struct {
	// Symbol is the mangled name of the label row, "" when there is none.
	Symbol string
	// Demangled is the label row's readable name, "" when it has none.
	Demangled   string
	CodeObject  int64
	Vaddr       int64
	First, Last int
}

// Name returns the readable name, else the symbol, else "(no name)".
func (k Kernel) Name() string {
	switch {
	case k.Demangled != "":
		return k.Demangled
	case k.Symbol != "":
		return k.Symbol
	default:
		return "(no name)"
	}
}

// Frame is one source position. Line is 1-based; 0 means that the compiler
// made the instruction.
type Frame struct {
	File string
	Line int
}

// Frames splits a source column into its frames, innermost first: inlined
// calls are joined by " -> ", the outermost call site last. It returns nil for
// an empty column. A frame without a line number has Line 0.
// Source: rocprofiler-sdk att-tool, code.cpp.
func Frames(source string) []Frame {
	if source == "" {
		return nil
	}
	parts := strings.Split(source, " -> ")
	frames := make([]Frame, 0, len(parts))
	for _, p := range parts {
		frames = append(frames, parseFrame(p))
	}
	return frames
}

func parseFrame(s string) Frame {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || i == len(s)-1 {
		return Frame{File: s}
	}
	n := 0
	for _, c := range []byte(s[i+1:]) {
		if c < '0' || c > '9' || n > 1<<30 {
			return Frame{File: s}
		}
		n = n*10 + int(c-'0')
	}
	return Frame{File: s[:i], Line: n}
}

// SourceFiles gives the text of source files stored with a trace.
type SourceFiles interface {
	// Lines returns the lines of the file that a Frame names, without line
	// ends, as raw bytes made valid UTF-8. ok is false when the trace does
	// not hold that file; err tells why a file that it lists cannot be read.
	Lines(file string) (lines []string, ok bool, err error)
}
