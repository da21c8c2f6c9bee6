package gpu

import (
	"encoding/json"
	"os"
	"reflect"
	"sort"
	"strings"
	"testing"
)

func TestDetectHalved(t *testing.T) {
	rows := func(counts ...[2]int) (out []Counts) {
		for _, c := range counts {
			out = append(out, Counts{VGPR: c[0], Accum: c[1]})
		}
		return out
	}
	tests := []struct {
		name   string
		arch   string
		rows   []Counts
		halved bool
		sure   Certainty
	}{
		{"an odd row proves it", "gfx950", rows([2]int{32, 0}, [2]int{12, 0}), true, Proven},
		{"accumulation registers disprove it", "gfx950", rows([2]int{64, 0}, [2]int{20, 4}), false, Proven},
		{"accum 0 throughout", "gfx950", rows([2]int{64, 0}, [2]int{32, 0}), true, Likely},
		{"code names more", "gfx950", []Counts{{VGPR: 64, CodeVGPRs: 120}}, true, Likely},
		{"mixed", "gfx950", rows([2]int{12, 0}, [2]int{20, 4}), false, Undecided},
		{"no rows", "gfx950", nil, false, Undecided},
		{"gfx942 is decoded right", "gfx942", rows([2]int{12, 0}), false, Proven},
		{"gfx1100 is decoded right", "gfx1100", rows([2]int{104, 0}), false, Proven},
		{"gfx1250, odd multiple of 8", "gfx1250", rows([2]int{40, 0}), true, Proven},
		{"gfx1250", "gfx1250", rows([2]int{32, 0}), true, Likely},
		{"gfx1250, many multiples of 16", "gfx1250", rows([2]int{16, 0}, [2]int{32, 0}, [2]int{48, 0}, [2]int{64, 0},
			[2]int{80, 0}, [2]int{96, 0}, [2]int{112, 0}), false, Likely},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := DetectHalved(mustArch(t, tt.arch), tt.rows)
			if h.Halved != tt.halved || h.Certainty != tt.sure || h.Why == "" || h.Rows != len(tt.rows) {
				t.Errorf("got %+v, want halved %v, %s", h, tt.halved, tt.sure)
			}
		})
	}
}

