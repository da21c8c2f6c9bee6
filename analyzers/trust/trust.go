// Package trust is the analyzer that asks, before anything is ranked, whether
// a thread trace is good enough to speak: the gates.
package trust

import (
	_ "embed"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// Analyzer gives a *Judgement for every thread trace and reports the gates that fired as findings.
var Analyzer = analysis.NewPerTrace(analysis.Analyzer{
	Name:     "trust",
	Doc:      doc,
	Requires: []analysis.Required{code.Analyzer, replay.Analyzer, stalls.Analyzer},
	Params: []analysis.Param{
		{Name: "coverage_pct", Default: 10, Unit: "%", Doc: "of code without stores, atomics and matrix instructions less executed than this: the traced waves left early"},
		{Name: "few_waves", Default: 4, Unit: "waves", Doc: "fewer working waves than this: low confidence"},
		{Name: "atypical_pct", Default: 25, Unit: "%", Doc: "how far the median life of the traced waves may be from that of all waves: beyond it shares of their time are of something else"},
		{Name: "line_collapse_pct", Default: 50, Unit: "%", Doc: "one source line holding at least this share of the instructions: source lines are ranked on request only"},
		{Name: "no_work_stall_pct", Default: 5, Unit: "%", Doc: "no-work waves holding at least this share of the stall are a warning, not a remark"},
	},
	Rules: rules(),
}, run)

// Judgement says what a thread trace is good for.
type Judgement struct {
	// Lost is the share, 0 to 1, of the waves of the traced compute units that
	// the wave files lack: by the list of files, by occupancy.json or by the
	// executions that code.json counts, whichever says most; 0 without wave
	// files.
	Lost float64
	// Kernels are parallel to ThreadTrace.Kernels.
	Kernels []Kernel
}

// Kernel is what is known about the trust in one kernel's figures.
type Kernel struct {
	// Gates are the ids of the gates that fired, in the order of the checks.
	Gates []string
	// Confidence in the ranking: high, medium, low or none.
	Confidence Confidence
	// Reasons say why it is not high.
	Reasons []string
	// Lines says how instructions spread over source lines.
	Lines LineSpread
	// Others says how waves lived elsewhere, where the traced ones left early
	// and occupancy.json tells; nil otherwise.
	Others *Others
	// Companion is the kernel-trace row taken for this kernel; nil for none.
	Companion *Companion
}

// Confidence orders how far a ranking can be trusted.
type Confidence string

// Confidences, best first.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
	None   Confidence = "none"
)

var rank = map[Confidence]int{High: 3, Medium: 2, Low: 1, None: 0}

// Ranked reports whether a gate allows the ranking of source lines.
func (k *Kernel) Ranked() bool { return !k.Lines.Collapsed && k.Lines.Mapped > 0 }

// lower takes the confidence down to c, and says why.
func (k *Kernel) lower(c Confidence, why string) {
	if k.Confidence == "" {
		k.Confidence = High
	}
	if rank[c] < rank[k.Confidence] {
		k.Confidence = c
	}
	k.Reasons = append(k.Reasons, why)
}

// LineSpread says how a kernel's instructions spread over source lines.
type LineSpread struct {
	// Mapped instructions have a source position.
	Mapped, Total int
	// Top is the position with the most instructions, TopPct its share of
	// all of them in percent.
	Top    string
	TopPct float64
	// Collapsed is set when Top holds so much that lines say nothing.
	Collapsed bool
}

func run(p *analysis.Pass, tt *trace.ThreadTrace) (*Judgement, error) {
	s := &subject{p: p, tt: tt, listing: code.Analyzer.Of(p, tt), replay: replay.Analyzer.Of(p, tt), stalls: stalls.Analyzer.Of(p, tt)}
	return s.judge(), nil
}

// spread counts source positions over all instructions, by innermost frame.
func spread(insts []trace.Instruction, collapsePct float64) LineSpread {
	s := LineSpread{Total: len(insts)}
	count := map[trace.Frame]int{}
	var top trace.Frame
	for i := range insts {
		frames := trace.Frames(insts[i].Source)
		if len(frames) == 0 {
			continue
		}
		s.Mapped++
		f := frames[0]
		count[f]++
		if count[f] > count[top] {
			top = f
		}
	}
	if s.Mapped > 0 {
		s.Top = frameText(top)
		s.TopPct = 100 * float64(count[top]) / float64(s.Total)
	}
	s.Collapsed = len(count) > 0 && s.TopPct >= collapsePct
	return s
}
