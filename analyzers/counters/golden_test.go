package counters_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// realData returns the folder of real counter files, or skips the test.
func realData(t *testing.T) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared", "data", "pmc")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the real counter data is not here (%s)", dir)
	}
	return dir
}

// analyse runs the analyzer on paths.
func analyse(t *testing.T, params map[string]float64, device string, paths ...string) *counters.Result {
	t.Helper()
	tr, err := ingest.Open(t.Context(), paths, ingest.Options{Only: trace.Counters})
	if err != nil {
		t.Fatal(err)
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2, Params: params, Device: device}, counters.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	res := counters.Analyzer.Of(out)
	if res == nil {
		t.Fatalf("skipped: %v", out.Skipped)
	}
	return res
}

// golden is golden.json.
type golden struct {
	Workloads map[string]struct {
		Arch       string
		Dispatches int64
		Metrics    map[string]struct {
			SumOverSum  *float64 `json:"sum_over_sum"`
			AvgOfRatios *float64 `json:"avg_of_ratios"`
		}
		Channels map[string]struct {
			Channels    int
			CV          float64 `json:"cv"`
			MaxOverMean float64 `json:"max_over_mean"`
		} `json:"channels_dispatch0"`
	}
	LlamaCpp []struct {
		Phase, Kernel string
		Dispatches    int64
		Mean          map[string]float64
		Fetch         *float64 `json:"fetch_GBps_sum_over_sum"`
	} `json:"gfx1151_llamacpp"`
	Copy struct {
		Read  float64 `json:"read_bytes"`
		Write float64 `json:"write_bytes"`
		Hit   float64 `json:"l2_hit_pct"`
		RGBps float64 `json:"read_GBps"`
		WGBps float64 `json:"write_GBps"`
	} `json:"gfx942_copy_1GiB"`
	HipKittens map[string]map[string]map[string]float64 `json:"gfx950_hipkittens"`
}

