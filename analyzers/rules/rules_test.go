package rules_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/analyzers/rules"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// advise runs the analyzer on fixtures.
func advise(t *testing.T, params map[string]float64, paths ...string) rules.Kernel {
	t.Helper()
	for i := range paths {
		paths[i] = "../../fixtures/" + paths[i]
	}
	tr, err := ingest.Open(t.Context(), paths, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2, Params: params}, rules.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	ks := rules.Analyzer.Of(out).Kernels
	if len(ks) == 0 {
		t.Fatal("no kernel")
	}
	return ks[0]
}

func find(k rules.Kernel, id string) *finding.Finding {
	for i := range k.Findings {
		if k.Findings[i].ID == id {
			return &k.Findings[i]
		}
	}
	return nil
}

// Every row of the checklists that the rules come from has a rule.
func TestChecklistsAreCovered(t *testing.T) {
	for row, ids := range map[string][]string{
		"guide 9: vmcnt(0) before MFMA":              {"vmem_wait", "vmem_drain_in_loop", "no_double_buffer"},
		"guide 9: lgkmcnt(0) after ds_write":         {"lds_wait"},
		"guide 9: ds_* high stall":                   {"lds_issue", "bank_conflicts"},
		"guide 9: s_barrier":                         {"barrier"},
		"guide 9: MFMA utilisation < 50 %":           {"low_matrix_utilisation"},
		"guide 9: s_nop between MFMAs":               {"pipeline_bubble"},
		"guide 9: memory-bound, PMCs":                {"l2_channel_imbalance", "l2_partial_lines", "l2_over_fetch"},
		"guide 11: enough blocks":                    {"grid_under_filled", "tail"},
		"guide 11: tile_k x elem_bytes <= LDS/2":     {"lds_over_half"},
		"guide 11: bank conflicts":                   {"lds_issue", "bank_conflicts"},
		"guide 11: VMEM stall before MFMA":           {"vmem_wait", "vmem_to_lds_wait"},
		"guide 11: lds_stage=2":                      {"no_double_buffer"},
		"guide 11: bubbles":                          {"pipeline_bubble"},
		"guide 11: uncoalesced output stores":        {"narrow_stores", "store_drain"},
		"guide 11: arch + accum <= 256":              {"registers_over_half", "spills"},
		"guide 11: MFMA ratio >= 40 %":               {"matrix_share_of_loop"},
		"guide 11: L2 hit, HBM balance":              {"l2_channel_imbalance", "l2_reuse_lost", "l2_streaming"},
		"gemm 8.4: high-cycle buffer_load":           {"vmem_issue"},
		"gemm 9.3: memory ratio > 50 %":              {"memory_share_of_loop"},
		"gemm 13: TFLOPS against the peak":           {"at_the_roof", "compute_bound", "bandwidth_bound"},
		"verdicts: legacy shapes":                    {"legacy_matrix_shape"},
		"verdicts: narrow loads in streaming":        {"narrow_loads"},
		"verdicts: one-wave workgroups":              {"one_wave_workgroups"},
		"verdicts: scalar loads in loops":            {"scalar_load_in_loop"},
		"verdicts: cross-lane, scalar, dependencies": {"cross_lane_wait", "smem_wait", "mfma_dependency", "valu_dependency"},
	} {
		for _, id := range ids {
			if !slices.ContainsFunc(rules.Rules(), func(r rule.Rule) bool { return r.ID == id }) {
				t.Errorf("%s: no rule %q", row, id)
			}
		}
	}
}

func TestFindings(t *testing.T) {
	for _, c := range []struct {
		dir   string
		has   []string
		hasNo []string
	}{
		{"att/gemm", []string{"late_prefetch", "store_drain", "matrix_share_of_loop", "lds_wait"}, []string{"no_double_buffer", "legacy_matrix_shape", "grid_under_filled", "narrow_loads"}},
		{"att/copy", []string{"bandwidth_bound"}, []string{"vmem_wait", "store_drain", "occupancy", "narrow_loads"}},
		{"att/judged/mfma", []string{"at_the_roof"}, []string{"vmem_wait", "low_matrix_utilisation", "occupancy"}},
		{"att/judged/uneven", []string{"barrier"}, []string{"at_the_roof", "lds_wait"}},
		{"att/judged/tail", []string{"tail"}, []string{"grid_under_filled"}},
		{"att/early", []string{"one_wave_workgroups"}, []string{"narrow_loads"}},
	} {
		t.Run(c.dir, func(t *testing.T) {
			k := advise(t, nil, c.dir)
			var ids []string
			for _, f := range k.Findings {
				ids = append(ids, f.ID)
			}
			for _, id := range c.has {
				if !slices.Contains(ids, id) {
					t.Errorf("no %s in %v", id, ids)
				}
			}
			for _, id := range c.hasNo {
				if slices.Contains(ids, id) {
					t.Errorf("%s in %v", id, ids)
				}
			}
		})
	}
}

