package loops

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
)

// resultDelayCycles is how long after the end of its passes a matrix result
// can first be read by another instruction, or as another operand than the
// accumulator: 3 wait states of 4 cycles.
// Source: AMD Instinct MI300 ISA reference guide, section 4.5.
const resultDelayCycles = 12

// pendingResult is a matrix result on its way.
type pendingResult struct {
	row           int
	issued, ready int
}

// hazardWalk goes through blocks of code at the earliest time at which each
// instruction can issue: one every 4 cycles, s_nop for its wait states, matrix
// instructions not before the pipe is free.
type hazardWalk struct {
	b             *builder
	now, pipeFree int
	recent        []pendingResult
	nops          []int
	found         map[[2]int]*Hazard
}

// hazards finds reads of matrix results that come too early, with the stalls
// of the reader and of the s_nop before it. A loop of one block is walked
// twice, so that its start sees its end.
func (b *builder) hazards() []Hazard {
	w := &hazardWalk{b: b, found: map[[2]int]*Hazard{}}
	for x := range b.flow.Blocks {
		block := &b.flow.Blocks[x]
		if block.First < b.kernel.First || block.Last > b.kernel.Last {
			continue
		}
		w.now, w.pipeFree, w.recent, w.nops = 0, 0, w.recent[:0], w.nops[:0]
		w.block(block.First, block.Last)
		if slices.Contains(block.Succ, x) {
			w.block(block.First, block.Last)
		}
	}
	out := make([]Hazard, 0, len(w.found))
	for _, h := range w.found {
		if h.StallCycles+h.NopCycles > 0 {
			out = append(out, *h)
		}
	}
	slices.SortFunc(out, func(a, b Hazard) int {
		return cmp.Or(cmp.Compare(value(b.ExposedCycles), value(a.ExposedCycles)),
			cmp.Compare(b.StallCycles+b.NopCycles, a.StallCycles+a.NopCycles), cmp.Compare(a.Line, b.Line))
	})
	return out
}

func (w *hazardWalk) block(first, last int) {
	for row := first; row < last; row++ {
		in := &w.b.insts[row]
		if in.Class == isa.Nop {
			w.nops = append(w.nops, row)
			w.now += waveIssueCycles * waitStates(in)
			continue
		}
		if in.Class == isa.MFMA {
			w.now = max(w.now, w.pipeFree)
		}
		w.read(row, in)
		w.nops = w.nops[:0]
		w.write(row, in)
		w.now += waveIssueCycles
	}
}

// waitStates is the number of issue slots that an s_nop takes: its operand + 1.
func waitStates(in *isa.Inst) int {
	_, operand, _ := strings.Cut(in.Text, " ")
	n, err := strconv.ParseInt(strings.TrimSpace(operand), 0, 8)
	if err != nil || n < 0 || in.Mnemonic != "s_nop" {
		return 1
	}
	return int(n) + 1
}

// read finds the youngest result on its way that the instruction reads.
func (w *hazardWalk) read(row int, in *isa.Inst) {
	if in.Class != isa.MFMA && in.Class != isa.VALU && in.Class != isa.Trans {
		return
	}
	start := w.now
	for _, nop := range w.nops {
		start -= waveIssueCycles * waitStates(&w.b.insts[nop])
	}
	for i := len(w.recent) - 1; i >= 0; i-- {
		p := w.recent[i]
		if p.ready <= start || !in.NeedsResult(&w.b.insts[p.row]) {
			continue
		}
		w.book(row, p, start)
		w.now = max(w.now, p.ready)
		return
	}
}

func overlap(x, y isa.Reg) bool {
	return x.File == y.File && x.First < y.First+y.Count && y.First < x.First+x.Count
}

func (w *hazardWalk) book(row int, p pendingResult, start int) {
	key := [2]int{row, p.row}
	if w.found[key] != nil {
		return
	}
	b := w.b
	r := &b.stalls.Rows[row]
	h := &Hazard{
		row: row, Line: b.tt.Code[row].Line, Text: b.tt.Code[row].Text, ProducerLine: b.tt.Code[p.row].Line, ProducerText: b.tt.Code[p.row].Text,
		DistanceCycles: start - p.issued, NeededCycles: p.ready - p.issued, Hits: r.Hits, StallCycles: r.StallCycles,
	}
	cost := b.split.Row(row, b.stalls.AllWaves).Stall
	h.saves = []finding.Saving{{Row: row}}
	for _, nop := range w.nops {
		h.saves = append(h.saves, finding.Saving{Row: nop})
		h.NopCycles += b.stalls.Rows[nop].StallCycles
		cost += b.split.Row(nop, b.stalls.AllWaves).Stall
	}
	h.ExposedCycles = b.known(cost)
	w.found[key] = h
}

// write drops results that are there or overwritten, and adds a new one.
func (w *hazardWalk) write(row int, in *isa.Inst) {
	w.recent = slices.DeleteFunc(w.recent, func(p pendingResult) bool {
		if p.ready <= w.now {
			return true
		}
		for _, x := range w.b.insts[p.row].Writes {
			for _, y := range in.Writes {
				if overlap(x, y) {
					return true
				}
			}
		}
		return false
	})
	if in.Class == isa.MFMA && in.Matrix != nil && in.Matrix.Cycles > 0 {
		w.pipeFree = w.now + in.Matrix.Cycles
		w.recent = append(w.recent, pendingResult{row, w.now, w.pipeFree + resultDelayCycles})
	}
}
