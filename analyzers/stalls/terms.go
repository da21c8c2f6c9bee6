package stalls

import "github.com/rocanalyze/rocanalyze/pkg/rule"

// Terms explain the stall classes.
func Terms() []rule.Term {
	out := make([]rule.Term, 0, len(Classes))
	for _, c := range Classes {
		out = append(out, rule.Term{
			Name: string(c.Class), Kind: "stall class", Text: c.Title + ": " + c.Meaning, Fix: rule.Offer(c.Fix, c.Advice),
			Source: "FlyDSL kernel tuning guide, sections 0 to 9",
		})
	}
	return out
}
