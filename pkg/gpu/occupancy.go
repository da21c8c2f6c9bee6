package gpu

import "fmt"

// Resources are what one workgroup and its waves ask for.
type Resources struct {
	// ArchVGPR and AccumVGPR are v and a registers per lane.
	ArchVGPR, AccumVGPR int
	// TotalVGPR is the allocation as a whole, for sources that do not tell
	// the two kinds apart; it replaces them when it is not 0. On unified
	// files it equals ArchVGPR rounded up to 4, plus AccumVGPR.
	TotalVGPR int
	// SGPR counts scalar registers per wave with VCC, flat scratch and XNACK
	// included, as the .sgpr_count of code object metadata does.
	SGPR int
	// LDSBytes is static plus dynamic LDS of a workgroup.
	LDSBytes int
	// WorkgroupSize is the work-items of a workgroup, 1 to 1024.
	WorkgroupSize int
	// Wave is 32 or 64; 0 is the architecture's default.
	Wave int
	// Mode is how workgroups map to units on gfx10 and later.
	Mode Mode
	// DynamicVGPRBlock is 16 or 32 for a kernel with dynamic VGPRs (wave32
	// of gfx12 and later), else 0. Occupancy is then at the registers given:
	// waves start with one block.
	DynamicVGPRBlock int
}

// maxWorkgroup is the most work-items of a workgroup (LLVM AMDGPUUsage,
// amdgpu-flat-work-group-size).
const maxWorkgroup = 1024

// dynamicBlocks is the most blocks of a wave with dynamic VGPRs (LLVM
// getAddressableNumVGPRs: "at most 8 blocks").
const dynamicBlocks = 8

// maxInput bounds every count given, far above any hardware, so that no
// product can overflow.
const maxInput = 1 << 30

// Rule selects the arithmetic.
type Rule string

// The rules. Hardware counts whole workgroups, rounds LDS to its granule and
// charges the trap handler's scalar registers. LLVM repeats the "Occupancy"
// of LLVM up to release 22, which does none of these.
const (
	Hardware Rule = "hardware"
	LLVM     Rule = "llvm"
)

// Resource names what can limit occupancy.
type Resource string

// The resources. WorkgroupLDS is how the LLVM rule sees wave slots, workgroup
// slots and LDS: as one limit. WorkgroupSize occurs in curves only.
const (
	WaveSlots      Resource = "wave_slots"
	WorkgroupSlots Resource = "workgroup_slots"
	LDS            Resource = "lds"
	VGPR           Resource = "vgpr"
	SGPR           Resource = "sgpr"
	WorkgroupLDS   Resource = "workgroup_lds"
	WorkgroupSize  Resource = "workgroup_size"
)

// Result is an occupancy. A workgroup that cannot run at all is a result with
// Fits false, not an error.
type Result struct {
	Arch string `json:"arch"`
	Rule Rule   `json:"rule"`
	Wave int    `json:"wave_size"`
	// Unit is "CU" or "WGP", the SIMDs of which share LDS; CUsPerUnit is how
	// many CUs of an agent table make one.
	Unit          string `json:"unit"`
	CUsPerUnit    int    `json:"cus_per_unit"`
	SIMDs         int    `json:"simds_per_unit"`
	WavesPerGroup int    `json:"waves_per_workgroup"`
	Fits          bool   `json:"fits"`
	// Groups is the resident workgroups per unit; 0 under the LLVM rule,
	// which does not count them.
	Groups int `json:"workgroups_per_unit"`
	// WavesPerSIMD is the mean over the unit's SIMDs, FullestSIMD the most
	// that one of them holds (the figure comparable with LLVM's).
	WavesPerSIMD float64 `json:"waves_per_simd"`
	FullestSIMD  int     `json:"waves_on_fullest_simd"`
	MaxWaves     int     `json:"max_waves_per_simd"`
	// LimitedBy lists every binding resource. When the wave slots bind they
	// stand alone: then no change of registers or LDS adds a workgroup.
	// Workgroup slots and LDS come before registers, whose count may only be
	// padded up to the others' limit; see Padding.
	LimitedBy []Resource `json:"limited_by"`
	// Limits are all limits, in that same order.
	Limits []Limit `json:"limits"`
}

// AtMaximum is true when the unit's wave slots are the limit.
func (r Result) AtMaximum() bool {
	return len(r.LimitedBy) == 1 && r.LimitedBy[0] == WaveSlots
}

// Limit returns the limit of one resource; ok is false when the rule has none.
func (r Result) Limit(res Resource) (l Limit, ok bool) {
	for _, l := range r.Limits {
		if l.Resource == res {
			return l, true
		}
	}
	return Limit{}, false
}

