package replay

import "github.com/rocanalyze/rocanalyze/pkg/isa"

// WaitClass says what kind of instruction a wait waited for.
type WaitClass uint8

// The kinds of producers. Nothing means that the wait found all its counters
// already low enough.
const (
	Nothing WaitClass = iota
	VMEM
	VMEMToLDS
	Store
	LDS
	CrossLane
	SMEM
	Message
	Export
	// Fence: write-back or invalidation of caches.
	Fence
	// Atomic: an atomic that returns the old value.
	Atomic
	// Poll: what a polling loop reads.
	Poll
	// LDSOrSMEM is what an estimate cannot tell apart on lgkmcnt.
	LDSOrSMEM
	numWaitClasses
)

// byCounter is what a wait on a counter most likely waits for, where the
// look-back through the code finds nothing outstanding.
var byCounter = map[isa.Counter]WaitClass{
	isa.Vmcnt: VMEM, isa.Loadcnt: VMEM, isa.Samplecnt: VMEM, isa.Bvhcnt: VMEM, isa.Xcnt: VMEM,
	isa.Vscnt: Store, isa.Storecnt: Store, isa.Lgkmcnt: LDSOrSMEM, isa.Dscnt: LDS, isa.Kmcnt: SMEM,
	isa.Expcnt: Export, isa.Asynccnt: VMEMToLDS, isa.Tensorcnt: VMEMToLDS,
}

// guess is the combination of a wait whose producers are not in sight.
func guess(o *op) combo {
	var c combo
	for i, w := range o.waits {
		if class, ok := byCounter[w.Counter]; ok {
			c[min(i, maxWaitCounters-1)] |= 1 << class
		}
	}
	return c
}

// producerClass maps an instruction's class to what a wait for it is called.
// A class that is not listed does not count on any counter; atomics are those
// without return, which complete like stores.
var producerClass = map[isa.Class]WaitClass{
	isa.VMEMLoad: VMEM, isa.FlatLoad: VMEM, isa.ScratchLoad: VMEM, isa.VMEMAtomic: Store, isa.FlatAtomic: Store,
	isa.VMEMToLDS: VMEMToLDS, isa.TensorDMA: VMEMToLDS,
	isa.VMEMStore: Store, isa.FlatStore: Store, isa.ScratchStore: Store, isa.VMEMFromLDS: Store, isa.CacheControl: Fence,
	isa.LDSRead: LDS, isa.LDSWrite: LDS, isa.LDSAtomic: LDS, isa.LDSTranspose: LDS,
	isa.CrossLane: CrossLane, isa.SMEM: SMEM, isa.Message: Message, isa.Export: Export,
}

// role is what an instruction means to the replay of a wave.
type role uint8

const (
	plain role = iota
	memory
	wait
	barrier
	endpgm
	matrix
)

// op is one instruction, reduced to what the replay of a wave looks at.
type op struct {
	role   role
	class  WaitClass
	counts []isa.Counter
	waits  []isa.Wait
	// unordered operations may return before older ones of their counter.
	unordered bool
}

func newOp(in *isa.Inst, polls bool) op {
	o := op{counts: in.Counts, waits: in.Waits, class: waitedFor(in, polls), unordered: returnsInAnyOrder(in.Class)}
	switch {
	case in.Class == isa.EndPgm:
		o.role = endpgm
	case in.Class == isa.Barrier || in.Class == isa.BarrierWait:
		o.role = barrier
	case len(in.Waits) > 0:
		o.role = wait
	case len(in.Counts) > 0 && o.class != Nothing:
		o.role = memory
	case in.Class == isa.MFMA:
		o.role = matrix
	}
	return o
}

// waitedFor is what a wait for an instruction is called; polls says that it
// stands in a polling loop.
func waitedFor(in *isa.Inst, polls bool) WaitClass {
	class := producerClass[in.Class]
	switch {
	case class != Nothing && polls:
		return Poll
	case (in.Class == isa.VMEMAtomic || in.Class == isa.FlatAtomic) && in.Returns:
		return Atomic
	}
	return class
}

// returnsInAnyOrder: scalar loads return out of order, and flat operations go
// two ways. Source: LLVM AMDGPUUsage, memory model (lgkmcnt "out of order for
// SMEM"); rocprofiler-sdk att-tool waitcnt/gfx9.cpp takes the same two.
func returnsInAnyOrder(c isa.Class) bool {
	return c == isa.SMEM || c == isa.FlatLoad || c == isa.FlatStore || c == isa.FlatAtomic
}

// producer is an issued operation that has not been waited for.
type producer struct {
	row   int32
	class WaitClass
	// mfmas counts the matrix instructions of the wave before it.
	mfmas  int32
	issued int64 // cycles
}

// numCounters is the number of wait counters; Tensorcnt is the last.
const numCounters = int(isa.Tensorcnt) + 1

// pending is the queue of outstanding operations of one wave per counter, in
// the order of their issue. A counter returns in order unless an operation
// that does not is among the outstanding ones.
type pending struct {
	queues    [numCounters][]producer
	unordered [numCounters]bool
}

func (p *pending) reset() {
	for i := range p.queues {
		p.queues[i] = p.queues[i][:0]
	}
	p.unordered = [numCounters]bool{}
}

func (p *pending) issue(o *op, pr producer) {
	for _, c := range o.counts {
		p.queues[c] = append(p.queues[c], pr)
		p.unordered[c] = p.unordered[c] || o.unordered
	}
}

// maxWaitCounters bounds the counters of one wait that are told apart; the
// widest wait (s_wait_idle of gfx12) names fewer.
const maxWaitCounters = 10

// combo says, for each counter that a wait names, in the order of the
// instruction, which classes of operations it had to wait for, as a bit set.
type combo [maxWaitCounters]uint16

// retire takes from the queues what the wait has to wait for. It calls visit
// for each of them, counter by counter, and returns the combination. A wait
// for some of several operations that return in any order could be for each of
// them: all are visited as not sure, and stay outstanding.
func (p *pending) retire(o *op, visit func(w int, pr producer, sure bool)) combo {
	var c combo
	for i, w := range o.waits {
		q := p.queues[w.Counter]
		n := len(q) - w.Count
		if n <= 0 {
			continue
		}
		sure := w.Count == 0 || !p.unordered[w.Counter]
		if !sure {
			n = len(q)
		}
		slot := min(i, maxWaitCounters-1)
		for _, pr := range q[:n] {
			c[slot] |= 1 << pr.class
			visit(i, pr, sure)
		}
		if sure {
			p.queues[w.Counter] = q[:copy(q, q[n:])]
			p.unordered[w.Counter] = p.unordered[w.Counter] && w.Count > 0
		}
	}
	return c
}

// share splits a wait's cycles: equally over the counters that something was
// outstanding on, and on each counter equally over the classes outstanding
// there. It calls visit with fractions that sum to 1.
func (c combo) share(visit func(WaitClass, float64)) {
	counters := 0
	for _, set := range c {
		if set != 0 {
			counters++
		}
	}
	if counters == 0 {
		visit(Nothing, 1)
		return
	}
	for _, set := range c {
		n := onesCount(set)
		for class := Nothing; class < numWaitClasses; class++ {
			if set&(1<<class) != 0 {
				visit(class, 1/float64(counters*n))
			}
		}
	}
}

func onesCount(set uint16) int {
	n := 0
	for ; set != 0; set &= set - 1 {
		n++
	}
	return n
}
