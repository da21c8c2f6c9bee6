package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/counters"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/kerneltrace"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/resultsjson"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/rocpd"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxCounterFiles bounds the counter files of one tree.
const maxCounterFiles = 1 << 16

// counterFile is one file with counters.
type counterFile struct {
	located
	kind counters.Kind
	// run is the same for the files of one run of the profiler, pass tells
	// its passes apart.
	run, pass string
	// sets are the processes of a database, agents its GPUs; nil for tables.
	sets   []*rocpd.Counters
	agents []trace.CounterAgent
}

// passPattern matches directories that hold one pass. Source: rocprofiler-sdk
// rocprofv3.py (pass_N of jobs, pmc_N of text inputs).
func passPattern() *regexp.Regexp { return regexp.MustCompile(`^(pass|pmc)_[0-9]+$`) }

// counterCandidate says by name whether a file of a tree may hold counters.
func counterCandidate(name string) bool {
	return strings.HasSuffix(name, ".csv") || strings.HasSuffix(name, "results.json") || databaseCandidate(name)
}

// counterFile keeps a file if it holds counters.
func (o *opener) counterFile(f located, named bool) (ok bool, err error) {
	head, err := counterHead(f)
	if err != nil {
		return false, &PathError{Path: f.shown, Problem: cause(err), Err: err}
	}
	if rocpd.Sniff(head) {
		return o.counterDatabase(f, named)
	}
	kind := counters.Sniff(head)
	if kind == counters.NotCounters {
		return false, nil
	}
	if !o.once(f.real) {
		return true, nil
	}
	c := counterFile{located: f, kind: kind}
	c.run, c.pass = runOf(f.shown)
	if named {
		c.run = "" // all that are named are one run
	}
	o.counters = append(o.counters, c)
	return true, nil
}