// shape is Resources resolved against an architecture.
type shape struct {
	arch    Arch
	file    VGPRFile
	share   Sharing
	unit    string
	wave    int
	waves   int // per workgroup
	vgprs   int // allocation before rounding
	granule int
	// addressable is the most vgprs of a wave; tooMany names a file of its
	// own that is exceeded, or is empty.
	addressable int
	tooMany     string
	sgprs, lds  int
}

// Occupancy computes how many waves fit. It fails on counts that no hardware
// or launch can have: negative ones, a wave size, mode, AGPRs or dynamic VGPRs
// that the architecture lacks, or a workgroup outside 1 to 1024.
func Occupancy(a Arch, r Resources, rule Rule) (Result, error) {
	s, err := resolve(a, r)
	if err != nil {
		return Result{}, err
	}
	switch rule {
	case LLVM:
		return s.llvm(), nil
	case Hardware:
		res := s.hardware()
		for i, l := range res.Limits {
			if contains(res.LimitedBy, l.Resource) {
				res.Limits[i].Next = s.next(l)
			}
		}
		return res, nil
	}
	return Result{}, fmt.Errorf("unknown occupancy rule %q", string(rule))
}

func resolve(a Arch, r Resources) (shape, error) {
	for _, c := range []struct {
		name string
		n    int
	}{
		{"arch VGPRs", r.ArchVGPR},
		{"accum VGPRs", r.AccumVGPR},
		{"VGPRs", r.TotalVGPR},
		{"SGPRs", r.SGPR},
		{"LDS bytes", r.LDSBytes},
	} {
		if c.n < 0 || c.n > maxInput {
			return shape{}, fmt.Errorf("%s: %d is not a possible count", c.name, c.n)
		}
	}
	if r.WorkgroupSize < 1 || r.WorkgroupSize > maxWorkgroup {
		return shape{}, fmt.Errorf("workgroup size %d is not within 1 to %d", r.WorkgroupSize, maxWorkgroup)
	}
	if r.AccumVGPR > 0 && a.AGPR == NoAGPR {
		return shape{}, fmt.Errorf("%s has no accumulation registers, %d given", a.Name, r.AccumVGPR)
	}
	file, wave, err := a.File(r.Wave)
	if err != nil {
		return shape{}, err
	}
	share, unit, err := a.Sharing(r.Mode)
	if err != nil {
		return shape{}, err
	}
	s := shape{
		arch: a, file: file, share: share, unit: unit, wave: wave,
		waves: ceilDiv(r.WorkgroupSize, wave), granule: file.Granule,
		addressable: a.AddressableVGPR, sgprs: r.SGPR, lds: r.LDSBytes,
	}
	s.vgprs, s.tooMany = a.totalVGPR(r)
	err = s.setDynamic(r.DynamicVGPRBlock)
	return s, err
}

// totalVGPR adds the two kinds of registers up as the hardware does (LLVM
// getTotalNumVGPRs): one after the other in a unified file, side by side in
// separate ones. tooMany tells of a kind that exceeds what code can name.
func (a Arch) totalVGPR(r Resources) (total int, tooMany string) {
	if r.TotalVGPR > 0 {
		return r.TotalVGPR, ""
	}
	total = max(r.ArchVGPR, r.AccumVGPR)
	if a.AGPR == UnifiedAGPR && r.AccumVGPR > 0 {
		total = alignUp(r.ArchVGPR, 4) + r.AccumVGPR
	}
	if n := max(r.ArchVGPR, r.AccumVGPR); n > a.AddressableArch {
		tooMany = fmt.Sprintf("%d registers of one kind exceed the %d that instructions can name", n, a.AddressableArch)
	}
	return total, tooMany
}

// setDynamic applies dynamic VGPRs: the block is the allocation granule and a
// wave has at most 8 (LLVM AMDGPUUsage, amdgpu-dynamic-vgpr-block-size; wave32
// compute only, llvm-project#130030).
func (s *shape) setDynamic(block int) error {
	switch {
	case block == 0:
		return nil
	case block != 16 && block != 32:
		return fmt.Errorf("dynamic VGPR block %d is neither 16 nor 32", block)
	case !s.arch.DynamicVGPR || s.wave != 32:
		return fmt.Errorf("%s wave%d has no dynamic VGPRs", s.arch.Name, s.wave)
	}
	s.granule = block
	s.addressable = dynamicBlocks * block
	return nil
}

