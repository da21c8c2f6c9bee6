package occupancy

import (
	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Result is the machine output: thread traces first, then kernel traces (by
// time, longest first), then code objects.
type Result struct {
	Kernels []Kernel `json:"kernels"`
	// Captures say how the register counts of each kernel trace are read.
	Captures []Capture `json:"captures,omitempty"`
	// NoGPU names the first source whose GPU is not known, and what to give,
	// where no kernel has an occupancy.
	NoGPU string `json:"-"`
}

// Capture is the decision about one kernel trace and architecture.
type Capture struct {
	Path string `json:"path"`
	Arch string `json:"arch"`
	// Dispatches and Kernels count its rows and its different launches'
	// kernels.
	Dispatches int64 `json:"dispatches"`
	// Halved counts different launches in Rows and its other counts.
	Halved gpu.Halved `json:"vgpr_count"`
}

// Kernel is one kernel with one set of registers, LDS and workgroup size.
// What is not known is absent.
type Kernel struct {
	Name   string `json:"name"`
	Symbol string `json:"symbol,omitempty"`
	Source Source `json:"read_from"`
	// Arch is the gfx name; ArchSource says where it and CUs come from.
	Arch       string `json:"arch,omitempty"`
	ArchSource string `json:"arch_source,omitempty"`
	Device     string `json:"device,omitempty"`
	CUs        int    `json:"cus,omitempty"`
	// GPU is what Arch, Device and CUs are of.
	GPU *capture.Machine `json:"-"`

	WaveSize      int `json:"wave_size,omitempty"`
	WorkgroupSize int `json:"workgroup_size,omitempty"`
	// WavesPerWorkgroup is the workgroup's size over the wave's, rounded up.
	WavesPerWorkgroup int       `json:"waves_per_workgroup,omitempty"`
	Registers         Registers `json:"registers"`

	// Fits is false when not even one workgroup can run.
	Fits *bool `json:"fits,omitempty"`
	// WavesPerSIMD is the mean over the SIMDs of a unit, FullestSIMD the most
	// on one of them.
	WavesPerSIMD    *float64 `json:"waves_per_simd,omitempty"`
	FullestSIMD     *int     `json:"waves_on_fullest_simd,omitempty"`
	MaxWavesPerSIMD int      `json:"max_waves_per_simd,omitempty"`
	// Unit is what workgroups share: "CU", or "WGP" (two CUs) in WGP mode, in
	// which WorkgroupsPerCU is absent.
	Unit              string `json:"unit,omitempty"`
	WorkgroupsPerUnit *int   `json:"workgroups_per_unit,omitempty"`
	WorkgroupsPerCU   *int   `json:"workgroups_per_cu,omitempty"`
	// Limiters are all limits that bind, LDS and slots first: vgpr, sgpr,
	// lds, wg_slots, waves.
	Limiters []string `json:"limited_by"`
	// Limits are all limits by the same names.
	Limits map[string]Limit `json:"limits"`
	// NextStep has one entry per limiter that can be moved.
	NextStep []Step `json:"next_step"`
	// Together moves all limiters at once; absent where one alone suffices.
	Together *Together `json:"next_step_together,omitempty"`
	// Advice says in one line what to do, or why nothing.
	Advice string `json:"advice"`

	Launch *Launch `json:"launch,omitempty"`
	// Launches are all grids that it was launched with, the longest first.
	Launches []Grid     `json:"launches,omitempty"`
	Observed *Observed  `json:"observed,omitempty"`
	LLVM     *LLVM      `json:"llvm,omitempty"`
	WhatIf   *WhatIf    `json:"what_if,omitempty"`
	Notes    []gpu.Note `json:"notes"`

	// Found is what the rules found.
	Found []finding.Finding `json:"-"`

	shape *gpu.Result // of the occupancy shown
	brief string      // Advice for a narrow column

	trace  *trace.ThreadTrace // where it was traced
	kernel int
}

// Traced returns kernel k of a thread trace; nil when there is none.
func (r *Result) Traced(tt *trace.ThreadTrace, k int) *Kernel {
	for i := range r.Kernels {
		if r.Kernels[i].trace == tt && r.Kernels[i].kernel == k {
			return &r.Kernels[i]
		}
	}
	return nil
}

// Source says where a kernel was described.
type Source struct {
	// Kind is "thread_trace", "kernel_trace", "rocpd", "code_object",
	// "assembly" or "flags".
	Kind string `json:"kind"`
	Path string `json:"path,omitempty"`
	// Table and Row are the kernel-trace row, 1-based.
	Table string `json:"table,omitempty"`
	Row   int    `json:"row,omitempty"`
}

// Registers are what a kernel asks for. Vector registers are per lane, scalar
// ones per wave.
type Registers struct {
	// VGPRs is the total that the occupancy rests on: the need where it is
	// known (metadata), else the allocation. An allocation that is more than
	// LLVM's padding of the need is one.
	VGPRs *int `json:"vgprs,omitempty"`
	// Metadata is what the metadata says instead of VGPRs; absent where that
	// is VGPRs.
	Metadata *int `json:"vgprs_in_metadata,omitempty"`
	// Allocated is what the descriptor asks for, rounding and padding
	// included.
	Allocated *int `json:"vgprs_in_descriptor,omitempty"`
	Arch      *int `json:"arch_vgprs,omitempty"`
	AGPRs     *int `json:"agprs,omitempty"`
	// AccumOffset is where AGPRs begin in a unified file.
	AccumOffset     *int `json:"accum_offset,omitempty"`
	SGPRs           *int `json:"sgprs,omitempty"`
	SGPRsDescriptor *int `json:"sgprs_in_descriptor,omitempty"`
	VGPRSpills      *int `json:"vgpr_spills,omitempty"`
	SGPRSpills      *int `json:"sgpr_spills,omitempty"`
	// LDSBytes is per workgroup; ScratchBytes per lane.
	LDSBytes     *int `json:"lds_bytes,omitempty"`
	ScratchBytes *int `json:"scratch_bytes_per_lane,omitempty"`
	// Columns are the register columns of a kernel trace as they stand there.
	Columns *Columns `json:"trace_columns,omitempty"`
	// Named are the registers that the traced code names.
	Named *code.Registers `json:"named_in_code,omitempty"`
}

// Columns are VGPR_Count, Accum_VGPR_Count and SGPR_Count.
type Columns struct {
	VGPR  *int64 `json:"arch_vgpr_count,omitempty"`
	Accum *int64 `json:"accum_vgpr_count,omitempty"`
	SGPR  *int64 `json:"sgpr_count,omitempty"`
}

// Limit is what one resource alone allows.
type Limit struct {
	// Workgroups per unit; absent where the resource cannot limit.
	Workgroups *int `json:"workgroups_per_unit,omitempty"`
	// Used, Allocated, Granule and Pool are registers per wave and SIMD, or
	// bytes per workgroup and unit.
	Used      int `json:"used,omitempty"`
	Allocated int `json:"allocated,omitempty"`
	Granule   int `json:"granule,omitempty"`
	Pool      int `json:"pool,omitempty"`
	// Arithmetic shows the steps.
	Arithmetic string `json:"formula"`
}

// Step is the smallest change of one limiter that lets it, alone, allow one
// more workgroup.
type Step struct {
	Resource string `json:"resource"`
	// Now and Target are registers per wave, or bytes per workgroup.
	Now    int `json:"now"`
	Target int `json:"target"`
	// WorkgroupsPerUnit and WavesPerSIMD are what the kernel would then get;
	// Gains is false when another limit keeps it where it is.
	WorkgroupsPerUnit int      `json:"workgroups_per_unit"`
	WavesPerSIMD      float64  `json:"waves_per_simd"`
	Gains             bool     `json:"gains"`
	ThenLimitedBy     []string `json:"then_limited_by"`
	Text              string   `json:"text"`
}

// Together is the occupancy when all steps are taken.
type Together struct {
	WorkgroupsPerUnit int      `json:"workgroups_per_unit"`
	WavesPerSIMD      float64  `json:"waves_per_simd"`
	ThenLimitedBy     []string `json:"then_limited_by"`
	Text              string   `json:"text"`
}

// Launch is the grid that took the most time, against the device.
type Launch struct {
	Grid
	// Grids is the number of different grids of this kernel.
	Grids int `json:"grids"`
	// Shape is absent when the number of CUs or the occupancy is not known.
	*gpu.LaunchShape
}

// Grid is one launch shape and its dispatches.
type Grid struct {
	// WorkItems are the grid's extents, Workgroup those of a workgroup.
	WorkItems []int64 `json:"grid_work_items,omitempty"`
	Workgroup []int64 `json:"workgroup,omitempty"`
	// Groups is the number of workgroups, partial ones counted whole.
	Groups     int64 `json:"workgroups"`
	Dispatches int64 `json:"dispatches,omitempty"`
	TotalNs    int64 `json:"total_ns,omitempty"`
	MinNs      int64 `json:"min_ns,omitempty"`
	MaxNs      int64 `json:"max_ns,omitempty"`
}

// Observed is what occupancy.json says about the traced shader engines.
type Observed struct {
	// Peak is the most waves that one SIMD held at once, Mean the mean over
	// the time in which a SIMD held any.
	Peak int      `json:"peak_waves_per_simd"`
	Mean *float64 `json:"mean_waves_per_simd,omitempty"`
	// Engines were traced; Kernels is how many kernels their waves are of.
	Engines int `json:"engine_count"`
	Kernels int `json:"kernel_count"`
	// Possible is the most that one SIMD can hold by the occupancy; Exceeds
	// is set when more was seen.
	Possible *int `json:"possible_waves_per_simd,omitempty"`
	Exceeds  bool `json:"exceeds"`
}

// LLVM is what LLVM up to release 22 prints as Occupancy.
type LLVM struct {
	WavesPerSIMD int      `json:"waves_per_simd"`
	LimitedBy    []string `json:"limited_by"`
	// Reasons say why hardware holds fewer: whole_groups, lds_granule,
	// sgpr_reserve, does_not_fit.
	Reasons []gpu.Reason `json:"reasons,omitempty"`
}

// WhatIf is the occupancy over all amounts of one resource.
type WhatIf struct {
	// Resource is "vgpr", "lds" or "workgroup"; Unit is what From and To
	// count.
	Resource string  `json:"resource"`
	Unit     string  `json:"unit"`
	Now      int     `json:"now"`
	Points   []Point `json:"points"`
}

// Point is a range of amounts with one occupancy.
type Point struct {
	From              int      `json:"from"`
	To                int      `json:"to"`
	WorkgroupsPerUnit int      `json:"workgroups_per_unit"`
	WavesPerSIMD      float64  `json:"waves_per_simd"`
	LimitedBy         []string `json:"limited_by"`
}

// limiterName is the short name of a resource.
func limiterName(r gpu.Resource) string {
	switch r {
	case gpu.WaveSlots:
		return "waves"
	case gpu.WorkgroupSlots:
		return "wg_slots"
	case gpu.WorkgroupLDS:
		return "workgroup_or_lds"
	}
	return string(r)
}

func limiterNames(rs []gpu.Resource) []string {
	out := make([]string, 0, len(rs))
	for _, r := range rs {
		out = append(out, limiterName(r))
	}
	return out
}
