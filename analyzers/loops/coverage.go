package loops

import (
	"cmp"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/exposed"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
)

// hits counts the executions of a row by all waves: the SIMDs' time is shared
// by those without work as well.
func (b *builder) hits(row int) int64 {
	return b.replay.Counts[replay.Working][row].Hits + b.replay.Counts[replay.NoWork][row].Hits
}

// loopTime sums a loop's cycles over the SIMDs.
func (b *builder) loopTime(l int) (sum replay.LoopCycles) {
	for i := range b.replay.SIMDs {
		x := b.replay.SIMDs[i].Cycles.Loop(l)
		sum.All += x.All
		sum.MatrixBusy += x.MatrixBusy
		sum.GapExposed += x.GapExposed
	}
	return sum
}

// matrixCycles sums the costs of the matrix instructions of rows; ok is false
// when there are none or one has no known cost.
func (b *builder) matrixCycles(rows []int) (mfmas, cycles int64, ok bool) {
	for _, row := range rows {
		in := &b.insts[row]
		n := b.hits(row)
		if in.Class != isa.MFMA || n == 0 {
			continue
		}
		if in.Matrix == nil || in.Matrix.Cycles <= 0 {
			return 0, 0, false
		}
		mfmas += n
		cycles += n * int64(in.Matrix.Cycles)
	}
	return mfmas, cycles, mfmas > 0
}

// coverage is nil for loops without matrix instructions of known cost.
func (b *builder) coverage(l int, rows []int) *Coverage {
	mfmas, cycles, ok := b.matrixCycles(rows)
	t := b.loopTime(l)
	if !ok || t.All == 0 {
		return nil
	}
	c := &Coverage{
		SIMDCycles: t.All, BusyCycles: t.MatrixBusy, BusyPct: 100 * float64(t.MatrixBusy) / float64(t.All),
		MFMAs: mfmas, CyclesPerMFMA: float64(t.All) / float64(mfmas), FloorCycles: float64(cycles) / float64(mfmas),
		GapCycles: t.All - t.MatrixBusy, GapExposed: t.GapExposed,
	}
	c.GapIssuing = c.GapCycles - c.GapExposed
	if !b.split.Gaps {
		return c
	}
	c.BlockedBy = b.blocked(rows, true, func(x exposed.Row) float64 { return x.StallOffMatrix })
	c.FilledBy, c.Beside = b.issuing(rows)
	return c
}

// issuing splits the issue of the rows' instructions, matrix instructions left
// out, by whether the matrix pipe was idle or busy.
func (b *builder) issuing(rows []int) (idle, busy []Filled) {
	off, beside := map[string]int64{}, map[string]int64{}
	for _, row := range rows {
		in := &b.insts[row]
		if in.Class == isa.MFMA || in.Class == isa.EndPgm {
			continue
		}
		x := b.split.Row(row, true)
		off[in.Class.String()] += x.IssueOffMatrix
		beside[in.Class.String()] += x.Issue - x.IssueOffMatrix
	}
	return ranked(off), ranked(beside)
}

