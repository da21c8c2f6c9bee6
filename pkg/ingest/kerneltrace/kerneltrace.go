// Package kerneltrace reads kernel-trace tables, the CSV files with one row per
// dispatch that ROCm's profilers write, and the agent tables beside them.
//
// Columns are found by name, so that the tables of all releases are read:
//
//	rocprofv3 of ROCm 6.2     Private_Segment_Size, Group_Segment_Size; no registers
//	rocprofv3 of later ones   LDS_Block_Size, Scratch_Size, VGPR_Count, ...
//	rocprof (v1)              KernelName, grd, wgr, lds, scr, arch_vgpr, ...
//	rocprofv2, rocprof-compute  Grid_Size, LDS_Per_Workgroup, Arch_VGPR, ...
//
// A table is read once. What all dispatches of one launch have in common is held
// once, so that a row takes 48 bytes. Source: rocprofiler-sdk
// output/generateCSV.cpp.
package kerneltrace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/csvtable"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Bounds of what is kept of one table.
const (
	maxLaunches  = 1 << 18   // different launches
	maxNameBytes = 256 << 20 // all kernel names together
	maxAgents    = 1024
)

// SniffBytes of a file are enough for Sniff.
const SniffBytes = 4096

// Kind is what the header of a file says.
type Kind int

// The kinds of tables.
const (
	// NotTable: nothing that this package knows.
	NotTable Kind = iota
	// KernelTrace: one row per dispatch.
	KernelTrace
	// CounterTable: one row per dispatch and counter.
	CounterTable
	// AgentTable: one row per agent.
	AgentTable
)

// Sniff recognises a table by its header, the first line of the file.
func Sniff(head []byte) Kind {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	has := map[string]bool{}
	for _, name := range strings.Split(string(line), ",") {
		has[csvtable.Normalize(strings.Trim(strings.TrimSpace(name), `"`))] = true
	}
	hasAny := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return has[n] })
	}
	switch {
	case has["agenttype"] && has["nodeid"]:
		return AgentTable
	case has["countername"]:
		return CounterTable
	case !has["kernelname"] || !hasAny("gridsizex", "gridsize", "grd"):
	case hasAny(startNames...) && hasAny(endNames...),
		hasAny("workgroupsizex", "workgroupsize", "wgr") && (hasAny(durationNames...) || hasAny("index", "dispatchid", "kind") && hasAny("agentid", "gpuid")):
		return KernelTrace
	}
	return NotTable
}

// startNames, endNames and durationNames are the columns of a dispatch's times.
var (
	durationNames = []string{"durationns", "duration"}
	startNames    = []string{"starttimestamp", "startns", "beginns"}
	endNames      = []string{"endtimestamp", "endns"}
)

// Table is a kernel trace in memory.
type Table struct {
	// LaunchTable has its rows summed by launch.
	trace.LaunchTable
	// Notes say what was lost or odd.
	Notes []trace.Note

	rows []row
	// keys tell Launches apart.
	keys []key
}

// row is one dispatch: what tells it from the others of its launch. Figures
// that are not known are trace.Absent.
type row struct {
	launch int32 // its place in Launches
	number int32 // of the row in the file, from 1
	id, queue, stream,
	start, end int64
}

// reader reads the rows of one table.
type reader struct {
	t     *csvtable.Table
	file  string
	out   *Table
	index map[key]int
	names map[string]string
	bytes int // of names
	// columns by meaning
	kernel, agent, queue, stream, start, end, duration, lds, scratch, vgpr, accum, sgpr string
	skipped                                                                             int
	others                                                                              trace.Others
}

// key tells launches apart.
type key struct {
	kernel, agent   string
	counts          [5]int64
	workgroup, grid [3]int64
}

// Read reads a kernel trace. file is its path as the user can find it. It
// fails when the input is not such a table; a damaged row is a note.
func Read(r io.Reader, file string) (*Table, error) {
	rd, err := newReader(r, file)
	if err != nil {
		return nil, err
	}
	for rd.t.Next() {
		rd.row()
	}
	rd.out.Notes = append(rd.t.Notes(file), rd.others.Notes(file)...)
	if rd.skipped > 0 {
		rd.out.Notes = append(rd.out.Notes, trace.Note{
			Level: trace.Damage, File: file,
			Text: fmt.Sprintf("more than %d different launches: %s", len(rd.out.Launches),
				trace.Many(rd.skipped, "dispatch is left out", "dispatches are left out")),
		})
	}
	return rd.out, nil
}

// newReader reads the header of a kernel trace.
func newReader(r io.Reader, file string) (*reader, error) {
	t, err := csvtable.Open(r)
	if err != nil {
		return nil, err
	}
	rd := &reader{
		t: t, file: file, out: &Table{LaunchTable: trace.LaunchTable{Path: file, Kind: "kernel_trace"}},
		index: map[key]int{}, names: map[string]string{}, others: trace.Others{},
		kernel: t.Column("kernelname"), agent: t.Column("agentid", "gpuid"),
		queue: t.Column("queueid"), stream: t.Column("streamid"),
		start: t.Column(startNames...), end: t.Column(endNames...),
		duration: t.Column(durationNames...),
		lds:      t.Column("groupsegmentsize", "ldsblocksize", "ldsperworkgroup", "lds"),
		scratch:  t.Column("scratchsize", "privatesegmentsize", "scratchperworkitem", "scr"),
		vgpr:     t.Column("vgprcount", "archvgprcount", "archvgpr"),
		accum:    t.Column("accumvgprcount", "accumvgpr"),
		sgpr:     t.Column("sgprcount", "sgpr"),
	}
	switch {
	case t.Column("countername") != "":
		return nil, errors.New("a counter table, not a kernel trace: give the *_kernel_trace.csv")
	case rd.kernel == "" || t.Column("gridsizex", "gridsize", "grd") == "":
		return nil, errors.New("not a kernel trace: its header has no Kernel_Name and Grid_Size")
	}
	t.Named(rd.kernel)
	// Group_Segment_Size is what the dispatch packet asks for (rocprofiler-sdk
	// dispatch_info.group_segment_size); lds of rocprof and LDS_Per_Workgroup of
	// rocprofv2 likewise.
	rd.out.LDSDispatched = rd.lds == "groupsegmentsize" || rd.lds == "ldsperworkgroup" || rd.lds == "lds"
	return rd, nil
}

