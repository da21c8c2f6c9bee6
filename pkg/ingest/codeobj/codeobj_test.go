package codeobj

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func read(t *testing.T, b []byte) ([]Object, error) {
	t.Helper()
	return Read(bytes.NewReader(b), int64(len(b)), "f.co")
}

func readOne(t *testing.T, b []byte) Object {
	t.Helper()
	objs, err := read(t, b)
	if err != nil || len(objs) != 1 {
		t.Fatalf("Read: %d objects, error %v", len(objs), err)
	}
	return objs[0]
}

// The encoded fields of these descriptors are worked out by hand from AMDGPUUsage;
// the expected values are the other side of the same sums.
func TestDescriptorPerGeneration(t *testing.T) {
	const wgp, wave32 = 1 << 29, 1 << 10
	tests := []struct {
		name   string
		flags  uint32
		target string
		meta   map[string]any
		kd     kernelSpec
		want   Descriptor
		arch   *int
	}{
		{
			// 61 arch VGPRs and 36 AGPRs: total 64+36 = 100, 13 blocks of 8 = 104;
			// accum_offset 64 = (15+1)*4; 46 SGPRs: 6 blocks of 8, allocated by 16: 48.
			name: "gfx90a", flags: 0x53f, target: "gfx90a",
			meta: map[string]any{".vgpr_count": 100, ".agpr_count": 36, ".sgpr_count": 46, ".wavefront_size": 64},
			kd:   kernelSpec{rsrc1: 12 | 5<<6, rsrc3: 15 | 1<<16, lds: 1024, scratch: 16, karg: 280, props: 1 << 11},
			want: Descriptor{
				LDSBytes: new(1024), ScratchBytes: new(16), KernargBytes: new(280),
				VGPRBlocks: new(13), VGPRs: new(104), AccumOffset: new(64), SGPRBlocks: new(6), SGPRs: new(48),
				Wave32: new(false), TGSplit: new(true), DynamicStack: new(true),
			},
			arch: new(64),
		},
		{
			// 36 VGPRs padded to 169 for an LDS limit of two waves: 22 blocks of 8 = 176;
			// 102 SGPRs: 13 blocks of 8, allocated by 16: 112.
			name: "gfx942 padded", flags: 0x54c, target: "gfx942",
			meta: map[string]any{".vgpr_count": 36, ".agpr_count": 0},
			kd:   kernelSpec{rsrc1: 21 | 12<<6, rsrc3: 8, lds: 26624},
			want: Descriptor{
				LDSBytes: new(26624), ScratchBytes: new(0), KernargBytes: new(0),
				VGPRBlocks: new(22), VGPRs: new(176), AccumOffset: new(36), SGPRBlocks: new(13), SGPRs: new(112),
				Wave32: new(false), TGSplit: new(false), DynamicStack: new(false),
			},
			arch: new(36),
		},
		{
			// Bit 10 of the properties and bit 29 of RSRC1 mean nothing on gfx9.
			name: "gfx908", flags: 0x530, target: "gfx908",
			meta: map[string]any{".vgpr_count": 100, ".agpr_count": 100},
			kd:   kernelSpec{rsrc1: 24 | 1<<6 | wgp, props: wave32},
			want: Descriptor{
				LDSBytes: new(0), ScratchBytes: new(0), KernargBytes: new(0),
				VGPRBlocks: new(25), VGPRs: new(100), SGPRBlocks: new(2), SGPRs: new(16),
				Wave32: new(false), DynamicStack: new(false),
			},
			arch: nil, // 100 AGPRs hide how many of the other file are used
		},
		{
			// 97 VGPRs: 13 blocks of 8 in wave32 mode.
			name: "gfx1100 wave32", flags: 0x41, target: "gfx1100",
			meta: map[string]any{".vgpr_count": 97, ".wavefront_size": 32, ".workgroup_processor_mode": 1},
			kd:   kernelSpec{rsrc1: 12 | wgp, props: wave32},
			want: Descriptor{
				LDSBytes: new(0), ScratchBytes: new(0), KernargBytes: new(0),
				VGPRBlocks: new(13), VGPRs: new(104), SGPRs: new(128), Wave32: new(true), WGPMode: new(true), DynamicStack: new(false),
			},
			arch: new(97),
		},
		{
			// 97 VGPRs: 25 blocks of 4 in wave64 mode.
			name: "gfx1030 wave64", flags: 0x36, target: "gfx1030",
			meta: map[string]any{".vgpr_count": 97},
			kd:   kernelSpec{rsrc1: 24},
			want: Descriptor{
				LDSBytes: new(0), ScratchBytes: new(0), KernargBytes: new(0),
				VGPRBlocks: new(25), VGPRs: new(100), SGPRs: new(128), Wave32: new(false), WGPMode: new(false), DynamicStack: new(false),
			},
			arch: new(97),
		},
		{
			name: "gfx1201 dynamic VGPRs", flags: 0x4e, target: "gfx1201",
			kd: kernelSpec{rsrc1: 3, rsrc2: 1 << 6, rsrc3: 7<<14 | 1<<17, props: wave32},
			want: Descriptor{
				LDSBytes: new(0), ScratchBytes: new(0), KernargBytes: new(0),
				VGPRBlocks: new(4), VGPRs: new(32), SGPRs: new(128), Wave32: new(true), WGPMode: new(false),
				DynamicVGPR: new(true), DynamicStack: new(false),
			},
		},
		{
			// 600 VGPRs: 38 blocks of 16 = 608; two blocks of four named barriers.
			name: "gfx1250", flags: 0x49, target: "gfx1250",
			meta: map[string]any{".vgpr_count": 600},
			kd:   kernelSpec{rsrc1: 37, rsrc2: 1 << 6, rsrc3: 2<<14 | 1<<17, props: wave32, lds: 323584},
			want: Descriptor{
				LDSBytes: new(323584), ScratchBytes: new(0), KernargBytes: new(0),
				VGPRBlocks: new(38), VGPRs: new(608), SGPRs: new(128), Wave32: new(true),
				NamedBarriers: new(8), DynamicVGPR: new(true), DynamicStack: new(false),
			},
			arch: new(600),
		},
		{
			name: "gfx1310 is not decoded", flags: 0x50, target: "gfx1310",
			meta: map[string]any{".vgpr_count": 9},
			kd:   kernelSpec{rsrc1: 5, lds: 8},
			want: Descriptor{LDSBytes: new(8), ScratchBytes: new(0), KernargBytes: new(0), DynamicStack: new(false)},
		},
	}
	for _, tt := range tests {
		for _, kind := range []elf.Type{elf.ET_DYN, elf.ET_REL} {
			t.Run(tt.name+" "+kind.String(), func(t *testing.T) {
				tt.kd.name = "k"
				spec := elfSpec{machine: emAMDGPU, osabi: osabiHSA, abi: 4, flags: tt.flags, kind: kind, kernels: []kernelSpec{{name: "first"}, tt.kd}}
				spec.metadata = pack(t, document(tt.target, kernelMeta("k", tt.meta)))
				o := readOne(t, spec.build(t))
				if o.Target != tt.target || len(o.Kernels) != 2 {
					t.Fatalf("target %q, %d kernels", o.Target, len(o.Kernels))
				}
				k := o.Kernels[0] // metadata first, then the descriptor without any
				want := tt.want
				want.Raw = &RawDescriptor{Rsrc1: tt.kd.rsrc1, Rsrc2: tt.kd.rsrc2, Rsrc3: tt.kd.rsrc3, Properties: tt.kd.props}
				if kind == elf.ET_DYN {
					want.Entry = new(uint64(textAddr + 256))
				}
				if diff := cmp.Diff(&want, k.Descriptor); diff != "" {
					t.Errorf("descriptor (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.arch, k.ArchVGPRs); diff != "" {
					t.Errorf("ArchVGPRs (-want +got):\n%s", diff)
				}
				if o.Kernels[1].Name != "first" || o.Kernels[1].Symbol != "first.kd" || o.Kernels[1].Descriptor == nil {
					t.Errorf("kernel without metadata: %+v", o.Kernels[1])
				}
			})
		}
	}
}

func TestMetadata(t *testing.T) {
	meta := kernelMeta("k", map[string]any{
		".vgpr_count": 100, ".agpr_count": 36, ".sgpr_count": 46, ".vgpr_spill_count": 7, ".sgpr_spill_count": 3,
		".group_segment_fixed_size": 70000, ".private_segment_fixed_size": 48, ".kernarg_segment_size": 280,
		".max_flat_workgroup_size": 1024, ".wavefront_size": 64, ".reqd_workgroup_size": []any{64, 2, 1},
		".uses_dynamic_stack": true, ".workgroup_processor_mode": 0, ".language": "HIP", ".unknown": nil,
	})
	spec := elfSpec{machine: emAMDGPU, osabi: osabiHSA, abi: 4, flags: 0x54c, kind: elf.ET_DYN, metadata: pack(t, document("gfx942", meta))}
	want := Metadata{
		VGPRCount: new(100), AGPRCount: new(36), SGPRCount: new(46), VGPRSpillCount: new(7), SGPRSpillCount: new(3),
		LDSBytes: new(70000), ScratchBytes: new(48), KernargBytes: new(280), MaxWorkgroupSize: new(1024),
		WavefrontSize: new(64), ReqdWorkgroupSize: &[3]int{64, 2, 1}, UsesDynamicStack: new(true), WorkgroupProcessor: new(false),
	}
	for _, noSections := range []bool{false, true} {
		spec.noSections = noSections
		o := readOne(t, spec.build(t))
		if diff := cmp.Diff(want, o.Kernels[0].Metadata); diff != "" {
			t.Errorf("noSections=%v (-want +got):\n%s", noSections, diff)
		}
		if o.Kernels[0].Descriptor != nil || len(o.Notes) != 1 || !strings.Contains(o.Notes[0], `no descriptor symbol "k.kd"`) {
			t.Errorf("descriptor %v, notes %q", o.Kernels[0].Descriptor, o.Notes)
		}
		if got := *o.Kernels[0].ArchVGPRs; got != 64 {
			t.Errorf("ArchVGPRs %d, want 100-36", got)
		}
	}
}

// Values that cannot be counts stay unknown instead of turning into a number.
func TestMetadataOddValues(t *testing.T) {
	for _, v := range []any{-1, "12", 1.5, nil, []any{1}, map[string]any{"a": 1}, uint64(1) << 63} {
		meta := kernelMeta("k", map[string]any{".vgpr_count": v, ".sgpr_count": 8})
		spec := elfSpec{machine: emAMDGPU, osabi: osabiHSA, abi: 4, flags: 0x54c, metadata: pack(t, document("gfx942", meta))}
		m := readOne(t, spec.build(t)).Kernels[0].Metadata
		if m.VGPRCount != nil || m.SGPRCount == nil || *m.SGPRCount != 8 {
			t.Errorf("%v: VGPRs %v, SGPRs %v", v, m.VGPRCount, m.SGPRCount)
		}
	}
}

func TestArchVGPRs(t *testing.T) {
	tests := []struct {
		name, target string
		total, agprs *int
		accum        *int
		want         *int
	}{
		{"no AGPRs: exact", "gfx942", new(37), new(0), new(40), new(37)},
		{"AGPRs: rounded to 4", "gfx950", new(284), new(136), new(148), new(148)},
		{"old compiler without AGPR count, none used", "gfx90a", new(37), nil, new(40), new(37)},
		{"old compiler without AGPR count, some used", "gfx90a", new(284), nil, new(148), new(148)},
		{"no count, no offset", "gfx90a", new(284), nil, nil, nil},
		{"descriptor only", "gfx90a", nil, nil, new(148), new(148)},
		{"more AGPRs than registers", "gfx90a", new(10), new(20), new(4), nil},
		{"two files, arch larger", "gfx908", new(100), new(99), nil, new(100)},
		{"two files, AGPRs as large", "gfx908", new(100), new(100), nil, nil},
		{"two files, none used", "gfx908", new(0), new(0), nil, new(0)},
		{"two files, unknown", "gfx908", new(100), nil, nil, nil},
		{"one file", "gfx1201", new(90), nil, nil, new(90)},
		{"unknown generation", "gfx1310", new(90), nil, nil, nil},
	}
	for _, tt := range tests {
		k := Kernel{Metadata: Metadata{VGPRCount: tt.total, AGPRCount: tt.agprs}, Descriptor: &Descriptor{AccumOffset: tt.accum}}
		g, known := generationOf(tt.target)
		if got := k.archVGPRs(g, known); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, show(got), show(tt.want))
		}
	}
}

