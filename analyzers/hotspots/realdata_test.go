package hotspots_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/hotspots"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const data = "../../../shared/data/att"

// expected is what the real captures' README promises per directory.
type expected struct {
	Dispatches []struct {
		Kernel, Dispatch string
		StallByScript    []struct {
			Type string
			Pct  float64
		} `json:"stall_by_python_script"`
		Instructions  int
		LatencyCycles int64 `json:"latency_cycles"`
		StallCycles   int64 `json:"stall_cycles"`
		IsaMaxVGPR    int   `json:"isa_max_vgpr"`
		Coverage      struct {
			Executed     int
			MFMAStatic   int `json:"mfma_static"`
			MFMAExecuted int `json:"mfma_executed"`
		}
		LgkmSplit struct {
			PctOfStall float64            `json:"lgkm_wait_pct_of_stall"`
			ByProducer map[string]float64 `json:"by_producer"`
		} `json:"lgkm_split"`
		Waves struct {
			Waves      int
			NoWork     int                `json:"no_work_waves"`
			NoWorkPct  float64            `json:"no_work_stall_pct"`
			WorkingPct map[string]float64 `json:"stall_types_working_waves"`
		}
	}
}

func realData(t *testing.T) expected {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(data, "expected.json"))
	if os.IsNotExist(err) {
		t.Skip("the real captures are not here: " + data)
	}
	if err != nil {
		t.Fatal(err)
	}
	var e expected
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// loaded is one analysed capture.
type loaded struct {
	tt     *trace.ThreadTrace
	list   *code.Listing
	replay *replay.Replay
	stalls *stalls.Breakdown
	kernel *hotspots.Kernel
	out    *analysis.Outcome
}

