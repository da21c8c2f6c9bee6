package kernels

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/stats"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// kernelKey tells kernels apart across runs: those of one name that ask for
// different resources are different kernels.
type kernelKey struct {
	name                     string
	vgprs, accum, sgprs, lds int64
}

// shapeKey is a launch shape.
type shapeKey struct {
	workgroup, grid [3]int64
	lds, scratch    int64
}

// agentKey is a GPU: processes of one host share it.
type agentKey struct {
	host         string
	id           int64
	gfx, product string
}

// rowKey is what a row stands for; what does not tell rows apart is zero.
type rowKey struct {
	kernel kernelKey
	shape  shapeKey
	agent  agentKey
	run    int // from 1
	stream int64
}

// rowSums collects one row.
type rowSums struct {
	stats.Moments
	sample  stats.Sample
	symbol  string
	kernels map[kernelKey]bool
	shapes  map[shapeKey]*stats.Moments
	agents  map[agentKey]*stats.Moments
	runs    map[int]bool
	streams map[[2]int64]bool
	// table is the row of a statistics table, which stands for all of it.
	table *trace.KernelStat
}

// builder collects the rows of all runs.
type builder struct {
	p    *analysis.Pass
	by   string
	rows map[rowKey]*rowSums
	res  *Result
	// summed are the runs so far.
	summed []summed
}

func newBuilder(p *analysis.Pass) *builder {
	by := Groupings[0]
	if i := int(p.Param(paramBy)); i >= 0 && i < len(Groupings) {
		by = Groupings[i]
	}
	return &builder{
		p: p, by: by, rows: map[rowKey]*rowSums{},
		res: &Result{By: by, Runs: []Run{}, GPUs: []GPU{}, Copies: []Copy{}},
	}
}

// runBuilder is one run while its dispatches are read. It is read by several
// goroutines.
type runBuilder struct {
	b       *builder
	number  int // from 1
	run     *trace.Run
	window  window
	kernels map[int64]*trace.RunKernel
	names   map[int64]capture.Names
	agents  map[int64]agentKey
	// named is what the user says of the agents that the run does not describe.
	named agentKey
}

// run folds one run.
func (b *builder) run(i int, r *trace.Run) error {
	rb := &runBuilder{b: b, number: i + 1, run: r, kernels: map[int64]*trace.RunKernel{}, names: map[int64]capture.Names{}, agents: map[int64]agentKey{}}
	for k := range r.Kernels {
		rb.kernels[r.Kernels[k].ID] = &r.Kernels[k]
		rb.names[r.Kernels[k].ID] = capture.NamesOf(r.Kernels[k].Symbol, r.Kernels[k].Name)
	}
	for _, a := range r.Agents {
		rb.agents[a.NodeID] = agentKey{r.Process.Host, a.NodeID, a.Gfx, a.Product}
	}
	// One that contradicts the agents of the run is not theirs.
	if m, err := b.p.Capture.Launched(r.Path, r.Agents, []string{""}); err == nil && m[""].Arch.Source == capture.SourceFlag {
		rb.named = agentKey{gfx: string(m[""].Arch.Target), product: m[""].DeviceName()}
	}
	var err error
	if rb.window, err = b.windowOf(r); err != nil {
		return err
	}
	var parts []*folder
	rep, err := r.Dispatches.Fold(b.p.Context, b.p.Workers, func() trace.DispatchFolder {
		parts = append(parts, newFolder(rb))
		return parts[len(parts)-1]
	})
	if err != nil {
		return err
	}
	b.p.Note(rep.Notes...)
	var id identity
	for _, f := range parts {
		id.merge(f.identity)
	}
	if first := b.before(r, id); first != nil {
		rb.note("the same run as in " + first.Path + ": it counts once")
		return nil
	}
	rb.merge(rep.Rows, parts)
	if rep.Launches == nil {
		rep.Launches = rb.launchTable(parts)
	}
	b.res.Launches = append(b.res.Launches, rep.Launches)
	_, err = b.p.Capture.Launched(rep.Launches.Path, rep.Launches.Agents, rep.Launches.AgentIDs())
	return err
}

// note adds a warning about a run.
func (r *runBuilder) note(text string) {
	r.b.p.Note(trace.Note{Level: trace.Warning, File: r.run.Path, Place: r.run.Set, Text: text})
}

func (r *runBuilder) kernel(id int64) kernelKey {
	k := r.kernels[id]
	if k == nil {
		name := "kernel of no id"
		if id != trace.Absent {
			name = fmt.Sprintf("kernel #%d", id)
		}
		return kernelKey{name, trace.Absent, trace.Absent, trace.Absent, trace.Absent}
	}
	return kernelKey{r.names[id].Shown(), orAbsent(k.VGPRs), orAbsent(k.AccumVGPRs), orAbsent(k.SGPRs), orAbsent(k.StaticLDSBytes)}
}

