package flow

import "slices"

// graph finds the loops of one kernel's blocks; base is the number of the
// first of them. An entry is a block without predecessors, and the first.
type graph struct {
	blocks []Block
	base   int

	marks []int // the loop that last took a block, +1
	left  int   // blocks that loops may still take

	rpo  []int // blocks in reverse post-order of a depth-first walk
	at   []int // position in rpo, -1 for blocks that no entry reaches
	idom []int // immediate dominator, root for entries
}

// root is the virtual block before all entries.
const root = -1

// order numbers the blocks in reverse post-order, without recursion.
func (g *graph) order() {
	n := len(g.blocks)
	seen := make([]bool, n)
	var post []int
	type frame struct{ block, next int }
	walk := func(start int) {
		if seen[start] {
			return
		}
		seen[start] = true
		stack := []frame{{start, 0}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if succ := g.blocks[top.block].Succ; top.next < len(succ) {
				to := succ[top.next] - g.base
				top.next++
				if !seen[to] {
					seen[to] = true
					stack = append(stack, frame{to, 0})
				}
				continue
			}
			post = append(post, top.block)
			stack = stack[:len(stack)-1]
		}
	}
	for b := n - 1; b > 0; b-- {
		if len(g.blocks[b].Pred) == 0 {
			walk(b)
		}
	}
	if n > 0 {
		walk(0)
	}
	slices.Reverse(post)
	g.rpo, g.at = post, make([]int, n)
	for b := range g.at {
		g.at[b] = -1
	}
	for i, b := range post {
		g.at[b] = i
	}
}

// dominate finds immediate dominators by iteration. Source: Cooper, Harvey and
// Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
func (g *graph) dominate() {
	const unset = -2
	g.idom = make([]int, len(g.blocks))
	for b := range g.idom {
		g.idom[b] = unset
	}
	for changed := true; changed; {
		changed = false
		for _, b := range g.rpo {
			idom := unset
			if b == 0 || len(g.blocks[b].Pred) == 0 {
				idom = root
			}
			for _, p := range g.blocks[b].Pred {
				p -= g.base
				switch {
				case g.at[p] < 0 || g.idom[p] == unset:
				case idom == unset:
					idom = p
				default:
					idom = g.common(idom, p)
				}
			}
			if g.idom[b] != idom {
				g.idom[b], changed = idom, true
			}
		}
	}
}

// common returns the nearest block that dominates both.
func (g *graph) common(a, b int) int {
	for a != b {
		if a == root || b == root {
			return root
		}
		if g.at[a] > g.at[b] {
			a = g.idom[a]
		} else {
			b = g.idom[b]
		}
	}
	return a
}

func (g *graph) dominates(a, b int) bool {
	for b != root && g.at[b] > g.at[a] {
		b = g.idom[b]
	}
	return a == b
}

// loops returns the natural loops; irregular counts edges back that close
// none.
func (g *graph) loops() (out []Loop, irregular int) {
	latches := map[int][]int{}
	var heads []int
	for _, b := range g.rpo {
		for _, s := range g.blocks[b].Succ {
			h := s - g.base
			switch {
			case g.at[h] > g.at[b]:
			case !g.dominates(h, b):
				irregular++
			default:
				if latches[h] == nil {
					heads = append(heads, h)
				}
				latches[h] = append(latches[h], b)
			}
		}
	}
	slices.Sort(heads)
	g.marks, g.left = make([]int, len(g.blocks)), maxMembers
	for i, h := range heads {
		l, ok := g.natural(i+1, h, latches[h])
		if !ok {
			return nil, irregular + len(heads)
		}
		out = append(out, l)
	}
	return out, irregular
}

// maxMembers bounds the blocks of all loops of a kernel together: code whose
// loops have more was not made by a compiler.
const maxMembers = 1 << 21

// natural gathers loop number n, of a head: all blocks that reach a latch
// without passing the head. ok is false when there are too many.
func (g *graph) natural(n, head int, latches []int) (l Loop, ok bool) {
	l.Head = g.blocks[head].First
	g.marks[head] = n
	l.Blocks = append(l.Blocks, head+g.base)
	todo := slices.Clone(latches)
	for len(todo) > 0 {
		b := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if g.marks[b] == n || g.at[b] < 0 {
			continue
		}
		if g.left--; g.left < 0 {
			return l, false
		}
		g.marks[b] = n
		l.Blocks = append(l.Blocks, b+g.base)
		for _, p := range g.blocks[b].Pred {
			todo = append(todo, p-g.base)
		}
	}
	slices.Sort(l.Blocks)
	for _, b := range latches {
		l.Latches = append(l.Latches, g.blocks[b].Last-1)
	}
	slices.Sort(l.Latches)
	return l, true
}
