package counters

import (
	"fmt"
	"slices"
	"strings"
)

// Metric is one figure that counters can give. Formulas name counters summed
// over all instances of their block, without the suffix _sum, and these facts
// about the GPU and the dispatch:
//
//	GX           GRBM_GUI_ACTIVE / XCC: cycles that the GPU was busy
//	XCC          dies (XCDs)             CU           compute units
//	SIMD         SIMDs per CU            L2_CHANNELS  L2 channels
//	LDS_BANKS    LDS banks per CU        WAVE         lanes of a wave
//	DURATION_NS  end - start of the dispatch, the median over passes
//
// A formula is computed over the sums of all dispatches, so counters are means
// per dispatch.
type Metric struct {
	// ID is stable: scripts select on it.
	ID    string `json:"id"`
	Group Group  `json:"group"`
	Title string `json:"title"`
	Unit  string `json:"unit"`
	// Denominator says in words what the figure is a share of or per.
	Denominator string `json:"denominator,omitempty"`
	// Max is the greatest value that can be right; 0 is no limit.
	Max float64 `json:"max,omitempty"`
	// Over says what is usually wrong when the value is above Max or below 0.
	Over string `json:"over_means,omitempty"`
	// Cap is a formula above which the value cannot be, whatever the counters
	// say: what the instructions of the dispatch can have moved. OverCap says what
	// is in a value above it; such a value is a range up to the cap, or, where
	// Nominal is set (requests that are counted as whole lines), has a note.
	Cap     string `json:"cap_formula,omitempty"`
	OverCap string `json:"over_cap_means,omitempty"`
	Nominal bool   `json:"nominal,omitempty"`
	// Peak is the ceiling to compare with: "memory", "l2", "lds" or "".
	Peak string `json:"peak_name,omitempty"`
	// Doc says what the figure tells, and its traps.
	Doc string `json:"doc,omitempty"`
	// Formulas are tried in order: the first for the architecture whose
	// counters are there counts.
	Formulas []Formula `json:"formulas"`
}

// Formula computes a metric on some architectures.
type Formula struct {
	// Archs are the architectures; empty is all.
	Archs []string `json:"archs,omitempty"`
	// Formats are those of the inputs that it holds for, as in CounterRun.Format:
	// profilers differ in what they call by one name. Empty is all.
	Formats []string `json:"formats,omitempty"`
	// Expr is what is computed. Where it is empty, Low and High are, and the
	// value is somewhere between.
	Expr string `json:"formula,omitempty"`
	Low  string `json:"low_formula,omitempty"`
	High string `json:"high_formula,omitempty"`
	// Note is said with the value.
	Note   string `json:"note,omitempty"`
	Source string `json:"source"`
}

// Group orders the catalogue.
type Group string

// The groups of metrics.
const (
	GroupTime    Group = "time"
	GroupL2      Group = "L2"
	GroupFabric  Group = "memory fabric"
	GroupL1      Group = "vector L1"
	GroupLDS     Group = "LDS"
	GroupCompute Group = "compute"
	GroupWaves   Group = "waves"
	GroupDerived Group = "derived by the profiler"
)

// Groups lists the groups in their order.
func Groups() []Group {
	return []Group{GroupTime, GroupL2, GroupFabric, GroupL1, GroupLDS, GroupCompute, GroupWaves, GroupDerived}
}

// The sources of formulas.
const (
	srcCompute = "rocprofiler-compute analysis_configs"
	srcSDK     = "rocprofiler-sdk counter_defs.yaml"
)

// Families of architectures whose counters mean the same.
func oneDie() []string  { return []string{"gfx908", "gfx90a"} }
func cdna3() []string   { return []string{"gfx940", "gfx941", "gfx942"} }
func cdna4() []string   { return []string{"gfx950"} }
func cdna34() []string  { return append(cdna3(), cdna4()...) }
func cdna2up() []string { return append([]string{"gfx90a"}, cdna34()...) }
func cdna() []string    { return append([]string{"gfx908"}, cdna2up()...) }
func gfx9() []string    { return append([]string{"gfx900", "gfx906"}, cdna()...) }
func rdna4() []string   { return []string{"gfx1200", "gfx1201"} }

func rdna23() []string {
	return []string{
		"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036",
		"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153",
	}
}

func rdna() []string { return append(rdna23(), rdna4()...) }

// AllArchs lists the architectures that formulas tell apart.
func AllArchs() []string { return append(append(gfx9(), rdna()...), "gfx1250", "gfx1251") }

