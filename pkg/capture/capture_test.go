package capture

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const (
	onGFX950 = "buffer_load_dwordx4 v2, s[8:11], 0 offen lds"
	onGFX9   = "s_waitcnt vmcnt(0)"
)

func agent(node int64, gfx, product string, id, cus int64) trace.Agent {
	return trace.Agent{
		NodeID: node, Gfx: gfx, Product: product, DeviceID: &id, CUs: &cus,
		Origin: trace.Origin{File: "d/x_agent_info.csv", Row: int(node) + 1},
	}
}

func mi350x(node int64) trace.Agent { return agent(node, "gfx950", "AMD Instinct MI350X", 30112, 256) }

func mi300x(node int64) trace.Agent { return agent(node, "gfx942", "AMD Instinct MI300X", 29857, 304) }

func apu(node int64) trace.Agent { return agent(node, "gfx1036", "AMD Radeon Graphics", 5056, 2) }

func traceOf(major int, agents []trace.Agent, launches []trace.Launch, texts ...string) *trace.Trace {
	tt := &trace.ThreadTrace{Path: "d/ui", DispatchID: new(int64(1)), GfxMajor: major, Agents: agents, Launches: launches}
	for i, s := range texts {
		tt.Code = append(tt.Code, trace.Instruction{Line: i, Text: s})
	}
	tt.Kernels = []trace.Kernel{{Symbol: "k", Last: len(texts)}}
	return &trace.Trace{ThreadTraces: []*trace.ThreadTrace{tt}}
}

func row(dispatch int64, agent string) trace.Launch {
	return trace.Launch{Origin: trace.Origin{File: "d/x_kernel_trace.csv", Row: int(dispatch)}, DispatchID: &dispatch, AgentID: agent, Kernel: "k"}
}

