package kernels

import "github.com/rocanalyze/rocanalyze/pkg/trace"

// Result says where the GPU time of the runs went. It is the machine output of
// the command.
type Result struct {
	// By says what a row stands for: "kernel", "shape", "agent", "process" or
	// "stream".
	By string `json:"by"`
	// Calls are the dispatches that count, those of kernels that were not
	// selected included, TotalNs the sum of their durations: shares are of it.
	Calls   int64 `json:"calls"`
	TotalNs int64 `json:"total_ns"`
	// Kernels are the rows by kernel and shape, Groups those by anything else.
	Kernels []Row `json:"kernels,omitzero"`
	Groups  []Row `json:"groups,omitzero"`
	// Runtime sums the rows of kernels that the runtime launches by itself;
	// absent when there are none.
	Runtime *RuntimeShare `json:"runtime_kernels,omitempty"`
	// Runs are the sources, one per process.
	Runs   []Run  `json:"runs"`
	GPUs   []GPU  `json:"gpus"`
	Copies []Copy `json:"copies"`

	// Launches are the dispatches of each run summed by launch, of all kernels
	// whichever were selected.
	Launches []*trace.LaunchTable `json:"-"`
}

// Row sums the dispatches of one kernel, shape, agent, process or stream.
// Durations are those of the dispatches, end - start.
type Row struct {
	Name string `json:"name"`
	// Symbol is the mangled name where it is another one.
	Symbol string `json:"symbol,omitempty"`
	// Runtime marks kernels that the runtime launches by itself.
	Runtime bool `json:"runtime,omitempty"`
	// Registers tell kernels of one name apart.
	Registers *Registers `json:"registers,omitempty"`
	Calls     int64      `json:"calls"`
	TotalNs   int64      `json:"total_ns"`
	SharePct  float64    `json:"share_pct"`
	MeanNs    float64    `json:"mean_ns"`
	// MedianNs and P95Ns interpolate linearly between neighbouring values.
	// They, MinNs, MaxNs and CVPct are absent where a statistics table does
	// not tell.
	MedianNs *float64 `json:"median_ns,omitempty"`
	P95Ns    *float64 `json:"p95_ns,omitempty"`
	MinNs    *int64   `json:"min_ns,omitempty"`
	MaxNs    *int64   `json:"max_ns,omitempty"`
	// StdDevNs is the sample standard deviation, CVPct that in percent of the
	// mean; absent for a single call.
	StdDevNs *float64 `json:"std_dev_ns,omitempty"`
	CVPct    *float64 `json:"cv_pct,omitempty"`
	// Rounded is set when there were so many calls that median and p95 are
	// within 0.05 % only.
	Rounded bool `json:"quantiles_rounded,omitempty"`
	// MaxSpeedup is Amdahl's bound: how many times shorter the summed kernel
	// time gets when these dispatches take no time. Absent when nothing else
	// ran.
	MaxSpeedup *float64 `json:"max_speedup,omitempty"`
	// Kernels counts the kernels of a row that is not one.
	Kernels int       `json:"kernel_count,omitempty"`
	Shapes  []Shape   `json:"shapes"`
	Agents  []AgentOf `json:"agents"`
	// Processes and Streams are how many launched it.
	Processes int `json:"process_count,omitempty"`
	Streams   int `json:"stream_count,omitempty"`
}

// Registers are a kernel's columns as the profiler recorded them; what they
// mean, "rocanalyze occupancy" says.
type Registers struct {
	VGPRs     *int64 `json:"arch_vgpr_count,omitempty"`
	Accum     *int64 `json:"accum_vgpr_count,omitempty"`
	SGPRs     *int64 `json:"sgpr_count,omitempty"`
	StaticLDS *int64 `json:"static_lds_bytes,omitempty"`
}

// Shape is one way in which a kernel was launched.
type Shape struct {
	// Workgroup and Grid are in work-items; absent when unknown.
	Workgroup []int64 `json:"workgroup,omitempty"`
	Grid      []int64 `json:"grid_work_items,omitempty"`
	// Workgroups is how many there are, partial ones counted whole; absent
	// where the shape cannot be, or the number does not fit.
	Workgroups *int64 `json:"workgroups,omitempty"`
	// LDSBytes is that of the dispatch packet, per workgroup; ScratchBytes is
	// per lane.
	LDSBytes     *int64 `json:"lds_bytes,omitempty"`
	ScratchBytes *int64 `json:"scratch_bytes_per_lane,omitempty"`
	Sums
}

