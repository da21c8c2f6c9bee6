package samples

import (
	"math"
	"slices"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
	"github.com/rocanalyze/rocanalyze/pkg/view/viewtest"
)

// TestGolden compares what the command prints with testdata;
// go test ./analyzers/samples -update rewrites it.
func TestGolden(t *testing.T) {
	for _, name := range []string{"stochastic", "host_trap", "results"} {
		viewtest.Golden(t, &Cmd, "testdata/"+name+".txt", "../../fixtures/pcs/"+name)
	}
}

func TestNeedsEvidence(t *testing.T) {
	out, err := analysis.Run(t.Context(), &trace.Trace{}, analysis.Options{}, Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(out.Skipped, func(s analysis.Skip) bool { return s.Analyzer == "samples" }) {
		t.Errorf("skipped %v, without samples", out.Skipped)
	}
}

func inst(text string, issued int64, notIssued map[string]int64) trace.SampledInst {
	n := issued
	for _, v := range notIssued {
		n += v
	}
	return trace.SampledInst{Text: text, Source: "/k.hip:" + text[:1], Offset: trace.Absent, Samples: n, Issued: issued, NotIssued: notIssued}
}

func resultOf(t *testing.T, runs ...*trace.SampleRun) *Result {
	t.Helper()
	out, err := analysis.Run(t.Context(), &trace.Trace{SampleRuns: runs}, analysis.Options{}, Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return Analyzer.Of(out)
}

// Samples are shared out, nothing is lost, and what is not decoded is in no
// share.
func TestSums(t *testing.T) {
	k := trace.SampledKernel{
		Name: "k", Samples: 20, Undecoded: 4, Dispatches: 2,
		Insts: []trace.SampledInst{
			inst("v_add_f32 v0, v0, v1", 3, map[string]int64{"arbiter_not_win": 2, "alu_dependency": 1}),
			inst("s_waitcnt vmcnt(0)", 0, map[string]int64{"waitcnt": 8, "of a later release": 2}),
		},
	}
	res := resultOf(t, &trace.SampleRun{Path: "x.csv", Method: trace.Stochastic, Kernels: []trace.SampledKernel{k}})
	got := res.Kernels[0]
	if got.Issued.Samples != 3 || math.Abs(got.Issued.Pct-18.75) > 1e-9 {
		t.Errorf("issued %+v, want 3 of 16", got.Issued)
	}
	var waits, reasons, rows, lines int64
	for _, w := range got.Waits {
		waits += w.Samples
	}
	for _, r := range got.Reasons {
		reasons += r.Samples
	}
	for _, x := range got.Instructions {
		rows += x.Samples
		if *x.Issued+*x.Stalled != x.Samples {
			t.Errorf("%s: %d issued and %d not, of %d", x.Instruction, *x.Issued, *x.Stalled, x.Samples)
		}
		if x.LowPct > x.Pct || x.HighPct < x.Pct {
			t.Errorf("%s: %g %% is not within %g and %g", x.Instruction, x.Pct, x.LowPct, x.HighPct)
		}
	}
	for _, l := range got.Lines {
		lines += l.Samples
	}
	if waits != 13 || reasons != 13 || rows != 16 || lines != 16 {
		t.Errorf("waits %d, reasons %d, instructions %d, lines %d", waits, reasons, rows, lines)
	}
	if w := got.Waits[0]; w.Kind != VectorMemory || w.Samples != 8 {
		t.Errorf("first wait %+v", w)
	}
	if x := got.Instructions[0]; x.Reason != "waitcnt" || x.ReasonSamples != 8 {
		t.Errorf("first instruction %+v", x)
	}
}

// Host traps know neither who issued nor why not.
func TestHostTrapsHaveNoReasons(t *testing.T) {
	k := trace.SampledKernel{Name: "k", Samples: 3, Insts: []trace.SampledInst{inst("s_barrier", 3, nil)}}
	got := resultOf(t, &trace.SampleRun{Method: trace.HostTrap, Kernels: []trace.SampledKernel{k}}).Kernels[0]
	if got.Issued != nil || got.Reasons != nil || got.Instructions[0].Issued != nil || got.Instructions[0].Stalled != nil || got.Lines[0].Stalled != nil {
		t.Errorf("%+v", got)
	}
	if len(got.Waits) != 1 || got.Waits[0].Kind != Barrier || got.Waits[0].Samples != 3 {
		t.Errorf("waits %+v", got.Waits)
	}
}

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		reason, text string
		loads        loaded
		want         Kind
	}{
		{"waitcnt", "s_waitcnt vmcnt(1)", loaded{}, VectorMemory},
		{"waitcnt", "s_waitcnt lgkmcnt(0)", loaded{}, LDSOrScalar},
		{"waitcnt", "s_waitcnt lgkmcnt(0)", loaded{lds: true}, LDS},
		{"waitcnt", "s_waitcnt lgkmcnt(0)", loaded{scalar: true}, ScalarMemory},
		{"waitcnt", "s_waitcnt lgkmcnt(0)", loaded{true, true}, LDSOrScalar},
		{"waitcnt", "s_waitcnt vmcnt(0) lgkmcnt(0)", loaded{lds: true}, Several},
		{"waitcnt", "s_wait_loadcnt 0x0", loaded{}, VectorMemory},
		{"waitcnt", "s_wait_dscnt 0x0", loaded{}, LDS},
		{"waitcnt", "s_wait_kmcnt 0x0", loaded{}, ScalarMemory},
		{"waitcnt", "s_wait_storecnt 0x0", loaded{}, Stores},
		{"waitcnt", "s_endpgm", loaded{}, Stores},
		{"waitcnt", "v_add_f32 v0, v1, v2", loaded{}, Unspecified},
		{"barrier_wait", "s_barrier", loaded{}, Barrier},
		{"arbiter_not_win", "v_add_f32 v0, v1, v2", loaded{}, OtherWave},
		{"arbiter_win_ex_stall", "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]", loaded{}, MatrixPipe},
		{"arbiter_win_ex_stall", "global_load_dword v0, v[2:3], off", loaded{}, VectorPipe},
		{"arbiter_win_ex_stall", "ds_read_b32 v0, v1", loaded{}, LDSPipe},
		{"arbiter_win_ex_stall", "s_branch 4", loaded{}, OtherPipe},
		{"of a later release", "s_nop 0", loaded{}, Unspecified},
	} {
		in := isa.Parse(c.text, "")
		if got := kindOf(c.reason, &in, c.loads); got != c.want {
			t.Errorf("%s at %s, %+v: %s, want %s", c.reason, c.text, c.loads, got, c.want)
		}
		if c.want.Title() == "" {
			t.Errorf("%s has no title", c.want)
		}
	}
	for _, r := range trace.StallReasons {
		if _, ok := reasons[r]; !ok {
			t.Errorf("reason %s has no row", r)
		}
	}
}

