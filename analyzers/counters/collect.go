package counters

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxFragments bounds the dispatches that are kept: about 100 bytes each.
const maxFragments = 1 << 25

// chunk is the size of the slabs that values are kept in, so that growing
// copies nothing.
const chunk = 1 << 15

// cell is one value.
type cell struct {
	counter  int32
	instance int32
	value    float64
}

// fragment is one trace.CounterDispatch, compactly. Its strings are numbers of
// names; unit is the process of a pass that it belongs to.
type fragment struct {
	kernel, agent, process, pass int32
	unit, ordinal                int32
	replay, xcc                  int32
	grid, workgroup              int64
	id, order                    int64
	start                        int64
	duration                     float64 // ns; 0 is unknown
	cells                        []cell
}

// names numbers strings.
type names struct {
	index map[string]int32
	list  []string
}

func newNames() *names { return &names{index: map[string]int32{}} }

func (n *names) of(s string) int32 {
	if i, ok := n.index[s]; ok {
		return i
	}
	i := int32(len(n.list))
	n.index[s] = i
	n.list = append(n.list, s)
	return i
}

// collector is a trace.CounterFolder that keeps what it is given.
type collector struct {
	kernels, others, counters *names
	full                      [][]fragment // chunks
	fragments                 []fragment   // the last chunk
	slab                      []cell
	dropped                   int64
	kept, limit               int
}

func newCollector(limit int) *collector {
	return &collector{kernels: newNames(), others: newNames(), counters: newNames(), limit: limit}
}

// Dispatch keeps one dispatch.
func (c *collector) Dispatch(d *trace.CounterDispatch) {
	if c.kept == c.limit {
		c.dropped++
		return
	}
	f := fragment{
		kernel: c.kernels.of(d.Kernel), agent: c.others.of(d.Agent), process: c.others.of(d.Process), pass: c.others.of(d.Pass),
		replay: int32(d.Replay), xcc: int32(d.XCC), grid: d.Grid, workgroup: d.Workgroup, id: d.ID, order: d.Order, start: d.StartNs,
	}
	if ns, ok := d.DurationNs(); ok {
		f.duration = ns
	}
	if cap(c.slab)-len(c.slab) < len(d.Values) {
		c.slab = make([]cell, 0, max(chunk, len(d.Values)))
	}
	from := len(c.slab)
	for i := range d.Values {
		v := &d.Values[i]
		c.slab = append(c.slab, cell{c.counters.of(v.Counter), int32(v.Instance), v.Value})
	}
	f.cells = c.slab[from:len(c.slab):len(c.slab)]
	if len(c.fragments) == cap(c.fragments) {
		c.full = append(c.full, c.fragments)
		c.fragments = make([]fragment, 0, chunk/8)
	}
	c.fragments = append(c.fragments, f)
	c.kept++
}

// collection is all that was read of one run.
type collection struct {
	kernels, others *names
	// counters are canonical names; spelled is how the input writes each.
	counters  *names
	spelled   map[string]string
	fragments []*fragment
	notes     []trace.Note
	// empty is set when no source holds a dispatch, repeated when one holds
	// those of another.
	empty, repeated bool

	// set and key are memory for signature.
	set []int32
	key []byte
}

// origin is where counters are from.
type origin struct{ file, guid, process string }

// differs reports whether two sources are of different runs, as their
// identities or processes say, where both have one.
func (o origin) differs(p origin) bool {
	_, err := strconv.ParseInt(o.process, 10, 64)
	_, err2 := strconv.ParseInt(p.process, 10, 64)
	return o.guid != "" && p.guid != "" && o.guid != p.guid || err == nil && err2 == nil && o.process != p.process
}

