package counters

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxInstance bounds the instance numbers that are believed.
const maxInstance = 1 << 16

// splitInstance takes "TCC_HIT[12]" apart; a name without an instance stands
// for all of them.
func splitInstance(name string) (counter string, instance int) {
	open := strings.IndexByte(name, '[')
	if open < 0 || !strings.HasSuffix(name, "]") {
		return name, trace.AllInstances
	}
	n, err := strconv.Atoi(name[open+1 : len(name)-1])
	if err != nil || n < 0 || n > maxInstance {
		return name, trace.AllInstances
	}
	return name[:open], n
}

// knownCounter reports whether a name is that of a hardware counter or of a
// metric that AMD's profilers derive: other tables have columns of numbers too.
func knownCounter(name string) bool {
	block, rest, ok := strings.Cut(name, "_")
	return ok && rest != "" && slices.Contains(blocks, block) || slices.Contains(derived, strings.TrimSuffix(name, "_sum"))
}

// blocks are what the names of hardware counters begin with. Sources:
// rocprofiler-sdk counter_defs.yaml, rocprofiler gfx_metrics.xml.
var blocks = strings.Fields(`
	ATC ATCL2 CHA CHC CPC CPF CPG DB EA GC GCEA GCMC GCR GDS GE GL1A GL1C GL1CG GL2A GL2C GRBM GRBMH GRBMSE GUS GCUTCL2 MC MCEA
	MCVML2 PA PH RLC RMI RPB SC SDMA SP SPI SQ SQC SQG SX TA TCA TCC TCP TCR TD UMC UTCL1 UTCL2 VML2 WGS`)

// derived are metrics that profilers compute from counters and write as if they
// were some. Sources: rocprofiler metrics.xml, rocprofiler-sdk counter_defs.yaml.
var derived = strings.Fields(`
	Wavefronts VALUInsts SALUInsts VFetchInsts SFetchInsts VWriteInsts VMemInsts FlatVMemInsts LDSInsts FlatLDSInsts GDSInsts
	VALUUtilization VALUBusy SALUBusy FetchSize WriteSize L1CacheHit L2CacheHit TCPCacheHit MemUnitBusy MemUnitStalled WriteUnitStalled
	ALUStalledByLDS LDSBankConflict GPUBusy FETCH_SIZE WRITE_SIZE WRITE_REQ_32B MemWrites32B GPU_UTIL SIMD_UTILIZATION
	OccupancyPercent MeanOccupancyPerCU MeanOccupancyPerActiveCU MfmaUtil MfmaFlops MfmaFlopsF16 MfmaFlopsBF16 MfmaFlopsF32
	MfmaFlopsF64 ValuPipeIssueUtil VALUThreadsUtil CU_UTILIZATION LDS_UTIL TOTAL_16_OPS TOTAL_32_OPS TOTAL_64_OPS ScaPipeIssueUtil
	LdsLatency VmemLatency SmemLatency InstrFetchLatency WaveDepWait WaveIssueWait GL2CacheHit TCC_ALL_BW`)