func show(p *int) any {
	if p == nil {
		return "unknown"
	}
	return *p
}

// Hand-written metadata may count v registers alone; ACCUM_OFFSET tells.
func TestAGPRsApart(t *testing.T) {
	g, _ := generationOf("gfx942")
	old, _ := generationOf("gfx908")
	tests := []struct {
		name         string
		g            generation
		total, agprs int
		accum, alloc int // 0 without a descriptor
		want         int
		apart        bool
	}{
		{"LLVM", g, 100, 36, 64, 104, 100, false},
		{"listed apart", g, 256, 256, 256, 512, 512, true},
		{"fewer than the offset", g, 100, 64, 128, 192, 192, true},
		{"beyond the allocation", g, 128, 256, 128, 128, 128, false},
		{"no descriptor", g, 30, 64, 0, 0, 96, true},
		{"no descriptor, as LLVM", g, 96, 64, 0, 0, 96, false},
		{"two files", old, 128, 128, 0, 128, 128, false},
	}
	for _, tt := range tests {
		k := Kernel{Metadata: Metadata{VGPRCount: &tt.total, AGPRCount: &tt.agprs}}
		if tt.alloc > 0 {
			k.Descriptor = &Descriptor{VGPRs: &tt.alloc}
			if tt.accum > 0 {
				k.Descriptor.AccumOffset = &tt.accum
			}
		}
		k.countVGPRs(tt.g, true)
		if *k.TotalVGPRs != tt.want || k.AGPRsApart != tt.apart || tt.apart && *k.ArchVGPRs != tt.total {
			t.Errorf("%s: %d registers, apart %v; want %d, %v", tt.name, *k.TotalVGPRs, k.AGPRsApart, tt.want, tt.apart)
		}
	}
}

