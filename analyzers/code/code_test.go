package code

import (
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

func traceOf(major int, texts ...string) *trace.ThreadTrace {
	tt := &trace.ThreadTrace{GfxMajor: major}
	for i, s := range texts {
		tt.Code = append(tt.Code, trace.Instruction{Line: i, Text: s, Vaddr: int64(4 * i), Counts: trace.Counts{Hits: 1}})
	}
	tt.Kernels = []trace.Kernel{{Symbol: "k", Last: len(texts)}}
	return tt
}

func analyse(t *testing.T, device string, tt *trace.ThreadTrace) *Listing {
	t.Helper()
	tr := &trace.Trace{ThreadTraces: []*trace.ThreadTrace{tt}}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Device: device}, Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return Analyzer.Of(out, tt)
}

func TestArchitecture(t *testing.T) {
	agents := func(names ...string) []trace.Agent {
		var out []trace.Agent
		for _, n := range names {
			out = append(out, trace.Agent{Gfx: n, Origin: trace.Origin{File: "x_agent_info.csv"}})
		}
		return out
	}
	const onGFX950 = "buffer_load_dwordx4 v2, s[8:11], 0 offen lds"
	const onGFX942 = "v_mfma_f32_16x16x8_xf32 a[0:3], v[2:3], v[4:5], a[0:3]"
	for _, c := range []struct {
		name     string
		device   string
		agents   []trace.Agent
		text     string
		target   isa.Target
		source   string
		conflict bool
	}{
		{"the agent table first", "MI350X", agents("gfx950"), "s_nop 0", "gfx950", "x_agent_info.csv", false},
		{"the user's word where it disagrees", "MI300X", agents("gfx950"), onGFX942, "gfx942", "--device", false},
		{"an architecture is a device too", "gfx90a", nil, "s_nop 0", "gfx90a", "--device", false},
		{"then the agent table", "", agents("gfx942", "gfx942"), "s_nop 0", "gfx942", "x_agent_info.csv", false},
		{"the row that the code allows", "", agents("gfx942", "gfx950"), onGFX950, "gfx950", "x_agent_info.csv", false},
		{"then the instructions", "", nil, onGFX950, "gfx950", "instructions", false},
		{"a contradiction is told", "", agents("gfx942"), onGFX950, "gfx942", "x_agent_info.csv", true},
		{"siblings do not contradict", "", agents("gfx1201"), "s_wait_kmcnt 0x0", "gfx1201", "x_agent_info.csv", false},
	} {
		tt := traceOf(0, c.text)
		tt.Agents = c.agents
		a := analyse(t, c.device, tt).Arch
		if a.Target != c.target || a.Source != c.source || (a.Conflict != "") != c.conflict {
			t.Errorf("%s: %+v", c.name, a)
		}
	}
}

func TestUnknownDevice(t *testing.T) {
	tr := &trace.Trace{ThreadTraces: []*trace.ThreadTrace{traceOf(9, "s_nop 0")}}
	_, err := analysis.Run(t.Context(), tr, analysis.Options{Device: "H100"}, Analyzer)
	if err == nil || !strings.Contains(err.Error(), "rocanalyze devices") {
		t.Errorf("error %v does not say where the devices are listed", err)
	}
}

// TestGenerationNarrows: gfxip of the trace leaves only its own generation.
func TestGenerationNarrows(t *testing.T) {
	a := analyse(t, "", traceOf(11, "s_waitcnt vmcnt(0)")).Arch
	for _, c := range a.Candidates {
		if c.Generation() != 11 {
			t.Errorf("gfxip 11 leaves %s", c)
		}
	}
	if len(a.Candidates) == 0 {
		t.Error("gfxip 11 leaves nothing")
	}
}

func TestArchString(t *testing.T) {
	for _, c := range []struct {
		arch Arch
		want string
	}{
		{Arch{Target: "gfx942"}, "gfx942"},
		{Arch{}, "unknown architecture"},
		{Arch{Candidates: []isa.Target{"gfx90a", "gfx942", "gfx950"}}, "gfx90a, gfx942 or gfx950"},
		{Arch{Candidates: []isa.Target{"gfx906", "gfx90a", "gfx942", "gfx950"}}, "gfx9"},
		{Arch{Candidates: []isa.Target{"gfx906", "gfx90a", "gfx942", "gfx1100"}}, "gfx9 or gfx11"},
	} {
		if got := c.arch.String(); got != c.want {
			t.Errorf("%+v is %q, want %q", c.arch, got, c.want)
		}
	}
}

func TestRegistersAndCoverage(t *testing.T) {
	tt := traceOf(9, "v_mfma_f32_16x16x16_f16 a[0:3], v[10:11], v[20:21], a[0:3]", "s_mov_b32 s40, 0", "global_load_dwordx4 v[4:7], v[30:31], off", "global_store_dwordx4 v[30:31], v[4:7], off")
	tt.Code[0].Hits = 0
	l := analyse(t, "gfx942", tt)
	if got, want := l.Registers[0], (Registers{VGPRs: 32, AGPRs: 4, SGPRs: 41}); got != want {
		t.Errorf("registers %+v, want %+v", got, want)
	}
	if got, want := l.Coverage(tt, 0), (Coverage{Executed: 3, Total: 4, MFMAStatic: 1, WorkStatic: 2, WorkExecuted: 1}); got != want {
		t.Errorf("coverage %+v, want %+v", got, want)
	}
}

func TestLoopHead(t *testing.T) {
	// The branch at address 12 jumps back by 3 dwords from address 16: to 4.
	tt := traceOf(9, "s_nop 0", "s_nop 1", "s_nop 2", "s_cbranch_scc1 65533", "s_cbranch_scc1 4", "s_endpgm")
	l := analyse(t, "gfx942", tt)
	if head, ok := l.LoopHead(tt, tt.Kernels[0], 3); !ok || head != 1 {
		t.Errorf("the loop begins at row %d (%v), want 1", head, ok)
	}
	if _, ok := l.LoopHead(tt, tt.Kernels[0], 4); ok {
		t.Error("a forward branch closes a loop")
	}
}
