package ingest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

func gzipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func sortedNames(files map[string]string) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func tarOf(t testing.TB, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range sortedNames(files) {
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])), Typeflag: tar.TypeReg}
		if strings.HasSuffix(name, "@") {
			h = &tar.Header{Name: strings.TrimSuffix(name, "@"), Typeflag: tar.TypeSymlink, Linkname: files[name]}
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte(files[name])); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zipOf(t testing.TB, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range sortedNames(files) {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zipBytes(b []byte, lim limits) (*memberFS, []trace.Note, error) {
	return readZip(bytes.NewReader(b), int64(len(b)), lim)
}

func TestOpenArchives(t *testing.T) {
	inner := captureFiles("run/" + dispatch)
	inner["run/1_agent_info.csv"] = "Node_Id,Agent_Type,Name\n2,GPU,gfx950\n"
	atRoot := map[string]string{}
	for name, text := range captureFiles("x") {
		atRoot[strings.TrimPrefix(name, "x/")] = text
	}
	dotted := map[string]string{}
	for name, text := range inner {
		dotted["./"+name] = text
	}
	unsafe := captureFiles("run/" + dispatch)
	unsafe["../"+dispatch+"2/code.json"] = codeJSON
	unsafe["/"+dispatch+"3/code.json"] = codeJSON
	root := write(t, map[string]string{
		"a.tar.gz": gzipped(t, tarOf(t, dotted)), "a.tgz.bin": gzipped(t, tarOf(t, inner)), "a.tar": tarOf(t, inner), "a.zip": zipOf(t, inner),
		"root.zip": zipOf(t, atRoot), "root.tar": tarOf(t, atRoot),
		"unsafe.tar": tarOf(t, unsafe), "unsafe.zip": zipOf(t, unsafe),
	})
	for file, inside := range map[string]string{
		"a.tar.gz": "/run/" + dispatch, "a.tgz.bin": "/run/" + dispatch, "a.tar": "/run/" + dispatch, "a.zip": "/run/" + dispatch,
		"root.zip": "", "root.tar": "", "unsafe.tar": "/run/" + dispatch, "unsafe.zip": "/run/" + dispatch,
	} {
		t.Run(file, func(t *testing.T) {
			path := filepath.Join(root, file)
			tr, err := Open(context.Background(), []string{path, path}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := paths(tr); !slices.Equal(got, []string{filepath.ToSlash(path) + inside}) {
				t.Fatalf("%q", got)
			}
			tt := tr.ThreadTraces[0]
			checkCapture(t, tt)
			if strings.HasPrefix(file, "a.") && (len(tt.Agents) != 1 || tt.Agents[0].Origin.File != filepath.ToSlash(path)+"/run/1_agent_info.csv") {
				t.Errorf("agents %+v", tt.Agents)
			}
			if strings.HasPrefix(file, "unsafe") != (len(tr.Notes) == 1 && strings.HasPrefix(tr.Notes[0].Text, "2 members are left out")) {
				t.Errorf("notes %v", tr.Notes)
			}
		})
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 8 {
		t.Errorf("something was written: %v, %v", entries, err)
	}
}

func TestTruncatedTar(t *testing.T) {
	files := captureFiles(dispatch)
	files["z/"+dispatch+"/code.json"] = strings.Repeat(" ", 4096) + codeJSON
	whole := tarOf(t, files)
	root := write(t, map[string]string{"cut.tar": whole[:len(whole)-4096]})
	tr, err := Open(context.Background(), []string{filepath.Join(root, "cut.tar")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.ThreadTraces) != 1 || len(tr.Notes) != 1 || tr.Notes[0].Level != trace.Damage || !strings.Contains(tr.Notes[0].Text, "breaks off") {
		t.Errorf("%v, notes %v", paths(tr), tr.Notes)
	}
	checkCapture(t, tr.ThreadTraces[0])
}

func TestArchiveLimits(t *testing.T) {
	small := limits{file: 1 << 10, total: 4 << 10, members: 8}
	many := map[string]string{}
	for _, c := range "abcdefghi" {
		many[string(c)+".json"] = ""
	}
	for name, files := range map[string]map[string]string{
		"one large member":    {"a.json": strings.Repeat("x", 8<<10)},
		"many members":        many,
		"much in all":         {"a.json": strings.Repeat("x", 1<<10), "b.json": strings.Repeat("x", 1<<10), "c.json": strings.Repeat("x", 1<<10), "d.json": strings.Repeat("x", 1<<10), "e.json": strings.Repeat("x", 1<<10)},
		"much that is no use": {"a.att": strings.Repeat("x", 16<<10), "b.json": "", "c.json": ""},
	} {
		_, _, _, err := readTar(strings.NewReader(tarOf(t, files)), small)
		if !errors.Is(err, errBomb) {
			t.Errorf("%s: tar: %v", name, err)
		}
		if name == "much that is no use" {
			continue // zip members that are not opened are not unpacked
		}
		if _, _, err := zipBytes([]byte(zipOf(t, files)), small); !errors.Is(err, errBomb) {
			t.Errorf("%s: zip: %v", name, err)
		}
	}
}

func TestSafeName(t *testing.T) {
	for name, want := range map[string]string{
		"a/b": "a/b", "./a/b": "a/b", "a//b": "a/b", "a/./b": "a/b", "a..b/c": "a..b/c", "a/b/": "a/b",
		"../a": "", "a/../b": "", "/a": "", "": "", `a\b`: "", `C:\a`: "", "a/\x00": "",
	} {
		got, ok := safeName(name)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %v, want %q", name, got, ok, want)
		}
	}
}

// TestArchiveNames: of names that exclude each other the first counts, and the
// rest of the archive can be listed and read.
func TestArchiveNames(t *testing.T) {
	names := []string{"a/b/c.json", "a/d.json", "e.json", "a/d.json", "a/./d.json", "a/d.json/x.json", "e.json/x/y.json", "a/b", "./f.csv"}
	var tarred, zipped bytes.Buffer
	tw, zw := tar.NewWriter(&tarred), zip.NewWriter(&zipped)
	for _, name := range names {
		data := []byte("the first")
		if name == "a/./d.json" {
			data = []byte("another")
		}
		if err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write(data); err != nil {
			t.Fatal(err)
		}
		f, err := zw.Create(name)
		if err == nil {
			_, err = f.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tw.Close(), zw.Close()); err != nil {
		t.Fatal(err)
	}
	fromTar, _, tarNotes, err := readTar(&tarred, archiveLimits())
	if err != nil {
		t.Fatal(err)
	}
	fromZip, zipNotes, err := zipBytes(zipped.Bytes(), archiveLimits())
	if err != nil {
		t.Fatal(err)
	}
	for kind, fsys := range map[string]fs.FS{"tar": fromTar, "zip": fromZip} {
		if err := fstest.TestFS(fsys, "a/b/c.json", "a/d.json", "e.json", "f.csv"); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if b, err := fs.ReadFile(fsys, "a/d.json"); err != nil || string(b) != "the first" {
			t.Errorf("%s: %q, %v", kind, b, err)
		}
	}
	for kind, notes := range map[string][]trace.Note{"tar": tarNotes, "zip": zipNotes} {
		if len(notes) != 1 || !strings.HasPrefix(notes[0].Text, "4 members are left out") {
			t.Errorf("%s: %v", kind, notes)
		}
	}
}

// FuzzArchive checks that no archive leads to a panic or to a name outside.
func FuzzArchive(f *testing.F) {
	files := captureFiles("run/" + dispatch)
	files["../x/code.json"] = codeJSON
	files["link.json@"] = "/etc/passwd"
	f.Add([]byte(tarOf(f, files)))
	for _, packed := range pack(f, tarOf(f, files)) {
		f.Add([]byte(packed))
	}
	delete(files, "link.json@")
	f.Add([]byte(zipOf(f, files)))
	f.Fuzz(func(t *testing.T, b []byte) {
		lim := limits{file: 1 << 16, total: 1 << 18, members: 100}
		o := newOpener(context.Background(), Options{})
		for _, read := range []func() error{
			func() error {
				fsys, _, err := zipBytes(b, lim)
				if err == nil {
					err = o.tree(fsys, "a", "a", "/zip")
				}
				return err
			},
			func() error {
				fsys, _, _, err := readTar(bytes.NewReader(b), lim)
				if err == nil {
					err = o.tree(fsys, "a", "a", "/tar")
				}
				return err
			},
			func() error {
				how := compressedAs(b)
				if how == nil || how.unpack == nil {
					return nil
				}
				r, err := how.reader(bytes.NewReader(b))
				if err == nil {
					_, err = fill(r, lim.total)
				}
				return err
			},
		} {
			if err := read(); err != nil {
				continue
			}
			for _, tt := range o.tr.ThreadTraces {
				if elements := strings.Split(tt.Path, "/"); elements[0] != "a" || slices.Contains(elements, "..") {
					t.Fatalf("path %q", tt.Path)
				}
			}
		}
	})
}

func TestOpenArchiveNeedsAnArchive(t *testing.T) {
	for _, data := range []string{"", "Dispatch_Id,Kernel_Name\n", "\x1f\x8b and then nothing"} {
		var pe *PathError
		if _, err := OpenArchive(t.Context(), "in memory", []byte(data), Options{}); !errors.As(err, &pe) || pe.Path != "in memory" {
			t.Errorf("%q: %v", data, err)
		}
	}
}
