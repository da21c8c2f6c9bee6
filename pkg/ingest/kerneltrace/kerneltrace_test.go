package kerneltrace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const header = `"Kind","Agent_Id","Queue_Id","Dispatch_Id","Kernel_Name","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"` + "\n"

func read(t *testing.T, in string) *Table {
	t.Helper()
	table, err := Read(strings.NewReader(in), "t.csv")
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestReadSums(t *testing.T) {
	table := read(t, header+
		`"KERNEL_DISPATCH","Agent 2",1,1,"void f<int, 4>(a::{lambda()#1}, b)",100,150,512,16,36,4,48,16,16,1,1024,33,1`+"\n"+
		`"KERNEL_DISPATCH","Agent 2",1,2,"g",200,190,0,0,8,0,32,64,1,1,64,1,1`+"\n"+
		`"KERNEL_DISPATCH","Agent 2",1,3,"void f<int, 4>(a::{lambda()#1}, b)",300,330,512,16,36,4,48,16,16,1,1024,33,1`+"\n"+
		`"KERNEL_DISPATCH","Agent 3",1,4,"void f<int, 4>(a::{lambda()#1}, b)",300,340,512,16,36,4,48,16,16,1,1024,33,1`+"\n")
	if table.Rows != 4 || len(table.Launches) != 3 || len(table.Notes) != 0 || table.LDSDispatched {
		t.Fatalf("%d rows, %d launches, notes %v", table.Rows, len(table.Launches), table.Notes)
	}
	f := table.Launches[0]
	if f.Count != 2 || f.Timed != 2 || f.TotalNs != 80 || f.MinNs != 30 || f.MaxNs != 50 || f.Origin.Row != 1 {
		t.Errorf("first launch %+v", f)
	}
	if f.Kernel != "void f<int, 4>(a::{lambda()#1}, b)" || *f.VGPRs != 36 || *f.AccumVGPRs != 4 || *f.SGPRs != 48 || *f.LDSBytes != 512 || *f.ScratchBytes != 16 {
		t.Errorf("first launch %+v", f.Launch)
	}
	if size, _ := f.WorkgroupSize(); size != 256 {
		t.Errorf("%d work-items", size)
	}
	if n, _ := f.Workgroups(); n != 64*3 { // 1024/16 x ceil(33/16)
		t.Errorf("%d workgroups", n)
	}
	if g := table.Launches[1]; g.Count != 1 || g.Timed != 0 || g.TotalNs != 0 {
		t.Errorf("a row that ends before it starts is timed: %+v", g)
	}
	if a := table.Launches[2]; a.AgentID != "Agent 3" || a.Count != 1 {
		t.Errorf("another agent's row is %+v", a)
	}
}

// TestReadVersions: the tables of other releases and tools.
func TestReadVersions(t *testing.T) {
	for _, c := range []struct {
		name, in string
		vgprs    *int64
		lds      int64
		packet   bool
		size     int64
		groups   int64
		ns       int64
	}{
		{
			"rocprofv3 of ROCm 6.2",
			`"Kind","Agent_Id","Kernel_Name","Start_Timestamp","End_Timestamp","Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"
"KERNEL_DISPATCH",1,"f(int, int)",10,30,0,700,64,1,1,1024,1024,1
`, nil, 700, true, 64, 16 * 1024, 20,
		},
		{
			"rocprof v1",
			`Index,KernelName,gpu-id,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size,BeginNs,EndNs
0,"f(int, int) [clone .kd]",2,1048576,256,1024,0,8,4,16,64,5,12
`, new(int64(8)), 1024, true, 256, 4096, 7,
		},
		{
			"rocprof-compute",
			`Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Wave_Size,Kernel_Name,Start_Timestamp,End_Timestamp
0,2,1048576,256,2048,16,8,4,16,64,"f(int, int)",5.25,12.5
`, new(int64(8)), 2048, true, 256, 4096, 8,
		},
		{
			"duration column, quoted and scientific numbers",
			"\uFEFFkernel_name, VGPR_Count ,LDS_Block_Size,Workgroup_Size,Grid_Size,Duration_ns\nf,\"3.2e1\",\"512\",\"2.56E+02\",1e6,4.0\n",
			new(int64(32)), 512, false, 256, 3907, 4,
		},
	} {
		table := read(t, c.in)
		if len(table.Launches) != 1 {
			t.Errorf("%s: %d launches, notes %v", c.name, len(table.Launches), table.Notes)
			continue
		}
		l := table.Launches[0]
		size, _ := l.WorkgroupSize()
		groups, _ := l.Workgroups()
		if fmt.Sprint(deref(l.VGPRs)) != fmt.Sprint(deref(c.vgprs)) || *l.LDSBytes != c.lds || table.LDSDispatched != c.packet || strings.Contains(l.Kernel, ".kd") || size != c.size || groups != c.groups || l.TotalNs != c.ns {
			t.Errorf("%s: VGPRs %v, LDS %d (packet %v), %d x %d, %d ns", c.name, deref(l.VGPRs), *l.LDSBytes, table.LDSDispatched, groups, size, l.TotalNs)
		}
	}
}

func deref(p *int64) any {
	if p == nil {
		return nil
	}
	return *p
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "no Kernel_Name and Grid_Size"},
		{"a,b\n1,2\n", "no Kernel_Name and Grid_Size"},
		{"Kernel_Name,Grid_Size,Counter_Name,Counter_Value\n", "a counter table"},
		{`"Kernel_Name`, "quote"},
	} {
		if _, err := Read(strings.NewReader(c.in), "t.csv"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.in, err, c.want)
		}
	}
}