func TestTarget(t *testing.T) {
	tests := []struct {
		name     string
		abi      byte
		flags    uint32
		metadata string
		want     string
		notes    int
	}{
		{"V6, any", 4, 0x54c, "gfx942", "gfx942", 0},
		{"V5, both fixed", 3, 0x3f | 0x200 | 0xc00, "gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-", 0},
		{"V4, reverse", 2, 0x3f | 0x300 | 0x800, "gfx90a:sramecc-:xnack+", "gfx90a:sramecc-:xnack+", 0},
		{"V3, one bit each", 1, 0x30 | 0x100 | 0x200, "gfx908+xnack+sram-ecc", "gfx908:sramecc+:xnack+", 0},
		{"V3, none", 1, 0x2f, "gfx906", "gfx906", 0},
		{"generic, version in the top byte", 4, 0x0100055f, "gfx9-4-generic", "gfx9-4-generic", 0},
		{"e_flags win over metadata", 4, 0x4f, "gfx942", "gfx950", 1},
		{"new processor: metadata", 4, 0xfe, "gfx1999", "gfx1999", 0},
		{"nothing known", 4, 0xfe, "", "", 1},
	}
	for _, tt := range tests {
		spec := elfSpec{machine: emAMDGPU, osabi: osabiHSA, abi: tt.abi, flags: tt.flags, kind: elf.ET_DYN, metadata: pack(t, document(tt.metadata))}
		o := readOne(t, spec.build(t))
		if o.Target != tt.want || len(o.Notes) != tt.notes {
			t.Errorf("%s: target %q, want %q; notes %q", tt.name, o.Target, tt.want, o.Notes)
		}
	}
	if got := (Object{Target: "gfx90a:sramecc+:xnack-"}).Arch(); got != "gfx90a" {
		t.Errorf("Arch() = %q", got)
	}
}

