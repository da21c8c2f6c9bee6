package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/counters"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/kerneltrace"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/resultsjson"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/rocpd"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxOpenDatabases bounds the databases that stay open between reads; any more
// are opened for each.
const maxOpenDatabases = 64

// database reads all of a database but its dispatches and counters.
func (o *opener) database(c *candidate) error {
	db, err := o.openDatabase(c)
	if err != nil {
		return err
	}
	o.tr.OnClose(db.Close)
	if len(db.Runs) > 0 && db.Runs[0].Kind != "rocpd" {
		o.tr.Sources[len(o.tr.Sources)-1].Format = db.Runs[0].Kind
	}
	var runs []*trace.Run
	for _, r := range db.Runs {
		if o.firstOf(r) {
			runs = append(runs, r)
		}
	}
	if o.wants(trace.Dispatches) && !c.repeated {
		o.tr.Runs = append(o.tr.Runs, runs...)
	}
	o.tr.AddNotes(db.Notes...)
	if o.wants(trace.Counters) {
		o.addCounters(counterFile{candidate: *c, kind: counters.Database, db: db, runs: runs})
	}
	return nil
}

// openDatabase hands the file of a candidate over to a database.
func (o *opener) openDatabase(c *candidate) (db *rocpd.DB, err error) {
	switch {
	case len(c.head) == 0:
		err = rocpd.ErrEmpty
	case !rocpd.Sniff(c.head):
		err = o.notDatabase(c)
	default:
		o.databases++
		db, err = rocpd.Open(o.ctx, rocpd.File{FS: c.fsys, Name: c.name, Shown: c.shown, Opened: c.take(), Keep: o.databases <= maxOpenDatabases})
	}
	return db, databaseError(o.ctx.Err(), c.shown, err)
}

// databaseError is the error of a database for users. ended is that of the
// context.
func databaseError(ended error, shown string, err error) error {
	var other *rocpd.NotDatabase
	switch {
	case err == nil || ended != nil:
		return ended
	case errors.As(err, &other):
		return &PathError{Path: shown, Problem: other.Problem, Advice: other.Advice, Err: err}
	}
	return &PathError{Path: shown, Problem: cause(err), Err: err}
}

// firstOf says whether a run was not met before: the profiler gives each an
// identity of its own, which copies of a database and the parts of a merged one
// keep.
func (o *opener) firstOf(r *trace.Run) bool {
	if r.GUID == "" {
		return true
	}
	key := r.GUID
	if r.Process.PID != nil {
		key = fmt.Sprintf("%s %d", key, *r.Process.PID)
	}
	first, met := o.runs[key]
	if !met {
		o.runs[key] = r
		return true
	}
	o.tr.AddNotes(trace.Note{Level: trace.Warning, File: r.Path, Place: r.Set, Text: "the same run as in " + first.Path + ": it counts once"})
	return false
}

// kernelTrace reads a kernel trace.
func (o *opener) kernelTrace(c *candidate) error {
	if c.repeated {
		return nil
	}
	r, err := c.rest()
	if err != nil {
		return c.fail(err, "")
	}
	t, err := o.table(c, r)
	if err != nil {
		return c.fail(err, "")
	}
	o.addTimes(c, t)
	o.tr.AddNotes(t.Notes...)
	return nil
}

// table gives a kernel trace with the agent tables beside it, which it reads
// once. r is the file when it is open already.
func (o *opener) table(c *candidate, r io.Reader) (*kerneltrace.Table, error) {
	if t := o.tables[c.real]; t != nil {
		return t, nil
	}
	if r == nil {
		if err := c.start(); err != nil {
			return nil, err
		}
		defer func() { _ = c.stop() }() // what was read is whole
		whole, err := c.rest()
		if err != nil {
			return nil, err
		}
		r = whole
	}
	t, err := kerneltrace.Read(&contextReader{o.ctx, r}, c.shown)
	if err != nil {
		return nil, cmp.Or(o.ctx.Err(), err)
	}
	t.Notes = o.companion(c.real, t.Notes)
	for _, name := range agentFiles(c) {
		a := c.beside(name)
		agents, notes, err := o.agents(&a)
		if err != nil {
			t.Notes = append(t.Notes, trace.Note{Level: trace.Warning, File: a.shown, Text: cause(err) + ": left out"})
		}
		t.Agents = append(t.Agents, agents...)
		t.Notes = append(t.Notes, notes...)
	}
	if len(t.Agents) == 0 {
		t.Describe(o.described(c))
	}
	o.tables[c.real] = t
	return t, o.ctx.Err()
}

// agentSuffix ends the names of agent tables.
const agentSuffix = "agent_info.csv"

