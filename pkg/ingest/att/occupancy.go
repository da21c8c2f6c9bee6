package att

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// The fields of an occupancy row, in the order of the older schema, which has
// no "occupancy_fields".
const (
	fieldTime = iota
	fieldCU
	fieldSIMD
	fieldSlot
	fieldStart
	fieldKernel
	fieldCount
)

// occupancyFields are the names in "occupancy_fields". Source: rocprofiler-sdk
// att-tool, occupancy.cpp.
var occupancyFields = [...]struct {
	name  string
	field int
}{
	{"time", fieldTime},
	{"cu", fieldCU},
	{"simd", fieldSIMD},
	{"wave_id", fieldSlot},
	{"slot", fieldSlot},
	{"start", fieldStart},
	{"kernel_id", fieldKernel},
}

// maxRowFields bounds the length of an occupancy row that is looked at.
const maxRowFields = 64

// waveEvent is the start or the end of a wave.
type waveEvent struct {
	time   int64
	kernel int64
	cu     int16
	simd   uint8
	slot   uint8
	start  bool
}

// occupancyReader reads occupancy.json in two passes, because the names of the
// fields may come after the rows.
type occupancyReader struct {
	cursor
	starts map[int]int // byte of each engine's rows
	at     [fieldCount]int
	width  int // cells that a row must have
	names  map[int64]string

	events  []waveEvent
	skipped int
	kernels map[int64]int64
}

// readOccupancy sums the bytes of occupancy.json. Kernel names that the decoder
// could not resolve are looked up in kernels.
func readOccupancy(b []byte, kernels []trace.Kernel, n *notes) *trace.Occupancy {
	const file = "occupancy.json"
	r := &occupancyReader{
		cursor: newCursor(b), starts: map[int]int{}, at: [...]int{0, 1, 2, 3, 4, 5}, width: fieldCount,
		names: map[int64]string{}, kernels: map[int64]int64{},
	}
	complete := r.Object(r.member) && r.End()
	if !complete {
		n.add(trace.Damage, file, "%s: the rows before it are used", r.Place())
	}
	if r.width == 0 {
		n.add(trace.Damage, file, `"occupancy_fields" lacks one of time, cu, simd, wave_id, start, kernel_id: left out`)
		return nil
	}
	engines := make([]int, 0, len(r.starts))
	for se := range r.starts {
		engines = append(engines, se)
	}
	slices.Sort(engines)
	occ := &trace.Occupancy{}
	for _, se := range engines {
		occ.Engines = append(occ.Engines, r.engine(se))
	}
	occ.Skipped = r.skipped
	if r.skipped > 0 {
		n.add(trace.Damage, file, "%s", trace.LeftOut(r.skipped, "row", "rows"))
	}
	occ.Kernels = r.kernelWaves(kernels)
	return occ
}

// member looks at one member of the document in the first pass.
func (r *occupancyReader) member(key []byte) bool {
	switch string(key) {
	case "occupancy_fields":
		return r.fields()
	case "dispatches":
		return r.dispatches()
	}
	if se, ok := smallDecimal(string(key), maxSE); ok {
		if r.Peek() == '[' {
			r.starts[se] = r.At
		} else {
			delete(r.starts, se)
		}
	}
	return r.Skip()
}

func (r *occupancyReader) fields() bool {
	if r.Peek() != '[' {
		return r.Skip()
	}
	var names []string
	if !r.stringList(&names) {
		return false
	}
	r.width = 0
	found := 0
	for _, known := range occupancyFields {
		if i := slices.Index(names, known.name); i >= 0 && i < maxRowFields {
			r.at[known.field] = i
			r.width = max(r.width, i+1)
			found++
		}
	}
	if found < fieldCount {
		r.width = 0
	}
	return true
}

