package counters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"sync"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxTools bounds the processes of one results.json, maxNames its counters and
// kernels.
const (
	maxTools = 1 << 16
	maxNames = 1 << 22
)

// ResultsFile is a results.json of rocprofv3. It is a trace.CounterSource.
// Source: rocprofiler-sdk output/generateJSON.cpp.
type ResultsFile struct {
	FS    fs.FS
	Name  string
	Shown string
	Pass  string

	once  sync.Once
	tools []toolNames
	err   error
}

var _ trace.CounterSource = (*ResultsFile)(nil)

// toolNames are the names that the records of one process refer to.
type toolNames struct {
	pid      int64
	agents   []resultsAgent
	counters map[counterKey]string
	kernels  map[int64]string
}

type counterKey struct{ agent, id int64 }

type handle struct {
	Handle int64 `json:"handle"`
}

type extent struct{ X, Y, Z int64 }

// product is the number of work-items; 0 when it is unknown or does not fit.
func (e extent) product() int64 {
	n := int64(1)
	for _, v := range [...]int64{e.X, e.Y, e.Z} {
		if v <= 0 || v > 1<<62/n {
			return 0
		}
		n *= v
	}
	return n
}

type resultsAgent struct {
	ID        handle `json:"id"`
	Type      int    `json:"type"`
	NodeID    int64  `json:"node_id"`
	Name      string `json:"name"`
	Product   string `json:"product_name"`
	DeviceID  int64  `json:"device_id"`
	WaveSize  int64  `json:"wave_front_size"`
	XCCs      int64  `json:"num_xcc"`
	CUs       int64  `json:"cu_count"`
	SIMDs     int64  `json:"simd_count"`
	SIMDPerCU int64  `json:"simd_per_cu"`
	MaxMHz    int64  `json:"max_engine_clk_fcompute"`
	LDSKiB    int64  `json:"lds_size_in_kb"`
}

// gpuType is ROCPROFILER_AGENT_TYPE_GPU (rocprofiler-sdk agent.h).
const gpuType = 2

type resultsCounter struct {
	Agent handle `json:"agent_id"`
	ID    handle `json:"id"`
	Name  string `json:"name"`
}

type resultsKernel struct {
	ID        int64  `json:"kernel_id"`
	Name      string `json:"kernel_name"`
	Formatted string `json:"formatted_kernel_name"`
	Demangled string `json:"demangled_kernel_name"`
}

func (k *resultsKernel) name() string {
	for _, n := range []string{k.Formatted, k.Demangled, k.Name} {
		if n != "" {
			return trace.BareName(n)
		}
	}
	return ""
}

type resultsRecord struct {
	Data struct {
		Info struct {
			Agent     handle `json:"agent_id"`
			Kernel    int64  `json:"kernel_id"`
			Dispatch  int64  `json:"dispatch_id"`
			Workgroup extent `json:"workgroup_size"`
			Grid      extent `json:"grid_size"`
		} `json:"dispatch_info"`
		Start int64 `json:"start_timestamp"`
		End   int64 `json:"end_timestamp"`
	} `json:"dispatch_data"`
	Records []struct {
		Counter handle  `json:"counter_id"`
		Value   float64 `json:"value"`
	} `json:"records"`
	LDS *int64 `json:"lds_block_size_v"`
}

// Agents returns the GPUs that the file describes.
func (r *ResultsFile) Agents(ctx context.Context) ([]trace.CounterAgent, error) {
	if err := r.names(ctx); err != nil {
		return nil, err
	}
	var out []trace.CounterAgent
	for _, t := range r.tools {
		for _, a := range t.agents {
			if a.Type == gpuType {
				out = append(out, a.agent(r.Shown))
			}
		}
	}
	return out, nil
}

func (a *resultsAgent) agent(file string) trace.CounterAgent {
	out := trace.CounterAgent{Names: []string{strconv.FormatInt(a.ID.Handle, 10)}}
	out.Origin = trace.Origin{File: file}
	out.NodeID, out.Gfx, out.Product = a.NodeID, a.Name, a.Product
	for _, f := range []struct {
		to **int64
		v  int64
	}{
		{&out.DeviceID, a.DeviceID},
		{&out.WaveSize, a.WaveSize},
		{&out.XCCs, a.XCCs},
		{&out.CUs, a.CUs},
		{&out.SIMDsPerCU, a.SIMDPerCU},
		{&out.MaxClockMHz, a.MaxMHz},
		{&out.LDSKiB, a.LDSKiB},
	} {
		if v := f.v; v > 0 {
			*f.to = &v
		}
	}
	return out
}

// names reads all but the records, once.
func (r *ResultsFile) names(ctx context.Context) error {
	r.once.Do(func() {
		r.err = r.walk(ctx, func(dec *json.Decoder, key string, tool int) error {
			for len(r.tools) <= tool {
				r.tools = append(r.tools, toolNames{counters: map[counterKey]string{}, kernels: map[int64]string{}})
			}
			return r.tools[tool].read(dec, key)
		})
	})
	return r.err
}

