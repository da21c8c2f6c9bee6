package regime

import (
	"cmp"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/balance"
	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/hotspots"
	"github.com/rocanalyze/rocanalyze/analyzers/occupancy"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
)

// joiner gathers the captures of each kernel.
type joiner struct {
	p       *analysis.Pass
	kernels []*Kernel
	// named are indices of kernels by capture.Names.Keys.
	named map[string][]int
}

// kernel returns the joined kernel of a name and shape: the same kernel by its
// names, and no launch figure that both know and that differs.
func (j *joiner) kernel(names capture.Names, s Shape) *Kernel {
	if k := j.find(names, s); k != nil {
		k.Shape.Take(s)
		if k.Symbol == "" {
			k.Symbol, k.Names.Symbol, k.Names.Demangled = names.Symbol, names.Symbol, names.Demangled
			j.index(slices.Index(j.kernels, k))
		}
		return k
	}
	k := &Kernel{Name: names.Shown(), Symbol: names.Symbol, Names: names, Shape: s}
	j.kernels = append(j.kernels, k)
	j.index(len(j.kernels) - 1)
	return k
}

// index makes a kernel known by its names.
func (j *joiner) index(i int) {
	for _, key := range j.kernels[i].Names.Keys() {
		if !slices.Contains(j.named[key], i) {
			j.named[key] = append(j.named[key], i)
		}
	}
}

// find is kernel without making one; nil when there is none.
func (j *joiner) find(names capture.Names, s Shape) *Kernel {
	first := len(j.kernels)
	for _, key := range names.Keys() {
		for _, i := range j.named[key] {
			if k := j.kernels[i]; i < first && k.Names.Same(names) && k.Shape.Fits(s) {
				first = i
			}
		}
	}
	if first == len(j.kernels) {
		return nil
	}
	return j.kernels[first]
}

// threadTraces adds every kernel of every thread trace.
func (j *joiner) threadTraces() {
	hot, occ := hotspots.Analyzer.Of(j.p), occupancy.Analyzer.Of(j.p)
	for _, tt := range j.p.Trace.ThreadTraces {
		for k := range tt.Kernels {
			h := hot.Kernel(tt, k)
			if h == nil {
				continue
			}
			m := &TraceMeasure{Trace: tt, Kernel: k, Hot: h, Occupancy: occ.Traced(tt, k), Gates: trust.Analyzer.Of(j.p, tt).Kernels[k].Gates, Others: trust.Analyzer.Of(j.p, tt).Kernels[k].Others}
			m.Resolved = j.p.Capture.Trace(tt)
			m.Device, m.DeviceSource, m.Assumed = m.Resolved.Device, m.Resolved.DeviceSource, m.Resolved.Assumed
			m.clock()
			m.bytes(tt, code.Analyzer.Of(j.p, tt), replay.Analyzer.Of(j.p, tt), 1000*j.p.Param(paramOverhead))
			m.Balance = balance.Analyzer.Of(j.p, tt)
			m.SIMDs = replay.Analyzer.Of(j.p, tt).SIMDs
			m.Lost = trust.Analyzer.Of(j.p, tt).Lost
			m.fill()
			m.HasMatrix = h.Coverage.MFMAExecuted > 0
			j.addTrace(m)
		}
	}
}

// launches adds what kernel traces and code objects say about the occupancy of
// kernels that were not traced. They become kernels of their own only where nothing else is
// known: a kernel trace beside a thread trace lists the whole application.
func (j *joiner) launches() {
	occ := occupancy.Analyzer.Of(j.p)
	alone := len(j.kernels) == 0
	for i := range occ.Kernels {
		o := &occ.Kernels[i]
		if o.Source.Kind == "thread_trace" || o.Source.Kind == "kernel_trace" && o.Launch == nil {
			continue
		}
		var s Shape
		if o.Launch != nil {
			s = Shape{Workgroup: product(o.Launch.Workgroup), Grid: product(o.Launch.WorkItems), Workgroups: o.Launch.Groups}
		}
		names := capture.NamesOf(o.Symbol, o.Name)
		k := j.find(names, s)
		if k == nil && alone {
			k = j.kernel(names, s)
		}
		if k == nil || len(k.Traces) > 0 || k.Static != nil {
			continue
		}
		k.Shape.Take(s)
		k.Static = o
		k.Arch, k.Device, k.GPU = o.Arch, o.Device, o.GPU
		k.Sources = append(k.Sources, Source{Kind: o.Source.Kind, Path: o.Source.Path})
	}
}

// order puts the kernels that took the most time first. Where some have no
// time, those with a verdict come before those without.
func (j *joiner) order() {
	timed := !slices.ContainsFunc(j.kernels, func(k *Kernel) bool { return k.Time == nil })
	slices.SortStableFunc(j.kernels, func(a, b *Kernel) int {
		byTime := cmp.Compare(totalNs(b), totalNs(a))
		if timed {
			return byTime
		}
		return cmp.Or(cmp.Compare(undecided(a), undecided(b)), byTime)
	})
}

func totalNs(k *Kernel) int64 {
	if k.Time == nil {
		return 0
	}
	return k.Time.TotalNs
}

func undecided(k *Kernel) int {
	if k.Regime == Inconclusive {
		return 1
	}
	return 0
}

func (j *joiner) addTrace(m *TraceMeasure) {
	h := m.Hot
	traced := &m.Resolved.Kernels[m.Kernel]
	shape := shapeOf(h.Launch)
	shape.Ran = traced.Ran
	k := j.kernel(traced.Names, shape)
	for i, o := range k.Traces {
		if o.Hot.Path != h.Path {
			continue
		}
		// Another code object's kernel of the same name: the one that ran counts.
		if cmp.Or(cmp.Compare(m.worth(), o.worth()), cmp.Compare(h.Totals.LatencyCycles, o.Hot.Totals.LatencyCycles)) > 0 {
			k.Traces[i] = m
		}
		return
	}
	k.Traces = append(k.Traces, m)
	k.Sources = append(k.Sources, Source{Kind: "thread_trace", Path: h.Path, DispatchID: h.Dispatch})
	if k.Arch == "" {
		k.Arch, k.GPU = string(h.Arch.Target), m.Resolved.Machine
	}
	if k.Device == "" && m.Device != nil {
		k.Device = m.Device.Name
	}
}

// clock takes the clock of the trace; without one the device's highest, which
// makes the memory's share per clock the smallest.
func (m *TraceMeasure) clock() {
	switch {
	case m.Hot.Machine.ClockMHz != nil:
		m.ClockMHz = *m.Hot.Machine.ClockMHz
	case m.Device != nil:
		m.ClockMHz = m.Device.MaxMHz
	}
}

func shapeOf(l *hotspots.Launch) Shape {
	var s Shape
	if l == nil {
		return s
	}
	s.Workgroup, s.Grid = product(l.Workgroup), product(l.Grid)
	if l.Workgroups != nil {
		s.Workgroups = *l.Workgroups
	}
	return s
}

// product multiplies extents; 0 when there are none or they do not fit.
func product(v []int64) int64 {
	if len(v) == 0 {
		return 0
	}
	n := int64(1)
	for _, x := range v {
		if x <= 0 || x > 1<<62/n {
			return 0
		}
		n *= x
	}
	return n
}
