package counters

import (
	"slices"
	"strings"
	"testing"
)

// TestCatalogue: every formula can be read, and every metric is described.
func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Catalogue() {
		if seen[m.ID] {
			t.Errorf("%s is there twice", m.ID)
		}
		seen[m.ID] = true
		if m.Title == "" || m.Unit == "" || len(m.Formulas) == 0 || !slices.Contains(Groups(), m.Group) {
			t.Errorf("%s is not described: %+v", m.ID, m)
		}
		if m.Max > 0 && m.Over == "" {
			t.Errorf("%s has a limit, and no reason when it is passed", m.ID)
		}
		for _, f := range m.Formulas {
			if f.Source == "" || (f.Expr == "") != (f.Low != "" && f.High != "") {
				t.Errorf("%s: formula %+v", m.ID, f)
			}
			if _, err := Needs(f); err != nil {
				t.Errorf("%s: %v", m.ID, err)
			}
			for _, a := range f.Archs {
				if !slices.Contains(AllArchs(), a) {
					t.Errorf("%s: no architecture %q", m.ID, a)
				}
			}
		}
	}
	if _, err := FindMetric("nosuch"); err == nil || !strings.Contains(err.Error(), "l2_hit_pct") {
		t.Errorf("an unknown metric: %v", err)
	}
	if m, err := FindMetric("EA_read_bytes"); err != nil || m.ID != "ea_read_bytes" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestExpr(t *testing.T) {
	lookup := func(name string) (float64, bool) {
		v, ok := map[string]float64{"A": 6, "B": 3, "C_1": 2, "ZERO": 0}[name]
		return v, ok
	}
	for _, c := range []struct {
		text   string
		want   float64
		absent string
	}{
		{"A + B * C_1", 12, ""},
		{"(A + B) * C_1", 18, ""},
		{"A - B - C_1", 1, ""},
		{"A - (B - C_1)", 5, ""},
		{"A / B / C_1", 1, ""},
		{"A / (B / C_1)", 4, ""},
		{"100 - 100 * B / A", 50, ""},
		{"0.5 * A", 3, ""},
		{"A / ZERO", 0, "ZERO is zero"},
		{"A / (B - B)", 0, "B - B is zero"},
		{"A + D", 0, "D is not known"},
	} {
		e, err := parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got, absent := e.eval(lookup)
		if got != c.want || absent != c.absent {
			t.Errorf("%s = %g (%s), want %g (%s)", c.text, got, absent, c.want, c.absent)
		}
		if again, err := parse(e.String()); err != nil || again.String() != e.String() {
			t.Errorf("%s is written as %s", c.text, e)
		} else if v, _ := again.eval(lookup); v != got {
			t.Errorf("%s is %g, written as %s it is %g", c.text, got, e, v)
		}
	}
	for _, bad := range []string{"", "A +", "(A", "A)", "A B", "1x", "a", "A % B", strings.Repeat("(", 99)} {
		if e, err := parse(bad); err == nil {
			t.Errorf("%q is read as %s", bad, e)
		}
	}
}

func FuzzExpr(f *testing.F) {
	for _, m := range Catalogue() {
		f.Add(m.Formulas[0].Expr)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parse(text)
		if err != nil {
			return
		}
		again, err := parse(e.String())
		if err != nil || again.String() != e.String() {
			t.Errorf("%q is written as %q: %v", text, e, err)
		}
	})
}

