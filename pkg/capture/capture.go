// Package capture resolves a trace once: which GPU each part of it ran on, on
// what evidence, and which kernel is which. Nothing else decides either.
//
// What the capture itself proves, by the instructions of a thread trace or the
// agent row of what ran, outranks what the user names; a name that contradicts
// it is an error. Where the capture leaves something open, the name decides it.
package capture

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Capture is what was resolved of a trace.
type Capture struct {
	flag   *flag
	traces map[*trace.ThreadTrace]*Trace
	// called is made when names are asked for; several goroutines may ask.
	called func() *Index[Names]
}

// Resolve resolves a trace. device is a device or an architecture that the user
// named, "" for none; one that is unknown, or that a thread trace contradicts,
// is an error. What dispatches contradict is known when they were read: Launched
// and Counted fail then.
func Resolve(t *trace.Trace, device string) (*Capture, error) {
	f, err := parseFlag(device)
	if err != nil {
		return nil, err
	}
	c := &Capture{
		flag: f, traces: map[*trace.ThreadTrace]*Trace{},
		called: sync.OnceValue(func() *Index[Names] { return called(t) }),
	}
	for _, tt := range t.ThreadTraces {
		if c.traces[tt], err = c.resolve(tt); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Called lists every name of a kernel, for a user to select by: those that its
// source says, and those by which other sources of the capture know it.
func (c *Capture) Called(n Names) []string {
	out := append(n.All(), n.Shown())
	for _, o := range c.called().Find(n) {
		out = append(out, o.All()...)
	}
	return out
}

// Trace returns what was resolved of a thread trace of the trace.
func (c *Capture) Trace(tt *trace.ThreadTrace) *Trace { return c.traces[tt] }

// Named returns the devices that the user named, each as the agent that a
// kernel runs on; none where the user named nothing.
func (c *Capture) Named() []gpu.Device {
	if !c.flag.known() {
		return nil
	}
	m, err := gpu.FindDevices(c.flag.name)
	if err != nil {
		return nil
	}
	return perAgent(m.Devices)
}

// Flag is what the user named, as it was given.
func (c *Capture) Flag() string { return c.flag.name }

// Launched returns the GPUs of rows of one table or run by what the rows call
// their agents. It fails when the user named none of them.
func (c *Capture) Launched(path string, agents []trace.Agent, ids []string) (map[string]*Machine, error) {
	all := tabled(agents)
	return c.byAgent(path, ids, all, func(id string) *trace.CounterAgent { return agentByID(all, id, path) })
}

// Counted is Launched for the dispatches of a run under a counter profiler.
func (c *Capture) Counted(r *trace.CounterRun, ids []string) (map[string]*Machine, error) {
	return c.byAgent(r.Path, ids, r.Agents, func(id string) *trace.CounterAgent {
		i := slices.IndexFunc(r.Agents, func(a trace.CounterAgent) bool { return slices.Contains(a.Names, id) })
		if i < 0 {
			return nil
		}
		return &r.Agents[i]
	})
}

// byAgent weighs the user's word against the agents that rows name; without a
// row, against those of the table.
func (c *Capture) byAgent(what string, ids []string, all []trace.CounterAgent, find func(string) *trace.CounterAgent) (map[string]*Machine, error) {
	if len(ids) == 0 {
		return nil, c.refuse(what, all)
	}
	out := make(map[string]*Machine, len(ids))
	var firstErr error
	fits := false
	for _, id := range ids {
		q := query{what: what, agents: all}
		if a := find(id); a != nil {
			q.agents, q.agent = []trace.CounterAgent{*a}, Fact{Fact: FactAgent, Value: id, Source: path.Base(what)}
		}
		m, err := c.machine(q, c.flag)
		if err != nil && firstErr == nil {
			firstErr = err
		}
		if err != nil {
			m, err = c.machine(q, &flag{})
		} else {
			fits = true
		}
		if err != nil {
			return nil, err
		}
		out[id] = m
	}
	if !fits {
		return nil, firstErr
	}
	return out, nil
}

// Counters are what the counters of a run tell about its GPU.
type Counters struct {
	// Archs are the architectures that have them, Why says which counters do.
	Archs []isa.Target
	Why   string
	// Exclusive is set where no other architecture has them.
	Exclusive bool
}

// WithCounters adds that evidence to a GPU of the run. It fails when the user
// named one that does not have the counters.
func (c *Capture) WithCounters(m *Machine, what string, e Counters) error {
	if m.Arch.Target == "" {
		m.Arch = Arch{Candidates: e.Archs, Source: inferred + e.Why}
		if len(e.Archs) == 1 {
			m.Arch.Target, m.Arch.Candidates = e.Archs[0], nil
		}
		m.complete(c.flag)
		return nil
	}
	fits := func(t isa.Target) bool {
		return canonical(t) == c.flag.arch || !e.Exclusive && t.Generation() == c.flag.arch.Generation()
	}
	if m.Arch.Source == SourceFlag && !slices.ContainsFunc(e.Archs, fits) {
		return c.flag.contradicts(what, alternatives(e.Archs), "counters: "+e.Why)
	}
	return nil
}

// Compiled returns the GPU of a code object: of its target, or the user's
// where it has none. Nothing ran, so that no name contradicts it.
func (c *Capture) Compiled(co *trace.CodeObject) *Machine {
	target := isa.Target("")
	if _, err := gpu.ArchByName(co.Target); err == nil {
		name, _, _ := strings.Cut(co.Target, ":")
		target = isa.Target(name)
	}
	if slices.Contains(gpu.GenericRuns(string(target)), string(c.flag.own)) {
		target = "" // code that runs on what the user names
	}
	m := &Machine{Arch: Arch{Target: target, Source: strings.ReplaceAll(co.Kind, "_", " ")}}
	if target == "" || co.Kind == KindFlags {
		if c.flag.known() {
			m.Arch.Source = SourceFlag
		}
		if target == "" {
			m.Arch.Target = c.flag.own
		}
	}
	m.complete(c.flag)
	return m
}

// KindFlags is the Kind of a code object that the user described.
const KindFlags = "flags"

// NamedArch is the architecture that the user named, or that of the device; ""
// where nothing was named.
func (c *Capture) NamedArch() isa.Target { return c.flag.arch }

// refuse fails when none of the agents of a run is what the user named.
func (c *Capture) refuse(what string, agents []trace.CounterAgent) error {
	if !c.flag.known() || len(agents) == 0 || slices.ContainsFunc(agents, func(a trace.CounterAgent) bool { return c.flag.fits(&a) }) {
		return nil
	}
	return c.flag.refuses(what, &agents[0])
}

func tabled(agents []trace.Agent) []trace.CounterAgent {
	out := make([]trace.CounterAgent, len(agents))
	for i := range agents {
		out[i].Agent = agents[i]
	}
	return out
}

// agentByID finds the agent that the Agent_Id of a row names: "Agent 6" and
// "6" are node ids, "GPU 0" counts the GPUs (rocprofv3 --agent-index). Where
// the tables of several hosts have that number, the one beside the row counts;
// nil when none or several fit.
func agentByID(agents []trace.CounterAgent, id, file string) *trace.CounterAgent {
	words := strings.Fields(id)
	if len(words) == 0 {
		return nil
	}
	n, err := strconv.ParseInt(words[len(words)-1], 10, 64)
	if err != nil {
		return nil
	}
	if strings.EqualFold(words[0], "GPU") && len(words) == 2 {
		if n < 0 || n >= int64(len(agents)) {
			return nil
		}
		return &agents[n]
	}
	var found *trace.CounterAgent
	for i := range agents {
		a := &agents[i]
		switch {
		case a.NodeID != n:
		case found == nil, beside(a, file) && !beside(found, file):
			found = a
		case beside(a, file) == beside(found, file) && a.Origin.File != found.Origin.File:
			if !sameGPU(a, found) {
				return nil
			}
		}
	}
	return found
}

func beside(a *trace.CounterAgent, file string) bool {
	return path.Dir(a.Origin.File) == path.Dir(file)
}

func sameGPU(a, b *trace.CounterAgent) bool {
	return agentGPU(a) == agentGPU(b)
}

// query is what is known about where something ran.
type query struct {
	// what ran, for messages.
	what string
	// agents can be the one; agent says which row names it, where one does.
	agents []trace.CounterAgent
	agent  Fact
	code   code
}

// machine weighs the evidence: the agent that a row names, else the agents that
// the code allows; then the user's word; then the code alone.
func (c *Capture) machine(q query, f *flag) (*Machine, error) {
	if q.agent.Fact == "" {
		q.agents = q.possible()
	}
	if f.known() && len(q.agents) > 0 {
		fitting := slices.DeleteFunc(slices.Clone(q.agents), func(a trace.CounterAgent) bool { return !f.fits(&a) })
		if len(fitting) == 0 && q.code.allows(isa.Target(q.agents[0].Gfx)) {
			return nil, f.refuses(q.what, &q.agents[0])
		}
		q.agents = fitting
	}
	if f.known() && !q.code.allows(f.arch) {
		ran, source := q.code.proof(f.arch)
		return nil, f.contradicts(q.what, ran, source)
	}
	m := &Machine{Agents: q.agents, major: q.code.major}
	if q.agent.Fact != "" && len(q.agents) > 0 {
		m.Facts = append(m.Facts, q.agent)
	}
	switch t, from := commonTarget(q.agents); {
	case t != "":
		m.Arch = Arch{Target: t, Source: from.Origin.File}
		m.Arch.Conflict = q.code.conflict(t, m.Arch.Source)
	case f.known():
		m.Arch = Arch{Target: f.own, Source: SourceFlag}
	default:
		m.Arch = Arch{Candidates: q.code.candidates, Source: fromInstructions, Evidence: q.code.evidence}
		if len(q.code.candidates) == 1 {
			m.Arch.Target, m.Arch.Candidates = q.code.candidates[0], nil
		}
	}
	m.complete(f)
	return m, nil
}

// possible are the agents that the code allows, all where it allows none: the
// table then contradicts it.
func (q *query) possible() []trace.CounterAgent {
	out := slices.DeleteFunc(slices.Clone(q.agents), func(a trace.CounterAgent) bool { return !q.code.allows(isa.Target(a.Gfx)) })
	if len(out) == 0 {
		return q.agents
	}
	return out
}

// conflict says that the instructions do not exist on a target.
func (c *code) conflict(t isa.Target, source string) string {
	known := t.Representative()
	if known == "" || len(c.candidates) == 0 || slices.Contains(c.candidates, known) {
		return ""
	}
	return fmt.Sprintf("%s says %s, the instructions exist on %s only (%s)", source, t, alternatives(c.candidates), strings.Join(c.evidence, "; "))
}
