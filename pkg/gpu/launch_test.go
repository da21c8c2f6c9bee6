package gpu

import (
	"math"
	"strings"
	"testing"
)

func TestLaunch(t *testing.T) {
	// 168 VGPRs: 3 groups of 256 work-items on each of 304 CUs, 912 slots.
	three := mustOccupancy(t, "gfx942", Resources{TotalVGPR: 168, WorkgroupSize: 256})
	eight := mustOccupancy(t, "gfx942", Resources{TotalVGPR: 32, WorkgroupSize: 256})
	tests := []struct {
		name    string
		cus     int
		res     Result
		grid    int64
		size    int
		rounds  int64
		last    float64
		tail    float64
		under   bool
		below   bool
		matters bool
		why     string
	}{
		{"112 groups on 256 CUs", 256, three, 112, 256, 1, 100 * 112. / 768, 100 * 656. / 768, true, true, false, "leave 144 of 256 CUs"},
		{"one each", 256, three, 256, 256, 1, 100 * 256. / 768, 100 * 512. / 768, false, true, false, "room for 768"},
		{"just full", 304, three, 912, 256, 1, 100, 0, false, false, false, "resident at once"},
		// One more: the second round holds 1 of 912.
		{"one too many", 304, three, 913, 256, 2, 100. / 912, 100 * 911. / 1824, false, false, true, "913 workgroups wait for 912"},
		{"two and a half rounds", 304, three, 2280, 256, 3, 50, 100 * 456. / 2736, false, false, true, "it can"},
		{
			"at the maximum", 304, eight, 100000, 256, 42, 100 * (100000. - 41*2432) / 2432, 100 * (42*2432. - 100000) / (42 * 2432),
			false, false, false, "maximum of 8 workgroups/CU",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, err := Launch(tt.cus, tt.res, tt.grid, tt.size)
			if err != nil {
				t.Fatal(err)
			}
			if l.Rounds != tt.rounds || math.Abs(l.LastRoundPct-tt.last) > 1e-9 || math.Abs(l.TailPct-tt.tail) > 1e-9 {
				t.Errorf("%d rounds, last %g %%, tail %g %%; want %d, %g, %g", l.Rounds, l.LastRoundPct, l.TailPct, tt.rounds, tt.last, tt.tail)
			}
			if l.UnderFilled != tt.under || l.BelowSlots != tt.below || l.OccupancyMatters != tt.matters || !strings.Contains(l.Why, tt.why) {
				t.Errorf("under %v, below %v, matters %v, %q", l.UnderFilled, l.BelowSlots, l.OccupancyMatters, l.Why)
			}
		})
	}
}

func TestLaunchShape(t *testing.T) {
	// 100 work-items are two waves: 28 of 128 lanes idle.
	res := mustOccupancy(t, "gfx942", Resources{TotalVGPR: 32, WorkgroupSize: 100})
	l, err := Launch(304, res, 152, 100)
	if err != nil {
		t.Fatal(err)
	}
	if l.IdleLanesPct != 21.875 || l.OneWave || l.GroupsPerCU != 0.5 || l.ResidentPerUnit != 1 || l.WavesPerSIMD != 0.5 {
		t.Errorf("%+v", l)
	}
	// 96 CUs are 48 WGPs.
	res = mustOccupancy(t, "gfx1100", Resources{TotalVGPR: 120, WorkgroupSize: 32})
	l, err = Launch(96, res, 96, 32)
	if err != nil {
		t.Fatal(err)
	}
	if l.Units != 48 || l.Unit != "WGP" || !l.OneWave || l.UnderFilled || l.GroupsPerCU != 1 || l.ResidentPerUnit != 2 || l.Slots != 48*48 {
		t.Errorf("%+v", l)
	}
	// 256 groups on 256 CUs give one group each, whatever the occupancy.
	res = mustOccupancy(t, "gfx950", Resources{TotalVGPR: 72, WorkgroupSize: 256})
	l, err = Launch(256, res, 256, 256)
	if err != nil {
		t.Fatal(err)
	}
	if res.WavesPerSIMD != 7 || l.WavesPerSIMD != 1 {
		t.Errorf("occupancy %g, grid gives %g", res.WavesPerSIMD, l.WavesPerSIMD)
	}
	res = mustOccupancy(t, "gfx942", Resources{TotalVGPR: 264, WorkgroupSize: 1024})
	if l, err = Launch(304, res, 1000, 1024); err != nil || l.OccupancyMatters || l.Slots != 0 || !strings.Contains(l.Why, "does not fit") {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestLaunchErrors(t *testing.T) {
	a := mustArch(t, "gfx942")
	hw := mustOccupancy(t, "gfx942", Resources{WorkgroupSize: 256})
	llvm, err := Occupancy(a, Resources{WorkgroupSize: 256}, LLVM)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		cus  int
		res  Result
		grid int64
		size int
	}{
		{"no CUs", 0, hw, 1, 256},
		{"too many CUs", 1 << 30, hw, 1, 256},
		{"no grid", 304, hw, 0, 256},
		{"huge grid", 304, hw, math.MaxInt64, 256},
		{"no workgroup", 304, hw, 1, 0},
		{"another workgroup", 304, hw, 1, 512},
		{"LLVM rule", 304, llvm, 1, 256},
		{"empty result", 304, Result{}, 1, 256},
	}
	for _, tt := range tests {
		if l, err := Launch(tt.cus, tt.res, tt.grid, tt.size); err == nil {
			t.Errorf("%s: %+v", tt.name, l)
		}
	}
}

func FuzzLaunch(f *testing.F) {
	f.Add(304, 134, 256, int64(1000))
	f.Add(1, 1, 1, int64(1))
	f.Add(1<<20, 512, 1024, int64(1)<<53)
	archs := Archs()
	f.Fuzz(func(t *testing.T, cus, vgprs, size int, grid int64) {
		for _, a := range archs {
			res, err := Occupancy(a, Resources{TotalVGPR: vgprs, WorkgroupSize: size}, Hardware)
			if err != nil {
				return
			}
			l, err := Launch(cus, res, grid, size)
			if err != nil {
				return
			}
			if l.TailPct < 0 || l.TailPct > 100 || l.LastRoundPct < 0 || l.LastRoundPct > 100 || l.IdleLanesPct < 0 || l.IdleLanesPct >= 100 {
				t.Errorf("%+v", l)
			}
		}
	})
}
