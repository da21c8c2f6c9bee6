package advice

import (
	"fmt"

	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
)

// Kind groups rules by what a verdict can make moot.
type Kind string

// The kinds of rules.
const (
	// Waits: waves wait. Moot when a resource is busy whatever they do.
	Waits Kind = "waits"
	// MemoryWaits: waves wait for memory. Moot too when memory is likely busy.
	MemoryWaits Kind = "memory waits"
	// Verdict: what the regime itself asks for. Never moot.
	Verdict Kind = "verdict"
	// Room: more waves on a SIMD. Moot when there are no more to place.
	Room Kind = "occupancy"
	// Launch: how the grid fills the machine. Never moot.
	Launch Kind = "launch"
	// Matrix: work of the matrix pipe. Moot when memory is the bound.
	Matrix Kind = "matrix"
	// Memory: which bytes move, and how. Moot when compute is the bound.
	Memory Kind = "memory"
	// Work: instructions that need not be. Never moot.
	Work Kind = "work"
)

// Rule is one check.
type Rule struct {
	// ID is stable: scripts select on it, --set names its parameters.
	ID    string
	Title string
	Kind  Kind
	// Severity is that of findings without a bound.
	Severity finding.Severity
	// Needs is the evidence without which it cannot run; "" for none.
	Needs regime.Missing
	// Fires says when, in words; Fix what to do; Source where the rule comes
	// from.
	Fires, Fix, Source string
	Params             []analysis.Param

	check func(*subject, *Rule) []hit
}

// hit is one place where a rule fires.
type hit struct {
	id, text, fix string
	severity      *finding.Severity
	evidence      []finding.Evidence
	place         Place
	where         string
	bound         *float64
	boundOf       string
	minor         bool
}

// The documents that rules come from.
const (
	guide  = "FlyDSL kernel tuning guide"
	gemm   = "FlyDSL GEMM optimization guide"
	srcISA = "AMD Instinct MI300 and CDNA4 ISA reference guides"
)

// FindRule returns a rule by its id; the error names near ones.
func FindRule(id string) (Rule, error) {
	for _, r := range Rules() {
		if r.ID == id {
			return r, nil
		}
	}
	return Rule{}, fmt.Errorf("no rule %q: 'rocanalyze rules' lists them", id)
}

// Rules lists all rules, in a fixed order.
func Rules() []Rule {
	var out []Rule
	for _, set := range [][]Rule{verdictRules(), stallRules(), loopRules(), codeRules(), launchRules(), counterRules()} {
		out = append(out, set...)
	}
	return out
}

// moots says which kinds a verdict silences, and why.
var moots = []struct {
	when  func(*regime.Kernel) bool
	kinds []Kind
	why   string
}{
	{
		func(k *regime.Kernel) bool {
			return k.Regime == regime.Inconclusive && contains2(k.Missing, regime.MissingWork)
		},
		[]Kind{Waits, MemoryWaits, Room, Matrix, Memory, Work},
		"the traced waves did not do the kernel's work",
	},
	{
		func(k *regime.Kernel) bool { return k.Subtype == regime.UnderFilled },
		[]Kind{Room},
		"there are fewer workgroups than CUs: more room for waves changes nothing",
	},
	{
		func(k *regime.Kernel) bool { return k.Regime == regime.Compute && k.AtRoof },
		[]Kind{Waits, MemoryWaits, Room, Memory},
		"the compute units are at their roof: what waves wait for is hidden",
	},
	{
		func(k *regime.Kernel) bool { return k.Regime == regime.Compute },
		[]Kind{Room},
		"the compute units are busy: more waves share the same pipes",
	},
	{
		func(k *regime.Kernel) bool {
			return k.Regime == regime.Bandwidth && (k.AtRoof || k.Confidence == "high")
		},
		[]Kind{Waits, MemoryWaits, Room, Matrix},
		"memory is busy: waves wait for it whatever they do",
	},
	{
		func(k *regime.Kernel) bool { return k.Regime == regime.Bandwidth },
		[]Kind{MemoryWaits, Room, Matrix},
		"memory is likely busy: waves wait for it whatever they do",
	},
}

func contains2(list []regime.Missing, m regime.Missing) bool {
	for _, x := range list {
		if x == m {
			return true
		}
	}
	return false
}

// moot says why a kind of rule has nothing to say under a verdict; "" if it
// has.
func moot(kind Kind, k *regime.Kernel) string {
	for _, m := range moots {
		for _, x := range m.kinds {
			if x == kind && m.when(k) {
				return m.why
			}
		}
	}
	return ""
}

// sharePct is the parameter that all rules with a share have.
func sharePct(def float64, doc string) []analysis.Param {
	return []analysis.Param{{Name: "share_pct", Default: def, Unit: "%", Doc: doc}}
}

// minorPct is the least share that is worth a minor finding.
const minorPct = 1
