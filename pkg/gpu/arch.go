package gpu

import (
	"fmt"
	"slices"
	"strings"
)

// Arch describes one architecture. All sizes in bytes or registers as named;
// register counts are per lane, as the assembler counts them.
type Arch struct {
	// Name is the LLVM processor name, for example "gfx942".
	Name string
	// Family is the product generation, for example "CDNA 3".
	Family string
	// Wave32 and Wave64 describe the vector register file in each wave size.
	// A zero VGPRFile means that the architecture lacks that wave size.
	Wave32, Wave64 VGPRFile
	// DefaultWave is the wave size a compiler picks when none is asked for.
	DefaultWave int
	// AGPR says how accumulation registers are kept.
	AGPR AGPRKind
	// AddressableVGPR is the most vector registers one wave can allocate,
	// both kinds together where the file is unified. AddressableArch is the
	// most that instructions can name as v registers (and, separately, as a).
	AddressableVGPR, AddressableArch int
	// DynamicVGPR is true where waves may grow their registers in blocks.
	DynamicVGPR bool
	// MaxWaves is the number of wave slots of one SIMD.
	MaxWaves int
	// SGPR is zero where scalar registers never limit (gfx10 and later).
	SGPR SGPRFile
	// CU and WGP are what a workgroup runs on in each mode; zero where the
	// architecture lacks the mode.
	CU, WGP Sharing
	// CUsPerWGP is how many of the CUs that agent tables count make one WGP.
	CUsPerWGP int
	// LDSGranule is the unit in which hardware allocates LDS, LDSPerGroup
	// the most that one workgroup can have; both in bytes.
	LDSGranule, LDSPerGroup int
	// LDSReadBytes and LDSWriteBytes are the peak LDS bytes per clock and CU.
	LDSReadBytes, LDSWriteBytes int
	// VL1LineBytes and L2LineBytes are the cache line sizes; 0 is unknown.
	VL1LineBytes, L2LineBytes int
	// EnginesPerDie is the number of shader engines of a die, 0 where products
	// of the architecture differ.
	EnginesPerDie int
	// L2ChannelsPerDie and L2ChannelBytes (bytes per clock and channel) are
	// fixed per die on CDNA; 0 where they depend on the product.
	L2ChannelsPerDie, L2ChannelBytes int
	// Rates are operations per clock and CU (per WGP on gfx1250), dense, a
	// multiply-add counted as two. An absent kind is unsupported or unknown.
	Rates map[Math]float64
	// RatesSource and Source say where the figures come from.
	RatesSource, Source string
}

// VGPRFile is the vector register file of one SIMD for one wave size.
type VGPRFile struct {
	// PerSIMD is the number of registers per lane that a SIMD's waves share.
	PerSIMD int
	// Granule is the allocation unit, Encoding the unit in which the kernel
	// descriptor (COMPUTE_PGM_RSRC1 GRANULATED_WORKITEM_VGPR_COUNT) counts.
	Granule, Encoding int
}

// SGPRFile is the scalar register file of one SIMD (LLVM AMDGPUBaseInfo.cpp,
// getTotalNumSGPRs, getSGPRAllocGranule, TRAP_NUM_SGPRS).
type SGPRFile struct {
	// PerSIMD registers are shared by the SIMD's waves, in units of Granule.
	PerSIMD, Granule int
	// TrapReserve is added to every wave for the trap handler, which ROCm
	// always installs (llvm-project#201342, rocm-systems#10618).
	TrapReserve int
}

// Sharing is the set of SIMDs that share one LDS and one set of workgroup
// slots: a CU or a WGP.
type Sharing struct {
	// SIMDs is how many SIMDs a workgroup's waves are spread over.
	SIMDs int
	// LDSPool is the LDS that resident workgroups share, in bytes.
	LDSPool int
	// Groups is the most resident workgroups of more than one wave; the
	// barrier hardware has that many slots. One-wave workgroups need none.
	Groups int
}

// AGPRKind says how an architecture keeps accumulation registers.
type AGPRKind string

// The kinds of accumulation registers.
const (
	NoAGPR       AGPRKind = "none"
	SeparateAGPR AGPRKind = "separate" // a second file as large as the first
	UnifiedAGPR  AGPRKind = "unified"  // part of the one file
)

// Mode is how workgroups map to compute units on gfx10 and later.
type Mode string

// The modes. DefaultMode is CUMode before gfx10 and WGPMode from then on, as
// LLVM compiles without -mcumode.
const (
	DefaultMode Mode = ""
	CUMode      Mode = "cu"
	WGPMode     Mode = "wgp"
)