// counterDatabase keeps a database. Where kernels were asked for as well, it
// is left to them too, and kept only if it has counters.
func (o *opener) counterDatabase(f located, named bool) (ok bool, err error) {
	if !o.once(f.real + "#counters") {
		return !o.opts.Kernels, nil
	}
	s, err := sniff(f)
	if err != nil {
		return false, &PathError{Path: f.shown, Problem: cause(err), Err: err}
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	runs, err := o.database(f, s)
	if err != nil {
		return false, err
	}
	c := counterFile{located: f, kind: counters.Database}
	c.run, c.pass = runOf(f.shown)
	if named {
		c.run = ""
	}
	counted := false
	for _, r := range runs {
		counted = counted || r.HasCounters
		c.agents = append(c.agents, rocpd.CounterAgents(r)...)
	}
	if !counted && o.opts.Kernels {
		return false, nil
	}
	if c.sets, err = rocpd.OpenCounters(o.ctx, rocpd.File{FS: f.fsys, Name: f.name, Shown: f.shown}, c.pass, runs); err != nil {
		return false, &PathError{Path: f.shown, Problem: cause(err), Err: err}
	}
	for _, r := range runs {
		o.tr.Notes = append(o.tr.Notes, r.Notes...)
	}
	o.counters = append(o.counters, c)
	return !o.opts.Kernels, nil
}

// noCounterFile says what to give where only counters are wanted.
func noCounterFile(p, problem string) error {
	return &PathError{
		Path: p, Problem: problem,
		Advice: "give a *_counter_collection.csv or results.json of rocprofv3, a rocpd database, a wide CSV of rocprof, or a rocprof-compute workload directory",
	}
}

func counterHead(f located) (head []byte, err error) {
	file, err := f.fsys.Open(f.name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	head = make([]byte, counters.SniffBytes)
	n, err := io.ReadFull(file, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
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
	for _, suffix := range []string{"counter_collection.csv", "results.json", "results.db", ".db"} {
		prefix, ok := strings.CutSuffix(base, suffix)
		prefix = strings.TrimSuffix(prefix, "_")
		if _, err := strconv.ParseUint(prefix, 10, 64); ok && err != nil {
			return strings.Join(append(dirs, prefix+"_*"), "/"), pass
		}
	}
	return strings.Join(dirs, "/"), pass
}

// counterFiles keeps the counter files of a tree and returns how many there
// are.
func (o *opener) counterFiles(fsys fs.FS, names []string, display, real string) (found int, err error) {
	before := len(o.counters)
	for _, name := range names {
		if err := o.ctx.Err(); err != nil {
			return found, err
		}
		f := located{
			fsys: fsys, name: name,
			shown: path.Join(filepath.ToSlash(display), name), real: filepath.Join(real, filepath.FromSlash(name)),
		}
		ok, err := o.counterFile(f, false)
		if err != nil {
			o.tr.Notes = append(o.tr.Notes, trace.Note{Level: damageOf(err), Place: f.shown, Text: strings.TrimPrefix(err.Error(), f.shown+": ")})
		}
		if ok {
			found++
		}
	}
	o.counters = append(o.counters[:before:before], withoutParts(o.counters[before:])...)
	return found, nil
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
	index := map[string]*trace.CounterRun{}
	beside := map[string]bool{}
	for _, f := range o.counters {
		if err := o.ctx.Err(); err != nil {
			return err
		}
		run := index[f.run]
		if run == nil {
			run = &trace.CounterRun{Path: f.shown, Format: f.kind.String()}
			index[f.run] = run
			o.tr.CounterRuns = append(o.tr.CounterRuns, run)
		} else if f.run != "" {
			run.Path = f.run
		}
		if f.kind == counters.Database {
			for _, set := range f.sets {
				run.Sources = append(run.Sources, set)
			}
			run.Agents = addAgents(run.Agents, f.agents)
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

// describe adds the agents that a results.json holds itself.
func (o *opener) describe(run *trace.CounterRun, f counterFile) error {
	if f.kind != counters.Results {
		return nil
	}
	agents, err := (&resultsjson.Counters{FS: f.fsys, Name: f.name, Shown: f.shown}).Agents(o.ctx)
	if o.ctx.Err() != nil {
		return o.ctx.Err()
	}
	if err != nil {
		run.Notes = append(run.Notes, trace.Note{Level: trace.Damage, Place: f.shown, Text: strings.TrimPrefix(err.Error(), f.shown+": ")})
	}
	run.Agents = append(run.Agents, agents...)
	return nil
}

// besideCounters reads what lies beside a counter file: the GPUs, measured
// ceilings, and kernel traces, which have the times that old releases leave
// out.
func (o *opener) besideCounters(run *trace.CounterRun, f counterFile) {
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
		switch {
		case !e.Type().IsRegular():
		case mine(agentSuffix):
			o.companion(run, f, name, readCounterAgents)
		case name == "sysinfo.csv":
			o.companion(run, f, name, readSysinfo)
		case name == "roofline.csv":
			o.companion(run, f, name, readRoofline)
		case mine("kernel_trace.csv"), name == "timestamps.csv":
			o.companion(run, f, name, readTimes)
		}
	}
}

// companion reads one file beside a counter file; what cannot be read is
// noted.
func (o *opener) companion(run *trace.CounterRun, f counterFile, name string, read func(*trace.CounterRun, io.Reader, string) error) {
	shown := path.Join(path.Dir(f.shown), name)
	file, err := f.fsys.Open(path.Join(path.Dir(f.name), name))
	if err == nil {
		err = errors.Join(read(run, file, shown), file.Close())
	}
	if err != nil {
		run.Notes = append(run.Notes, trace.Note{Level: trace.Info, Place: shown, Text: cause(err) + ": left out"})
	}
}

func readCounterAgents(run *trace.CounterRun, r io.Reader, shown string) error {
	agents, notes, err := kerneltrace.ReadAgents(r, shown)
	run.Notes = append(run.Notes, notes...)
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

func readTimes(run *trace.CounterRun, r io.Reader, shown string) error {
	t, err := kerneltrace.Read(r, shown)
	if err == nil {
		run.LaunchTables = append(run.LaunchTables, t)
	}
	return err
}
