package occupancy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// add computes a subject's occupancy and puts it into the result. What the
// user's flags ask for and the architecture cannot do is an error; the same in
// a capture only leaves the kernel without an occupancy.
func (b *builder) add(s *subject) error {
	b.override(s)
	if s.unknown == "" && s.alloc.WorkgroupSize == 0 {
		s.unknown = "no workgroup size: give --workgroup"
	}
	if s.unknown == "" {
		if err := b.compute(s); err != nil {
			if s.k.Source.Kind == capture.KindFlags {
				return err
			}
			s.unknown = err.Error()
		}
	}
	b.launch(s)
	s.k.Advice, s.k.brief = advise(s)
	if s.k.trace != nil {
		s.scratched = b.scratchOf(s.k.trace, s.k.kernel)
	}
	s.k.Found = analysis.Check(b.p, checks(), s, finding.Place{Path: s.k.Source.Path, Kernel: s.k.Name})
	b.res.Kernels = append(b.res.Kernels, s.k)
	return nil
}

// override puts the user's workgroup, LDS, grid and modes in place of the
// source's.
func (b *builder) override(s *subject) {
	lds, size := int(b.p.Param(paramLDS)), int(b.p.Param(paramWorkgroup))
	for _, r := range []*gpu.Resources{&s.alloc, s.need} {
		if r == nil {
			continue
		}
		if lds >= 0 {
			r.LDSBytes = lds
		}
		if size > 0 {
			r.WorkgroupSize = size
		}
		if !s.exact {
			r.Mode, r.DynamicVGPRBlock = b.mode(), int(b.p.Param(paramDynamic))
			if w := int(b.p.Param(paramWave)); w != 0 {
				r.Wave = w
			}
		}
	}
	if lds >= 0 {
		s.k.Registers.LDSBytes = &lds
	}
	if size > 0 && s.alloc.WorkgroupSize > 0 && s.k.Registers.Columns == nil && s.k.Source.Kind == "thread_trace" {
		s.unknown = "" // the code names the registers, the user the workgroup
	}
	b.overrideGrids(s, size)
}

func (b *builder) overrideGrids(s *subject, size int) {
	grid := int64(b.p.Param(paramGrid))
	if grid > 0 && s.alloc.WorkgroupSize > 0 {
		n := (grid-1)/int64(s.alloc.WorkgroupSize) + 1
		s.grids = []Grid{{WorkItems: []int64{grid, 1, 1}, Workgroup: []int64{int64(s.alloc.WorkgroupSize), 1, 1}, Groups: n}}
		return
	}
	if size == 0 {
		return
	}
	for i := range s.grids {
		g := &s.grids[i]
		was := product(g.Workgroup)
		if was == int64(size) || was < 1 || g.Groups > 1<<52/was {
			continue
		}
		items := g.Groups * was
		g.Groups, g.Workgroup = (items-1)/int64(size)+1, []int64{int64(size), 1, 1}
	}
}

func product(v []int64) int64 {
	n := int64(1)
	for _, x := range v {
		n *= x
	}
	return n
}

// compute fills occupancy, limits, steps and curves.
//
// The descriptor decides what starts, the need what would help: LLVM pads the
// one up to what LDS and workgroup size allow. Where both give the same
// occupancy the steps are those of the need, and for metadata the limiters too.
func (b *builder) compute(s *subject) error {
	shown, err := gpu.Occupancy(s.m.arch, s.alloc, gpu.Hardware)
	if err != nil {
		return err
	}
	basis, steps := s.alloc, shown
	if s.need != nil {
		need, err := gpu.Occupancy(s.m.arch, *s.need, gpu.Hardware)
		if err != nil {
			return err
		}
		if err := s.differs(need, shown); err != nil {
			return err
		}
		switch {
		case need.Groups != shown.Groups:
		case s.exact:
			basis, steps, shown = *s.need, need, need
		default:
			basis, steps = *s.need, need
		}
	}
	s.show(shown, basis)
	s.steps(shown, steps, basis)
	if b.p.Param(paramLLVM) != 0 {
		if err := s.llvm(); err != nil {
			return err
		}
	}
	return b.whatIf(s, basis, steps)
}

