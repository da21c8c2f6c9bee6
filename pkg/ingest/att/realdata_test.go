package att

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// realDirs returns all real dispatch directories.
func realDirs(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(realData, "*", "ui_output_agent_*"))
	if err != nil || len(dirs) == 0 {
		t.Skipf("no real captures in %s", realData)
	}
	return dirs
}

func openDir(t *testing.T, dir string) *trace.ThreadTrace {
	t.Helper()
	tt, _ := openNoted(t, dir)
	return tt
}

func openNoted(t *testing.T, dir string) (*trace.ThreadTrace, []trace.Note) {
	t.Helper()
	tt, n, err := Open(context.Background(), os.DirFS(filepath.Dir(dir)), filepath.Base(dir), dir, direct{})
	if err != nil {
		t.Fatal(err)
	}
	return tt, n
}

// recount sums waves per line the way the decoder sums code.json: the time
// before an instruction is charged to it as idle.
type recount struct {
	lines  map[int]trace.Counts
	waves  int
	cus    map[[2]int]int64 // waves by engine and compute unit
	lasted int64
}

func newRecount() *recount {
	return &recount{lines: map[int]trace.Counts{}, cus: map[[2]int]int64{}}
}

func (f *recount) Wave(w *trace.Wave) {
	f.waves++
	f.cus[[2]int{w.SE, w.CU}]++
	f.lasted += w.End - w.Begin
	end := w.Begin
	for _, r := range w.Records {
		if r.Line != 0 {
			c := f.lines[r.Line]
			c.Add(trace.Counts{Hits: 1, LatencyCycles: r.Duration, StallCycles: r.Stall, IdleCycles: max(r.Time-end, 0)})
			f.lines[r.Line] = c
		}
		end = max(end, r.Time+r.Duration)
	}
}

func (f *recount) add(o *recount) {
	f.waves += o.waves
	f.lasted += o.lasted
	for k, v := range o.cus {
		f.cus[k] += v
	}
	for line, counts := range o.lines {
		c := f.lines[line]
		c.Add(counts)
		f.lines[line] = c
	}
}

func fold(t *testing.T, s trace.WaveSource, workers int) (*recount, trace.WaveReport) {
	t.Helper()
	var folders []*recount
	report, err := s.Fold(context.Background(), workers, func() trace.Folder {
		folders = append(folders, newRecount())
		return folders[len(folders)-1]
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := newRecount()
	for _, f := range folders {
		sum.add(f)
	}
	return sum, report
}

// TestWavesGiveCode checks the reader as a whole: summing all wave files must
// give every row of code.json exactly.
func TestWavesGiveCode(t *testing.T) {
	checked := 0
	for _, dir := range realDirs(t) {
		tt := openDir(t, dir)
		if tt.Waves == nil {
			continue
		}
		checked++
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			sum, report := fold(t, tt.Waves, 2)
			if report.Read != tt.Waves.Listed() || report.Missing+report.Damaged+len(report.Notes) != 0 || sum.waves != report.Read {
				t.Fatalf("report %+v, %d waves folded", report, sum.waves)
			}
			rows := 0
			for _, inst := range tt.Code {
				if got := sum.lines[inst.Line]; got != inst.Counts {
					t.Errorf("line %d %s: waves give %+v, code.json %+v", inst.Line, inst.Text, got, inst.Counts)
				}
				if inst.Hits > 0 {
					rows++
				}
			}
			if rows == 0 || rows != len(sum.lines) {
				t.Errorf("%d rows with hits, %d lines in the waves", rows, len(sum.lines))
			}
			checkOccupancy(t, tt, sum)
		})
	}
	if checked == 0 {
		t.Error("no directory with wave files")
	}
}

