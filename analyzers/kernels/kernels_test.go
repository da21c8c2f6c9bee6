package kernels

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// source is a list of dispatches, handed out in as many parts as asked.
type source struct {
	rows  []trace.Dispatch
	parts int
}

func (s source) Fold(_ context.Context, _ int, newFolder func() trace.DispatchFolder) (trace.DispatchReport, error) {
	parts := max(s.parts, 1)
	for i := range parts {
		to := newFolder()
		for _, d := range s.rows[i*len(s.rows)/parts : (i+1)*len(s.rows)/parts] {
			to.Dispatch(&d)
		}
	}
	return trace.DispatchReport{Rows: int64(len(s.rows))}, nil
}

func of[T any](v T) *T { return &v }

// runOf is a process with two kernels of one name, a runtime kernel and a GPU.
func runOf(pid int64, rows []trace.Dispatch, parts int) *trace.Run {
	return &trace.Run{
		Path: "x.db", Kind: "rocpd", Process: trace.Process{PID: &pid, Host: "h"},
		Agents: []trace.Agent{{NodeID: 2, Gfx: "gfx942", Product: "AMD Instinct MI300X"}},
		Kernels: []trace.RunKernel{
			{ID: 1, Name: "a", Symbol: "_Z1a", VGPRs: of(int64(32))},
			{ID: 2, Name: "a", Symbol: "_Z1a2", VGPRs: of(int64(64))},
			{ID: 3, Name: "__amd_rocclr_copyBuffer", Symbol: "__amd_rocclr_copyBuffer"},
			{ID: 4, Name: "b", Symbol: "_Z1b"},
		},
		Dispatches: source{rows, parts},
	}
}

// dispatchOf is a dispatch of 256 work-items a workgroup.
func dispatchOf(kernel, queue, start, end, grid int64) trace.Dispatch {
	return trace.Dispatch{
		Kernel: kernel, Agent: 2, Queue: queue, Stream: 0, Start: start, End: end, LDSBytes: 0, ScratchBytes: 0,
		Workgroup: [3]int64{256, 1, 1}, Grid: [3]int64{grid, 1, 1},
	}
}

func analyze(t *testing.T, params map[string]float64, kernel string, runs ...*trace.Run) *Result {
	t.Helper()
	r, _ := noted(t, params, kernel, runs...)
	return r
}

