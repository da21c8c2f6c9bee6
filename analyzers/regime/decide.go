package regime

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/balance"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
)

// limits are the thresholds in use, in percent and points.
type limits struct {
	compute, likely, bandwidth, streaming, waiting, roof, mixed, notMemory, tail float64
	filled, smallTail, disagree, memoryWait, imbalance                           float64
}

func limitsOf(param func(name string) float64) limits {
	return limits{
		compute: param(paramCompute), likely: param(paramLikely), bandwidth: param(paramBandwidth), streaming: param(paramStreaming),
		waiting: param(paramWaiting), roof: param(paramRoof), mixed: param(paramMixed),
		notMemory: param(paramNotMemory), tail: param(paramTail),
		filled: param(paramFilled), smallTail: param(paramSmallTail), disagree: param(paramDisagree), memoryWait: param(paramMemory), imbalance: param(paramImbalance),
	}
}

// facts are what a verdict is made from.
type facts struct {
	levels []Level
	// waiting is in percent of wave cycles, nil when unknown.
	waiting     *float64
	waitingFrom string
	// sampled is set where that is of PC samples.
	sampled bool
	waits   []Wait
	// stall is the unit that is busy with stalls, nil for none; rate what memory
	// moves where its peak is not known.
	stall  *stall
	rate   string
	launch *gpu.LaunchShape
	fill   float64
	// lost is the share, 0 to 1, of the waves that are not in the wave files.
	lost float64
	// balance is nil when unknown.
	balance *balance.Balance
	// gate says why nothing can be decided, and what is missing; "" for no
	// gate.
	gate    string
	missing Missing
}

// waitingUnit is what waiting is in.
func (f facts) waitingUnit() string {
	if f.sampled {
		return "% of PC samples"
	}
	return "% of wave cycles"
}

// outcome is a verdict without its words.
type outcome struct {
	regime  Regime
	subtype string
	likely  bool
	atRoof  bool
	// top are the deciding levels, largest first.
	top []Level
	why string
}

// from is the utilisation from which a level may be the bound, firm that from
// which it is.
func (l limits) from(v Level) (from, firm float64) {
	switch {
	case v.Streaming:
		return l.streaming, l.bandwidth
	case v.Regime == Bandwidth:
		return l.bandwidth, l.bandwidth
	case v.Resource == resIssue:
		return l.compute, l.compute
	}
	return l.likely, l.compute
}

// judge applies the table of regimes: gates first, then busy resources, then
// waits.
func (l limits) judge(f facts) outcome {
	if f.gate != "" {
		return outcome{regime: Inconclusive, subtype: string(f.missing), why: f.gate}
	}
	o := l.decide(f)
	if f.lost > 0 && l.decide(f.scaled(1/max(1-f.lost, 0.001))).regime != o.regime || f.lost > 0 && l.decide(f.scaled(1-f.lost)).regime != o.regime {
		return outcome{regime: Inconclusive, subtype: string(MissingWaves), why: fmt.Sprintf("%.0f %% of the waves of the traced compute units are not in the wave files: how busy these were is not known", 100*f.lost)}
	}
	return o
}

// scaled are the facts if the waves that are not there made the traced SIMDs
// busier, or the time in which they held a wave longer, by so much.
func (f facts) scaled(by float64) facts {
	f.levels = slices.Clone(f.levels)
	for i := range f.levels {
		if v := &f.levels[i]; v.Basis != Measured && !v.whole {
			v.Pct = min(v.Pct*by, 100)
		}
	}
	return f
}

// decide is judge for facts that no gate stops.
func (l limits) decide(f facts) outcome {
	busy := l.busy(f.levels)
	if len(busy) > 0 {
		return l.bound(busy)
	}
	if o, ok := l.stalled(f); ok {
		return o
	}
	if o, ok := l.notFilled(f); ok {
		return o
	}
	return l.latency(f)
}

