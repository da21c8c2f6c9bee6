// Package samples is an analyzer; doc.md says what it does.
package samples

import (
	"cmp"
	_ "embed"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/stats"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

const (
	paramTop        = "top"
	paramConfidence = "confidence_pct"
)

// Analyzer returns a *Result.
var Analyzer = analysis.New(analysis.Analyzer{
	Name:  "samples",
	Doc:   doc,
	Needs: []analysis.Evidence{analysis.Samples},
	Params: []analysis.Param{
		{Name: paramTop, Default: 15, Unit: "rows", Doc: "instructions, source lines and waits of each kernel; 0 keeps all"},
		{Name: paramConfidence, Default: 95, Unit: "%", Doc: "confidence with which a share lies in the interval beside it (Wilson's score interval)"},
	},
}, run)

// Result is the machine output.
type Result struct {
	Kernels []Kernel `json:"kernels"`
}

// Kernel is what samples say of one kernel: where its waves were, over the whole
// GPU.
type Kernel struct {
	Path string `json:"path"`
	// Process tells the processes of one file apart.
	Process string             `json:"process,omitempty"`
	Method  trace.SampleMethod `json:"method"`
	// Name is "" where nothing says which kernels the dispatches were.
	Name   string        `json:"name"`
	Symbol string        `json:"symbol,omitempty"`
	Names  capture.Names `json:"-"`
	Shape  capture.Shape `json:"shape"`
	// GPU is the architecture, "" where it is open. Agents are the GPUs that it
	// was sampled on by their node numbers, of all processes, where known.
	GPU    string  `json:"arch,omitempty"`
	Agents []int64 `json:"agent_nodes,omitempty"`
	// Processes is how many files or processes the samples are of.
	Processes  int   `json:"processes"`
	Dispatches int64 `json:"dispatches"`
	// Samples are all, Undecoded those whose instruction is not known: they are
	// in no share.
	Samples   int64 `json:"sample_count"`
	Undecoded int64 `json:"undecoded_samples"`
	// Issued samples are of waves that issued; nil for host traps, which do not
	// know, and where nothing was decoded.
	Issued *Share `json:"issued_share,omitempty"`
	// Reasons are those of the samples that did not issue, the most frequent
	// first.
	Reasons []Reason `json:"stall_reasons,omitempty"`
	// Waits are what the waves waited for.
	Waits        []Wait        `json:"waits"`
	Instructions []Instruction `json:"instructions"`
	// Lines are source lines; empty where no sample has one.
	Lines []Line `json:"lines"`
	// MeanWaves is the mean number of waves on the sampled compute unit, and
	// MeanLanes that of lanes that were switched on.
	MeanWaves *float64 `json:"mean_waves_per_cu,omitempty"`
	MeanLanes *float64 `json:"mean_lanes,omitempty"`
}

// Share is a part of a kernel's decoded samples, and where it lies with the
// confidence of the parameter.
type Share struct {
	Samples int64   `json:"sample_count"`
	Pct     float64 `json:"pct"`
	LowPct  float64 `json:"low_pct"`
	HighPct float64 `json:"high_pct"`
}

// Reason is why samples did not issue.
type Reason struct {
	Reason string `json:"reason"`
	Title  string `json:"title"`
	Share
}

// Wait is what waves waited for.
type Wait struct {
	Kind  Kind   `json:"kind"`
	Title string `json:"title"`
	Share
}

// Instruction is one that was sampled.
type Instruction struct {
	Instruction string `json:"instruction"`
	Source      string `json:"source,omitempty"`
	// Offset is where it lies in its code object, in bytes; nil when unknown.
	Offset *int64 `json:"code_object_offset_bytes,omitempty"`
	Share
	// Issued and Stalled are those of Samples; nil for host traps.
	Issued  *int64 `json:"issued_samples,omitempty"`
	Stalled *int64 `json:"stalled_samples,omitempty"`
	// Reason is the most frequent one of the stalled, ReasonSamples how many.
	Reason        string `json:"reason,omitempty"`
	ReasonSamples int64  `json:"reason_samples,omitempty"`
}

// Line is a source line that was sampled.
type Line struct {
	Source string `json:"source"`
	Share
	Stalled *int64 `json:"stalled_samples,omitempty"`
}

func run(p *analysis.Pass) (*Result, error) {
	res := &Result{Kernels: []Kernel{}}
	for _, g := range groups(p) {
		b := &builder{p: p, run: g.runs[0], runs: g.runs, from: &g.sum, out: Kernel{Names: g.names, Processes: len(g.runs)}}
		b.build()
		res.Kernels = append(res.Kernels, b.out)
	}
	slices.SortStableFunc(res.Kernels, func(a, b Kernel) int { return cmp.Compare(b.Samples, a.Samples) })
	return res, nil
}

// builder makes one Kernel.
type builder struct {
	p *analysis.Pass
	// run is the first of those that sampled the kernel.
	run   *trace.SampleRun
	runs  []*trace.SampleRun
	from  *trace.SampledKernel
	out   Kernel
	insts []isa.Inst
}

func (b *builder) build() {
	k, s := &b.out, b.from
	k.Path, k.Process, k.Method = b.run.Path, b.run.Set, b.run.Method
	if s.Symbol != "" || s.Name != "" {
		k.Name, k.Symbol = k.Names.Shown(), k.Names.Symbol
	}
	if s.Grid != nil {
		k.Shape = capture.Shape{Workgroup: product(*s.Workgroup), Grid: product(*s.Grid)}
		if k.Shape.Workgroup > 0 {
			k.Shape.Workgroups = (k.Shape.Grid + k.Shape.Workgroup - 1) / k.Shape.Workgroup
		}
	}
	k.Dispatches, k.Samples, k.Undecoded, k.Agents = s.Dispatches, s.Samples, s.Undecoded, s.Agents
	target := b.target()
	k.GPU = string(target)
	for i := range s.Insts {
		b.insts = append(b.insts, isa.Parse(s.Insts[i].Text, target))
	}
	b.totals()
	b.instructions()
	b.lines()
	b.waits()
}

// target is the architecture, "" where agents do not tell.
func (b *builder) target() isa.Target {
	var t isa.Target
	for _, r := range b.runs {
		for i := range r.Agents {
			a := &r.Agents[i]
			if len(b.from.Agents) > 0 && !slices.Contains(b.from.Agents, a.NodeID) {
				continue
			}
			if t != "" && string(t) != a.Gfx {
				return ""
			}
			t = isa.Target(a.Gfx)
		}
	}
	return t
}

// decoded is what shares are of.
func (b *builder) decoded() int64 { return b.from.Samples - b.from.Undecoded }

// share makes a share of so many samples.
func (b *builder) share(n int64) Share {
	s := Share{Samples: n}
	if low, high, ok := stats.Binomial(n, b.decoded(), b.p.Param(paramConfidence)/100); ok {
		s.Pct, s.LowPct, s.HighPct = 100*float64(n)/float64(b.decoded()), 100*low, 100*high
	}
	return s
}

// totals are what all samples of the kernel say.
func (b *builder) totals() {
	var issued, lanes, waves, wavesOf int64
	reasons := map[string]int64{}
	for i := range b.from.Insts {
		in := &b.from.Insts[i]
		issued += in.Issued
		lanes += in.Lanes
		waves += in.Waves
		wavesOf += in.WavesOf
		for r, n := range in.NotIssued {
			reasons[r] += n
		}
	}
	if n := b.decoded(); n > 0 {
		b.out.MeanLanes = new(float64(lanes) / float64(n))
	}
	if wavesOf > 0 {
		b.out.MeanWaves = new(float64(waves) / float64(wavesOf))
	}
	if b.run.Method != trace.Stochastic || b.decoded() == 0 {
		return
	}
	b.out.Issued = new(b.share(issued))
	for r, n := range reasons {
		b.out.Reasons = append(b.out.Reasons, Reason{r, ReasonTitle(r), b.share(n)})
	}
	slices.SortFunc(b.out.Reasons, func(x, y Reason) int {
		return cmp.Or(cmp.Compare(y.Samples, x.Samples), cmp.Compare(x.Reason, y.Reason))
	})
}

func (b *builder) instructions() {
	for i := range b.from.Insts {
		in := &b.from.Insts[i]
		x := Instruction{Instruction: in.Text, Source: in.Source, Share: b.share(in.Samples)}
		if in.Offset != trace.Absent {
			x.Offset = &in.Offset
		}
		if b.run.Method == trace.Stochastic {
			x.Issued, x.Stalled = &in.Issued, new(in.Samples-in.Issued)
			for r, n := range in.NotIssued {
				if n > x.ReasonSamples || n == x.ReasonSamples && r < x.Reason {
					x.Reason, x.ReasonSamples = r, n
				}
			}
		}
		b.out.Instructions = append(b.out.Instructions, x)
	}
	slices.SortStableFunc(b.out.Instructions, func(x, y Instruction) int { return cmp.Compare(y.Samples, x.Samples) })
	b.out.Instructions = cut(b, b.out.Instructions)
}

func (b *builder) lines() {
	at := map[string]int{}
	for i := range b.from.Insts {
		in := &b.from.Insts[i]
		if in.Source == "" {
			continue
		}
		l, ok := at[in.Source]
		if !ok {
			l = len(b.out.Lines)
			at[in.Source] = l
			b.out.Lines = append(b.out.Lines, Line{Source: in.Source})
			if b.run.Method == trace.Stochastic {
				b.out.Lines[l].Stalled = new(int64)
			}
		}
		line := &b.out.Lines[l]
		line.Samples += in.Samples
		if line.Stalled != nil {
			*line.Stalled += in.Samples - in.Issued
		}
	}
	for i := range b.out.Lines {
		b.out.Lines[i].Share = b.share(b.out.Lines[i].Samples)
	}
	slices.SortStableFunc(b.out.Lines, func(x, y Line) int { return cmp.Compare(y.Samples, x.Samples) })
	b.out.Lines = cut(b, b.out.Lines)
}

// waits sums samples by what they waited for.
func (b *builder) waits() {
	sums := map[Kind]int64{}
	loads := b.loads()
	for i := range b.from.Insts {
		in := &b.from.Insts[i]
		if b.run.Method != trace.Stochastic {
			if kind := atWait(&b.insts[i], loads); kind != "" {
				sums[kind] += in.Samples
			}
			continue
		}
		for r, n := range in.NotIssued {
			sums[kindOf(r, &b.insts[i], loads)] += n
		}
	}
	for kind, n := range sums {
		b.out.Waits = append(b.out.Waits, Wait{kind, kind.Title(), b.share(n)})
	}
	slices.SortFunc(b.out.Waits, func(x, y Wait) int { return cmp.Or(cmp.Compare(y.Samples, x.Samples), cmp.Compare(x.Kind, y.Kind)) })
}

func cut[T any](b *builder, rows []T) []T {
	if n := int(b.p.Param(paramTop)); n > 0 && len(rows) > n {
		return rows[:n]
	}
	if rows == nil {
		return []T{}
	}
	return rows
}

func product(e [3]int64) int64 { return e[0] * e[1] * e[2] }
