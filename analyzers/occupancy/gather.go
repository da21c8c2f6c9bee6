package occupancy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/kernels"
	"github.com/rocanalyze/rocanalyze/analyzers/shape"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// builder collects kernels from all sources.
type builder struct {
	p   *analysis.Pass
	res *Result
	// decided maps a source to its place in res.Captures.
	decided map[decision]int
	// joined are kernels of code objects that a capture's kernel was found to be.
	joined map[*trace.CodeKernel]bool
	// compiledAs finds the kernels of code objects of known architectures.
	compiledAs capture.Index[codeKernel]
}

// codeKernel is a kernel of a code object, for an architecture.
type codeKernel struct {
	*trace.CodeKernel
	path, arch string
}

// index finds the kernels of code objects by name.
func (b *builder) index() {
	for _, co := range b.p.Trace.CodeObjects {
		a, err := gpu.ArchByName(co.Target)
		if err != nil || co.Kind == capture.KindFlags {
			continue
		}
		for i := range co.Kernels {
			k := &co.Kernels[i]
			b.compiledAs.Add(capture.NamesOf(k.Symbol, k.Name), codeKernel{k, co.Path, a.Name})
		}
	}
}

type decision struct{ path, arch string }

// subject is one kernel on its way into the result.
type subject struct {
	k     Kernel
	names capture.Names
	m     machine
	// alloc is what hardware allocates, need what the kernel itself uses, nil
	// when that is not known apart. exact is set when need is the compiler's
	// own count; otherwise it is what the code names, which is the least.
	alloc gpu.Resources
	need  *gpu.Resources
	exact bool
	// said is need as the compiler or the code tells it; need has the counts
	// of alloc instead where those are no padding (gpu.Needed).
	said gpu.Resources
	// unknown says why there is no occupancy.
	unknown string
	// staticLDS says that its LDS lacks what is added at launch.
	staticLDS bool
	// grids are its launches, the longest first.
	grids []Grid
	// dynamicStack is set when the code object says so.
	dynamicStack bool
	scratched    scratched
	// does is the kernel's shape, where it was traced.
	does rule.Shape
}

// Shape is what the kernel does.
func (s *subject) Shape() rule.Shape { return s.does }

func newSubject(kind, path string, names capture.Names, m machine) *subject {
	s := &subject{m: m, names: names}
	s.k = Kernel{
		Name: names.Shown(), Symbol: names.Symbol, Source: Source{Kind: kind, Path: path},
		Limiters: []string{}, Limits: map[string]Limit{}, NextStep: []Step{}, Notes: []gpu.Note{},
	}
	if m.known() {
		s.k.Arch, s.k.ArchSource, s.k.Device, s.k.CUs = m.name, m.source, m.device, m.cus
		s.k.GPU = m.gpu
	}
	return s
}

func (s *subject) note(n gpu.Note) { s.k.Notes = append(s.k.Notes, n) }

// nameGPU is the advice where the architecture is not known.
const nameGPU = "name the GPU with --device (MI300X) or --arch (gfx942)"

// withoutGPU adds a kernel of which nothing can be computed.
func (b *builder) withoutGPU(s *subject, path string) error {
	s.unknown = s.m.unknown
	if b.res.NoGPU == "" {
		b.res.NoGPU = path + ": " + s.unknown
	}
	return b.add(s)
}

// threadTraces adds the kernels of dispatch directories.
func (b *builder) threadTraces() error {
	for _, tt := range b.p.Trace.ThreadTraces {
		judged, resolved := trust.Analyzer.Of(b.p, tt), b.p.Capture.Trace(tt)
		launched := slices.ContainsFunc(judged.Kernels, func(k trust.Kernel) bool { return k.Companion != nil })
		for k := range tt.Kernels {
			companion := judged.Kernels[k].Companion
			// Without a row of its own a symbol beside a launched kernel is a
			// function that it calls.
			if !b.p.Selects(resolved.Kernels[k].Names) || launched && companion == nil {
				continue
			}
			if err := b.traced(tt, k, companion, resolved); err != nil {
				return err
			}
		}
	}
	return nil
}

