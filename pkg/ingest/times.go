package ingest

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/counters"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/kerneltrace"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// times are the tables of one Open that say how long kernels took. Profilers
// that count in one run and time in another leave both in one directory.
type times struct {
	// traces and stats hold nothing but times.
	traces, stats []besideTimes
	// passes are tables of counters that have times as well.
	passes []passTimes
}

// besideTimes are the times of one table. run is the place that it shares with
// the counters of the same run.
type besideTimes struct {
	run   string
	table *trace.LaunchTable
}

// passTimes are the times of a table of counters.
type passTimes struct {
	run, counters string
	table         *kerneltrace.Table
}

// timesOf is the run that a file's times belong to: as for counters, all that
// are named are one.
func (c *candidate) timesOf() string {
	if c.given {
		return ""
	}
	run, _ := runOf(c.shown)
	return run
}

// addTimes adds a table of dispatches. One of counters waits until all are
// known: each pass has the same dispatches.
func (o *opener) addTimes(c *candidate, t *kerneltrace.Table) {
	if columns := counters.Columns(c.head); len(columns) > 0 {
		slices.Sort(columns)
		o.times.passes = append(o.times.passes, passTimes{c.timesOf(), strings.Join(columns, ","), t})
		return
	}
	o.times.traces = append(o.times.traces, besideTimes{c.timesOf(), &t.LaunchTable})
	switch sums := t.Sums(); {
	case !o.wants(trace.Dispatches):
	case sums != nil:
		o.tr.KernelStats = append(o.tr.KernelStats, sums)
	default:
		o.tr.Runs = append(o.tr.Runs, t.Run())
	}
}

// settleTimes decides which tables of each run give its dispatches, once all
// are known: those that hold nothing but times, then those of counters, then
// sums. A table whose kernels a better one has says nothing new.
func (o *opener) settleTimes() {
	s := settled{listed: map[string]string{}, timed: map[string]bool{}}
	for _, b := range o.times.traces {
		s.add(b.run, b.table, b.table.Path)
	}
	// What has no times comes last; rocprofiler-compute joins its passes into
	// pmc_perf.csv.
	rank := func(p passTimes) int {
		switch {
		case !slices.ContainsFunc(p.table.Launches, isTimed):
			return 2
		case path.Base(p.table.Path) == "pmc_perf.csv":
			return 0
		}
		return 1
	}
	slices.SortStableFunc(o.times.passes, func(a, b passTimes) int { return rank(a) - rank(b) })
	o.settleSums(&s)
	for _, p := range o.times.passes {
		switch r := p.table.Run(); {
		case s.add(p.run, &p.table.LaunchTable, p.counters):
			r.HasCounters = true
			o.tr.Runs = append(o.tr.Runs, r)
		case p.table.Rows > 0:
			o.note(trace.Info, p.table.Path, "its dispatches are left out: another table of the same run has those of its kernels")
		}
	}
	o.times.passes = nil
}

// settleSums leaves out the sums of kernels whose dispatches are known. Sums
// that tell of more kernels stand for all of theirs.
func (o *opener) settleSums(s *settled) {
	all := settled{listed: map[string]string{}, timed: maps.Clone(s.timed)}
	for _, p := range o.times.passes {
		all.add(p.run, &p.table.LaunchTable, "")
	}
	for _, b := range o.times.stats {
		switch {
		case b.run == "": // named together: for the reader to judge
		case all.hasTimes(b.run, b.table):
			o.tr.KernelStats = slices.DeleteFunc(o.tr.KernelStats, func(s *trace.KernelStats) bool { return s.Path == b.table.Path })
			o.note(trace.Info, b.table.Path, "left out: a better source of the same run lies beside it")
		default:
			s.add(b.run, b.table, b.table.Path)
		}
	}
}

// settled is what the tables so far tell of each run's kernels: listed by which
// table, or by all tables that count the same, and which have times.
type settled struct {
	listed map[string]string
	timed  map[string]bool
}

// add reports whether a table has a kernel that is new. Tables of one kind that
// have the same kernels are not passes of one process but processes side by
// side, and are all new.
func (s *settled) add(run string, t *trace.LaunchTable, kind string) (isNew bool) {
	for i := range t.Launches {
		key := run + "\x00" + t.Launches[i].Kernel
		by, known := s.listed[key]
		if !known {
			s.listed[key] = kind
		}
		isNew = isNew || !known || by == kind
		s.timed[key] = s.timed[key] || isTimed(t.Launches[i])
	}
	return isNew
}

// hasTimes reports whether all kernels of a table have times already.
func (s *settled) hasTimes(run string, t *trace.LaunchTable) bool {
	return len(t.Launches) > 0 && !slices.ContainsFunc(t.Launches, func(l trace.LaunchSum) bool { return !s.timed[run+"\x00"+l.Kernel] })
}

func isTimed(l trace.LaunchSum) bool { return l.Timed > 0 }

// lendTimes gives a run under a counter profiler the times of the tables that
// belong to it: sums where there is nothing better.
func (o *opener) lendTimes(key string, run *trace.CounterRun) {
	for _, from := range [][]besideTimes{o.times.traces, o.times.stats} {
		if len(run.LaunchTables) > 0 {
			return
		}
		for _, b := range from {
			if b.run == key && !slices.Contains(run.LaunchTables, b.table) {
				run.LaunchTables = append(run.LaunchTables, b.table)
			}
		}
	}
}

// lendAcross lends the times of the only run that has some to the only run that
// has counters and none, where they lie in different places: kernels and shapes
// tell whether they fit.
func (o *opener) lendAcross() {
	if len(o.tr.CounterRuns) != 1 || len(o.tr.CounterRuns[0].LaunchTables) > 0 {
		return
	}
	var tables []*trace.LaunchTable
	for _, b := range o.times.traces {
		if b.run != o.times.traces[0].run {
			return
		}
		tables = append(tables, b.table)
	}
	o.tr.CounterRuns[0].LaunchTables = tables
}

// launchesOf makes launches of the rows of a statistics table, whose shapes
// are not known.
func launchesOf(s *trace.KernelStats) *trace.LaunchTable {
	t := &trace.LaunchTable{Path: s.Path, Kind: "kernel_stats"}
	for i, r := range s.Rows {
		t.Rows += r.Calls
		t.Launches = append(t.Launches, trace.LaunchSum{
			Launch: trace.Launch{Origin: trace.Origin{File: s.Path, Row: i + 1}, Kernel: r.Name},
			Count:  r.Calls, Timed: r.Calls, TotalNs: r.TotalNs,
		})
	}
	return t
}
