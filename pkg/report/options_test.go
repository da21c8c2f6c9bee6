package report

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/term"
)

func environment(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestTerminalOptions(t *testing.T) {
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil || !term.IsTerminal(int(tty.Fd())) {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	t.Cleanup(func() {
		if err := tty.Close(); err != nil {
			t.Error(err)
		}
	})
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	utf8 := map[string]string{"LANG": "en_US.UTF-8", "TERM": "xterm"}
	for _, c := range []struct {
		what  string
		file  *os.File
		color string
		env   map[string]string
		want  Options
	}{
		{"terminal", tty, "auto", utf8, Options{80, true, true}},
		{"terminal, no locale", tty, "auto", nil, Options{80, true, false}},
		{"terminal, LC_ALL wins", tty, "auto", map[string]string{"LC_ALL": "C", "LANG": "en_US.UTF-8"}, Options{80, true, false}},
		{"terminal, LC_CTYPE", tty, "auto", map[string]string{"LC_CTYPE": "C.utf8"}, Options{80, true, true}},
		{"NO_COLOR", tty, "auto", map[string]string{"NO_COLOR": "1"}, Options{80, false, false}},
		{"NO_COLOR, but asked", tty, "always", map[string]string{"NO_COLOR": "1"}, Options{80, true, false}},
		{"dumb", tty, "auto", map[string]string{"TERM": "dumb"}, Options{80, false, false}},
		{"never", tty, "never", utf8, Options{80, false, true}},
		{"file", file, "auto", utf8, Options{80, false, false}},
		{"file, asked", file, "always", utf8, Options{80, true, false}},
		{"COLUMNS", file, "auto", map[string]string{"COLUMNS": "132"}, Options{132, false, false}},
		{"COLUMNS of a terminal", tty, "never", map[string]string{"COLUMNS": "132"}, Options{132, false, false}},
		{"narrow COLUMNS", file, "auto", map[string]string{"COLUMNS": "3"}, Options{MinWidth, false, false}},
		{"huge COLUMNS", file, "auto", map[string]string{"COLUMNS": "99999999"}, Options{maxWidth, false, false}},
		{"odd COLUMNS", file, "auto", map[string]string{"COLUMNS": "-x"}, Options{80, false, false}},
	} {
		got, err := TerminalOptions(c.file, c.color, environment(c.env))
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, error %v, want %+v", c.what, got, err, c.want)
		}
	}
}

func TestTerminalOptionsBuffer(t *testing.T) {
	got, err := TerminalOptions(&bytes.Buffer{}, "auto", environment(map[string]string{"LANG": "C.UTF-8"}))
	if want := (Options{Width: 80}); err != nil || got != want {
		t.Errorf("%+v, error %v, want %+v", got, err, want)
	}
	if _, err := TerminalOptions(&bytes.Buffer{}, "sometimes", environment(nil)); err == nil {
		t.Error("no error for a colour that is neither auto, always nor never")
	}
}
