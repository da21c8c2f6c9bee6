package ingest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// TestTimesOfARun: each kernel of a run gets its dispatches from one table,
// whatever the tables are called.
func TestTimesOfARun(t *testing.T) {
	const (
		times  = "Index,KernelName,gpu-id,grd,wgr,BeginNs,EndNs\n0,f,0,64,64,10,20\n1,g,0,64,64,30,40\n"
		waves  = "Index,KernelName,gpu-id,grd,wgr,SQ_WAVES,BeginNs,EndNs\n0,f,0,64,64,1,10,25\n"
		hits   = "Index,KernelName,gpu-id,grd,wgr,TCC_HIT_sum,BeginNs,EndNs\n0,f,0,64,64,1,110,125\n"
		bare   = "Index,KernelName,gpu-id,grd,wgr,TCC_MISS_sum\n0,f,0,64,64,1\n"
		sums   = "Name,Calls,TotalDurationNs\nf,1,10\ng,1,10\n"
		single = "Name,Calls,TotalDurationNs\nf,1,10\n"
	)
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string // runs and sums, and what lends times to the counters
	}{
		{"times alone count, counters borrow them", map[string]string{"x.csv": times, "a.csv": waves, "b.csv": bare, "s.csv": sums}, "x.csv; lent x.csv"},
		{"passes count once", map[string]string{"a.csv": waves, "b.csv": hits, "c.csv": bare}, "a.csv;"},
		{"processes that count the same count each", map[string]string{"a.csv": waves, "b.csv": waves}, "a.csv b.csv;"},
		{"sums where there is nothing else", map[string]string{"b.csv": bare, "s.csv": sums}, "s.csv; lent s.csv"},
		{"sums of more kernels than were counted", map[string]string{"a.csv": waves, "s.csv": sums}, "s.csv; lent s.csv"},
		{"sums of what was counted", map[string]string{"a.csv": waves, "s.csv": single}, "a.csv; lent s.csv"},
		{"another directory is another run", map[string]string{"x.csv": times, "d/a.csv": waves}, "d/a.csv x.csv; lent x.csv"},
		{"which of several lends is not known", map[string]string{"x/t.csv": times, "y/t.csv": times, "d/b.csv": bare}, "d/b.csv x/t.csv y/t.csv;"},
	} {
		dir := t.TempDir()
		for name, text := range c.files {
			p := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		tr, err := Open(context.Background(), []string{dir}, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		rel := func(p string) string { return strings.TrimPrefix(p, filepath.ToSlash(dir)+"/") }
		var got []string
		for _, r := range tr.Runs {
			got = append(got, rel(r.Path))
		}
		for _, s := range tr.KernelStats {
			got = append(got, rel(s.Path))
		}
		slices.Sort(got)
		var lent []string
		for _, r := range tr.CounterRuns {
			for _, l := range r.LaunchTables {
				lent = append(lent, rel(l.Path))
			}
		}
		text := strings.Join(got, " ") + ";"
		if len(lent) > 0 {
			text += " lent " + strings.Join(lent, " ")
		}
		if text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// Tables of times are read where counters are wanted, which borrow them, and not
// where neither they nor their dispatches are.
func TestTimesAreReadForCounters(t *testing.T) {
	root := write(t, map[string]string{
		"7_kernel_trace.csv": packedTrace,
		"wide.csv":           "Dispatch_ID,Kernel_Name,Grid_Size,Workgroup_Size,SQ_WAVES,Start_Timestamp,End_Timestamp\n0,scale,64,64,1,5,9\n",
	})
	for part, want := range map[trace.Part][]string{
		trace.Counters: {"kernel_trace", "counter_table"}, trace.Code: nil, trace.ThreadTraces: nil,
	} {
		tr, err := Open(t.Context(), []string{filepath.Join(root, "7_kernel_trace.csv"), filepath.Join(root, "wide.csv")}, Options{Only: part})
		var got []string
		if err == nil {
			for _, s := range tr.Sources {
				got = append(got, s.Format)
			}
			_ = tr.Close()
		}
		if !slices.Equal(got, want) {
			t.Errorf("part %d: %v were read, want %v (%v)", part, got, want, err)
		}
	}
}
