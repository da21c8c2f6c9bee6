package advice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
)

// launchRules look at the grid and at what fits on a SIMD.
func launchRules() []Rule {
	return []Rule{
		{
			ID: "grid_under_filled", Title: "Fewer workgroups than CUs", Kind: Launch, Severity: finding.High, Needs: regime.MissingLaunch,
			Fires:  "the grid has fewer workgroups than the device has CUs",
			Fix:    "smaller tiles or workgroups, split the reduction (split-K), or run several such kernels at once",
			Source: guide + ", section 11 (tiling); " + gemm + ", section 13", check: underFilled,
		},
		{
			ID: "tail", Title: "A last round of workgroups that is far from full", Kind: Launch, Severity: finding.Low, Needs: regime.MissingLaunch,
			Fires:  "the last round of workgroups is less than 80 % full and leaves at least 5 % of all places empty",
			Fix:    "tiles that make whole rounds, a persistent kernel, or stream-K",
			Source: guide + ", section 11 (tiling)",
			Params: []analysis.Param{
				{Name: "full_pct", Default: 80, Unit: "%", Doc: "a last round at least this full is no tail"},
				{Name: "share_pct", Default: 5, Unit: "%", Doc: "share of empty places from which it is worth a finding"},
			},
			check: tail,
		},
		{
			ID: "one_wave_workgroups", Title: "Workgroups of one wave", Kind: Launch, Severity: finding.Low, Needs: regime.MissingLaunch,
			Fires:  "a workgroup is a single wave",
			Fix:    "four waves per workgroup share LDS tiles and start together; one wave reuses nothing of its neighbours",
			Source: guide + ", section 1", check: oneWave,
		},
		{
			ID: "idle_lanes", Title: "Lanes without a work-item", Kind: Launch, Severity: finding.Low, Needs: regime.MissingLaunch,
			Fires:  "the workgroup is no multiple of the wave, at least 5 % of the lanes stay idle",
			Fix:    "make the workgroup a multiple of the wave",
			Source: "LLVM AMDGPUUsage (wavefronts)", Params: sharePct(5, "share of idle lanes from which it is worth a finding"), check: idleLanes,
		},
		{
			ID: "occupancy", Title: "More waves would fit with less", Kind: Room, Severity: finding.Low, Needs: regime.MissingLaunch,
			Fires:  "a latency-bound kernel has workgroups waiting for places, and one step of its limiter lets one more in",
			Fix:    "see the step: fewer registers or less LDS per workgroup",
			Source: guide + ", section 7; " + gemm + ", section 10.2", check: moreRoom,
		},
		{
			ID: "registers_over_half", Title: "Vector registers leave one wave per SIMD", Kind: Room, Severity: finding.Low, Needs: regime.MissingLaunch,
			Fires:  "arch and accumulation registers together exceed 256: one wave per SIMD",
			Fix:    "fewer buffers, asynchronous copies to LDS (no staging registers), smaller tiles per wave",
			Source: guide + ", sections 7 and 11; " + gemm + ", section 13",
			Params: []analysis.Param{{Name: "vgprs", Default: 256, Unit: "VGPRs", Doc: "more than this leaves one wave on a SIMD with 512 registers"}},
			check:  manyRegisters,
		},
		{
			ID: "lds_over_half", Title: "LDS leaves one workgroup per CU", Kind: Room, Severity: finding.Low, Needs: regime.MissingLaunch,
			Fires:  "LDS is the limiter and a workgroup takes more than half of the CU's",
			Fix:    "smaller tile_k (tile_k x elem_bytes x rows at most half of the LDS), one buffer less, or asynchronous loads straight to registers",
			Source: guide + ", section 11 (tiling); " + gemm + ", sections 2.4 and 13", check: muchLDS,
		},
	}
}

func underFilled(s *subject, _ *Rule) []hit {
	l := s.occ.Launch
	if !l.UnderFilled {
		return nil
	}
	idle := 100 * (1 - float64(l.Workgroups)/float64(l.Units))
	return []hit{{
		text:     fmt.Sprintf("%d workgroups on %d %ss: %.0f %% of the GPU has no work", l.Workgroups, l.Units, l.Unit, idle),
		evidence: []finding.Evidence{{Metric: "workgroups", Value: float64(l.Workgroups), Unit: "workgroups", Threshold: new(float64(l.Units)), Source: s.launchSource()}},
		bound:    &idle, boundOf: "the GPU's " + l.Unit + "s, which are idle", severity: new(finding.High),
	}}
}

func (s *subject) launchSource() string {
	if s.occ.Source.Table != "" {
		return s.occ.Source.Table
	}
	return s.occ.Source.Path
}

