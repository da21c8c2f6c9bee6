package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected outputs in scripts and documents")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"rocanalyze": func() {
			err := run(context.Background(), os.Stdin, os.Stdout, os.Stderr, os.Getenv, os.Args[1:])
			os.Exit(status(os.Stderr, err))
		},
	})
}

// TestScripts runs the command tests. $ROOT is the repository, $FIX its
// fixtures; exit statuses are checked with the status command.
func TestScripts(t *testing.T) {
	runScripts(t, "testdata/script")
}

// TestReports runs the command lines of public reports over their real inputs,
// which are $DATA/reports: one script each.
func TestReports(t *testing.T) {
	if _, err := os.Stat(filepath.Join(sharedData, "reports")); err != nil {
		t.Skip("the inputs of public reports are not here: ../shared/data/reports")
	}
	runScripts(t, "testdata/reports")
}

// runScripts runs the scripts of a directory.
func runScripts(t *testing.T, dir string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           dir,
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROOT", root)
			e.Setenv("FIX", filepath.Join(root, "fixtures", "att"))
			e.Setenv("DATA", filepath.Join(root, "..", "shared", "data"))
			e.Setenv("COLUMNS", "80")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": checkStatus},
	})
}

// checkStatus runs rocanalyze and checks its exit status: status N ARG...
// Its output is kept for stdout and stderr.
func checkStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N args...")
	}
	err := ts.Exec("rocanalyze", args[1:]...)
	got := "0"
	if err != nil {
		got = exitCode(err)
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

func exitCode(err error) string {
	type coder interface{ ExitCode() int }
	if c, ok := err.(coder); ok {
		return string(rune('0' + c.ExitCode()))
	}
	return err.Error()
}
