package resultsjson

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// File is a results.json that was read, but for its records.
type File struct {
	shown string
	tools []tool
}

// Read reads a file. shown is the path as the user can find it.
func Read(r io.Reader, shown string) (*File, error) {
	tools, err := read(r)
	if err == nil && len(tools) == 0 {
		err = errors.New("no process recorded anything in it")
	}
	return &File{shown, tools}, err
}

// set names one of several processes.
func (f *File) set(i int) string {
	if len(f.tools) == 1 {
		return ""
	}
	return fmt.Sprintf("process %d", i+1)
}

// HasCounters reports whether dispatches were counted.
func (f *File) HasCounters() bool {
	return slices.ContainsFunc(f.tools, func(t tool) bool { return !t.counted.empty() })
}

// Runs gives one run per process.
func (f *File) Runs() ([]*trace.Run, error) {
	var out []*trace.Run
	for i := range f.tools {
		run, err := f.tools[i].run(f.shown)
		if err != nil {
			return nil, err
		}
		run.Set = f.set(i)
		out = append(out, run)
	}
	return out, nil
}

func (t *tool) run(shown string) (*trace.Run, error) {
	r := &trace.Run{Path: shown, Kind: "results_json", HasCounters: !t.counted.empty()}
	r.Process.PID = t.pid
	nodes := map[int64]int64{}
	for i := range t.agents {
		a := &t.agents[i]
		nodes[a.ID.Handle] = a.NodeID
		if a.Type == gpuType {
			r.Agents = append(r.Agents, a.gpu(shown))
		}
	}
	slices.SortStableFunc(r.Agents, func(a, b trace.Agent) int { return cmp.Compare(a.NodeID, b.NodeID) })
	for i := range t.kernels {
		k := &t.kernels[i]
		r.Kernels = append(r.Kernels, trace.RunKernel{
			ID: k.ID, Name: k.name(), Symbol: trace.BareName(k.Symbol),
			VGPRs: k.VGPRs, AccumVGPRs: k.Accum, SGPRs: k.SGPRs, StaticLDSBytes: k.LDS,
		})
	}
	slices.SortStableFunc(r.Kernels, func(a, b trace.RunKernel) int { return cmp.Compare(a.ID, b.ID) })
	r.Dispatches = &dispatches{t, shown, nodes}
	var err error
	r.Copies, err = copies(t.copies, nodes)
	return r, err
}

type memoryCopy struct {
	Start  int64  `json:"start_timestamp"`
	End    int64  `json:"end_timestamp"`
	Op     int64  `json:"operation"`
	Target handle `json:"dst_agent_id"`
	Source handle `json:"src_agent_id"`
	Bytes  int64  `json:"bytes"`
}

// operations name the kinds of copies. Source:
// rocprofiler_memory_copy_operation_t.
var operations = [...]string{
	"MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE",
}

func copies(list span, nodes map[int64]int64) ([]trace.CopySum, error) {
	type key struct{ op, source, target int64 }
	index := map[key]int{}
	var out []trace.CopySum
	err := eachOf(list, func(c *memoryCopy) error {
		k := key{c.Op, c.Source.Handle, c.Target.Handle}
		at, ok := index[k]
		if !ok {
			at = len(out)
			index[k] = at
			kind := "unknown"
			if c.Op >= 0 && c.Op < int64(len(operations)) {
				kind = operations[c.Op]
			}
			out = append(out, trace.CopySum{Kind: kind, Source: node(nodes, k.source), Target: node(nodes, k.target)})
		}
		out[at].Add(c.Bytes, c.Start, c.End)
		return nil
	})
	return out, err
}

func node(nodes map[int64]int64, handle int64) *int64 {
	if n, ok := nodes[handle]; ok {
		return &n
	}
	return nil
}

// dispatches is the trace.DispatchSource of one process.
type dispatches struct {
	tool  *tool
	shown string
	nodes map[int64]int64
}

// Fold hands all dispatches to one folder: those that were recorded, else
// those that were counted.
func (s *dispatches) Fold(ctx context.Context, _ int, newFolder func() trace.DispatchFolder) (report trace.DispatchReport, err error) {
	to := newFolder()
	take := func(d *dispatch) error {
		to.Dispatch(s.dispatch(d))
		report.Rows++
		return ctx.Err()
	}
	if s.tool.dispatches.empty() {
		err = eachOf(s.tool.counted, func(c *counted) error { return take(&c.Dispatch) })
	} else {
		err = eachOf(s.tool.dispatches, take)
	}
	if err != nil && ctx.Err() == nil {
		report.Notes = append(report.Notes, trace.Note{Level: trace.Damage, File: s.shown, Text: err.Error() + ": what follows is lost"})
	}
	return report, ctx.Err()
}

func (s *dispatches) dispatch(d *dispatch) *trace.Dispatch {
	agent, ok := s.nodes[d.Info.Agent.Handle]
	if !ok {
		agent = trace.Absent
	}
	stream := int64(trace.Absent)
	if d.Stream != nil {
		stream = d.Stream.Handle
	}
	return &trace.Dispatch{
		ID: d.Info.ID, Kernel: d.Info.Kernel, Agent: agent, Queue: d.Info.Queue.Handle, Stream: stream, Start: d.Start, End: d.End,
		LDSBytes: d.Info.LDS, ScratchBytes: d.Info.Scratch, Workgroup: d.Info.Workgroup.array(), Grid: d.Info.Grid.array(),
	}
}

func (e extent) array() [3]int64 { return [3]int64{e.X, e.Y, e.Z} }
