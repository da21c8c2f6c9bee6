package counters

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/gpu"
)

// duration is the name under which formulas find the dispatch's duration.
const duration = "DURATION_NS"

// gx is the name of busy cycles per die.
const gx = "GX"

// compiled is a metric with its formulas parsed.
type compiled struct {
	Metric
	formulas []compiledFormula
	// cap is Metric.Cap, nil without one.
	cap *compiledFormula
}

type compiledFormula struct {
	Formula
	// expr, or low and high.
	expr, low, high *expr
	// counters are what has to be measured, facts what has to be known.
	counters, facts []string
}

// compile parses the catalogue.
func compile() ([]compiled, error) {
	var out []compiled
	for _, m := range Catalogue() {
		c := compiled{Metric: m}
		for _, f := range m.Formulas {
			cf, err := f.compile()
			if err != nil {
				return nil, fmt.Errorf("metric %s: %w", m.ID, err)
			}
			c.formulas = append(c.formulas, cf)
		}
		if m.Cap != "" {
			cf, err := Formula{Expr: m.Cap}.compile()
			if err != nil {
				return nil, fmt.Errorf("metric %s: %w", m.ID, err)
			}
			c.cap = &cf
		}
		out = append(out, c)
	}
	return out, nil
}

// compile parses a formula.
func (f Formula) compile() (compiledFormula, error) {
	cf := compiledFormula{Formula: f}
	var names []string
	for _, part := range []struct {
		text string
		to   **expr
	}{{f.Expr, &cf.expr}, {f.Low, &cf.low}, {f.High, &cf.high}} {
		if part.text == "" {
			continue
		}
		e, err := parse(part.text)
		if err != nil {
			return cf, err
		}
		*part.to = e
		names = append(names, e.names()...)
	}
	cf.counters, cf.facts = split(names)
	return cf, nil
}

// split tells the counters of a formula from its facts.
func split(all []string) (counters, facts []string) {
	for _, n := range all {
		switch {
		case n == gx:
			counters, facts = add(counters, "GRBM_GUI_ACTIVE"), add(facts, "XCC")
		case n == duration || !slices.Contains(factNames[:], n):
			counters = add(counters, n)
		default:
			facts = add(facts, n)
		}
	}
	return counters, facts
}

