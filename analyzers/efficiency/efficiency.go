// Package efficiency is the analyzer that follows the peak of the device down to
// what a traced kernel achieved.
package efficiency

import (
	_ "embed"
	"fmt"

	"github.com/rocanalyze/rocanalyze/analyzers/balance"
	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/analyzers/hotspots"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// Analyzer gives the *Efficiency of every thread trace, nil for one whose waves
// no kernel explains.
var Analyzer = analysis.NewPerTrace(analysis.Analyzer{
	Name:     "efficiency",
	Doc:      doc,
	Requires: []analysis.Required{code.Analyzer, flow.Analyzer, replay.Analyzer, hotspots.Analyzer, balance.Analyzer},
}, run)

// VALUIssue is what kernels without matrix work are measured against.
const VALUIssue = "valu_issue"

// Efficiency is the way from the peak to what was achieved.
type Efficiency struct {
	// Kernel is the index in ThreadTrace.Kernels of the kernel that it is of.
	Kernel int `json:"-"`
	// Of is the kind of arithmetic that the peak is of, or VALUIssue.
	Of string `json:"of,omitempty"`
	// PeakGFLOPs and AchievedGFLOPs are of the whole device; absent for
	// VALUIssue.
	PeakGFLOPs     *float64 `json:"peak_gflop_per_s,omitempty"`
	AchievedGFLOPs *float64 `json:"achieved_gflop_per_s,omitempty"`
	// AchievedPct is the share of the peak, Over the time that it is over.
	AchievedPct *float64 `json:"achieved_pct_of_peak,omitempty"`
	Over        string   `json:"over,omitempty"`
	// Scale is what the work of the read waves is multiplied by for that of the
	// whole dispatch, absent where the launch is not known; ScaledBy says by what:
	// "waves" where all do alike work, else "wave_cycles".
	Scale    *float64 `json:"dispatch_over_traced_work,omitempty"`
	ScaledBy string   `json:"scaled_by,omitempty"`
	// Factors multiply to AchievedPct / 100.
	Factors []Factor `json:"factors,omitempty"`
	// Absent says why there are no factors.
	Absent string `json:"absent_reason,omitempty"`
}

// Factor is one step down from the peak.
type Factor struct {
	ID string `json:"id"`
	// Value is what this step leaves of what the one before it left.
	Value float64 `json:"factor"`
	// LeftPct is what is left of the peak behind it.
	LeftPct float64 `json:"left_pct_of_peak"`
	// How shows the arithmetic.
	How string `json:"formula"`
}

// The steps, in their order.
const (
	StepClock    = "clock"
	StepWindow   = "waves_in_dispatch"
	StepCUs      = "cu_time_with_a_wave"
	StepTypical  = "traced_cus_against_all"
	StepSIMDs    = "simd_time_with_a_wave"
	StepLoop     = "prologue_and_epilogue"
	StepCoverage = "pipe_coverage"
	StepShapes   = "instruction_shapes"
)

// builder makes the result of one trace.
type builder struct {
	tt      *trace.ThreadTrace
	machine *capture.Machine
	insts   []isa.Inst
	flow    *flow.Flow
	replay  *replay.Replay
	balance *balance.Balance
	hot     *hotspots.Kernel
	kernel  trace.Kernel
	out     *Efficiency

	// waves were read; starts are those of the traced units by occupancy.json.
	waves, starts int64
	// toEngines is the work of all waves of the traced engines over that of the
	// read ones.
	toEngines float64
	// unit and simd are the cycles with a wave resident of the traced units and
	// their SIMDs.
	unit, simd float64
	work       work
}

func run(p *analysis.Pass, tt *trace.ThreadTrace) (*Efficiency, error) {
	b := &builder{
		tt: tt, machine: p.Capture.Trace(tt).Machine, insts: code.Analyzer.Of(p, tt).Insts, flow: flow.Analyzer.Of(p, tt),
		replay: replay.Analyzer.Of(p, tt), balance: balance.Analyzer.Of(p, tt), out: &Efficiency{},
	}
	if !b.pick(hotspots.Analyzer.Of(p)) {
		b.out = nil
		return b.out, nil
	}
	if b.out.Absent = b.read(); b.out.Absent == "" {
		b.out.Absent = b.factors()
	}
	return b.out, nil
}

// pick takes the kernel that the traced waves ran.
func (b *builder) pick(hot *hotspots.Result) bool {
	most := 0
	for k := range b.replay.Kernels {
		if n := total(b.replay.Kernels[k]); n > most {
			if h := hot.Kernel(b.tt, k); h != nil {
				most, b.out.Kernel, b.hot, b.kernel = n, k, h, b.tt.Kernels[k]
			}
		}
	}
	b.waves = int64(most)
	return most > 0
}

func total(k replay.KernelWaves) int { return k.Waves[replay.Working] + k.Waves[replay.NoWork] }

// read gathers what the traced units did, and says why it cannot be told.
func (b *builder) read() (absent string) {
	all := 0
	for k := range b.replay.Kernels {
		all += total(b.replay.Kernels[k])
	}
	switch {
	case !b.machine.IsGFX9():
		return "on this generation one SIMD of the unit is traced"
	case int64(all) != b.waves:
		return "waves of several kernels share the traced units"
	case b.balance == nil:
		return "occupancy.json does not say when waves ran"
	case b.balance.ResidentPct == nil:
		return "the agent table does not say how many CUs the traced engines have"
	case b.hot.Machine.ClockMHz == nil:
		return "realtime.json does not tell the clock"
	}
	var lives, allLives float64
	traced := map[[2]int]bool{}
	for _, s := range b.replay.SIMDs {
		traced[[2]int{s.SE, s.CU}] = true
	}
	for _, e := range b.tt.Occupancy.Engines {
		for _, cu := range e.CUs {
			allLives += float64(cu.WaveCycles)
			if !traced[[2]int{e.SE, cu.CU}] {
				continue
			}
			lives += float64(cu.WaveCycles)
			b.starts += cu.Starts
			b.unit += float64(cu.ResidentCycles)
			for _, s := range cu.SIMDs {
				b.simd += float64(s.ResidentCycles)
			}
		}
	}
	if b.starts != b.waves {
		return fmt.Sprintf("%d of the %d waves of the traced CUs have wave files", b.waves, b.starts)
	}
	if b.unit <= 0 || b.simd <= 0 {
		return "occupancy.json does not say when waves ran on the traced CUs"
	}
	b.toEngines, b.out.ScaledBy = float64(b.tt.Occupancy.Starts())/float64(b.waves), "waves"
	if byLife := allLives / lives; !b.alike(byLife / b.toEngines) {
		b.toEngines, b.out.ScaledBy = byLife, "wave_cycles"
	}
	b.work, absent = b.matrixWork()
	if absent == "" && b.work.cycles == 0 {
		b.work, absent = b.vectorWork()
	}
	return absent
}

// alike reports whether waves do alike work, so that their number scales it:
// none left early, all go round the loops as often, and the traced ones live as
// long as all do on average. Else work is taken to follow the time that waves
// live. lives is the mean life of all waves over that of the traced ones.
func (b *builder) alike(lives float64) bool {
	early := b.replay.Kernels[b.out.Kernel].Waves[replay.NoWork]
	return early == 0 && len(b.balance.Trips) == 0 && lives > 1/likeLives && lives < likeLives
}

// likeLives is how far the mean life of the traced waves may be from that of
// all, as a factor, for their lives to count as alike.
const likeLives = 1.25

// factors multiplies the steps.
func (b *builder) factors() (absent string) {
	device, err := b.peak()
	if err != "" {
		return err
	}
	clock, span := *b.hot.Machine.ClockMHz, float64(b.balance.SpanCycles)
	// perCU is the work of a CU on average, of the device or the traced engines.
	perCU := b.work.amount * b.toEngines / max(*b.balance.CUs, float64(b.balance.Used))
	b.out.Over = "the span of the traced engines' waves"
	cycles := span
	b.step(StepClock, clock/device.mhz, "%.0f of %.0f MHz (realtime.json, %s)", clock, device.mhz, device.source)
	l, w := b.hot.Launch, b.hot.Waves
	if w != nil && w.InDispatch != nil {
		b.out.Scale = new(b.toEngines * float64(*w.InDispatch) / float64(b.tt.Occupancy.Starts()))
	}
	if b.out.Scale != nil && l != nil && l.DurationNs != nil && *l.DurationNs > 0 {
		perCU = b.work.amount * *b.out.Scale / device.cus
		cycles = *l.DurationNs / 1000 * clock
		b.out.Over = "the dispatch"
		of := ""
		if l.Calls > 0 {
			of = fmt.Sprintf(", the median of %d calls", l.Calls)
		}
		b.step(StepWindow, span/cycles, "%.2f of %.2f us%s from the first wave to the last", span/clock, *l.DurationNs/1000, of)
	}
	resident := *b.balance.ResidentPct / 100
	b.step(StepCUs, resident, "time of the %g CUs of the traced engines with a wave resident (occupancy.json)", *b.balance.CUs)
	b.step(StepTypical, perCU/(resident*span)/(b.work.amount/b.unit), "work per time with a wave resident: all CUs against the traced ones")
	b.step(StepSIMDs, b.simd/(b.unit*device.simds), "time of the %g SIMDs of the traced CUs with a wave, while their CU has one", device.simds)
	b.coverage()
	if b.work.rate > 0 {
		b.step(StepShapes, b.work.amount/b.work.cycles/device.rate, "%.0f of %.0f operations per cycle of the pipe", b.work.amount/b.work.cycles, device.rate)
	}
	achieved := perCU / cycles * clock / (device.rate * device.simds * device.mhz)
	b.out.AchievedPct = new(100 * achieved)
	if b.out.PeakGFLOPs != nil {
		b.out.AchievedGFLOPs = new(achieved * *b.out.PeakGFLOPs)
	}
	return ""
}

// coverage is how busy the pipe is while its SIMD has a wave: in the loop with
// the work, and by what the time outside of it lowers that.
func (b *builder) coverage() {
	whole := b.work.cycles / b.simd
	l, in, of := b.loop()
	if l < 0 || in <= 0 || of <= 0 {
		b.step(StepCoverage, whole, "cycles of the %s / cycles of the SIMDs with a wave", b.work.pipe)
		return
	}
	first, last := b.flow.Rows(l)
	b.step(StepLoop, whole/(in/of), "coverage with what is outside against that of the loop of lines %d to %d, in which SIMDs are %.1f %% of their time with a wave", b.tt.Code[first].Line, b.tt.Code[last].Line, 100*of/b.simd)
	b.step(StepCoverage, in/of, "cycles of the %s in the loop / cycles of the SIMDs with a wave in it", b.work.pipe)
}

// loop is the loop with the matrix work: the innermost that holds most of that
// of the loop around it; with its work and its time, -1 for none.
func (b *builder) loop() (l int, in, of float64) {
	if b.work.rate == 0 {
		return -1, 0, 0
	}
	for l = -1; ; {
		inner, most := b.heaviest(l)
		if inner < 0 || l >= 0 && most < mostOfLoop*in {
			break
		}
		l, in = inner, most
	}
	if l < 0 {
		return -1, 0, 0
	}
	for _, s := range b.replay.SIMDs {
		if s.Cycles == nil {
			return -1, 0, 0
		}
		of += float64(s.Cycles.Loop(l).All)
	}
	return l, in, of
}

// heaviest is the loop directly inside another, -1 for none, with the most matrix
// work, -1 where none has any.
func (b *builder) heaviest(parent int) (l int, most float64) {
	l = -1
	for i := range b.flow.Loops {
		if x := &b.flow.Loops[i]; x.Kernel != b.out.Kernel || x.Parent != parent {
			continue
		}
		if w := b.matrixCycles(i); w > most {
			l, most = i, w
		}
	}
	return l, most
}

// mostOfLoop is the part of a loop's work from which an inner loop stands for it.
const mostOfLoop = 0.9

func (b *builder) step(id string, value float64, how string, args ...any) {
	left := 100.0
	if n := len(b.out.Factors); n > 0 {
		left = b.out.Factors[n-1].LeftPct
	}
	b.out.Factors = append(b.out.Factors, Factor{ID: id, Value: value, LeftPct: left * value, How: fmt.Sprintf(how, args...)})
}

// ceiling is the device's peak: operations per cycle of a SIMD's pipe.
type ceiling struct {
	mhz, cus, simds, rate float64
	source                string
}

// peak looks up the device. Its CUs are those of the agent.
func (b *builder) peak() (c ceiling, absent string) {
	mhz, ok := b.machine.MaxClockMHz()
	simds, ok2 := b.machine.Number(capture.FactSIMD)
	cus, ok3 := b.machine.Number(capture.FactCU)
	if !ok || !ok2 || !ok3 {
		return c, "the device's CUs and highest clock are not known"
	}
	c = ceiling{mhz: mhz.Number, cus: cus.Number, simds: simds.Number, rate: 1, source: mhz.Source}
	if b.work.rate == 0 {
		return c, ""
	}
	if b.machine.Device == nil {
		return c, "the device is not known"
	}
	peaks, err := b.machine.Device.Peaks()
	if err != nil {
		return c, err.Error()
	}
	p, ok := peaks.Of(gpu.Math(b.out.Of))
	if !ok || b.machine.Device.MaxMHz <= 0 || b.machine.Device.CUs <= 0 {
		return c, "the device table has no peak of " + b.out.Of
	}
	c.rate = p.Value * 1e6 / (float64(b.machine.Device.CUs) * c.simds * b.machine.Device.MaxMHz)
	c.mhz = b.machine.Device.MaxMHz
	c.cus = float64(b.machine.Device.CUs)
	b.out.PeakGFLOPs = new(p.Value * 1000)
	return c, ""
}
