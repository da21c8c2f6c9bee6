package kerneltrace

import (
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const statsHeader = `"Name","Calls","TotalDurationNs","AverageNs","Percentage"` + "\n"

// TestStatsOf: rows tell what a statistics table is of, and the file's name
// only where they could be anything's.
func TestStatsOf(t *testing.T) {
	for _, c := range []struct{ rows, file, want string }{
		{"\"stencil_step\",4,1,1,1\n", "results.stats.csv", ""},
		{"\"hipMemcpy\",4,1,1,1\n\"hipFree\",4,1,1,1\n", "a_kernel_stats.csv", "API calls"},
		{"\"CopyDeviceToHost\",4,1,1,1\n", "x.csv", "copies"},
		{"\"KERNEL_DISPATCH\",4,1,1,1\n\"HIP_RUNTIME_API\",4,1,1,1\n", "x.csv", "domains"},
		{"\"hipFree\",4,1,1,1\n\"CopyDeviceToHost\",4,1,1,1\n", "x.csv", "API calls and copies"},
		{"\"hipFree\",4,1,1,1\n\"f(int)[clone .kd]\",4,1,1,1\n", "hip_api_stats.csv", ""}, // mixed: its kernels count
		{"\"hipFree\",4,1,1,1\n\"hipNewInROCm9\",4,1,1,1\n", "1_hip_api_stats.csv", "API calls"},
		{"\"hipFree\",4,1,1,1\n\"hipNewInROCm9\",4,1,1,1\n", "x.csv", "API calls"},
		{"\"hipFree\",4,1,1,1\n\"saxpy\",4,1,1,1\n", "x.csv", ""},
		{"\"hipSaxpy\",4,1,1,1\n", "x.csv", ""},
		{"\"my range\",4,1,1,1\n", "1_marker_api_stats.csv", "markers"},
		{"\"_Z1fv\",4,1,1,1\n", "1_hip_api_stats.csv", ""},
		{"", "1_domain_stats.csv", "domains"},
		{"\"Unknown command type\",4,1,1,1\n", "results.stats.csv", ""},
	} {
		if got := StatsOf([]byte(statsHeader+c.rows), "d/"+c.file); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.file, c.rows, got, c.want)
		}
	}
	if got := StatsOf([]byte("a,b\nhipFree,1\n"), "hip_api_stats.csv"); got != "" {
		t.Errorf("another table: %q", got)
	}
}

// TestStatsUnquoted: names with commas and no quotes are all before the
// numbers, and what is no kernel is counted apart.
func TestStatsUnquoted(t *testing.T) {
	table, notes, err := ReadStats(strings.NewReader(statsHeader+
		"void f<A<int, 2>, true>(A const*),2,600,300,60.0\ng(),1,400,400,40.0\nUnknown command type,4,0,0,0.0\nhipFree,3,90,30,0.0\n"), "s.csv")
	if err != nil || len(table.Rows) != 2 || table.Rows[0].Name != "void f<A<int, 2>, true>(A const*)" || table.Rows[0].TotalNs != 600 || table.Rows[0].Calls != 2 {
		t.Fatalf("%+v, %v", table, err)
	}
	if len(notes) != 2 || notes[0].Text != "API calls are not kernels and are left out: 3 calls, 90 ns" || notes[0].Level != trace.Warning ||
		notes[1].Text != "unknown commands are not kernels and are left out: 4 calls, 0 ns" || notes[1].Level != trace.Info {
		t.Errorf("notes %+v", notes)
	}
}

// TestStatsLost: a table whose time is mostly in rows that cannot be read is
// refused; less is said.
func TestStatsLost(t *testing.T) {
	for _, c := range []struct{ rows, note, fails string }{
		{"a,1,600,600,60.0\n\"b\"x,1,400,400,40.0\n", "40.0 % of the time", ""},
		{"\"a\"x,1,600,600,60.0\nb,1,400,400,40.0\n", "", "most of the time"},
		{"a,1,1000,1000,100.0\n\"b\"x,1,0,0,0.0\n", "1 row", ""},
	} {
		_, notes, err := ReadStats(strings.NewReader(statsHeader+c.rows), "s.csv")
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%q: error %v", c.rows, err)
			}
			continue
		}
		if err != nil || len(notes) != 1 || notes[0].Level != trace.Damage || !strings.Contains(notes[0].Text, c.note) {
			t.Errorf("%q: notes %+v, %v", c.rows, notes, err)
		}
	}
	if _, _, err := ReadStats(strings.NewReader("Name,Calls,TotalDurationNs\na,1,5\nx,y\nx,y\n"), "s.csv"); err == nil {
		t.Error("most rows are lost, and nothing is said")
	}
}

// TestRowsThatAreNoKernels: barriers stand among the dispatches of rocprof v1.
func TestRowsThatAreNoKernels(t *testing.T) {
	table := read(t, "Index,KernelName,gpu-id,grd,wgr,sig,obj,BeginNs,EndNs\n"+
		"0,\"f(int)\",1,64,64,0x0,0x1,10,20\n1,\"<barrier packet>\",1,0,0,0x0,0x1,20,25\n2,g(int, long),1,64,64,0x0,0x1,30,40\n")
	if table.Rows != 2 || table.Launches[1].Kernel != "g(int, long)" || table.Launches[1].TotalNs != 10 {
		t.Errorf("%d rows: %+v", table.Rows, table.Launches)
	}
	if len(table.Notes) != 1 || table.Notes[0].Text != "barriers and markers are not kernels and are left out: 1 call, 5 ns" {
		t.Errorf("notes %+v", table.Notes)
	}
}

// TestSums: durations without times are sums and no dispatches.
func TestSums(t *testing.T) {
	const durations = "Index,KernelName,grd,wgr,DurationNs\n0,f,64,64,10\n1,f,128,64,30\n2,g,64,64,5\n"
	s := read(t, durations).Sums()
	if s == nil || len(s.Rows) != 2 || s.Rows[0].Calls != 2 || s.Rows[0].TotalNs != 40 || *s.Rows[0].MinNs != 10 || *s.Rows[0].MaxNs != 30 || s.Rows[1].TotalNs != 5 {
		t.Errorf("%+v", s)
	}
	if s := read(t, "KernelName,grd,wgr,BeginNs,EndNs\nf,64,64,10,20\n").Sums(); s != nil {
		t.Errorf("dispatches with times: %+v", s)
	}
	if s := read(t, "KernelName,grd,wgr\nf,64,64\n").Sums(); s != nil {
		t.Errorf("dispatches without durations: %+v", s)
	}
}
