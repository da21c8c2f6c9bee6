package loops

import (
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
)

// Need says which of the loads that a wait waits for are used behind it.
type Need int

// What the first consumer behind a wait reads.
const (
	// NeedUnknown: no consumer is in sight, or it reads LDS and nothing tells
	// which buffer.
	NeedUnknown Need = iota
	// NeedsYoungest: the load issued last. All are needed.
	NeedsYoungest
	// NeedsBatch: an older load of those issued together with the youngest:
	// the wait could be staged.
	NeedsBatch
	// NeedsOlder: a load, or an LDS buffer, of before. The youngest loads are
	// for later: they are prefetched, and need not be there yet.
	NeedsOlder
)

// Need says what a wait on loads inside a loop is for.
func (k *Kernel) Need(row int) Need { return k.needs[row] }

// needs judges the waits on loads inside loops.
func (b *builder) needs() map[int]Need {
	out := map[int]Need{}
	for row := b.kernel.First; row < b.kernel.Last; row++ {
		if l := int(b.flow.Innermost[row]); l >= 0 && slices.ContainsFunc(b.insts[row].Waits, isMemoryCounter) {
			if n := b.need(l, row); n != NeedUnknown {
				out[row] = n
			}
		}
	}
	return out
}

// around lists the rows of a loop in code order, from the one behind a row once
// around to the row.
func (b *builder) around(l, row int) []int {
	rows := b.rowsOf(b.flow.Loops[l].Blocks)
	at := slices.Index(rows, row)
	return slices.Concat(rows[at+1:], rows[:at+1])
}

func (b *builder) need(l, row int) Need {
	site := b.replay.Site(row, b.stalls.AllWaves)
	if site == nil {
		return NeedUnknown
	}
	order := b.around(l, row)
	var loads, copies []int // of the loop, the youngest last
	for _, at := range order {
		switch i := slices.IndexFunc(site.Producers, func(p replay.ProducerCount) bool { return p.Row == at }); {
		case i < 0:
		case site.Producers[i].Class == replay.VMEM:
			loads = append(loads, at)
		case site.Producers[i].Class == replay.VMEMToLDS:
			copies = append(copies, at)
		}
	}
	switch {
	case len(copies) > 0 && (len(loads) == 0 || slices.Index(order, copies[len(copies)-1]) > slices.Index(order, loads[len(loads)-1])):
		return b.needOfCopies(order)
	case len(loads) > 0:
		return b.needOfLoads(order, loads, site.Producers)
	}
	return NeedUnknown
}

// needOfLoads looks for the first instruction behind the wait that reads what a
// load wrote.
func (b *builder) needOfLoads(order, loads []int, all []replay.ProducerCount) Need {
	youngest := loads[len(loads)-1]
	for _, at := range order {
		in := &b.insts[at]
		if readsFrom(in, &b.insts[youngest]) {
			return NeedsYoungest
		}
		for _, p := range all {
			if p.Class != replay.VMEM || p.Row == youngest || !readsFrom(in, &b.insts[p.Row]) {
				continue
			}
			if b.oneBatch(order, p.Row, youngest) {
				return NeedsBatch
			}
			return NeedsOlder
		}
	}
	return NeedUnknown
}

func readsFrom(in, load *isa.Inst) bool {
	return slices.ContainsFunc(in.Reads, func(r isa.Reg) bool {
		return slices.ContainsFunc(load.Writes, func(w isa.Reg) bool { return overlap(r, w) })
	})
}

// oneBatch reports whether neither matrix work nor a wait for loads stands
// between two loads of a loop.
func (b *builder) oneBatch(order []int, older, youngest int) bool {
	from, to := slices.Index(order, older), slices.Index(order, youngest)
	if from < 0 || from > to {
		return false
	}
	return !slices.ContainsFunc(order[from:to], func(at int) bool {
		return b.insts[at].Class == isa.MFMA || slices.ContainsFunc(b.insts[at].Waits, isMemoryCounter)
	})
}

// needOfCopies judges a wait for copies to LDS by the barrier: what other waves
// of the workgroup copied is there behind a barrier that follows their waits.
// LDS that is read right behind the wait, before the loop's barrier, is of a
// buffer that was complete before; behind the barrier it can be any.
func (b *builder) needOfCopies(order []int) Need {
	synced := slices.ContainsFunc(order, func(at int) bool { return isBarrier(b.insts[at].Class) })
	for _, at := range order {
		in := &b.insts[at]
		switch {
		case isBarrier(in.Class) || slices.ContainsFunc(in.Waits, isMemoryCounter):
			return NeedUnknown
		case synced && (in.Class == isa.LDSRead || in.Class == isa.LDSTranspose):
			return NeedsOlder
		}
	}
	return NeedUnknown
}

func isBarrier(c isa.Class) bool { return c == isa.Barrier || c == isa.BarrierWait }
