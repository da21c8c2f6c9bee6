package gpu

import "fmt"

// Counts are one kernel's register columns as a profiler's table has them
// (rocprofv3 kernel_trace.csv, rocpd kernel symbols).
type Counts struct {
	// Kernel tells kernels apart in messages; may be empty.
	Kernel string
	// VGPR, Accum and SGPR are VGPR_Count, Accum_VGPR_Count and SGPR_Count.
	VGPR, Accum, SGPR int
	// LDSBytes is LDS_Block_Size: static LDS, rounded up to 512.
	LDSBytes      int
	WorkgroupSize int
	// CodeVGPRs is how many registers the disassembly names (highest v
	// register + 1, rounded up to 4, plus the same for a registers); 0 when
	// there is no disassembly.
	CodeVGPRs int
}

// Certainty grades a decision about a whole capture.
type Certainty string

// The grades, strongest first.
const (
	Proven    Certainty = "proven"
	Likely    Certainty = "likely"
	Undecided Certainty = "undecided"
)

// Halved is the decision whether a capture's VGPR_Count shows half of the
// real allocation.
type Halved struct {
	Halved    bool      `json:"halved"`
	Certainty Certainty `json:"certainty"`
	// Rows were looked at; OddRows have a sum that no right decoder gives;
	// AccumRows have accumulation registers, which no halving decoder gives;
	// CodeRows name more registers in their code than their row has.
	Rows      int `json:"row_count"`
	OddRows   int `json:"odd_rows"`
	AccumRows int `json:"accum_rows"`
	CodeRows  int `json:"code_rows"`
	// Distinct is the number of different counts.
	Distinct int    `json:"distinct_counts"`
	Why      string `json:"reason"`
}

// manyCounts is how many different counts make chance a poor explanation:
// 2^-7 is below 1 %.
const manyCounts = 7

