package counters_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// write makes files below a new directory and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// long makes a rocprofv3 table of rows "pid dispatch kernel counter value
// start duration".
func long(rows ...string) string {
	out := "Dispatch_Id,Agent_Id,Process_Id,Grid_Size,Kernel_Name,Workgroup_Size,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n"
	for _, r := range rows {
		var pid, id, start, ns int
		var kernel, counter, value string
		if _, err := fmt.Sscan(r, &pid, &id, &kernel, &counter, &value, &start, &ns); err != nil {
			panic("a row of a test is no row: " + r)
		}
		out += fmt.Sprintf("%d,Agent 1,%d,1024,%s,64,%s,%s,%d,%d\n", id, pid, kernel, counter, value, start, start+ns)
	}
	return out
}

// TestJoin joins passes, ranks and replays.
func TestJoin(t *testing.T) {
	for _, c := range []struct {
		name       string
		files      map[string]string
		named      []string // instead of the directory
		dispatches int64
		counters   map[string]float64 // means per dispatch
		metrics    map[string]float64
	}{
		{
			"two passes of one process each: same dispatches, other ids",
			map[string]string{
				"pass_1/h/10_counter_collection.csv": long("10 1 k TCC_HIT_sum 30 100 10", "10 2 k TCC_HIT_sum 10 200 10"),
				"pass_2/h/20_counter_collection.csv": long("20 5 k TCC_MISS_sum 50 100 10", "20 6 k TCC_MISS_sum 10 200 10"),
			},
			nil,
			2,
			map[string]float64{"TCC_HIT_sum": 20, "TCC_MISS_sum": 30},
			map[string]float64{"l2_hit_pct": 40},
		},
		{
			"a counter of both passes is not added twice",
			map[string]string{
				"pmc_1/10_counter_collection.csv": long("10 1 k SQ_WAVES 16 100 10", "10 1 k TCC_HIT_sum 30 100 10"),
				"pmc_2/20_counter_collection.csv": long("20 1 k SQ_WAVES 16 100 30", "20 1 k TCC_MISS_sum 10 100 30"),
			},
			nil,
			1,
			map[string]float64{"SQ_WAVES": 16, "TCC_HIT_sum": 30},
			map[string]float64{"l2_hit_pct": 75, "duration_ns": 20},
		},
		{
			"two ranks of one pass have the same dispatch ids and are both counted",
			map[string]string{
				"h/10_counter_collection.csv": long("10 1 k TCC_HIT_sum 30 100 10", "10 1 k TCC_MISS_sum 10 100 10"),
				"h/11_counter_collection.csv": long("11 1 k TCC_HIT_sum 10 100 10", "11 1 k TCC_MISS_sum 30 100 10"),
			},
			nil,
			2,
			map[string]float64{"TCC_HIT_sum": 20},
			map[string]float64{"l2_hit_pct": 50},
		},
		{
			"ranks and passes at once: rank 1 of pass 2 goes with rank 1 of pass 1",
			map[string]string{
				"pass_1/10_counter_collection.csv": long("10 1 k TCC_HIT_sum 10 100 10"),
				"pass_1/11_counter_collection.csv": long("11 1 k TCC_HIT_sum 90 100 10"),
				"pass_2/20_counter_collection.csv": long("20 1 k TCC_MISS_sum 10 100 10"),
				"pass_2/21_counter_collection.csv": long("21 1 k TCC_MISS_sum 10 100 10"),
			},
			nil,
			2,
			map[string]float64{"TCC_HIT_sum": 50, "TCC_MISS_sum": 10},
			map[string]float64{"l2_hit_pct": 100 * 100. / 120},
		},
		{
			"replays share a dispatch id and are averaged",
			map[string]string{"r/counter_collection.csv": long("10 1 k SQ_WAVES 512 100 10", "10 1 k SQ_WAVES 512 200 10", "10 1 k SQ_WAVES 512 300 40")},
			nil,
			1,
			map[string]float64{"SQ_WAVES": 512},
			map[string]float64{"duration_ns": 10},
		},
		{
			"files that are named together are passes of one run",
			map[string]string{
				"a_counter_collection.csv": long("10 1 k TCC_HIT_sum 30 100 10"),
				"b_counter_collection.csv": long("20 1 k TCC_MISS_sum 10 100 10"),
			},
			[]string{"a_counter_collection.csv", "b_counter_collection.csv"},
			1,
			map[string]float64{"TCC_HIT_sum": 30, "TCC_MISS_sum": 10},
			map[string]float64{"l2_hit_pct": 75},
		},
		{
			"a pass with fewer dispatches: only whole ones count",
			map[string]string{
				"pass_1/c_counter_collection.csv": long("10 1 k TCC_HIT_sum 30 100 10", "10 2 k TCC_HIT_sum 1000 200 10"),
				"pass_2/c_counter_collection.csv": long("20 1 k TCC_MISS_sum 10 100 10"),
			},
			nil,
			2,
			map[string]float64{"TCC_HIT_sum": 515},
			map[string]float64{"l2_hit_pct": 75},
		},
		{
			"one process that changes its counters between dispatches holds passes",
			map[string]string{"c/counter_collection.csv": long(
				"10 1 k TCC_HIT_sum 30 100 10", "10 2 k TCC_HIT_sum 50 200 10", "10 3 k TCC_MISS_sum 10 300 10", "10 4 k TCC_MISS_sum 30 400 10",
			)},
			nil,
			2,
			map[string]float64{"TCC_HIT_sum": 40, "TCC_MISS_sum": 20},
			map[string]float64{"l2_hit_pct": 100 * 80. / 120},
		},
		{
			"a dispatch that lacks a row is no pass of its own",
			map[string]string{"c/counter_collection.csv": long(
				"10 1 k TCC_HIT_sum 30 100 10", "10 1 k TCC_MISS_sum 10 100 10", "10 2 k TCC_HIT_sum 50 200 10",
			)},
			nil,
			2,
			map[string]float64{"TCC_HIT_sum": 40, "TCC_MISS_sum": 10},
			map[string]float64{"l2_hit_pct": 75},
		},
		{
			"one row for each die is added up",
			map[string]string{"w/pmc_perf.csv": "Dispatch_ID,Kernel_Name,XCC_Index,TCC_HIT_sum,TCC_MISS_sum\n1,k,0,10,1\n1,k,1,20,2\n2,k,0,5,1\n2,k,1,5,2\n"},
			nil,
			2,
			map[string]float64{"TCC_HIT_sum": 20, "TCC_MISS_sum": 3},
			map[string]float64{"l2_hit_pct": 100 * 40. / 46},
		},
		{
			"single channels are added up where their sum is not there",
			map[string]string{"w/pmc_perf.csv": "Dispatch_ID,Kernel_Name,TCC_HIT[0],TCC_HIT[1],TCC_MISS[0],TCC_MISS[1],TCC_MISS_sum\n1,k,10,20,1,2,10\n"},
			nil,
			1,
			map[string]float64{"TCC_HIT": 30, "TCC_MISS_sum": 10},
			map[string]float64{"l2_hit_pct": 75},
		},
		{
			"parts of a joined workload are not read again",
			map[string]string{
				"w/pmc_perf.csv":   "Dispatch_ID,Kernel_Name,SQ_WAVES\n1,k,10\n",
				"w/pmc_perf_0.csv": "Dispatch_ID,Kernel_Name,SQ_WAVES\n1,k,99\n",
				"w/sysinfo.csv":    "gpu_arch,num_xcd\ngfx942,8\n",
			},
			nil,
			1,
			map[string]float64{"SQ_WAVES": 10},
			nil,
		},
		{
			"times of a kernel trace beside counters without times",
			map[string]string{
				"o_counter_collection.csv": "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n1,k,FETCH_SIZE,10\n2,k,FETCH_SIZE,10\n",
				"o_kernel_trace.csv":       "Kind,Kernel_Name,Start_Timestamp,End_Timestamp,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z\nKERNEL_DISPATCH,k,100,1124,64,1,1,64,1,1\n",
			},
			nil,
			2,
			map[string]float64{"FETCH_SIZE": 10},
			map[string]float64{"duration_ns": 1024, "fetch_GBps": 10},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := write(t, c.files)
			paths := []string{dir}
			if c.named != nil {
				paths = nil
				for _, n := range c.named {
					paths = append(paths, filepath.Join(dir, n))
				}
			}
			res := analyse(t, nil, "", paths...)
			if len(res.Kernels) != 1 {
				t.Fatalf("%d kernels", len(res.Kernels))
			}
			k := res.Kernels[0]
			if k.Dispatches != c.dispatches {
				t.Errorf("%d dispatches, want %d", k.Dispatches, c.dispatches)
			}
			for name, want := range c.counters {
				if k.Counters[name] != want {
					t.Errorf("%s %g, want %g", name, k.Counters[name], want)
				}
			}
			for id, want := range c.metrics {
				if got := k.Metrics[id].Value; got == nil || math.Abs(*got-want) > 1e-9 {
					t.Errorf("%s %+v, want %g", id, k.Metrics[id], want)
				}
			}
		})
	}
}

