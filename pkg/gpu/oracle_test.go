package gpu

import (
	"fmt"
	"reflect"
	"testing"
)

// oracleRow is one compilation by llc 22.
type oracleRow struct {
	arch                    Arch
	res                     Resources
	total, occupancy, padVG int
	padSG                   int
	text                    string
}

func oracle(t *testing.T) []oracleRow {
	var out []oracleRow
	for _, r := range readCSV(t, sharedPath(t, "arch", "oracle.csv")) {
		a := mustArch(t, r["arch"])
		res := Resources{
			ArchVGPR: r.int(t, "arch_vgpr"), AccumVGPR: r.int(t, "accum_vgpr"), SGPR: r.int(t, "sgpr"),
			LDSBytes: r.int(t, "lds_bytes"), WorkgroupSize: r.int(t, "workgroup_size"),
			Wave: r.int(t, "wave_size"), Mode: Mode(r["mode"]),
		}
		out = append(out, oracleRow{
			arch: a, res: res, total: r.int(t, "total_vgpr"),
			occupancy: r.int(t, "occupancy_llvm"), padVG: r.int(t, "vgpr_padded"), padSG: r.int(t, "sgpr_padded"),
			text: fmt.Sprintf("%s %+v", a.Name, res),
		})
	}
	return out
}

func TestOracleLLVMRule(t *testing.T) {
	rows := oracle(t)
	if len(rows) != 11450 {
		t.Errorf("%d rows, want 11450", len(rows))
	}
	for _, r := range rows {
		got, err := Occupancy(r.arch, r.res, LLVM)
		if err != nil {
			t.Fatalf("%s: %v", r.text, err)
		}
		if got.FullestSIMD != r.occupancy {
			t.Errorf("%s: %d waves, llc has %d", r.text, got.FullestSIMD, r.occupancy)
		}
		if l, _ := got.Limit(VGPR); l.Used != r.total {
			t.Errorf("%s: %d VGPRs in all, llc has %d", r.text, l.Used, r.total)
		}
	}
}

// TestOracleReasons checks that each difference has exactly one reason, and
// that no difference points the other way.
func TestOracleReasons(t *testing.T) {
	got := map[string]int{}
	for _, r := range oracle(t) {
		c, err := Compare(r.arch, r.res)
		if err != nil {
			t.Fatalf("%s: %v", r.text, err)
		}
		if c.Hardware.FullestSIMD > r.occupancy {
			t.Errorf("%s: hardware %d above LLVM %d", r.text, c.Hardware.FullestSIMD, r.occupancy)
		}
		key := "agree"
		if c.Hardware.FullestSIMD != r.occupancy {
			key = fmt.Sprint(c.Reasons)
		}
		got[key]++
	}
	want := map[string]int{
		"agree": 10246, "[whole_groups]": 465, "[lds_granule]": 379, "[sgpr_reserve]": 159, "[does_not_fit]": 201,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("rows by reason %v, want %v", got, want)
	}
}

// TestOraclePadding checks the descriptor's padded count on every row.
func TestOraclePadding(t *testing.T) {
	for _, r := range oracle(t) {
		s, err := resolve(r.arch, r.res)
		if err != nil {
			t.Fatal(err)
		}
		minimum, err := MinVGPRs(r.arch, r.res.Wave, s.llvmGroupWaves())
		if err != nil {
			t.Fatal(err)
		}
		if got := max(r.total, minimum, 1); got != r.padVG {
			t.Errorf("%s: padded to %d, llc has %d", r.text, got, r.padVG)
		}
	}
}

// TestOracleNeeded checks that no descriptor of LLVM is taken for more than the
// kernel needs, and each padded count for padding.
func TestOracleNeeded(t *testing.T) {
	padded := 0
	for _, r := range oracle(t) {
		s, err := resolve(r.arch, r.res)
		if err != nil {
			t.Fatal(err)
		}
		if got := max(r.res.SGPR, MinSGPRs(r.arch, s.llvmGroupWaves()), 1); r.arch.SGPR.PerSIMD > 0 && got != r.padSG {
			t.Errorf("%s: padded to %d SGPRs, llc has %d", r.text, got, r.padSG)
		}
		alloc := r.res
		alloc.ArchVGPR, alloc.AccumVGPR = 0, 0
		alloc.TotalVGPR = alignUp(max(r.padVG, 1), s.file.Encoding)
		if g := r.arch.SGPR.Granule; g > 0 {
			alloc.SGPR = alignUp(r.padSG, g)
		}
		need, err := Needed(r.arch, r.res, alloc)
		if err != nil {
			t.Fatal(err)
		}
		if need != r.res {
			t.Errorf("%s: needs %+v of a descriptor of %d VGPRs and %d SGPRs", r.text, need, alloc.TotalVGPR, alloc.SGPR)
		}
		if r.padVG > max(r.total, 1) {
			padded++
		}
	}
	if padded < 1000 {
		t.Errorf("%d padded rows", padded)
	}
}

func TestVGPRThresholds(t *testing.T) {
	for _, r := range readCSV(t, sharedPath(t, "arch", "vgpr_thresholds.csv")) {
		a := mustArch(t, r["arch"])
		file, wave, err := a.File(r.int(t, "wave_size"))
		if err != nil {
			t.Fatal(err)
		}
		s := shape{arch: a, file: file, granule: file.Granule, addressable: a.AddressableVGPR}
		w := r.int(t, "waves_per_simd")
		if got, want := s.maxVGPR(w), r.int(t, "max_vgprs_llvm_addressable"); got != want {
			t.Errorf("%s wave%d: %d VGPRs for %d waves, want %d", a.Name, wave, got, w, want)
		}
	}
}
