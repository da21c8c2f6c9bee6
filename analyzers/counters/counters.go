// Package counters is the analyzer that turns hardware counters into metrics:
// every figure that the counters of the input allow, with its formula.
package counters

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/kernels"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// Names of the parameters.
const (
	paramMean        = "mean_of_ratios"
	paramPerDispatch = "per_dispatch"
	paramFloor       = "channel_floor"
	paramOutlier     = "outlier_factor"
)

// Analyzer returns a *Result.
var Analyzer = analysis.New(analysis.Analyzer{
	Name:  "counters",
	Doc:   doc,
	Needs: []analysis.Evidence{analysis.Counters},
	// Nothing of its result is used. While it reads the dispatches of a database,
	// those that were counted are kept: their table is read once.
	Requires: []analysis.Required{kernels.Analyzer},
	Params: []analysis.Param{
		{Name: paramMean, Doc: "1 gives the mean of each dispatch's value, as rocprofiler-compute did before 3.7; 0 the value over the sums of all dispatches"},
		{Name: paramPerDispatch, Doc: "1 adds the figures of each dispatch"},
		{Name: paramFloor, Default: 1000, Unit: "requests per channel", Doc: "less mean traffic than this says nothing about the balance of L2 channels"},
		{Name: paramOutlier, Default: 10, Unit: "x", Doc: "a dispatch that takes more than so many times the median of its kernel and shape, of three or more, for the same work is in no metric: a first touch of memory took 700 times as long"},
	},
}, run)

// maxPerDispatch bounds the dispatches that are listed one by one.
const maxPerDispatch = 1 << 20

