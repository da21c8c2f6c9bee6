package samples

import (
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// group is one kernel as all processes sampled it by one method.
type group struct {
	names capture.Names
	runs  []*trace.SampleRun
	sum   trace.SampledKernel

	index map[instKey]int
}

type instKey struct {
	text, source string
	offset       int64
}

// groups sums the kernels of all processes, in the order in which they are
// first met. Kernels that nothing names stay those of their process.
func groups(p *analysis.Pass) []*group {
	var out []*group
	var index capture.Index[*group]
	for _, r := range p.Trace.SampleRuns {
		for i := range r.Kernels {
			k := &r.Kernels[i]
			names := capture.Names{}
			if k.Symbol != "" || k.Name != "" {
				names = capture.NamesOf(k.Symbol, k.Name)
			}
			if !p.Selects(names) {
				continue
			}
			g := known(index.Find(names), r)
			if g == nil {
				g = &group{names: names, index: map[instKey]int{}}
				g.sum.Symbol, g.sum.Name, g.sum.Workgroup, g.sum.Grid = k.Symbol, k.Name, k.Workgroup, k.Grid
				out = append(out, g)
				if len(names.All()) > 0 {
					index.Add(names, g)
				}
			}
			g.add(r, k)
		}
	}
	return out
}

// known is the group of one method among those of a name.
func known(found []*group, r *trace.SampleRun) *group {
	for _, g := range found {
		if g.runs[0].Method == r.Method {
			return g
		}
	}
	return nil
}

// add adds a kernel of one process.
func (g *group) add(r *trace.SampleRun, k *trace.SampledKernel) {
	if !slices.Contains(g.runs, r) {
		g.runs = append(g.runs, r)
	}
	s := &g.sum
	if s.Grid != nil && (k.Grid == nil || *k.Grid != *s.Grid || *k.Workgroup != *s.Workgroup) {
		s.Workgroup, s.Grid = nil, nil
	}
	for _, a := range k.Agents {
		if at, ok := slices.BinarySearch(s.Agents, a); !ok {
			s.Agents = slices.Insert(s.Agents, at, a)
		}
	}
	s.Dispatches += k.Dispatches
	s.Samples += k.Samples
	s.Undecoded += k.Undecoded
	for i := range k.Insts {
		in := &k.Insts[i]
		key := instKey{in.Text, in.Source, in.Offset}
		at, ok := g.index[key]
		if !ok {
			at = len(s.Insts)
			g.index[key] = at
			s.Insts = append(s.Insts, trace.SampledInst{Text: in.Text, Source: in.Source, Offset: in.Offset})
		}
		s.Insts[at].Add(in)
	}
}
