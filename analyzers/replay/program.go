package replay

import (
	"strings"
	"sync/atomic"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// program is a thread trace's code, prepared for the replay of its waves.
type program struct {
	ops  []op
	pipe []Pipe
	// matrix is how many cycles an instruction keeps the matrix pipe, 0 for
	// others and where the cost is not known.
	matrix []int64
	flow   *flow.Flow
	headOf []int32 // loop that begins at a row, -1 for none
	// kernelOf and kernelLen say to which kernel a row belongs and how many
	// instructions that kernel has.
	kernelOf  []int
	kernelLen []int
	// index maps a LineNumber to its first row, or -1. Line numbers beyond
	// the dense part are in sparse.
	index  []int32
	sparse map[int]int32
	// comparesEdges is set where the decoder's wait edges follow the same
	// rules as the rebuilt ones; see decoderKnows.
	comparesEdges bool
	// work is set for stores, atomics and matrix instructions.
	work      []bool
	noWorkPct float64
	noWorkMax int
	// noCycles: nobody asks for what the split of stalls needs.
	noCycles bool

	listing *code.Listing
	keep    atomic.Int64 // records that may still be kept
}

func newProgram(tt *trace.ThreadTrace, m *capture.Machine, l *code.Listing, fl *flow.Flow) *program {
	p := &program{
		work: make([]bool, len(tt.Code)),
		ops:  make([]op, len(tt.Code)), pipe: make([]Pipe, len(tt.Code)), matrix: make([]int64, len(tt.Code)),
		flow: fl, headOf: make([]int32, len(tt.Code)),
		kernelOf: make([]int, len(tt.Code)), kernelLen: make([]int, len(tt.Kernels)),
		comparesEdges: m.IsGFX9(), listing: l,
	}
	p.keep.Store(maxKept)
	for i := range l.Insts {
		p.ops[i] = newOp(&l.Insts[i], fl.Polling(i))
		p.comparesEdges = p.comparesEdges && decoderKnows(&l.Insts[i])
		p.work[i] = code.DoesWork(l.Insts[i].Class)
		p.pipe[i] = pipeOf(l.Insts[i].Class)
		if m := l.Insts[i].Matrix; m != nil {
			p.matrix[i] = int64(m.Cycles)
		}
		p.headOf[i] = -1
	}
	for i := range fl.Loops {
		p.headOf[fl.Loops[i].Head] = int32(i)
	}
	for k, kn := range tt.Kernels {
		p.kernelLen[k] = kn.Last - kn.First
		for i := kn.First; i < kn.Last; i++ {
			p.kernelOf[i] = k
		}
	}
	p.indexLines(tt)
	return p
}

// decoderKnows is false for instructions that count on vmcnt or lgkmcnt and
// that the decoder's own wait analysis treats differently: it does not track
// s_buffer_load and clocks, joins flat operations to either wait, and takes
// every buffer_* for a memory access.
// Source: rocprofiler-sdk att-tool, waitcnt/gfx9.cpp, classify.
func decoderKnows(in *isa.Inst) bool {
	switch in.Class {
	case isa.SMEM:
		return strings.HasPrefix(in.Mnemonic, "s_load") || strings.HasPrefix(in.Mnemonic, "s_store")
	case isa.FlatLoad, isa.FlatStore, isa.FlatAtomic, isa.CacheControl:
		return false
	}
	return true
}

// indexLines fills index; a trace numbers its lines almost without gaps, so a
// slice serves, and what lies far out goes to a map.
func (p *program) indexLines(tt *trace.ThreadTrace) {
	dense := 2*len(tt.Code) + 1024
	p.index = make([]int32, dense)
	for i := range p.index {
		p.index[i] = -1
	}
	p.sparse = map[int]int32{}
	for row := range tt.Code {
		line := tt.Code[row].Line
		switch {
		case line < 0:
		case line < dense:
			if p.index[line] < 0 {
				p.index[line] = int32(row)
			}
		default:
			if _, ok := p.sparse[line]; !ok {
				p.sparse[line] = int32(row)
			}
		}
	}
}

// executed returns the row of a record, or -1 when the decoder could not match
// it or the code does not have it.
func (p *program) executed(r *trace.Record) int {
	if r.Line == 0 && p.index[0] < 0 {
		return -1
	}
	return p.row(r.Line)
}

// row returns the row of a LineNumber, or -1.
func (p *program) row(line int) int {
	if line >= 0 && line < len(p.index) {
		return int(p.index[line])
	}
	if row, ok := p.sparse[line]; ok {
		return int(row)
	}
	return -1
}

// lookBack estimates what each executed wait waits for from the code alone:
// the instructions that were executed, in code order, as if straight through;
// a loop's body is walked a second time from its end, so that its waits see
// the loads of the iteration before. The cycles of a site are code.json's.
func (p *program) lookBack(tt *trace.ThreadTrace) []*Site {
	sites := make([]*Site, len(tt.Code))
	var pend pending
	for k := range tt.Kernels {
		pend.reset()
		kn := tt.Kernels[k]
		for row := kn.First; row < kn.Last; row++ {
			p.step(tt, &pend, sites, row)
			if head, ok := p.listing.LoopHead(tt, kn, row); ok && tt.Code[row].Hits > 0 {
				for again := head; again <= row; again++ {
					p.step(tt, &pend, sites, again)
				}
			}
		}
	}
	return sites
}

// waitIssueCycles is what a wait costs that has nothing to wait for.
// Source: rocprof-trace-decoder gfx9wave.cpp, an immediate instruction takes
// 4 cycles, booked as stall.
const waitIssueCycles = 4

// step takes one executed instruction into the look-back.
func (p *program) step(tt *trace.ThreadTrace, pend *pending, sites []*Site, row int) {
	in := &tt.Code[row]
	if in.Hits == 0 {
		return
	}
	o := &p.ops[row]
	switch o.role {
	case memory:
		pend.issue(o, producer{row: int32(row), class: o.class})
	case wait:
		s := newSite()
		key := pend.retire(o, func(_ int, pr producer, _ bool) { s.produced(pr) })
		if key == (combo{}) && in.StallCycles > waitIssueCycles*in.Hits {
			key = guess(o)
		}
		s.combine(key, in.Hits, in.StallCycles)
		out := s.export(nil)
		out.Estimated = true
		if sites[row] == nil || len(s.producers) > 0 {
			sites[row] = out
		}
	}
}
