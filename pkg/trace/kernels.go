package trace

import "slices"

// LaunchTable is a kernel-trace table: one row per dispatch, its rows summed by
// kernel, registers, LDS, scratch, shape and agent.
type LaunchTable struct {
	Path string
	// Kind is "kernel_trace", or "rocpd" where the rows are of a database.
	Kind string
	// Rows are the dispatches that were understood.
	Rows int64
	// LDSDispatched is set where the LDS figures are those of the dispatch
	// packet, launch-time LDS included; otherwise they are the kernel's static
	// LDS, rounded up to 512 bytes.
	LDSDispatched bool
	// Launches are in the order of their first rows.
	Launches []LaunchSum
	// Agents are the GPUs of the agent table beside it.
	Agents []Agent
}

// AgentIDs are what the launches call their agents, in the order of the first
// of each.
func (t *LaunchTable) AgentIDs() []string {
	var ids []string
	for i := range t.Launches {
		if id := t.Launches[i].AgentID; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// LaunchSum is a number of equal dispatches.
type LaunchSum struct {
	// Launch holds the first of them.
	Launch
	// Count is how many there are; Timed of them have a duration, and the
	// three durations are over those, in nanoseconds.
	Count, Timed          int64
	TotalNs, MinNs, MaxNs int64
}

// CodeObject is the code of one GPU target, or a kernel that the user
// described.
type CodeObject struct {
	// Path is the file; a code object inside a bundle is followed by
	// "#offset=BYTES&size=BYTES".
	Path string
	// Kind is "code_object", "assembly" or "flags".
	Kind string
	// Target is the target ID, for example "gfx90a:sramecc+:xnack-"; empty
	// when unknown.
	Target  string
	Kernels []CodeKernel
}

// CodeKernel is what a code object says about one of its kernels. Registers
// are per lane (VGPR, AGPR) or per wave (SGPR).
type CodeKernel struct {
	// Name is the kernel's name, mangled if the compiler mangled it, Symbol
	// that of its descriptor without ".kd".
	Name, Symbol string

	// The compiler's metadata, unpadded. VGPRs is the whole allocation's need
	// on unified files, else the larger of both kinds; ArchVGPRs the v
	// registers alone.
	VGPRs, ArchVGPRs, AGPRs, SGPRs *int
	// VGPRsListed is the metadata's own total where its a registers are not in
	// it; VGPRs has them added.
	VGPRsListed            *int
	VGPRSpills, SGPRSpills *int
	// LDSBytes is static LDS per workgroup, ScratchBytes per lane.
	LDSBytes, ScratchBytes *int
	// MaxWorkgroup is the most work-items that it may be launched with.
	MaxWorkgroup *int
	ReqWorkgroup *[3]int
	WaveSize     *int
	WGPMode      *bool
	DynamicStack *bool

	// Descriptor is what hardware allocates; nil when there is none.
	Descriptor *CodeDescriptor
	// Launch is how its compiler launches it; nil where that is not known.
	Launch *CodeLaunch
	// LLVMOccupancy is the waves per SIMD that LLVM printed into a listing.
	LLVMOccupancy *int
}

// CodeLaunch is how a kernel is launched, by a file that its compiler wrote
// beside the code.
type CodeLaunch struct {
	// Source is that file.
	Source string
	// DynamicLDSBytes is LDS per workgroup beside the static one, Workgroup its
	// work-items; nil where it does not say.
	DynamicLDSBytes, Workgroup *int
}

// CodeDescriptor holds the fields of a kernel descriptor that decide the
// occupancy. Register counts are padded up to what LLVM lets start.
type CodeDescriptor struct {
	VGPRs, AccumOffset, SGPRs *int
	LDSBytes, ScratchBytes    *int
	DynamicVGPR               *bool
}
