package trace

import "context"

// Category is the decoder's category of an executed instruction.
// Source: rocprofiler-sdk att-tool; trace_decoder_types.h.
type Category uint8

// The categories of wave records.
const (
	CatNone    Category = 0
	CatSMEM    Category = 1
	CatSALU    Category = 2
	CatVMEM    Category = 3
	CatFlat    Category = 4
	CatLDS     Category = 5
	CatVALU    Category = 6
	CatJump    Category = 7 // branch taken
	CatNext    Category = 8 // branch not taken
	CatImmed   Category = 9 // waits, nops, barriers: they end in the sequencer
	CatContext Category = 10
	CatMessage Category = 11
	CatBVH     Category = 12
)

// Record is one executed instruction of a wave. Time is the first attempt to
// issue, on the clock of the wave's shader engine; it issued at Time + Stall;
// it was over (issue on gfx9, execution on gfx10 and later) at
// Time + Duration. All in cycles.
type Record struct {
	Time, Stall, Duration int64
	// Line is the Instruction.Line; 0 means that the decoder could not match
	// the program counter.
	Line     int
	Category Category
}

// Span is one state of a wave's timeline: 0 empty, 1 idle, 2 executing,
// 3 waiting, 4 stalled, for Cycles.
type Span struct {
	State  uint8
	Cycles int64
}

// WaitEdge says that one execution of a wait waited for instructions.
type WaitEdge struct {
	// Line is the wait's Instruction.Line.
	Line int
	// Producers are the lines of the instructions that it waited for.
	Producers []int
}

// Wave is one decoded wave. A Wave passed to a Folder, and all that hangs on
// it, is valid only during that call.
type Wave struct {
	// File is the wave file's name.
	File string
	// SE, SIMD and Slot say where it ran; ID counts the waves of a slot.
	SE, SIMD, Slot, ID int
	// CU is the compute unit (WGP on RDNA) inside its shader engine.
	CU int
	// Begin and End are times on the engine's clock, in cycles.
	Begin, End int64
	Records    []Record
	// Waits are the decoder's own wait edges in order of execution; empty
	// where the schema no longer holds them.
	Waits []WaitEdge
	// Timeline is filled only when the source was asked for it.
	Timeline []Span
}

// Folder takes in waves one at a time. A Folder is used by one goroutine.
type Folder interface {
	Wave(w *Wave)
}

// WaveSource reads the waves of a thread trace.
type WaveSource interface {
	// Listed is the number of waves that the trace lists.
	Listed() int
	// Fold reads every wave once, over up to workers goroutines. Each has its
	// own Folder from newFolder; waves reach the folders in no fixed order
	// and grouping, so what they sum must not depend on it. Waves that cannot
	// be read are left out and counted in the report. The error is that of
	// the context only.
	Fold(ctx context.Context, workers int, newFolder func() Folder) (WaveReport, error)
}

// WaveReport says what Fold read.
type WaveReport struct {
	// Read waves were handed to a Folder.
	Read int
	// Missing waves are listed and have no file; Damaged ones could not be
	// understood, and were left out whole.
	Missing, Damaged int
	// Bytes is the size of all files read.
	Bytes int64
	// Notes describe the first of the missing and damaged files, sorted.
	Notes []Note
}
