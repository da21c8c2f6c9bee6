package counters

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const resultsSample = `{"rocprofiler-sdk-tool":[{"metadata":{"pid":15606,"init_time":1},
"agents":[{"id":{"handle":7001},"type":2,"node_id":1,"name":"gfx942","wave_front_size":64,"num_xcc":8,"cu_count":304,"max_engine_clk_fcompute":2100},
 {"id":{"handle":7000},"type":1,"node_id":0,"name":"CPU"}],
"counters":[{"agent_id":{"handle":7001},"id":{"handle":101},"name":"TCC_HIT_sum"},{"agent_id":{"handle":7001},"id":{"handle":102},"name":"TCC_HIT"}],
"strings":{"counters":{"dimension_ids":[{"id":1,"instance_size":16}]}},
"kernel_symbols":[{"kernel_id":17,"kernel_name":"_Z3addv.kd","formatted_kernel_name":"add()","demangled_kernel_name":"add() [clone .kd]"}],
"callback_records":{"other":[1,{"a":[2]}],"counter_collection":[{"dispatch_data":{"dispatch_info":{"agent_id":{"handle":7001},"kernel_id":17,"dispatch_id":3,
 "workgroup_size":{"x":64,"y":1,"z":1},"grid_size":{"x":1024,"y":1024,"z":1}},"start_timestamp":3200098838431081,"end_timestamp":3200098838483232},
 "records":[{"counter_id":{"handle":101},"value":66160.0},{"counter_id":{"handle":102},"value":512.0},{"counter_id":{"handle":102},"value":517.0},{"counter_id":{"handle":9},"value":1}],
 "lds_block_size_v":512}]},"buffer_records":{"kernel_dispatch":[]}}]}`

func resultsFile(content string) *ResultsFile {
	return &ResultsFile{FS: fstest.MapFS{"r.json": {Data: []byte(content)}}, Name: "r.json", Shown: "dir/r.json"}
}

func TestResults(t *testing.T) {
	r := resultsFile(resultsSample)
	agents, err := r.Agents(t.Context())
	if err != nil || len(agents) != 1 || agents[0].Gfx != "gfx942" || *agents[0].XCCs != 8 || agents[0].Names[0] != "7001" || agents[0].DeviceID != nil {
		t.Fatalf("agents %+v, %v", agents, err)
	}
	got, report, err := fold(t, r, 2)
	if err != nil || len(got) != 1 {
		t.Fatalf("%d dispatches, %v", len(got), err)
	}
	d := got[0]
	if d.Kernel != "add()" || d.Process != "15606" || d.Agent != "7001" || d.ID != 3 || d.Grid != 1<<20 || d.Workgroup != 64 || d.LDSBytes != 512 || d.EndNs-d.StartNs != 52151 {
		t.Errorf("%+v", d)
	}
	want := []trace.CounterValue{all("TCC_HIT_sum", 66160), {Counter: "TCC_HIT", Instance: 0, Value: 512}, {Counter: "TCC_HIT", Instance: 1, Value: 517}}
	if len(d.Values) != 3 || d.Values[0] != want[0] || d.Values[1] != want[1] || d.Values[2] != want[2] {
		t.Errorf("values %v, want %v", d.Values, want)
	}
	if report.Rows != 3 || report.Bad != 1 || len(report.Notes) != 1 {
		t.Errorf("report %+v: the record of a counter that is not listed is bad", report)
	}
}

func TestResultsDamaged(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{resultsSample[:len(resultsSample)/2], "ends in the middle"},
		{`{"rocprofiler-sdk-tool":{}}`, "should be"},
		{`{"rocprofiler-sdk-tool":[{"callback_records":{"counter_collection":[{"records":7}]}}]}`, "dir/r.json: byte"},
		{`[]`, "should be"},
	} {
		_, _, err := fold(t, resultsFile(c.content), 1)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.50q: error %v, want %q", c.content, err, c.want)
		}
	}
}

func TestSysinfo(t *testing.T) {
	a, err := ReadSysinfo(strings.NewReader("gpu_model,gpu_arch,cu_per_gpu,num_xcd,total_l2_chan,max_sclk,max_mclk,num_memory_channels,memory_partition,compute_partition,gpu_chip_id\nMI300X_A1,gfx942,304,8,128,0,,128,NPS4,NA,29857,more\n"), "dir/sysinfo.csv")
	if err != nil {
		t.Fatal(err)
	}
	if a.Gfx != "gfx942" || *a.CUs != 304 || *a.XCCs != 8 || *a.L2Channels != 128 || *a.MemoryChannels != 128 || *a.DeviceID != 29857 {
		t.Errorf("%+v", a)
	}
	if a.MaxClockMHz != nil || a.MemoryClockMHz != nil || a.ComputePartition != "" || a.MemoryPartition != "NPS4" {
		t.Error("clocks of 0 or nothing, and NA, are not known")
	}
	for _, bad := range []string{"", "a,b\n", "a,b\n1,2\n", "\"x"} {
		if _, err := ReadSysinfo(strings.NewReader(bad), "s"); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func TestRoofline(t *testing.T) {
	for _, c := range []struct {
		name, content string
		want          map[string]float64
	}{
		{
			"MI200", "device,HBMBw,HBMBwLow,hbmBwHigh,L2Bw,L1Bw,LDSBw,FP32Flops,MFMAI8Ops,MFMAFI8OpsLow\n0,1389.149,1388.5,1389.7,5017.4,9227.4,17716.9,20946.1,166394.9,165904.0\n",
			map[string]float64{"HBM": 1389.149, "L2": 5017.4, "L1": 9227.4, "LDS": 17716.9, "FP32Flops": 20946.1, "MFMAI8Ops": 166394.9},
		},
		{"devID, MALL, L0", "devID,HBMBw,MALLBw,L0Bw,MFMA_FLOPs_F6F4\n3,6237.3,8496.8,3775,\n", map[string]float64{"HBM": 6237.3, "MALL": 8496.8, "L0": 3775}},
	} {
		roofs, err := ReadRoofline(strings.NewReader(c.content), "r.csv")
		if err != nil || len(roofs) != len(c.want) {
			t.Errorf("%s: %+v, %v", c.name, roofs, err)
		}
		for _, r := range roofs {
			if c.want[r.Name] != r.Value || r.Origin.Row != 1 {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
	}
	if _, err := ReadRoofline(strings.NewReader("a,b\n1,2\n"), "r.csv"); err == nil {
		t.Error("another table is read")
	}
}
