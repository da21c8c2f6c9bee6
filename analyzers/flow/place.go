package flow

import (
	"fmt"
	"path"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Place names a row of a trace and the innermost loop around it, for programs
// and for people.
func (f *Flow) Place(tt *trace.ThreadTrace, row int) (finding.Place, string) {
	in := &tt.Code[row]
	p := finding.Place{Path: tt.Path, Line: &in.Line, Source: shortSource(in.Source)}
	where := fmt.Sprintf("line %d", in.Line)
	if p.Source != "" {
		where += " (" + p.Source + ")"
	}
	if l := int(f.Innermost[row]); l >= 0 {
		first, last := f.Rows(l)
		p.LoopFirst, p.LoopLast = &tt.Code[first].Line, &tt.Code[last].Line
		where += fmt.Sprintf(", in the loop of lines %d to %d", *p.LoopFirst, *p.LoopLast)
	}
	return p, where
}

// LoopPlace names a loop as a whole.
func (f *Flow) LoopPlace(tt *trace.ThreadTrace, l int) (finding.Place, string) {
	first, last := f.Rows(l)
	a, b := &tt.Code[first].Line, &tt.Code[last].Line
	p := finding.Place{Path: tt.Path, Line: a, LoopFirst: a, LoopLast: b, Source: shortSource(tt.Code[first].Source)}
	return p, fmt.Sprintf("the loop of lines %d to %d", *a, *b)
}

// Rows are the first and the last row of loop l.
func (f *Flow) Rows(l int) (first, last int) {
	lp := &f.Loops[l]
	first, last = lp.Head, lp.Head
	for _, b := range lp.Blocks {
		first = min(first, f.Blocks[b].First)
		last = max(last, f.Blocks[b].Last-1)
	}
	return first, last
}

// shortSource is the innermost frame, without its folders.
func shortSource(source string) string {
	frames := trace.Frames(source)
	if len(frames) == 0 || frames[0].Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", path.Base(strings.ReplaceAll(frames[0].File, `\`, "/")), frames[0].Line)
}
