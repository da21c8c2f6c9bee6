// Package trace is the one model that every input is read into and every
// analysis reads from: plain types with documented units.
//
// It imports nothing of this module. What an input did not say is absent (a
// nil pointer, an empty slice), never zero. All cycle counts are shader-clock
// cycles; all times named Ns are nanoseconds.
package trace
