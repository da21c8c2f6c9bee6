package gpu

import (
	"reflect"
	"strings"
	"testing"
)

// TestHardwareByHand holds cases worked out by hand from the architecture
// table.
func TestHardwareByHand(t *testing.T) {
	tests := []struct {
		name   string
		arch   string
		res    Resources
		groups int
		mean   float64
		by     []Resource
	}{
		// 134 -> 136; 512/136 = 3 waves; 12 waves / 4 per group.
		{"134 VGPRs", "gfx942", Resources{TotalVGPR: 134, WorkgroupSize: 256}, 3, 3, []Resource{VGPR}},
		{"128 VGPRs", "gfx942", Resources{TotalVGPR: 128, WorkgroupSize: 256}, 4, 4, []Resource{VGPR}},
		{"168 VGPRs", "gfx942", Resources{TotalVGPR: 168, WorkgroupSize: 256}, 3, 3, []Resource{VGPR}},
		{"170 VGPRs are not 3 waves", "gfx942", Resources{TotalVGPR: 170, WorkgroupSize: 256}, 2, 2, []Resource{VGPR}},
		// 101 -> 104 arch behind which 40 accum: 144; 512/144 = 3.
		{"arch and accum", "gfx942", Resources{ArchVGPR: 101, AccumVGPR: 40, WorkgroupSize: 256}, 3, 3, []Resource{VGPR}},
		// 21,845 -> 22,016; 65,536/22,016 = 2.
		{"21845 B of LDS", "gfx942", Resources{TotalVGPR: 32, LDSBytes: 21845, WorkgroupSize: 256}, 2, 2, []Resource{LDS}},
		// 8 waves per group, 3 waves/SIMD x 4 = 12 waves: one whole group.
		{"512 work-items at 3 waves", "gfx942", Resources{TotalVGPR: 168, WorkgroupSize: 512}, 1, 2, []Resource{VGPR}},
		// 92 -> 96 + 16 = 112; 800/112 = 7 waves x 4 SIMDs, one wave each.
		{"92 SGPRs, one-wave groups", "gfx942", Resources{TotalVGPR: 32, SGPR: 92, WorkgroupSize: 64}, 28, 7, []Resource{SGPR}},
		{"104 SGPRs are charged 128", "gfx942", Resources{TotalVGPR: 32, SGPR: 104, WorkgroupSize: 256}, 6, 6, []Resource{SGPR}},
		// gfx908: files side by side, 256/128 = 2 waves (not 256/228).
		{"gfx908 takes the larger file", "gfx908", Resources{ArchVGPR: 128, AccumVGPR: 100, WorkgroupSize: 256}, 2, 2, []Resource{VGPR}},
		// gfx950 LDS granule: 53,760 = 42 x 1280, three fit 163,840.
		{"gfx950 LDS", "gfx950", Resources{TotalVGPR: 32, LDSBytes: 53760, WorkgroupSize: 256}, 3, 3, []Resource{LDS}},
		{"gfx950 LDS one byte more", "gfx950", Resources{TotalVGPR: 32, LDSBytes: 53761, WorkgroupSize: 256}, 2, 2, []Resource{LDS}},
		// Padded descriptor: 257 registers and 98,304 B both allow one group.
		{"LDS and padded VGPRs", "gfx950", Resources{TotalVGPR: 264, LDSBytes: 98304, WorkgroupSize: 256}, 1, 1, []Resource{LDS, VGPR}},
		{"wave slots stand alone", "gfx942", Resources{TotalVGPR: 64, LDSBytes: 8192, WorkgroupSize: 256}, 8, 8, []Resource{WaveSlots}},
		// Two-wave groups: 32 wave slots / 2 = 16, as many as the barriers.
		{"two-wave groups", "gfx942", Resources{TotalVGPR: 24, WorkgroupSize: 128}, 16, 8, []Resource{WaveSlots}},
		// gfx908 has 40 slots: 16 barriers bind first.
		{"barriers on gfx908", "gfx908", Resources{ArchVGPR: 16, WorkgroupSize: 128}, 16, 8, []Resource{WorkgroupSlots}},
		{"one-wave groups need no barrier", "gfx908", Resources{ArchVGPR: 16, WorkgroupSize: 64}, 40, 10, []Resource{WaveSlots}},
		// 5 waves per group: 32/5 = 6 groups, 30 waves, 7.5 on the mean.
		{"320 work-items", "gfx942", Resources{TotalVGPR: 24, WorkgroupSize: 320}, 6, 7.5, []Resource{WaveSlots}},
		// gfx1100 wave32, WGP: 8 waves per group, 1536/120 = 12 x 4 / 8.
		{"gfx1100 WGP", "gfx1100", Resources{TotalVGPR: 120, WorkgroupSize: 256}, 6, 12, []Resource{VGPR}},
		{"gfx1100 CU", "gfx1100", Resources{TotalVGPR: 120, WorkgroupSize: 256, Mode: CUMode}, 3, 12, []Resource{VGPR}},
		// 26,624 B: 131,072/26,624 = 4 groups of 8 waves on 4 SIMDs.
		{"gfx1100 LDS, WGP", "gfx1100", Resources{TotalVGPR: 13, LDSBytes: 26624, WorkgroupSize: 256}, 4, 8, []Resource{LDS}},
		// 43,100 -> 44,032 (granule 1024): 131,072/44,032 = 2.
		{"gfx1100 LDS granule", "gfx1100", Resources{TotalVGPR: 13, LDSBytes: 43100, WorkgroupSize: 256}, 2, 4, []Resource{LDS}},
		{"gfx1100 ignores SGPRs", "gfx1100", Resources{TotalVGPR: 13, SGPR: 128, WorkgroupSize: 256}, 8, 16, []Resource{WaveSlots}},
		// Dynamic VGPRs on gfx1200: 128 -> 12 waves, 10 without.
		{"gfx1200 128", "gfx1200", Resources{TotalVGPR: 128, WorkgroupSize: 32}, 40, 10, []Resource{VGPR}},
		{"gfx1200 128 dynamic", "gfx1200", Resources{TotalVGPR: 128, WorkgroupSize: 32, DynamicVGPRBlock: 16}, 48, 12, []Resource{VGPR}},
		{"gfx1200 256", "gfx1200", Resources{TotalVGPR: 256, WorkgroupSize: 32}, 20, 5, []Resource{VGPR}},
		{"gfx1200 256 dynamic", "gfx1200", Resources{TotalVGPR: 256, WorkgroupSize: 32, DynamicVGPRBlock: 32}, 24, 6, []Resource{VGPR}},
		{"gfx1250 reaches 1024", "gfx1250", Resources{TotalVGPR: 1024, WorkgroupSize: 128}, 1, 1, []Resource{VGPR}},
		{"nothing used", "gfx942", Resources{WorkgroupSize: 256}, 8, 8, []Resource{WaveSlots}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := mustOccupancy(t, tt.arch, tt.res)
			if got.Groups != tt.groups || got.WavesPerSIMD != tt.mean || !got.Fits {
				t.Errorf("%d groups, %g waves/SIMD, fits %v; want %d, %g", got.Groups, got.WavesPerSIMD, got.Fits, tt.groups, tt.mean)
			}
			if !reflect.DeepEqual(got.LimitedBy, tt.by) {
				t.Errorf("limited by %v, want %v", got.LimitedBy, tt.by)
			}
		})
	}
}