func (r *occupancyReader) dispatches() bool {
	clear(r.names)
	if r.Peek() != '{' {
		return r.Skip()
	}
	return r.Object(func(key []byte) bool {
		id, err := strconv.ParseInt(string(key), 10, 64)
		if err != nil || r.Peek() != '"' {
			return r.Skip()
		}
		name, ok := r.Str()
		r.names[id] = trace.BareName(string(name))
		return ok
	})
}

// engine reads and sums the rows of one shader engine.
func (r *occupancyReader) engine(se int) trace.EngineOccupancy {
	r.Restart(r.Text, r.starts[se])
	r.events = r.events[:0]
	ordered := true
	var row [maxRowFields]int64
	// A failure was noted by the first pass: the rows before it count.
	r.Array(func() bool {
		m := r.Mark()
		n, ok := r.Ints(row[:r.width])
		if ok && n >= r.width {
			if e, ok := r.event(&row); ok {
				ordered = ordered && (len(r.events) == 0 || r.events[len(r.events)-1].time <= e.time)
				r.events = append(r.events, e)
				return true
			}
		}
		r.Reset(m)
		if !r.Skip() {
			return false
		}
		r.skipped++
		return true
	})
	if !ordered {
		slices.SortStableFunc(r.events, func(a, b waveEvent) int { return cmp.Compare(a.time, b.time) })
	}
	return sumEvents(se, r.events, r.kernels)
}

// event checks a row's ranges.
func (r *occupancyReader) event(row *[maxRowFields]int64) (e waveEvent, ok bool) {
	cell := func(field int) int64 { return row[r.at[field]] }
	time, cu, simd, slot, start := cell(fieldTime), cell(fieldCU), cell(fieldSIMD), cell(fieldSlot), cell(fieldStart)
	if uint64(time) >= maxTime || uint64(cu) >= maxCU || uint64(simd) >= maxSIMD || uint64(slot) >= maxSlot || uint64(start) > 1 {
		return e, false
	}
	return waveEvent{
		time: time, kernel: cell(fieldKernel), cu: int16(cu), simd: uint8(simd), slot: uint8(slot), start: start == 1,
	}, true
}

// residency follows how many waves are resident on a compute unit or a SIMD.
type residency struct {
	resident, peak int64
	since          int64 // time of the last event
	waves          int64 // integral of resident over time
	busy           int64 // time with a resident wave
	last           int64 // last time with a resident wave
}

// until accounts for the time up to t. Events of one time are one moment: a
// number of waves that lasted no time is no peak.
func (r *residency) until(t int64) {
	if r.resident > 0 {
		r.last = t
		if dt := t - r.since; dt > 0 {
			r.waves += r.resident * dt
			r.busy += dt
			r.peak = max(r.peak, r.resident)
		}
	}
	r.since = t
}

// simdState follows the waves of one SIMD.
type simdState struct {
	residency
	cu     *cuState
	simd   int
	starts int64
	// began has the start of the wave in each slot, vacant where there is none.
	began []int64
}

// vacant stands for a slot without a wave.
const vacant = -1

// cuState follows the waves of one compute unit.
type cuState struct {
	residency
	sum trace.CUWaves
}

// count accounts for one start or end. A start in a slot that is taken takes it
// over: the end of the wave before it is lost. ok is false for such a start, and
// for an end in a free slot.
func (s *simdState) count(e waveEvent) (ok bool) {
	s.until(e.time)
	s.cu.until(e.time)
	for len(s.began) <= int(e.slot) {
		s.began = append(s.began, vacant)
	}
	began := s.began[e.slot]
	if e.start {
		s.begin(e.time)
		s.began[e.slot] = e.time
		if began == vacant {
			s.resident++
			s.cu.resident++
		}
		return began == vacant
	}
	if began == vacant {
		return false
	}
	s.began[e.slot] = vacant
	s.resident--
	s.cu.resident--
	s.cu.sum.Lifetimes = append(s.cu.sum.Lifetimes, e.time-began)
	return true
}

func (s *simdState) begin(t int64) {
	cu := &s.cu.sum
	if cu.Starts == 0 {
		cu.First, s.cu.last = t, t
	}
	cu.Starts++
	s.starts++
}

