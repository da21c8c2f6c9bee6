package kernels

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// countedRun makes a list of dispatches of the times that a run under a counter
// profiler has, nil where it has none. Each pass launches the same dispatches
// again: of processes that counted different things the first counts, those that
// counted the same are side by side.
func countedRun(ctx context.Context, workers int, c *trace.CounterRun) (*trace.Run, error) {
	out := &trace.Run{Path: c.Path, Kind: "counters", HasCounters: true}
	nodes := map[string]int64{}
	for _, a := range c.Agents {
		out.Agents = append(out.Agents, a.Agent)
		for _, name := range a.Names {
			nodes[name] = a.NodeID
		}
	}
	list := &countedDispatches{}
	var counted string
	kernels := map[string]int64{}
	for _, source := range c.Sources {
		var parts []*timesFolder
		report, err := source.Fold(ctx, workers, func() trace.CounterFolder {
			parts = append(parts, &timesFolder{})
			return parts[len(parts)-1]
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		list.notes = append(list.notes, report.Notes...)
		if err != nil {
			list.notes = append(list.notes, trace.Note{Level: trace.Damage, File: c.Path, Text: err.Error()})
		}
		for _, u := range unitsOf(parts) {
			what := strings.Join(slices.Sorted(maps.Keys(u.counters)), ",")
			if counted == "" {
				counted = what
			}
			if what != counted {
				continue
			}
			for _, t := range u.dispatches() {
				id, ok := kernels[t.kernel]
				if !ok {
					id = int64(len(kernels))
					kernels[t.kernel] = id
					out.Kernels = append(out.Kernels, trace.RunKernel{ID: id, Name: t.kernel})
				}
				list.each = append(list.each, t.dispatch(id, nodes))
			}
		}
	}
	if len(list.each) == 0 {
		return nil, nil
	}
	out.Dispatches = list
	return out, nil
}

// timesFolder keeps the times of dispatches by the process that launched them in
// one pass.
type timesFolder struct{ units map[unitKey]*unit }

type unitKey struct {
	pass, process string
	replay        int
}

type unit struct {
	key      unitKey
	counters map[string]bool
	times    map[timesKey]countedTime
}

// timesKey is a dispatch: its number, or its place where it has none.
type timesKey struct {
	id, order int64
	agent     string
}

type countedTime struct {
	kernel, agent string
	id, order     int64
	start, end    int64
}

// Dispatch keeps the times of a dispatch, of which the rows come in pieces.
func (f *timesFolder) Dispatch(d *trace.CounterDispatch) {
	if f.units == nil {
		f.units = map[unitKey]*unit{}
	}
	key := unitKey{d.Pass, d.Process, d.Replay}
	u := f.units[key]
	if u == nil {
		u = &unit{key, map[string]bool{}, map[timesKey]countedTime{}}
		f.units[key] = u
	}
	for i := range d.Values {
		u.counters[d.Values[i].Counter] = true
	}
	if _, ok := d.DurationNs(); !ok {
		return
	}
	k := timesKey{id: d.ID, agent: d.Agent}
	if d.ID < 0 {
		k.order = d.Order
	}
	if old, ok := u.times[k]; !ok || d.Order < old.order {
		u.times[k] = countedTime{d.Kernel, d.Agent, d.ID, d.Order, d.StartNs, d.EndNs}
	}
}

// unitsOf joins what the workers kept, in a fixed order.
func unitsOf(parts []*timesFolder) []*unit {
	all := map[unitKey]*unit{}
	for _, p := range parts {
		for key, u := range p.units {
			old := all[key]
			if old == nil {
				all[key] = u
				continue
			}
			maps.Copy(old.counters, u.counters)
			for k, t := range u.times {
				if o, ok := old.times[k]; !ok || t.order < o.order {
					old.times[k] = t
				}
			}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *unit) int {
		if c := strings.Compare(a.key.pass, b.key.pass); c != 0 {
			return c
		}
		if c := a.key.replay - b.key.replay; c != 0 {
			return c
		}
		return strings.Compare(a.key.process, b.key.process)
	})
}

// dispatches lists those with times as they came.
func (u *unit) dispatches() []countedTime {
	return slices.SortedFunc(maps.Values(u.times), func(a, b countedTime) int { return int(min(max(a.order-b.order, -1), 1)) })
}

// dispatch makes a dispatch of the times; the shape's extents are not known.
func (t countedTime) dispatch(kernel int64, nodes map[string]int64) trace.Dispatch {
	const a = trace.Absent
	node, ok := nodes[t.agent]
	if !ok {
		node = a
		if n, err := strconv.ParseInt(strings.TrimLeft(t.agent, "AgentGPU -"), 10, 64); err == nil {
			node = n
		}
	}
	return trace.Dispatch{
		ID: t.id, Kernel: kernel, Agent: node, Queue: a, Stream: a, Start: t.start, End: t.end, LDSBytes: a, ScratchBytes: a,
		Workgroup: [3]int64{a, a, a}, Grid: [3]int64{a, a, a},
	}
}

// countedDispatches are dispatches that were read already.
type countedDispatches struct {
	each  []trace.Dispatch
	notes []trace.Note
}

// Fold hands all dispatches to one folder.
func (c *countedDispatches) Fold(ctx context.Context, _ int, newFolder func() trace.DispatchFolder) (trace.DispatchReport, error) {
	f := newFolder()
	for i := range c.each {
		if i&0xffff == 0 && ctx.Err() != nil {
			return trace.DispatchReport{}, ctx.Err()
		}
		d := c.each[i]
		f.Dispatch(&d)
	}
	return trace.DispatchReport{Rows: int64(len(c.each)), Notes: c.notes}, nil
}
