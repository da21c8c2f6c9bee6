package analyzers_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// inst is an instruction of a made-up kernel: every execution stalls, then
// issues, both in cycles.
type inst struct {
	text         string
	stall, issue int64
}

type noFiles struct{}

func (noFiles) Lines(string) ([]string, bool, error) { return nil, false, nil }

// listed is a gfx9 thread trace without wave files; an instruction is executed
// as often as hits says, once where it is shorter. Every instruction takes 8
// bytes: "s_cbranch_scc1 N" in row r goes back to row 0 with N = 65535-2r.
func listed(hits []int64, code ...inst) *trace.ThreadTrace {
	tt := &trace.ThreadTrace{Path: "t", GfxMajor: 9, Files: noFiles{}, Kernels: []trace.Kernel{{Symbol: "k", Last: len(code)}}}
	for i, in := range code {
		n := int64(1)
		if i < len(hits) {
			n = hits[i]
		}
		tt.Code = append(tt.Code, trace.Instruction{
			Line: i + 1, Text: in.text, Source: fmt.Sprintf("k.hip:%d", i+1), CodeObject: 1, Vaddr: int64(8 * i),
			Counts: trace.Counts{Hits: n, LatencyCycles: n * (in.stall + in.issue), StallCycles: n * in.stall},
		})
	}
	return tt
}

// waves are waves in memory.
type waves []trace.Wave

func (w waves) Listed() int { return len(w) }

func (w waves) Fold(_ context.Context, _ int, newFolder func() trace.Folder) (trace.WaveReport, error) {
	folder := newFolder()
	for i := range w {
		folder.Wave(&w[i])
	}
	return trace.WaveReport{Read: len(w)}, nil
}

// waved is listed with eight waves on the four SIMDs of a CU, each of which
// executes the rows of path, all rows once where it is nil.
func waved(path []int, code ...inst) *trace.ThreadTrace {
	const n = 8
	if path == nil {
		for row := range code {
			path = append(path, row)
		}
	}
	hits := make([]int64, len(code))
	wave := trace.Wave{}
	var now int64
	for _, row := range path {
		in := code[row]
		hits[row] += n
		wave.Records = append(wave.Records, trace.Record{Time: now, Stall: in.stall, Duration: in.stall + in.issue, Line: row + 1})
		now += in.stall + in.issue
	}
	wave.End = now
	tt := listed(hits, code...)
	var all waves
	for i := range n {
		w := wave
		w.SIMD, w.Slot = i%4, i/4
		w.Begin += now * int64(w.Slot) // one after the other
		w.End = w.Begin + now
		w.Records = nil
		for _, r := range wave.Records {
			r.Time += w.Begin
			w.Records = append(w.Records, r)
		}
		all = append(all, w)
	}
	tt.Waves = all
	return tt
}

// repeat executes rows some times, and then others.
func repeat(n int, rows, then []int) []int {
	var out []int
	for range n {
		out = append(out, rows...)
	}
	return append(out, then...)
}

// of is a trace of one thread trace.
func of(tt *trace.ThreadTrace, change ...func(*trace.ThreadTrace)) *trace.Trace {
	for _, f := range change {
		f(tt)
	}
	return &trace.Trace{ThreadTraces: []*trace.ThreadTrace{tt}}
}

// mi300x is an agent, gfx942 with 304 CUs.
func mi300x() trace.Agent {
	return trace.Agent{Origin: trace.Origin{File: "x_agent_info.csv", Row: 1}, NodeID: 2, Gfx: "gfx942", DeviceID: new(int64(29857)), CUs: new(int64(304)), XCCs: new(int64(8))}
}

// row is a launch on agent 2 with vector registers, bytes of LDS, work-items of
// a workgroup and workgroups.
func row(vgprs, lds, size, groups int64) trace.Launch {
	return trace.Launch{
		Kernel: "k", AgentID: "Agent 2", DispatchID: new(int64(1)), Origin: trace.Origin{File: "t.csv", Row: 1},
		VGPRs: &vgprs, AccumVGPRs: new(int64(0)), SGPRs: new(int64(32)), LDSBytes: &lds, ScratchBytes: new(int64(0)),
		Workgroup: &[3]int64{size, 1, 1}, Grid: &[3]int64{size * groups, 1, 1},
	}
}

// launched gives a thread trace its launch on an MI300X.
func launched(vgprs, lds, size, groups int64) func(*trace.ThreadTrace) {
	return func(tt *trace.ThreadTrace) {
		l := row(vgprs, lds, size, groups)
		tt.DispatchID, tt.Agents, tt.Launches = new(int64(1)), []trace.Agent{mi300x()}, []trace.Launch{l}
		tt.LaunchTables = []*trace.LaunchTable{{Path: "t.csv", Kind: "kernel_trace", Rows: 1, Launches: []trace.LaunchSum{{Launch: l, Count: 1}}}}
	}
}