// busy lists the levels that may be the bound, largest first. A certain bound
// silences those that are only suggested.
func (l limits) busy(levels []Level) []Level {
	var out []Level
	certain := false
	for _, v := range levels {
		from, firm := l.from(v)
		if v.Pct < from || v.Undecided || v.Flag != "" && v.Basis != UpperBound {
			continue
		}
		certain = certain || v.Basis != UpperBound && v.Pct >= firm
		out = append(out, v)
	}
	if certain {
		out = slices.DeleteFunc(out, func(v Level) bool { return v.Basis == UpperBound })
	}
	slices.SortStableFunc(out, func(a, b Level) int {
		return cmp.Or(cmp.Compare(min(b.Pct, 100), min(a.Pct, 100)), cmp.Compare(a.Resource, b.Resource))
	})
	return out
}

// bound names the busiest resource, or two of different regimes that are close.
func (l limits) bound(busy []Level) outcome {
	first := busy[0]
	_, firm := l.from(first)
	o := outcome{
		regime: first.Regime, subtype: first.Resource, top: busy[:1],
		likely: first.Basis == UpperBound || first.AtMost || first.Pct < firm,
		atRoof: first.Basis != UpperBound && !first.AtMost && first.Pct >= l.roof,
	}
	for _, v := range busy[1:] {
		if v.Regime != first.Regime && min(first.Pct, 100)-min(v.Pct, 100) < l.mixed {
			o.regime, o.subtype, o.top = Mixed, first.Resource+"+"+v.Resource, []Level{first, v}
			break
		}
	}
	return o
}

// notFilled decides for kernels that leave most of the machine without work:
// fewer workgroups than units, a last round that leaves many places empty, or
// units whose work differs. What the units did tells more than the launch: a
// tail that the shape suggests is none where they all were busy to the end.
func (l limits) notFilled(f facts) (outcome, bool) {
	s := f.launch
	switch {
	case s != nil && s.UnderFilled:
		return outcome{regime: Latency, subtype: UnderFilled, why: fmt.Sprintf(
			"%d workgroups on %d %ss: %d of them get no work", s.Workgroups, s.Units, s.Unit, int64(s.Units)-s.Workgroups)}, true
	case s == nil && 100*f.fill < l.filled:
		return outcome{regime: Latency, subtype: UnderFilled, why: fmt.Sprintf(
			"%.0f %% of the CUs of the traced engines ever held a wave", 100*f.fill)}, true
	case s != nil && s.Rounds > 1 && s.LastRoundPct < l.filled && idleInTail(s) >= l.tail && !l.evenly(f.balance):
		return outcome{regime: Latency, subtype: Tail, why: tailText(s)}, true
	case f.balance != nil && f.balance.LossPct >= l.imbalance:
		return outcome{regime: Latency, subtype: Imbalance, why: imbalanceText(f.balance)}, true
	}
	return outcome{}, false
}

// evenly reports whether the units are known to have been busy alike. A single
// engine may by chance be one of those that the last round went to.
func (l limits) evenly(b *balance.Balance) bool {
	return b != nil && b.Engines > 1 && b.LossPct < l.tail
}

func imbalanceText(b *balance.Balance) string {
	return fmt.Sprintf("the compute units of the traced engines had unequal work, %s: even loads would save at most %.0f %%", b.FinishText(), b.LossPct)
}

func tailText(s *gpu.LaunchShape) string {
	return fmt.Sprintf("%d workgroups take %d rounds of %d, the last one %.0f %% full", s.Workgroups, s.Rounds, s.Slots, s.LastRoundPct)
}

// idleInTail is the share of unit-rounds in percent in which a unit has no
// workgroup at all, because the last round has fewer workgroups than units.
func idleInTail(s *gpu.LaunchShape) float64 {
	last := s.Workgroups - (s.Rounds-1)*s.Slots
	idle := max(0, float64(s.Units)-float64(last))
	return 100 * idle / float64(s.Units) / float64(s.Rounds)
}

