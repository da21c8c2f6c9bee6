package idioms

import (
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
)

// maxReach bounds how far apart two steps may stand: farther ones were not
// written together.
const maxReach = 256

// matcher finds patterns in basic blocks.
type matcher struct {
	insts []isa.Inst
	// taken are the rows that belong to a pattern.
	taken map[int]bool
}

// place is where a pattern was found: the rows of its steps, -1 for those that
// are not there.
type place []int

// in finds the places of a pattern in a block, none of which share a row.
func (m *matcher) in(b *flow.Block, p *Pattern) []place {
	var out []place
	for row := b.First; row < b.Last; row++ {
		if m.taken[row] || !p.Steps[0].takes(&m.insts[row]) {
			continue
		}
		if at := m.at(b, p, row); at != nil {
			out = append(out, at)
			for step, r := range at {
				if !p.Steps[step].Shared {
					m.taken[r] = true
				}
			}
		}
	}
	delete(m.taken, -1)
	return out
}

// at matches the steps behind the anchor one after the other: each takes the
// nearest instruction that all its relations allow.
func (m *matcher) at(b *flow.Block, p *Pattern, anchor int) place {
	out := place{anchor}
	for i := range p.Steps[1:] {
		s := &p.Steps[i+1]
		row := -1
		for _, c := range m.candidates(b, p, s, out) {
			if (s.Shared || !m.taken[c]) && !slices.Contains(out, c) && s.takes(&m.insts[c]) {
				row = c
				break
			}
		}
		if row < 0 && !s.Optional {
			return nil
		}
		out = append(out, row)
	}
	return out
}

// candidates lists the rows that stand in all relations of a step, the nearest
// first.
func (m *matcher) candidates(b *flow.Block, p *Pattern, s *Step, found place) []int {
	var lists [][]int
	row := func(name string) int {
		i := slices.IndexFunc(p.Steps, func(o Step) bool { return o.Name == name })
		if i < 0 || i >= len(found) {
			return -1
		}
		return found[i]
	}
	add := func(name string, list func(*flow.Block, int) []int) {
		if name == "" {
			return
		}
		if at := row(name); at >= 0 {
			lists = append(lists, list(b, at))
		} else {
			lists = append(lists, nil)
		}
	}
	add(s.Makes, m.makers)
	add(s.Uses, m.users)
	add(s.Before, func(b *flow.Block, at int) []int { return within(b, at-1) })
	add(s.After, func(b *flow.Block, at int) []int { return within(b, at+1) })
	out := lists[0]
	for _, l := range lists[1:] {
		out = slices.DeleteFunc(slices.Clone(out), func(r int) bool { return !slices.Contains(l, r) })
	}
	return out
}

func within(b *flow.Block, row int) []int {
	if row < b.First || row >= b.Last {
		return nil
	}
	return []int{row}
}

// makers are the rows of the block that wrote what a row reads.
func (m *matcher) makers(b *flow.Block, at int) []int {
	left := slices.Clone(m.insts[at].Reads)
	var out []int
	for row := at - 1; row >= max(b.First, at-maxReach) && len(left) > 0; row-- {
		n := len(left)
		left = slices.DeleteFunc(left, func(r isa.Reg) bool { return writes(&m.insts[row], r) })
		if len(left) < n {
			out = append(out, row)
		}
	}
	return out
}

// users are the rows of the block that read what a row writes, before it is
// written again.
func (m *matcher) users(b *flow.Block, at int) []int {
	left := slices.Clone(m.insts[at].Writes)
	var out []int
	for row := at + 1; row < min(b.Last, at+maxReach) && len(left) > 0; row++ {
		in := &m.insts[row]
		if slices.ContainsFunc(left, func(w isa.Reg) bool {
			return slices.ContainsFunc(in.Reads, func(r isa.Reg) bool { return overlap(r, w) })
		}) {
			out = append(out, row)
		}
		left = slices.DeleteFunc(left, func(r isa.Reg) bool { return writes(in, r) })
	}
	return out
}

func writes(in *isa.Inst, r isa.Reg) bool {
	return slices.ContainsFunc(in.Writes, func(w isa.Reg) bool { return overlap(w, r) })
}

func overlap(x, y isa.Reg) bool {
	return x.File == y.File && x.First < y.First+y.Count && y.First < x.First+x.Count
}

// takes reports whether an instruction can be the step. A mnemonic with a
// space is compared with the text.
func (s *Step) takes(in *isa.Inst) bool {
	return slices.Contains(s.Classes, in.Class) || slices.ContainsFunc(s.Mnemonics, func(p string) bool {
		return strings.HasPrefix(in.Mnemonic, p) || strings.Contains(p, " ") && strings.HasPrefix(in.Text, p)
	})
}

// leaves reports whether the remedy leaves the instruction of a step.
func (s *Step) leaves(in *isa.Inst) bool {
	return s.Keeps || slices.ContainsFunc(s.KeepsAlso, func(p string) bool { return strings.HasPrefix(in.Mnemonic, p) })
}
