package resultsjson

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Counters are the counters of a file. It is a trace.CounterSource.
type Counters struct {
	// FS and Name find the file, Shown is its path for the user.
	FS    fs.FS
	Name  string
	Shown string
	// Pass tells the file from those of other runs of the application.
	Pass string
}

var _ trace.CounterSource = (*Counters)(nil)

func (s *Counters) read() (tools []tool, err error) {
	file, err := s.FS.Open(s.Name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if tools, err = read(file); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Shown, err)
	}
	return tools, nil
}

// Described returns the GPUs and the kernels that the file describes.
func (s *Counters) Described(ctx context.Context) (agents []trace.CounterAgent, kernels []trace.RunKernel, err error) {
	tools, err := s.read()
	if err != nil {
		return nil, nil, err
	}
	for _, t := range tools {
		for i := range t.agents {
			if a := &t.agents[i]; a.Type == gpuType {
				agents = append(agents, trace.CounterAgent{Agent: a.gpu(s.Shown), Names: []string{strconv.FormatInt(a.ID.Handle, 10)}})
			}
		}
		for i := range t.kernels {
			k := &t.kernels[i]
			kernels = append(kernels, trace.RunKernel{ID: k.ID, Name: k.name(), Symbol: trace.BareName(k.Symbol)})
		}
	}
	return agents, kernels, ctx.Err()
}

// Fold reads the records; see trace.CounterSource. It uses one worker.
func (s *Counters) Fold(ctx context.Context, _ int, newFolder func() trace.CounterFolder) (report trace.CounterReport, err error) {
	report.File = s.Shown
	tools, err := s.read()
	if err != nil {
		return report, err
	}
	folder := newFolder()
	for i := range tools {
		p := newProcess(&tools[i], s.Pass)
		err := eachOf(tools[i].counted, func(c *counted) error {
			named := int64(0)
			if d := p.dispatch(c, report.Rows); d != nil {
				named = int64(len(d.Values))
				folder.Dispatch(d)
			}
			report.Rows += named
			report.Bad += int64(len(c.Records)) - named
			return ctx.Err()
		})
		if ctx.Err() != nil {
			return report, ctx.Err()
		}
		if err != nil {
			return report, fmt.Errorf("%s: %w", s.Shown, err)
		}
	}
	report.Empty = report.Rows+report.Bad == 0
	if report.Bad > 0 {
		report.Notes = append(report.Notes, trace.Note{
			Level: trace.Damage, File: s.Shown,
			Text: trace.Many(report.Bad, "record names", "records name") + " a counter or kernel that the file does not list: left out",
		})
	}
	return report, nil
}

// process turns the records of one process into dispatches.
type process struct {
	pass, pid string
	kernels   map[int64]string
	counters  map[counterKey]string
}

func newProcess(t *tool, pass string) *process {
	p := &process{pass: pass, kernels: map[int64]string{}, counters: t.counters}
	if t.pid != nil {
		p.pid = strconv.FormatInt(*t.pid, 10)
	}
	for i := range t.kernels {
		p.kernels[t.kernels[i].ID] = t.kernels[i].name()
	}
	return p
}

// dispatch returns a record's dispatch, nil without a kernel. A counter with
// several values has one for each hardware instance, in the order of its
// dimensions; those of a counter without a name are left out.
func (p *process) dispatch(c *counted, order int64) *trace.CounterDispatch {
	info := &c.Dispatch.Info
	d := &trace.CounterDispatch{
		Pass: p.pass, Process: p.pid, Agent: strconv.FormatInt(info.Agent.Handle, 10),
		Kernel: p.kernels[info.Kernel], Grid: info.Grid.product(), Workgroup: info.Workgroup.product(),
		LDSBytes: -1, ID: info.ID, Order: order, XCC: trace.AllInstances,
		StartNs: c.Dispatch.Start, EndNs: c.Dispatch.End,
	}
	if d.Kernel == "" {
		return nil
	}
	if c.LDS != nil {
		d.LDSBytes = *c.LDS
	}
	times := map[int64]int{}
	for _, v := range c.Records {
		times[v.Counter.Handle]++
	}
	seen := map[int64]int{}
	for _, v := range c.Records {
		name, ok := p.counters[counterKey{info.Agent.Handle, v.Counter.Handle}]
		if !ok {
			continue
		}
		instance := trace.AllInstances
		if times[v.Counter.Handle] > 1 {
			instance = seen[v.Counter.Handle]
			seen[v.Counter.Handle]++
		}
		d.Values = append(d.Values, trace.CounterValue{Counter: name, Instance: instance, Value: v.Value})
	}
	return d
}

// product is the number of work-items; 0 when it is unknown or does not fit.
func (e extent) product() int64 {
	n, _ := trace.Product(e.array())
	return n
}