// occupied is a compute unit that holds waves for some cycles, and each of its
// SIMDs one for that long.
func occupied(cycles int64, simds ...int64) trace.CUWaves {
	cu := trace.CUWaves{Last: cycles, ResidentCycles: cycles}
	for i, n := range simds {
		cu.Starts++
		cu.WaveCycles += n
		cu.Lifetimes = append(cu.Lifetimes, n)
		cu.SIMDs = append(cu.SIMDs, trace.SIMDWaves{SIMD: i, Starts: 1, ResidentCycles: n, WaveCycles: n})
	}
	return cu
}

// loaded is a trace of one engine with some compute units.
func loaded(cus ...trace.CUWaves) func(*testing.T) *trace.Trace {
	return made(of(good(), engine(cus...)))
}

// engine is what occupancy.json tells of one engine of an MI300X.
func engine(cus ...trace.CUWaves) func(*trace.ThreadTrace) {
	return func(tt *trace.ThreadTrace) {
		e := trace.EngineOccupancy{CUs: cus}
		for i := range cus {
			cus[i].CU = i
			e.Starts += cus[i].Starts
		}
		e.Ends = e.Starts
		tt.Occupancy = &trace.Occupancy{Engines: []trace.EngineOccupancy{e}}
		tt.Agents = []trace.Agent{mi300x()}
	}
}

// onCUs is an engine of which some units all worked as long.
func onCUs(n int) func(*trace.ThreadTrace) {
	var cus []trace.CUWaves
	for range n {
		cus = append(cus, occupied(1000, 1000, 1000, 1000))
	}
	return engine(cus...)
}

// clocked is a trace of an MI300X at some clock.
func clocked(mhz int64) func(*testing.T) *trace.Trace {
	return made(of(good(), func(tt *trace.ThreadTrace) {
		tt.Agents = []trace.Agent{mi300x()}
		tt.Clocks = &trace.Clocks{RealHz: 100e6, Engines: []trace.EngineClock{{Points: []trace.ClockPoint{{}, {Gfx: mhz, Real: 100}}}}}
	}))
}

// table is a kernel trace of launches on one GPU.
func table(a trace.Agent, launches ...trace.Launch) *trace.Trace {
	t := &trace.LaunchTable{Path: "x_kernel_trace.csv", Kind: "kernel_trace", Rows: int64(len(launches)), Agents: []trace.Agent{a}}
	for _, l := range launches {
		t.Launches = append(t.Launches, trace.LaunchSum{Launch: l, Count: 1, Timed: 1, TotalNs: 100, MinNs: 100, MaxNs: 100})
	}
	return &trace.Trace{Runs: []*trace.Run{{Path: t.Path, Kind: t.Kind, Agents: t.Agents, Dispatches: summed{t}}}}
}

// summed is a source that gives the sums of its dispatches only.
type summed struct{ table *trace.LaunchTable }

func (s summed) Fold(_ context.Context, _ int, newFolder func() trace.DispatchFolder) (trace.DispatchReport, error) {
	newFolder()
	return trace.DispatchReport{Launches: s.table}, nil
}

// remarked are waves with a remark about one of their files.
type remarked struct {
	trace.WaveSource
	note trace.Note
}

func (r remarked) Fold(ctx context.Context, workers int, newFolder func() trace.Folder) (trace.WaveReport, error) {
	report, err := r.WaveSource.Fold(ctx, workers, newFolder)
	report.Notes = append(report.Notes, r.note)
	return report, err
}

// remark makes a remark about a file of a trace.
func remark(tt *trace.ThreadTrace, level trace.Level) {
	tt.Waves = remarked{tt.Waves, trace.Note{Level: level, File: tt.Path + "/x.json", Text: "odd"}}
}

// compiled is a code object for gfx942 with one kernel of 256 work-items.
func compiled(k trace.CodeKernel) *trace.Trace {
	k.Name, k.VGPRs, k.MaxWorkgroup = "k", new(32), new(256)
	return &trace.Trace{CodeObjects: []*trace.CodeObject{{Kind: "code_object", Path: "k.co", Target: "gfx942", Kernels: []trace.CodeKernel{k}}}}
}

