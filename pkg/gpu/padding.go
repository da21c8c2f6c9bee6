package gpu

import "fmt"

// MinVGPRs is the fewest registers that LLVM writes into the descriptor of a
// kernel that its workgroup size and LDS keep at the given waves per SIMD:
// 1 + min(M(w) - granule, M(w+1)), with M(w) the most registers for w waves
// (LLVM AMDGPUBaseInfo.cpp, getMinNumVGPRs). 0 means no padding. It fails for
// a wave size that the architecture lacks, or waves below 1.
func MinVGPRs(a Arch, wave, waves int) (int, error) {
	file, _, err := a.File(wave)
	if err != nil {
		return 0, err
	}
	if waves < 1 {
		return 0, fmt.Errorf("%d waves per SIMD", waves)
	}
	s := shape{arch: a, file: file, granule: file.Granule, addressable: a.AddressableVGPR}
	return s.minVGPRs(waves), nil
}

func (s shape) minVGPRs(waves int) int {
	file, a := s.file, s.arch
	// A wave that uses every addressable register still leaves room for this
	// many, so there is nothing to pad below it.
	waves = max(waves, min(file.PerSIMD/alignUp(s.addressable, file.Granule), a.MaxWaves))
	most := func(w int) int { return alignDown(file.PerSIMD/w, file.Granule) }
	if waves >= a.MaxWaves || most(waves) == most(a.MaxWaves) {
		return 0
	}
	return min(1+min(most(waves)-file.Granule, most(waves+1)), s.addressable)
}

// addressableSGPRs is the most scalar registers that LLVM gives a wave of gfx9
// (AMDGPUBaseInfo.cpp, getAddressableNumSGPRs).
const addressableSGPRs = 102

// MinSGPRs is MinVGPRs for scalar registers (LLVM AMDGPUBaseInfo.cpp,
// getMinNumSGPRs); 0 means no padding.
func MinSGPRs(a Arch, waves int) int {
	f := a.SGPR
	if f.PerSIMD == 0 || waves >= a.MaxWaves || waves < 1 {
		return 0
	}
	n := max(f.PerSIMD/(waves+1)-f.TrapReserve, 0)
	return min(alignDown(n, f.Granule)+1, addressableSGPRs)
}

// PaddedRegisters says that a descriptor's VGPR count may be padding.
type PaddedRegisters struct {
	// WavesPerSIMD is what workgroup size and LDS alone allow.
	WavesPerSIMD int `json:"waves_per_simd"`
	// Minimum is the count that LLVM pads to at that occupancy.
	Minimum int    `json:"minimum"`
	Text    string `json:"text"`
}

// Padding says whether a VGPR count that comes from a descriptor (as in
// profilers' tables, not in code object metadata) may be padding: LLVM pads it
// so that registers allow no more waves than workgroup size and LDS do, and
// only up to the least count that does so. Then LDS or the workgroup is the
// limit to name, and the kernel's real need is unknown. A count above that
// least is what the code or its author asked for. LDSBytes must be the static
// LDS, which is all that the compiler saw. ok is false when the count is real
// as far as can be told.
func Padding(a Arch, r Resources) (p PaddedRegisters, ok bool, err error) {
	s, err := resolve(a, r)
	if err != nil {
		return p, false, err
	}
	waves := s.vgprLimit().WavesPerSIMD
	if !s.paddedVGPRs() || waves < s.groupWaves() || waves > s.llvmGroupWaves() {
		return p, false, nil
	}
	p = PaddedRegisters{WavesPerSIMD: waves, Minimum: s.minVGPRs(waves)}
	p.Text = fmt.Sprintf("workgroup size and LDS allow %d waves/SIMD, and LLVM pads the descriptor to %d VGPRs there, "+
		"so the %d reported may be padding", waves, p.Minimum, s.vgprs)
	return p, true, nil
}

// paddedVGPRs reports whether the count is just what LLVM pads to for as many
// waves as it allows: those of workgroup size and LDS, or of the attribute
// amdgpu-waves-per-eu.
func (s shape) paddedVGPRs() bool {
	waves := s.vgprLimit().WavesPerSIMD
	if waves == 0 {
		return false
	}
	encoded := func(n int) int { return alignUp(n, s.file.Encoding) }
	minimum := s.minVGPRs(waves)
	return minimum > 0 && encoded(s.vgprs) == encoded(minimum)
}

// paddedSGPRs is paddedVGPRs for scalar registers, of which several numbers of
// waves have the same least count.
func (s shape) paddedSGPRs() bool {
	granule := s.arch.SGPR.Granule
	for w := 1; w < s.arch.MaxWaves; w++ {
		if n := MinSGPRs(s.arch, w); n > 0 && alignUp(n, granule) == alignUp(s.sgprs, granule) {
			return true
		}
	}
	return false
}

// groupWaves is what workgroup size and LDS alone allow on the fullest SIMD,
// in whole workgroups and with LDS rounded to its granule as LLVM does since
// release 23 (llvm-project#205637); earlier releases may see more.
func (s shape) groupWaves() int {
	groups := s.groups(s.arch.MaxWaves)
	for _, l := range []Limit{s.workgroupSlots(), s.ldsLimit()} {
		if !l.Unlimited {
			groups = min(groups, l.Groups)
		}
	}
	return max(1, min(ceilDiv(groups*s.waves, s.share.SIMDs), s.arch.MaxWaves))
}

// Needed is what a kernel needs of what its descriptor allocates: the counts of
// need, the compiler's, where those of alloc are no more than LLVM's padding of
// them, else those of alloc.
func Needed(a Arch, need, alloc Resources) (Resources, error) {
	used := need
	alloc.WorkgroupSize, used.WorkgroupSize = 1, 1 // how it is launched does not matter
	s, err := resolve(a, alloc)
	if err != nil {
		return need, err
	}
	of, err := resolve(a, used)
	if err != nil {
		return need, err
	}
	if alignUp(max(of.vgprs, 1), s.file.Encoding) < s.vgprs && !s.paddedVGPRs() {
		need.TotalVGPR, need.ArchVGPR, need.AccumVGPR = s.vgprs, 0, 0
	}
	if g := a.SGPR.Granule; g > 0 && alignUp(of.sgprs, g) < s.sgprs && !s.paddedSGPRs() {
		need.SGPR = s.sgprs
	}
	return need, nil
}