// latency decides for kernels without a busy resource.
func (l limits) latency(f facts) outcome {
	has := func(r Regime) bool {
		return slices.ContainsFunc(f.levels, func(v Level) bool {
			return v.Regime == r && (r == Compute && v.Flag == "" && !v.Undecided || v.Resource == resHBM && (v.Flag == "" || v.Basis == UpperBound))
		})
	}
	open := l.open(f.levels)
	switch {
	case f.rate != "" && !has(Bandwidth):
		return outcome{regime: Inconclusive, subtype: string(MissingDevice), why: f.rate + "; which share of the peak that is, is not known without the GPU: give --device"}
	case f.waiting == nil && !has(Compute) && !has(Bandwidth):
		return outcome{regime: Inconclusive, subtype: string(MissingTrace), why: "neither utilisation nor waits are known"}
	case !has(Compute) && open != "":
		return outcome{regime: Inconclusive, subtype: string(MissingMemory), why: open}
	case !has(Compute):
		return outcome{regime: Inconclusive, subtype: string(MissingCompute), why: "it is not known how busy the matrix pipe and the VALU are"}
	case !has(Bandwidth) && len(f.waits) == 0:
		return outcome{regime: Inconclusive, subtype: string(MissingMemory), why: "it is not known how busy memory is"}
	case !has(Bandwidth) && memoryWaitPct(f.waits) >= l.memoryWait:
		return outcome{regime: Inconclusive, subtype: string(MissingMemory), why: "the waves wait for memory; whether for its latency or its bandwidth is not known without the device, or counters"}
	case f.waiting == nil:
		return outcome{regime: Latency, likely: true, why: "no resource is busy"}
	case *f.waiting < l.waiting:
		return outcome{regime: Inconclusive, subtype: "balanced", why: fmt.Sprintf("no resource is busy, and waves wait only %.1f %% of their time", *f.waiting)}
	}
	o := outcome{regime: Latency, likely: slices.ContainsFunc(f.levels, func(v Level) bool { return v.Undecided && v.Pct >= l.bandwidth })}
	if len(f.waits) > 0 {
		o.subtype = f.waits[0].Kind
	}
	return o
}

// open says which measured range does not decide; "" when all do.
func (l limits) open(levels []Level) string {
	for _, v := range levels {
		if v.Undecided && v.Basis == Measured && v.Pct >= l.bandwidth {
			return fmt.Sprintf("%s is between %.0f and %.0f %% of its peak by the counters: %s", resourceWords[v.Resource], v.low, v.Pct, v.note)
		}
	}
	return ""
}

// decider makes the verdict on one kernel.
type decider struct {
	limits
	k *Kernel
}

// decide judges each source by itself, then all together, and notes where they
// disagree.
func (d *decider) decide() {
	k := d.k
	var main *TraceMeasure
	for i, m := range k.Traces {
		o := d.judge(d.factsOf(m))
		k.source("thread_trace", i, o)
		if main == nil || m.worth() > main.worth() {
			main = m
		}
	}
	k.Main = main
	f := d.first(main)
	for i, m := range k.Counted {
		c := d.counterFacts(m)
		k.source("counters", i, d.judge(c))
		k.Contradictions = append(k.Contradictions, d.disagreements(f, c)...)
		if f.gate != "" && (len(c.levels) > 0 || c.rate != "") {
			c.launch, c.fill, c.balance = f.launch, f.fill, f.balance
			f = c
			continue
		}
		f = merged(f, c)
	}
	f = withSamples(f, k.Sampled)
	if f.launch == nil {
		f.launch = k.countedLaunch(f.levels)
	}
	o := d.judge(f)
	k.Regime, k.Subtype, k.Likely, k.AtRoof = o.regime, o.subtype, o.likely, o.atRoof
	k.Levels, k.Waits = f.levels, f.waits
	if k.Levels == nil {
		k.Levels = []Level{}
	}
	d.differences()
	d.wholeDispatch(main, f)
	d.confidence(f, main, o)
	k.Verdict = d.sentence(f, o)
	k.Evidence = d.evidence(f, main)
	k.Also = append(d.also(f, o), countedNotes(k.Counted)...)
	k.Missing = d.missing(f, main)
}