// traced adds one kernel of a thread trace.
func (b *builder) traced(tt *trace.ThreadTrace, k int, c *trust.Companion, resolved *capture.Trace) error {
	named := resolved.Kernels[k].Registers
	m := b.machine(resolved.Machine, fmt.Sprintf("its code does not tell the GPU (%s)", resolved.Arch))
	s := newSubject("thread_trace", tt.Path, resolved.Kernels[k].Names, m)
	s.k.trace, s.k.kernel = tt, k
	s.does = shape.Analyzer.Of(b.p, tt).Kernels[k]
	s.k.Registers.Named = &named
	s.k.Observed = observedOf(tt)
	if !m.known() {
		return b.withoutGPU(s, tt.Path)
	}
	total := namedTotal(m.arch, named)
	if c == nil {
		s.fromCode(total)
	} else {
		b.row(s, c.Launch, b.halvedTraced(tt, c.Launch, m.arch, total), false)
		said := s.alloc
		said.TotalVGPR = total
		s.needs(said)
		s.checkNamed(total)
		s.grids = gridsOf([]trace.LaunchSum{single(c)})
		if !c.SameDispatch {
			s.note(note("other_dispatch", "the launch is of another dispatch of the same kernel"))
		}
	}
	b.metadata(s)
	return b.add(s)
}

// single makes a sum of the one dispatch that was traced.
func single(c *trust.Companion) trace.LaunchSum {
	sum := trace.LaunchSum{Launch: *c.Launch, Count: 1}
	if c.Time != nil {
		sum.Timed, sum.TotalNs, sum.MinNs, sum.MaxNs = 1, c.Time.Ns, c.Time.Ns, c.Time.Ns
	}
	return sum
}

// namedTotal is the allocation that the registers a code names need (LLVM
// AMDGPUBaseInfo.cpp, getTotalNumVGPRs).
func namedTotal(a gpu.Arch, r code.Registers) int {
	if a.AGPR == gpu.UnifiedAGPR && r.AGPRs > 0 {
		return (r.VGPRs+3)/4*4 + r.AGPRs
	}
	return max(r.VGPRs, r.AGPRs)
}

// fromCode is the occupancy of a thread trace without a kernel-trace row.
func (s *subject) fromCode(total int) {
	s.alloc = gpu.Resources{TotalVGPR: total, SGPR: s.k.Registers.Named.SGPRs}
	s.k.Registers.VGPRs = new(total)
	s.unknown = "no workgroup size: keep kernel_trace.csv beside the trace, or give --workgroup and --lds"
	text := "there is no kernel-trace row of this launch: its registers are those that the code names, its LDS is not known"
	one := s.alloc
	one.WorkgroupSize = 1
	if r, err := gpu.Occupancy(s.m.arch, one, gpu.Hardware); err == nil {
		l, _ := r.Limit(gpu.VGPR)
		text += fmt.Sprintf("; these registers alone allow at most %d waves/SIMD", l.WavesPerSIMD)
	}
	s.note(note("registers_from_code", "%s", text))
}

// checkNamed compares the allocation of a row with the registers that the code
// names: they tell whether it is padded.
func (s *subject) checkNamed(total int) {
	alloc := s.alloc.TotalVGPR
	if s.unknown != "" || alloc == 0 {
		return
	}
	file, _, err := s.m.arch.File(s.alloc.Wave)
	if err != nil {
		return // the row was decoded with this wave size
	}
	needs := (total + file.Encoding - 1) / file.Encoding * file.Encoding
	padded := slices.IndexFunc(s.k.Notes, func(n gpu.Note) bool { return n.ID == gpu.NotePadded })
	switch {
	case total > alloc:
		s.note(note("fewer_registers_than_code", "the code names %d VGPRs, the row allocates %d: the row is of another build of the kernel", total, alloc))
	case padded >= 0 && needs == alloc:
		s.k.Notes = slices.Delete(s.k.Notes, padded, padded+1)
	case padded >= 0:
		s.k.Notes[padded].Text += fmt.Sprintf("; the code names %d", total)
	case needs < alloc:
		s.note(note("registers_in_code", "the code names %d VGPRs, the allocation is %d", total, alloc))
	}
}

