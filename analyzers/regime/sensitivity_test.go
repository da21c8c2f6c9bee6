package regime_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

// isWave says which files are waves.
func isWave(name string) bool {
	ok, err := filepath.Match("se*_sm*_sl*_wv*.json", name)
	return ok && err == nil
}

// keepOneIn drops wave files but for one in n, and all from the first left on.
func keepOneIn(n, most int) func() func(string) bool {
	return func() func(string) bool {
		seen, kept := 0, 0
		return func(name string) bool {
			if !isWave(name) {
				return false
			}
			seen++
			if (seen-1)%n == 0 && kept < most {
				kept++
				return false
			}
			return true
		}
	}
}

func dropped(suffix string) func() func(string) bool {
	return func() func(string) bool {
		return func(name string) bool { return strings.HasSuffix(name, suffix) }
	}
}

// less are the ways in which a capture can hold less.
var less = []struct {
	name string
	drop func() func(name string) bool
}{
	{"three wave files of four", keepOneIn(4, 1<<30)},
	{"all wave files but one", keepOneIn(1, 1)},
	{"all wave files", keepOneIn(1, 0)},
	{"occupancy.json", dropped("occupancy.json")},
	{"kernel trace", dropped("kernel_trace.csv")},
	{"agents", dropped("agent_info.csv")},
	{"realtime.json", dropped("realtime.json")},
	{"filenames.json", dropped("filenames.json")},
	{"agents and kernel trace", dropped(".csv")},
}

// copyLess puts a dispatch directory and the tables beside it into a new
// directory, without what is dropped.
func copyLess(t *testing.T, dir string, drop func(name string) bool) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(dir))
	if err := os.Mkdir(to, 0o777); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{dir: to, filepath.Dir(dir): filepath.Dir(to)} {
		entries, err := os.ReadDir(from)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() || drop(e.Name()) {
				continue
			}
			if err := link(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	return filepath.Dir(to)
}

// link makes a hard link, or a copy where there can be none.
func link(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

// verdictOn judges the traced kernel that took the most time.
func verdictOn(t *testing.T, path string) *regime.Kernel {
	t.Helper()
	tr, err := ingest.Open(t.Context(), []string{path}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	out, err := analysis.Run(t.Context(), tr, analysis.Options{Workers: 2}, regime.Analyzer)
	if err != nil {
		t.Fatal(err)
	}
	ks := regime.Analyzer.Of(out).Kernels
	for i := range ks {
		if len(ks[i].Traces) > 0 {
			return &ks[i]
		}
	}
	return nil
}

// TestLessSaysNothingElse: a capture that holds less keeps its verdict or
// weakens it: inconclusive, or less sure. It never becomes another one that is
// sure of itself, and more files never make a verdict less sure.
func TestLessSaysNothingElse(t *testing.T) {
	dirs, err := filepath.Glob(fixtureRoot + "att/*/ui_output_*")
	if err != nil || len(dirs) == 0 {
		t.Fatal(err, dirs)
	}
	for _, more := range []string{fixtureRoot + "att/judged/*/ui_output_*", attData + "/*/ui_output_*", attData + "/../reports/*/ui_output_*"} {
		found, err := filepath.Glob(more)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) == 0 {
			t.Logf("nothing at %s: left out", more)
		}
		dirs = append(dirs, found...)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			none := func(string) bool { return false }
			all := verdictOn(t, copyLess(t, dir, none))
			if all == nil {
				t.Skip("no kernel")
			}
			for _, c := range less {
				k := verdictOn(t, copyLess(t, dir, c.drop()))
				if k == nil {
					continue
				}
				switch {
				case strings.Contains(c.name, "wave") && k.Regime != all.Regime && k.Regime != regime.Inconclusive:
					t.Errorf("without %s: %q; with it %q", c.name, k.Verdict, all.Verdict)
				case k.Regime == all.Regime && sure[k.Confidence] > sure[all.Confidence]:
					t.Errorf("without %s: %s, with it %s", c.name, k.Confidence, all.Confidence)
				case k.Regime != all.Regime && k.Regime != regime.Inconclusive && all.Regime != regime.Inconclusive && sure[k.Confidence] > sure[trust.Low]:
					t.Errorf("without %s: %s, %q; with it %s, %q", c.name, k.Confidence, k.Verdict, all.Confidence, all.Verdict)
				case all.Regime == regime.Inconclusive && k.Regime != regime.Inconclusive && sure[k.Confidence] > sure[trust.Low] && !slices.Contains(all.Missing, regime.MissingMemory):
					t.Errorf("without %s: %s, %q; with it inconclusive: %q", c.name, k.Confidence, k.Verdict, all.Verdict)
				}
			}
		})
	}
}
