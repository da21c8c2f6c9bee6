package ingest

import (
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
	o.tr.Runs = append(o.tr.Runs, t.Run())
}

// addPassTimes adds the times of tables of counters where no other table of
// their run has the same kernels. Tables that count the same are not passes of
// one process but processes side by side, and count each.
func (o *opener) addPassTimes() {
	// rocprofiler-compute joins its passes into pmc_perf.csv.
	joined := func(p passTimes) int {
		if path.Base(p.table.Path) == "pmc_perf.csv" {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(o.times.passes, func(a, b passTimes) int { return joined(a) - joined(b) })
	first := map[string]string{} // a run's first counters with a kernel
	for _, b := range o.times.traces {
		for i := range b.table.Launches {
			first[b.run+"\x00"+b.table.Launches[i].Kernel] = b.table.Path
		}
	}
	for _, p := range o.times.passes {
		taken := false
		for i := range p.table.Launches {
			key := p.run + "\x00" + p.table.Launches[i].Kernel
			if by, known := first[key]; !known {
				first[key], taken = p.counters, true
			} else {
				taken = taken || by == p.counters
			}
		}
		if taken {
			o.tr.Runs = append(o.tr.Runs, p.table.Run())
		} else if p.table.Rows > 0 {
			o.note(trace.Info, p.table.Path, "its times are left out: another table of the same run has those of its kernels")
		}
	}
	o.times.passes = nil
}

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