// row reads the register columns, LDS and workgroup size of a kernel-trace row.
func (b *builder) row(s *subject, l *trace.Launch, h gpu.Halved, dispatched bool) {
	s.k.Source.Table, s.k.Source.Row = l.Origin.File, l.Origin.Row
	size, _ := l.WorkgroupSize()
	counts := gpu.Counts{
		Kernel: l.Kernel, VGPR: whole(l.VGPRs), Accum: whole(l.AccumVGPRs), SGPR: whole(l.SGPRs),
		LDSBytes: whole(l.LDSBytes), WorkgroupSize: whole(&size),
	}
	s.k.Registers.Columns = &Columns{VGPR: l.VGPRs, Accum: l.AccumVGPRs, SGPR: l.SGPRs}
	s.k.Registers.ScratchBytes = intOf(l.ScratchBytes)
	s.k.Registers.LDSBytes = intOf(l.LDSBytes)
	s.staticLDS = !dispatched
	if l.VGPRs == nil {
		s.k.Registers.Columns = nil
		s.unknown = "no register columns: capture with a newer rocprofv3, or give the code object"
		s.alloc = gpu.Resources{LDSBytes: counts.LDSBytes, WorkgroupSize: counts.WorkgroupSize}
		return
	}
	wave := int(b.p.Param(paramWave))
	r, err := gpu.DecodeRegisters(s.m.arch, counts, wave, h)
	if err != nil {
		s.unknown = err.Error()
		return
	}
	s.alloc = r.Resources
	s.k.Registers.VGPRs, s.k.Registers.Allocated = new(r.Total), new(r.Total)
	if r.SplitKnown && s.m.arch.AGPR == gpu.UnifiedAGPR {
		s.k.Registers.AccumOffset = new(r.Arch)
	}
	if r.SGPRKnown {
		s.k.Registers.SGPRs = new(r.SGPR)
	}
	for _, n := range r.Notes {
		if n.ID != gpu.NoteStaticLDS || !dispatched && b.p.Param(paramLDS) < 0 {
			s.note(n)
		}
	}
	if l.LDSBytes == nil && b.p.Param(paramLDS) < 0 || l.SGPRs == nil && s.m.arch.SGPR.PerSIMD > 0 {
		s.note(note("columns_missing", "the table has no LDS or SGPR column: what is missing is not counted"))
	}
	if wave == 0 && s.m.arch.Wave32.PerSIMD > 0 && s.m.arch.Wave64.PerSIMD > 0 {
		s.note(note(noteWaveAssumed, "a kernel trace does not tell the wave size: wave%d is assumed (--wave)", s.m.arch.DefaultWave))
	}
}

// intOf narrows a figure; one that is absurd is unknown.
func intOf(p *int64) *int {
	if p == nil || *p < 0 || *p > maxFigure {
		return nil
	}
	return new(int(*p))
}

// launchTables adds the kernels of kernel traces and databases. A results.json
// tells too little of registers.
func (b *builder) launchTables() error {
	for _, t := range kernels.Analyzer.Of(b.p).Launches {
		if t.Kind == "results_json" {
			continue
		}
		b.shapeless(t)
		if err := b.launchTable(t); err != nil {
			return err
		}
	}
	return nil
}

// shapeless says how many dispatches have a shape that cannot be: one that is
// not known may be anything.
func (b *builder) shapeless(t *trace.LaunchTable) {
	var n int64
	for i := range t.Launches {
		l := &t.Launches[i]
		if _, ok := l.Workgroups(); !ok && l.Grid != nil && l.Workgroup != nil {
			n += t.Launches[i].Count
		}
	}
	if n > 0 {
		b.p.Note(trace.Note{Level: trace.Warning, File: t.Path, Text: fmt.Sprintf("%d dispatches have a shape that cannot be", n)})
	}
}

// kernelKey tells the kernels of a kernel trace apart: everything that decides
// the occupancy, but not the grid.
type kernelKey struct {
	name, arch string
	cus        int
	counts     [5]int64
	size       int64
}

