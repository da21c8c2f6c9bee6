package idioms

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
)

const (
	// The lengths of sequences that are looked at.
	minLength, maxLength = 2, 8
	// maxRows bounds the instructions that are searched.
	maxRows = 1 << 16
)

// Sequence is a run of instructions that the code repeats, whatever its
// registers are called.
type Sequence struct {
	Instructions []string `json:"mnemonics"`
	Cost
}

// roles writes an instruction with its registers named by their roles: the
// first register of the sequence is r0, wherever it stands again it is r0.
func roles(in *isa.Inst, names map[isa.Reg]int, b *strings.Builder) {
	b.WriteString(in.Mnemonic)
	for i, regs := range [][]isa.Reg{in.Writes, in.Reads} {
		b.WriteByte(" <"[i])
		for _, r := range regs {
			n, ok := names[r]
			if !ok {
				n = len(names)
				names[r] = n
			}
			fmt.Fprintf(b, "%s%d.%d ", r.File, n, r.Count)
		}
	}
	b.WriteByte('\n')
}

// sequences finds the costliest repeated sequences of executed instructions
// that belong to no pattern; no two share a row.
func (k *builder) sequences(taken map[int]bool, top, least int) []Sequence {
	if k.kernel.Last-k.kernel.First > maxRows {
		return nil
	}
	found := map[string][]int{} // first rows, ascending
	length := map[string]int{}
	k.blocks(func(b *flow.Block) {
		for row := b.First; row < b.Last; row++ {
			names, key := map[isa.Reg]int{}, strings.Builder{}
			for n := 1; n <= maxLength && row+n <= b.Last && !taken[row+n-1]; n++ {
				roles(&k.insts[row+n-1], names, &key)
				if n >= minLength {
					found[key.String()], length[key.String()] = append(found[key.String()], row), n
				}
			}
		}
	})
	for key, rows := range found {
		if len(rows) < least {
			delete(found, key)
		}
	}
	var out []Sequence
	used := map[int]bool{}
	for len(out) < top {
		best, cost := "", int64(0)
		for key, rows := range found {
			at := k.apart(rows, length[key], used)
			if len(at) < least {
				delete(found, key)
				continue
			}
			if c := k.cyclesOf(at, length[key]); c > cost || c == cost && best != "" && cmp.Less(key, best) {
				best, cost = key, c
			}
		}
		if best == "" {
			break
		}
		out = append(out, k.sequence(k.apart(found[best], length[best], used), length[best], used))
	}
	return out
}

// apart are the occurrences that overlap neither each other nor used rows.
func (k *builder) apart(rows []int, n int, used map[int]bool) []int {
	var out []int
	end := -1
	for _, row := range rows {
		free := row >= end
		for i := row; i < row+n && free; i++ {
			free = !used[i]
		}
		if free {
			out = append(out, row)
			end = row + n
		}
	}
	return out
}

func (k *builder) cyclesOf(at []int, n int) (sum int64) {
	for _, row := range at {
		for i := row; i < row+n; i++ {
			sum += k.cycles(i)
		}
	}
	return sum
}

func (k *builder) sequence(at []int, n int, used map[int]bool) Sequence {
	var places []place
	for _, row := range at {
		p := make(place, n)
		for i := range p {
			p[i] = row + i
			used[row+i] = true
		}
		places = append(places, p)
	}
	s := Sequence{Cost: k.cost(places, func(place, int) bool { return false })}
	for i := range n {
		s.Instructions = append(s.Instructions, k.insts[at[0]+i].Mnemonic)
	}
	return s
}

// sortedRows are the rows of a place in code order.
func (p place) sortedRows() []int {
	rows := slices.DeleteFunc(slices.Clone(p), func(r int) bool { return r < 0 })
	slices.Sort(rows)
	return rows
}