// ranked lists what is not zero, the largest first.
func ranked(cycles map[string]int64) []Filled {
	var out []Filled
	for kind, n := range cycles {
		if n > 0 {
			out = append(out, Filled{kind, n})
		}
	}
	slices.SortFunc(out, func(a, b Filled) int {
		return cmp.Or(cmp.Compare(b.IssueCycles, a.IssueCycles), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// waveIssueCycles is how long an instruction of a 64-lane wave keeps a 16-lane
// SIMD's vector ALU, and how often the scalar unit that four SIMDs share serves
// each of them. Source: AMD "CDNA 3" ISA and the GCN architecture paper; the
// shortest issue in traces of gfx950 is the same.
const waveIssueCycles = 4

// vL1Bytes are the bytes per cycle and compute unit of the vector L1 cache.
// Source: rocprofiler-compute, vL1D speed-of-light of each architecture.
var vL1Bytes = map[string]float64{"gfx908": 64, "gfx90a": 64, "gfx942": 128, "gfx950": 128}

// simds describes the traced SIMDs one by one.
func (b *builder) simds() []SIMD {
	unknown := slices.ContainsFunc(b.rows(), func(row int) bool {
		in := &b.insts[row]
		return in.Class == isa.MFMA && b.hits(row) > 0 && (in.Matrix == nil || in.Matrix.Cycles <= 0)
	})
	var out []SIMD
	for i := range b.replay.SIMDs {
		s := &b.replay.SIMDs[i]
		x := SIMD{SE: s.SE, CU: s.CU, SIMD: s.SIMD, SIMDTime: exposed.TimeOf(s)}
		if busy := s.Cycles.MatrixBusy(); !unknown && x.Total > 0 {
			share := pct(busy, x.Total)
			x.MatrixBusyCycles, x.MatrixBusyPct = &busy, &share
		}
		out = append(out, x)
	}
	return out
}

// work is what a loop's instructions ask of the units.
type work struct {
	vector, scalar float64 // cycles of a SIMD
	lds, memory    float64 // cycles of a compute unit
}

// ideal compares the loop with each unit's least time.
func (b *builder) ideal(l int, rows []int) *Ideal {
	t := b.loopTime(l)
	if t.All == 0 {
		return nil
	}
	id := &Ideal{SIMDCycles: t.All}
	a, err := b.machine.GPU()
	known := err == nil
	w, unsized := b.work(rows, a, known)
	id.unit("vector ALU", w.vector, "4 cycles per vector instruction that is no matrix instruction")
	id.unit("scalar", w.scalar, "4 cycles per scalar instruction and scalar load")
	_, cycles, ok := b.matrixCycles(rows)
	switch {
	case ok:
		id.unit("matrix", float64(cycles), "cycles of the matrix cost table")
	case b.anyMatrix(rows):
		id.Absent = append(id.Absent, "matrix: the cost of an instruction is not known for "+b.listing.Arch.String())
	}
	share := float64(len(b.replay.SIMDs)) / float64(b.computeUnits())
	switch {
	case !known:
		id.Absent = append(id.Absent, "LDS and vector L1: bytes per cycle are not known for "+b.listing.Arch.String())
	case unsized > 0:
		id.Absent = append(id.Absent, "LDS and vector L1 are floors: the size of some accesses is not in the code")
		fallthrough
	default:
		id.unit("LDS", w.lds*share, "bytes / bytes per cycle and CU, shared by the CU's SIMDs; no bank conflicts")
		if vL1Bytes[a.Name] > 0 {
			id.unit("vector L1", w.memory*share, "bytes / bytes per cycle and CU, shared by the CU's SIMDs; every access hits")
		}
	}
	id.judge()
	return id
}

func (id *Ideal) unit(name string, cycles float64, rule string) {
	if cycles <= 0 {
		return
	}
	id.Units = append(id.Units, Unit{
		Unit: name, IdealCycles: thousandth(cycles), UsedPct: 100 * cycles / float64(id.SIMDCycles),
		SpeedUp: float64(id.SIMDCycles) / cycles, Rule: rule,
	})
}

// judge names the unit that needs most.
func (id *Ideal) judge() {
	slices.SortStableFunc(id.Units, func(a, b Unit) int {
		return cmp.Or(cmp.Compare(b.IdealCycles, a.IdealCycles), cmp.Compare(a.Unit, b.Unit))
	})
	if len(id.Units) > 0 {
		id.Bound, id.SpeedUp = id.Units[0].Unit, id.Units[0].SpeedUp
	}
}

func (b *builder) anyMatrix(rows []int) bool {
	return slices.ContainsFunc(rows, func(row int) bool { return b.insts[row].Class == isa.MFMA && b.hits(row) > 0 })
}

// computeUnits counts the traced compute units.
func (b *builder) computeUnits() int {
	type cu struct{ se, cu int }
	seen := map[cu]bool{}
	for i := range b.replay.SIMDs {
		seen[cu{b.replay.SIMDs[i].SE, b.replay.SIMDs[i].CU}] = true
	}
	return max(len(seen), 1)
}

// work sums what the rows ask of the units; unsized counts executions whose
// bytes the code does not say.
func (b *builder) work(rows []int, a gpu.Arch, known bool) (w work, unsized int64) {
	for _, row := range rows {
		in, n := &b.insts[row], b.hits(row)
		bytes := float64(n) * float64(b.machine.Wave) * float64(in.BytesPerLane)
		switch in.Class {
		case isa.VALU, isa.Trans:
			w.vector += waveIssueCycles * float64(n)
		case isa.SALU, isa.SMEM, isa.Branch:
			w.scalar += waveIssueCycles * float64(n)
		case isa.LDSRead, isa.LDSTranspose, isa.LDSWrite:
			if known {
				w.lds += bytes / ldsBytes(a, in)
			}
		case isa.VMEMLoad, isa.VMEMStore, isa.FlatLoad, isa.FlatStore, isa.VMEMToLDS, isa.VMEMFromLDS:
			if known && vL1Bytes[a.Name] > 0 {
				w.memory += bytes / vL1Bytes[a.Name]
			}
		default:
			continue
		}
		if n > 0 && isMemory(in.Class) && in.BytesPerLane == 0 {
			unsized += n
		}
	}
	return w, unsized
}

// ldsBytes is the LDS bandwidth for an instruction: the doubled rate of gfx950
// holds for 64- and 128-bit reads.
func ldsBytes(a gpu.Arch, in *isa.Inst) float64 {
	if in.Class != isa.LDSWrite && (in.BytesPerLane == 8 || in.BytesPerLane == 16) {
		return float64(a.LDSReadBytes)
	}
	return float64(a.LDSWriteBytes)
}
