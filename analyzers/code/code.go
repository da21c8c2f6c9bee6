// Package code is the analyzer that says what each traced instruction is: its
// class, registers and waits, and which architecture it was written for.
package code

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
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
type Arch struct {
	// Target is an architecture such as "gfx950"; empty when it is not known
	// which of several it is.
	Target isa.Target `json:"target,omitempty"`
	// Candidates are what the instructions allow when Target is empty.
	Candidates []isa.Target `json:"candidates,omitempty"`
	// Source is "--device", a companion file, or "instructions".
	Source string `json:"source"`
	// Evidence are the reasons, for example the deciding mnemonics.
	Evidence []string `json:"evidence,omitempty"`
	// Conflict is set when the instructions do not exist on Target.
	Conflict string `json:"conflict,omitempty"`
}

// String names the target or its candidates; many candidates are named by
// their generations.
func (a Arch) String() string {
	if a.Target != "" {
		return string(a.Target)
	}
	var names []string
	for _, c := range a.Candidates {
		name := string(c)
		if len(a.Candidates) > maxNamed {
			name = fmt.Sprintf("gfx%d", c.Generation())
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch n := len(names); n {
	case 0:
		return "unknown architecture"
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
}

// maxNamed is how many candidate architectures are named one by one.
const maxNamed = 3

// ParseTarget is the target whose rules the code is read by: Target, else the
// first candidate, else "".
func (a Arch) ParseTarget() isa.Target {
	if a.Target == "" && len(a.Candidates) > 0 {
		return a.Candidates[0]
	}
	return a.Target
}

// Registers counts the registers that a kernel's code names: the highest
// index + 1 of each file. They are what the code uses, not what is allocated.
type Registers struct {
	VGPRs int `json:"vgprs"`
	AGPRs int `json:"agprs"`
	SGPRs int `json:"sgprs"`
}

func run(p *analysis.Pass, tt *trace.ThreadTrace) (*Listing, error) {
	arch, err := findArch(p.Device, tt)
	if err != nil {
		return nil, err
	}
	return list(tt, arch), nil
}

func list(tt *trace.ThreadTrace, arch Arch) *Listing {
	l := &Listing{Arch: arch, Insts: make([]isa.Inst, len(tt.Code))}
	target := arch.ParseTarget()
	for i := range tt.Code {
		l.Insts[i] = isa.Parse(tt.Code[i].Text, target)
	}
	for _, k := range tt.Kernels {
		l.Registers = append(l.Registers, countRegisters(l.Insts[k.First:k.Last]))
	}
	return l
}

func countRegisters(insts []isa.Inst) Registers {
	var r Registers
	for i := range insts {
		for _, regs := range [2][]isa.Reg{insts[i].Reads, insts[i].Writes} {
			for _, reg := range regs {
				switch reg.File {
				case isa.VGPR:
					r.VGPRs = max(r.VGPRs, reg.First+reg.Count)
				case isa.AGPR:
					r.AGPRs = max(r.AGPRs, reg.First+reg.Count)
				case isa.SGPR:
					r.SGPRs = max(r.SGPRs, reg.First+reg.Count)
				}
			}
		}
	}
	return r
}

// findArch takes the user's word first, then a companion agent table, then
// what the instructions allow.
func findArch(device string, tt *trace.ThreadTrace) (Arch, error) {
	candidates, evidence := isa.InferTarget(texts(tt))
	candidates = ofGeneration(candidates, tt.GfxMajor)
	if device != "" {
		target, err := targetOf(device)
		if err != nil {
			return Arch{}, err
		}
		return checked(Arch{Target: target, Source: "--device"}, candidates, evidence), nil
	}
	if gfx, from := agentTarget(tt); gfx != "" {
		return checked(Arch{Target: isa.Target(gfx), Source: from}, candidates, evidence), nil
	}
	a := Arch{Candidates: candidates, Source: "instructions", Evidence: evidence}
	if len(candidates) == 1 {
		a.Target, a.Candidates = candidates[0], nil
	}
	return a, nil
}

// targetOf resolves what the user named: an architecture, or a device whose
// architecture is then meant.
func targetOf(device string) (isa.Target, error) {
	if a, err := gpu.ArchByName(device); err == nil {
		return isa.Target(a.Name), nil
	}
	m, err := gpu.FindDevices(device)
	if err != nil {
		return "", fmt.Errorf("--device: %w", err)
	}
	for _, d := range m.Devices {
		if d.Arch != m.Devices[0].Arch {
			return "", fmt.Errorf("--device %s names %s (%s) and %s (%s): name one of them", device, m.Devices[0].Name, m.Devices[0].Arch, d.Name, d.Arch)
		}
	}
	return isa.Target(m.Devices[0].Arch), nil
}

// checked notes when the instructions do not exist on the named target.
func checked(a Arch, candidates []isa.Target, evidence []string) Arch {
	known := a.Target.Representative()
	if known != "" && len(candidates) > 0 && !slices.Contains(candidates, known) {
		a.Conflict = fmt.Sprintf("%s says %s, the instructions exist on %s only (%s)",
			a.Source, a.Target, Arch{Candidates: candidates}, strings.Join(evidence, "; "))
	}
	return a
}

// agentTarget returns the architecture of the companion agent tables when all
// of their GPUs have the same.
func agentTarget(tt *trace.ThreadTrace) (gfx, from string) {
	for _, a := range tt.Agents {
		switch {
		case a.Gfx == "":
		case gfx == "":
			gfx, from = a.Gfx, a.Origin.File
		case gfx != a.Gfx:
			return "", ""
		}
	}
	return gfx, from
}

func ofGeneration(in []isa.Target, major int) []isa.Target {
	if major == 0 {
		return in
	}
	var out []isa.Target
	for _, t := range in {
		if t.Generation() == major {
			out = append(out, t)
		}
	}
	return out
}

func texts(tt *trace.ThreadTrace) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := range tt.Code {
			if !yield(tt.Code[i].Text) {
				return
			}
		}
	}
}

// Coverage says how much of a kernel's code was executed.
type Coverage struct {
	// Executed and Total count instructions; label rows are none.
	Executed     int `json:"executed"`
	Total        int `json:"total"`
	MFMAStatic   int `json:"mfma_static"`
	MFMAExecuted int `json:"mfma_executed"`
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
		matrix := l.Insts[i].Class == isa.MFMA
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
