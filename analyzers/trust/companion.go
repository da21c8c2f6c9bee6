package trust

import (
	"fmt"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Companion is the kernel-trace row that is taken for a traced kernel.
type Companion struct {
	Launch *trace.Launch
	// SameDispatch is set when the row has the trace's dispatch id; otherwise
	// it is another dispatch of the same kernel, good for its shape only.
	SameDispatch bool
}

// WavesInDispatch is the number of waves that the launch has with the given
// wave size; ok is false when the shape is not known.
func (c *Companion) WavesInDispatch(waveSize int64) (n int64, ok bool) {
	size, ok1 := c.Launch.WorkgroupSize()
	groups, ok2 := c.Launch.Workgroups()
	if !ok1 || !ok2 || waveSize <= 0 {
		return 0, false
	}
	perGroup := (size-1)/waveSize + 1
	if groups > 1<<62/perGroup {
		return 0, false
	}
	return groups * perGroup, true
}

// companion picks the row: dispatch id, kernel name and registers must agree
// with the trace. A row of another dispatch of the same kernel serves with a
// warning when all such rows have one shape; any other is not used. It returns
// the row that is to be doubted, and why.
func (s *subject) companion() (doubted *trace.Launch, why string) {
	kn := s.tt.Kernels[s.k]
	if kn.Symbol == "" || len(s.tt.Launches) == 0 {
		return nil, ""
	}
	var same, other, wrongID *trace.Launch
	shapes := map[string]bool{}
	for i := range s.tt.Launches {
		l := &s.tt.Launches[i]
		named := sameKernel(l.Kernel, kn)
		byID := s.tt.DispatchID != nil && l.DispatchID != nil && *l.DispatchID == *s.tt.DispatchID
		switch {
		case named && byID:
			same = l
		case named:
			shapes[shape(l)] = true
			if other == nil {
				other = l
			}
		case byID:
			wrongID = l
		}
	}
	switch {
	case same != nil:
		if why := tooFewRegisters(same, s.listing.Registers[s.k]); why != "" {
			return same, why + "; the row is not used"
		}
		s.out.Companion = &Companion{Launch: same, SameDispatch: true}
		return nil, ""
	case other != nil && len(shapes) == 1 && tooFewRegisters(other, s.listing.Registers[s.k]) == "":
		s.out.Companion = &Companion{Launch: other}
		return other, fmt.Sprintf("it is dispatch %s of the same kernel, not the traced one; its shape is used, its times are not", dispatchText(other))
	case wrongID != nil:
		return wrongID, fmt.Sprintf("dispatch %s is %q there, the trace is of %q; the row is not used", dispatchText(wrongID), wrongID.Kernel, kn.Name())
	}
	return nil, ""
}

func dispatchText(l *trace.Launch) string {
	if l.DispatchID == nil {
		return "?"
	}
	return fmt.Sprint(*l.DispatchID)
}

func sameKernel(name string, kn trace.Kernel) bool {
	return name != "" && (name == kn.Symbol || name == kn.Demangled)
}

func shape(l *trace.Launch) string { return fmt.Sprint(l.Workgroup, l.Grid) }

// tooFewRegisters says why a row cannot be of this code: even read in the
// most generous way (gfx950 profilers before mid-2026 and gfx1250 ones report
// half of the allocation), it has fewer vector registers than the code names.
func tooFewRegisters(l *trace.Launch, used code.Registers) string {
	if l.VGPRs == nil {
		return ""
	}
	has := *l.VGPRs
	if l.AccumVGPRs != nil {
		has += *l.AccumVGPRs
	}
	if needs := int64(used.VGPRs + used.AGPRs); 2*has < needs {
		return fmt.Sprintf("it has %d vector registers, the code names %d", has, needs)
	}
	return ""
}
