// Package codeobj reads AMDGPU code objects and assembly listings: what the
// compiler says a kernel uses (the metadata) beside what the hardware is told to
// allocate (the kernel descriptor).
//
// The two differ on purpose. LLVM pads the register counts of the descriptor so
// that no more waves start than the workgroup size and the LDS allow, so a
// descriptor can show 176 VGPRs for a kernel that uses 36. Both are kept apart:
// [Metadata] is unpadded use, [Descriptor] is the allocation.
//
// What a file does not say is nil, never zero.
//
// Read opens linked and relocatable code objects (.hsaco, .co, .out, .o), clang
// offload bundles and host binaries that carry bundles in .hip_fatbin.
// ReadAssembly opens a listing (.s), or a bundle of them, as the assembler reads it.
//
// Sources: LLVM AMDGPUUsage (code object V3 to V6, kernel descriptor, directives),
// llvm/Support/AMDHSAKernelDescriptor.h, llvm/BinaryFormat/ELF.h, LLVM
// AMDGPUBaseInfo.cpp, and the Clang Offload Bundler documentation.
package codeobj

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Object is one code object: the code of one GPU target.
type Object struct {
	// Path is the file's name; for a code object inside a bundle it is followed by
	// "#offset=BYTES&size=BYTES", the form of ROCm's code object URIs.
	Path string
	// Target is the target ID: the processor with the features that were fixed at
	// build time, such as "gfx942" or "gfx90a:sramecc+:xnack-". Empty when unknown.
	Target string
	// Kernels stand in the order of the metadata; those without metadata follow,
	// sorted by symbol.
	Kernels []Kernel
	// Notes says, one line each, what could not be read or does not agree.
	Notes []string
}

// Arch is the processor of the target without its features: "gfx90a".
func (o Object) Arch() string {
	arch, _, _ := strings.Cut(o.Target, ":")
	return arch
}

// Kernel is one kernel of a code object.
type Kernel struct {
	// Name is the kernel's name as in the metadata, mangled if the compiler mangled it.
	Name string
	// Symbol is the name of the kernel descriptor: Name followed by ".kd".
	Symbol string
	// Metadata is what the compiler recorded: use, not allocation.
	Metadata Metadata
	// Descriptor is what the hardware is told; nil when the object has none for it.
	Descriptor *Descriptor
	// Comments is the "Kernel info" block of a listing; nil for an ELF file or where
	// the listing has none.
	Comments *Comments
	// ArchVGPRs is the number of architectural VGPRs the kernel uses, per lane and
	// unpadded; see archVGPRs for the rule. On gfx90a and later with AGPRs in use it
	// is exact only up to a multiple of 4, because the total is.
	ArchVGPRs *int
	// TotalVGPRs is Metadata.VGPRCount, with the AGPRs added where AGPRsApart says
	// that hand-written metadata lists them beside it.
	TotalVGPRs *int
	AGPRsApart bool
}

// Metadata holds the code object metadata of one kernel (LLVM AMDGPUUsage, "Code
// Object V3 Metadata" and later; the key stands behind each field). Registers are
// per lane (VGPR) or per wave (SGPR) and unpadded.
type Metadata struct {
	// VGPRCount (.vgpr_count) is the total: on gfx90a and later alignTo(arch, 4) plus
	// AGPRs when there are any, elsewhere the larger of both files
	// (LLVM AMDGPUBaseInfo.cpp getTotalNumVGPRs).
	VGPRCount          *int
	AGPRCount          *int // .agpr_count
	SGPRCount          *int // .sgpr_count, VCC, flat scratch and XNACK included
	VGPRSpillCount     *int // .vgpr_spill_count, registers
	SGPRSpillCount     *int // .sgpr_spill_count, registers
	LDSBytes           *int // .group_segment_fixed_size: static LDS per workgroup
	ScratchBytes       *int // .private_segment_fixed_size: per lane
	KernargBytes       *int // .kernarg_segment_size
	MaxWorkgroupSize   *int // .max_flat_workgroup_size, work-items
	WavefrontSize      *int // .wavefront_size, lanes
	ReqdWorkgroupSize  *[3]int
	UsesDynamicStack   *bool // .uses_dynamic_stack
	WorkgroupProcessor *bool // .workgroup_processor_mode (gfx10 and later): true is WGP mode
}

