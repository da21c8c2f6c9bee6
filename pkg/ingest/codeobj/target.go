package codeobj

import (
	"debug/elf"
	"strings"
)

// emAMDGPU is e_machine of AMD GPU code (LLVM AMDGPUUsage, "ELF Header").
const emAMDGPU = 224

// Identification bytes of ROCm code objects (LLVM AMDGPUUsage, "ELF Header
// Enumeration Values"): e_ident[EI_OSABI] and e_ident[EI_ABIVERSION].
const (
	osabiHSA     = 64
	abiVersionV2 = 0
	abiVersionV3 = 1
)

// machines maps the EF_AMDGPU_MACH bits of e_flags (7:0) to the processor. Source:
// llvm/BinaryFormat/ELF.h and LLVM test/CodeGen/AMDGPU/elf-header-flags-mach.ll.
func machines() map[uint32]string {
	return map[uint32]string{
		0x20: "gfx600", 0x21: "gfx601", 0x3a: "gfx602",
		0x22: "gfx700", 0x23: "gfx701", 0x24: "gfx702", 0x25: "gfx703", 0x26: "gfx704", 0x3b: "gfx705",
		0x28: "gfx801", 0x29: "gfx802", 0x2a: "gfx803", 0x3c: "gfx805", 0x2b: "gfx810",
		0x2c: "gfx900", 0x2d: "gfx902", 0x2e: "gfx904", 0x2f: "gfx906", 0x30: "gfx908", 0x31: "gfx909",
		0x32: "gfx90c", 0x3f: "gfx90a", 0x40: "gfx940", 0x4b: "gfx941", 0x4c: "gfx942", 0x4f: "gfx950",
		0x33: "gfx1010", 0x34: "gfx1011", 0x35: "gfx1012", 0x42: "gfx1013",
		0x36: "gfx1030", 0x37: "gfx1031", 0x38: "gfx1032", 0x39: "gfx1033", 0x3e: "gfx1034", 0x3d: "gfx1035", 0x45: "gfx1036",
		0x41: "gfx1100", 0x46: "gfx1101", 0x47: "gfx1102", 0x44: "gfx1103",
		0x43: "gfx1150", 0x4a: "gfx1151", 0x55: "gfx1152", 0x58: "gfx1153", 0x57: "gfx1154",
		0x5d: "gfx1170", 0x5e: "gfx1171", 0x5c: "gfx1172",
		0x48: "gfx1200", 0x4e: "gfx1201", 0x49: "gfx1250", 0x5a: "gfx1251", 0x50: "gfx1310",
		0x51: "gfx9-generic", 0x5f: "gfx9-4-generic", 0x52: "gfx10-1-generic", 0x53: "gfx10-3-generic",
		0x54: "gfx11-generic", 0x62: "gfx11-7-generic", 0x59: "gfx12-generic", 0x5b: "gfx12-5-generic",
		0x63: "gfx13-generic",
	}
}

// targetFromFlags spells the target ID of e_flags, or "" when the processor is not
// known. From code object V4 on a feature is unsupported or any (no suffix), off or
// on; V3 has one bit, which says on (LLVM AMDGPUUsage, "ELF Header e_flags").
func targetFromFlags(h elf.Header64) string {
	arch := machines()[h.Flags&0xff]
	if arch == "" || h.Ident[elf.EI_OSABI] != osabiHSA {
		return arch
	}
	if h.Ident[elf.EI_ABIVERSION] == abiVersionV3 {
		return arch + suffix(":sramecc", h.Flags>>9&1*3) + suffix(":xnack", h.Flags>>8&1*3)
	}
	return arch + suffix(":sramecc", h.Flags>>10&3) + suffix(":xnack", h.Flags>>8&3)
}

// suffix spells a two-bit feature state: 2 is off, 3 is on.
func suffix(feature string, state uint32) string {
	switch state {
	case 2:
		return feature + "-"
	case 3:
		return feature + "+"
	}
	return ""
}

