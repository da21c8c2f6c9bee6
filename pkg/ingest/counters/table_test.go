package counters

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/csvtable"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// kept is a folder that copies what it is given.
type kept struct {
	mu  *sync.Mutex
	out *[]trace.CounterDispatch
}

func (k kept) Dispatch(d *trace.CounterDispatch) {
	c := *d
	c.Values = slices.Clone(d.Values)
	k.mu.Lock()
	defer k.mu.Unlock()
	*k.out = append(*k.out, c)
}

// fold reads a source and returns its dispatches in order.
func fold(t testing.TB, s trace.CounterSource, workers int) ([]trace.CounterDispatch, trace.CounterReport, error) {
	t.Helper()
	var mu sync.Mutex
	var out []trace.CounterDispatch
	report, err := s.Fold(context.Background(), workers, func() trace.CounterFolder { return kept{&mu, &out} })
	slices.SortStableFunc(out, func(a, b trace.CounterDispatch) int { return int(a.Order - b.Order) })
	return out, report, err
}

func table(content string) *Table {
	return &Table{FS: fstest.MapFS{"t.csv": {Data: []byte(content)}}, Name: "t.csv", Shown: "dir/t.csv", Pass: "pass_1"}
}

const (
	header62 = `"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","SGPR_Count","Counter_Name","Counter_Value"` + "\n"
	header70 = `"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"` + "\n"
)

// all is a value over all instances.
func all(name string, v float64) trace.CounterValue {
	return trace.CounterValue{Counter: name, Instance: trace.AllInstances, Value: v}
}

