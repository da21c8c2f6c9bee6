// Package shape is the analyzer that says what kind of work a kernel does, as
// far as remedies depend on it.
package shape

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// Analyzer gives the *Shapes of every thread trace.
var Analyzer = analysis.NewPerTrace(analysis.Analyzer{
	Name:     "shape",
	Doc:      doc,
	Requires: []analysis.Required{code.Analyzer, flow.Analyzer, replay.Analyzer},
}, run)

// Shapes are those of one thread trace.
type Shapes struct {
	// Kernels is parallel to ThreadTrace.Kernels.
	Kernels []rule.Shape
	// Repeats is parallel to the Loops of flow.Flow: whether the loop was gone
	// round more than once, in a listing without executions whether it may be.
	// Polling loops do not count.
	Repeats []bool
}

func run(p *analysis.Pass, tt *trace.ThreadTrace) (*Shapes, error) {
	insts, fl, r := code.Analyzer.Of(p, tt).Insts, flow.Analyzer.Of(p, tt), replay.Analyzer.Of(p, tt)
	out := &Shapes{Repeats: make([]bool, len(fl.Loops))}
	for _, kn := range tt.Kernels {
		w := &walk{tt: tt, kernel: kn, insts: insts, flow: fl, replay: r, loops: out.Repeats}
		out.Kernels = append(out.Kernels, w.shape())
	}
	return out, nil
}

// walk looks at what one kernel executed.
type walk struct {
	tt     *trace.ThreadTrace
	kernel trace.Kernel
	insts  []isa.Inst
	flow   *flow.Flow
	replay *replay.Replay
	rows   []int
	loops  []bool
}

// ofClass are the features that an executed instruction of a class shows.
var ofClass = map[isa.Class]rule.Shape{
	isa.MFMA: rule.MatrixWork, isa.LDSRead: rule.LDSReads, isa.LDSTranspose: rule.LDSReads, isa.LDSWrite: rule.LDSWrites,
	isa.VMEMToLDS: rule.LDSWrites | rule.Copies, isa.TensorDMA: rule.Copies, isa.Barrier: rule.Barriers, isa.BarrierWait: rule.Barriers,
	isa.VMEMStore: rule.Stores, isa.FlatStore: rule.Stores, isa.VMEMFromLDS: rule.Stores, isa.CacheControl: rule.Sync,
}

// ofClassInLoop are those that it shows in a loop.
var ofClassInLoop = map[isa.Class]rule.Shape{
	isa.MFMA: rule.MatrixLoop, isa.Barrier: rule.BarrierLoop, isa.BarrierWait: rule.BarrierLoop, isa.SMEM: rule.ScalarLoop,
}

func (w *walk) shape() rule.Shape {
	w.execute()
	if len(w.rows) == 0 {
		return 0
	}
	s := rule.OnePass | rule.NoMatrix
	moves, exchanges := false, false
	for _, row := range w.rows {
		in := &w.insts[row]
		s |= ofClass[in.Class]
		if l := int(w.flow.Innermost[row]); w.round(l) {
			s |= rule.Loop | ofClassInLoop[in.Class]
		}
		if w.flow.Polling(row) || in.Returns {
			s |= rule.Sync
		}
		moves = moves || in.BytesPerLane > 0 && slices.Contains(in.Counts, isa.Vmcnt) || in.Class == isa.VMEMLoad || in.Class == isa.FlatLoad || in.Class == isa.VMEMStore
		exchanges = exchanges || exchangesLanes(in)
	}
	if s.Has(rule.Loop) {
		s &^= rule.OnePass
	}
	switch {
	case s.Has(rule.MatrixWork):
		s &^= rule.NoMatrix
		if w.onlyAdds(s) {
			s |= rule.GEMM
		}
	case moves && !s.Has(rule.Sync):
		s |= rule.Streaming
	}
	if s.Has(rule.NoMatrix) && exchanges {
		s |= rule.Reduction
	}
	return s
}