// counted is a counter table of one dispatch of 1000 ns, of lines NAME=VALUE.
func counted(t *testing.T, counters ...string) *trace.Trace {
	t.Helper()
	rows := "Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n"
	for _, c := range counters {
		name, v, _ := strings.Cut(c, "=")
		rows += fmt.Sprintf("1,k,%s,%s,1000,2000\n", name, v)
	}
	file := filepath.Join(t.TempDir(), "o_counter_collection.csv")
	if err := os.WriteFile(file, []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
	return opened(t, file)
}

// traffic is what gfx942 counts of reads of 128 and writes of 64 bytes, hits
// and misses.
func traffic(reads, writes, hits, misses int) []string {
	return []string{
		fmt.Sprintf("TCC_EA0_RDREQ_sum=%d", reads), fmt.Sprintf("TCC_BUBBLE_sum=%d", reads), "TCC_EA0_RDREQ_32B_sum=0",
		fmt.Sprintf("TCC_EA0_WRREQ_sum=%d", writes), fmt.Sprintf("TCC_EA0_WRREQ_64B_sum=%d", writes),
		fmt.Sprintf("TCC_HIT_sum=%d", hits), fmt.Sprintf("TCC_MISS_sum=%d", misses),
	}
}

// channels are the requests of 128 channels, every fourth of them more by a
// factor.
func channels(factor float64) []string {
	var out []string
	for i := range 128 {
		v := 4000.0
		if i%4 == 0 {
			v *= factor
		}
		out = append(out, fmt.Sprintf("TCC_REQ[%d]=%g", i, v))
	}
	return out
}

// opened reads paths.
func opened(t *testing.T, paths ...string) *trace.Trace {
	t.Helper()
	tr, err := ingest.Open(t.Context(), paths, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// extra adds an instruction that was not executed.
func extra(tt *trace.ThreadTrace, text string) {
	tt.Code = append(tt.Code, trace.Instruction{Line: 90, Text: text, Source: "k.hip:90"})
	tt.Kernels[0].Last++
}

// keep leaves n waves, and what they executed.
func keep(tt *trace.ThreadTrace, n int) {
	all := int64(tt.Waves.Listed())
	tt.Waves = tt.Waves.(waves)[:n]
	for i := range tt.Code {
		c := &tt.Code[i].Counts
		c.Hits, c.LatencyCycles, c.StallCycles = c.Hits*int64(n)/all, c.LatencyCycles*int64(n)/all, c.StallCycles*int64(n)/all
	}
}

// unmap takes all source positions but those of the first rows.
func unmap(tt *trace.ThreadTrace, but int) {
	for i := but; i < len(tt.Code); i++ {
		tt.Code[i].Source = ""
	}
}

// sums is the stats table of the trace, with more hits.
func sums(tt *trace.ThreadTrace, more int64) *trace.StatsSums {
	s := &trace.StatsSums{File: "stats.csv"}
	for i := range tt.Code {
		s.Counts.Add(tt.Code[i].Counts)
	}
	s.Hits += more
	return s
}

// started says how many waves began on the traced compute unit.
func started(tt *trace.ThreadTrace, n int64) {
	tt.Occupancy = &trace.Occupancy{Engines: []trace.EngineOccupancy{{CUs: []trace.CUWaves{{CU: 0, Starts: n}}}}}
}

// lived says how long the traced waves lived beside others of 90 to 110 cycles.
func lived(tt *trace.ThreadTrace, cycles int64) {
	tt.Occupancy = &trace.Occupancy{Engines: []trace.EngineOccupancy{{CUs: []trace.CUWaves{
		{CU: 0, Starts: 8, Lifetimes: []int64{cycles}}, {CU: 1, Starts: 8, Lifetimes: []int64{90, 95, 100, 100, 100, 105, 110}},
	}}}}
}

// edge makes the wait at line 2 of the first wave one for a line.
func edge(tt *trace.ThreadTrace, producer int) {
	tt.Waves.(waves)[0].Waits = []trace.WaitEdge{{Line: 2, Producers: []int{producer}}}
}

// agent adds an agent table.
func agent(gfx string) func(*trace.ThreadTrace) {
	return func(tt *trace.ThreadTrace) {
		tt.Agents = []trace.Agent{{Origin: trace.Origin{File: "x_agent_info.csv", Row: 1}, NodeID: 2, Gfx: gfx}}
	}
}

// dispatched gives a trace of dispatch 1 the launch of another one.
func dispatched(id int64) func(*trace.ThreadTrace) {
	return func(tt *trace.ThreadTrace) {
		launched(32, 0, 64, 640)(tt)
		tt.Launches[0].DispatchID = &id
	}
}

// observed is a trace of which SIMDs held some waves where one fits.
func observed(peak int) func(*testing.T) *trace.Trace {
	tr := of(listed(nil, inst{"v_add_f32 v119, v0, v1", 0, 4}, endpgm), launched(264, 0, 256, 640))
	tr.ThreadTraces[0].Occupancy = &trace.Occupancy{
		Engines: []trace.EngineOccupancy{{PeakPerSIMD: peak, Starts: 4, WaveCycles: 30, SIMDCycles: 20}},
		Kernels: []trace.KernelWaves{{ID: 1, Starts: 4}},
	}
	return made(tr)
}

// named is a trace whose code names registers up to one, with a row of 32.
func named(register int) func(*testing.T) *trace.Trace {
	return made(of(listed(nil, inst{fmt.Sprintf("v_add_f32 v%d, v0, v1", register), 0, 4}, endpgm), launched(32, 0, 256, 640)))
}