// Code object version 2 has no kernel descriptors: the object says so.
func TestVersion2(t *testing.T) {
	o := readOne(t, elfSpec{machine: emAMDGPU, osabi: osabiHSA, abi: 0, flags: 0x2c, kind: elf.ET_DYN}.build(t))
	if len(o.Kernels) != 0 || len(o.Notes) != 1 || !strings.Contains(o.Notes[0], "code object version 2") {
		t.Errorf("%+v", o)
	}
}

func TestBundles(t *testing.T) {
	co := string(gfx942Object(t))
	const id = "hipv4-amdgcn-amd-amdhsa--gfx942"
	one := bundleOf([2]string{"host-x86_64-unknown-linux-gnu--", ""}, [2]string{id, co})
	page := func(b []byte) []byte { return append(b, make([]byte, (4096-len(b)%4096)%4096)...) }
	two := append(page(bytes.Clone(one)), one...)
	host := elfSpec{machine: uint16(elf.EM_X86_64), kind: elf.ET_DYN, extra: map[string][]byte{".hip_fatbin": two}}
	packed := elfSpec{machine: uint16(elf.EM_X86_64), kind: elf.ET_DYN, extra: map[string][]byte{
		".hip_fatbin": append(page(compress(t, 2, methodZstd, one)), compress(t, 3, methodZstd, one)...),
	}}
	damaged := compress(t, 2, methodZstd, one)
	copy(damaged[30:], "damage in what is packed")
	short := compress(t, 2, methodZlib, one)
	short[12]++
	object := elfSpec{machine: uint16(elf.EM_AARCH64), kind: elf.ET_REL, extra: map[string][]byte{".hip_fatbin.0f": one}}
	// What an odd header says, or packed bytes that are none: reported, and the
	// search goes on behind it where its size is told.
	ccob := append([]byte("CCOB"), 2, 0, 1, 0, 64, 0, 0, 0, 8, 0, 0, 0)
	ccob = append(ccob, make([]byte, 48)...)
	odd := func(version, method byte) []byte {
		b := append([]byte("CCOB"), version, 0, method, 0, 64, 0, 0, 0, 0, 0, 0, 0)
		return append(b, make([]byte, 48)...)
	}
	large := odd(3, 1)
	large[20] = 1
	// Both entries claim the same bytes, so that a small file would be read many times.
	overlapping := bundleOf([2]string{id, co}, [2]string{id, co})
	for _, entry := range []int{32, 32 + 24 + len(id)} {
		binary.LittleEndian.PutUint64(overlapping[entry:], 0)
		binary.LittleEndian.PutUint64(overlapping[entry+8:], uint64(len(overlapping)-8))
	}
	tests := []struct {
		name    string
		file    []byte
		objects int
		err     string
	}{
		{"one bundle", one, 1, ""},
		{"two bundles on pages", two, 2, ""},
		{"host library", host.build(t), 2, ""},
		{"host object", object.build(t), 1, ""},
		{"host without code", elfSpec{machine: uint16(elf.EM_X86_64), kind: elf.ET_EXEC}.build(t), 0, "EM_X86_64 without a .hip_fatbin section"},
		{"host entry only", bundleOf([2]string{"host-x86_64-unknown-linux-gnu--", ""}), 0, "no AMD GPU code in the offload bundles"},
		{"zstd, version 1", compress(t, 1, methodZstd, one), 1, ""},
		{"zstd, version 2", compress(t, 2, methodZstd, one), 1, ""},
		{"zstd, version 3", compress(t, 3, methodZstd, one), 1, ""},
		{"zlib, version 1", compress(t, 1, methodZlib, one), 1, ""},
		{"zlib, version 2", compress(t, 2, methodZlib, one), 1, ""},
		{"compressed, then plain, then compressed", slices.Concat(page(compress(t, 2, methodZstd, one)), page(bytes.Clone(one)), compress(t, 3, methodZlib, one)), 3, ""},
		{"host library, compressed", packed.build(t), 2, ""},
		{"compressed, no bundle in it", compress(t, 2, methodZstd, []byte(co)), 0, "what is in it is no offload bundle"},
		{"compressed, cut off", compress(t, 2, methodZstd, one)[:90], 0, "ends past the end of the file"},
		{"compressed, damaged", damaged, 0, "(CCOB): it cannot be unpacked"},
		{"compressed, shorter than it says", short, 0, "(CCOB): it ends after "},
		{"not packed at all, then plain", append(bytes.Clone(ccob), one...), 1, "(CCOB): it cannot be unpacked"},
		{"version of later days", odd(4, 1), 0, "its version 4 is not known"},
		{"another compression", odd(2, 7), 0, "its compression 7 is not known"},
		{"larger than is taken", large, 0, "4096 MiB in so few bytes are no code"},
		{"SPIR-V beside code", bundleOf([2]string{"hip-spirv64-amd-amdhsa-unknown-amdgcnspirv", "x"}, [2]string{id, co}), 1, "not AMD GPU machine code"},
		{"bitcode", bundleOf([2]string{id, bitcodeMagic + "\x35\x14"}), 0, "LLVM bitcode"},
		{"code cut off", one[:len(one)-1], 0, "ends past the end of the file"},
		{"table cut off", one[:60], 0, "its table ends past the end of the file"},
		{"overlapping entries", overlapping, 0, "its entries overlap"},
		{"absurd count", append([]byte(bundleMagic), bytes.Repeat([]byte{0xff}, 8)...), 0, "it counts 18446744073709551615 entries"},
	}
	for _, tt := range tests {
		objs, err := read(t, tt.file)
		if len(objs) != tt.objects || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %d objects, error %v", tt.name, len(objs), err)
		}
		for _, o := range objs {
			checkInBundle(t, tt.name, o)
		}
	}
}