// The usual reasons of impossible values. Sources: issues of rocprofiler
// (#147), rocprofiler-compute (#255, #700), rocm-systems (#833, #2160, #10976,
// #11243, #11675).
const (
	overXCC    = "GRBM_GUI_ACTIVE is summed over the dies: the number of dies or CUs is not that of the agent (partitions), or the pass that counted it ran at another time"
	overPasses = "numerator and denominator come from different passes"
	overPeak   = "the device, its partition or its clock is not the one that ran, or the duration is of another pass"
	overDual   = "dual issue or packed instructions count twice"
)

// Catalogue returns all metrics, in the order in which they are shown.
func Catalogue() []Metric {
	return slices.Concat(timeMetrics(), l2Metrics(), fabricMetrics(), rateMetrics(), l1Metrics(), ldsMetrics(), computeMetrics(), waveMetrics(), derivedMetrics())
}

// FindMetric returns a metric by its id.
func FindMetric(id string) (Metric, error) {
	var ids []string
	for _, m := range Catalogue() {
		if strings.EqualFold(m.ID, id) {
			return m, nil
		}
		ids = append(ids, m.ID)
	}
	return Metric{}, fmt.Errorf("no metric %q: there are %s", id, strings.Join(ids, ", "))
}

// one is a formula for all architectures.
func one(expr, source string) []Formula { return []Formula{{Expr: expr, Source: source}} }

// on is a formula for some architectures.
func on(archs []string, expr, source string) []Formula {
	return []Formula{{Archs: archs, Expr: expr, Source: source}}
}

func timeMetrics() []Metric {
	return []Metric{
		{
			ID: "duration_ns", Group: GroupTime, Title: "duration", Unit: "ns", Denominator: "per dispatch",
			Doc:      "End - start on the GPU. A dispatch has another duration in each pass: the median, weighted by the counters of each pass.",
			Formulas: one("DURATION_NS", "timestamps of the counter records"),
		},
		{
			ID: "gui_active_per_xcd_cycles", Group: GroupTime, Title: "GPU busy", Unit: "cycles", Denominator: "per dispatch and die",
			Doc:      "Includes launch and profiling overhead: twice the duration for a kernel of some microseconds, so that shares of it are halved. Use the duration for rates.",
			Formulas: one("GX", srcCompute),
		},
	}
}