func add(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// sums are the counters of the dispatches that have the same set of them.
type sums struct {
	counters   []int32
	values     []float64
	dispatches int64
	timed      int64
	ns         float64
	// chosen are the formulas of single dispatches, once they were asked for.
	chosen []*compiledFormula
}

// sample are the means per dispatch over the dispatches that have some
// counters.
type sample struct {
	values     map[string]float64
	dispatches int64
}

// lookup finds names in a sample and the machine's facts.
func (s *sample) lookup(m *Machine) func(string) (float64, bool) {
	return func(name string) (float64, bool) {
		if name == gx {
			active, ok := s.values["GRBM_GUI_ACTIVE"]
			xcc, known := m.Facts["XCC"]
			return active / xcc.Value, ok && known
		}
		if v, ok := s.values[name]; ok {
			return v, true
		}
		f, ok := m.Facts[name]
		return f.Value, ok
	}
}

// evaluator computes the metrics of one kernel.
type evaluator struct {
	m       *Machine
	format  string
	k       *Kernel
	spell   func(canonical string) string
	samples func(counters []string) sample
}

// fits reports whether a formula holds for the format and on all architectures
// that the GPU can be.
func (f *compiledFormula) fits(archs []string, format string) bool {
	if len(f.Formats) > 0 && !slices.Contains(f.Formats, format) {
		return false
	}
	if len(f.Archs) == 0 {
		return true
	}
	for _, a := range archs {
		if !slices.Contains(f.Archs, a) {
			return false
		}
	}
	return len(archs) > 0
}

// choose finds the formula of a metric: the first for the GPU whose counters
// are all there. Without one it says which came closest.
func (e *evaluator) choose(m *compiled) (chosen *compiledFormula, absent Absence) {
	absent.ID = m.ID
	best, ask := -1, false
	for i := range m.formulas {
		f := &m.formulas[i]
		if !f.fits(e.m.Archs, e.format) {
			continue
		}
		missing := e.missing(f)
		if len(missing) == 0 {
			return f, absent
		}
		// Counters come before the profiler's own figures, exact values before
		// ranges.
		can := f.expr != nil && !slices.ContainsFunc(missing, func(c string) bool { return !measurable(c) })
		if best < 0 || can && !ask || can == ask && len(missing) < len(absent.Counters) {
			best, ask, absent.Counters = i, can, missing
		}
	}
	switch {
	case best >= 0:
		absent.Reason = "not counted: " + strings.Join(absent.Counters, ", ")
	case len(e.m.Archs) > 1:
		absent.Reason = "the architecture is not known well enough (" + e.m.ArchSource + ")"
	default:
		absent.Reason = "no formula for " + strings.Join(e.m.Archs, ", ")
	}
	return nil, absent
}

// metric computes one metric; without a value it says why.
func (e *evaluator) metric(m *compiled) {
	f, absent := e.choose(m)
	if f == nil {
		e.k.Absent = append(e.k.Absent, absent)
		return
	}
	if reason := e.value(m, f); reason != "" {
		e.k.Absent = append(e.k.Absent, Absence{ID: m.ID, Reason: reason})
	}
}

// missing lists the counters of a formula that no dispatch has, as the
// profiler takes them.
func (e *evaluator) missing(f *compiledFormula) []string {
	var out []string
	for _, c := range f.counters {
		if !e.k.has[c] {
			out = append(out, e.spell(c))
		}
	}
	return out
}

// value computes a metric whose counters are all there; it returns why there
// is no value.
func (e *evaluator) value(m *compiled, f *compiledFormula) (reason string) {
	for _, fact := range f.facts {
		if _, ok := e.m.Facts[fact]; !ok {
			return factTitle(fact) + " not known: give --device, or the agent_info.csv or sysinfo.csv beside the counters"
		}
	}
	s := e.samples(f.counters)
	if s.dispatches == 0 {
		return "no dispatch has all of its counters: the passes do not hold the same dispatches"
	}
	v := Value{Unit: m.Unit, Note: f.Note}
	if s.dispatches != e.k.Dispatches-int64(len(e.k.Outliers)) {
		v.Dispatches = s.dispatches
	}
	lookup := s.lookup(e.m)
	if f.expr == nil {
		return e.between(m, f, &v, lookup)
	}
	x, reason := f.expr.eval(lookup)
	if reason != "" {
		return reason
	}
	v.Source = f.Expr
	e.judge(m, &v, x)
	e.k.Metrics[m.ID] = v
	return ""
}

func factTitle(fact string) string {
	return map[string]string{
		"XCC": "number of dies (XCC)", "CU": "number of CUs", "SIMD": "SIMDs per CU", "L2_CHANNELS": "number of L2 channels",
		"LDS_BANKS": "LDS banks", "CLOCK_MHZ": "clock",
	}[fact]
}

func (e *evaluator) between(m *compiled, f *compiledFormula, v *Value, lookup func(string) (float64, bool)) (reason string) {
	low, reason := f.low.eval(lookup)
	if reason != "" {
		return reason
	}
	high, reason := f.high.eval(lookup)
	if reason != "" {
		return reason
	}
	v.Source = f.Low + " to " + f.High
	if m.Max > 0 {
		high = min(high, max(low, m.Max)) // what is above the greatest value cannot be
	}
	high = e.capped(m, v, low, high)
	switch {
	case low < 0 || high < low:
		v.Computed = &low
		e.note("impossible:"+m.ID, fmt.Sprintf("%s: %g to %g %s cannot be right: %s", m.Title, low, high, m.Unit, m.Over))
	case low == high: // nothing to tell apart: no request of unknown size
		v.Value, v.Note = &low, ""
		e.compare(m, v, low)
	default:
		v.Range, v.ForExact = &Range{low, high}, e.forExact(m)
		e.compare(m, v, low)
		e.narrow(m, v)
	}
	e.k.Metrics[m.ID] = *v
	return ""
}

// narrow cuts the part of a range that is above the peak.
func (e *evaluator) narrow(m *compiled, v *Value) {
	if v.Range == nil || v.Peak == nil || v.Range.High <= v.Peak.Value {
		return
	}
	text := fmt.Sprintf("up to %.4g %s by the counters, %.0f %% of the peak, which cannot be: the upper end is the peak", v.Range.High, m.Unit, 100*v.Range.High/v.Peak.Value)
	v.Computed = new(v.Range.High)
	v.Range = &Range{v.Range.Low, v.Peak.Value}
	v.Note = strings.TrimPrefix(v.Note+"; "+text, "; ")
	e.note("narrowed:"+m.ID, m.Title+": "+text)
}

// limit is the cap of a metric, false where it has none or its counters are not
// there.
func (e *evaluator) limit(m *compiled) (float64, bool) {
	if m.cap == nil || len(e.missing(m.cap)) > 0 {
		return 0, false
	}
	s := e.samples(m.cap.counters)
	if s.dispatches == 0 {
		return 0, false
	}
	x, absent := m.cap.expr.eval(s.lookup(e.m))
	return x, absent == "" && x > 0
}

// capped is the upper end of a range, no more than the cap.
func (e *evaluator) capped(m *compiled, v *Value, low, high float64) float64 {
	limit, ok := e.limit(m)
	if !ok || high <= limit || low > limit {
		return high
	}
	v.Computed, v.Note = &high, strings.TrimPrefix(v.Note+"; "+e.capText(m, high, limit), "; ")
	return limit
}

// overCap makes a range of a value that is above the cap; it reports whether it
// was.
func (e *evaluator) overCap(m *compiled, v *Value, x float64) bool {
	limit, ok := e.limit(m)
	if !ok || x <= limit*tolerated {
		return false
	}
	text := e.capText(m, x, limit)
	if m.Nominal {
		v.Note = strings.TrimPrefix(v.Note+"; "+text, "; ")
		return false
	}
	v.Computed, v.Range, v.Note = &x, &Range{0, limit}, text
	e.note("over_cap:"+m.ID, m.Title+": "+text)
	v.Peak = e.m.peak(m.Peak)
	e.narrow(m, v)
	return true
}

func (e *evaluator) capText(m *compiled, x, limit float64) string {
	return fmt.Sprintf("%s by the counters, but the instructions can move no more than %s: %s", Figure(x, m.Unit), Figure(limit, m.Unit), m.OverCap)
}

// forExact are the counters that the first exact formula lacks.
func (e *evaluator) forExact(m *compiled) []string {
	for i := range m.formulas {
		if f := &m.formulas[i]; f.expr != nil && f.fits(e.m.Archs, e.format) {
			return e.missing(f)
		}
	}
	return nil
}

// tolerated is how far above its greatest value a share may lie when its parts
// come from different passes: it is then shown as that value, with a note.
const tolerated = 1.01

// bound returns a value as it may be shown: shares that are a little out of
// bounds at the bound. ok is false when it cannot be right.
func (m *Metric) bound(x float64) (shown float64, ok bool) {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return 0, false
	case m.Max > 0 && x > m.Max:
		return m.Max, x <= m.Max*tolerated
	case x < 0:
		return 0, m.Max > 0 && x >= -m.Max*(tolerated-1)
	}
	return x, true
}