func readGolden(t *testing.T, dir string) golden {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestGolden compares every metric of every real workload with values that
// were computed apart, in both ways of adding up.
func TestGolden(t *testing.T) {
	dir := realData(t)
	g := readGolden(t, dir)
	compared := 0
	for workload, want := range g.Workloads {
		for _, mean := range []float64{0, 1} {
			res := analyse(t, map[string]float64{"counters.mean_of_ratios": mean}, "", filepath.Join(dir, workload))
			if len(res.Kernels) != 1 {
				t.Errorf("%s: %d kernels", workload, len(res.Kernels))
				continue
			}
			k := res.Kernels[0]
			if k.Dispatches != want.Dispatches || k.Machine.Arch() != want.Arch {
				t.Errorf("%s: %d dispatches on %q, want %d on %s", workload, k.Dispatches, k.Machine.Arch(), want.Dispatches, want.Arch)
			}
			for id, w := range want.Metrics {
				expect := w.SumOverSum
				if mean == 1 {
					expect = w.AvgOfRatios
				}
				got := k.Metrics[id].Value
				switch {
				case expect == nil || id == "duration_ns" && *expect == 0:
					if got != nil {
						t.Errorf("%s %s: %g, want none", workload, id, *got)
					}
				case got == nil:
					t.Errorf("%s %s (mean %g): none (%+v), want %g", workload, id, mean, k.Metrics[id], *expect)
				case math.Abs(*got-*expect) > 0.01:
					t.Errorf("%s %s (mean %g): %.6f, want %.6f", workload, id, mean, *got, *expect)
				default:
					compared++
				}
			}
		}
	}
	if compared < 200 {
		t.Errorf("only %d values were compared", compared)
	}
	t.Logf("%d values within 0.01", compared)
}

// TestGoldenChannels: the balance of the first dispatch alone is in the golden
// file; ours is over all three, so only what does not change is compared.
func TestGoldenChannels(t *testing.T) {
	dir := realData(t)
	for workload, want := range readGolden(t, dir).Workloads {
		k := analyse(t, nil, "", filepath.Join(dir, workload)).Kernels[0]
		found := 0
		for _, c := range k.Channels {
			w, ok := want.Channels[c.Counter]
			if !ok {
				continue
			}
			found++
			if c.Channels != w.Channels {
				t.Errorf("%s %s: %d channels, want %d", workload, c.Counter, c.Channels, w.Channels)
			}
			if c.Partial != (c.Channels != c.Of) {
				t.Errorf("%s %s: partial %v with %d of %d", workload, c.Counter, c.Partial, c.Channels, c.Of)
			}
		}
		if found == 0 {
			t.Errorf("%s: no channels", workload)
		}
	}
}

// TestGoldenRange: without the counters of request sizes, gfx950's reads are
// somewhere between 64 and 128 bytes a request.
func TestGoldenRange(t *testing.T) {
	dir := realData(t)
	k := analyse(t, nil, "", filepath.Join(dir, "gfx950_mi350", "vcopy")).Kernels[0]
	v := k.Metrics["ea_read_bytes"]
	// bubble_formula_read_bytes 4200960, 4199168, 4199168 and twice that.
	const low = (4200960.0 + 4199168 + 4199168) / 3
	if v.Value != nil || v.Range == nil || math.Abs(v.Range.Low-low) > 0.01 || math.Abs(v.Range.High-2*low) > 0.01 {
		t.Errorf("ea_read_bytes %+v, want the range %g to %g", v, low, 2*low)
	}
}

// TestGoldenCopy is a copy of 1 GiB on MI300X whose table does not name the
// GPU: TCC_BUBBLE tells it.
func TestGoldenCopy(t *testing.T) {
	dir := realData(t)
	want := readGolden(t, dir).Copy
	k := analyse(t, nil, "", filepath.Join(dir, "variants", "copy_1gib_gfx942_rocm724_counter_collection.csv")).Kernels[0]
	for id, w := range map[string]float64{
		"ea_read_bytes": want.Read, "ea_write_bytes": want.Write, "l2_hit_pct": want.Hit,
		"ea_read_GBps": want.RGBps, "ea_write_GBps": want.WGBps,
	} {
		if got := k.Metrics[id].Value; got == nil || math.Abs(*got-w) > 0.01 {
			t.Errorf("%s: %+v, want %g", id, k.Metrics[id], w)
		}
	}
}

// TestGoldenHipKittens: bank conflicts per LDS instruction on MI350X.
func TestGoldenHipKittens(t *testing.T) {
	dir := realData(t)
	compared := 0
	for file, kernels := range readGolden(t, dir).HipKittens {
		res := analyse(t, nil, "", filepath.Join(dir, "gfx950_mi350x_hipkittens", file))
		for name, want := range kernels {
			k := find(res, name, want["dispatches"])
			if k == nil || k.Machine.Arch() != "gfx950" {
				t.Errorf("%s: no kernel %q with %g dispatches on gfx950", file, name, want["dispatches"])
				continue
			}
			w, ok := want["conflict_cycles_per_lds_inst"]
			got := k.Metrics["conflict_cycles_per_lds_inst"].Value
			if ok && (got == nil || math.Abs(*got-w) > 1e-4) {
				t.Errorf("%s %s: %v, want %g", file, name, got, w)
			}
			if ok {
				compared++
			}
		}
	}
	if compared < 15 {
		t.Errorf("only %d kernels compared", compared)
	}
}

// find returns the kernel of a name, which the golden file cuts at 120
// characters so that several may have it.
func find(res *counters.Result, name string, dispatches float64) *counters.Kernel {
	for i := range res.Kernels {
		n := res.Kernels[i].Name
		if float64(res.Kernels[i].Dispatches) != dispatches {
			continue
		}
		if n == name || len(name) == 120 && len(n) > 120 && n[:120] == name {
			return &res.Kernels[i]
		}
	}
	return nil
}

// TestGoldenLlamaCpp: two tables of one application, which were taken in two
// runs, give one table of kernels; profiler's own figures are averaged.
func TestGoldenLlamaCpp(t *testing.T) {
	dir := filepath.Join(realData(t), "gfx1151_strixhalo")
	res := analyse(t, nil, "gfx1151",
		filepath.Join(dir, "decode_stall_counter_collection.csv"), filepath.Join(dir, "decode_fetch_counter_collection.csv"))
	compared := 0
	for _, want := range readGolden(t, realData(t)).LlamaCpp {
		if want.Phase != "decode" {
			continue
		}
		k := find(res, want.Kernel, float64(want.Dispatches))
		if k == nil {
			t.Errorf("no kernel %q with %d dispatches", want.Kernel, want.Dispatches)
			continue
		}
		for id, w := range map[string]float64{
			"l2_hit_pct": want.Mean["L2CacheHit"], "lds_bank_conflict_pct": want.Mean["LDSBankConflict"],
			"occupancy_pct": want.Mean["OccupancyPercent"], "mem_unit_busy_pct": want.Mean["MemUnitBusy"], "waves": want.Mean["Wavefronts"],
		} {
			got := k.Metrics[id].Value
			if got == nil || math.Abs(*got-w) > 0.01 {
				t.Errorf("%s: %s %+v, want %g", want.Kernel[:20], id, k.Metrics[id], w)
				continue
			}
			compared++
		}
		if mean, ok := want.Mean["FETCH_SIZE"]; ok && math.Abs(k.Counters["FETCH_SIZE"]-mean) > 1e-6 {
			t.Errorf("%s: FETCH_SIZE %g, want %g", want.Kernel[:20], k.Counters["FETCH_SIZE"], mean)
		}
	}
	if compared < 50 {
		t.Errorf("only %d values compared", compared)
	}
}

// printed maps names of rocprof-compute's tables to metrics.
var printed = map[string]string{
	"SALU Utilization": "salu_util_pct", "VALU Utilization": "valu_util_pct", "MFMA Utilization": "mfma_util_pct", "VMEM Utilization": "vmem_util_pct",
	"Branch Utilization": "branch_util_pct", "VALU Active Threads": "valu_active_threads", "IPC": "ipc", "Wavefront Occupancy": "wave_occupancy",
	"vL1D Cache Hit Rate": "vl1d_hit_pct", "vL1D Cache BW": "vl1d_bw_GBps", "L2 Cache Hit Rate": "l2_hit_pct", "L2 Cache BW": "l2_bw_GBps",
	"L2-Fabric Read BW": "ea_read_GBps", "L2-Fabric Write BW": "ea_write_GBps", "L2-Fabric Read Latency": "ea_read_latency_cyc",
	"L2-Fabric Write Latency": "ea_write_latency_cyc", "Coalescing": "coalescing_pct", "VMEM Latency": "vmem_latency_cyc", "SMEM Latency": "smem_latency_cyc",
}

// TestPrintedByRocprofCompute compares with what rocprof-compute 3.3 printed:
// means of each dispatch's value, cut or rounded to two decimals.
func TestPrintedByRocprofCompute(t *testing.T) {
	dir := realData(t)
	compared := map[string]int{}
	for file, workload := range map[string]string{
		"vcopy_MI100.txt": "gfx908_mi100/vcopy", "vcopy_MI200.txt": "gfx90a_mi200/vcopy", "vcopy_MI300X_A1.txt": "gfx942_mi300x/vcopy",
		"vcopy_MI300X_A1_rocpd.txt": "gfx942_mi300x/vcopy_rocpd_long", "vcopy_MI350.txt": "gfx950_mi350/vcopy",
	} {
		raw, err := os.ReadFile(filepath.Join(dir, "reference_output", file))
		if err != nil {
			t.Fatal(err)
		}
		k := analyse(t, map[string]float64{"counters.mean_of_ratios": 1}, "", filepath.Join(dir, workload)).Kernels[0]
		for _, line := range strings.Split(string(raw), "\n") {
			cells := strings.Split(line, "│")
			if len(cells) < 4 {
				continue
			}
			name := strings.TrimSpace(cells[2])
			want, err := strconv.ParseFloat(strings.TrimSpace(cells[3]), 64)
			got := k.Metrics[printed[name]].Value
			if err != nil || printed[name] == "" || math.IsNaN(want) || math.IsInf(want, 0) {
				continue
			}
			if got == nil {
				if name != "L2-Fabric Read BW" || file != "vcopy_MI350.txt" { // printed at half of the truth there
					t.Errorf("%s: %s is %g there, none here", file, name, want)
				}
				continue
			}
			if math.Abs(*got-want) > 0.01*max(1, math.Abs(want)/1e4) {
				t.Errorf("%s: %s is %g there, %g here", file, name, want, *got)
				continue
			}
			compared[name]++
		}
	}
	total := 0
	for _, n := range compared {
		total += n
	}
	if len(compared) < 18 || total < 100 {
		t.Errorf("only %d values of %d names compared: %v", total, len(compared), compared)
	}
	t.Logf("%d printed values", total)
}
