package trace

// SampleMethod is how PC sampling takes its samples.
type SampleMethod string

// The methods. Source: rocprofiler-sdk pc_sampling.h.
const (
	// Stochastic samples are taken by hardware: each says whether the wave
	// issued, and why not.
	Stochastic SampleMethod = "stochastic"
	// HostTrap samples are taken by interrupts: they know where the wave was and
	// no more, and may be some instructions late.
	HostTrap SampleMethod = "host_trap"
)

// SampleRun is what PC sampling left of one process: samples of waves over the
// whole GPU, summed by kernel and instruction.
type SampleRun struct {
	// Path is the file as the user can find it again. Set tells the processes of
	// one file apart; "" where there is one.
	Path, Set string
	Method    SampleMethod
	PID       *int64
	// Agents are the GPUs, where the source describes them.
	Agents  []Agent
	Kernels []SampledKernel
	// Samples are all of them, Undecoded those in code that the profiler could
	// not decode: a runtime's own kernels, or code that changes itself.
	Samples, Undecoded int64
	// Lumped samples are of instructions beyond the bound of what is held.
	Lumped int64
}

// SampledKernel is a kernel that was sampled.
type SampledKernel struct {
	// Symbol and Name are its names, both "" where nothing tells which kernel a
	// dispatch was.
	Symbol, Name string
	// Agents are the Agent.NodeIDs that it was sampled on, sorted; empty where
	// that is not known.
	Agents []int64
	// Workgroup and Grid are in work-items, nil where they differ or are not
	// known.
	Workgroup, Grid *[3]int64
	// Dispatches is in how many there are samples.
	Dispatches int64
	// Samples are all of it, those undecoded included.
	Samples, Undecoded int64
	// Insts are in the order in which they were first met.
	Insts []SampledInst
}

// SampledInst is an instruction that was sampled.
type SampledInst struct {
	// Text is its assembly, Source the "file:line" that it is of, "" for none.
	Text, Source string
	// Offset is where it lies in its code object, Absent where the source does
	// not say.
	Offset int64
	// Samples are waves that were there, Issued those that issued it then.
	Samples, Issued int64
	// NotIssued counts the others by reason, as in StallReasons ("waitcnt");
	// empty for host traps.
	NotIssued map[string]int64
	// Lanes sums the lanes that were switched on.
	Lanes int64
	// Waves sums the waves on the compute unit over WavesOf samples.
	Waves, WavesOf int64
}

// Add adds the samples of the same instruction.
func (in *SampledInst) Add(o *SampledInst) {
	in.Samples += o.Samples
	in.Issued += o.Issued
	in.Lanes += o.Lanes
	in.Waves += o.Waves
	in.WavesOf += o.WavesOf
	for r, n := range o.NotIssued {
		if in.NotIssued == nil {
			in.NotIssued = map[string]int64{}
		}
		in.NotIssued[r] += n
	}
}
