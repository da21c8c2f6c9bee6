// Package pcsampling reads the samples that rocprofv3 --pc-sampling-method takes
// and sums them by kernel and instruction: no sample is held. Source:
// rocprofiler-sdk output/generateCSV.cpp and pc_sampling.h.
package pcsampling

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Bounds of what is held of one run.
const (
	maxInsts      = 1 << 20
	maxDispatches = 1 << 20
)

// reasonPrefixes stand before the reasons; releases before 7.0 had the shorter.
var reasonPrefixes = [...]string{
	"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_", "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_",
}

// Reason is a reason as trace.StallReasons has it, without what stands before
// all of them.
func Reason(name string) string {
	for _, p := range reasonPrefixes {
		if rest, ok := strings.CutPrefix(name, p); ok {
			name = rest
			break
		}
	}
	return strings.ToLower(name)
}

// Dispatch is what is known of one dispatch of a run.
type Dispatch struct {
	// Kernel tells the kernels of the run apart.
	Kernel          int64
	Symbol, Name    string
	Agent           int64
	Workgroup, Grid [3]int64
}

// Sample is one sample.
type Sample struct {
	// Dispatch is its number, Of what is known of that; nil for nothing.
	Dispatch int64
	Of       *Dispatch
	// Decoded is false where the profiler could not tell the instruction.
	Decoded      bool
	Text, Source string
	// Offset in the code object, trace.Absent where it is not known.
	Offset int64
	// Issued says whether the wave issued, Reason why not.
	Issued bool
	Reason string
	// Exec is the mask of lanes, Waves those on the compute unit, negative where
	// that is not known.
	Exec  uint64
	Waves int64
}

// unnamed is the kernel of dispatches of which nothing is known.
const unnamed = -1

// Sums are the samples of a run.
type Sums struct {
	// Run is what they become.
	Run *trace.SampleRun

	kernels map[int64]*summing
	order   []*summing
	insts   int
}

// summing is a kernel while its samples come in.
type summing struct {
	trace.SampledKernel
	index      map[instKey]int
	dispatches map[int64]bool
}

type instKey struct {
	text, source string
	offset       int64
}

// NewSums begins the sums of a run.
func NewSums(run *trace.SampleRun) *Sums { return &Sums{Run: run, kernels: map[int64]*summing{}} }

// Add adds one sample.
func (s *Sums) Add(x *Sample) {
	s.Run.Samples++
	k := s.kernel(x.Of)
	k.Samples++
	if len(k.dispatches) < maxDispatches {
		k.dispatches[x.Dispatch] = true
	}
	if !x.Decoded {
		s.Run.Undecoded++
		k.Undecoded++
		return
	}
	at, ok := k.index[instKey{x.Text, x.Source, x.Offset}]
	if !ok {
		if s.insts == maxInsts {
			s.Run.Lumped++
			return
		}
		s.insts++
		at = len(k.Insts)
		text, source := strings.Clone(x.Text), strings.Clone(x.Source)
		k.index[instKey{text, source, x.Offset}] = at
		k.Insts = append(k.Insts, trace.SampledInst{Text: text, Source: source, Offset: x.Offset})
	}
	s.sum(&k.Insts[at], x)
}

func (s *Sums) sum(in *trace.SampledInst, x *Sample) {
	in.Samples++
	in.Lanes += int64(bits.OnesCount64(x.Exec))
	if x.Waves >= 0 {
		in.Waves += x.Waves
		in.WavesOf++
	}
	switch {
	case s.Run.Method != trace.Stochastic:
	case x.Issued:
		in.Issued++
	default:
		if in.NotIssued == nil {
			in.NotIssued = map[string]int64{}
		}
		in.NotIssued[x.Reason]++
	}
}

// kernel is that of a dispatch.
func (s *Sums) kernel(d *Dispatch) *summing {
	id := int64(unnamed)
	if d != nil {
		id = d.Kernel
	}
	k := s.kernels[id]
	if k == nil {
		k = &summing{index: map[instKey]int{}, dispatches: map[int64]bool{}}
		if d != nil {
			k.Symbol, k.Name = d.Symbol, d.Name
			k.on(d.Agent)
			if d.Grid[0] > 0 {
				k.Workgroup, k.Grid = &d.Workgroup, &d.Grid
			}
		}
		s.kernels[id] = k
		s.order = append(s.order, k)
		return k
	}
	if d != nil {
		k.on(d.Agent)
		if k.Grid != nil && (*k.Grid != d.Grid || *k.Workgroup != d.Workgroup) {
			k.Workgroup, k.Grid = nil, nil
		}
	}
	return k
}

// on adds the agent of a sample.
func (k *summing) on(agent int64) {
	if at, known := slices.BinarySearch(k.Agents, agent); !known && agent != trace.Absent {
		k.Agents = slices.Insert(k.Agents, at, agent)
	}
}

// Done gives the run.
func (s *Sums) Done() *trace.SampleRun {
	for _, k := range s.order {
		k.Dispatches = int64(len(k.dispatches))
		s.Run.Kernels = append(s.Run.Kernels, k.SampledKernel)
	}
	return s.Run
}
