package att

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/kerneltrace"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

func TestReadStats(t *testing.T) {
	for _, c := range []struct {
		name, csv string
		want      *trace.StatsSums
		notes     []string
	}{
		{
			name: "quoted", csv: "\"CodeObj\",\"Vaddr\",\"Instruction\",\"Hitcount\",\"Latency\",\"Stall\",\"Idle\",\"Source\"\n3,0,\"; k\",9,9,9,9,\"\"\n3,0,\"s_nop 0, x\",1,20,10,5,\"\"\n3,4,\"s_endpgm\",2,8,0,1,\"a:1\"\n",
			want: &trace.StatsSums{File: "f", Rows: 2, Counts: trace.Counts{Hits: 3, LatencyCycles: 28, StallCycles: 10, IdleCycles: 6}},
		},
		{
			name: "unquoted, other order, BOM, CRLF", csv: "\uFEFFIdle,Stall,Latency,Hitcount,Instruction\r\n5,10,20,1,s_nop 0\r\n",
			want: &trace.StatsSums{File: "f", Rows: 1, Counts: trace.Counts{Hits: 1, LatencyCycles: 20, StallCycles: 10, IdleCycles: 5}},
		},
		{name: "header only", csv: "Instruction,Hitcount,Latency,Stall,Idle\n", want: &trace.StatsSums{File: "f"}},
		{
			name: "bad rows", csv: "Instruction,Hitcount,Latency,Stall,Idle\nx,1\nx,1,2,3,z\nx\"y,1,1,1,1\nx,1,20,10,5\n",
			want:  &trace.StatsSums{File: "f", Rows: 1, Counts: trace.Counts{Hits: 1, LatencyCycles: 20, StallCycles: 10, IdleCycles: 5}},
			notes: []string{"f: row 1: 3 rows"},
		},
		{name: "another table", csv: "a,b\n1,2\n", notes: []string{`no column "hitcount"`}},
		{name: "empty", csv: "", notes: []string{`no column "hitcount"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n notes
			got := readStats(strings.NewReader(c.csv), "f", &n)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			checkNotes(t, n, c.notes)
		})
	}
}

func TestStatsName(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"stats_d_1.csv"}, "stats_d_1.csv"},
		{[]string{"stats_d_12.csv", "stats_d_1.json", "xstats_d_1.csv"}, ""},
		{[]string{"stats_d_1_a.csv", "stats_d_1_b.csv"}, "stats_d_1_a.csv"},
		{[]string{"stats_d_1_a.csv", "stats_d_1.csv"}, "stats_d_1.csv"},
	} {
		if got := statsName(c.names, "d_1"); got != c.want {
			t.Errorf("%v: %q, want %q", c.names, got, c.want)
		}
	}
}

const launchHeader = `"Kind","Agent_Id","Queue_Id","Dispatch_Id","Kernel_Name","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"`

func launchRow(id int, kernel string, vgprs int) string {
	return fmt.Sprintf(`"KERNEL_DISPATCH","Agent 2",1,%d,"%s",1000,3500,512,0,%d,4,32,256,1,1,2560,2,1`, id, kernel, vgprs)
}

func ptr(v int64) *int64 { return &v }

func TestReadLaunches(t *testing.T) {
	csv := strings.Join([]string{
		launchHeader,
		launchRow(1, "other", 8),
		launchRow(2, "k() [clone .kd]", 8),
		launchRow(3, "k() [clone .kd]", 8), // the same shape again
		launchRow(4, "k()", 16),
		launchRow(5, "_Zk.kd", 16),
		`too,short`,
		launchRow(25, "other", 8),
		launchRow(25, "k()", 16), // by its id, although the shape is known
	}, "\n")
	tt := &trace.ThreadTrace{DispatchID: ptr(25), Kernels: []trace.Kernel{{Symbol: "_Zk", Demangled: "k()"}}}
	n := addTable(t, tt, csv)
	got := tt.Launches
	rows := make([]int, len(got))
	for i, l := range got {
		rows[i] = l.Origin.Row
	}
	if !slices.Equal(rows, []int{2, 4, 5, 7, 8}) {
		t.Errorf("rows %v", rows)
	}
	want := trace.Launch{
		Origin: trace.Origin{File: "f.csv", Row: 2}, DispatchID: ptr(2), AgentID: "Agent 2", Kernel: "k()",
		StartNs: ptr(1000), EndNs: ptr(3500), LDSBytes: ptr(512), ScratchBytes: ptr(0), VGPRs: ptr(8), AccumVGPRs: ptr(4), SGPRs: ptr(32),
		Workgroup: &[3]int64{256, 1, 1}, Grid: &[3]int64{2560, 2, 1},
		Calls: &trace.Calls{Timed: 4, MedianNs: 2500, MaxNs: 2500},
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Error(diff)
	}
	checkNotes(t, n, []string{"f.csv: row 6: 1 row"})
}

// addTable adds the rows of a kernel trace to a thread trace.
func addTable(t *testing.T, tt *trace.ThreadTrace, csv string) notes {
	t.Helper()
	table, err := kerneltrace.Read(strings.NewReader(csv), "f.csv")
	if err != nil {
		t.Fatal(err)
	}
	var n notes
	addLaunches(tt, table, kernelNames(tt), trace.Warning, &n)
	return n
}

func TestLaunchesAbsentColumnsAndLimit(t *testing.T) {
	tt := &trace.ThreadTrace{Kernels: []trace.Kernel{{Symbol: "k"}}}
	checkNotes(t, addTable(t, tt, "KERNEL NAME,VGPR_Count,Workgroup_Size,Grid_Size,Group_Segment_Size\nk,,64,64,1024\n"), nil)
	one := [3]int64{64, 1, 1}
	want := []trace.Launch{{Origin: trace.Origin{File: "f.csv", Row: 1}, Kernel: "k", LDSBytes: ptr(1024), Workgroup: &one, Grid: &one}}
	if diff := cmp.Diff(want, tt.Launches); diff != "" {
		t.Error(diff)
	}
	var b strings.Builder
	b.WriteString("Kernel_Name,SGPR_Count,Workgroup_Size,Grid_Size\n")
	for i := range 70 {
		fmt.Fprintf(&b, "k,%d,64,64\n", i)
	}
	tt.Launches = nil
	checkNotes(t, addTable(t, tt, b.String()), []string{"more than 64 different launches of these kernels: 6 rows"})
	if len(tt.Launches) != maxLaunches {
		t.Errorf("%d launches", len(tt.Launches))
	}
}

func TestReadAgents(t *testing.T) {
	csv := `Node_Id,Agent_Type,Name,Product_Name,Cu_Count,Simd_Per_Cu,Cu_Per_Engine,Num_Xcc,Max_Waves_Per_Simd,Lds_Size_In_Kb,Wave_Front_Size,Max_Engine_Clk_Fcompute,Device_Id
0,CPU,"AMD EPYC",x,64,0,0,0,0,0,0,0,0
x,GPU,gfx942,y,1,1,1,1,1,1,1,1,1
2,GPU,gfx950,"AMD Instinct MI350X",256,4,8,8,8,160,64,2200,30112
`
	got, n, err := kerneltrace.ReadAgents(strings.NewReader(csv), "f")
	if err != nil {
		t.Fatal(err)
	}
	want := []trace.Agent{{
		Origin: trace.Origin{File: "f", Row: 3}, NodeID: 2, Gfx: "gfx950", Product: "AMD Instinct MI350X", DeviceID: ptr(30112),
		CUs: ptr(256), SIMDsPerCU: ptr(4), CUsPerEngine: ptr(8), XCCs: ptr(8), MaxWavesPerSIMD: ptr(8), LDSKiB: ptr(160), WaveSize: ptr(64), MaxClockMHz: ptr(2200),
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	checkNotes(t, n, []string{"f: row 2: 1 row"})
}

// TestCompanionPlaces checks where companion tables are looked for.
func TestCompanionPlaces(t *testing.T) {
	launch := launchHeader + "\n" + launchRow(25, "k", 8) + "\n"
	agent := "Node_Id,Agent_Type,Name\n2,GPU,gfx950\n"
	const dir = "out/ui_output_agent_14_dispatch_25_fixed"
	fsys := fstest.MapFS{dir + "/code.json": {Data: []byte(`{"code":[["; k",0,0,"",1,0,0,0,0,0],["s_endpgm",0,1,"",1,0,1,4,0,0]]}`)}}
	for _, file := range []string{
		dir + "/own_kernel_trace.csv", "out/a_kernel_trace.csv", "out/host/1_kernel_trace.csv", "out/host/deep/2_kernel_trace.csv",
		"out/ui_output_agent_14_dispatch_26/b_kernel_trace.csv", "out/other/c_kernel_trace.csv", "up_kernel_trace.csv", "out/kernel_trace.csv.bak",
	} {
		fsys[file] = &fstest.MapFile{Data: []byte(launch)}
	}
	fsys["out/other/ui_output_agent_14_dispatch_25/code.json"] = &fstest.MapFile{}
	fsys["out/host/1_agent_info.csv"] = &fstest.MapFile{Data: []byte(agent)}
	fsys["out/stats_ui_output_agent_14_dispatch_25_fixed.csv"] = &fstest.MapFile{Data: []byte("Instruction,Hitcount,Latency,Stall,Idle\nx,1,4,0,0\n")}
	tt, n, err := Open(context.Background(), fsys, dir, "shown/"+dir, direct{})
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, l := range tt.Launches {
		files = append(files, l.Origin.File)
	}
	want := []string{"shown/" + dir + "/own_kernel_trace.csv", "shown/out/a_kernel_trace.csv", "shown/out/host/1_kernel_trace.csv"}
	if !slices.Equal(files, want) {
		t.Errorf("%q, want %q", files, want)
	}
	if len(tt.Agents) != 1 || tt.Agents[0].Origin.File != "shown/out/host/1_agent_info.csv" {
		t.Errorf("agents %+v", tt.Agents)
	}
	if tt.Stats == nil || tt.Stats.Rows != 1 || *tt.AgentHandle != 14 || *tt.DispatchID != 25 {
		t.Errorf("stats %+v, agent %d, dispatch %d", tt.Stats, *tt.AgentHandle, *tt.DispatchID)
	}
	checkNotes(t, n, nil)
}

func TestParseName(t *testing.T) {
	for _, c := range []struct {
		name            string
		agent, dispatch *int64
		ok              bool
	}{
		{"ui_output_agent_14705_dispatch_25", ptr(14705), ptr(25), true},
		{"ui_output_agent_1_dispatch_2_after_loc_fix", ptr(1), ptr(2), true},
		{"ui_output_agent_99999999999999999999_dispatch_2", nil, ptr(2), true},
		{"ui_output_agent__dispatch_2", nil, nil, false},
		{"ui_output_agent_1_dispatch_", nil, nil, false},
		{"ui_output_agent_1", nil, nil, false},
		{"out", nil, nil, false},
	} {
		agent, dispatch, ok := ParseName(c.name)
		if ok != c.ok || ok && (!cmp.Equal(agent, c.agent) || !cmp.Equal(dispatch, c.dispatch)) {
			t.Errorf("%s: %v %v %v", c.name, agent, dispatch, ok)
		}
	}
}

func TestSources(t *testing.T) {
	fsys := fstest.MapFS{
		"a.py": {Data: []byte("one\r\ntwo\n\nthree \xff\xfe")}, "empty.py": {}, "sub/x.py": {Data: []byte("x")},
		"big.py": {Data: make([]byte, maxSourceBytes+1)},
	}
	d, err := openFolder(fsys)
	if err != nil {
		t.Fatal(err)
	}
	tree := `{"/":{"w":{"a.py":"a.py","..":{"lib":{"empty.py":"empty.py"}},"gone.py":"gone.py","up.py":"../a.py","sub.py":"sub/x.py","big.py":"big.py"}},
		"rel.py":"a.py","..":{"r.py":"a.py"},"odd":[1,{"x":"a.py"}],"n":null}`
	var n notes
	s := readSources([]byte(tree), d, &n)
	checkNotes(t, n, nil)
	text := []string{"one", "two", "", "three \uFFFD"}
	for _, c := range []struct {
		file  string
		ok    bool
		err   string
		lines []string
	}{
		{"/w/a.py", true, "", text},
		{"/w/../w/a.py", true, "", text},
		{"/w/../lib/empty.py", true, "", nil},
		{"/lib/empty.py", true, "", nil},
		{"rel.py", true, "", text},
		{"./rel.py", true, "", text},
		{"../r.py", true, "", text},
		{"/rel.py", false, "", nil},
		{"a.py", false, "", nil},
		{"", false, "", nil},
		{"/w/gone.py", true, `"gone.py" is listed in snapshots.json, but is not`, nil},
		{"/w/up.py", true, `"../a.py" is listed in snapshots.json, but is not`, nil},
		{"/w/sub.py", true, `"sub/x.py" is listed in snapshots.json, but is not`, nil},
		{"/w/big.py", true, "larger than the limit of 16 MiB", nil},
	} {
		lines, ok, err := s.Lines(c.file)
		if ok != c.ok || !slices.Equal(lines, c.lines) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q %v %v", c.file, lines, ok, err)
		}
	}
	n = nil
	cut := readSources([]byte(`{"/":{"w":{"a.py":"a.py","b`), d, &n)
	if _, ok, err := cut.Lines("/w/a.py"); !ok || err != nil {
		t.Errorf("ok %v, err %v", ok, err)
	}
	checkNotes(t, n, []string{"before it are used"})
}

// TestReadStatsAlone: the rows of a stats CSV are those of code.json, label rows
// counted as they are there.
func TestReadStatsAlone(t *testing.T) {
	const table = `"CodeObj","Vaddr","Instruction","Hitcount","Latency","Stall","Idle","Source"
1,256,"; first",0,0,0,0,"first(int)"
1,256,"s_mov_b32 s0, ""x""",4,16,4,8,"/k.hip:7"
1,260,"s_endpgm",-4,16,0,0,""
1,264,"s_endpgm",4,cut,0,0,""
2,512,"; second",0,0,0,0,""
2,512,"s_endpgm",4,20,0,0,""
`
	tt, notes, err := ReadStats(strings.NewReader(table), "out/stats_ui_output_agent_14_dispatch_25.csv")
	if err != nil || *tt.AgentHandle != 14 || *tt.DispatchID != 25 || !tt.StatsOnly || tt.Waves != nil || tt.CodeState != trace.CodeRead {
		t.Fatalf("%+v, %v", tt, err)
	}
	want := []trace.Instruction{
		{Line: 1, Text: `s_mov_b32 s0, "x"`, Source: "/k.hip:7", CodeObject: 1, Vaddr: 256, Counts: trace.Counts{Hits: 4, LatencyCycles: 16, StallCycles: 4, IdleCycles: 8}},
		{Line: 5, Text: "s_endpgm", CodeObject: 2, Vaddr: 512, Counts: trace.Counts{Hits: 4, LatencyCycles: 20}},
	}
	if diff := cmp.Diff(want, tt.Code); diff != "" {
		t.Error(diff)
	}
	if len(tt.Kernels) != 2 || tt.Kernels[0].Demangled != "first(int)" || tt.Kernels[1].Symbol != "second" || tt.Kernels[1].First != 1 {
		t.Errorf("%+v", tt.Kernels)
	}
	if len(notes) != 1 || notes[0].Level != trace.Damage || notes[0].Place != "row 3" {
		t.Errorf("%v", notes)
	}
	if !SniffStats([]byte(table)) || SniffStats([]byte("Name,Calls,TotalDurationNs\n")) {
		t.Error("the header is not what tells")
	}
}

// TestStatsAreCode compares the tables of fixtures and of real captures with the
// code.json of their directories, row by row.
func TestStatsAreCode(t *testing.T) {
	compared := 0
	for _, pattern := range []string{filepath.Join("..", "..", "..", "fixtures", "att", "*", "stats_*.csv"), filepath.Join(realData, "*", "stats_*.csv")} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			got, notes, err := ReadStats(f, file)
			if err := errors.Join(err, f.Close()); err != nil || len(notes) > 0 {
				t.Errorf("%s: %v, %v", file, notes, err)
				continue
			}
			want := openDir(t, filepath.Join(filepath.Dir(file), got.Name))
			if diff := cmp.Diff(want.Code, got.Code); diff != "" {
				t.Errorf("%s: %s", file, diff)
			}
			if diff := cmp.Diff(want.Kernels, got.Kernels); diff != "" {
				t.Errorf("%s: %s", file, diff)
			}
			compared++
		}
	}
	if compared == 0 {
		t.Error("no table was compared")
	}
}
