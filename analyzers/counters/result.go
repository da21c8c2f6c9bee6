package counters

import (
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/gpu"
)

// Result is the machine output: kernels by total time, longest first.
type Result struct {
	// Aggregation is "sum" (formulas over the sums of all dispatches) or
	// "mean" (the mean of each dispatch's value).
	Aggregation string   `json:"aggregation"`
	Kernels     []Kernel `json:"kernels"`
	// Names are the kernels of the input, before any selection.
	Names []string `json:"-"`
}

// Kernel is one kernel on one kind of GPU in one run.
type Kernel struct {
	Name string `json:"name"`
	// Symbol is there where the counters have a mangled name.
	Symbol string `json:"symbol,omitempty"`
	// Run is the path of the run, Machine the GPU.
	Run     string   `json:"path"`
	Machine *Machine `json:"machine"`
	// Dispatches counts dispatches once, in however many passes they ran.
	Dispatches int64 `json:"dispatches"`
	// Grid and Workgroup are work-items over all dimensions, where all dispatches
	// have the same.
	Grid      int64 `json:"grid_size,omitempty"`
	Workgroup int64 `json:"workgroup_size,omitempty"`
	// Outliers are dispatches that are in no metric, slowest first.
	Outliers []Outlier `json:"outliers,omitempty"`
	// TotalNs is the time of all dispatches; absent without timestamps.
	TotalNs *float64 `json:"total_ns,omitempty"`
	// Metrics are the values by id, Absent the metrics without one.
	Metrics map[string]Value `json:"metrics"`
	Absent  []Absence        `json:"absent,omitempty"`
	// Channels say how evenly the L2 channels are used.
	Channels []Balance `json:"channels,omitempty"`
	// Next is the single pass that would unlock most.
	Next *NextPass `json:"next_pass,omitempty"`
	// PerDispatch is there when it was asked for.
	PerDispatch []Dispatch `json:"per_dispatch,omitempty"`
	// Counters are means per dispatch by the name that the input uses, sums
	// over all instances.
	Counters map[string]float64 `json:"counter_means"`
	Notes    []Note             `json:"notes"`

	// has are the canonical names of the counters.
	has map[string]bool
}

// Value is one figure.
type Value struct {
	// Value is absent where only a range is known, or where what was computed
	// cannot be right (Computed then has it).
	Value    *float64 `json:"value,omitempty"`
	Range    *Range   `json:"range,omitempty"`
	Computed *float64 `json:"computed,omitempty"`
	Unit     string   `json:"unit"`
	// Source is the formula, with names as in Metric.
	Source string `json:"formula"`
	// Dispatches is how many of the kernel's dispatches have all counters, if
	// not all of them.
	Dispatches int64 `json:"dispatches,omitempty"`
	// PctOfPeak compares with Peak; of a range it is the lower end.
	PctOfPeak *float64  `json:"pct_of_peak,omitempty"`
	Peak      *gpu.Peak `json:"peak,omitempty"`
	// Note is what limits the figure; ForExact are the counters that a range
	// lacks.
	Note     string   `json:"note,omitempty"`
	ForExact []string `json:"counters_for_exact,omitempty"`
}

// Range bounds a figure.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Absence says why a metric has no value.
type Absence struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	// Counters are missing, as the profiler takes them.
	Counters []string `json:"counters,omitempty"`
}

// Note is a remark about a kernel; ID is stable.
type Note struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Metric is the id of the metric that the note is about, "" for none.
func (n Note) Metric() string {
	_, id, _ := strings.Cut(n.ID, ":")
	return id
}

// Balance is how evenly one counter is spread over the L2 channels.
type Balance struct {
	Counter string `json:"counter"`
	// Channels were recorded, of Of (0: unknown).
	Channels int     `json:"channels_recorded"`
	Of       int     `json:"channels_total,omitempty"`
	Sum      float64 `json:"sum"`
	Mean     float64 `json:"mean"`
	Min      float64 `json:"min"`
	Max      float64 `json:"max"`
	// CV is the standard deviation (of the whole population) over the mean.
	CV         float64 `json:"cv"`
	MaxOverAvg float64 `json:"max_over_mean"`
	// Little is set when there is too little traffic for CV to say anything.
	Little bool `json:"too_little_traffic,omitempty"`
	// Partial is set when some channels were not recorded.
	Partial bool `json:"partial,omitempty"`
}

// NextPass is one more run of the profiler.
type NextPass struct {
	Counters []string `json:"counters"`
	Unlocks  []string `json:"unlocks"`
	Command  string   `json:"command"`
}

// Dispatch is one dispatch's figures.
type Dispatch struct {
	ID        *int64             `json:"dispatch_id,omitempty"`
	Rank      int                `json:"rank"`
	Ordinal   int                `json:"ordinal"`
	Grid      int64              `json:"grid_size,omitempty"`
	Workgroup int64              `json:"workgroup_size,omitempty"`
	Metrics   map[string]float64 `json:"metrics"`
}
