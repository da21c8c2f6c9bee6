// Package idioms is the analyzer that finds the same few instructions wherever
// the code repeats them, and gives them one cost.
package idioms

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/analyzers/shape"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// The names of the parameters.
const (
	paramPlaces = "least_places"
	paramTop    = "top"
)

// Analyzer returns a *Result.
var Analyzer = analysis.New(analysis.Analyzer{
	Name:     "idioms",
	Doc:      doc,
	Needs:    []analysis.Evidence{analysis.ThreadTraces},
	Requires: []analysis.Required{code.Analyzer, flow.Analyzer, stalls.Analyzer, shape.Analyzer},
	Params: []analysis.Param{
		{Name: paramPlaces, Default: 4, Unit: "places", Doc: "a sequence at fewer places is not repeated"},
		{Name: paramTop, Default: 5, Unit: "rows", Doc: "repeated sequences listed"},
	},
	Rules: rule.Rules(checks()),
}, run)

// Result is the machine output.
type Result struct {
	Kernels []Kernel `json:"kernels"`
}

// Kernel is one traced kernel. Cycles are latency and idle of the counted
// waves.
type Kernel struct {
	Path       string `json:"path"`
	Name       string `json:"name"`
	WaveCycles int64  `json:"spent_cycles"`
	// Idioms are the known patterns that were executed, Sequences the costliest
	// repeated runs of instructions in none of them; the costliest first.
	Idioms    []Idiom    `json:"idioms"`
	Sequences []Sequence `json:"repeated_sequences"`

	// Found is what the rules found.
	Found []finding.Finding `json:"-"`

	trace  *trace.ThreadTrace
	kernel int
}

// Kernel returns kernel k of a thread trace; nil when it was not selected.
func (r *Result) Kernel(tt *trace.ThreadTrace, k int) *Kernel {
	for at := range r.Kernels {
		if r.Kernels[at].trace == tt && r.Kernels[at].kernel == k {
			return &r.Kernels[at]
		}
	}
	return nil
}

// Idiom is a pattern with its cost.
type Idiom struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Removes names what the remedy removes, RemovedCycles what that costs.
	Removes       string  `json:"removes"`
	RemovedCycles int64   `json:"removed_cycles"`
	RemovedPct    float64 `json:"removed_pct"`
	Fix           string  `json:"fix"`
	Cost
}

// Cost is that of some instructions at all places where they were executed.
type Cost struct {
	Places int `json:"places"`
	// Executions are those of the places' first instructions.
	Executions int64   `json:"executions"`
	WaveCycles int64   `json:"spent_cycles"`
	Pct        float64 `json:"spent_pct"`
	// Example is the costliest place.
	Example []Line `json:"example"`

	removed int64
	at      int   // a row of the example
	rows    []int // that the remedy removes
}

// Line is one instruction.
type Line struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// builder describes one kernel.
type builder struct {
	p      *analysis.Pass
	tt     *trace.ThreadTrace
	kernel trace.Kernel
	insts  []isa.Inst
	flow   *flow.Flow
	stalls *stalls.Breakdown
	shape  rule.Shape
	// repeats says of each loop whether it was gone round more than once.
	repeats []bool
	total   int64
}

func run(p *analysis.Pass) (*Result, error) {
	res := &Result{Kernels: []Kernel{}}
	for _, tt := range p.Trace.ThreadTraces {
		if tt.Flavour == trace.Samples {
			continue
		}
		resolved, shapes := p.Capture.Trace(tt), shape.Analyzer.Of(p, tt)
		for n, kn := range tt.Kernels {
			names := resolved.Kernels[n].Names
			if !p.Selects(names) {
				continue
			}
			b := &builder{
				p: p, tt: tt, kernel: kn, insts: code.Analyzer.Of(p, tt).Insts, flow: flow.Analyzer.Of(p, tt), stalls: stalls.Analyzer.Of(p, tt),
				shape: shapes.Kernels[n], repeats: shapes.Repeats,
			}
			k := b.build()
			k.Path, k.Name, k.trace, k.kernel = tt.Path, names.Shown(), tt, n
			k.Found = analysis.Check(p, checks(), &subject{b, &k}, finding.Place{Path: k.Path, Kernel: k.Name})
			res.Kernels = append(res.Kernels, k)
		}
	}
	return res, nil
}

func (b *builder) build() Kernel {
	for row := b.kernel.First; row < b.kernel.Last; row++ {
		b.total += b.cycles(row)
	}
	k := Kernel{WaveCycles: b.total, Idioms: []Idiom{}}
	m := &matcher{insts: b.insts, taken: map[int]bool{}}
	for i := range patterns {
		p := &patterns[i]
		var places []place
		b.blocks(func(block *flow.Block) {
			if !p.InLoop || b.loops(block.First) {
				places = append(places, m.in(block, p)...)
			}
		})
		if len(places) > 0 {
			k.Idioms = append(k.Idioms, b.idiom(p, places))
		}
	}
	slices.SortStableFunc(k.Idioms, func(a, b Idiom) int { return cmp.Compare(b.RemovedCycles, a.RemovedCycles) })
	k.Sequences = append([]Sequence{}, b.sequences(m.taken, int(b.p.Param(paramTop)), max(int(b.p.Param(paramPlaces)), 2))...)
	return k
}

