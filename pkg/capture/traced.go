package capture

import (
	"fmt"
	"path"

	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Trace is what was resolved of one thread trace.
type Trace struct {
	*Machine
	// Insts are the instructions, read by the rules of the target; parallel to
	// ThreadTrace.Code.
	Insts []isa.Inst
	// Kernels are parallel to ThreadTrace.Kernels.
	Kernels []Traced
}

// Traced is one kernel of a thread trace.
type Traced struct {
	Names     Names
	Registers Registers
	// Companion is the kernel-trace row that is taken for the kernel; nil when
	// there is none.
	Companion *Companion
	// Doubt is a row that claims to be the kernel's; why says what does not
	// fit. It may be the Companion, for its shape alone.
	Doubt *trace.Launch
	Why   string
}

// Registers counts the registers that a kernel's code names: the highest
// index + 1 of each file. They are what the code uses, not what is allocated.
type Registers struct {
	VGPRs int `json:"vgprs"`
	AGPRs int `json:"agprs"`
	SGPRs int `json:"sgprs"`
}

// Companion is the kernel-trace row that is taken for a traced kernel.
type Companion struct {
	Launch *trace.Launch
	// SameDispatch is set when the row has the trace's dispatch id; otherwise
	// it is another dispatch of the same kernel, good for its shape only.
	SameDispatch bool

	// agent is what all rows call the agent that can be meant, "" when they
	// differ.
	agent string
}

// WavesInDispatch is the number of waves that the launch has with the given
// wave size; ok is false when the shape is not known.
func (c *Companion) WavesInDispatch(waveSize int64) (n int64, ok bool) {
	size, ok1 := c.Launch.WorkgroupSize()
	groups, ok2 := c.Launch.Workgroups()
	if !ok1 || !ok2 || waveSize <= 0 {
		return 0, false
	}
	perGroup := (size-1)/waveSize + 1
	if groups > 1<<62/perGroup {
		return 0, false
	}
	return groups * perGroup, true
}

// resolve finds the rows of a trace's kernels, and by them the GPU.
func (c *Capture) resolve(tt *trace.ThreadTrace) (*Trace, error) {
	q := query{what: tt.Path, agents: tabled(tt.Agents), code: codeOf(tt)}
	// The registers that the code names do not depend on the target, so that
	// any will do for the rows that decide it; this one is nearly always right.
	guess := c.guess(&q)
	out := &Trace{Insts: parse(tt, guess), Kernels: make([]Traced, len(tt.Kernels))}
	rows := rowsOf(tt)
	for k, kn := range tt.Kernels {
		out.Kernels[k] = rows.traced(kn, out.Insts[kn.First:kn.Last])
	}
	if id, file := out.agentID(); id != "" {
		if a := agentByID(q.agents, id, file.File); a != nil {
			q.agents = []trace.CounterAgent{*a}
			q.agent = Fact{Fact: FactAgent, Value: id, Source: fmt.Sprintf("%s, row %d", path.Base(file.File), file.Row)}
		}
	}
	var err error
	if out.Machine, err = c.machine(q, c.flag); err != nil {
		return nil, err
	}
	if target := out.Arch.ParseTarget(); target != guess {
		out.Insts = parse(tt, target)
	}
	return out, nil
}

// guess is the target as it is without the row of the kernel.
func (c *Capture) guess(q *query) isa.Target {
	if t, _ := commonTarget(q.possible()); t != "" {
		return t
	}
	return Arch{Target: c.flag.arch, Candidates: q.code.candidates}.ParseTarget()
}

func parse(tt *trace.ThreadTrace, target isa.Target) []isa.Inst {
	out := make([]isa.Inst, len(tt.Code))
	for i := range tt.Code {
		out[i] = isa.Parse(tt.Code[i].Text, target)
	}
	return out
}

// agentID is the agent that the rows of the kernels name: that of the traced
// dispatch, else that of another dispatch of a kernel.
func (t *Trace) agentID() (id string, row trace.Origin) {
	for k := range t.Kernels {
		c := t.Kernels[k].Companion
		if c != nil && (id == "" || c.SameDispatch) {
			id, row = c.agent, c.Launch.Origin
			if c.SameDispatch {
				return id, row
			}
		}
	}
	return id, row
}

// rows are those of a kernel trace beside a thread trace.
type rows struct {
	id    *int64 // of the thread trace, nil when unknown
	named Index[*trace.Launch]
	// byID have that id.
	byID  []*trace.Launch
	names map[string]Names
}

func rowsOf(tt *trace.ThreadTrace) *rows {
	r := &rows{id: tt.DispatchID, names: map[string]Names{}}
	for i := range tt.Launches {
		l := &tt.Launches[i]
		n, ok := r.names[l.Kernel]
		if !ok {
			n = NamesOf("", l.Kernel)
			r.names[l.Kernel] = n
		}
		r.named.Add(n, l)
		if r.hasID(l) {
			r.byID = append(r.byID, l)
		}
	}
	return r
}

func (r *rows) hasID(l *trace.Launch) bool {
	return r.id != nil && l.DispatchID != nil && *l.DispatchID == *r.id
}

// traced picks the row of a kernel: dispatch id, kernel name and registers must
// agree with the trace. A row of another dispatch of the same kernel serves
// when all such rows have one shape and agent, and is doubted; any other is not
// used.
func (r *rows) traced(kn trace.Kernel, insts []isa.Inst) Traced {
	out := Traced{Names: TracedNames(kn), Registers: countRegisters(insts)}
	if kn.Symbol == "" {
		return out
	}
	var same, other, wrongID *trace.Launch
	shapes, agent := map[string]bool{}, ""
	for _, l := range r.byID {
		if r.names[l.Kernel].Same(out.Names) {
			same = l
		} else {
			wrongID = l
		}
	}
	for _, l := range r.named.Find(out.Names) {
		if r.hasID(l) {
			continue
		}
		shapes[fmt.Sprint(l.Workgroup, l.Grid)] = true
		if other == nil {
			other, agent = l, l.AgentID
		}
		if l.AgentID != agent {
			agent = ""
		}
	}
	switch {
	case same != nil:
		if why := out.Registers.tooMany(same); why != "" {
			out.Doubt, out.Why = same, why+"; the row is not used"
			return out
		}
		out.Companion = &Companion{Launch: same, SameDispatch: true, agent: same.AgentID}
	case other != nil && len(shapes) == 1 && out.Registers.tooMany(other) == "":
		out.Companion = &Companion{Launch: other, agent: agent}
		out.Doubt = other
		out.Why = fmt.Sprintf("it is dispatch %s of the same kernel, not the traced one; its shape is used, its times are not", dispatchText(other))
	case wrongID != nil:
		out.Doubt = wrongID
		out.Why = fmt.Sprintf("dispatch %s is %q there, the trace is of %q; the row is not used", dispatchText(wrongID), wrongID.Kernel, out.Names.Shown())
	}
	return out
}

func dispatchText(l *trace.Launch) string {
	if l.DispatchID == nil {
		return "?"
	}
	return fmt.Sprint(*l.DispatchID)
}

// tooMany says why a row cannot be of this code: even read in the most
// generous way (gfx950 profilers before mid-2026 and gfx1250 ones report half
// of the allocation), it has fewer vector registers than the code names.
func (r Registers) tooMany(l *trace.Launch) string {
	if l.VGPRs == nil {
		return ""
	}
	has := *l.VGPRs
	if l.AccumVGPRs != nil {
		has += *l.AccumVGPRs
	}
	if needs := int64(r.VGPRs + r.AGPRs); 2*has < needs {
		return fmt.Sprintf("it has %d vector registers, the code names %d", has, needs)
	}
	return ""
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
