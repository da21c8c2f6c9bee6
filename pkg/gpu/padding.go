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
	// A wave that uses every addressable register still leaves room for this
	// many, so there is nothing to pad below it.
	waves = max(waves, min(file.PerSIMD/alignUp(s.addressable, s.granule), a.MaxWaves))
	most := func(w int) int { return alignDown(file.PerSIMD/w, file.Granule) }
	if waves >= a.MaxWaves || most(waves) == most(a.MaxWaves) {
		return 0, nil
	}
	return min(1+min(most(waves)-file.Granule, most(waves+1)), s.addressable), nil
}

// PaddedRegisters says that a descriptor's VGPR count may be padding.
type PaddedRegisters struct {
	// WavesPerSIMD is what workgroup size and LDS alone allow.
	WavesPerSIMD int `json:"waves_per_simd"`
	// Minimum is the count that LLVM pads to at that occupancy.
	Minimum int `json:"minimum"`
	// Exact is true when the count is just that minimum, rounded: then the
	// code very likely needs fewer registers.
	Exact bool   `json:"exact"`
	Text  string `json:"text"`
}

// Padding says whether a VGPR count that comes from a descriptor (as in
// profilers' tables, not in code object metadata) may be padding: LLVM pads it
// so that registers allow no more waves than workgroup size and LDS do. Then
// LDS or the workgroup is the limit to name, and the kernel's real need is
// unknown. LDSBytes must be the static LDS, which is all that the compiler
// saw. ok is false when the count is real as far as can be told.
func Padding(a Arch, r Resources) (p PaddedRegisters, ok bool, err error) {
	s, err := resolve(a, r)
	if err != nil {
		return p, false, err
	}
	waves := s.llvmGroupWaves()
	minimum, err := MinVGPRs(a, s.wave, waves)
	if err != nil {
		return p, false, err
	}
	vgpr := s.vgprLimit()
	if minimum == 0 || s.vgprs < minimum || vgpr.WavesPerSIMD != waves {
		return p, false, nil
	}
	encoded := func(n int) int { return alignUp(n, s.file.Encoding) }
	p = PaddedRegisters{WavesPerSIMD: waves, Minimum: minimum, Exact: encoded(s.vgprs) == encoded(minimum)}
	p.Text = fmt.Sprintf("workgroup size and LDS allow %d waves/SIMD, and LLVM pads the descriptor to at least %d VGPRs "+
		"there, so the %d reported may be padding", waves, minimum, s.vgprs)
	return p, true, nil
}
