package analysis

import (
	"errors"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

func step(name string, log *[]string, requires ...*Analyzer) *Analyzer {
	return &Analyzer{Name: name, Requires: requires, Run: func(*Pass) (any, error) {
		*log = append(*log, name)
		return name + "'s result", nil
	}}
}

func TestRunOrdersRequirements(t *testing.T) {
	var log []string
	base := step("base", &log)
	left, right := step("left", &log, base), step("right", &log, base)
	top := step("top", &log, left, right)
	out, err := Run(t.Context(), &trace.Trace{}, Options{}, top, left)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(log, " "); got != "base left right top" {
		t.Errorf("ran %q: requirements first, each once", got)
	}
	if out.Result(base) != "base's result" {
		t.Errorf("result of base is %v", out.Result(base))
	}
}

func TestRunRefusesCycles(t *testing.T) {
	a, b := &Analyzer{Name: "a"}, &Analyzer{Name: "b"}
	a.Requires, b.Requires = []*Analyzer{b}, []*Analyzer{a}
	_, err := Run(t.Context(), &trace.Trace{}, Options{}, a)
	if err == nil || !strings.Contains(err.Error(), "a -> b -> a") {
		t.Errorf("error %v does not name the cycle", err)
	}
}

func TestRunSkipsWithoutEvidence(t *testing.T) {
	a := &Analyzer{Name: "a", Needs: []Evidence{ThreadTraces}, Run: func(*Pass) (any, error) {
		return nil, errors.New("ran without evidence")
	}}
	out, err := Run(t.Context(), &trace.Trace{}, Options{}, a)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Skipped) != 1 || out.Skipped[0].Lacks != ThreadTraces || out.Skipped[0].Capture == "" {
		t.Errorf("skipped: %+v", out.Skipped)
	}
}

func TestParams(t *testing.T) {
	var got [2]float64
	a := &Analyzer{Name: "a", Params: []Param{{Name: "x", Default: 3}, {Name: "y", Default: 4}}, Run: func(p *Pass) (any, error) {
		got = [2]float64{p.Param("x"), p.Param("y")}
		return nil, nil
	}}
	if _, err := Run(t.Context(), &trace.Trace{}, Options{Params: map[string]float64{"a.y": 0}}, a); err != nil {
		t.Fatal(err)
	}
	if got != [2]float64{3, 0} {
		t.Errorf("parameters %v, want the default 3 and the given 0", got)
	}
	if _, err := Run(t.Context(), &trace.Trace{}, Options{Params: map[string]float64{"a.z": 1}}, a); err == nil {
		t.Error("an unknown parameter is accepted")
	}
}

func TestResultOfUndeclared(t *testing.T) {
	var log []string
	base := step("base", &log)
	a := &Analyzer{Name: "a", Run: func(p *Pass) (any, error) { return p.ResultOf(base), nil }}
	out, err := Run(t.Context(), &trace.Trace{}, Options{}, base, a)
	if err != nil {
		t.Fatal(err)
	}
	if r := out.Result(a); r != nil {
		t.Errorf("read the result of an analyzer that is not required: %v", r)
	}
}

func TestFindingsAreSorted(t *testing.T) {
	a := &Analyzer{Name: "a", Run: func(p *Pass) (any, error) {
		p.Report(finding.Finding{ID: "low", Severity: finding.Low})
		p.Report(finding.Finding{ID: "high", Severity: finding.High})
		p.Report(finding.Finding{ID: "high2", Severity: finding.High, Bound: &finding.Bound{Pct: 10}})
		return nil, nil
	}}
	out, err := Run(t.Context(), &trace.Trace{}, Options{}, a)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, f := range out.Findings {
		ids = append(ids, f.ID)
	}
	if got := strings.Join(ids, " "); got != "high2 high low" {
		t.Errorf("order %q", got)
	}
}
