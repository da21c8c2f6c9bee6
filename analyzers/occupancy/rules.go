package occupancy

import (
	"fmt"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// The evidence that rules need, as in the verdict's list of what is missing.
const needsLaunch = "kernel_trace"

// The documents that rules come from.
const (
	guide  = "FlyDSL kernel tuning guide"
	gemm   = "FlyDSL GEMM optimization guide"
	llvm   = "LLVM AMDGPUUsage"
	sdkPMC = "rocprofiler-sdk kernel tracing"
)

// checks are the rules on one kernel.
func checks() []rule.Check[*subject] {
	return []rule.Check[*subject]{
		{
			Rule: rule.Rule{
				ID: "does_not_fit", Title: "Not even one workgroup fits", Kind: rule.Launch, Severity: finding.High,
				Because: "high: it cannot run as described",
				Fires:   "registers, LDS or the size of a workgroup are more than a CU has; of a kernel that ran, the figures are doubted",
				Fix:     "use smaller workgroups, less LDS or fewer registers", Source: llvm,
			},
			When: doesNotFit,
		},
		{
			Rule: rule.Rule{
				ID: "spills", Title: "Registers spilled to memory", Kind: rule.Work, Severity: finding.Medium,
				Because: "medium: what it costs is not known before it is gone; low where only scalar registers are spilled, first to lanes of vector registers",
				Fires:   "scratch instructions were executed, or the compiler counts spilled registers",
				Advice: []rule.Advice{
					{Text: "allow more registers per wave (__launch_bounds__, amdgpu_waves_per_eu), or keep fewer values alive at once"},
					{When: rule.MatrixWork, Text: "smaller tiles or fewer buffers; do not force AGPRs to zero (maxnreg)"},
					{When: rule.GEMM | rule.LDSWrites, Text: "lds_stage=1, asynchronous copies to LDS"},
				},
				Source: guide + ", sections 2 and 7; " + gemm + ", section 10; " + llvm + " (.vgpr_spill_count, .sgpr_spill_count)",
			},
			When: spills,
		},
		{
			Rule: rule.Rule{
				ID: "scratch", Title: "Scratch memory without a spill", Kind: rule.Work, Severity: finding.Low,
				Fires:  "the kernel has scratch memory, and neither spills nor executed scratch instructions tell why",
				Fix:    "give the code object: its metadata counts spills; index arrays with constants, unroll the loops over them",
				Source: llvm + " (.private_segment_fixed_size)",
			},
			When: scratch,
		},
		{
			Rule: rule.Rule{
				ID: "dynamic_stack", Title: "A stack that grows at run time", Kind: rule.Work, Severity: finding.Low,
				Fires: "the code object says that its stack's size is only known at run time",
				Fix:   "avoid recursion and indirect calls", Source: llvm + " (.uses_dynamic_stack)",
			},
			When: dynamicStack,
		},
		{
			Rule: rule.Rule{
				ID: "grid_under_filled", Title: "Fewer workgroups than CUs", Kind: rule.Launch, Severity: finding.High, Needs: needsLaunch,
				Because: "high: nothing inside the kernel helps while CUs have no work",
				Fires:   "the grid has fewer workgroups than the device has CUs (WGPs in WGP mode)",
				Advice: []rule.Advice{
					{Text: "more, smaller workgroups, or run several such kernels at once; more occupancy does not help"},
					{When: rule.MatrixWork, Text: "smaller tiles"},
					{When: rule.GEMM, Text: "split the reduction (split-K)"},
				},
				Source: guide + ", section 11 (tiling); " + gemm + ", section 13",
			},
			When: underFilled,
		},
		{
			Rule: rule.Rule{
				ID: "tail", Title: "A last round of workgroups that is far from full", Kind: rule.Launch, Severity: finding.Low, Needs: needsLaunch,
				Fires: "the last round of workgroups is less than {full_pct} % full and leaves at least {share_pct} % of all places empty; low where no unit is idle in it",
				Advice: []rule.Advice{
					{Text: "workgroups that make whole rounds, or a persistent kernel"},
					{When: rule.GEMM, Text: "stream-K"},
				},
				Source: guide + ", section 11 (tiling)",
				Params: []rule.Param{
					{Name: "full_pct", Default: 80, Unit: "%", Doc: "a last round at least this full is no tail"},
					{Name: "share_pct", Default: 5, Unit: "%", Doc: "share of empty places from which it is worth a finding"},
				},
			},
			When: tail,
		},
		{
			Rule: rule.Rule{
				ID: "idle_lanes", Title: "Lanes without a work-item", Kind: rule.Launch, Severity: finding.Low, Needs: needsLaunch,
				Fires:  "the workgroup is no multiple of the wave, and at least {share_pct} % of the lanes stay idle",
				Fix:    "make the workgroup a multiple of the wave",
				Source: llvm + " (wavefronts)",
				Params: []rule.Param{{Name: "share_pct", Default: 5, Unit: "%", Doc: "share of idle lanes from which it is worth a finding"}},
			},
			When: idleLanes,
		},
		{
			Rule: rule.Rule{
				ID: "more_observed_than_possible", Title: "More waves ran than can", Kind: rule.Gate, Severity: finding.Medium,
				Fires: "one SIMD held more waves than registers, LDS and workgroup size allow",
				Means: "the figures are not those of the traced dispatch",
				Fix:   "keep the kernel_trace.csv and agent_info.csv of the same run beside the trace", Source: "occupancy.json against the occupancy",
			},
			When: exceeds,
		},
		{
			Rule: rule.Rule{
				ID: "fewer_registers_than_code", Title: "A row of another build", Kind: rule.Gate, Severity: finding.Medium,
				Fires: "the code names more registers than the kernel-trace row has",
				Means: "the row is of another build of the kernel",
				Fix:   "keep the kernel_trace.csv of the same run beside the trace", Source: "code.json against the kernel trace",
			},
			When: fewerRegisters,
		},
	}
}

// captureChecks are the rules on the register counts of one kernel trace.
func captureChecks() []rule.Check[gpu.Halved] {
	return []rule.Check[gpu.Halved]{
		{
			Rule: rule.Rule{
				ID: "halved_vgpr_count", Title: "Register counts that are half of the allocation", Kind: rule.Gate, Severity: finding.Info,
				Fires: "the capture's VGPR_Count can only be half of the allocation",
				Means: "it was doubled",
				Fix:   "nothing to do here; rocprofiler-sdk with rocm-systems#5862 writes the whole count", Source: sdkPMC,
			},
			When: func(h gpu.Halved, _ rule.Values) []rule.Hit {
				if !h.Halved {
					return nil
				}
				return []rule.Hit{{
					Text:     fmt.Sprintf("VGPR_Count is half of the allocation and was doubled (%s: %s)", h.Certainty, h.Why),
					Evidence: []finding.Evidence{{Metric: "launches with a count that only halving gives", Value: float64(h.OddRows), Unit: "launches", Source: "VGPR_Count"}},
				}}
			},
		},
		{
			Rule: rule.Rule{
				ID: "mixed_vgpr_counts", Title: "Halved and whole register counts in one capture", Kind: rule.Gate, Severity: finding.Medium,
				Fires: "some register counts of the capture can only be halved, others only whole",
				Means: "none is doubled",
				Fix:   "give the kernel traces of one profiler at a time", Source: sdkPMC,
			},
			When: func(h gpu.Halved, _ rule.Values) []rule.Hit {
				if h.Halved || h.Certainty != gpu.Undecided || h.OddRows == 0 {
					return nil
				}
				return []rule.Hit{{Text: h.Why}}
			},
		},
	}
}

// Relevant reports whether a finding of this analyzer or of one that it
// requires bears on occupancy; whether a trace is good enough to rank stalls
// does not.
func Relevant(f finding.Finding) bool {
	switch f.ID {
	case "companion_mismatch", "damaged_input", "architecture_conflict", "architecture_open", "empty_trace":
		return true
	}
	return !slices.ContainsFunc(trust.Analyzer.Rules, func(r rule.Rule) bool { return r.ID == f.ID })
}

// source is the table, file or kind of source that a kernel's figures are of.
func (s *subject) source() string {
	for _, name := range []string{s.k.Source.Table, s.k.Source.Path} {
		if name != "" {
			return name
		}
	}
	return s.k.Source.Kind
}

func doesNotFit(s *subject, _ rule.Values) []rule.Hit {
	if s.k.shape == nil || s.k.shape.Fits {
		return nil
	}
	h := rule.Hit{Text: "not even one workgroup fits"}
	for _, r := range reasons(&s.k) {
		h.Text += ": " + r
	}
	if ran(s.k.Source.Kind) {
		h.Text += "; yet the capture says that it ran"
		h.Fix = "its registers, LDS or workgroup size, as captured or as given by options, are not those that it ran with: check them against the code object"
	}
	return []rule.Hit{h}
}

// ran reports whether a source of this kind records dispatches.
func ran(kind string) bool {
	return slices.Contains([]string{"thread_trace", "kernel_trace", "rocpd"}, kind)
}

// scratched is what a traced kernel executed of scratch instructions.
type scratched struct {
	executed int64
	// sharePct is their part of the wave cycles.
	sharePct float64
	place    finding.Place
	where    string
}

// scratchOf counts the scratch instructions that a traced kernel executed.
func (b *builder) scratchOf(tt *trace.ThreadTrace, k int) (out scratched) {
	insts, rows := code.Analyzer.Of(b.p, tt).Insts, stalls.Analyzer.Of(b.p, tt).Rows
	var cycles, all int64
	for row := tt.Kernels[k].First; row < tt.Kernels[k].Last; row++ {
		r := &rows[row]
		all += r.LatencyCycles + r.IdleCycles
		if c := insts[row].Class; (c != isa.ScratchLoad && c != isa.ScratchStore) || r.Hits == 0 {
			continue
		}
		if out.executed == 0 {
			out.place, out.where = flow.Analyzer.Of(b.p, tt).Place(tt, row)
		}
		out.executed += r.Hits
		cycles += r.LatencyCycles
	}
	if all > 0 {
		out.sharePct = 100 * float64(cycles) / float64(all)
	}
	return out
}

func spills(s *subject, _ rule.Values) []rule.Hit {
	var h rule.Hit
	v, g, bytes := value(s.k.Registers.VGPRSpills), value(s.k.Registers.SGPRSpills), value(s.k.Registers.ScratchBytes)
	if x := s.scratched; x.executed > 0 {
		h.Text = fmt.Sprintf("%d scratch instructions were executed; they alone take %.1f %% of wave cycles", x.executed, x.sharePct)
		h.Evidence = append(h.Evidence, finding.Evidence{Metric: "scratch instructions", Value: float64(x.executed), Unit: "executions", Source: "code.json"})
		h.Place, h.Where = x.place, x.where
	}
	if v+g > 0 {
		if h.Text != "" {
			h.Text += "; "
		}
		h.Text += fmt.Sprintf("%d VGPRs and %d SGPRs are spilled", v, g)
		h.Evidence = append(h.Evidence,
			finding.Evidence{Metric: "spilled VGPRs", Value: float64(v), Unit: "registers", Source: ".vgpr_spill_count"},
			finding.Evidence{Metric: "spilled SGPRs", Value: float64(g), Unit: "registers", Source: ".sgpr_spill_count"})
	}
	if h.Text == "" {
		return nil
	}
	if bytes > 0 {
		h.Text += fmt.Sprintf(", with %d B of scratch per lane", bytes)
		h.Evidence = append(h.Evidence, finding.Evidence{Metric: "scratch", Value: float64(bytes), Unit: "B/lane", Source: ".private_segment_fixed_size"})
	}
	if v == 0 && s.scratched.executed == 0 {
		h.Severity = new(finding.Low)
	}
	return []rule.Hit{h}
}

func scratch(s *subject, values rule.Values) []rule.Hit {
	n := value(s.k.Registers.ScratchBytes)
	if n == 0 || spills(s, values) != nil {
		return nil
	}
	why := "spilled registers, or arrays that are indexed at run time"
	if s.k.Registers.VGPRSpills != nil {
		why = "no register is spilled: arrays that are indexed at run time, or the stack of calls"
	}
	return []rule.Hit{{
		Text:     fmt.Sprintf("%d B of scratch memory per lane: %s", n, why),
		Evidence: []finding.Evidence{{Metric: "scratch", Value: float64(n), Unit: "B/lane", Source: s.source()}},
	}}
}

func dynamicStack(s *subject, _ rule.Values) []rule.Hit {
	if !s.dynamicStack {
		return nil
	}
	return []rule.Hit{{Text: "its stack grows at run time (recursion or calls through pointers): scratch memory is more than it says"}}
}

// launch is how the grid fills the GPU, nil where that is not known.
func (s *subject) launch() *gpu.LaunchShape {
	if s.k.Launch == nil {
		return nil
	}
	return s.k.Launch.LaunchShape
}

func underFilled(s *subject, _ rule.Values) []rule.Hit {
	l := s.launch()
	if l == nil || !l.UnderFilled {
		return nil
	}
	idle := 100 * (1 - float64(l.Workgroups)/float64(l.Units))
	return []rule.Hit{{
		Text:     fmt.Sprintf("%s on %d %ss: %.0f %% of the GPU has no work", count(int(l.Workgroups), "workgroup"), l.Units, l.Unit, idle),
		Evidence: []finding.Evidence{{Metric: "workgroups", Value: float64(l.Workgroups), Unit: "workgroups", Threshold: new(float64(l.Units)), Source: s.source()}},
		Bound:    &finding.Bound{Pct: idle, Of: "the GPU's " + string(l.Unit) + "s, which are idle"},
	}}
}

// tail fires when the last round of workgroups leaves much of the GPU empty.
func tail(s *subject, values rule.Values) []rule.Hit {
	l, full, share := s.launch(), values("full_pct"), values("share_pct")
	if l == nil || l.Rounds < 2 || l.LastRoundPct >= full || l.TailPct < min(share, values(rule.MinorPct)) {
		return nil
	}
	h := rule.Hit{
		Text: fmt.Sprintf("%d workgroups take %d rounds of %d, the last one %.0f %% full: %.0f %% of all places stay empty if all take equally long",
			l.Workgroups, l.Rounds, l.Slots, l.LastRoundPct, l.TailPct),
		Evidence: []finding.Evidence{{Metric: "fill of the last round", Value: l.LastRoundPct, Unit: "%", Threshold: &full, Source: s.source()}},
		Bound:    &finding.Bound{Pct: l.TailPct, Of: "the kernel's workgroup places"}, Minor: l.TailPct < share,
	}
	if last := l.Workgroups - (l.Rounds-1)*l.Slots; last >= int64(l.Units) {
		h.Severity = new(finding.Low) // no unit is idle, each only holds fewer workgroups
	}
	return []rule.Hit{h}
}

func idleLanes(s *subject, values rule.Values) []rule.Hit {
	l, limit := s.launch(), values("share_pct")
	if l == nil || l.IdleLanesPct < limit || l.IdleLanesPct == 0 {
		return nil
	}
	return []rule.Hit{{
		Text: fmt.Sprintf("a workgroup of %d work-items is no multiple of the wave of %d: %.0f %% of the lanes stay idle",
			s.k.WorkgroupSize, s.k.WaveSize, l.IdleLanesPct),
		Evidence: []finding.Evidence{{Metric: "idle lanes", Value: l.IdleLanesPct, Unit: "%", Threshold: &limit, Source: s.source()}},
		Bound:    &finding.Bound{Pct: l.IdleLanesPct, Of: "the lanes"},
	}}
}

func exceeds(s *subject, _ rule.Values) []rule.Hit {
	o := s.k.Observed
	if o == nil || !o.Exceeds {
		return nil
	}
	return []rule.Hit{{
		Text: fmt.Sprintf("one SIMD held %d waves, registers, LDS and workgroup size allow %d: they are not those of the traced dispatch", o.Peak, *o.Possible),
		Evidence: []finding.Evidence{
			{Metric: "waves on one SIMD", Value: float64(o.Peak), Unit: "waves", Threshold: new(float64(*o.Possible)), Source: "occupancy.json"},
		},
	}}
}

func fewerRegisters(s *subject, _ rule.Values) []rule.Hit {
	for _, n := range s.k.Notes {
		if n.ID == "fewer_registers_than_code" {
			return []rule.Hit{{Text: n.Text}}
		}
	}
	return nil
}
