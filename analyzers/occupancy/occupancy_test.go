package occupancy

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// analyse runs the analyzer; params are without the analyzer's name.
func analyse(t *testing.T, tr *trace.Trace, device string, params map[string]float64) (*Result, *analysis.Outcome) {
	t.Helper()
	opts := analysis.Options{Device: device, Params: map[string]float64{}}
	for name, v := range params {
		opts.Params["occupancy."+name] = v
	}
	out, err := analysis.Run(t.Context(), tr, opts, Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return Analyzer.Of(out), out
}

// launched is a trace of runs whose sources have summed their dispatches.
func launched(tables ...*trace.LaunchTable) *trace.Trace {
	tr := &trace.Trace{}
	for _, t := range tables {
		tr.Runs = append(tr.Runs, &trace.Run{Path: t.Path, Kind: "kernel_trace", Agents: t.Agents, Dispatches: summed{t}})
	}
	return tr
}

// summed is a source of no dispatches but their sums.
type summed struct{ table *trace.LaunchTable }

func (s summed) Fold(_ context.Context, _ int, newFolder func() trace.DispatchFolder) (trace.DispatchReport, error) {
	newFolder()
	return trace.DispatchReport{Launches: s.table}, nil
}

// compiled is a trace of one kernel of a code object.
func compiled(target string, k trace.CodeKernel) *trace.Trace {
	return &trace.Trace{CodeObjects: []*trace.CodeObject{{Path: "k.hsaco", Kind: "code_object", Target: target, Kernels: []trace.CodeKernel{k}}}}
}

func (k *Kernel) has(id gpu.NoteID) bool {
	return slices.ContainsFunc(k.Notes, func(n gpu.Note) bool { return n.ID == id })
}

// TestCodeObject: all figures follow from 512 VGPRs, 64 KiB of LDS (granule
// 512) and 8 wave slots per SIMD of gfx942.
func TestCodeObject(t *testing.T) {
	for _, c := range []struct {
		name     string
		k        trace.CodeKernel
		params   map[string]float64
		waves    float64
		groups   int
		limiters string
		advice   string
	}{
		{
			"registers", // 134 -> 136, 512/136 = 3; 4 waves need 512/4 = 128
			trace.CodeKernel{Name: "k", VGPRs: new(134), MaxWorkgroup: new(256)},
			nil,
			3, 3, "vgpr", "134 -> 128 VGPRs: 4 waves/SIMD, 4 workgroups/CU, then limited by vgpr",
		},
		{
			"padding", // 2 groups by LDS; the descriptor's 176 also allow 2, but the code needs 36
			trace.CodeKernel{
				Name: "k", VGPRs: new(36), LDSBytes: new(26624), MaxWorkgroup: new(256),
				Descriptor: &trace.CodeDescriptor{VGPRs: new(176)},
			},
			nil,
			2, 2, "lds", "26624 -> 21504 B LDS: 3 waves/SIMD, 3 workgroups/CU, then limited by lds",
		},
		{
			"a descriptor that binds", // amdgpu_num_vgpr and the like: 176 allow 2 where 36 allow 8
			trace.CodeKernel{Name: "k", VGPRs: new(36), MaxWorkgroup: new(256), Descriptor: &trace.CodeDescriptor{VGPRs: new(176)}},
			nil,
			2, 2, "vgpr", "176 -> 168 VGPRs: 3 waves/SIMD, 3 workgroups/CU, then limited by vgpr",
		},
		{
			"both", // 20480 B: 3 groups; 134 VGPRs: 3; 4 need 16384 B and 128 VGPRs
			trace.CodeKernel{Name: "k", VGPRs: new(134), LDSBytes: new(20480), MaxWorkgroup: new(256)},
			nil,
			3, 3, "lds vgpr", "20480 -> 16384 B LDS and 134 -> 128 VGPRs: 4 waves/SIMD",
		},
		{
			"launch-time LDS", // 65536 B: one group of 4 waves
			trace.CodeKernel{Name: "k", VGPRs: new(32), MaxWorkgroup: new(256)},
			map[string]float64{paramLDS: 65536},
			1, 1, "lds", "65536 -> 32768 B LDS: 2 waves/SIMD, 2 workgroups/CU, then limited by lds",
		},
		{
			"real workgroup", // 64 work-items: one wave each, 8 x 4 of them
			trace.CodeKernel{Name: "k", VGPRs: new(32), MaxWorkgroup: new(1024)},
			map[string]float64{paramWorkgroup: 64},
			8, 32, "waves", "none: occupancy is at the maximum",
		},
		{
			"required workgroup", // 3 waves by registers x 4 / 8 waves = 1 group = 2 waves/SIMD
			trace.CodeKernel{Name: "k", VGPRs: new(168), MaxWorkgroup: new(1024), ReqWorkgroup: &[3]int{256, 2, 1}},
			nil,
			2, 1, "vgpr", "168 -> 128 VGPRs: 4 waves/SIMD, 2 workgroups/CU, then limited by vgpr",
		},
		{
			"too much LDS",
			trace.CodeKernel{Name: "k", VGPRs: new(8), LDSBytes: new(65537), MaxWorkgroup: new(64)},
			nil,
			0, 0, "lds", "does not fit: 65537 B exceed the 65536 B that one workgroup can have",
		},
	} {
		res, _ := analyse(t, compiled("gfx942:sramecc+", c.k), "", c.params)
		k := &res.Kernels[0]
		if k.WavesPerSIMD == nil {
			t.Errorf("%s: no occupancy: %s", c.name, k.Advice)
			continue
		}
		if *k.WavesPerSIMD != c.waves || *k.WorkgroupsPerCU != c.groups || strings.Join(k.Limiters, " ") != c.limiters {
			t.Errorf("%s: %g waves, %d groups, by %v; want %g, %d, %s", c.name, *k.WavesPerSIMD, *k.WorkgroupsPerCU, k.Limiters, c.waves, c.groups, c.limiters)
		}
		if k.Advice != c.advice {
			t.Errorf("%s: advice %q, want %q", c.name, k.Advice, c.advice)
		}
	}
}

// TestRefusedWorkgroup: a size that the runtime does not launch has no
// occupancy.
func TestRefusedWorkgroup(t *testing.T) {
	for _, k := range []trace.CodeKernel{
		{Name: "k", VGPRs: new(8), MaxWorkgroup: new(64)},
		{Name: "k", VGPRs: new(8), MaxWorkgroup: new(1024), ReqWorkgroup: &[3]int{8, 8, 1}},
	} {
		res, _ := analyse(t, compiled("gfx942", k), "", map[string]float64{paramWorkgroup: 256})
		if got := &res.Kernels[0]; got.WavesPerSIMD != nil || !strings.Contains(got.Advice, "launched with") {
			t.Errorf("%v waves, advice %q", got.WavesPerSIMD, got.Advice)
		}
		res, _ = analyse(t, compiled("gfx942", k), "", map[string]float64{paramWorkgroup: 64})
		if res.Kernels[0].WavesPerSIMD == nil {
			t.Errorf("64 work-items: %s", res.Kernels[0].Advice)
		}
	}
}

// TestPaddingOfTracedCode: the code tells whether a row's count is padding.
func TestPaddingOfTracedCode(t *testing.T) {
	res, _ := analyse(t, traced(1), "", nil)
	if k := &res.Kernels[0]; !k.has(gpu.NotePadded) {
		t.Errorf("120 registers in 264 are not called padding: %v", k.Notes)
	}
	// 257 registers are what LLVM pads to, but here the code names them.
	tr := traced(1)
	tr.ThreadTraces[0].Code[0].Text = "v_accvgpr_write_b32 a136, v119" // 120 + 137 = 257 -> 264
	res, _ = analyse(t, tr, "", nil)
	if k := &res.Kernels[0]; k.has(gpu.NotePadded) {
		t.Errorf("registers that the code names are called padding: %v", k.Notes)
	}
}

// TestWGPMode: gfx1100 in WGP mode has 4 SIMDs, 128 KiB and counts groups per
// WGP; in CU mode 2 SIMDs and 64 KiB.
func TestWGPMode(t *testing.T) {
	k := trace.CodeKernel{Name: "k", VGPRs: new(24), LDSBytes: new(40960), MaxWorkgroup: new(256), WaveSize: new(32)}
	for _, c := range []struct {
		mode   float64
		wgp    *bool
		unit   string
		groups int
		waves  float64
	}{
		{0, nil, "WGP", 3, 6}, // 131072/40960 = 3 groups of 8 waves on 4 SIMDs
		{1, nil, "CU", 1, 4},  // 65536/40960 = 1 on 2 SIMDs
		{1, new(true), "WGP", 3, 6},
		{2, new(false), "CU", 1, 4},
	} {
		k.WGPMode = c.wgp
		res, _ := analyse(t, compiled("gfx1100", k), "", map[string]float64{paramMode: c.mode})
		got := &res.Kernels[0]
		if got.Unit != c.unit || *got.WorkgroupsPerUnit != c.groups || *got.WavesPerSIMD != c.waves {
			t.Errorf("mode %g, %v: %d/%s, %g waves; want %d/%s, %g", c.mode, c.wgp, *got.WorkgroupsPerUnit, got.Unit, *got.WavesPerSIMD, c.groups, c.unit, c.waves)
		}
		if (got.WorkgroupsPerCU == nil) != (c.unit == "WGP") {
			t.Errorf("workgroups_per_cu is given per %s", c.unit)
		}
	}
}

// row is a launch of 256 work-items on agent 2.
func row(kernel string, vgprs, accum, lds, groups, count int64) trace.LaunchSum {
	return trace.LaunchSum{Count: count, Timed: count, TotalNs: 100 * count, MinNs: 100, MaxNs: 100, Launch: trace.Launch{
		Kernel: kernel, AgentID: "Agent 2", VGPRs: &vgprs, AccumVGPRs: &accum, SGPRs: new(int64(32)), LDSBytes: &lds, ScratchBytes: new(int64(0)),
		Workgroup: &[3]int64{256, 1, 1}, Grid: &[3]int64{256 * groups, 1, 1},
	}}
}

func mi350x(node, cus int64) trace.Agent {
	return trace.Agent{Origin: trace.Origin{File: "x_agent_info.csv", Row: 1}, NodeID: node, Gfx: "gfx950", DeviceID: new(int64(30112)), CUs: &cus, XCCs: new(int64(8))}
}

func TestKernelTrace(t *testing.T) {
	table := &trace.LaunchTable{
		Path: "x_kernel_trace.csv", Rows: 111, Agents: []trace.Agent{mi350x(2, 256), mi350x(3, 256)},
		Launches: []trace.LaunchSum{
			row("small", 12, 0, 0, 100, 1), // 24 registers, 100 groups on 256 CUs
			row("gemm", 68, 0, 0, 4096, 10),
			row("gemm", 68, 0, 0, 1, 100), // same kernel, another grid
		},
	}
	res, out := analyse(t, launched(table), "", nil)
	if len(res.Kernels) != 2 {
		t.Fatalf("%d kernels, want gemm and small", len(res.Kernels))
	}
	// 68 is an odd multiple of 4, so the capture is halved: 136 registers, 3 waves.
	gemm, small := &res.Kernels[0], &res.Kernels[1]
	if gemm.Name != "gemm" || *gemm.WavesPerSIMD != 3 || *gemm.Registers.VGPRs != 136 || !gemm.has(gpu.NoteHalved) {
		t.Errorf("the longest kernel is %s with %g waves, %d VGPRs, notes %v", gemm.Name, *gemm.WavesPerSIMD, *gemm.Registers.VGPRs, gemm.Notes)
	}
	if l := gemm.Launch; l.Groups != 1 || l.Grids != 2 || l.Dispatches != 100 || l.Slots != 768 {
		t.Errorf("the grid with the most time has %d groups of %d grids, %d dispatches, %d slots", l.Groups, l.Grids, l.Dispatches, l.Slots)
	}
	if want := "not occupancy: 100 workgroups on 256 CUs"; small.Advice != want {
		t.Errorf("advice %q, want %q", small.Advice, want)
	}
	if c := res.Captures; len(c) != 1 || !c[0].Halved.Halved || c[0].Halved.Certainty != gpu.Proven || c[0].Dispatches != 111 {
		t.Errorf("captures %+v", c)
	}
	if got := ids(out); got != "grid_under_filled grid_under_filled halved_vgpr_count" {
		t.Errorf("findings %s", got)
	}
}

func ids(out *analysis.Outcome) string {
	var s []string
	for _, f := range out.Findings {
		s = append(s, f.ID)
	}
	return strings.Join(s, " ")
}

// TestAgents: whose figures are used.
func TestAgents(t *testing.T) {
	gfx942 := trace.Agent{NodeID: 7, Gfx: "gfx942", CUs: new(int64(38))}
	for _, c := range []struct {
		name, id, device string
		agents           []trace.Agent
		arch             string
		cus              int
		note             gpu.NoteID
	}{
		{"by node id", "Agent 3", "", []trace.Agent{mi350x(2, 256), mi350x(3, 128)}, "gfx950", 128, ""},
		{"number only", "3", "", []trace.Agent{mi350x(2, 256), mi350x(3, 128)}, "gfx950", 128, ""},
		{"by position", "GPU 1", "", []trace.Agent{mi350x(5, 256), mi350x(9, 128)}, "gfx950", 128, ""},
		{"all alike", "Agent 40", "", []trace.Agent{mi350x(2, 256), mi350x(3, 256)}, "gfx950", 256, ""},
		{"alike but for CUs", "", "", []trace.Agent{mi350x(2, 256), mi350x(3, 128)}, "gfx950", 0, "cus_unknown"},
		{"a partition", "Agent 7", "", []trace.Agent{mi350x(2, 256), gfx942}, "gfx942", 38, ""},
		{"the flag", "", "MI300X", nil, "gfx942", 304, ""},
		{"two kinds", "", "gfx942", []trace.Agent{mi350x(2, 256), gfx942}, "gfx942", 38, ""},
	} {
		l := row("k", 16, 16, 0, 1000, 1)
		l.AgentID = c.id
		res, _ := analyse(t, launched(&trace.LaunchTable{Path: "t.csv", Agents: c.agents, Launches: []trace.LaunchSum{l}}), c.device, nil)
		k := &res.Kernels[0]
		if k.Arch != c.arch || k.CUs != c.cus || c.note != "" && !k.has(c.note) {
			t.Errorf("%s: %s with %d CUs, notes %v; want %s, %d, %q", c.name, k.Arch, k.CUs, k.Notes, c.arch, c.cus, c.note)
		}
	}
}

func TestUnknownGPU(t *testing.T) {
	tr := launched(&trace.LaunchTable{Path: "t.csv", Launches: []trace.LaunchSum{row("k", 16, 0, 0, 1, 1)}})
	res, _ := analyse(t, tr, "", nil)
	if !strings.HasPrefix(res.NoGPU, "t.csv: no agent_info.csv") || !strings.Contains(res.NoGPU, "--device") {
		t.Errorf("%q does not name the file and the flag", res.NoGPU)
	}
	// Beside a source whose GPU is known it is one unknown kernel.
	tr.CodeObjects = compiled("gfx942", trace.CodeKernel{Name: "c", VGPRs: new(8), MaxWorkgroup: new(64)}).CodeObjects
	res, _ = analyse(t, tr, "", nil)
	if res.NoGPU != "" || len(res.Kernels) != 2 || res.Kernels[0].WavesPerSIMD != nil || !strings.HasPrefix(res.Kernels[0].Advice, "unknown: no agent_info.csv") {
		t.Errorf("kernels %+v", res.Kernels)
	}
}

// TestMetadata: a code object given with the kernel trace tells padding from
// need, and only when its descriptor is that of the row.
func TestMetadata(t *testing.T) {
	table := func(accum int64) *trace.LaunchTable {
		return &trace.LaunchTable{Path: "t.csv", Launches: []trace.LaunchSum{row("k", 36, accum, 26624, 8192, 1)}}
	}
	code := trace.CodeKernel{
		Name: "k", Symbol: "k.kd", VGPRs: new(36), LDSBytes: new(26624), MaxWorkgroup: new(256),
		VGPRSpills: new(3), Descriptor: &trace.CodeDescriptor{VGPRs: new(176), AccumOffset: new(36)},
	}
	tr := compiled("gfx942", code)
	tr.Runs = launched(table(140)).Runs // 36 + 140 = 176
	res, _ := analyse(t, tr, "MI300X", nil)
	k := &res.Kernels[0]
	if !k.has("metadata") || strings.Join(k.Limiters, " ") != "lds" || *k.Registers.VGPRs != 36 || *k.Registers.Allocated != 176 || *k.Registers.VGPRSpills != 3 {
		t.Errorf("with metadata: limiters %v, registers %+v, notes %v", k.Limiters, k.Registers, k.Notes)
	}
	tr.Runs = launched(table(132)).Runs // 168: another build
	res, _ = analyse(t, tr, "MI300X", nil)
	if k := &res.Kernels[0]; k.has("metadata") || *k.Registers.VGPRs != 168 {
		t.Errorf("metadata of another build is used: %+v", k.Registers)
	}
	// Without it the equal register limit stands behind LDS, as possible padding.
	res, _ = analyse(t, launched(table(140)), "MI300X", nil)
	if k := &res.Kernels[0]; strings.Join(k.Limiters, " ") != "lds vgpr" || !k.has(gpu.NotePadded) || !k.has(gpu.NotePhantomAccum) {
		t.Errorf("without metadata: limiters %v, notes %v", k.Limiters, k.Notes)
	}
}

// traced is a gfx950 thread trace whose code names v120, with a row of 132
// halved registers (264: one wave) and 96 KiB of LDS (one group).
func traced(peak int) *trace.Trace {
	l := row("gemm", 132, 0, 98304, 84, 1).Launch
	l.DispatchID, l.Origin = new(int64(1)), trace.Origin{File: "t.csv", Row: 1}
	return &trace.Trace{ThreadTraces: []*trace.ThreadTrace{{
		Path: "ui", DispatchID: new(int64(1)), GfxMajor: 9,
		Code: []trace.Instruction{
			{Line: 1, Text: "v_add_f32 v119, v0, v1", Counts: trace.Counts{Hits: 1, LatencyCycles: 4}},
			{Line: 2, Text: "s_endpgm", Counts: trace.Counts{Hits: 1, LatencyCycles: 4}},
		},
		Kernels:  []trace.Kernel{{Symbol: "gemm", Last: 2}, {Symbol: "helper", First: 2, Last: 2}},
		Launches: []trace.Launch{l}, Agents: []trace.Agent{mi350x(2, 256)},
		LaunchTables: []*trace.LaunchTable{{Path: "t.csv", Rows: 5, Launches: []trace.LaunchSum{{Launch: l, Count: 5}}}},
		Occupancy: &trace.Occupancy{
			Engines: []trace.EngineOccupancy{{PeakPerSIMD: peak, Starts: 4, WaveCycles: 30, SIMDCycles: 20}},
			Kernels: []trace.KernelWaves{{ID: 1, Starts: 4}},
		},
	}}}
}

func TestThreadTrace(t *testing.T) {
	res, out := analyse(t, traced(1), "", nil)
	if len(res.Kernels) != 1 {
		t.Fatalf("%d kernels: a function beside a launched kernel is none", len(res.Kernels))
	}
	k := &res.Kernels[0]
	if *k.WavesPerSIMD != 1 || strings.Join(k.Limiters, " ") != "lds vgpr" || *k.Registers.VGPRs != 264 {
		t.Errorf("%g waves by %v with %d VGPRs", *k.WavesPerSIMD, k.Limiters, *k.Registers.VGPRs)
	}
	// The code names 120 registers, so the 264 are padding and LDS alone helps:
	// 163840/2 = 81920 is a multiple of 1280.
	if len(k.NextStep) != 1 || k.NextStep[0].Text != "98304 -> 81920 B LDS: 2 waves/SIMD, 2 workgroups/CU, then limited by lds" {
		t.Errorf("steps %+v", k.NextStep)
	}
	if o := k.Observed; o == nil || o.Peak != 1 || *o.Mean != 1.5 || *o.Possible != 1 || o.Exceeds {
		t.Errorf("observed %+v", o)
	}
	if got := ids(out); strings.Contains(got, "more_observed") {
		t.Errorf("findings %s", got)
	}
	res, out = analyse(t, traced(2), "", nil)
	if !res.Kernels[0].Observed.Exceeds || !strings.Contains(ids(out), "more_observed_than_possible") {
		t.Errorf("2 waves where 1 is possible are not flagged: %s", ids(out))
	}
}

func TestThreadTraceWithoutRow(t *testing.T) {
	tr := traced(1)
	tr.ThreadTraces[0].Launches = nil
	tr.ThreadTraces[0].Kernels = tr.ThreadTraces[0].Kernels[:1]
	res, _ := analyse(t, tr, "", nil)
	if k := &res.Kernels[0]; k.WavesPerSIMD != nil || !strings.Contains(k.Advice, "--workgroup") {
		t.Errorf("%v waves, advice %q", k.WavesPerSIMD, k.Advice)
	}
	res, _ = analyse(t, tr, "", map[string]float64{paramWorkgroup: 256, paramLDS: 0})
	if k := &res.Kernels[0]; k.WavesPerSIMD == nil || *k.WavesPerSIMD != 4 { // 512/120 = 4
		t.Errorf("from the code and the flags: %+v", k)
	}
}

func TestLaunchOverrides(t *testing.T) {
	table := &trace.LaunchTable{Path: "t.csv", Launches: []trace.LaunchSum{row("k", 128, 0, 0, 1000, 1)}}
	tr := launched(table)
	for _, c := range []struct {
		params map[string]float64
		groups int64
		matter bool
	}{
		{nil, 1000, false}, // room for 304 x 4 = 1216
		{map[string]float64{paramGrid: 256 * 2000}, 2000, true},
		{map[string]float64{paramWorkgroup: 64}, 4000, false}, // room for 304 x 16 = 4864
		{map[string]float64{paramWorkgroup: 512}, 500, false},
	} {
		res, _ := analyse(t, tr, "MI300X", c.params)
		if l := res.Kernels[0].Launch; l.Groups != c.groups || l.OccupancyMatters != c.matter {
			t.Errorf("%v: %d groups, matters %v (%s)", c.params, l.Groups, l.OccupancyMatters, l.Why)
		}
	}
}

func TestFindings(t *testing.T) {
	for _, c := range []struct {
		name   string
		k      trace.CodeKernel
		params map[string]float64
		want   string
	}{
		{"spills", trace.CodeKernel{VGPRSpills: new(76), ScratchBytes: new(308)}, nil, "spills"},
		{"no spills", trace.CodeKernel{VGPRSpills: new(0), ScratchBytes: new(16)}, nil, "scratch"},
		{"stack", trace.CodeKernel{DynamicStack: new(true)}, nil, "dynamic_stack"},
		{"clean", trace.CodeKernel{VGPRSpills: new(0), ScratchBytes: new(0), DynamicStack: new(false)}, nil, ""},
		{"tail", trace.CodeKernel{}, map[string]float64{paramGrid: 256 * 2500}, "tail"}, // 2432 places: 2 rounds, the last 3 % full
		{"full rounds", trace.CodeKernel{}, map[string]float64{paramGrid: 256 * 2432 * 2}, ""},
		{"long tail of many rounds", trace.CodeKernel{}, map[string]float64{paramGrid: 256 * (2432*20 + 1)}, ""}, // 4.8 % lost
		{"idle lanes", trace.CodeKernel{}, map[string]float64{paramWorkgroup: 200, paramGrid: 200 * 2432}, "idle_lanes"},
		{"under-filled", trace.CodeKernel{}, map[string]float64{paramGrid: 256 * 303}, "grid_under_filled"},
	} {
		c.k.Name, c.k.VGPRs, c.k.MaxWorkgroup = "k", new(32), new(256)
		_, out := analyse(t, compiled("gfx942", c.k), "MI300X", c.params)
		out.Findings = slices.DeleteFunc(out.Findings, func(f finding.Finding) bool { return f.Minor })
		if got := ids(out); got != c.want {
			t.Errorf("%s: findings %q, want %q", c.name, got, c.want)
		}
		for _, f := range out.Findings {
			if !Relevant(f) {
				t.Errorf("%s: %s is not shown", c.name, f.ID)
			}
		}
	}
}

func TestWhatIf(t *testing.T) {
	value, ok := WhatIfParam("vgpr")
	if !ok {
		t.Fatal("no curve over vgpr")
	}
	if _, ok := WhatIfParam("sgpr"); ok {
		t.Error("a curve over sgpr is promised")
	}
	res, _ := analyse(t, compiled("gfx942", trace.CodeKernel{Name: "k", VGPRs: new(134), MaxWorkgroup: new(256)}), "", map[string]float64{paramWhatIf: value})
	w := res.Kernels[0].WhatIf
	var got [][3]int
	for _, p := range w.Points {
		got = append(got, [3]int{p.From, p.To, int(p.WavesPerSIMD)})
	}
	// alignDown(512/w, 8) for w = 8..1.
	want := [][3]int{{1, 64, 8}, {65, 72, 7}, {73, 80, 6}, {81, 96, 5}, {97, 128, 4}, {129, 168, 3}, {169, 256, 2}, {257, 512, 1}}
	if !slices.Equal(got, want) || w.Now != 134 {
		t.Errorf("curve %v at %d, want %v", got, w.Now, want)
	}
}

func TestLLVMRule(t *testing.T) {
	// 8 waves of a group, 3 waves/SIMD by registers: LLVM prints 3, one whole
	// group makes 2.
	k := trace.CodeKernel{Name: "k", VGPRs: new(168), MaxWorkgroup: new(512)}
	res, _ := analyse(t, compiled("gfx942", k), "", map[string]float64{paramLLVM: 1})
	got := &res.Kernels[0]
	if *got.WavesPerSIMD != 2 || got.LLVM == nil || got.LLVM.WavesPerSIMD != 3 || !slices.Equal(got.LLVM.Reasons, []gpu.Reason{gpu.WholeGroups}) {
		t.Errorf("%g waves, LLVM %+v", *got.WavesPerSIMD, got.LLVM)
	}
}