// agentFiles are the agent tables of a kernel trace: the one of the same
// output prefix, else all in its directory.
func agentFiles(c *candidate) []string {
	entries, err := fs.ReadDir(c.fsys, path.Dir(c.name))
	if err != nil {
		return nil
	}
	own := strings.TrimSuffix(path.Base(c.name), "kernel_trace.csv") + agentSuffix
	var all []string
	for _, e := range entries {
		switch {
		case !e.Type().IsRegular():
		case e.Name() == own:
			return []string{own}
		case strings.HasSuffix(e.Name(), agentSuffix):
			all = append(all, e.Name())
		}
	}
	return all
}

// described are the GPUs that a description of the machine beside a table has:
// rocprof-compute's sysinfo.csv, or what rocminfo printed (.sysinfo.txt of
// rocprof), that of the same name before others.
func (o *opener) described(c *candidate) []trace.Agent {
	entries, err := fs.ReadDir(c.fsys, path.Dir(c.name))
	if err != nil {
		return nil
	}
	own := strings.TrimSuffix(path.Base(c.name), ".csv") + ".sysinfo.txt"
	best := ""
	for _, e := range entries {
		name := e.Name()
		if e.Type().IsRegular() && (name == "sysinfo.csv" || strings.HasSuffix(name, "sysinfo.txt") && best != "sysinfo.csv" && (best == "" || name == own)) {
			best = name
		}
	}
	if best == "" {
		return nil
	}
	d := c.beside(best)
	var agents []trace.Agent
	err = readSmall(&d, func(r io.Reader) (err error) {
		if best != "sysinfo.csv" {
			agents, err = kerneltrace.ReadRocminfo(r, d.shown)
			return err
		}
		a, err := counters.ReadSysinfo(r, d.shown)
		if err == nil {
			agents = []trace.Agent{a.Agent}
		}
		return err
	})
	if err != nil {
		o.note(trace.Info, d.shown, cause(err)+": left out")
	}
	return agents
}

// agentTable is an agent table that was read.
type agentTable struct {
	agents []trace.Agent
	notes  []trace.Note
	err    error
}

// agents gives an agent table, which it reads once.
func (o *opener) agents(c *candidate) ([]trace.Agent, []trace.Note, error) {
	t, ok := o.agentTables[c.real]
	if !ok {
		f, err := c.fsys.Open(c.name)
		if err == nil {
			t.agents, t.notes, err = kerneltrace.ReadAgents(f, c.shown)
			t.notes = o.companion(c.real, t.notes)
			err = errors.Join(err, f.Close())
		}
		t.err = err
		o.agentTables[c.real] = t
	}
	return t.agents, t.notes, t.err
}

// companions reads the tables beside a dispatch directory. real is the name of
// its parent on the machine.
type companions struct {
	o    *opener
	real string
}

// KernelTrace gives a kernel trace.
func (b companions) KernelTrace(fsys fs.FS, name, shown string) (*kerneltrace.Table, error) {
	return b.o.table(&candidate{fsys: fsys, name: name, shown: shown, real: filepath.Join(b.real, filepath.FromSlash(name))}, nil)
}

// Agents gives an agent table.
func (b companions) Agents(fsys fs.FS, name, shown string) ([]trace.Agent, []trace.Note, error) {
	return b.o.agents(&candidate{fsys: fsys, name: name, shown: shown, real: filepath.Join(b.real, filepath.FromSlash(name))})
}

func realBeside(real, name string) string { return filepath.Join(filepath.Dir(real), name) }

func (o *opener) kernelStats(c *candidate) error {
	if c.repeated {
		return nil
	}
	r, err := c.rest()
	if err != nil {
		return c.fail(err, "")
	}
	t, notes, err := kerneltrace.ReadStats(r, c.shown)
	if err != nil {
		return c.fail(err, "")
	}
	if o.wants(trace.Dispatches) {
		o.tr.KernelStats = append(o.tr.KernelStats, t)
	}
	o.times.stats = append(o.times.stats, besideTimes{c.timesOf(), launchesOf(t)})
	o.tr.AddNotes(notes...)
	return nil
}

// results reads a results.json: its dispatches and samples, and where its
// counters are.
func (o *opener) results(c *candidate) error {
	runs := o.wants(trace.Dispatches) && !c.repeated
	samples := o.wants(trace.Sampled) && !o.sampledBeside(c)
	counted := o.wants(trace.Counters)
	if runs || samples {
		r, err := c.rest()
		if err != nil {
			return c.fail(err, "")
		}
		f, err := resultsjson.Read(r, c.shown)
		if err == nil && runs {
			var all []*trace.Run
			all, err = f.Runs()
			o.tr.Runs = append(o.tr.Runs, all...)
		}
		if err != nil {
			return c.fail(err, "write rocpd instead (rocprofv3 --output-format rocpd)")
		}
		counted = counted && f.HasCounters()
		if samples {
			all, notes := f.Samples()
			o.tr.AddNotes(notes...)
			for _, run := range all {
				o.addSamples(run, nil)
			}
		}
	}
	if counted {
		o.addCounters(counterFile{candidate: *c, kind: counters.Results})
	}
	return nil
}
