package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// told is a finding as JSON shows it, whatever the command.
type told struct {
	ID       string `json:"id"`
	Severity string `json:"severity"`
	Text     string `json:"text"`
	Fix      string `json:"fix"`
	Gate     bool   `json:"gate"`
	Bound    *struct {
		Pct float64 `json:"pct"`
		Of  string  `json:"of"`
	} `json:"bound"`
	Place struct {
		Path   string `json:"path"`
		Kernel string `json:"kernel"`
		Line   *int   `json:"line"`
	} `json:"place"`
}

// place is what finding is about.
func (f *told) place() string { return f.ID + " at " + f.Place.Path + ", " + f.Place.Kernel }

// said is everything but the place, comparable.
func (f *told) said(t *testing.T) string {
	raw, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// findings runs a command and reads all that it tells, and which rules a verdict
// silenced.
func findings(t *testing.T, command, path string) (all []told, silenced []string) {
	t.Helper()
	var out bytes.Buffer
	// The exit status tells whether something can be said: not asked here.
	_ = run(t.Context(), os.Stdin, &out, io.Discard, func(string) string { return "" }, []string{command, "-v", "--top", "0", "--format", "json", path})
	var x struct {
		Findings []told `json:"findings"`
		Gates    []told `json:"gates"`
		Kernels  []struct {
			Findings []told `json:"findings"`
			Silenced []told `json:"silenced"`
		} `json:"kernels"`
	}
	if out.Len() == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(out.Bytes(), &x); err != nil {
		t.Fatalf("%s %s: %v", command, path, err)
	}
	all = slices.Concat(x.Findings, x.Gates)
	for _, k := range x.Kernels {
		all = append(all, k.Findings...)
		for _, s := range k.Silenced {
			silenced = append(silenced, s.ID)
		}
	}
	return all, silenced
}

// TestViewsAgree: a view and diagnose tell the same of the same place: id,
// severity, text, fix and bound; and what a view tells of a kernel that diagnose
// judges, diagnose tells too, unless the verdict silences it.
func TestViewsAgree(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"att/*", "att/judged/*", "att/malformed/*", "pmc/*", "pmc/judged/*", "rocpd/*"} {
		found, err := filepath.Glob("../../fixtures/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	compared := map[string]int{}
	for _, path := range paths {
		diagnosed, silenced := findings(t, "diagnose", path)
		at, kernels := map[string][]string{}, map[string]bool{}
		for i := range diagnosed {
			f := &diagnosed[i]
			at[f.place()] = append(at[f.place()], f.said(t))
			if !f.Gate { // of several traces of a kernel only one is judged
				kernels[f.Place.Path+f.Place.Kernel] = true
			}
		}
		for _, command := range []string{"occupancy", "l2", "loops", "hotspots"} {
			viewed, _ := findings(t, command, path)
			for i := range viewed {
				f := &viewed[i]
				same := at[f.place()]
				switch {
				case slices.Contains(same, f.said(t)):
					compared[command]++
				case len(same) > 0:
					t.Errorf("%s %s says %s, diagnose %s", command, path, f.said(t), same)
				case kernels[f.Place.Path+f.Place.Kernel] && !slices.Contains(silenced, f.ID):
					t.Errorf("%s %s: diagnose does not say %s", command, path, f.said(t))
				}
			}
		}
	}
	for _, command := range []string{"occupancy", "l2", "loops", "hotspots"} {
		if compared[command] == 0 {
			t.Errorf("%s: nothing was compared", command)
		}
	}
}
