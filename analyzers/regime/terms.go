package regime

import (
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// Terms explain the verdicts.
func Terms() []rule.Term {
	const src = "FlyDSL kernel tuning guide, section 0; Nsight Compute SpeedOfLight"
	out := []rule.Term{
		{
			Name: string(Compute), Kind: "regime", Source: src,
			Text: "The matrix pipe or the VALU is at {compute_pct} % of its peak or more ({likely_pct} to {compute_pct} %: likely), or the SIMDs issue in {compute_pct} % of the cycles with a wave resident. What waves wait for is mostly hidden.",
			Fix:  "cut instructions that are not the work; for matrix work the shapes with the full rate",
		},
		{
			Name: string(Bandwidth), Kind: "regime", Source: src,
			Text: "HBM, L2 or LDS moves at {bandwidth_pct} % of its peak or more; clean streaming reaches {streaming_pct} to {bandwidth_pct} % of HBM's peak and more on real parts.",
			Fix:  "move fewer or better-shaped bytes",
		},
		{
			Name: string(Latency), Kind: "regime", Source: src,
			Text: "No resource is busy, and waves wait {waiting_pct} % of their time or more: the pipes are idle while results are on their way. The subtype is what waves wait for.",
			Fix:  "more overlap (prefetch, interleaving) and more waves, not more bandwidth",
		},
		{
			Name: UnderFilled, Kind: "subtype of latency", Source: src,
			Text: "The grid has fewer workgroups than the GPU has CUs: the others have no work, whatever the code does.",
			Fix:  "more, smaller workgroups; in a GEMM smaller tiles or split-K",
		},
		{
			Name: Tail, Kind: "subtype of latency", Source: src,
			Text: "The last round of workgroups leaves CUs idle for a good part of the time.",
			Fix:  "workgroups that make whole rounds, persistent kernels",
		},
		{
			Name: Imbalance, Kind: "subtype of latency", Source: "occupancy.json: every wave of the traced engines",
			Text: "The compute units had unequal work: even loads would save {imbalance_pct} % of the time of all waves or more.",
			Fix:  "longest workgroups first, work queues, split workgroups",
		},
		{
			Name: LDSUnaligned, Kind: "subtype of latency", Source: "rocprofiler-sdk counter_defs.yaml: SQ_LDS_UNALIGNED_STALL",
			Text: "The LDS is busy {bandwidth_pct} % of the time or more, and more of it with unaligned accesses than with moving data: their addresses are no multiples of their width.",
			Fix:  "rows whose pitch is a multiple of the access width",
		},
		{
			Name: LDSConflicts, Kind: "subtype of latency", Source: "rocprofiler-sdk counter_defs.yaml: SQ_LDS_BANK_CONFLICT",
			Text: "The LDS is busy {bandwidth_pct} % of the time or more, and more of it with bank conflicts than with moving data.",
			Fix:  "XOR swizzle, or padding by a multiple of the access width",
		},
		{
			Name: LDSAddresses, Kind: "subtype of latency", Source: "rocprofiler-sdk counter_defs.yaml: SQ_LDS_ADDR_CONFLICT",
			Text: "The LDS is busy {bandwidth_pct} % of the time or more, and more of it with atomics of several lanes on one address than with moving data.",
			Fix:  "reduce over the lanes first, several copies of the counters",
		},
		{
			Name: string(Mixed), Kind: "regime", Source: src,
			Text: "Two resources are within {mixed_points} points of each other: easing one alone gains little.",
		},
		{
			Name: string(Inconclusive), Kind: "regime", Source: src,
			Text: "A gate fired (the traced waves did not do the kernel's work), or the evidence that decides is missing; the verdict says which, and what to capture.",
		},
		{
			Name: "roof", Kind: "regime", Source: "Nsight Compute SpeedOfLight",
			Text: "A resource at {roof_pct} % of its peak or more is at its roof: stop tuning, or do less work.",
		},
	}
	values := rule.Defaults(Analyzer.Params)
	for i := range out {
		out[i].Text = rule.Quote(out[i].Text, values)
	}
	return out
}

// WaitTerms explain the kinds of waiting, but those that are a stall class.
func WaitTerms() []rule.Term {
	var out []rule.Term
	for _, k := range WaitKinds() {
		var classes []string
		for _, c := range k.Classes {
			classes = append(classes, string(c))
		}
		if !slices.Contains(classes, k.Kind) {
			out = append(out, rule.Term{
				Name: k.Kind, Kind: "subtype of latency", Source: "stall classes",
				Text: "Waves wait most for " + k.Words + ": the sum of " + strings.Join(classes, ", ") + ".",
			})
		}
	}
	return out
}
