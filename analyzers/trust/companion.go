package trust

import (
	"fmt"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
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
// warning when all such rows have one shape; any other is not used.
func (c *check) companion(k int, out *Kernel) (Confidence, *finding.Finding) {
	kn := c.tt.Kernels[k]
	if kn.Symbol == "" || len(c.tt.Launches) == 0 {
		return High, nil
	}
	var same, other, wrongID *trace.Launch
	shapes := map[string]bool{}
	for i := range c.tt.Launches {
		l := &c.tt.Launches[i]
		named := sameKernel(l.Kernel, kn)
		byID := c.tt.DispatchID != nil && l.DispatchID != nil && *l.DispatchID == *c.tt.DispatchID
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
		if why := tooFewRegisters(same, c.listing.Registers[k]); why != "" {
			return High, mismatch(same, why+"; the row is not used")
		}
		out.Companion = &Companion{Launch: same, SameDispatch: true}
		return High, nil
	case other != nil && len(shapes) == 1 && tooFewRegisters(other, c.listing.Registers[k]) == "":
		out.Companion = &Companion{Launch: other}
		return High, mismatch(other, fmt.Sprintf("it is dispatch %s of the same kernel, not the traced one; its shape is used, its times are not", dispatchText(other)))
	case wrongID != nil:
		return High, mismatch(wrongID, fmt.Sprintf("dispatch %s is %q there, the trace is of %q; the row is not used", dispatchText(wrongID), wrongID.Kernel, kn.Name()))
	}
	return High, nil
}

func mismatch(l *trace.Launch, why string) *finding.Finding {
	return &finding.Finding{
		ID: "companion_mismatch", Severity: finding.Low,
		Text: fmt.Sprintf("%s, row %d: %s", l.Origin.File, l.Origin.Row, why),
		Fix:  "keep the kernel_trace.csv of the same run beside the trace",
	}
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