// TestWorkers: neither the number of workers nor who reads what shows.
func TestWorkers(t *testing.T) {
	var b strings.Builder
	b.WriteString("Dispatch_Id,Agent_Id,Process_Id,Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n")
	for i := range 12000 {
		fmt.Fprintf(&b, "%d,Agent %d,7,kernel_%d%s,MemUnitBusy,%d.%03d,%d,%d\n", i, i%3, i%5, strings.Repeat("x", 60), i%100, i%997, 1000*i+1, 1000*i+20+i%7)
		fmt.Fprintf(&b, "%d,Agent %d,7,kernel_%d%s,TCC_HIT[%d],%d,%d,%d\n", i, i%3, i%5, strings.Repeat("x", 60), i%16, i, 1000*i+1, 1000*i+20+i%7)
	}
	dir := write(t, map[string]string{"o_counter_collection.csv": b.String()})
	var first string
	for _, workers := range []int{1, 2, 7} {
		tr, err := ingest.Open(t.Context(), []string{dir}, ingest.Options{Only: trace.Counters})
		if err != nil {
			t.Fatal(err)
		}
		out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: workers, Params: map[string]float64{"counters.per_dispatch": 1}}, counters.Analyzer)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(counters.Analyzer.Of(out))
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(text)
		}
		if string(text) != first {
			t.Errorf("%d workers give something else", workers)
		}
	}
}

