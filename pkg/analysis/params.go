package analysis

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/rule"
)

// NamedParam is a parameter with the full name that users write.
type NamedParam struct {
	Name string
	Param
}

// Params lists all parameters of a run of the analyzers: those of the analyzers,
// of all that they require and of their rules, in run order, then the scale's.
func Params(analyzers ...Required) ([]NamedParam, error) {
	order, err := sorted(analyzers)
	if err != nil {
		return nil, err
	}
	return paramsOf(order), nil
}

func paramsOf(order []*Analyzer) []NamedParam {
	var out []NamedParam
	add := func(owner string, params []Param) {
		for _, p := range params {
			out = append(out, NamedParam{owner + "." + p.Name, p})
		}
	}
	for _, a := range order {
		add(a.Name, a.Params)
		for _, r := range a.Rules {
			add(r.ID, r.Params)
		}
	}
	add(rule.ScaleName, rule.ScaleParams())
	return out
}

// Assign reads OWNER.PARAM=VALUE and sets the parameter, which one of known has
// to be.
func Assign(to map[string]float64, assignment string, known []NamedParam) error {
	name, text, ok := strings.Cut(assignment, "=")
	name, text = strings.TrimSpace(name), strings.TrimSpace(text)
	if !ok || name == "" {
		return fmt.Errorf("%q is no OWNER.PARAM=VALUE", assignment)
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("%q: %q is not a number", assignment, text)
	}
	if err := checkParam(name, known); err != nil {
		return fmt.Errorf("%q: %w", assignment, err)
	}
	to[name] = value
	return nil
}

// checkParam refuses a name that none of the parameters has, and proposes one.
func checkParam(name string, known []NamedParam) error {
	near, least := "", len(name)/3+1
	for _, p := range known {
		if p.Name == name {
			return nil
		}
		if d := distance(name, p.Name); d <= least && (near == "" || d < least) {
			near, least = p.Name, d
		}
	}
	if near != "" {
		return fmt.Errorf("no parameter %q in this command; did you mean %s?", name, near)
	}
	return fmt.Errorf("no parameter %q in this command; 'rocanalyze rules' lists those of rules, --help an analyzer's", name)
}

// distance is the number of bytes to insert, delete or replace that make one
// string of another (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost = 1 + min(corner, row[j], row[j+1])
			}
			corner, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