// judge takes a value, unless it cannot be right.
func (e *evaluator) judge(m *compiled, v *Value, x float64) {
	shown, ok := m.bound(x)
	why := cmp.Or(m.Over, overPasses)
	switch {
	case !ok:
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			v.Computed = &x
		}
		v.Note = "cannot be right: " + why
		e.note("impossible:"+m.ID, fmt.Sprintf("%s: %.4g %s cannot be right: %s", m.Title, x, m.Unit, why))
	case math.Abs(shown-x) > 1e-9*m.Max:
		v.Computed, v.Value = &x, &shown
		v.Note = fmt.Sprintf("%.4g computed: %s", x, why)
		e.note("clamped:"+m.ID, fmt.Sprintf("%s: %.4f %s computed, shown as %g: %s", m.Title, x, m.Unit, shown, why))
	case e.overCap(m, v, x):
	default:
		v.Value = &shown
		e.compare(m, v, shown)
	}
}

// peak is the ceiling of a metric on a machine, nil when there is none.
func (m *Machine) peak(name string) *gpu.Peak {
	peaks := map[string]*gpu.Peak{"memory": m.Memory, "l2": m.L2, "lds": m.LDS}
	if p := peaks[name]; p != nil && p.Value > 0 {
		return p
	}
	return nil
}

// compare sets a value beside its peak.
func (e *evaluator) compare(m *compiled, v *Value, x float64) {
	v.Peak = e.m.peak(m.Peak)
	if v.Peak == nil {
		return
	}
	pct := 100 * x / v.Peak.Value
	v.PctOfPeak = &pct
	if pct > 100 {
		v.Computed, v.Value, v.Range, v.PctOfPeak = &x, nil, nil, nil
		v.Note = fmt.Sprintf("cannot be right (%.1f %% of the peak): %s", pct, m.Over)
		e.note("impossible:"+m.ID, fmt.Sprintf("%s: %.4g %s is %.1f %% of the peak of %.4g (%s): %s", m.Title, x, m.Unit, pct, v.Peak.Value, v.Peak.Source, m.Over))
	}
}

func (e *evaluator) note(id, text string) { e.k.Notes = append(e.k.Notes, Note{ID: id, Text: text}) }
