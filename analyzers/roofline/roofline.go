// Package roofline is the analyzer that puts kernels, or a matrix product given
// by its size, under the ceilings of a device.
package roofline

import (
	_ "embed"
	"fmt"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/efficiency"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
)

//go:embed doc.md
var doc string

// Names of the parameters.
const (
	paramM    = "m"
	paramN    = "n"
	paramK    = "k"
	paramType = "dtype"
	paramTime = "time_ns"
)

// maxExtent bounds a product's sizes.
const maxExtent = 1 << 30

// Analyzer returns a *Result.
var Analyzer = analysis.New(analysis.Analyzer{
	Name:     "roofline",
	Doc:      doc,
	Requires: []analysis.Required{code.Analyzer, replay.Analyzer, efficiency.Analyzer, regime.Analyzer},
	Params: []analysis.Param{
		{Name: paramM, Doc: "rows of the matrix product's result; 0 is no product"},
		{Name: paramN, Doc: "columns of the result"},
		{Name: paramK, Doc: "length of the sums"},
		{Name: paramType, Doc: "element type, as the position in Dtypes"},
		{Name: paramTime, Unit: "ns", Doc: "how long the product took; 0 is not known"},
	},
}, run)

// Result is the machine output.
type Result struct {
	Device string `json:"device,omitempty"`
	// DeviceSource says how the device is known.
	DeviceSource string `json:"device_source,omitempty"`
	// GPU is the one of the captures, nil where only the user named it; without
	// Device it is the first.
	GPU *capture.Machine `json:"-"`

	Memory []Roof  `json:"memory_roofs"`
	Math   []Roof  `json:"compute_roofs"`
	Points []Point `json:"points"`
}

// Roof is one ceiling.
type Roof struct {
	// Name is a memory level ("hbm", "l2", "lds", "mall") or a kind of
	// arithmetic ("matrix_fp8").
	Name string `json:"name"`
	// Value is GB/s, or GFLOP/s (GOP/s for integers).
	Value    float64 `json:"value"`
	Unit     string  `json:"unit"`
	Measured bool    `json:"is_measured"`
	Source   string  `json:"source"`
}

// Point is a kernel or product under the roofs.
type Point struct {
	Name string `json:"name"`
	// Source is "problem", "counters" or "thread_trace", Path the capture.
	Source string `json:"kind"`
	Path   string `json:"path,omitempty"`
	// Math is the kind of arithmetic that most of the work is.
	Math  gpu.Math `json:"math,omitempty"`
	FLOPs float64  `json:"flops"`
	// TimeNs, AchievedGFLOPs and the like are absent without a time.
	TimeNs         *float64 `json:"time_ns,omitempty"`
	AchievedGFLOPs *float64 `json:"achieved_gflop_per_s,omitempty"`
	Levels         []Level  `json:"levels"`
	// PeakGFLOPs is the roof of Math; PeakPct what was achieved of it.
	PeakGFLOPs *float64 `json:"peak_gflop_per_s,omitempty"`
	PeakPct    *float64 `json:"achieved_pct_of_peak,omitempty"`
	// MinTimeNs is the least time by the compute and memory roofs together.
	MinTimeNs *float64 `json:"least_time_ns,omitempty"`
	// Bound is "memory" or "compute": on which side of the ridge it lies.
	Bound string   `json:"bound_by,omitempty"`
	Notes []string `json:"remarks,omitempty"`
	// Efficiency is the way from the peak to what was achieved, of a trace.
	Efficiency *efficiency.Efficiency `json:"efficiency,omitempty"`
}

// Level is a point's traffic at one memory level.
type Level struct {
	Name  string  `json:"name"`
	Bytes float64 `json:"bytes"`
	// BytesLow differs from Bytes where counters only give a range.
	BytesLow *float64 `json:"bytes_low,omitempty"`
	// Intensity is FLOPs per byte, Ridge where the roofs meet.
	Intensity float64  `json:"flop_per_byte"`
	Ridge     *float64 `json:"ridge_flop_per_byte,omitempty"`
	// AttainableGFLOPs is the lower of the compute roof and the intensity
	// times the bandwidth; AttainedPct what was achieved of it.
	AttainableGFLOPs *float64 `json:"attainable_gflop_per_s,omitempty"`
	AttainedPct      *float64 `json:"achieved_pct_of_attainable,omitempty"`
	AchievedGBps     *float64 `json:"achieved_gb_per_s,omitempty"`
	GBpsPct          *float64 `json:"achieved_pct_of_bandwidth,omitempty"`
}

