package regime_test

import (
	"path/filepath"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// sure orders confidences.
var sure = map[trust.Confidence]int{trust.None: 0, trust.Low: 1, trust.Medium: 2, trust.High: 3}

// alone judges a dispatch directory after change was made to what was read
// beside it.
func alone(t *testing.T, dir string, change func(*trace.ThreadTrace)) (regime.Kernel, bool) {
	t.Helper()
	tr, err := ingest.Open(t.Context(), []string{dir}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tr.Close() }()
	for _, tt := range tr.ThreadTraces {
		change(tt)
	}
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2}, regime.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	ks := regime.Analyzer.Of(out).Kernels
	if len(ks) == 0 {
		return regime.Kernel{}, false
	}
	return ks[0], true
}

func noRows(tt *trace.ThreadTrace)   { tt.Launches, tt.LaunchTables = nil, nil }
func noAgents(tt *trace.ThreadTrace) { tt.Agents = nil }

// ofAnotherLaunch makes the rows those of a launch of a seventh of the
// workgroups that took a hundredth of the time.
func ofAnotherLaunch(tt *trace.ThreadTrace) {
	rows := make([]trace.Launch, len(tt.Launches))
	copy(rows, tt.Launches)
	for i := range rows {
		l := &rows[i]
		if groups, ok := l.Workgroups(); ok {
			l.Grid = &[3]int64{l.Workgroup[0] * max(1, groups/7), 1, 1}
		}
		if ns, ok := l.DurationNs(); ok {
			l.EndNs = new(*l.StartNs + max(1, ns/100))
		}
		l.Calls = nil
	}
	tt.Launches = rows
}

// TestCompanionsMakeSurer: what lies beside a dispatch directory makes its
// verdict surer, never another one; rows of another launch are no better than
// none.
func TestCompanionsMakeSurer(t *testing.T) {
	dirs, err := filepath.Glob(fixtureRoot + "att/*/ui_output_*")
	if err != nil {
		t.Fatal(err)
	}
	judged, err := filepath.Glob(fixtureRoot + "att/judged/*/ui_output_*")
	if err != nil || len(dirs) == 0 || len(judged) == 0 {
		t.Fatal(err, dirs, judged)
	}
	dirs = append(dirs, judged...)
	if real, err := filepath.Glob(attData + "/*/ui_output_*"); err != nil || len(real) == 0 {
		t.Logf("no real captures at %s: fixtures alone", attData)
	} else {
		dirs = append(dirs, real...)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			all, ok := alone(t, dir, func(*trace.ThreadTrace) {})
			if !ok {
				t.Skip("no kernel")
			}
			without, _ := alone(t, dir, noRows)
			for _, c := range []struct {
				name   string
				change func(*trace.ThreadTrace)
			}{
				{"no rows", noRows},
				{"no agents", noAgents},
				{"neither", func(tt *trace.ThreadTrace) { noRows(tt); noAgents(tt) }},
				{"rows of another launch", ofAnotherLaunch},
			} {
				k, ok := alone(t, dir, c.change)
				switch {
				case !ok:
					t.Errorf("%s: no kernel", c.name)
				case all.Subtype == regime.Tail && k.Confidence == trust.Low:
					// Only a row tells how many workgroups are in the last round.
				case k.Regime != regime.Inconclusive && k.Regime != all.Regime:
					t.Errorf("%s: %s (%s), with all of it %s (%s)", c.name, k.Regime, k.Verdict, all.Regime, all.Verdict)
				case sure[k.Confidence] > sure[all.Confidence]:
					t.Errorf("%s: %s, with all of it %s", c.name, k.Confidence, all.Confidence)
				}
				if c.name == "rows of another launch" && (k.Verdict != without.Verdict || k.Confidence != without.Confidence) {
					t.Errorf("%s: %s %q, without rows %s %q", c.name, k.Confidence, k.Verdict, without.Confidence, without.Verdict)
				}
			}
		})
	}
}