// differs notes that the descriptor allocates more than the metadata says and
// LLVM's padding explains, or that it allows less.
func (s *subject) differs(need, shown gpu.Result) error {
	if !s.exact {
		return nil
	}
	if need.Groups != shown.Groups {
		s.note(note("descriptor_padded", "the descriptor allocates %d VGPRs and %d SGPRs where the metadata says %d and %d: it holds %d instead of %d workgroups/%s",
			s.alloc.TotalVGPR, s.alloc.SGPR, used(need, gpu.VGPR), used(need, gpu.SGPR), shown.Groups, need.Groups, shown.Unit))
		return nil
	}
	if !s.allocated() {
		return nil
	}
	said := *s.need
	said.TotalVGPR, said.ArchVGPR, said.AccumVGPR, said.SGPR = s.said.TotalVGPR, s.said.ArchVGPR, s.said.AccumVGPR, s.said.SGPR
	r, err := gpu.Occupancy(s.m.arch, said, gpu.Hardware)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("the descriptor allocates %d VGPRs where the metadata says %d, which is no padding of LLVM's (that stops at the least that keeps the waves): %d are counted",
		s.need.TotalVGPR, used(r, gpu.VGPR), s.need.TotalVGPR)
	if r.Groups != shown.Groups {
		text += fmt.Sprintf("; %d would hold %s/%s", used(r, gpu.VGPR), count(r.Groups, "workgroup"), r.Unit)
	}
	s.note(note("descriptor_allocates", "%s", text))
	return nil
}

func used(r gpu.Result, res gpu.Resource) int {
	l, _ := r.Limit(res)
	return l.Used
}

// show copies an occupancy into the kernel.
func (s *subject) show(r gpu.Result, basis gpu.Resources) {
	k := &s.k
	k.shape = &r
	k.WaveSize, k.WorkgroupSize, k.WavesPerWorkgroup = r.Wave, basis.WorkgroupSize, r.WavesPerGroup
	k.Fits, k.WavesPerSIMD, k.FullestSIMD = &r.Fits, &r.WavesPerSIMD, &r.FullestSIMD
	k.MaxWavesPerSIMD, k.Unit, k.WorkgroupsPerUnit = r.MaxWaves, r.Unit, &r.Groups
	if r.Unit == "CU" {
		k.WorkgroupsPerCU = &r.Groups
	}
	k.Limiters = limiterNames(r.LimitedBy)
	if k.Registers.VGPRs == nil {
		k.Registers.VGPRs = new(used(r, gpu.VGPR))
	}
	for _, l := range r.Limits {
		out := Limit{Arithmetic: l.String()}
		if !l.Unlimited {
			out.Workgroups = new(l.Groups)
			out.Used, out.Allocated, out.Granule, out.Pool = l.Used, l.Allocated, l.Granule, l.Pool
		}
		k.Limits[limiterName(l.Resource)] = out
	}
	if r.WavesPerGroup == 1 && !slices.ContainsFunc(k.Notes, func(n gpu.Note) bool { return n.ID == gpu.NoteOneWave }) {
		s.note(note(gpu.NoteOneWave, "a workgroup is one wave: it takes no barrier slot, so workgroup slots do not limit"))
	}
	if o := k.Observed; o != nil {
		o.Possible = &r.FullestSIMD
		o.Exceeds = r.Fits && o.Kernels == 1 && o.Peak > r.FullestSIMD
	}
}

