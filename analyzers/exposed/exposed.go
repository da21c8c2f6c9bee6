// Package exposed is the analyzer that splits stalls into those that cost time
// and those that other waves hide.
package exposed

import (
	_ "embed"

	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// Analyzer returns a *Result.
var Analyzer = &analysis.Analyzer{
	Name:     "exposed",
	Doc:      doc,
	Needs:    []analysis.Evidence{analysis.ThreadTraces},
	Requires: []*analysis.Analyzer{replay.Analyzer},
	Run:      run,
}

// Result holds one Split per thread trace, in the trace's order.
type Result struct {
	Traces []*Split
}

// Split is the exposed part of one thread trace's stalls.
type Split struct {
	// Absent says why there is no split; the rest is then empty.
	Absent string
	// SIMD sums the traced SIMDs.
	SIMD SIMDTime

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
}

func (r *row) add(o *row) {
	r.stall += o.stall
	r.stallGap += o.stallGap
	r.drain += o.drain
	r.drainGap += o.drainGap
	r.issue += o.issue
	r.issueGap += o.issueGap
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
		Issue: x.issue,
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

func run(p *analysis.Pass) (any, error) {
	replays := p.ResultOf(replay.Analyzer).(*replay.Result).Replays
	res := &Result{}
	for i, tt := range p.Trace.ThreadTraces {
		s, err := split(p, tt, replays[i])
		if err != nil {
			return nil, err
		}
		res.Traces = append(res.Traces, s)
	}
	return res, nil
}

// absent says why a trace's stalls cannot be split.
func absent(tt *trace.ThreadTrace, r *replay.Replay) string {
	switch {
	case !r.HasWaves:
		return "there are no wave files"
	case tt.GfxMajor != 9:
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
	s := &Split{Absent: absent(tt, r)}
	if s.Absent != "" {
		return s, nil
	}
	for i := range r.SIMDs {
		s.SIMD.add(TimeOf(&r.SIMDs[i]))
	}
	var folders []*folder
	err := r.Fold(p.Context, p.Workers, func() trace.Folder {
		f := newFolder(r, len(tt.Code))
		folders = append(folders, f)
		return f
	})
	if err != nil {
		return nil, err
	}
	for g := range s.rows {
		s.rows[g] = make([]row, len(tt.Code))
		for _, f := range folders {
			for i := range f.rows[g] {
				s.rows[g][i].add(&f.rows[g][i])
			}
		}
	}
	return s, nil
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
// worker reads.
type folder struct {
	replay *replay.Replay
	reader *replay.Reader
	rows   [2][]row
	simds  map[*replay.SIMD]*replay.Sharer
}

func newFolder(r *replay.Replay, rows int) *folder {
	f := &folder{replay: r, reader: r.NewReader(), simds: map[*replay.SIMD]*replay.Sharer{}}
	for g := range f.rows {
		f.rows[g] = make([]row, rows)
	}
	return f
}

// Wave adds one wave.
func (f *folder) Wave(w *trace.Wave) {
	simd := f.replay.SIMD(w)
	if simd == nil {
		return
	}
	c, rows := f.simds[simd], f.rows[f.reader.Group(w)]
	if c == nil {
		c = simd.Cycles.NewSharer()
		f.simds[simd] = c
	}
	hasMatrix := c.MatrixUsed()
	f.reader.Each(w, func(at int, _ *trace.Record, s replay.Spans) {
		x := &rows[at]
		if s.Stall[1] > s.Stall[0] {
			all, gap := c.Share(s.Stall[0], s.Stall[1])
			x.stall += all
			x.stallGap += gap
		}
		if s.Drain[1] > s.Drain[0] {
			all, gap := c.Share(s.Drain[0], s.Drain[1])
			x.drain += all
			x.drainGap += gap
		}
		x.issue += s.Issue[1] - s.Issue[0]
		if hasMatrix {
			x.issueGap += c.OffMatrix(s.Issue[0], s.Issue[1])
		}
	})
}
