package kerneltrace

import (
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const runTable = `"Kind","Agent_Id","Queue_Id","Stream_Id","Dispatch_Id","Kernel_Name","Start_Timestamp","End_Timestamp","LDS_Block_Size","VGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"
"KERNEL_DISPATCH","Agent 4",1,0,1,"a",100,150,512,32,64,1,1,128,1,1
"KERNEL_DISPATCH","Agent 4",2,,2,"a",200,,512,64,64,1,1,128,1,1
"KERNEL_DISPATCH","GPU 1",1,7,3,"a",300,320,512,32,64,1,1,256,1,1
"KERNEL_DISPATCH","Agent 4",1,0,4,"a",300
"KERNEL_DISPATCH","?",1,0,5,"b",400,410,0,8,64,1,1,64,1,1
`

type folder struct{ rows []trace.Dispatch }

func (f *folder) Dispatch(d *trace.Dispatch) { f.rows = append(f.rows, *d) }

// Rows are handed on one by one, kernels told apart by their registers.
func TestDispatches(t *testing.T) {
	table, err := Read(strings.NewReader(runTable), "4242_kernel_trace.csv")
	if err != nil {
		t.Fatal(err)
	}
	table.Agents = []trace.Agent{{NodeID: 4}, {NodeID: 6}}
	r := table.Run()
	if len(r.Kernels) != 3 || r.Kernels[0].Name != "a" || *r.Kernels[1].VGPRs != 64 || *r.Kernels[0].StaticLDSBytes != 512 || *r.Process.PID != 4242 {
		t.Errorf("%+v", r)
	}
	f := &folder{}
	rep, err := r.Dispatches.Fold(t.Context(), 4, func() trace.DispatchFolder { return f })
	if err != nil || rep.Rows != 4 || len(f.rows) != 4 || len(rep.Notes) > 0 {
		t.Fatal(rep, err)
	}
	a, b, c, e := f.rows[0], f.rows[1], f.rows[2], f.rows[3]
	if a.Kernel != 0 || a.Agent != 4 || a.Queue != 1 || a.Stream != 0 || a.End-a.Start != 50 || a.LDSBytes != 512 || a.Grid[0] != 128 {
		t.Errorf("%+v", a)
	}
	if b.Kernel != 1 || b.End != trace.Absent || b.Stream != trace.Absent || c.Kernel != 0 || c.Agent != 6 || c.Stream != 7 || e.Kernel != 2 || e.Agent != trace.Absent {
		t.Errorf("%+v\n%+v\n%+v", b, c, e)
	}
	if rep.Launches == nil || rep.Launches.Rows != 4 || a.ID != 1 || e.ID != 5 {
		t.Errorf("%+v, ids %d and %d", rep.Launches, a.ID, e.ID)
	}
	// The rows beside a trace: of its dispatch, and one of each shape of its kernel.
	id := int64(5)
	rows, more := table.Beside(&id, func(kernel string) bool { return kernel == "a" }, 2)
	if len(rows) != 3 || more != 1 || rows[1].Origin.Row != 2 || rows[1].EndNs != nil || *rows[2].DispatchID != 5 || rows[2].Origin.Row != 5 {
		t.Errorf("%d more than %+v", more, rows)
	}
}

// TestCalls: a row beside a trace comes with the usual time of its shape, over
// all rows of its kernel and shape, whatever agent they ran on and whatever
// registers they were compiled to.
func TestCalls(t *testing.T) {
	const table = "\"Agent_Id\",\"Dispatch_Id\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\",\"VGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n" +
		"\"Agent 2\",1,\"a\",100,200,8,64,1,1,640,1,1\n" +
		"\"Agent 2\",2,\"a\",300,600,8,64,1,1,640,1,1\n" +
		"\"Agent 3\",3,\"a\",700,1200,8,64,1,1,640,1,1\n" +
		"\"Agent 2\",4,\"a\",1300,5300,16,64,1,1,640,1,1\n" +
		"\"Agent 2\",5,\"a\",6000,6000,8,64,1,1,640,1,1\n" + // not timed
		"\"Agent 2\",6,\"a\",7000,7007,8,64,1,1,64,1,1\n" + // another shape
		"\"Agent 2\",7,\"b\",8000,8001,8,64,1,1,640,1,1\n"
	table1, err := Read(strings.NewReader(table), "d/x_kernel_trace.csv")
	if err != nil {
		t.Fatal(err)
	}
	id := int64(2)
	rows, _ := table1.Beside(&id, func(kernel string) bool { return kernel == "a" }, 64)
	if len(rows) != 4 || *rows[1].DispatchID != 2 {
		t.Fatalf("rows %+v", rows)
	}
	for i, want := range []*trace.Calls{
		{Timed: 4, MedianNs: 300, MaxNs: 4000},
		{Timed: 4, MedianNs: 300, MaxNs: 4000},
		{Timed: 4, MedianNs: 300, MaxNs: 4000},
		{Timed: 1, MedianNs: 7, MaxNs: 7},
	} {
		if got := rows[i].Calls; got == nil || *got != *want {
			t.Errorf("row %d: calls %+v, want %+v", rows[i].Origin.Row, got, want)
		}
	}
}

func TestReadStats(t *testing.T) {
	const table = "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\",\"MaxNs\",\"StdDev\"\n" +
		"\"a<1, 2>\",4,600,150.0,75.0,100,200,30.5\n\"b\",1,200,200.0,25.0,200,200,0.0\n\"c\",x,1,,,,,\n\"d\",2,10,5.0,0.1,,,nan\n"
	if !SniffStats([]byte(table)) || SniffStats([]byte(runTable)) || SniffStats(nil) {
		t.Error("SniffStats is wrong")
	}
	s, notes, err := ReadStats(strings.NewReader(table), "s.csv")
	if err != nil || len(s.Rows) != 3 || len(notes) != 1 || notes[0].Where() != "s.csv: row 3" {
		t.Fatalf("%+v, %v, %v", s, notes, err)
	}
	a, d := s.Rows[0], s.Rows[2]
	if a.Name != "a<1, 2>" || a.Calls != 4 || a.TotalNs != 600 || *a.MinNs != 100 || *a.MaxNs != 200 || *a.StdDevNs != 30.5 {
		t.Errorf("%+v", a)
	}
	if d.MinNs != nil || d.StdDevNs != nil {
		t.Errorf("%+v", d)
	}
	if _, _, err := ReadStats(strings.NewReader("a,b\n1,2\n"), "s.csv"); err == nil {
		t.Error("another table was taken")
	}
}

func FuzzReadStats(f *testing.F) {
	f.Add("Name,Calls,TotalDurationNs,MinNs\na,1,2,3\n")
	f.Fuzz(func(t *testing.T, in string) {
		s, _, err := ReadStats(strings.NewReader(in), "s.csv")
		if err != nil {
			return
		}
		for _, r := range s.Rows {
			if r.Calls <= 0 || r.TotalNs < 0 || r.Name == "" {
				t.Errorf("%+v", r)
			}
		}
	})
}
