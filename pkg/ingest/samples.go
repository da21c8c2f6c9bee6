package ingest

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/pcsampling"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// sampleTables end the names of tables of samples.
var sampleTables = [...]string{"pc_sampling_stochastic.csv", "pc_sampling_host_trap.csv"}

const (
	kernelTraceSuffix = "kernel_trace.csv"
	resultsSuffix     = "results.json"
)

// sampleTable reads a table of samples. Which kernel a dispatch was, the kernel
// trace of the same run says.
func (o *opener) sampleTable(c *candidate) error {
	r, err := c.rest()
	if err != nil {
		return c.fail(err, "")
	}
	dispatches, agents := o.sampledDispatches(c)
	run, notes, err := pcsampling.Read(&contextReader{o.ctx, r}, c.shown, func(id int64) *pcsampling.Dispatch { return dispatches[id] })
	if err != nil {
		return cmp.Or(o.ctx.Err(), c.fail(err, ""))
	}
	run.Agents = agents
	o.addSamples(run, notes)
	return o.ctx.Err()
}

// addSamples adds a run, and says what of it cannot be told.
func (o *opener) addSamples(run *trace.SampleRun, notes []trace.Note) {
	note := func(level trace.Level, text string) {
		notes = append(notes, trace.Note{Level: level, File: run.Path, Place: run.Set, Text: text})
	}
	if run.Samples == 0 {
		note(trace.Warning, "no sample was taken: sample more often (--pc-sampling-interval), or run the kernels longer")
	}
	if run.Undecoded > 0 {
		note(trace.Info, trace.Many(run.Undecoded, "sample is", "samples are")+" in code that the profiler could not decode (the runtime's own kernels, or code that changes itself)")
	}
	if run.Lumped > 0 {
		note(trace.Damage, trace.Many(run.Lumped, "sample is", "samples are")+" of more different instructions than are held, and left out of the ranking")
	}
	for i := range run.Kernels {
		if k := &run.Kernels[i]; k.Symbol == "" && k.Name == "" && k.Samples > k.Undecoded {
			note(trace.Warning, "which kernels "+trace.Many(k.Dispatches, "dispatch was", "dispatches were")+" is not known: take samples with --kernel-trace as well, and keep the *_kernel_trace.csv beside them")
		}
	}
	o.tr.AddNotes(notes...)
	o.tr.SampleRuns = append(o.tr.SampleRuns, run)
}

// sampledDispatches are the dispatches of the kernel trace beside a table of
// samples, by number: that of the same output prefix, else the only one of its
// directory.
func (o *opener) sampledDispatches(c *candidate) (map[int64]*pcsampling.Dispatch, []trace.Agent) {
	name := o.kernelTraceBeside(c)
	if name == "" {
		return nil, nil
	}
	b := c.beside(name)
	t, err := o.table(&b, nil)
	if err != nil {
		o.note(trace.Warning, b.shown, strings.TrimPrefix(cause(err), b.shown+": ")+": it does not tell the kernels of the samples")
		return nil, nil
	}
	run := t.Run()
	f := &dispatchIndex{by: map[int64]*pcsampling.Dispatch{}, kernels: map[int64]*trace.RunKernel{}}
	for i := range run.Kernels {
		f.kernels[run.Kernels[i].ID] = &run.Kernels[i]
	}
	_, _ = run.Dispatches.Fold(o.ctx, 1, func() trace.DispatchFolder { return f }) // a table is in memory
	return f.by, t.Agents
}

// kernelTraceBeside names the kernel trace beside a table of samples, "" for
// none.
func (o *opener) kernelTraceBeside(c *candidate) string {
	entries, err := fs.ReadDir(c.fsys, path.Dir(c.name))
	if err != nil {
		return ""
	}
	own := prefixOf(path.Base(c.name)) + kernelTraceSuffix
	var all []string
	for _, e := range entries {
		switch {
		case e.Name() == own:
			return own
		case strings.HasSuffix(e.Name(), kernelTraceSuffix):
			all = append(all, e.Name())
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return ""
}

// prefixOf is the output prefix of a table of samples.
func prefixOf(name string) string {
	for _, s := range sampleTables {
		if prefix, ok := strings.CutSuffix(name, s); ok {
			return prefix
		}
	}
	return name
}

// dispatchIndex collects dispatches by number.
type dispatchIndex struct {
	by      map[int64]*pcsampling.Dispatch
	kernels map[int64]*trace.RunKernel
}

// Dispatch takes one in.
func (f *dispatchIndex) Dispatch(d *trace.Dispatch) {
	x := &pcsampling.Dispatch{Kernel: d.Kernel, Agent: d.Agent, Workgroup: d.Workgroup, Grid: d.Grid}
	if k := f.kernels[d.Kernel]; k != nil {
		x.Symbol, x.Name = k.Symbol, k.Name
	}
	f.by[d.ID] = x
}

// sampledBeside reports whether the samples of a results.json are in a table
// beside it: a profiler that wrote several formats wrote the same samples into
// each.
func (o *opener) sampledBeside(c *candidate) bool {
	prefix, ok := strings.CutSuffix(path.Base(c.name), resultsSuffix)
	if c.given || !ok {
		return false
	}
	entries, err := fs.ReadDir(c.fsys, path.Dir(c.name))
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return slices.ContainsFunc(sampleTables[:], func(s string) bool { return e.Name() == prefix+s })
	})
}
