package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/counters"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/resultsjson"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/rocpd"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// counterFile is one file with counters.
type counterFile struct {
	candidate
	kind counters.Kind
	// run is the same for the files of one run of the profiler, pass tells
	// its passes apart.
	run, pass string
	// db is an open database, runs are its runs that no other has.
	db   *rocpd.DB
	runs []*trace.Run
}

// passPattern matches directories that hold one pass. Source: rocprofiler-sdk
// rocprofv3.py (pass_N of jobs, pmc_N of text inputs).
func passPattern() *regexp.Regexp { return regexp.MustCompile(`^(pass|pmc)_[0-9]+$`) }

// counterTable keeps a counter table.
func (o *opener) counterTable(c *candidate) error {
	o.addCounters(counterFile{candidate: *c, kind: counters.Sniff(c.head)})
	return nil
}

// addCounters keeps a file with counters until all are known.
func (o *opener) addCounters(f counterFile) {
	f.file, f.head = nil, nil
	f.run, f.pass = runOf(f.shown)
	if f.given {
		f.run = "" // all that are named are one run
	}
	o.counters = append(o.counters, f)
}

// runOf tells by a file's path which run and pass it is of: directories of
// passes do not count, nor do process ids before the file's name; other
// prefixes (rocprofv3 -o) do.
func runOf(shown string) (run, pass string) {
	var dirs []string
	pattern := passPattern()
	for _, d := range strings.Split(path.Dir(shown), "/") {
		if pattern.MatchString(d) {
			pass = d
			continue
		}
		dirs = append(dirs, d)
	}
	base := path.Base(shown)
	for _, suffix := range []string{"counter_collection.csv", "kernel_trace.csv", "kernel_stats.csv", "results.json", "results.db", ".db"} {
		prefix, ok := strings.CutSuffix(base, suffix)
		prefix = strings.TrimSuffix(prefix, "_")
		if _, err := strconv.ParseUint(prefix, 10, 64); ok && err != nil {
			return strings.Join(append(dirs, prefix+"_*"), "/"), pass
		}
	}
	return strings.Join(dirs, "/"), pass
}

// withoutParts drops tables whose rows another file of the same directory
// holds as well: rocprofiler-compute joins pmc_perf_N.csv to pmc_perf.csv, and
// a results.json repeats the CSV beside it.
func withoutParts(files []counterFile) []counterFile {
	joined, tables := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		if path.Base(f.name) == "pmc_perf.csv" {
			joined[path.Dir(f.shown)] = true
		}
		if f.kind != counters.Results && f.kind != counters.Database {
			tables[f.run+"\x00"+f.pass] = true
		}
	}
	part := regexp.MustCompile(`^pmc_perf_[0-9]+\.csv$`)
	return slices.DeleteFunc(files, func(f counterFile) bool {
		if part.MatchString(path.Base(f.name)) {
			return joined[path.Dir(f.shown)]
		}
		return (f.kind == counters.Results || f.kind == counters.Database) && tables[f.run+"\x00"+f.pass]
	})
}

// counterRuns makes the runs of all counter files.
func (o *opener) counterRuns() error {
	o.settleTimes()
	index := map[string]*trace.CounterRun{}
	beside := map[string]bool{}
	for i := range o.counters {
		f := &o.counters[i]
		if err := o.ctx.Err(); err != nil {
			return err
		}
		counted := f.counted()
		if f.db != nil && len(counted) == 0 {
			continue
		}
		run := index[f.run]
		if run == nil {
			run = &trace.CounterRun{Path: f.shown, Format: f.kind.String()}
			index[f.run] = run
			o.tr.CounterRuns = append(o.tr.CounterRuns, run)
		} else if f.run != "" {
			run.Path = f.run
		}
		if f.db != nil {
			if err := o.databaseCounters(run, f, counted); err != nil {
				return err
			}
			continue
		}
		run.Sources = append(run.Sources, f.source())
		if err := o.describe(run, f); err != nil {
			return err
		}
		dir := path.Dir(f.shown) + "\x00" + f.run
		if !beside[dir] {
			beside[dir] = true
			o.besideCounters(run, f)
		}
	}
	for key, run := range index {
		o.lendTimes(key, run)
	}
	o.lendAcross()
	return nil
}

// counted are the runs of a database that have counters.
func (f *counterFile) counted() []*trace.Run {
	return slices.DeleteFunc(slices.Clone(f.runs), func(r *trace.Run) bool { return !r.HasCounters })
}

func (o *opener) databaseCounters(run *trace.CounterRun, f *counterFile, counted []*trace.Run) error {
	for _, r := range counted {
		c, err := f.db.Counters(o.ctx, r, f.pass)
		if err != nil {
			return f.fail(err, "")
		}
		run.Sources = append(run.Sources, c)
		run.Agents = addAgents(run.Agents, rocpd.CounterAgents(r))
		run.Kernels = append(run.Kernels, r.Kernels...)
	}
	o.tr.AddNotes(f.db.Notes...)
	return nil
}

// addAgents adds GPUs that are not there yet: the processes of one machine
// describe the same ones.
func addAgents(all, more []trace.CounterAgent) []trace.CounterAgent {
	for _, a := range more {
		if !slices.ContainsFunc(all, func(b trace.CounterAgent) bool { return b.NodeID == a.NodeID && b.Gfx == a.Gfx }) {
			all = append(all, a)
		}
	}
	return all
}

