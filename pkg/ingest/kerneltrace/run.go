package kerneltrace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Dispatches reads the rows of a kernel trace one by one. It is a
// trace.DispatchSource.
type Dispatches struct {
	FS   fs.FS
	Name string
	// Shown is the path as the user can find it.
	Shown string

	agents  []trace.Agent
	kernels map[kernelKey]int64
}

var _ trace.DispatchSource = (*Dispatches)(nil)

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

// Run makes the run of a kernel trace whose launches were summed before.
func (d *Dispatches) Run(t *trace.LaunchTable) *trace.Run {
	r := &trace.Run{Path: t.Path, Kind: "kernel_trace", Agents: t.Agents, Notes: t.Notes, Dispatches: d}
	prefix, _, _ := strings.Cut(path.Base(d.Name), "_")
	if pid, err := strconv.ParseInt(prefix, 10, 64); err == nil {
		r.Process.PID = &pid // the default output name begins with it
	}
	d.agents, d.kernels = t.Agents, map[kernelKey]int64{}
	for i := range t.Launches {
		l := &t.Launches[i].Launch
		key := keyOf(l)
		if _, ok := d.kernels[key]; ok {
			continue
		}
		id := int64(len(d.kernels))
		d.kernels[key] = id
		k := trace.RunKernel{
			ID: id, Name: l.Kernel, Symbol: l.Kernel,
			VGPRs: l.VGPRs, AccumVGPRs: l.AccumVGPRs, SGPRs: l.SGPRs,
		}
		if !t.LDSDispatched {
			k.StaticLDSBytes = l.LDSBytes
		}
		r.Kernels = append(r.Kernels, k)
	}
	return r
}

// Fold reads the rows in their order, with one worker. Rows that were noted as
// damaged when the launches were summed are left out again, without another
// note.
func (d *Dispatches) Fold(ctx context.Context, _ int, newFolder func() trace.DispatchFolder) (rep trace.DispatchReport, err error) {
	f, err := d.FS.Open(d.Name)
	if err != nil {
		return d.lost(err), nil
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	rd, err := newReader(&contextReader{ctx, f}, d.Shown)
	if err != nil {
		return d.lost(err), ctx.Err()
	}
	to := newFolder()
	queue, stream := rd.t.Column("queueid"), rd.t.Column("streamid")
	for rd.t.Next() {
		l := rd.launch()
		id, ok := d.kernels[keyOf(&l)]
		if l.Kernel == "" || l.Grid == nil || l.Workgroup == nil || !ok {
			continue
		}
		rep.Rows++
		to.Dispatch(&trace.Dispatch{
			Kernel: id, Agent: nodeOf(d.agents, l.AgentID),
			Queue: orAbsent(rd.t.Int(queue)), Stream: orAbsent(rd.t.Int(stream)),
			Start: orAbsent(l.StartNs), End: orAbsent(l.EndNs),
			LDSBytes: orAbsent(l.LDSBytes), ScratchBytes: orAbsent(l.ScratchBytes),
			Workgroup: *l.Workgroup, Grid: *l.Grid,
		})
	}
	return rep, ctx.Err()
}

func (d *Dispatches) lost(err error) trace.DispatchReport {
	return trace.DispatchReport{Notes: []trace.Note{{Level: trace.Damage, Place: d.Shown, Text: "cannot be read again: " + err.Error()}}}
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

// contextReader ends the input when the context does.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