// source notes what the nth source of a kind says by itself.
func (k *Kernel) source(kind string, n int, o outcome) {
	for i := range k.Sources {
		if k.Sources[i].Kind != kind {
			continue
		}
		if n == 0 {
			k.Sources[i].Regime, k.Sources[i].Subtype = o.regime, o.subtype
			return
		}
		n--
	}
}

// first are the facts to begin with: those of the best trace, else of the
// launch alone.
func (d *decider) first(main *TraceMeasure) facts {
	if main != nil {
		return d.factsOf(main)
	}
	f := facts{fill: 1, gate: "neither a thread trace nor counters say what it waits for", missing: MissingTrace}
	if d.k.Sampled != nil {
		f = sampleFacts(d.k.Sampled)
	}
	if s := d.k.Static; s != nil && s.Launch != nil && s.Launch.LaunchShape != nil {
		f.launch = s.Launch.LaunchShape
		if f.launch.UnderFilled {
			f.gate, f.missing = "", ""
		}
	}
	return f
}

var rank = map[trust.Confidence]int{trust.High: 3, trust.Medium: 2, trust.Low: 1, trust.None: 0}

var ranked = [...]trust.Confidence{trust.None, trust.Low, trust.Medium, trust.High}

// factsOf are the facts of one thread trace.
func (d *decider) factsOf(m *TraceMeasure) facts {
	f := facts{levels: m.levels(), waits: waitsOf(m.Hot), launch: m.launch(), fill: m.Held, lost: m.Lost, balance: m.Balance}
	if pct := waitingPct(m.Hot); pct != nil {
		f.waiting, f.waitingFrom = pct, "code.json: stall, and the drain at s_endpgm, over latency and idle"
	}
	for i := range f.levels {
		v := &f.levels[i]
		v.Undecided = v.Basis == UpperBound && (m.HasMatrix && v.Pct >= d.notMemory || v.Pct >= d.bandwidth && m.leastPct() < d.bandwidth)
	}
	f.gate, f.missing = m.gate()
	return f
}

// worth orders the traces of a kernel: those that a gate stops come last.
func (m *TraceMeasure) worth() int {
	if why, _ := m.gate(); why != "" {
		return -1
	}
	return rank[m.Hot.Confidence]
}

// gate says why a trace decides nothing.
func (m *TraceMeasure) gate() (string, Missing) {
	h := m.Hot
	switch {
	case h.Samples != nil:
		return "program-counter samples have no cycles: how busy the machine is cannot be told from them", MissingTrace
	case h.Confidence == trust.None:
		return "no traced wave executed this kernel", MissingWork
	case slices.Contains(m.Gates, "low_coverage"):
		return "the traced waves left before they did the kernel's work", MissingWork
	case h.Utilisation == nil:
		return "without wave files it is not known how busy the machine was", MissingWaves
	}
	return "", ""
}