// TestSameKernelOtherGPU keeps a kernel apart on GPUs that are not alike.
func TestSameKernelOtherGPU(t *testing.T) {
	dir := write(t, map[string]string{
		"o_counter_collection.csv": "Dispatch_Id,Agent_Id,Kernel_Name,Counter_Name,Counter_Value\n1,Agent 1,k,TCC_HIT_sum,10\n2,Agent 2,k,TCC_HIT_sum,30\n",
		"o_agent_info.csv":         "Node_Id,Agent_Type,Num_Xcc,Cu_Count,Name\n1,GPU,8,304,gfx942\n2,GPU,8,256,gfx950\n",
	})
	res := analyse(t, nil, "", dir)
	if len(res.Kernels) != 2 || res.Kernels[0].Machine.Arch() == res.Kernels[1].Machine.Arch() {
		t.Errorf("%d kernels", len(res.Kernels))
	}
}

// TestSameFromEveryFormat: a CSV and a results.json of the same run give the
// same metrics.
func TestSameFromEveryFormat(t *testing.T) {
	root := filepath.Join("..", "..", "fixtures", "pmc")
	csv := analyse(t, nil, "", filepath.Join(root, "copy", "pass_1")).Kernels[0]
	fromJSON := analyse(t, nil, "", filepath.Join(root, "copy_json")).Kernels[0]
	if csv.Name != fromJSON.Name || csv.Dispatches != fromJSON.Dispatches || len(csv.Metrics) != len(fromJSON.Metrics) || len(csv.Metrics) < 10 {
		t.Fatalf("%q %d %d, %q %d %d", csv.Name, csv.Dispatches, len(csv.Metrics), fromJSON.Name, fromJSON.Dispatches, len(fromJSON.Metrics))
	}
	for id, a := range csv.Metrics {
		b := fromJSON.Metrics[id]
		if a.Value == nil || b.Value == nil || *a.Value != *b.Value || a.Source != b.Source {
			t.Errorf("%s: %+v from CSV, %+v from JSON", id, a, b)
		}
	}
}

// TestSameFromRealDatabase: the real run on MI300X, twelve passes, as a long
// CSV and as a database.
func TestSameFromRealDatabase(t *testing.T) {
	dir := realData(t)
	csv := analyse(t, nil, "", filepath.Join(dir, "gfx942_mi300x", "vcopy_rocpd_long")).Kernels[0]
	db := analyse(t, nil, "", filepath.Join(dir, "..", "rocpd", "real", "real_mi300x_vcopy_pmc.db")).Kernels[0]
	if csv.Dispatches != 3 || db.Dispatches != 3 || len(csv.Metrics) != len(db.Metrics) || len(csv.Metrics) < 60 {
		t.Fatalf("%d dispatches with %d metrics, %d with %d", csv.Dispatches, len(csv.Metrics), db.Dispatches, len(db.Metrics))
	}
	for id, a := range csv.Metrics {
		if b := db.Metrics[id]; a.Value == nil || b.Value == nil || *a.Value != *b.Value {
			t.Errorf("%s: %+v from CSV, %+v from the database", id, a, b)
		}
	}
}