// The samples of one kernel of several processes are one kernel's; those of
// kernels that nothing names are not mixed.
func TestProcesses(t *testing.T) {
	kernel := func(name string, agent int64) trace.SampledKernel {
		return trace.SampledKernel{
			Name: name, Agents: []int64{agent}, Samples: 5, Dispatches: 1, Grid: &[3]int64{64, 1, 1}, Workgroup: &[3]int64{64, 1, 1},
			Insts: []trace.SampledInst{inst("s_barrier", 1, map[string]int64{"barrier_wait": 4})},
		}
	}
	one := &trace.SampleRun{Path: "1.csv", Method: trace.Stochastic, Kernels: []trace.SampledKernel{kernel("k", 2), kernel("", 2)}}
	two := &trace.SampleRun{Path: "2.csv", Method: trace.Stochastic, Kernels: []trace.SampledKernel{kernel("k", 3), kernel("", 3)}}
	trap := &trace.SampleRun{Path: "3.csv", Method: trace.HostTrap, Kernels: []trace.SampledKernel{kernel("k", 2)}}
	res := resultOf(t, one, two, trap)
	if len(res.Kernels) != 4 {
		t.Fatalf("%d kernels, want k twice, by method, and two without names", len(res.Kernels))
	}
	k := res.Kernels[0]
	if k.Name != "k" || k.Processes != 2 || k.Samples != 10 || k.Dispatches != 2 || len(k.Agents) != 2 || k.Shape.Workgroups != 1 || k.Instructions[0].Samples != 10 || k.Waits[0].Samples != 8 {
		t.Errorf("%+v", k)
	}
}