// engineStates are the SIMDs and compute units of an engine that had an event.
type engineStates struct {
	simds [maxCU * maxSIMD]*simdState
	cus   [maxCU]*cuState
}

func (s *engineStates) of(e waveEvent) *simdState {
	at := &s.simds[int(e.cu)*maxSIMD+int(e.simd)]
	if *at == nil {
		cu := &s.cus[e.cu]
		if *cu == nil {
			*cu = &cuState{sum: trace.CUWaves{CU: int(e.cu)}}
		}
		*at = &simdState{cu: *cu, simd: int(e.simd)}
	}
	return *at
}

// sumEvents sums the time-ordered events of an engine and counts the starts of
// each kernel id. A wave whose end is lost counts until its slot is taken
// again, or to the last event.
func sumEvents(se int, events []waveEvent, kernels map[int64]int64) trace.EngineOccupancy {
	sum := trace.EngineOccupancy{SE: se}
	if len(events) == 0 {
		return sum
	}
	sum.First, sum.Last = events[0].time, events[len(events)-1].time
	var states engineStates
	for _, e := range events {
		if !states.of(e).count(e) {
			sum.Unmatched++
		}
		if e.start {
			sum.Starts++
			kernels[e.kernel]++
		} else {
			sum.Ends++
		}
	}
	for _, s := range states.simds {
		if s != nil {
			s.addTo(&sum)
		}
	}
	for _, cu := range states.cus {
		if cu != nil {
			sum.CUs = append(sum.CUs, cu.close(sum.Last))
		}
	}
	return sum
}

// addTo closes a SIMD's account at the engine's last event.
func (s *simdState) addTo(sum *trace.EngineOccupancy) {
	s.until(sum.Last)
	s.peak = max(s.peak, s.resident)
	sum.PeakPerSIMD = max(sum.PeakPerSIMD, int(s.peak))
	sum.WaveCycles += s.waves
	sum.SIMDCycles += s.busy
	sum.Unmatched += s.resident // starts without an end
	if s.starts > 0 {
		cu := &s.cu.sum
		cu.SIMDs = append(cu.SIMDs, trace.SIMDWaves{SIMD: s.simd, Starts: s.starts, ResidentCycles: s.busy, WaveCycles: s.waves})
	}
}

// close returns a compute unit's account at the engine's last event.
func (c *cuState) close(last int64) trace.CUWaves {
	c.until(last)
	c.sum.Last, c.sum.ResidentCycles, c.sum.WaveCycles = c.last, c.busy, c.waves
	slices.Sort(c.sum.Lifetimes)
	return c.sum
}

func (r *occupancyReader) kernelWaves(kernels []trace.Kernel) []trace.KernelWaves {
	list := make([]trace.KernelWaves, 0, len(r.kernels))
	for id, starts := range r.kernels {
		list = append(list, trace.KernelWaves{ID: id, Name: resolveName(r.names[id], kernels), Starts: starts})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	return list
}

// resolveName turns "3 / 0x1700" (code object / address), which the decoder
// writes when an entry point is not the start of a symbol, as with kernel
// arguments that are loaded ahead, into the name of the last kernel at or below
// that address. Other names, and addresses of unknown code, stay as they are.
func resolveName(name string, kernels []trace.Kernel) string {
	obj, addr, ok := strings.Cut(name, " / 0x")
	if !ok {
		return name
	}
	object, err := strconv.ParseInt(obj, 10, 64)
	if err != nil {
		return name
	}
	address, err := strconv.ParseInt(addr, 16, 64)
	if err != nil {
		return name
	}
	best := -1
	for i, k := range kernels {
		if k.CodeObject == object && k.Vaddr <= address && (best < 0 || k.Vaddr >= kernels[best].Vaddr) {
			best = i
		}
	}
	if best < 0 || kernels[best].Symbol == "" && kernels[best].Demangled == "" {
		return name
	}
	return kernels[best].Name()
}