// steps fills the way to one more workgroup. The steps are computed from what
// the kernel needs; a limiter that is none for the need is padding.
func (s *subject) steps(shown, need gpu.Result, basis gpu.Resources) {
	all := basis
	moved := 0
	for _, res := range shown.LimitedBy {
		l, _ := need.Limit(res)
		if l.Next == nil {
			continue
		}
		st := Step{
			Resource: limiterName(res), Now: l.Used, Target: l.Next.Target, WorkgroupsPerUnit: l.Next.Groups,
			WavesPerSIMD: l.Next.WavesPerSIMD, Gains: l.Next.Gains, ThenLimitedBy: limiterNames(l.Next.ThenLimitedBy),
		}
		st.Text = st.words(need.Unit)
		s.k.NextStep = append(s.k.NextStep, st)
		set(&all, res, st.Target)
		moved++
	}
	if moved < 2 || slices.ContainsFunc(s.k.NextStep, func(st Step) bool { return st.Gains }) {
		return
	}
	then, err := gpu.Occupancy(s.m.arch, all, gpu.Hardware)
	if err != nil || then.Groups <= need.Groups {
		return // the steps change amounts that were accepted; nothing is gained together either
	}
	parts := make([]string, 0, moved)
	for _, st := range s.k.NextStep {
		parts = append(parts, st.change())
	}
	s.k.Together = &Together{
		WorkgroupsPerUnit: then.Groups, WavesPerSIMD: then.WavesPerSIMD, ThenLimitedBy: limiterNames(then.LimitedBy),
		Text: fmt.Sprintf("%s: %s waves/SIMD", strings.Join(parts, " and "), figure(then.WavesPerSIMD)),
	}
}

// set replaces the amount of one resource.
func set(r *gpu.Resources, res gpu.Resource, n int) {
	switch res {
	case gpu.VGPR:
		r.TotalVGPR, r.ArchVGPR, r.AccumVGPR = n, 0, 0
	case gpu.SGPR:
		r.SGPR = n
	case gpu.LDS:
		r.LDSBytes = n
	}
}

// change is "134 -> 128 VGPRs".
func (st Step) change() string {
	return fmt.Sprintf("%d -> %d %s", st.Now, st.Target, resourceUnits[st.Resource])
}

// resourceUnits are what amounts of a limiter count.
var resourceUnits = map[string]string{"vgpr": "VGPRs", "sgpr": "SGPRs", "lds": "B LDS"}

func (st Step) words(unit string) string {
	then := strings.Join(st.ThenLimitedBy, ", ")
	if !st.Gains {
		return fmt.Sprintf("%s gains nothing alone: still limited by %s", st.change(), then)
	}
	return fmt.Sprintf("%s: %s waves/SIMD, %s/%s, then limited by %s", st.change(), figure(st.WavesPerSIMD), count(st.WorkgroupsPerUnit, "workgroup"), unit, then)
}

// figure writes waves per SIMD with at most two decimals.
func figure(x float64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", x), "0"), ".")
}

// llvm adds the figure that LLVM prints. It rests on the padded counts (LLVM
// AMDGPUAsmPrinter.cpp, NumVGPRsForWavesPerEU).
func (s *subject) llvm() error {
	c, err := gpu.Compare(s.m.arch, s.alloc)
	if err != nil {
		return err
	}
	s.k.LLVM = &LLVM{WavesPerSIMD: c.LLVM.FullestSIMD, LimitedBy: limiterNames(c.LLVM.LimitedBy), Reasons: c.Reasons}
	return nil
}

// curves are the values of the what_if parameter.
var curves = [...]struct {
	name, unit string
	res        gpu.Resource
	now        func(gpu.Result, gpu.Resources) int
}{
	{},
	{"vgpr", "VGPRs", gpu.VGPR, func(r gpu.Result, _ gpu.Resources) int { return used(r, gpu.VGPR) }},
	{"lds", "bytes", gpu.LDS, func(_ gpu.Result, b gpu.Resources) int { return b.LDSBytes }},
	{"workgroup", "work-items", gpu.WorkgroupSize, func(_ gpu.Result, b gpu.Resources) int { return b.WorkgroupSize }},
}

// WhatIfParam is the value of the what_if parameter for a resource's name; ok
// is false for an unknown one.
func WhatIfParam(name string) (value float64, ok bool) {
	for i, c := range curves {
		if c.name == name {
			return float64(i), true
		}
	}
	return 0, false
}

