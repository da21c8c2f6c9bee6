package ingest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const (
	codeJSON = `{"code":[["; k",0,0,"",1,0,0,0,0,0],["s_endpgm",0,1,"/s.py:1",1,0,1,4,0,0]],"version":"3.0.0"}`
	waveJSON = `{"wave":{"cu":0,"begin":0,"end":9,"instructions":[[1,11,0,4,1]],"timeline":[[1,9]]}}`
	dispatch = "ui_output_agent_14_dispatch_25"
)

// captureFiles is a small capture: one dispatch directory and its companions.
func captureFiles(dir string) map[string]string {
	return map[string]string{
		dir + "/code.json":            codeJSON,
		dir + "/filenames.json":       `{"gfxip":9,"wave_filenames":{"0":{"0":{"0":{"0":["se0_sm0_sl0_wv0.json",0,9]}}}}}`,
		dir + "/se0_sm0_sl0_wv0.json": waveJSON,
		dir + "/snapshots.json":       `{"/":{"s.py":"source_0_s.py"}}`,
		dir + "/source_0_s.py":        "one\n",
	}
}

// write makes files below a temporary directory.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// sumFolder adds up what a Fold gives.
type sumFolder struct{ waves, spans int }

func (f *sumFolder) Wave(w *trace.Wave) {
	f.waves++
	f.spans += len(w.Timeline)
}

// checkCapture checks that the small capture was read whole.
func checkCapture(t *testing.T, tt *trace.ThreadTrace) {
	t.Helper()
	if len(tt.Code) != 1 || len(tt.Kernels) != 1 || tt.Kernels[0].Symbol != "k" || tt.GfxMajor != 9 {
		t.Errorf("%s: %d rows, kernels %v, gfx %d", tt.Path, len(tt.Code), tt.Kernels, tt.GfxMajor)
	}
	var f sumFolder
	report, err := tt.Waves.Fold(context.Background(), 1, func() trace.Folder { return &f })
	if err != nil || report.Read != 1 || f.waves != 1 {
		t.Errorf("%s: waves %+v, %v", tt.Path, report, err)
	}
	if lines, ok, err := tt.Files.Lines("/s.py"); !ok || err != nil || !slices.Equal(lines, []string{"one"}) {
		t.Errorf("%s: source %q %v %v", tt.Path, lines, ok, err)
	}
}

func paths(tr *trace.Trace) []string {
	var list []string
	for _, tt := range tr.ThreadTraces {
		list = append(list, tt.Path)
	}
	return list
}

