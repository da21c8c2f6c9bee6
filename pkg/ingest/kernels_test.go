package ingest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const (
	traceHeader = "Dispatch_Id,Agent_Id,Kernel_Name,VGPR_Count,Workgroup_Size,Grid_Size\n"
	agentHeader = "Node_Id,Agent_Type,Name,Cu_Count\n"
	listing     = "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n\t.amdhsa_kernel k\n\t\t.amdhsa_next_free_vgpr 134\n\t\t.amdhsa_next_free_sgpr 16\n\t\t.amdhsa_accum_offset 136\n\t.end_amdhsa_kernel\n"
)

// writeFiles makes files below a new directory and changes into it.
func writeFiles(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for name, data := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func openKernels(t *testing.T, paths ...string) *trace.Trace {
	t.Helper()
	tr, err := Open(t.Context(), paths, Options{Only: trace.ThreadTraces | trace.Dispatches | trace.Code})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// launches are the dispatches of a run, summed by its source.
func launches(t *testing.T, r *trace.Run) *trace.LaunchTable {
	t.Helper()
	rep, err := r.Dispatches.Fold(t.Context(), 1, func() trace.DispatchFolder { return ignore{} })
	if err != nil || rep.Launches == nil {
		t.Fatal(rep, err)
	}
	return rep.Launches
}

type ignore struct{}

func (ignore) Dispatch(*trace.Dispatch) {}

func TestOpenKernels(t *testing.T) {
	writeFiles(t, map[string]string{
		"run/a_kernel_trace.csv": traceHeader + "1,Agent 2,f,16,64,640\n1,Agent 2,f,16,64,640\n",
		"run/a_agent_info.csv":   agentHeader + "0,CPU,x,8\n2,GPU,gfx950,256\n",
		"run/b_agent_info.csv":   agentHeader + "2,GPU,gfx942,304\n",
		"run/k.s":                listing,
		"run/main.s":             "main:\n\tret\n", // of another machine
		"run/x.csv":              "a,b\n",
		"alone/kernel_trace.csv": traceHeader + "1,Agent 2,f,16,64,640\n",
		"alone/b_agent_info.csv": agentHeader + "2,GPU,gfx942,304\n",
	})
	tr := openKernels(t, "run", "run/a_kernel_trace.csv", "alone/kernel_trace.csv")
	if len(tr.Runs) != 2 || len(tr.CodeObjects) != 1 || tr.Damaged() {
		t.Fatalf("%d kernel traces, %d code objects, notes %v", len(tr.Runs), len(tr.CodeObjects), tr.Notes)
	}
	run, alone := launches(t, tr.Runs[0]), launches(t, tr.Runs[1])
	if run.Path != "run/a_kernel_trace.csv" || run.Rows != 2 || len(run.Launches) != 1 {
		t.Errorf("%s: %d rows, %d launches", run.Path, run.Rows, len(run.Launches))
	}
	if len(run.Agents) != 1 || run.Agents[0].Gfx != "gfx950" || run.Agents[0].Origin.File != "run/a_agent_info.csv" {
		t.Errorf("agents %+v: the table of the same prefix is the capture's own", run.Agents)
	}
	if len(alone.Agents) != 1 || alone.Agents[0].Gfx != "gfx942" {
		t.Errorf("agents %+v: without one of its prefix the directory's is taken", alone.Agents)
	}
	co := tr.CodeObjects[0]
	if co.Path != "run/k.s" || co.Kind != "assembly" || co.Target != "gfx942" || len(co.Kernels) != 1 || *co.Kernels[0].Descriptor.VGPRs != 136 {
		t.Errorf("code object %+v", co)
	}
	// What is not wanted is not looked for.
	var pe *PathError
	if _, err := Open(t.Context(), []string{"run"}, Options{Only: trace.ThreadTraces}); !errors.As(err, &pe) || !strings.Contains(pe.Problem, "no dispatch directory") {
		t.Errorf("error %v", err)
	}
}

func TestOpenKernelsErrors(t *testing.T) {
	writeFiles(t, map[string]string{
		"counters.csv": "Kernel_Name,Grid_Size,Counter_Name,Counter_Value\n",
		"agents.csv":   agentHeader,
		"bundle.co":    "__CLANG_OFFLOAD_BUNDLE__",
		"cut.s":        "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n\t.amdhsa_kernel k\n",
		"host.o":       "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 60),
	})
	for name, want := range map[string]string{
		"counters.csv": "a counter table: give a ui_output_* directory, a database, *_kernel_trace.csv or a code object",
		"agents.csv":   "a table of the machine's GPUs (agent_info.csv): give the *_kernel_trace.csv of the same run",
		"bundle.co":    "bundle.co: ",
		"host.o":       "host.o: ",
	} {
		_, err := Open(t.Context(), []string{name}, Options{Only: trace.ThreadTraces | trace.Dispatches | trace.Code})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), name) != 1 {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
	// What a truncated listing still says is kept, and the damage noted.
	if tr := openKernels(t, "cut.s"); !tr.Damaged() || len(tr.CodeObjects) != 1 {
		t.Errorf("code objects %v, notes %v", tr.CodeObjects, tr.Notes)
	}
}

// TestCompanionTables: the tables that a thread trace's rows come from are
// found again whichever way the directory was named.
func TestCompanionTables(t *testing.T) {
	writeFiles(t, map[string]string{
		"cap/ui_output_agent_1_dispatch_1/code.json": `{"version":"3.0.0","code":[["; f",1,0,"",1,256,0,0,0,0],["s_endpgm",2,2,"",1,256,1,4,0,0]]}`,
		"cap/a_kernel_trace.csv":                     traceHeader + "1,Agent 2,f,16,64,640\n2,Agent 2,g,12,64,640\n",
		"cap/host/b_kernel_trace.csv":                traceHeader + "1,Agent 2,f,16,64,64\n",
	})
	open := func(name string) *trace.Trace { return openKernels(t, name) }
	check := func(how string, tr *trace.Trace) {
		t.Helper()
		if len(tr.ThreadTraces) != 1 {
			t.Fatalf("%s: %d thread traces", how, len(tr.ThreadTraces))
		}
		tt := tr.ThreadTraces[0]
		if len(tt.LaunchTables) != 2 || tt.LaunchTables[0].Rows != 2 {
			t.Errorf("%s: %d tables, launches %+v, notes %v", how, len(tt.LaunchTables), tt.Launches, tr.Notes)
			return
		}
		for i, table := range tt.LaunchTables {
			if table.Path != tt.Launches[i].Origin.File {
				t.Errorf("%s: table %s, row of %s", how, table.Path, tt.Launches[i].Origin.File)
			}
		}
	}
	check("relative", open("cap/ui_output_agent_1_dispatch_1"))
	check("with a slash", open("./cap/ui_output_agent_1_dispatch_1/"))
	check("a file inside", open("cap/ui_output_agent_1_dispatch_1/code.json"))
	check("tree", open("cap"))
	check("this tree", open("."))
	abs, err := filepath.Abs("cap/ui_output_agent_1_dispatch_1")
	if err != nil {
		t.Fatal(err)
	}
	check("absolute", open(abs))
	t.Chdir("cap")
	check("in the parent", open("ui_output_agent_1_dispatch_1"))
	check("this tree, deeper", open("."))
	t.Chdir("ui_output_agent_1_dispatch_1")
	check("inside", open("."))
	t.Chdir("../host")
	check("beside", open("../ui_output_agent_1_dispatch_1"))
}
