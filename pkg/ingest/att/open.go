package att

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// IsDispatchDir reports whether dir is a dispatch directory: it has code.json,
// or it has the name of one and holds filenames.json or occupancy.json.
func IsDispatchDir(fsys fs.FS, dir string) bool {
	if isFile(fsys, path.Join(dir, "code.json")) {
		return true
	}
	_, _, named := ParseName(path.Base(dir))
	return named && (isFile(fsys, path.Join(dir, "filenames.json")) || isFile(fsys, path.Join(dir, "occupancy.json")))
}

func isFile(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}

// ParseName reads the agent handle and the dispatch id of a directory's name,
// "ui_output_agent_14705_dispatch_25", which a suffix may follow. ok is false
// for another name. The numbers are nil when they do not fit 64 bits.
// Source: rocprofiler-sdk, rocprofv3's tool.cpp.
func ParseName(name string) (agent, dispatch *int64, ok bool) {
	rest, ok := strings.CutPrefix(name, "ui_output_agent_")
	if !ok {
		return nil, nil, false
	}
	agent, rest, ok = leadingInt(rest)
	if !ok {
		return nil, nil, false
	}
	rest, ok = strings.CutPrefix(rest, "_dispatch_")
	if !ok {
		return nil, nil, false
	}
	dispatch, _, ok = leadingInt(rest)
	return agent, dispatch, ok
}

// leadingInt reads the digits at the start of s.
func leadingInt(s string) (v *int64, rest string, ok bool) {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n == 0 {
		return nil, s, false
	}
	x, err := strconv.ParseInt(s[:n], 10, 64)
	if err != nil {
		return nil, s[n:], true
	}
	return &x, s[n:], true
}

// Open reads the dispatch directory dir of fsys, which also holds the files
// around it: companion tables are looked for in dir's parent, and read by
// tables, which may be nil for none. display is the directory as the user can find it again. Notes are
// about damaged and missing parts; an error means that the directory cannot be
// listed, or is that of the context.
//
// Wave and source files are read on demand: fsys must stay usable.
func Open(ctx context.Context, fsys fs.FS, dir, display string, tables Tables) (*trace.ThreadTrace, []trace.Note, error) {
	inside, err := fs.Sub(fsys, dir)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", display, err)
	}
	d, err := openFolder(inside)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: cannot list the directory: %s", display, reason(err))
	}
	name := path.Base(dir)
	if dir == "." {
		name = path.Base(display)
	}
	d.display = display
	tt := &trace.ThreadTrace{Path: display, Name: name}
	tt.AgentHandle, tt.DispatchID, _ = ParseName(tt.Name)
	var n notes
	readCodeFile(d, tt, &n)
	// The tables around the directory need the kernels' names, and nothing
	// else: they are read beside the directory's own files. Their notes follow
	// all the same.
	var around notes
	var failed error
	var wg sync.WaitGroup
	wg.Go(func() { failed = readAround(ctx, fsys, dir, display, d.names, tables, tt, &around) })
	readParts(d, tt, &n)
	wg.Wait()
	if tt.CyclesOnly {
		failed = errors.Join(failed, fillIdle(ctx, tt))
	}
	if err := errors.Join(ctx.Err(), failed); err != nil {
		return nil, nil, err
	}
	return tt, append(n.locate(display), around...), nil
}

// readAround reads the stats table and the companion tables. It sets fields of
// tt that readParts does not touch.
func readAround(ctx context.Context, fsys fs.FS, dir, display string, names []string, tables Tables, tt *trace.ThreadTrace, n *notes) error {
	nb, err := findNeighbours(fsys, dir, display, names)
	if err != nil {
		n.add(trace.Warning, path.Join(display, ".."), "cannot be listed (%s): companion tables are not looked for", reason(err))
		return nil
	}
	if file := statsName(nb.beside, tt.Name); file != "" {
		shown := path.Join(nb.shown, file)
		nb.table(file, shown, n, func(r io.Reader) { tt.Stats = readStats(r, shown, n) })
	}
	if tables == nil {
		return nil
	}
	return readCompanions(ctx, nb, tables, tt, n)
}

