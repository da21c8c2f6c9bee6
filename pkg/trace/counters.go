package trace

import "context"

// CounterRun is one run of an application under a counter profiler: all of its
// passes, processes and agents. Hardware holds few counters at a time, so
// profilers rerun the application, once a pass.
type CounterRun struct {
	// Path is the file or directory as the user can find it again.
	Path string
	// Format says what was read: "rocprofv3 csv", "rocpd", "results.json",
	// "rocprof csv", "rocprof-compute".
	Format string
	// Sources read the counters; dispatches of all of them belong together.
	Sources []CounterSource
	// Agents are the GPUs that tables beside the counters describe.
	Agents []CounterAgent
	// Kernels are those that the sources describe, which may know more names of
	// a kernel than the dispatches have.
	Kernels []RunKernel
	// LaunchTables are kernel traces beside the counters.
	LaunchTables []*LaunchTable
	// Rooflines are measured bandwidths and rates beside the counters.
	Rooflines []MeasuredRoof
}

// CounterSource reads counters as a stream.
type CounterSource interface {
	// Fold reads every dispatch once, over up to workers goroutines. Each has
	// its own CounterFolder from newFolder. Dispatches reach the folders in no
	// fixed order and grouping; CounterDispatch.Order restores it. The error
	// is that of the context or of the input as a whole; rows that cannot be
	// understood are counted in the report.
	Fold(ctx context.Context, workers int, newFolder func() CounterFolder) (CounterReport, error)
}

// CounterFolder takes in dispatches one at a time. A CounterFolder is used by
// one goroutine.
type CounterFolder interface {
	Dispatch(d *CounterDispatch)
}

// CounterReport says what Fold read.
type CounterReport struct {
	// File is the path of the source as the user can find it again, GUID the
	// profiler's own identity of the run, "" where there is none.
	File, GUID string
	// Rows were understood, Bad ones left out.
	Rows, Bad int64
	Bytes     int64
	// Empty says that the source is well-formed and holds no dispatch.
	Empty bool
	// Notes describe what was lost or odd, in a fixed order.
	Notes []Note
}

// CounterDispatch is what one dispatch counted in one pass. The rows of one
// dispatch may come in several pieces, which agree in all fields but Order and
// Values. A CounterDispatch passed to a folder is valid only during that call;
// its strings stay valid.
type CounterDispatch struct {
	// Pass tells reruns of the application apart: "pass_1", "pmc_2", the name
	// of a file, "" when the source has no passes.
	Pass string
	// Replay is the kernel replay that this is, 0 for the first or only one:
	// replays share a dispatch id.
	Replay int
	// Process is a process id, or a GUID where the format has that.
	Process string
	// Agent is the GPU as the source calls it: "Agent 4", "4".
	Agent string
	// Kernel is the name without ".kd" suffixes.
	Kernel string
	// Grid and Workgroup are work-items over all dimensions; 0 is unknown.
	Grid, Workgroup int64
	// LDSBytes is LDS per workgroup; -1 is unknown.
	LDSBytes int64
	// ID is the dispatch id inside Process, -1 when unknown.
	ID int64
	// Order increases along the source; it orders the dispatches of a pass.
	Order int64
	// XCC is the die that the values are of, where a source has one row a die;
	// rows of the other dies are to be added. AllInstances for all dies.
	XCC int
	// StartNs and EndNs are on the profiler's clock; both 0 when unknown.
	// FractionNs is added to their difference, where a source holds averages.
	StartNs, EndNs int64
	FractionNs     float64
	Values         []CounterValue
}

// DurationNs returns end - start; ok is false when the times are unknown or
// the end is not after the start.
func (d *CounterDispatch) DurationNs() (ns float64, ok bool) {
	ns = float64(d.EndNs-d.StartNs) + d.FractionNs
	return ns, d.StartNs > 0 && d.EndNs >= d.StartNs && ns > 0
}

// AllInstances is the CounterValue.Instance of a value that is summed over all
// instances of its block, and the CounterDispatch.XCC of all dies.
const AllInstances = -1

// CounterValue is one counter's value in one dispatch.
type CounterValue struct {
	// Counter is the name as the profiler spells it, without an instance.
	Counter string
	// Instance is the number of the hardware instance (an L2 channel: XCD *
	// banks + bank), AllInstances for a sum.
	Instance int
	Value    float64
}

// CounterAgent is one GPU of a counter run.
type CounterAgent struct {
	// Names are what CounterDispatch.Agent calls it; empty where the source
	// describes one GPU for all rows.
	Names []string
	Agent
	// L2Channels, MemoryChannels and LDSBanks (per CU) are as the profiler
	// recorded them for the agent.
	L2Channels, MemoryChannels, LDSBanks *int64
	// MemoryClockMHz is the memory clock.
	MemoryClockMHz *int64
	// ComputePartition and MemoryPartition are modes such as "SPX" and
	// "NPS4"; "" when unknown.
	ComputePartition, MemoryPartition string
}

// MeasuredRoof is one measured ceiling of a device.
type MeasuredRoof struct {
	Origin Origin
	// Device is the number of the GPU in its table.
	Device int64
	// Name is "HBM", "L2", "L1", "LDS", "MALL" or a kind of arithmetic as the
	// table spells it (FP32Flops).
	Name string
	// Value is GB/s for memories, GFLOP/s (GOP/s) for arithmetic.
	Value float64
}
