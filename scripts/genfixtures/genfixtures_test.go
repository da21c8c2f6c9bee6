package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// What lies in fixtures is what the generator makes, byte for byte. Archives
// are compared by what they hold: compressors may change with the toolchain.
func TestFixturesAreCurrent(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	const advice = "run: go run ./scripts/genfixtures"
	total := 0
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(fixturesDir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatalf("%v; %s", err, advice)
		}
		total += len(want)
		if unpack := archives[filepath.Ext(name)]; unpack != nil {
			if diff := cmp.Diff(unpack(t, want), unpack(t, got)); diff != "" {
				t.Errorf("%s holds something else; %s\n%s", name, advice, diff)
			}
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s differs; %s", name, advice)
		}
	}
	if total > 1_500_000 {
		t.Errorf("the fixtures have %d bytes", total)
	}
	for _, top := range ownFolders {
		err := filepath.WalkDir(filepath.Join(fixturesDir, top), func(path string, d fs.DirEntry, err error) error {
			name, relErr := filepath.Rel(fixturesDir, path)
			if err = errors.Join(err, relErr); err != nil || d.IsDir() {
				return err
			}
			if _, ok := files[filepath.ToSlash(name)]; !ok {
				t.Errorf("%s is stale; %s", name, advice)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

var archives = map[string]func(t *testing.T, data []byte) map[string]string{".gz": untar, ".zip": unzip}

func untar(t *testing.T, data []byte) map[string]string {
	t.Helper()
	gz, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for tr := tar.NewReader(gz); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		out[h.Name] = h.ModTime.String() + string(body)
	}
}

func unzip(t *testing.T, data []byte) map[string]string {
	t.Helper()
	zr, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range zr.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		out[f.Name] = f.Modified.String() + string(body)
	}
	return out
}

// The archives hold the folders that lie beside them.
func TestArchives(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for folder, packed := range map[string]map[string]string{
		"gemm": untar(t, files["att/gemm.tar.gz"]), "copy": unzip(t, files["att/copy.zip"]),
	} {
		beside := files.below("att/" + folder)
		if len(packed) != len(beside) || len(beside) < 10 {
			t.Errorf("%s: %d files packed, %d beside", folder, len(packed), len(beside))
		}
		for name, body := range beside {
			if !strings.HasSuffix(packed[folder+"/"+name], string(body)) {
				t.Errorf("%s/%s differs", folder, name)
			}
		}
	}
}

// regenerate removes what is no longer made, and only in its own folders.
func TestStaleFilesAreRemoved(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"go.mod", "out/att/old/gone.json", "out/other/kept.txt", "out/att/gemm/README.md"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := regenerate("out"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("out/att/old"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("out/att/old is still there: %v", err)
	}
	if _, err := os.Stat("out/other/kept.txt"); err != nil {
		t.Error(err)
	}
	if note, err := os.ReadFile("out/att/gemm/README.md"); err != nil || !bytes.Contains(note, []byte("half")) {
		t.Errorf("README.md: %q, %v", note, err)
	}
}

// Each malformed capture is wrong in the way that its name says.
func TestMalformed(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	in := func(kind string) tree { return files.below("att/malformed/" + kind + "/" + malformedDir) }
	code := func(kind string) map[string]any {
		var doc map[string]any
		if err := json.Unmarshal(in(kind)["code.json"], &doc); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		return doc
	}
	rows := func(kind string) []any { return code(kind)["code"].([]any) }
	has := func(kind, file, text string) bool { return bytes.Contains(in(kind)[file], []byte(text)) }
	listed := func(kind string) bool { return has(kind, "filenames.json", "se0_sm1_sl0_wv0.json") }
	cell := func(kind string, r, c int) any { return rows(kind)[r].([]any)[c] }

	checks := map[string]bool{
		"code_null":         code("code_null")["code"] == nil && has("code_null", "occupancy.json", ",1,1,0,1,1]") && !listed("code_null"),
		"code_empty":        len(rows("code_empty")) == 0 && !listed("code_empty"),
		"zero_hits":         len(rows("zero_hits")) == 12 && cell("zero_hits", 11, 6) == 0.0,
		"short_row":         len(rows("short_row")[6].([]any)) == 7 && len(rows("short_row")[7].([]any)) == 10,
		"no_label":          cell("no_label", 0, 2) == 0.0 && strings.HasPrefix(cell("no_label", 0, 0).(string), "s_load"),
		"two_kernels":       cell("two_kernels", 12, 0) == "; scale" && cell("two_kernels", 12, 2) == 12.0 && cell("two_kernels", 22, 6) == 4.0,
		"float_cells":       has("float_cells", "code.json", ",4.0,16.0,0.0,") && has("float_cells", "se0_sm0_sl0_wv0.json", ".0,1.0,"),
		"nonutf8_source":    !utf8.Valid(in("nonutf8_source")["source_0_saxpy.hip"]),
		"relative_source":   has("relative_source", "snapshots.json", `{"kernels":{"saxpy.hip"`) && cell("relative_source", 1, 3) == "kernels/saxpy.hip:4",
		"inlined_source":    cell("inlined_source", 6, 3) == "/src/include/vec.h:4 -> /src/kernels/saxpy.hip:6" && cell("inlined_source", 3, 3) == "/src/include/vec.h:0 -> /src/include/vec.h:3 -> /src/kernels/saxpy.hip:5",
		"extra_columns":     len(code("extra_columns")["header"].([]any)) == 11 && cell("extra_columns", 1, 8) == 4.0,
		"pc_sampling":       len(code("pc_sampling")["header"].([]any)) == 13 && len(cell("pc_sampling", 1, 12).([]any)) == 10 && has("pc_sampling", "filenames.json", `"pc_sampling":true`),
		"missing_wave_file": listed("missing_wave_file") && in("missing_wave_file")["se0_sm1_sl0_wv0.json"] == nil,
		"truncated_wave":    !json.Valid(in("truncated_wave")["se0_sm2_sl0_wv0.json"]) && json.Valid(in("truncated_wave")["code.json"]),
		"truncated_code":    !json.Valid(in("truncated_code")["code.json"]) && len(in("truncated_code")["code.json"]) > 300,
		"not_json":          !json.Valid(in("not_json")["code.json"]),
		"escaping_snapshot": has("escaping_snapshot", "snapshots.json", "../../outside") && string(files["att/malformed/outside"]) == outsideText,
		"line_collision":    cell("line_collision", 7, 2) == cell("line_collision", 6, 2) && cell("line_collision", 11, 2) == 111.0,
		"wave_mismatch":     cell("wave_mismatch", 8, 7) != mustCell(t, files, "no_source", 8, 7) && cell("wave_mismatch", 9, 6) == 5.0,
		"huge_number":       has("huge_number", "code.json", "99999999999999999999999") && has("huge_number", "se0_sm2_sl0_wv0.json", "[9223372036854775804,11,0,4611686018427387904,"),
		"wrong_companion":   bytes.Contains(files["att/malformed/wrong_companion/kernel_trace.csv"], []byte(`1,17,"softmax_rows",1`)),
		"no_source":         cell("no_source", 6, 3) == "" && in("no_source")["snapshots.json"] == nil,
	}
	kinds := malformedKinds()
	if len(kinds) != len(checks) {
		t.Errorf("%d kinds, %d checks", len(kinds), len(checks))
	}
	for _, m := range kinds {
		if holds, known := checks[m.kind]; !holds || !known {
			t.Errorf("%s: not as described (checked: %v)", m.kind, known)
		}
		if _, ok := in(m.kind)["filenames.json"]; !ok {
			t.Errorf("%s: no filenames.json", m.kind)
		}
		if !bytes.Contains(files["README.md"], []byte("| "+m.kind+" | ")) {
			t.Errorf("%s: not in the README", m.kind)
		}
	}
}

// mustCell is a cell of a malformed kind's code.json.
func mustCell(t *testing.T, files tree, kind string, r, c int) any {
	t.Helper()
	var doc struct {
		Code [][]any `json:"code"`
	}
	if err := json.Unmarshal(files["att/malformed/"+kind+"/"+malformedDir+"/code.json"], &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Code[r][c]
}

// The files say nothing of the machine they were made on.
func TestNoTraceOfTheMachine(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		for _, word := range []string{here, "/home/", "/root/", "/tmp/"} {
			if bytes.Contains(data, []byte(word)) {
				t.Errorf("%s contains %q", name, word)
			}
		}
	}
}