func (f *counterFile) source() trace.CounterSource {
	if f.kind == counters.Results {
		return &resultsjson.Counters{FS: f.fsys, Name: f.name, Shown: f.shown, Pass: f.pass}
	}
	t := &counters.Table{FS: f.fsys, Name: f.name, Shown: f.shown, Pass: f.pass}
	base, _ := strings.CutSuffix(path.Base(f.name), ".csv")
	if strings.HasPrefix(base, "SQ_") && f.kind == counters.WideTable {
		t.Only, t.Pass = base, base
	}
	if strings.HasPrefix(base, "pmc_perf_") {
		t.Pass = base
	}
	return t
}

// describe adds the agents and kernels that a results.json holds itself.
func (o *opener) describe(run *trace.CounterRun, f *counterFile) error {
	if f.kind != counters.Results {
		return nil
	}
	agents, kernels, err := (&resultsjson.Counters{FS: f.fsys, Name: f.name, Shown: f.shown}).Described(o.ctx)
	if o.ctx.Err() != nil {
		return o.ctx.Err()
	}
	if err != nil {
		o.note(trace.Damage, f.shown, strings.TrimPrefix(err.Error(), f.shown+": "))
	}
	run.Agents = append(run.Agents, agents...)
	run.Kernels = append(run.Kernels, kernels...)
	return nil
}

// besideCounters reads what lies beside a counter file: the GPUs, measured
// ceilings, and kernel traces, which have the times that old releases leave
// out.
func (o *opener) besideCounters(run *trace.CounterRun, f *counterFile) {
	entries, err := fs.ReadDir(f.fsys, path.Dir(f.name))
	if err != nil {
		return
	}
	own := strings.TrimSuffix(path.Base(f.name), "counter_collection.csv")
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name()] = e.Type().IsRegular()
	}
	for _, e := range entries {
		name := e.Name()
		mine := func(suffix string) bool {
			return strings.HasSuffix(name, suffix) && (name == own+suffix || !names[own+suffix])
		}
		c := f.beside(name)
		var err error
		switch {
		case !e.Type().IsRegular():
		case mine(agentSuffix):
			err = o.counterAgents(run, &c)
		case name == "sysinfo.csv":
			err = readSmall(&c, func(r io.Reader) error { return readSysinfo(run, r, c.shown) })
		case name == "roofline.csv":
			err = readSmall(&c, func(r io.Reader) error { return readRoofline(run, r, c.shown) })
		case mine("kernel_trace.csv"), name == "timestamps.csv":
			err = o.timesBeside(run, &c, name == "timestamps.csv" || name == own+"kernel_trace.csv")
		}
		if err != nil {
			o.note(trace.Info, c.shown, cause(err)+": left out")
		}
	}
	if len(run.Agents) == 0 {
		run.Agents = namedByNode(o.described(&f.candidate))
	}
}

// namedByNode are agents as a table of rocprof names them: by their nodes, or by
// numbers of its own, which say nothing where all are alike.
func namedByNode(agents []trace.Agent) []trace.CounterAgent {
	var out []trace.CounterAgent
	for _, a := range agents {
		out = append(out, trace.CounterAgent{Agent: a, Names: []string{strconv.FormatInt(a.NodeID, 10)}})
	}
	if !slices.ContainsFunc(agents, func(a trace.Agent) bool { return a.Gfx != agents[0].Gfx || a.Product != agents[0].Product }) && len(out) > 0 {
		out = out[:1]
		out[0].Names = nil
	}
	return out
}

// readSmall reads one file beside a counter file.
func readSmall(c *candidate, read func(io.Reader) error) error {
	file, err := c.fsys.Open(c.name)
	if err != nil {
		return err
	}
	return errors.Join(read(file), file.Close())
}

func (o *opener) counterAgents(run *trace.CounterRun, c *candidate) error {
	agents, notes, err := o.agents(c)
	o.tr.AddNotes(notes...)
	agents = slices.Clone(agents)
	slices.SortStableFunc(agents, func(a, b trace.Agent) int { return cmp.Compare(a.NodeID, b.NodeID) })
	for i, a := range agents {
		// "Agent N" counts all agents, "GPU N" the GPUs alone (rocprofv3
		// --agent-index); old releases write the bare number.
		run.Agents = append(run.Agents, trace.CounterAgent{Agent: a, Names: []string{
			fmt.Sprintf("Agent %d", a.NodeID), strconv.FormatInt(a.NodeID, 10),
			fmt.Sprintf("GPU %d", i), fmt.Sprintf("GPU-%d", i),
		}})
	}
	return err
}

func readSysinfo(run *trace.CounterRun, r io.Reader, shown string) error {
	agent, err := counters.ReadSysinfo(r, shown)
	if err == nil {
		run.Agents = append(run.Agents, agent)
	}
	return err
}

func readRoofline(run *trace.CounterRun, r io.Reader, shown string) error {
	roofs, err := counters.ReadRoofline(r, shown)
	run.Rooflines = append(run.Rooflines, roofs...)
	return err
}

// timesBeside adds a kernel trace, which has the times that old releases leave out of
// counter tables. One of another output prefix may be of another run: it is
// worth no warning.
func (o *opener) timesBeside(run *trace.CounterRun, c *candidate, own bool) error {
	t, err := o.table(c, nil)
	if err == nil {
		notes := t.Notes
		if !own {
			notes = trace.Lower(notes, trace.Warning, trace.Info)
		}
		o.tr.AddNotes(notes...)
		run.LaunchTables = append(run.LaunchTables, &t.LaunchTable)
	}
	return err
}