// execute gathers the rows that were executed, all of a listing without
// executions, and the loops that were gone round.
func (w *walk) execute() {
	for row := w.kernel.First; row < w.kernel.Last; row++ {
		if w.tt.Code[row].Hits > 0 {
			w.rows = append(w.rows, row)
		}
	}
	static := len(w.rows) == 0
	if static {
		for row := w.kernel.First; row < w.kernel.Last; row++ {
			w.rows = append(w.rows, row)
		}
	}
	for l := range w.flow.Loops {
		x := &w.flow.Loops[l]
		switch {
		case x.Polls || x.Head < w.kernel.First || x.Head >= w.kernel.Last:
		case static:
			w.loops[l] = true
		case w.replay.HasWaves:
			n := w.replay.Loops[replay.Working][l]
			w.loops[l] = n.Iterations > n.Entries
		default:
			w.loops[l] = slices.ContainsFunc(x.Latches, func(row int) bool { return w.tt.Code[row].Hits > 0 })
		}
	}
}

// round reports whether a loop, or one around it, was gone round.
func (w *walk) round(l int) bool {
	for ; l >= 0; l = w.flow.Loops[l].Parent {
		if w.loops[l] {
			return true
		}
	}
	return false
}

// exchangesLanes reports whether an instruction combines values of several
// lanes: through the LDS crossbar, or by a DPP or lane move.
func exchangesLanes(in *isa.Inst) bool {
	return in.Class == isa.CrossLane || strings.HasPrefix(in.Mnemonic, "v_permlane") ||
		in.Class == isa.VALU && (strings.Contains(in.Text, "row_shr") || strings.Contains(in.Text, "row_ror") || strings.Contains(in.Text, "row_bcast") ||
			strings.Contains(in.Text, "quad_perm") || strings.Contains(in.Text, "row_newbcast") || strings.Contains(in.Text, "row_half_mirror") || strings.Contains(in.Text, "row_mirror"))
}

// selects are the vector instructions that no sum of products makes of its
// results: attention and the like choose and exponentiate.
var selects = []string{"v_max", "v_min", "v_med3", "v_pk_max", "v_pk_min", "v_cmp"}

// onlyAdds reports whether what the kernel does with matrix results is add
// them up: of what reads them where they are made, in the loops where there are
// any, nothing compares or exponentiates.
func (w *walk) onlyAdds(s rule.Shape) bool {
	results := map[isa.Reg]bool{}
	mark := func(regs []isa.Reg, on bool) {
		for _, r := range regs {
			for i := range min(r.Count, maxRun) {
				results[isa.Reg{File: r.File, First: r.First + i, Count: 1}] = on
			}
		}
	}
	reads := func(in *isa.Inst) bool {
		return slices.ContainsFunc(in.Reads, func(r isa.Reg) bool {
			for i := range min(r.Count, maxRun) {
				if results[isa.Reg{File: r.File, First: r.First + i, Count: 1}] {
					return true
				}
			}
			return false
		})
	}
	rounds := 1
	if s.Has(rule.MatrixLoop) {
		rounds = 2 // what a loop's start reads was written at its end
	}
	for range rounds {
		for _, row := range w.rows {
			in := &w.insts[row]
			if s.Has(rule.MatrixLoop) && !w.round(int(w.flow.Innermost[row])) {
				continue
			}
			switch {
			case in.Class == isa.MFMA:
				mark(in.Writes, true)
			case in.Class == isa.Trans || slices.ContainsFunc(selects, func(p string) bool { return strings.HasPrefix(in.Mnemonic, p) }):
				if reads(in) {
					return false
				}
				mark(in.Writes, false)
			case in.Class == isa.VALU:
				mark(in.Writes, reads(in)) // what is made of results is one
			default:
				mark(in.Writes, false)
			}
		}
	}
	return true
}

// maxRun bounds the registers of one operand: a matrix result has up to 32.
const maxRun = 64