func TestOpenDirectories(t *testing.T) {
	files := captureFiles("b/" + dispatch)
	for name, text := range captureFiles("a/x/" + dispatch + "_fixed") {
		files[name] = text
	}
	files["a/x/1_agent_info.csv"] = "Node_Id,Agent_Type,Name\n2,GPU,gfx950\n"
	files["c/"+dispatch+"/occupancy.json"] = `{"0":[]}`
	files["d/plain/code.json"] = codeJSON
	files["e/text.txt"] = "no trace"
	root := write(t, files)
	slash := func(name string) string { return filepath.ToSlash(filepath.Join(root, name)) }
	a, b, c, d := slash("a/x/"+dispatch+"_fixed"), slash("b/"+dispatch), slash("c/"+dispatch), slash("d/plain")
	for _, tc := range []struct {
		name  string
		paths []string
		want  []string
	}{
		{"dispatch directory", []string{"b/" + dispatch}, []string{b}},
		{"trailing slash and detour", []string{"b/../b/" + dispatch + "/"}, []string{b}},
		{"file inside", []string{"b/" + dispatch + "/code.json"}, []string{b}},
		{"wave file inside", []string{"b/" + dispatch + "/se0_sm0_sl0_wv0.json"}, []string{b}},
		{"without code.json", []string{"c/" + dispatch}, []string{c}},
		{"plain name", []string{"d/plain"}, []string{d}},
		{"tree", []string{""}, []string{a, b, c, d}},
		{"several, with repeats", []string{"b", "a/x/" + dispatch + "_fixed", "b/" + dispatch, ""}, []string{a, b, c, d}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var given []string
			for _, p := range tc.paths {
				given = append(given, root+string(filepath.Separator)+filepath.FromSlash(p))
			}
			tr, err := Open(context.Background(), given, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := paths(tr); !slices.Equal(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
			for _, tt := range tr.ThreadTraces {
				switch tt.Path {
				case a:
					checkCapture(t, tt)
					if len(tt.Agents) != 1 || *tt.DispatchID != 25 || tt.Name != dispatch+"_fixed" {
						t.Errorf("agents %v, dispatch %v, name %q", tt.Agents, tt.DispatchID, tt.Name)
					}
				case b:
					checkCapture(t, tt)
				case c:
					if tt.CodeState != trace.CodeMissing || tt.Occupancy == nil || tt.Waves != nil {
						t.Errorf("%+v", tt)
					}
				}
			}
			if len(tr.Notes) > 0 {
				t.Errorf("notes %v", tr.Notes)
			}
		})
	}
}

func TestOpenRelative(t *testing.T) {
	files := captureFiles("out/" + dispatch)
	files["out/1_agent_info.csv"] = "Node_Id,Agent_Type,Name\n2,GPU,gfx950\n"
	t.Chdir(filepath.Join(write(t, files), "out", dispatch))
	for given, want := range map[string]string{".": "../1_agent_info.csv", "code.json": "../1_agent_info.csv", "..": "../1_agent_info.csv"} {
		tr, err := Open(context.Background(), []string{given}, Options{Timeline: true})
		if err != nil {
			t.Fatal(err)
		}
		tt := tr.ThreadTraces[0]
		checkCapture(t, tt)
		if tt.Name != dispatch || len(tt.Agents) != 1 || tt.Agents[0].Origin.File != want {
			t.Errorf("%s: name %q, agents %+v", given, tt.Name, tt.Agents)
		}
		var f sumFolder
		if _, err := tt.Waves.Fold(context.Background(), 1, func() trace.Folder { return &f }); err != nil || f.spans != 1 {
			t.Errorf("%s: %d timeline entries, %v", given, f.spans, err)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	root := write(t, map[string]string{
		"empty/x": "", "text.txt": "some text", "bad.gz": "\x1f\x8bxx", "bad.zip": "PK\x03\x04", "none": "",
		"gz/text.gz": gzipped(t, "not a tar file"),
	})
	for name, want := range map[string]string{
		"missing":    "no such file or directory: check the path",
		"text.txt/x": "", // the operating system's own words
		"empty":      "no dispatch directory (code.json) below ",
		"text.txt":   "not recognised: give the ui_output_agent_*_dispatch_* directory",
		"none":       "an empty file (0 bytes)",
		"bad.gz":     "unexpected EOF: unpack it (gunzip) and give what is in it",
		"bad.zip":    "not a valid zip file: unpack it and give the directory",
		"gz/text.gz": "not recognised",
	} {
		_, err := Open(context.Background(), []string{filepath.Join(root, name)}, Options{Only: trace.ThreadTraces})
		var pe *PathError
		if !errors.As(err, &pe) || pe.Path != filepath.Join(root, name) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	_, err := Open(context.Background(), []string{filepath.Join(root, "missing")}, Options{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, []string{root}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
}

// TestOpenStaysInside checks that neither links nor names lead out of the
// directory, and that links are not followed in the search.
func TestOpenStaysInside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege here")
	}
	files := captureFiles("in/" + dispatch)
	delete(files, "in/"+dispatch+"/se0_sm0_sl0_wv0.json")
	delete(files, "in/"+dispatch+"/source_0_s.py")
	files["secret/wave.json"] = waveJSON
	files["secret/"+dispatch+"/code.json"] = codeJSON
	root := write(t, files)
	dir := filepath.Join(root, "in", dispatch)
	for link, to := range map[string]string{
		filepath.Join(dir, "se0_sm0_sl0_wv0.json"): filepath.Join(root, "secret", "wave.json"),
		filepath.Join(dir, "source_0_s.py"):        "../../secret/wave.json",
		filepath.Join(root, "in", "link"):          filepath.Join(root, "secret"),
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := Open(context.Background(), []string{filepath.Join(root, "in")}, Options{})
	if err != nil || len(tr.ThreadTraces) != 1 {
		t.Fatalf("%v, %v", paths(tr), err)
	}
	tt := tr.ThreadTraces[0]
	report, err := tt.Waves.Fold(context.Background(), 1, func() trace.Folder { return &sumFolder{} })
	if err != nil || report.Read != 0 || report.Damaged != 1 || !strings.Contains(report.Notes[0].Text, "escapes") {
		t.Errorf("%+v, %v", report, err)
	}
	if lines, ok, err := tt.Files.Lines("/s.py"); !ok || err == nil || lines != nil {
		t.Errorf("%q %v %v", lines, ok, err)
	}
	// The user's own path may be a link.
	link := filepath.Join(root, "mine")
	if err := os.Symlink(filepath.Join(root, "secret", dispatch), link); err != nil {
		t.Fatal(err)
	}
	tr, err = Open(context.Background(), []string{link}, Options{})
	if err != nil || len(tr.ThreadTraces) != 1 || tr.ThreadTraces[0].Name != dispatch {
		t.Errorf("%v, %v", paths(tr), err)
	}
}

// TestDirFS checks that names outside the rules are refused.
func TestDirFS(t *testing.T) {
	d := dirFS(write(t, map[string]string{"a/b": "x"}))
	for _, name := range []string{"../x", "/a", "a/../a/b", "", "a//b"} {
		if _, err := d.Open(name); err == nil {
			t.Errorf("%q was opened", name)
		}
		if _, err := d.Stat(name); err == nil {
			t.Errorf("%q was described", name)
		}
	}
	sub, err := d.Sub("a")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := fs.ReadFile(sub, "b"); err != nil || string(b) != "x" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := fs.ReadFile(sub, "../a/b"); err == nil {
		t.Error("a name led upwards")
	}
}