// TestSanity: what cannot be right is not shown as a value, and said.
func TestSanity(t *testing.T) {
	xcc := map[string]string{"o_agent_info.csv": "Node_Id,Agent_Type,Num_Xcc,Cu_Count,Simd_Per_Cu,Name\n1,GPU,8,304,4,gfx942\n"}
	for _, c := range []struct {
		name  string
		rows  []string
		id    string // of a metric without a value
		note  string
		value *float64 // of the metric, where it has one after all
	}{
		{"a share above 100 % by far", []string{"1 1 k TCC_EA0_RDREQ_sum 100 1 9", "1 1 k TCC_EA0_RDREQ_DRAM_sum 300 1 9"}, "hbm_read_req_pct", "impossible:hbm_read_req_pct", nil},
		{"a share above 100 % by a little", []string{"1 1 k TCC_EA0_RDREQ_sum 10000 1 9", "1 1 k TCC_EA0_RDREQ_DRAM_sum 10002 1 9"}, "hbm_read_req_pct", "clamped:hbm_read_req_pct", new(100.0)},
		{"a negative share", []string{"1 1 k TCC_EA0_RDREQ_sum 100 1 9", "1 1 k TCC_EA0_RDREQ_DRAM_sum 150 1 9"}, "remote_read_req_pct", "impossible:remote_read_req_pct", nil},
		{"more 64-byte requests than none", []string{"1 1 k TCC_EA0_RDREQ_sum 100 1 9", "1 1 k TCC_EA0_RDREQ_32B_sum 80 1 9", "1 1 k TCC_BUBBLE_sum 90 1 9"}, "req_64B_pct", "req_sizes", nil},
		{"busy beyond all cycles", []string{"1 1 k GRBM_GUI_ACTIVE 8000 1 9", "1 1 k SQ_BUSY_CU_CYCLES 4000000 1 9"}, "cu_util_pct", "impossible:cu_util_pct", nil},
		{"hits and misses are zero", []string{"1 1 k TCC_HIT_sum 0 1 9", "1 1 k TCC_MISS_sum 0 1 9", "1 1 k SQ_WAVES 16 1 9"}, "l2_hit_pct", "l2_not_collected", nil},
		{"nothing was counted", []string{"1 1 k SQ_WAVES 0 1 9"}, "", "not_counted", nil},
		{"waves that the grid does not need", []string{"1 1 k SQ_WAVES 32 1 9"}, "", "waves", nil},
		{"hits and misses are not the requests", []string{"1 1 k TCC_HIT_sum 5 1 9", "1 1 k TCC_MISS_sum 5 1 9", "1 1 k TCC_REQ_sum 20 1 9"}, "", "hit_miss_req", nil},
		{"repeated at the same time with another value", []string{"1 1 k SQ_WAVES 16 1 9", "1 1 k SQ_WAVES 18 1 9"}, "", "repeated", nil},
	} {
		files := map[string]string{"o_counter_collection.csv": long(c.rows...)}
		for n, f := range xcc {
			files[n] = f
		}
		k := analyse(t, nil, "", write(t, files)).Kernels[0]
		if c.id != "" {
			got := k.Metrics[c.id].Value
			if (got == nil) != (c.value == nil) || got != nil && *got != *c.value {
				t.Errorf("%s: %s is %+v", c.name, c.id, k.Metrics[c.id])
			}
		}
		if !hasNote(&k, c.note) {
			t.Errorf("%s: no note %s in %v", c.name, c.note, k.Notes)
		}
	}
	// The grid of 1024 work-items in workgroups of 64 has 16 waves.
	k := analyse(t, nil, "", write(t, map[string]string{"o_counter_collection.csv": long("1 1 k SQ_WAVES 16 1 9"), "o_agent_info.csv": xcc["o_agent_info.csv"]})).Kernels[0]
	if len(k.Notes) != 0 {
		t.Errorf("notes about a sound run: %v", k.Notes)
	}
	// A kernel without LDS has no LDS instructions.
	k = analyse(t, nil, "", write(t, map[string]string{"o_counter_collection.csv": long("1 1 k SQ_INSTS_LDS 0 1 9"), "o_agent_info.csv": xcc["o_agent_info.csv"]})).Kernels[0]
	if len(k.Notes) != 0 {
		t.Errorf("notes about a kernel without LDS: %v", k.Notes)
	}
}