// row adds the current row.
func (rd *reader) row() {
	l, duration := rd.launch(), rd.t.Int(rd.duration)
	if l.Kernel == "" || l.Grid == nil || l.Workgroup == nil || rd.t.Wrong() {
		rd.t.Reject()
		return
	}
	if what, ok := trace.NotKernel(l.Kernel); ok {
		ns, _ := l.DurationNs()
		rd.others.Add(what, 1, ns)
		return
	}
	k := key{kernel: l.Kernel, agent: l.AgentID, workgroup: *l.Workgroup, grid: *l.Grid}
	for i, v := range [...]*int64{l.LDSBytes, l.ScratchBytes, l.VGPRs, l.AccumVGPRs, l.SGPRs} {
		if k.counts[i] = -1; v != nil {
			k.counts[i] = *v
		}
	}
	i, ok := rd.index[k]
	if !ok {
		if len(rd.out.Launches) == maxLaunches || !rd.keep(&l, &k) {
			rd.skipped++
			return
		}
		i = len(rd.out.Launches)
		rd.index[k] = i
		rd.out.Launches = append(rd.out.Launches, trace.LaunchSum{Launch: l})
		rd.out.keys = append(rd.out.keys, k)
	}
	queue, _ := rd.t.ID(rd.queue)
	stream, _ := rd.t.ID(rd.stream)
	rd.out.Rows++
	rd.out.rows = append(rd.out.rows, row{
		launch: int32(i), number: int32(rd.t.Row()), id: orAbsent(l.DispatchID),
		queue: orAbsent(queue), stream: orAbsent(stream), start: orAbsent(l.StartNs), end: orAbsent(l.EndNs),
	})
	add(&rd.out.Launches[i], &l, duration)
}

// launch copies the current row; its strings are valid until the next one.
func (rd *reader) launch() trace.Launch {
	t := rd.t
	id, _ := t.ID("dispatchid")
	return trace.Launch{
		Origin: trace.Origin{File: rd.file, Row: t.Row()}, DispatchID: id,
		AgentID: t.Cell(rd.agent), Kernel: trace.BareName(t.Cell(rd.kernel)),
		StartNs: t.Nearest(rd.start), EndNs: t.Nearest(rd.end),
		LDSBytes: t.Int(rd.lds), ScratchBytes: t.Int(rd.scratch),
		VGPRs: t.Int(rd.vgpr), AccumVGPRs: t.Int(rd.accum), SGPRs: t.Int(rd.sgpr),
		Workgroup: t.Extents("workgroupsize", "wgr"), Grid: t.Extents("gridsize", "grd"),
	}
}

// keep makes the strings of a new launch its own, each name once; ok is false
// when there is no room for the name.
func (rd *reader) keep(l *trace.Launch, k *key) (ok bool) {
	for _, s := range [...]*string{&l.Kernel, &l.AgentID} {
		own, known := rd.names[*s]
		if !known {
			if rd.bytes += len(*s); rd.bytes > maxNameBytes {
				return false
			}
			own = strings.Clone(*s)
			rd.names[own] = own
		}
		*s = own
	}
	k.kernel, k.agent = l.Kernel, l.AgentID
	return true
}

// add counts one dispatch; its time is end - start, else the duration column.
func add(s *trace.LaunchSum, l *trace.Launch, duration *int64) {
	s.Count++
	ns, ok := l.DurationNs()
	if !ok && l.StartNs == nil && duration != nil && *duration > 0 {
		ns, ok = *duration, true
	}
	if !ok || ns > 1<<62-s.TotalNs {
		return
	}
	if s.Timed == 0 || ns < s.MinNs {
		s.MinNs = ns
	}
	s.Timed++
	s.TotalNs += ns
	s.MaxNs = max(s.MaxNs, ns)
}

// Sums are the rows of a table that has durations and not when they were, by
// kernel; nil for any other.
func (t *Table) Sums() *trace.KernelStats {
	out := &trace.KernelStats{Path: t.Path}
	place := map[string]int{}
	for i := range t.Launches {
		l := &t.Launches[i]
		if l.StartNs != nil || l.Timed == 0 {
			return nil
		}
		at, known := place[l.Kernel]
		if !known {
			at = len(out.Rows)
			place[l.Kernel] = at
			least, most := l.MinNs, l.MaxNs
			out.Rows = append(out.Rows, trace.KernelStat{Name: l.Kernel, MinNs: &least, MaxNs: &most})
		}
		r := &out.Rows[at]
		r.Calls, r.TotalNs = r.Calls+l.Timed, r.TotalNs+l.TotalNs
		*r.MinNs, *r.MaxNs = min(*r.MinNs, l.MinNs), max(*r.MaxNs, l.MaxNs)
	}
	if len(out.Rows) == 0 {
		return nil
	}
	return out
}
