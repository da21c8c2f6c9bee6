// Package resultsjson reads the kernel dispatches of a results.json, which
// rocprofv3 --output-format json writes. Source: rocprofiler-sdk
// output/generateJSON.cpp.
package resultsjson

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// topKey is the only key of the file's outermost object.
const topKey = "rocprofiler-sdk-tool"

// SniffBytes of a file are enough for Sniff.
const SniffBytes = 4096

// Sniff reports whether a file begins as a results.json does.
func Sniff(head []byte) bool {
	s := strings.TrimSpace(string(head))
	rest, ok := strings.CutPrefix(s, "{")
	return ok && strings.HasPrefix(strings.TrimSpace(rest), `"`+topKey+`"`)
}

// maxBytes bounds a file: its dispatches are held in memory.
const maxBytes = 2 << 30

type handle struct {
	Handle int64 `json:"handle"`
}

type extent struct{ X, Y, Z int64 }

func (e extent) array() [3]int64 { return [3]int64{e.X, e.Y, e.Z} }

// tool is what one process recorded.
type tool struct {
	Metadata struct {
		PID *int64 `json:"pid"`
	} `json:"metadata"`
	Agents  []agent  `json:"agents"`
	Symbols []symbol `json:"kernel_symbols"`
	Buffer  struct {
		Dispatches []dispatch   `json:"kernel_dispatch"`
		Copies     []memoryCopy `json:"memory_copy"`
	} `json:"buffer_records"`
	Callback struct {
		Counted []struct {
			Data dispatch `json:"dispatch_data"`
		} `json:"counter_collection"`
	} `json:"callback_records"`
}

type agent struct {
	ID              handle `json:"id"`
	Type            int    `json:"type"`
	NodeID          int64  `json:"node_id"`
	Name            string `json:"name"`
	Product         string `json:"product_name"`
	DeviceID        *int64 `json:"device_id"`
	CUs             *int64 `json:"cu_count"`
	SIMDsPerCU      *int64 `json:"simd_per_cu"`
	CUsPerEngine    *int64 `json:"cu_per_engine"`
	XCCs            *int64 `json:"num_xcc"`
	MaxWavesPerSIMD *int64 `json:"max_waves_per_simd"`
	LDSKiB          *int64 `json:"lds_size_in_kb"`
	WaveSize        *int64 `json:"wave_front_size"`
	MaxClockMHz     *int64 `json:"max_engine_clk_fcompute"`
}

type symbol struct {
	ID        int64  `json:"kernel_id"`
	Name      string `json:"kernel_name"`
	Formatted string `json:"formatted_kernel_name"`
	VGPRs     *int64 `json:"arch_vgpr_count"`
	Accum     *int64 `json:"accum_vgpr_count"`
	SGPRs     *int64 `json:"sgpr_count"`
	LDS       *int64 `json:"group_segment_size"`
}

type dispatch struct {
	Start  int64   `json:"start_timestamp"`
	End    int64   `json:"end_timestamp"`
	Stream *handle `json:"stream_id"`
	Info   struct {
		Agent     handle `json:"agent_id"`
		Queue     handle `json:"queue_id"`
		Kernel    int64  `json:"kernel_id"`
		Scratch   int64  `json:"private_segment_size"`
		LDS       int64  `json:"group_segment_size"`
		Workgroup extent `json:"workgroup_size"`
		Grid      extent `json:"grid_size"`
	} `json:"dispatch_info"`
}

type memoryCopy struct {
	Start  int64  `json:"start_timestamp"`
	End    int64  `json:"end_timestamp"`
	Op     int64  `json:"operation"`
	Target handle `json:"dst_agent_id"`
	Source handle `json:"src_agent_id"`
	Bytes  int64  `json:"bytes"`
}

// gpuType is the "type" of a GPU. Source: rocprofiler_agent_type_t.
const gpuType = 2

