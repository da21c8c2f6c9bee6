package resultsjson

import (
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const document = ` {
 "rocprofiler-sdk-tool": [{"metadata": {"pid": 7, "command": ["a", "b"]},
 "agents": [{"id": {"handle": 70}, "type": 2, "node_id": 3, "name": "gfx942", "cu_count": 304}, {"id": {"handle": 60}, "type": 1, "node_id": 0}],
 "kernel_symbols": [{"kernel_id": 18, "kernel_name": "tri.kd"}, {"kernel_id": 17, "kernel_name": "_Z3addi.kd", "formatted_kernel_name": "add(int)", "arch_vgpr_count": 8}],
 "buffer_records": {"kernel_dispatch": [
  {"start_timestamp": 1000, "end_timestamp": 1100, "stream_id": {"handle": 5}, "dispatch_info": {"agent_id": {"handle": 70}, "queue_id": {"handle": 1}, "kernel_id": 17, "group_segment_size": 64, "workgroup_size": {"x": 64, "y": 1, "z": 1}, "grid_size": {"x": 1024, "y": 2, "z": 3}}},
  {"start_timestamp": 2000, "end_timestamp": 2200, "dispatch_info": {"agent_id": {"handle": 99}, "kernel_id": 18}}],
  "memory_copy": [{"operation": 2, "start_timestamp": 10, "end_timestamp": 20, "src_agent_id": {"handle": 60}, "dst_agent_id": {"handle": 70}, "bytes": 4096},
   {"operation": 2, "start_timestamp": 30, "end_timestamp": 30, "src_agent_id": {"handle": 60}, "dst_agent_id": {"handle": 70}, "bytes": 100}]}}]}`

type folder struct{ rows []trace.Dispatch }

func readRuns(text string) ([]*trace.Run, error) {
	f, err := Read(strings.NewReader(text), "r.json")
	if err != nil {
		return nil, err
	}
	return f.Runs()
}

func (f *folder) Dispatch(d *trace.Dispatch) { f.rows = append(f.rows, *d) }

func fold(t *testing.T, r *trace.Run) []trace.Dispatch {
	t.Helper()
	f := &folder{}
	rep, err := r.Dispatches.Fold(t.Context(), 1, func() trace.DispatchFolder { return f })
	if err != nil || rep.Rows != int64(len(f.rows)) {
		t.Fatal(rep, err)
	}
	return f.rows
}

func TestRead(t *testing.T) {
	if !Sniff([]byte(document)) || Sniff([]byte(`{"other": 1}`)) || Sniff(nil) {
		t.Error("Sniff is wrong")
	}
	runs, err := readRuns(document)
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	r := runs[0]
	if *r.Process.PID != 7 || len(r.Agents) != 1 || r.Agents[0].NodeID != 3 || *r.Agents[0].CUs != 304 || r.HasCounters {
		t.Errorf("%+v", r)
	}
	if k := r.Kernels; len(k) != 2 || k[0].Name != "add(int)" || k[0].Symbol != "_Z3addi" || *k[0].VGPRs != 8 || k[1].Name != "tri" {
		t.Errorf("%+v", k)
	}
	d := fold(t, r)
	if len(d) != 2 || d[0].Agent != 3 || d[0].Stream != 5 || d[0].End-d[0].Start != 100 || d[0].Grid != [3]int64{1024, 2, 3} || d[0].LDSBytes != 64 {
		t.Errorf("%+v", d)
	}
	if d[1].Agent != trace.Absent || d[1].Stream != trace.Absent {
		t.Errorf("%+v", d[1])
	}
	c := r.Copies
	if len(c) != 1 || c[0].Kind != "MEMORY_COPY_HOST_TO_DEVICE" || c[0].Count != 2 || c[0].Timed != 1 || c[0].Bytes != 4196 || c[0].TimedBytes != 4096 || c[0].TotalNs != 10 || *c[0].Source != 0 || *c[0].Target != 3 {
		t.Errorf("%+v", c)
	}
}

// Without dispatch records, those that were counted are taken.
func TestCounted(t *testing.T) {
	const counted = `{"rocprofiler-sdk-tool": [{"callback_records": {"counter_collection": [{"dispatch_data": {"start_timestamp": 5, "end_timestamp": 9, "dispatch_info": {"kernel_id": 1}}}]}}, {}]}`
	runs, err := readRuns(counted)
	if err != nil || len(runs) != 2 || !runs[0].HasCounters || runs[1].Set != "process 2" {
		t.Fatal(runs, err)
	}
	if d := fold(t, runs[0]); len(d) != 1 || d[0].End != 9 {
		t.Errorf("%+v", d)
	}
}

// A dispatch that is none is noted with its place; those before it count.
func TestBadDispatch(t *testing.T) {
	const text = `{"rocprofiler-sdk-tool": [{"buffer_records": {"kernel_dispatch": [{"start_timestamp": 5, "end_timestamp": 9}, {"start_timestamp": "x"}, {}]}}]}`
	runs, err := readRuns(text)
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	report, err := runs[0].Dispatches.Fold(t.Context(), 1, func() trace.DispatchFolder { return &folder{} })
	if err != nil || report.Rows != 1 || len(report.Notes) != 1 || report.Notes[0].Level != trace.Damage || !strings.Contains(report.Notes[0].Text, "byte 110: ") {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestReadErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "cut short",
		document[:300]:                 "cut short",
		`{"rocprofiler-sdk-tool": []}`: "no process",
		`{"rocprofiler-sdk-tool": 5}`:  "byte 25: a list was expected",
	} {
		if _, err := readRuns(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", in, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(document)
	f.Fuzz(func(t *testing.T, in string) {
		runs, err := readRuns(in)
		if (err == nil) != (len(runs) > 0) {
			t.Errorf("%d runs, %v", len(runs), err)
		}
		for _, r := range runs {
			fold(t, r)
		}
	})
}
