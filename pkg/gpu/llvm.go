package gpu

// llvm repeats LLVM 22: GCNSubtarget::computeOccupancy, the least of the
// waves that registers allow and the waves of as many workgroups as slots and
// LDS allow, on the fullest SIMD. Nothing is checked for fitting: every limit
// is at least 1.
func (s shape) llvm() Result {
	r := s.result(LLVM)
	s.unit = "" // its limits are in waves, not in workgroups of a unit
	group := s.limit(WorkgroupLDS, s.lds)
	group.Pool, group.WavesPerSIMD = s.share.LDSPool, s.llvmGroupWaves()
	vgpr := s.limit(VGPR, s.vgprs)
	vgpr.Granule, vgpr.Pool = s.granule, s.file.PerSIMD
	vgpr.Allocated = alignUp(max(s.vgprs, 1), s.granule)
	vgpr.WavesPerSIMD = max(1, min(vgpr.Pool/vgpr.Allocated, s.arch.MaxWaves))
	sgpr := s.limit(SGPR, s.sgprs)
	sgpr.WavesPerSIMD = s.llvmSGPRWaves()
	sgpr.Unlimited = s.arch.SGPR.PerSIMD == 0
	r.Limits = []Limit{group, vgpr, sgpr}
	r.FullestSIMD = min(group.WavesPerSIMD, vgpr.WavesPerSIMD, sgpr.WavesPerSIMD)
	r.WavesPerSIMD = float64(r.FullestSIMD)
	r.Fits = true
	for _, l := range r.Limits {
		if !l.Unlimited && l.WavesPerSIMD == r.FullestSIMD {
			r.LimitedBy = append(r.LimitedBy, l.Resource)
		}
	}
	return r
}

// llvmGroupWaves is AMDGPUSubtarget::getOccupancyWithWorkGroupSizes for one
// workgroup size: LDS is not rounded to its granule, and too much LDS is 1.
func (s shape) llvmGroupWaves() int {
	groups := s.groups(s.arch.MaxWaves)
	if s.waves > 1 {
		groups = min(groups, s.share.Groups)
	}
	groups = min(groups, s.share.LDSPool/max(s.lds, 1))
	return max(1, min(ceilDiv(groups*s.waves, s.share.SIMDs), s.arch.MaxWaves))
}

// llvmSGPRWaves is GCNSubtarget::getOccupancyWithNumSGPRs of gfx8 and gfx9:
// 80 registers keep 10 waves, 88 keep 9, 100 keep 8, no reserve.
func (s shape) llvmSGPRWaves() int {
	if s.arch.SGPR.PerSIMD == 0 {
		return s.arch.MaxWaves
	}
	waves := 7
	switch {
	case s.sgprs <= 80:
		waves = 10
	case s.sgprs <= 88:
		waves = 9
	case s.sgprs <= 100:
		waves = 8
	}
	return min(waves, s.arch.MaxWaves)
}

// Reason is why hardware holds fewer waves than LLVM prints.
type Reason string

// The reasons.
const (
	// WholeGroups: a workgroup starts only when all of its waves fit, so
	// part of the waves that registers would allow stays unused.
	WholeGroups Reason = "whole_groups"
	// LDSGranule: hardware rounds LDS up.
	LDSGranule Reason = "lds_granule"
	// SGPRReserve: hardware charges the trap handler's 16 registers and
	// rounds to 16.
	SGPRReserve Reason = "sgpr_reserve"
	// CannotFit: not even one workgroup fits, where LLVM prints 1 or more.
	CannotFit Reason = "does_not_fit"
)

// Comparison holds both rules' results.
type Comparison struct {
	Hardware Result `json:"hardware"`
	LLVM     Result `json:"llvm"`
	// Reasons is the smallest set of reasons that explains the difference in
	// waves on the fullest SIMD; empty when the two agree.
	Reasons []Reason `json:"reasons,omitempty"`
}

// Compare computes both rules and explains their difference. It fails as
// Occupancy does.
func Compare(a Arch, r Resources) (Comparison, error) {
	s, err := resolve(a, r)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{Hardware: s.hardware(), LLVM: s.llvm()}
	switch {
	case !c.Hardware.Fits:
		c.Reasons = []Reason{CannotFit}
	case c.Hardware.FullestSIMD != c.LLVM.FullestSIMD:
		c.Reasons = s.explain(c.LLVM.FullestSIMD)
	}
	return c, nil
}

// explain drops reasons from the hardware rule, few before many, until it
// gives LLVM's figure.
func (s shape) explain(llvm int) []Reason {
	for _, set := range [][]Reason{
		{WholeGroups},
		{LDSGranule},
		{SGPRReserve},
		{WholeGroups, LDSGranule},
		{WholeGroups, SGPRReserve},
		{LDSGranule, SGPRReserve},
		{WholeGroups, LDSGranule, SGPRReserve},
	} {
		if s.without(set) == llvm {
			return set
		}
	}
	return nil
}

// without is the hardware rule's waves on the fullest SIMD, less some of its
// refinements.
func (s shape) without(set []Reason) int {
	drop := map[Reason]bool{}
	for _, r := range set {
		drop[r] = true
	}
	if drop[LDSGranule] {
		s.arch.LDSGranule = 1
	}
	vgpr, sgpr := s.vgprLimit().WavesPerSIMD, s.sgprLimit().WavesPerSIMD
	if drop[SGPRReserve] || s.arch.SGPR.PerSIMD == 0 {
		sgpr = s.llvmSGPRWaves()
	}
	groups := s.groups(s.arch.MaxWaves)
	for _, l := range []Limit{s.workgroupSlots(), s.ldsLimit()} {
		if !l.Unlimited {
			groups = min(groups, l.Groups)
		}
	}
	if drop[WholeGroups] {
		return min(vgpr, sgpr, ceilDiv(groups*s.waves, s.share.SIMDs))
	}
	groups = min(groups, s.groups(vgpr), s.groups(sgpr))
	return ceilDiv(groups*s.waves, s.share.SIMDs)
}
