package kernels

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/stats"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// stats adds a statistics table: its rows are kernels of which only sums are
// known.
func (b *builder) stats(t *trace.KernelStats) {
	run := Run{Path: t.Path, Kind: "kernel_stats", Excluded: []ExcludedText{}}
	for i := range t.Rows {
		run.Rows += t.Rows[i].Calls
		run.Calls += t.Rows[i].Calls
		run.TotalNs += t.Rows[i].TotalNs
	}
	note := func(text string) { b.p.Note(trace.Note{Level: trace.Warning, File: t.Path, Text: text}) }
	// Equal to the nanosecond: no two runs are.
	same := func(r Run) bool { return r.Calls > 0 && r.Calls == run.Calls && r.TotalNs == run.TotalNs }
	if i := slices.IndexFunc(b.res.Runs, same); i >= 0 {
		note("the same run as in " + b.res.Runs[i].Path + ": it counts once")
		return
	}
	if b.by != "kernel" && b.by != "process" {
		note("a statistics table does not tell rows by " + b.by + ": left out")
	}
	for i := range t.Rows {
		row := &t.Rows[i]
		if names := capture.NamesOf("", row.Name); b.by == "kernel" && b.p.Selects(names) {
			key := rowKey{kernel: kernelKey{names.Shown(), trace.Absent, trace.Absent, trace.Absent, int64(-1 - len(b.res.Runs))}}
			b.row(key).table, b.row(key).symbol = row, names.Symbol
		}
	}
	if b.windowed() {
		note("a statistics table has no times: --since and --until do not apply to it")
	}
	b.res.Calls += run.Calls
	b.res.TotalNs += run.TotalNs
	b.res.Runs = append(b.res.Runs, run)
}

// result turns the sums into rows.
func (b *builder) result() *Result {
	keys := slices.SortedFunc(maps.Keys(b.rows), compareKeys)
	rows := make([]Row, 0, len(keys))
	for _, k := range keys {
		rows = append(rows, b.makeRow(k, b.rows[k]))
	}
	order := 0
	if i := int(b.p.Param(paramSort)); i >= 0 && i < len(Orders) {
		order = i
	}
	sortRows(rows, Orders[order])
	if b.by == "kernel" || b.by == "shape" {
		b.res.Kernels = rows
		b.res.Runtime = b.runtime(rows)
	} else {
		b.res.Groups = rows
	}
	return b.res
}

func compareKeys(a, b rowKey) int {
	return cmp.Or(
		cmp.Compare(a.kernel.name, b.kernel.name), cmp.Compare(a.kernel.vgprs, b.kernel.vgprs), cmp.Compare(a.kernel.accum, b.kernel.accum),
		cmp.Compare(a.kernel.sgprs, b.kernel.sgprs), cmp.Compare(a.kernel.lds, b.kernel.lds),
		compareShapes(a.shape, b.shape), compareAgents(a.agent, b.agent),
		cmp.Compare(a.run, b.run), cmp.Compare(a.stream, b.stream),
	)
}

func compareShapes(a, b shapeKey) int {
	return cmp.Or(
		slices.Compare(a.grid[:], b.grid[:]), slices.Compare(a.workgroup[:], b.workgroup[:]),
		cmp.Compare(a.lds, b.lds), cmp.Compare(a.scratch, b.scratch),
	)
}

func compareAgents(a, b agentKey) int {
	return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.id, b.id), cmp.Compare(a.gfx, b.gfx), cmp.Compare(a.product, b.product))
}

// sortRows orders rows by one of Orders, the largest first but for names; the
// order of equal ones stays.
func sortRows(rows []Row, order string) {
	value := func(p *float64) float64 {
		if p == nil {
			return -1
		}
		return *p
	}
	whole := func(p *int64) float64 {
		if p == nil {
			return -1
		}
		return float64(*p)
	}
	key := map[string]func(*Row) float64{
		"total":  func(r *Row) float64 { return float64(r.TotalNs) },
		"calls":  func(r *Row) float64 { return float64(r.Calls) },
		"mean":   func(r *Row) float64 { return r.MeanNs },
		"median": func(r *Row) float64 { return value(r.MedianNs) },
		"p95":    func(r *Row) float64 { return value(r.P95Ns) },
		"min":    func(r *Row) float64 { return whole(r.MinNs) },
		"max":    func(r *Row) float64 { return whole(r.MaxNs) },
		"cv":     func(r *Row) float64 { return value(r.CVPct) },
	}[order]
	slices.SortStableFunc(rows, func(a, b Row) int {
		if key == nil {
			return cmp.Compare(a.Name, b.Name)
		}
		return cmp.Compare(key(&b), key(&a))
	})
}

