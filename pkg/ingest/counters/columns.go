package counters

import (
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/csvtable"
)

// columns are the places of what a counter table says, found by the names of
// its header; -1 is absent.
type columns struct {
	kernel, dispatch, process, agent, grid, workgroup, lds, start, end, replay, xcc int

	// counter and value are the columns of a long table.
	counter, value int
	// wide are the counter columns of a wide one.
	wide []wideColumn
	// width is the number of columns.
	width int
}

// wideColumn is one counter of a wide table.
type wideColumn struct {
	at       int
	counter  string
	instance int
}

// meanings lists the columns by normalized name, the first that is there
// counts. Sources: rocprofiler-sdk output/generateCSV.cpp and
// lib/python/rocpd/source/csv.cpp ("Pid" and "Guid" hold the GUID), rocprof
// results.csv, rocprofv2, rocprofiler-compute pmc_perf.csv.
var meanings = [...]struct {
	to    func(*columns) *int
	names []string
}{
	{func(c *columns) *int { return &c.kernel }, []string{"kernelname"}},
	{func(c *columns) *int { return &c.dispatch }, []string{"dispatchid", "index"}},
	{func(c *columns) *int { return &c.process }, []string{"guid", "pid", "processid"}},
	{func(c *columns) *int { return &c.agent }, []string{"agentid", "gpuid"}},
	{func(c *columns) *int { return &c.grid }, []string{"gridsize", "grd"}},
	{func(c *columns) *int { return &c.workgroup }, []string{"workgroupsize", "wgr"}},
	{func(c *columns) *int { return &c.lds }, []string{"ldsblocksize", "ldsperworkgroup", "lds"}},
	{func(c *columns) *int { return &c.start }, []string{"starttimestamp", "beginns", "startns"}},
	{func(c *columns) *int { return &c.end }, []string{"endtimestamp", "endns"}},
	{func(c *columns) *int { return &c.replay }, []string{"replaypass"}},
	{func(c *columns) *int { return &c.xcc }, []string{"xccindex"}},
	{func(c *columns) *int { return &c.counter }, []string{"countername"}},
	{func(c *columns) *int { return &c.value }, []string{"countervalue"}},
}

// described are the other columns that are not counters, by normalized name.
var described = strings.Fields(`
	queueid queueindex queue tid threadid kernelid correlationid streamid kind category nodeid
	scratchsize scratchperworkitem scr privatesegmentsize groupsegmentsize
	vgprcount accumvgprcount sgprcount archvgpr archvgprcount accumvgpr sgpr vgpr wavesize sig obj
	dispatchns completens durationns duration
	gridsizex gridsizey gridsizez workgroupsizex workgroupsizey workgroupsizez
	fbar gwsize objhandle
	graphid graphexecid graphnodeid hostname host rank nid context operation unnamed kernelnameshort`)

// readHeader finds the columns of a table; ok is false when it is no counter
// table: where the header is not that of a profiler, with the dispatch and its
// shape, only columns with the names of counters are some. A table with a
// kernel and no counter at all is one only if it has nothing else either (an
// empty workload).
func readHeader(names []string) (c columns, ok bool) {
	c = columns{width: len(names)}
	at := map[string]int{}
	for i, n := range names {
		n = csvtable.Normalize(n)
		if _, twice := at[n]; !twice {
			at[n] = i
		}
	}
	for _, m := range meanings {
		*m.to(&c) = -1
		for _, n := range m.names {
			if i, found := at[n]; found {
				*m.to(&c) = i
				break
			}
		}
	}
	if c.kernel < 0 {
		return c, false
	}
	if c.counter >= 0 {
		return c, c.value >= 0
	}
	c.wide = wideColumns(names)
	if c.dispatch < 0 || c.grid < 0 || c.workgroup < 0 {
		c.wide = slices.DeleteFunc(c.wide, func(w wideColumn) bool { return !knownCounter(w.counter) })
	}
	empty := len(names) == 2 && c.dispatch >= 0
	return c, len(c.wide) > 0 || empty
}

// wideColumns are the columns that hold counters: all that have no other
// meaning. A join leaves copies of such columns behind, as "wave_size_1"; names
// of counters may end in digits as well, so only copies of columns that are
// known are left out.
func wideColumns(names []string) []wideColumn {
	known := map[string]bool{"": true}
	for _, n := range described {
		known[n] = true
	}
	for _, m := range meanings {
		for _, n := range m.names {
			known[n] = true
		}
	}
	var out []wideColumn
	for i, n := range names {
		n = strings.TrimSpace(n)
		if known[csvtable.Normalize(n)] || known[csvtable.Normalize(withoutCopyNumber(n))] {
			continue
		}
		counter, instance := splitInstance(n)
		out = append(out, wideColumn{i, counter, instance})
	}
	return out
}

// withoutCopyNumber takes "_1" off "wave_size_1".
func withoutCopyNumber(name string) string {
	base := strings.TrimRight(name, "0123456789")
	if len(base) == len(name) || !strings.HasSuffix(base, "_") {
		return name
	}
	return base[:len(base)-1]
}