func TestReadDamage(t *testing.T) {
	good := `"KERNEL_DISPATCH","Agent 2",1,1,"f",1,2,0,0,8,0,32,64,1,1,64,1,1` + "\n"
	table := read(t, header+good+"\"KERNEL_DISPATCH\",\"Agent 2\"\n"+strings.Replace(good, "64,1,1,64", "-64,1,1,64", 1)+good)
	if table.Rows != 2 || len(table.Notes) != 1 || table.Notes[0].Level != trace.Damage || table.Notes[0].Where() != "t.csv: row 2" || !strings.HasPrefix(table.Notes[0].Text, "2 rows") {
		t.Errorf("%d rows, notes %+v", table.Rows, table.Notes)
	}
	// Registers that are no counts are unknown, the row still counts.
	table = read(t, header+strings.Replace(good, ",8,0,32", ",-8,,1e99", 1))
	if l := table.Launches[0]; l.VGPRs != nil || l.AccumVGPRs != nil || l.SGPRs != nil {
		t.Errorf("registers %v %v %v", deref(l.VGPRs), deref(l.AccumVGPRs), deref(l.SGPRs))
	}
	// Words in the place of a number are damage, in each of them.
	for _, in := range [][2]string{{",8,0,32", ",8,x,32"}, {",64,1,1\n", ",64,1,x\n"}} {
		table = read(t, header+good+strings.Replace(good, in[0], in[1], 1))
		if table.Rows != 1 || len(table.Notes) != 1 || table.Notes[0].Where() != "t.csv: row 2" || !strings.HasPrefix(table.Notes[0].Text, "1 row cannot be understood and is left out") {
			t.Errorf("%q: %d rows, notes %+v", in[1], table.Rows, table.Notes)
		}
	}
	if table = read(t, header); table.Rows != 0 || len(table.Notes) != 0 {
		t.Errorf("a table without rows: %+v", table)
	}
}

func TestReadBoundsLaunches(t *testing.T) {
	var b strings.Builder
	b.WriteString("Kernel_Name,Workgroup_Size,Grid_Size\n")
	for i := range maxLaunches + 3 {
		fmt.Fprintf(&b, "f,64,%d\n", 64*(i+1))
	}
	b.WriteString("f,64,64\n") // one that is known is still counted
	table := read(t, b.String())
	if len(table.Launches) != maxLaunches || table.Rows != maxLaunches+1 || table.Launches[0].Count != 2 || len(table.Notes) != 1 {
		t.Errorf("%d launches, %d rows, notes %v", len(table.Launches), table.Rows, table.Notes)
	}
}

