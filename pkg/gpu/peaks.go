package gpu

import "fmt"

// Math is a kind of arithmetic with a peak rate of its own.
type Math string

// The kinds of arithmetic. Vector rates assume packed (CDNA) or dual-issued
// (RDNA) fp32; matrix rates are dense.
const (
	VectorFP64 Math = "vector_fp64"
	VectorFP32 Math = "vector_fp32"
	VectorFP16 Math = "vector_fp16"
	MatrixFP64 Math = "matrix_fp64"
	MatrixFP32 Math = "matrix_fp32"
	MatrixXF32 Math = "matrix_xf32"
	MatrixFP16 Math = "matrix_fp16"
	MatrixBF16 Math = "matrix_bf16"
	MatrixFP8  Math = "matrix_fp8"
	MatrixInt8 Math = "matrix_int8"
	MatrixFP6  Math = "matrix_fp6"
	MatrixFP4  Math = "matrix_fp4"
	MatrixInt4 Math = "matrix_int4"
)

// Maths lists all kinds in their fixed order.
func Maths() []Math {
	return []Math{
		VectorFP64, VectorFP32, VectorFP16,
		MatrixFP64, MatrixFP32, MatrixXF32, MatrixFP16, MatrixBF16,
		MatrixFP8, MatrixInt8, MatrixFP6, MatrixFP4, MatrixInt4,
	}
}

// Peak is one ceiling of a device. It is theoretical: what a kernel reaches
// in practice is lower.
type Peak struct {
	Value float64 `json:"value"`
	// Unit is "TFLOPS", "TOPS" or "GB/s" (1e9 bytes per second).
	Unit string `json:"unit"`
	// Source says where the value comes from and how it was scaled.
	Source string `json:"source"`
	// Formula shows the arithmetic, for checking by hand.
	Formula string `json:"formula,omitempty"`
}

// MathPeak is the peak of one kind of arithmetic.
type MathPeak struct {
	Math Math `json:"math"`
	Peak
}

// Peaks are the ceilings of a device. A pointer is nil where unknown.
type Peaks struct {
	// Math is in the order of Maths, unknown and unsupported kinds left out.
	Math []MathPeak `json:"math_peaks"`
	// Memory is HBM or GDDR; MALL the memory-side cache (Infinity Cache).
	Memory *Peak `json:"memory,omitempty"`
	MALL   *Peak `json:"mall,omitempty"`
	L2     *Peak `json:"l2,omitempty"`
	// LDSRead and LDSWrite are over all CUs.
	LDSRead  *Peak `json:"lds_read,omitempty"`
	LDSWrite *Peak `json:"lds_write,omitempty"`
}

// Of returns the peak of one kind of arithmetic; ok is false where it is
// unknown or the device lacks it.
func (p Peaks) Of(m Math) (peak Peak, ok bool) {
	for _, x := range p.Math {
		if x.Math == m {
			return x.Peak, true
		}
	}
	return Peak{}, false
}

// Peaks computes the ceilings of a device: operations per clock and CU, times
// CUs, times clock, and bytes likewise. It fails when the architecture is not
// in the table. Without a clock or CU count only the memory is known.
func (d Device) Peaks() (Peaks, error) {
	a, err := ArchByName(d.Arch)
	if err != nil {
		return Peaks{}, err
	}
	p := Peaks{Math: []MathPeak{}}
	for _, m := range Maths() {
		if peak := d.perCU(a.Rates[m], mathUnit(m), 1e12, a.RatesSource); peak != nil {
			p.Math = append(p.Math, MathPeak{Math: m, Peak: *peak})
		}
	}
	p.LDSRead = d.perCU(float64(a.LDSReadBytes), "GB/s", 1e9, ldsSource(a))
	p.LDSWrite = d.perCU(float64(a.LDSWriteBytes), "GB/s", 1e9, a.Source)
	p.L2 = d.l2(a)
	p.Memory = d.given(d.MemoryGBps)
	p.MALL = d.given(d.MALLGBps)
	return p, nil
}

func mathUnit(m Math) string {
	if m == MatrixInt8 || m == MatrixInt4 {
		return "TOPS"
	}
	return "TFLOPS"
}

// ldsSource warns where the read peak holds for some instructions only.
func ldsSource(a Arch) string {
	if a.LDSReadBytes == a.LDSWriteBytes {
		return a.Source
	}
	return fmt.Sprintf("64- and 128-bit LDS reads alone, others %d B/clk/CU; %s", a.LDSWriteBytes, srcLDS950)
}

func (d Device) perCU(perClock float64, unit string, scale float64, source string) *Peak {
	if perClock == 0 || d.CUs <= 0 || d.MaxMHz <= 0 {
		return nil
	}
	return &Peak{
		Value:   perClock * float64(d.CUs) * d.MaxMHz * 1e6 / scale,
		Unit:    unit,
		Source:  d.source() + "; rates: " + source,
		Formula: fmt.Sprintf("%g/clk/CU x %d CUs x %g MHz", perClock, d.CUs, d.MaxMHz),
	}
}

func (d Device) l2(a Arch) *Peak {
	channels := a.L2ChannelsPerDie * d.Dies
	if channels <= 0 || a.L2ChannelBytes == 0 || d.MaxMHz <= 0 {
		return nil
	}
	return &Peak{
		Value:   float64(channels) * float64(a.L2ChannelBytes) * d.MaxMHz * 1e6 / 1e9,
		Unit:    "GB/s",
		Source:  d.source(),
		Formula: fmt.Sprintf("%d channels x %d B/clk x %g MHz", channels, a.L2ChannelBytes, d.MaxMHz),
	}
}

func (d Device) given(gbps float64) *Peak {
	if gbps <= 0 {
		return nil
	}
	return &Peak{Value: gbps, Unit: "GB/s", Source: d.source()}
}

// source names the row of the table and how it was scaled.
func (d Device) source() string {
	s := "device table: " + d.Name
	if d.Sources == "" {
		s = d.Name
	} else {
		s += ", " + d.Sources
	}
	if d.Scaled != "" {
		s += "; " + d.Scaled
	}
	return s
}
