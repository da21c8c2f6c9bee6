// Package regime is the analyzer that joins what the inputs hold about each
// kernel and decides what bounds it, how sure that is, and on which numbers.
package regime

import (
	_ "embed"

	"github.com/rocanalyze/rocanalyze/analyzers/balance"
	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/analyzers/hotspots"
	"github.com/rocanalyze/rocanalyze/analyzers/kernels"
	"github.com/rocanalyze/rocanalyze/analyzers/l2"
	"github.com/rocanalyze/rocanalyze/analyzers/occupancy"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/samples"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
)

//go:embed doc.md
var doc string

// Names of the parameters.
const (
	paramCompute   = "compute_pct"
	paramLikely    = "likely_pct"
	paramBandwidth = "bandwidth_pct"
	paramStreaming = "streaming_pct"
	paramWaiting   = "waiting_pct"
	paramRoof      = "roof_pct"
	paramMixed     = "mixed_points"
	paramNotMemory = "not_memory_pct"
	paramTail      = "tail_loss_pct"
	paramImbalance = "imbalance_pct"
	paramFilled    = "filled_pct"
	paramSmallTail = "small_tail_pct"
	paramDisagree  = "disagree_points"
	paramMemory    = "memory_wait_pct"
	paramOverhead  = "launch_overhead_us"
	paramMatters   = "matters_pct"
)

// Analyzer returns a *Result.
var Analyzer = analysis.New(analysis.Analyzer{
	Name: "regime",
	Doc:  doc,
	Requires: []analysis.Required{
		code.Analyzer, replay.Analyzer, trust.Analyzer, hotspots.Analyzer, occupancy.Analyzer,
		counters.Analyzer, l2.Analyzer, kernels.Analyzer, balance.Analyzer, samples.Analyzer,
	},
	Params: []analysis.Param{
		{Name: paramCompute, Default: 70, Unit: "%", Doc: "matrix or VALU utilisation, or issue utilisation, from which a kernel is compute-bound (FlyDSL kernel tuning guide, section 0)"},
		{Name: paramLikely, Default: 60, Unit: "%", Doc: "matrix or VALU utilisation from which it is likely compute-bound; below it a resource is not the bound (Nsight Compute SpeedOfLight: latency below 60)"},
		{Name: paramBandwidth, Default: 60, Unit: "%", Doc: "share of a memory level's peak from which a kernel is bandwidth-bound: clean streaming reaches 50 to 60 % of HBM's peak and more"},
		{Name: paramStreaming, Default: 50, Unit: "%", Doc: "share of HBM's theoretical peak from which a kernel that streams, by its L2 counters, is likely bandwidth-bound"},
		{Name: paramWaiting, Default: 40, Unit: "%", Doc: "share of wave cycles spent waiting from which a kernel without a busy resource is latency-bound"},
		{Name: paramRoof, Default: 80, Unit: "%", Doc: "utilisation from which the bound resource counts as being at its roof (Nsight Compute SpeedOfLight)"},
		{Name: paramMixed, Default: 10, Unit: "points", Doc: "two resources closer than this bound the kernel together (Nsight Compute SpeedOfLight: balanced)"},
		{Name: paramNotMemory, Default: 30, Unit: "%", Doc: "requested bytes below this share of HBM's peak prove that HBM is not the bound, caches or not"},
		{Name: paramTail, Default: 20, Unit: "%", Doc: "a last round of workgroups in which CUs stay idle for at least this share of the whole time is the bound of a kernel that nothing else bounds"},
		{Name: paramImbalance, Default: 25, Unit: "%", Doc: "share of the time of all waves that even loads of the compute units would save, from which imbalance is the bound of a kernel that nothing else bounds: from there on its finding is high"},
		{Name: paramFilled, Default: 80, Unit: "%", Doc: "share of the CUs that a launch, and of the places that its last round, has to fill to count as filled"},
		{Name: paramSmallTail, Default: 5, Unit: "%", Doc: "loss of workgroup places from which a tail is worth a word beside another bound"},
		{Name: paramDisagree, Default: 20, Unit: "points", Doc: "how far a trace's sample of waves may be from what counters measured over whole dispatches"},
		{Name: paramMemory, Default: 50, Unit: "%", Doc: "share of the waiting that is for memory from which latency cannot be told from bandwidth without memory's peak"},
		{Name: paramOverhead, Default: 5, Unit: "us", Doc: "how much longer than its waves a dispatch may take, where no kernel-trace row tells its duration: bytes that this brings below the threshold of bandwidth decide nothing (measured on MI350X kernels of 5 to 90 us: 1.5 to 6)"},
		{Name: paramMatters, Default: 90, Unit: "%", Doc: "share of the GPU time whose kernels are described by default"},
	},
}, run)

func run(p *analysis.Pass) (*Result, error) {
	j := &joiner{p: p, named: map[string][]int{}}
	j.threadTraces()
	j.counterRuns()
	known := len(j.kernels) > 0
	j.sampled()
	if err := j.runs(known); err != nil {
		return nil, err
	}
	j.launches()
	j.countedShapes()
	res := &Result{Kernels: []Kernel{}}
	for _, k := range j.kernels {
		d := decider{limits: limitsOf(p.Param), k: k}
		d.decide()
	}
	j.order()
	for _, k := range j.kernels {
		res.Kernels = append(res.Kernels, *k)
	}
	return res, nil
}
