package att

import (
	"context"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/csvtable"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/kerneltrace"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Bounds of what is taken from companion tables.
const (
	maxLaunches  = 64 // per file, by kernel name, and again by dispatch id
	maxHostDirs  = 1000
	kernelSuffix = "kernel_trace.csv"
	agentSuffix  = "agent_info.csv"
)

// neighbours are the files around a dispatch directory in which its companion
// tables may be. Paths are relative to the parent.
type neighbours struct {
	fsys  fs.FS  // of the parent, or of the directory itself without one
	shown string // the parent as the user can find it
	own   []string
	beside,
	hosts []string
}

// findNeighbours lists the directory, its parent, and the directories beside
// it that are not dispatch directories (rocprofv3 makes one per host).
func findNeighbours(fsys fs.FS, dir, display string, own []string) (*neighbours, error) {
	if dir == "." {
		return &neighbours{fsys: fsys, shown: display, own: own}, nil
	}
	parent, err := fs.Sub(fsys, path.Dir(dir))
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(parent, ".")
	if err != nil {
		return nil, err
	}
	nb := &neighbours{fsys: parent, shown: path.Join(display, "..")}
	base := path.Base(dir)
	for _, name := range own {
		nb.own = append(nb.own, base+"/"+name)
	}
	dirs := 0
	for _, e := range entries {
		switch {
		case e.Type().IsRegular():
			nb.beside = append(nb.beside, e.Name())
		case e.IsDir() && e.Name() != base && dirs < maxHostDirs:
			dirs++
			nb.hosts = append(nb.hosts, hostFiles(parent, e.Name())...)
		}
	}
	return nb, nil
}

// hostFiles lists the files of a directory beside the trace. One that belongs
// to another trace, or cannot be read, has no part in this one.
func hostFiles(parent fs.FS, dir string) []string {
	if _, _, ok := ParseName(dir); ok {
		return nil
	}
	entries, err := fs.ReadDir(parent, dir)
	if err != nil {
		return nil
	}
	var files []string
	for _, e := range entries {
		if _, _, other := ParseName(e.Name()); other || e.Name() == "code.json" {
			return nil
		}
		if e.Type().IsRegular() {
			files = append(files, dir+"/"+e.Name())
		}
	}
	return files
}

// readCompanions adds the rows of companion tables to a trace.
func readCompanions(ctx context.Context, nb *neighbours, tt *trace.ThreadTrace, n *notes) error {
	wanted := newLaunchFilter(tt)
	for _, files := range [...][]string{nb.own, nb.beside, nb.hosts} {
		for _, file := range files {
			if err := ctx.Err(); err != nil {
				return err
			}
			shown := path.Join(nb.shown, file)
			switch {
			case strings.HasSuffix(file, kernelSuffix):
				nb.table(file, shown, n, func(r io.Reader) {
					tt.Launches = append(tt.Launches, readLaunches(r, shown, wanted, n)...)
				})
			case strings.HasSuffix(file, agentSuffix):
				nb.table(file, shown, n, func(r io.Reader) {
					tt.Agents = append(tt.Agents, readAgents(r, shown, n)...)
				})
			}
		}
	}
	return nil
}

// table opens a file for read.
func (nb *neighbours) table(file, shown string, n *notes, read func(io.Reader)) {
	f, err := nb.fsys.Open(file)
	if err != nil {
		n.add(trace.Warning, shown, "cannot be read (%s): left out", reason(err))
		return
	}
	read(f)
	if err := f.Close(); err != nil {
		n.add(trace.Warning, shown, "%s", reason(err))
	}
}

// launchFilter says which rows of a kernel trace may belong to a trace.
type launchFilter struct {
	id    *int64
	names map[string]bool
}

func newLaunchFilter(tt *trace.ThreadTrace) launchFilter {
	f := launchFilter{id: tt.DispatchID, names: map[string]bool{}}
	for _, k := range tt.Kernels {
		for _, name := range [...]string{k.Symbol, k.Demangled} {
			if name != "" {
				f.names[name] = true
			}
		}
	}
	return f
}

// launchInts are the integer columns of a kernel trace, by normalized name;
// the segment sizes are what rocprofv3 of ROCm 6.2 called LDS and scratch.
// Source: rocprofiler-sdk, output/generateCSV.cpp.
var launchInts = [...]struct {
	name string
	to   func(*trace.Launch) **int64
}{
	{"dispatchid", func(l *trace.Launch) **int64 { return &l.DispatchID }},
	{"starttimestamp", func(l *trace.Launch) **int64 { return &l.StartNs }},
	{"endtimestamp", func(l *trace.Launch) **int64 { return &l.EndNs }},
	{"groupsegmentsize", func(l *trace.Launch) **int64 { return &l.LDSBytes }},
	{"privatesegmentsize", func(l *trace.Launch) **int64 { return &l.ScratchBytes }},
	{"ldsblocksize", func(l *trace.Launch) **int64 { return &l.LDSBytes }},
	{"scratchsize", func(l *trace.Launch) **int64 { return &l.ScratchBytes }},
	{"vgprcount", func(l *trace.Launch) **int64 { return &l.VGPRs }},
	{"accumvgprcount", func(l *trace.Launch) **int64 { return &l.AccumVGPRs }},
	{"sgprcount", func(l *trace.Launch) **int64 { return &l.SGPRs }},
}

// launchShape is what makes two rows of one kernel different launches.
type launchShape struct {
	kernel          string
	counts          [5]int64
	workgroup, grid [3]int64
}

func shapeOf(l *trace.Launch) launchShape {
	s := launchShape{kernel: l.Kernel}
	for i, v := range [...]*int64{l.LDSBytes, l.ScratchBytes, l.VGPRs, l.AccumVGPRs, l.SGPRs} {
		if s.counts[i] = -1; v != nil {
			s.counts[i] = *v
		}
	}
	if l.Workgroup != nil {
		s.workgroup = *l.Workgroup
	}
	if l.Grid != nil {
		s.grid = *l.Grid
	}
	return s
}

// readLaunches keeps the rows that have the trace's dispatch id, and the first
// row of each shape of its kernels.
func readLaunches(r io.Reader, file string, wanted launchFilter, n *notes) []trace.Launch {
	t, err := csvtable.Open(r)
	if err != nil {
		n.add(trace.Damage, file, "%s: left out", reason(err))
		return nil
	}
	if t.Column("kernelname") == "" {
		n.add(trace.Warning, file, "there is no column Kernel_Name: left out")
		return nil
	}
	var launches []trace.Launch
	seen := map[launchShape]bool{}
	ids, more := 0, 0
	for t.Next() {
		id := t.Int("dispatchid")
		byID := wanted.id != nil && id != nil && *id == *wanted.id
		if !byID && !wanted.names[trace.BareName(t.Cell("kernelname"))] {
			continue
		}
		l := readLaunch(t, file)
		switch shape := shapeOf(&l); {
		case byID && ids < maxLaunches:
			ids++
		case byID || seen[shape]:
			continue
		case len(seen) == maxLaunches:
			more++
			continue
		default:
			seen[shape] = true
		}
		launches = append(launches, l)
	}
	*n = append(*n, t.Notes(file)...)
	if more > 0 {
		n.add(trace.Info, file, "more than %d different launches of these kernels: %d rows are left out", maxLaunches, more)
	}
	return launches
}

// readLaunch copies the current row.
func readLaunch(t *csvtable.Table, file string) trace.Launch {
	l := trace.Launch{
		Origin:    trace.Origin{File: file, Row: t.Row()},
		AgentID:   t.Cell("agentid"),
		Kernel:    trace.BareName(t.Cell("kernelname")),
		Workgroup: t.Extents("workgroupsize"),
		Grid:      t.Extents("gridsize"),
	}
	for _, c := range launchInts {
		if v := t.Int(c.name); v != nil {
			*c.to(&l) = v
		}
	}
	return l
}

// readAgents keeps the GPUs of an agent table.
func readAgents(r io.Reader, file string, n *notes) []trace.Agent {
	agents, remarks, err := kerneltrace.ReadAgents(r, file)
	if err != nil {
		n.add(trace.Damage, file, "%s: left out", reason(err))
		return nil
	}
	*n = append(*n, remarks...)
	return agents
}