func TestMachineOfATrace(t *testing.T) {
	for _, c := range []struct {
		name     string
		device   string
		major    int
		agents   []trace.Agent
		launches []trace.Launch
		text     string
		target   isa.Target
		is       string // device, "?" before one that is assumed
		fails    string
	}{
		{name: "the instructions alone", text: onGFX950, target: "gfx950", is: "?MI350X or MI355X"},
		{name: "the flag decides what is open", device: "MI355X", text: onGFX950, target: "gfx950", is: "MI355X"},
		{name: "the flag decides the architecture", device: "MI300X", text: onGFX9, target: "gfx942", is: "MI300X"},
		{name: "an agent outranks the flag", device: "gfx950", agents: []trace.Agent{mi350x(2)}, text: onGFX950, target: "gfx950", is: "MI350X"},
		{name: "the row names the agent", agents: []trace.Agent{apu(1), mi350x(2)}, launches: []trace.Launch{row(1, "Agent 2")}, text: "s_nop 0", target: "gfx950", is: "MI350X"},
		{name: "and not the other one", agents: []trace.Agent{mi300x(1), mi350x(2)}, launches: []trace.Launch{row(1, "Agent 1")}, text: "s_nop 0", target: "gfx942", is: "MI300X"},
		{name: "rows of other dispatches differ", agents: []trace.Agent{mi300x(1), mi350x(2)}, launches: []trace.Launch{row(5, "Agent 1"), row(6, "Agent 2")}, text: "s_nop 0"},
		{name: "the code tells which agent", agents: []trace.Agent{apu(1), mi300x(2), mi350x(3)}, text: onGFX950, target: "gfx950", is: "MI350X"},
		{name: "the generation tells which agent", major: 9, agents: []trace.Agent{apu(1), mi300x(2)}, text: "s_nop 0", target: "gfx942", is: "MI300X"},
		{name: "the flag tells which agent", device: "MI300X", agents: []trace.Agent{mi300x(2), mi350x(3)}, text: "s_nop 0", target: "gfx942", is: "MI300X"},
		{name: "the code outranks a table that does not fit", device: "MI355X", agents: []trace.Agent{mi300x(2)}, text: onGFX950, target: "gfx950", is: "MI355X"},
		{name: "an unknown product is named", device: "MI300A", agents: []trace.Agent{agent(2, "gfx942", "unknown", 0, 228)}, text: "s_nop 0", target: "gfx942", is: "MI300A"},
		{
			name: "the instructions refuse", device: "MI300X", text: onGFX950,
			fails: "--device MI300X is gfx942, but d/ui ran on gfx950 (instructions: buffer_load_dwordx4",
		},
		{
			name: "the agent refuses", device: "MI300X", agents: []trace.Agent{mi350x(2)}, text: "s_nop 0",
			fails: "--device MI300X is gfx942, but d/ui ran on gfx950 (x_agent_info.csv, row 3)",
		},
		{
			name: "the product refuses", device: "MI355X", agents: []trace.Agent{mi350x(2)}, text: "s_nop 0",
			fails: "--device MI355X is gfx950, but d/ui ran on MI350X (x_agent_info.csv, row 3)",
		},
		{
			name: "the named agent refuses", device: "MI300X", agents: []trace.Agent{mi300x(1), mi350x(2)}, launches: []trace.Launch{row(1, "Agent 2")}, text: "s_nop 0",
			fails: "--device MI300X is gfx942, but d/ui ran on gfx950 (x_agent_info.csv, row 3)",
		},
		{
			name: "the generation refuses", device: "gfx1201", major: 9, text: "s_nop 0",
			fails: "--device gfx1201, but d/ui ran on gfx9 (gfxip of filenames.json)",
		},
		{name: "nonsense", device: "H100", text: "s_nop 0", fails: `--device: no device matches "H100"`},
		{name: "several", device: "MI3", text: "s_nop 0", fails: `--device`},
	} {
		tr := traceOf(c.major, c.agents, c.launches, c.text)
		got, err := Resolve(tr, c.device)
		if c.fails != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.fails) {
				t.Errorf("%s: error %v, want %s", c.name, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		m := got.Trace(tr.ThreadTraces[0])
		is := ""
		if m.Device != nil {
			is = m.Device.Name
		}
		if m.Assumed {
			is = "?" + is
		}
		if m.Arch.Target != c.target || is != c.is {
			t.Errorf("%s: %s, %q by %q; want %s, %q", c.name, m.Arch, is, m.DeviceSource, c.target, c.is)
		}
	}
}

// The generation and the wave size follow from any evidence of them.
func TestGeneration(t *testing.T) {
	rdna := agent(2, "gfx1201", "AMD Radeon RX 9070 XT", 0, 64)
	rdna.WaveSize = new(int64(32))
	for _, c := range []struct {
		name       string
		major      int
		agents     []trace.Agent
		device     string
		text       string
		generation int
		wave       int
		open       bool
	}{
		{"by the decoder", 9, nil, "", "s_nop 0", 9, 64, false},
		{"by the agent alone", 0, []trace.Agent{mi350x(2)}, "", "s_nop 0", 9, 64, false},
		{"by the flag alone", 0, nil, "MI300X", "s_nop 0", 9, 64, false},
		{"by the code alone", 0, nil, "", onGFX950, 9, 64, false},
		{"candidates of two generations", 0, nil, "", "v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]", 0, 0, false},
		{"the agent's wave size", 12, []trace.Agent{rdna}, "", "s_nop 0", 12, 32, true},
		{"one wave size", 12, nil, "gfx1250", "s_nop 0", 12, 32, false},
		{"nothing", 0, nil, "", "s_nop 0", 0, 0, false},
	} {
		tr := traceOf(c.major, c.agents, nil, c.text)
		got, err := Resolve(tr, c.device)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		m := got.Trace(tr.ThreadTraces[0])
		if m.Generation() != c.generation || m.Wave != c.wave || m.WaveOpen != c.open {
			t.Errorf("%s: gfx%d, wave%d, open %v; want %d, %d, %v", c.name, m.Generation(), m.Wave, m.WaveOpen, c.generation, c.wave, c.open)
		}
	}
}

// Every fact says where it is from, the agent included.
func TestFacts(t *testing.T) {
	tr := traceOf(9, []trace.Agent{apu(1), mi350x(2)}, []trace.Launch{row(1, "Agent 2")}, onGFX950)
	got, err := Resolve(tr, "")
	if err != nil {
		t.Fatal(err)
	}
	m := got.Trace(tr.ThreadTraces[0])
	for _, want := range []Fact{
		{Fact: FactAgent, Value: "Agent 2", Source: "x_kernel_trace.csv, row 1"},
		{Fact: FactArch, Value: "gfx950", Source: "d/x_agent_info.csv"},
		{Fact: FactDevice, Value: "MI350X", Source: "x_agent_info.csv"},
		{Fact: FactCU, Value: "256", Source: "x_agent_info.csv"},
		{Fact: FactXCC, Value: "8", Source: "all known gfx950: MI350X, MI355X"},
		{Fact: FactWave, Value: "64", Source: "architecture"},
	} {
		f, ok := m.Number(want.Fact)
		f.Number = 0
		if !ok || f != want {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
}

// The evidence names the GPU and each fact's source, a device that is assumed
// in the words of every other source.
func TestEvidence(t *testing.T) {
	for _, c := range []struct {
		name     string
		device   string
		agents   []trace.Agent
		launches []trace.Launch
		text     string
		starts   string
		holds    []string
	}{
		{
			name: "an agent", agents: []trace.Agent{apu(1), mi350x(2)}, launches: []trace.Launch{row(1, "Agent 2")}, text: onGFX950,
			starts: "MI350X, gfx950, 256 CUs, wave 64: Agent 2 from x_kernel_trace.csv, row 1; gfx950, MI350X, 256 CUs from x_agent_info.csv, row 3; ",
			holds:  []string{"8 XCCs from all known gfx950: MI350X, MI355X", "8000 GB/s from device table"},
		},
		{
			name: "agents alike", agents: []trace.Agent{mi350x(2), mi350x(3)}, text: onGFX950,
			starts: "MI350X, gfx950, 256 CUs, wave 64: gfx950, MI350X, 256 CUs from x_agent_info.csv, row 3 and 1 more; ",
		},
		{
			name: "assumed", text: onGFX950,
			starts: "MI350X or MI355X, gfx950, 256 CUs, wave 64: gfx950 from the instructions (buffer_load_dwordx4",
			holds:  []string{"MI350X or MI355X assumed: all gfx950 devices of the table have its CUs and memory"},
		},
		{name: "named", device: "MI300X", text: onGFX9, starts: "MI300X, gfx942, 304 CUs, wave 64: gfx942, MI300X from --device; "},
		{name: "open", text: "s_nop 0", starts: "gfx9, wave 64: gfx9 from instructions; wave 64 from architecture"},
	} {
		tr := traceOf(9, c.agents, c.launches, c.text)
		got, err := Resolve(tr, c.device)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		words := got.Trace(tr.ThreadTraces[0]).Evidence()
		if !strings.HasPrefix(words, c.starts) {
			t.Errorf("%s: %s", c.name, words)
		}
		for _, want := range c.holds {
			if !strings.Contains(words, want) {
				t.Errorf("%s: no %q in %s", c.name, want, words)
			}
		}
	}
}

// A name must be one of the GPUs that rows ran on; the others keep their own.
func TestLaunched(t *testing.T) {
	got, err := Resolve(&trace.Trace{}, "MI300X")
	if err != nil {
		t.Fatal(err)
	}
	agents := []trace.Agent{mi300x(1), mi350x(2)}
	both, err := got.Launched("t.csv", agents, []string{"Agent 1", "Agent 2"})
	if err != nil || both["Agent 1"].DeviceName() != "MI300X" || both["Agent 2"].DeviceName() != "MI350X" {
		t.Errorf("%+v, %v", both, err)
	}
	if _, err := got.Launched("t.csv", agents, []string{"Agent 2"}); err == nil || !strings.Contains(err.Error(), "t.csv ran on gfx950") {
		t.Errorf("error %v does not say what ran where", err)
	}
	none, err := got.Launched("t.csv", nil, []string{""})
	if err != nil || none[""].DeviceName() != "MI300X" || none[""].DeviceSource != SourceFlag {
		t.Errorf("without agents: %+v, %v", none, err)
	}
}

// Two hosts have an agent of one number: the table beside the rows counts.
func TestAgentsOfHosts(t *testing.T) {
	a, b := mi300x(2), mi350x(2)
	a.Origin.File, b.Origin.File = "a/x_agent_info.csv", "b/x_agent_info.csv"
	got, err := Resolve(&trace.Trace{}, "")
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"a/x_kernel_trace.csv": "MI300X", "b/x_kernel_trace.csv": "MI350X", "c/x_kernel_trace.csv": ""} {
		m, err := got.Launched(file, []trace.Agent{a, b}, []string{"Agent 2"})
		if err != nil || m["Agent 2"].DeviceName() != want {
			t.Errorf("%s: %q, %v; want %q", file, m["Agent 2"].DeviceName(), err, want)
		}
	}
}

func TestWithCounters(t *testing.T) {
	only950 := Counters{Archs: []isa.Target{"gfx950"}, Why: "only gfx950 has these counters", Exclusive: true}
	run := &trace.CounterRun{Path: "c.csv"}
	for _, c := range []struct{ device, target, fails string }{
		{"", "gfx950", ""},
		{"MI355X", "gfx950", ""},
		{"MI300X", "", "--device MI300X is gfx942, but c.csv ran on gfx950 (counters: only gfx950 has these counters)"},
		{"gfx1100", "", "--device gfx1100, but c.csv ran on gfx950"},
	} {
		got, err := Resolve(&trace.Trace{CounterRuns: []*trace.CounterRun{run}}, c.device)
		if err != nil {
			t.Fatal(err)
		}
		ms, err := got.Counted(run, []string{"1"})
		if err != nil {
			t.Fatal(err)
		}
		err = got.WithCounters(ms["1"], run.Path, only950)
		if c.fails != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.fails) {
				t.Errorf("%s: error %v", c.device, err)
			}
			continue
		}
		if err != nil || string(ms["1"].Arch.Target) != c.target {
			t.Errorf("%s: %s, %v", c.device, ms["1"].Arch, err)
		}
	}
}