func TestDoesNotFit(t *testing.T) {
	tests := []struct {
		name string
		arch string
		res  Resources
		by   []Resource
		why  string
	}{
		{"LDS beyond a group", "gfx942", Resources{TotalVGPR: 32, LDSBytes: 65537, WorkgroupSize: 64}, []Resource{LDS}, "65536"},
		// The WGP's pool is 128 KiB, but one group can have half of it.
		{"LDS of a WGP", "gfx1100", Resources{TotalVGPR: 32, LDSBytes: 65537, WorkgroupSize: 64}, []Resource{LDS}, "65536"},
		{"too many registers", "gfx1100", Resources{TotalVGPR: 257, WorkgroupSize: 64}, []Resource{VGPR}, "256"},
		{"arch registers alone", "gfx942", Resources{ArchVGPR: 257, WorkgroupSize: 64}, []Resource{VGPR}, "256"},
		// 16 waves of 264 registers; the CU holds 4.
		{"group larger than the registers", "gfx942", Resources{TotalVGPR: 264, WorkgroupSize: 1024}, []Resource{VGPR}, "holds 4 waves"},
		{"dynamic blocks", "gfx1200", Resources{TotalVGPR: 129, WorkgroupSize: 32, DynamicVGPRBlock: 16}, []Resource{VGPR}, "128"},
		{"two reasons", "gfx942", Resources{TotalVGPR: 264, LDSBytes: 70000, WorkgroupSize: 1024}, []Resource{LDS, VGPR}, "65536"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := mustOccupancy(t, tt.arch, tt.res)
			if got.Fits || got.Groups != 0 || got.FullestSIMD != 0 {
				t.Errorf("fits with %d groups", got.Groups)
			}
			if !reflect.DeepEqual(got.LimitedBy, tt.by) {
				t.Fatalf("limited by %v, want %v", got.LimitedBy, tt.by)
			}
			l, _ := got.Limit(tt.by[0])
			if !strings.Contains(l.DoesNotFit, tt.why) || !strings.Contains(l.String(), "does not fit") {
				t.Errorf("%q, %q lack %q", l.DoesNotFit, l, tt.why)
			}
		})
	}
}

