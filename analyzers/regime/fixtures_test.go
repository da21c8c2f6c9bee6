package regime_test

import (
	"math"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

const fixtureRoot = "../../fixtures/"

// judged reads captures with their counters.
func judged(t *testing.T, paths ...string) regime.Kernel {
	t.Helper()
	for i := range paths {
		paths[i] = fixtureRoot + paths[i]
	}
	tr, err := ingest.Open(t.Context(), paths, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2}, regime.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	ks := regime.Analyzer.Of(out).Kernels
	if len(ks) == 0 {
		t.Fatal("no kernel")
	}
	return ks[0]
}

// The simulated captures are of kernels that one thing bounds.
func TestSimulatedCaptures(t *testing.T) {
	for _, c := range []struct {
		paths   []string
		regime  regime.Regime
		subtype string
		roof    bool
		conf    trust.Confidence
	}{
		{[]string{"att/judged/mfma"}, regime.Compute, "matrix", true, trust.Medium},
		{[]string{"att/judged/lds"}, regime.Bandwidth, "lds", false, trust.Medium},
		{[]string{"att/judged/uneven"}, regime.Latency, "barrier", false, trust.Medium},
		{[]string{"att/judged/tail"}, regime.Latency, regime.Tail, false, trust.Medium},
		{[]string{"att/gemm"}, regime.Latency, "vmem", false, trust.Medium},
		{[]string{"att/gemm31"}, regime.Latency, "vmem", false, trust.Low},
		{[]string{"att/gemm", "pmc/gemm"}, regime.Latency, "vmem", false, trust.High},
		{[]string{"att/copy", "pmc/copy"}, regime.Bandwidth, "hbm", false, trust.High},
		{[]string{"pmc/judged/stream"}, regime.Bandwidth, "hbm", true, trust.Medium},
		{[]string{"pmc/judged/lookup"}, regime.Bandwidth, "l2", false, trust.Medium},
		{[]string{"pmc/judged/one_xcd"}, regime.Inconclusive, "thread_trace", false, trust.None},
	} {
		t.Run(c.paths[len(c.paths)-1], func(t *testing.T) {
			k := judged(t, c.paths...)
			if k.Regime != c.regime || k.Subtype != c.subtype || k.AtRoof != c.roof || k.Confidence != c.conf {
				t.Errorf("%s %s, roof %v, %s (%s); want %s %s, %v, %s", k.Regime, k.Subtype, k.AtRoof, k.Confidence, k.Verdict, c.regime, c.subtype, c.roof, c.conf)
			}
			if len(k.Sources) < len(c.paths) {
				t.Errorf("sources %+v", k.Sources)
			}
		})
	}
}

// Rates by hand: 2 GiB in 480 us of 5324.8 GB/s; 20,160,000 lines of 128 bytes
// in 100 us of 128 channels x 128 B x 2.1 GHz; 40 % of eight XCDs over the clock
// of one, which is no fact.
func TestRatesByHand(t *testing.T) {
	for _, c := range []struct {
		path, resource string
		pct            float64
		fact           bool
	}{
		{"pmc/judged/stream", "hbm", 100 * (2 << 30) / 480e-6 / 5324.8e9, true},
		{"pmc/judged/lookup", "l2", 100 * 20160000 * 128 / 100e-6 / (128 * 128 * 2.1e9), true},
		{"pmc/judged/one_xcd", "matrix", 320, false},
	} {
		found := false
		for _, l := range judged(t, c.path).Levels {
			if l.Resource != c.resource {
				continue
			}
			found = true
			if math.Abs(l.Pct-c.pct) > 0.01 || (l.Flag == "") != c.fact {
				t.Errorf("%s: %s at %g %%, flag %q; want %g, a fact: %v", c.path, l.Resource, l.Pct, l.Flag, c.pct, c.fact)
			}
		}
		if !found {
			t.Errorf("%s: no %s", c.path, c.resource)
		}
	}
}

// The waits of a trace share out all of its waiting.
func TestWaitsAreWhole(t *testing.T) {
	for _, dir := range []string{"att/gemm", "att/copy", "att/judged/uneven"} {
		sum := 0.0
		for _, w := range judged(t, dir).Waits {
			sum += w.SharePct
		}
		if math.Abs(sum-100) > 1e-6 {
			t.Errorf("%s: waits sum to %g %%", dir, sum)
		}
	}
}

// The matrix kernel by hand: 25 x 8 instructions of 32 cycles in each of two
// waves of a SIMD are 12800 cycles of its window.
func TestMatrixByHand(t *testing.T) {
	k := judged(t, "att/judged/mfma")
	for _, l := range k.Levels {
		if l.Resource != "matrix" {
			continue
		}
		window := 12800 / (l.Pct / 100)
		if most := float64(*k.Main.Hot.Machine.WindowCycles); window > most || window < 0.95*most {
			t.Errorf("12800 cycles are %g %% of %g; the CU's window is %g", l.Pct, window, most)
		}
		return
	}
	t.Error("no matrix utilisation")
}

// The LDS kernel by hand: 8 waves x 16 rounds x 8 reads of 64 x 16 bytes, at
// 128 bytes per clock, over the window.
func TestLDSByHand(t *testing.T) {
	k := judged(t, "att/judged/lds")
	want := 100 * 8 * 16 * 8 * 1024 / 128 / float64(*k.Main.Hot.Machine.WindowCycles)
	if got := *k.Main.LDSPct; math.Abs(got-want) > 1e-6 {
		t.Errorf("LDS at %g %%, want %g", got, want)
	}
}
