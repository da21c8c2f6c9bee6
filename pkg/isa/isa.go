// Package isa says what one AMDGPU instruction is, from its disassembled text.
//
// Parse turns a line such as
//
//	buffer_load_dwordx4 v[4:7], v0, s[8:11], 0 offen offset:64
//
// into its class, the wait counters that it increments or waits for, the
// registers that it reads and writes, the bytes that it moves and, for matrix
// instructions, the shape and the cost. It never fails: what it does not know
// is the Unknown class. The target decides which counters exist, see Target.
//
// The instruction names come from LLVM: the AMDGPUAsmGFX9, 90a, 940, 950, 10,
// 11 and 12 syntax pages and the assembler's tables (LLVM 22.1).
package isa

// Class says which part of the machine an instruction keeps busy or what it is
// for. The zero value is Unknown.
type Class uint8

// The classes of instructions.
const (
	Unknown       Class = iota // not an instruction that this package knows
	SALU                       // scalar arithmetic, also mode and control settings
	SMEM                       // scalar memory and scalar cache operations that a counter tracks
	VALU                       // vector arithmetic, lane moves included
	Trans                      // transcendental unit: exp, log, rcp, rsq, sqrt, sin, cos, tanh
	MFMA                       // matrix instructions: MFMA, SMFMAC, WMMA, SWMMAC
	VMEMLoad                   // buffer, global and image loads, samples and ray tests
	VMEMStore                  // buffer, global and image stores
	VMEMAtomic                 // buffer, global and image atomics
	VMEMToLDS                  // loads from memory that land in LDS, not in registers
	VMEMFromLDS                // stores to memory whose data comes from LDS
	CacheControl               // invalidation, write-back and prefetch of caches
	LDSRead                    // ds_read, ds_load
	LDSWrite                   // ds_write, ds_store
	LDSAtomic                  // LDS and GDS atomics
	LDSTranspose               // LDS reads that transpose, ds_read_*_tr_*, ds_load_tr*
	CrossLane                  // ds_swizzle, ds_permute, ds_bpermute: LDS crossbar, no LDS memory
	FlatLoad                   // flat_load: memory or LDS, known only when it runs
	FlatStore                  // flat_store
	FlatAtomic                 // flat_atomic
	ScratchLoad                // scratch_load
	ScratchStore               // scratch_store
	Export                     // exp, export
	Branch                     // jumps, calls and returns
	Barrier                    // s_barrier, ds_gws_barrier: arrive and wait in one
	BarrierSignal              // arrive at, initialise or leave a barrier without waiting
	BarrierWait                // s_barrier_wait
	WaitCount                  // s_waitcnt, s_wait_*: wait for counters
	Nop                        // takes an issue slot, does no work: s_nop, s_delay_alu, s_clause
	Sleep                      // s_sleep
	Message                    // s_sendmsg and wake-ups
	EndPgm                     // s_endpgm
	TensorDMA                  // tensor_load_to_lds, tensor_store_from_lds
	numClasses
)

var classNames = [numClasses]string{
	"unknown", "salu", "smem", "valu", "trans", "mfma", "vmem_load", "vmem_store",
	"vmem_atomic", "vmem_to_lds", "vmem_from_lds", "cache_control", "lds_read",
	"lds_write", "lds_atomic", "lds_transpose", "cross_lane", "flat_load",
	"flat_store", "flat_atomic", "scratch_load", "scratch_store", "export", "branch",
	"barrier", "barrier_signal", "barrier_wait", "wait", "nop", "sleep", "message",
	"endpgm", "tensor_dma",
}

// String returns the stable snake_case id of the class, such as "vmem_load".
func (c Class) String() string {
	if c < numClasses {
		return classNames[c]
	}
	return classNames[Unknown]
}

// Classes returns all classes in a fixed order, Unknown first.
func Classes() []Class {
	all := make([]Class, numClasses)
	for i := range all {
		all[i] = Class(i)
	}
	return all
}

// Counter is one of the hardware's wait counters: issuing a tracked instruction
// increments it, completion decrements it, and a wait instruction blocks the
// wave until it is at or below a given count.
//
// Source: LLVM AMDGPUUsage, memory model sections, and SIInsertWaitcnts.cpp.
type Counter uint8

