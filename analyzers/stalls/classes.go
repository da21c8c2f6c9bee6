package stalls

import (
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// Class is a kind of stall, by what the wave waits for.
type Class string

// The stall classes.
const (
	VMEMWait       Class = "vmem_wait"
	VMEMToLDSWait  Class = "vmem_to_lds_wait"
	StoreWait      Class = "store_wait"
	LDSWait        Class = "lds_wait"
	CrossLaneWait  Class = "cross_lane_wait"
	SMEMWait       Class = "smem_wait"
	FenceWait      Class = "fence_wait"
	AtomicWait     Class = "atomic_wait"
	PollWait       Class = "poll_wait"
	MessageWait    Class = "message_wait"
	ExportWait     Class = "export_wait"
	LGKMWait       Class = "lds_or_smem_wait"
	ALUWait        Class = "alu_wait"
	SatisfiedWait  Class = "satisfied_wait"
	Barrier        Class = "barrier"
	VMEMIssue      Class = "vmem_issue"
	LDSIssue       Class = "lds_issue"
	SMEMIssue      Class = "smem_issue"
	MFMADependency Class = "mfma_dependency"
	MFMAIssue      Class = "mfma_issue"
	MFMAContention Class = "mfma_contention"
	VALUDependency Class = "valu_dependency"
	VALUContention Class = "valu_contention"
	Bubble         Class = "pipeline_bubble"
	VALU           Class = "valu"
	SALU           Class = "salu"
	Branch         Class = "branch"
	Sleep          Class = "sleep"
	MessageIssue   Class = "message"
	ExportIssue    Class = "export"
	CacheControl   Class = "cache_control"
	End            Class = "end"
	// StoreDrain is no stall: it names the drain at s_endpgm where waits are
	// listed.
	StoreDrain Class = "store_drain"
	Other      Class = "other"
)

// Info describes a class.
type Info struct {
	Class Class
	// Title is short enough for a table.
	Title string
	// Meaning says what the cycles are.
	Meaning string
	// Fix names first suspects and remedies; empty where there is nothing to
	// do about the class itself. Advice holds for kernels of some shapes.
	Fix    string
	Advice []rule.Advice
}

// FixFor is what to do about the class in a kernel of some shape.
func (i *Info) FixFor(s rule.Shape) string { return rule.Fit(i.Fix, i.Advice, s) }

// Classes lists every class, waits first. The fixes are those of the FlyDSL
// kernel tuning guide (sections 3 to 5 and 9) and GEMM optimization guide
// (sections 9 and 13).
var Classes = []Info{
	{VMEMWait, "VMEM wait", "s_waitcnt vmcnt, s_wait_loadcnt and the like behind loads from memory", "issue the loads earlier, wait for those that are needed, vmcnt(N), more waves per SIMD", []rule.Advice{
		{When: rule.Loop, Text: "load the next iteration before the work of this one (double buffer)"},
		{When: rule.GEMM | rule.MatrixLoop, Text: "larger tile_k"},
	}},
	{VMEMToLDSWait, "VMEM-to-LDS wait", "waits behind loads that go straight to LDS (buffer_load ... lds, async and tensor copies)", "start the copies earlier; 16 bytes per lane where the architecture has them (gfx950)", []rule.Advice{{When: rule.Loop, Text: "a deeper asynchronous pipeline"}}},
	{StoreWait, "store wait", "vscnt, s_wait_storecnt, or vmcnt on gfx9, behind stores", "coalesced stores, 8 to 16 bytes per lane; wait later", []rule.Advice{{When: rule.GEMM | rule.LDSReads, Text: "a CShuffle epilogue through LDS"}}},
	{LDSWait, "LDS wait", "lgkmcnt or dscnt behind LDS reads and writes", "look for bank conflicts if the LDS instructions stall themselves", []rule.Advice{
		{When: rule.LDSReads, Text: "issue LDS reads earlier"},
		{When: rule.LDSReads | rule.LDSWrites, Text: "more distance between LDS write and read"},
		{When: rule.GEMM | rule.BarrierLoop, Text: "read the first fragment right after the barrier"},
	}},
	{CrossLaneWait, "cross-lane wait", "lgkmcnt or dscnt behind ds_swizzle, ds_permute, ds_bpermute", "DPP, v_permlane*, or fewer and wider reduction steps", nil},
	{SMEMWait, "SMEM wait", "lgkmcnt or kmcnt behind scalar loads", "kernarg preload, batch descriptor and scalar loads", []rule.Advice{{When: rule.ScalarLoop, Text: "hoist them out of loops"}}},
	{LGKMWait, "LDS or SMEM wait", "lgkmcnt, where an estimate from the code finds neither LDS nor scalar loads before it", "keep the wave files: they tell which it is", nil},
	{FenceWait, "fence wait", "waits behind write-backs and invalidations of caches (buffer_wbl2, buffer_inv, global_wb, global_inv): the halves of fences of device or system scope", "fewer fences: one per workgroup, a narrower scope, none beside an atomic that orders already", nil},
	{AtomicWait, "atomic wait", "waits behind atomics that return the old value", "atomics that do not return, fewer of them: reduce in the wave and the workgroup first", nil},
	{PollWait, "spin wait", "waiting and sleeping in a polling loop: for a flag that another workgroup, GPU or the host sets", "look at who sets the flag, and when", nil},
	{MessageWait, "message wait", "waits behind s_sendmsg and the like", "", nil},
	{ExportWait, "export wait", "expcnt behind exports", "", nil},
	{ALUWait, "ALU wait", "s_wait_alu, s_waitcnt_depctr, s_delay_alu: results of vector or scalar ALU instructions", "put independent instructions between producer and consumer", nil},
	{SatisfiedWait, "wait, none pending", "waits whose counters were already low enough: the cost of issuing them", "remove the wait, or let the compiler merge it with its neighbour", nil},
	{Barrier, "barrier", "s_barrier, s_barrier_wait: waiting for the workgroup's other waves", "fewer barriers, what the next phase needs loaded before the barrier, equal work for every wave", nil},
	{VMEMIssue, "VMEM issue", "memory loads and stores that cannot issue: the queue is full or addresses are being processed", "fewer and wider accesses (dwordx4), coalesced addresses; a saturated memory pipe also shows here", nil},
	{LDSIssue, "LDS issue", "LDS instructions that cannot issue", "bank conflicts: XOR swizzle or padding, for the banks of this architecture and instruction", []rule.Advice{{When: rule.MatrixWork, Text: "spread LDS instructions between matrix instructions"}}},
	{SMEMIssue, "SMEM issue", "scalar loads that cannot issue", "batch scalar loads", nil},
	{MFMADependency, "MFMA dependency", "an instruction that reads the result of a matrix instruction before it is done", "more independent accumulators, reorder, scheduling hints", nil},
	{MFMAIssue, "MFMA issue", "matrix instructions that wait for the matrix pipe, which an earlier one of the wave keeps", "none if the pipe is well used; else fewer or larger matrix instructions", nil},
	{Bubble, "s_nop bubble", "s_nop: wait states between dependent instructions", "fill with independent instructions (scheduling hints)", nil},
	{MFMAContention, "MFMA contention", "matrix instructions that wait while another wave's keep the matrix pipe", "none if the pipe is well used; more waves make it worse", nil},
	{VALUDependency, "VALU dependency", "vector instructions that wait while no other wave uses the VALU: for an earlier result", "independent chains, more waves", nil},
	{VALUContention, "VALU contention", "vector instructions that wait while another wave of the SIMD issues a vector or matrix instruction", "fewer vector instructions, packed forms; more waves make it worse", nil},
	{VALU, "VALU", "vector instructions that wait for the VALU or for an earlier result, where the waves do not tell which", "fewer vector instructions, packed forms, independent chains", nil},
	{SALU, "SALU", "scalar instructions that cannot issue", "", nil},
	{Branch, "branch", "branches", "fewer branches", []rule.Advice{{When: rule.Loop, Text: "unroll: fewer and longer iterations"}}},
	{Sleep, "sleep", "s_sleep and the like", "", nil},
	{MessageIssue, "message", "s_sendmsg and the like that cannot issue", "", nil},
	{ExportIssue, "export", "exports that cannot issue", "", nil},
	{CacheControl, "cache control", "cache write-back and invalidation", "narrower memory scopes", nil},
	{End, "end of program", "s_endpgm's own stall; its drain of stores is shown apart", "", nil},
	{StoreDrain, "store drain", "s_endpgm's latency without stall: outstanding memory operations end before the wave does", "coalesced stores, 8 to 16 bytes per lane; more work for each wave", []rule.Advice{{When: rule.GEMM | rule.LDSReads, Text: "a CShuffle epilogue through LDS (tile_n >= 128)"}}},
	{Other, "other", "instructions that this version does not know", "", nil},
}

// InfoOf returns a class's description.
func InfoOf(c Class) Info {
	for _, i := range Classes {
		if i.Class == c {
			return i
		}
	}
	return Info{Class: c, Title: string(c)}
}

// byWait names the class of a wait by what it waited for.
var byWait = map[replay.WaitClass]Class{
	replay.Nothing: SatisfiedWait, replay.VMEM: VMEMWait, replay.VMEMToLDS: VMEMToLDSWait, replay.Store: StoreWait,
	replay.LDS: LDSWait, replay.CrossLane: CrossLaneWait, replay.SMEM: SMEMWait, replay.Message: MessageWait, replay.Export: ExportWait,
	replay.Fence: FenceWait, replay.Atomic: AtomicWait, replay.Poll: PollWait, replay.LDSOrSMEM: LGKMWait,
}

// OfWait returns the class of a wait for a kind of operation.
func OfWait(w replay.WaitClass) Class { return byWait[w] }

// byInstruction names the class of an instruction that stalls by itself.
var byInstruction = map[isa.Class]Class{
	isa.SALU: SALU, isa.SMEM: SMEMIssue, isa.VALU: VALU, isa.Trans: VALU, isa.MFMA: MFMAIssue,
	isa.VMEMLoad: VMEMIssue, isa.VMEMStore: VMEMIssue, isa.VMEMAtomic: VMEMIssue, isa.VMEMToLDS: VMEMIssue,
	isa.VMEMFromLDS: VMEMIssue, isa.TensorDMA: VMEMIssue, isa.FlatLoad: VMEMIssue, isa.FlatStore: VMEMIssue,
	isa.FlatAtomic: VMEMIssue, isa.ScratchLoad: VMEMIssue, isa.ScratchStore: VMEMIssue, isa.CacheControl: CacheControl,
	isa.LDSRead: LDSIssue, isa.LDSWrite: LDSIssue, isa.LDSAtomic: LDSIssue, isa.LDSTranspose: LDSIssue, isa.CrossLane: LDSIssue,
	isa.Export: ExportIssue, isa.Branch: Branch, isa.Barrier: Barrier, isa.BarrierSignal: Barrier, isa.BarrierWait: Barrier,
	isa.WaitCount: ALUWait, isa.Nop: Bubble, isa.Sleep: Sleep, isa.Message: MessageIssue, isa.EndPgm: End,
}

// contended names, for the instructions that need a pipe which a SIMD's waves
// share, the class of the stall in which another wave has it.
var contended = map[isa.Class]Class{isa.VALU: VALUContention, isa.Trans: VALUContention, isa.MFMA: MFMAContention}

// ofInstruction returns the class of an instruction's own stall.
func ofInstruction(in *isa.Inst) Class {
	if c, ok := byInstruction[in.Class]; ok {
		return c
	}
	return Other
}
