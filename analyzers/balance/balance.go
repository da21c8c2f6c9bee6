// Package balance is the analyzer that says how evenly the compute units of the
// traced engines were loaded.
package balance

import (
	_ "embed"
	"math"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/shape"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// Analyzer gives a *Balance for every thread trace, nil for one whose
// occupancy.json has no waves.
var Analyzer = analysis.NewPerTrace(analysis.Analyzer{
	Name:     "balance",
	Doc:      doc,
	Requires: []analysis.Required{flow.Analyzer, replay.Analyzer, shape.Analyzer},
	Rules:    rule.Rules(checks()),
}, run)

// Balance is how the waves of all compute units of the traced engines lie in
// time, on one clock.
type Balance struct {
	Engines int `json:"engine_count"`
	// CUs are those of the engines that exist, absent where the agent table
	// does not tell; Used those on which a wave started.
	CUs  *float64 `json:"cus_of_engines,omitempty"`
	Used int      `json:"cus_used"`
	// SpanCycles is from the first wave start to the last wave end.
	SpanCycles int64 `json:"span_cycles"`
	// Aligned is set when realtime.json puts the engines on one clock; else
	// their first waves count as simultaneous.
	Aligned bool `json:"engine_clocks_aligned"`
	// ResidentPct is the share of CUs x span with a wave resident,
	// UsedResidentPct of Used x span.
	ResidentPct     *float64 `json:"cu_time_resident_pct,omitempty"`
	UsedResidentPct float64  `json:"used_cu_time_resident_pct"`
	// LossPct is the share of the span by which the longest resident time of
	// a used compute unit exceeds their mean: what even loads could give.
	LossPct float64 `json:"imbalance_loss_pct"`
	// FinishPct is when the used units' last waves end, in percent of the
	// span; MostCUs of them, at least 90 %, end by MostByPct.
	FinishPct Range   `json:"finish_pct_of_span"`
	MostCUs   int     `json:"most_cus"`
	MostByPct float64 `json:"most_cus_finish_by_pct_of_span"`
	// Waves are the starts on a used unit.
	Waves Range `json:"waves_per_cu"`
	// Lifetimes are those of all waves whose start and end were seen.
	Lifetimes *Range `json:"lifetimes_cycles,omitempty"`
	// SIMDFillPct is the share of the SIMDs that hold a wave while their unit
	// does, absent where it is not known how many there are.
	SIMDFillPct *float64 `json:"simd_fill_pct,omitempty"`
	SIMDs       []SIMD   `json:"simds"`
	// Trips are the loops through which working waves went unequally often,
	// the most iterations first.
	Trips []Trips `json:"unequal_trips,omitempty"`
	// Shape is what the kernel does that most of the traced waves ran.
	Shape rule.Shape `json:"-"`

	// Found is what the rules found.
	Found []finding.Finding `json:"-"`
}

// Range is the spread of some numbers.
type Range struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

// SIMD sums the SIMDs of one number over the used units.
type SIMD struct {
	SIMD   int   `json:"simd"`
	Starts int64 `json:"waves"`
	// ResidentPct is the share of the units' time with a wave in which this
	// SIMD held one.
	ResidentPct float64 `json:"resident_pct_of_cu"`
}

// Trips says how often waves went through a loop.
type Trips struct {
	FirstLine int   `json:"loop_first_line"`
	LastLine  int   `json:"loop_last_line"`
	Waves     int64 `json:"waves"`
	Least     int64 `json:"least"`
	Median    int64 `json:"median"`
	Most      int64 `json:"most"`

	iterations int64
}

func run(p *analysis.Pass, tt *trace.ThreadTrace) (*Balance, error) {
	var b *Balance
	if tt.Occupancy != nil && tt.Occupancy.Starts() > 0 {
		b = of(tt, p.Capture.Trace(tt).Machine)
	}
	if b == nil { // nothing is known, which is no error
		return b, nil
	}
	b.trips(tt, flow.Analyzer.Of(p, tt), replay.Analyzer.Of(p, tt))
	place := finding.Place{Path: tt.Path}
	most := 0
	for k, sum := range replay.Analyzer.Of(p, tt).Kernels {
		if n := sum.Waves[replay.Working]; n > most {
			most, place.Kernel = n, p.Capture.Trace(tt).Kernels[k].Names.Shown()
			b.Shape = shape.Analyzer.Of(p, tt).Kernels[k]
		}
	}
	b.Found = analysis.Check(p, checks(), b, place)
	return b, nil
}

// of sums the occupancy of a trace; nil where no wave lasted.
func of(tt *trace.ThreadTrace, m *capture.Machine) *Balance {
	o := tt.Occupancy
	b := &Balance{Engines: len(o.Engines), CUs: m.EngineCUs(len(o.Engines)), SIMDs: []SIMD{}}
	shift, aligned := shifts(o, tt.Clocks)
	b.Aligned = aligned
	var first, last int64 = math.MaxInt64, math.MinInt64
	var ends, resident, waves, lives []int64
	for i, e := range o.Engines {
		for _, cu := range e.CUs {
			if cu.Starts == 0 {
				continue
			}
			first, last = min(first, cu.First+shift[i]), max(last, cu.Last+shift[i])
			ends = append(ends, cu.Last+shift[i])
			resident, waves = append(resident, cu.ResidentCycles), append(waves, cu.Starts)
			lives = append(lives, cu.Lifetimes...)
		}
	}
	if last <= first {
		return nil
	}
	b.Used, b.SpanCycles = len(ends), last-first
	span := float64(b.SpanCycles)
	sum, most := total(resident), slices.Max(resident)
	b.UsedResidentPct = 100 * sum / span / float64(b.Used)
	b.LossPct = 100 * (float64(most) - sum/float64(b.Used)) / span
	if b.CUs != nil {
		b.ResidentPct = new(100 * sum / span / max(*b.CUs, float64(b.Used)))
	}
	slices.Sort(ends)
	b.FinishPct = rangeOf(ends, func(t float64) float64 { return 100 * (t - float64(first)) / span })
	b.MostCUs = int(math.Ceil(mostShare * float64(b.Used)))
	b.MostByPct = 100 * float64(ends[b.MostCUs-1]-first) / span
	slices.Sort(waves)
	same := func(v float64) float64 { return v }
	b.Waves = rangeOf(waves, same)
	if slices.Sort(lives); len(lives) > 0 {
		b.Lifetimes = new(rangeOf(lives, same))
	}
	b.simds(o, sum, m)
	return b
}

// DeviceShare is what a utilisation of traced SIMDs, over their windows, is
// multiplied by for that of the device, 0 to 1: the share of the CUs' time with
// a wave, over that of the traced CUs' own windows, whose gaps it has already.
// nil where it is not known.
func (b *Balance) DeviceShare(o *trace.Occupancy, traced []replay.SIMD) *float64 {
	if b == nil || b.ResidentPct == nil {
		return nil
	}
	var resident, window int64
	for _, e := range o.Engines {
		for _, u := range e.CUs {
			if slices.ContainsFunc(traced, func(s replay.SIMD) bool { return s.SE == e.SE && s.CU == u.CU }) {
				resident += u.ResidentCycles
				window += u.Last - u.First
			}
		}
	}
	own := 1.0
	if resident > 0 && window > 0 {
		own = min(1, float64(resident)/float64(window))
	}
	return new(min(1, *b.ResidentPct/100/own))
}

// mostShare is the part of the units that MostByPct is of.
const mostShare = 0.9

func total(v []int64) float64 {
	var sum float64
	for _, n := range v {
		sum += float64(n)
	}
	return sum
}

// rangeOf describes sorted numbers, as scale makes them.
func rangeOf(v []int64, scale func(float64) float64) Range {
	n := len(v)
	return Range{Min: scale(float64(v[0])), Median: scale((float64(v[(n-1)/2]) + float64(v[n/2])) / 2), Max: scale(float64(v[n-1]))}
}

// simds sums by the number of the SIMD; resident is the units' time with a wave.
func (b *Balance) simds(o *trace.Occupancy, resident float64, m *capture.Machine) {
	by := map[int]*SIMD{}
	all := 0.0
	for _, e := range o.Engines {
		for _, cu := range e.CUs {
			for _, s := range cu.SIMDs {
				if by[s.SIMD] == nil {
					by[s.SIMD] = &SIMD{SIMD: s.SIMD}
				}
				by[s.SIMD].Starts += s.Starts
				by[s.SIMD].ResidentPct += float64(s.ResidentCycles)
				all += float64(s.ResidentCycles)
			}
		}
	}
	if resident <= 0 {
		return
	}
	for _, s := range by {
		s.ResidentPct *= 100 / resident
		b.SIMDs = append(b.SIMDs, *s)
	}
	slices.SortFunc(b.SIMDs, func(x, y SIMD) int { return x.SIMD - y.SIMD })
	if n, ok := m.Number(capture.FactSIMD); ok && n.Number >= float64(len(b.SIMDs)) {
		b.SIMDFillPct = new(100 * all / resident / n.Number)
	}
}

// shifts are what to add to the cycles of each engine to have them on the clock
// of the first: from the pairs of shader and real time, unless these leave
// engines that were never busy together.
func shifts(o *trace.Occupancy, c *trace.Clocks) (shift []int64, aligned bool) {
	if shift, aligned = clockShifts(o, c); aligned {
		return shift, true
	}
	shift = make([]int64, len(o.Engines))
	for i := range o.Engines {
		if first, _, ok := waveSpan(&o.Engines[i]); ok {
			shift[i] = -first
		}
	}
	return shift, false
}

func clockShifts(o *trace.Occupancy, c *trace.Clocks) ([]int64, bool) {
	ratio, ok := c.CyclesPerTick()
	if !ok {
		return nil, false
	}
	out := make([]int64, len(o.Engines))
	var origin *trace.ClockPoint
	var latest, earliest int64 = math.MinInt64, math.MaxInt64
	for i := range o.Engines {
		first, last, held := waveSpan(&o.Engines[i])
		if !held {
			continue
		}
		at, ok := c.Origin(o.Engines[i].SE)
		if !ok {
			return nil, false
		}
		if origin == nil {
			origin = &at
		}
		ticks := float64(at.Real - origin.Real)
		out[i] = origin.Gfx - at.Gfx + int64(math.Round(ticks*ratio))
		latest, earliest = max(latest, first+out[i]), min(earliest, last+out[i])
	}
	return out, latest <= earliest
}

// waveSpan is from the first wave start to the last wave end of an engine.
func waveSpan(e *trace.EngineOccupancy) (first, last int64, ok bool) {
	for _, cu := range e.CUs {
		if cu.Starts == 0 {
			continue
		}
		if !ok || cu.First < first {
			first = cu.First
		}
		if !ok || cu.Last > last {
			last = cu.Last
		}
		ok = true
	}
	return first, last, ok
}

// trips lists the loops whose trips differ.
func (b *Balance) trips(tt *trace.ThreadTrace, f *flow.Flow, r *replay.Replay) {
	for i := range r.Loops[replay.Working] {
		l := &r.Loops[replay.Working][i]
		if l.Waves < 2 || l.Trips.Max() == l.Least {
			continue
		}
		first, last := f.Rows(i)
		t := Trips{FirstLine: tt.Code[first].Line, LastLine: tt.Code[last].Line, Waves: l.Waves, Least: l.Least, Most: l.Trips.Max(), iterations: l.Iterations}
		t.Median, _ = l.Trips.Quantile(0.5)
		b.Trips = append(b.Trips, t)
	}
	slices.SortStableFunc(b.Trips, func(x, y Trips) int {
		switch {
		case x.iterations > y.iterations:
			return -1
		case x.iterations < y.iterations:
			return 1
		}
		return 0
	})
}
