package roofline

import (
	"fmt"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/gpu"
)

// Dtype is an element type of a matrix product, and what its operands weigh.
type Dtype struct {
	Name string
	Math gpu.Math
	// A and B are bits per element, Out bytes per element of the result.
	A, B, Out int
	// ScaleBytes per row and column in all (per-token scales), and ScaleBlock
	// elements of K that share a one-byte scale (block scales); 0 for none.
	ScaleBytes, ScaleBlock int
}

// Dtypes lists the element types. Bytes as in the FlyDSL GEMM optimization
// guide, section 8.2: results of 2 bytes, 4-byte scales per row and column for
// fp8, int8 and int4 weights, one-byte scales per 32 elements for fp4. fp6
// follows the OCP microscaling formats.
func Dtypes() []Dtype {
	return []Dtype{
		{"fp8", gpu.MatrixFP8, 8, 8, 2, 4, 0},
		{"bf8", gpu.MatrixFP8, 8, 8, 2, 4, 0},
		{"int8", gpu.MatrixInt8, 8, 8, 2, 4, 0},
		{"int4", gpu.MatrixInt8, 8, 4, 2, 4, 0},
		{"fp4", gpu.MatrixFP4, 4, 4, 2, 0, 32},
		{"fp6", gpu.MatrixFP6, 6, 6, 2, 0, 32},
		{"bf16", gpu.MatrixBF16, 16, 16, 2, 0, 0},
		{"fp16", gpu.MatrixFP16, 16, 16, 2, 0, 0},
		{"xf32", gpu.MatrixXF32, 32, 32, 4, 0, 0},
		{"fp32", gpu.MatrixFP32, 32, 32, 4, 0, 0},
		{"fp64", gpu.MatrixFP64, 64, 64, 8, 0, 0},
	}
}

// DtypeIndex is the value of the dtype parameter for a name.
func DtypeIndex(name string) (int, error) {
	var names []string
	for i, d := range Dtypes() {
		if d.Name == strings.ToLower(name) {
			return i, nil
		}
		names = append(names, d.Name)
	}
	return 0, fmt.Errorf("no element type %q: use %s", name, strings.Join(names, ", "))
}

// FLOPs of an M x N x K product: a multiplication and an addition each.
func FLOPs(m, n, k int64) float64 { return 2 * float64(m) * float64(n) * float64(k) }

// Bytes that an M x N x K product has to move at least once: both operands, the
// result, and scales.
func (d Dtype) Bytes(m, n, k int64) float64 {
	fm, fn, fk := float64(m), float64(n), float64(k)
	bytes := (fm*fk*float64(d.A)+fn*fk*float64(d.B))/8 + fm*fn*float64(d.Out) + (fm+fn)*float64(d.ScaleBytes)
	if d.ScaleBlock > 0 {
		bytes += (fm + fn) * float64(k/int64(d.ScaleBlock))
	}
	return bytes
}

// smallM is the rule of thumb below which products are bound by memory.
// Source: FlyDSL kernel tuning guide, section 8.
const smallM = 512

// problem adds the product that the parameters describe.
func (b *builder) problem() {
	m, n, k := int64(b.p.Param(paramM)), int64(b.p.Param(paramN)), int64(b.p.Param(paramK))
	if m < 1 || n < 1 || k < 1 || m > maxExtent || n > maxExtent || k > maxExtent {
		return
	}
	types := Dtypes()
	at := int(b.p.Param(paramType))
	if at < 0 || at >= len(types) {
		return
	}
	d := types[at]
	p := Point{
		Name: fmt.Sprintf("GEMM %dx%dx%d %s", m, n, k, d.Name), Source: "problem", Math: d.Math, FLOPs: FLOPs(m, n, k),
		Levels: []Level{{Name: levelHBM, Bytes: d.Bytes(m, n, k)}},
		Notes:  []string{"bytes: each operand, the result and the scales once; a real kernel moves more"},
	}
	if t := b.p.Param(paramTime); t > 0 {
		p.TimeNs = &t
	}
	if m <= smallM {
		p.Notes = append(p.Notes, fmt.Sprintf("rule of thumb: M <= %d is bound by memory or latency", smallM))
	}
	if b.dev == nil {
		p.Notes = append(p.Notes, "name a device (--device MI300X) for roofs and the bound")
	} else if _, ok := b.roof(b.res.Math, string(d.Math)); !ok {
		p.Notes = append(p.Notes, fmt.Sprintf("%s has no %s in the device table", b.dev.Name, d.Math))
	}
	b.res.Points = append(b.res.Points, p)
}
