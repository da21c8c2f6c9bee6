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
	// Ran is what the trace itself tells of the launch; nil when nothing.
	Ran *Ran
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
	// it is another dispatch of the same kernel with the same shape.
	SameDispatch bool
	// Time is how long the launch took; nil where no row tells.
	Time *Time

	// agent is what all rows call the agent that can be meant, "" when they
	// differ.
	agent string
}

// Time is how long a launch took, by its own row or by others.
type Time struct {
	Ns int64
	// Calls is the number of rows of which Ns is the median; 0 where it is the
	// row's own.
	Calls int64
}

// WavesInDispatch is the number of waves that the launch has with the given
// wave size; ok is false when the shape is not known.
func (c *Companion) WavesInDispatch(waveSize int64) (n int64, ok bool) {
	perGroup, ok1 := wavesPerGroup(c.Launch, waveSize)
	groups, ok2 := c.Launch.Workgroups()
	if !ok1 || !ok2 || groups > 1<<62/perGroup {
		return 0, false
	}
	return groups * perGroup, true
}

// resolve finds the rows of a trace's kernels, and by them the GPU. How many
// waves a launch has on the traced engines depends on the GPU, so that the rows
// are held against occupancy.json when it is known; a row that is not of the
// launch then has no word in it.
func (c *Capture) resolve(tt *trace.ThreadTrace) (*Trace, error) {
	q := query{what: tt.Path, agents: tabled(tt.Agents), code: codeOf(tt)}
	// The registers that the code names do not depend on the target, so that
	// any will do for the rows that decide it; this one is nearly always right.
	guess := c.guess(&q)
	out := &Trace{Insts: parse(tt, guess), Kernels: make([]Traced, len(tt.Kernels))}
	rows := rowsOf(tt)
	names := make([]Names, len(tt.Kernels))
	for k, kn := range tt.Kernels {
		names[k] = TracedNames(kn)
		out.Kernels[k] = Traced{Names: names[k], Registers: countRegisters(out.Insts[kn.First:kn.Last])}
		rows.pick(&out.Kernels[k], kn)
	}
	m, err := c.machine(out.named(q), c.flag)
	if err != nil {
		if m, err = c.machine(out.named(q), &flag{}); err != nil {
			return nil, err
		}
	}
	for k, kn := range tt.Kernels {
		out.Kernels[k].Ran = ranOf(tt, names, k, m)
		rows.pick(&out.Kernels[k], kn)
	}
	if out.Machine, err = c.machine(out.named(q), c.flag); err != nil {
		return nil, err
	}
	if target := out.Arch.ParseTarget(); target != guess {
		out.Insts = parse(tt, target)
	}
	return out, nil
}

// named is a query for the agent that the rows of the kernels name.
func (t *Trace) named(q query) query {
	if id, file := t.agentID(); id != "" {
		if a := agentByID(q.agents, id, file.File); a != nil {
			q.agents = []trace.CounterAgent{*a}
			q.agent = Fact{Fact: FactAgent, Value: id, Source: fmt.Sprintf("%s, row %d", path.Base(file.File), file.Row)}
		}
	}
	return q
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

// pick takes the row of a kernel: dispatch id, kernel name, registers and the
// waves that ran must agree with the trace. A row of another dispatch of the
// same kernel serves when all such rows that can be of the launch have one
// shape and agent, and is doubted; any other is not used.
func (r *rows) pick(t *Traced, kn trace.Kernel) {
	t.Companion, t.Doubt, t.Why = nil, nil, ""
	if kn.Symbol == "" {
		return
	}
	for _, l := range r.byID {
		if !r.names[l.Kernel].Same(t.Names) {
			if t.Doubt == nil {
				t.doubt(l, fmt.Sprintf("dispatch %s is %q there, the trace is of %q; the row is not used", dispatchText(l), l.Kernel, t.Names.Shown()))
			}
			continue
		}
		if why := t.Registers.tooMany(l); why != "" {
			t.doubt(l, why+"; the row is not used")
			return
		}
		if fits, _ := t.Ran.is(l); fits {
			t.take(l)
			return
		}
		t.doubt(l, t.Ran.unlike(l)+"; neither its shape nor its times are used")
	}
	t.other(r)
}

func (t *Traced) doubt(l *trace.Launch, why string) { t.Doubt, t.Why = l, why }

// take makes the row of the trace's own dispatch the companion.
func (t *Traced) take(l *trace.Launch) {
	t.Companion = &Companion{Launch: l, SameDispatch: true, agent: l.AgentID}
	t.Doubt, t.Why = nil, ""
	var why string
	if t.Companion.Time, why = t.Ran.time(l); why != "" {
		t.doubt(l, why)
	}
}

// other looks for another dispatch of the kernel that has the launch's shape.
func (t *Traced) other(r *rows) {
	var other *trace.Launch
	agent, proven := "", false
	shapes := map[string]bool{}
	for _, l := range r.named.Find(t.Names) {
		fits, known := t.Ran.is(l)
		if r.hasID(l) || !fits {
			continue
		}
		shapes[fmt.Sprint(l.Workgroup, l.Grid)] = true
		if other == nil {
			other, agent, proven = l, l.AgentID, known
		}
		if l.AgentID != agent {
			agent = ""
		}
	}
	if other == nil || len(shapes) != 1 || t.Registers.tooMany(other) != "" {
		return
	}
	t.Companion = &Companion{Launch: other, agent: agent}
	why := fmt.Sprintf("it is dispatch %s of the same kernel, not the traced one; its shape is used, its times are not", dispatchText(other))
	if proven {
		why = fmt.Sprintf("it is dispatch %s of the same kernel with the waves of the traced one; its shape is used, its times are not", dispatchText(other))
		if t.Companion.Time = t.Ran.median(other); t.Companion.Time != nil {
			why = fmt.Sprintf("it is dispatch %s of the same kernel with the waves of the traced one; its shape is used, and the %s",
				dispatchText(other), t.Companion.Time.medianText())
		}
	}
	if t.Doubt != nil {
		why = t.Why + fmt.Sprintf("; %s, row %d: ", other.Origin.File, other.Origin.Row) + why
		other = t.Doubt
	}
	t.doubt(other, why)
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