// makeRow turns the sums of a row into its figures.
func (b *builder) makeRow(k rowKey, s *rowSums) Row {
	r := Row{Name: b.rowName(k), Shapes: []Shape{}, Agents: []AgentOf{}}
	if s.symbol != r.Name && k.kernel.name != "" {
		r.Symbol = s.symbol
	}
	if b.by == "kernel" || b.by == "shape" {
		r.Registers = registersOf(k.kernel)
		r.Runtime = slices.ContainsFunc(runtimePrefixes, func(p string) bool {
			return strings.HasPrefix(r.Name, p) || strings.HasPrefix(s.symbol, p)
		})
		r.Processes = len(s.runs)
		r.Streams = len(s.streams)
	} else {
		r.Kernels = len(s.kernels)
	}
	if s.table != nil {
		r.fromTable(s.table)
	} else {
		r.fromSums(s)
	}
	if b.res.TotalNs > 0 {
		r.SharePct = 100 * float64(r.TotalNs) / float64(b.res.TotalNs)
	}
	if rest := b.res.TotalNs - r.TotalNs; rest > 0 {
		bound := float64(b.res.TotalNs) / float64(rest)
		r.MaxSpeedup = &bound
	}
	return r
}

func (b *builder) rowName(k rowKey) string {
	switch b.by {
	case "agent":
		return agentName(k.agent)
	case "process", "stream":
		run := b.p.Trace.Runs[k.run-1]
		name := label(run.Path, run.Set)
		if run.Process.PID != nil {
			name = fmt.Sprintf("pid %d, %s", *run.Process.PID, name)
		}
		if b.by == "process" {
			return name
		}
		if k.stream == trace.Absent {
			return "no stream, " + name
		}
		return fmt.Sprintf("stream %d, %s", k.stream, name)
	}
	return k.kernel.name
}

func registersOf(k kernelKey) *Registers {
	r := &Registers{known(k.vgprs), known(k.accum), known(k.sgprs), known(k.lds)}
	if k.lds < 0 {
		r.StaticLDS = nil
	}
	if *r == (Registers{}) {
		return nil
	}
	return r
}

func (r *Row) fromTable(t *trace.KernelStat) {
	r.Calls, r.TotalNs = t.Calls, t.TotalNs
	r.MeanNs = float64(t.TotalNs) / float64(t.Calls)
	r.MinNs, r.MaxNs = t.MinNs, t.MaxNs
	if t.StdDevNs != nil && t.Calls > 1 {
		r.StdDevNs = t.StdDevNs
		r.variation()
	}
}

func (r *Row) variation() {
	if r.MeanNs > 0 {
		cv := 100 * *r.StdDevNs / r.MeanNs
		r.CVPct = &cv
	}
}

func (r *Row) fromSums(s *rowSums) {
	sums := sumsOf(&s.Moments)
	r.Calls, r.TotalNs, r.MeanNs = sums.Calls, sums.TotalNs, sums.MeanNs
	r.MinNs, r.MaxNs = &sums.MinNs, &sums.MaxNs
	if q, ok := s.sample.Quantiles(0.5, 0.95); ok {
		r.MedianNs, r.P95Ns, r.Rounded = &q[0], &q[1], !s.sample.Exact()
	}
	if sd, ok := s.StdDev(); ok {
		r.StdDevNs = &sd
		r.variation()
	}
	for _, k := range slices.SortedFunc(maps.Keys(s.shapes), compareShapes) {
		r.Shapes = append(r.Shapes, shapeRow(k, s.shapes[k]))
	}
	slices.SortStableFunc(r.Shapes, func(a, b Shape) int { return cmp.Compare(b.TotalNs, a.TotalNs) })
	for _, k := range slices.SortedFunc(maps.Keys(s.agents), compareAgents) {
		r.Agents = append(r.Agents, AgentOf{
			ID: known(k.id), Host: k.host, Name: agentName(k), Gfx: k.gfx, Product: k.product, Sums: sumsOf(s.agents[k]),
		})
	}
}

func sumsOf(m *stats.Moments) Sums {
	mean, _ := m.Mean()
	return Sums{Calls: m.Count(), TotalNs: m.Sum(), MeanNs: mean, MinNs: m.Min(), MaxNs: m.Max()}
}

func shapeRow(k shapeKey, m *stats.Moments) Shape {
	s := Shape{LDSBytes: figure(k.lds), ScratchBytes: figure(k.scratch), Sums: sumsOf(m)}
	if k.workgroup[0] != trace.Absent {
		s.Workgroup = slices.Clone(k.workgroup[:])
	}
	if k.grid[0] != trace.Absent {
		s.Grid = slices.Clone(k.grid[:])
	}
	l := trace.Launch{Workgroup: &k.workgroup, Grid: &k.grid}
	if n, ok := l.Workgroups(); ok {
		s.Workgroups = &n
	}
	return s
}

// figure is nil for a count that is unknown or cannot be.
func figure(v int64) *int64 {
	if v < 0 {
		return nil
	}
	return &v
}

// runtime sums the rows of the runtime's kernels.
func (b *builder) runtime(rows []Row) *RuntimeShare {
	var out RuntimeShare
	for i := range rows {
		if r := &rows[i]; r.Runtime {
			out.Kernels++
			out.Calls += r.Calls
			out.TotalNs += r.TotalNs
			out.SharePct += r.SharePct
		}
	}
	if out.Kernels == 0 {
		return nil
	}
	return &out
}
