package roofline

import (
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/gpu"
)

// Names of the memory levels.
const (
	levelHBM  = "hbm"
	levelMALL = "mall"
	levelL2   = "l2"
	levelLDS  = "lds"
	// levelRequested is what instructions ask for, before any cache.
	levelRequested = "requested"
)

// roofs lists the theoretical peaks of the device, and the measured ones that
// lie beside counters.
func (b *builder) roofs() {
	if b.dev != nil {
		if peaks, err := b.dev.Peaks(); err == nil {
			b.theoretical(peaks)
		}
	}
	for _, run := range b.p.Trace.CounterRuns {
		for _, m := range run.Rooflines {
			b.measured(m.Name, m.Value, m.Origin.File)
		}
	}
}

func (b *builder) theoretical(p gpu.Peaks) {
	for _, m := range []struct {
		name string
		peak *gpu.Peak
	}{{levelHBM, p.Memory}, {levelMALL, p.MALL}, {levelL2, p.L2}, {levelLDS, p.LDSRead}} {
		if m.peak != nil {
			b.res.Memory = append(b.res.Memory, Roof{Name: m.name, Value: m.peak.Value, Unit: "GB/s", Source: m.peak.Source})
		}
	}
	for _, m := range p.Math {
		b.res.Math = append(b.res.Math, Roof{Name: string(m.Math), Value: m.Value * 1000, Unit: gUnit(m.Math), Source: m.Source})
	}
}

func gUnit(m gpu.Math) string {
	if m == gpu.MatrixInt8 || m == gpu.MatrixInt4 {
		return "GOP/s"
	}
	return "GFLOP/s"
}

// measuredNames maps the columns of a roofline.csv, in lower case. Source:
// rocprofiler-compute, roofline.csv of its workloads.
var measuredNames = map[string]string{
	"hbm": levelHBM, "mall": levelMALL, "l2": levelL2, "lds": levelLDS,
	"fp32flops": string(gpu.VectorFP32), "fp64flops": string(gpu.VectorFP64), "fp16flops": string(gpu.VectorFP16),
	"mfmaf64flops": string(gpu.MatrixFP64), "mfmaf32flops": string(gpu.MatrixFP32), "mfmaf16flops": string(gpu.MatrixFP16),
	"mfmabf16flops": string(gpu.MatrixBF16), "mfmaf8flops": string(gpu.MatrixFP8), "mfmai8ops": string(gpu.MatrixInt8),
	"mfmaf6flops": string(gpu.MatrixFP6), "mfmaf4flops": string(gpu.MatrixFP4),
}

func (b *builder) measured(name string, value float64, source string) {
	known, ok := measuredNames[strings.ToLower(name)]
	if !ok || !(value > 0) {
		return
	}
	r := Roof{Name: known, Value: value, Unit: "GB/s", Measured: true, Source: source}
	list := &b.res.Memory
	if strings.Contains(known, "_") {
		r.Unit, list = gUnit(gpu.Math(known)), &b.res.Math
	}
	for _, o := range *list {
		if o.Measured && o.Name == known {
			return // of another device of the table: the first one counts
		}
	}
	*list = append(*list, r)
}