func TestNames(t *testing.T) {
	mangled := NamesOf("", "_Z4gemmIfEvPT_i.kd")
	if mangled.Symbol != "_Z4gemmIfEvPT_i" || mangled.Shown() != "void gemm<float>(float*, int)" {
		t.Errorf("%+v", mangled)
	}
	for _, c := range []struct {
		a, b Names
		want bool
	}{
		{mangled, NamesOf("", "void gemm<float>(float*, int)"), true},
		{mangled, NamesOf("", "void gemm<float>(float *,int)"), true}, // another demangler's spaces
		{mangled, NamesOf("_Z4gemmIfEvPT_i", "gemm"), true},
		{mangled, NamesOf("_Z4gemmIdEvPT_i", "gemm"), false},
		{NamesOf("_Z4gemmIfEvPT_i", "gemm"), NamesOf("_Z4gemmIdEvPT_i", "gemm"), false}, // cut short to one name
		{NamesOf("", "gemm"), NamesOf("_Z4gemmIdEvPT_i", "gemm"), true},
		{NamesOf("k", ""), NamesOf("k.kd", ""), true},
		{Names{}, Names{}, false},
	} {
		if c.a.Same(c.b) != c.want || c.b.Same(c.a) != c.want {
			t.Errorf("%+v and %+v: want %v", c.a, c.b, c.want)
		}
	}
	if all := NamesOf("_Z1fv", "shown").All(); !slices.Equal(all, []string{"_Z1fv", "f()", "shown"}) {
		t.Errorf("%q", all)
	}
	for _, bad := range []string{"_Z", "_Z4gem", "_ZZZ", "_Z" + strings.Repeat("N", maxMangled), "_ZN" + strings.Repeat("1aI", 500)} {
		if n := NamesOf(bad, ""); n.Shown() != bad {
			t.Errorf("%.20q is shown as %.20q", bad, n.Shown())
		}
	}
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		a, b Shape
		want bool
	}{
		{Shape{Workgroup: 256, Grid: 1024}, Shape{}, true},
		{Shape{Workgroup: 256, Grid: 1024}, Shape{Workgroup: 256, Grid: 1024}, true},
		{Shape{Workgroup: 256, Grid: 1024}, Shape{Workgroup: 256, Grid: 2048}, false},
		{Shape{Workgroup: 256}, Shape{Grid: 1024}, true},
		{Shape{Workgroup: 64}, Shape{Workgroup: 256}, false},
	} {
		if got := c.a.Fits(c.b); got != c.want || c.b.Fits(c.a) != got {
			t.Errorf("%+v and %+v: %v", c.a, c.b, got)
		}
	}
}