func tail(s *subject, r *Rule) []hit {
	l := s.occ.Launch
	if l.Rounds < 2 || l.LastRoundPct >= s.param(r, "full_pct") || l.TailPct < minorPct {
		return nil
	}
	limit := s.param(r, "full_pct")
	var severity *finding.Severity
	if last := l.Workgroups - (l.Rounds-1)*l.Slots; last >= int64(l.Units) {
		severity = new(finding.Low) // no unit is idle, each only holds fewer workgroups
	}
	return []hit{{
		severity: severity,
		text: fmt.Sprintf("%d workgroups take %d rounds of %d, the last one %.0f %% full: %.0f %% of all places stay empty if all take equally long",
			l.Workgroups, l.Rounds, l.Slots, l.LastRoundPct, l.TailPct),
		evidence: []finding.Evidence{{Metric: "fill of the last round", Value: l.LastRoundPct, Unit: "%", Threshold: &limit, Source: s.launchSource()}},
		bound:    new(l.TailPct), boundOf: "the kernel's workgroup places", minor: l.TailPct < s.param(r, "share_pct"),
	}}
}

func oneWave(s *subject, _ *Rule) []hit {
	if !s.occ.Launch.OneWave {
		return nil
	}
	return []hit{{
		text:     fmt.Sprintf("a workgroup of %d work-items is one wave", s.occ.WorkgroupSize),
		evidence: []finding.Evidence{{Metric: "waves per workgroup", Value: 1, Unit: "waves", Threshold: new(float64(2)), Source: s.launchSource()}},
	}}
}

func idleLanes(s *subject, r *Rule) []hit {
	pct, limit := s.occ.Launch.IdleLanesPct, s.param(r, "share_pct")
	if pct < limit {
		return nil
	}
	return []hit{{
		text:     fmt.Sprintf("a workgroup of %d work-items on waves of %d: %.0f %% of the lanes are idle", s.occ.WorkgroupSize, s.occ.WaveSize, pct),
		evidence: []finding.Evidence{{Metric: "idle lanes", Value: pct, Unit: "%", Threshold: &limit, Source: s.launchSource()}},
		bound:    &pct, boundOf: "the lanes",
	}}
}

// waves is the occupancy as evidence.
func (s *subject) waves() []finding.Evidence {
	return []finding.Evidence{{
		Metric: "occupancy", Value: *s.occ.WavesPerSIMD, Unit: "waves/SIMD", Threshold: new(float64(s.occ.MaxWavesPerSIMD)), Source: s.launchSource(),
	}}
}

func moreRoom(s *subject, _ *Rule) []hit {
	o := s.occ
	if s.k.Regime != regime.Latency || !o.Launch.OccupancyMatters || o.WavesPerSIMD == nil {
		return nil
	}
	step := ""
	for _, st := range o.NextStep {
		if st.Gains {
			step = st.Text
			break
		}
	}
	if step == "" && o.Together != nil {
		step = o.Together.Text
	}
	if step == "" {
		return nil
	}
	return []hit{{
		text:     fmt.Sprintf("%g waves/SIMD, limited by %s, while workgroups wait for places", *o.WavesPerSIMD, strings.Join(o.Limiters, " and ")),
		fix:      step,
		evidence: s.waves(),
	}}
}

func manyRegisters(s *subject, r *Rule) []hit {
	o, limit := s.occ, s.param(r, "vgprs")
	if o.Registers.VGPRs == nil || float64(*o.Registers.VGPRs) <= limit || o.WavesPerSIMD == nil || !slices.Contains(o.Limiters, "vgpr") || !o.Launch.OccupancyMatters {
		return nil
	}
	return []hit{{
		text:     fmt.Sprintf("%d vector registers per lane leave %g wave per SIMD: nothing else issues while it waits", *o.Registers.VGPRs, *o.WavesPerSIMD),
		evidence: []finding.Evidence{{Metric: "vector registers", Value: float64(*o.Registers.VGPRs), Unit: "VGPRs", Threshold: &limit, Source: s.launchSource()}},
	}}
}

func muchLDS(s *subject, _ *Rule) []hit {
	o := s.occ
	l := o.Limits["lds"]
	if !slices.Contains(o.Limiters, "lds") || l.Pool == 0 || 2*l.Allocated <= l.Pool || o.WavesPerSIMD == nil || !o.Launch.OccupancyMatters {
		return nil
	}
	return []hit{{
		text:     fmt.Sprintf("%d of %d bytes of LDS leave one workgroup per %s", l.Allocated, l.Pool, o.Unit),
		evidence: []finding.Evidence{{Metric: "LDS per workgroup", Value: float64(l.Allocated), Unit: "bytes", Threshold: new(float64(l.Pool) / 2), Source: s.launchSource()}},
	}}
}