// collect reads all sources of a run. seen are the sources of all runs so far,
// by what they hold: one that comes again counts once.
func collect(ctx context.Context, run *trace.CounterRun, workers int, seen map[uint64]origin) (*collection, error) {
	col := &collection{
		kernels: newNames(), others: newNames(), counters: newNames(), spelled: map[string]string{}, empty: true,
	}
	for i, source := range run.Sources {
		var parts []*collector
		report, err := source.Fold(ctx, workers, func() trace.CounterFolder {
			c := newCollector(maxFragments)
			parts = append(parts, c)
			return c
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		col.notes = append(col.notes, report.Notes...)
		if err != nil {
			file := cmp.Or(report.File, run.Path)
			col.notes = append(col.notes, trace.Note{Level: trace.Damage, File: file, Text: strings.TrimPrefix(err.Error(), file+": ")})
		}
		first := len(col.fragments)
		for _, p := range parts {
			col.take(p, run.Path)
		}
		if id, ok := col.identity(first, seen); ok {
			from := origin{report.File, report.GUID, col.others.list[col.fragments[first].process]}
			other, again := seen[id]
			if again && !from.differs(other) {
				col.fragments, col.repeated = col.fragments[:first], true
				col.notes = append(col.notes, trace.Note{
					Level: trace.Warning, File: report.File, Text: "the same dispatches and counters as in " + other.file + ": they count once",
				})
			}
			seen[id] = from
		}
		col.empty = col.empty && first == len(col.fragments)
		// A file's name is part of what tells processes apart: not all formats
		// have process ids.
		for k := first; k < len(col.fragments); k++ {
			col.fragments[k].unit = int32(i)
		}
	}
	return col, nil
}

// identity tells a source by its dispatches from first on, whatever form it has:
// their ids, times, and sums of counters over instances, in any order. Without
// times there is none, since equal runs count alike.
func (c *collection) identity(first int, seen map[uint64]origin) (id uint64, ok bool) {
	if seen == nil {
		return 0, false
	}
	salts := make([]uint64, len(c.counters.list))
	for i, name := range c.counters.list {
		h := fnv.New64a()
		h.Write([]byte(name)) // never fails, as hash.Hash says
		salts[i] = h.Sum64()
	}
	for _, f := range c.fragments[first:] {
		ok = ok || f.start > 0
		var sum uint64
		for _, v := range f.cells {
			if math.Abs(v.value) < 1<<62 {
				sum += salts[v.counter] * uint64(int64(math.Round(v.value)))
			}
		}
		// An odd factor for each dispatch (Knuth's multiplicative hash).
		id += (uint64(f.id)*0x9e3779b97f4a7c15 ^ uint64(f.start)*0xbf58476d1ce4e5b9 | 1) * sum
	}
	return id, ok && id != 0
}

// take adds what one worker collected, under common numbers. path is that of
// the run.
func (c *collection) take(p *collector, path string) {
	kernels, others := renumber(c.kernels, p.kernels), renumber(c.others, p.others)
	counters := make([]int32, len(p.counters.list))
	for i, name := range p.counters.list {
		short := canonical(name)
		counters[i] = c.counters.of(short)
		if old, ok := c.spelled[short]; !ok || name > old {
			c.spelled[short] = name // TCC_HIT_sum rather than TCC_HIT, whatever came first
		}
	}
	c.fragments = slices.Grow(c.fragments, p.kept)
	for _, part := range append(p.full, p.fragments) {
		for i := range part {
			f := &part[i]
			f.kernel, f.agent, f.process, f.pass = kernels[f.kernel], others[f.agent], others[f.process], others[f.pass]
			for i := range f.cells {
				f.cells[i].counter = counters[f.cells[i].counter]
			}
			c.fragments = append(c.fragments, f)
		}
	}
	if p.dropped > 0 {
		c.notes = append(c.notes, trace.Note{
			Level: trace.Damage, File: path, Text: fmt.Sprintf("more than %d dispatches: %d are left out", p.limit, p.dropped),
		})
	}
}

func renumber(to, from *names) []int32 {
	out := make([]int32, len(from.list))
	for i, s := range from.list {
		out[i] = to.of(s)
	}
	return out
}

// canonical makes one name of the spellings of a counter: the sum over
// instances is meant by both TCC_HIT and TCC_HIT_sum (rocprofv3 adds up all
// instances before it writes a CSV), and gfx908 and gfx90a write TCC_EA_ for
// what others call TCC_EA0_.
func canonical(name string) string {
	name = alias(strings.TrimSuffix(name, "_sum"))
	if rest, ok := strings.CutPrefix(name, "TCC_EA_"); ok {
		return "TCC_EA0_" + rest
	}
	return name
}

// arrange puts the fragments into the order in which they make dispatches:
// kernel, agent, shape, process, ordinal. Before that it numbers the processes
// of each pass, and each process's dispatches of a kernel and shape.
func (c *collection) arrange() {
	c.sortNames()
	slices.SortFunc(c.fragments, byUnit)
	units := c.units()
	c.number(units)
	slices.SortFunc(c.fragments, byDispatch)
}

// byUnit orders fragments by their process, and inside it as they came.
func byUnit(a, b *fragment) int {
	if a.unit == b.unit && a.pass == b.pass && a.process == b.process && a.replay == b.replay {
		return cmp.Compare(a.order, b.order) // nearly always
	}
	return cmp.Or(
		cmp.Compare(a.unit, b.unit), cmp.Compare(a.pass, b.pass), cmp.Compare(a.process, b.process), cmp.Compare(a.replay, b.replay),
	)
}

// byDispatch puts the fragments of one dispatch side by side.
func byDispatch(a, b *fragment) int {
	if a.kernel != b.kernel {
		return cmp.Compare(a.kernel, b.kernel)
	}
	if a.agent == b.agent && a.grid == b.grid && a.workgroup == b.workgroup && a.unit == b.unit && a.ordinal != b.ordinal {
		return cmp.Compare(a.ordinal, b.ordinal) // nearly always
	}
	return cmp.Or(
		cmp.Compare(a.agent, b.agent), cmp.Compare(a.grid, b.grid), cmp.Compare(a.workgroup, b.workgroup), cmp.Compare(a.unit, b.unit),
		cmp.Compare(a.ordinal, b.ordinal), cmp.Compare(a.pass, b.pass), cmp.Compare(a.replay, b.replay), cmp.Compare(a.start, b.start), cmp.Compare(a.order, b.order),
	)
}

// sortNames numbers kernels and the rest in the order of their names: which
// worker saw one first must not show.
func (c *collection) sortNames() {
	kernels, others := c.kernels.sort(), c.others.sort()
	for i := range c.fragments {
		f := c.fragments[i]
		f.kernel, f.agent, f.process, f.pass = kernels[f.kernel], others[f.agent], others[f.process], others[f.pass]
	}
}

// sort puts the names into order; it returns the new number of each old one.
func (n *names) sort() []int32 {
	sorted := newNames()
	for _, s := range slices.Sorted(slices.Values(n.list)) {
		sorted.of(s)
	}
	moved := renumber(sorted, n)
	*n = *sorted
	return moved
}

// unit is the part of the fragments that is one process of one pass.
type unit struct {
	first, last int
	pass        int32
	replay      int32
	counters    string // which it counts
	rank        int32
}

// units finds the processes. Processes of one pass that count the same are
// ranks, side by side; those that count something else, or are of another
// pass, are the same ranks again. A process whose dispatches count different
// things holds several passes: databases are merged, and profilers change the
// counters between dispatches.
func (c *collection) units() []unit {
	var out []unit
	for i := 0; i < len(c.fragments); {
		f := c.fragments[i]
		j := i + 1
		for j < len(c.fragments) {
			g := c.fragments[j]
			if g.unit != f.unit || g.pass != f.pass || g.process != f.process || g.replay != f.replay {
				break
			}
			j++
		}
		for _, p := range c.passes(i, j) {
			p.pass, p.replay = f.pass, f.replay
			out = append(out, p)
		}
		i = j
	}
	ranks := map[unit]int32{}
	for i := range out {
		u := &out[i]
		key := unit{pass: u.pass, replay: u.replay, counters: u.counters}
		u.rank = ranks[key]
		ranks[key]++
	}
	return out
}

// passes splits the fragments of one process by what their dispatches count. A
// dispatch that counts a part of what others do is of the same pass: rows are
// missing.
func (c *collection) passes(first, last int) []unit {
	part := c.fragments[first:last]
	byID := func(a, b *fragment) int { return cmp.Compare(a.id, b.id) }
	if !slices.IsSortedFunc(part, byID) {
		slices.SortStableFunc(part, byID)
	}
	sets := newNames()
	for i := 0; i < len(part); {
		j := i + 1
		for j < len(part) && part[i].id >= 0 && part[j].id == part[i].id {
			j++
		}
		set := sets.of(c.signature(part[i:j]))
		for k := i; k < j; k++ {
			part[k].ordinal = set // until number
		}
		i = j
	}
	largest := supersets(sets.list)
	for i := range part {
		part[i].ordinal = largest[part[i].ordinal]
	}
	slices.SortStableFunc(part, func(a, b *fragment) int { return cmp.Compare(a.ordinal, b.ordinal) })
	var out []unit
	for i := 0; i < len(part); {
		j := i + 1
		for j < len(part) && part[j].ordinal == part[i].ordinal {
			j++
		}
		out = append(out, unit{first: first + i, last: first + j, counters: sets.list[part[i].ordinal]})
		i = j
	}
	return out
}

// supersets gives for each set the number of one that holds all of it and that
// no other holds: itself, for most.
func supersets(sets []string) []int32 {
	out := make([]int32, len(sets))
	for i := range sets {
		best := i
		for j := range sets {
			if len(sets[j]) > len(sets[best]) && holds(sets[j], sets[i]) {
				best = j
			}
		}
		out[i] = int32(best)
	}
	return out
}

// holds reports whether a set has all of another. Sets are sorted numbers of
// counterBytes each.
func holds(set, part string) bool {
	for len(part) > 0 {
		if len(set) < len(part) {
			return false
		}
		if set[:counterBytes] == part[:counterBytes] {
			part = part[counterBytes:]
		}
		set = set[counterBytes:]
	}
	return true
}

// counterBytes is the size of a counter's number in a signature.
const counterBytes = 3

// signature is the set of counters of some fragments, sorted, as a string.
func (c *collection) signature(fs []*fragment) string {
	c.set = c.set[:0]
	for i := range fs {
		for _, v := range fs[i].cells {
			c.set = append(c.set, v.counter)
		}
	}
	slices.Sort(c.set)
	c.set = slices.Compact(c.set)
	c.key = c.key[:0]
	for _, n := range c.set {
		c.key = append(c.key, byte(n>>16), byte(n>>8), byte(n))
	}
	return string(c.key)
}

// number gives every dispatch its rank, and its ordinal among the dispatches
// of the same kernel, agent and shape in its process; they are sorted by id.
func (c *collection) number(units []unit) {
	type group struct {
		kernel, agent   int32
		grid, workgroup int64
	}
	type last struct {
		id      int64
		ordinal int32
	}
	for _, u := range units {
		part := c.fragments[u.first:u.last]
		seen := map[group]last{}
		for i := range part {
			f := part[i]
			g := group{f.kernel, f.agent, f.grid, f.workgroup}
			l, ok := seen[g]
			switch {
			case !ok:
				l = last{id: f.id}
			case f.id < 0 || f.id != l.id:
				l = last{f.id, l.ordinal + 1}
			}
			seen[g] = l
			f.unit, f.ordinal = u.rank, l.ordinal
		}
	}
}

// dispatch is one dispatch with what all passes counted.
type dispatch struct {
	kernel, agent   int32
	grid, workgroup int64
	id              int64
	rank, ordinal   int32
	duration        float64 // ns; 0 is unknown
	// counters are sorted; values stand beside them.
	counters []int32
	values   []float64
	// instances are the values of single instances, sorted by counter.
	instances []cell
	// differ says that rows of one time repeat a counter with another value.
	differ bool
}

// joiner puts the fragments of one dispatch together, reusing its memory.
type joiner struct {
	d       dispatch
	cells   []timed
	lengths []weighted
}

type timed struct {
	cell
	xcc    int32
	replay int32
	start  int64
}

type weighted struct {
	ns float64
	n  int
}

// each calls f for every dispatch, in order; the dispatch is valid during the
// call only.
func (c *collection) each(f func(d *dispatch)) {
	j := &joiner{}
	for i := 0; i < len(c.fragments); {
		a := c.fragments[i]
		k := i + 1
		for k < len(c.fragments) {
			b := c.fragments[k]
			if a.kernel != b.kernel || a.agent != b.agent || a.grid != b.grid || a.workgroup != b.workgroup || a.unit != b.unit || a.ordinal != b.ordinal {
				break
			}
			k++
		}
		f(j.join(c.fragments[i:k]))
		i = k
	}
}

func (j *joiner) join(fs []*fragment) *dispatch {
	j.d = dispatch{
		kernel: fs[0].kernel, agent: fs[0].agent, grid: fs[0].grid, workgroup: fs[0].workgroup, id: fs[0].id,
		rank: fs[0].unit, ordinal: fs[0].ordinal, counters: j.d.counters[:0], values: j.d.values[:0], instances: j.d.instances[:0],
	}
	j.cells, j.lengths = j.cells[:0], j.lengths[:0]
	for i := range fs {
		f := fs[i]
		if f.duration > 0 {
			j.lengths = append(j.lengths, weighted{f.duration, len(f.cells)})
		}
		for _, v := range f.cells {
			j.cells = append(j.cells, timed{v, f.xcc, f.replay, f.start})
		}
	}
	slices.SortStableFunc(j.cells, func(a, b timed) int {
		return cmp.Or(cmp.Compare(a.counter, b.counter), cmp.Compare(a.instance, b.instance), cmp.Compare(a.xcc, b.xcc))
	})
	for i := 0; i < len(j.cells); {
		k := i + 1
		for k < len(j.cells) && j.cells[k].counter == j.cells[i].counter {
			k++
		}
		j.counter(j.cells[i:k])
		i = k
	}
	j.d.duration = median(j.lengths)
	return &j.d
}

// counter adds one counter: its value over all instances where the input has
// that, else the sum of the instances. Repetitions in several passes or
// replays measure the same thing and are averaged; dies are added.
func (j *joiner) counter(cells []timed) {
	total, all := 0.0, false
	var single float64
	for i := 0; i < len(cells); {
		k := i + 1
		sum := cells[i].value
		for k < len(cells) && cells[k].instance == cells[i].instance && cells[k].xcc == cells[i].xcc {
			same := cells[k].start == cells[k-1].start && cells[k].replay == cells[k-1].replay
			j.d.differ = j.d.differ || same && cells[k].value != cells[k-1].value
			sum += cells[k].value
			k++
		}
		mean := sum / float64(k-i)
		if cells[i].instance == trace.AllInstances {
			total += mean
			all = true
		} else {
			single += mean
			j.d.instances = append(j.d.instances, cell{cells[i].counter, channel(cells[i].instance, cells[i].xcc), mean})
		}
		i = k
	}
	if !all {
		total = single
	}
	j.d.counters = append(j.d.counters, cells[0].counter)
	j.d.values = append(j.d.values, total)
}

// banks is the number of L2 channels of a die (rocprofiler-compute, mi_gpu_spec.yaml).
const banks = 16

// channel numbers an instance over all dies: rocprofv2 counts from 0 on each,
// where it has one row a die.
func channel(instance, xcc int32) int32 {
	if xcc > 0 && instance < banks {
		return xcc*banks + instance
	}
	return instance
}

// median is the median duration, each weighted by the number of values that
// were counted in that time. It is 0 without any.
func median(lengths []weighted) float64 {
	if len(lengths) == 1 {
		return lengths[0].ns
	}
	slices.SortFunc(lengths, func(a, b weighted) int { return cmp.Compare(a.ns, b.ns) })
	n := 0
	for _, l := range lengths {
		n += l.n
	}
	if n == 0 {
		return 0
	}
	at := func(rank int) float64 {
		for _, l := range lengths {
			if rank < l.n {
				return l.ns
			}
			rank -= l.n
		}
		return lengths[len(lengths)-1].ns
	}
	return (at((n-1)/2) + at(n/2)) / 2
}