// checkInBundle checks that an object of a bundle is the one that was put in.
func checkInBundle(t *testing.T, name string, o Object) {
	t.Helper()
	if !strings.HasPrefix(o.Path, "f.co#offset=") || o.Target != "gfx942" || len(o.Kernels) != 1 || *o.Kernels[0].Descriptor.VGPRs != 176 {
		t.Errorf("%s: object %+v", name, o)
	}
}

func TestBundlePath(t *testing.T) {
	co := gfx942Object(t)
	objs, err := read(t, bundleOf([2]string{"hipv4-amdgcn-amd-amdhsa--gfx942", string(co)}))
	if err != nil || len(objs) != 1 {
		t.Fatal(objs, err)
	}
	// The table is 24+8+24+31 bytes long; the code lies on the next multiple of 4096.
	if want := "f.co#offset=4096&size=" + strconv.Itoa(len(co)); objs[0].Path != want {
		t.Errorf("path %q, want %q", objs[0].Path, want)
	}
}

func TestReadErrors(t *testing.T) {
	good := gfx942Object(t)
	patch := func(off int, b ...byte) []byte {
		c := bytes.Clone(good)
		copy(c[off:], b)
		return c
	}
	deep := bytes.Repeat([]byte{0x91}, 1<<16)
	metadata := func(doc []byte) []byte {
		return elfSpec{machine: emAMDGPU, osabi: osabiHSA, abi: 4, flags: 0x54c, metadata: doc}.build(t)
	}
	whole := pack(t, document("gfx942", kernelMeta("a", nil), kernelMeta("b", nil)))
	tests := []struct {
		name string
		file []byte
		err  string
	}{
		{"empty", nil, "the file is empty"},
		{"text", []byte("hello"), "not an ELF file and not an offload bundle"},
		{"bitcode", []byte("BC\xc0\xde1234"), "LLVM bitcode"},
		{"header cut off", good[:40], "the ELF header at byte 0 (64 bytes) ends past the end of the file (40 bytes)"},
		{"sections cut off", good[:len(good)-1], "the section header table"},
		{"32 bit", patch(4, 1), "not a 64-bit little-endian ELF file"},
		{"odd section size", patch(0x3a, 65), "section entries of 65 bytes"},
		{"CUDA", patch(18, 190, 0), "an ELF file for EM_CUDA without a .hip_fatbin section"},
		{"metadata nested deeply", metadata(append([]byte{0x81, 0xa1, 'x'}, deep...)), "nested too deeply"},
		{"metadata not a map", metadata([]byte{0xc3}), "the AMDGPU metadata is damaged after 0 kernels"},
		{"metadata cut off", metadata(whole[:len(whole)-60]), "the AMDGPU metadata is damaged after 2 kernels"},
	}
	for _, tt := range tests {
		_, err := read(t, tt.file)
		if err == nil || !strings.Contains(err.Error(), tt.err) || !strings.HasPrefix(err.Error(), "f.co: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.err)
		}
	}
}

