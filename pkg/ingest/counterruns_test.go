package ingest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const oneCounter = "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n1,k,SQ_WAVES,1\n"

// TestCounterRuns groups counter files into runs.
func TestCounterRuns(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		paths []string
		want  []string // "path: number of sources"
	}{
		{
			"passes and hosts of one run",
			map[string]string{"out/pass_1/h/10_counter_collection.csv": oneCounter, "out/pass_2/h/20_counter_collection.csv": oneCounter},
			[]string{"out"},
			[]string{"out/h: 2"},
		},
		{
			"passes that are named one by one",
			map[string]string{"out/pmc_1/10_counter_collection.csv": oneCounter, "out/pmc_2/20_counter_collection.csv": oneCounter},
			[]string{"out/pmc_1", "out/pmc_2"},
			[]string{"out: 2"},
		},
		{
			"other prefixes are other runs",
			map[string]string{"out/a_counter_collection.csv": oneCounter, "out/b_counter_collection.csv": oneCounter},
			[]string{"out"},
			[]string{"out/a_counter_collection.csv: 1", "out/b_counter_collection.csv: 1"},
		},
		{
			"unless they are named together",
			map[string]string{"out/a_counter_collection.csv": oneCounter, "out/b_counter_collection.csv": oneCounter},
			[]string{"out/a_counter_collection.csv", "out/b_counter_collection.csv"},
			[]string{"out/a_counter_collection.csv: 2"},
		},
		{
			"a file that two paths name is read once",
			map[string]string{"out/a_counter_collection.csv": oneCounter},
			[]string{"out", "out/a_counter_collection.csv"},
			[]string{"out/a_counter_collection.csv: 1"},
		},
		{
			"a results.json repeats the CSV beside it",
			map[string]string{"out/10_counter_collection.csv": oneCounter, "out/10_results.json": `{"rocprofiler-sdk-tool":[]}`},
			[]string{"out"},
			[]string{"out/10_counter_collection.csv: 1"},
		},
		{
			"workloads, with their parts and their other tables",
			map[string]string{
				"w/a/pmc_perf.csv": "Dispatch_ID,Kernel_Name,SQ_WAVES\n1,k,1\n", "w/a/pmc_perf_0.csv": "Dispatch_ID,Kernel_Name,SQ_WAVES\n1,k,1\n",
				"w/a/SQ_LEVEL_WAVES.csv": "Dispatch_ID,Kernel_Name,SQ_LEVEL_WAVES\n1,k,1\n", "w/a/pmc_dispatch_info.csv": "Dispatch_ID,Kernel_Name,GPU_ID\n",
				"w/b/pmc_perf_0.csv": "Dispatch_ID,Kernel_Name\n", "w/b/pmc_perf_1.csv": "Dispatch_ID,Kernel_Name\n",
			},
			[]string{"w"},
			[]string{"w/a: 2", "w/b: 2"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			writeFiles(t, c.files)
			tr, err := Open(t.Context(), c.paths, Options{Only: trace.Counters})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range tr.CounterRuns {
				got = append(got, r.Path+": "+string(rune('0'+len(r.Sources))))
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// TestBesideCounters reads what describes the GPU.
func TestBesideCounters(t *testing.T) {
	writeFiles(t, map[string]string{
		"out/a_counter_collection.csv": oneCounter, "out/b_counter_collection.csv": oneCounter,
		"out/a_agent_info.csv":   "Node_Id,Agent_Type,Num_Xcc,Cu_Count,Name\n0,CPU,1,0,x\n2,GPU,8,304,gfx942\n3,GPU,8,304,gfx942\n",
		"out/b_agent_info.csv":   "Node_Id,Agent_Type,Num_Xcc,Cu_Count,Name\n1,GPU,8,256,gfx950\n",
		"out/a_kernel_trace.csv": "Kind,Kernel_Name,Start_Timestamp,End_Timestamp,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z\nKERNEL_DISPATCH,k,100,1124,64,1,1,64,1,1\n",
		"out/roofline.csv":       "device,HBMBw\n0,4224.5\n",
	})
	tr, err := Open(t.Context(), []string{"out"}, Options{Only: trace.Counters})
	if err != nil || len(tr.CounterRuns) != 2 {
		t.Fatalf("%v, %v", tr, err)
	}
	a, b := tr.CounterRuns[0], tr.CounterRuns[1]
	if len(a.Agents) != 2 || !slices.Equal(a.Agents[1].Names, []string{"Agent 3", "3", "GPU 1", "GPU-1"}) || *a.Agents[0].XCCs != 8 {
		t.Errorf("agents %+v", a.Agents)
	}
	if len(a.LaunchTables) != 1 || len(a.Rooflines) != 1 || a.Rooflines[0].Value != 4224.5 {
		t.Errorf("%d kernel traces, %v", len(a.LaunchTables), a.Rooflines)
	}
	if len(b.Agents) != 1 || b.Agents[0].Gfx != "gfx950" {
		t.Errorf("agents of the other run: %+v", b.Agents)
	}
}

func TestNoCounters(t *testing.T) {
	writeFiles(t, map[string]string{"out/x.txt": "x", "x.csv": "a,b\n1,2\n"})
	for _, p := range []string{"out", "x.csv"} {
		_, err := Open(t.Context(), []string{p}, Options{Only: trace.Counters})
		if err == nil || !strings.Contains(err.Error(), "counter_collection.csv") {
			t.Errorf("%s: %v", p, err)
		}
	}
	// Without the option counters are left alone.
	writeFiles(t, map[string]string{filepath.Join("c", "a_counter_collection.csv"): oneCounter})
	if tr, err := Open(t.Context(), []string{"c"}, Options{Only: trace.ThreadTraces | trace.Dispatches | trace.Code}); err == nil {
		t.Errorf("%+v", []*trace.CounterRun(tr.CounterRuns))
	}
}
