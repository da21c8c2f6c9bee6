package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/rocanalyze/rocanalyze/"

// arrows says which rooms of the module a room may import. The longest
// matching prefix decides; a room may always import what lies below it.
var arrows = map[string][]string{
	"pkg/trace":         {},
	"pkg/isa":           {},
	"pkg/gpu":           {},
	"pkg/stats":         {},
	"pkg/finding":       {},
	"pkg/report":        {},
	"pkg/rule":          {"pkg/finding"},
	"pkg/capture":       {"pkg/trace", "pkg/isa", "pkg/gpu"},
	"pkg/analysis":      {"pkg/capture", "pkg/rule", "pkg/finding", "pkg/trace"},
	"pkg/view":          {"pkg/analysis", "pkg/capture", "pkg/report", "pkg/finding", "pkg/trace"},
	"pkg/view/viewtest": {"pkg/view", "pkg/analysis", "pkg/report", "pkg/ingest"},
	"pkg/ingest":        {"pkg/trace", "pkg/ingest"},
	"analyzers":         {"analyzers", "pkg/analysis", "pkg/capture", "pkg/rule", "pkg/finding", "pkg/trace", "pkg/isa", "pkg/gpu", "pkg/stats", "pkg/report", "pkg/view"},
	"fixtures":          {},
	"cmd":               {"analyzers", "pkg", "fixtures"},
	"scripts":           {"scripts"},
}

// only says which room alone may import a library.
var only = map[string]string{
	"github.com/spf13/cobra":      "cmd",
	"gonum.org/":                  "pkg/stats",
	"modernc.org/":                "pkg/ingest/rocpd",
	"github.com/jmoiron/sqlx":     "pkg/ingest/rocpd",
	"github.com/vmihailenco":      "pkg/ingest/codeobj",
	"database/sql":                "pkg/ingest/rocpd",
	"github.com/rogpeppe/":        "cmd",
	"github.com/santhosh-tekuri/": "cmd",
	"golang.org/x/term":           "",
	"github.com/google/go-cmp":    "",
	"golang.org/x/tools":          "scripts",
	"golang.org/x/perf/benchmath": "pkg/stats",
	"github.com/ianlancetaylor/":  "pkg/capture",
}

// also says which other room may import a library of only: the generator of
// fixtures writes databases.
var also = map[string]string{
	"modernc.org/": "scripts/genrocpd",
	"database/sql": "scripts/genrocpd",
}

func TestArrows(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), "../../"))
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			checkImport(t, path, dir, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkImport(t *testing.T, path, dir, name string) {
	t.Helper()
	for lib, room := range only {
		if other, ok := also[lib]; ok && within(dir, other) {
			continue
		}
		if strings.HasPrefix(name, lib) && !within(dir, room) {
			t.Errorf("%s imports %s: only %s may", path, name, room)
		}
	}
	ours, ok := strings.CutPrefix(name, module)
	if !ok {
		return
	}
	room := ""
	for r := range arrows {
		if within(dir, r) && len(r) > len(room) {
			room = r
		}
	}
	if room == "" {
		t.Errorf("%s: %s is no known room: add it to the arrows", path, dir)
		return
	}
	for _, allowed := range append([]string{room}, arrows[room]...) {
		if within(ours, allowed) {
			return
		}
	}
	t.Errorf("%s imports %s: %s may import %v only", path, ours, room, arrows[room])
}

func within(dir, room string) bool {
	return room == "" || dir == room || strings.HasPrefix(dir, room+"/")
}