// blocks visits the kernel's executed blocks.
func (b *builder) blocks(visit func(*flow.Block)) {
	for i := range b.flow.Blocks {
		block := &b.flow.Blocks[i]
		if block.First >= b.kernel.First && block.Last <= b.kernel.Last && b.stalls.Rows[block.First].Hits > 0 {
			visit(block)
		}
	}
}

// loops reports whether a row lies in a loop that was gone round.
func (b *builder) loops(row int) bool {
	for l := int(b.flow.Innermost[row]); l >= 0; l = b.flow.Loops[l].Parent {
		if b.repeats[l] {
			return true
		}
	}
	return false
}

// cycles are the waves' time at a row: latency, and idle before it.
func (b *builder) cycles(row int) int64 {
	r := &b.stalls.Rows[row]
	return r.LatencyCycles + r.IdleCycles
}

func (b *builder) idiom(p *Pattern, places []place) Idiom {
	c := b.cost(places, func(at place, step int) bool { return !p.Steps[step].leaves(&b.insts[at[step]]) })
	return Idiom{
		ID: p.ID, Title: p.Title, Removes: p.Removes, Fix: rule.Fit("", p.Advice, b.shape),
		RemovedCycles: c.removed, RemovedPct: b.pct(c.removed), Cost: c,
	}
}

func (b *builder) pct(cycles int64) float64 {
	if b.total == 0 {
		return 0
	}
	return 100 * float64(cycles) / float64(b.total)
}

// cost sums places; removes says which of their steps a remedy removes.
func (b *builder) cost(places []place, removes func(at place, step int) bool) Cost {
	c := Cost{Places: len(places)}
	most, example := int64(-1), places[0]
	counted := map[int]bool{} // shared rows once
	for _, at := range places {
		c.Executions += b.stalls.Rows[at[0]].Hits
		var sum int64
		for step, row := range at {
			if row < 0 {
				continue
			}
			sum += b.cycles(row)
			if counted[row] {
				continue
			}
			counted[row] = true
			c.WaveCycles += b.cycles(row)
			if removes(at, step) {
				c.removed += b.cycles(row)
				c.rows = append(c.rows, row)
			}
		}
		if sum > most {
			most, example = sum, at
		}
	}
	c.Pct, c.at = b.pct(c.WaveCycles), example[0]
	for _, row := range example.sortedRows() {
		c.Example = append(c.Example, Line{b.tt.Code[row].Line, b.tt.Code[row].Text})
	}
	return c
}

// subject is one kernel as the rules see it.
type subject struct {
	*builder
	k *Kernel
}

// Shape is what the kernel does.
func (s *subject) Shape() rule.Shape { return s.shape }

// checks are a rule for each pattern.
func checks() []rule.Check[*subject] {
	out := make([]rule.Check[*subject], 0, len(patterns))
	for i := range patterns {
		p := &patterns[i]
		out = append(out, rule.Check[*subject]{Rule: rule.Rule{
			ID: p.ID, Title: p.Title, Kind: p.Kind, Severity: finding.Low, Needs: "thread_trace",
			Fires:  "the pattern stands at {least_places} places or more, and what the remedy removes takes at least {share_pct} % of wave cycles: " + p.Removes,
			Advice: p.Advice, Source: p.Source,
			Params: []rule.Param{
				{Name: "least_places", Default: 2, Unit: "places", Doc: "at fewer places it is no repetition"},
				{Name: "share_pct", Default: 3, Unit: "%", Doc: "share of wave cycles of what the remedy removes from which it is worth a finding"},
			},
		}, When: func(s *subject, values rule.Values) []rule.Hit { return s.hits(p, values) }})
	}
	return out
}

func (s *subject) hits(p *Pattern, values rule.Values) []rule.Hit {
	i := slices.IndexFunc(s.k.Idioms, func(x Idiom) bool { return x.ID == p.ID })
	limit := values("share_pct")
	if i < 0 || float64(s.k.Idioms[i].Places) < values("least_places") || s.k.Idioms[i].RemovedPct < min(limit, values(rule.MinorPct)) {
		return nil
	}
	x := &s.k.Idioms[i]
	h := rule.Hit{
		Text: fmt.Sprintf("at %d places, executed %d times: %.1f %% of wave cycles, of which the remedy removes %.1f: %s. The costliest: lines %s",
			x.Places, x.Executions, x.Pct, x.RemovedPct, p.Removes, lines(x.Example)),
		SizePct: x.RemovedPct, Minor: x.RemovedPct < limit,
		Evidence: []finding.Evidence{
			{Metric: "places", Value: float64(x.Places), Unit: "places", Source: "code.json"},
			{Metric: "removed", Value: x.RemovedPct, Unit: "% of wave cycles", Threshold: &limit, Source: "code.json Latency and Idle"},
		},
	}
	if p.Kind == rule.Waits { // nothing but stall; without other instructions the others issue sooner as well
		h.Bound = &finding.Bound{Pct: x.RemovedPct, Of: "wave cycles"}
		for _, row := range x.rows {
			h.Saves = append(h.Saves, finding.Saving{Row: row})
		}
	}
	h.Place, h.Where = s.flow.Place(s.tt, x.at)
	return []rule.Hit{h}
}

// lines names the instructions of a place.
func lines(example []Line) string {
	text := ""
	for i, l := range example {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprint(l.Line)
	}
	return text
}
