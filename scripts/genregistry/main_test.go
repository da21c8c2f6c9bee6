package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestScaffold makes an analyzer in an overlay of this repository and demands
// what a newcomer is promised: it builds, its tests pass, also when it requires
// analyzers that need other evidence, and it is a command with help, --set and
// --kernel.
func TestScaffold(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program twice")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := overlay(t, root)
	if err := run(filepath.Join(dir, "analyzers"), "probe"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "analyzers", "probe", "probe.go")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	required := strings.Replace(string(text), "Requires: []analysis.Required{}", "Requires: []analysis.Required{counters.Analyzer, kernels.Analyzer}", 1)
	required = strings.Replace(required, "\t_ \"embed\"\n", "\t_ \"embed\"\n\n\t\"github.com/rocanalyze/rocanalyze/analyzers/counters\"\n\t\"github.com/rocanalyze/rocanalyze/analyzers/kernels\"", 1)
	if required == string(text) {
		t.Fatal("the template has no Requires to fill")
	}
	if err := os.WriteFile(file, []byte(required), 0o644); err != nil {
		t.Fatal(err)
	}
	command(t, dir, "", "go", "test", "./analyzers/probe", "./analyzers")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "rocanalyze")
	command(t, dir, "", "go", "build", "-o", program, "./cmd/rocanalyze")
	gemm := filepath.Join(root, "fixtures", "att", "gemm")
	command(t, dir, "One paragraph: this text is the help", program, "probe", "--help")
	command(t, dir, "gemm_bf16_64x64x64           151", program, "probe", gemm)
	command(t, dir, "gemm_bf16_64x64x64             0", program, "probe", "--set", "probe.least_hits=1000000", gemm)
	command(t, dir, `"instructions": 151`, program, "probe", "--format", "json", "--kernel", "#1", gemm)
	command(t, dir, "name,instructions\n", program, "probe", "--format", "csv", gemm)
	command(t, dir, "One paragraph: this text is the help", program, "explain", "probe")
}

// overlay is a directory that looks like the repository, with an analyzers
// folder of its own.
func overlay(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	link := func(from, to string) {
		entries, err := os.ReadDir(from)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() == ".git" || e.Name() == "analyzers" {
				continue
			}
			if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	link(root, dir)
	if err := os.CopyFS(filepath.Join(dir, "analyzers"), os.DirFS(filepath.Join(root, "analyzers"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// command runs a command that has to succeed and to print something.
func command(t *testing.T, dir, want, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), want) {
		t.Fatalf("%s %s: %v; want %q in\n%s", name, strings.Join(args, " "), err, want, out)
	}
}