// TestTables reads the shapes in which counters come.
func TestTables(t *testing.T) {
	base := trace.CounterDispatch{Pass: "pass_1", LDSBytes: -1, ID: -1, XCC: trace.AllInstances}
	for _, c := range []struct {
		name, content string
		want          func(d *trace.CounterDispatch)
	}{
		{
			"rocprofv3 of ROCm 6.2: bare agent, no times",
			header62 + `1,1,1,1,19396,19396,1048576,16,"void add<float>(float*, float const*, int, int)",64,0,0,8,16,"SQ_WAVES",16384` + "\n",
			func(d *trace.CounterDispatch) {
				d.Process, d.Agent, d.Kernel = "19396", "1", "void add<float>(float*, float const*, int, int)"
				d.Grid, d.Workgroup, d.LDSBytes, d.ID = 1048576, 64, 0, 1
				d.Values = []trace.CounterValue{all("SQ_WAVES", 16384)}
			},
		},
		{
			"rocprofv3 of ROCm 7: fixed and scientific values, times that no float holds",
			header70 + `1,1,"Agent 2",1,7,7,512,7,"k",512,0,0,8,0,32,"A",0.00000000e+00,13386742234691895,13386742234700548` + "\n" +
				`1,1,"Agent 2",1,7,7,512,7,"k",512,0,0,8,0,32,"B",1.25000000e-01,13386742234691895,13386742234700548` + "\n" +
				`1,1,"Agent 2",1,7,7,512,7,"k",512,0,0,8,0,32,"C",16384.000000,13386742234691895,13386742234700548` + "\n",
			func(d *trace.CounterDispatch) {
				d.Process, d.Agent, d.Kernel, d.Grid, d.Workgroup, d.LDSBytes, d.ID = "7", "Agent 2", "k", 512, 512, 0, 1
				d.StartNs, d.EndNs = 13386742234691895, 13386742234700548
				d.Values = []trace.CounterValue{all("A", 0), all("B", 0.125), all("C", 16384)}
			},
		},
		{
			"every cell quoted, other order of columns",
			`"Counter_Value","Kernel_Name","Counter_Name","Dispatch_Id"` + "\r\n" + `"3564.000000","__amd_rocclr_copyBuffer","GRBM_EA_BUSY","1"` + "\r\n",
			func(d *trace.CounterDispatch) {
				d.Kernel, d.ID, d.Values = "__amd_rocclr_copyBuffer", 1, []trace.CounterValue{all("GRBM_EA_BUSY", 3564)}
			},
		},
		{
			"rocpd's CSV: the GUID stands under Pid",
			"\xEF\xBB\xBF\"Pid\",\"Dispatch_Id\",\"Process_Id\",\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\"\n0000ddb5-8903,4,137,\"k.kd\",\"SQ_WAVES\",8\n",
			func(d *trace.CounterDispatch) {
				d.Process, d.Kernel, d.ID, d.Values = "0000ddb5-8903", "k", 4, []trace.CounterValue{all("SQ_WAVES", 8)}
			},
		},
		{
			"a replay pass",
			"Guid,Dispatch_Id,Replay_Pass,Kernel_Name,Counter_Name,Counter_Value\ng,4,2,k,SQ_WAVES,8\n",
			func(d *trace.CounterDispatch) {
				d.Process, d.Kernel, d.ID, d.Replay, d.Values = "g", "k", 4, 2, []trace.CounterValue{all("SQ_WAVES", 8)}
			},
		},
		{
			"names with commas, quotes and line ends",
			"Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n1,\"f<\"\"a\"\", b>\n(int)\",SQ_WAVES,8\n1,\"f<\"\"a\"\", b>\n(int)\",SQ_INSTS,9\n",
			func(d *trace.CounterDispatch) {
				d.Kernel, d.ID, d.Values = "f<\"a\", b>\n(int)", 1, []trace.CounterValue{all("SQ_WAVES", 8), all("SQ_INSTS", 9)}
			},
		},
		{
			"one channel a row",
			"Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n1,k,TCC_HIT[0],8\n1,k,TCC_HIT[17],9\n",
			func(d *trace.CounterDispatch) {
				d.Kernel, d.ID = "k", 1
				d.Values = []trace.CounterValue{{Counter: "TCC_HIT", Instance: 0, Value: 8}, {Counter: "TCC_HIT", Instance: 17, Value: 9}}
			},
		},
		{
			"rocprof v1: wide, suffix of the kernel",
			"Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size,sig,obj,VALUInsts,SALUInsts,DispatchNs,BeginNs,EndNs,CompleteNs\n" +
				"0,\"va(float*, int) [clone .kd]\",2,0,0,575726,575726,1048576,256,0,0,8,0,16,64,0x0,0x7458,17.0000000000,6.0000000000,1,100,350,400\n",
			func(d *trace.CounterDispatch) {
				d.Process, d.Agent, d.Kernel, d.Grid, d.Workgroup, d.LDSBytes, d.ID = "575726", "2", "va(float*, int)", 1048576, 256, 0, 0
				d.StartNs, d.EndNs, d.Values = 100, 350, []trace.CounterValue{all("VALUInsts", 17), all("SALUInsts", 6)}
			},
		},
		{
			"joined tables: copies of columns are left out, counters that end in digits are not",
			"Dispatch_ID,Kernel_Name,wave_size,SQC_DCACHE_REQ_READ_2,wave_size_1,Correlation_ID_1,Kernel_ID_12,obj_3,SQ_WAVES_LT_32,SQ_WAVES_EQ_64,TCC_HIT[3],TCC_HIT_sum\n" +
				"0,\"k (.kd)\",64,5,64,9,9,0x1,6,7,8,\n",
			func(d *trace.CounterDispatch) {
				d.Kernel, d.ID = "k", 0
				d.Values = []trace.CounterValue{all("SQC_DCACHE_REQ_READ_2", 5), all("SQ_WAVES_LT_32", 6), all("SQ_WAVES_EQ_64", 7), {Counter: "TCC_HIT", Instance: 3, Value: 8}}
			},
		},
		{
			"times in scientific notation that are equal",
			"Dispatch_ID,Kernel_Name,SQ_WAVES,Start_Timestamp,End_Timestamp,XCC_Index\n0,k,5,8.1097E+14,8.1097E+14,1\n",
			func(d *trace.CounterDispatch) {
				d.Kernel, d.ID, d.StartNs, d.EndNs, d.XCC = "k", 0, 810970000000000, 810970000000000, 1
				d.Values = []trace.CounterValue{all("SQ_WAVES", 5)}
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := base
			c.want(&want)
			got, report, err := fold(t, table(c.content), 2)
			if err != nil || report.Bad != 0 || len(got) != 1 {
				t.Fatalf("%d dispatches, report %+v, error %v", len(got), report, err)
			}
			want.Order = got[0].Order
			if !reflect.DeepEqual(got[0], want) {
				t.Errorf("got  %+v\nwant %+v", got[0], want)
			}
			if kind := Sniff([]byte(c.content)); kind != LongTable && kind != WideTable {
				t.Errorf("recognised as %v", kind)
			}
		})
	}
}

