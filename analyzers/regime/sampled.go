package regime

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/samples"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// sampledKinds are the kinds of waiting that samples tell.
var sampledKinds = map[samples.Kind]string{
	samples.VectorMemory: waitVMEM, samples.LDS: waitLDS, samples.ScalarMemory: waitSMEM, samples.LDSOrScalar: waitLGKM,
	samples.Stores: waitStore, samples.Barrier: waitBarrier, samples.Dependency: waitDependency, samples.OtherWave: waitTurn,
	samples.VectorPipe: "vmem_issue", samples.LDSPipe: "lds_issue", samples.MatrixPipe: "matrix_issue", samples.VALUPipe: "valu",
	samples.OtherPipe: waitIssue, samples.Internal: waitIssue, samples.Fetch: waitFetch,
}

// sampled adds what PC sampling says of each kernel.
func (j *joiner) sampled() {
	res := samples.Analyzer.Of(j.p)
	if res == nil {
		return
	}
	for i := range res.Kernels {
		s := &res.Kernels[i]
		if s.Samples == s.Undecoded {
			continue // they say nothing
		}
		names := s.Names
		if s.Name == "" {
			names = capture.Names{Display: s.Title(true)}
		}
		k := j.kernel(names, s.Shape)
		k.Sources = append(k.Sources, Source{Kind: "pc_samples", Path: s.Path})
		if k.Sampled == nil || s.Samples > k.Sampled.Samples {
			k.Sampled = s
		}
		if k.Arch == "" && s.GPU != "" {
			k.Arch = s.GPU
		}
	}
}

// sampleFacts are the facts of samples alone: what the waves wait for over the
// whole GPU. How busy the machine is, they do not tell: a wave that issues is one
// of many of its SIMD.
func sampleFacts(s *samples.Kernel) facts {
	f := facts{fill: 1, gate: "samples say what the waves wait for, not how busy the machine is", missing: MissingCompute}
	total := s.Samples - s.Undecoded
	if total <= 0 {
		return f
	}
	var waiting int64
	by := map[string]int64{}
	for _, w := range s.Waits {
		by[cmp.Or(sampledKinds[w.Kind], waitOther)] += w.Samples
		waiting += w.Samples
	}
	for kind, n := range by {
		f.waits = append(f.waits, Wait{Kind: kind, SharePct: 100 * float64(n) / float64(waiting), CyclesPct: 100 * float64(n) / float64(total)})
	}
	slices.SortFunc(f.waits, func(a, b Wait) int { return cmp.Or(cmp.Compare(b.CyclesPct, a.CyclesPct), cmp.Compare(a.Kind, b.Kind)) })
	if s.Method == trace.Stochastic {
		f.waiting = new(100 * float64(waiting) / float64(total))
		f.sampled = true
		f.waitingFrom = fmt.Sprintf("%d PC samples over the whole GPU: those that did not issue", total)
	}
	return f
}

// withSamples adds to the facts of other sources what samples say.
func withSamples(f facts, s *samples.Kernel) facts {
	if s == nil {
		return f
	}
	sampled := sampleFacts(s)
	if f.waiting == nil {
		f.waiting, f.waitingFrom, f.sampled = sampled.waiting, sampled.waitingFrom, sampled.sampled
	}
	if len(f.waits) == 0 {
		f.waits = sampled.waits
	}
	return f
}

// sampledEvidence are the largest waits with their sampling error, and the
// hottest place.
func (d *decider) sampledEvidence() []finding.Evidence {
	s := d.k.Sampled
	if s == nil {
		return nil
	}
	var out []finding.Evidence
	for _, w := range s.Waits[:min(len(s.Waits), sampledShown)] {
		out = append(out, finding.Evidence{Metric: "sampled_" + string(w.Kind), Value: w.Pct, Unit: fmt.Sprintf("%% of %d PC samples, %s", s.Samples-s.Undecoded, w.Interval()), Source: s.Path})
	}
	return out
}

// sampledShown is how many waits of samples are evidence.
const sampledShown = 3

// hottest names the place that most samples were at.
func hottest(s *samples.Kernel) string {
	if s == nil || len(s.Instructions) == 0 {
		return ""
	}
	x := s.Instructions[0]
	at := ""
	if x.Source != "" {
		at = " (" + x.Source + ")"
	}
	return fmt.Sprintf("most PC samples are at %s%s: %s", x.Instruction, at, x.Words())
}