// Descriptor holds the fields of the 64-byte kernel descriptor (LLVM AMDGPUUsage,
// "Kernel Descriptor"), or, for a listing, what its .amdhsa_ directives assemble to.
type Descriptor struct {
	LDSBytes     *int // GROUP_SEGMENT_FIXED_SIZE: static LDS per workgroup
	ScratchBytes *int // PRIVATE_SEGMENT_FIXED_SIZE: per lane
	// KernargBytes is KERNARG_SIZE. Compilers before LLVM 11 leave it 0 for
	// "unspecified"; the metadata then has the size.
	KernargBytes *int
	// Entry is the address of the first instruction in the code object's own address
	// space, the one that profilers count offsets in. Nil for a relocatable file.
	Entry *uint64
	// VGPRBlocks is the number of VGPR blocks, the encoded value plus one.
	VGPRBlocks *int
	// VGPRs is VGPRBlocks times the encoding granule: registers per lane, AGPRs
	// included on gfx90a and later, each of the two files on gfx908. Hardware
	// whose allocation granule is larger (gfx10.3 and later) rounds this up further.
	VGPRs *int
	// AccumOffset is the number of the first AGPR in the unified file (gfx90a, gfx94x,
	// gfx95x): architectural VGPRs rounded up to 4, never padded for occupancy.
	AccumOffset *int
	// SGPRs per wave, rounded to 16 on gfx9. On gfx10 and later the field is reserved
	// and every wave gets 128 (rocprofiler-sdk code_object.cpp sgpr_count).
	SGPRs *int
	// SGPRBlocks is the encoded value plus one, in blocks of 8; nil on gfx10 and later.
	SGPRBlocks    *int
	Wave32        *bool // ENABLE_WAVEFRONT_SIZE32; false on gfx9
	WGPMode       *bool // WGP_MODE, gfx10 to gfx120x
	TGSplit       *bool // TG_SPLIT, gfx90a, gfx94x, gfx95x
	NamedBarriers *int  // NAMED_BAR_CNT times 4, gfx125x
	DynamicVGPR   *bool // ENABLE_DYNAMIC_VGPR, gfx12
	DynamicStack  *bool // USES_DYNAMIC_STACK
	// Raw holds the undecoded registers; nil for a listing.
	Raw *RawDescriptor
}

// RawDescriptor holds the descriptor's registers as they stand in the file.
type RawDescriptor struct {
	Rsrc1, Rsrc2, Rsrc3 uint32 // COMPUTE_PGM_RSRC1..3
	Properties          uint16 // KERNEL_CODE_PROPERTIES
}

// Comments is the block that LLVM prints behind each kernel of a listing. All
// register counts are unpadded.
type Comments struct {
	NumVGPRs      *int // architectural VGPRs
	NumAGPRs      *int
	TotalNumVGPRs *int
	TotalNumSGPRs *int
	ScratchBytes  *int // per lane
	LDSBytes      *int // static, per workgroup
	Occupancy     *int // waves per SIMD as LLVM computes it, whole workgroups not considered
	CodeBytes     *int
}

// Limits on what an untrusted file can make this package do.
const (
	maxTable   = 256 << 20 // bytes of one section, note or table
	maxKernels = 1 << 18   // kernels of one code object
	maxObjects = 1 << 16   // code objects of one file
	maxNotes   = 64        // lines of Object.Notes
)

const (
	bundleMagic     = "__CLANG_OFFLOAD_BUNDLE__"
	compressedMagic = "CCOB"
	elfMagic        = "\x7fELF"
	bitcodeMagic    = "BC\xc0\xde"
)

// Sniff says whether a file that begins with head is a code object or an offload
// bundle. 20 bytes of head are enough for the former, 24 for the latter.
func Sniff(head []byte) bool {
	return hasPrefix(head, bundleMagic) || hasPrefix(head, compressedMagic) || elfMachine(head) == emAMDGPU
}

// SniffHost says whether a file that begins with head is an ELF file for another
// machine. Only its section names tell whether it carries GPU code; Read finds out.
// 20 bytes of head are enough.
func SniffHost(head []byte) bool {
	m := elfMachine(head)
	return m != 0 && m != emAMDGPU
}

// Read reads every code object of a file of size bytes. name is used in paths and
// errors only.
//
// An error does not void the objects beside it: they are what could be read.
func Read(r io.ReaderAt, size int64, name string) ([]Object, error) {
	src := io.NewSectionReader(r, 0, max(size, 0))
	head := make([]byte, min(src.Size(), 64))
	if _, err := src.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	objs, err := readAny(src, head, name)
	if err != nil {
		return objs, fmt.Errorf("%s: %w", name, err)
	}
	return objs, nil
}

func readAny(src *io.SectionReader, head []byte, name string) ([]Object, error) {
	switch {
	case len(head) == 0:
		return nil, errors.New("the file is empty; build or copy it again")
	case hasPrefix(head, bundleMagic), hasPrefix(head, compressedMagic):
		return readBundles(src, 0, src.Size(), name)
	case hasPrefix(head, bitcodeMagic):
		return nil, errors.New("LLVM bitcode, not machine code; give the linked .hsaco")
	case !hasPrefix(head, elfMagic):
		return nil, errors.New("not an ELF file and not an offload bundle; give a .hsaco, .co or .o, or the binary that contains it")
	}
	f, err := openELF(src)
	if err != nil {
		return nil, err
	}
	if f.header.Machine != emAMDGPU {
		return readHost(f, src, name)
	}
	o, err := readObject(f, name)
	return []Object{o}, err
}

// joined folds several errors into one line: the first, and how many more there are.
func joined(errs []error) error {
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return fmt.Errorf("%w (and %d more like it)", errs[0], len(errs)-1)
}

func hasPrefix(head []byte, magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }

// note adds a line to the object's notes, up to the limit.
func (o *Object) note(format string, args ...any) {
	if len(o.Notes) < maxNotes {
		o.Notes = append(o.Notes, fmt.Sprintf(format, args...))
	}
}