// Read reads one run per process. shown is the path as the user can find it.
func Read(r io.Reader, shown string) ([]*trace.Run, error) {
	in := &io.LimitedReader{R: r, N: maxBytes}
	var file struct {
		Tools []tool `json:"rocprofiler-sdk-tool"`
	}
	if err := json.NewDecoder(in).Decode(&file); err != nil {
		switch {
		case in.N == 0:
			err = fmt.Errorf("larger than %d GiB: write rocpd instead (--output-format rocpd)", maxBytes>>30)
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
			err = errors.New("cut short: it ends inside of a JSON value")
		}
		return nil, err
	}
	var out []*trace.Run
	for i := range file.Tools {
		run := file.Tools[i].run(shown)
		if len(file.Tools) > 1 {
			run.Set = fmt.Sprintf("process %d", i+1)
		}
		out = append(out, run)
	}
	if len(out) == 0 {
		return nil, errors.New("no process recorded anything in it")
	}
	return out, nil
}

func (t *tool) run(shown string) *trace.Run {
	r := &trace.Run{Path: shown, Kind: "results_json"}
	r.Process.PID = t.Metadata.PID
	nodes := map[int64]int64{}
	for _, a := range t.Agents {
		nodes[a.ID.Handle] = a.NodeID
		if a.Type == gpuType {
			r.Agents = append(r.Agents, trace.Agent{
				Origin: trace.Origin{File: shown}, NodeID: a.NodeID, Gfx: a.Name, Product: a.Product, DeviceID: a.DeviceID,
				CUs: a.CUs, SIMDsPerCU: a.SIMDsPerCU, CUsPerEngine: a.CUsPerEngine, XCCs: a.XCCs,
				MaxWavesPerSIMD: a.MaxWavesPerSIMD, LDSKiB: a.LDSKiB, WaveSize: a.WaveSize, MaxClockMHz: a.MaxClockMHz,
			})
		}
	}
	slices.SortStableFunc(r.Agents, func(a, b trace.Agent) int { return cmp.Compare(a.NodeID, b.NodeID) })
	for _, s := range t.Symbols {
		bare := trace.BareName(s.Name)
		name := trace.BareName(s.Formatted)
		if name == "" {
			name = bare
		}
		r.Kernels = append(r.Kernels, trace.RunKernel{
			ID: s.ID, Name: name, Symbol: bare, VGPRs: s.VGPRs, AccumVGPRs: s.Accum, SGPRs: s.SGPRs, StaticLDSBytes: s.LDS,
		})
	}
	slices.SortStableFunc(r.Kernels, func(a, b trace.RunKernel) int { return cmp.Compare(a.ID, b.ID) })
	rows := t.Buffer.Dispatches
	if len(rows) == 0 {
		for _, c := range t.Callback.Counted {
			rows = append(rows, c.Data)
		}
	}
	r.HasCounters = len(t.Callback.Counted) > 0
	r.Dispatches = &dispatches{rows, nodes}
	r.Copies = copies(t.Buffer.Copies, nodes)
	return r
}

// operations name the kinds of copies. Source:
// rocprofiler_memory_copy_operation_t.
var operations = [...]string{
	"MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY_DEVICE_TO_DEVICE",
}

func copies(rows []memoryCopy, nodes map[int64]int64) []trace.CopySum {
	type key struct{ op, source, target int64 }
	index := map[key]int{}
	var out []trace.CopySum
	for _, c := range rows {
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
	}
	return out
}

func node(nodes map[int64]int64, handle int64) *int64 {
	if n, ok := nodes[handle]; ok {
		return &n
	}
	return nil
}

// dispatches is the trace.DispatchSource of one process.
type dispatches struct {
	rows  []dispatch
	nodes map[int64]int64
}

// Fold hands all dispatches to one folder.
func (s *dispatches) Fold(ctx context.Context, _ int, newFolder func() trace.DispatchFolder) (trace.DispatchReport, error) {
	to := newFolder()
	for i := range s.rows {
		d := &s.rows[i]
		agent, ok := s.nodes[d.Info.Agent.Handle]
		if !ok {
			agent = trace.Absent
		}
		stream := int64(trace.Absent)
		if d.Stream != nil {
			stream = d.Stream.Handle
		}
		to.Dispatch(&trace.Dispatch{
			Kernel: d.Info.Kernel, Agent: agent, Queue: d.Info.Queue.Handle, Stream: stream, Start: d.Start, End: d.End,
			LDSBytes: d.Info.LDS, ScratchBytes: d.Info.Scratch, Workgroup: d.Info.Workgroup.array(), Grid: d.Info.Grid.array(),
		})
	}
	return trace.DispatchReport{Rows: int64(len(s.rows))}, ctx.Err()
}