func run(p *analysis.Pass) (*Result, error) {
	b := &builder{p: p, res: &Result{Memory: []Roof{}, Math: []Roof{}, Points: []Point{}}}
	verdicts := regime.Analyzer.Of(p)
	b.device(verdicts)
	b.roofs()
	b.problem()
	for i := range verdicts.Kernels {
		b.kernel(&verdicts.Kernels[i])
	}
	for i := range b.res.Points {
		b.place(&b.res.Points[i])
	}
	return b.res, nil
}

// builder makes the result of one run.
type builder struct {
	p   *analysis.Pass
	res *Result
	dev *gpu.Device
}

// device takes that of the captures, in which the user's word is one piece of
// evidence; without any, the user's.
func (b *builder) device(v *regime.Result) {
	take := func(d *gpu.Device, source string, m *capture.Machine) {
		if b.res.GPU == nil {
			b.res.GPU = m
		}
		if b.dev == nil && d != nil {
			if d.Scaled != "" {
				source += ", " + d.Scaled
			}
			b.dev, b.res.Device, b.res.DeviceSource, b.res.GPU = d, d.Name, source, m
		}
	}
	for i := range v.Kernels {
		if m := v.Kernels[i].Main; m != nil {
			take(m.Device, m.DeviceSource, m.Resolved.Machine)
		}
		for _, c := range v.Kernels[i].Counted {
			m := c.Counters.Machine.GPU
			source := "counters of " + c.Counters.Run
			if m.DeviceSource == capture.SourceFlag {
				source = capture.SourceFlag
			}
			take(m.Only(), source, m)
		}
	}
	named := b.p.Capture.Named()
	switch {
	case len(named) == 1:
		take(&named[0], capture.SourceFlag, nil)
	case len(named) > 1 && len(v.Kernels) == 0:
		take(&named[0], fmt.Sprintf("--device %s: the first of %d devices", b.p.Capture.Flag(), len(named)), nil)
	}
}

// place puts a point under the roofs.
func (b *builder) place(p *Point) {
	if p.TimeNs != nil && *p.TimeNs > 0 {
		p.AchievedGFLOPs = new(p.FLOPs / *p.TimeNs)
	}
	if peak, ok := b.roof(b.res.Math, string(p.Math)); ok {
		p.PeakGFLOPs = &peak
		p.MinTimeNs = new(p.FLOPs / peak)
		if p.AchievedGFLOPs != nil {
			p.PeakPct = new(100 * *p.AchievedGFLOPs / peak)
		}
	}
	for i := range p.Levels {
		b.level(p, &p.Levels[i])
	}
}

func (b *builder) level(p *Point, l *Level) {
	if l.Bytes <= 0 {
		return
	}
	l.Intensity = p.FLOPs / l.Bytes
	if p.TimeNs != nil && *p.TimeNs > 0 {
		l.AchievedGBps = new(l.Bytes / *p.TimeNs)
	}
	bw, ok := b.roof(b.res.Memory, l.Name)
	if !ok { // requested bytes have no roof: caches serve a part of them
		return
	}
	if l.AchievedGBps != nil {
		l.GBpsPct = new(100 * *l.AchievedGBps / bw)
	}
	if p.PeakGFLOPs == nil {
		return
	}
	l.Ridge = new(*p.PeakGFLOPs / bw)
	l.AttainableGFLOPs = new(min(*p.PeakGFLOPs, l.Intensity*bw))
	if p.AchievedGFLOPs != nil && *l.AttainableGFLOPs > 0 {
		l.AttainedPct = new(100 * *p.AchievedGFLOPs / *l.AttainableGFLOPs)
	}
	if l.Name == levelHBM {
		p.MinTimeNs = new(max(*p.MinTimeNs, l.Bytes/bw))
		p.Bound = "memory"
		if l.Intensity >= *l.Ridge {
			p.Bound = "compute"
		}
	}
}

// roof returns a roof by name: a measured one where there is one.
func (b *builder) roof(rs []Roof, name string) (value float64, ok bool) {
	for _, r := range rs {
		if r.Name != name {
			continue
		}
		if r.Measured {
			return r.Value, true
		}
		if !ok {
			value, ok = r.Value, true
		}
	}
	return value, ok
}
