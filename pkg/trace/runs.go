package trace

import (
	"context"
	"math"
)

// Run is what one profiled process left in one source: a table set of a rocpd
// database, a kernel trace, a results file. Its dispatches are read when they
// are asked for.
type Run struct {
	// Path is the file as the user can find it again. Set tells the table sets
	// of one database apart; "" where there is one.
	Path, Set string
	// Kind is "rocpd", "rpd" (rocmProfileData), "rocprof_db" (rocprof's
	// results.db), "kernel_trace" or "results_json".
	Kind string
	// Schema is the version that the source claims; only to be shown.
	Schema string
	// GUID is the profiler's own identity of the run, "" where the source has
	// none.
	GUID    string
	Process Process
	// Agents are the GPUs, sorted by NodeID.
	Agents []Agent
	// Kernels are sorted by ID.
	Kernels    []RunKernel
	Dispatches DispatchSource
	// Copies are memory copies, summed by kind and agents.
	Copies []CopySum
	// HasCounters is set when dispatches were counted: the profiler then runs
	// one kernel at a time.
	HasCounters bool
}

// Process is the process of a Run.
type Process struct {
	// PID is nil when unknown.
	PID     *int64
	Host    string
	Command string
}

// RunKernel is a kernel that a run can launch. Registers are as the profiler
// derived them from the kernel's descriptor and need interpretation.
type RunKernel struct {
	// ID is what Dispatch.Kernel names; it means nothing in another run.
	ID int64
	// Name is the name to show, Symbol the one of the descriptor without
	// ".kd"; Symbol may be empty.
	Name, Symbol string
	// VGPRs, AccumVGPRs and SGPRs are register columns, StaticLDSBytes per
	// workgroup.
	VGPRs, AccumVGPRs, SGPRs, StaticLDSBytes *int64
}

// Absent is the value of a figure of a Dispatch that is not known.
const Absent = math.MinInt64

// Dispatch is one kernel dispatch. Figures that are not known are Absent. A
// Dispatch passed to a folder is valid only during that call.
type Dispatch struct {
	// ID is the number of the dispatch in its process, from 1.
	ID int64
	// Kernel is a RunKernel.ID, Agent an Agent.NodeID; either may name nothing
	// that the run describes.
	Kernel, Agent int64
	Queue, Stream int64
	// Start and End are nanoseconds on the run's clock.
	Start, End int64
	// LDSBytes is the LDS of the dispatch packet, launch-time LDS included;
	// for kernel traces the kernel's static LDS. ScratchBytes is per lane.
	LDSBytes, ScratchBytes int64
	// Workgroup and Grid are in work-items.
	Workgroup, Grid [3]int64
	// Replay is the kernel replay that this is, 0 for the first or only run.
	Replay int64
}

// DurationNs returns end - start; ok is false when a time is missing, or both
// together cannot be.
func (d *Dispatch) DurationNs() (ns int64, ok bool) {
	if d.Start <= 0 || d.End <= d.Start || d.End-d.Start > MaxDispatchNs {
		return 0, false
	}
	return d.End - d.Start, true
}

// DispatchFolder takes in dispatches one at a time. It is used by one
// goroutine.
type DispatchFolder interface {
	Dispatch(d *Dispatch)
}

// DispatchSource reads the dispatches of a run.
type DispatchSource interface {
	// Fold reads every dispatch once, over up to workers goroutines. Each has
	// its own folder from newFolder, called in the order of the parts of the
	// source that they read; what folders sum must not depend on how many
	// there are. The error is that of the context only: what could not be
	// read is in the report.
	Fold(ctx context.Context, workers int, newFolder func() DispatchFolder) (DispatchReport, error)
}

// DispatchReport says what Fold read.
type DispatchReport struct {
	// Rows were handed to a folder.
	Rows int64
	// Notes say what was lost or odd.
	Notes []Note
	// Launches are the dispatches summed by launch, where the source has them
	// summed already; nil elsewhere.
	Launches *LaunchTable
}

// CopySum is a number of memory copies of one kind between two agents.
type CopySum struct {
	// Kind is as the profiler names it: "MEMORY_COPY_HOST_TO_DEVICE".
	Kind string
	// Source and Target are agents by node id, nil when unknown.
	Source, Target *int64
	// Count is how many there are, Bytes what they moved. Timed of them have a
	// duration; TimedBytes and TotalNs are over those.
	Count, Bytes, Timed, TimedBytes, TotalNs int64
}

// Add counts one copy. A time that cannot be is left out.
func (c *CopySum) Add(bytes, start, end int64) {
	c.Count++
	bytes = max(bytes, 0)
	c.Bytes += bytes
	if start > 0 && end > start && end-start <= MaxDispatchNs {
		c.Timed++
		c.TimedBytes += bytes
		c.TotalNs += end - start
	}
}

// MaxDispatchNs is the longest time that a dispatch or copy is believed to
// take, an hour: a longer one has a damaged timestamp.
const MaxDispatchNs = 3_600_000_000_000

// KernelStats is a statistics table, which a profiler wrote instead of
// dispatches: one row per kernel name.
type KernelStats struct {
	Path string
	Rows []KernelStat
}

// KernelStat is one row of a KernelStats. Figures that the table lacks are
// nil; times are nanoseconds.
type KernelStat struct {
	Name         string
	Calls        int64
	TotalNs      int64
	MinNs, MaxNs *int64
	// StdDevNs is the sample standard deviation.
	StdDevNs *float64
}
