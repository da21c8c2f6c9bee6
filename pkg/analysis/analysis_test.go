package analysis

import (
	"errors"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

func step(name string, log *[]string, requires ...Required) Typed[string] {
	return New(Analyzer{Name: name, Requires: requires}, func(*Pass) (string, error) {
		*log = append(*log, name)
		return name + "'s result", nil
	})
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
	if base.Of(out) != "base's result" {
		t.Errorf("result of base is %v", base.Of(out))
	}
}

func TestRunRefusesCycles(t *testing.T) {
	a, b := &Analyzer{Name: "a"}, &Analyzer{Name: "b"}
	a.Requires, b.Requires = []Required{b}, []Required{a}
	_, err := Run(t.Context(), &trace.Trace{}, Options{}, a)
	if err == nil || !strings.Contains(err.Error(), "a -> b -> a") {
		t.Errorf("error %v does not name the cycle", err)
	}
}

func TestRunSkipsWithoutEvidence(t *testing.T) {
	a := New(Analyzer{Name: "a", Needs: []Evidence{ThreadTraces}}, func(p *Pass) (any, error) {
		return nil, errors.New("ran without evidence")
	})
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
	a := New(Analyzer{Name: "a", Params: []Param{{Name: "x", Default: 3}, {Name: "y", Default: 4}}}, func(p *Pass) (any, error) {
		got = [2]float64{p.Param("x"), p.Param("y")}
		return nil, nil
	})
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

// TestAssign: an assignment reaches the parameters of every analyzer of the run,
// of their rules and of the scale; a name that is nearly right is proposed.
func TestAssign(t *testing.T) {
	base := New(Analyzer{Name: "base", Params: []Param{{Name: "x"}}}, func(*Pass) (int, error) { return 0, nil })
	top := New(Analyzer{
		Name: "top", Requires: []Required{base}, Rules: []rule.Rule{{ID: "slow", Params: []Param{{Name: "share_pct"}}}},
	}, func(*Pass) (int, error) { return 0, nil })
	known, err := Params(top)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"base.x=3":               "",
		" slow.share_pct = 1e1 ": "",
		"severity.high_pct=20":   "",
		"slow.share=3":           "did you mean slow.share_pct?",
		"sharepct=3":             "--help",
		"base.x=NaN":             "not a number",
		"base.x":                 "is no OWNER.PARAM=VALUE",
		"=3":                     "is no OWNER.PARAM=VALUE",
	} {
		params := map[string]float64{}
		err := Assign(params, text, known)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
		if (err == nil) != (len(params) == 1) {
			t.Errorf("%s: sets %v", text, params)
		}
	}
}

func TestResultOfUndeclared(t *testing.T) {
	var log []string
	base := step("base", &log)
	a := New(Analyzer{Name: "a"}, func(p *Pass) (string, error) { return base.Of(p), nil })
	out, err := Run(t.Context(), &trace.Trace{}, Options{}, base, a)
	if err != nil {
		t.Fatal(err)
	}
	if r := a.Of(out); r != "" {
		t.Errorf("read the result of an analyzer that is not required: %v", r)
	}
}

// TestPerTrace: every thread trace has its own result, and none when there are
// no traces.
func TestPerTrace(t *testing.T) {
	a := NewPerTrace(Analyzer{Name: "a"}, func(_ *Pass, tt *trace.ThreadTrace) (string, error) { return "of " + tt.Path, nil })
	one, two := &trace.ThreadTrace{Path: "1"}, &trace.ThreadTrace{Path: "2"}
	out, err := Run(t.Context(), &trace.Trace{ThreadTraces: []*trace.ThreadTrace{one, two}}, Options{}, a)
	if err != nil {
		t.Fatal(err)
	}
	if a.Of(out, one) != "of 1" || a.Of(out, two) != "of 2" || a.Of(out, &trace.ThreadTrace{}) != "" {
		t.Errorf("results %q and %q", a.Of(out, one), a.Of(out, two))
	}
	out, err = Run(t.Context(), &trace.Trace{}, Options{}, a)
	if err != nil || len(out.Skipped) != 1 || a.Of(out, one) != "" {
		t.Errorf("without traces: %v, skipped %v", err, out.Skipped)
	}
}

// TestCheckGradesByTheScale: a bound decides the severity by the user's scale,
// unless the rule says why not.
func TestCheckGradesByTheScale(t *testing.T) {
	bound := func(s float64, v rule.Values) []rule.Hit {
		if s < v("least_pct") {
			return nil
		}
		return []rule.Hit{{Text: "x", Bound: &finding.Bound{Pct: s, Of: "time"}}}
	}
	least := []Param{{Name: "least_pct", Default: 5}}
	checks := []rule.Check[float64]{
		{Rule: rule.Rule{ID: "graded", Severity: finding.Info, Params: least}, When: bound},
		{Rule: rule.Rule{ID: "fixed", Severity: finding.Info, Because: "it costs nothing", Params: least}, When: bound},
	}
	a := New(Analyzer{Name: "a", Rules: rule.Rules(checks)}, func(p *Pass) (int, error) {
		for _, pct := range []float64{4, 5, 12, 30} {
			Check(p, checks, pct, finding.Place{Kernel: "k"})
		}
		return 0, nil
	})
	for _, c := range []struct {
		params map[string]float64
		want   string
	}{
		{nil, "graded:high graded:medium graded:low fixed:info fixed:info fixed:info"},
		{map[string]float64{"severity.high_pct": 31, "graded.least_pct": 6}, "graded:medium graded:medium fixed:info fixed:info fixed:info"},
	} {
		out, err := Run(t.Context(), &trace.Trace{}, Options{Params: c.params}, a)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range out.Findings {
			if f.Place.Kernel != "k" {
				t.Errorf("%s has the place %+v", f.ID, f.Place)
			}
			got = append(got, f.ID+":"+f.Severity.String())
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("with %v: %s, want %s", c.params, s, c.want)
		}
	}
}

func TestFindingsAreSorted(t *testing.T) {
	a := New(Analyzer{Name: "a"}, func(p *Pass) (any, error) {
		p.Report(finding.Finding{ID: "low", Severity: finding.Low})
		p.Report(finding.Finding{ID: "high", Severity: finding.High})
		p.Report(finding.Finding{ID: "high2", Severity: finding.High, Bound: &finding.Bound{Pct: 10}})
		return nil, nil
	})
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