func hasNote(k *counters.Kernel, id string) bool {
	for _, n := range k.Notes {
		if n.ID == id {
			return true
		}
	}
	return false
}

// TestArch takes the byte formula of the architecture, and none by guess.
func TestArch(t *testing.T) {
	rows := func(prefix string, names ...string) []string {
		var out []string
		for _, n := range names {
			name, v, _ := strings.Cut(n, "=")
			out = append(out, fmt.Sprintf("1 1 k %s%s %s 1 100", prefix, name, v))
		}
		return out
	}
	for _, c := range []struct {
		name, device string
		rows         []string
		exact        float64
		low, high    float64
	}{
		{"gfx90a: 64 and 32", "gfx90a", rows("TCC_EA_", "RDREQ_sum=100", "RDREQ_32B_sum=20"), 80*64 + 20*32, 0, 0},
		{"spelled as on gfx90a, GPU not known: the same", "", rows("TCC_EA_", "RDREQ_sum=100", "RDREQ_32B_sum=20"), 80*64 + 20*32, 0, 0},
		{"gfx942: TCC_BUBBLE are 128", "gfx942", append(rows("TCC_EA0_", "RDREQ_sum=100", "RDREQ_32B_sum=20"), "1 1 k TCC_BUBBLE_sum 30 1 100"), 30*128 + 50*64 + 20*32, 0, 0},
		{"gfx942 without TCC_BUBBLE: a range", "gfx942", rows("TCC_EA0_", "RDREQ_sum=100", "RDREQ_32B_sum=20"), 0, 80*64 + 640, 80*128 + 640},
		{"gfx950: TCC_BUBBLE means nothing", "gfx950", append(rows("TCC_EA0_", "RDREQ_sum=100", "RDREQ_32B_sum=20"), "1 1 k TCC_BUBBLE_sum 30 1 100"), 0, 80*64 + 640, 80*128 + 640},
		{"gfx950: sizes", "gfx950", rows("TCC_EA0_", "RDREQ_128B_sum=30", "RDREQ_64B_sum=50", "RDREQ_32B_sum=20"), 30*128 + 50*64 + 640, 0, 0},
		{"sizes of gfx950 tell it", "", rows("TCC_EA0_", "RDREQ_128B_sum=30", "RDREQ_64B_sum=50", "RDREQ_32B_sum=20"), 30*128 + 50*64 + 640, 0, 0},
		{"TCC_EA0, GPU not known: a range", "", rows("TCC_EA0_", "RDREQ_sum=100", "RDREQ_32B_sum=20"), 0, 80*64 + 640, 80*128 + 640},
		{"only requests: a wider range", "gfx942", rows("TCC_EA0_", "RDREQ_sum=100"), 0, 3200, 12800},
		{"all are 32 bytes: nothing to tell apart", "gfx942", rows("TCC_EA0_", "RDREQ_sum=100", "RDREQ_32B_sum=100"), 3200, 0, 0},
		{"gfx1100: four sizes", "gfx1100", rows("GL2C_EA_RDREQ_", "32B_sum=1", "64B_sum=2", "96B_sum=3", "128B_sum=4"), 32 + 128 + 288 + 512, 0, 0},
		{"gfx1201: the rest are 256", "gfx1201", rows("GL2C_EA_RDREQ", "_32B_sum=1", "_64B_sum=2", "_128B_sum=4", "_sum=10"), 32 + 128 + 512 + 3*256, 0, 0},
		{"FETCH_SIZE is in KiB", "gfx942", []string{"1 1 k FETCH_SIZE 10.5 1 100"}, 10752, 0, 0},
		{"FETCH_SIZE of gfx950 may be half", "gfx950", []string{"1 1 k FETCH_SIZE 10.5 1 100"}, 0, 10752, 21504},
	} {
		k := analyse(t, nil, c.device, write(t, map[string]string{"o_counter_collection.csv": long(c.rows...)})).Kernels[0]
		v := k.Metrics["ea_read_bytes"]
		switch {
		case c.exact > 0 && (v.Value == nil || *v.Value != c.exact):
			t.Errorf("%s: %+v, want %g", c.name, v, c.exact)
		case c.exact == 0 && (v.Range == nil || v.Range.Low != c.low || v.Range.High != c.high || v.Value != nil):
			t.Errorf("%s: %+v, want %g to %g", c.name, v, c.low, c.high)
		}
	}
}