func TestSniff(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Kind
	}{
		{header, KernelTrace},
		{"Index,KernelName,gpu-id,grd,wgr\n", KernelTrace},
		{`"Correlation_Id","Grid_Size","Kernel_Name","Counter_Name","Counter_Value"`, CounterTable},
		{`"Node_Id","Logical_Node_Id","Agent_Type"`, AgentTable},
		{`"Name","Calls","TotalDurationNs"`, NotTable},
		{`{"code": [["Kernel_Name", "Grid_Size"]]}`, NotTable},
		{"\x7fELF\x02\x01", NotTable},
		{"Kernel_Name,Grid_Size,Block_Size,ms\n", NotTable},
		{"GPU_ID,Kernel_Name,Grid_Size,tflops\n", NotTable},
		{`"Kind","Agent_Id","Kernel_Name","VGPR_Count","Workgroup_Size_X","Grid_Size_X"`, KernelTrace},
		{"Kernel_Name,Grid_Size,Workgroup_Size,DurationNs\n", KernelTrace},
		{`"ID","Process ID","Kernel Name","Context","Stream","Block Size","Grid Size","Device"`, NotTable},
		{"", NotTable},
	} {
		if got := Sniff([]byte(c.in)); got != c.want {
			t.Errorf("Sniff(%q) = %d, want %d", c.in, got, c.want)
		}
	}
}

func TestReadAgents(t *testing.T) {
	in := `"Node_Id","Agent_Type","Num_Xcc","Cu_Count","Device_Id","Max_Engine_Clk_Fcompute","Name","Product_Name"
0,"CPU",1,64,0,0,"AMD EPYC","AMD EPYC"
2,"GPU",8,304,29857,2100,"gfx942","AMD Instinct MI300X"
x,"GPU",8,304,29857,2100,"gfx942","AMD Instinct MI300X"
`
	agents, notes, err := ReadAgents(strings.NewReader(in), "a.csv")
	if err != nil || len(agents) != 1 || len(notes) != 1 {
		t.Fatalf("%d agents, notes %v, error %v", len(agents), notes, err)
	}
	a := agents[0]
	if a.NodeID != 2 || a.Gfx != "gfx942" || *a.CUs != 304 || *a.XCCs != 8 || *a.DeviceID != 29857 || *a.MaxClockMHz != 2100 || a.Origin.Row != 2 {
		t.Errorf("agent %+v", a)
	}
	if _, _, err := ReadAgents(strings.NewReader("a,b\n"), "a.csv"); err == nil {
		t.Error("another table is read as agents")
	}
}

// TestReadRealTables: every dispatch of the real tables is counted, whatever
// the names in it. The counts are those of the files' lines, as no field holds
// a line end.
func TestReadRealTables(t *testing.T) {
	files, err := filepath.Glob("../../../../shared/data/att/*/*kernel_trace.csv")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the real captures are not here: ../shared/data/att")
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if Sniff(raw[:min(len(raw), SniffBytes)]) != KernelTrace {
			t.Errorf("%s is not recognised", name)
		}
		table := read(t, string(raw))
		var sum int64
		for _, l := range table.Launches {
			sum += l.Count
		}
		if want := int64(strings.Count(string(raw), "\n")) - 1; table.Rows != want || sum != want || len(table.Notes) != 0 {
			t.Errorf("%s: %d rows in %d, want %d; notes %v", name, table.Rows, sum, want, table.Notes)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(header + `"KERNEL_DISPATCH","Agent 2",1,1,"f<a, ""b"">",100,150,512,16,36,4,48,16,16,1,1024,33,1` + "\n")
	f.Add("Index,KernelName,gpu-id,grd,wgr,lds\n0,f,2,1e3,256,0\n")
	f.Add("Kernel_Name,Grid_Size,Workgroup_Size,Duration\nf,9223372036854775807,1,9223372036854775807\nf,9223372036854775807,1,9223372036854775807\n")
	f.Add("Node_Id,Agent_Type\n1,GPU\n")
	f.Fuzz(func(t *testing.T, in string) {
		if table, err := Read(strings.NewReader(in), "t.csv"); err == nil {
			checkTable(t, table)
		}
		agents, _, err := ReadAgents(strings.NewReader(in), "a.csv")
		if err != nil && len(agents) > 0 {
			t.Errorf("an error with %d agents", len(agents))
		}
	})
}

// checkTable holds for every table that is read.
func checkTable(t *testing.T, table *Table) {
	t.Helper()
	var rows int64
	for _, l := range table.Launches {
		rows += l.Count
		if l.Timed > l.Count || l.MinNs > l.MaxNs || l.TotalNs < l.MaxNs || l.Kernel == "" {
			t.Errorf("launch %+v", l)
		}
		for _, v := range []*int64{l.VGPRs, l.AccumVGPRs, l.SGPRs, l.LDSBytes, l.ScratchBytes} {
			if v != nil && *v < 0 {
				t.Errorf("a count of %d", *v)
			}
		}
	}
	if rows != table.Rows {
		t.Errorf("%d rows, the launches have %d", table.Rows, rows)
	}
}