// noted gives the remarks about the runs as well.
func noted(t *testing.T, params map[string]float64, kernel string, runs ...*trace.Run) (*Result, string) {
	t.Helper()
	opts := analysis.Options{Params: map[string]float64{}}
	for k, v := range params {
		opts.Params["kernels."+k] = v
	}
	if kernel != "" {
		opts.Kernel = regexp.MustCompile(kernel)
	}
	tr := &trace.Trace{Runs: runs}
	out, err := analysis.Run(t.Context(), tr, opts, Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return Analyzer.Of(out), lines(tr)
}

// lines are the remarks of a trace.
func lines(tr *trace.Trace) string {
	var out []string
	for _, n := range tr.Notes {
		out = append(out, n.String())
	}
	return strings.Join(out, "\n")
}

// rows by hand: a/32 takes 100, 300, 200; a/64 takes 400; the copy 50; b 950.
// On queue 1 [1000,1100) [1200,1500) [1500,1700); on queue 2 [1050,1450)
// [2000,2050) [2000,2950).
func handMade() []trace.Dispatch {
	return []trace.Dispatch{
		dispatchOf(1, 1, 1000, 1100, 1024), dispatchOf(1, 1, 1200, 1500, 1024), dispatchOf(2, 2, 1050, 1450, 2048),
		dispatchOf(1, 1, 1500, 1700, 1000), dispatchOf(3, 2, 2000, 2050, 64), dispatchOf(4, 2, 2000, 2950, 64),
	}
}

func TestByHand(t *testing.T) {
	r := analyze(t, nil, "", runOf(1, handMade(), 1))
	if r.TotalNs != 2000 || r.Calls != 6 || len(r.Kernels) != 4 || r.Groups != nil {
		t.Fatalf("%+v", r)
	}
	a := r.Kernels[1] // b, a/32, a/64, copy
	if r.Kernels[0].Name != "b" || a.Name != "a" || *a.Registers.VGPRs != 32 || a.Symbol != "_Z1a" {
		t.Fatalf("%+v", a)
	}
	if a.Calls != 3 || a.TotalNs != 600 || a.SharePct != 30 || a.MeanNs != 200 || *a.MedianNs != 200 || *a.P95Ns != 290 || *a.MinNs != 100 || *a.MaxNs != 300 {
		t.Errorf("%+v", a)
	}
	if *a.StdDevNs != 100 || *a.CVPct != 50 || math.Abs(*a.MaxSpeedup-2000.0/1400) > 1e-12 || a.Rounded {
		t.Errorf("sd %v, cv %v, bound %v", *a.StdDevNs, *a.CVPct, *a.MaxSpeedup)
	}
	if len(a.Shapes) != 2 || a.Shapes[0].TotalNs != 400 || *a.Shapes[0].Workgroups != 4 || *a.Shapes[1].Workgroups != 4 || a.Shapes[1].Grid[0] != 1000 {
		t.Errorf("%+v", a.Shapes)
	}
	if len(a.Agents) != 1 || a.Agents[0].Name != "agent 2, MI300X" || a.Agents[0].Calls != 3 {
		t.Errorf("%+v", a.Agents)
	}
	if one := r.Kernels[2]; one.StdDevNs != nil || one.CVPct != nil || *one.MedianNs != 400 {
		t.Errorf("%+v", one)
	}
	if rt := r.Runtime; rt == nil || rt.Kernels != 1 || rt.TotalNs != 50 || rt.SharePct != 2.5 || !r.Kernels[3].Runtime {
		t.Errorf("%+v", rt)
	}
	g := r.GPUs[0] // busy [1000,1700) and [2000,2950)
	if g.BusyNs != 1650 || g.KernelNs != 2000 || g.SpanNs != 1950 || g.Gaps.Count != 1 || g.Gaps.TotalNs != 300 || math.Abs(g.BusyPct-100*1650.0/1950) > 1e-12 {
		t.Errorf("%+v", g)
	}
	q := g.Queues[0]
	if len(g.Queues) != 2 || q.BusyNs != 600 || q.Gaps.Count != 1 || q.Gaps.MaxNs != 100 || g.Queues[1].BusyNs != 400+950 || g.Queues[1].Gaps.TotalNs != 550 {
		t.Errorf("%+v", g.Queues)
	}
}

// Times that cannot be are in no sum, and each kind is counted.
func TestExcluded(t *testing.T) {
	rows := append(handMade(),
		dispatchOf(1, 1, 0, 5, 1), dispatchOf(1, 1, trace.Absent, trace.Absent, 1), dispatchOf(1, 1, 9, 5, 1), dispatchOf(1, 1, 9, 9, 1),
		dispatchOf(1, 1, 1, 2+trace.MaxDispatchNs, 1), dispatchOf(1, 1, 1, math.MaxInt64, 1))
	replay := dispatchOf(1, 1, 100, 200, 1)
	replay.Replay = 1
	r, notes := noted(t, nil, "", runOf(1, append(rows, replay), 2))
	if r.TotalNs != 2000 || r.Calls != 6 || r.Runs[0].Rows != 13 {
		t.Errorf("%+v", r)
	}
	got, err := json.Marshal(r.Runs[0].Excluded)
	want := `[{"reason":"no start or end time","count":2},{"reason":"ends before it starts","count":1},{"reason":"ends when it starts","count":1},` +
		`{"reason":"longer than an hour","count":2},{"reason":"replay of a dispatch for more counters","count":1}]`
	if err != nil || string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	if !strings.Contains(notes, "in no sum: 2 (no start or end time), 1 (ends before") {
		t.Error(notes)
	}
}

// The window is by the start: 25 % of [1000,2950) is 1487.5.
func TestWindow(t *testing.T) {
	tests := []struct {
		params map[string]float64
		want   int64
	}{
		{map[string]float64{"since_ns": 1200}, 300 + 200 + 50 + 950},
		{map[string]float64{"until_ns": 1200}, 100 + 400},
		{map[string]float64{"since_ns": 1050, "until_ns": 1500}, 400 + 300},
		{map[string]float64{"since_pct": 25}, 200 + 50 + 950},
		{map[string]float64{"until_pct": 25}, 100 + 300 + 400},
		{map[string]float64{"since_pct": 0, "until_pct": 100}, 2000},
	}
	for _, tt := range tests {
		if r := analyze(t, tt.params, "", runOf(1, handMade(), 1)); r.TotalNs != tt.want {
			t.Errorf("%v: %d ns, want %d", tt.params, r.TotalNs, tt.want)
		}
	}
}

// A selection keeps the shares of the whole, and the busy time.
func TestSelection(t *testing.T) {
	r := analyze(t, nil, "^_Z1a2$", runOf(1, handMade(), 1))
	if len(r.Kernels) != 1 || r.Kernels[0].SharePct != 20 || r.TotalNs != 2000 || r.GPUs[0].BusyNs != 1650 {
		t.Errorf("%+v", r)
	}
}

// Groupings add up to the same total; two processes on one host share a GPU
// but not their queues.
func TestGroupings(t *testing.T) {
	rows := map[string]int{"kernel": 4, "shape": 5, "agent": 1, "process": 2, "stream": 2}
	for i, by := range Groupings {
		r := analyze(t, map[string]float64{"by": float64(i)}, "", runOf(1, handMade(), 1), runOf(2, handMade(), 3))
		total := int64(0)
		for _, row := range r.Rows() {
			total += row.TotalNs
		}
		if r.By != by || len(r.Rows()) != rows[by] || total != 4000 || len(r.GPUs) != 2 || r.GPUs[1].BusyNs != 1650 {
			t.Errorf("%s: %d rows, %d ns, %+v", by, len(r.Rows()), total, r.GPUs)
		}
	}
}

func TestSort(t *testing.T) {
	first := map[string]string{"total": "b", "calls": "a", "mean": "b", "median": "b", "p95": "b", "min": "b", "max": "b", "cv": "a", "name": "__amd_rocclr_copyBuffer"}
	for i, order := range Orders {
		if r := analyze(t, map[string]float64{"sort": float64(i)}, "", runOf(1, handMade(), 1)); r.Kernels[0].Name != first[order] {
			t.Errorf("%s: %s comes first, want %s", order, r.Kernels[0].Name, first[order])
		}
	}
}

// In however many parts dispatches come, and in whatever order, the result is
// the same, and the busy time is that of a brute-force count.
func TestPartsAndOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	rows := make([]trace.Dispatch, 5000)
	busy := make([]bool, 60_000)
	for i := range rows {
		start := 1 + random.Int64N(50_000)
		end := start + 1 + random.Int64N(30)
		rows[i] = dispatchOf(1+random.Int64N(4), 1+random.Int64N(20), start, end, 64*(1+random.Int64N(3)))
		for t := start; t < end; t++ {
			busy[t] = true
		}
	}
	want := int64(0)
	for _, b := range busy {
		if b {
			want++
		}
	}
	reference := ""
	for _, parts := range []int{1, 2, 7} {
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		r := analyze(t, nil, "", runOf(1, rows, parts))
		if r.GPUs[0].BusyNs != want {
			t.Errorf("%d parts: busy %d, want %d", parts, r.GPUs[0].BusyNs, want)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if reference == "" {
			reference = string(text)
		}
		if string(text) != reference {
			t.Errorf("%d parts give another result", parts)
		}
	}
}

// Dispatches that name what the run does not describe are kept and counted.
func TestStrays(t *testing.T) {
	stray := dispatchOf(99, 1, 10, 20, 64)
	stray.Agent = 7
	none := dispatchOf(trace.Absent, 1, 30, 40, 64)
	none.Agent = trace.Absent
	r, notes := noted(t, nil, "", runOf(1, []trace.Dispatch{stray, none}, 1))
	if len(r.Kernels) != 2 || r.Kernels[0].Name != "kernel #99" || r.Kernels[1].Name != "kernel of no id" ||
		!strings.Contains(notes, "kernel the source does not describe: 2") || !strings.Contains(notes, "GPU the source does not describe: 2") {
		t.Errorf("%+v\n%s", r.Kernels, notes)
	}
}

// A statistics table gives what it holds and no more.
func TestStats(t *testing.T) {
	table := &trace.KernelStats{Path: "s.csv", Rows: []trace.KernelStat{
		{Name: "k", Calls: 4, TotalNs: 600, MinNs: of(int64(100)), MaxNs: of(int64(200)), StdDevNs: of(30.0)}, {Name: "l", Calls: 1, TotalNs: 200},
	}}
	out, err := analysis.Run(t.Context(), &trace.Trace{KernelStats: []*trace.KernelStats{table}}, analysis.Options{}, Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	r := Analyzer.Of(out)
	k := r.Kernels[0]
	if r.TotalNs != 800 || k.Name != "k" || k.MeanNs != 150 || k.SharePct != 75 || *k.CVPct != 20 || k.MedianNs != nil || k.Registers != nil || len(r.GPUs) != 0 {
		t.Errorf("%+v", k)
	}
}

// Sources without an identity are told by their dispatches; equal durations at
// other times, another process or another identity are another run.
func TestSameRun(t *testing.T) {
	rows := []trace.Dispatch{dispatchOf(1, 1, 100, 200, 64), dispatchOf(4, 1, 300, 350, 64)}
	rows[0].ID, rows[1].ID = 1, 2
	shuffled := []trace.Dispatch{rows[1], rows[0]}
	later := slices.Clone(rows)
	later[1].Start, later[1].End = 310, 360
	whose := func(r *trace.Run, guid string) *trace.Run {
		r.GUID = guid
		return r
	}
	unknown := runOf(1, shuffled, 2)
	unknown.Process.PID, unknown.Kind = nil, "results_json"
	for _, c := range []struct {
		name  string
		other *trace.Run
		runs  int
	}{
		{"the same in another order and form", unknown, 1},
		{"other times", runOf(1, later, 1), 2},
		{"another process", runOf(2, rows, 1), 2},
		{"another identity", whose(runOf(1, rows, 1), "b"), 2},
		{"no dispatch", runOf(1, nil, 1), 2},
	} {
		r, notes := noted(t, nil, "", whose(runOf(1, rows, 1), "a"), c.other)
		if len(r.Runs) != c.runs || len(r.Launches) != c.runs || strings.Contains(notes, "the same run as in x.db: it counts once") != (c.runs == 1) {
			t.Errorf("%s: %d runs, %d launch tables, %s", c.name, len(r.Runs), len(r.Launches), notes)
		}
	}
	stats := &trace.KernelStats{Path: "s.csv", Rows: []trace.KernelStat{{Name: "a", Calls: 1, TotalNs: 100}, {Name: "b", Calls: 1, TotalNs: 50}}}
	out, err := analysis.Run(t.Context(), &trace.Trace{Runs: []*trace.Run{runOf(1, rows, 1)}, KernelStats: []*trace.KernelStats{stats}}, analysis.Options{}, Analyzer)
	if err != nil || Analyzer.Of(out).TotalNs != 150 {
		t.Errorf("%v: a table of the sums of a run counts again", err)
	}
}

// Launch sums hold all kernels and dispatches, whatever is selected, but no
// replays.
func TestLaunches(t *testing.T) {
	untimed, replay := dispatchOf(1, 2, 0, 0, 64), dispatchOf(1, 1, 1, 9, 64)
	replay.Replay = 1
	r := analyze(t, map[string]float64{"since_ns": 250}, "nothing",
		runOf(1, []trace.Dispatch{dispatchOf(1, 1, 100, 200, 64), dispatchOf(1, 2, 300, 350, 64), dispatchOf(4, 1, 300, 310, 64), untimed, replay, dispatchOf(9, 1, 1, 2, 64)}, 3))
	table := r.Launches[0]
	if table.Rows != 4 || len(table.Launches) != 2 || table.Kind != "rocpd" || !table.LDSDispatched {
		t.Fatalf("%+v", table)
	}
	a := table.Launches[0]
	if a.Kernel != "a" || a.Count != 3 || a.Timed != 2 || a.TotalNs != 150 || a.MinNs != 50 || a.MaxNs != 100 || a.AgentID != "Agent 2" || a.Grid[0] != 64 {
		t.Errorf("%+v", a)
	}
}
