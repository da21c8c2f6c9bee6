package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// gpu is what agent tables and sysinfo.csv say.
type gpu struct {
	gfx, product  string
	deviceID      int
	cus, xccs     int
	clockMHz      int
	channels, lds int
}

func mi300x() gpu { return gpu{"gfx942", "AMD Instinct MI300X", 29857, 304, 8, 2100, 128, 64} }
func mi350x() gpu { return gpu{"gfx950", "AMD Instinct MI350X", 30112, 256, 8, 2200, 128, 160} }
func mi210() gpu  { return gpu{"gfx90a", "MI210", 29711, 104, 1, 1700, 32, 64} }

// value is one counter of one dispatch.
type value struct {
	name string
	v    float64
	// channels are the values of single instances, for results.json.
	channels []float64
}

// dispatch is one dispatch of a pass.
type dispatch struct {
	id                   int
	kernel               string
	grid, workgroup, lds int
	vgprs                int
	start, end           int64
	values               []value
}

// agentInfo is agent_info.csv with the columns that matter.
func (g gpu) agentInfo() []byte {
	var b bytes.Buffer
	b.WriteString(`"Node_Id","Logical_Node_Id","Agent_Type","Simd_Count","Max_Waves_Per_Simd","Lds_Size_In_Kb","Wave_Front_Size","Num_Xcc","Cu_Count","Num_Shader_Banks","Simd_Per_Cu","Device_Id","Max_Engine_Clk_Fcompute","Name","Product_Name"` + "\n")
	b.WriteString(`0,0,"CPU",0,0,0,0,1,64,0,0,0,0,"AMD EPYC Processor","AMD EPYC Processor"` + "\n")
	fmt.Fprintf(&b, "1,1,\"GPU\",%d,8,%d,64,%d,%d,%d,4,%d,%d,%q,%q\n",
		4*g.cus, g.lds, g.xccs, g.cus, 4*g.xccs, g.deviceID, g.clockMHz, g.gfx, g.product)
	return b.Bytes()
}

const longHeader = `"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"` + "\n"

// longValue prints as rocprofv3 does from ROCm 7.0 on.
func longValue(v float64) string {
	if v < 1 {
		return strconv.FormatFloat(v, 'e', 8, 64)
	}
	return strconv.FormatFloat(v, 'f', 6, 64)
}

// longRow is one row of a counter_collection.csv.
func longRow(b *bytes.Buffer, pid int, d dispatch, v value) {
	fmt.Fprintf(b, "%d,%d,\"Agent 1\",1,%d,%d,%d,17,\"%s\",%d,%d,0,%d,0,32,\"%s\",%s,%d,%d\n",
		d.id, d.id, pid, pid, d.grid, strings.ReplaceAll(d.kernel, `"`, `""`), d.workgroup, d.lds, d.vgprs, v.name, longValue(v.v), d.start, d.end)
}

// long is a counter_collection.csv.
func long(pid int, ds []dispatch) []byte {
	var b bytes.Buffer
	b.WriteString(longHeader)
	for _, d := range ds {
		for _, v := range d.values {
			longRow(&b, pid, d, v)
		}
	}
	return b.Bytes()
}