func (b *builder) launchTable(t *trace.LaunchTable) error {
	resolved, err := b.p.Capture.Launched(t.Path, t.Agents, t.AgentIDs())
	if err != nil {
		return err
	}
	byAgent := map[string]machine{}
	for id, m := range resolved {
		byAgent[id] = b.machine(m, "no agent_info.csv beside it tells the GPU")
	}
	selected := map[string]bool{}
	groups := map[kernelKey][]trace.LaunchSum{}
	machines := map[kernelKey]machine{}
	var order []kernelKey
	for _, l := range t.Launches {
		k := keyOf(&l, byAgent[l.AgentID])
		if _, known := selected[l.Kernel]; !known {
			selected[l.Kernel] = b.p.Selects(capture.NamesOf("", l.Kernel))
		}
		if !selected[l.Kernel] {
			continue
		}
		if groups[k] == nil {
			order = append(order, k)
			machines[k] = byAgent[l.AgentID]
		}
		groups[k] = append(groups[k], l)
	}
	slices.SortStableFunc(order, func(a, b kernelKey) int { return cmp.Compare(totalNs(groups[b]), totalNs(groups[a])) })
	for _, k := range order {
		if err := b.launched(t, machines[k], groups[k]); err != nil {
			return err
		}
	}
	return nil
}

func keyOf(l *trace.LaunchSum, m machine) kernelKey {
	size, _ := l.WorkgroupSize()
	k := kernelKey{name: l.Kernel, arch: m.name, cus: m.cus, size: size}
	for i, v := range [...]*int64{l.LDSBytes, l.ScratchBytes, l.VGPRs, l.AccumVGPRs, l.SGPRs} {
		if k.counts[i] = -1; v != nil {
			k.counts[i] = *v
		}
	}
	return k
}

func totalNs(ls []trace.LaunchSum) int64 {
	var ns int64
	for i := range ls {
		ns = addNs(ns, ls[i].TotalNs)
	}
	return ns
}

// addNs adds two durations; what does not fit is the largest one.
func addNs(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// launched adds one kernel of a kernel trace with all of its grids.
func (b *builder) launched(t *trace.LaunchTable, m machine, ls []trace.LaunchSum) error {
	s := newSubject(t.Kind, t.Path, capture.NamesOf("", ls[0].Kernel), m)
	if !m.known() {
		return b.withoutGPU(s, t.Path)
	}
	b.row(s, &ls[0].Launch, b.halved(t, m.arch), t.LDSDispatched)
	s.grids = gridsOf(ls)
	b.metadata(s)
	return b.add(s)
}

// gridsOf sums launches by grid, the longest first.
func gridsOf(ls []trace.LaunchSum) []Grid {
	index := map[[6]int64]int{}
	var out []Grid
	for i := range ls {
		l := &ls[i]
		groups, ok := l.Workgroups()
		if !ok {
			continue
		}
		key := [6]int64{l.Grid[0], l.Grid[1], l.Grid[2], l.Workgroup[0], l.Workgroup[1], l.Workgroup[2]}
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, Grid{WorkItems: slices.Clone(l.Grid[:]), Workgroup: slices.Clone(l.Workgroup[:]), Groups: groups})
		}
		out[at].add(l)
	}
	slices.SortStableFunc(out, func(a, b Grid) int {
		return cmp.Or(cmp.Compare(b.TotalNs, a.TotalNs), cmp.Compare(b.Dispatches, a.Dispatches))
	})
	return out
}

func (g *Grid) add(l *trace.LaunchSum) {
	if l.Timed > 0 && (g.MinNs == 0 || l.MinNs < g.MinNs) {
		g.MinNs = l.MinNs
	}
	g.Dispatches += l.Count
	g.TotalNs = addNs(g.TotalNs, l.TotalNs)
	g.MaxNs = max(g.MaxNs, l.MaxNs)
}