// TestPerXCC divides the busy cycles, a sum over the dies, by their number.
func TestPerXCC(t *testing.T) {
	dir := write(t, map[string]string{"o_counter_collection.csv": long("1 1 k GRBM_GUI_ACTIVE 80000 1 9", "1 1 k SQ_VALU_MFMA_BUSY_CYCLES 6080000 1 9")})
	k := analyse(t, nil, "MI300X", dir).Kernels[0]
	// 6,080,000 of 10,000 cycles x 304 CUs x 4 SIMDs.
	if got := k.Metrics["mfma_util_pct"].Value; got == nil || *got != 50 {
		t.Errorf("mfma_util_pct %+v, want 50", k.Metrics["mfma_util_pct"])
	}
	k = analyse(t, nil, "", dir).Kernels[0]
	if v, ok := k.Metrics["mfma_util_pct"]; ok {
		t.Errorf("mfma_util_pct %+v without the number of dies", v)
	}
}

// TestOtherFamily proposes counters that the GPU has.
func TestOtherFamily(t *testing.T) {
	dir := write(t, map[string]string{"o_counter_collection.csv": long("1 1 k GL2C_HIT_sum 10 1 9")})
	for _, a := range analyse(t, nil, "gfx1201", dir).Kernels[0].Absent {
		for _, c := range a.Counters {
			if strings.HasPrefix(c, "TCC_") || strings.HasPrefix(c, "TCP_TCC_") {
				t.Errorf("%s needs %s, which gfx1201 does not have", a.ID, c)
			}
		}
	}
}

// TestBusyClock: busy cycles that mean a clock above what the device has, or an
// idle one. A die of an MI300X counts 2100 cycles in 1000 ns at its highest.
func TestBusyClock(t *testing.T) {
	const xcc = "Node_Id,Agent_Type,Num_Xcc,Cu_Count,Simd_Per_Cu,Max_Engine_Clk_Fcompute,Name\n1,GPU,8,304,4,2100,gfx942\n"
	for _, c := range []struct {
		share       float64
		long, short bool
	}{{1.31, true, false}, {1.29, false, false}, {0.51, false, false}, {0.49, false, true}} {
		row := fmt.Sprintf("1 1 k GRBM_GUI_ACTIVE %.0f 1 1000", 8*2100*c.share)
		k := analyse(t, nil, "", write(t, map[string]string{"o_counter_collection.csv": long(row), "o_agent_info.csv": xcc})).Kernels[0]
		if hasNote(&k, "gui_active_long") != c.long || hasNote(&k, "gui_active_short") != c.short {
			t.Errorf("%g of the highest clock: %v", c.share, k.Notes)
		}
	}
}

