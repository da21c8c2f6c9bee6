// Package stalls is the analyzer that says what a kernel's stall cycles wait
// for: every stall falls into one class, waits by what they waited for.
package stalls

import (
	"cmp"
	_ "embed"
	"math"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// Analyzer gives a *Breakdown for every thread trace.
var Analyzer = analysis.NewPerTrace(analysis.Analyzer{
	Name:     "stalls",
	Doc:      doc,
	Requires: []analysis.Required{code.Analyzer, flow.Analyzer, replay.Analyzer, exposed.Analyzer},
	Params: []analysis.Param{
		{
			Name: "all_waves", Default: 0,
			Doc: "1 keeps waves that did no work in every breakdown; 0 leaves them out",
		},
	},
}, run)

// Breakdown is one thread trace's stalls.
type Breakdown struct {
	// AllWaves is set when waves without work were kept in.
	AllWaves bool
	// Rows are parallel to ThreadTrace.Code.
	Rows []Row

	stage []int32 // by row; see StageOf
}

// Row is one instruction: what it cost in the waves that count, and the
// classes of its stall.
type Row struct {
	trace.Counts
	// Parts split the stall cycles; they sum to them exactly, largest first.
	Parts []Part
	// Estimated is set when the class was found by look-back.
	Estimated bool
	// DrainCycles is the latency without stall of s_endpgm: the wait for
	// outstanding memory operations before the wave ends.
	DrainCycles int64
}

// Part is a share of stall cycles.
type Part struct {
	Class  Class
	Cycles int64
	// Unsure are those of Cycles that could be of another class that the
	// same wait waited for: no lone wait of the trace tells their latencies.
	Unsure int64
}

// Class is the row's largest part; for an instruction without stall, the
// class that its stall would have.
func (r *Row) Class() Class {
	if len(r.Parts) == 0 {
		return Other
	}
	return r.Parts[0].Class
}

// Sum adds up the classes of the rows [first, last), largest first; classes
// without cycles are left out.
func (b *Breakdown) Sum(first, last int) []ClassSum {
	sums := map[Class]*ClassSum{}
	for i := first; i < last; i++ {
		for _, p := range b.Rows[i].Parts {
			if p.Cycles == 0 {
				continue
			}
			s := sums[p.Class]
			if s == nil {
				s = &ClassSum{Class: p.Class}
				sums[p.Class] = s
			}
			s.Cycles += p.Cycles
			s.EstimatedCycles += p.Unsure
			if b.Rows[i].Estimated {
				s.EstimatedCycles += p.Cycles - p.Unsure
			}
		}
	}
	out := make([]ClassSum, 0, len(sums))
	for _, s := range sums {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b ClassSum) int {
		return cmp.Or(cmp.Compare(b.Cycles, a.Cycles), cmp.Compare(a.Class, b.Class))
	})
	return out
}

// ClassSum is the stall cycles of one class.
type ClassSum struct {
	Class Class
	// Cycles are stall cycles, EstimatedCycles those of them whose class was
	// found by look-back, or that are Unsure.
	Cycles, EstimatedCycles int64
}

func run(p *analysis.Pass, tt *trace.ThreadTrace) (*Breakdown, error) {
	return breakDown(tt, sources{
		listing: code.Analyzer.Of(p, tt), flow: flow.Analyzer.Of(p, tt), replay: replay.Analyzer.Of(p, tt),
		split: exposed.Analyzer.Of(p, tt), all: p.Param("all_waves") != 0,
	}), nil
}

// sources are what a breakdown is made from.
type sources struct {
	listing *code.Listing
	flow    *flow.Flow
	replay  *replay.Replay
	split   *exposed.Split
	all     bool // waves
}

func breakDown(tt *trace.ThreadTrace, s sources) *Breakdown {
	b := &Breakdown{AllWaves: s.all, Rows: make([]Row, len(tt.Code))}
	for i, c := range countsOf(tt, s.replay, s.all) {
		b.Rows[i].Counts = c
	}
	behind := readsMatrixResult(s.listing.Insts)
	for i := range b.Rows {
		row := &b.Rows[i]
		in := &s.listing.Insts[i]
		switch {
		case in.Class == isa.EndPgm:
			row.DrainCycles = row.IssueCycles()
			row.Parts = []Part{{Class: End, Cycles: row.StallCycles}}
		case len(in.Waits) > 0:
			row.splitWait(s.replay.Site(i, s.all), s.replay.HasWaves)
		case s.flow.Polling(i) && in.Class == isa.Sleep:
			row.Parts = []Part{{Class: PollWait, Cycles: row.StallCycles}}
		case contended[in.Class] != "":
			row.splitPipe(in, behind[i], s, i)
		default:
			row.Parts = []Part{{Class: ofInstruction(in), Cycles: row.StallCycles}}
		}
	}
	b.stage = b.stages(tt, s)
	return b
}

