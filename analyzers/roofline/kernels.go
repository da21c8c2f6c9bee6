package roofline

import (
	"fmt"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/efficiency"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
)

// kernel adds the points of one kernel: of its counters where they hold FLOPs,
// else of its trace.
func (b *builder) kernel(k *regime.Kernel) {
	for _, c := range k.Counted {
		if p, ok := countedPoint(k, c); ok {
			b.res.Points = append(b.res.Points, p)
			return
		}
	}
	if k.Main != nil {
		if p, ok := b.tracedPoint(k, k.Main); ok {
			b.res.Points = append(b.res.Points, p)
		}
	}
}

// flopMetrics are the counters analyzer's operations by type, and the roof of
// each.
var flopMetrics = []struct {
	id   string
	math gpu.Math
}{
	{"mfma_flops_f16", gpu.MatrixFP16},
	{"mfma_flops_bf16", gpu.MatrixBF16},
	{"mfma_flops_f32", gpu.MatrixFP32},
	{"mfma_flops_f64", gpu.MatrixFP64},
	{"mfma_flops_f8", gpu.MatrixFP8},
	{"mfma_flops_f6f4", gpu.MatrixFP4},
	{"mfma_flops_i8", gpu.MatrixInt8},
	{"valu_flops_f16", gpu.VectorFP16},
	{"valu_flops_f32", gpu.VectorFP32},
	{"valu_flops_f64", gpu.VectorFP64},
}

// countedPoint is a kernel's mean dispatch by counters.
func countedPoint(k *regime.Kernel, c *regime.CounterMeasure) (Point, bool) {
	p := Point{Name: k.Name, Source: "counters", Path: c.Counters.Run, Levels: []Level{}}
	most := 0.0
	for _, f := range flopMetrics {
		v, ok := value(c, f.id)
		if !ok {
			continue
		}
		p.FLOPs += v
		if v > most {
			most, p.Math = v, f.math
		}
	}
	if p.FLOPs <= 0 {
		return Point{}, false
	}
	if ns, ok := value(c, "duration_ns"); ok {
		p.TimeNs = &ns
	}
	if c.L2 != nil && c.L2.Traffic != nil {
		l := Level{Name: levelHBM, Bytes: c.L2.Traffic.Bytes.High}
		if low := c.L2.Traffic.Bytes.Low; low != l.Bytes {
			l.BytesLow = &low
		}
		p.Levels = append(p.Levels, l)
	}
	for _, m := range []struct{ id, level string }{{"l1_l2_bytes", levelL2}, {"lds_bytes", levelLDS}} {
		if v, ok := value(c, m.id); ok && v > 0 {
			p.Levels = append(p.Levels, Level{Name: m.level, Bytes: v})
		}
	}
	if most < p.FLOPs {
		p.Notes = append(p.Notes, "operations of several types; the roof is that of the most frequent one")
	}
	return p, true
}

func value(c *regime.CounterMeasure, id string) (float64, bool) {
	v, ok := c.Counters.Metrics[id]
	if !ok || v.Value == nil {
		return 0, false
	}
	return *v.Value, true
}

// tracedPoint scales the matrix work of the traced waves to the dispatch.
// Vector arithmetic is left out, and bytes are those requested: more than
// memory sees.
func (b *builder) tracedPoint(k *regime.Kernel, m *regime.TraceMeasure) (Point, bool) {
	tt := m.Trace
	insts := code.Analyzer.Of(b.p, tt).Insts
	kn := tt.Kernels[m.Kernel]
	p := Point{Name: k.Name, Source: "thread_trace", Path: tt.Path, Levels: []Level{}}
	byMath := map[gpu.Math]float64{}
	read := replay.Analyzer.Of(b.p, tt)
	for row := kn.First; row < kn.Last; row++ {
		mx := insts[row].Matrix
		if mx == nil {
			continue
		}
		flops := float64(read.Hits(tt, row)) * float64(mx.FLOPs)
		p.FLOPs += flops
		byMath[efficiency.MathOf(mx)] += flops
	}
	if p.FLOPs <= 0 {
		return Point{}, false
	}
	if e := efficiency.Analyzer.Of(b.p, tt); e != nil && e.Kernel == m.Kernel {
		p.Efficiency = e
	}
	most := 0.0
	for _, x := range gpu.Maths() {
		if byMath[x] > most {
			most, p.Math = byMath[x], x
		}
	}
	bytes := 0.0
	if m.RequestedBytes != nil {
		bytes = *m.RequestedBytes
	}
	h := m.Hot
	if w := h.Waves; w != nil && w.Sampled > 0 && w.InDispatch != nil {
		scale, by := float64(*w.InDispatch)/float64(w.Sampled), "waves"
		if e := p.Efficiency; e != nil && e.Scale != nil {
			scale, by = *e.Scale, strings.ReplaceAll(e.ScaledBy, "_", " ")
		}
		p.FLOPs *= scale
		bytes *= scale
		p.Notes = append(p.Notes, "matrix operations and requested bytes of the traced waves, scaled to all "+by+" of the dispatch; vector arithmetic is not counted")
		switch l := h.Launch; {
		case l != nil && l.DurationNs != nil:
			p.TimeNs = l.DurationNs
			if l.Calls > 0 {
				p.Notes = append(p.Notes, fmt.Sprintf("the time is the median of %d calls of this shape: the traced one has no row, or an unusual one", l.Calls))
			}
		case h.Machine.WavesNs != nil:
			p.TimeNs = h.Machine.WavesNs
			p.Notes = append(p.Notes, "the time is that in which the waves ran (occupancy.json, realtime.json), without launch overhead: no row tells how long the dispatch took")
		}
	} else {
		p.Notes = append(p.Notes, "matrix operations and requested bytes of the traced waves alone; vector arithmetic is not counted")
	}
	if bytes > 0 {
		p.Levels = append(p.Levels, Level{Name: levelRequested, Bytes: bytes})
		p.Notes = append(p.Notes, "requested bytes are more than memory sees: the intensity at HBM is higher, counters tell it")
	}
	return p, true
}
