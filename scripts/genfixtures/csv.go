package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
)

// quotedCSV quotes strings and leaves numbers bare, as rocprofv3 does.
func quotedCSV(header []string, rows []row) []byte {
	var buf bytes.Buffer
	line := func(cells []string) {
		buf.WriteString(strings.Join(cells, ","))
		buf.WriteByte('\n')
	}
	quote := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
	cells := make([]string, len(header))
	for i, h := range header {
		cells[i] = quote(h)
	}
	line(cells)
	for _, r := range rows {
		for i, v := range r {
			cells[i] = fmt.Sprint(v)
			if s, ok := v.(string); ok {
				cells[i] = quote(s)
			}
		}
		line(cells)
	}
	return buf.Bytes()
}

var statsHeader = []string{"CodeObj", "Vaddr", "Instruction", "Hitcount", "Latency", "Stall", "Idle", "Source"}

// statsRows are code.json's rows in the order of the stats file.
func (c *capture) statsRows() []row {
	var out []row
	for _, r := range c.codeRows() {
		out = append(out, row{r[4], r[5], r[0], r[6], r[7], r[8], r[9], r[3]})
	}
	return out
}

// statsName is the name of the stats file beside the dispatch directory.
func (c *capture) statsName() string { return "stats_" + c.dirName() + ".csv" }

// plainStats is the stats file of the open decoder's Python writer: no quotes
// where none are needed, lines ended by CR LF.
func (c *capture) plainStats() []byte {
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	w.UseCRLF = true
	records := [][]string{statsHeader}
	for _, r := range c.statsRows() {
		cells := make([]string, len(r))
		for i, v := range r {
			cells[i] = fmt.Sprint(v)
		}
		records = append(records, cells)
	}
	if err := w.WriteAll(records); err != nil {
		panic(fmt.Sprintf("genfixtures: %v", err)) // a bytes.Buffer takes all
	}
	return buf.Bytes()
}

var kernelTraceHeader = []string{
	"Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name",
	"Correlation_Id", "Start_Timestamp", "End_Timestamp", "LDS_Block_Size", "Scratch_Size", "VGPR_Count",
	"Accum_VGPR_Count", "SGPR_Count", "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z",
	"Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z",
}

// fillName is the kernel that the runtime launches between the traced ones.
const fillName = "__amd_rocclr_fillBufferAligned"

// kernelTrace is the kernel_trace.csv of the run: a few fills and earlier calls,
// and the traced dispatch last.
func (c *capture) kernelTrace() []byte {
	k, l := c.kernels[0], c.launch
	start, end := c.nanoseconds()
	name := k.symbol
	if k.demangled != "" {
		name = k.demangled
	}
	vgprs, accum := k.csvVGPRs()
	lds := alignTo(k.ldsBytes, 512)
	line := func(id, kernelID int, name string, start, end int64, tail ...any) row {
		return append(row{
			"KERNEL_DISPATCH", fmt.Sprintf("Agent %d", l.gpu.node), 1, 0, 70001, id, kernelID, name,
			id, start, end,
		}, tail...)
	}
	var rows []row
	const apart = 60_000 // ns between dispatches
	for id := 1; id <= l.dispatch; id++ {
		back := int64(l.dispatch-id) * apart
		if id < 3 && id < l.dispatch {
			rows = append(rows, line(id, 9, fillName, start-back, start-back+2480,
				0, 0, 8, 0, 32, 256, 1, 1, 65536, 1, 1))
			continue
		}
		late := back / apart * 160 // the earlier calls were a little slower
		rows = append(rows, line(id, 17, name, start-back, end-back+late,
			lds, 0, vgprs, accum, k.csvSGPRs(), l.workgroup, 1, 1, l.groups[0]*l.workgroup, l.groups[1], 1))
	}
	return quotedCSV(kernelTraceHeader, rows)
}

// csvVGPRs are the columns VGPR_Count and Accum_VGPR_Count. gfx942 splits the
// allocation at the accumulation offset; rocprofv3 of ROCm 7.2 halves gfx950's
// and leaves the second column 0; RDNA counts in eights.
// Source: rocprofiler-sdk code_object.cpp; rocm-systems pull request 5862.
func (k *kernel) csvVGPRs() (vgprs, accum int) {
	used := k.registers("v")
	switch k.arch.name {
	case "gfx942":
		return alignTo(used, 4), alignTo(used, 8) - alignTo(used, 4)
	case "gfx950":
		return alignTo(used, 8) / 2, 0
	}
	return alignTo(used, 8), 0
}

// allocatedSGPRs adds VCC, FLAT_SCRATCH and XNACK_MASK to what the code names.
// Source: LLVM AMDGPUUsage, "granulated wavefront SGPR count".
func (k *kernel) allocatedSGPRs() int { return alignTo(k.registers("s")+6, 16) }

func (k *kernel) csvSGPRs() int {
	if k.arch.gfxip > 9 {
		return 128
	}
	return k.allocatedSGPRs()
}