// splitPipe divides the stall of an instruction that needs a pipe: the part in
// which another wave took the pipe is contention, the rest waits for results, or
// of a matrix instruction for the pipe. The part is not known without wave files
// or cycles.
func (r *Row) splitPipe(in *isa.Inst, needsMatrix bool, s sources, row int) {
	whole := s.replay.StallCycles(row, s.all)
	known := s.split.Absent == "" && (whole > 0 || r.StallCycles == 0)
	rest := ofInstruction(in)
	switch {
	case needsMatrix:
		rest = MFMADependency
	case known && rest == VALU:
		rest = VALUDependency
	}
	r.Parts = []Part{{Class: rest, Cycles: r.StallCycles}}
	if !known || whole == 0 {
		return
	}
	share := min(float64(s.split.Row(row, s.all).Contended)/float64(whole), 1)
	taken := min(int64(math.Round(share*float64(r.StallCycles))), r.StallCycles)
	r.Parts[0].Cycles -= taken
	r.Parts = append(r.Parts, Part{Class: contended[in.Class], Cycles: taken})
	r.sortParts()
}

// ExposedShare is the share of the row's exposed stall that falls to one of its
// parts: in proportion to their cycles, but contention for the vector ALU is
// hidden by its nature, as another wave issues.
func (r *Row) ExposedShare(p Part) float64 {
	whole := r.StallCycles
	for _, x := range r.Parts {
		if x.Class == VALUContention {
			whole -= x.Cycles
		}
	}
	switch {
	case p.Class == VALUContention && whole > 0 || r.StallCycles <= 0:
		return 0
	case whole <= 0:
		return float64(p.Cycles) / float64(r.StallCycles)
	}
	return float64(p.Cycles) / float64(whole)
}

// splitWait divides a wait's stall by what it waited for.
func (r *Row) splitWait(s *replay.Site, measured bool) {
	r.Estimated = !measured
	if s == nil {
		r.Parts = []Part{{Class: SatisfiedWait, Cycles: r.StallCycles}}
		return
	}
	shares := s.Shares()
	for class, f := range shares.Of {
		if f > 0 {
			r.Parts = append(r.Parts, Part{Class: byWait[replay.WaitClass(class)]})
		}
	}
	divide(r.Parts, shares.Of[:], r.StallCycles)
	i := 0
	for class, f := range shares.Of {
		if f > 0 {
			p := &r.Parts[i]
			p.Unsure = min(int64(math.Round(float64(p.Cycles)*shares.Unsure[class]/f)), p.Cycles)
			i++
		}
	}
	r.sortParts()
}

func (r *Row) sortParts() {
	slices.SortStableFunc(r.Parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Cycles, a.Cycles), cmp.Compare(tieRank(a.Class), tieRank(b.Class)), cmp.Compare(a.Class, b.Class))
	})
}

// tieRank puts LDS behind what takes longer: of two equal parts of a wait it is
// the less likely one to have held it.
func tieRank(c Class) int {
	if c == LDSWait || c == CrossLaneWait {
		return 1
	}
	return 0
}

// divide gives each part its share of total as whole cycles that sum to total
// exactly: rounded down, and the cycles left over to the largest remainders.
func divide(parts []Part, shares []float64, total int64) {
	rest := total
	remainder := make([]float64, len(parts))
	i := 0
	for _, f := range shares {
		if f <= 0 {
			continue
		}
		exact := f * float64(total)
		parts[i].Cycles = min(int64(exact), rest)
		remainder[i] = exact - float64(parts[i].Cycles)
		rest -= parts[i].Cycles
		i++
	}
	for ; rest > 0; rest-- {
		at := 0
		for j := range remainder {
			if remainder[j] > remainder[at] {
				at = j
			}
		}
		parts[at].Cycles++
		remainder[at]--
	}
}

// countsOf returns code.json's counts per row, without those of the waves
// that did no work unless all are asked for. Rows that share a LineNumber
// give up their part in file order.
func countsOf(tt *trace.ThreadTrace, r *replay.Replay, all bool) []trace.Counts {
	out := make([]trace.Counts, len(tt.Code))
	first := map[int]int{}
	var idle []trace.Counts
	if r.HasWaves && !all {
		idle = slices.Clone(r.Counts[replay.NoWork])
	}
	for i := range tt.Code {
		out[i] = tt.Code[i].Counts
		at, ok := first[tt.Code[i].Line]
		if !ok {
			at = i
			first[tt.Code[i].Line] = i
		}
		if idle != nil {
			take(&out[i], &idle[at])
		}
	}
	return out
}

// take moves as much as there is of from out of c.
func take(c, from *trace.Counts) {
	for _, f := range [][2]*int64{
		{&c.Hits, &from.Hits},
		{&c.LatencyCycles, &from.LatencyCycles},
		{&c.StallCycles, &from.StallCycles},
		{&c.IdleCycles, &from.IdleCycles},
	} {
		n := min(*f[0], *f[1])
		*f[0] -= n
		*f[1] -= n
	}
}