// What reads 0 and cannot is no value: neither it nor what stands beside it in
// the same block.
func TestZerosThatCannotBe(t *testing.T) {
	agent := func(gfx string) string {
		return "Node_Id,Agent_Type,Num_Xcc,Cu_Count,Simd_Per_Cu,Name\n1,GPU,1,64,4," + gfx + "\n"
	}
	for _, c := range []struct {
		name, gfx string
		rows      []string
		absent    []string
		note      string
		kept      []string
	}{
		{
			"8192 waves and no VALU instruction", "gfx90a",
			[]string{"1 1 k SQ_WAVES 8192 1 9", "1 1 k SQ_INSTS_VALU 0 1 9", "1 1 k SQ_VALU_MFMA_BUSY_CYCLES 0 1 9", "1 1 k GRBM_GUI_ACTIVE 900 1 9"},
			[]string{"valu_instructions", "mfma_util_pct"},
			"not_counted",
			[]string{"waves", "gui_active_per_xcd_cycles"},
		},
		{
			"no matrix work is no contradiction", "gfx90a",
			[]string{"1 1 k SQ_WAVES 8192 1 9", "1 1 k SQ_INSTS_VALU 99 1 9", "1 1 k SQ_VALU_MFMA_BUSY_CYCLES 0 1 9", "1 1 k GRBM_GUI_ACTIVE 900 1 9"},
			nil, "",
			[]string{"valu_instructions", "mfma_util_pct"},
		},
		{"hits and misses of RDNA", "gfx1100", []string{"1 1 k GL2C_HIT_sum 0 1 9", "1 1 k GL2C_MISS_sum 0 1 9", "1 1 k FETCH_SIZE 50 1 9"}, []string{"l2_hit_pct"}, "l2_not_collected", []string{"ea_read_bytes"}},
		{"a hit rate that was rounded", "gfx942", []string{"1 1 k L2CacheHit 0 1 9", "1 1 k WRITE_SIZE 50 1 9", "1 1 k VALUBusy 0 1 9"}, nil, "", []string{"l2_hit_pct", "ea_write_bytes", "valu_util_pct"}},
		{"matrix instructions and no busy cycle", "gfx942", []string{"1 1 k SQ_INSTS_MFMA 64 1 9", "1 1 k SQ_VALU_MFMA_BUSY_CYCLES 0 1 9", "1 1 k GRBM_GUI_ACTIVE 9 1 9"}, []string{"mfma_util_pct"}, "not_counted", []string{"mfma_instructions"}},
		{"LDS instructions and no LDS cycle", "gfx942", []string{"1 1 k SQ_INSTS_LDS 64 1 9", "1 1 k SQ_LDS_IDX_ACTIVE 0 1 9", "1 1 k SQ_LDS_BANK_CONFLICT 0 1 9", "1 1 k GRBM_GUI_ACTIVE 900 1 9"}, []string{"lds_util_pct", "lds_bytes"}, "not_counted", []string{"lds_instructions"}},
		{"FETCH_SIZE of gfx12", "gfx1201", []string{"1 1 k FETCH_SIZE 0 1 9", "1 1 k SQ_WAVES 9 1 9"}, []string{"ea_read_bytes"}, "not_counted", []string{"waves"}},
		{"writes that stay in L2", "gfx90a", []string{"1 1 k FETCH_SIZE 9 1 9", "1 1 k WRITE_SIZE 0 1 9"}, nil, "", []string{"ea_read_bytes", "ea_write_bytes"}},
	} {
		k := analyse(t, nil, "", write(t, map[string]string{"o_counter_collection.csv": long(c.rows...), "o_agent_info.csv": agent(c.gfx)})).Kernels[0]
		for _, id := range c.absent {
			if v, ok := k.Metrics[id]; ok {
				t.Errorf("%s: %s is %+v", c.name, id, v)
			}
		}
		for _, id := range c.kept {
			if _, ok := k.Metrics[id]; !ok {
				t.Errorf("%s: no %s", c.name, id)
			}
		}
		if c.note != "" && !hasNote(&k, c.note) || c.note == "" && (hasNote(&k, "not_counted") || hasNote(&k, "l2_not_collected")) {
			t.Errorf("%s: notes %v, want %q", c.name, k.Notes, c.note)
		}
	}
}

// A first touch of 430 ms beside calls of 0.6 ms is in no rate; a call that did
// as many times the work is.
func TestOutliers(t *testing.T) {
	rows := func(work string) []string {
		return []string{
			"1 1 k FETCH_SIZE " + work + " 1000000 430000000",
			"1 2 k FETCH_SIZE 600000 500000000 600000",
			"1 3 k FETCH_SIZE 600000 600000000 600000",
			"1 4 k FETCH_SIZE 600000 700000000 600000",
		}
	}
	first := analyse(t, nil, "MI210", write(t, map[string]string{"o_counter_collection.csv": long(rows("600000")...)})).Kernels[0]
	if v := first.Metrics["duration_ns"].Value; v == nil || *v != 600000 {
		t.Errorf("duration %+v", first.Metrics["duration_ns"])
	}
	if len(first.Outliers) != 1 || first.Outliers[0].DurationNs != 430e6 || first.Outliers[0].MedianNs != 600000 || *first.Outliers[0].ID != 1 || !hasNote(&first, "outliers") {
		t.Errorf("outliers %+v, notes %v", first.Outliers, first.Notes)
	}
	if first.Dispatches != 4 || *first.TotalNs != 431.8e6 || first.Metrics["duration_ns"].Dispatches != 0 {
		t.Errorf("%d dispatches, %g ns, %+v", first.Dispatches, *first.TotalNs, first.Metrics["duration_ns"])
	}
	work := analyse(t, nil, "MI210", write(t, map[string]string{"o_counter_collection.csv": long(rows("430000000")...)})).Kernels[0]
	if v := work.Metrics["duration_ns"].Value; v == nil || *v != 431.8e6/4 || len(work.Outliers) != 0 {
		t.Errorf("a long call with the work of it: %+v, outliers %+v", work.Metrics["duration_ns"], work.Outliers)
	}
}

