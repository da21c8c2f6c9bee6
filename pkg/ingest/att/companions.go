package att

import (
	"context"
	"io"
	"io/fs"
	"path"
	"strings"

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

// Tables reads companion tables. A file is read once however many traces it
// lies beside.
type Tables interface {
	// KernelTrace and Agents read the file that is called name in the parent of
	// the dispatch directory, or in itself when it has none.
	KernelTrace(fsys fs.FS, name, shown string) (*kerneltrace.Table, error)
	Agents(fsys fs.FS, name, shown string) ([]trace.Agent, []trace.Note, error)
}

// readCompanions adds the rows of companion tables to a trace.
func readCompanions(ctx context.Context, nb *neighbours, tables Tables, tt *trace.ThreadTrace, n *notes) error {
	named := kernelNames(tt)
	for i, files := range [...][]string{nb.own, nb.beside, nb.hosts} {
		// The directories beside the trace may have nothing to do with it.
		unused := trace.Warning
		if i == 2 {
			unused = trace.Info
		}
		for _, file := range files {
			if err := ctx.Err(); err != nil {
				return err
			}
			shown := path.Join(nb.shown, file)
			switch {
			case strings.HasSuffix(file, kernelSuffix):
				t, err := tables.KernelTrace(nb.fsys, file, shown)
				if err != nil {
					n.add(unused, shown, "%s: left out", reason(err))
					continue
				}
				addLaunches(tt, t, named, unused, n)
			case strings.HasSuffix(file, agentSuffix):
				agents, notes, err := tables.Agents(nb.fsys, file, shown)
				if err != nil {
					n.add(unused, shown, "%s: left out", reason(err))
				}
				*n = append(*n, notes...)
				tt.Agents = append(tt.Agents, agents...)
			}
		}
	}
	return nil
}

// addLaunches adds the rows that have the trace's dispatch id, and the first
// row of each shape of its kernels. unused is what a warning about a table of no
// use is worth.
func addLaunches(tt *trace.ThreadTrace, t *kerneltrace.Table, named func(string) bool, unused trace.Level, n *notes) {
	rows, more := t.Beside(tt.DispatchID, named, maxLaunches)
	tt.Launches = append(tt.Launches, rows...)
	notes := t.Notes
	if len(rows) > 0 {
		tt.LaunchTables = append(tt.LaunchTables, &t.LaunchTable)
	} else {
		notes = trace.Lower(notes, trace.Warning, unused)
	}
	*n = append(*n, notes...)
	if more > 0 {
		n.add(trace.Info, t.Path, "more than %d different launches of these kernels: %s", maxLaunches,
			trace.Many(more, "row is left out", "rows are left out"))
	}
}

// kernelNames tells the names of a trace's kernels.
func kernelNames(tt *trace.ThreadTrace) func(string) bool {
	names := map[string]bool{}
	for _, k := range tt.Kernels {
		for _, name := range [...]string{k.Symbol, k.Demangled} {
			if name != "" {
				names[name] = true
			}
		}
	}
	return func(kernel string) bool { return names[kernel] }
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