func orAbsent(p *int64) int64 {
	if p == nil {
		return trace.Absent
	}
	return *p
}

func (r *runBuilder) agent(id int64) agentKey {
	if a, ok := r.agents[id]; ok {
		return a
	}
	return agentKey{r.run.Process.Host, id, r.named.gfx, r.named.product}
}

func shapeOf(l launch) shapeKey { return shapeKey{l.workgroup, l.grid, l.lds, l.scratch} }

// rowOf finds the row of a launch; ok is false when its kernel was not
// selected.
func (r *runBuilder) rowOf(l launch) (key rowKey, ok bool) {
	kernel := r.kernel(l.kernel)
	names, ok := r.names[l.kernel]
	if !ok {
		names.Display = kernel.name
	}
	if !r.b.p.Selects(names) {
		return key, false
	}
	switch r.b.by {
	case "shape":
		key = rowKey{kernel: kernel, shape: shapeOf(l)}
	case "agent":
		key = rowKey{agent: r.agent(l.agent)}
	case "process":
		key = rowKey{run: r.number}
	case "stream":
		key = rowKey{run: r.number, stream: l.stream}
	default:
		key = rowKey{kernel: kernel}
	}
	return key, true
}

// row returns the sums of a row.
func (b *builder) row(key rowKey) *rowSums {
	s := b.rows[key]
	if s == nil {
		s = &rowSums{
			kernels: map[kernelKey]bool{}, shapes: map[shapeKey]*stats.Moments{}, agents: map[agentKey]*stats.Moments{},
			runs: map[int]bool{}, streams: map[[2]int64]bool{},
		}
		b.rows[key] = s
	}
	return s
}

// merge adds the parts of a run to the result.
func (r *runBuilder) merge(rows int64, parts []*folder) {
	run := Run{
		Path: r.run.Path, Set: r.run.Set, Kind: r.run.Kind, Schema: r.run.Schema, PID: r.run.Process.PID, Host: r.run.Process.Host,
		Rows: rows, Counters: r.run.HasCounters,
	}
	var out excluded
	var strays [2]int64
	var crowded int64
	queues := map[queueKey]*timeline{}
	for _, f := range parts {
		out.add(f.excluded)
		crowded += f.crowded
		for l, s := range f.sums {
			run.Calls += s.Count()
			run.TotalNs += s.Sum()
			r.addLaunch(l, s, &strays)
		}
		for key, sample := range f.samples {
			r.b.row(key).sample.Merge(sample)
		}
		for key, t := range f.queues {
			if queues[key] == nil {
				queues[key] = &timeline{}
			}
			queues[key].join(t)
		}
	}
	run.SpanNs = r.gpus(queues)
	run.Excluded = out.texts()
	r.b.res.Calls += run.Calls
	r.b.res.TotalNs += run.TotalNs
	r.b.res.Runs = append(r.b.res.Runs, run)
	r.notes(&run, strays, crowded)
	r.copies()
}

// addLaunch adds the sums of one launch to its row. strays counts dispatches
// of kernels and agents that the run does not describe.
func (r *runBuilder) addLaunch(l launch, s *sums, strays *[2]int64) {
	if r.kernels[l.kernel] == nil {
		strays[0] += s.Count()
	}
	agent := r.agent(l.agent)
	if _, ok := r.agents[l.agent]; !ok && r.named == (agentKey{}) {
		strays[1] += s.Count()
	}
	key, ok := r.rowOf(l)
	if !ok {
		return
	}
	row := r.b.row(key)
	row.Merge(&s.Moments)
	if n, ok := r.names[l.kernel]; ok && (row.symbol == "" || n.Symbol < row.symbol) {
		row.symbol = n.Symbol
	}
	row.kernels[r.kernel(l.kernel)] = true
	row.runs[r.number] = true
	row.streams[[2]int64{int64(r.number), l.stream}] = true
	mergeInto(row.agents, agent, &s.Moments)
	if r.b.by == "kernel" || r.b.by == "shape" {
		mergeInto(row.shapes, shapeOf(l), &s.Moments)
	}
}

func mergeInto[K comparable](m map[K]*stats.Moments, key K, o *stats.Moments) {
	if m[key] == nil {
		m[key] = &stats.Moments{}
	}
	m[key].Merge(o)
}

// noTimes is the reason of a dispatch without times.
const noTimes = "no start or end time"

// texts name the counts of excluded.
func (e *excluded) texts() []ExcludedText {
	out := []ExcludedText{}
	for _, t := range []ExcludedText{
		{noTimes, e.noTime},
		{"ends before it starts", e.reversed},
		{"ends when it starts", e.empty},
		{"longer than an hour", e.tooLong},
		{"replay of a dispatch for more counters", e.replays},
		{"outside of --since and --until", e.outside},
	} {
		if t.Count > 0 {
			out = append(out, t)
		}
	}
	return out
}

// label names a run in messages and tables.
func (r *runBuilder) label() string { return label(r.run.Path, r.run.Set) }

