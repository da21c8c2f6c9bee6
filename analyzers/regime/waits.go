package regime

import (
	"cmp"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/hotspots"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
)

// Kinds of waiting, the subtypes of latency.
const (
	waitVMEM       = "vmem"
	waitStore      = "store"
	waitLDS        = "lds"
	waitCrossLane  = "cross_lane"
	waitSMEM       = "smem"
	waitLGKM       = "lds_or_smem"
	waitBarrier    = "barrier"
	waitSync       = "synchronisation"
	waitDependency = "dependency"
	waitContention = "contention"
	waitIssue      = "issue"
	waitTurn       = "turn"
	waitFetch      = "fetch"
	waitOther      = "other"
)

// kindOf groups stall classes by the remedy's direction.
var kindOf = map[stalls.Class]string{
	stalls.VMEMWait: waitVMEM, stalls.VMEMToLDSWait: waitVMEM,
	stalls.StoreWait: waitStore, stalls.StoreDrain: waitStore, stalls.End: waitStore,
	stalls.LDSWait: waitLDS, stalls.CrossLaneWait: waitCrossLane,
	stalls.SMEMWait: waitSMEM, stalls.LGKMWait: waitLGKM, stalls.Barrier: waitBarrier,
	stalls.FenceWait: waitSync, stalls.AtomicWait: waitSync, stalls.PollWait: waitSync, stalls.CacheControl: waitSync,
	stalls.MFMADependency: waitDependency, stalls.ALUWait: waitDependency, stalls.Bubble: waitDependency,
	stalls.VALUDependency: waitDependency, stalls.VALUContention: waitContention, stalls.VALU: "valu",
	stalls.VMEMIssue: "vmem_issue", stalls.LDSIssue: "lds_issue", stalls.SMEMIssue: waitIssue, stalls.MFMAIssue: "matrix_issue", stalls.MFMAContention: "matrix_issue",
	stalls.SALU: waitIssue, stalls.Branch: waitIssue,
}

// kindWords names a kind in a sentence.
var kindWords = map[string]string{
	waitVMEM: "loads from memory", waitStore: "stores", waitLDS: "LDS", waitCrossLane: "cross-lane operations",
	waitSMEM: "scalar loads", waitLGKM: "LDS or scalar loads", waitBarrier: "barriers",
	waitSync:       "other workgroups or caches (fences, atomics, flags)",
	waitDependency: "results of earlier instructions", waitIssue: "the issue of instructions", waitOther: "others",
	"vmem_issue": "a full memory pipe", "lds_issue": "a full LDS pipe", "matrix_issue": "the matrix pipe",
	waitTurn: "their turn to issue", waitFetch: "instructions to be fetched",
	waitContention: "the vector ALU, which other waves use", "valu": "the vector ALU or earlier results",
}

// WaitKind is a kind of waiting, as in Wait.Kind and the subtype of latency.
type WaitKind struct {
	Kind string
	// Words name what is waited for, Classes the stall classes that it sums.
	Words   string
	Classes []stalls.Class
}

// WaitKinds lists the kinds of waiting by name.
func WaitKinds() []WaitKind {
	var out []WaitKind
	for kind, words := range kindWords {
		k := WaitKind{Kind: kind, Words: words}
		for _, c := range stalls.Classes {
			if kindOf[c.Class] == kind || kindOf[c.Class] == "" && kind == waitOther {
				k.Classes = append(k.Classes, c.Class)
			}
		}
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b WaitKind) int { return cmp.Compare(a.Kind, b.Kind) })
	return out
}

// isMemoryWait says which kinds bandwidth could be behind.
func isMemoryWait(kind string) bool {
	return kind == waitVMEM || kind == waitStore || kind == "vmem_issue"
}

// waitsOf shares the waiting time of a traced kernel out by kind: stall by its
// classes, and the drain at s_endpgm with the stores.
func waitsOf(h *hotspots.Kernel) []Wait {
	waiting := waitingPct(h)
	if waiting == nil || h.Waiting.Cycles <= 0 {
		return nil
	}
	cycles := map[string]int64{}
	for _, s := range h.Stalls {
		kind := kindOf[s.Class]
		if kind == "" {
			kind = waitOther
		}
		cycles[kind] += s.StallCycles
	}
	if h.Waiting.DrainCycles > 0 {
		cycles[waitStore] += h.Waiting.DrainCycles
	}
	var out []Wait
	for kind, n := range cycles {
		if n > 0 {
			share := 100 * float64(n) / float64(h.Waiting.Cycles)
			out = append(out, Wait{kind, share, share / 100 * *waiting})
		}
	}
	slices.SortFunc(out, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(b.SharePct, a.SharePct), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// waitingPct is the waiting of a traced kernel in percent of the wave cycles,
// latency and idle; nil when it is not known.
func waitingPct(h *hotspots.Kernel) *float64 {
	if h.Waiting == nil || h.Counted.LatencyCycles+h.Counted.IdleCycles <= 0 {
		return nil
	}
	pct := 100 * float64(h.Waiting.Cycles) / float64(h.Counted.LatencyCycles+h.Counted.IdleCycles)
	return &pct
}

// memoryWaitPct is the share of the waiting that bandwidth could be behind.
func memoryWaitPct(ws []Wait) float64 {
	var sum float64
	for _, w := range ws {
		if isMemoryWait(w.Kind) {
			sum += w.SharePct
		}
	}
	return sum
}