// confidence starts from what decided: counters, then a trace, then the launch
// alone. It goes down with every reason to doubt it, and is never above the
// trust in a trace that had a part in it.
func (d *decider) confidence(f facts, m *TraceMeasure, o outcome) {
	k := d.k
	measured := func(r Regime) bool {
		return slices.ContainsFunc(f.levels, func(v Level) bool {
			return v.Regime == r && v.Basis == Measured && v.Flag == "" && (r != Bandwidth || v.Resource == resHBM || v.Resource == o.subtype)
		})
	}
	level := rank[trust.Medium]
	lower := func(why string) {
		level = max(level-1, rank[trust.Low])
		k.ConfidenceReasons = append(k.ConfidenceReasons, why)
	}
	switch {
	case o.regime == Inconclusive:
		k.Confidence = trust.None
		k.ConfidenceReasons = append(k.ConfidenceReasons, o.why)
		return
	case measured(Bandwidth) && (m != nil || measured(Compute)):
		level = rank[trust.High]
		k.ConfidenceReasons = append(k.ConfidenceReasons, "counters measured it over whole dispatches")
	case measured(Bandwidth), measured(Compute):
		k.ConfidenceReasons = append(k.ConfidenceReasons, "counters measured a part of it")
	case m != nil:
		k.ConfidenceReasons = append(k.ConfidenceReasons, "the figures are of the traced waves, no counters")
	default:
		k.ConfidenceReasons = append(k.ConfidenceReasons, "the launch alone says so, nothing was measured")
	}
	if m != nil && !measured(Bandwidth) {
		d.doubts(f, m, lower)
	}
	if m != nil && m.Hot.Confidence != trust.High && level < rank[trust.High] {
		level = min(level, rank[m.Hot.Confidence])
		k.ConfidenceReasons = append(k.ConfidenceReasons, m.Hot.ConfidenceReasons...)
	}
	k.Confidence = ranked[level]
}

// doubts are what lowers the confidence in a trace's estimates.
func (d *decider) doubts(f facts, m *TraceMeasure, lower func(string)) {
	switch {
	case m.Device == nil:
		lower("the device is not known")
	case m.Assumed:
		lower("the device is " + m.DeviceSource)
	}
	if m.Lost > 0 {
		lower(fmt.Sprintf("%.0f %% of the waves of the traced compute units are not in the wave files", math.Ceil(100*m.Lost)))
	}
	if m.Balance == nil {
		lower("how evenly the compute units were loaded is not known without occupancy.json")
	}
	switch l := m.Hot.Launch; {
	case l == nil:
		lower("the launch is not known: how long the dispatch took and how it fills the GPU")
	case !l.Tabled():
		lower("the launch is known by its waves in occupancy.json alone")
	}
	for _, v := range f.levels {
		if v.Basis == UpperBound && (v.Flag != "" || v.Undecided && v.Pct >= d.bandwidth) {
			lower("counters of memory traffic would decide how much of what is requested caches serve")
		}
	}
}

// wholeDispatch notes where the traced window alone would say bandwidth, and the
// whole dispatch does not.
func (d *decider) wholeDispatch(m *TraceMeasure, f facts) {
	if m == nil || m.WindowRatio == nil || m.DispatchRatio == nil || m.HasMatrix {
		return
	}
	window, whole := 100**m.WindowRatio*m.Fill, 100**m.DispatchRatio
	estimated := slices.ContainsFunc(f.levels, func(v Level) bool { return v.Resource == resHBM && v.Basis == UpperBound })
	if estimated && window >= d.bandwidth && whole < d.bandwidth {
		d.k.Contradictions = append(d.k.Contradictions, fmt.Sprintf(
			"in the traced window the requested bytes are %s of HBM's peak, over the whole dispatch, %s, %.0f %%: the dispatch is believed",
			requestText(window), m.DispatchTime, whole))
	}
}

// differences notes captures of one kernel that judge differently.
func (d *decider) differences() {
	first := map[Regime]Source{}
	var order []Regime
	for _, s := range d.k.Sources {
		if _, ok := first[s.Regime]; !ok && s.Regime != "" && s.Regime != Inconclusive {
			first[s.Regime] = s
			order = append(order, s.Regime)
		}
	}
	for _, r := range order {
		if r != d.k.Regime && d.k.Regime != Inconclusive && d.k.Regime != Mixed {
			d.k.Contradictions = append(d.k.Contradictions, fmt.Sprintf("%s by itself says %s (%s); the sources together say %s",
				first[r].Path, r, first[r].Subtype, d.k.Regime))
		}
	}
}