func TestDurations(t *testing.T) {
	for _, c := range []struct {
		start, end string
		want       float64
		ok         bool
	}{
		{"13386742234691895", "13386742234700548", 8653, true}, // a float would give 8654
		{"1248227793203453.2", "1248227793220373.0", 16919.75, true},
		{"8.1097E+14", "8.1097E+14", 0, false},
		{"200", "100", 0, false},
		{"", "", 0, false},
		{"nan", "inf", 0, false},
	} {
		got, _, err := fold(t, table("Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n1,k,A,1,"+c.start+","+c.end+"\n"), 1)
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %d dispatches, %v", c.start, len(got), err)
		}
		if ns, ok := got[0].DurationNs(); ok != c.ok || ok && ns != c.want {
			t.Errorf("%s to %s: %v, %v; want %v, %v", c.start, c.end, ns, ok, c.want, c.ok)
		}
	}
}

func TestDamage(t *testing.T) {
	for _, c := range []struct {
		name, rows string
		rows64     int64
		bad        int64
		note       string
	}{
		{"cut in the middle", "1,k,A,1\n1,k,B", 1, 1, "2 cells... under 4 names"},
		{"a value that is none", "1,k,A,abc\n1,k,B,2\n", 1, 1, `counter "A" has the value "abc"`},
		{"not finite", "1,k,A,inf\n1,k,B,nan\n1,k,C,3\n", 1, 2, `counter "A" has the value "inf"`},
		{"no kernel", "1,,A,1\n", 0, 1, "no kernel name"},
		{"a quote out of place", "1,k\"x,A,1\n1,k,B,2\n", 1, 1, "a quote is out of place"},
		{"no rows", "", 0, 0, ""},
	} {
		got, report, err := fold(t, table("Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n"+c.rows), 2)
		if err != nil {
			t.Fatal(err)
		}
		if report.Rows != c.rows64 || report.Bad != c.bad || report.Empty != (c.rows == "") {
			t.Errorf("%s: %d rows, %d bad, empty %v", c.name, report.Rows, report.Bad, report.Empty)
		}
		if (len(report.Notes) > 0) != (c.bad > 0) {
			t.Errorf("%s: notes %v", c.name, report.Notes)
		}
		if c.bad > 0 && (report.Notes[0].Level != trace.Damage || !strings.Contains(report.Notes[0].Text, strings.ReplaceAll(c.note, "2 cells... ", ""))) {
			t.Errorf("%s: note %+v", c.name, report.Notes[0])
		}
		if int64(len(got)) > c.rows64 {
			t.Errorf("%s: %d dispatches", c.name, len(got))
		}
	}
}

func TestEmptyWorkload(t *testing.T) {
	content := "Dispatch_ID,Kernel_Name\n"
	if Sniff([]byte(content)) != WideTable {
		t.Error("an empty workload is not recognised")
	}
	got, report, err := fold(t, table(content), 2)
	if err != nil || len(got) != 0 || !report.Empty {
		t.Errorf("%d dispatches, %+v, %v", len(got), report, err)
	}
}

