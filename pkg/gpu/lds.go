package gpu

// LDSAccess says how one LDS instruction is served: its lanes go in phases,
// and in each phase lanes that need different dwords of one bank wait for
// each other. Bank = (address / 4) mod Banks.
type LDSAccess struct {
	Read bool
	// Bits is the width per lane: 32, 64, 96 or 128.
	Bits  int
	Banks int
	// Phases holds the lanes served together, in order.
	Phases [][]int
	// Source names where the figures come from.
	Source string
}

// Sources of the LDS table. The gfx942 rows reproduce 21 measured MI300X
// counts of SQ_LDS_BANK_CONFLICT.
const (
	srcLDS942  = "rocm.blogs.amd.com lds-bank-conflict; rocRoller LDSBankModel.cpp"
	srcLDS950  = "HipKittens (MI355X counters); amd-shark-ai (MI350X latency); rocRoller LDSBankModel.cpp"
	srcLDS950s = "HipKittens alone; rocRoller LDSBankModel.cpp has 32 lanes a clock"
	srcLDSRDNA = "lane groups measured with conflicting address pairs; no AMD document"
)

// ldsRow is one line of the table: half holds the lanes of the phases for
// each 32 lanes (a list of [first, last] ranges per phase), or is nil when
// the phases take run consecutive lanes.
type ldsRow struct {
	archs  []string
	wave   int
	read   bool
	bits   int
	banks  int
	run    int
	half   [][][2]int
	source string
}

func ldsTable() []ldsRow {
	cdna3 := []string{"gfx90a", "gfx942"}
	cdna4 := []string{"gfx950"}
	// 128-bit reads pair lanes that are 16 or 20 apart.
	eights := [][][2]int{
		{{0, 3}, {20, 23}},
		{{4, 7}, {16, 19}},
		{{8, 11}, {28, 31}},
		{{12, 15}, {24, 27}},
	}
	sixteens := [][][2]int{
		{{0, 3}, {12, 15}, {20, 27}},
		{{4, 11}, {16, 19}, {28, 31}},
	}
	return []ldsRow{
		{cdna3, 64, true, 32, 32, 32, nil, srcLDS942},
		{cdna3, 64, true, 64, 32, 16, nil, srcLDS942},
		{cdna3, 64, true, 96, 32, 0, eights, srcLDS942},
		{cdna3, 64, true, 128, 32, 0, eights, srcLDS942},
		{cdna3, 64, false, 32, 32, 32, nil, srcLDS942},
		{cdna3, 64, false, 64, 32, 16, nil, srcLDS942},
		{cdna3, 64, false, 128, 32, 8, nil, srcLDS942},
		{cdna4, 64, true, 32, 64, 64, nil, srcLDS950s},
		{cdna4, 64, true, 64, 64, 32, nil, srcLDS950},
		{cdna4, 64, true, 96, 32, 0, eights, srcLDS950},
		{cdna4, 64, true, 128, 64, 0, sixteens, srcLDS950},
		{cdna4, 64, false, 32, 32, 32, nil, srcLDS950},
		{cdna4, 64, false, 64, 32, 16, nil, srcLDS950},
		{cdna4, 64, false, 128, 32, 8, nil, srcLDS950},
		{[]string{"gfx1100"}, 32, true, 32, 32, 32, nil, srcLDSRDNA},
		{[]string{"gfx1100"}, 32, true, 64, 32, 16, nil, srcLDSRDNA},
		{[]string{"gfx1100"}, 32, true, 128, 32, 0, eights, srcLDSRDNA},
		{[]string{"gfx1201"}, 32, true, 32, 32, 32, nil, srcLDSRDNA},
		{[]string{"gfx1201"}, 32, true, 64, 32, 16, nil, srcLDSRDNA},
		{[]string{"gfx1201"}, 32, true, 128, 32, 8, nil, srcLDSRDNA},
	}
}

// LDSAccess returns how a read or write of bits per lane is served; ok is
// false where no source says.
func (a Arch) LDSAccess(read bool, bits, wave int) (access LDSAccess, ok bool) {
	for _, r := range ldsTable() {
		if r.read != read || r.bits != bits || r.wave != wave {
			continue
		}
		for _, name := range r.archs {
			if name == a.Name {
				return LDSAccess{Read: read, Bits: bits, Banks: r.banks, Phases: r.phases(), Source: r.source}, true
			}
		}
	}
	return LDSAccess{}, false
}

func (r ldsRow) phases() [][]int {
	var out [][]int
	if r.half == nil {
		for first := 0; first < r.wave; first += r.run {
			out = append(out, span(nil, first, first+r.run-1))
		}
		return out
	}
	for base := 0; base < r.wave; base += 32 {
		for _, ranges := range r.half {
			var lanes []int
			for _, x := range ranges {
				lanes = span(lanes, base+x[0], base+x[1])
			}
			out = append(out, lanes)
		}
	}
	return out
}

func span(lanes []int, first, last int) []int {
	for i := first; i <= last; i++ {
		lanes = append(lanes, i)
	}
	return lanes
}

// ExtraCycles returns the bank-conflict cycles of one instruction: over its
// phases, the most distinct dwords that fall into one bank, less one. addr
// holds the byte address of each lane; a negative address or a lane beyond
// the slice is inactive. Equal dwords are broadcast and cost nothing.
func (x LDSAccess) ExtraCycles(addr []int64) int {
	if x.Banks <= 0 {
		return 0
	}
	total := 0
	for _, lanes := range x.Phases {
		total += max(0, x.worstBank(lanes, addr)-1)
	}
	return total
}

func (x LDSAccess) worstBank(lanes []int, addr []int64) int {
	seen := map[int64]bool{}
	perBank := map[int64]int{}
	worst := 0
	for _, lane := range lanes {
		if lane >= len(addr) || addr[lane] < 0 {
			continue
		}
		for i := range int64(x.Bits / 32) {
			dword := addr[lane]/4 + i
			if seen[dword] {
				continue
			}
			seen[dword] = true
			bank := dword % int64(x.Banks)
			perBank[bank]++
			worst = max(worst, perBank[bank])
		}
	}
	return worst
}
