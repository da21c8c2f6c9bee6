package rule

import "strings"

// Shape says what a kernel does, as far as remedies depend on it: a set of
// features. The zero Shape is that of a kernel of which nothing is known.
type Shape uint32

// The features of a kernel. A feature and its opposite are both absent where
// it is not known.
const (
	// Loop: a loop was gone round more than once; OnePass: none was.
	Loop Shape = 1 << iota
	OnePass
	// MatrixWork: matrix instructions were executed; NoMatrix: none were.
	MatrixWork
	NoMatrix
	// MatrixLoop: in a loop.
	MatrixLoop
	// GEMM: the matrix results are only added up: no maximum, comparison or
	// transcendental function follows each step.
	GEMM
	// LDSReads and LDSWrites were executed, the latter also by copies.
	LDSReads
	LDSWrites
	// Copies: loads went straight to LDS.
	Copies
	// Barriers were executed.
	Barriers
	// BarrierLoop: in a loop.
	BarrierLoop
	// Stores to memory were executed.
	Stores
	// Streaming: loads or stores without matrix work, polling or returning
	// atomics.
	Streaming
	// Reduction: no matrix work, and lanes or waves exchange values.
	Reduction
	// ScalarLoop: scalar loads in a loop.
	ScalarLoop
	// Sync: fences, returning atomics or polling loops were executed.
	Sync
	// ManyDies: the kernel ran on a GPU of several dies, each with an L2.
	ManyDies
)

// shapeWords say when an advice holds, in the order in which they are listed.
var shapeWords = []struct {
	shape Shape
	words string
}{
	{Loop, "a loop"},
	{OnePass, "one pass"},
	{MatrixWork, "matrix work"},
	{NoMatrix, "no matrix work"},
	{MatrixLoop, "matrix work in a loop"},
	{GEMM, "a GEMM"},
	{LDSReads, "LDS reads"},
	{LDSWrites, "LDS writes"},
	{Copies, "copies to LDS"},
	{Barriers, "barriers"},
	{BarrierLoop, "barriers in a loop"},
	{Stores, "stores"},
	{Streaming, "streaming"},
	{Reduction, "a reduction"},
	{ScalarLoop, "scalar loads in a loop"},
	{Sync, "synchronisation"},
	{ManyDies, "several dies"},
}

// Has reports whether the shape has all of some features.
func (s Shape) Has(features Shape) bool { return s&features == features }

// Words lists the features.
func (s Shape) Words() []string {
	var out []string
	for _, w := range shapeWords {
		if s.Has(w.shape) {
			out = append(out, w.words)
		}
	}
	return out
}

// Advice is a remedy for kernels with some features.
type Advice struct {
	When Shape
	Text string
}

// Fit joins a remedy that always holds, "" for none, with the advice that fits
// a shape.
func Fit(always string, more []Advice, s Shape) string {
	var parts []string
	if always != "" {
		parts = append(parts, always)
	}
	for _, a := range more {
		if s.Has(a.When) {
			parts = append(parts, a.Text)
		}
	}
	return strings.Join(parts, "; ")
}

// Offer lists a remedy and all advice: what always holds first, then the rest
// with what it takes.
func Offer(always string, more []Advice) string {
	general, rest := []Advice{}, []string{}
	for _, a := range more {
		if a.When == 0 {
			general = append(general, a)
			continue
		}
		rest = append(rest, "with "+strings.Join(a.When.Words(), " and ")+": "+a.Text)
	}
	if first := Fit(always, general, 0); first != "" {
		rest = append([]string{first}, rest...)
	}
	return strings.Join(rest, "; ")
}

// Shaped is a subject of checks that knows its shape: it gets the advice that
// fits.
type Shaped interface{ Shape() Shape }
