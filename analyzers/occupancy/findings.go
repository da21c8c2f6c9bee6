package occupancy

import (
	"fmt"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/finding"
)

// findings reports what stands out about one kernel.
func (b *builder) findings(s *subject) {
	for _, rule := range []func(*subject) *finding.Finding{
		doesNotFit, spills, scratch, dynamicStack, underFilled, b.tail, b.idleLanes, exceeds, fewerRegisters,
	} {
		f := rule(s)
		if f == nil {
			continue
		}
		f.Place = finding.Place{Path: s.k.Source.Path, Kernel: s.k.Name}
		b.p.Report(*f)
	}
}

func (s *subject) source() string {
	if s.k.Source.Table != "" {
		return s.k.Source.Table
	}
	return s.k.Source.Kind
}

func doesNotFit(s *subject) *finding.Finding {
	if s.k.shape == nil || s.k.shape.Fits {
		return nil
	}
	text := "not even one workgroup fits"
	for _, r := range reasons(&s.k) {
		text += ": " + r
	}
	f := &finding.Finding{ID: "does_not_fit", Severity: finding.High, Text: text, Fix: "use smaller workgroups, less LDS or fewer registers"}
	if ran(s.k.Source.Kind) {
		f.Text += "; yet the capture says that it ran"
		f.Fix = "its registers, LDS or workgroup size, as captured or as given by options, are not those that it ran with: check them against the code object"
	}
	return f
}

// ran reports whether a source of this kind records dispatches.
func ran(kind string) bool {
	return slices.Contains([]string{"thread_trace", "kernel_trace", "rocpd"}, kind)
}

// spills fires on the compiler's own count. Source: code object metadata
// .vgpr_spill_count and .sgpr_spill_count (LLVM AMDGPUUsage).
func spills(s *subject) *finding.Finding {
	v, g := value(s.k.Registers.VGPRSpills), value(s.k.Registers.SGPRSpills)
	if v+g == 0 {
		return nil
	}
	f := &finding.Finding{
		ID: "register_spills", Severity: finding.Medium,
		Text: fmt.Sprintf("%d VGPRs and %d SGPRs are spilled", v, g),
		Evidence: []finding.Evidence{
			{Metric: "spilled VGPRs", Value: float64(v), Unit: "registers", Source: ".vgpr_spill_count"},
			{Metric: "spilled SGPRs", Value: float64(g), Unit: "registers", Source: ".sgpr_spill_count"},
		},
		Fix: "allow more registers per wave (__launch_bounds__, amdgpu_waves_per_eu), or keep fewer values alive",
	}
	if n := value(s.k.Registers.ScratchBytes); n > 0 {
		f.Text += fmt.Sprintf(", with %d B of scratch per lane", n)
		f.Evidence = append(f.Evidence, finding.Evidence{Metric: "scratch", Value: float64(n), Unit: "B/lane", Source: ".private_segment_fixed_size"})
	}
	if v == 0 {
		f.Severity = finding.Low // scalar registers are first spilled to lanes of VGPRs
	}
	return f
}

func scratch(s *subject) *finding.Finding {
	n := value(s.k.Registers.ScratchBytes)
	if n == 0 || spills(s) != nil {
		return nil
	}
	why := "spilled registers, or arrays that are indexed at run time"
	if s.k.Registers.VGPRSpills != nil {
		why = "no register is spilled: arrays that are indexed at run time, or the stack of calls"
	}
	return &finding.Finding{
		ID: "scratch", Severity: finding.Low,
		Text:     fmt.Sprintf("%d B of scratch memory per lane: %s", n, why),
		Evidence: []finding.Evidence{{Metric: "scratch", Value: float64(n), Unit: "B/lane", Source: s.source()}},
		Fix:      "give the code object: its metadata counts spills; index arrays with constants, unroll the loops over them",
	}
}

func dynamicStack(s *subject) *finding.Finding {
	if !s.dynamicStack {
		return nil
	}
	return &finding.Finding{
		ID: "dynamic_stack", Severity: finding.Low,
		Text: "its stack grows at run time (recursion or calls through pointers): scratch memory is more than it says",
		Fix:  "avoid recursion and indirect calls",
	}
}

