package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/codeobj"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/kerneltrace"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/rocpd"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxKernelFiles bounds the kernel traces and code objects of one tree,
// maxObjectBytes a code object that is not on disk.
const (
	maxKernelFiles = 4096
	maxObjectBytes = 1 << 30
)

const agentSuffix = "agent_info.csv"

// kernelSuffixes are the names of files that may describe kernels; their
// content decides.
var kernelSuffixes = []string{"kernel_trace.csv", ".hsaco", ".co", ".out", ".o", ".s"}

func kernelCandidate(name string) bool {
	return databaseCandidate(name) || slices.ContainsFunc(kernelSuffixes, func(s string) bool { return strings.HasSuffix(name, s) })
}

// file keeps a file that may describe kernels.
func (s *search) file(dir string, e fs.DirEntry) {
	if s.kernels && e.Type().IsRegular() && kernelCandidate(e.Name()) && len(s.files) < maxKernelFiles {
		s.files = append(s.files, path.Join(dir, e.Name()))
	}
	if s.counters && e.Type().IsRegular() && counterCandidate(e.Name()) && len(s.tables) < maxCounterFiles {
		s.tables = append(s.tables, path.Join(dir, e.Name()))
	}
	if s.runs && e.Type().IsRegular() && runCandidate(e.Name()) && len(s.runFiles) < maxRunFiles {
		s.runFiles = append(s.runFiles, path.Join(dir, e.Name()))
	}
}

// kernelFiles reads those files of a tree that describe kernels, and returns
// how many there are. One that cannot be read does not stop the others.
func (o *opener) kernelFiles(fsys fs.FS, names []string, display, real string) (read int, err error) {
	kept, _ := bestRuns(names)
	for _, name := range kept {
		if err := o.ctx.Err(); err != nil {
			return read, err
		}
		f := located{
			fsys: fsys, name: name,
			shown: path.Join(filepath.ToSlash(display), name), real: filepath.Join(real, filepath.FromSlash(name)),
		}
		ok, err := o.kernelFile(f, false)
		if err != nil {
			o.tr.Notes = append(o.tr.Notes, trace.Note{Level: damageOf(err), Place: f.shown, Text: strings.TrimPrefix(err.Error(), f.shown+": ")})
		}
		if ok {
			read++
		}
	}
	return read, nil
}

// located is a file inside a file system. shown is its path as the user can
// find it, real its name on the machine.
type located struct {
	fsys              fs.FS
	name, shown, real string
}

// kernelFile reads a file that describes kernels: a kernel trace, a code
// object or an assembly listing. ok is false when it is none of them. named
// says that the user named this very file, so that host binaries are looked
// into as well.
func (o *opener) kernelFile(f located, named bool) (ok bool, err error) {
	file, err := f.fsys.Open(f.name)
	if err != nil {
		return false, &PathError{Path: f.shown, Problem: cause(err), Err: err}
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	head := make([]byte, kerneltrace.SniffBytes)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, &PathError{Path: f.shown, Problem: cause(err), Err: err}
	}
	head = head[:n]
	rest := io.MultiReader(bytes.NewReader(head), file)
	table := kerneltrace.Sniff(head)
	switch {
	case rocpd.Sniff(head), named && databaseCandidate(path.Base(f.name)):
		return true, o.databaseLaunches(f, &sniffed{file, head})
	case table == kerneltrace.KernelTrace:
		return true, o.launchTable(f, rest)
	case table != kerneltrace.NotTable && named:
		return false, notKernelTrace(f.shown, table)
	case codeobj.Sniff(head), named && codeobj.SniffHost(head):
		return true, o.codeObject(f, file, rest)
	case codeobj.SniffAssembly(head):
		return true, o.assembly(f, rest)
	}
	return false, nil
}

