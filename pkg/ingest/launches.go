package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxLaunches bounds the different launches of one run.
const maxLaunches = 1 << 16

// launchKey tells launches apart.
type launchKey struct {
	kernel, agent, lds, scratch int64
	workgroup, grid             [3]int64
}

// launchFolder sums dispatches by launch.
type launchFolder struct {
	sums    map[launchKey]*trace.LaunchSum
	skipped int64
}

// Dispatch adds one dispatch; replays of one are not counted again.
func (l *launchFolder) Dispatch(d *trace.Dispatch) {
	if d.Replay > 0 {
		return
	}
	k := launchKey{d.Kernel, d.Agent, d.LDSBytes, d.ScratchBytes, d.Workgroup, d.Grid}
	s := l.sums[k]
	if s == nil {
		if len(l.sums) == maxLaunches {
			l.skipped++
			return
		}
		s = &trace.LaunchSum{}
		l.sums[k] = s
	}
	one := trace.LaunchSum{Count: 1}
	if ns, ok := d.DurationNs(); ok {
		one.Timed, one.TotalNs, one.MinNs, one.MaxNs = 1, ns, ns, ns
	}
	addLaunches(s, &one)
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

// launchTableOf sums the dispatches of a run into the form of a kernel trace,
// sorted by launch.
func launchTableOf(ctx context.Context, r *trace.Run) (*trace.LaunchTable, error) {
	l := &launchFolder{sums: map[launchKey]*trace.LaunchSum{}}
	rep, err := r.Dispatches.Fold(ctx, 1, func() trace.DispatchFolder { return l })
	if err != nil {
		return nil, err
	}
	t := &trace.LaunchTable{Path: r.Path, Kind: r.Kind, LDSDispatched: true, Agents: r.Agents, Notes: slices.Concat(r.Notes, rep.Notes)}
	kernels := map[int64]*trace.RunKernel{}
	for i := range r.Kernels {
		kernels[r.Kernels[i].ID] = &r.Kernels[i]
	}
	keys := make([]launchKey, 0, len(l.sums))
	for k := range l.sums {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compareLaunches)
	var unknown, shapeless int64
	for _, k := range keys {
		s := l.sums[k]
		kernel := kernels[k.kernel]
		if kernel == nil {
			unknown += s.Count
			continue
		}
		s.Launch = launchOf(r, kernel, k)
		if _, ok := s.Workgroups(); !ok {
			shapeless += s.Count
		}
		t.Rows += s.Count
		t.Launches = append(t.Launches, *s)
	}
	for _, n := range []struct {
		count int64
		level trace.Level
		text  string
	}{
		{unknown, trace.Warning, "dispatches are of kernels that the database does not describe: left out"},
		{shapeless, trace.Warning, "dispatches have a shape that cannot be"},
		{l.skipped, trace.Damage, "dispatches are left out: there are more than 65536 different launches"},
	} {
		if n.count > 0 {
			t.Notes = append(t.Notes, trace.Note{Level: n.level, Place: r.Path, Text: fmt.Sprintf("%d %s", n.count, n.text)})
		}
	}
	return t, nil
}

func compareLaunches(a, b launchKey) int {
	return cmp.Or(
		cmp.Compare(a.kernel, b.kernel), cmp.Compare(a.agent, b.agent),
		slices.Compare(a.grid[:], b.grid[:]), slices.Compare(a.workgroup[:], b.workgroup[:]),
		cmp.Compare(a.lds, b.lds), cmp.Compare(a.scratch, b.scratch),
	)
}

func launchOf(r *trace.Run, kernel *trace.RunKernel, k launchKey) trace.Launch {
	return trace.Launch{
		Origin: trace.Origin{File: r.Path}, AgentID: fmt.Sprintf("Agent %d", k.agent), Kernel: kernel.Name,
		LDSBytes: knownFigure(k.lds), ScratchBytes: knownFigure(k.scratch),
		VGPRs: kernel.VGPRs, AccumVGPRs: kernel.AccumVGPRs, SGPRs: kernel.SGPRs,
		Workgroup: &k.workgroup, Grid: &k.grid,
	}
}

// knownFigure is nil for a figure that is absent or cannot be.
func knownFigure(v int64) *int64 {
	if v < 0 {
		return nil
	}
	return &v
}
