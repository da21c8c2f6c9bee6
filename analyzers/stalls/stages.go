package stalls

import (
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// loadClasses are the kinds of waits that can make a stage.
var loadClasses = map[Class]bool{VMEMWait: true, VMEMToLDSWait: true}

// stages groups the waits for loads that absorb each other: what the next one
// waits for is under way already while one stalls, so that moving the loads of
// one moves its stall to the next. It gives the first wait of its stage for
// each row, and -1 for rows that are in none or alone.
//
// Waits are taken in code order, in one stretch of a loop's own code; they have
// to stall at all.
func (b *Breakdown) stages(tt *trace.ThreadTrace, s sources) []int32 {
	out := make([]int32, len(b.Rows))
	for row := range out {
		out[row] = -1
	}
	for _, kn := range tt.Kernels {
		first, last := -1, -1 // of the stage so far
		for row := kn.First; row < kn.Last; row++ {
			if last >= 0 && s.flow.Innermost[row] != s.flow.Innermost[last] {
				first, last = -1, -1
			}
			r := &b.Rows[row]
			if len(s.listing.Insts[row].Waits) == 0 || !loadClasses[r.Class()] || r.StallCycles == 0 {
				continue
			}
			if last >= 0 && underWay(s.flow, s.replay.Site(row, s.all), last, row) {
				out[first], out[row] = int32(first), int32(first)
			} else {
				first = row
			}
			last = row
		}
	}
	return out
}

// underWay reports whether most of the loads that a wait waited for were issued
// before an earlier wait: they stand before it, or behind both in their loop.
func underWay(f *flow.Flow, site *replay.Site, earlier, row int) bool {
	if site == nil {
		return false
	}
	l := int(f.Innermost[row])
	var before, after int64
	for _, p := range site.Producers {
		switch {
		case p.Class != replay.VMEM && p.Class != replay.VMEMToLDS:
		case p.Row < earlier, p.Row > row && l >= 0 && f.In(l, p.Row):
			before += p.Count
		default:
			after += p.Count
		}
	}
	return before > after
}

// Stage lists the waits of the stage that a row is the first wait of: waits for
// loads that absorb each other, in file order. It is nil for a wait that is
// alone, and for other rows.
func (b *Breakdown) Stage(row int) []int {
	if b.stage[row] != int32(row) {
		return nil
	}
	var out []int
	for i := row; i < len(b.stage); i++ {
		if b.stage[i] == int32(row) {
			out = append(out, i)
		}
	}
	return out
}

// StageOf returns the first wait of a row's stage, -1 for a row that is in none
// or alone.
func (b *Breakdown) StageOf(row int) int {
	if b.stage == nil {
		return -1
	}
	return int(b.stage[row])
}
