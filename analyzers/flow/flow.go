// Package flow is the analyzer that finds a kernel's control flow: basic
// blocks, loops, and the vector registers that are alive.
package flow

import (
	"cmp"
	_ "embed"
	"slices"
	"sort"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// Analyzer gives a *Flow for every thread trace.
var Analyzer = analysis.NewPerTrace(analysis.Analyzer{
	Name:     "flow",
	Doc:      doc,
	Requires: []analysis.Required{code.Analyzer},
}, run)

// Flow is the control flow of all kernels of one thread trace. Rows are
// indices of ThreadTrace.Code.
type Flow struct {
	// Blocks are in file order; no block spans two kernels.
	Blocks []Block
	// BlockOf is parallel to the code.
	BlockOf []int32
	// Loops are sorted by head, an outer loop before its inner ones.
	Loops []Loop
	// Innermost is the index of the innermost loop of each row, -1 for none.
	Innermost []int32
	// Indirect counts jumps whose target the code does not name, Irregular
	// cycles that are entered in more than one place and so are no loops.
	Indirect, Irregular int
}

// Block is a basic block: the rows [First, Last).
type Block struct {
	First, Last int
	// Succ and Pred are indices of blocks, ascending.
	Succ, Pred []int
}

// Loop is a natural loop.
type Loop struct {
	// Kernel is the index of its kernel in ThreadTrace.Kernels.
	Kernel int
	// Head is the first row of the block that every iteration begins with.
	Head int
	// Latches are the last rows of the blocks that jump back to the head.
	Latches []int
	// Blocks are the indices of its blocks, inner loops included, ascending.
	Blocks []int
	// Polls is set for a loop that only asks for a value until it changes.
	Polls bool
	// Parent is the index of the loop around it, -1 for none; Depth is 1 for
	// an outermost loop.
	Parent, Depth int
}

func run(p *analysis.Pass, tt *trace.ThreadTrace) (*Flow, error) {
	return Find(tt, code.Analyzer.Of(p, tt).Insts), nil
}

// Find finds the control flow of a thread trace's code; insts is parallel to
// it.
func Find(tt *trace.ThreadTrace, insts []isa.Inst) *Flow {
	f := &Flow{BlockOf: make([]int32, len(tt.Code)), Innermost: make([]int32, len(tt.Code))}
	for i := range f.Innermost {
		f.Innermost[i] = -1
	}
	for k, kn := range tt.Kernels {
		first := len(f.Blocks)
		f.split(tt, insts, kn)
		g := graph{blocks: f.Blocks[first:], base: first}
		g.order()
		g.dominate()
		loops, irregular := g.loops()
		f.Irregular += irregular
		f.addLoops(k, loops)
	}
	f.markPolls(insts)
	return f
}

// In reports whether a row lies in loop l or a loop inside it.
func (f *Flow) In(l, row int) bool {
	for at := int(f.Innermost[row]); at >= 0; at = f.Loops[at].Parent {
		if at == l {
			return true
		}
	}
	return false
}

// jump is what a branch does: where it goes and whether it may fall through.
type jump struct {
	target      int // row, -1 when it is not in the kernel or not known
	fallThrough bool
}

// split cuts a kernel into blocks.
func (f *Flow) split(tt *trace.ThreadTrace, insts []isa.Inst, kn trace.Kernel) {
	jumps := map[int]jump{}
	leader := map[int]bool{kn.First: true}
	for row := kn.First; row < kn.Last; row++ {
		in := &insts[row]
		if in.Class != isa.Branch && in.Class != isa.EndPgm {
			continue
		}
		j := jumpOf(tt, insts, kn, row)
		if in.Class == isa.Branch && in.BranchOffset == nil && !j.fallThrough {
			f.Indirect++
		}
		jumps[row] = j
		leader[row+1] = true
		if j.target >= 0 {
			leader[j.target] = true
		}
	}
	from := len(f.Blocks)
	for row := kn.First; row < kn.Last; row++ {
		if leader[row] {
			f.Blocks = append(f.Blocks, Block{First: row})
		}
		f.Blocks[len(f.Blocks)-1].Last = row + 1
		f.BlockOf[row] = int32(len(f.Blocks) - 1)
	}
	f.link(jumps, from, kn.Last)
}

// link adds the edges of the blocks from a number on.
func (f *Flow) link(jumps map[int]jump, from, end int) {
	edge := func(a, b int) {
		if !slices.Contains(f.Blocks[a].Succ, b) {
			f.Blocks[a].Succ = append(f.Blocks[a].Succ, b)
			f.Blocks[b].Pred = append(f.Blocks[b].Pred, a)
		}
	}
	for b := from; b < len(f.Blocks); b++ {
		last := f.Blocks[b].Last
		j, ok := jumps[last-1]
		if !ok {
			j = jump{-1, true}
		}
		if j.fallThrough && last < end {
			edge(b, b+1)
		}
		if j.target >= 0 {
			edge(b, int(f.BlockOf[j.target]))
		}
	}
	for b := from; b < len(f.Blocks); b++ {
		slices.Sort(f.Blocks[b].Succ)
		slices.Sort(f.Blocks[b].Pred)
	}
}

// jumpOf says where a branch goes: vaddr + 4 + 4 x offset, in the same code
// object. A call returns to the next instruction.
// Source: AMD Instinct MI300 ISA reference guide, SOPP instructions.
func jumpOf(tt *trace.ThreadTrace, insts []isa.Inst, kn trace.Kernel, row int) jump {
	in := &insts[row]
	if in.Class == isa.EndPgm {
		return jump{-1, false}
	}
	call := in.Mnemonic == "s_swappc_b64" || in.Mnemonic == "s_call_b64" || in.Mnemonic == "s_swap_pc_i64" || in.Mnemonic == "s_call_i64"
	j := jump{-1, in.Conditional || call}
	if in.BranchOffset == nil || call {
		return j
	}
	target := tt.Code[row].Vaddr + 4 + 4*int64(*in.BranchOffset)
	n := kn.Last - kn.First
	at := kn.First + sort.Search(n, func(i int) bool { return tt.Code[kn.First+i].Vaddr >= target })
	if at < kn.Last && tt.Code[at].Vaddr == target && tt.Code[at].CodeObject == tt.Code[row].CodeObject {
		j.target = at
	}
	return j
}

// addLoops adds a kernel's loops, nested.
func (f *Flow) addLoops(kernel int, loops []Loop) {
	base := len(f.Loops)
	// Larger loops first: an outer loop always has more blocks.
	slices.SortFunc(loops, func(a, b Loop) int {
		return cmp.Or(cmp.Compare(len(b.Blocks), len(a.Blocks)), cmp.Compare(a.Head, b.Head))
	})
	order := make([]int, len(loops))
	for i := range order {
		order[i] = i
	}
	parent := make([]int, len(loops))
	inner := map[int]int{} // block to the innermost loop so far
	for i := range loops {
		parent[i] = -1
		if p, ok := inner[loops[i].Blocks[0]]; ok {
			parent[i] = p
		}
		for _, b := range loops[i].Blocks {
			inner[b] = i
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(f.Blocks[loops[a].Blocks[0]].First, f.Blocks[loops[b].Blocks[0]].First),
			cmp.Compare(len(loops[b].Blocks), len(loops[a].Blocks)), cmp.Compare(a, b))
	})
	place := make([]int, len(loops))
	for at, i := range order {
		place[i] = base + at
	}
	for _, i := range order {
		l := loops[i]
		l.Kernel, l.Parent, l.Depth = kernel, -1, 1
		if parent[i] >= 0 {
			l.Parent = place[parent[i]]
		}
		for p := parent[i]; p >= 0; p = parent[p] {
			l.Depth++
		}
		f.Loops = append(f.Loops, l)
	}
	for b, i := range inner {
		for row := f.Blocks[b].First; row < f.Blocks[b].Last; row++ {
			f.Innermost[row] = int32(place[i])
		}
	}
}

// Reaches returns, by block, whether a block of the set can be reached from
// it, itself included.
func (f *Flow) Reaches(set []int) []bool {
	return f.closure(set, func(b *Block) []int { return b.Pred })
}

// Reached returns, by block, whether it can be reached from a block of the
// set, itself included.
func (f *Flow) Reached(set []int) []bool {
	return f.closure(set, func(b *Block) []int { return b.Succ })
}

func (f *Flow) closure(set []int, next func(*Block) []int) []bool {
	out := make([]bool, len(f.Blocks))
	todo := slices.Clone(set)
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if out[b] {
			continue
		}
		out[b] = true
		todo = append(todo, next(&f.Blocks[b])...)
	}
	return out
}
