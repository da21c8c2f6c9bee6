// Package exposed is the analyzer that splits stalls into those that cost time
// and those that other waves hide.
package exposed

import (
	_ "embed"

	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// Analyzer gives a *Split for every thread trace.
var Analyzer = analysis.NewPerTrace(analysis.Analyzer{
	Name:     "exposed",
	Doc:      doc,
	Requires: []analysis.Required{replay.Analyzer},
	Params: []analysis.Param{
		{
			Name: "matrix_gaps", Default: 0,
			Doc: "1 also tells the cycles apart in which the matrix pipe was idle, for which the waves are read again",
		},
	},
}, run)

// Split is the exposed part of one thread trace's stalls.
type Split struct {
	// Absent says why there is no split; the rest is then empty.
	Absent string
	// SIMD sums the traced SIMDs.
	SIMD SIMDTime
	// Gaps is set when the parts of Row that name the matrix pipe, and Issue,
	// were asked for; they are 0 otherwise.
	Gaps bool

	rows [2][]row // by group of waves
}

// SIMDTime says what the traced SIMDs did, in cycles summed over them.
// Issuing + Exposed + Empty = Total, and Exposed = Stalled + Between.
type SIMDTime struct {
	// Total is from the first wave's begin to the last wave's end.
	Total int64 `json:"total_cycles"`
	// Issuing: a resident wave issued. Exposed: waves were resident and none
	// issued. Empty: no wave was resident.
	Issuing int64 `json:"issuing_cycles"`
	Exposed int64 `json:"exposed_cycles"`
	Empty   int64 `json:"empty_cycles"`
	// Stalled is the part of Exposed in which at least one wave was stalled
	// or draining, Between the part in which all were between instructions.
	Stalled int64 `json:"exposed_stalled_cycles"`
	Between int64 `json:"exposed_between_cycles"`
}

// row is one instruction, in replay.Units but for issue.
type row struct {
	stall, stallGap int64
	drain, drainGap int64
	issue, issueGap int64 // cycles
	taken           int64 // cycles
}

func (r *row) add(o *row) {
	r.stall += o.stall
	r.stallGap += o.stallGap
	r.drain += o.drain
	r.drainGap += o.drainGap
	r.issue += o.issue
	r.issueGap += o.issueGap
	r.taken += o.taken
}

// Row is what one instruction costs, in cycles.
type Row struct {
	// Stall and Drain are the exposed cycles of its stalls and, for s_endpgm,
	// of its drain.
	Stall, Drain float64
	// StallOffMatrix and DrainOffMatrix are the parts of those in which the
	// matrix pipe was idle; IssueOffMatrix are the cycles in which it issued
	// while the pipe was idle.
	StallOffMatrix, DrainOffMatrix float64
	IssueOffMatrix                 int64
	// Contended are the cycles of its stalls in which other waves of the SIMD
	// took the unit that it needs: issued a vector or matrix instruction, or,
	// if it is a matrix instruction, kept the matrix pipe. 0 for instructions
	// that need neither.
	Contended int64
	// Issue are the cycles in which it issued, by its records: like the rest
	// without what lies outside of a wave's life.
	Issue int64
}

// Row returns the split of a row of the code, over the working waves or all.
func (s *Split) Row(at int, all bool) Row {
	if s.Absent != "" {
		return Row{}
	}
	x := s.rows[replay.Working][at]
	if all {
		x.add(&s.rows[replay.NoWork][at])
	}
	return Row{
		Stall: cycles(x.stall), Drain: cycles(x.drain),
		StallOffMatrix: cycles(x.stallGap), DrainOffMatrix: cycles(x.drainGap), IssueOffMatrix: x.issueGap,
		Contended: x.taken, Issue: x.issue,
	}
}

// Charged is the sum of the exposed cycles of all instructions and waves, in
// replay.Units: SIMD.Stalled x replay.Unit, exactly.
func (s *Split) Charged() int64 {
	var sum int64
	for g := range s.rows {
		for i := range s.rows[g] {
			sum += s.rows[g][i].stall + s.rows[g][i].drain
		}
	}
	return sum
}

func cycles(units int64) float64 { return float64(units) / replay.Unit }

func run(p *analysis.Pass, tt *trace.ThreadTrace) (*Split, error) {
	return split(p, tt, replay.Analyzer.Of(p, tt))
}

// absent says why a trace's stalls cannot be split.
func absent(m *capture.Trace, r *replay.Replay) string {
	switch {
	case !r.HasWaves:
		return "there are no wave files"
	case r.NoCycles:
		return "it was not asked for"
	case !m.IsGFX9():
		return "latency includes execution on this generation, so that issue cycles are not known"
	}
	for i := range r.SIMDs {
		if r.SIMDs[i].Cycles == nil {
			return "the trace covers too many cycles, or more than 15 waves of a SIMD at once"
		}
	}
	return ""
}

func split(p *analysis.Pass, tt *trace.ThreadTrace, r *replay.Replay) (*Split, error) {
	s := &Split{Absent: absent(p.Capture.Trace(tt), r)}
	if s.Absent != "" {
		return s, nil
	}
	for i := range r.SIMDs {
		s.SIMD.add(TimeOf(&r.SIMDs[i]))
	}
	s.Gaps = p.Param("matrix_gaps") != 0
	for g := range s.rows {
		s.rows[g] = make([]row, len(tt.Code))
	}
	var folders []*folder
	add := func(f *folder) *folder {
		folders = append(folders, f)
		return f
	}
	var err error
	if s.Gaps {
		err = r.Fold(p.Context, p.Workers, func() trace.Folder { return add(newFolder(r, len(tt.Code), true)) })
	} else {
		err = r.Stalls(p.Context, p.Workers, func() replay.StallFolder { return add(newFolder(r, len(tt.Code), false)) })
	}
	for g := range s.rows {
		for _, f := range folders {
			for i := range f.rows[g] {
				s.rows[g][i].add(&f.rows[g][i])
			}
		}
	}
	s.leaveOwn(r)
	return s, err
}

// leaveOwn takes from the cycles in which the matrix pipe was taken those of the
// stalled wave's own instructions.
func (s *Split) leaveOwn(r *replay.Replay) {
	for g := range s.rows {
		for at := range s.rows[g] {
			x := &s.rows[g][at]
			x.taken = max(x.taken-r.OwnPipe(replay.Group(g), at), 0)
		}
	}
}

// TimeOf is the time of one SIMD, which must have Cycles.
func TimeOf(s *replay.SIMD) SIMDTime {
	exposed, stalled := s.Cycles.Exposed()
	return SIMDTime{
		Total: s.Last - s.First, Issuing: s.IssuingResident, Exposed: exposed, Empty: s.Last - s.First - s.Resident,
		Stalled: stalled, Between: exposed - stalled,
	}
}

func (t *SIMDTime) add(o SIMDTime) {
	t.Total += o.Total
	t.Issuing += o.Issuing
	t.Exposed += o.Exposed
	t.Empty += o.Empty
	t.Stalled += o.Stalled
	t.Between += o.Between
}

// folder charges the exposed cycles to the instructions of the waves that one
// worker sees.
type folder struct {
	replay *replay.Replay
	reader *replay.Reader
	gaps   bool
	rows   [2][]row
	simds  map[*replay.SIMD]*replay.Sharer
	// last is the SIMD of the last stall, sharer its Sharer.
	last   *replay.SIMD
	sharer *replay.Sharer
}

func newFolder(r *replay.Replay, rows int, gaps bool) *folder {
	f := &folder{replay: r, reader: r.NewReader(), gaps: gaps, simds: map[*replay.SIMD]*replay.Sharer{}}
	for g := range f.rows {
		f.rows[g] = make([]row, rows)
	}
	return f
}

// of returns the Sharer of a SIMD.
func (f *folder) of(s *replay.SIMD) *replay.Sharer {
	if s == f.last {
		return f.sharer
	}
	c := f.simds[s]
	if c == nil {
		c = s.Cycles.NewSharer(f.gaps)
		f.simds[s] = c
	}
	f.last, f.sharer = s, c
	return c
}

// Stall charges one stall or drain.
func (f *folder) Stall(s *replay.SIMD, g replay.Group, at int, from, to int64, drain bool) {
	all, gap := f.of(s).Share(from, to)
	x := &f.rows[g][at]
	if drain {
		x.drain += all
		x.drainGap += gap
		return
	}
	x.stall += all
	x.stallGap += gap
	if u := f.replay.Pipe(at); u != replay.NoPipe {
		x.taken += f.sharer.Busy(u, from, to)
	}
}

// Wave charges one wave, issue included.
func (f *folder) Wave(w *trace.Wave) {
	simd := f.replay.SIMD(w)
	if simd == nil {
		return
	}
	g := f.reader.Group(w)
	c := f.of(simd)
	hasMatrix := c.MatrixUsed()
	f.reader.Each(w, func(at int, _ *trace.Record, s replay.Spans) {
		f.Stall(simd, g, at, s.Stall[0], s.Stall[1], false)
		f.Stall(simd, g, at, s.Drain[0], s.Drain[1], true)
		x := &f.rows[g][at]
		x.issue += s.Issue[1] - s.Issue[0]
		if hasMatrix {
			x.issueGap += c.OffMatrix(s.Issue[0], s.Issue[1])
		}
	})
}
