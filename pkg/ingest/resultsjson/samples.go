package resultsjson

import (
	"fmt"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/pcsampling"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// sample is one record of pc_sample_stochastic or pc_sample_host_trap. Names
// and kinds of its members differ between releases: "wave_cnt" and
// "wave_count", a reason's name and its number. Source: rocprofiler-sdk
// serialization/save.hpp.
type sample struct {
	Index  int64 `json:"inst_index"`
	Record struct {
		Issued   any    `json:"wave_issued"`
		Exec     uint64 `json:"exec_mask"`
		Count    *int64 `json:"wave_cnt"`
		Waves    *int64 `json:"wave_count"`
		Dispatch int64  `json:"dispatch_id"`
		PC       struct {
			Object int64 `json:"code_object_id"`
			Offset int64 `json:"code_object_offset"`
		} `json:"pc"`
		Snapshot struct {
			Reason any `json:"stall_reason"`
		} `json:"snapshot"`
	} `json:"record"`
}

// Samples gives the samples of each process and method.
func (f *File) Samples() ([]*trace.SampleRun, []trace.Note) {
	var out []*trace.SampleRun
	var notes []trace.Note
	for i := range f.tools {
		t := &f.tools[i]
		damaged := func(err error) {
			notes = append(notes, trace.Note{Level: trace.Damage, File: f.shown, Place: f.set(i), Text: err.Error() + ": the samples that follow are lost"})
		}
		var dispatches map[int64]*pcsampling.Dispatch
		for _, list := range []struct {
			span   span
			method trace.SampleMethod
		}{{t.stochastic, trace.Stochastic}, {t.hostTrap, trace.HostTrap}} {
			if list.span.empty() {
				continue
			}
			if dispatches == nil {
				var err error
				if dispatches, err = t.sampled(); err != nil {
					damaged(err)
				}
			}
			run := &trace.SampleRun{Path: f.shown, Set: f.set(i), Method: list.method, PID: t.pid}
			for k := range t.agents {
				if t.agents[k].Type == gpuType {
					run.Agents = append(run.Agents, t.agents[k].gpu(f.shown))
				}
			}
			if err := t.samples(run, list.span, dispatches); err != nil {
				damaged(err)
			}
			out = append(out, run)
		}
	}
	return out, notes
}

// maxSampled bounds the dispatches that are held to name the kernels of samples.
const maxSampled = 1 << 22

// sampled gives the dispatches by their numbers.
func (t *tool) sampled() (map[int64]*pcsampling.Dispatch, error) {
	out := map[int64]*pcsampling.Dispatch{}
	nodes := map[int64]int64{}
	for i := range t.agents {
		nodes[t.agents[i].ID.Handle] = t.agents[i].NodeID
	}
	kernels := map[int64]*kernel{}
	for i := range t.kernels {
		kernels[t.kernels[i].ID] = &t.kernels[i]
	}
	err := eachOf(t.dispatches, func(d *dispatch) error {
		if len(out) == maxSampled {
			return nil
		}
		x := &pcsampling.Dispatch{Kernel: d.Info.Kernel, Agent: trace.Absent, Workgroup: d.Info.Workgroup.array(), Grid: d.Info.Grid.array()}
		if n, ok := nodes[d.Info.Agent.Handle]; ok {
			x.Agent = n
		}
		if k := kernels[d.Info.Kernel]; k != nil {
			x.Symbol, x.Name = trace.BareName(k.Symbol), k.name()
		}
		out[d.Info.ID] = x
		return nil
	})
	return out, err
}

// samples sums one list.
func (t *tool) samples(run *trace.SampleRun, list span, dispatches map[int64]*pcsampling.Dispatch) error {
	alone := t.alone()
	s := pcsampling.NewSums(run)
	err := eachOf(list, func(r *sample) error {
		x := pcsampling.Sample{Dispatch: r.Record.Dispatch, Of: dispatches[r.Record.Dispatch], Offset: r.Record.PC.Offset, Exec: r.Record.Exec, Waves: -1}
		if x.Of == nil { // without dispatches, the code object may tell
			x.Of = alone[r.Record.PC.Object]
		}
		if x.Decoded = r.Index >= 0 && r.Index < int64(len(t.instructions)); x.Decoded {
			x.Text = t.instructions[r.Index]
			if r.Index < int64(len(t.sources)) {
				x.Source = t.sources[r.Index]
			}
		}
		for _, n := range []*int64{r.Record.Count, r.Record.Waves} {
			if n != nil {
				x.Waves = *n
			}
		}
		x.Issued, x.Reason = truth(r.Record.Issued), reason(r.Record.Snapshot.Reason)
		s.Add(&x)
		return nil
	})
	s.Done()
	return err
}

// alone are kernels that are the only one of their code object.
func (t *tool) alone() map[int64]*pcsampling.Dispatch {
	out := map[int64]*pcsampling.Dispatch{}
	for i := range t.kernels {
		k := &t.kernels[i]
		if _, several := out[k.Object]; several {
			out[k.Object] = nil
			continue
		}
		d := &pcsampling.Dispatch{Kernel: k.ID, Agent: trace.Absent}
		d.Symbol, d.Name = trace.BareName(k.Symbol), k.name()
		out[k.Object] = d
	}
	return out
}

func truth(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case float64:
		return v != 0
	}
	return false
}

func reason(v any) string {
	switch v := v.(type) {
	case string:
		return pcsampling.Reason(v)
	case float64:
		if v >= 0 && v < float64(len(trace.StallReasons)) {
			return trace.StallReasons[int(v)]
		}
		return fmt.Sprintf("reason %v", v)
	}
	return ""
}
