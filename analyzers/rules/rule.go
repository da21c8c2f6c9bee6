package rules

import (
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/balance"
	"github.com/rocanalyze/rocanalyze/analyzers/idioms"
	"github.com/rocanalyze/rocanalyze/analyzers/l2"
	"github.com/rocanalyze/rocanalyze/analyzers/loops"
	"github.com/rocanalyze/rocanalyze/analyzers/occupancy"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// The documents that rules come from.
const (
	guide     = "FlyDSL kernel tuning guide"
	gemm      = "FlyDSL GEMM optimization guide"
	srcMemory = "LLVM AMDGPUUsage, memory model"
	srcISA    = "AMD Instinct MI300 and CDNA4 ISA reference guides"
)

// checks are the rules that are no measure's own, in a fixed order.
func checks() []rule.Check[*subject] {
	return slices.Concat(verdictRules(), stallRules(), loopRules(), codeRules(), launchRules(), clockRules(), counterRules())
}

// Rules lists all rules that diagnose shows findings of, its own first, and
// then the gates.
func Rules() []rule.Rule {
	all := slices.Concat(rule.Rules(checks()), loops.Analyzer.Rules, idioms.Analyzer.Rules, occupancy.Analyzer.Rules, balance.Analyzer.Rules, l2.Analyzer.Rules, trust.Analyzer.Rules)
	slices.SortStableFunc(all, func(a, b rule.Rule) int {
		switch {
		case a.Kind != rule.Gate && b.Kind == rule.Gate:
			return -1
		case a.Kind == rule.Gate && b.Kind != rule.Gate:
			return 1
		}
		return 0
	})
	return all
}

// The evidence that rules need, as in the verdict's list of what is missing.
const (
	needsTrace    = string(regime.MissingTrace)
	needsCounters = string(regime.MissingMemory)
	needsLaunch   = string(regime.MissingLaunch)
)

// moots says which kinds a verdict silences, and why.
var moots = []struct {
	when  func(*regime.Kernel) bool
	kinds []rule.Kind
	why   string
}{
	{
		func(k *regime.Kernel) bool {
			return k.Regime == regime.Inconclusive && slices.Contains(k.Missing, regime.MissingWork)
		},
		[]rule.Kind{rule.Waits, rule.MemoryWaits, rule.Room, rule.Matrix, rule.Memory, rule.Work},
		"the traced waves did not do the kernel's work",
	},
	{
		func(k *regime.Kernel) bool { return k.Subtype == regime.UnderFilled },
		[]rule.Kind{rule.Room},
		"there are fewer workgroups than CUs: more room for waves changes nothing",
	},
	{
		func(k *regime.Kernel) bool { return k.Regime == regime.Compute && k.AtRoof },
		[]rule.Kind{rule.Waits, rule.MemoryWaits, rule.Room, rule.Memory},
		"the compute units are at their roof: what waves wait for is hidden",
	},
	{
		func(k *regime.Kernel) bool { return k.Regime == regime.Compute },
		[]rule.Kind{rule.Room},
		"the compute units are busy: more waves share the same pipes",
	},
	{
		func(k *regime.Kernel) bool {
			return k.Regime == regime.Bandwidth && (k.AtRoof || k.Confidence == "high")
		},
		[]rule.Kind{rule.Waits, rule.MemoryWaits, rule.Room, rule.Matrix},
		"memory is busy: waves wait for it whatever they do",
	},
	{
		func(k *regime.Kernel) bool { return k.Regime == regime.Bandwidth },
		[]rule.Kind{rule.MemoryWaits, rule.Room, rule.Matrix},
		"memory is likely busy: waves wait for it whatever they do",
	},
}

// moot says why a kind of rule has nothing to say under a verdict; "" if it
// has.
func moot(kind string, k *regime.Kernel) string {
	for _, m := range moots {
		for _, x := range m.kinds {
			if string(x) == kind && m.when(k) {
				return m.why
			}
		}
	}
	return ""
}

// sharePct is the parameter that all rules with a share have.
func sharePct(def float64, doc string) []rule.Param {
	return []rule.Param{{Name: "share_pct", Default: def, Unit: "%", Doc: doc}}
}