// Sums are those of a part of a row.
type Sums struct {
	Calls   int64   `json:"calls"`
	TotalNs int64   `json:"total_ns"`
	MeanNs  float64 `json:"mean_ns"`
	MinNs   int64   `json:"min_ns"`
	MaxNs   int64   `json:"max_ns"`
}

// AgentOf is a GPU and what of a row ran on it.
type AgentOf struct {
	// ID is the agent's node id; absent when the dispatches name none.
	ID   *int64 `json:"agent_id,omitempty"`
	Host string `json:"host,omitempty"`
	// Name is for people; Gfx and Product are as the source has them.
	Name    string `json:"name"`
	Gfx     string `json:"arch,omitempty"`
	Product string `json:"product,omitempty"`
	Sums
}

// RuntimeShare sums the kernels that the runtime launches by itself.
type RuntimeShare struct {
	Kernels  int     `json:"kernel_count"`
	Calls    int64   `json:"calls"`
	TotalNs  int64   `json:"total_ns"`
	SharePct float64 `json:"share_pct"`
}

// Run is one source: what one process left.
type Run struct {
	Path   string `json:"path"`
	Set    string `json:"table_set,omitempty"`
	Kind   string `json:"kind"`
	Schema string `json:"rocpd_schema_version,omitempty"`
	PID    *int64 `json:"pid,omitempty"`
	Host   string `json:"host,omitempty"`
	// Rows were read, Calls of them counted; Excluded says why others were
	// not.
	Rows     int64          `json:"dispatches_read"`
	Calls    int64          `json:"calls"`
	TotalNs  int64          `json:"total_ns"`
	Excluded []ExcludedText `json:"excluded"`
	// SpanNs is from the first start to the last end of what was counted.
	SpanNs   int64 `json:"span_ns"`
	Counters bool  `json:"has_counters"`
}

// ExcludedText counts dispatches that are in no sum.
type ExcludedText struct {
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
}

// GPU is one agent during one run.
type GPU struct {
	Run  string `json:"run"`
	PID  *int64 `json:"pid,omitempty"`
	ID   *int64 `json:"agent_id,omitempty"`
	Host string `json:"host,omitempty"`
	Name string `json:"name"`
	// Dispatches ran on it; KernelNs sums their durations, BusyNs is the time
	// in which at least one of them ran, BusyPct that of the run's span.
	Dispatches int64   `json:"dispatches"`
	KernelNs   int64   `json:"kernel_ns"`
	BusyNs     int64   `json:"busy_ns"`
	BusyPct    float64 `json:"busy_pct_of_run"`
	SpanNs     int64   `json:"span_ns"`
	// Gaps are between the first and the last dispatch of this GPU.
	Gaps   Gaps    `json:"gaps"`
	Queues []Queue `json:"queues"`
}

// Queue is one hardware queue of a GPU during one run.
type Queue struct {
	ID         *int64 `json:"queue_id,omitempty"`
	Dispatches int64  `json:"dispatches"`
	KernelNs   int64  `json:"kernel_ns"`
	BusyNs     int64  `json:"busy_ns"`
	Gaps       Gaps   `json:"gaps"`
}

// Copy sums the memory copies of one kind between two agents.
type Copy struct {
	Run     string   `json:"run"`
	Kind    string   `json:"kind"`
	Source  string   `json:"source_agent"`
	Target  string   `json:"target_agent"`
	Count   int64    `json:"count"`
	Bytes   int64    `json:"bytes"`
	TotalNs int64    `json:"total_ns"`
	Rate    *float64 `json:"mean_bytes_per_s,omitempty"`
	Untimed int64    `json:"without_time,omitempty"`
}

// Rows are Kernels or Groups.
func (r *Result) Rows() []Row {
	if r.Groups != nil {
		return r.Groups
	}
	return r.Kernels
}

// Cut returns the result with the first n rows; 0 is all.
func (r *Result) Cut(n int) *Result {
	out := *r
	if n > 0 {
		out.Kernels = r.Kernels[:min(n, len(r.Kernels))]
		out.Groups = r.Groups[:min(n, len(r.Groups))]
	}
	return &out
}