func load(t *testing.T, path string, all bool) loaded {
	t.Helper()
	tr, err := ingest.Open(t.Context(), []string{path}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	opts := analysis.Options{Workers: 2, Params: map[string]float64{"hotspots.top": 0}}
	if all {
		opts.Params["stalls.all_waves"] = 1
	}
	out, err := analysis.Run(t.Context(), tr, opts, hotspots.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	return loaded{
		tr.ThreadTraces[0],
		code.Analyzer.Of(out, tr.ThreadTraces[0]),
		replay.Analyzer.Of(out, tr.ThreadTraces[0]),
		stalls.Analyzer.Of(out, tr.ThreadTraces[0]),
		&hotspots.Analyzer.Of(out).Kernels[0],
		out,
	}
}

// scriptType is the classification of the public hotspot script, by substrings
// of the disassembly in this order.
func scriptType(text string) string {
	has := func(subs ...string) bool {
		for _, s := range subs {
			if strings.Contains(text, s) {
				return true
			}
		}
		return false
	}
	switch {
	case has("s_waitcnt") && has("vmcnt"):
		return "VMEM-wait"
	case has("s_waitcnt") && has("lgkmcnt"):
		return "LDS/SMEM-wait"
	case has("s_waitcnt") && has("expcnt"):
		return "EXP-wait"
	case has("s_waitcnt"):
		return "waitcnt"
	case has("s_barrier", "s_wait_idle"):
		return "barrier"
	case has("buffer_load", "global_load", "flat_load"):
		return "VMEM-load"
	case has("buffer_store", "global_store"):
		return "VMEM-store"
	case has("ds_read", "ds_write"):
		return "LDS"
	case has("s_load", "s_store"):
		return "SMEM"
	case has("v_mfma", "v_fma"):
		return "MFMA/FMA"
	}
	return "other"
}

// byScriptType collapses a breakdown to the script's types, in percent of all
// of its stall.
func byScriptType(l loaded) map[string]float64 {
	sum := map[string]int64{}
	var all int64
	for i := range l.stalls.Rows {
		for _, p := range l.stalls.Rows[i].Parts {
			sum[scriptType(l.tt.Code[i].Text)] += p.Cycles
			all += p.Cycles
		}
	}
	out := map[string]float64{}
	for k, n := range sum {
		out[k] = 100 * float64(n) / float64(all)
	}
	return out
}

func TestRealTotals(t *testing.T) {
	for _, d := range realData(t).Dispatches {
		t.Run(d.Kernel, func(t *testing.T) {
			dir := filepath.Join(data, d.Kernel, d.Dispatch)
			l := load(t, dir, true)
			want := columnSums(t, dir)
			got := l.kernel.Totals
			if have := (trace.Counts{Hits: got.Hits, LatencyCycles: got.LatencyCycles, StallCycles: got.StallCycles, IdleCycles: got.IdleCycles}); have != want {
				t.Errorf("totals %+v, code.json's columns sum to %+v", have, want)
			}
			if got.StallCycles != d.StallCycles || got.LatencyCycles != d.LatencyCycles {
				t.Errorf("stall %d latency %d, expected.json says %d and %d", got.StallCycles, got.LatencyCycles, d.StallCycles, d.LatencyCycles)
			}
			if m := l.replay.Mismatch; m.Rows != 0 || l.replay.Unmatched != 0 {
				t.Errorf("waves differ from code.json: %+v, %d unmatched", m, l.replay.Unmatched)
			}
			if l.replay.EdgeWaves != l.kernel.Waves.Sampled || l.replay.EdgesDiffer != 0 {
				t.Errorf("%d of %d waves' edges compared, %d differ", l.replay.EdgeWaves, l.kernel.Waves.Sampled, l.replay.EdgesDiffer)
			}
			var parts int64
			for _, s := range l.kernel.Stalls {
				parts += s.StallCycles
				if s.Class == stalls.Other && s.SharePct >= 5 {
					t.Errorf("other holds %.1f %% of the stall", s.SharePct)
				}
			}
			if parts != want.StallCycles {
				t.Errorf("the classes sum to %d, stall is %d", parts, want.StallCycles)
			}
			if l.kernel.Coverage.Total != d.Instructions || l.kernel.Coverage.Executed != d.Coverage.Executed ||
				l.kernel.Coverage.MFMAStatic != d.Coverage.MFMAStatic || l.kernel.Coverage.MFMAExecuted != d.Coverage.MFMAExecuted {
				t.Errorf("coverage %+v, expected %d instructions and %+v", l.kernel.Coverage, d.Instructions, d.Coverage)
			}
			if l.kernel.Registers.VGPRs != d.IsaMaxVGPR {
				t.Errorf("%d VGPRs named, expected %d", l.kernel.Registers.VGPRs, d.IsaMaxVGPR)
			}
		})
	}
}

// columnSums adds up code.json with another reader.
func columnSums(t *testing.T, dir string) trace.Counts {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "code.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Code [][]any }
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var c trace.Counts
	for _, r := range doc.Code {
		n := func(i int) int64 { return int64(r[i].(float64)) }
		c.Add(trace.Counts{Hits: n(6), LatencyCycles: n(7), StallCycles: n(8), IdleCycles: n(9)})
	}
	return c
}

func TestRealBreakdownCollapsesToTheScripts(t *testing.T) {
	for _, d := range realData(t).Dispatches {
		t.Run(d.Kernel, func(t *testing.T) {
			dir := filepath.Join(data, d.Kernel, d.Dispatch)
			got := byScriptType(load(t, dir, true))
			for _, want := range d.StallByScript {
				if math.Abs(got[want.Type]-want.Pct) > 0.1 {
					t.Errorf("all waves, %s: %.2f %%, the script says %.1f", want.Type, got[want.Type], want.Pct)
				}
			}
			got = byScriptType(load(t, dir, false))
			for typ, want := range d.Waves.WorkingPct {
				if math.Abs(got[typ]-want) > 0.1 {
					t.Errorf("working waves, %s: %.2f %%, expected %.1f", typ, got[typ], want)
				}
			}
		})
	}
}

func TestRealNoWorkWaves(t *testing.T) {
	for _, d := range realData(t).Dispatches {
		t.Run(d.Kernel, func(t *testing.T) {
			w := load(t, filepath.Join(data, d.Kernel, d.Dispatch), false).kernel.Waves
			if w.Sampled != d.Waves.Waves || w.NoWork != d.Waves.NoWork || math.Abs(w.NoWorkStallPct-d.Waves.NoWorkPct) > 0.06 {
				t.Errorf("waves %+v, expected %+v", *w, d.Waves)
			}
		})
	}
}

// TestRealProducers compares who the lgkmcnt waits waited for with an
// independent look-back through the code: each class agrees within 3 points of
// the lgkmcnt stall, where what the look-back calls mixed may belong to either
// of its classes. (The look-back walks straight through branches that most
// waves skip; the decoder's own wait lists, which TestRealTotals compares
// with, show that those waves waited for one class only.)
func TestRealProducers(t *testing.T) {
	names := map[string]string{"smem_wait": "SMEM", "lds_wait": "LDS", "cross_lane_wait": "XLANE"}
	for _, d := range realData(t).Dispatches {
		t.Run(d.Kernel, func(t *testing.T) {
			l := load(t, filepath.Join(data, d.Kernel, d.Dispatch), true)
			got, all := map[string]float64{}, 0.0
			for row := range l.tt.Code {
				s := l.replay.Site(row, true)
				if s == nil || !strings.Contains(l.tt.Code[row].Text, "lgkmcnt") {
					continue
				}
				for _, c := range s.Combos {
					for _, class := range lgkmProducers(l, row, c) {
						got[class] += float64(c.Cycles) / float64(len(lgkmProducers(l, row, c)))
					}
					all += float64(c.Cycles)
				}
			}
			want := map[string]float64{}
			for k, v := range d.LgkmSplit.ByProducer {
				want[strings.TrimSuffix(k, " (and vmcnt)")] += v
			}
			for class, name := range names {
				mixed := 0.0
				if name != "XLANE" {
					mixed = want["LDS+SMEM"]
				}
				if have := 100 * got[class] / all; have < want[name]-3 || have > want[name]+mixed+3 {
					t.Errorf("%s: %.1f %% of lgkmcnt stall, look-back says %.1f and %.1f mixed", name, have, want[name], mixed)
				}
			}
		})
	}
}

// lgkmProducers names the classes that a wait waited for on lgkmcnt alone.
func lgkmProducers(l loaded, row int, c replay.ComboCycles) []string {
	for i, w := range l.list.Insts[row].Waits {
		if w.Counter.String() != "lgkmcnt" || i >= len(c.Sets) {
			continue
		}
		var names []string
		for _, class := range c.Sets[i] {
			names = append(names, string(stalls.OfWait(class)))
		}
		if len(names) > 0 {
			return names
		}
	}
	return []string{"none"}
}

// TestRealUtilisation holds the figures against those measured independently
// on the same captures: issuing, VALU alone (cycles in which any resident wave
// issues one, not the sum over waves), matrix pipe (4 passes for 16x16x128
// f8f6f4 with FP4 on both sides), waiting; in percent.
func TestRealUtilisation(t *testing.T) {
	realData(t)
	want := map[string][4]float64{
		"vec_add": {9, 2, 0, 98.7}, "moe_reduce": {24, 18, 0, 96.0}, "rmsnorm": {55, 48.8, 0, 79.3}, "layernorm": {30, 25, 0, 67.9},
		"moe_gemm": {9, 1, 17.7, 91.0}, "preshuffle_gemm": {36, 7, 40.2, 83.3}, "pa_mqa_logits_fp4": {69, 55.8, 15.9, 54.1},
		"flash_attn_func": {52, 42.7, 24.4, 59.7}, "blockscale_preshuffle_gemm": {7, 3, 2.5, 92.9},
		"topk_gating_softmax": {71, 61.5, 0, 53.0}, "hgemm_splitk": {17, 9, 4.8, 82.6},
	}
	for kernel, w := range want {
		t.Run(kernel, func(t *testing.T) {
			dirs, err := filepath.Glob(filepath.Join(data, kernel, "ui_output_*"))
			if err != nil || len(dirs) == 0 {
				t.Fatal("no capture", err)
			}
			k := load(t, dirs[0], true).kernel
			u := k.Utilisation
			if u == nil || u.IssuePct == nil || u.MFMAPct == nil {
				t.Fatalf("utilisation is absent: %+v", u)
			}
			got := [4]float64{*u.IssuePct, *u.VALUIssuePct, *u.MFMAPct, k.Waiting.Pct}
			for i, tolerance := range [4]float64{0.6, 0.6, 0.06, 0.06} {
				if math.Abs(got[i]-w[i]) > tolerance {
					t.Errorf("%s: %.2f, want %.1f", [4]string{"issuing", "VALU", "matrix", "waiting"}[i], got[i], w[i])
				}
			}
		})
	}
}

// TestRealSchemas: the same capture in the 3.0.0 and the 3.1.0 shape gives the
// same answer, with one worker or two.
func TestRealSchemas(t *testing.T) {
	realData(t)
	old, err1 := filepath.Glob(filepath.Join(data, "hgemm_splitk", "ui_output_*"))
	rewritten, err2 := filepath.Glob(filepath.Join(data, "schema31", "ui_output_*"))
	if err1 != nil || err2 != nil || len(old) != 1 || len(rewritten) != 1 {
		t.Fatal("captures are not as described", err1, err2)
	}
	a, b := load(t, old[0], false).kernel, load(t, rewritten[0], false).kernel
	for name, pair := range map[string][2]any{
		"stalls": {a.Stalls, b.Stalls}, "waits": {a.Waits, b.Waits}, "exposed": {a.Exposed, b.Exposed},
		"instructions": {a.Instructions, b.Instructions}, "lines": {a.Lines, b.Lines},
	} {
		x, err1 := json.Marshal(pair[0])
		y, err2 := json.Marshal(pair[1])
		if err1 != nil || err2 != nil || string(x) != string(y) {
			t.Errorf("%s differ:\n%s\n%s", name, x, y)
		}
	}
}
