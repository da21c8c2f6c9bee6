package occupancy

import (
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// halved decides once per capture and architecture how its register counts are
// to be read, from all of its launches.
func (b *builder) halved(t *trace.LaunchTable, a gpu.Arch) gpu.Halved {
	return b.decide(t.Path, a, t.Rows, func() []gpu.Counts { return countsOf(t.Launches) })
}

// halvedTraced decides for the capture that a traced kernel's row is from, with
// what the code names as further evidence.
func (b *builder) halvedTraced(tt *trace.ThreadTrace, l *trace.Launch, a gpu.Arch, named int) gpu.Halved {
	own := gpu.Counts{Kernel: l.Kernel, VGPR: whole(l.VGPRs), Accum: whole(l.AccumVGPRs), CodeVGPRs: named}
	for _, t := range tt.LaunchTables {
		if t.Path != l.Origin.File {
			continue
		}
		return b.decide(t.Path, a, t.Rows, func() []gpu.Counts {
			counts := countsOf(t.Launches)
			for i := range counts {
				if c := &counts[i]; c.Kernel == own.Kernel && c.VGPR == own.VGPR && c.Accum == own.Accum {
					c.CodeVGPRs = named
				}
			}
			return counts
		})
	}
	return b.decide(l.Origin.File, a, 1, func() []gpu.Counts { return []gpu.Counts{own} })
}

func countsOf(ls []trace.LaunchSum) []gpu.Counts {
	out := make([]gpu.Counts, 0, len(ls))
	for i := range ls {
		l := &ls[i]
		if l.VGPRs != nil {
			out = append(out, gpu.Counts{Kernel: l.Kernel, VGPR: whole(l.VGPRs), Accum: whole(l.AccumVGPRs)})
		}
	}
	return out
}

func (b *builder) decide(path string, a gpu.Arch, dispatches int64, counts func() []gpu.Counts) gpu.Halved {
	key := decision{path, a.Name}
	if at, ok := b.decided[key]; ok {
		return b.res.Captures[at].Halved
	}
	h := gpu.DetectHalved(a, counts())
	// Equal rows were summed before: what is counted are different launches.
	h.Why = strings.ReplaceAll(h.Why, " rows", " different launches")
	b.decided[key] = len(b.res.Captures)
	b.res.Captures = append(b.res.Captures, Capture{Path: path, Arch: a.Name, Dispatches: dispatches, Halved: h})
	analysis.Check(b.p, captureChecks(), h, finding.Place{Path: path})
	return h
}