// hardware computes the exact result without the next steps.
func (s shape) hardware() Result {
	r := s.result(Hardware)
	r.Limits = []Limit{s.waveSlots(), s.workgroupSlots(), s.ldsLimit(), s.vgprLimit(), s.sgprLimit()}
	r.Groups = r.Limits[0].Groups
	for _, l := range r.Limits {
		if !l.Unlimited {
			r.Groups = min(r.Groups, l.Groups)
		}
	}
	r.Fits = r.Groups > 0
	r.WavesPerSIMD = float64(r.Groups*s.waves) / float64(s.share.SIMDs)
	r.FullestSIMD = ceilDiv(r.Groups*s.waves, s.share.SIMDs)
	if r.Groups == r.Limits[0].Groups && r.Fits {
		r.LimitedBy = []Resource{WaveSlots}
		return r
	}
	for _, l := range r.Limits {
		if !l.Unlimited && l.Groups == r.Groups {
			r.LimitedBy = append(r.LimitedBy, l.Resource)
		}
	}
	return r
}

func (s shape) result(rule Rule) Result {
	r := Result{
		Arch: s.arch.Name, Rule: rule, Wave: s.wave, Unit: s.unit, CUsPerUnit: 1,
		SIMDs: s.share.SIMDs, WavesPerGroup: s.waves, MaxWaves: s.arch.MaxWaves,
	}
	if s.unit == "WGP" {
		r.CUsPerUnit = s.arch.CUsPerWGP
	}
	return r
}

// groups is how many whole workgroups w waves on each SIMD make.
func (s shape) groups(w int) int { return w * s.share.SIMDs / s.waves }

func (s shape) limit(res Resource, used int) Limit {
	return Limit{Resource: res, Used: used, Unit: s.unit, SIMDs: s.share.SIMDs, WavesPerGroup: s.waves}
}

func (s shape) waveSlots() Limit {
	l := s.limit(WaveSlots, s.waves)
	l.WavesPerSIMD = s.arch.MaxWaves
	l.Groups = s.groups(s.arch.MaxWaves)
	return l
}

// workgroupSlots is the barrier limit, which one-wave workgroups escape (LLVM
// getMaxWorkGroupsPerCU: "Single-wave workgroups don't consume barrier
// resources").
func (s shape) workgroupSlots() Limit {
	l := s.limit(WorkgroupSlots, 1)
	l.Pool, l.Groups = s.share.Groups, s.share.Groups
	l.Unlimited = s.waves == 1
	return l
}

func (s shape) ldsLimit() Limit {
	l := s.limit(LDS, s.lds)
	l.Granule, l.Pool = s.arch.LDSGranule, s.share.LDSPool
	if s.lds == 0 {
		l.Unlimited = true
		return l
	}
	l.Allocated = alignUp(s.lds, l.Granule)
	if s.lds > s.arch.LDSPerGroup {
		l.DoesNotFit = fmt.Sprintf("%d B exceed the %d B that one workgroup can have", s.lds, s.arch.LDSPerGroup)
		return l
	}
	l.Groups = l.Pool / l.Allocated
	return l
}

func (s shape) vgprLimit() Limit {
	l := s.limit(VGPR, s.vgprs)
	l.Granule, l.Pool = s.granule, s.file.PerSIMD
	l.Allocated = alignUp(max(s.vgprs, 1), l.Granule)
	l.DoesNotFit = s.tooMany
	if s.vgprs > s.addressable {
		l.DoesNotFit = fmt.Sprintf("%d VGPRs exceed the %d that one wave can have", s.vgprs, s.addressable)
	}
	if l.DoesNotFit == "" {
		s.registerLimit(&l)
	}
	return l
}

func (s shape) sgprLimit() Limit {
	l := s.limit(SGPR, s.sgprs)
	f := s.arch.SGPR
	if f.PerSIMD == 0 {
		l.Unlimited = true
		return l
	}
	l.Granule, l.Pool, l.Reserve = f.Granule, f.PerSIMD, f.TrapReserve
	l.Allocated = alignUp(s.sgprs, f.Granule) + f.TrapReserve
	s.registerLimit(&l)
	return l
}

// registerLimit derives waves and workgroups from an allocation.
func (s shape) registerLimit(l *Limit) {
	l.WavesPerSIMD = min(l.Pool/l.Allocated, s.arch.MaxWaves)
	l.Groups = s.groups(l.WavesPerSIMD)
	if l.Groups == 0 {
		l.DoesNotFit = fmt.Sprintf("the unit holds %d waves of this size, a workgroup has %d",
			l.WavesPerSIMD*l.SIMDs, l.WavesPerGroup)
	}
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func alignUp(n, to int) int { return ceilDiv(n, to) * to }

func alignDown(n, to int) int { return n / to * to }

func contains(list []Resource, r Resource) bool {
	for _, x := range list {
		if x == r {
			return true
		}
	}
	return false
}
