package occupancy

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/kerneltrace"
	"github.com/rocanalyze/rocanalyze/pkg/report"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// FuzzKernelTrace: whatever a kernel trace holds, the result is complete and
// can be shown.
func FuzzKernelTrace(f *testing.F) {
	header := "Kernel_Name,Agent_Id,VGPR_Count,Accum_VGPR_Count,SGPR_Count,LDS_Block_Size,Scratch_Size,Workgroup_Size,Grid_Size,Duration_ns\n"
	for i, rows := range []string{
		"k,1,68,0,32,512,0,256,65536,100\nk,1,68,0,32,512,0,256,1,9223372036854775807\nk,1,68,0,32,512,0,256,2,9223372036854775807\n",
		"k,1,512,512,1000,1000000,16,1024,1,1\n,1,1,1,1,1,1,1,1,1\n",
		"k,,,,,,,4611686018427387904,9223372036854775807,1\n",
		"k,GPU 0,0,0,0,0,0,0,0,0\n",
	} {
		f.Add(header+rows, uint8(i), 64.0)
	}
	devices := []string{"MI300X", "gfx950", "gfx908", "RX 7900 XTX", "gfx1250", "gfx900"}
	f.Fuzz(func(t *testing.T, in string, device uint8, workgroup float64) {
		table, err := kerneltrace.Read(strings.NewReader(in), "t.csv")
		if err != nil || !(workgroup >= 0 && workgroup <= 2048) {
			return
		}
		opts := analysis.Options{Device: devices[int(device)%len(devices)], Params: map[string]float64{
			"occupancy." + paramWorkgroup: float64(int(workgroup)), "occupancy." + paramLLVM: 1, "occupancy." + paramWhatIf: 1,
		}}
		out, err := analysis.Run(t.Context(), &trace.Trace{Runs: []*trace.Run{table.Run()}}, opts, Analyzer)
		if err != nil {
			t.Fatal(err)
		}
		res := Analyzer.Of(out)
		for i := range res.Kernels {
			checkKernel(t, &res.Kernels[i])
		}
		if _, err := json.Marshal(res); err != nil {
			t.Fatal(err)
		}
		v := View{Verbose: true, LLVM: true, WhatIf: true}
		if err := report.Terminal(io.Discard, Sections(res, out.Findings, v), report.Options{}); err != nil {
			t.Fatal(err)
		}
		if err := report.CSV(io.Discard, report.Document{Sections: []report.Section{{Items: []report.Item{CSV(res, v)}}}}, TableID); err != nil {
			t.Fatal(err)
		}
	})
}

// checkKernel holds for every kernel that has an occupancy.
func checkKernel(t *testing.T, k *Kernel) {
	t.Helper()
	if k.Advice == "" || k.Name == "" {
		t.Errorf("no advice or name: %+v", k)
	}
	if k.WavesPerSIMD == nil {
		return
	}
	switch w := *k.WavesPerSIMD; {
	case w < 0 || w > float64(k.MaxWavesPerSIMD):
		t.Errorf("%g waves of %d", w, k.MaxWavesPerSIMD)
	case *k.Fits != (w > 0) || len(k.Limiters) == 0 || len(k.Limits) != 5:
		t.Errorf("fits %v, %g waves, limiters %v, %d limits", *k.Fits, w, k.Limiters, len(k.Limits))
	}
	for _, s := range k.NextStep {
		if s.Target >= s.Now || s.Target < 1 || s.WavesPerSIMD < *k.WavesPerSIMD {
			t.Errorf("step %+v from %g waves", s, *k.WavesPerSIMD)
		}
	}
}
