package trace

// Occupancy sums occupancy.json: the waves of all compute units of the traced
// shader engines, not only of those whose instructions were traced.
type Occupancy struct {
	// Engines are sorted by SE.
	Engines []EngineOccupancy
	// Kernels says how many waves of each kernel id started, sorted by ID.
	Kernels []KernelWaves
	// Skipped counts rows that could not be understood.
	Skipped int
}

// Starts is the number of wave starts over all engines.
func (o *Occupancy) Starts() int64 {
	var n int64
	for _, e := range o.Engines {
		n += e.Starts
	}
	return n
}

// EngineOccupancy sums the events of one shader engine.
type EngineOccupancy struct {
	SE int
	// CUs are the compute units that ever held a wave, sorted.
	CUs []CUWaves
	// Starts and Ends count events; Unmatched counts starts without an end
	// plus ends without a start.
	Starts, Ends, Unmatched int64
	// First and Last are the times of the first and last event, in cycles of
	// the engine's clock.
	First, Last int64
	// PeakPerSIMD is the largest number of waves that one SIMD held at once.
	PeakPerSIMD int
	// WaveCycles is the sum of wave lifetimes, SIMDCycles the sum over SIMDs
	// of the time in which they held a wave; their ratio is the mean number
	// of resident waves of a busy SIMD.
	WaveCycles, SIMDCycles int64
}

// CUWaves sums the waves of one compute unit. Times are in cycles of the
// engine's clock; those of a unit on which no wave started are 0. A wave whose
// end is lost is resident until its slot is taken again, or to the engine's
// last event.
type CUWaves struct {
	CU     int
	Starts int64
	// First is the start of the first wave, Last the last cycle with a wave
	// resident.
	First, Last int64
	// ResidentCycles is the time in which at least one wave was resident,
	// WaveCycles the sum of the lifetimes.
	ResidentCycles, WaveCycles int64
	// Lifetimes are the cycles from start to end of the waves of which both
	// were seen, sorted.
	Lifetimes []int64
	// SIMDs are those of its SIMDs on which a wave started, sorted.
	SIMDs []SIMDWaves
}

// SIMDWaves sums the waves of one SIMD, as CUWaves does for a compute unit.
type SIMDWaves struct {
	SIMD                               int
	Starts, ResidentCycles, WaveCycles int64
}

// KernelWaves counts the waves of one kernel id (a process-wide number of the
// kernel, not of the dispatch).
type KernelWaves struct {
	ID int64
	// Name is as in "dispatches"; a name that the decoder could not resolve
	// ("3 / 0x1700") is resolved through the code where possible.
	Name   string
	Starts int64
}

// Clocks relates the engines' shader clocks to real time (realtime.json).
type Clocks struct {
	Engines []EngineClock
	// RealHz is the frequency of the real-time clock; 0 when not given.
	RealHz int64
}

// EngineClock holds the points of one engine in file order.
type EngineClock struct {
	SE     int
	Points []ClockPoint
}

// ClockPoint pairs a shader-clock reading (cycles) with a real-time reading
// (ticks of 1/RealHz seconds).
type ClockPoint struct {
	Gfx, Real int64
}

// GfxHz returns the mean shader clock in Hz over an engine's points. ok is
// false when there are not two different points or RealHz is unknown.
func (c *Clocks) GfxHz(e EngineClock) (hz float64, ok bool) {
	if c.RealHz <= 0 || len(e.Points) < 2 {
		return 0, false
	}
	a, b := e.Points[0], e.Points[len(e.Points)-1]
	if b.Real <= a.Real || b.Gfx <= a.Gfx {
		return 0, false
	}
	return float64(b.Gfx-a.Gfx) / float64(b.Real-a.Real) * float64(c.RealHz), true
}

// CyclesPerTick is the mean over the engines of shader-clock cycles per
// real-time tick.
func (c *Clocks) CyclesPerTick() (ratio float64, ok bool) {
	if c == nil {
		return 0, false
	}
	n := 0
	for _, e := range c.Engines {
		if hz, known := c.GfxHz(e); known {
			ratio += hz / float64(c.RealHz)
			n++
		}
	}
	return ratio / float64(max(n, 1)), n > 0
}

// Origin is an engine's first point.
func (c *Clocks) Origin(se int) (p ClockPoint, ok bool) {
	for _, e := range c.Engines {
		if e.SE == se && len(e.Points) > 0 {
			return e.Points[0], true
		}
	}
	return p, false
}

