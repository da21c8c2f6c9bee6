// Package code is the analyzer that says what each traced instruction is: its
// class, registers and waits, and which architecture it was written for.
package code

import (
	_ "embed"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// Analyzer gives a *Listing for every thread trace.
var Analyzer = analysis.NewPerTrace(analysis.Analyzer{
	Name:  "code",
	Doc:   doc,
	Needs: []analysis.Evidence{analysis.ThreadTraces},
}, run)

// Listing is the code of one thread trace, instruction by instruction.
type Listing struct {
	Arch Arch
	// Insts are parallel to ThreadTrace.Code.
	Insts []isa.Inst
	// Registers are parallel to ThreadTrace.Kernels.
	Registers []Registers
}

// Arch says which architecture a trace was taken on and how that is known.
type Arch = capture.Arch

// Registers counts the registers that a kernel's code names.
type Registers = capture.Registers

func run(p *analysis.Pass, tt *trace.ThreadTrace) (*Listing, error) {
	t := p.Capture.Trace(tt)
	l := &Listing{Arch: t.Arch, Insts: t.Insts}
	for k := range t.Kernels {
		l.Registers = append(l.Registers, t.Kernels[k].Registers)
	}
	return l, nil
}

// Coverage says how much of a kernel's code was executed.
type Coverage struct {
	// Executed and Total count instructions; label rows are none.
	Executed     int `json:"executed"`
	Total        int `json:"total"`
	MFMAStatic   int `json:"mfma_static"`
	MFMAExecuted int `json:"mfma_executed"`
	// WorkStatic and WorkExecuted count what a kernel is run for: stores,
	// atomics and matrix instructions.
	WorkStatic   int `json:"work_static"`
	WorkExecuted int `json:"work_executed"`
}

// DoesWork reports whether an instruction is one that a kernel is run for: it
// writes memory, spills left out, or multiplies matrices. A wave that executed
// none has left early.
func DoesWork(c isa.Class) bool {
	switch c {
	case isa.VMEMStore, isa.FlatStore, isa.VMEMFromLDS, isa.VMEMAtomic, isa.FlatAtomic, isa.TensorDMA, isa.Export, isa.MFMA:
		return true
	}
	return false
}

// ExecutedPct is the executed share of the instructions in percent; 0 for no
// instructions.
func (c Coverage) ExecutedPct() float64 {
	if c.Total == 0 {
		return 0
	}
	return 100 * float64(c.Executed) / float64(c.Total)
}

// Coverage counts kernel k of a thread trace; an instruction was executed when
// it has hits or samples.
func (l *Listing) Coverage(tt *trace.ThreadTrace, k int) Coverage {
	kn := tt.Kernels[k]
	c := Coverage{Total: kn.Last - kn.First}
	for i := kn.First; i < kn.Last; i++ {
		in := &tt.Code[i]
		ran := in.Hits > 0 || in.PC != nil && in.PC.Issued+in.PC.Stalled > 0
		matrix, work := l.Insts[i].Class == isa.MFMA, DoesWork(l.Insts[i].Class)
		if work {
			c.WorkStatic++
		}
		if work && ran {
			c.WorkExecuted++
		}
		if ran {
			c.Executed++
		}
		if matrix {
			c.MFMAStatic++
		}
		if matrix && ran {
			c.MFMAExecuted++
		}
	}
	return c
}

// LoopHead returns the first row of the loop that the branch at row closes:
// the target of a backward branch inside the kernel.
func (l *Listing) LoopHead(tt *trace.ThreadTrace, kn trace.Kernel, row int) (head int, ok bool) {
	offset := l.Insts[row].BranchOffset
	if offset == nil || *offset >= 0 {
		return 0, false
	}
	target := tt.Code[row].Vaddr + 4 + 4*int64(*offset)
	for head = row; head >= kn.First; head-- {
		if tt.Code[head].Vaddr == target && tt.Code[head].CodeObject == tt.Code[row].CodeObject {
			return head, true
		}
	}
	return 0, false
}
