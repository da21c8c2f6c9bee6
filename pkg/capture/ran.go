package capture

import (
	"fmt"
	"math"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Ran is what occupancy.json and realtime.json tell of the traced launch of a
// kernel, without any table: how many of its waves started on the traced shader
// engines, and how long they ran.
type Ran struct {
	// Waves of the kernel started on Engines shader engines of OfEngines that
	// the device has; OfEngines is 0 when that is not known.
	Waves              int64
	Engines, OfEngines int
	// Whole is set when each of these waves was seen to start and to end.
	Whole bool
	// SpanNs is the time from the first start to the last end on one engine,
	// the longest of them, and ToleranceNs what it may be wrong by. SpanNs is
	// nil when waves or the clock are missing, or other kernels ran beside.
	SpanNs      *float64
	ToleranceNs float64

	waveSizes []int64 // that the kernel can have, the likely one first
	// least and most are the shares of a device's workgroups that an engine
	// gets when they are dealt by its compute units.
	least, most float64
}

// ranOf counts the waves of kernel k of a trace; nil when occupancy.json does
// not tell them.
func ranOf(tt *trace.ThreadTrace, names []Names, k int, m *Machine) *Ran {
	o := tt.Occupancy
	if o == nil || len(o.Engines) == 0 {
		return nil
	}
	r := &Ran{Whole: o.Skipped == 0, waveSizes: m.waveSizes()}
	for _, e := range o.Engines {
		if e.Starts == 0 && e.Ends == 0 {
			continue // not recorded, or a grid of fewer workgroups than engines
		}
		r.Engines++
		r.Whole = r.Whole && e.Unmatched == 0 && e.Starts == e.Ends
	}
	started := slices.DeleteFunc(slices.Clone(o.Kernels), func(w trace.KernelWaves) bool { return w.Starts == 0 })
	alone := len(names) == 1 && len(started) == 1
	for _, w := range started {
		if alone || NamesOf(w.Name, w.Name).Same(names[k]) {
			r.Waves += w.Starts
		}
	}
	if r.Waves == 0 {
		return nil
	}
	r.engines(m)
	if r.Waves == o.Starts() && r.Whole {
		r.span(o, tt.Clocks)
	}
	return r
}

// engines takes in how many shader engines the device has, and how unlike they
// are. All compute units of an engine but the disabled ones work, so that on a
// device with a mean of 9.5 an engine has at most 10, and no fewer than are
// left when the others of its die have that many.
func (r *Ran) engines(m *Machine) {
	engines, ok := m.Number(FactEngines)
	if !ok || engines.Number < float64(r.Engines) {
		return
	}
	r.OfEngines = int(engines.Number)
	r.least, r.most = 1/engines.Number, 1/engines.Number
	cus, ok := m.Number(FactCU)
	if !ok || math.Mod(cus.Number, engines.Number) == 0 {
		return
	}
	dies := 1.0
	if xcc, ok := m.Number(FactXCC); ok && xcc.Number > 0 {
		dies = xcc.Number
	}
	most := math.Ceil(cus.Number / engines.Number)
	r.most = most / cus.Number
	r.least = max(0, cus.Number/dies-(engines.Number/dies-1)*most) / cus.Number
}

// span measures the time in which the waves ran. Both points of an engine's
// clock are read to one tick, so that its rate is off by up to two; the
// timestamps that it is held against are of the same real-time clock.
func (r *Ran) span(o *trace.Occupancy, clocks *trace.Clocks) {
	if clocks == nil {
		return
	}
	for _, e := range o.Engines {
		i := slices.IndexFunc(clocks.Engines, func(c trace.EngineClock) bool { return c.SE == e.SE })
		if i < 0 || e.Last <= e.First {
			continue
		}
		c := clocks.Engines[i]
		hz, ok := clocks.GfxHz(c)
		if !ok {
			continue
		}
		ns := float64(e.Last-e.First) / hz * 1e9
		if r.SpanNs == nil || ns > *r.SpanNs {
			ticks := float64(c.Points[len(c.Points)-1].Real - c.Points[0].Real)
			r.SpanNs, r.ToleranceNs = &ns, 2*ns/ticks+2e9/float64(clocks.RealHz)
		}
	}
}

// InDispatch is the number of waves of the whole launch: those of the traced
// engines, times the engines of the device over those traced. It is exact when
// all are traced, else it is off by less than a workgroup an engine. ok is false
// when the device's engines are not known, or waves were lost.
func (r *Ran) InDispatch() (n int64, ok bool) {
	if r == nil || r.OfEngines == 0 || !r.Whole {
		return 0, false
	}
	return int64(math.Round(float64(r.Waves) * float64(r.OfEngines) / float64(r.Engines))), true
}

// dealt is the number of workgroups of a grid that the traced engines get, at
// least and at most: they are dealt out in turn, each to one engine, so that an
// engine gets its share rounded down or up.
func (r *Ran) dealt(groups int64) (least, most int64) {
	if r.OfEngines == r.Engines {
		return groups, groups
	}
	n := int64(r.Engines)
	if r.OfEngines == 0 {
		return 0, groups
	}
	if r.least == r.most {
		of := int64(r.OfEngines)
		return n * (groups / of), min(groups, n*((groups-1)/of+1))
	}
	return n * int64(math.Floor(float64(groups)*r.least)), min(groups, n*int64(math.Ceil(float64(groups)*r.most)))
}

// is reports whether a launch can be the one that ran: see has.
func (r *Ran) is(l *trace.Launch) (fits, known bool) {
	groups, ok := l.Workgroups()
	size, ok2 := l.WorkgroupSize()
	if !ok || !ok2 {
		return true, false
	}
	return r.has(groups, size)
}

// has reports whether a number of workgroups of a size can be the launch that
// ran: the traced engines started the waves that they get of it, of one of the
// wave sizes. Where waves were lost, fewer are no contradiction; where nothing
// tells the waves of one of the two, known is false.
func (r *Ran) has(groups, size int64) (fits, known bool) {
	if r == nil || len(r.waveSizes) == 0 {
		return true, false
	}
	least, most := r.dealt(groups)
	for _, wave := range r.waveSizes {
		perGroup := (size-1)/wave + 1
		if groups > math.MaxInt64/perGroup {
			return true, false
		}
		if r.Waves <= most*perGroup && (!r.Whole || r.Waves >= least*perGroup && r.Waves%perGroup == 0) {
			return true, r.Whole && r.OfEngines > 0
		}
	}
	return false, true
}

// ranWithin reports whether the waves can have run within a time.
func (r *Ran) ranWithin(ns int64) bool {
	return r == nil || r.SpanNs == nil || *r.SpanNs <= float64(ns)+r.ToleranceNs
}

func wavesPerGroup(l *trace.Launch, wave int64) (n int64, ok bool) {
	size, ok := l.WorkgroupSize()
	if !ok || wave <= 0 {
		return 0, false
	}
	return (size-1)/wave + 1, true
}

// outlier is how many times the median a call takes that is not taken for one
// of its kind: launches of one shape vary by less when nothing disturbs them.
const outlier = 1.5

// time is how long the launch of a row took, and why it is not just the row's
// own time: a row of another run has the dispatch id and the shape as well.
func (r *Ran) time(l *trace.Launch) (t *Time, why string) {
	own, ok := l.DurationNs()
	median := r.median(l)
	switch {
	case !ok:
		return nil, ""
	case !r.ranWithin(own):
		why = fmt.Sprintf("its waves ran %s, its row says %s: it is of another run", micro(*r.SpanNs), micro(float64(own)))
		if median == nil {
			return nil, why + "; its shape is used, its times are not"
		}
		return median, why + "; its shape is used, and the " + median.medianText()
	case l.Calls == nil || l.Calls.Timed < fewCalls || float64(own) <= outlier*float64(l.Calls.MedianNs) && float64(l.Calls.MedianNs) <= outlier*float64(own):
		return &Time{Ns: own}, ""
	}
	why = fmt.Sprintf("this call took %.1f times the median of %d of its shape (%s, not %s)", float64(own)/float64(l.Calls.MedianNs), l.Calls.Timed,
		micro(float64(own)), micro(float64(l.Calls.MedianNs)))
	if r != nil && r.SpanNs != nil {
		why += fmt.Sprintf(", its waves ran %s", micro(*r.SpanNs))
	}
	if median == nil || own < median.Ns {
		return &Time{Ns: own}, why + "; its own time is used"
	}
	return median, why + "; the median is used"
}

// fewCalls are too few to say what is usual.
const fewCalls = 3

// median is the usual time of the calls of a row's shape; nil where there is
// none, or the traced waves ran longer.
func (r *Ran) median(l *trace.Launch) *Time {
	if l.Calls == nil || !r.ranWithin(l.Calls.MedianNs) {
		return nil
	}
	return &Time{Ns: l.Calls.MedianNs, Calls: l.Calls.Timed}
}

func (t *Time) medianText() string {
	return fmt.Sprintf("median of %s of that shape, %s, is its time", calls(t.Calls), micro(float64(t.Ns)))
}

func calls(n int64) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", n)
}

func micro(ns float64) string { return fmt.Sprintf("%.2f us", ns/1000) }

// unlike says with both numbers why a row is not of the launch that ran.
func (r *Ran) unlike(l *trace.Launch) string {
	perGroup, _ := wavesPerGroup(l, r.waveSizes[0])
	groups, _ := l.Workgroups()
	least, most := r.dealt(groups)
	share := fmt.Sprintf("%d", most*perGroup)
	if least < most {
		share = fmt.Sprintf("%d to %d", least*perGroup, most*perGroup)
	}
	of := fmt.Sprintf("%d shader engines", r.Engines)
	if r.OfEngines > 0 {
		of = fmt.Sprintf("%d of %d shader engines", r.Engines, r.OfEngines)
	}
	return fmt.Sprintf("it is of another launch: its grid has %d workgroups of %d waves, which gives %s %s waves; %d started there (occupancy.json)",
		groups, perGroup, of, share, r.Waves)
}
