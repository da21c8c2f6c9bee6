package counters

import (
	"slices"
	"strings"
)

// zero is a counter, or several together, that cannot read 0.
type zero struct {
	id string
	// counters are all there, and all 0.
	counters []string
	// beside are counters of which one is not 0; empty where it is enough that
	// the kernel ran.
	beside []string
	// archs are where it holds; empty is everywhere.
	archs []string
	why   string
}

// The usual reasons of counters that read 0. Sources: rocprofiler #150,
// rocprofiler-sdk #47; rocm-systems #5683, #5953, #8022, #8523.
const (
	powerState = "(power state: amd-smi set -l stable_std; HIP_VISIBLE_DEVICES: rocm-systems #5683; other GPUs: #5953; gfx1200: #8523)"
	ran        = "though the kernel ran"
)

// zeros are contradictions: what reads 0 was not counted, and decides nothing.
// Shares that profilers compute are not among them: rocprof v1 rounded them to
// whole percent, and less than half of one is no contradiction.
func zeros() []zero {
	out := []zero{
		{"l2_not_collected", []string{"TCC_HIT", "TCC_MISS"}, nil, nil, ran},
		{"l2_not_collected", []string{"GL2C_HIT", "GL2C_MISS"}, nil, nil, ran},
		{"not_counted", []string{"TCC_REQ"}, []string{"TCC_HIT", "TCC_MISS", "TCP_TCC_READ_REQ", "TCP_TCC_WRITE_REQ", "TCC_EA0_RDREQ", "TCC_EA0_WRREQ"}, nil, "beside requests of its neighbours"},
		{"not_counted", []string{"GL2C_REQ"}, []string{"GL2C_HIT", "GL2C_MISS", "GL2C_EA_RDREQ", "GL2C_MC_WRREQ"}, nil, "beside requests of its neighbours"},
		{"not_counted", []string{"TCC_EA0_RDREQ", "TCC_EA0_WRREQ"}, []string{"TCC_MISS"}, nil, "beside misses"},
		{"not_counted", []string{"FETCH_SIZE"}, []string{"TCC_EA0_RDREQ", "GL2C_EA_RDREQ"}, nil, "beside reads"},
		{"not_counted", []string{"FETCH_SIZE"}, nil, rdna4(), "on gfx12 (rocm-systems #8022)"},
		{"not_counted", []string{"WRITE_SIZE"}, []string{"TCC_EA0_WRREQ", "GL2C_MC_WRREQ"}, nil, "beside writes"},
		{"not_counted", []string{"SQ_LDS_IDX_ACTIVE"}, []string{"SQ_INSTS_LDS", "SQ_LDS_BANK_CONFLICT", "LDSInsts"}, nil, "beside LDS instructions"},
		{"not_counted", []string{"SQC_LDS_IDX_ACTIVE"}, []string{"SQ_INSTS_LDS", "SQC_LDS_BANK_CONFLICT", "LDSInsts"}, nil, "beside LDS instructions"},
		{"not_counted", []string{"SQC_LDS_BANK_CONFLICT"}, nil, rdna4(), "on gfx12, whatever the kernel does (rocm-systems #5953)"},
		{"not_counted", []string{"LDSBankConflict"}, nil, rdna4(), "on gfx12, whatever the kernel does (rocm-systems #5953)"},
		{"not_counted", []string{"TA_TA_BUSY"}, []string{"SQ_INSTS_VMEM", "TA_TOTAL_WAVEFRONTS", "TCP_TOTAL_ACCESSES"}, nil, "beside vector memory instructions"},
		{"not_counted", []string{"TCP_TOTAL_CACHE_ACCESSES"}, []string{"TCP_TCC_READ_REQ", "TCP_TCC_WRITE_REQ", "TCP_TOTAL_ACCESSES"}, nil, "beside requests of the vector L1"},
	}
	matrix := []string{"SQ_INSTS_MFMA", "MfmaFlops"}
	for _, t := range []string{"F16", "BF16", "F32", "F64", "F8", "F6F4", "I8"} {
		matrix = append(matrix, "SQ_INSTS_VALU_MFMA_MOPS_"+t)
	}
	out = append(out, zero{"not_counted", []string{"SQ_VALU_MFMA_BUSY_CYCLES"}, matrix, nil, "beside matrix instructions"})
	for _, c := range strings.Fields(`SQ_WAVES Wavefronts SQ_WAVE_CYCLES SQ_BUSY_CYCLES SQ_BUSY_CU_CYCLES SQ_INSTS SQ_LEVEL_WAVES_ACCUM
		SQ_INSTS_VALU SQ_ACTIVE_INST_VALU SQ_THREAD_CYCLES_VALU VALUInsts VALUUtilization
		GRBM_GUI_ACTIVE GRBM_COUNT GPUBusy TCC_BUSY`) {
		out = append(out, zero{"not_counted", []string{c}, nil, nil, ran + " " + powerState})
	}
	return out
}

// reads reports what a kernel's counters, sums over its dispatches, contradict.
func (z *zero) reads(sum map[string]float64, archs []string) bool {
	if len(z.archs) > 0 && (len(archs) == 0 || slices.ContainsFunc(archs, func(a string) bool { return !slices.Contains(z.archs, a) })) {
		return false
	}
	for _, c := range z.counters {
		if v, ok := sum[c]; !ok || v != 0 {
			return false
		}
	}
	return len(z.beside) == 0 || slices.ContainsFunc(z.beside, func(c string) bool { return sum[c] > 0 })
}

// uncounted takes the counters out of a kernel that read 0 and cannot have
// counted, and says so. The shader counters (SQ) come from one place: where one
// of them reads 0 that cannot, the others that read 0 did not count either.
func (b *builder) uncounted(k *Kernel, all []*sums) {
	sum := map[string]float64{}
	for _, s := range all {
		for i, c := range s.counters {
			sum[b.col.counters.list[c]] += s.values[i]
		}
	}
	said := map[string]bool{}
	for _, z := range zeros() {
		if !z.reads(sum, k.Machine.Archs) {
			continue
		}
		names := slices.Clone(z.counters)
		if block(z.counters[0]) == "SQ" {
			for name, v := range sum {
				if v == 0 && block(name) == "SQ" {
					delete(k.has, name)
				}
			}
		}
		for i, name := range names {
			delete(k.has, name)
			names[i] = b.col.spelled[name]
		}
		if why := z.id + z.why; !said[why] { // one of a kind says it
			said[why] = true
			verb := " is 0 "
			if len(names) > 1 {
				verb = " are 0 "
			}
			k.Notes = append(k.Notes, Note{z.id, strings.Join(names, " and ") + verb + z.why + ": not counted"})
		}
	}
}

// onlyCounted takes out of single dispatches what the kernel as a whole did not
// count.
func (k *Kernel) onlyCounted() {
	for i := range k.PerDispatch {
		for id := range k.PerDispatch[i].Metrics {
			if _, ok := k.Metrics[id]; !ok {
				delete(k.PerDispatch[i].Metrics, id)
			}
		}
	}
}
