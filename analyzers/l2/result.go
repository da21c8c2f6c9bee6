package l2

import (
	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
)

// Result is the machine output: kernels by total time, longest first.
type Result struct {
	Kernels []Kernel `json:"kernels"`
}

// Kernel is what L2 and memory did for one kernel.
type Kernel struct {
	Name       string            `json:"name"`
	Run        string            `json:"path"`
	Machine    *counters.Machine `json:"machine"`
	Dispatches int64             `json:"dispatches"`
	TotalNs    *float64          `json:"total_ns,omitempty"`
	// Metrics are those of the counters analyzer that tell about L2 and
	// memory; Absent the ones without a value.
	Metrics map[string]counters.Value `json:"metrics"`
	Absent  []counters.Absence        `json:"absent,omitempty"`
	// Traffic is what went to memory in both directions.
	Traffic *Traffic `json:"traffic,omitempty"`
	// OverFetch compares the bytes read with those that had to be.
	OverFetch *OverFetch `json:"over_fetch,omitempty"`
	// Reuse is how many bytes L1 asked L2 for, for each byte of memory traffic.
	Reuse    *counters.Range    `json:"reuse,omitempty"`
	Channels []counters.Balance `json:"channels,omitempty"`
	// Decisions are what follows, the most important first.
	Decisions []Decision         `json:"decisions"`
	Next      *counters.NextPass `json:"next_pass,omitempty"`
	Notes     []counters.Note    `json:"notes"`

	// Found is what the rules found.
	Found []finding.Finding `json:"-"`
}

// Traffic is reads and writes together. The low and high ends are equal where
// the bytes are known.
type Traffic struct {
	// Only is "reads" or "writes" where the others were not counted: more than
	// the ranges say may have moved. PctOfPeak then ends at the peak.
	Only      string          `json:"only,omitempty"`
	Bytes     counters.Range  `json:"bytes_range"`
	GBps      *counters.Range `json:"gb_per_s_range,omitempty"`
	PctOfPeak *counters.Range `json:"pct_of_peak_range,omitempty"`
	// PeakGBps is what PctOfPeak is of, PeakSource where it comes from.
	PeakGBps   float64 `json:"peak_gb_per_s,omitempty"`
	PeakSource string  `json:"peak_source,omitempty"`
}

// OverFetch is per dispatch.
type OverFetch struct {
	IdealBytes float64        `json:"ideal_bytes"`
	Ratio      counters.Range `json:"ratio"`
}

// Decision is one thing that the counters tell, with what to do.
type Decision struct {
	// ID is that of a rule, or "undecided".
	ID       string             `json:"id"`
	Text     string             `json:"text"`
	Evidence []finding.Evidence `json:"evidence"`
	Fix      string             `json:"fix,omitempty"`
	// Counters would make it surer.
	Counters []string `json:"next_counters,omitempty"`
}