// read takes in one member of a process.
func (t *toolNames) read(dec *json.Decoder, key string) error {
	switch key {
	case "metadata":
		var m struct {
			PID int64 `json:"pid"`
		}
		err := dec.Decode(&m)
		t.pid = m.PID
		return err
	case "agents":
		return dec.Decode(&t.agents)
	case "counters":
		return eachElement(dec, func() error {
			var c resultsCounter
			if err := dec.Decode(&c); err != nil {
				return err
			}
			if len(t.counters) < maxNames {
				t.counters[counterKey{c.Agent.Handle, c.ID.Handle}] = c.Name
			}
			return nil
		})
	case "kernel_symbols":
		return eachElement(dec, func() error {
			var k resultsKernel
			if err := dec.Decode(&k); err != nil {
				return err
			}
			if len(t.kernels) < maxNames {
				t.kernels[k.ID] = k.name()
			}
			return nil
		})
	}
	return skip(dec)
}

// Fold reads the records; see trace.CounterSource. It uses one worker.
func (r *ResultsFile) Fold(ctx context.Context, _ int, newFolder func() trace.CounterFolder) (report trace.CounterReport, err error) {
	if err := r.names(ctx); err != nil {
		return report, err
	}
	folder := newFolder()
	unnamed := int64(0)
	err = r.walk(ctx, func(dec *json.Decoder, key string, tool int) error {
		if key != "callback_records" {
			return skip(dec)
		}
		return eachMember(dec, func(key string) error {
			if key != "counter_collection" {
				return skip(dec)
			}
			return eachElement(dec, func() error {
				var rec resultsRecord
				if err := dec.Decode(&rec); err != nil {
					return err
				}
				n := r.dispatch(&r.tools[tool], &rec, report.Rows, folder)
				report.Rows += int64(len(rec.Records)) - n
				unnamed += n
				return ctx.Err()
			})
		})
	})
	if ctx.Err() != nil {
		return report, ctx.Err()
	}
	report.Bad, report.Empty = unnamed, report.Rows+unnamed == 0
	if unnamed > 0 {
		report.Notes = append(report.Notes, trace.Note{
			Level: trace.Damage, Place: r.Shown,
			Text: fmt.Sprintf("%d records name a counter or kernel that the file does not list: left out", unnamed),
		})
	}
	return report, err
}

// dispatch hands one record on. A counter with several values has one for each
// hardware instance, in the order of its dimensions. It returns how many
// values have no name.
func (r *ResultsFile) dispatch(t *toolNames, rec *resultsRecord, order int64, folder trace.CounterFolder) (unnamed int64) {
	info := &rec.Data.Info
	d := trace.CounterDispatch{
		Pass: r.Pass, Process: strconv.FormatInt(t.pid, 10), Agent: strconv.FormatInt(info.Agent.Handle, 10),
		Kernel: t.kernels[info.Kernel], Grid: info.Grid.product(), Workgroup: info.Workgroup.product(),
		LDSBytes: -1, ID: info.Dispatch, Order: order, XCC: trace.AllInstances,
		StartNs: rec.Data.Start, EndNs: rec.Data.End,
	}
	if rec.LDS != nil {
		d.LDSBytes = *rec.LDS
	}
	if d.Kernel == "" {
		return int64(len(rec.Records))
	}
	times := map[int64]int{}
	for _, v := range rec.Records {
		times[v.Counter.Handle]++
	}
	seen := map[int64]int{}
	for _, v := range rec.Records {
		name, ok := t.counters[counterKey{info.Agent.Handle, v.Counter.Handle}]
		if !ok {
			unnamed++
			continue
		}
		instance := trace.AllInstances
		if times[v.Counter.Handle] > 1 {
			instance = seen[v.Counter.Handle]
			seen[v.Counter.Handle]++
		}
		d.Values = append(d.Values, trace.CounterValue{Counter: name, Instance: instance, Value: v.Value})
	}
	folder.Dispatch(&d)
	return unnamed
}

// walk calls member for every member of every process of the file. member must
// read the value.
func (r *ResultsFile) walk(ctx context.Context, member func(dec *json.Decoder, key string, tool int) error) (err error) {
	file, err := r.FS.Open(r.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	dec := json.NewDecoder(file)
	err = eachMember(dec, func(key string) error {
		if key != "rocprofiler-sdk-tool" {
			return skip(dec)
		}
		tool := 0
		return eachElement(dec, func() error {
			if tool == maxTools {
				return fmt.Errorf("more than %d processes", maxTools)
			}
			err := eachMember(dec, func(key string) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				return member(dec, key, tool)
			})
			tool++
			return err
		})
	})
	if err != nil && ctx.Err() == nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the JSON ends in the middle")
		}
		return fmt.Errorf("%s: byte %d: %w", r.Shown, dec.InputOffset(), err)
	}
	return err
}

// eachMember calls f for every member of the object that comes next.
func eachMember(dec *json.Decoder, f func(key string) error) error {
	if err := delim(dec, '{'); err != nil {
		return err
	}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		key, ok := token.(string)
		if !ok {
			return fmt.Errorf("%v where a name should be", token)
		}
		if err := f(key); err != nil {
			return err
		}
	}
	return delim(dec, '}')
}

// eachElement calls f for every element of the array that comes next.
func eachElement(dec *json.Decoder, f func() error) error {
	if err := delim(dec, '['); err != nil {
		return err
	}
	for dec.More() {
		if err := f(); err != nil {
			return err
		}
	}
	return delim(dec, ']')
}

func delim(dec *json.Decoder, want json.Delim) error {
	token, err := dec.Token()
	if err == nil && token != want {
		err = fmt.Errorf("%v where %q should be", token, want)
	}
	return err
}

// skip reads one value of any kind, without keeping it.
func skip(dec *json.Decoder) error {
	for depth := 0; ; {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
