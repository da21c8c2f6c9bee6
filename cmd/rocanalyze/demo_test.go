package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDemoTouchesNoDisk runs demo where no file can be made for a while, and
// none remains.
func TestDemoTouchesNoDisk(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("TMPDIR", filepath.Join(dir, "missing"))
	var out, errs bytes.Buffer
	if err := run(t.Context(), os.Stdin, &out, &errs, func(string) string { return "" }, []string{"demo"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "demo.tar.gz") {
		t.Errorf("the capture is not named:\n%s", out.String())
	}
	if at, err := os.Getwd(); err != nil || at != dir {
		t.Errorf("the working directory is %s (%v), was %s", at, err, dir)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
