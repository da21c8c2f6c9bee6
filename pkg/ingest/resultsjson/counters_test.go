package resultsjson

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const countedSample = `{"rocprofiler-sdk-tool":[{"metadata":{"pid":15606,"init_time":1},
"agents":[{"id":{"handle":7001},"type":2,"node_id":1,"name":"gfx942","wave_front_size":64,"num_xcc":8,"cu_count":304,"max_engine_clk_fcompute":2100},
 {"id":{"handle":7000},"type":1,"node_id":0,"name":"CPU"}],
"counters":[{"agent_id":{"handle":7001},"id":{"handle":101},"name":"TCC_HIT_sum"},{"agent_id":{"handle":7001},"id":{"handle":102},"name":"TCC_HIT"}],
"strings":{"counters":{"dimension_ids":[{"id":1,"instance_size":16}]}},
"kernel_symbols":[{"kernel_id":17,"kernel_name":"_Z3addv.kd","formatted_kernel_name":"add()","demangled_kernel_name":"add() [clone .kd]"}],
"callback_records":{"other":[1,{"a":[2]}],"counter_collection":[{"dispatch_data":{"dispatch_info":{"agent_id":{"handle":7001},"kernel_id":17,"dispatch_id":3,
 "workgroup_size":{"x":64,"y":1,"z":1},"grid_size":{"x":1024,"y":1024,"z":1}},"start_timestamp":3200098838431081,"end_timestamp":3200098838483232},
 "records":[{"counter_id":{"handle":101},"value":66160.0},{"counter_id":{"handle":102},"value":512.0},{"counter_id":{"handle":102},"value":517.0},{"counter_id":{"handle":9},"value":1}],
 "lds_block_size_v":512}]},"buffer_records":{"kernel_dispatch":[]}}]}`

func countersOf(content string) *Counters {
	return &Counters{FS: fstest.MapFS{"r.json": {Data: []byte(content)}}, Name: "r.json", Shown: "dir/r.json"}
}

func TestResults(t *testing.T) {
	r := countersOf(countedSample)
	agents, _, err := r.Described(t.Context())
	if err != nil || len(agents) != 1 || agents[0].Gfx != "gfx942" || *agents[0].XCCs != 8 || agents[0].Names[0] != "7001" || agents[0].DeviceID != nil {
		t.Fatalf("agents %+v, %v", agents, err)
	}
	got, report, err := foldCounters(t, r)
	if err != nil || len(got) != 1 {
		t.Fatalf("%d dispatches, %v", len(got), err)
	}
	d := got[0]
	if d.Kernel != "add()" || d.Process != "15606" || d.Agent != "7001" || d.ID != 3 || d.Grid != 1<<20 || d.Workgroup != 64 || d.LDSBytes != 512 || d.EndNs-d.StartNs != 52151 {
		t.Errorf("%+v", d)
	}
	want := []trace.CounterValue{{Counter: "TCC_HIT_sum", Instance: trace.AllInstances, Value: 66160}, {Counter: "TCC_HIT", Instance: 0, Value: 512}, {Counter: "TCC_HIT", Instance: 1, Value: 517}}
	if len(d.Values) != 3 || d.Values[0] != want[0] || d.Values[1] != want[1] || d.Values[2] != want[2] {
		t.Errorf("values %v, want %v", d.Values, want)
	}
	if report.Rows != 3 || report.Bad != 1 || len(report.Notes) != 1 {
		t.Errorf("report %+v: the record of a counter that is not listed is bad", report)
	}
}

func TestResultsDamaged(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{countedSample[:len(countedSample)/2], "cut short"},
		{`{"rocprofiler-sdk-tool":{}}`, "expected"},
		{`{"rocprofiler-sdk-tool":[{"callback_records":{"counter_collection":[{"records":7}]}}]}`, "dir/r.json: byte"},
		{`[]`, "expected"},
	} {
		_, _, err := foldCounters(t, countersOf(c.content))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.50q: error %v, want %q", c.content, err, c.want)
		}
	}
}

// kept is a folder that copies what it is given.
type kept struct{ all []trace.CounterDispatch }

func (k *kept) Dispatch(d *trace.CounterDispatch) {
	c := *d
	c.Values = slices.Clone(d.Values)
	k.all = append(k.all, c)
}

func foldCounters(t testing.TB, s trace.CounterSource) ([]trace.CounterDispatch, trace.CounterReport, error) {
	t.Helper()
	k := &kept{}
	report, err := s.Fold(t.Context(), 2, func() trace.CounterFolder { return k })
	return k.all, report, err
}

func FuzzCounters(f *testing.F) {
	f.Add([]byte(countedSample))
	f.Add([]byte(countedSample[:700]))
	f.Add([]byte(`{"rocprofiler-sdk-tool":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		ds, report, err := foldCounters(t, countersOf(string(data)))
		rows := 0
		for _, d := range ds {
			rows += len(d.Values)
			if d.Kernel == "" || d.Grid < 0 || d.Workgroup < 0 {
				t.Errorf("dispatch %+v", d)
			}
			for _, v := range d.Values {
				if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) || v.Instance < trace.AllInstances {
					t.Errorf("value %+v", v)
				}
			}
		}
		if err == nil && int64(rows) != report.Rows {
			t.Errorf("%d values, %d reported", rows, report.Rows)
		}
	})
}
