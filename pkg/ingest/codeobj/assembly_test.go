package codeobj

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func readListing(t *testing.T, path string) Object {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	o, err := ReadAssembly(f, path, "")
	if err != nil || len(o) != 1 {
		t.Fatal(len(o), err)
	}
	return o[0]
}

// LLVM writes symbols for registers when a kernel calls functions. By hand:
// num_vgpr = max(41, 61) = 61, num_agpr = 36, total = alignTo(61,4)+36 = 100 in 13
// blocks of 8 = 104; accum_offset = alignTo(61,4) = 64; SGPRs = max(33,40) = 40,
// +6 as flat scratch is architected = 46: 6 blocks of 8, allocated by 16 = 48;
// scratch = 16+32.
func TestListingWithSymbols(t *testing.T) {
	o := readListing(t, "testdata/gfx942_symbols.s")
	if o.Target != "gfx942:sramecc+:xnack-" || len(o.Kernels) != 1 || len(o.Notes) != 0 {
		t.Fatalf("target %q, %d kernels, notes %q", o.Target, len(o.Kernels), o.Notes)
	}
	want := Kernel{
		Name: "outer", Symbol: "outer.kd",
		Metadata: Metadata{
			VGPRCount: new(100), AGPRCount: new(36), SGPRCount: new(46), VGPRSpillCount: new(7), SGPRSpillCount: new(0),
			LDSBytes: new(8192), ScratchBytes: new(48), KernargBytes: new(24), MaxWorkgroupSize: new(256),
			WavefrontSize: new(64), ReqdWorkgroupSize: &[3]int{64, 2, 2}, UsesDynamicStack: new(true),
		},
		Descriptor: &Descriptor{
			LDSBytes: new(8192), ScratchBytes: new(48), KernargBytes: new(24), VGPRBlocks: new(13), VGPRs: new(104),
			AccumOffset: new(64), SGPRs: new(48), SGPRBlocks: new(6), Wave32: new(false), TGSplit: new(false), DynamicStack: new(true),
		},
		Comments: &Comments{
			NumVGPRs: new(61), NumAGPRs: new(36), TotalNumVGPRs: new(100), TotalNumSGPRs: new(46),
			ScratchBytes: new(48), LDSBytes: new(8192), CodeBytes: new(4), // occupancy(...) is not evaluated
		},
		TotalVGPRs: new(100),
		ArchVGPRs:  new(61), // the comment is exact where the metadata is rounded
	}
	if diff := cmp.Diff(want, o.Kernels[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Hand-written: unindented lists, comments behind values, directives left out,
// symbols without a value, nested keys that look like the kernel's own. SGPRs: 90, VCC
// reserved by default, flat scratch not, XNACK off: 92, 12 blocks of 8, 96.
func TestListingHandwritten(t *testing.T) {
	o := readListing(t, "testdata/gfx90a_handwritten.s")
	want := []Kernel{
		{
			Name: "gemm", Symbol: "gemm.kd",
			Metadata: Metadata{LDSBytes: new(65536), ReqdWorkgroupSize: &[3]int{256, 1, 1}, VGPRCount: new(512), WavefrontSize: new(64)},
			Descriptor: &Descriptor{
				LDSBytes: new(65536), ScratchBytes: new(0), KernargBytes: new(0), VGPRBlocks: new(64), VGPRs: new(512),
				AccumOffset: new(256), SGPRs: new(96), SGPRBlocks: new(12), Wave32: new(false), DynamicStack: new(false),
			},
			TotalVGPRs: new(512),
			ArchVGPRs:  new(256), // no AGPR count: the accumulation offset bounds it
		},
		{
			Name: "odd", Symbol: "odd.kd",
			Descriptor: &Descriptor{
				LDSBytes: new(0), ScratchBytes: new(0), KernargBytes: new(0), VGPRBlocks: new(1), VGPRs: new(8),
				AccumOffset: new(4), Wave32: new(false), DynamicStack: new(false),
			},
			ArchVGPRs: new(4),
		},
		{Name: "ghost", Symbol: "ghost.kd", Metadata: Metadata{VGPRCount: new(3)}, TotalVGPRs: new(3)},
	}
	if diff := cmp.Diff(want, o.Kernels); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	notes := []string{
		"kernel ghost: metadata without .amdhsa_kernel",
		"kernel odd: .amdhsa_next_free_sgpr nowhere+1 has no value in this listing",
	}
	if diff := cmp.Diff(notes, o.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// 600 VGPRs: 38 blocks of 16; .amdhsa_named_barrier_count 2 is two blocks of four.
func TestListingGfx1250(t *testing.T) {
	o := readListing(t, "testdata/gfx1250.s")
	want := Kernel{
		Name: "barriers", Symbol: "barriers.kd",
		Descriptor: &Descriptor{
			LDSBytes: new(323584), ScratchBytes: new(0), KernargBytes: new(8), VGPRBlocks: new(38), VGPRs: new(608),
			SGPRs: new(128), Wave32: new(true), NamedBarriers: new(8), DynamicStack: new(false),
		},
		Comments:  &Comments{NumVGPRs: new(600), TotalNumSGPRs: new(58), ScratchBytes: new(0), Occupancy: new(1)},
		ArchVGPRs: new(600),
	}
	if diff := cmp.Diff([]Kernel{want}, o.Kernels); diff != "" || o.Target != "gfx1250" {
		t.Errorf("target %q (-want +got):\n%s", o.Target, diff)
	}
}

// 97 VGPRs take 25 blocks of 4 in wave64 and 13 of 8 in wave32; without a wave size
// neither is known.
func TestListingWaveSize(t *testing.T) {
	o := readListing(t, "testdata/gfx1100_wave64.s")
	type row struct {
		Name         string
		VGPRs        *int
		Wave32, Mode *bool
	}
	var got []row
	for _, k := range o.Kernels {
		got = append(got, row{k.Name, k.Descriptor.VGPRs, k.Descriptor.Wave32, k.Descriptor.WGPMode})
	}
	want := []row{
		{"wide", new(100), new(false), new(false)},
		{"narrow", new(104), new(true), new(true)},
		{"unsaid", nil, nil, nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestListingErrors(t *testing.T) {
	const target = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n"
	tests := []struct {
		name, text, err string
		kernels         int
	}{
		{"empty", "", "no .amdgcn_target and no .amdhsa_kernel", 0},
		{"other assembly", "\t.text\nmain:\n\tret\n", "not an AMDGPU listing", 0},
		{"nested", target + ".amdhsa_kernel a\n.amdhsa_kernel b\n", "line 3: .amdhsa_kernel b inside .amdhsa_kernel a", 1},
		{"cut off in a kernel", target + ".amdhsa_kernel a\n.amdhsa_next_free_vgpr 8", "ends inside .amdhsa_kernel a", 1},
		{"cut off in the metadata", target + ".amdhsa_kernel a\n.end_amdhsa_kernel\n.amdgpu_metadata\namdhsa.kernels:\n  - .name: a\n    .vgpr_count: 5\n", "ends inside .amdgpu_metadata", 1},
	}
	for _, tt := range tests {
		objs, err := ReadAssembly(strings.NewReader(tt.text), "x.s", "")
		kernels := 0
		for _, o := range objs {
			kernels += len(o.Kernels)
		}
		if err == nil || !strings.HasPrefix(err.Error(), "x.s: ") || !strings.Contains(err.Error(), tt.err) || kernels != tt.kernels {
			t.Errorf("%s: %d kernels, error %v", tt.name, kernels, err)
		}
	}
}

// A line longer than what is kept of it does not disturb the lines around it.
func TestListingLongLine(t *testing.T) {
	text := ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n.ascii \"" + strings.Repeat(".amdhsa_kernel z\t", 20000) +
		"\"\n.amdhsa_kernel a\n.amdhsa_next_free_vgpr 8\n.end_amdhsa_kernel"
	o, err := ReadAssembly(strings.NewReader(text), "x.s", "")
	if err != nil || len(o) != 1 || len(o[0].Kernels) != 1 || *o[0].Kernels[0].Descriptor.VGPRs != 8 {
		t.Fatalf("%+v, error %v", o, err)
	}
}

func TestExpressions(t *testing.T) {
	g, _ := generationOf("gfx90a")
	plain, _ := generationOf("gfx1100")
	tests := []struct {
		text string
		want value
	}{
		{"42", value{42, true}},
		{"0x2A", value{42, true}},
		{" 1 + 2*3 ", value{7, true}},
		{"3+4*2|1-~5&12", value{3 + (4*2 | 1) - (^5 & 12), true}}, // | and & bind tighter than + in the GNU dialect
		{"(7<<2)+(100>>1)%9-2*-3", value{28 + 5 + 6, true}},
		{"-8>>60", value{15, true}}, // shifts are logical
		{"max(1, two, 0)", value{2, true}},
		{"or(1, two, 4)", value{7, true}},
		{"alignto(61, 4)", value{64, true}},
		{"totalnumvgprs(36, 61)", value{100, true}},
		{"totalnumvgprs(0, 61)", value{61, true}},
		{"extrasgprs(1, 0, 0)", value{2, true}},
		{"extrasgprs(0, 0, 1)", value{4, true}},
		{"extrasgprs(0, 1, 0)", value{6, true}},
		{"late", value{5, true}},
		{"1/0", value{}},
		{"1%0", value{}},
		{"1<<64", value{}},
		{"1<<-1", value{}},
		{"alignto(1, 0)", value{}},
		{"loop", value{}},
		{"nowhere", value{}},
		// By llvm-mc 19.
		{"1 == 1", value{-1, true}},
		{"3 < 2", value{0, true}},
		{"1&&4", value{1, true}},
		{"1||0", value{1, true}},
		{"!0", value{1, true}},
		{"1+2==3&1", value{0, true}},
		{"3<>2", value{-1, true}},
		{"occupancy(1)", value{}},
		{"max()", value{}},
		{"(1", value{}},
		{"1)", value{}},
		{"", value{}},
		{"0x", value{}},
		{"99999999999999999999", value{}},
		{strings.Repeat("(", 100000), value{}},
		{strings.Repeat("-", 100000) + "1", value{}},
	}
	for _, tt := range tests {
		s := newSymbolTable()
		s.g = g
		for name, expr := range map[string]string{"two": "2", "late": "two+three", "three": "3", "loop": "pool", "pool": "loop+1"} {
			s.define(name, expr)
		}
		if got := s.eval(tt.text); got.ok != tt.want.ok || got.ok && got.n != tt.want.n {
			t.Errorf("%.40q = %v, want %v", tt.text, got, tt.want)
		}
	}
	s := newSymbolTable()
	s.g = plain
	if got := s.eval("totalnumvgprs(36, 61)*100+extrasgprs(1, 1, 1)"); got != (value{6102, true}) {
		t.Errorf("gfx1100: %v, want 61 VGPRs and 2 SGPRs", got)
	}
}
