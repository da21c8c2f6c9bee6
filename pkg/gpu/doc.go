// Package gpu holds AMD GPU architectures and devices as data, and the
// occupancy arithmetic on top of them.
//
// The tables are returned by functions (Archs, Devices), so that nothing here
// is shared or mutable. Every figure of an architecture comes from a public
// source named beside it; what no source gives is absent (zero), never guessed.
//
// Two occupancy rules exist side by side. Hardware counts whole workgroups on
// the compute unit and is what a kernel really gets. LLVM repeats the figure
// that LLVM up to release 22 prints as "Occupancy", for comparison with
// compiler output; Compare names the reason wherever the two differ.
package gpu
