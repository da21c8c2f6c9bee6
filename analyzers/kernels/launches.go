package kernels

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// launchTable sums the dispatches of a run by launch: those of all kernels,
// without a time or outside of the window too, but no replays. Kernels that the
// run does not describe are left out.
func (r *runBuilder) launchTable(parts []*folder) *trace.LaunchTable {
	all := map[launch]*trace.LaunchSum{}
	add := func(l launch, s trace.LaunchSum) {
		l.queue, l.stream = 0, 0
		if all[l] == nil {
			all[l] = &trace.LaunchSum{}
		}
		addLaunches(all[l], &s)
	}
	for _, f := range parts {
		for l, s := range f.sums {
			add(l, trace.LaunchSum{Count: s.Count(), Timed: s.Count(), TotalNs: s.Sum(), MinNs: s.Min(), MaxNs: s.Max()})
		}
		for l, s := range f.others {
			add(l, *s)
		}
	}
	t := &trace.LaunchTable{Path: r.label(), Kind: r.run.Kind, LDSDispatched: true, Agents: r.run.Agents}
	keys := make([]launch, 0, len(all))
	for l := range all {
		keys = append(keys, l)
	}
	slices.SortFunc(keys, compareLaunches)
	for _, l := range keys {
		if k := r.kernels[l.kernel]; k != nil {
			s := all[l]
			s.Launch = launchOf(r.run.Path, k, l)
			t.Rows += s.Count
			t.Launches = append(t.Launches, *s)
		}
	}
	return t
}

func addLaunches(s, o *trace.LaunchSum) {
	if o.Timed > 0 && (s.Timed == 0 || o.MinNs < s.MinNs) {
		s.MinNs = o.MinNs
	}
	s.Count += o.Count
	s.Timed += o.Timed
	s.TotalNs += o.TotalNs
	s.MaxNs = max(s.MaxNs, o.MaxNs)
}

func compareLaunches(a, b launch) int {
	return cmp.Or(
		cmp.Compare(a.kernel, b.kernel), cmp.Compare(a.agent, b.agent),
		slices.Compare(a.grid[:], b.grid[:]), slices.Compare(a.workgroup[:], b.workgroup[:]),
		cmp.Compare(a.lds, b.lds), cmp.Compare(a.scratch, b.scratch),
	)
}

func launchOf(path string, k *trace.RunKernel, l launch) trace.Launch {
	return trace.Launch{
		Origin: trace.Origin{File: path}, AgentID: fmt.Sprintf("Agent %d", l.agent), Kernel: k.Name,
		LDSBytes: figure(l.lds), ScratchBytes: figure(l.scratch), VGPRs: k.VGPRs, AccumVGPRs: k.AccumVGPRs, SGPRs: k.SGPRs,
		Workgroup: told(l.workgroup), Grid: told(l.grid),
	}
}

// told is an extent of a launch, nil where the source does not tell them.
func told(v [3]int64) *[3]int64 {
	if v[0] == trace.Absent {
		return nil
	}
	return &v
}

// identity tells a run by its dispatches, whatever form they came in.
type identity struct {
	// rows are all dispatches, timed those with a start and an end; hash does
	// not depend on their order.
	rows, timed int64
	hash        uint64
}

// add takes in one dispatch.
func (i *identity) add(d *trace.Dispatch) {
	i.rows++
	start, end := max(d.Start, 0), max(d.End, 0)
	if start > 0 && end > 0 {
		i.timed++
	}
	h := mixed(uint64(max(d.ID, 0))) ^ uint64(start)
	i.hash += mixed(mixed(h) ^ uint64(end))
}

// mixed spreads the bits of a number. Source: the finalizer of SplitMix64
// (Steele, Lea and Flood, "Fast splittable pseudorandom number generators").
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (i *identity) merge(o identity) {
	i.rows += o.rows
	i.timed += o.timed
	i.hash += o.hash
}

// summed is a run that was summed.
type summed struct {
	identity
	run *trace.Run
}

// before finds the run that has the very same dispatches: one that came a
// second time, in another form or as a copy.
func (b *builder) before(r *trace.Run, id identity) *trace.Run {
	if id.timed == 0 {
		return nil
	}
	for _, s := range b.summed {
		other := s.run.GUID != "" && r.GUID != "" && s.run.GUID != r.GUID ||
			s.run.Process.PID != nil && r.Process.PID != nil && *s.run.Process.PID != *r.Process.PID
		if s.identity == id && !other {
			return s.run
		}
	}
	b.summed = append(b.summed, summed{id, r})
	return nil
}