func TestDecodeRegisters(t *testing.T) {
	halved := Halved{Halved: true, Certainty: Proven, OddRows: 1}
	mixed := Halved{OddRows: 1, AccumRows: 1, Certainty: Undecided}
	tests := []struct {
		name   string
		arch   string
		counts Counts
		wave   int
		h      Halved
		total  int
		alloc  int
		notes  []NoteID
	}{
		// 26,624 B allow two groups: 2 waves/SIMD, padded to 169 -> 176.
		{
			"gfx942 padded to its LDS", "gfx942",
			Counts{VGPR: 36, Accum: 140, SGPR: 112, LDSBytes: 26624, WorkgroupSize: 256},
			0,
			Halved{},
			176, 176,
			[]NoteID{NotePhantomAccum, NoteSGPRPadded, NoteStaticLDS, NotePadded},
		},
		{
			"gfx942 rounding", "gfx942",
			Counts{VGPR: 92, Accum: 4, SGPR: 32, WorkgroupSize: 256},
			0,
			Halved{},
			96, 96,
			[]NoteID{NotePhantomAccum, NoteStaticLDS},
		},
		{"gfx942 plain", "gfx942", Counts{VGPR: 152, SGPR: 16, WorkgroupSize: 256}, 0, Halved{}, 152, 152, []NoteID{NoteStaticLDS}},
		{
			"gfx942 impossible", "gfx942",
			Counts{VGPR: 92, WorkgroupSize: 256},
			0,
			Halved{},
			92, 96,
			[]NoteID{NoteIrregular, NoteRounded, NoteStaticLDS},
		},
		{"gfx950 halved", "gfx950", Counts{VGPR: 28, SGPR: 32, WorkgroupSize: 256}, 0, halved, 56, 56, []NoteID{NoteHalved, NoteStaticLDS}},
		{
			"gfx950 right", "gfx950",
			Counts{VGPR: 20, Accum: 4, SGPR: 32, WorkgroupSize: 256},
			0,
			Halved{},
			24, 24,
			[]NoteID{NotePhantomAccum, NoteStaticLDS},
		},
		{"mixed, this row is halved", "gfx950", Counts{VGPR: 12, WorkgroupSize: 256}, 0, mixed, 24, 24, []NoteID{NoteHalved, NoteStaticLDS}},
		{
			"mixed, this row is whole", "gfx950",
			Counts{VGPR: 20, Accum: 4, WorkgroupSize: 256},
			0, mixed, 24, 24,
			[]NoteID{NotePhantomAccum, NoteStaticLDS},
		},
		{"mixed, could be either", "gfx950", Counts{VGPR: 64, WorkgroupSize: 256}, 0, mixed, 64, 64, []NoteID{NoteMixed, NoteStaticLDS}},
		{
			"gfx908", "gfx908",
			Counts{VGPR: 64, Accum: 64, SGPR: 48, WorkgroupSize: 256},
			0,
			Halved{},
			64, 64,
			[]NoteID{NoteMaxNotSum, NoteStaticLDS},
		},
		// 104 registers of wave32 are 120 in units of 24.
		{
			"gfx1100", "gfx1100",
			Counts{VGPR: 104, SGPR: 128, WorkgroupSize: 256},
			32,
			Halved{},
			104, 120,
			[]NoteID{NoteRounded, NoteSGPRVoid, NoteStaticLDS},
		},
		{
			"gfx1100 wave64", "gfx1100",
			Counts{VGPR: 52, SGPR: 128, WorkgroupSize: 64},
			64,
			Halved{},
			52, 60,
			[]NoteID{NoteRounded, NoteSGPRVoid, NoteStaticLDS, NoteOneWave},
		},
		{
			"gfx1250", "gfx1250",
			Counts{VGPR: 40, SGPR: 128, WorkgroupSize: 128},
			32, halved, 80, 80,
			[]NoteID{NoteHalved, NoteSGPRVoid, NoteStaticLDS},
		},
		{"no workgroup size", "gfx942", Counts{VGPR: 176, LDSBytes: 26624}, 0, Halved{}, 176, 176, []NoteID{NoteStaticLDS}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := DecodeRegisters(mustArch(t, tt.arch), tt.counts, tt.wave, tt.h)
			if err != nil {
				t.Fatal(err)
			}
			if r.Total != tt.total || r.Allocated != tt.alloc || r.Resources.TotalVGPR != tt.total {
				t.Errorf("total %d, allocated %d; want %d, %d", r.Total, r.Allocated, tt.total, tt.alloc)
			}
			var got []NoteID
			for _, n := range r.Notes {
				got = append(got, n.ID)
				if strings.Contains(n.Text, "%!") || n.Text == "" {
					t.Errorf("note %q", n.Text)
				}
			}
			if !reflect.DeepEqual(got, tt.notes) {
				t.Errorf("notes %v, want %v", got, tt.notes)
			}
		})
	}
	for _, c := range []Counts{{VGPR: -4}, {LDSBytes: 1 << 40}, {WorkgroupSize: 5000}} {
		if _, err := DecodeRegisters(mustArch(t, "gfx942"), c, 0, Halved{}); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

func TestMinVGPRs(t *testing.T) {
	// LLVM: 1 + min(M(w) - granule, M(w+1)).
	for waves, want := range map[int]int{1: 257, 2: 169, 3: 129, 4: 97, 5: 81, 6: 73, 7: 65, 8: 0} {
		got, err := MinVGPRs(mustArch(t, "gfx942"), 64, waves)
		if err != nil || got != want {
			t.Errorf("%d waves: %d, %v, want %d", waves, got, err, want)
		}
	}
	if _, err := MinVGPRs(mustArch(t, "gfx942"), 32, 1); err == nil {
		t.Error("no error for wave32")
	}
	if _, err := MinVGPRs(mustArch(t, "gfx942"), 64, 0); err == nil {
		t.Error("no error for 0 waves")
	}
}

func TestPadding(t *testing.T) {
	tests := []struct {
		name string
		arch string
		res  Resources
		ok   bool
	}{
		{"padded to its LDS", "gfx942", Resources{TotalVGPR: 176, LDSBytes: 26624, WorkgroupSize: 256}, true},
		// 98,304 B of 163,840: one group, 257 -> 264.
		{"one group", "gfx950", Resources{TotalVGPR: 264, LDSBytes: 98304, WorkgroupSize: 256}, true},
		{"as many waves, but more registers", "gfx942", Resources{TotalVGPR: 240, LDSBytes: 26624, WorkgroupSize: 256}, false},
		{"all registers", "gfx942", Resources{TotalVGPR: 512, LDSBytes: 34816, WorkgroupSize: 256}, false},
		{"fewer than the least", "gfx942", Resources{TotalVGPR: 168, LDSBytes: 26624, WorkgroupSize: 256}, false},
		{"registers are the tighter limit", "gfx942", Resources{TotalVGPR: 300, LDSBytes: 26624, WorkgroupSize: 256}, false},
		{"metadata count", "gfx942", Resources{TotalVGPR: 36, LDSBytes: 26624, WorkgroupSize: 256}, false},
		{"nothing to pad to", "gfx942", Resources{TotalVGPR: 128, WorkgroupSize: 256}, false},
		// 22 KiB of LDS in granules: 2 groups; LLVM before release 23 counts 3.
		{"LLVM without the granule", "gfx942", Resources{TotalVGPR: 136, LDSBytes: 21845, WorkgroupSize: 256}, true},
		{"LLVM with the granule", "gfx942", Resources{TotalVGPR: 176, LDSBytes: 21845, WorkgroupSize: 256}, true},
	}
	for _, tt := range tests {
		p, ok, err := Padding(mustArch(t, tt.arch), tt.res)
		if err != nil || ok != tt.ok {
			t.Errorf("%s: %+v, %v, %v", tt.name, p, ok, err)
		}
	}
}

func TestNeeded(t *testing.T) {
	lds, free := 34816, 0
	tests := []struct {
		name                                              string
		lds, need, alloc, needSGPR, allocSGPR, vgpr, sgpr int
	}{
		{"padded to one workgroup", lds, 36, 264, 40, 112, 36, 40},
		{"all registers", lds, 256, 512, 80, 80, 512, 80},
		{"between the padding and all", lds, 256, 272, 80, 80, 272, 80},
		{"the same, rounded", lds, 251, 256, 75, 80, 251, 75},
		{"above what an unlimited kernel is padded to", free, 32, 256, 16, 32, 256, 32},
		{"scalar registers that no padding gives", free, 32, 32, 40, 80, 32, 80},
		{"padded to the waves of an attribute", free, 36, 176, 40, 112, 36, 40},
	}
	for _, tt := range tests {
		r := func(v, s int) Resources {
			return Resources{TotalVGPR: v, SGPR: s, LDSBytes: tt.lds, WorkgroupSize: 256}
		}
		got, err := Needed(mustArch(t, "gfx942"), r(tt.need, tt.needSGPR), r(tt.alloc, tt.allocSGPR))
		if err != nil || got.TotalVGPR != tt.vgpr || got.SGPR != tt.sgpr {
			t.Errorf("%s: %d VGPRs, %d SGPRs, %v; want %d and %d", tt.name, got.TotalVGPR, got.SGPR, err, tt.vgpr, tt.sgpr)
		}
	}
}

// TestDecodeDescriptors decodes what both kinds of decoder make of compiled
// kernels, and finds the descriptors' own counts again.
func TestDecodeDescriptors(t *testing.T) {
	byArch := map[string][]record{}
	for _, r := range readCSV(t, sharedPath(t, "arch", "codeobj", "expected_kd.csv")) {
		byArch[r["target"]] = append(byArch[r["target"]], r)
	}
	for arch, rows := range byArch {
		a := mustArch(t, arch)
		for _, decoder := range []string{"_fixed", "_no_gfx95"} {
			var counts []Counts
			for _, r := range rows {
				counts = append(counts, Counts{
					Kernel: r["kernel"], VGPR: r.int(t, "rocprof_vgpr"+decoder), Accum: r.int(t, "rocprof_accum"+decoder),
					SGPR: r.int(t, "rocprof_sgpr"), LDSBytes: r.int(t, "rocprof_lds"), WorkgroupSize: r.int(t, "md_wg"),
				})
			}
			h := DetectHalved(a, counts)
			if want := arch == "gfx950" && decoder == "_no_gfx95"; h.Halved != want || h.Certainty != Proven {
				t.Errorf("%s%s: %+v", arch, decoder, h)
			}
			for i, r := range rows {
				got, err := DecodeRegisters(a, counts[i], r.int(t, "md_wave"), h)
				if err != nil {
					t.Fatal(err)
				}
				if got.Total != r.int(t, "kd_total_vgpr") {
					t.Errorf("%s %s%s: %d VGPRs, descriptor has %s", arch, r["kernel"], decoder, got.Total, r["kd_total_vgpr"])
				}
				if want := r["kernel"] == "lds_bound" || r["kernel"] == "mfma_fp8_scaled"; want && !got.Has(NotePadded) {
					t.Errorf("%s %s%s: padding not noticed", arch, r["kernel"], decoder)
				}
			}
		}
	}
}

// TestHalvedEvidence: doubling the counts of real gfx950 captures gives the
// allocation predicted from the code, in all rows that the table calls equal.
func TestHalvedEvidence(t *testing.T) {
	rows := readCSV(t, sharedPath(t, "arch", "gfx950_vgpr_evidence.csv"))
	var counts []Counts
	for _, r := range rows {
		counts = append(counts, Counts{
			VGPR: r.int(t, "csv_VGPR_Count"), Accum: r.int(t, "csv_Accum_VGPR_Count"), SGPR: r.int(t, "csv_SGPR"),
			LDSBytes: r.int(t, "lds"), WorkgroupSize: r.int(t, "wg"),
		})
	}
	a := mustArch(t, "gfx950")
	h := DetectHalved(a, counts)
	if !h.Halved || h.Certainty != Proven {
		t.Fatalf("%+v", h)
	}
	for i, r := range rows {
		got, err := DecodeRegisters(a, counts[i], 0, h)
		if err != nil {
			t.Fatal(err)
		}
		if same := got.Total == r.int(t, "predicted_allocation"); same != (r["match"] == "yes") {
			t.Errorf("%s: %d VGPRs, predicted %s", r["kernel"], got.Total, r["predicted_allocation"])
		}
	}
}

// expectedDispatch is one entry of the captures' recomputed occupancy.
type expectedDispatch struct {
	Kernel    string `json:"kernel"`
	JIT       string `json:"jit_kernel"`
	Arch      string `json:"arch"`
	CUs       int    `json:"cu_count"`
	Total     int    `json:"total_vgpr_used"`
	Under     bool   `json:"underfilled"`
	Occupancy struct {
		Waves  float64         `json:"waves_per_simd"`
		Groups int             `json:"wgs_per_cu"`
		By     []string        `json:"limited_by"`
		Limits map[string]*int `json:"limits_wg_per_cu"`
	} `json:"corrected_occupancy"`
	CSV struct {
		VGPR      int   `json:"VGPR_Count"`
		Accum     int   `json:"Accum_VGPR_Count"`
		SGPR      int   `json:"SGPR_Count"`
		LDS       int   `json:"LDS_Block_Size"`
		Workgroup int   `json:"workgroup_size"`
		Grid      int64 `json:"grid_workgroups"`
	} `json:"csv"`
}

// TestCapturedOccupancy recomputes every captured kernel's occupancy from its
// kernel-trace row, with halving decided from all rows of the capture.
func TestCapturedOccupancy(t *testing.T) {
	raw, err := os.ReadFile(sharedPath(t, "att", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Dispatches []expectedDispatch `json:"dispatches"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Dispatches) < 12 {
		t.Fatalf("only %d dispatches", len(all.Dispatches))
	}
	for _, d := range all.Dispatches {
		t.Run(d.Kernel, func(t *testing.T) { checkCaptured(t, d) })
	}
}

func checkCaptured(t *testing.T, d expectedDispatch) {
	a := mustArch(t, d.Arch)
	var rows []Counts
	for _, r := range readCSV(t, sharedPath(t, "att", d.Kernel, "discover_kernel_trace.csv")) {
		rows = append(rows, Counts{Kernel: r["Kernel_Name"], VGPR: r.int(t, "VGPR_Count"), Accum: r.int(t, "Accum_VGPR_Count")})
	}
	h := DetectHalved(a, rows)
	// All of these captures are of the old decoder. One has three different
	// counts only, none of them odd: there it stays likely.
	if want := h.OddRows > 0; !h.Halved || (h.Certainty == Proven) != want || h.Certainty == Undecided {
		t.Errorf("halved: %+v", h)
	}
	regs, err := DecodeRegisters(a, Counts{
		VGPR: d.CSV.VGPR, Accum: d.CSV.Accum, SGPR: d.CSV.SGPR, LDSBytes: d.CSV.LDS, WorkgroupSize: d.CSV.Workgroup,
	}, 0, h)
	if err != nil {
		t.Fatal(err)
	}
	if regs.Total != d.Total {
		t.Errorf("%d VGPRs, want %d", regs.Total, d.Total)
	}
	got, err := Occupancy(a, regs.Resources, Hardware)
	if err != nil {
		t.Fatal(err)
	}
	if got.Groups != d.Occupancy.Groups || got.WavesPerSIMD != d.Occupancy.Waves {
		t.Errorf("%d groups, %g waves/SIMD, want %d, %g", got.Groups, got.WavesPerSIMD, d.Occupancy.Groups, d.Occupancy.Waves)
	}
	checkLimits(t, got, d)
	l, err := Launch(d.CUs, got, d.CSV.Grid, d.CSV.Workgroup)
	if err != nil {
		t.Fatal(err)
	}
	if l.UnderFilled != d.Under {
		t.Errorf("under-filled %v, want %v", l.UnderFilled, d.Under)
	}
}

// checkLimits compares all limits. The file computes scalar registers without
// the trap handler's share: 800/112 = 7, where 112 + 16 = 128 leave 6.
func checkLimits(t *testing.T, got Result, d expectedDispatch) {
	t.Helper()
	names := map[Resource]string{WaveSlots: "waves", WorkgroupSlots: "wg_slots", LDS: "lds", VGPR: "vgpr", SGPR: "sgpr"}
	for res, name := range names {
		want := d.Occupancy.Limits[name]
		l, _ := got.Limit(res)
		if res == SGPR && d.CSV.SGPR == 112 {
			reserved := 6
			want = &reserved
		}
		switch {
		case want == nil && !l.Unlimited:
			t.Errorf("%s allows %d groups, want no limit", name, l.Groups)
		case want != nil && (l.Unlimited || l.Groups != *want):
			t.Errorf("%s allows %d groups, want %d", name, l.Groups, *want)
		}
	}
	var by []string
	for _, res := range got.LimitedBy {
		if res == WaveSlots {
			by = append(by, "hw_max")
			continue
		}
		by = append(by, string(res))
	}
	sort.Strings(by)
	sort.Strings(d.Occupancy.By)
	if !reflect.DeepEqual(by, d.Occupancy.By) {
		t.Errorf("limited by %v, want %v", by, d.Occupancy.By)
	}
}

func FuzzDecodeRegisters(f *testing.F) {
	f.Add(5, 12, 0, 32, 0, 256, 0)
	f.Add(4, 36, 140, 112, 26624, 256, 64)
	f.Add(2, 64, 64, 48, 0, 64, 64)
	f.Add(15, 40, 0, 128, 0, 128, 32)
	archs := Archs()
	f.Fuzz(func(t *testing.T, i, vgpr, accum, sgpr, lds, size, wave int) {
		a := archs[((i%len(archs))+len(archs))%len(archs)]
		c := Counts{VGPR: vgpr, Accum: accum, SGPR: sgpr, LDSBytes: lds, WorkgroupSize: size}
		r, err := DecodeRegisters(a, c, wave, DetectHalved(a, []Counts{c}))
		if err != nil {
			return
		}
		if r.Allocated < r.Total || r.Total < max(vgpr, accum) {
			t.Errorf("%s %+v: total %d, allocated %d", a.Name, c, r.Total, r.Allocated)
		}
	})
}
