package trust_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// fakeWaves are waves in memory.
type fakeWaves []trace.Wave

func (f fakeWaves) Listed() int { return len(f) }

func (f fakeWaves) Fold(_ context.Context, _ int, newFolder func() trace.Folder) (trace.WaveReport, error) {
	folder := newFolder()
	for i := range f {
		folder.Wave(&f[i])
	}
	return trace.WaveReport{Read: len(f)}, nil
}

// lossy are waves of which one could not be read.
type lossy struct {
	fakeWaves
	lost trace.Note
}

func (l lossy) Fold(ctx context.Context, workers int, newFolder func() trace.Folder) (trace.WaveReport, error) {
	report, err := l.fakeWaves.Fold(ctx, workers, newFolder)
	report.Damaged, report.Notes = 1, []trace.Note{l.lost}
	return report, err
}

// capture builds a gfx9 trace of n waves on different SIMDs that each run all
// instructions once, every instruction stalling 4 of 8 cycles; code.json is
// their sum.
func capture(n int, texts ...string) *trace.ThreadTrace {
	tt := &trace.ThreadTrace{Path: "t", GfxMajor: 9, Kernels: []trace.Kernel{{Symbol: "k", Last: len(texts)}}}
	var waves fakeWaves
	for w := range n {
		wave := trace.Wave{SIMD: w % 4, Slot: w / 4, Begin: 0, End: int64(8 * len(texts))}
		for i := range texts {
			wave.Records = append(wave.Records, trace.Record{Time: int64(8 * i), Stall: 4, Duration: 8, Line: i + 1})
		}
		waves = append(waves, wave)
	}
	for i, s := range texts {
		tt.Code = append(tt.Code, trace.Instruction{
			Line: i + 1, Text: s, Vaddr: int64(4 * i), Source: "k.hip:" + string(rune('1'+i%8)),
			Counts: trace.Counts{Hits: int64(n), LatencyCycles: int64(8 * n), StallCycles: int64(4 * n)},
		})
	}
	tt.Waves = waves
	return tt
}

// good is a trace that no gate minds.
func good() *trace.ThreadTrace {
	return capture(8, "s_load_dword s0, s[2:3], 0x0", "s_waitcnt lgkmcnt(0)", "v_add_f32 v0, v1, v2", "global_store_dword v[0:1], v2, off sc0", "s_endpgm")
}