func alignTo(n, granule int) int { return (n + granule - 1) / granule * granule }

// agentInfoHeader names the columns of agent_info.csv.
const agentInfoHeader = "Node_Id,Logical_Node_Id,Agent_Type,Cpu_Cores_Count,Simd_Count,Cpu_Core_Id_Base,Simd_Id_Base," +
	"Max_Waves_Per_Simd,Lds_Size_In_Kb,Gds_Size_In_Kb,Num_Gws,Wave_Front_Size,Num_Xcc,Cu_Count,Array_Count," +
	"Num_Shader_Banks,Simd_Arrays_Per_Engine,Cu_Per_Simd_Array,Simd_Per_Cu,Max_Slots_Scratch_Cu,Gfx_Target_Version," +
	"Vendor_Id,Device_Id,Location_Id,Domain,Drm_Render_Minor,Num_Sdma_Engines,Num_Sdma_Xgmi_Engines," +
	"Num_Sdma_Queues_Per_Engine,Num_Cp_Queues,Max_Engine_Clk_Ccompute,Max_Engine_Clk_Fcompute,Sdma_Fw_Version," +
	"Fw_Version,Capability,Cu_Per_Engine,Max_Waves_Per_Cu,Family_Id,Workgroup_Max_Size,Grid_Max_Size,Local_Mem_Size," +
	"Hive_Id,Gpu_Id,Workgroup_Max_Dim_X,Workgroup_Max_Dim_Y,Workgroup_Max_Dim_Z,Grid_Max_Dim_X,Grid_Max_Dim_Y," +
	"Grid_Max_Dim_Z,Name,Vendor_Name,Product_Name,Model_Name"

// agentInfo is the agent_info.csv of a machine with the GPU and as many CPUs as
// stand before it.
func (g gpu) agentInfo() []byte {
	header := strings.Split(agentInfoHeader, ",")
	var rows []row
	for node := range g.node {
		rows = append(rows, agentRow(header, map[string]any{
			"Node_Id": node, "Logical_Node_Id": node, "Agent_Type": "CPU", "Cpu_Cores_Count": 64,
			"Cpu_Core_Id_Base": 64 * node, "Num_Xcc": 1, "Cu_Count": 64,
			"Max_Engine_Clk_Ccompute": 3300, "Family_Id": 26,
			"Name": "AMD EPYC Processor", "Vendor_Name": "CPU", "Product_Name": "AMD EPYC Processor", "Model_Name": "",
		}))
	}
	perSIMD := 4
	if g.waveSize == 32 {
		perSIMD = 2
	}
	rows = append(rows, agentRow(header, map[string]any{
		"Node_Id": g.node, "Logical_Node_Id": g.node, "Agent_Type": "GPU", "Simd_Count": g.cus * perSIMD,
		"Simd_Id_Base": 2147487744, "Max_Waves_Per_Simd": g.maxWaves, "Lds_Size_In_Kb": g.ldsKB, "Num_Gws": 64,
		"Wave_Front_Size": g.waveSize, "Num_Xcc": g.xccs, "Cu_Count": g.cus, "Array_Count": g.arrays,
		"Num_Shader_Banks": g.engines, "Simd_Arrays_Per_Engine": g.arrays / g.engines,
		"Cu_Per_Simd_Array": (g.cus + g.arrays - 1) / g.arrays, "Simd_Per_Cu": perSIMD, "Max_Slots_Scratch_Cu": 32,
		"Gfx_Target_Version": g.target, "Vendor_Id": 4098, "Device_Id": g.deviceID, "Location_Id": 768,
		"Drm_Render_Minor": 128, "Num_Sdma_Engines": 2, "Num_Sdma_Queues_Per_Engine": 8, "Num_Cp_Queues": 24,
		"Max_Engine_Clk_Ccompute": 3300, "Max_Engine_Clk_Fcompute": g.clockMHz, "Sdma_Fw_Version": 12,
		"Fw_Version": 30, "Cu_Per_Engine": g.cus / g.engines, "Max_Waves_Per_Cu": g.maxWaves * perSIMD,
		"Family_Id": 141, "Workgroup_Max_Size": 1024, "Grid_Max_Size": int64(4294967295), "Gpu_Id": 4321,
		"Workgroup_Max_Dim_X": 1024, "Workgroup_Max_Dim_Y": 1024, "Workgroup_Max_Dim_Z": 1024,
		"Grid_Max_Dim_X": 2147483647, "Grid_Max_Dim_Y": 65535, "Grid_Max_Dim_Z": 65535,
		"Name": g.name, "Vendor_Name": "AMD", "Product_Name": g.product, "Model_Name": "ip discovery",
	}))
	return quotedCSV(header, rows)
}

// agentRow puts the values in the order of the columns, 0 where there is none.
func agentRow(header []string, values map[string]any) row {
	out := make(row, len(header))
	for i, name := range header {
		out[i] = 0
		if v, ok := values[name]; ok {
			out[i] = v
		}
	}
	return out
}
