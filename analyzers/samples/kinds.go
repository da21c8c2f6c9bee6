package samples

import (
	"cmp"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/isa"
)

// Kind is what a sampled wave waited for.
type Kind string

// The kinds.
const (
	VectorMemory Kind = "vector_memory"
	LDS          Kind = "lds"
	ScalarMemory Kind = "scalar_memory"
	// LDSOrScalar is a wait for lgkmcnt in a kernel that was sampled at reads of
	// both kinds, or of neither.
	LDSOrScalar Kind = "lds_or_scalar_memory"
	Stores      Kind = "stores"
	// Several is a wait for counters of more than one kind.
	Several     Kind = "several_memories"
	Barrier     Kind = "barrier"
	Dependency  Kind = "alu_dependency"
	OtherWave   Kind = "other_wave_issued"
	VectorPipe  Kind = "vector_memory_pipe"
	LDSPipe     Kind = "lds_pipe"
	MatrixPipe  Kind = "matrix_pipe"
	VALUPipe    Kind = "valu_pipe"
	OtherPipe   Kind = "other_pipe"
	Fetch       Kind = "instruction_fetch"
	Internal    Kind = "internal_instruction"
	Sleep       Kind = "sleep"
	Unspecified Kind = "other"
)

// kinds are their titles.
var kinds = map[Kind]string{
	VectorMemory: "vector memory", LDS: "LDS", ScalarMemory: "scalar memory", LDSOrScalar: "LDS or scalar memory (lgkmcnt)",
	Stores: "stores", Several: "several kinds of memory at once", Barrier: "the other waves at a barrier",
	Dependency: "the result of an ALU instruction", OtherWave: "no turn: another wave issued",
	VectorPipe: "the vector memory pipe to take more", LDSPipe: "the LDS pipe to take more", MatrixPipe: "the matrix pipe to take more",
	VALUPipe: "the VALU to take more", OtherPipe: "a pipe to take more", Fetch: "instructions to be fetched",
	Internal: "s_nop and other front-end instructions", Sleep: "s_sleep", Unspecified: "other reasons",
}

// Title is the kind in words.
func (k Kind) Title() string { return kinds[k] }

// reasons are the profiler's reasons: what is meant, and the kind that each is,
// "" where the instruction decides. Source: rocprofiler-sdk documentation,
// "Analyzing PC sampling data on CDNA3 and CDNA4", and pc_sampling.h.
var reasons = map[string]struct {
	title string
	kind  Kind
}{
	"none":                     {"no reason given", Unspecified},
	"no_instruction_available": {"fetch, instruction cache", Fetch},
	"alu_dependency":           {"a result was not ready", Dependency},
	"waitcnt":                  {"a wait for memory", ""},
	"internal_instruction":     {"s_nop and the like", Internal},
	"barrier_wait":             {"at a barrier", Barrier},
	"arbiter_not_win":          {"another wave issued", OtherWave},
	"arbiter_win_ex_stall":     {"the pipe was full", ""},
	"other_wait":               {"e.g. address translation", Unspecified},
	"sleep_wait":               {"asleep", Sleep},
}

// ReasonTitle says what a reason means.
func ReasonTitle(reason string) string {
	if r, ok := reasons[reason]; ok {
		return r.title
	}
	return "not known to this version"
}

// Reason names of which the instruction decides.
const (
	reasonWaitcnt = "waitcnt"
	reasonExStall = "arbiter_win_ex_stall"
)

// loaded says of which kinds of reads behind lgkmcnt a kernel has samples.
type loaded struct{ lds, scalar bool }

// loads looks through what was sampled.
func (b *builder) loads() (l loaded) {
	for i := range b.insts {
		switch b.insts[i].Class {
		case isa.LDSRead, isa.LDSWrite, isa.LDSTranspose, isa.LDSAtomic, isa.CrossLane:
			l.lds = true
		case isa.SMEM:
			l.scalar = true
		}
	}
	return l
}

// kindOf is what a wave that did not issue waited for.
func kindOf(reason string, in *isa.Inst, l loaded) Kind {
	switch reason {
	case reasonWaitcnt:
		if kind := atWait(in, l); kind != "" {
			return kind
		}
		return Unspecified
	case reasonExStall:
		return pipeOf(in.Class)
	}
	if r, ok := reasons[reason]; ok {
		return r.kind
	}
	return Unspecified
}

// pipes are the pipes of classes.
var pipes = map[isa.Class]Kind{
	isa.MFMA: MatrixPipe, isa.VALU: VALUPipe, isa.Trans: VALUPipe,
	isa.LDSRead: LDSPipe, isa.LDSWrite: LDSPipe, isa.LDSTranspose: LDSPipe, isa.LDSAtomic: LDSPipe, isa.CrossLane: LDSPipe,
	isa.VMEMLoad: VectorPipe, isa.VMEMStore: VectorPipe, isa.VMEMAtomic: VectorPipe, isa.VMEMToLDS: VectorPipe, isa.VMEMFromLDS: VectorPipe,
	isa.FlatLoad: VectorPipe, isa.FlatStore: VectorPipe, isa.FlatAtomic: VectorPipe, isa.ScratchLoad: VectorPipe, isa.ScratchStore: VectorPipe,
	isa.CacheControl: VectorPipe,
}

func pipeOf(c isa.Class) Kind { return cmp.Or(pipes[c], OtherPipe) }

// counted are the kinds of wait counters; those of lgkmcnt depend on the kernel.
var counted = map[isa.Counter]Kind{
	isa.Vmcnt: VectorMemory, isa.Loadcnt: VectorMemory, isa.Samplecnt: VectorMemory, isa.Bvhcnt: VectorMemory,
	isa.Asynccnt: VectorMemory, isa.Tensorcnt: VectorMemory, isa.Vscnt: Stores, isa.Storecnt: Stores,
	isa.Dscnt: LDS, isa.Kmcnt: ScalarMemory,
}

// atWait is what an instruction waits for, "" for one that does not.
func atWait(in *isa.Inst, l loaded) Kind {
	switch {
	case in.Class == isa.Barrier || in.Class == isa.BarrierWait:
		return Barrier
	case in.Mnemonic == "s_endpgm":
		return Stores // hardware drains what is outstanding before a wave ends
	}
	var found []Kind
	for _, w := range in.Waits {
		kind, ok := counted[w.Counter]
		switch {
		case w.Counter == isa.Lgkmcnt && l.lds && !l.scalar:
			kind = LDS
		case w.Counter == isa.Lgkmcnt && l.scalar && !l.lds:
			kind = ScalarMemory
		case w.Counter == isa.Lgkmcnt:
			kind = LDSOrScalar
		case !ok:
			continue
		}
		if !slices.Contains(found, kind) {
			found = append(found, kind)
		}
	}
	switch len(found) {
	case 0:
		return ""
	case 1:
		return found[0]
	}
	return Several
}
