// Package kernels is the analyzer that says which kernels a run spends its GPU
// time in, how much their calls vary, and how busy they keep the GPUs.
package kernels

import (
	_ "embed"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// Names of the parameters.
const (
	paramBy       = "by"
	paramSort     = "sort"
	paramSince    = "since_ns"
	paramUntil    = "until_ns"
	paramSincePct = "since_pct"
	paramUntilPct = "until_pct"
	paramCounted  = "of_counters"
)

// Analyzer returns a *Result.
var Analyzer = analysis.New(analysis.Analyzer{
	Name: "kernels",
	Doc:  doc,
	Params: []analysis.Param{
		{Name: paramBy, Doc: "what a row stands for: 0 kernel, 1 shape, 2 agent, 3 process, 4 stream"},
		{Name: paramSort, Doc: "order of the rows: 0 total, 1 calls, 2 mean, 3 median, 4 p95, 5 min, 6 max, 7 cv, 8 name"},
		{Name: paramSince, Default: -1, Unit: "ns", Doc: "only dispatches that start at this time of the run's clock or later; -1 is no limit"},
		{Name: paramUntil, Default: -1, Unit: "ns", Doc: "only dispatches that start before this time; -1 is no limit"},
		{Name: paramSincePct, Default: -1, Unit: "%", Doc: "the same as a share of the time from a run's first dispatch to the end of its last; -1 is no limit"},
		{Name: paramUntilPct, Default: -1, Unit: "%", Doc: "likewise"},
		{Name: paramCounted, Doc: "1 takes the times of counter tables where nothing else has any; else those of the counters themselves say as much"},
	},
}, run)

// Groupings are the values of by, in the order of the parameter's numbers.
var Groupings = []string{"kernel", "shape", "agent", "process", "stream"}

// Orders are the values of sort, in the order of the parameter's numbers.
var Orders = []string{"total", "calls", "mean", "median", "p95", "min", "max", "cv", "name"}

func run(p *analysis.Pass) (*Result, error) {
	b := newBuilder(p)
	// Of a run that came in several forms the first counts: the one that says
	// most.
	for _, kind := range []string{"rocpd", "rpd", "kernel_trace", "rocprof_db", "results_json"} {
		for i, r := range p.Trace.Runs {
			if r.Kind != kind {
				continue
			}
			if err := b.run(i, r); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range p.Trace.KernelStats {
		b.stats(s)
	}
	if p.Param(paramCounted) != 0 && len(p.Trace.Runs)+len(p.Trace.KernelStats) == 0 {
		if err := b.counted(); err != nil {
			return nil, err
		}
	}
	return b.result(), nil
}

// counted adds the runs under a counter profiler.
func (b *builder) counted() error {
	for i, c := range b.p.Trace.CounterRuns {
		r, err := countedRun(b.p.Context, b.p.Workers, c)
		if err != nil {
			return err
		}
		if r == nil {
			continue
		}
		if err := b.run(i, r); err != nil {
			return err
		}
	}
	return nil
}

// runtimePrefixes begin the names of kernels that the runtime launches by
// itself, for hipMemset, hipMemcpy and the like. Source: ROCm clr,
// rocclr/device/blitcl.cpp.
var runtimePrefixes = []string{"__amd_rocclr_"}

// window is the part of a run that counts, by the start of its dispatches.
type window struct{ since, until int64 }

func (w window) holds(start int64) bool { return start >= w.since && start < w.until }

// whole is a window without limits.
func whole() window { return window{trace.Absent, 1<<63 - 1} }

// windowOf turns the parameters into times of one run.
func (b *builder) windowOf(r *trace.Run) (window, error) {
	w := whole()
	if v := b.p.Param(paramSince); v >= 0 {
		w.since = int64(v)
	}
	if v := b.p.Param(paramUntil); v >= 0 {
		w.until = int64(v)
	}
	since, until := b.p.Param(paramSincePct), b.p.Param(paramUntilPct)
	if since < 0 && until < 0 {
		return w, nil
	}
	span, err := b.spanOf(r)
	if err != nil || span.first == 0 {
		return w, err
	}
	at := func(pct float64) int64 { return span.first + int64(pct/100*float64(span.last-span.first)) }
	if since >= 0 {
		w.since = at(since)
	}
	if until >= 0 && until < 100 {
		w.until = at(until)
	}
	return w, nil
}

// windowed reports whether a part of the runs was asked for.
func (b *builder) windowed() bool {
	return slices.ContainsFunc([]string{paramSince, paramUntil, paramSincePct, paramUntilPct}, func(name string) bool { return b.p.Param(name) >= 0 })
}

// span is the time from the first start to the last end; first is 0 when there
// is none.
type span struct{ first, last int64 }

func (s *span) add(start, end int64) {
	if s.first == 0 || start < s.first {
		s.first = start
	}
	s.last = max(s.last, end)
}

func (s *span) merge(o span) {
	if o.first != 0 {
		s.add(o.first, o.last)
	}
}

// ns is the length of the span.
func (s span) ns() int64 { return s.last - s.first }

// spanFolder finds the span of a run.
type spanFolder struct{ span }

// Dispatch adds one dispatch whose times can be.
func (s *spanFolder) Dispatch(d *trace.Dispatch) {
	if _, ok := d.DurationNs(); ok {
		s.add(d.Start, d.End)
	}
}

func (b *builder) spanOf(r *trace.Run) (span, error) {
	var parts []*spanFolder
	_, err := r.Dispatches.Fold(b.p.Context, b.p.Workers, func() trace.DispatchFolder {
		parts = append(parts, &spanFolder{})
		return parts[len(parts)-1]
	})
	var out span
	for _, p := range parts {
		out.merge(p.span)
	}
	return out, err
}
