package regime

import (
	"github.com/rocanalyze/rocanalyze/analyzers/balance"
	"github.com/rocanalyze/rocanalyze/analyzers/hotspots"
	"github.com/rocanalyze/rocanalyze/analyzers/occupancy"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/samples"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Result is the machine output: one Kernel per name and launch shape.
type Result struct {
	Kernels []Kernel `json:"kernels"`
}

// Regime says what bounds a kernel.
type Regime string

// The regimes. An under-filled machine and a tail are subtypes of latency:
// what runs waits, or does not run at all, while no resource is busy.
const (
	Compute      Regime = "compute"
	Bandwidth    Regime = "bandwidth"
	Latency      Regime = "latency"
	Mixed        Regime = "mixed"
	Inconclusive Regime = "inconclusive"
)

// Subtypes of latency that say that the machine, not the code, is the matter.
const (
	UnderFilled = "under_filled"
	Tail        = "tail"
	// Imbalance: the compute units of the traced engines had unequal work.
	Imbalance = "imbalance"
	// The LDS is busy with stalls: accesses that are not aligned to their width,
	// bank conflicts, atomics of several lanes on one address.
	LDSUnaligned = "lds_unaligned"
	LDSConflicts = "lds_bank_conflicts"
	LDSAddresses = "lds_address_conflicts"
)

// Basis says how a utilisation is known.
type Basis string

// The bases, best first.
const (
	// Measured: by hardware counters over whole dispatches.
	Measured Basis = "measured"
	// Traced: counted in a thread trace's sample of waves.
	Traced Basis = "traced"
	// UpperBound: requested bytes of the sample; caches and masked lanes make
	// the traffic lower.
	UpperBound Basis = "upper_bound"
)

// Kernel is one kernel with one launch shape, and the verdict on it. What is
// not known is absent.
type Kernel struct {
	Name   string `json:"name"`
	Symbol string `json:"symbol,omitempty"`
	// Shape is what tells launches of one kernel apart.
	Shape  Shape  `json:"shape"`
	Arch   string `json:"arch,omitempty"`
	Device string `json:"device,omitempty"`
	// GPU is what Arch and Device are of.
	GPU *capture.Machine `json:"-"`

	Regime Regime `json:"regime"`
	// Subtype is the resource of compute ("matrix", "valu", "issue") and
	// bandwidth ("hbm", "l2", "lds", ...), both of mixed, the dominant wait of
	// latency ("vmem", "lds", "smem", "barrier", "dependency", "issue", ...)
	// or "under_filled", "tail" and "imbalance", or the stalls that a unit is busy
	// with ("lds_unaligned", "lds_bank_conflicts", "lds_address_conflicts"), and
	// what is missing of inconclusive.
	Subtype string `json:"subtype,omitempty"`
	// Likely is set between the threshold of "likely" and that of the fact, and
	// for bounds that a trace can only suggest.
	Likely bool `json:"likely,omitempty"`
	// AtRoof says that the bound resource is at least 80 % used.
	AtRoof            bool             `json:"at_the_roof,omitempty"`
	Confidence        trust.Confidence `json:"confidence"`
	ConfidenceReasons []string         `json:"confidence_reasons,omitempty"`
	// Verdict is the regime in one sentence.
	Verdict string `json:"verdict"`
	// Also names what else limits the kernel, Contradictions where sources
	// disagree and which one was believed.
	Also           []string `json:"also,omitempty"`
	Contradictions []string `json:"contradictions,omitempty"`

	Evidence []finding.Evidence `json:"evidence"`
	Levels   []Level            `json:"utilisation"`
	// Waits are the kinds of waiting, largest first.
	Waits   []Wait   `json:"waits,omitempty"`
	Sources []Source `json:"sources"`
	// Missing are the kinds of evidence that would decide or confirm more.
	Missing []Missing `json:"missing,omitempty"`

	// Time is there when the inputs hold a run's dispatches.
	Time *Time `json:"time,omitempty"`

	// Names are all names of the kernel.
	Names capture.Names `json:"-"`

	Traces  []*TraceMeasure   `json:"-"`
	Counted []*CounterMeasure `json:"-"`
	// Sampled is what PC sampling says of the kernel, nil for nothing.
	Sampled *samples.Kernel `json:"-"`
	// Main is the trace that the verdict rests on.
	Main *TraceMeasure `json:"-"`
	// Static is the occupancy of a kernel that was not traced.
	Static *occupancy.Kernel `json:"-"`
}

// Shape is a launch in work-items over all dimensions; 0 is unknown.
type Shape = capture.Shape

// Level is the use of one resource, in percent of its peak over the device.
type Level struct {
	Resource string  `json:"resource"`
	Regime   Regime  `json:"regime"`
	Pct      float64 `json:"pct_of_peak"`
	Basis    Basis   `json:"basis"`
	// How shows the arithmetic, Source the files and tables.
	How    string `json:"formula"`
	Source string `json:"source"`
	// Flag is the likely cause of a figure that cannot be: more than 100 % of
	// a peak. Such a level decides nothing.
	Flag string `json:"flag,omitempty"`
	// Undecided levels cannot decide: requested bytes of a kernel with matrix
	// work, whose tiles caches serve, or of one so short that the time of its
	// launch, which is not known, decides.
	Undecided bool `json:"undecided,omitempty"`
	// AtLeast and AtMost are set where counters allow a range, and Pct is its
	// lower or upper end.
	AtLeast bool `json:"at_least,omitempty"`
	AtMost  bool `json:"at_most,omitempty"`
	// Streaming is set where counters say that each byte crosses L2 once:
	// such kernels reach 50 to 60 % of HBM's theoretical peak on real parts.
	Streaming bool `json:"streaming,omitempty"`

	// low is the other end of a range that decides nothing, note says why it is
	// one.
	low  float64
	note string
	// whole is set where the figure does not depend on how many of the waves
	// were read.
	whole bool
}

// Wait is one kind of waiting: SharePct in percent of the waves' waiting time,
// CyclesPct of the wave cycles, latency and idle.
type Wait struct {
	Kind      string  `json:"kind"`
	SharePct  float64 `json:"share_pct"`
	CyclesPct float64 `json:"wave_cycles_pct"`
}

// Source is one capture of a kernel and what it says by itself.
type Source struct {
	Kind       string `json:"kind"`
	Path       string `json:"path"`
	DispatchID *int64 `json:"dispatch_id,omitempty"`
	Regime     Regime `json:"regime,omitempty"`
	Subtype    string `json:"subtype,omitempty"`
}

// Missing names evidence that is not there.
type Missing string

// The kinds of evidence that a capture can add.
const (
	MissingTrace   Missing = "thread_trace"
	MissingWaves   Missing = "wave_files"
	MissingWork    Missing = "working_waves"
	MissingMemory  Missing = "memory_counters"
	MissingCompute Missing = "compute_counters"
	MissingLaunch  Missing = "kernel_trace"
	MissingDevice  Missing = "device"
	MissingSource  Missing = "debug_info"
)

// TraceMeasure is what one thread trace tells about a kernel.
type TraceMeasure struct {
	// Trace is the thread trace, Kernel the index of the kernel in it.
	Trace  *trace.ThreadTrace
	Kernel int
	// Resolved says which GPU it is of.
	Resolved *capture.Trace
	Hot      *hotspots.Kernel
	// Occupancy is nil where it could not be computed.
	Occupancy *occupancy.Kernel
	// Balance is how evenly the compute units were loaded, nil when unknown.
	Balance *balance.Balance
	// Device is the GPU; DeviceSource says how it is known, Assumed that it
	// was not said but follows from the architecture.
	Device       *gpu.Device
	DeviceSource string
	Assumed      bool

	// BytesPerClockCU are the bytes that vector memory instructions request,
	// LDSPct the LDS bytes in percent of the LDS peak, both over the traced
	// CUs' windows, first wave begin to last wave end.
	BytesPerClockCU *float64
	// RequestedBytes is the sum behind it, over all traced waves.
	RequestedBytes *float64
	LDSPct         *float64
	// HBMShare is the HBM peak in bytes per clock and CU.
	HBMShare *float64
	ClockMHz float64
	// WindowRatio is BytesPerClockCU over HBMShare; DispatchRatio the bytes of
	// all waves of the dispatch over its duration and the HBM peak.
	WindowRatio, DispatchRatio *float64
	// DispatchNs is that duration, DispatchTime what it is made of, for the
	// user, and DispatchSource where from: a row's, or that of the waves. Then
	// the dispatch may have taken LaunchNs longer; 0 with a row.
	DispatchNs, LaunchNs         float64
	DispatchTime, DispatchSource string
	// Held is the share of the device's CUs that ever held a wave, Fill the
	// share of their time in which they did, FillWords what Fill is of; 1
	// where unknown.
	Held, Fill            float64
	FillSource, FillWords string
	// SIMDs are those that were traced.
	SIMDs []replay.SIMD
	// Lost is the share, 0 to 1, of the waves of the traced CUs that the wave
	// files lack.
	Lost float64
	// Gates are the ids of the gates that fired on the trace, Others says where
	// waves worked that the trace has not.
	Gates  []string
	Others *trust.Others
	// HasMatrix is set when matrix instructions were executed.
	HasMatrix bool
}
