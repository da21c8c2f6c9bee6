package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// launchRules look at the grid and at what fits on a SIMD.
func launchRules() []rule.Check[*subject] {
	return []rule.Check[*subject]{
		{Rule: rule.Rule{
			ID: "one_wave_workgroups", Title: "Workgroups of one wave", Kind: rule.Launch, Severity: finding.Low, Needs: needsLaunch,
			Fires:  "a workgroup is a single wave",
			Fix:    "workgroups of four waves fill the four SIMDs of a CU alike and start together",
			Advice: []rule.Advice{{When: rule.LDSReads | rule.MatrixWork, Text: "they also share tiles in LDS; one wave reuses nothing of its neighbours"}},
			Source: guide + ", section 1",
		}, When: oneWave},
		{Rule: rule.Rule{
			ID: "occupancy", Title: "More waves would fit with less", Kind: rule.Room, Severity: finding.Low, Needs: needsLaunch,
			Fires:  "a latency-bound kernel has workgroups waiting for places, and one step of its limiter lets one more in",
			Fix:    "see the step: fewer registers or less LDS per workgroup",
			Source: guide + ", section 7; " + gemm + ", section 10.2",
		}, When: moreRoom},
		{Rule: rule.Rule{
			ID: "registers_over_half", Title: "Vector registers leave one wave per SIMD", Kind: rule.Room, Severity: finding.Low, Needs: needsLaunch,
			Fires: "arch and accumulation registers together exceed {vgprs}: one wave per SIMD",
			Advice: []rule.Advice{
				{Text: "fewer values alive at once: fewer buffers, less work per wave"},
				{When: rule.MatrixWork | rule.LDSWrites, Text: "smaller tiles per wave, asynchronous copies to LDS (no staging registers)"},
			},
			Source: guide + ", sections 7 and 11; " + gemm + ", section 13",
			Params: []rule.Param{{Name: "vgprs", Default: 256, Unit: "VGPRs", Doc: "more than this leaves one wave on a SIMD with 512 registers"}},
		}, When: manyRegisters},
		{Rule: rule.Rule{
			ID: "lds_over_half", Title: "LDS leaves one workgroup per CU", Kind: rule.Room, Severity: finding.Low, Needs: needsLaunch,
			Fires: "LDS is the limiter and a workgroup takes more than {pool_pct} % of the CU's",
			Advice: []rule.Advice{
				{Text: "less LDS for each workgroup: one buffer less, or loads straight to registers"},
				{When: rule.GEMM | rule.MatrixLoop, Text: "smaller tile_k (tile_k x elem_bytes x rows at most half of the LDS)"},
			},
			Source: guide + ", section 11 (tiling); " + gemm + ", sections 2.4 and 13",
			Params: []rule.Param{{Name: "pool_pct", Default: 50, Unit: "%", Doc: "more than this of a CU's LDS leaves room for one workgroup"}},
		}, When: muchLDS},
	}
}

func (s *subject) launchSource() string {
	if s.occ.Source.Table != "" {
		return s.occ.Source.Table
	}
	return s.occ.Source.Path
}

func oneWave(s *subject, _ rule.Values) []rule.Hit {
	if !s.occ.Launch.OneWave {
		return nil
	}
	return []rule.Hit{{
		Text:     fmt.Sprintf("a workgroup of %d work-items is one wave", s.occ.WorkgroupSize),
		Evidence: []finding.Evidence{{Metric: "waves per workgroup", Value: 1, Unit: "waves", Threshold: new(float64(2)), Source: s.launchSource()}},
	}}
}

// waves is the occupancy as evidence.
func (s *subject) waves() []finding.Evidence {
	return []finding.Evidence{{
		Metric: "occupancy", Value: *s.occ.WavesPerSIMD, Unit: "waves/SIMD", Threshold: new(float64(s.occ.MaxWavesPerSIMD)), Source: s.launchSource(),
	}}
}

func moreRoom(s *subject, _ rule.Values) []rule.Hit {
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
	return []rule.Hit{{
		Text:     fmt.Sprintf("%g waves/SIMD, limited by %s, while workgroups wait for places", *o.WavesPerSIMD, strings.Join(o.Limiters, " and ")),
		Fix:      step,
		Evidence: s.waves(),
	}}
}

func manyRegisters(s *subject, values rule.Values) []rule.Hit {
	o, limit := s.occ, values("vgprs")
	if o.Registers.VGPRs == nil || float64(*o.Registers.VGPRs) <= limit || o.WavesPerSIMD == nil || !slices.Contains(o.Limiters, "vgpr") || !o.Launch.OccupancyMatters {
		return nil
	}
	return []rule.Hit{{
		Text:     fmt.Sprintf("%d vector registers per lane leave %g wave per SIMD: nothing else issues while it waits", *o.Registers.VGPRs, *o.WavesPerSIMD),
		Evidence: []finding.Evidence{{Metric: "vector registers", Value: float64(*o.Registers.VGPRs), Unit: "VGPRs", Threshold: &limit, Source: s.launchSource()}},
	}}
}

func muchLDS(s *subject, values rule.Values) []rule.Hit {
	o := s.occ
	l := o.Limits["lds"]
	most := float64(l.Pool) * values("pool_pct") / 100
	if !slices.Contains(o.Limiters, "lds") || l.Pool == 0 || float64(l.Allocated) <= most || o.WavesPerSIMD == nil || !o.Launch.OccupancyMatters {
		return nil
	}
	return []rule.Hit{{
		Text:     fmt.Sprintf("%d of %d bytes of LDS leave one workgroup per %s", l.Allocated, l.Pool, o.Unit),
		Evidence: []finding.Evidence{{Metric: "LDS per workgroup", Value: float64(l.Allocated), Unit: "bytes", Threshold: &most, Source: s.launchSource()}},
	}}
}