func l2Metrics() []Metric {
	return []Metric{
		{
			ID: "l2_hit_pct", Group: GroupL2, Title: "L2 hit rate", Unit: "%", Denominator: "of hits and misses", Max: 100, Over: overPasses,
			Doc: "A hit on a line that is still on its way counts as a hit. A stream that touches each line once from two requests has 50 % at best.",
			Formulas: []Formula{
				{Archs: gfx9(), Expr: "100 * TCC_HIT / (TCC_HIT + TCC_MISS)", Source: srcCompute},
				{Archs: rdna(), Expr: "100 * GL2C_HIT / (GL2C_HIT + GL2C_MISS)", Source: srcSDK},
				own("L2CacheHit"),
			},
		},
		{ID: "l2_hits", Group: GroupL2, Title: "L2 hits", Unit: "requests", Denominator: "per dispatch", Formulas: []Formula{
			{Archs: gfx9(), Expr: "TCC_HIT", Source: srcSDK}, {Archs: rdna(), Expr: "GL2C_HIT", Source: srcSDK},
		}},
		{ID: "l2_misses", Group: GroupL2, Title: "L2 misses", Unit: "requests", Denominator: "per dispatch", Formulas: []Formula{
			{Archs: gfx9(), Expr: "TCC_MISS", Source: srcSDK}, {Archs: rdna(), Expr: "GL2C_MISS", Source: srcSDK},
		}},
		{ID: "l2_requests", Group: GroupL2, Title: "L2 requests", Unit: "requests", Denominator: "per dispatch", Formulas: []Formula{
			{Archs: gfx9(), Expr: "TCC_REQ", Source: srcSDK}, {Archs: rdna(), Expr: "GL2C_REQ", Source: srcSDK},
		}},
		{ID: "l1_l2_read_requests", Group: GroupL2, Title: "L1-to-L2 reads", Unit: "requests", Denominator: "per dispatch", Formulas: on(gfx9(), "TCP_TCC_READ_REQ", srcSDK)},
		{ID: "l1_l2_read_bytes", Group: GroupL2, Title: "L1-to-L2 reads", Unit: "bytes", Denominator: "per dispatch", Formulas: []Formula{
			{Archs: cdna34(), Expr: "128 * TCP_TCC_READ_REQ", Source: srcCompute},
			{Archs: oneDie(), Expr: "64 * TCP_TCC_READ_REQ", Source: srcCompute},
		}},
		{
			ID: "l1_l2_requests", Group: GroupL2, Title: "L1-to-L2 requests", Unit: "requests", Denominator: "per dispatch",
			Formulas: on(gfx9(), "TCP_TCC_READ_REQ + TCP_TCC_WRITE_REQ + TCP_TCC_ATOMIC_WITH_RET_REQ + TCP_TCC_ATOMIC_WITHOUT_RET_REQ", srcCompute),
		},
		{
			ID: "l1_l2_bytes", Group: GroupL2, Title: "L1-to-L2 traffic", Unit: "bytes", Denominator: "per dispatch",
			Formulas: []Formula{
				{Archs: cdna34(), Expr: "128 * TCP_TCC_READ_REQ + 64 * (TCP_TCC_WRITE_REQ + TCP_TCC_ATOMIC_WITH_RET_REQ + TCP_TCC_ATOMIC_WITHOUT_RET_REQ)", Source: srcCompute},
				{Archs: oneDie(), Expr: "64 * (TCP_TCC_READ_REQ + TCP_TCC_WRITE_REQ + TCP_TCC_ATOMIC_WITH_RET_REQ + TCP_TCC_ATOMIC_WITHOUT_RET_REQ)", Source: srcCompute},
			},
		},
		{
			ID: "l1_l2_GBps", Group: GroupL2, Title: "L1-to-L2 bandwidth", Unit: "GB/s", Denominator: "of the duration", Peak: "l2", Over: overPeak,
			Doc: "By the sizes of the requests of the vector L1: reads are whole lines, writes and atomics 64 bytes. Scalar and instruction fetches are not in it.",
			Formulas: []Formula{
				{Archs: cdna34(), Expr: "(128 * TCP_TCC_READ_REQ + 64 * (TCP_TCC_WRITE_REQ + TCP_TCC_ATOMIC_WITH_RET_REQ + TCP_TCC_ATOMIC_WITHOUT_RET_REQ)) / DURATION_NS", Source: srcCompute},
				{Archs: oneDie(), Expr: "64 * (TCP_TCC_READ_REQ + TCP_TCC_WRITE_REQ + TCP_TCC_ATOMIC_WITH_RET_REQ + TCP_TCC_ATOMIC_WITHOUT_RET_REQ) / DURATION_NS", Source: srcCompute},
			},
		},
		{
			ID: "l2_bw_GBps", Group: GroupL2, Title: "L2 bandwidth", Unit: "GB/s", Denominator: "of the duration", Peak: "l2",
			Over: "requests of half a line were counted as whole ones, or " + overPeak,
			Doc:  "Counts every request as a full line (64 B on gfx908, 128 B later); the true traffic is not higher.",
			Formulas: []Formula{
				{Archs: []string{"gfx908"}, Expr: "64 * TCC_REQ / DURATION_NS", Source: srcCompute},
				{Archs: cdna2up(), Expr: "128 * TCC_REQ / DURATION_NS", Source: srcCompute},
			},
		},
		{
			ID: "l2_util_pct", Group: GroupL2, Title: "L2 busy", Unit: "%", Denominator: "of GPU busy x channels", Max: 100, Over: overXCC,
			Formulas: on(gfx9(), "100 * TCC_BUSY / (GX * L2_CHANNELS)", srcCompute),
		},
		{ID: "l2_writeback_pct", Group: GroupL2, Title: "L2 writebacks", Unit: "%", Denominator: "of L2 requests", Formulas: on(gfx9(), "100 * TCC_WRITEBACK / TCC_REQ", srcCompute)},
		{
			ID: "l2_tag_stall_pct", Group: GroupL2, Title: "L2 tag stalls", Unit: "%", Denominator: "of L2 busy cycles", Max: 100, Over: overPasses,
			Formulas: on(gfx9(), "100 * TCC_TAG_STALL / TCC_BUSY", "rocprofiler-compute memory bandwidth analysis"),
		},
		{
			ID: "hbm_credit_stall_pct", Group: GroupL2, Title: "waiting for memory credits", Unit: "%", Denominator: "of L2 busy cycles", Max: 100, Over: overPasses,
			Doc:      "L2 wants to send and memory does not take it. Above 10 % with high bandwidth: bound by memory.",
			Formulas: on(cdna34(), "100 * (TCC_EA0_RDREQ_DRAM_CREDIT_STALL + TCC_EA0_WRREQ_DRAM_CREDIT_STALL) / TCC_BUSY", "rocprofiler-compute memory bandwidth analysis"),
		},
	}
}