// Every file that is cut short is refused or reported, and none makes up a kernel.
func TestTruncated(t *testing.T) {
	good := gfx942Object(t)
	for n := range good {
		objs, err := read(t, good[:n])
		if err == nil || len(objs) > 1 {
			t.Fatalf("%d of %d bytes: %d objects, error %v", n, len(good), len(objs), err)
		}
	}
}

// A descriptor outside its section is noted, the kernel stays.
func TestDescriptorOutside(t *testing.T) {
	b := gfx942Object(t)
	f, err := openELF(io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b))))
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []uint64{rodataAddr + 1, rodataAddr - 1, 0, 1<<64 - 1} {
		c := bytes.Clone(b)
		binary.LittleEndian.PutUint64(c[f.sections[2].Off+elf.Sym64Size+8:], value)
		o := readOne(t, c)
		if o.Kernels[0].Descriptor != nil || len(o.Notes) != 1 || !strings.Contains(o.Notes[0], "outside its section") {
			t.Errorf("symbol value %#x: notes %q", value, o.Notes)
		}
	}
}

func TestSniff(t *testing.T) {
	co := gfx942Object(t)
	host := elfSpec{machine: uint16(elf.EM_X86_64)}.build(t)
	tests := []struct {
		name                string
		head                []byte
		code, host, listing bool
	}{
		{"code object", co[:20], true, false, false},
		{"bundle", []byte(bundleMagic), true, false, false},
		{"compressed bundle", []byte("CCOB\x02\x00"), true, false, false},
		{"host", host[:20], false, true, false},
		{"short", co[:19], false, false, false},
		{"empty", nil, false, false, false},
		{"listing", []byte("\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n"), false, false, true},
		{"other assembly", []byte("\t.file \"a.c\"\n\t.text\n"), false, false, false},
		{"binary", []byte("\x00.amdgcn_target"), false, false, false},
	}
	for _, tt := range tests {
		if got := [3]bool{Sniff(tt.head), SniffHost(tt.head), SniffAssembly(tt.head)}; got != [3]bool{tt.code, tt.host, tt.listing} {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, errors.New("disk on fire") }
func (failing) Read([]byte) (int, error)          { return 0, errors.New("disk on fire") }

func TestReaderFails(t *testing.T) {
	if _, err := Read(failing{}, 1000, "f"); err == nil || err.Error() != "f: disk on fire" {
		t.Errorf("Read: %v", err)
	}
	if _, err := ReadAssembly(failing{}, "f", ""); err == nil || err.Error() != "f: line 1: disk on fire" {
		t.Errorf("ReadAssembly: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	co := gfx942Object(f)
	f.Add(co)
	f.Add(bundleOf([2]string{"hipv4-amdgcn-amd-amdhsa--gfx942", string(co)}))
	f.Add(elfSpec{machine: uint16(elf.EM_X86_64), extra: map[string][]byte{".hip_fatbin": bundleOf([2]string{"hipv4-amdgcn-amd-amdhsa--gfx942", string(co)})}}.build(f))
	f.Add([]byte("CCOB\x02\x00\x01\x00\x40\x00\x00\x00"))
	one := bundleOf([2]string{"hipv4-amdgcn-amd-amdhsa--gfx942", string(co)})
	f.Add(compress(f, 1, methodZlib, one))
	f.Add(compress(f, 2, methodZstd, one))
	f.Add(compress(f, 3, methodZstd, one))
	f.Fuzz(func(t *testing.T, b []byte) {
		objs, err := Read(bytes.NewReader(b), int64(len(b)), "f")
		if len(objs) == 0 && err == nil {
			t.Error("nothing read and no error")
		}
		again, _ := Read(bytes.NewReader(b), int64(len(b)), "f")
		if !reflect.DeepEqual(objs, again) {
			t.Error("two reads differ")
		}
	})
}

func FuzzReadAssembly(f *testing.F) {
	files, err := filepath.Glob("testdata/*.s")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, p := range files {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := ReadAssembly(bytes.NewReader(b), "f", "gfx942")
		if len(o) == 0 && err == nil {
			t.Error("nothing read and no error")
		}
	})
}