func notKernelTrace(shown string, k kerneltrace.Kind) error {
	what := "a counter table"
	if k == kerneltrace.AgentTable {
		what = "an agent table"
	}
	return &PathError{Path: shown, Problem: what + ", not a kernel trace", Advice: "give the *_kernel_trace.csv of the same run"}
}

// once reports whether a file was not read yet.
func (o *opener) once(real string) bool {
	if o.seen[real] {
		return false
	}
	o.seen[real] = true
	return true
}

func (o *opener) launchTable(f located, r io.Reader) error {
	if !o.once(f.real) {
		return nil
	}
	t, err := readLaunchTable(f, r)
	if err != nil {
		return &PathError{Path: f.shown, Problem: cause(err), Err: err}
	}
	o.tr.LaunchTables = append(o.tr.LaunchTables, t)
	return nil
}

// readLaunchTable reads a kernel trace and the agent tables beside it.
func readLaunchTable(f located, r io.Reader) (*trace.LaunchTable, error) {
	t, err := kerneltrace.Read(r, f.shown)
	if err != nil {
		return nil, err
	}
	for _, name := range agentFiles(f) {
		agents, notes, err := readAgentFile(f.fsys, path.Join(path.Dir(f.name), name), path.Join(path.Dir(f.shown), name))
		if err != nil {
			t.Notes = append(t.Notes, trace.Note{Level: trace.Warning, Place: name, Text: cause(err) + ": left out"})
		}
		t.Agents = append(t.Agents, agents...)
		t.Notes = append(t.Notes, notes...)
	}
	return t, nil
}