// DetectHalved decides from all rows of one capture and one architecture.
//
// rocprofiler-sdk before rocm-systems#5862 (May 2026) decodes gfx950 with the
// default branch: VGPR_Count = (blocks + 1) * 4, half of the unified
// allocation, and Accum_VGPR_Count = 0. A right decoder gives
// VGPR + Accum = (blocks + 1) * 8. gfx1250 counts in 16 and is decoded with 8.
// So a sum that is an odd multiple of half the descriptor's unit proves halving.
func DetectHalved(a Arch, rows []Counts) Halved {
	h := Halved{Rows: len(rows)}
	unit := map[string]int{"gfx950": 8, "gfx1250": 16, "gfx1251": 16}[a.Name]
	if unit == 0 {
		h.Certainty, h.Why = Proven, "profilers decode "+a.Name+" in the descriptor's own unit"
		return h
	}
	counts := map[int]bool{}
	for _, r := range rows {
		sum := r.VGPR + r.Accum
		counts[sum] = true
		h.OddRows += flag(sum%unit == unit/2)
		h.AccumRows += flag(r.Accum > 0)
		h.CodeRows += flag(r.CodeVGPRs > sum)
	}
	h.Distinct = len(counts)
	h.decide(a, unit)
	return h
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (h *Halved) decide(a Arch, unit int) {
	switch {
	case h.Rows == 0:
		h.Certainty, h.Why = Undecided, "no rows"
	case h.OddRows > 0 && h.AccumRows > 0:
		h.Certainty = Undecided
		h.Why = fmt.Sprintf("%d rows can only be halved and %d can only be whole: captures of two decoders are mixed",
			h.OddRows, h.AccumRows)
	case h.OddRows > 0:
		h.Halved, h.Certainty = true, Proven
		h.Why = fmt.Sprintf("%d of %d rows are an odd multiple of %d, and %s allocates in %d",
			h.OddRows, h.Rows, unit/2, a.Name, unit)
	case h.AccumRows > 0:
		h.Certainty = Proven
		h.Why = fmt.Sprintf("%d of %d rows have accumulation registers, which a halving decoder never gives", h.AccumRows, h.Rows)
	case h.CodeRows > 0:
		h.Halved, h.Certainty = true, Likely
		h.Why = fmt.Sprintf("the code of %d rows names more registers than the row has", h.CodeRows)
	case a.AGPR == NoAGPR && h.Distinct >= manyCounts:
		h.Certainty = Likely
		h.Why = fmt.Sprintf("all %d different counts are multiples of %d", h.Distinct, unit)
	case a.AGPR == NoAGPR:
		h.Halved, h.Certainty = true, Likely
		h.Why = "no decoder that counts " + a.Name + " right is known"
	default:
		h.Halved, h.Certainty = true, Likely
		h.Why = fmt.Sprintf("Accum_VGPR_Count is 0 on all %d rows (%d different counts); a right decoder shows "+
			"a remainder of 4 or more for about half of all kernels", h.Rows, h.Distinct)
	}
}

// NoteID names a caveat about decoded counts.
type NoteID string

// The caveats.
const (
	NoteHalved       NoteID = "halved_vgpr_count"
	NoteMixed        NoteID = "mixed_decoders"
	NotePhantomAccum NoteID = "phantom_accum"
	NoteMaxNotSum    NoteID = "gfx908_max_not_sum"
	NoteRounded      NoteID = "allocation_granule"
	NoteIrregular    NoteID = "irregular_count"
	NotePadded       NoteID = "padded_registers"
	NoteSGPRVoid     NoteID = "sgpr_count_meaningless"
	NoteSGPRPadded   NoteID = "sgpr_count_may_be_padded"
	NoteStaticLDS    NoteID = "static_lds_only"
	NoteOneWave      NoteID = "one_wave_workgroup"
)

// Note is a caveat with its explanation.
type Note struct {
	ID   NoteID `json:"id"`
	Text string `json:"text"`
}

// Registers is what a profiler's columns mean.
type Registers struct {
	// Total is the registers per lane that the descriptor asks for,
	// Allocated the same rounded to the hardware's granule.
	Total     int `json:"total_vgprs"`
	Allocated int `json:"allocated_vgprs"`
	// Arch and Accum split Total where SplitKnown. Accum is the space behind
	// the v registers, not the a registers in use.
	Arch       int  `json:"arch_vgprs,omitempty"`
	Accum      int  `json:"accum_vgprs,omitempty"`
	SplitKnown bool `json:"split_known"`
	// SGPR is per wave; meaningless where not SGPRKnown.
	SGPR      int  `json:"sgprs,omitempty"`
	SGPRKnown bool `json:"sgprs_known"`
	// Resources are ready for Occupancy: the true allocation, static LDS.
	// The caller sets the mode and adds dynamic LDS where known.
	Resources Resources `json:"-"`
	Notes     []Note    `json:"notes"`
}

// DecodeRegisters turns one row into an allocation, given the wave size (0 is
// the default) and the decision about its capture. It fails on counts that
// Occupancy would refuse; a row without a workgroup size is decoded without
// the notes that need one.
//
// Sources: rocprofiler-sdk code_object.cpp (arch_vgpr_count, accum_vgpr_count,
// sgpr_count) and output/generateCSV.cpp.
func DecodeRegisters(a Arch, c Counts, wave int, h Halved) (Registers, error) {
	file, wave, err := a.File(wave)
	if err != nil {
		return Registers{}, err
	}
	for _, n := range []int{c.VGPR, c.Accum, c.SGPR, c.LDSBytes, c.WorkgroupSize} {
		if n < 0 || n > maxInput {
			return Registers{}, fmt.Errorf("%d is not a possible register, LDS or workgroup figure", n)
		}
	}
	r := Registers{Notes: []Note{}}
	r.vgprs(a, c, h)
	r.Allocated = alignUp(max(r.Total, 1), file.Granule)
	if r.Total%file.Granule != 0 {
		r.note(NoteRounded, "the descriptor counts in %d registers, hardware allocates in %d: %d becomes %d",
			file.Encoding, file.Granule, r.Total, r.Allocated)
	}
	r.sgprs(a, c)
	r.Resources = Resources{
		TotalVGPR: r.Total, SGPR: r.SGPR, LDSBytes: c.LDSBytes, WorkgroupSize: c.WorkgroupSize, Wave: wave,
	}
	r.note(NoteStaticLDS, "LDS_Block_Size of a CSV is the kernel's static LDS rounded up to 512 B; LDS given at launch is missing")
	if c.WorkgroupSize == 0 {
		return r, nil
	}
	if c.WorkgroupSize <= wave {
		r.note(NoteOneWave, "a workgroup is one wave: it takes no barrier slot, so workgroup slots do not limit")
	}
	padded, ok, err := Padding(a, r.Resources)
	if err != nil {
		return Registers{}, err
	}
	if ok {
		r.note(NotePadded, "%s", padded.Text)
	}
	return r, nil
}

func (r *Registers) note(id NoteID, format string, args ...any) {
	r.Notes = append(r.Notes, Note{ID: id, Text: fmt.Sprintf(format, args...)})
}

// Has says whether a note is present.
func (r Registers) Has(id NoteID) bool {
	for _, n := range r.Notes {
		if n.ID == id {
			return true
		}
	}
	return false
}

// vgprs fills Total and its split.
func (r *Registers) vgprs(a Arch, c Counts, h Halved) {
	if a.AGPR == SeparateAGPR {
		r.Total = max(c.VGPR, c.Accum)
		if c.Accum > 0 {
			r.note(NoteMaxNotSum, "both columns repeat the descriptor's one count: the allocation is %d, not %d",
				r.Total, c.VGPR+c.Accum)
		}
		return
	}
	r.Total = c.VGPR + c.Accum
	if r.halved(a, c, h) {
		r.note(NoteHalved, "VGPR_Count %d is half of the allocation of %d (%s: %s)", r.Total, 2*r.Total, h.Certainty, h.Why)
		r.Total *= 2
		return
	}
	r.Arch, r.Accum, r.SplitKnown = c.VGPR, c.Accum, true
	if a.AGPR != UnifiedAGPR {
		return
	}
	if c.Accum > 0 {
		r.note(NotePhantomAccum, "Accum_VGPR_Count %d is the space behind the v registers, rounding and padding included, not a registers in use", c.Accum)
	}
	if r.Total%8 != 0 {
		r.note(NoteIrregular, "VGPR_Count + Accum_VGPR_Count is %d, which %s cannot allocate: the row is not as rocprofv3 writes it", r.Total, a.Name)
	}
}

// halved decides for one row; in mixed captures a row may speak for itself.
func (r *Registers) halved(a Arch, c Counts, h Halved) bool {
	if h.OddRows == 0 || h.AccumRows == 0 {
		return h.Halved
	}
	own := DetectHalved(a, []Counts{c})
	if own.Certainty != Proven {
		r.note(NoteMixed, "%s; this row could be either", h.Why)
		return false
	}
	return own.Halved
}

// sgprs reads SGPR_Count: (field/2 + 1) * 16 on gfx9, the constant 128 later.
func (r *Registers) sgprs(a Arch, c Counts) {
	if a.SGPR.PerSIMD == 0 {
		r.note(NoteSGPRVoid, "SGPR_Count %d is a constant on %s; scalar registers never limit there", c.SGPR, a.Name)
		return
	}
	r.SGPR, r.SGPRKnown = c.SGPR, true
	if c.SGPR > 80 {
		r.note(NoteSGPRPadded, "SGPR_Count %d may be padded up to what workgroup size and LDS allow; metadata .sgpr_count is not", c.SGPR)
	}
}