func (b *builder) whatIf(s *subject, basis gpu.Resources, at gpu.Result) error {
	which := int(b.p.Param(paramWhatIf))
	if which <= 0 || which >= len(curves) {
		return nil
	}
	c := curves[which]
	points, err := gpu.Curve(s.m.arch, basis, c.res)
	if err != nil {
		return err
	}
	s.k.WhatIf = &WhatIf{Resource: c.name, Unit: c.unit, Now: c.now(at, basis), Points: []Point{}}
	for _, p := range points {
		s.k.WhatIf.Points = append(s.k.WhatIf.Points, Point{p.From, p.To, p.Groups, p.WavesPerSIMD, limiterNames(p.LimitedBy)})
	}
	return nil
}

// launch fills the launch shape of the grid that took the most time.
func (b *builder) launch(s *subject) {
	if len(s.grids) == 0 {
		return
	}
	s.k.Launches = s.grids
	l := &Launch{Grid: s.grids[0], Grids: len(s.grids)}
	s.k.Launch = l
	if s.k.shape == nil || s.m.cus == 0 {
		if s.k.shape != nil {
			s.note(note("cus_unknown", "the number of CUs is not known: give --device for the launch shape"))
		}
		return
	}
	shape, err := gpu.Launch(s.m.cus, *s.k.shape, l.Groups, s.k.WorkgroupSize)
	if err != nil {
		s.note(note("launch_unknown", "the launch shape is not known: %s", err))
		return
	}
	l.LaunchShape = &shape
}

// advise says in one line what to do, and in a few words the same for a narrow
// column.
func advise(s *subject) (advice, brief string) {
	k := &s.k
	switch {
	case k.shape == nil:
		return "unknown: " + s.unknown, "unknown"
	case !*k.Fits:
		return "does not fit: " + strings.Join(reasons(k), "; "), "does not fit"
	}
	l := k.Launch
	shaped := l != nil && l.LaunchShape != nil
	switch {
	case shaped && l.UnderFilled:
		return fmt.Sprintf("not occupancy: %d workgroups on %d %ss", l.Groups, l.Units, l.Unit),
			fmt.Sprintf("grid: %d wg on %d %ss", l.Groups, l.Units, l.Unit)
	case k.shape.AtMaximum():
		return "none: occupancy is at the maximum", "none: at maximum"
	case shaped && !l.OccupancyMatters:
		return fmt.Sprintf("not occupancy: all %d workgroups are resident at once", l.Groups), fmt.Sprintf("none: all %d wg resident", l.Groups)
	}
	for _, st := range k.NextStep {
		if st.Gains {
			return st.Text, fmt.Sprintf("%s: %s waves", st.change(), figure(st.WavesPerSIMD))
		}
	}
	switch {
	case k.Together != nil:
		targets := make([]string, 0, len(k.NextStep))
		for _, st := range k.NextStep {
			targets = append(targets, fmt.Sprintf("%d %s", st.Target, resourceUnits[st.Resource]))
		}
		return k.Together.Text, fmt.Sprintf("%s: %s waves", strings.Join(targets, ", "), figure(k.Together.WavesPerSIMD))
	case len(k.NextStep) > 0:
		return k.NextStep[0].Text, "no single step helps"
	}
	return "no step: " + strings.Join(k.Limiters, ", ") + " cannot be moved", "no step"
}

// reasons says why no workgroup fits.
func reasons(k *Kernel) []string {
	var out []string
	for _, l := range k.shape.Limits {
		if l.DoesNotFit != "" {
			out = append(out, l.DoesNotFit)
		}
	}
	return out
}

// observedOf sums occupancy.json.
func observedOf(tt *trace.ThreadTrace) *Observed {
	o := tt.Occupancy
	if o == nil || o.Starts() == 0 {
		return nil
	}
	out := &Observed{Engines: len(o.Engines)}
	var wave, simd int64
	for _, e := range o.Engines {
		out.Peak = max(out.Peak, e.PeakPerSIMD)
		wave += e.WaveCycles
		simd += e.SIMDCycles
	}
	for _, k := range o.Kernels {
		if k.Starts > 0 {
			out.Kernels++
		}
	}
	if simd > 0 {
		mean := float64(wave) / float64(simd)
		out.Mean = &mean
	}
	return out
}