// agentFiles are the agent tables of a kernel trace: the one of the same
// output prefix, else all in its directory.
func agentFiles(f located) []string {
	entries, err := fs.ReadDir(f.fsys, path.Dir(f.name))
	if err != nil {
		return nil
	}
	own := strings.TrimSuffix(path.Base(f.name), "kernel_trace.csv") + agentSuffix
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

func readAgentFile(fsys fs.FS, name, shown string) (agents []trace.Agent, notes []trace.Note, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	agents, notes, err = kerneltrace.ReadAgents(f, shown)
	return agents, notes, errors.Join(err, f.Close())
}

// codeObject reads a code object, a bundle of them, or a binary that carries
// one. What can be read of a damaged file is kept.
func (o *opener) codeObject(f located, file fs.File, rest io.Reader) error {
	if !o.once(f.real) {
		return nil
	}
	r, size, err := randomAccess(file, rest)
	if err != nil {
		return &PathError{Path: f.shown, Problem: cause(err), Err: err}
	}
	objs, err := codeobj.Read(r, size, f.shown)
	if err != nil && len(objs) == 0 {
		return objectError(f.shown, err)
	}
	o.addObjects(f, "code_object", objs, err)
	return nil
}

func (o *opener) assembly(f located, rest io.Reader) error {
	if !o.once(f.real) {
		return nil
	}
	obj, err := codeobj.ReadAssembly(rest, f.shown)
	if err != nil && len(obj.Kernels) == 0 {
		return objectError(f.shown, err)
	}
	o.addObjects(f, "assembly", []codeobj.Object{obj}, err)
	return nil
}

// objectError takes off the path that codeobj puts before its errors.
func objectError(shown string, err error) error {
	return &PathError{Path: shown, Problem: strings.TrimPrefix(err.Error(), shown+": "), Err: err}
}

// randomAccess gives the whole file at any offset: from disk, else from memory.
func randomAccess(file fs.File, rest io.Reader) (io.ReaderAt, int64, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	if r, ok := file.(io.ReaderAt); ok {
		return r, info.Size(), nil
	}
	data, err := readMember(rest, maxObjectBytes)
	if err != nil {
		return nil, 0, err
	}
	return bytes.NewReader(data), int64(len(data)), nil
}

// addObjects turns code objects into the trace's form. damage is the error
// that came with them, if any.
func (o *opener) addObjects(f located, kind string, objs []codeobj.Object, damage error) {
	if damage != nil {
		o.tr.Notes = append(o.tr.Notes, trace.Note{
			Level: trace.Damage, Place: f.shown, Text: strings.TrimPrefix(damage.Error(), f.shown+": "),
		})
	}
	for _, obj := range objs {
		co := &trace.CodeObject{Path: obj.Path, Kind: kind, Target: obj.Target}
		for _, n := range obj.Notes {
			co.Notes = append(co.Notes, trace.Note{Level: trace.Warning, Place: obj.Path, Text: n})
		}
		for i := range obj.Kernels {
			co.Kernels = append(co.Kernels, codeKernel(&obj.Kernels[i]))
		}
		o.tr.CodeObjects = append(o.tr.CodeObjects, co)
	}
}

func codeKernel(k *codeobj.Kernel) trace.CodeKernel {
	m := &k.Metadata
	out := trace.CodeKernel{
		Name: k.Name, Symbol: trace.BareName(k.Symbol),
		VGPRs: m.VGPRCount, ArchVGPRs: k.ArchVGPRs, AGPRs: m.AGPRCount, SGPRs: m.SGPRCount,
		VGPRSpills: m.VGPRSpillCount, SGPRSpills: m.SGPRSpillCount,
		LDSBytes: m.LDSBytes, ScratchBytes: m.ScratchBytes,
		MaxWorkgroup: m.MaxWorkgroupSize, ReqWorkgroup: m.ReqdWorkgroupSize,
		WaveSize: m.WavefrontSize, WGPMode: m.WorkgroupProcessor, DynamicStack: m.UsesDynamicStack,
	}
	if c := k.Comments; c != nil {
		out.LLVMOccupancy = c.Occupancy
	}
	d := k.Descriptor
	if d == nil {
		return out
	}
	out.Descriptor = &trace.CodeDescriptor{
		VGPRs: d.VGPRs, AccumOffset: d.AccumOffset, SGPRs: d.SGPRs,
		LDSBytes: d.LDSBytes, ScratchBytes: d.ScratchBytes, DynamicVGPR: d.DynamicVGPR,
	}
	if out.WaveSize == nil && d.Wave32 != nil {
		out.WaveSize = new(64)
		if *d.Wave32 {
			out.WaveSize = new(32)
		}
	}
	if out.WGPMode == nil {
		out.WGPMode = d.WGPMode
	}
	return out
}

// companionTables reads the kernel traces that a thread trace's launches come
// from as a whole. dir is the dispatch directory inside fsys.
func companionTables(fsys fs.FS, dir, display string, tt *trace.ThreadTrace) {
	seen := map[string]bool{}
	for i := range tt.Launches {
		shown := tt.Launches[i].Origin.File
		if seen[shown] {
			continue
		}
		seen[shown] = true
		t, err := companionTable(located{fsys: fsys, name: companionName(dir, display, shown), shown: shown})
		if err != nil {
			tt.Notes = append(tt.Notes, trace.Note{
				Level: trace.Warning, Place: shown,
				Text: fmt.Sprintf("cannot be read as a whole (%s): how it counts registers is judged by the traced kernel alone", cause(err)),
			})
			continue
		}
		tt.LaunchTables = append(tt.LaunchTables, t)
	}
}

func companionTable(f located) (t *trace.LaunchTable, err error) {
	file, err := f.fsys.Open(f.name)
	if err != nil {
		return nil, err
	}
	t, err = readLaunchTable(f, file)
	return t, errors.Join(err, file.Close())
}

// companionName turns a companion's path as it is shown back into its name in
// the file system: companions are shown below the dispatch directory's parent.
func companionName(dir, display, shown string) string {
	if dir == "." {
		return strings.TrimPrefix(shown, display+"/")
	}
	name := shown
	if parent := path.Join(display, ".."); parent != "." {
		name = strings.TrimPrefix(shown, strings.TrimSuffix(parent, "/")+"/")
	}
	return path.Join(path.Dir(dir), name)
}