// checkOccupancy compares the events of the traced compute units with the wave
// files.
func checkOccupancy(t *testing.T, tt *trace.ThreadTrace, sum *recount) {
	t.Helper()
	if tt.Occupancy == nil {
		t.Fatal("no occupancy")
	}
	var perCU, starts int64
	for _, e := range tt.Occupancy.Engines {
		if e.Starts != e.Ends || e.Unmatched != 0 {
			t.Errorf("engine %d: %d starts, %d ends, %d unmatched", e.SE, e.Starts, e.Ends, e.Unmatched)
		}
		starts += e.Starts
		var resident, waveCycles int64
		for _, cu := range e.CUs {
			perCU += cu.Starts
			resident += cu.ResidentCycles
			waveCycles += cu.WaveCycles
			if int64(len(cu.Lifetimes)) != cu.Starts || cu.ResidentCycles > cu.Last-cu.First || cu.ResidentCycles > cu.WaveCycles {
				t.Errorf("engine %d: %d lifetimes of %+v", e.SE, len(cu.Lifetimes), cu)
			}
			if waves, ok := sum.cus[[2]int{e.SE, cu.CU}]; ok && waves != cu.Starts {
				t.Errorf("engine %d CU %d: %d starts, %d wave files", e.SE, cu.CU, cu.Starts, waves)
			}
		}
		if waveCycles != e.WaveCycles || resident > e.SIMDCycles {
			t.Errorf("engine %d: CUs have %d wave cycles and %d resident, the engine %d and %d", e.SE, waveCycles, resident, e.WaveCycles, e.SIMDCycles)
		}
	}
	var byKernel int64
	for _, k := range tt.Occupancy.Kernels {
		byKernel += k.Starts
	}
	if perCU != starts || byKernel != starts || starts != tt.Occupancy.Starts() {
		t.Errorf("starts: %d by CU, %d by kernel, %d in all", perCU, byKernel, starts)
	}
}

// realSums are sums of real captures that were computed by other means.
var realSums = []struct {
	kernel   string
	rows     int // without the label
	counts   trace.Counts
	zeroHit  int
	waves    int
	peak     int
	launches int64 // registers that the kernel trace gives, 0: no such table
}{
	{kernel: "blockscale_preshuffle_gemm", rows: 390, counts: trace.Counts{Hits: 1560, LatencyCycles: 90072, StallCycles: 82712, IdleCycles: 436}, waves: 4, peak: 1, launches: 40},
	{kernel: "flash_attn_func", rows: 2069, counts: trace.Counts{Hits: 334328, LatencyCycles: 3000156, StallCycles: 1754236, IdleCycles: 131284}, zeroHit: 175, waves: 32, peak: 2},
	{kernel: "moe_reduce", rows: 431, counts: trace.Counts{Hits: 622968, LatencyCycles: 59005036, StallCycles: 45693520, IdleCycles: 722052}, zeroHit: 260, waves: 4112, peak: 8},
	{kernel: "preshuffle_gemm", rows: 863, counts: trace.Counts{Hits: 192916, LatencyCycles: 6420596, StallCycles: 5309332, IdleCycles: 92968}, waves: 68, peak: 3},
	{kernel: "vec_add", rows: 22, counts: trace.Counts{Hits: 13904, LatencyCycles: 3729624, StallCycles: 2101364, IdleCycles: 45744}, waves: 632, peak: 8, launches: 8},
}

func TestRealSums(t *testing.T) {
	for _, want := range realSums {
		t.Run(want.kernel, func(t *testing.T) {
			tt, n := openNoted(t, realDir(t, want.kernel))
			var sum trace.Counts
			zero := 0
			for _, inst := range tt.Code {
				sum.Add(inst.Counts)
				if inst.Hits == 0 {
					zero++
				}
			}
			peak := 0
			for _, e := range tt.Occupancy.Engines {
				peak = max(peak, e.PeakPerSIMD)
			}
			if len(tt.Code) != want.rows || sum != want.counts || tt.Waves.Listed() != want.waves || peak != want.peak {
				t.Errorf("%d rows, %+v, %d waves, peak %d; want %+v", len(tt.Code), sum, tt.Waves.Listed(), peak, want)
			}
			if zero != want.zeroHit {
				t.Errorf("%d rows without hits, want %d", zero, want.zeroHit)
			}
			if want.launches > 0 && *tt.Launches[0].VGPRs != want.launches {
				t.Errorf("VGPRs %d, want %d", *tt.Launches[0].VGPRs, want.launches)
			}
			if len(n) > 0 || len(tt.Kernels) != 1 || tt.GfxMajor != 9 {
				t.Errorf("notes %v, kernels %v, gfx %d", n, tt.Kernels, tt.GfxMajor)
			}
			if len(tt.Agents) == 0 || tt.Agents[0].Gfx != "gfx950" || *tt.Agents[0].CUs != 256 || *tt.Agents[0].MaxClockMHz != 2200 || *tt.Agents[0].LDSKiB != 160 {
				t.Errorf("agents %+v", tt.Agents)
			}
		})
	}
}

