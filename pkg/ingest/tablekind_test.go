package ingest

import (
	"strings"
	"testing"
)

// TestTableKind: tables that are not read are named for what they are.
func TestTableKind(t *testing.T) {
	for _, c := range []struct{ head, name, want string }{
		{`"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"` + "\n", "1_hip_api_trace.csv", "a trace of API calls"},
		{`"Kind","Direction","Source_Agent_Id","Destination_Agent_Id","Correlation_Id","Start_Timestamp","End_Timestamp"` + "\n", "x.csv", "a trace of memory copies"},
		{"Domain,Operation,Kernel_Name,Start_Timestamp,Stop_Timestamp,Correlation_ID\n", "x.csv", "a trace of the operations"},
		{`"Node_Id","Logical_Node_Id","Agent_Type"` + "\n", "x.csv", "a table of the machine's GPUs"},
		{"Dispatch_ID,Kernel_Name,GPU_ID\n0,k,0\n", "x.csv", "the list of dispatches"},
		{"Kernel_Name,Count,Sum(ns),Mean(ns),Median(ns),Pct\n", "x.csv", "the list of top kernels"},
		{"workload_name,gpu_model,gpu_arch,cu_per_gpu\n", "x.csv", "the machine's description"},
		{"device,HBMBw,HBMBwLow,HBMBwHigh,L2Bw\n", "x.csv", "rocprof-compute's measured peaks"},
		{`"ID","Kernel Name","dram__bytes_read.sum","sm__cycles_active.avg"` + "\n", "x.csv", "metrics of Nsight Compute"},
		{"Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ\n", "x.csv", "a trace of Nsight Systems"},
		{"Name,Calls,TotalDurationNs\nKERNEL_DISPATCH,1,2\n", "x.csv", "statistics of domains"},
		{"1:2 3:4 hipMalloc(1)\n", "x.txt", "a raw trace of rocprof"},
		{"Kernel_Name,shape,tflops,ms\n", "x.csv", ""},
		{"\x7fELF", "x", ""},
		{"", "x", ""},
	} {
		what, help := tableKind(&candidate{head: []byte(c.head), name: c.name})
		if c.want == "" && what != "" || !strings.HasPrefix(what, c.want) || (what == "") != (help == "") {
			t.Errorf("%q: %q, %q; want %q", c.head, what, help, c.want)
		}
	}
}

// FuzzTableKind: whatever a file begins with, all of these only look.
func FuzzTableKind(f *testing.F) {
	f.Add([]byte("Name,Calls,TotalDurationNs\nhipFree,1,2\n"), "a_hip_api_stats.csv")
	f.Add([]byte(`"Kernel_Name","Grid_Size","Start_Timestamp","End_Timestamp","SQ_WAVES"`+"\n"), "x.csv")
	f.Add([]byte("\"a\nb,"), "")
	f.Fuzz(func(t *testing.T, head []byte, name string) {
		c := &candidate{head: head, name: name}
		what, help := tableKind(c)
		if (what == "") != (help == "") || strings.Contains(what, "\n") {
			t.Fatalf("%q, %q", what, help)
		}
		for _, format := range formats() {
			if format.holds != 0 && strings.HasSuffix(format.name, "_table") && format.sniff(c) && recognisedBy(format.name, c) == "" {
				t.Fatalf("%s is recognised by nothing", format.name)
			}
		}
	})
}