func TestSniff(t *testing.T) {
	for _, c := range []struct {
		head string
		want Kind
	}{
		{header70, LongTable},
		{`"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"`, NotCounters},
		{`"Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"`, NotCounters},
		{`"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs","StdDev"`, NotCounters},
		{"Dispatch_ID,Kernel_Name,GPU_ID\n", NotCounters},
		{"Dispatch_ID,Kernel_Name,GPU_ID,queue-id,queue-index,pid,tid,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,wave_size,sig,obj,DispatchNs,Start_Timestamp,End_Timestamp,CompleteNs\n", NotCounters},
		{`{"rocprofiler-sdk-tool":[{"metadata":{}}]}`, Results},
		{`{"version":"3.0.0","code":[]}`, NotCounters},
		{"", NotCounters},
		{"SQLite format 3\x00", NotCounters},
	} {
		if got := Sniff([]byte(c.head)); got != c.want {
			t.Errorf("%.60q: %v, want %v", c.head, got, c.want)
		}
	}
}

// TestBlocks reads a table of several blocks, with line ends inside cells, and
// gets the same whatever the number of workers.
func TestBlocks(t *testing.T) {
	var b strings.Builder
	b.WriteString("Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n")
	const dispatches = 20000
	for i := range dispatches {
		for _, c := range []string{"A", "B"} {
			fmt.Fprintf(&b, "%d,\"kernel, line\n%s\",%s,%d\n", i, strings.Repeat("x", 60+i%7), c, i)
		}
	}
	if b.Len() < 3<<20 {
		t.Fatalf("the table has only %d bytes", b.Len())
	}
	one, report, err := fold(t, table(b.String()), 1)
	if err != nil || report.Rows != 2*dispatches || report.Bad != 0 || report.Bytes != int64(b.Len()) {
		t.Fatalf("%+v, %v", report, err)
	}
	sum := 0.0
	for _, d := range one {
		for _, v := range d.Values {
			sum += v.Value
		}
	}
	if sum != 2*dispatches*(dispatches-1)/2 {
		t.Errorf("the values add up to %g", sum)
	}
	for _, workers := range []int{2, 5} {
		if many, _, err := fold(t, table(b.String()), workers); err != nil || !reflect.DeepEqual(one, many) {
			t.Errorf("%d workers give something else, %v", workers, err)
		}
	}
}

func TestHugeRow(t *testing.T) {
	content := "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n1,k,A,1\n1,\"" + strings.Repeat("x", csvtable.MaxRecord+3<<20)
	_, report, err := fold(t, table(content), 2)
	if err != nil || len(report.Notes) == 0 || !strings.Contains(report.Notes[len(report.Notes)-1].Text, "longer than 16 MiB") {
		t.Errorf("%+v, %v", report.Notes, err)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := table(header70+strings.Repeat("x\n", 10)).Fold(ctx, 2, func() trace.CounterFolder { return kept{&sync.Mutex{}, &[]trace.CounterDispatch{}} })
	if err == nil {
		t.Error("a cancelled read has no error")
	}
}

// TestLevelTable: a level counter's own table gives the counter and what it
// accumulated, under the name that later releases use.
func TestLevelTable(t *testing.T) {
	s := table("Dispatch_ID,Kernel_Name,GRBM_GUI_ACTIVE,SQ_LEVEL_WAVES,SQ_ACCUM_PREV_HIRES\n0,k,9,1,101647680\n")
	s.Only = "SQ_LEVEL_WAVES"
	got, _, err := fold(t, s, 1)
	want := []trace.CounterValue{all("SQ_LEVEL_WAVES", 1), all("SQ_LEVEL_WAVES_ACCUM", 101647680)}
	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0].Values, want) {
		t.Errorf("%+v, %v", got, err)
	}
}