// TestRealCounters checks the capture with counters, a stats table, a
// kernel trace of the same run, and an unresolved kernel name.
func TestRealCounters(t *testing.T) {
	tt := openDir(t, realDir(t, "iree_wave_gfx950"))
	if len(tt.Counters) != 32 || tt.Counters[0].SE != 0 || tt.Counters[31].SE != 31 {
		t.Fatalf("%d counter files", len(tt.Counters))
	}
	// Engine 0, by hand: the first column of the ten samples of bank 0.
	first := tt.Counters[0]
	want := trace.CounterSum{Name: "SQ_BUSY_CU_CYCLES", Value: 555 + 8*576 + 117}
	if v := first.Values[0]; first.Samples != 19 || len(first.Values) != 8 || v.Name != want.Name || v.Value != want.Value {
		t.Errorf("engine 0: %+v", first)
	}
	for _, e := range tt.Counters {
		for _, v := range e.Values {
			sum := 0.0
			for _, x := range v.Slices {
				sum += x
			}
			if math.Abs(sum-float64(v.Value)) > 1e-6*max(sum, 1) {
				t.Errorf("engine %d %s: slices sum to %g, all is %d", e.SE, v.Name, sum, v.Value)
			}
		}
	}
	var sum trace.Counts
	for _, inst := range tt.Code {
		sum.Add(inst.Counts)
	}
	if tt.Stats == nil || tt.Stats.Rows != len(tt.Code) || tt.Stats.Counts != sum {
		t.Errorf("stats %+v, code.json %d rows %+v", tt.Stats, len(tt.Code), sum)
	}
	if k := tt.Occupancy.Kernels; len(k) != 1 || k[0].Name != "gemm_prefetch" || k[0].Starts != 256 {
		t.Errorf("kernels %+v", k)
	}
	if len(tt.Launches) == 0 || tt.Clocks != nil {
		t.Errorf("launches %v, clocks %v", tt.Launches, tt.Clocks)
	}
	for _, l := range tt.Launches {
		if *l.DispatchID != 3 && trace.BareName(l.Kernel) != "gemm_prefetch" {
			t.Errorf("launch of another kernel: %+v", l)
		}
	}
}

func TestRealSamples(t *testing.T) {
	dir := filepath.Join(realData, "pcsampling_gfx9")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no real captures: %v", err)
	}
	tt := openDir(t, dir)
	if tt.Flavour != trace.Samples || len(tt.Kernels) != 1 || !strings.HasPrefix(tt.Kernels[0].Demangled, "void reference_gemm<4>(") {
		t.Fatalf("flavour %v, kernels %+v", tt.Flavour, tt.Kernels)
	}
	if pc := tt.Code[0].PC; pc.Issued != 0 || pc.Stalled != 2 || !slices.Equal(pc.Reasons, []int64{0, 2, 0, 0, 0, 0, 0, 0, 0, 0}) {
		t.Errorf("first row %+v", pc)
	}
	for _, inst := range tt.Code {
		var reasons int64
		for _, n := range inst.PC.Reasons {
			reasons += n
		}
		if reasons != inst.PC.Stalled {
			t.Errorf("line %d: %d stalled samples, reasons sum to %d", inst.Line, inst.PC.Stalled, reasons)
		}
	}
	// A path with ".." elements is found as it is written and cleaned.
	for _, name := range []string{
		"/opt/rocm-7.1.1/lib/llvm/bin/../../../include/hip/amd_detail/amd_hip_runtime.h",
		"/opt/rocm-7.1.1/include/hip/amd_detail/amd_hip_runtime.h",
	} {
		if _, ok, err := tt.Files.Lines(name); !ok || err == nil {
			t.Errorf("%s: ok %v, err %v; the file is listed and not there", name, ok, err)
		}
	}
}

// shuffled gives the same directory with its waves in another order.
func shuffled(s *Waves, seed uint64) *Waves {
	list := slices.Clone(s.list)
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return &Waves{dir: s.dir, list: list}
}

