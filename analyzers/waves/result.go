package waves

import "github.com/rocanalyze/rocanalyze/analyzers/balance"

// Result is the machine output: one Trace per thread trace with waves.
type Result struct {
	Traces []Trace `json:"traces"`
	// Without are the paths of thread traces that have no waves.
	Without []string `json:"traces_without_waves,omitempty"`
}

// Trace is what the waves of one thread trace did.
type Trace struct {
	Path     string   `json:"path"`
	Dispatch *int64   `json:"dispatch_id,omitempty"`
	Kernels  []string `json:"kernel_names"`
	Waves    int      `json:"waves"`
	// FilesMissing and FilesDamaged are wave files that could not be used.
	FilesMissing int `json:"files_missing,omitempty"`
	FilesDamaged int `json:"files_damaged,omitempty"`

	Lifetime Spread `json:"lifetimes_cycles"`
	// States are wave cycles over all waves.
	States States `json:"wave_cycles"`
	Units  []Unit `json:"compute_units"`
	// SIMDSpread compares the SIMDs' resident wave cycles, UnitSpread the
	// windows of the compute units: largest over mean, less 1, in percent.
	SIMDSpreadPct *float64 `json:"simd_imbalance_pct,omitempty"`
	UnitSpreadPct *float64 `json:"window_imbalance_pct,omitempty"`
	// Longest and Shortest are the waves with the longest and shortest lives.
	Longest  *WaveID   `json:"longest_wave,omitempty"`
	Shortest *WaveID   `json:"shortest_wave,omitempty"`
	Barriers []Barrier `json:"barriers,omitempty"`
	// Load is of all compute units of the traced engines, Counters what their
	// counter samples say; both absent where the trace has none.
	Load     *balance.Balance `json:"load,omitempty"`
	Counters []CounterPhases  `json:"counter_phases,omitempty"`
	// BarriersCut is set when there were too many barrier executions to keep.
	BarriersCut bool `json:"barriers_cut,omitempty"`
}

// Spread describes a distribution. Median and P95 are within 0.1 %, the others
// exact.
type Spread struct {
	Min    int64   `json:"min"`
	Median int64   `json:"median"`
	P95    int64   `json:"p95"`
	Max    int64   `json:"max"`
	Mean   float64 `json:"mean"`
}

// States are cycles by what a wave did. They sum to its life.
type States struct {
	Issue int64 `json:"issue"`
	Wait  int64 `json:"wait"`
	Stall int64 `json:"stall"`
	Idle  int64 `json:"idle"`
}

// Total is the sum of all states.
func (s *States) Total() int64 { return s.Issue + s.Wait + s.Stall + s.Idle }

// Unit is one traced compute unit; times are on its engine's clock.
type Unit struct {
	SE          int   `json:"se"`
	CU          int   `json:"cu"`
	Waves       int   `json:"waves"`
	FirstCycle  int64 `json:"first_cycle"`
	LastCycle   int64 `json:"last_cycle"`
	WindowCycle int64 `json:"window_cycles"`
	// StartNs is its first wave's begin after that of the earliest unit, on
	// the real-time clock.
	StartNs *float64 `json:"start_ns,omitempty"`
	SIMDs   []SIMD   `json:"simds"`
	// BinCycles is how many cycles one bin of the timelines spans.
	BinCycles float64 `json:"bin_cycles"`
}

// SIMD is one traced SIMD.
type SIMD struct {
	SIMD  int `json:"simd"`
	Waves int `json:"waves"`
	// ResidentWaveCycles sums the waves' lives; the mean is over the cycles
	// with a wave.
	ResidentWaveCycles int64    `json:"resident_wave_cycles"`
	MeanResident       *float64 `json:"mean_resident_waves,omitempty"`
	PeakResident       int      `json:"peak_resident_waves"`
	StartUpCycles      int64    `json:"start_up_cycles"`
	DrainCycles        int64    `json:"drain_cycles"`
	States             States   `json:"wave_cycles"`
	// Resident is the mean number of waves, Issuing the share of the cycles
	// with a wave in which one issues, per bin; Issuing is absent where issue
	// is not known.
	Resident []float64 `json:"resident_waves_by_bin"`
	Issuing  []float64 `json:"issuing_by_bin,omitempty"`
	Slots    []Slot    `json:"slots"`
}

// Slot is one wave slot of a SIMD.
type Slot struct {
	Slot  int `json:"slot"`
	Waves int `json:"waves"`
	// Bins are parallel to the SIMD's; each holds the wave cycles in it.
	Bins []States `json:"wave_cycles_by_bin"`
}

// WaveID names a wave.
type WaveID struct {
	SE             int   `json:"se"`
	CU             int   `json:"cu"`
	SIMD           int   `json:"simd"`
	Slot           int   `json:"slot"`
	ID             int   `json:"wave_id"`
	LifetimeCycles int64 `json:"lifetime_cycles"`
}

// Barrier is one barrier instruction with the meetings of waves at it.
type Barrier struct {
	Line     int     `json:"line"`
	Text     string  `json:"instruction"`
	Meetings int     `json:"meetings"`
	Waves    float64 `json:"mean_waves"`
	// Spread is from the first to the last arrival.
	MeanSpread float64 `json:"mean_spread_cycles"`
	MaxSpread  int64   `json:"max_spread_cycles"`
	WaitCycles int64   `json:"wait_cycles"`
	// Late counts by SIMD who came last, most often first.
	Late []LateSIMD `json:"late,omitempty"`
}

// LateSIMD says how often a wave of a SIMD came last.
type LateSIMD struct {
	SIMD  int `json:"simd"`
	Times int `json:"times"`
}
