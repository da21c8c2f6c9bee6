package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// kernelNames are those that a command shows with some arguments.
func kernelNames(t *testing.T, args ...string) []string {
	t.Helper()
	var out, errs bytes.Buffer
	err := run(t.Context(), os.Stdin, &out, &errs, func(string) string { return "" }, append(args, "--format", "json"))
	if out.Len() == 0 {
		t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	var x struct {
		Kernels []struct {
			Name string `json:"name"`
		} `json:"kernels"`
	}
	if err := json.Unmarshal(out.Bytes(), &x); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, k := range x.Kernels {
		if !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	return names
}

// Every command that reads a database or a results.json takes the symbol and the
// display name of a kernel for the same.
func TestKernelBySymbol(t *testing.T) {
	data, err := os.ReadFile("../../fixtures/pmc/copy_json/copy_results.json")
	if err != nil {
		t.Fatal(err)
	}
	results := filepath.Join(t.TempDir(), "copy_results.json")
	symbol := []byte(`"kernel_name":"_Z9copy_vec4PK15HIP_vector_typeIfLj4EEPS0_i.kd","formatted_kernel_name"`)
	if err := os.WriteFile(results, bytes.Replace(data, []byte(`"formatted_kernel_name"`), symbol, 1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"../../fixtures/rocpd/counters.db", results} {
		for _, command := range []string{"kernels", "occupancy", "counters", "l2", "diagnose"} {
			if command == "occupancy" && path == results {
				continue // it tells too little of registers
			}
			bySymbol := kernelNames(t, command, path, "--kernel", "^_Z9copy_vec4")
			byName := kernelNames(t, command, path, "--kernel", `^copy_vec4\(HIP`)
			if !slices.Equal(bySymbol, byName) || len(byName) == 0 {
				t.Errorf("%s %s: the symbol selects %q, the name %q", command, path, bySymbol, byName)
			}
		}
	}
}

// twoGPUs is a kernel trace whose dispatches ran on Agent 4, an MI350X, beside
// a GPU that runs nothing.
func twoGPUs(t *testing.T, table bool) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"x_kernel_trace.csv": `"Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"
"KERNEL_DISPATCH","Agent 4",1,1,1,1,"k",1,1000,2000,0,0,32,0,32,256,1,1,65536,1,1
`}
	if table {
		files["x_agent_info.csv"] = `"Node_Id","Agent_Type","Cu_Count","Simd_Count","Num_Xcc","Device_Id","Name","Product_Name"
0,"CPU",0,0,0,0,"cpu","cpu"
3,"GPU",2,4,1,5056,"gfx1036","AMD Radeon Graphics"
4,"GPU",256,1024,8,30112,"gfx950","AMD Instinct MI350X"
`
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The user's GPU is weighed against the one that dispatches name, in every
// command, and the message cites that one's row.
func TestDeviceThatDispatchesContradict(t *testing.T) {
	dir := twoGPUs(t, true)
	for _, command := range []string{"kernels", "occupancy", "diagnose", "roofline"} {
		for _, device := range []string{"gfx1036", "MI300X"} {
			err := run(t.Context(), os.Stdin, io.Discard, io.Discard, func(string) string { return "" }, []string{command, dir, "--device", device})
			if err == nil || !strings.Contains(err.Error(), "x_agent_info.csv, row 3") || !strings.Contains(err.Error(), "ran on gfx950") {
				t.Errorf("%s --device %s: %v", command, device, err)
			}
		}
		if err := run(t.Context(), os.Stdin, io.Discard, io.Discard, func(string) string { return "" }, []string{command, dir, "--device", "MI350X"}); err != nil && strings.Contains(err.Error(), "--device") {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// Without an agent table the user's word describes the GPU.
func TestDeviceOfUndescribedAgents(t *testing.T) {
	dir := twoGPUs(t, false)
	show := func(args ...string) string {
		var out, errs bytes.Buffer
		if err := run(t.Context(), os.Stdin, &out, &errs, func(string) string { return "" }, append([]string{"kernels", dir}, args...)); err != nil {
			t.Fatal(err)
		}
		return out.String() + errs.String()
	}
	if s := show("--device", "MI350X"); !strings.Contains(s, "agent 4, MI350X") || strings.Contains(s, "not describe") {
		t.Error(s)
	}
	if s := show(); !strings.Contains(s, "agent 4, not") || !strings.Contains(s, "GPU the source does not describe: 1") {
		t.Error(s)
	}
}