// targetID takes the target ID out of a target triple such as
// "amdgcn-amd-amdhsa--gfx90a:xnack-". The spelling of code object V3,
// "gfx906+xnack+sram-ecc", is brought to the newer form.
func targetID(triple string) string {
	at := strings.Index(triple, "gfx")
	if at < 0 {
		return ""
	}
	id := triple[at:]
	if strings.Contains(id, ":") || !strings.Contains(id, "+") {
		return id
	}
	parts := strings.Split(strings.ReplaceAll(id, "sram-ecc", "sramecc"), "+")
	id = parts[0]
	for _, feature := range []string{"sramecc", "xnack"} {
		for _, p := range parts[1:] {
			if p == feature {
				id += ":" + feature + "+"
			}
		}
	}
	return id
}

// generation says how the registers of a family of processors are encoded.
type generation struct {
	// prefix of the processor's name; the first row that matches holds.
	prefix string
	// granule32 and granule64 are the registers of one VGPR block in the descriptor
	// for either wave size (LLVM AMDGPUBaseInfo.cpp getVGPREncodingGranule).
	granule32, granule64 int
	// unified: VGPRs and AGPRs share one file of 512, split at ACCUM_OFFSET.
	unified bool
	// split: VGPRs and AGPRs lie in two files of 256 (gfx908).
	split bool
	// flatScratch: flat scratch is architected, its SGPRs are always counted.
	flatScratch bool
	// gfx9: SGPRs are allocated in blocks, waves have 64 lanes.
	gfx9 bool
	// wgp: the kernel chooses between CU and WGP mode.
	wgp bool
	// dynVGPR finds ENABLE_DYNAMIC_VGPR: 2 is RSRC2 bit 6, 3 is RSRC3 bit 17.
	dynVGPR int
	// namedBarriers: RSRC3 has NAMED_BAR_CNT.
	namedBarriers bool
}

// generations lists what is known, most special prefix first.
// Source: llvm/Support/AMDHSAKernelDescriptor.h, LLVM AMDGPUBaseInfo.cpp, AMDGPUUsage.
func generations() []generation {
	return []generation{
		{prefix: "gfx90a", granule64: 8, unified: true, gfx9: true},
		{prefix: "gfx94", granule64: 8, unified: true, flatScratch: true, gfx9: true},
		{prefix: "gfx95", granule64: 8, unified: true, flatScratch: true, gfx9: true},
		{prefix: "gfx9-4-generic", granule64: 8, unified: true, flatScratch: true, gfx9: true},
		{prefix: "gfx908", granule64: 4, split: true, gfx9: true},
		{prefix: "gfx9", granule64: 4, gfx9: true},
		{prefix: "gfx10", granule32: 8, granule64: 4, wgp: true},
		{prefix: "gfx11", granule32: 8, granule64: 4, wgp: true},
		{prefix: "gfx125", granule32: 16, granule64: 8, dynVGPR: 3, namedBarriers: true},
		{prefix: "gfx12-5", granule32: 16, granule64: 8, dynVGPR: 3, namedBarriers: true},
		{prefix: "gfx12", granule32: 8, granule64: 4, wgp: true, dynVGPR: 2},
	}
}

// generationOf finds the generation of a target ID; ok is false for one not listed.
func generationOf(target string) (g generation, ok bool) {
	for _, g := range generations() {
		if strings.HasPrefix(target, g.prefix) {
			return g, true
		}
	}
	return generation{}, false
}

// vgprGranule is the number of VGPRs in one encoded block.
func (g generation) vgprGranule(wave32 bool) int {
	if wave32 {
		return g.granule32
	}
	return g.granule64
}

// extraSGPRs counts the SGPRs that special registers take beyond the numbered ones
// (LLVM AMDGPUBaseInfo.cpp getNumExtraSGPRs).
func (g generation) extraSGPRs(vcc, flat, xnack bool) int {
	switch {
	case g.gfx9 && (flat || g.flatScratch):
		return 6
	case g.gfx9 && xnack:
		return 4
	case vcc:
		return 2
	}
	return 0
}

// totalVGPRs is what .vgpr_count holds (LLVM AMDGPUBaseInfo.cpp getTotalNumVGPRs).
func (g generation) totalVGPRs(agprs, arch int64) int64 {
	if g.unified && agprs > 0 {
		return alignTo(arch, 4) + agprs
	}
	return max(arch, agprs)
}

func alignTo(n, granule int64) int64 { return (n + granule - 1) / granule * granule }
