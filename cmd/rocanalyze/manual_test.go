package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestManual runs every "$ rocanalyze ..." block of the README and of the
// package comment in the repository's root, and compares what it prints.
// go test ./cmd/rocanalyze -run Manual -update rewrites them.
func TestManual(t *testing.T) {
	t.Chdir("../..")
	for _, doc := range []struct{ file, comment string }{{"README.md", ""}, {"cmd/rocanalyze/doc.go", "//"}} {
		raw, err := os.ReadFile(doc.file)
		if err != nil {
			t.Fatal(err)
		}
		got, ran := rerun(t, string(raw), doc.comment)
		if ran == 0 {
			t.Errorf("%s has no \"$ rocanalyze\" block", doc.file)
		}
		if got == string(raw) {
			continue
		}
		if *update {
			if err := os.WriteFile(doc.file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("%s shows outputs that the program does not print (-have +want; -update rewrites it):\n%s", doc.file, cmp.Diff(string(raw), got))
	}
}

// rerun returns the document with the output below each command replaced by
// what the command prints. A block is indented by a tab or four spaces in a
// comment, or stands between ``` fences.
func rerun(t *testing.T, text, comment string) (string, int) {
	t.Helper()
	var out []string
	ran := 0
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		prefix := ""
		if comment != "" {
			prefix = comment + "\t"
		}
		command, ok := strings.CutPrefix(lines[i], prefix+"$ rocanalyze ")
		if !ok {
			continue
		}
		ran++
		printed := output(t, strings.Fields(command))
		for _, l := range strings.Split(strings.TrimRight(printed, "\n"), "\n") {
			out = append(out, strings.TrimRight(prefix+l, "\t "))
		}
		for i+1 < len(lines) && !endsBlock(lines[i+1], comment) {
			i++
		}
		if comment != "" {
			out = append(out, comment) // the line between a block and the text
		}
	}
	return strings.Join(out, "\n"), ran
}

func endsBlock(line, comment string) bool {
	if comment == "" {
		return line == "```" || strings.HasPrefix(line, "$ ")
	}
	return line != comment && !strings.HasPrefix(line, comment+"\t") || strings.HasPrefix(line, comment+"\t$ ")
}

// output runs the program as a user would: both streams, then a status other
// than 0.
func output(t *testing.T, args []string) string {
	t.Helper()
	var b bytes.Buffer
	env := func(name string) string { return map[string]string{"COLUMNS": "80"}[name] }
	err := run(context.Background(), os.Stdin, &b, &b, env, args)
	if n := status(&b, err); n != 0 {
		t.Errorf("rocanalyze %s: exit status %d", strings.Join(args, " "), n)
	}
	return b.String()
}
