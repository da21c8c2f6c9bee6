package loops

import (
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
)

// maxRanges bounds the listed ranges.
const maxRanges = 20

const staticLimits = "from the code alone: writes under a partial EXEC mask and half-register writes count as whole, registers indexed through M0 and values passed to calls are not seen; the compiler may need more"

// registers says how many vector registers are alive where, beside those that
// the code names.
func (b *builder) registers() *Registers {
	alive := b.flow.Live(b.kernel, b.insts)
	if len(alive) == 0 {
		return nil
	}
	named := b.listing.Registers[b.k]
	r := &Registers{NamedVGPRs: named.VGPRs, NamedAGPRs: named.AGPRs, Limits: staticLimits}
	peak := 0
	for i, a := range alive {
		if a.Total() > alive[peak].Total() {
			peak = i
		}
	}
	in := &b.tt.Code[b.kernel.First+peak]
	r.PeakVGPRs, r.PeakAGPRs, r.PeakLine, r.PeakText = alive[peak].VGPRs, alive[peak].AGPRs, in.Line, in.Text
	if b.p.Param("registers") != 0 {
		for i, a := range alive {
			in := &b.tt.Code[b.kernel.First+i]
			r.ByInstruction = append(r.ByInstruction, AliveAt{in.Line, a.VGPRs, a.AGPRs, in.Text})
		}
	}
	a, err := b.machine.GPU()
	if err != nil || a.Wave64.PerSIMD == 0 || b.machine.Wave != 64 {
		return r
	}
	waves := wavesWith(a, named.VGPRs, named.AGPRs)
	r.WavesNamed = &waves
	if waves >= a.MaxWaves || waves == 0 {
		return r
	}
	next := waves + 1
	limit := a.Wave64.PerSIMD / next / a.Wave64.Granule * a.Wave64.Granule
	r.NextWaves, r.NextLimit = &next, &limit
	r.above(b, a, alive, limit)
	return r
}

// allocated is the size of an allocation that holds the registers, before
// rounding. On gfx90a and later both kinds share a file, accumulation
// registers behind a multiple of 4; before, the larger counts.
// Source: LLVM AMDGPUBaseInfo.cpp, getTotalNumVGPRs.
func allocated(a gpu.Arch, vgprs, agprs int) int {
	if a.AGPR == gpu.UnifiedAGPR && agprs > 0 {
		return (vgprs+3)/4*4 + agprs
	}
	return max(vgprs, agprs)
}

func wavesWith(a gpu.Arch, vgprs, agprs int) int {
	g := a.Wave64.Granule
	n := max((allocated(a, vgprs, agprs)+g-1)/g*g, g)
	return min(a.Wave64.PerSIMD/n, a.MaxWaves)
}

// above lists the instructions that need more than the next step allows.
func (r *Registers) above(b *builder, a gpu.Arch, alive []flow.Alive, limit int) {
	last := -2
	for i, x := range alive {
		n := allocated(a, x.VGPRs, x.AGPRs)
		if n <= limit {
			continue
		}
		r.AboveCount++
		line := b.tt.Code[b.kernel.First+i].Line
		switch {
		case i == last+1 && len(r.Above) > 0 && len(r.Above) <= maxRanges:
			at := &r.Above[len(r.Above)-1]
			at.Last, at.Peak = line, max(at.Peak, n)
		case len(r.Above) < maxRanges:
			r.Above = append(r.Above, RowRange{line, line, n})
		default:
			continue
		}
		last = i
	}
}