func label(path, set string) string {
	if set == "" {
		return path
	}
	return path + " (" + set + ")"
}

// notes says what is odd about a run.
func (r *runBuilder) notes(run *Run, strays [2]int64, crowded int64) {
	if run.Counters && run.Calls == 0 && len(run.Excluded) == 1 && run.Excluded[0].Reason == noTimes {
		r.b.p.Note(trace.Note{Level: trace.Info, File: r.run.Path, Place: r.run.Set, Text: "counters without times: its dispatches are in no sum"})
		return
	}
	var odd []string
	for _, e := range run.Excluded {
		if !strings.HasPrefix(e.Reason, "outside") {
			odd = append(odd, fmt.Sprintf("%d (%s)", e.Count, e.Reason))
		}
	}
	if len(odd) > 0 {
		r.note(fmt.Sprintf("dispatches that are in no sum: %s", strings.Join(odd, ", ")))
	}
	for i, what := range []string{"kernel", "GPU"} {
		if strays[i] > 0 {
			r.note(fmt.Sprintf("dispatches whose %s the source does not describe: %d", what, strays[i]))
		}
	}
	if crowded > 0 {
		r.note(fmt.Sprintf("there are so many launch shapes that those of %d were not kept", crowded))
	}
	if run.Counters {
		r.note("counters were collected, which runs one kernel at a time: durations and gaps are not those of a plain trace")
	}
	if run.Rows == 0 && len(r.b.p.Trace.Runs) > 1 {
		r.note("it holds no kernel dispatch (a thread trace, or a run without --kernel-trace?)")
	}
}

// gpus adds the GPUs of a run, and returns the run's span.
func (r *runBuilder) gpus(queues map[queueKey]*timeline) int64 {
	keys := slices.SortedFunc(maps.Keys(queues), func(a, b queueKey) int {
		return cmp.Or(cmp.Compare(a.agent, b.agent), cmp.Compare(a.queue, b.queue))
	})
	var all span
	for _, k := range keys {
		all.merge(queues[k].span)
	}
	for len(keys) > 0 {
		n := 1
		for n < len(keys) && keys[n].agent == keys[0].agent {
			n++
		}
		r.gpu(keys[:n], queues, all)
		keys = keys[n:]
	}
	return all.ns()
}

// gpu adds one GPU from its queues.
func (r *runBuilder) gpu(keys []queueKey, queues map[queueKey]*timeline, all span) {
	a := r.agent(keys[0].agent)
	g := GPU{Run: r.label(), PID: r.run.Process.PID, ID: known(a.id), Host: a.host, Name: agentName(a)}
	var ts []*timeline
	var own span
	for _, k := range keys {
		t := queues[k]
		ts = append(ts, t)
		own.merge(t.span)
		q := Queue{ID: known(k.queue), Dispatches: t.n, KernelNs: t.ns}
		q.BusyNs, q.Gaps = busyOf([]*timeline{t})
		g.Dispatches += t.n
		g.KernelNs += t.ns
		g.Queues = append(g.Queues, q)
	}
	if len(ts) == 1 {
		g.BusyNs, g.Gaps = g.Queues[0].BusyNs, g.Queues[0].Gaps
	} else {
		g.BusyNs, g.Gaps = busyOf(ts)
	}
	g.SpanNs = own.ns()
	g.BusyPct = 100 * float64(g.BusyNs) / float64(all.ns())
	r.b.res.GPUs = append(r.b.res.GPUs, g)
}

func known(v int64) *int64 {
	if v == trace.Absent {
		return nil
	}
	return &v
}

// agentName names a GPU for people.
func agentName(a agentKey) string {
	name := "GPU of no id"
	if a.id != trace.Absent {
		name = fmt.Sprintf("agent %d", a.id)
	}
	what := strings.TrimPrefix(cmp.Or(a.product, a.gfx, "not described"), "AMD Instinct ")
	return name + ", " + what
}

// copies adds the copies of a run, unless a part of it was asked for: they are
// summed over all of it.
func (r *runBuilder) copies() {
	if r.b.windowed() {
		return
	}
	for _, c := range r.run.Copies {
		out := Copy{
			Run: r.label(), Kind: c.Kind, Source: r.copyAgent(c.Source), Target: r.copyAgent(c.Target),
			Count: c.Count, Bytes: c.Bytes, TotalNs: c.TotalNs, Untimed: c.Count - c.Timed,
		}
		if c.TotalNs > 0 {
			rate := float64(c.TimedBytes) / float64(c.TotalNs) * 1e9
			out.Rate = &rate
		}
		r.b.res.Copies = append(r.b.res.Copies, out)
	}
}

func (r *runBuilder) copyAgent(id *int64) string {
	if id == nil {
		return "unknown"
	}
	if _, ok := r.agents[*id]; ok {
		return fmt.Sprintf("GPU %d", *id)
	}
	return fmt.Sprintf("agent %d", *id)
}