// codeObjects adds the kernels of code objects, listings and flags, but those
// that a capture's kernel was joined with.
func (b *builder) codeObjects() error {
	left := b.otherTargets()
	for _, co := range b.p.Trace.CodeObjects {
		if left[co] {
			continue
		}
		m := b.compiledFor(co)
		for i := range co.Kernels {
			k := &co.Kernels[i]
			if !b.p.Selects(capture.NamesOf(k.Symbol, k.Name)) || b.joined[k] {
				continue
			}
			if err := b.compiled(co, k, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// otherTargets are the code objects of files that hold code for several GPUs, the
// named one among them: those for the others are not what the user asks about.
func (b *builder) otherTargets() map[*trace.CodeObject]bool {
	named := string(b.p.Capture.NamedArch())
	if named == "" {
		return nil
	}
	files := map[string]bool{} // that have code for the named GPU
	other := func(co *trace.CodeObject) bool {
		a, err := gpu.ArchByName(co.Target)
		return err != nil || a.Name != named && !slices.Contains(gpu.GenericRuns(co.Target), named)
	}
	for _, co := range b.p.Trace.CodeObjects {
		file, _, part := strings.Cut(co.Path, "#")
		files[file] = files[file] || part && !other(co)
	}
	left := map[*trace.CodeObject]bool{}
	for _, co := range b.p.Trace.CodeObjects {
		if file, _, _ := strings.Cut(co.Path, "#"); files[file] && other(co) {
			left[co] = true
		}
	}
	return left
}

// compiled adds one kernel of a code object.
func (b *builder) compiled(co *trace.CodeObject, k *trace.CodeKernel, m machine) error {
	s := newSubject(co.Kind, co.Path, capture.NamesOf(k.Symbol, k.Name), m)
	if !m.known() {
		return b.withoutGPU(s, co.Path)
	}
	if co.Kind == capture.KindFlags {
		s.k.Source.Path = ""
	}
	s.k.Registers = registersOf(k)
	s.dynamicStack = k.DynamicStack != nil && *k.DynamicStack
	need, alloc := resourcesOf(k)
	b.modes(&need, k)
	alloc.Wave, alloc.Mode, alloc.DynamicVGPRBlock = need.Wave, need.Mode, need.DynamicVGPRBlock
	s.alloc, s.exact = alloc, true
	s.needs(need)
	s.showNeed()
	if k.VGPRsListed != nil && k.AGPRs != nil {
		s.k.Registers.Metadata = k.VGPRsListed
		s.note(note("agprs_apart", ".vgpr_count %d of the metadata cannot hold the %d a registers: it lists the v registers alone, %d are counted", *k.VGPRsListed, *k.AGPRs, *k.VGPRs))
	}
	if k.VGPRs == nil && k.ArchVGPRs == nil && k.Descriptor == nil {
		s.unknown = "no metadata and no descriptor: nothing tells its registers"
	}
	if why := b.refused(k); why != "" {
		s.unknown = why
	}
	if m.unused != "" {
		s.note(note(noteFlagUnused, "%s", m.unused))
	}
	b.compiledNotes(s, k)
	return b.add(s)
}

// refused says why the runtime would not launch a kernel with the workgroup
// that the user gave (LLVM AMDGPUUsage, .max_flat_workgroup_size and
// .reqd_workgroup_size).
func (b *builder) refused(k *trace.CodeKernel) string {
	size := int(b.p.Param(paramWorkgroup))
	if w := k.ReqWorkgroup; size > 0 && w != nil && volume(w) != size {
		return fmt.Sprintf("it must be launched with workgroups of %d x %d x %d, not of %d work-items", w[0], w[1], w[2], size)
	}
	if n := k.MaxWorkgroup; n != nil && size > *n {
		return fmt.Sprintf("it may be launched with at most %d work-items in a workgroup, not with %d", *n, size)
	}
	return ""
}

// compiledNotes says what a code object leaves open.
func (b *builder) compiledNotes(s *subject, k *trace.CodeKernel) {
	l := k.Launch
	b.launchNote(s, l)
	if runs := gpu.GenericRuns(s.m.name); runs != nil {
		s.note(note("generic_target", "%s code runs on %s: counted as %s, which has the least room; --arch names the one that it runs on", s.m.name, strings.Join(runs, ", "), s.m.arch.Name))
	}
	if (l == nil || l.Workgroup == nil) && k.MaxWorkgroup != nil && k.ReqWorkgroup == nil && b.p.Param(paramWorkgroup) == 0 {
		s.note(note("largest_workgroup", "%d work-items are the most that it may be launched with (.max_flat_workgroup_size); --workgroup gives the real size", *k.MaxWorkgroup))
	}
	if l == nil && s.k.Source.Kind != capture.KindFlags && b.p.Param(paramLDS) < 0 {
		s.note(note(gpu.NoteStaticLDS, "LDS is static; --lds gives the size with what is added at launch"))
	}
	if d := k.Descriptor; d != nil && d.DynamicVGPR != nil && *d.DynamicVGPR && b.p.Param(paramDynamic) == 0 {
		s.note(note("dynamic_vgpr_block_unknown", "it uses dynamic VGPRs, of which the descriptor does not tell the block size: counted as static ones (--dynamic-vgpr-block)"))
	}
}

// launchNote says what a file beside the code tells of its launch, unless the user
// says something else.
func (b *builder) launchNote(s *subject, l *trace.CodeLaunch) {
	if l == nil {
		return
	}
	var parts []string
	if l.DynamicLDSBytes != nil && b.p.Param(paramLDS) < 0 {
		parts = append(parts, fmt.Sprintf("LDS of %d B", *l.DynamicLDSBytes))
	}
	if l.Workgroup != nil && b.p.Param(paramWorkgroup) == 0 {
		parts = append(parts, fmt.Sprintf("workgroups of %d work-items", *l.Workgroup))
	}
	if len(parts) > 0 {
		s.note(note("launched", "launched with %s (%s)", strings.Join(parts, " and "), l.Source))
	}
}

// modes fills wave size, mode and dynamic VGPRs: the kernel's, else the
// user's, else the architecture's defaults.
func (b *builder) modes(r *gpu.Resources, k *trace.CodeKernel) {
	r.Wave = int(b.p.Param(paramWave))
	if k.WaveSize != nil {
		r.Wave = *k.WaveSize
	}
	r.Mode = b.mode()
	if k.WGPMode != nil {
		r.Mode = gpu.CUMode
		if *k.WGPMode {
			r.Mode = gpu.WGPMode
		}
	}
	r.DynamicVGPRBlock = int(b.p.Param(paramDynamic))
}

func (b *builder) mode() gpu.Mode {
	switch b.p.Param(paramMode) {
	case 1:
		return gpu.CUMode
	case 2:
		return gpu.WGPMode
	}
	return gpu.DefaultMode
}

// resourcesOf gives what a kernel uses and what its descriptor allocates. Each
// stands in for the other where it is missing.
func resourcesOf(k *trace.CodeKernel) (need, alloc gpu.Resources) {
	need = gpu.Resources{SGPR: value(k.SGPRs), LDSBytes: value(k.LDSBytes), WorkgroupSize: value(k.MaxWorkgroup)}
	switch {
	case k.VGPRs != nil:
		need.TotalVGPR = *k.VGPRs
	default:
		need.ArchVGPR, need.AccumVGPR = value(k.ArchVGPRs), value(k.AGPRs)
	}
	if w := k.ReqWorkgroup; w != nil {
		need.WorkgroupSize = volume(w)
	}
	dynamic := 0
	if l := k.Launch; l != nil {
		dynamic = value(l.DynamicLDSBytes)
		if l.Workgroup != nil {
			need.WorkgroupSize = *l.Workgroup
		}
	}
	need.LDSBytes += dynamic
	alloc = need
	d := k.Descriptor
	if d == nil {
		return need, alloc
	}
	if d.VGPRs != nil {
		alloc.TotalVGPR = *d.VGPRs
	}
	if d.SGPRs != nil {
		alloc.SGPR = *d.SGPRs
	}
	if d.LDSBytes != nil {
		alloc.LDSBytes = *d.LDSBytes + dynamic
	}
	if k.VGPRs == nil && k.ArchVGPRs == nil {
		need = alloc
	}
	return need, alloc
}

// volume is the work-items of a workgroup; one that is absurdly large is
// maxFigure, which no kernel can have.
func volume(w *[3]int) int {
	n := 1
	for _, x := range w {
		if x < 0 || x > maxFigure/max(n, 1) {
			return maxFigure
		}
		n *= x
	}
	return n
}

func registersOf(k *trace.CodeKernel) Registers {
	r := Registers{
		VGPRs: k.VGPRs, Arch: k.ArchVGPRs, AGPRs: k.AGPRs, SGPRs: k.SGPRs,
		VGPRSpills: k.VGPRSpills, SGPRSpills: k.SGPRSpills, LDSBytes: k.LDSBytes, ScratchBytes: k.ScratchBytes,
	}
	if l := k.Launch; l != nil && l.DynamicLDSBytes != nil {
		r.LDSBytes = new(value(k.LDSBytes) + *l.DynamicLDSBytes)
	}
	d := k.Descriptor
	if d == nil {
		return r
	}
	r.Allocated, r.AccumOffset, r.SGPRsDescriptor = d.VGPRs, d.AccumOffset, d.SGPRs
	if r.LDSBytes == nil {
		r.LDSBytes = d.LDSBytes
	}
	if r.ScratchBytes == nil {
		r.ScratchBytes = d.ScratchBytes
	}
	return r
}

func value(p *int) int {
	if p == nil {
		return 0
	}
	return *p
}

// metadata looks for the kernel of a capture among the code objects given with
// it, by name, architecture and allocation, and takes its unpadded counts.
func (b *builder) metadata(s *subject) {
	var found *trace.CodeKernel
	from := ""
	for _, k := range b.compiledAs.Find(s.names) {
		if k.arch != s.m.arch.Name || !s.allocates(k.Descriptor) {
			continue
		}
		if found != nil {
			return // more than one fits: nothing tells which
		}
		found, from = k.CodeKernel, k.path
	}
	if found == nil {
		return
	}
	need, alloc := resourcesOf(found)
	b.modes(&need, found)
	s.alloc.TotalVGPR, s.alloc.SGPR = alloc.TotalVGPR, alloc.SGPR
	s.alloc.Wave, s.alloc.Mode = need.Wave, need.Mode
	if l := found.Launch; l != nil && l.DynamicLDSBytes != nil && s.staticLDS {
		s.alloc.LDSBytes += *l.DynamicLDSBytes
		s.k.Registers.LDSBytes = new(s.alloc.LDSBytes)
		s.note(note("launched", "%d B of LDS are added at launch (%s)", *l.DynamicLDSBytes, l.Source))
	}
	s.exact = true
	s.needs(need)
	s.need.LDSBytes, s.need.WorkgroupSize = s.alloc.LDSBytes, s.alloc.WorkgroupSize
	if s.unknown != "" && s.alloc.WorkgroupSize > 0 {
		s.unknown = ""
	}
	columns, named, lds, scratch := s.k.Registers.Columns, s.k.Registers.Named, s.k.Registers.LDSBytes, s.k.Registers.ScratchBytes
	s.k.Registers = registersOf(found)
	s.k.Registers.Columns, s.k.Registers.Named, s.k.Registers.LDSBytes = columns, named, lds
	s.showNeed()
	if scratch != nil {
		s.k.Registers.ScratchBytes = scratch
	}
	// What was said of the row's counts is settled by the metadata.
	s.k.Notes = slices.DeleteFunc(s.k.Notes, func(n gpu.Note) bool {
		return n.ID == gpu.NotePadded || n.ID == gpu.NoteStaticLDS && found.Launch != nil || n.ID == gpu.NoteSGPRPadded || n.ID == noteWaveAssumed && found.WaveSize != nil
	})
	s.note(note("metadata", "registers are the metadata of %s", from))
	b.joined[found] = true
}

// needs sets what the kernel needs by what the compiler, or the code, says of it.
func (s *subject) needs(said gpu.Resources) {
	s.said, s.need = said, new(said)
	if need, err := gpu.Needed(s.m.arch, said, s.alloc); err == nil {
		s.need = &need
	} // else compute says why
}

// allocated reports whether the registers shown are those of the descriptor,
// which asks for more than the metadata says and than LLVM's padding.
func (s *subject) allocated() bool {
	return s.exact && s.need != nil && s.need.TotalVGPR != s.said.TotalVGPR
}

// showNeed puts the need in place of the metadata's count where that is not it.
func (s *subject) showNeed() {
	r := &s.k.Registers
	if s.allocated() {
		r.Metadata, r.VGPRs = r.VGPRs, new(s.need.TotalVGPR)
	}
	if s.exact && s.need.SGPR != s.said.SGPR {
		r.SGPRs = new(s.need.SGPR)
	}
}

// allocates reports whether a captured kernel can have a descriptor.
func (s *subject) allocates(d *trace.CodeDescriptor) bool {
	return s.k.Registers.Columns == nil || d == nil || d.VGPRs == nil || s.alloc.TotalVGPR == *d.VGPRs
}