// TestPlan puts as much into one pass as the blocks hold.
func TestPlan(t *testing.T) {
	absent := []Absence{
		{ID: "five", Counters: []string{"TCC_A_sum", "TCC_B_sum", "TCC_C_sum", "TCC_D_sum", "TCC_E_sum"}}, // never fits
		{ID: "two", Counters: []string{"TCC_A_sum", "TCC_B_sum"}},
		{ID: "three", Counters: []string{"TCC_A_sum", "TCC_B_sum", "TCC_C_sum"}},
		{ID: "other", Counters: []string{"TCC_F_sum", "TCC_G_sum"}}, // no room left
		{ID: "waves", Counters: []string{"SQ_X", "SQC_Y"}},
		{ID: "level", Counters: []string{"SQ_LEVEL_WAVES_ACCUM"}}, // cannot be asked for
		{ID: "derived", Counters: []string{"MfmaUtil"}},
	}
	p := Plan(absent, nil, nil)
	if p == nil || !slices.Equal(p.Unlocks, []string{"two", "three", "waves"}) {
		t.Fatalf("%+v", p)
	}
	if !slices.Equal(p.Counters, []string{"SQ_X", "SQC_Y", "TCC_A_sum", "TCC_B_sum", "TCC_C_sum"}) {
		t.Errorf("%v", p.Counters)
	}
	if p := Plan(absent, nil, []string{"other"}); p == nil || !slices.Equal(p.Unlocks, []string{"other"}) {
		t.Errorf("%+v", p)
	}
	if p := Plan(absent[:1], nil, nil); p != nil {
		t.Errorf("%+v", p)
	}
	for _, c := range []struct {
		counters string
		want     bool
	}{
		{"SQ_1 SQ_2 SQ_3 SQ_4 SQ_5 SQ_6 SQ_7 SQC_8", true},
		{"SQ_1 SQ_2 SQ_3 SQ_4 SQ_5 SQ_6 SQ_7 SQ_8 SQC_9", false},
		{"TCC_1 TCC_2 TCC_3 TCC_4 TCP_1 TCP_2 TCP_3 TCP_4 TA_1 TA_2 TD_1 TD_2 GRBM_1 GRBM_2", true},
		{"TA_1 TA_2 TA_3", false},
		{"GRBM_1 GRBM_2 GRBM_3", false},
	} {
		if got := Fits(strings.Fields(c.counters)); got != c.want {
			t.Errorf("%s: %v", c.counters, got)
		}
	}
}

func TestSpell(t *testing.T) {
	for _, c := range []struct {
		name  string
		archs []string
		want  string
	}{
		{"TCC_EA0_RDREQ", []string{"gfx90a"}, "TCC_EA_RDREQ_sum"},
		{"TCC_EA0_RDREQ", []string{"gfx942"}, "TCC_EA0_RDREQ_sum"},
		{"TCC_HIT", nil, "TCC_HIT_sum"},
		{"SQ_WAVES", []string{"gfx942"}, "SQ_WAVES"},
		{"GRBM_GUI_ACTIVE", []string{"gfx942"}, "GRBM_GUI_ACTIVE"},
	} {
		if got := Spell(c.name, c.archs); got != c.want {
			t.Errorf("%s on %v: %s, want %s", c.name, c.archs, got, c.want)
		}
	}
}

func TestBalance(t *testing.T) {
	b := balance("TCC_REQ", map[int32]float64{0: 10, 1: 20, 2: 30, 3: 20}, 16, 100, 2)
	// Mean 20, variance (100+0+100+0)/4 = 50; two dispatches.
	if b.Mean != 10 || b.Min != 5 || b.Max != 15 || b.Sum != 40 || b.MaxOverAvg != 1.5 || b.CV < 0.35355 || b.CV > 0.35356 {
		t.Errorf("%+v", b)
	}
	if !b.Partial || !b.Little || b.Channels != 4 || b.Of != 16 {
		t.Errorf("%+v: four of 16 channels with 20 requests", b)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []weighted
		want float64
	}{
		{nil, 0},
		{[]weighted{{7, 3}}, 7},
		{[]weighted{{20, 1}, {10, 1}}, 15},
		{[]weighted{{20, 1}, {10, 3}}, 10},
		{[]weighted{{8653, 5}, {8052, 4}, {8613, 2}}, 8613}, // ranks 0-3, 4-5, 6-10
	} {
		if got := median(c.in); got != c.want {
			t.Errorf("%v: %g, want %g", c.in, got, c.want)
		}
	}
}