// readParts reads the files inside the directory other than code.json.
func readParts(d *folder, tt *trace.ThreadTrace, n *notes) {
	// The events are by far the largest of these files: they are read beside
	// the list of waves. Their notes follow the list's all the same.
	var events notes
	var wg sync.WaitGroup
	wg.Go(func() {
		if tt.CyclesOnly {
			return // rocprofv2 packs events into one number each, in an order of its own
		}
		if b, ok := d.readOptional("occupancy.json", maxEventsBytes, &events); ok {
			tt.Occupancy = readOccupancy(b, tt.Kernels, &events)
		}
	})
	list := readFileList(d, n)
	list.noteUnlisted(d, n)
	tt.GfxMajor = list.gfxMajor
	if len(list.waves) > 0 {
		tt.Waves = &Waves{dir: d, list: list.waves, v2: tt.CyclesOnly}
	}
	wg.Wait()
	*n = append(*n, events...)
	if b, ok := d.readOptional("realtime.json", maxListBytes, n); ok {
		tt.Clocks = readClocks(b, n)
	}
	readCounterFiles(d, tt, list.counters, n)
	tree, _ := d.readOptional("snapshots.json", maxTreeBytes, n)
	tt.Files = readSources(tree, d, n)
}

func readCodeFile(d *folder, tt *trace.ThreadTrace, n *notes) {
	b, ok := d.readOptional("code.json", maxCodeBytes, n)
	if !ok {
		tt.CodeState = trace.CodeMissing
		if d.has("code.json") {
			tt.CodeState = trace.CodeUnreadable
		}
		return
	}
	setCode(tt, b, n)
}

// setCode reads the bytes of code.json into a trace.
func setCode(tt *trace.ThreadTrace, b []byte, n *notes) {
	doc := readCode(b, n)
	tt.Schema, tt.CodeState, tt.Flavour, tt.CyclesOnly = doc.version, doc.state, doc.flavour, doc.cyclesOnly
	tt.Code, tt.Kernels = doc.code, doc.kernels
}

// SniffCode reports whether a file begins as a code.json does.
func SniffCode(head []byte) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(string(head[:min(len(head), 256)])), "{")
	rest, ok2 := strings.CutPrefix(strings.TrimSpace(rest), `"code"`)
	rest, ok3 := strings.CutPrefix(strings.TrimSpace(rest), ":")
	return ok && ok2 && ok3 && (strings.HasPrefix(strings.TrimSpace(rest), "[") || strings.HasPrefix(strings.TrimSpace(rest), "null"))
}

// ReadCodeAlone makes a thread trace of a code.json without its directory.
// shown is the path as the user can find it.
func ReadCodeAlone(r io.Reader, shown string) (*trace.ThreadTrace, []trace.Note, error) {
	b, err := readAll(r, nil, maxCodeBytes)
	if err != nil {
		return nil, nil, err
	}
	tt := &trace.ThreadTrace{Path: shown, Name: path.Base(shown), StatsOnly: true, Files: readSources(nil, nil, nil)}
	var n notes
	setCode(tt, b, &n)
	for i := range n {
		n[i].File = strings.Replace(n[i].File, "code.json", shown, 1)
	}
	return tt, n, nil
}

// readCounterFiles sums the se*_perfcounter.json files.
func readCounterFiles(d *folder, tt *trace.ThreadTrace, counters []string, n *notes) {
	for _, name := range d.names {
		se, ok := perfCounterSE(name)
		if !ok {
			continue
		}
		b, ok := d.readOptional(name, maxEventsBytes, n)
		if !ok {
			continue
		}
		if sum, ok := readPerfCounters(b, name, se, counters, n); ok {
			tt.Counters = append(tt.Counters, sum)
		}
	}
	sort.SliceStable(tt.Counters, func(i, j int) bool { return tt.Counters[i].SE < tt.Counters[j].SE })
}

func isDigit(ch byte) bool { return '0' <= ch && ch <= '9' }
