package main

// arch is what the generator knows of a GPU architecture. Times are shader
// clock cycles.
type arch struct {
	name string
	// gfxip is the major number and gfxv the family, as filenames.json has them.
	gfxip int
	gfxv  string
	// quantum divides every time: a SIMD of gfx9 issues every fourth cycle.
	quantum int64
	// waveSize is in lanes; simds share a CU (a WGP on RDNA).
	waveSize, simds int
	// slots is the number of wave slots of a SIMD.
	slots int
	// vmemBytes is the size of a vector memory instruction.
	vmemBytes int
	classes   []class
}

// The decoder's instruction categories that the generator uses.
// Source: rocprof-trace-decoder trace_decoder_types.h.
const (
	catSMEM    = 1
	catSALU    = 2
	catVMEM    = 3
	catFlat    = 4
	catLDS     = 5
	catVALU    = 6
	catJump    = 7
	catNext    = 8
	catImmed   = 9
	catMessage = 11
)

// pipe is an execution unit. The first ones exist once for each SIMD, those
// from pipeLDS on once for each CU.
type pipe int

const (
	pipeSequencer pipe = iota // waits and branches end here
	pipeScalar
	pipeVALU
	pipeMatrix
	pipeLDS
	pipeVMEM
	pipeCount
)

// class says how the instructions of one prefix behave.
type class struct {
	prefix   string
	category int
	pipe     pipe
	// busy is how long an instruction keeps its pipe; up to queue cycles of
	// work may be waiting there before the next one stalls.
	busy, queue int64
	// execute is how long an instruction takes behind its stall, where the
	// decoder counts execution (gfx10 and later).
	execute int64
	// counter is the wait counter that the instruction raises; "" for none.
	counter string
	// latency and jitter are until the counter falls again: latency plus less
	// than jitter, both counted from issue.
	latency, jitter int64
	// store says which of the memory queues the instruction uses.
	store bool
}

// gfx9Classes has the classes of CDNA, the first matching prefix counts. The
// 16 cycles of the matrix pipe are v_mfma_f32_16x16x32_bf16's four passes, the 32
// those of v_mfma_f32_32x32x16_bf16.
func gfx9Classes() []class {
	return []class{
		{prefix: "s_load_", category: catSMEM, pipe: pipeScalar, busy: 4, counter: "lgkmcnt", latency: 220, jitter: 160},
		{prefix: "s_waitcnt", category: catImmed, pipe: pipeSequencer},
		{prefix: "s_barrier", category: catImmed, pipe: pipeSequencer},
		{prefix: "s_nop", category: catImmed, pipe: pipeSequencer},
		{prefix: "s_cbranch", category: catNext, pipe: pipeSequencer},
		{prefix: "s_endpgm", category: catMessage, pipe: pipeSequencer},
		{prefix: "s_", category: catSALU, pipe: pipeScalar, busy: 4},
		{prefix: "ds_read", category: catLDS, pipe: pipeLDS, busy: 8, queue: 32, counter: "lgkmcnt", latency: 96, jitter: 32},
		{prefix: "ds_write", category: catLDS, pipe: pipeLDS, busy: 16, queue: 32, counter: "lgkmcnt", latency: 64, jitter: 32},
		{prefix: "buffer_load", category: catVMEM, pipe: pipeVMEM, busy: 16, queue: 48, counter: "vmcnt", latency: 620, jitter: 240},
		{prefix: "buffer_store", category: catVMEM, pipe: pipeVMEM, busy: 16, queue: 48, counter: "vmcnt", latency: 900, jitter: 300, store: true},
		{prefix: "global_load", category: catFlat, pipe: pipeVMEM, busy: 16, queue: 48, counter: "vmcnt", latency: 700, jitter: 260},
		{prefix: "global_store", category: catFlat, pipe: pipeVMEM, busy: 16, queue: 48, counter: "vmcnt", latency: 1100, jitter: 400, store: true},
		{prefix: "v_mfma_f32_32x32x16", category: catVALU, pipe: pipeMatrix, busy: 32},
		{prefix: "v_mfma", category: catVALU, pipe: pipeMatrix, busy: 16},
		{prefix: "v_", category: catVALU, pipe: pipeVALU, busy: 4},
	}
}

// gfx12Classes has the classes of RDNA4. Global memory instructions are VMEM
// there, s_barrier_signal is a message, and a WMMA keeps the VALU.
// Source: rocprof-trace-decoder gfx12wave.cpp.
func gfx12Classes() []class {
	return []class{
		{prefix: "s_load_b", category: catSMEM, pipe: pipeScalar, busy: 1, execute: 1, counter: "kmcnt", latency: 143, jitter: 61},
		{prefix: "s_wait_", category: catImmed, pipe: pipeSequencer, execute: 1},
		{prefix: "s_barrier_wait", category: catImmed, pipe: pipeSequencer, execute: 1},
		{prefix: "s_barrier_signal", category: catMessage, pipe: pipeSequencer, execute: 1},
		{prefix: "s_sendmsg", category: catMessage, pipe: pipeSequencer, execute: 1, counter: "kmcnt", latency: 40, jitter: 9},
		{prefix: "s_cbranch", category: catNext, pipe: pipeSequencer, execute: 1},
		{prefix: "s_endpgm", category: catMessage, pipe: pipeSequencer, execute: 1},
		{prefix: "s_", category: catSALU, pipe: pipeScalar, busy: 1, execute: 1},
		{prefix: "ds_load", category: catLDS, pipe: pipeLDS, busy: 4, queue: 12, execute: 1, counter: "dscnt", latency: 67, jitter: 23},
		{prefix: "ds_store", category: catLDS, pipe: pipeLDS, busy: 7, queue: 12, execute: 4, counter: "dscnt", latency: 41, jitter: 17},
		{prefix: "global_load", category: catVMEM, pipe: pipeVMEM, busy: 5, queue: 15, execute: 1, counter: "loadcnt", latency: 412, jitter: 151},
		{prefix: "global_store", category: catVMEM, pipe: pipeVMEM, busy: 9, queue: 18, execute: 5, counter: "storecnt", latency: 530, jitter: 170, store: true},
		{prefix: "v_wmma", category: catVALU, pipe: pipeVALU, busy: 16, execute: 16},
		{prefix: "v_", category: catVALU, pipe: pipeVALU, busy: 1, execute: 1},
	}
}

func cdna(name string) arch {
	return arch{
		name: name, gfxip: 9, gfxv: "vega", quantum: 4, waveSize: 64, simds: 4, slots: 8,
		vmemBytes: 8, classes: gfx9Classes(),
	}
}

func rdna4(name string) arch {
	return arch{
		name: name, gfxip: 12, gfxv: "navi", quantum: 1, waveSize: 32, simds: 4, slots: 16,
		vmemBytes: 12, classes: gfx12Classes(),
	}
}
