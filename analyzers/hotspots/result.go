package hotspots

import (
	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/analyzers/loops"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Result is the machine output. Kernels are in the order of their traces'
// paths, and within a trace by latency, largest first.
type Result struct {
	Kernels []Kernel `json:"kernels"`
	// Empty are thread traces that hold nothing to rank.
	Empty []EmptyTrace `json:"empty_traces,omitempty"`
}

// EmptyTrace is a thread trace without instructions.
type EmptyTrace struct {
	Path string `json:"path"`
	Why  string `json:"reason"`
	// Occupancy is what occupancy.json still knows.
	Occupancy *Occupancy `json:"occupancy,omitempty"`
}

// Kernel is one kernel of one thread trace. Fields that are not known are
// absent.
type Kernel struct {
	Name   string `json:"name"`
	Symbol string `json:"symbol,omitempty"`
	// Path is the dispatch directory, Dispatch the id in its name.
	Path     string    `json:"path"`
	Dispatch *int64    `json:"dispatch_id,omitempty"`
	Schema   string    `json:"trace_schema,omitempty"`
	Flavour  string    `json:"flavour"`
	Arch     code.Arch `json:"gpu"`

	// Totals are code.json's column sums over all waves.
	Totals Totals `json:"totals"`
	// Counted are the sums over the waves that the breakdowns count: without
	// no-work waves unless they were asked for.
	Counted  Totals   `json:"counted"`
	Waiting  *Waiting `json:"waiting,omitempty"`
	Coverage Coverage `json:"coverage"`
	Waves    *Waves   `json:"wave_counts,omitempty"`
	Machine  Machine  `json:"machine"`
	// GPU is what it ran on.
	GPU *capture.Machine `json:"-"`
	// Utilisation is absent for program-counter samples and without waves.
	Utilisation *Utilisation   `json:"issue_utilisation,omitempty"`
	Registers   code.Registers `json:"registers_named"`
	Launch      *Launch        `json:"launch,omitempty"`
	Samples     *Samples       `json:"samples,omitempty"`
	// Exposed splits the stalls into those that cost SIMD time and those that
	// other waves hide; absent where that cannot be told.
	Exposed *Exposed `json:"exposed,omitempty"`
	// RankedBy is "exposed" or "stall": what the rankings are sorted by.
	RankedBy string `json:"ranked_by"`

	Confidence        trust.Confidence `json:"confidence"`
	ConfidenceReasons []string         `json:"confidence_reasons,omitempty"`

	Stalls       []Stall       `json:"stalls"`
	Combinations []Combination `json:"wait_combinations,omitempty"`
	Instructions []Instruction `json:"instructions"`
	Lines        []Line        `json:"lines"`
	// LinesRanked is false when source lines cannot be told apart; Lines then
	// still lists them.
	LinesRanked bool   `json:"lines_ranked"`
	Waits       []Wait `json:"waits"`
	Mix         []Mix  `json:"mix"`
	// Loops stand in for lines where those cannot be told apart; the command
	// loops says more.
	Loops []loops.Loop `json:"loops,omitempty"`

	loops *loops.Kernel // what Loops is taken from

	trace  *trace.ThreadTrace
	kernel int
}

// Kernel returns kernel k of a thread trace; nil when it was not selected, or r
// is nil.
func (r *Result) Kernel(tt *trace.ThreadTrace, k int) *Kernel {
	if r == nil {
		return nil
	}
	for i := range r.Kernels {
		if r.Kernels[i].trace == tt && r.Kernels[i].kernel == k {
			return &r.Kernels[i]
		}
	}
	return nil
}

// Exposed is the time in which the SIMDs waited.
type Exposed struct {
	// SIMD is the time of the traced SIMDs, all kernels and waves together.
	SIMD exposed.SIMDTime `json:"simd_time"`
	// StallCycles and DrainCycles are what the counted waves of this kernel
	// are charged with: the exposed part of their stalls, and of the drain at
	// s_endpgm. StallPct is of all their stall.
	StallCycles float64  `json:"stall_exposed_cycles"`
	DrainCycles float64  `json:"drain_exposed_cycles"`
	StallPct    *float64 `json:"stall_exposed_pct,omitempty"`
}

// Cost is what the stalls of something cost: absent where it cannot be told.
// Exposed cycles are shares of SIMD cycles, hence not always whole.
type Cost struct {
	// ExposedCycles is the exposed part of the stall, HiddenCycles the rest.
	ExposedCycles *float64 `json:"exposed_cycles,omitempty"`
	HiddenCycles  *float64 `json:"hidden_cycles,omitempty"`
	// DrainCycles is the exposed part of the drain at s_endpgm, which is no
	// stall.
	DrainCycles *float64 `json:"exposed_drain_cycles,omitempty"`
	// ExposedPct is the share of exposed stall and drain in the kernel's.
	ExposedPct *float64 `json:"exposed_share_pct,omitempty"`
}

// Totals are sums over instructions. StallPct is of the latency; it and
// IssueCycles are absent when the stall is more than the latency, which cannot
// be.
type Totals struct {
	Hits          int64    `json:"hits"`
	LatencyCycles int64    `json:"latency_cycles"`
	StallCycles   int64    `json:"stall_cycles"`
	IssueCycles   *int64   `json:"issue_cycles,omitempty"`
	IdleCycles    int64    `json:"idle_cycles"`
	StallPct      *float64 `json:"stall_pct,omitempty"`
}

// Waiting is the time in which the counted waves waited: stall, plus the
// drain of memory operations at s_endpgm, which the columns book as latency
// without stall. Percentages are of the counted latency.
type Waiting struct {
	Cycles      int64   `json:"cycles"`
	Pct         float64 `json:"pct"`
	DrainCycles int64   `json:"drain_cycles"`
	DrainPct    float64 `json:"drain_pct"`
}

// Coverage says how much of the code was executed.
type Coverage struct {
	code.Coverage
	ExecutedPct float64 `json:"executed_pct"`
}

// Waves counts the traced waves of a kernel.
type Waves struct {
	// Sampled waves have a wave file; NoWork of them left early.
	Sampled        int     `json:"sampled"`
	NoWork         int     `json:"no_work"`
	NoWorkStallPct float64 `json:"no_work_stall_pct"`
	// InDispatch is the number of waves of the whole dispatch.
	InDispatch *int64 `json:"in_dispatch,omitempty"`
	// Missing and Damaged wave files of the trace could not be used.
	Missing int `json:"files_missing,omitempty"`
	Damaged int `json:"files_damaged,omitempty"`
}

// Machine says where the traced waves ran.
type Machine struct {
	// Engines are the shader engines with traced waves, SIMDs the number of
	// SIMDs with traced waves.
	Engines []int `json:"engines,omitempty"`
	SIMDs   int   `json:"simd_count,omitempty"`
	// WindowCycles is the longest time, over the traced compute units, from
	// the first wave's begin to the last wave's end.
	WindowCycles *int64 `json:"window_cycles,omitempty"`
	// ClockMHz is the mean shader clock during the trace.
	ClockMHz *float64 `json:"clock_mhz,omitempty"`
	WindowNs *float64 `json:"window_ns,omitempty"`
	// WavesNs is the time in which the launch's waves ran: from the first start
	// to the last end on one engine of occupancy.json, the longest of them.
	// WindowPctOfWaves is the window's share of it.
	WavesNs          *float64 `json:"waves_ns,omitempty"`
	WindowPctOfWaves *float64 `json:"window_pct_of_waves,omitempty"`
	// WindowPct is the window's share of the launch's duration, launch overhead
	// included.
	WindowPct *float64   `json:"window_pct_of_dispatch,omitempty"`
	Occupancy *Occupancy `json:"occupancy,omitempty"`
	// Counters are hardware counters sampled during the trace, summed over
	// its engines.
	Counters []Counter `json:"sampled_counters,omitempty"`
}

// Counter is one hardware counter's sum over the traced engines.
type Counter struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

// Occupancy is what the occupancy events of all compute units of the traced
// engines say.
type Occupancy struct {
	Engines int   `json:"engine_count"`
	Waves   int64 `json:"waves_started"`
	// CUsHeld compute units ever held a wave, of CUsTotal in these engines
	// (a mean where engines differ, hence not always whole).
	CUsHeld  int      `json:"cus_held"`
	CUsTotal *float64 `json:"cus_total,omitempty"`
	// CUsSource says where the device's shader engines are from.
	CUsSource string   `json:"cus_source,omitempty"`
	FillPct   *float64 `json:"fill_pct,omitempty"`
	// PeakWavesPerSIMD and MeanWavesPerSIMD count resident waves; the mean is
	// over the time in which the SIMD held any.
	PeakWavesPerSIMD int      `json:"peak_waves_per_simd"`
	MeanWavesPerSIMD *float64 `json:"mean_waves_per_simd,omitempty"`
	Unmatched        int64    `json:"unmatched_events,omitempty"`
	// Kernels says whose waves started.
	Kernels []KernelWaves `json:"kernel_waves,omitempty"`
}

// KernelWaves counts the waves of one kernel.
type KernelWaves struct {
	Name  string `json:"name"`
	Waves int64  `json:"waves"`
}

// Utilisation of the traced SIMDs, in percent.
type Utilisation struct {
	// DeviceShare is what the figures are multiplied by for those of the whole
	// device, 0 to 1; absent where occupancy.json or the device's CUs are not
	// known.
	DeviceShare *float64 `json:"device_share,omitempty"`
	// IssuePct is the share of the cycles with a wave resident in which some
	// resident wave issued; VALUIssuePct counts vector ALU instructions only.
	IssuePct     *float64 `json:"issue_pct,omitempty"`
	VALUIssuePct *float64 `json:"valu_issue_pct,omitempty"`
	// MFMAPct is hits times the cycles of each matrix instruction, over the
	// sum of the SIMDs' windows.
	MFMAPct *float64 `json:"mfma_pct,omitempty"`
	// Absent says why a figure is not there.
	Absent []string `json:"absent_reasons,omitempty"`
}

// Launch is the launch as a row of a kernel trace has it, else as the trace
// itself tells it.
type Launch struct {
	Source       string  `json:"source"`
	Row          int     `json:"row"`
	SameDispatch bool    `json:"same_dispatch"`
	Workgroup    []int64 `json:"workgroup,omitempty"`
	Grid         []int64 `json:"grid_work_items,omitempty"`
	Workgroups   *int64  `json:"workgroups,omitempty"`
	// Waves is exact where a row has the shape; from occupancy.json it is that
	// of the traced engines, scaled to all of the device.
	Waves      *int64   `json:"waves,omitempty"`
	DurationNs *float64 `json:"duration_ns,omitempty"`
	// Calls is the number of dispatches of this shape whose median DurationNs
	// is; 0 where it is that of the row itself.
	Calls int64 `json:"calls,omitempty"`
}

// OccupancyFile is the Source of a launch that no row tells: the trace's own
// count of waves. Its Row is 0.
const OccupancyFile = "occupancy.json"

// Tabled reports whether a row of a kernel trace tells the launch.
func (l *Launch) Tabled() bool { return l != nil && l.Source != OccupancyFile }

// Samples are program-counter samples.
type Samples struct {
	Issued  int64         `json:"issued"`
	Stalled int64         `json:"stalled"`
	Reasons []ReasonCount `json:"stall_reasons,omitempty"`
}

// ReasonCount is one stall reason's samples.
type ReasonCount struct {
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
}

// Stall is one class of stall. SharePct is of the counted stall.
type Stall struct {
	Class           stalls.Class `json:"class"`
	Title           string       `json:"title"`
	StallCycles     int64        `json:"stall_cycles"`
	SharePct        float64      `json:"share_pct"`
	EstimatedCycles int64        `json:"estimated_cycles,omitempty"`
	Fix             string       `json:"fix,omitempty"`
	Cost
}

// Combination is the stall of waits that waited for the same things together,
// before it is split. SharePct is of the counted stall.
type Combination struct {
	// Producers joins the classes, for example "lds_wait+smem_wait".
	Producers   string  `json:"producer_classes"`
	Counters    string  `json:"wait_counters"`
	StallCycles int64   `json:"stall_cycles"`
	SharePct    float64 `json:"share_pct"`
}

// Instruction is one instruction. SharePct is of the counted stall.
type Instruction struct {
	Line          int          `json:"line"`
	Text          string       `json:"instruction"`
	Source        string       `json:"source,omitempty"`
	Class         stalls.Class `json:"class"`
	Kind          string       `json:"instruction_class"`
	Hits          int64        `json:"hits"`
	LatencyCycles int64        `json:"latency_cycles"`
	StallCycles   int64        `json:"stall_cycles"`
	IdleCycles    int64        `json:"idle_cycles"`
	SharePct      float64      `json:"share_pct"`
	// StallPerHit and LatencyPerHit are absent without hits.
	StallPerHit   *float64   `json:"stall_cycles_per_hit,omitempty"`
	LatencyPerHit *float64   `json:"latency_cycles_per_hit,omitempty"`
	Samples       *PCSamples `json:"samples,omitempty"`
	Cost
}

// PCSamples are an instruction's program-counter samples.
type PCSamples struct {
	Issued  int64 `json:"issued"`
	Stalled int64 `json:"stalled"`
}

// Line is one source line, by the innermost frame.
type Line struct {
	Source string `json:"source"`
	// InlinedAt are the positions that it was inlined at, sorted.
	InlinedAt     []string     `json:"inlined_at,omitempty"`
	Code          string       `json:"code,omitempty"`
	Instructions  int          `json:"instruction_count"`
	Hits          int64        `json:"hits"`
	LatencyCycles int64        `json:"latency_cycles"`
	StallCycles   int64        `json:"stall_cycles"`
	SharePct      float64      `json:"share_pct"`
	Class         stalls.Class `json:"class"`
	Classes       []Stall      `json:"classes,omitempty"`
	// Top are its instructions that stall most.
	Top     []Instruction `json:"top_instructions,omitempty"`
	Samples *PCSamples    `json:"samples,omitempty"`
	Cost

	// snippet holds the lines around it; first is their first line number.
	snippet []string
	first   int
	frame   trace.Frame
}

// Wait is one waiting instruction.
type Wait struct {
	Line   int          `json:"line"`
	Text   string       `json:"instruction"`
	Source string       `json:"source,omitempty"`
	Class  stalls.Class `json:"class"`
	// Executions counts them; Cycles is their sum: stall, or for s_endpgm the
	// drain. SharePct is of the counted waiting time (stall and drain).
	Executions int64   `json:"executions"`
	Cycles     int64   `json:"cycles"`
	SharePct   float64 `json:"share_pct"`
	// MeanCycles, P95Cycles and MaxCycles are per execution.
	MeanCycles *float64   `json:"mean_cycles,omitempty"`
	P95Cycles  *int64     `json:"p95_cycles,omitempty"`
	MaxCycles  *int64     `json:"max_cycles,omitempty"`
	Producers  []Producer `json:"producers,omitempty"`
	Estimated  bool       `json:"estimated,omitempty"`
	// StageLine is the line of the first wait of its stage: waits for loads of
	// which the next are under way while one waits, so that moving the loads
	// of one moves its stall to the next. Absent for a wait that is alone.
	StageLine *int `json:"stage_first_line,omitempty"`
}

// Producer is an instruction that a wait waited for.
type Producer struct {
	Line   int          `json:"line"`
	Text   string       `json:"instruction"`
	Source string       `json:"source,omitempty"`
	Class  stalls.Class `json:"class"`
	// Count is the number of its executions that were waited for here.
	Count int64 `json:"count"`
}

// Mix counts instructions of one class.
type Mix struct {
	Kind     string `json:"instruction_class"`
	Static   int    `json:"static"`
	Executed int64  `json:"executed"`
	// ExecutedPct is of all executed instructions.
	ExecutedPct   float64 `json:"executed_pct"`
	LatencyCycles int64   `json:"latency_cycles"`
	StallCycles   int64   `json:"stall_cycles"`
}