// A kernel that one source knows by its display name alone is selected by the
// symbol that another gives it, but not by that of an overload.
func TestCalled(t *testing.T) {
	tr := &trace.Trace{Runs: []*trace.Run{{Kernels: []trace.RunKernel{
		{ID: 1, Name: "reduce(float*)", Symbol: "_Z6reducePf"}, {ID: 2, Name: "reduce(int*)", Symbol: "_Z6reducePi"},
	}}}}
	c, err := Resolve(tr, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"reduce(float *)": "_Z6reducePf", "reduce(int*)": "_Z6reducePi", "_Z6reducePi": "reduce(int*)"} {
		other := map[string]string{"_Z6reducePf": "_Z6reducePi", "_Z6reducePi": "_Z6reducePf", "reduce(int*)": "reduce(float*)"}[want]
		if got := c.Called(NamesOf("", name)); !slices.Contains(got, want) || slices.Contains(got, other) {
			t.Errorf("%s is called %v, want %s", name, got, want)
		}
	}
}

// TestManyTracedKernels: the work grows with the kernels, not with their square.
// Every comparison of two names allocates, so allocations count the work.
func TestManyTracedKernels(t *testing.T) {
	work := func(n int) float64 {
		tt := &trace.ThreadTrace{Path: "d/ui"}
		for i := range n {
			name := fmt.Sprintf("_Z6kernelILi%dEEvv", i)
			tt.Kernels = append(tt.Kernels, trace.Kernel{Symbol: name})
			tt.Launches = append(tt.Launches, trace.Launch{Kernel: name})
		}
		return testing.AllocsPerRun(1, func() {
			c, err := Resolve(&trace.Trace{ThreadTraces: []*trace.ThreadTrace{tt}}, "")
			if err != nil {
				t.Fatal(err)
			}
			if k := c.Trace(tt).Kernels[n-1]; k.Doubt != &tt.Launches[n-1] && k.Companion == nil {
				t.Errorf("no row: %+v", k)
			}
		})
	}
	if once, twice := work(300), work(600); twice > 2.5*once {
		t.Errorf("%.0f allocations for 300 kernels, %.0f for 600", once, twice)
	}
}
