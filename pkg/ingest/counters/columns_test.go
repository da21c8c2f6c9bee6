package counters

import (
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// TestWhatCountsAsCounters: a column with the name of a kernel does not make a
// counter table; names of counters do, or the header of a profiler.
func TestWhatCountsAsCounters(t *testing.T) {
	for _, c := range []struct {
		head    string
		kind    Kind
		columns []string
	}{
		{"Kernel_Name,shape,tflops,ms\nk,1,2,3\n", NotCounters, nil},
		{"Kernel_Name,Count,Sum(ns),Mean(ns),Median(ns),Pct\nk,1,2,3,4,5\n", NotCounters, nil},
		{"Dispatch_ID,Kernel_Name,GPU_ID\n0,k,0\n", NotCounters, nil},
		{"Dispatch_ID,Kernel_Name\n", WideTable, nil}, // an empty workload
		{"Dispatch_ID,Kernel_Name\n0,k\n", NotCounters, nil},
		{"Kernel Name,dram__bytes.sum,sm__cycles_active.avg\nk,1,2\n", NotCounters, nil},
		{"KernelName,SQ_WAVES,ms,VALUBusy\nk,1,2,3\n", WideTable, []string{"SQ_WAVES[-1]", "VALUBusy[-1]"}},
		{"Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,vgpr,sgpr,fbar,sig,obj,DispatchNs,BeginNs,EndNs,CompleteNs,DurationNs\n", NotCounters, nil},
		{"Index,KernelName,gpu-id,grd,wgr,lds,scr,vgpr,sgpr,fbar,sig,obj,MyMetric,TCC_HIT[3]\n", WideTable, []string{"MyMetric[-1]", "TCC_HIT[3]"}},
		{"Kernel_Name,Counter_Name,Counter_Value\n", LongTable, nil},
		{"GEMM_TIME,Kernel_Name,GEMM_RATE\n", NotCounters, nil},
	} {
		if got := Sniff([]byte(c.head)); got != c.kind {
			t.Errorf("%q: %v, want %v", c.head, got, c.kind)
		}
		if got := Columns([]byte(c.head)); !slices.Equal(got, c.columns) {
			t.Errorf("%q: columns %v, want %v", c.head, got, c.columns)
		}
	}
}

// TestWideUnquoted: names without quotes, and rows that are no kernels.
func TestWideUnquoted(t *testing.T) {
	out, report, err := fold(t, table("Index,KernelName,gpu-id,grd,wgr,sig,obj,SQ_WAVES\n"+
		"0,f<int, 2>(int, long) [clone .kd],1,64,64,0x0,0x7f,5\n1,\"<barrier packet>\",1,0,0,0x0,0x7f,0\n2,g(int, x),1,64,(64,0x0,0x7f,5\n"), 1)
	if err != nil || len(out) != 1 || out[0].Kernel != "f<int, 2>(int, long)" || out[0].Grid != 64 || out[0].Values[0].Value != 5 {
		t.Fatalf("%+v, %v", out, err)
	}
	if report.Rows != 1 || report.Bad != 1 || len(report.Notes) != 2 || report.Notes[0].Text != "barriers and markers are not kernels and are left out: 1 call, 0 ns" || report.Notes[1].Level != trace.Damage {
		t.Errorf("%+v", report)
	}
}

// TestLongUnquoted: the name of the counter is not part of that of the kernel.
func TestLongUnquoted(t *testing.T) {
	row := "1,f<int, 2>(int, long),SQ_WAVES,"
	out, report, err := fold(t, table("Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n"+row+"5\n"+strings.Replace(row, "SQ_WAVES", "TCC_HIT[1]", 1)+"6\n2,g,SQ_WAVES,7\n"), 1)
	if err != nil || report.Bad != 0 || len(out) != 2 || out[0].Kernel != "f<int, 2>(int, long)" || len(out[0].Values) != 2 || out[0].Values[1] != (trace.CounterValue{Counter: "TCC_HIT", Instance: 1, Value: 6}) {
		t.Fatalf("%+v, %+v, %v", out, report, err)
	}
}
