package analyzers

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestRegistryIsFresh fails when a folder is not registered, or an analyzer
// lacks what every one must have.
func TestRegistryIsFresh(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var folders, names []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != "testdata" {
			folders = append(folders, e.Name())
		}
	}
	for _, a := range All() {
		names = append(names, a.Name)
		if !strings.HasPrefix(a.Doc, "# ") {
			t.Errorf("analyzers/%s/doc.md must begin with a heading", a.Name)
		}
		for _, p := range a.Params {
			if p.Name == "" || p.Doc == "" {
				t.Errorf("analyzer %s: parameter %q needs a name and a doc", a.Name, p.Name)
			}
		}
	}
	if !slices.Equal(folders, names) {
		t.Errorf("the registry has %v, the folders are %v: run 'make registry'", names, folders)
	}
}