func underFilled(s *subject) *finding.Finding {
	l := s.k.Launch
	if l == nil || l.LaunchShape == nil || !l.UnderFilled {
		return nil
	}
	return &finding.Finding{
		ID: "grid_under_filled", Severity: finding.Medium,
		Text: fmt.Sprintf("a grid of %s leaves %d of %d %ss without work", count(int(l.Groups), "workgroup"), int64(l.Units)-l.Groups, l.Units, l.Unit),
		Evidence: []finding.Evidence{
			{Metric: "workgroups", Value: float64(l.Groups), Unit: "workgroups", Threshold: new(float64(l.Units)), Source: s.source()},
		},
		Fix: "use smaller workgroups or tiles, or split the work further (split-K); more occupancy does not help",
	}
}

// tail fires when the last round of workgroups leaves much of the GPU empty.
func (b *builder) tail(s *subject) *finding.Finding {
	l := s.k.Launch
	fill := b.p.Param(paramTailFill)
	if l == nil || l.LaunchShape == nil || l.Rounds < 2 || l.LastRoundPct >= fill || l.TailPct < b.p.Param(paramTailLoss) {
		return nil
	}
	return &finding.Finding{
		ID: "tail", Severity: finding.Low,
		Text: fmt.Sprintf("%d workgroups take %d rounds of %d, the last one %.0f %% full: %.0f %% of the places stay empty if all take equally long",
			l.Groups, l.Rounds, l.Slots, l.LastRoundPct, l.TailPct),
		Evidence: []finding.Evidence{{Metric: "fill of the last round", Value: l.LastRoundPct, Unit: "%", Threshold: &fill, Source: s.source()}},
		Fix:      "choose tiles that make whole rounds, or a persistent kernel",
		Bound:    &finding.Bound{Pct: l.TailPct, Of: "the kernel's time"},
	}
}

func (b *builder) idleLanes(s *subject) *finding.Finding {
	l := s.k.Launch
	if l == nil || l.LaunchShape == nil || l.IdleLanesPct < b.p.Param(paramIdleLanes) {
		return nil
	}
	return &finding.Finding{
		ID: "idle_lanes", Severity: finding.Low,
		Text: fmt.Sprintf("a workgroup of %d work-items is no multiple of the wave of %d: %.0f %% of the lanes stay idle",
			s.k.WorkgroupSize, s.k.WaveSize, l.IdleLanesPct),
		Evidence: []finding.Evidence{{Metric: "idle lanes", Value: l.IdleLanesPct, Unit: "%", Source: s.source()}},
		Fix:      fmt.Sprintf("make workgroups a multiple of %d work-items", s.k.WaveSize),
	}
}

func exceeds(s *subject) *finding.Finding {
	o := s.k.Observed
	if o == nil || !o.Exceeds {
		return nil
	}
	return &finding.Finding{
		ID: "more_observed_than_possible", Severity: finding.Medium, Gate: true,
		Text: fmt.Sprintf("one SIMD held %d waves, registers, LDS and workgroup size allow %d: they are not those of the traced dispatch", o.Peak, *o.Possible),
		Evidence: []finding.Evidence{
			{Metric: "waves on one SIMD", Value: float64(o.Peak), Unit: "waves", Threshold: new(float64(*o.Possible)), Source: "occupancy.json"},
		},
		Fix: "keep the kernel_trace.csv and agent_info.csv of the same run beside the trace",
	}
}

func fewerRegisters(s *subject) *finding.Finding {
	for _, n := range s.k.Notes {
		if n.ID == "fewer_registers_than_code" {
			return &finding.Finding{
				ID: "fewer_registers_than_code", Severity: finding.Medium, Gate: true, Text: n.Text,
				Fix: "keep the kernel_trace.csv of the same run beside the trace",
			}
		}
	}
	return nil
}

// Relevant reports whether a finding of this analyzer or of one that it
// requires bears on occupancy; whether a trace is good enough to rank stalls
// does not.
func Relevant(f finding.Finding) bool {
	switch f.ID {
	case "companion_mismatch", "damaged_input", "architecture_conflict", "architecture_open", "empty_trace",
		"does_not_fit", "register_spills", "scratch", "dynamic_stack", "grid_under_filled", "tail", "idle_lanes",
		"more_observed_than_possible", "fewer_registers_than_code", "halved_vgpr_count", "mixed_vgpr_counts":
		return true
	}
	return false
}
