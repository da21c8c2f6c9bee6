package kerneltrace

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// kernelKey tells the kernels of a table apart: those of one name that ask for
// different registers are different kernels.
type kernelKey struct {
	name                     string
	vgprs, accum, sgprs, lds int64
}

func keyOf(l *trace.Launch) kernelKey {
	return kernelKey{l.Kernel, orAbsent(l.VGPRs), orAbsent(l.AccumVGPRs), orAbsent(l.SGPRs), orAbsent(l.LDSBytes)}
}

func orAbsent(p *int64) int64 {
	if p == nil {
		return trace.Absent
	}
	return *p
}

func known(v int64) *int64 {
	if v == trace.Absent {
		return nil
	}
	return &v
}

// dispatches are the rows of a table as dispatches. It is a
// trace.DispatchSource.
type dispatches struct {
	t *Table
	// each holds what the dispatches of each launch have in common.
	each []trace.Dispatch
}

// Run makes a run of the table.
func (t *Table) Run() *trace.Run {
	r := &trace.Run{Path: t.Path, Kind: t.Kind, Agents: t.Agents}
	prefix, _, _ := strings.Cut(path.Base(t.Path), "_")
	if pid, err := strconv.ParseInt(prefix, 10, 64); err == nil {
		r.Process.PID = &pid // the default output name begins with it
	}
	d := &dispatches{t: t}
	kernels := map[kernelKey]int64{}
	for i := range t.Launches {
		l := &t.Launches[i].Launch
		id, ok := kernels[keyOf(l)]
		if !ok {
			id = int64(len(kernels))
			kernels[keyOf(l)] = id
			r.Kernels = append(r.Kernels, t.runKernel(id, l))
		}
		d.each = append(d.each, trace.Dispatch{
			Kernel: id, Agent: nodeOf(t.Agents, l.AgentID), LDSBytes: orAbsent(l.LDSBytes), ScratchBytes: orAbsent(l.ScratchBytes),
			Workgroup: *l.Workgroup, Grid: *l.Grid,
		})
	}
	r.Dispatches = d
	return r
}

func (t *Table) runKernel(id int64, l *trace.Launch) trace.RunKernel {
	k := trace.RunKernel{ID: id, Name: l.Kernel, Symbol: l.Kernel, VGPRs: l.VGPRs, AccumVGPRs: l.AccumVGPRs, SGPRs: l.SGPRs}
	if !t.LDSDispatched {
		k.StaticLDSBytes = l.LDSBytes
	}
	return k
}

// Fold hands on the rows in their order, to one folder.
func (d *dispatches) Fold(ctx context.Context, _ int, newFolder func() trace.DispatchFolder) (trace.DispatchReport, error) {
	to := newFolder()
	var out trace.Dispatch
	for i := range d.t.rows {
		r := &d.t.rows[i]
		out = d.each[r.launch]
		out.ID, out.Queue, out.Stream, out.Start, out.End = r.id, r.queue, r.stream, r.start, r.end
		to.Dispatch(&out)
	}
	return trace.DispatchReport{Rows: d.t.Rows, Launches: &d.t.LaunchTable}, ctx.Err()
}

// Beside returns the rows that may belong to a trace: those of a dispatch id, and
// the first of each shape of the kernels that named takes, at most limit of
// either. more is the number of shapes' rows beyond that.
func (t *Table) Beside(id *int64, named func(kernel string) bool, limit int) (rows []trace.Launch, more int) {
	own := make([]bool, len(t.keys))
	for i := range t.keys {
		own[i] = named(t.keys[i].kernel)
	}
	var launches []int32 // of rows
	seen := map[key]bool{}
	ids := 0
	for i := range t.rows {
		r := &t.rows[i]
		byID := id != nil && r.id == *id
		if !byID && !own[r.launch] {
			continue
		}
		same := t.keys[r.launch]
		same.agent = "" // another GPU is not another shape
		switch {
		case byID && ids < limit:
			ids++
		case byID || seen[same]:
			continue
		case len(seen) == limit:
			more++
			continue
		default:
			seen[same] = true
		}
		rows = append(rows, t.launch(r))
		launches = append(launches, r.launch)
	}
	t.time(rows, launches)
	return rows, more
}

// shape is what a launch is called again with.
type shape struct {
	kernel          string
	workgroup, grid [3]int64
}

// time sums the calls of the launches that rows are of.
func (t *Table) time(rows []trace.Launch, launches []int32) {
	shapeOf := func(launch int32) shape {
		k := &t.keys[launch]
		return shape{k.kernel, k.workgroup, k.grid}
	}
	wanted := make(map[shape]int, len(rows))
	for _, l := range launches {
		if s := shapeOf(l); !has(wanted, s) {
			wanted[s] = len(wanted)
		}
	}
	of := make([]int, len(t.keys)) // place in times by launch, -1 for none
	for i := range of {
		of[i] = -1
		if n, ok := wanted[shapeOf(int32(i))]; ok {
			of[i] = n
		}
	}
	times := make([][]int64, len(wanted))
	for i := range t.rows {
		r := &t.rows[i]
		if n := of[r.launch]; n >= 0 && r.start != trace.Absent && r.end > r.start {
			times[n] = append(times[n], r.end-r.start)
		}
	}
	calls := make([]*trace.Calls, len(wanted))
	for n, ns := range times {
		if len(ns) > 0 {
			slices.Sort(ns)
			calls[n] = &trace.Calls{Timed: int64(len(ns)), MedianNs: ns[(len(ns)-1)/2], MaxNs: ns[len(ns)-1]}
		}
	}
	for i := range rows {
		rows[i].Calls = calls[wanted[shapeOf(launches[i])]]
	}
}

func has(m map[shape]int, s shape) bool {
	_, ok := m[s]
	return ok
}

// launch is one row with all of its figures.
func (t *Table) launch(r *row) trace.Launch {
	l := t.Launches[r.launch].Launch
	l.Origin.Row = int(r.number)
	l.DispatchID, l.StartNs, l.EndNs = known(r.id), known(r.start), known(r.end)
	return l
}

// nodeOf reads the Agent_Id column: "Agent 6" and "6" are node ids, "GPU 0"
// counts the GPUs (rocprofv3 --agent-index).
func nodeOf(agents []trace.Agent, id string) int64 {
	words := strings.Fields(id)
	if len(words) == 0 {
		return trace.Absent
	}
	n, err := strconv.ParseInt(words[len(words)-1], 10, 64)
	if err != nil || n < 0 {
		return trace.Absent
	}
	if strings.EqualFold(words[0], "GPU") && n < int64(len(agents)) {
		return agents[n].NodeID
	}
	return n
}