// File returns the register file for a wave size; 0 stands for the default.
// It fails when the architecture lacks that wave size.
func (a Arch) File(wave int) (VGPRFile, int, error) {
	if wave == 0 {
		wave = a.DefaultWave
	}
	f := VGPRFile{}
	switch wave {
	case 32:
		f = a.Wave32
	case 64:
		f = a.Wave64
	}
	if f.PerSIMD == 0 {
		return f, wave, fmt.Errorf("%s has no wave%d", a.Name, wave)
	}
	return f, wave, nil
}

// Sharing returns what a workgroup runs on in a mode, and its name ("CU" or
// "WGP"). It fails when the architecture lacks the mode.
func (a Arch) Sharing(m Mode) (Sharing, string, error) {
	s, unit := a.WGP, "WGP"
	if m == CUMode || m == DefaultMode && a.WGP.SIMDs == 0 {
		s, unit = a.CU, "CU"
	}
	if s.SIMDs == 0 || m != DefaultMode && m != CUMode && m != WGPMode {
		return s, unit, fmt.Errorf("%s has no %q mode", a.Name, string(m))
	}
	return s, unit, nil
}

// ArchByName finds an architecture by its gfx name or an alias, in any case
// and with or without target features ("gfx942:sramecc+:xnack-"). It fails on
// an unknown name; the message lists the known ones.
func ArchByName(name string) (Arch, error) {
	key, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(name)), ":")
	for _, a := range Aliases() {
		if a.Name == key {
			key = a.Same
			break
		}
	}
	archs := Archs()
	for _, a := range archs {
		if a.Name == key {
			return a, nil
		}
	}
	if old := []string{"gfx6", "gfx7", "gfx8"}; len(key) == len("gfx803") && slices.ContainsFunc(old, func(g string) bool { return strings.HasPrefix(key, g) }) {
		return Arch{}, fmt.Errorf("%s is older than gfx9: its registers and LDS follow rules that are not held here", key)
	}
	return Arch{}, fmt.Errorf("unknown architecture %q: %s to %s are known ('rocanalyze devices' lists them)", name, archs[0].Name, archs[len(archs)-1].Name)
}

// Alias is an architecture that behaves as another one in every figure held
// here.
type Alias struct {
	Name, Same string
	// Runs are the processors that code for a generic target runs on, empty for
	// a processor; Same is then the one of them with the least room.
	Runs []string
}

// GenericRuns are the processors that code for a generic target ("gfx11-generic")
// runs on; nil for any other name.
func GenericRuns(name string) []string {
	for _, a := range Aliases() {
		if a.Name == name {
			return a.Runs
		}
	}
	return nil
}

// Aliases lists the aliases that ArchByName resolves: processors that LLVM's
// AMDGPUUsage (table "Processors") puts into the family of a tabled one, taken
// to have its register files, LDS and wave slots. That gfx1150, gfx1152 and
// gfx1153 have 1024 registers, unlike gfx1151, is ROCm/rocm-libraries #4023. What
// runs code for a generic target is AMDGPUUsage's table "Generic Processors".
func Aliases() []Alias {
	return []Alias{
		{Name: "gfx902", Same: "gfx900"},
		{Name: "gfx904", Same: "gfx900"},
		{Name: "gfx909", Same: "gfx900"},
		{Name: "gfx90c", Same: "gfx900"},
		{Name: "gfx940", Same: "gfx942"}, // pre-production MI300, gone from LLVM 22
		{Name: "gfx941", Same: "gfx942"}, // pre-production MI300, gone from LLVM 22
		{Name: "gfx1011", Same: "gfx1010"},
		{Name: "gfx1012", Same: "gfx1010"},
		{Name: "gfx1013", Same: "gfx1010"},
		{Name: "gfx1031", Same: "gfx1030"},
		{Name: "gfx1032", Same: "gfx1030"},
		{Name: "gfx1033", Same: "gfx1030"},
		{Name: "gfx1034", Same: "gfx1030"},
		{Name: "gfx1035", Same: "gfx1030"},
		{Name: "gfx1036", Same: "gfx1030"},
		{Name: "gfx1103", Same: "gfx1102"},
		{Name: "gfx1152", Same: "gfx1150"},
		{Name: "gfx1153", Same: "gfx1150"},
		{"gfx9-generic", "gfx900", []string{"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"}},
		{"gfx9-4-generic", "gfx942", []string{"gfx940", "gfx941", "gfx942", "gfx950"}},
		{"gfx10-1-generic", "gfx1010", []string{"gfx1010", "gfx1011", "gfx1012", "gfx1013"}},
		{"gfx10-3-generic", "gfx1030", []string{"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"}},
		{"gfx11-generic", "gfx1102", []string{"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"}},
		{"gfx12-generic", "gfx1200", []string{"gfx1200", "gfx1201"}},
		{"gfx12-5-generic", "gfx1250", []string{"gfx1250", "gfx1251"}},
	}
}