// Bounds are shares, findings are ordered by them within a severity but for the
// first, which may follow from the verdict, and every finding has a fix.
func TestBoundsAreBounds(t *testing.T) {
	for _, dir := range []string{"att/gemm", "att/copy", "att/early", "att/judged/uneven", "att/judged/lds"} {
		k := advise(t, nil, dir)
		for i, f := range k.Findings {
			if f.Bound != nil && (f.Bound.Pct < 0 || f.Bound.Pct > 100 || f.Bound.Of == "") {
				t.Errorf("%s: %s is bound by %g %% of %q", dir, f.ID, f.Bound.Pct, f.Bound.Of)
			}
			if f.Fix == "" {
				t.Errorf("%s: %s has no fix", dir, f.ID)
			}
			if i > 1 && f.Severity > k.Findings[i-1].Severity {
				t.Errorf("%s: %s stands behind %s", dir, f.ID, k.Findings[i-1].ID)
			}
		}
	}
}

// The barrier of the uneven kernel by hand: over one workgroup the three other
// waves wait, one SIMD each, so that the bound is the exposed stall of three of
// four SIMDs; its place is the s_barrier in the loop.
func TestPlaces(t *testing.T) {
	f := find(advise(t, nil, "att/judged/uneven"), "barrier")
	if f == nil {
		t.Fatal("no barrier finding")
	}
	if f.Place.Line == nil || *f.Place.Line != 48 || f.Place.LoopFirst == nil || *f.Place.LoopFirst != 7 || *f.Place.LoopLast != 51 || f.Place.Source != "uneven.hip:9" {
		t.Errorf("place %+v (%s)", f.Place, f.Where)
	}
}

func TestParameters(t *testing.T) {
	if f := find(advise(t, nil, "att/gemm"), "lds_wait"); f == nil || f.Minor {
		t.Fatalf("lds_wait: %+v", f)
	}
	k := advise(t, map[string]float64{"lds_wait.share_pct": 90}, "att/gemm")
	if f := find(k, "lds_wait"); f == nil || !f.Minor {
		t.Errorf("a share of 90 %% keeps lds_wait a finding: %+v", f)
	}
	k.Cut(0, false)
	if find(k, "lds_wait") != nil {
		t.Error("a minor finding is shown")
	}
	if left := k.Cut(1, false); len(k.Findings) != 1 || left == 0 {
		t.Errorf("%d findings, %d left", len(k.Findings), left)
	}
}

// Counters are asked for in passes that the hardware can take.
func TestPassesFit(t *testing.T) {
	pmc := regexp.MustCompile(`(?s)pmc: \[(.*?)\]`)
	for _, dir := range []string{"att/gemm", "att/copy", "att/gfx12"} {
		k := advise(t, nil, dir)
		found := 0
		for _, c := range k.Next {
			for _, m := range pmc.FindAllStringSubmatch(c.Input, -1) {
				found++
				list := strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
				if !counters.Fits(list) {
					t.Errorf("%s: %v do not fit one pass", dir, list)
				}
			}
			for _, line := range strings.Split(c.Input, "\n") {
				if len(line) > 76 {
					t.Errorf("%s: %q is too long for a terminal", dir, line)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: no counters are asked for: %+v", dir, k.Next)
		}
	}
	if k := advise(t, nil, "att/gemm", "pmc/gemm"); slices.ContainsFunc(k.Next, func(c rules.Capture) bool { return strings.Contains(c.Input, "pmc") }) {
		t.Errorf("counters that are there are asked for: %+v", k.Next)
	}
}