// The wait counters. gfx9 has the first three, gfx10 and gfx11 the first four,
// gfx12 has Expcnt and the others, of which the last three only gfx125x.
const (
	Vmcnt     Counter = iota // vector memory; on gfx9 stores too
	Lgkmcnt                  // LDS, GDS, constant (scalar) memory, messages
	Expcnt                   // exports, GDS, parameter loads
	Vscnt                    // vector memory stores, gfx10 and gfx11
	Loadcnt                  // vector memory loads
	Storecnt                 // vector memory stores
	Samplecnt                // image samples
	Bvhcnt                   // ray tests
	Dscnt                    // LDS
	Kmcnt                    // scalar memory, messages
	Xcnt                     // address translations
	Asynccnt                 // asynchronous copies between memory and LDS
	Tensorcnt                // tensor copies
	numCounters
)

var counterNames = [numCounters]string{
	"vmcnt", "lgkmcnt", "expcnt", "vscnt", "loadcnt", "storecnt", "samplecnt",
	"bvhcnt", "dscnt", "kmcnt", "xcnt", "asynccnt", "tensorcnt",
}

// String returns the counter's name as the assembler spells it, such as "vmcnt".
func (c Counter) String() string {
	if c < numCounters {
		return counterNames[c]
	}
	return "unknown"
}

// Wait is one condition of a wait instruction: the wave continues when Counter
// is at or below Count.
type Wait struct {
	Counter Counter
	Count   int
}

// RegFile is a register file or a special register.
type RegFile uint8

// The register files. The single registers VCC, EXEC (two dwords each) and M0
// are files of their own.
const (
	VGPR RegFile = iota // vector registers
	AGPR                // accumulation registers of gfx908 and later gfx9
	SGPR                // scalar registers
	TTMP                // trap temporaries
	VCC
	EXEC
	M0
	numRegFiles
)

var regFileNames = [numRegFiles]string{"vgpr", "agpr", "sgpr", "ttmp", "vcc", "exec", "m0"}

// String returns the lower-case name of the file, such as "vgpr".
func (f RegFile) String() string {
	if f < numRegFiles {
		return regFileNames[f]
	}
	return "unknown"
}

// Reg is a run of registers of one dword each, First to First+Count-1.
type Reg struct {
	File  RegFile
	First int
	Count int
}

// Inst is what is known of one instruction. Absent facts are zero or nil.
type Inst struct {
	Text     string // as given
	Mnemonic string // without the encoding suffixes _e32, _e64, _dpp, _dpp8, _sdwa
	Class    Class

	// Waits are the conditions of a wait instruction. A wait whose conditions
	// cannot be known (a raw immediate without a target) has none.
	Waits []Wait
	// WaitsAll is set for s_wait_idle, which waits for the whole wave to be
	// idle; Waits then lists the target's memory counters at 0.
	WaitsAll bool
	// Counts are the counters that issuing the instruction increments, on which
	// a later wait can wait for it. Nil when the target's generation is unknown.
	// The slice is shared: it must not be changed.
	Counts []Counter

	// Reads and Writes are the registers that the text names, in operand order.
	// Implicit operands (EXEC, SCC, M0 addressing, VCC where it is not printed)
	// are not listed. A register that is read and written is in both. Plain
	// gfx125x disassembly shows only the low 8 bits of a VGPR's number, the
	// others being set by s_set_vgpr_msb before.
	Reads  []Reg
	Writes []Reg

	// BytesPerLane is how many bytes a vector memory, LDS or asynchronous copy
	// instruction moves to or from memory for each active lane; 0 when that
	// does not apply or depends on a descriptor (formats, images, tensors).
	BytesPerLane int
	// BytesPerWave is the same for scalar memory instructions, per wave.
	BytesPerWave int
	// Returns is set for an atomic that returns the old value.
	Returns bool
	// Coherent is set for a memory access whose text asks for more than the
	// caches of its own compute unit: glc up to gfx11, sc0 or sc1 on gfx940 and
	// later gfx9, a scope wider than SCOPE_CU on gfx12. Source: LLVM
	// AMDGPUModifierSyntax. An atomic's glc or sc0 means Returns instead.
	Coherent bool

	// Matrix is the shape and cost of a matrix instruction; nil for others and
	// for matrix instructions of targets that are not in the table.
	Matrix *Matrix

	// Conditional is set for branches that can fall through.
	Conditional bool
	// BranchOffset is the jump distance in dwords: the target address is
	// vaddr + 4 + 4*BranchOffset. Nil when the text names no number.
	BranchOffset *int
}
