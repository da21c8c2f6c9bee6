package roofline_test

import (
	"math"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/roofline"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

// Bytes by hand, after the formulas of the FlyDSL GEMM optimization guide,
// section 8.2.
func TestBytes(t *testing.T) {
	const m, n, k = 5120, 5120, 8320
	for name, want := range map[string]float64{
		"fp8":  m*k + n*k + m*n*2 + (m+n)*4,
		"int8": m*k + n*k + m*n*2 + (m+n)*4,
		"int4": m*k + n*k/2 + m*n*2 + (m+n)*4,
		"fp4":  m*k/2 + n*k/2 + m*n*2 + (m+n)*(k/32),
		"fp6":  m*k*6/8 + n*k*6/8 + m*n*2 + (m+n)*(k/32),
		"bf16": m*k*2 + n*k*2 + m*n*2,
		"fp32": m*k*4 + n*k*4 + m*n*4,
	} {
		at, err := roofline.DtypeIndex(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := roofline.Dtypes()[at].Bytes(m, n, k); got != want {
			t.Errorf("%s: %.0f bytes, want %.0f", name, got, want)
		}
	}
	if _, err := roofline.DtypeIndex("fp5"); err == nil || !strings.Contains(err.Error(), "bf16") {
		t.Errorf("fp5: %v", err)
	}
}

func product(t *testing.T, device string, m, n, k, ns float64) roofline.Point {
	t.Helper()
	at, err := roofline.DtypeIndex("fp8")
	if err != nil {
		t.Fatal(err)
	}
	out, err := analysis.Run(t.Context(), &trace.Trace{}, analysis.Options{Device: device, Params: map[string]float64{
		"roofline.m": m, "roofline.n": n, "roofline.k": k, "roofline.dtype": float64(at), "roofline.time_ns": ns,
	}}, roofline.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	res := roofline.Analyzer.Of(out)
	if len(res.Points) != 1 {
		t.Fatalf("%d points", len(res.Points))
	}
	return res.Points[0]
}

// The guide's worked example, 5120 x 5120 x 8320 in FP8 and 0.87 ms: 436 GFLOP,
// 137.7 MB, 500 TFLOPS, 158 GB/s, compute-bound. On MI300X the roofs are 4096
// x 304 x 2.1 GHz = 2614.9 TFLOPS and 5324.8 GB/s, so that the ridge is at 491.
func TestWorkedExample(t *testing.T) {
	p := product(t, "MI300X", 5120, 5120, 8320, 870_000)
	l := p.Levels[0]
	if p.FLOPs != 436_207_616_000 || l.Bytes != 137_666_560 {
		t.Errorf("%.0f FLOP, %.0f bytes", p.FLOPs, l.Bytes)
	}
	if !near(l.Intensity, 436_207_616_000.0/137_666_560) || p.Bound != "compute" {
		t.Errorf("intensity %g, bound %q", l.Intensity, p.Bound)
	}
	if !near(*p.AchievedGFLOPs, 436_207_616_000.0/870_000) || !near(*l.AchievedGBps, 137_666_560.0/870_000) {
		t.Errorf("achieved %g GFLOP/s, %g GB/s", *p.AchievedGFLOPs, *l.AchievedGBps)
	}
	if !near(*p.PeakGFLOPs, 4096*304*2.1) || !near(*l.Ridge, 4096*304*2.1/5324.8) {
		t.Errorf("peak %g, ridge %g", *p.PeakGFLOPs, *l.Ridge)
	}
	if !near(*p.MinTimeNs, 436_207_616_000/(4096*304*2.1)) {
		t.Errorf("least time %g ns", *p.MinTimeNs)
	}
}

// A small M is bound by memory: 16 x 5120 x 8320 has 1.36 GFLOP on 42.9 MB.
func TestSmallM(t *testing.T) {
	p := product(t, "MI300X", 16, 5120, 8320, 0)
	bytes := 16.0*8320 + 5120*8320 + 16*5120*2 + (16+5120)*4
	if p.Bound != "memory" || p.Levels[0].Bytes != bytes || !near(*p.MinTimeNs, bytes/5324.8) {
		t.Errorf("%+v", p)
	}
	if !strings.Contains(strings.Join(p.Notes, " "), "M <= 512") {
		t.Errorf("notes %q", p.Notes)
	}
	if p.TimeNs != nil || p.AchievedGFLOPs != nil {
		t.Error("a rate without a time")
	}
}

func TestWithoutDevice(t *testing.T) {
	p := product(t, "", 512, 512, 512, 0)
	if p.PeakGFLOPs != nil || p.Bound != "" || p.Levels[0].Ridge != nil {
		t.Errorf("roofs of no device: %+v", p)
	}
}

// The traced matrix kernel by hand: 512 workgroups of 4 waves, 25 x 8
// instructions of 2 x 32 x 32 x 16 operations each.
func TestTracedPoint(t *testing.T) {
	tr, err := ingest.Open(t.Context(), []string{"../../fixtures/att/judged/mfma"}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{}, roofline.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	ps := roofline.Analyzer.Of(out).Points
	if len(ps) != 1 {
		t.Fatalf("%d points", len(ps))
	}
	p := ps[0]
	if p.FLOPs != 512*4*25*8*2*32*32*16 || p.Math != "matrix_bf16" || p.Source != "thread_trace" {
		t.Errorf("%.0f FLOP of %s by %s", p.FLOPs, p.Math, p.Source)
	}
	// Two loads of 16 bytes and a store of 8 per lane.
	if l := p.Levels[0]; l.Name != "requested" || l.Bytes != 512*4*64*(16+16+8) || l.Ridge != nil {
		t.Errorf("%+v", l)
	}
	if p.Bound != "" {
		t.Errorf("requested bytes decide a bound: %q", p.Bound)
	}
}