func TestFoldOrderDoesNotMatter(t *testing.T) {
	tt := openDir(t, realDir(t, "vec_add"))
	one, report := fold(t, tt.Waves, 1)
	for _, again := range []struct {
		waves   *Waves
		workers int
	}{{tt.Waves.(*Waves), 2}, {shuffled(tt.Waves.(*Waves), 7), 1}, {shuffled(tt.Waves.(*Waves), 8), 3}} {
		sum, r := fold(t, again.waves, again.workers)
		if diff := cmp.Diff(one, sum, cmp.AllowUnexported(recount{})); diff != "" {
			t.Errorf("%d workers: %s", again.workers, diff)
		}
		if diff := cmp.Diff(report, r); diff != "" {
			t.Errorf("%d workers: %s", again.workers, diff)
		}
	}
}

// TestEndToEnd logs how reading whole directories compares with only reading
// the bytes; it has no opinion on the speed of the machine.
func TestEndToEnd(t *testing.T) {
	for _, kernel := range []string{"moe_reduce", "flash_attn_func"} {
		dir := realDir(t, kernel)
		files, err := filepath.Glob(filepath.Join(dir, "se*_wv*.json"))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var bytes int64
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			bytes += int64(len(b))
		}
		plain := time.Since(start)
		start = time.Now()
		tt := openDir(t, dir)
		_, report := fold(t, tt.Waves, 2)
		if report.Bytes != bytes {
			t.Errorf("%s: %d bytes read, the files have %d", kernel, report.Bytes, bytes)
		}
		t.Logf("%s: %d files, %d bytes: read alone %v, opened and folded %v", kernel, len(files), bytes, plain, time.Since(start))
	}
}

// TestSynthetic checks the state that each small directory must give.
func TestSynthetic(t *testing.T) {
	type state struct {
		code    trace.CodeState
		flavour trace.Flavour
		rows    int
		kernels []string
		damaged bool
	}
	for name, want := range map[string]state{
		"code_empty":     {code: trace.CodeEmpty},
		"code_null":      {code: trace.CodeNull},
		"gfx12":          {rows: 19, kernels: []string{"k"}},
		"idlekey":        {rows: 1, kernels: []string{"k"}},
		"inline_chain":   {rows: 2, kernels: []string{"k"}},
		"no_label_line0": {rows: 3, kernels: []string{"(no name)"}},
		"nonutf8":        {rows: 1, kernels: []string{"k"}},
		"pcs":            {flavour: trace.Samples, rows: 1, kernels: []string{"k"}},
		"relpath":        {rows: 1, kernels: []string{"k"}},
		"shortrow":       {code: trace.CodeUnreadable, damaged: true},
		"two_kernels":    {rows: 2, kernels: []string{"k1()", "k2()"}},
		"zero_hit":       {rows: 1, kernels: []string{"k()"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(realData, "synthetic", name, "ui_output_agent_1_dispatch_1")
			if _, err := os.Stat(dir); err != nil {
				t.Skipf("no such directory: %v", err)
			}
			tt, n := openNoted(t, dir)
			got := state{code: tt.CodeState, flavour: tt.Flavour, rows: len(tt.Code)}
			for _, k := range tt.Kernels {
				got.kernels = append(got.kernels, k.Name())
			}
			got.damaged = (&trace.Trace{Notes: n}).Damaged()
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(state{})); diff != "" {
				t.Error(diff)
			}
			for _, inst := range tt.Code {
				for _, f := range trace.Frames(inst.Source) {
					if _, ok, err := tt.Files.Lines(f.File); ok && err != nil {
						t.Errorf("%s: %v", f.File, err)
					}
				}
			}
		})
	}
}

// TestSyntheticSources checks the texts behind relative, inlined and non-UTF-8
// sources.
func TestSyntheticSources(t *testing.T) {
	for _, c := range []struct {
		dir, file string
		want      []string
	}{
		{"relpath", "kernel.py", []string{"line1", "line2"}},
		{"inline_chain", "/a/k.cpp", []string{"a1", "a2", "a3"}},
		{"inline_chain", "/lib/h.h", []string{"h1", "h2"}},
		{"nonutf8", "/a/k.py", []string{"\uFFFD x"}},
	} {
		dir := filepath.Join(realData, "synthetic", c.dir, "ui_output_agent_1_dispatch_1")
		if _, err := os.Stat(dir); err != nil {
			t.Skipf("no such directory: %v", err)
		}
		got, ok, err := openDir(t, dir).Files.Lines(c.file)
		if err != nil || !ok || !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %q %v %v, want %q", c.dir, c.file, got, ok, err, c.want)
		}
	}
}