// EngineCounters are counter samples of one shader engine, summed over the
// trace (se*_perfcounter.json: every sample is the increment since the last).
type EngineCounters struct {
	SE      int
	Samples int64
	// First and Last are the cycles of the engine's clock that the samples cover;
	// a first sample covers as long as the second of its bank.
	First, Last int64
	// Values are in the order of the counter names of filenames.json.
	Values []CounterSum
}

// CounterSum is one hardware counter's sum.
type CounterSum struct {
	Name  string
	Value int64
	// Slices are what falls into equal parts of the time from First to Last,
	// CounterSlices of them; an increment is spread evenly over the time since
	// the sample before it. nil where the samples cover no time.
	Slices []float64
}

// CounterSlices is the number of parts that the time of counter samples is cut
// into.
const CounterSlices = 20

// StatsSums are the column sums of the stats CSV that the profiler writes
// beside a dispatch directory.
type StatsSums struct {
	File string
	Rows int
	Counts
}

// Launch is one dispatch as a kernel-trace table has it. Grid is in
// work-items. LDSBytes is the symbol's static LDS rounded up to 512 bytes;
// the register columns are what the profiler derived from the descriptor and
// need interpretation. Source: rocprofiler-sdk output/generateCSV.cpp.
type Launch struct {
	Origin     Origin
	DispatchID *int64
	AgentID    string
	Kernel     string
	// StartNs and EndNs are on the profiler's clock.
	StartNs, EndNs *int64
	LDSBytes       *int64
	ScratchBytes   *int64
	VGPRs          *int64
	AccumVGPRs     *int64
	SGPRs          *int64
	Workgroup      *[3]int64
	Grid           *[3]int64
	// Calls sums the rows of its table that have its kernel and its shape,
	// whatever their agent; nil when none of them is timed.
	Calls *Calls
}

// Calls are the durations of a number of dispatches, in nanoseconds. The median
// of an even number is the lower of the two in the middle.
type Calls struct {
	Timed, MedianNs, MaxNs int64
}

// DurationNs returns end - start; ok is false when either is missing or the
// end is not after the start.
func (l *Launch) DurationNs() (ns int64, ok bool) {
	if l.StartNs == nil || l.EndNs == nil || *l.EndNs <= *l.StartNs {
		return 0, false
	}
	return *l.EndNs - *l.StartNs, true
}

// WorkgroupSize returns the work-items of a workgroup; ok is false when it is
// not known or not positive.
func (l *Launch) WorkgroupSize() (n int64, ok bool) {
	if l.Workgroup == nil {
		return 0, false
	}
	return Product(*l.Workgroup)
}

// Workgroups returns the number of workgroups of the grid, partial ones
// counted whole; ok is false when the shape is not known.
func (l *Launch) Workgroups() (n int64, ok bool) {
	if l.Workgroup == nil || l.Grid == nil {
		return 0, false
	}
	var groups [3]int64
	for i := range groups {
		if l.Workgroup[i] <= 0 || l.Grid[i] <= 0 {
			return 0, false
		}
		groups[i] = (l.Grid[i]-1)/l.Workgroup[i] + 1
	}
	return Product(groups)
}

// Product multiplies three positive extents; ok is false, and n is 0, on a
// non-positive one or when the product does not fit.
func Product(v [3]int64) (n int64, ok bool) {
	n = 1
	for _, x := range v {
		if x <= 0 || x > 1<<62/n {
			return 0, false
		}
		n *= x
	}
	return n, true
}

// Agent is one GPU as an agent table has it.
type Agent struct {
	Origin Origin
	// NodeID is the number in "Agent N" of a kernel-trace row.
	NodeID int64
	// Gfx is the architecture, for example "gfx950".
	Gfx string
	// Product is the marketing name; may be empty or "unknown".
	Product string
	// DeviceID is the PCI device id.
	DeviceID *int64
	// Engines is the number of shader engines: shader arrays over arrays per
	// engine.
	Engines *int64
	// CUs, SIMDsPerCU, CUsPerEngine, XCCs, MaxWavesPerSIMD, LDSKiB and
	// WaveSize are as the driver reports them.
	CUs, SIMDsPerCU, CUsPerEngine, XCCs, MaxWavesPerSIMD, LDSKiB, WaveSize *int64
	// MaxClockMHz is the highest shader clock.
	MaxClockMHz *int64
}