func run(p *analysis.Pass) (*Result, error) {
	metrics, err := compile()
	if err != nil {
		return nil, err
	}
	res := &Result{Aggregation: "sum", Kernels: []Kernel{}}
	if p.Param(paramMean) != 0 {
		res.Aggregation = "mean"
	}
	sources := 0
	for _, run := range p.Trace.CounterRuns {
		sources += len(run.Sources)
	}
	var seen map[uint64]origin // nil: one alone cannot come twice
	if sources > 1 {
		seen = map[uint64]origin{}
	}
	for _, run := range p.Trace.CounterRuns {
		col, err := collect(p.Context, run, p.Workers, seen)
		if err != nil {
			return nil, err
		}
		p.Note(col.notes...)
		if col.empty {
			if !col.repeated {
				p.Note(trace.Note{Level: trace.Warning, File: run.Path, Text: "an empty workload: a header, and no dispatch"})
			}
			continue
		}
		b := &builder{p: p, run: run, col: col, metrics: metrics, res: res, index: map[groupKey]int{}, plans: map[string]*NextPass{}, one: sample{values: map[string]float64{}, dispatches: 1}}
		if err := b.build(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(res.Kernels, func(a, b Kernel) int {
		return cmp.Or(cmp.Compare(time(&b), time(&a)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Run, b.Run))
	})
	slices.Sort(res.Names)
	res.Names = slices.Compact(res.Names)
	return res, nil
}

func time(k *Kernel) float64 {
	if k.TotalNs == nil {
		return 0
	}
	return *k.TotalNs
}

// groupKey tells the kernels of a run apart.
type groupKey struct {
	kernel  int32
	machine int
}

// group is one kernel while its dispatches come in.
type group struct {
	kernel     int32
	machine    *Machine
	dispatches int64
	shapes     map[shape]int64 // dispatches of each
	sums       map[string]*sums
	instances  map[int32]map[int32]float64
	differ     int64
	waveWrong  int64
	waveSeen   int64
	ratios     []ratio // by metric, for means of ratios
	per        []Dispatch
	perLost    int64
	// slow are the dispatches that are set aside, in the end the outliers.
	slow []slow
}

type ratio struct {
	sum float64
	n   int64
}

// builder makes the kernels of one run.
type builder struct {
	p        *analysis.Pass
	run      *trace.CounterRun
	col      *collection
	metrics  []compiled
	res      *Result
	index    map[groupKey]int
	groups   []*group
	machines []*Machine
	byAgent  map[int32]int
	one      sample // of the dispatch at hand
	// plans are the passes that were planned, by what is absent: that is the
	// same for most kernels of a run.
	plans   map[string]*NextPass
	medians map[launched]float64
	// besides is what beside returns, nil before.
	besides *capture.Index[*shapeTimes]
}

func (b *builder) build() error {
	b.col.arrange()
	if err := b.findMachines(); err != nil {
		return err
	}
	selected := b.selected()
	b.medians = b.col.medians(b.p.Param(paramOutlier))
	b.col.each(func(d *dispatch) {
		if !selected[d.kernel] {
			return
		}
		g := b.group(d)
		g.shapes[shape{d.grid, d.workgroup}]++
		aside := b.setAside(g, d)
		b.checkWaves(g, d)
		s := g.sumsFor(d)
		if !aside {
			g.add(d)
		}
		if b.p.Param(paramMean) != 0 || b.p.Param(paramPerDispatch) != 0 {
			b.single(g, s, d, aside)
		}
	})
	for _, g := range b.groups {
		b.settle(g)
		b.res.Kernels = append(b.res.Kernels, b.finish(g))
	}
	return nil
}

// selected says by kernel number whether the user wants it.
func (b *builder) selected() []bool {
	out := make([]bool, len(b.col.kernels.list))
	for i, name := range b.col.kernels.list {
		names := capture.NamesOf("", name)
		b.res.Names = append(b.res.Names, names.Shown())
		out[i] = b.p.Selects(names)
	}
	return out
}

// findMachines finds the GPU of every agent; agents that are alike share one.
func (b *builder) findMachines() error {
	b.byAgent = map[int32]int{}
	var agents []int32
	var ids []string
	for i := range b.col.fragments {
		if agent := b.col.fragments[i].agent; !slices.Contains(agents, agent) {
			agents, ids = append(agents, agent), append(ids, b.col.others.list[agent])
		}
	}
	found, err := b.p.Capture.Counted(b.run, ids)
	if err != nil {
		return err
	}
	told := tell(b.col, b.counts("TCC_BUBBLE"))
	for i, agent := range agents {
		m := found[ids[i]]
		if err := b.p.Capture.WithCounters(m, b.run.Path, told); err != nil {
			return err
		}
		b.byAgent[agent] = b.machine(machineOf(m, b.run.Rooflines))
	}
	return nil
}

// machine returns the number of a machine, the same for those that are alike.
func (b *builder) machine(m *Machine) int {
	for i, old := range b.machines {
		if slices.Equal(old.Archs, m.Archs) && old.Device == m.Device && sameFacts(old.Facts, m.Facts) {
			return i
		}
	}
	b.machines = append(b.machines, m)
	return len(b.machines) - 1
}

func sameFacts(a, b map[string]Fact) bool {
	for _, name := range factNames {
		if a[name].Value != b[name].Value {
			return false
		}
	}
	return true
}

// counts reports whether a counter is not zero everywhere.
func (b *builder) counts(name string) bool {
	n, ok := b.col.counters.index[name]
	if !ok {
		return false
	}
	for i := range b.col.fragments {
		for _, c := range b.col.fragments[i].cells {
			if c.counter == n && c.value > 0 {
				return true
			}
		}
	}
	return false
}

func (b *builder) group(d *dispatch) *group {
	key := groupKey{d.kernel, b.byAgent[d.agent]}
	i, ok := b.index[key]
	if !ok {
		i = len(b.groups)
		b.index[key] = i
		b.groups = append(b.groups, &group{
			kernel: d.kernel, machine: b.machines[key.machine], sums: map[string]*sums{}, shapes: map[shape]int64{},
			instances: map[int32]map[int32]float64{}, ratios: make([]ratio, len(b.metrics)),
		})
	}
	return b.groups[i]
}

// add takes one dispatch into the sums of those like it.
func (g *group) add(d *dispatch) {
	g.dispatches++
	if d.differ {
		g.differ++
	}
	s := g.sumsFor(d)
	s.dispatches++
	for i, v := range d.values {
		s.values[i] += v
	}
	if d.duration > 0 {
		s.timed++
		s.ns += d.duration
	}
	for _, c := range d.instances {
		if g.instances[c.counter] == nil {
			g.instances[c.counter] = map[int32]float64{}
		}
		g.instances[c.counter][c.instance] += c.value
	}
}

// sumsFor finds the sums of the dispatches with the same counters, and with a
// time or without.
func (g *group) sumsFor(d *dispatch) *sums {
	var key [256]byte
	k := key[:0]
	for _, c := range d.counters {
		k = append(k, byte(c), byte(c>>8), byte(c>>16))
	}
	if d.duration > 0 {
		k = append(k, 't')
	}
	s := g.sums[string(k)]
	if s == nil {
		s = &sums{counters: slices.Clone(d.counters), values: make([]float64, len(d.values))}
		g.sums[string(k)] = s
	}
	return s
}

// ordered lists the sums in a fixed order.
func (g *group) ordered() []*sums {
	keys := make([]string, 0, len(g.sums))
	for k := range g.sums {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := make([]*sums, 0, len(keys))
	for _, k := range keys {
		if g.sums[k].dispatches > 0 { // else of outliers alone
			out = append(out, g.sums[k])
		}
	}
	return out
}

// sampler gives means over the dispatches that have all of some counters.
func (b *builder) sampler(all []*sums) func([]string) sample {
	return func(counters []string) sample {
		out := sample{values: map[string]float64{}}
		for _, s := range all {
			if !b.complete(s, counters) {
				continue
			}
			out.dispatches += s.dispatches
			for i, c := range s.counters {
				out.values[b.col.counters.list[c]] += s.values[i]
			}
			out.values[duration] += s.ns
		}
		for name := range out.values {
			out.values[name] /= float64(out.dispatches)
		}
		return out
	}
}

// complete reports whether dispatches have all of some counters.
func (b *builder) complete(s *sums, counters []string) bool {
	for _, name := range counters {
		if name == duration {
			if s.timed == 0 {
				return false
			}
			continue
		}
		n, ok := b.col.counters.index[name]
		if !ok {
			return false
		}
		if _, has := slices.BinarySearch(s.counters, n); !has {
			return false
		}
	}
	return true
}

// single computes the metrics of one dispatch. Which formula each metric has
// is the same for all dispatches with the same counters. Those that are set
// aside are listed and in no mean.
func (b *builder) single(g *group, s *sums, d *dispatch, aside bool) {
	if s.chosen == nil {
		s.chosen = b.choose(g, s)
	}
	clear(b.one.values)
	for i, c := range d.counters {
		b.one.values[b.col.counters.list[c]] = d.values[i]
	}
	if d.duration > 0 {
		b.one.values[duration] = d.duration
	}
	lookup := b.one.lookup(g.machine)
	out := Dispatch{Rank: int(d.rank), Ordinal: int(d.ordinal), Grid: d.grid, Workgroup: d.workgroup, Metrics: map[string]float64{}}
	if id := d.id; id >= 0 {
		out.ID = &id
	}
	for i, f := range s.chosen {
		if f == nil || f.expr == nil {
			continue
		}
		m := &b.metrics[i]
		x, reason := f.expr.eval(lookup)
		x, ok := m.bound(x)
		if peak := g.machine.peak(m.Peak); reason != "" || !ok || peak != nil && x > peak.Value {
			continue
		}
		if !aside {
			g.ratios[i].sum += x
			g.ratios[i].n++
		}
		out.Metrics[m.ID] = x
	}
	switch {
	case b.p.Param(paramPerDispatch) == 0:
	case len(g.per) == maxPerDispatch:
		g.perLost++
	default:
		g.per = append(g.per, out)
	}
}

// choose finds each metric's formula for dispatches with the same counters.
func (b *builder) choose(g *group, s *sums) []*compiledFormula {
	k := Kernel{has: b.has([]*sums{s})}
	e := &evaluator{m: g.machine, format: b.run.Format, k: &k, spell: b.spell(g.machine)}
	out := make([]*compiledFormula, len(b.metrics))
	for i := range b.metrics {
		out[i], _ = e.choose(&b.metrics[i])
	}
	return out
}

// has lists the canonical names of the counters of some dispatches.
func (b *builder) has(all []*sums) map[string]bool {
	out := map[string]bool{}
	for _, s := range all {
		for _, c := range s.counters {
			out[b.col.counters.list[c]] = true
		}
		if s.timed > 0 {
			out[duration] = true
		}
	}
	return out
}

// finish makes a kernel of its dispatches.
func (b *builder) finish(g *group) Kernel {
	all := g.ordered()
	names := capture.NamesOf("", b.col.kernels.list[g.kernel])
	k := Kernel{
		Name: names.Shown(), Symbol: names.Symbol, Run: b.run.Path, Machine: g.machine, Dispatches: g.dispatches,
		Metrics: map[string]Value{}, Counters: map[string]float64{}, Notes: []Note{}, PerDispatch: g.per, has: b.has(all),
	}
	if len(g.shapes) == 1 {
		for s := range g.shapes {
			k.Grid, k.Workgroup = s.grid, s.workgroup
		}
	}
	k.outliers(g.slow, func(id, text string) { k.Notes = append(k.Notes, Note{id, text}) })
	b.lendDuration(&k, names, g, all)
	b.uncounted(&k, all)
	samples := b.sampler(all)
	e := &evaluator{m: g.machine, format: b.run.Format, k: &k, spell: b.spell(g.machine), samples: samples}
	for i := range b.metrics {
		e.metric(&b.metrics[i])
	}
	k.onlyCounted()
	b.means(&k, g)
	b.totals(&k, all, g.slow)
	k.Channels = b.channels(g)
	b.sanity(&k, g)
	k.Next = b.next(&k)
	if g.perLost > 0 {
		e.note("per_dispatch_cut", "more dispatches than are listed one by one")
	}
	return k
}

// next plans the next pass for a kernel.
func (b *builder) next(k *Kernel) *NextPass {
	key := fmt.Sprint(k.Absent)
	for _, m := range b.metrics {
		if v := k.Metrics[m.ID]; v.ForExact != nil {
			key += fmt.Sprint(m.ID, v.ForExact)
		}
	}
	plan, ok := b.plans[key]
	if !ok {
		plan = Plan(k.Absent, k.Metrics, nil)
		b.plans[key] = plan
	}
	return plan
}

// totals fills in the time, and each counter's mean per dispatch.
func (b *builder) totals(k *Kernel, all []*sums, outliers []slow) {
	ns, timed := 0.0, int64(0)
	for _, s := range outliers {
		ns, timed = ns+s.duration, timed+1
	}
	count := map[string]int64{}
	for _, s := range all {
		ns += s.ns
		timed += s.timed
		for i, c := range s.counters {
			name := b.col.spelled[b.col.counters.list[c]]
			k.Counters[name] += s.values[i]
			count[name] += s.dispatches
		}
	}
	for name := range k.Counters {
		k.Counters[name] /= float64(count[name])
	}
	if timed > 0 {
		k.TotalNs = &ns
	}
}

// means replaces values by the means of each dispatch's.
func (b *builder) means(k *Kernel, g *group) {
	if b.p.Param(paramMean) == 0 {
		return
	}
	for i := range b.metrics {
		v, ok := k.Metrics[b.metrics[i].ID]
		if !ok || v.Value == nil || g.ratios[i].n == 0 {
			continue
		}
		mean := g.ratios[i].sum / float64(g.ratios[i].n)
		v.Value = &mean
		if v.PctOfPeak != nil {
			pct := 100 * mean / v.Peak.Value
			v.PctOfPeak = &pct
		}
		k.Metrics[b.metrics[i].ID] = v
	}
}

// channels says how evenly the L2 channels are used.
func (b *builder) channels(g *group) []Balance {
	var out []Balance
	for counter, values := range g.instances {
		name := b.col.counters.list[counter]
		if !strings.HasPrefix(name, "TCC_") && !strings.HasPrefix(name, "GL2C_") || len(values) < 2 {
			continue
		}
		of := int(g.machine.Facts["L2_CHANNELS"].Value)
		n := float64(g.dispatches) - float64(len(g.slow))
		out = append(out, balance(name, values, of, b.p.Param(paramFloor)*n, n))
	}
	slices.SortFunc(out, func(a, b Balance) int { return cmp.Compare(a.Counter, b.Counter) })
	return out
}

// balance computes the spread of a counter over channels, per dispatch. Even
// streams measured a CV of 0.0002 to 0.009.
func balance(name string, values map[int32]float64, of int, floor, dispatches float64) Balance {
	list := make([]float64, 0, len(values))
	ids := make([]int32, 0, len(values))
	for id := range values {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		list = append(list, values[id])
	}
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	mean := sum / float64(len(list))
	square := 0.0
	for _, v := range list {
		square += (v - mean) * (v - mean)
	}
	out := Balance{
		Counter: name, Channels: len(list), Of: of, Sum: sum / dispatches, Mean: mean / dispatches,
		Min: slices.Min(list) / dispatches, Max: slices.Max(list) / dispatches,
		Little: mean < floor, Partial: of > 0 && len(list) != of,
	}
	if mean > 0 {
		out.CV = math.Sqrt(square/float64(len(list))) / mean
		out.MaxOverAvg = slices.Max(list) / mean
	}
	return out
}