func judge(t *testing.T, tt *trace.ThreadTrace) (*trust.Judgement, []finding.Finding) {
	t.Helper()
	out, err := analysis.Run(t.Context(), &trace.Trace{ThreadTraces: []*trace.ThreadTrace{tt}}, analysis.Options{Device: "gfx942"}, trust.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return trust.Analyzer.Of(out, tt), out.Findings
}

func ids(fs []finding.Finding) []string {
	var out []string
	for _, f := range fs {
		out = append(out, f.ID)
	}
	return out
}

func TestGoodTraceFiresNothing(t *testing.T) {
	j, fs := judge(t, good())
	if len(fs) != 0 || j.Kernels[0].Confidence != trust.High {
		t.Errorf("findings %v, confidence %s", ids(fs), j.Kernels[0].Confidence)
	}
}

// TestGates: each defect fires its gate and no other, and only that.
func TestGates(t *testing.T) {
	for _, c := range []struct {
		id         string
		confidence trust.Confidence
		severity   finding.Severity
		spoil      func(tt *trace.ThreadTrace)
	}{
		{"no_hits", trust.None, finding.Blocker, func(tt *trace.ThreadTrace) {
			for i := range tt.Code {
				tt.Code[i].Counts = trace.Counts{}
			}
			tt.Waves = fakeWaves{}
		}},
		{"low_coverage", trust.Low, finding.High, func(tt *trace.ThreadTrace) {
			tt.Code = append(tt.Code, trace.Instruction{Line: 90, Text: "v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]", Source: "k.hip:9"})
			tt.Kernels[0].Last++
		}},
		{"few_waves", trust.Low, finding.Medium, func(tt *trace.ThreadTrace) {
			*tt = *capture(2, "v_add_f32 v0, v1, v2", "v_add_f32 v0, v1, v3", "s_endpgm")
		}},
		{"few_waves", trust.Low, finding.Medium, func(tt *trace.ThreadTrace) { // one SIMD
			for i := range tt.Waves.(fakeWaves) {
				tt.Waves.(fakeWaves)[i].SIMD = 0
			}
		}},
		{"line_collapse", trust.High, finding.Low, func(tt *trace.ThreadTrace) {
			for i := range 3 {
				tt.Code[i].Source = "deco.py:1"
			}
		}},
		{"no_source", trust.High, finding.Info, func(tt *trace.ThreadTrace) {
			for i := range tt.Code {
				tt.Code[i].Source = ""
			}
		}},
		{"totals_mismatch", trust.Medium, finding.Medium, func(tt *trace.ThreadTrace) { tt.Code[2].StallCycles += 4 }},
		{"stall_over_latency", trust.Low, finding.High, func(tt *trace.ThreadTrace) {
			tt.Code[2].LatencyCycles = 0
			tt.Code[2].StallCycles = 1 << 20
		}},
		{"stats_mismatch", trust.High, finding.Low, func(tt *trace.ThreadTrace) {
			tt.Stats = &trace.StatsSums{File: "stats.csv", Counts: trace.Counts{Hits: 1}}
		}},
		{"waves_lost", trust.Medium, finding.Medium, func(tt *trace.ThreadTrace) {
			tt.Occupancy = &trace.Occupancy{Engines: []trace.EngineOccupancy{{CUs: []trace.CUWaves{{CU: 0, Starts: 10}, {CU: 1, Starts: 99}}}}}
		}},
		{"wait_edges_differ", trust.Medium, finding.Low, func(tt *trace.ThreadTrace) {
			tt.Waves.(fakeWaves)[0].Waits = []trace.WaitEdge{{Line: 2, Producers: []int{3}}}
		}},
		{"unknown_instructions", trust.Medium, finding.Low, func(tt *trace.ThreadTrace) { tt.Code[2].Text = "q_frobnicate v0" }},
		{"damaged_input", trust.Low, finding.High, func(tt *trace.ThreadTrace) {
			tt.Waves = lossy{tt.Waves.(fakeWaves), trace.Note{Level: trace.Damage, File: tt.Path + "/x.json", Text: "cut"}}
		}},
		{"cycles_only", trust.Medium, finding.Info, func(tt *trace.ThreadTrace) { tt.CyclesOnly = true }},
		{"no_wave_files", trust.Medium, finding.Info, func(tt *trace.ThreadTrace) { tt.Waves = nil }},
		{"companion_mismatch", trust.High, finding.Low, func(tt *trace.ThreadTrace) {
			id := int64(7)
			tt.DispatchID = &id
			tt.Launches = []trace.Launch{{DispatchID: &id, Kernel: "other"}}
		}},
	} {
		tt := good()
		c.spoil(tt)
		j, fs := judge(t, tt)
		if got := ids(fs); !slices.Contains(got, c.id) {
			t.Errorf("%s does not fire: %v", c.id, got)
			continue
		}
		f := fs[slices.Index(ids(fs), c.id)]
		if f.Severity != c.severity || !f.Gate || f.Text == "" {
			t.Errorf("%s: severity %s, gate %v", c.id, f.Severity, f.Gate)
		}
		if got := j.Kernels[0].Confidence; got != c.confidence {
			t.Errorf("%s: confidence %s, want %s (%v)", c.id, got, c.confidence, ids(fs))
		}
	}
}

// TestEmptyTraceKnowsOccupancy: nothing decoded is said with what is known.
func TestEmptyTraceKnowsOccupancy(t *testing.T) {
	_, fs := judge(t, &trace.ThreadTrace{
		CodeState: trace.CodeNull,
		Occupancy: &trace.Occupancy{Engines: []trace.EngineOccupancy{{Starts: 8}}},
	})
	if len(fs) != 1 || fs[0].ID != "empty_trace" || !strings.Contains(fs[0].Text, "8 waves on 1 shader engine") {
		t.Errorf("findings %+v", fs)
	}
}

// TestLoopNotReached: a kernel whose loop no wave entered is not covered; one
// whose loop ran is.
func TestLoopNotReached(t *testing.T) {
	tt := capture(8, "s_cbranch_execz 3", "v_add_f32 v0, v1, v2", "v_add_f32 v0, v1, v2", "s_cbranch_scc1 65533", "s_endpgm", "s_nop 0")
	if _, fs := judge(t, tt); slices.Contains(ids(fs), "low_coverage") {
		t.Errorf("the loop ran: %v", ids(fs))
	}
	for _, i := range []int{1, 2, 3} {
		tt.Code[i].Counts = trace.Counts{}
	}
	if _, fs := judge(t, tt); !slices.Contains(ids(fs), "low_coverage") {
		t.Errorf("no wave entered the loop: %v", ids(fs))
	}
}

// TestWorkBehindALoop: a wave that jumps over a loop of no trips and stores
// behind it has not left early; one that stores nothing has, whatever it ran.
func TestWorkBehindALoop(t *testing.T) {
	const mfma, store, loop = "v_mfma_f32_32x32x8_f16 v[0:15], v[20:21], v[22:23], v[0:15]", "global_store_dword v0, v1, s[2:3]", "s_cbranch_scc1 65535"
	for _, c := range []struct {
		name string
		code []string
		ran  []bool
		want bool
	}{
		{"the loop is jumped over, the rest is done", []string{mfma, mfma, loop, mfma, store}, []bool{true, false, false, true, true}, false},
		{"no matrix instruction of several", []string{mfma, "s_nop 0", loop, mfma, store}, []bool{false, true, false, false, true}, true},
		{"nothing stored", []string{"s_nop 0", "s_nop 0", loop, "s_nop 0", store}, []bool{true, true, true, true, false}, true},
		{"an atomic is work", []string{"s_nop 0", "global_atomic_add v0, v1, s[2:3]", loop, store}, []bool{false, true, false, false}, false},
		{"a spill is none", []string{"scratch_store_dword off, v0, s0", "s_nop 0", loop, store}, []bool{true, true, true, false}, true},
	} {
		tt := capture(8, c.code...)
		for i, ran := range c.ran {
			if !ran {
				tt.Code[i].Counts = trace.Counts{}
			}
		}
		if _, fs := judge(t, tt); slices.Contains(ids(fs), "low_coverage") != c.want {
			t.Errorf("%s: %v", c.name, ids(fs))
		}
	}
}

func TestCompanion(t *testing.T) {
	id, other, few, many := int64(7), int64(8), int64(1), int64(128)
	shape := [3]int64{64, 1, 1}
	grid := [3]int64{640, 1, 1}
	row := func(id *int64, name string, vgprs *int64) trace.Launch {
		return trace.Launch{DispatchID: id, Kernel: name, VGPRs: vgprs, Workgroup: &shape, Grid: &grid}
	}
	for _, c := range []struct {
		name  string
		rows  []trace.Launch
		taken bool
		same  bool
		says  string
	}{
		{"the same dispatch", []trace.Launch{row(&id, "k", &many)}, true, true, ""},
		{"too few registers", []trace.Launch{row(&id, "k", &few)}, false, false, "the code names 3"},
		{"another dispatch of it", []trace.Launch{row(&other, "k", &many)}, true, false, "dispatch 8 of the same kernel"},
		{"another kernel", []trace.Launch{row(&id, "z", &many)}, false, false, `dispatch 7 is "z" there`},
		{"nothing of either", []trace.Launch{row(&other, "z", &many)}, false, false, ""},
	} {
		tt := good()
		tt.DispatchID = &id
		tt.Launches = c.rows
		j, fs := judge(t, tt)
		got := j.Kernels[0].Companion
		if (got != nil) != c.taken || got != nil && got.SameDispatch != c.same {
			t.Errorf("%s: companion %+v", c.name, got)
		}
		if c.says == "" && len(fs) > 0 || c.says != "" && (len(fs) != 1 || !strings.Contains(fs[0].Text, c.says)) {
			t.Errorf("%s: findings %+v, want one that says %q", c.name, fs, c.says)
		}
		if got == nil {
			continue
		}
		if n, ok := got.WavesInDispatch(64); !ok || n != 10 {
			t.Errorf("%s: %d waves in the dispatch, want 10", c.name, n)
		}
	}
}

// TestGatesAreListed: the documentation names every gate.
func TestGatesAreListed(t *testing.T) {
	for _, g := range trust.Analyzer.Rules {
		if !strings.Contains(trust.Analyzer.Doc, "`"+g.ID+"`") {
			t.Errorf("doc.md does not name %q", g.ID)
		}
	}
}