// More than the instructions can move is no traffic: the stalls that were not
// counted are in it.
func TestCaps(t *testing.T) {
	agent := "Node_Id,Agent_Type,Num_Xcc,Cu_Count,Simd_Per_Cu,Name\n1,GPU,8,304,4,gfx942\n"
	run := func(more ...string) counters.Kernel {
		rows := append([]string{"1 1 k SQ_LDS_IDX_ACTIVE 18874368 1000 38480", "1 1 k SQ_LDS_BANK_CONFLICT 1048576 1000 38480", "1 1 k SQ_INSTS_LDS 524288 1000 38480", "1 1 k GRBM_GUI_ACTIVE 730944 1000 38480"}, more...)
		return analyse(t, nil, "MI300X", write(t, map[string]string{"o_counter_collection.csv": long(rows...), "o_agent_info.csv": agent})).Kernels[0]
	}
	k := run()
	bytes, useful := k.Metrics["lds_bytes"], k.Metrics["lds_useful_pct"]
	if bytes.Value != nil || bytes.Range == nil || bytes.Range.High != 524288*1024 || *bytes.Computed != 17825792*128 || !hasNote(&k, "over_cap:lds_bytes") {
		t.Errorf("bytes %+v", bytes)
	}
	if useful.Range == nil || math.Abs(useful.Range.High-100*8*524288/(730944.0/8*304)) > 1e-9 {
		t.Errorf("useful %+v", useful)
	}
	k = run("1 1 k SQ_LDS_UNALIGNED_STALL 15728640 1000 38480")
	if v := k.Metrics["lds_bytes"].Value; v == nil || *v != 2097152*128 {
		t.Errorf("bytes %+v", k.Metrics["lds_bytes"])
	}
	if v := k.Metrics["lds_useful_pct"].Value; v == nil || math.Abs(*v-100*2097152/(730944.0/8*304)) > 1e-9 {
		t.Errorf("useful %+v", k.Metrics["lds_useful_pct"])
	}
}

// VALUBusy of rocprof v1 divides by the cycles of all dies of an MI300X.
func TestProfilersFigures(t *testing.T) {
	head := "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size,sig,obj,VALUBusy,FetchSize,DispatchNs,BeginNs,EndNs,CompleteNs\n"
	dir := write(t, map[string]string{"results.csv": head + "0,\"k\",0,0,0,10,10,65536,256,0,0,20,4,16,64,0x0,0x7f00,9.0,1000.0,1,1000,2000,2001\n"})
	old := analyse(t, nil, "MI300X", dir).Kernels[0]
	if r := old.Metrics["valu_util_pct"].Range; r == nil || r.Low != 9 || r.High != 72 {
		t.Errorf("MI300X: %+v", old.Metrics["valu_util_pct"])
	}
	if r := old.Metrics["ea_read_bytes"].Range; r == nil || r.Low != 512000 || r.High != 1024000 {
		t.Errorf("MI300X: %+v", old.Metrics["ea_read_bytes"])
	}
	one := analyse(t, nil, "MI250X", dir).Kernels[0]
	if v := one.Metrics["valu_util_pct"].Value; v == nil || *v != 9 {
		t.Errorf("MI250X: %+v", one.Metrics["valu_util_pct"])
	}
	if v := one.Metrics["ea_read_bytes"].Value; v == nil || *v != 1024000 {
		t.Errorf("MI250X: %+v", one.Metrics["ea_read_bytes"])
	}
	long3 := analyse(t, nil, "MI300X", write(t, map[string]string{"o_counter_collection.csv": long("1 1 k VALUBusy 9 1000 2000")})).Kernels[0]
	if v := long3.Metrics["valu_util_pct"].Value; v == nil || *v != 9 {
		t.Errorf("rocprofv3: %+v", long3.Metrics["valu_util_pct"])
	}
	any := analyse(t, nil, "", dir).Kernels[0]
	if r := any.Metrics["ea_read_bytes"].Range; r == nil || r.Low != 1024000 || r.High != 2048000 {
		t.Errorf("no GPU: %+v", any.Metrics["ea_read_bytes"])
	}
}
