package hotspots

import (
	"math"

	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
)

// cost is the exposed part of stall and drain, in SIMD cycles.
type cost struct {
	stall, drain float64
}

func (c cost) total() float64 { return c.stall + c.drain }

// allRows lists the kernel's rows.
func (b *builder) allRows() []int {
	rows := make([]int, 0, b.kernel.Last-b.kernel.First)
	for row := b.kernel.First; row < b.kernel.Last; row++ {
		rows = append(rows, row)
	}
	return rows
}

// costOf sums the exposed cycles of rows; nothing without a split.
func (b *builder) costOf(rows ...int) cost {
	var c cost
	for _, row := range rows {
		x := b.split.Row(row, b.stalls.AllWaves)
		c.stall += x.Stall
		c.drain += x.Drain
	}
	return c
}

// classCosts splits the exposed stalls of rows by class, those of a row in
// the proportions of its parts; drain is what s_endpgm costs.
func (b *builder) classCosts(rows []int) (costs map[stalls.Class]float64, drain float64) {
	costs = map[stalls.Class]float64{}
	for _, row := range rows {
		c, r := b.costOf(row), &b.stalls.Rows[row]
		drain += c.drain
		for _, p := range r.Parts {
			costs[p.Class] += c.stall * r.ExposedShare(p)
		}
	}
	return costs, drain
}

// exported describes the cost of something with the given stall.
func (b *builder) exported(c cost, stall int64) Cost {
	if b.split.Absent != "" {
		return Cost{}
	}
	shown, hidden := thousandth(c.stall), thousandth(float64(stall)-c.stall)
	out := Cost{ExposedCycles: &shown, HiddenCycles: &hidden}
	if c.drain > 0 {
		d := thousandth(c.drain)
		out.DrainCycles = &d
	}
	if all := b.cost.total(); all > 0 {
		pct := 100 * c.total() / all
		out.ExposedPct = &pct
	}
	return out
}

// total is the exposed stall and drain, 0 where it is not known.
func (c *Cost) total() float64 { return value(c.ExposedCycles) + value(c.DrainCycles) }

// exposed sums the kernel; nil without a split.
func (b *builder) exposed() *Exposed {
	if b.split.Absent != "" {
		return nil
	}
	e := &Exposed{SIMD: b.split.SIMD, StallCycles: thousandth(b.cost.stall), DrainCycles: thousandth(b.cost.drain)}
	if b.counted.StallCycles > 0 {
		pct := 100 * b.cost.stall / float64(b.counted.StallCycles)
		e.StallPct = &pct
	}
	return e
}

// thousandth rounds shares of cycles to what can be read.
func thousandth(x float64) float64 { return math.Round(x*1000) / 1000 }