func TestOccupancyErrors(t *testing.T) {
	tests := []struct {
		name string
		arch string
		res  Resources
		want string
	}{
		{"no workgroup", "gfx942", Resources{}, "workgroup size 0"},
		{"large workgroup", "gfx942", Resources{WorkgroupSize: 1025}, "workgroup size 1025"},
		{"negative", "gfx942", Resources{SGPR: -1, WorkgroupSize: 64}, "SGPRs"},
		{"overflow", "gfx942", Resources{LDSBytes: 1 << 40, WorkgroupSize: 64}, "LDS"},
		{"wave32 on gfx9", "gfx942", Resources{Wave: 32, WorkgroupSize: 64}, "no wave32"},
		{"wave64 on gfx1250", "gfx1250", Resources{Wave: 64, WorkgroupSize: 64}, "no wave64"},
		{"wave48", "gfx1100", Resources{Wave: 48, WorkgroupSize: 64}, "no wave48"},
		{"WGP on gfx9", "gfx942", Resources{Mode: WGPMode, WorkgroupSize: 64}, `no "wgp" mode`},
		{"CU on gfx1250", "gfx1250", Resources{Mode: CUMode, WorkgroupSize: 64}, `no "cu" mode`},
		{"unknown mode", "gfx1100", Resources{Mode: "tg", WorkgroupSize: 64}, `no "tg" mode`},
		{"AGPRs on RDNA", "gfx1100", Resources{AccumVGPR: 4, WorkgroupSize: 64}, "accumulation"},
		{"dynamic on gfx11", "gfx1100", Resources{DynamicVGPRBlock: 16, WorkgroupSize: 64}, "dynamic"},
		{"dynamic wave64", "gfx1200", Resources{DynamicVGPRBlock: 16, Wave: 64, WorkgroupSize: 64}, "dynamic"},
		{"dynamic block", "gfx1200", Resources{DynamicVGPRBlock: 24, WorkgroupSize: 64}, "neither"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Occupancy(mustArch(t, tt.arch), tt.res, Hardware)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := Occupancy(mustArch(t, "gfx942"), Resources{WorkgroupSize: 64}, "hip"); err == nil {
		t.Error("no error for an unknown rule")
	}
}

func TestLimitText(t *testing.T) {
	tests := []struct {
		arch string
		res  Resources
		of   Resource
		want string
	}{
		{
			"gfx942",
			Resources{TotalVGPR: 134, WorkgroupSize: 256},
			VGPR,
			"134 VGPRs -> 136 allocated (granule 8); 512/136 = 3 waves/SIMD -> 3 workgroups/CU",
		},
		{
			"gfx942",
			Resources{TotalVGPR: 168, WorkgroupSize: 512},
			VGPR,
			"168 VGPRs -> 168 allocated (granule 8); 512/168 = 3 waves/SIMD x 4 SIMDs / 8 waves per workgroup -> 1 workgroup/CU",
		},
		{
			"gfx942",
			Resources{TotalVGPR: 20, WorkgroupSize: 256},
			VGPR,
			"20 VGPRs -> 24 allocated (granule 8); 512/24 = 21, at most 8 waves/SIMD -> 8 workgroups/CU",
		},
		{
			"gfx942",
			Resources{SGPR: 92, WorkgroupSize: 256},
			SGPR,
			"92 SGPRs -> 96 + 16 trap handler = 112 (granule 16); 800/112 = 7 waves/SIMD -> 7 workgroups/CU",
		},
		{
			"gfx942",
			Resources{LDSBytes: 21845, WorkgroupSize: 256},
			LDS,
			"21845 B LDS -> 22016 B allocated (granule 512); 65536/22016 -> 2 workgroups/CU",
		},
		{
			"gfx1100",
			Resources{WorkgroupSize: 256},
			WaveSlots,
			"16 wave slots/SIMD x 4 SIMDs / 8 waves per workgroup -> 8 workgroups/WGP",
		},
		{"gfx1100", Resources{WorkgroupSize: 256}, WorkgroupSlots, "32 workgroup slots (barriers) -> 32 workgroups/WGP"},
		{"gfx1100", Resources{WorkgroupSize: 32}, WorkgroupSlots, "one-wave workgroups take no barrier slot"},
		{"gfx1100", Resources{WorkgroupSize: 32}, SGPR, "SGPRs never limit on this architecture"},
		{"gfx1100", Resources{WorkgroupSize: 32}, LDS, "no LDS used"},
	}
	for _, tt := range tests {
		l, ok := mustOccupancy(t, tt.arch, tt.res).Limit(tt.of)
		if !ok || l.String() != tt.want {
			t.Errorf("got  %s\nwant %s", l, tt.want)
		}
	}
}

func TestNextStepByHand(t *testing.T) {
	tests := []struct {
		name string
		arch string
		res  Resources
		of   Resource
		want Step
	}{
		{"134 to 128", "gfx942", Resources{TotalVGPR: 134, WorkgroupSize: 256}, VGPR, Step{
			Target: 128, Free: 6, OwnGroups: 4, Groups: 4, WavesPerSIMD: 4, Gains: true, ThenLimitedBy: []Resource{VGPR},
			Text: "free 6 VGPRs to reach 128: 4 workgroups/CU, 4 waves/SIMD, then limited by vgpr",
		}},
		// Two groups of 8 waves need 4 waves/SIMD, not 3 1/2.
		{"512 work-items", "gfx942", Resources{TotalVGPR: 168, WorkgroupSize: 512}, VGPR, Step{
			Target: 128, Free: 40, OwnGroups: 2, Groups: 2, WavesPerSIMD: 4, Gains: true, ThenLimitedBy: []Resource{VGPR},
			Text: "free 40 VGPRs to reach 128: 2 workgroups/CU, 4 waves/SIMD, then limited by vgpr",
		}},
		// 65,536/3 = 21,845 -> 21,504; 3 groups, and 160 registers allow 3.
		{"LDS, then both", "gfx942", Resources{TotalVGPR: 160, LDSBytes: 21845, WorkgroupSize: 256}, LDS, Step{
			Target: 21504, Free: 341, OwnGroups: 3, Groups: 3, WavesPerSIMD: 3, Gains: true, ThenLimitedBy: []Resource{LDS, VGPR},
			Text: "free 341 B of LDS to reach 21504: 3 workgroups/CU, 3 waves/SIMD, then limited by lds, vgpr",
		}},
		{"both bind", "gfx950", Resources{TotalVGPR: 264, LDSBytes: 98304, WorkgroupSize: 256}, VGPR, Step{
			Target: 256, Free: 8, OwnGroups: 2, Groups: 1, WavesPerSIMD: 1, ThenLimitedBy: []Resource{LDS},
			Text: "freeing 8 VGPRs (to 256) gains nothing alone: still limited by lds",
		}},
		// 8 waves: 800/8 = 100, less 16, down to a multiple of 16: 80.
		{"SGPRs", "gfx942", Resources{TotalVGPR: 32, SGPR: 92, WorkgroupSize: 256}, SGPR, Step{
			Target: 80, Free: 12, OwnGroups: 8, Groups: 8, WavesPerSIMD: 8, Gains: true, ThenLimitedBy: []Resource{WaveSlots},
			Text: "free 12 SGPRs to reach 80: 8 workgroups/CU, 8 waves/SIMD, then limited by wave_slots",
		}},
		{"from not fitting", "gfx1100", Resources{TotalVGPR: 300, WorkgroupSize: 1024}, VGPR, Step{
			Target: 192, Free: 108, OwnGroups: 1, Groups: 1, WavesPerSIMD: 8, Gains: true, ThenLimitedBy: []Resource{VGPR},
			Text: "free 108 VGPRs to reach 192: 1 workgroup/WGP, 8 waves/SIMD, then limited by vgpr",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, _ := mustOccupancy(t, tt.arch, tt.res).Limit(tt.of)
			if l.Next == nil {
				t.Fatal("no next step")
			}
			if !reflect.DeepEqual(*l.Next, tt.want) {
				t.Errorf("got  %+v\nwant %+v", *l.Next, tt.want)
			}
		})
	}
	if l, _ := mustOccupancy(t, "gfx942", Resources{WorkgroupSize: 256}).Limit(WaveSlots); l.Next != nil {
		t.Error("wave slots have a next step")
	}
}

func TestLLVMLimits(t *testing.T) {
	got, err := Occupancy(mustArch(t, "gfx942"), Resources{TotalVGPR: 134, SGPR: 88, LDSBytes: 21845, WorkgroupSize: 256}, LLVM)
	if err != nil {
		t.Fatal(err)
	}
	// 65,536/21,845 = 3 groups of one wave per SIMD, unrounded; 512/136 = 3.
	if got.FullestSIMD != 3 || !reflect.DeepEqual(got.LimitedBy, []Resource{WorkgroupLDS, VGPR}) {
		t.Errorf("%d waves, limited by %v", got.FullestSIMD, got.LimitedBy)
	}
	want := []string{
		"workgroup_lds 21845: 3 waves/SIMD by LLVM's rule",
		"vgpr 134: 3 waves/SIMD by LLVM's rule",
		"sgpr 88: 8 waves/SIMD by LLVM's rule",
	}
	for i, l := range got.Limits {
		if l.String() != want[i] {
			t.Errorf("got %q, want %q", l, want[i])
		}
	}
}

// units lists every architecture with each of its wave sizes and modes.
func units() (out []struct {
	arch Arch
	wave int
	mode Mode
},
) {
	for _, a := range Archs() {
		for _, wave := range []int{32, 64} {
			for _, m := range []Mode{CUMode, WGPMode} {
				if _, _, err := a.File(wave); err != nil {
					continue
				}
				if _, _, err := a.Sharing(m); err != nil {
					continue
				}
				out = append(out, struct {
					arch Arch
					wave int
					mode Mode
				}{a, wave, m})
			}
		}
	}
	return out
}

// TestMonotone: more of any resource never gives more workgroups.
func TestMonotone(t *testing.T) {
	for _, u := range units() {
		for _, size := range []int{1, 64, 192, 256, 320, 512, 1024} {
			base := Resources{TotalVGPR: 40, SGPR: 40, LDSBytes: 4000, WorkgroupSize: size, Wave: u.wave, Mode: u.mode}
			s, err := resolve(u.arch, base)
			if err != nil {
				t.Fatal(err)
			}
			for res, last := range map[Resource]int{VGPR: s.addressable + 9, SGPR: 128, LDS: u.arch.LDSPerGroup + 9} {
				before := 1 << 30
				for n := 1; n <= last; n += 1 + n/64 {
					got := s.with(res, n).hardware().Groups
					if got > before {
						t.Fatalf("%s wave%d %s, %d work-items: %d of %s gives %d groups, less gave %d",
							u.arch.Name, u.wave, u.mode, size, n, res, got, before)
					}
					before = got
				}
			}
		}
	}
}

// TestStepIsExact: the target reaches more groups of its own limit, one more
// does not, and what is promised for the kernel is what it gets.
func TestStepIsExact(t *testing.T) {
	steps := 0
	for _, u := range units() {
		for _, r := range []Resources{
			{TotalVGPR: 134, SGPR: 90, LDSBytes: 3000, WorkgroupSize: 256},
			{TotalVGPR: 250, SGPR: 20, LDSBytes: 20000, WorkgroupSize: 192},
			{TotalVGPR: 100, SGPR: 102, LDSBytes: 30000, WorkgroupSize: 512},
			{TotalVGPR: 60, SGPR: 100, LDSBytes: 64000, WorkgroupSize: 1024},
			{TotalVGPR: 30, SGPR: 96, LDSBytes: 100, WorkgroupSize: 64},
			{TotalVGPR: 600, SGPR: 30, LDSBytes: 400000, WorkgroupSize: 768},
		} {
			r.Wave, r.Mode = u.wave, u.mode
			res, err := Occupancy(u.arch, r, Hardware)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range res.Limits {
				if l.Next == nil {
					continue
				}
				steps++
				checkStep(t, u.arch, r, res, l)
			}
		}
	}
	if steps < 50 {
		t.Errorf("only %d steps checked", steps)
	}
}

func checkStep(t *testing.T, a Arch, r Resources, res Result, l Limit) {
	t.Helper()
	at := func(n int) (Result, Limit) {
		r := r
		switch l.Resource {
		case VGPR:
			r.TotalVGPR = n
		case SGPR:
			r.SGPR = n
		case LDS:
			r.LDSBytes = n
		}
		got, err := Occupancy(a, r, Hardware)
		if err != nil {
			t.Fatal(err)
		}
		own, _ := got.Limit(l.Resource)
		return got, own
	}
	got, own := at(l.Next.Target)
	if own.Groups <= l.Groups || own.Groups != l.Next.OwnGroups {
		t.Errorf("%s %+v: %s at target %d allows %d groups, before %d", a.Name, r, l.Resource, l.Next.Target, own.Groups, l.Groups)
	}
	if got.Groups != l.Next.Groups || l.Next.Gains != (got.Groups > res.Groups) {
		t.Errorf("%s %+v: step %+v, but the kernel gets %d groups", a.Name, r, *l.Next, got.Groups)
	}
	if _, own := at(l.Next.Target + 1); own.Groups > l.Groups {
		t.Errorf("%s %+v: %s at target+1 allows %d groups, before %d", a.Name, r, l.Resource, own.Groups, l.Groups)
	}
}

func TestCurveVGPR(t *testing.T) {
	// LLVM AMDGPU: gfx90a and later, waves by VGPRs of 256 work-items.
	got, err := Curve(mustArch(t, "gfx942"), Resources{WorkgroupSize: 256}, VGPR)
	if err != nil {
		t.Fatal(err)
	}
	var ends, groups []int
	for _, p := range got {
		ends, groups = append(ends, p.To), append(groups, p.Groups)
	}
	if want := []int{64, 72, 80, 96, 128, 168, 256, 512}; !reflect.DeepEqual(ends, want) {
		t.Errorf("ends %v, want %v", ends, want)
	}
	if want := []int{8, 7, 6, 5, 4, 3, 2, 1}; !reflect.DeepEqual(groups, want) {
		t.Errorf("groups %v, want %v", groups, want)
	}
	if got[0].From != 1 || got[1].From != 65 {
		t.Errorf("starts %d, %d", got[0].From, got[1].From)
	}
}

func TestCurveLDS(t *testing.T) {
	got, err := Curve(mustArch(t, "gfx942"), Resources{TotalVGPR: 168, WorkgroupSize: 256}, LDS)
	if err != nil {
		t.Fatal(err)
	}
	// Registers allow 3; 65,536/2 = 32,768 ends 2, 65,536/3 -> 21,504 ends 3.
	want := []Point{
		{0, 21504, 3, 3, []Resource{LDS, VGPR}},
		{21505, 32768, 2, 2, []Resource{LDS}},
		{32769, 65536, 1, 1, []Resource{LDS}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestCurveWorkgroup(t *testing.T) {
	got, err := Curve(mustArch(t, "gfx942"), Resources{TotalVGPR: 168, WorkgroupSize: 256}, WorkgroupSize)
	if err != nil {
		t.Fatal(err)
	}
	// 12 waves fit: 12, 6, 4, 3, 2, 2 groups of 1 to 6 waves, then 1, then 0.
	for _, p := range got {
		waves := (p.To + 63) / 64
		want := 12 / waves
		if p.Groups != want || p.WavesPerSIMD != float64(want*waves)/4 {
			t.Errorf("%d work-items: %d groups, %g waves/SIMD, want %d", p.To, p.Groups, p.WavesPerSIMD, want)
		}
	}
	if last := got[len(got)-1]; last.From != 769 || last.To != 1024 || last.Groups != 0 {
		t.Errorf("last range %+v", last)
	}
	if _, err := Curve(mustArch(t, "gfx942"), Resources{WorkgroupSize: 64}, SGPR); err == nil {
		t.Error("no error for a curve over SGPRs")
	}
}

func TestArchByName(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"gfx942", "gfx942"},
		{"GFX942:sramecc+:xnack-", "gfx942"},
		{"gfx940", "gfx942"},
		{" gfx1153 ", "gfx1150"},
		{"gfx1103", "gfx1102"},
	} {
		if got := mustArch(t, tt.name); got.Name != tt.want {
			t.Errorf("%q is %s, want %s", tt.name, got.Name, tt.want)
		}
	}
	for name, want := range map[string]string{
		"": "gfx900 to gfx1251", "gfx": "gfx900 to gfx1251", "gfx94": "gfx900 to gfx1251", "sm_90": "gfx900 to gfx1251", "gfx8": "gfx900 to gfx1251",
		"gfx803": "gfx803 is older than gfx9", "gfx701:xnack-": "gfx701 is older than gfx9", "gfx600": "gfx600 is older than gfx9",
	} {
		if _, err := ArchByName(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v", name, err)
		}
	}
	for _, a := range Aliases() {
		for _, name := range a.Runs {
			if least, other := mustArch(t, a.Name), mustArch(t, name); least.Wave32.PerSIMD > other.Wave32.PerSIMD || least.Wave64.PerSIMD > other.Wave64.PerSIMD || least.LDSPerGroup > other.LDSPerGroup {
				t.Errorf("%s has less room than %s", name, a.Name)
			}
		}
	}
	for _, a := range Aliases() {
		if got := mustArch(t, a.Name); got.Name != a.Same {
			t.Errorf("alias %s is %s", a.Name, got.Name)
		}
	}
}

// FuzzOccupancy: no input panics; hardware never exceeds LLVM, and every
// difference has a reason.
func FuzzOccupancy(f *testing.F) {
	f.Add(4, 134, 0, 90, 21845, 256, 64, "", 0)
	f.Add(12, 128, 0, 0, 70000, 1024, 32, "wgp", 16)
	f.Add(2, 128, 100, 104, 1, 1, 0, "cu", 0)
	f.Add(3, -1, 1<<40, 0, 0, 0, 7, "x", 3)
	archs := Archs()
	f.Fuzz(func(t *testing.T, i, vgpr, accum, sgpr, lds, size, wave int, mode string, block int) {
		a := archs[((i%len(archs))+len(archs))%len(archs)]
		r := Resources{
			ArchVGPR: vgpr, AccumVGPR: accum, SGPR: sgpr, LDSBytes: lds,
			WorkgroupSize: size, Wave: wave, Mode: Mode(mode), DynamicVGPRBlock: block,
		}
		c, err := Compare(a, r)
		if err != nil {
			return
		}
		if c.Hardware.FullestSIMD > c.LLVM.FullestSIMD {
			t.Errorf("%s %+v: hardware %d above LLVM %d", a.Name, r, c.Hardware.FullestSIMD, c.LLVM.FullestSIMD)
		}
		if c.Hardware.FullestSIMD != c.LLVM.FullestSIMD && len(c.Reasons) == 0 {
			t.Errorf("%s %+v: difference without a reason", a.Name, r)
		}
		res, err := Occupancy(a, r, Hardware)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range append(res.Limits, c.LLVM.Limits...) {
			if l.String() == "" {
				t.Errorf("%s %+v: limit without text", a.Name, r)
			}
			if l.Next != nil && (l.Next.OwnGroups <= l.Groups || l.Next.Free <= 0) {
				t.Errorf("%s %+v: step %+v", a.Name, r, *l.Next)
			}
		}
	})
}
