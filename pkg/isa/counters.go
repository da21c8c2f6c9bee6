package isa

// tracker says how the hardware tracks the completion of an instruction.
type tracker uint8

const (
	untracked    tracker = iota
	trackLoad            // vector memory that returns data or completes like a load
	trackStore           // vector memory that only writes
	trackSample          // image operations of the sampler
	trackBVH             // ray tests
	trackInv             // invalidation of gfx940 and later gfx9, and of gfx12: like a load, no address translation
	trackWB              // write-back: like a store, no address translation
	trackFlatLd          // flat loads: memory and LDS
	trackFlatSt          // flat stores: memory and LDS
	trackLDS             // LDS
	trackGDS             // GDS and global wave sync
	trackSMEM            // scalar memory
	trackMessage         // messages and other results that arrive like scalar loads
	trackExport          // exports and parameter loads
	trackAsync           // asynchronous copies to or from LDS
	trackArrive          // asynchronous barrier arrival
	trackTensor          // tensor copies
	numTrackers
)

// counterSet is one column of the counter table.
type counterSet uint8

const (
	countersGFX9   counterSet = iota // vmcnt counts loads and stores
	countersGFX10                    // gfx10 and gfx11: stores have vscnt
	countersGFX12                    // split counters
	countersGFX125                   // and xcnt, asynccnt, tensorcnt
	numCounterSets
)

// counterTable says which counters an instruction increments.
//
// Source: LLVM AMDGPUUsage, "Memory Model" of gfx90a, gfx942, gfx10-gfx11 and
// gfx12; LLVM SIInsertWaitcnts.cpp and AMDGPUHWEvents.cpp (2026). Of the gfx9
// cache operations buffer_wbl2 (llvm-project 178316) and the buffer_inv of
// gfx940 and later (llvm-project 220694: "according to gfx942/gfx950 ISA VM_CNT
// does increment") are tracked; the invalidations of older gfx9 and of gfx10
// and gfx11 are not.
var counterTable = [numTrackers][numCounterSets][]Counter{
	trackLoad:    {{Vmcnt}, {Vmcnt}, {Loadcnt}, {Loadcnt, Xcnt}},
	trackStore:   {{Vmcnt}, {Vscnt}, {Storecnt}, {Storecnt, Xcnt}},
	trackSample:  {{Vmcnt}, {Vmcnt}, {Samplecnt}, {Samplecnt, Xcnt}},
	trackBVH:     {{Vmcnt}, {Vmcnt}, {Bvhcnt}, {Bvhcnt, Xcnt}},
	trackInv:     {{Vmcnt}, nil, {Loadcnt}, {Loadcnt}},
	trackWB:      {{Vmcnt}, nil, {Storecnt}, {Storecnt}},
	trackFlatLd:  {{Vmcnt, Lgkmcnt}, {Vmcnt, Lgkmcnt}, {Loadcnt, Dscnt}, {Loadcnt, Dscnt, Xcnt}},
	trackFlatSt:  {{Vmcnt, Lgkmcnt}, {Vscnt, Lgkmcnt}, {Storecnt, Dscnt}, {Storecnt, Dscnt, Xcnt}},
	trackLDS:     {{Lgkmcnt}, {Lgkmcnt}, {Dscnt}, {Dscnt}},
	trackGDS:     {{Lgkmcnt, Expcnt}, {Lgkmcnt, Expcnt}, {Dscnt, Expcnt}, {Dscnt}},
	trackSMEM:    {{Lgkmcnt}, {Lgkmcnt}, {Kmcnt}, {Kmcnt, Xcnt}},
	trackMessage: {{Lgkmcnt}, {Lgkmcnt}, {Kmcnt}, {Kmcnt}},
	trackExport:  {{Expcnt}, {Expcnt}, {Expcnt}, nil},
	trackAsync:   {nil, nil, nil, {Asynccnt, Xcnt}},
	trackArrive:  {nil, nil, nil, {Asynccnt}},
	trackTensor:  {nil, nil, nil, {Tensorcnt}},
}

// counterSet returns the column of the counter table for the target, and false
// when the target's generation is not known.
func (t Target) counterSet() (counterSet, bool) {
	switch t.Generation() {
	case 9:
		return countersGFX9, true
	case 10, 11:
		return countersGFX10, true
	case 12:
		if t.IsGFX125x() {
			return countersGFX125, true
		}
		return countersGFX12, true
	}
	return 0, false
}

// counts returns the counters that an instruction tracked so increments.
func (t Target) counts(tr tracker) []Counter {
	set, ok := t.counterSet()
	if !ok {
		return nil
	}
	return counterTable[tr][set]
}

// idleCounters are the memory counters that s_wait_idle waits for; gfx9 has no
// such instruction. gfx125x has no sampler, ray test and export counters.
var idleCounters = [numCounterSets][]Counter{
	countersGFX10:  {Vmcnt, Vscnt, Lgkmcnt, Expcnt},
	countersGFX12:  {Loadcnt, Storecnt, Samplecnt, Bvhcnt, Dscnt, Kmcnt, Expcnt},
	countersGFX125: {Loadcnt, Storecnt, Dscnt, Kmcnt, Xcnt, Asynccnt, Tensorcnt},
}
