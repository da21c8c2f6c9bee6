package loops

import (
	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Result is the machine output. Kernels are in the order of their traces'
// paths and of the code.
type Result struct {
	Kernels []Kernel `json:"kernels"`
}

// Kernel is one kernel of one thread trace. What is not known is absent.
type Kernel struct {
	Name     string    `json:"name"`
	Symbol   string    `json:"symbol,omitempty"`
	Path     string    `json:"path"`
	Dispatch *int64    `json:"dispatch_id,omitempty"`
	Arch     code.Arch `json:"gpu"`
	// Waves are the traced waves that the figures count.
	Waves int `json:"waves"`
	// FilesMissing and FilesDamaged are wave files of the trace that could not
	// be used.
	FilesMissing int `json:"files_missing,omitempty"`
	FilesDamaged int `json:"files_damaged,omitempty"`
	// SIMD is the time of the traced SIMDs; ExposedAbsent says why it, and
	// every exposed figure, is not there.
	SIMD          *exposed.SIMDTime `json:"simd_time,omitempty"`
	ExposedAbsent string            `json:"exposed_absent_reason,omitempty"`
	// SIMDs are the traced SIMDs one by one; absent where SIMD is.
	SIMDs []SIMD `json:"simds,omitempty"`
	// LatencyCycles and the like are the kernel's sums over the counted waves.
	LatencyCycles int64 `json:"latency_cycles"`
	StallCycles   int64 `json:"stall_cycles"`
	// Phases split the kernel at its main loop, the outermost one that takes
	// the most cycles.
	Phases []Phase `json:"phases,omitempty"`
	// Loops that were executed, the most costly first; NotExecuted counts the
	// others.
	Loops       []Loop `json:"loops"`
	NotExecuted int    `json:"loops_not_executed"`
	// IndirectJumps have targets that the code does not name; IrregularCycles
	// are entered in more than one place. Loops may be missing where they
	// are.
	IndirectJumps   int `json:"indirect_jumps,omitempty"`
	IrregularCycles int `json:"irregular_cycles,omitempty"`

	Registers *Registers `json:"registers_alive,omitempty"`
	// Hazards are results read too early, Prefetches waits with the distance
	// to what they wait for; the most costly first.
	Hazards    []Hazard   `json:"hazards,omitempty"`
	Prefetches []Prefetch `json:"prefetches,omitempty"`
	// Tile compares the main matrix loop with what a GEMM tile needs.
	Tile *Tile `json:"gemm_tile,omitempty"`

	// Found is what the rules found.
	Found []finding.Finding `json:"-"`

	trace  *trace.ThreadTrace
	kernel int
	needs  map[int]Need
}

// Kernel returns kernel k of a thread trace; nil when it was not selected.
func (r *Result) Kernel(tt *trace.ThreadTrace, k int) *Kernel {
	for at := range r.Kernels {
		if r.Kernels[at].trace == tt && r.Kernels[at].kernel == k {
			return &r.Kernels[at]
		}
	}
	return nil
}

// SIMD is the time of one traced SIMD, all kernels and waves together.
type SIMD struct {
	SE   int `json:"se"`
	CU   int `json:"cu"`
	SIMD int `json:"simd"`
	exposed.SIMDTime
	// MatrixBusyCycles are those in which its matrix pipe was busy; absent
	// where the cost of a matrix instruction is not known.
	MatrixBusyCycles *int64   `json:"matrix_busy_cycles,omitempty"`
	MatrixBusyPct    *float64 `json:"matrix_busy_pct,omitempty"`
}

// Phase is a part of the kernel: "prologue", "loop" (the main one) or
// "epilogue"; "beside" is code on neither way.
type Phase struct {
	Name          string   `json:"name"`
	Instructions  int      `json:"instruction_count"`
	LatencyCycles int64    `json:"latency_cycles"`
	LatencyPct    float64  `json:"latency_pct"`
	StallCycles   int64    `json:"stall_cycles"`
	ExposedCycles *float64 `json:"exposed_cycles,omitempty"`
}

// Loop is one loop. Sums are over the counted waves.
type Loop struct {
	// ID numbers the kernel's loops in code order from 1; Parent is the ID of
	// the loop around it.
	ID     int  `json:"loop_id"`
	Parent *int `json:"parent_loop_id,omitempty"`
	Depth  int  `json:"depth"`
	// HeadLine is the LineNumber of its first instruction, BackLines those of
	// the last instructions of the blocks that jump back to it; FirstLine and
	// LastLine span its code.
	HeadLine  int    `json:"head_line"`
	BackLines []int  `json:"back_lines"`
	FirstLine int    `json:"first_line"`
	LastLine  int    `json:"last_line"`
	Source    string `json:"source,omitempty"`
	// Instructions are in the code, inner loops included.
	Instructions int `json:"instruction_count"`

	// Waves entered the loop, Entries times; absent without wave files.
	Waves      *int64 `json:"waves,omitempty"`
	Entries    *int64 `json:"entries,omitempty"`
	Iterations int64  `json:"iterations"`
	Trips      *Trips `json:"trips_per_wave,omitempty"`

	LatencyCycles int64    `json:"latency_cycles"`
	StallCycles   int64    `json:"stall_cycles"`
	IdleCycles    int64    `json:"idle_cycles"`
	ExposedCycles *float64 `json:"exposed_cycles,omitempty"`
	// SharePct is of the kernel's exposed cycles, or of its stall.
	SharePct float64 `json:"share_pct"`

	PerIteration PerIteration `json:"per_iteration"`
	Mix          []Mix        `json:"mix"`
	Ratios       *Ratios      `json:"ratios,omitempty"`
	Stalls       []Blocked    `json:"stalls"`
	Matrix       *Coverage    `json:"matrix_coverage,omitempty"`
	Ideal        *Ideal       `json:"ideal,omitempty"`

	at int // its index in the flow
}

// Trips are the iterations of a wave, over the waves that entered the loop. A
// median above 2,048 is within 0.1 %.
type Trips struct {
	Min    int64 `json:"min"`
	Median int64 `json:"median"`
	Max    int64 `json:"max"`
	// PerEntry is the mean of the iterations of one entry.
	PerEntry float64 `json:"mean_per_entry"`
}

// PerIteration are means over the iterations, inner loops included.
type PerIteration struct {
	Instructions  float64  `json:"executed_instructions"`
	Cycles        float64  `json:"cycles"`
	IssueCycles   float64  `json:"issue_cycles"`
	StallCycles   float64  `json:"stall_cycles"`
	IdleCycles    float64  `json:"idle_cycles"`
	ExposedCycles *float64 `json:"exposed_cycles,omitempty"`
	MFMAs         float64  `json:"mfma_instructions"`
	Barriers      float64  `json:"barrier_instructions"`
	// MatrixFLOPs are those of matrix instructions whose shape is known.
	MatrixFLOPs float64 `json:"matrix_flops"`
	// Bytes of one wave, every lane counted; absent where the wave size is
	// not known.
	Bytes *Bytes `json:"wave_traffic,omitempty"`
}

// Bytes are moved between a wave and memory or LDS. Instructions whose size
// their text does not say are counted apart.
type Bytes struct {
	MemoryLoad  float64 `json:"memory_load_bytes"`
	MemoryToLDS float64 `json:"memory_to_lds_bytes"`
	MemoryStore float64 `json:"memory_store_bytes"`
	LDSRead     float64 `json:"lds_read_bytes"`
	LDSWrite    float64 `json:"lds_write_bytes"`
	Unsized     float64 `json:"unsized_instructions,omitempty"`
}

// Mix is one class of instructions of an iteration.
type Mix struct {
	Kind         string  `json:"instruction_class"`
	PerIteration float64 `json:"executed_per_iteration"`
	Pct          float64 `json:"pct"`
}

// Ratios hold the instruction mix of a loop with matrix instructions against
// the rules of the FlyDSL GEMM optimization guide, section 9.3.
type Ratios struct {
	MFMAPct       float64 `json:"mfma_pct"`
	MFMAVerdict   string  `json:"mfma_verdict"`
	MemoryPct     float64 `json:"memory_pct"`
	MemoryVerdict string  `json:"memory_verdict"`
}

// Blocked is what one class of stall costs.
type Blocked struct {
	Class         stalls.Class `json:"class"`
	StallCycles   int64        `json:"stall_cycles"`
	ExposedCycles *float64     `json:"exposed_cycles,omitempty"`
}

// Coverage says how well the matrix pipes were used while a wave was in the
// loop, in cycles summed over the SIMDs: SIMDCycles = BusyCycles + GapCycles,
// GapCycles = GapIssuing + GapExposed.
type Coverage struct {
	SIMDCycles int64   `json:"simd_cycles"`
	BusyCycles int64   `json:"matrix_busy_cycles"`
	BusyPct    float64 `json:"matrix_busy_pct"`
	// CyclesPerMFMA is SIMD time per matrix instruction, FloorCycles the cost
	// of the table.
	MFMAs         int64   `json:"mfma_instructions"`
	CyclesPerMFMA float64 `json:"cycles_per_mfma"`
	FloorCycles   float64 `json:"floor_cycles_per_mfma"`
	GapCycles     int64   `json:"gap_cycles"`
	GapIssuing    int64   `json:"gap_issuing_cycles"`
	GapExposed    int64   `json:"gap_exposed_cycles"`
	// FilledBy are the instructions of the loop that issued in gaps, in wave
	// cycles: several waves may issue at once. BlockedBy are the exposed
	// stalls of the loop in gaps; what they lack of GapExposed lies between
	// instructions or in waves outside the loop.
	FilledBy []Filled `json:"gaps_filled_by,omitempty"`
	// Beside are the loop's instructions that issued while the pipe was busy.
	Beside    []Filled  `json:"issued_beside_matrix,omitempty"`
	BlockedBy []Blocked `json:"gaps_blocked_by,omitempty"`
}

// Filled is the issue of one class of instructions.
type Filled struct {
	Kind        string `json:"instruction_class"`
	IssueCycles int64  `json:"issue_cycles"`
}

// Ideal is what the loop would need if each unit worked without pause.
type Ideal struct {
	// SIMDCycles is the loop's time, summed over the SIMDs.
	SIMDCycles int64  `json:"simd_cycles"`
	Units      []Unit `json:"units"`
	// Bound names the unit that needs most; SpeedUp is the loop's time over
	// its ideal: no schedule of the same instructions gains more.
	Bound   string  `json:"bound_by"`
	SpeedUp float64 `json:"best_speedup"`
	// Absent says which units are left out and why.
	Absent []string `json:"absent_reasons,omitempty"`
}

// Unit is one part of the machine.
type Unit struct {
	Unit string `json:"unit"`
	// IdealCycles is in SIMD cycles as SIMDCycles is, UsedPct its share.
	IdealCycles float64 `json:"ideal_cycles"`
	UsedPct     float64 `json:"used_pct"`
	SpeedUp     float64 `json:"speedup"`
	// Rule says how it is computed.
	Rule string `json:"formula"`
}

// Registers are the vector registers alive, from the code.
type Registers struct {
	// NamedVGPRs and NamedAGPRs are those that the code names: at least so
	// many are allocated.
	NamedVGPRs int `json:"named_vgprs"`
	NamedAGPRs int `json:"named_agprs"`
	// Peak is the most alive at once, at PeakLine.
	PeakVGPRs int    `json:"peak_vgprs"`
	PeakAGPRs int    `json:"peak_agprs"`
	PeakLine  int    `json:"peak_line"`
	PeakText  string `json:"peak_instruction"`
	// WavesNamed is how many waves per SIMD the named registers allow. To
	// have NextWaves, at most NextLimit registers may be allocated.
	WavesNamed *int `json:"waves_per_simd,omitempty"`
	NextWaves  *int `json:"next_waves_per_simd,omitempty"`
	NextLimit  *int `json:"next_limit_registers,omitempty"`
	// Above are the ranges of instructions with more than NextLimit alive,
	// AboveCount how many instructions that is.
	AboveCount int        `json:"instructions_above_limit"`
	Above      []RowRange `json:"ranges_above_limit,omitempty"`
	Limits     string     `json:"limitations"`
	// ByInstruction lists every instruction of the kernel, when asked for.
	ByInstruction []AliveAt `json:"by_instruction,omitempty"`
}

// AliveAt is how many vector registers are alive at one instruction.
type AliveAt struct {
	Line  int    `json:"line"`
	VGPRs int    `json:"vgprs"`
	AGPRs int    `json:"agprs"`
	Text  string `json:"instruction"`
}

// RowRange is a run of instructions by LineNumber, both included.
type RowRange struct {
	First int `json:"first_line"`
	Last  int `json:"last_line"`
	Peak  int `json:"peak_registers"`
}

// Hazard is an instruction that reads a matrix result too early, or the s_nop
// that keeps it from doing so. Distances are in cycles from the earliest issue
// of the producer to that of the reader.
type Hazard struct {
	saves          []finding.Saving
	Line           int      `json:"line"`
	Text           string   `json:"instruction"`
	ProducerLine   int      `json:"producer_line"`
	ProducerText   string   `json:"producer_instruction"`
	DistanceCycles int      `json:"distance_cycles"`
	NeededCycles   int      `json:"needed_cycles"`
	Hits           int64    `json:"hits"`
	StallCycles    int64    `json:"stall_cycles"`
	NopCycles      int64    `json:"nop_stall_cycles"`
	ExposedCycles  *float64 `json:"exposed_cycles,omitempty"`

	row int
}

// Prefetch is a wait and how far ahead its operations were issued; means over
// the executions that waited on one counter alone.
type Prefetch struct {
	Line       int          `json:"line"`
	Text       string       `json:"instruction"`
	Class      stalls.Class `json:"class"`
	LoopID     *int         `json:"loop_id,omitempty"`
	Executions int64        `json:"executions"`
	// AheadCycles is from the issue of the youngest operation to the wait,
	// AheadMFMAs the wave's matrix instructions in between.
	AheadCycles float64 `json:"ahead_cycles"`
	AheadMFMAs  float64 `json:"ahead_mfmas"`
	// LatencyMedian is, over the Stalled executions, the time from that issue
	// to the end of the wait.
	Stalled       int64    `json:"stalled_executions"`
	LatencyMedian *int64   `json:"latency_median_cycles,omitempty"`
	StallCycles   int64    `json:"stall_cycles"`
	ExposedCycles *float64 `json:"exposed_cycles,omitempty"`
	// EarlierCycles is what is missing: the latency less the distance. In
	// matrix instructions it is that over the loop's cycles per MFMA.
	EarlierCycles *int64 `json:"issue_earlier_cycles,omitempty"`
	EarlierMFMAs  *int64 `json:"issue_earlier_mfmas,omitempty"`

	row int
}
