package regime

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/kernels"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Time is a kernel's share of the GPU time of the runs.
type Time struct {
	Calls    int64   `json:"calls"`
	TotalNs  int64   `json:"total_ns"`
	MeanNs   float64 `json:"mean_ns"`
	SharePct float64 `json:"share_pct"`
	// CumulativePct is the share of this kernel and all longer ones.
	CumulativePct float64 `json:"cumulative_pct"`
	// MaxSpeedup is Amdahl's bound on the summed kernel time when this kernel
	// takes none; absent when nothing else ran.
	MaxSpeedup *float64 `json:"max_speedup,omitempty"`
	// Serialised is set for times under a counter profiler, which runs one
	// dispatch after another.
	Serialised bool `json:"serialised,omitempty"`
	// Matters is set for the kernels that make up matters_pct of the time.
	Matters bool `json:"matters"`
}

// runs adds the kernels of databases and other lists of dispatches, by time. A
// kernel trace beside a thread trace only gives the traced kernels their time,
// and several of them, of different runs, not even that. known says that traces
// or counters tell of kernels.
func (j *joiner) runs(known bool) error {
	res := kernels.Analyzer.Of(j.p)
	if len(res.Rows()) == 0 {
		j.countedTimes()
		return nil
	}
	whole := !known || slices.ContainsFunc(res.Runs, func(r kernels.Run) bool { return r.Kind != "kernel_trace" })
	if !whole && len(res.Runs) > 1 {
		return nil
	}
	// A table of counters that has times is a list of dispatches as well.
	serialised := !slices.ContainsFunc(res.Runs, func(r kernels.Run) bool {
		return !r.Counters && !slices.ContainsFunc(j.p.Trace.CounterRuns, func(c *trace.CounterRun) bool { return c.Path == r.Path })
	})
	before := 0.0
	for i := range res.Kernels {
		r := &res.Kernels[i]
		shape := longest(r.Shapes)
		k := j.anyShape(r)
		if k == nil && !whole {
			before += r.SharePct
			continue
		}
		if k == nil {
			k = j.kernel(capture.NamesOf(r.Symbol, r.Name), shape)
		}
		if k.Time == nil {
			k.Time = &Time{}
			k.Sources = append(k.Sources, Source{Kind: "dispatches", Path: runPath(res)})
		}
		t := k.Time
		t.Serialised = serialised
		t.Matters = t.Matters || before < j.p.Param(paramMatters) && !r.Runtime
		before += r.SharePct
		t.Calls += r.Calls
		t.TotalNs += r.TotalNs
		t.SharePct += r.SharePct
		t.CumulativePct = before
		t.MeanNs = float64(t.TotalNs) / float64(max(t.Calls, 1))
		t.MaxSpeedup = r.MaxSpeedup
		if len(r.Agents) > 0 && k.Arch == "" {
			if err := j.ranOn(k, &r.Agents[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// countedTimes takes the times of the kernels from their counters, where no list
// of dispatches has them.
func (j *joiner) countedTimes() {
	var timed []*Kernel
	sum := 0.0
	for _, k := range j.kernels {
		t := &Time{Serialised: true}
		ns := 0.0
		for _, m := range k.Counted {
			if m.Counters.TotalNs != nil {
				t.Calls += m.Counters.Dispatches
				ns += *m.Counters.TotalNs
			}
		}
		if ns > 0 {
			t.TotalNs, t.MeanNs = int64(math.Round(ns)), ns/float64(t.Calls)
			k.Time = t
			timed = append(timed, k)
			sum += ns
		}
	}
	slices.SortStableFunc(timed, func(a, b *Kernel) int { return cmp.Compare(b.Time.TotalNs, a.Time.TotalNs) })
	before := 0.0
	for _, k := range timed {
		t := k.Time
		t.SharePct = 100 * float64(t.TotalNs) / sum
		t.Matters = before < j.p.Param(paramMatters)
		before += t.SharePct
		t.CumulativePct = before
		if rest := sum - float64(t.TotalNs); len(timed) > 1 && rest > 0 {
			t.MaxSpeedup = new(sum / rest)
		}
	}
}

// ranOn takes the GPU of a run's agent.
func (j *joiner) ranOn(k *Kernel, a *kernels.AgentOf) error {
	for _, r := range j.p.Trace.Runs {
		if a.ID == nil || r.Process.Host != a.Host || !slices.ContainsFunc(r.Agents, func(x trace.Agent) bool { return x.NodeID == *a.ID }) {
			continue
		}
		id := fmt.Sprint(*a.ID)
		ids := make([]string, len(r.Agents)) // the user may mean another one of them
		for i := range r.Agents {
			ids[i] = fmt.Sprint(r.Agents[i].NodeID)
		}
		found, err := j.p.Capture.Launched(r.Path, r.Agents, ids)
		if err != nil {
			return err
		}
		k.Arch, k.Device, k.GPU = string(found[id].Arch.Target), found[id].DeviceName(), found[id]
		return nil
	}
	return nil
}

// anyShape finds a kernel of one of the shapes of a row.
func (j *joiner) anyShape(r *kernels.Row) *Kernel {
	names := capture.NamesOf(r.Symbol, r.Name)
	for i := range r.Shapes {
		s := &r.Shapes[i]
		if k := j.find(names, Shape{Workgroup: product(s.Workgroup), Grid: product(s.Grid)}); k != nil {
			return k
		}
	}
	if len(r.Shapes) == 0 {
		return j.find(names, Shape{})
	}
	return nil
}

// runPath names the first source, and how many more there are.
func runPath(r *kernels.Result) string {
	switch n := len(r.Runs); n {
	case 0:
		return "statistics tables"
	case 1:
		return r.Runs[0].Path
	default:
		return fmt.Sprintf("%s and %d more", r.Runs[0].Path, n-1)
	}
}

// longest is the shape that took the most time.
func longest(shapes []kernels.Shape) Shape {
	var out Shape
	var most int64 = -1
	for i := range shapes {
		s := &shapes[i]
		if s.TotalNs <= most {
			continue
		}
		most = s.TotalNs
		out = Shape{Workgroup: product(s.Workgroup), Grid: product(s.Grid)}
		if s.Workgroups != nil {
			out.Workgroups = *s.Workgroups
		}
	}
	return out
}
