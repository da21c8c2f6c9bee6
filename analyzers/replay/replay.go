// Package replay is the analyzer that reads the wave files of a thread trace:
// it folds every wave into sums per instruction while it is read, and finds
// out what each wait waited for.
package replay

import (
	_ "embed"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/stats"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// Analyzer gives a *Replay for every thread trace.
var Analyzer = analysis.NewPerTrace(analysis.Analyzer{
	Name:     "replay",
	Doc:      doc,
	Requires: []analysis.Required{code.Analyzer, flow.Analyzer},
	Params: []analysis.Param{
		{
			Name: "no_work_code_pct", Default: 10, Unit: "%",
			Doc: "a wave that ran less than this share of its kernel's instructions may be a no-work wave",
		},
		{
			Name: "no_work_max_instructions", Default: 64, Unit: "instructions",
			Doc: "a no-work wave executed at most this many instructions",
		},
		{
			Name: "cycles", Default: 1,
			Doc: "0 leaves out the cycle sets that the split into exposed and hidden stall needs: reading is faster",
		},
	},
}, run)

// Group tells waves that worked from waves that left early.
type Group int

// The groups of waves.
const (
	Working Group = iota
	NoWork
	numGroups
)

// Replay is what the waves of one thread trace add up to. Without wave files
// only Estimated producers are there.
type Replay struct {
	// HasWaves is set when at least one wave was read.
	HasWaves bool
	// NoCycles is set when SIMD.Cycles were not asked for.
	NoCycles bool
	Report   trace.WaveReport
	// Counts are recomputed from the waves, by group, parallel to
	// ThreadTrace.Code. Rows that share a LineNumber are summed on the first.
	Counts [numGroups][]trace.Counts
	// Unmatched counts records whose line is not in the code.
	Unmatched int64
	// Kernels is parallel to ThreadTrace.Kernels: waves by the kernel that
	// their first instruction belongs to.
	Kernels []KernelWaves
	// SIMDs are sorted by engine, compute unit and SIMD.
	SIMDs []SIMD
	// TooLong is set when the trace covers too many cycles to count issue
	// cycles; SIMD.Issuing and the like are then absent (0) and meaningless.
	TooLong bool
	// Mismatch compares the recomputed sums with code.json.
	Mismatch Mismatch
	// EdgeWaves counts waves whose decoder wait edges were compared with the
	// rebuilt ones, EdgesDiffer those that differ.
	EdgeWaves, EdgesDiffer int

	// Loops are the waves' ways through the loops, by group, parallel to the
	// Loops of flow.Flow.
	Loops [numGroups][]LoopWaves

	sites [numGroups][]*Site
	// ownPipe is by group and row; see OwnPipe.
	ownPipe [numGroups][]int64
	prog    *program
	bySIMD  map[simdID]*SIMD
	source  trace.WaveSource
	kept    []keeper // nil when the waves must be read again for their stalls
}

// KernelWaves counts the waves of one kernel.
type KernelWaves struct {
	Waves [numGroups]int
}

// SIMD is one traced SIMD. All in cycles of its engine's clock.
type SIMD struct {
	SE, CU, SIMD int
	Waves        int
	// First and Last are the begin of the first and the end of the last wave.
	First, Last int64
	// Resident counts the cycles in which it held a wave, Issuing those in
	// which a resident wave issued an instruction (s_endpgm's drain is not
	// issue), IssuingVALU those in which it was a vector instruction.
	Resident, Issuing, IssuingVALU int64
	// IssuingResident is Issuing without cycles in which no wave was resident.
	IssuingResident int64
	// Cycles are what it did cycle by cycle; nil when the trace covers too
	// many cycles, or a cycle more than 15 waves.
	Cycles *Cycles
}

// Mismatch says how far the waves' sums are from code.json's.
type Mismatch struct {
	// Rows is the number of instructions that differ.
	Rows int
	// Missing is code.json's sums minus the waves'.
	Missing trace.Counts
}

// Site is one waiting instruction: a wait, a barrier or the end of the
// program. Executions are cycles per execution: stall, or for s_endpgm the
// latency without stall, which is its drain.
type Site struct {
	Executions stats.Histogram
	// Producers are the instructions that its executions waited for, as rows
	// of the code, sorted by row.
	Producers []ProducerCount
	// Combos are what its executions waited for together, sorted.
	Combos []ComboCycles
	Lead   Lead
	// Estimated is set when the producers come from a look-back through the
	// code instead of the waves.
	Estimated bool

	mixes []mix      // sorted
	lone  *latencies // nil when estimated
}

// ProducerCount says how often a wait waited for an instruction.
type ProducerCount struct {
	Row   int
	Class WaitClass
	Count int64
}

// ComboCycles are the stall cycles of executions that waited for the same set
// of classes on the same counters.
type ComboCycles struct {
	// Sets holds the classes per counter, in the order in which the
	// instruction names its counters.
	Sets       [][]WaitClass
	Executions int64
	Cycles     int64

	key combo
}

// Hits are the executions of a row of the code by the waves that were read, the
// same that SIMDs, their windows and the numbers of waves are of; code.json's
// without wave files. A rate divides these, never code.json's, by what was read:
// some wave files may be missing.
func (r *Replay) Hits(tt *trace.ThreadTrace, row int) int64 {
	if !r.HasWaves {
		return tt.Code[row].Hits
	}
	return r.Counts[Working][row].Hits + r.Counts[NoWork][row].Hits
}

// Site returns the waiting instruction at a row of the code, over the working
// waves or all of them; nil when the row never waited.
func (r *Replay) Site(row int, all bool) *Site {
	if row >= len(r.sites[Working]) {
		return nil
	}
	a := r.sites[Working][row]
	if !all {
		return a
	}
	b := r.sites[NoWork][row]
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return joined(a, b)
}

func run(p *analysis.Pass, tt *trace.ThreadTrace) (*Replay, error) {
	prog := newProgram(tt, p.Capture.Trace(tt).Machine, code.Analyzer.Of(p, tt), flow.Analyzer.Of(p, tt))
	prog.noWorkPct = p.Param("no_work_code_pct")
	prog.noWorkMax = int(p.Param("no_work_max_instructions"))
	prog.noCycles = p.Param("cycles") == 0
	return replay(p, tt, prog)
}

func replay(p *analysis.Pass, tt *trace.ThreadTrace, prog *program) (*Replay, error) {
	var total *folder
	r := &Replay{Kernels: make([]KernelWaves, len(tt.Kernels)), NoCycles: prog.noCycles}
	if tt.Waves != nil && len(tt.Code) > 0 {
		folders := []*folder{}
		report, err := tt.Waves.Fold(p.Context, p.Workers, func() trace.Folder {
			f := newFolder(prog)
			folders = append(folders, f)
			return f
		})
		if err != nil {
			return nil, err
		}
		r.Report = report
		p.Note(report.Notes...)
		r.keep(tt.Waves, folders)
		total = mergeFolders(prog, folders)
	}
	if total == nil || r.Report.Read == 0 {
		r.sites[Working] = prog.lookBack(tt)
		r.sites[NoWork] = make([]*Site, len(tt.Code))
		return r, nil
	}
	r.take(prog, total, p.Workers)
	r.compare(tt, prog)
	return r, nil
}

// keep takes over the stalls that the folders kept, if they kept all.
func (r *Replay) keep(source trace.WaveSource, folders []*folder) {
	r.source, r.kept = source, make([]keeper, 0, len(folders))
	for _, f := range folders {
		if f.kept.given {
			r.kept = nil
			return
		}
		r.kept = append(r.kept, f.kept)
	}
}

// take copies the sums of a folder into exported form.
func (r *Replay) take(prog *program, f *folder, workers int) {
	r.HasWaves = true
	r.Unmatched = f.unmatched
	r.TooLong = f.tooLong
	r.EdgeWaves, r.EdgesDiffer = f.edgeWaves, f.edgesDiffer
	lone := f.alone.latencies()
	for g := range numGroups {
		r.Counts[g], r.ownPipe[g] = f.groups[g].counts, f.groups[g].ownPipe
		r.sites[g] = make([]*Site, len(prog.ops))
		for row, s := range f.groups[g].sites {
			if s != nil {
				r.sites[g][row] = s.export(lone)
			}
		}
	}
	copy(r.Kernels, f.kernels)
	r.prog, r.bySIMD = prog, map[simdID]*SIMD{}
	for g := range numGroups {
		r.Loops[g] = f.groups[g].loops
	}
	r.SIMDs = f.exportSIMDs()
	for i := range r.SIMDs {
		s := &r.SIMDs[i]
		r.bySIMD[simdID{s.SE, s.CU, s.SIMD}] = s
	}
	r.finish(workers)
}

// compare checks the recomputed sums against code.json; rows that share a
// LineNumber are compared together.
func (r *Replay) compare(tt *trace.ThreadTrace, prog *program) {
	want := make([]trace.Counts, len(tt.Code))
	for i := range tt.Code {
		if row := prog.row(tt.Code[i].Line); row >= 0 {
			want[row].Add(tt.Code[i].Counts)
		}
	}
	for row := range want {
		got := r.Counts[Working][row]
		got.Add(r.Counts[NoWork][row])
		if diff := want[row].Sub(got); diff != (trace.Counts{}) {
			r.Mismatch.Rows++
			r.Mismatch.Missing.Add(diff)
		}
	}
}

// StallCycles returns a row's stall as the waves have it, over the working waves
// or all of them; 0 without wave files.
func (r *Replay) StallCycles(row int, all bool) int64 {
	if !r.HasWaves {
		return 0
	}
	n := r.Counts[Working][row].StallCycles
	if all {
		n += r.Counts[NoWork][row].StallCycles
	}
	return n
}

// Pipe is a unit of a SIMD that its waves take turns in.
type Pipe uint8

// The pipes. Matrix instructions issue through the port of the vector ALU, and
// then run beside it.
const (
	NoPipe Pipe = iota
	VectorALU
	MatrixPipe
)

func pipeOf(c isa.Class) Pipe {
	switch c {
	case isa.VALU, isa.Trans:
		return VectorALU
	case isa.MFMA:
		return MatrixPipe
	}
	return NoPipe
}

// Pipe returns the pipe that a row of the code needs.
func (r *Replay) Pipe(row int) Pipe { return r.prog.pipe[row] }

// OwnPipe returns, over one group, in how many cycles a matrix instruction was
// stalled while an earlier one of its own wave kept the pipe.
func (r *Replay) OwnPipe(g Group, row int) int64 { return r.ownPipe[g][row] }