// results is a results.json of the same.
func results(g gpu, pid int, ds []dispatch) []byte {
	var b bytes.Buffer
	ids := map[string]int{}
	fmt.Fprintf(&b, "{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":%d},\n", pid)
	fmt.Fprintf(&b, "\"agents\":[{\"id\":{\"handle\":7001},\"type\":2,\"node_id\":1,\"name\":%q,\"product_name\":%q,\"device_id\":%d,\"wave_front_size\":64,\"num_xcc\":%d,\"cu_count\":%d,\"simd_count\":%d,\"simd_per_cu\":4,\"max_engine_clk_fcompute\":%d}],\n",
		g.gfx, g.product, g.deviceID, g.xccs, g.cus, 4*g.cus, g.clockMHz)
	b.WriteString("\"counters\":[")
	for i, v := range ds[0].values {
		ids[v.name] = 101 + i
		fmt.Fprintf(&b, "%s{\"agent_id\":{\"handle\":7001},\"id\":{\"handle\":%d},\"name\":%q}", comma(i, "\n"), ids[v.name], v.name)
	}
	kernels := map[string]int{}
	b.WriteString("],\n\"kernel_symbols\":[")
	for _, d := range ds {
		if _, ok := kernels[d.kernel]; !ok {
			kernels[d.kernel] = 17 + len(kernels)
			fmt.Fprintf(&b, "%s{\"kernel_id\":%d,\"formatted_kernel_name\":%q}", comma(len(kernels)-1, "\n"), kernels[d.kernel], d.kernel)
		}
	}
	b.WriteString("],\n\"callback_records\":{\"counter_collection\":[\n")
	for i, d := range ds {
		fmt.Fprintf(&b, "%s{\"dispatch_data\":{\"dispatch_info\":{\"agent_id\":{\"handle\":7001},\"kernel_id\":%d,\"dispatch_id\":%d,\"workgroup_size\":{\"x\":%d,\"y\":1,\"z\":1},\"grid_size\":{\"x\":%d,\"y\":1,\"z\":1}},\"start_timestamp\":%d,\"end_timestamp\":%d},\n\"records\":[",
			comma(i, "\n"), kernels[d.kernel], d.id, d.workgroup, d.grid, d.start, d.end)
		records(&b, ids, d.values)
		fmt.Fprintf(&b, "],\"lds_block_size_v\":%d}", d.lds)
	}
	b.WriteString("\n]}}]}\n")
	return b.Bytes()
}

func records(b *bytes.Buffer, ids map[string]int, values []value) {
	n := 0
	for _, v := range values {
		channels := v.channels
		if channels == nil {
			channels = []float64{v.v}
		}
		for _, c := range channels {
			fmt.Fprintf(b, "%s{\"counter_id\":{\"handle\":%d},\"value\":%g}", comma(n, ""), ids[v.name], c)
			n++
		}
	}
}

func comma(i int, after string) string {
	if i == 0 {
		return ""
	}
	return "," + after
}

// workload is a rocprof-compute directory: a wide table with the columns that
// its joins leave behind, and sysinfo.csv.
func workload(g gpu, ds []dispatch) map[string][]byte {
	var b bytes.Buffer
	b.WriteString("Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,wave_size,obj")
	for i, v := range ds[0].values {
		b.WriteString("," + v.name)
		if i == 3 {
			b.WriteString(",wave_size_1,obj_1")
		}
	}
	b.WriteString(",Start_Timestamp,End_Timestamp\n")
	for _, d := range ds {
		fmt.Fprintf(&b, "%d,\"%s [clone .kd]\",2,%d,%d,%d,0,%d,0,16,64,0x7f00", d.id, d.kernel, d.grid, d.workgroup, d.lds, d.vgprs)
		for i, v := range d.values {
			fmt.Fprintf(&b, ",%.1f", v.v)
			if i == 3 {
				b.WriteString(",64,0x7f01")
			}
		}
		fmt.Fprintf(&b, ",%d,%d\n", d.start, d.end)
	}
	sys := "workload_name,gpu_model,gpu_arch,cu_per_gpu,simd_per_cu,se_per_gpu,wave_size,max_sclk,max_mclk,total_l2_chan,lds_banks_per_cu,compute_partition,memory_partition,num_xcd,num_hbm_channels\n" +
		fmt.Sprintf("copy,%s,%s,%d,4,8,64,%d,1600,%d,32,NA,NA,%d,32\n", g.product, g.gfx, g.cus, g.clockMHz, g.channels, g.xccs)
	return map[string][]byte{"pmc_perf.csv": b.Bytes(), "sysinfo.csv": []byte(sys)}
}
