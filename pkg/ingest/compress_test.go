package ingest

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	_ "modernc.org/sqlite" // the driver

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

const packedTrace = `"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"
"KERNEL_DISPATCH","Agent 4",1,1,7,1,5,"scale",1,1000000,1052000,0,0,32,0,32,256,1,1,28160,1,1
`

// bzipped is packedTrace as bzip2 packs it, for which there is no writer here.
const bzipped = "QlpoOTFBWSZTWQupOoQAABTfgBAQUAR/wD7tffCu794QMAD4oKyg0TAJgAABMTNGgYaGmgBoADQAAyGgSRTCU08KejRAyNlM0gAaepGEufk2zl5t+R45QINOTpnjG6FqCxhmBVCRpsLrX1RKL2NMnkMMUzYdQgUCNes0UBrac4ThRvqXLi7hg+OL5GTrfhSlQjHKiXBRjWn40vMBjgzjMyEgK/Aas13uNYZIxVMhERVQKoAbjGmBelj/UyHdWbgAOTqi3MqzcVhEbM3kyVpsVZhSmJ3bbgJSWxXc2qbSMXv4zJyTXxzWISWomuyvbdLFWKs60/VhbE7UU1F800c7NAugD/F3JFOFCQC6k6hA"

// pack packs a text in each way that can be read.
func pack(t testing.TB, text string) map[string]string {
	t.Helper()
	out := map[string]string{"gz": gzipped(t, text)}
	var z, x bytes.Buffer
	zw, err := zstd.NewWriter(&z)
	if err != nil {
		t.Fatal(err)
	}
	xw, err := xz.NewWriter(&x)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{zw, xw} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	out["zst"], out["xz"] = z.String(), x.String()
	if text == packedTrace {
		b, err := base64.StdEncoding.DecodeString(bzipped)
		if err != nil {
			t.Fatal(err)
		}
		out["bz2"] = string(b)
	}
	return out
}

func fixture(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// dispatchesOf counts the dispatches of a trace.
func dispatchesOf(t testing.TB, tr *trace.Trace) (n int) {
	t.Helper()
	for _, r := range tr.Runs {
		rep, err := r.Dispatches.Fold(t.Context(), 1, func() trace.DispatchFolder { return ignore{} })
		if err != nil {
			t.Fatal(err)
		}
		n += int(rep.Rows)
	}
	return n
}

// A packed file is read as what it holds, by name, in a tree, through a pipe
// and in an archive; databases too, which are read at any offset.
func TestPackedFiles(t *testing.T) {
	db := fixture(t, "rocpd/gemm.db")
	for _, c := range []struct {
		name, text string
		want       int
	}{{"7_kernel_trace.csv", packedTrace, 1}, {"7_results.db", db, 7}} {
		for ext, text := range pack(t, c.text) {
			root := write(t, map[string]string{
				"one/" + c.name + "." + ext: text,
				"all.tar":                   tarOf(t, map[string]string{"run/" + c.name + "." + ext: text}),
				"all.zip":                   zipOf(t, map[string]string{"run/" + c.name: c.text}),
			})
			for _, path := range []string{"one/" + c.name + "." + ext, "one", "all.tar", "all.zip", Stdin} {
				opts := Options{Stdin: strings.NewReader(text)}
				if path != Stdin {
					path = filepath.Join(root, path)
				}
				tr, err := Open(t.Context(), []string{path}, opts)
				if err != nil {
					t.Errorf("%s.%s: %s: %v", c.name, ext, path, err)
					continue
				}
				if got := dispatchesOf(t, tr); got != c.want || len(tr.Notes) > 0 && tr.Damaged() {
					t.Errorf("%s.%s: %s: %d dispatches, want %d; %v", c.name, ext, path, got, c.want, tr.Notes)
				}
				if err := tr.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// A packed copy beside the file itself is the same run.
func TestPackedBesideItself(t *testing.T) {
	root := write(t, map[string]string{"7_kernel_trace.csv": packedTrace, "7_kernel_trace.csv.gz": gzipped(t, packedTrace), "7_results.db.gz": gzipped(t, fixture(t, "rocpd/gemm.db"))})
	tr, err := Open(t.Context(), []string{root}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tr.Close() }()
	if got := dispatchesOf(t, tr); got != 7 {
		t.Errorf("%d dispatches, want the 7 of the database", got)
	}
}

func TestPackedArchives(t *testing.T) {
	files := captureFiles("run/" + dispatch)
	for ext, text := range pack(t, tarOf(t, files)) {
		tr, err := Open(t.Context(), []string{Stdin}, Options{Stdin: strings.NewReader(text)})
		if err != nil || len(tr.ThreadTraces) != 1 {
			t.Errorf("%s: %v", ext, err)
			continue
		}
		checkCapture(t, tr.ThreadTraces[0])
	}
}

// The checksum behind a packed archive counts, and so does its end.
func TestDamagedPackedArchives(t *testing.T) {
	whole := gzipped(t, tarOf(t, captureFiles(dispatch)))
	flipped := []byte(whole)
	flipped[len(flipped)-7] ^= 1 // in the checksum
	for name, text := range map[string]string{"checksum": string(flipped), "end": whole[:len(whole)-4]} {
		tr, err := Open(t.Context(), []string{Stdin}, Options{Stdin: strings.NewReader(text)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !tr.Damaged() {
			t.Errorf("%s: no damage is noted", name)
		}
	}
}

func TestPackedErrors(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"lz4":     {"\x04\x22\x4d\x18 and more", "packed with lz4: unpack it (unlz4)"},
		"cut":     {gzipped(t, packedTrace)[:40], "unexpected EOF: unpack it (gunzip)"},
		"twice":   {gzipped(t, gzipped(t, packedTrace)), "an archive in a packed file"},
		"nothing": {"", "nothing came through it"},
	} {
		_, err := Open(t.Context(), []string{Stdin}, Options{Stdin: strings.NewReader(c.text)})
		var pe *PathError
		if !errors.As(err, &pe) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Open(t.Context(), []string{Stdin}, Options{}); err == nil || !strings.Contains(err.Error(), "no standard input") {
		t.Errorf("without a standard input: %v", err)
	}
}

// Little that becomes too much is no capture; much that becomes more may be.
func TestBombs(t *testing.T) {
	for name, c := range map[string]struct {
		packed int64
		ok     bool
	}{"little": {1 << 10, false}, "a capture": {ratioFrom / 40, true}} {
		u := &unpacking{out: io.LimitReader(zeros{}, ratioFrom+1), in: &countingReader{n: c.packed}}
		if _, err := io.Copy(io.Discard, u); (err == nil) != c.ok || err != nil && !errors.Is(err, errBomb) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !bombRatio(ratioFrom+1, ratioFrom/(maxRatio+1)) || bombRatio(ratioFrom, 1) || bombRatio(ratioFrom+1, ratioFrom/maxRatio+1) {
		t.Error("the bounds are not as they are documented")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// What does not fit the memory lies in a file that nobody sees, and is the same.
func TestSpoolSpills(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files keep their names here")
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s := &spool{}
	small := &spool{}
	for i := range 3 { // chunks are not blocks
		if _, err := small.Write(bytes.Repeat([]byte{'a' + byte(i)}, chunkBytes/2+7)); err != nil {
			t.Fatal(err)
		}
	}
	all := make([]byte, small.size)
	if _, err := small.ReadAt(all, 0); err != nil || bytes.Count(all, []byte("b")) != chunkBytes/2+7 || all[small.size-1] != 'c' {
		t.Errorf("%d bytes, %v", small.size, err)
	}
	if n, err := small.ReadAt(make([]byte, 9), small.size-4); n != 4 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %d bytes, %v", n, err)
	}
	block := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for range spoolMemory/len(block) + 2 {
		if _, err := s.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if s.file == nil || s.size != spoolMemory+2*int64(len(block)) {
		t.Fatalf("%d bytes, file %v", s.size, s.file)
	}
	got := make([]byte, 32)
	for _, at := range []int64{0, spoolMemory - 16, s.size - 32} {
		if _, err := s.ReadAt(got, at); err != nil || string(got) != strings.Repeat("0123456789abcdef", 2) {
			t.Errorf("at %d: %q, %v", at, got, err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestXZDictionary: a file that asks for more memory than real ones is refused
// before it is taken.
func TestXZDictionary(t *testing.T) {
	packed := []byte(pack(t, packedTrace)["xz"])
	if size, ok := xzDictionary(packed[12:]); !ok || size < 1<<20 || size > maxWindow {
		t.Fatalf("%d %v", size, ok)
	}
	at := bytes.Index(packed, []byte{0x21, 1}) + 2
	packed[at] = 40
	if _, err := openXZ(bytes.NewReader(packed)); !errors.Is(err, errBomb) {
		t.Errorf("a dictionary of 4 GiB: %v", err)
	}
	packed[at] = pack(t, packedTrace)["xz"][at]
	for cut := range packed {
		r, err := openXZ(bytes.NewReader(packed[:cut]))
		if err == nil {
			_, err = io.ReadAll(r)
		}
		if err == nil {
			t.Errorf("%d bytes were read", cut)
		}
	}
}

// TestNamedArchives: what is not looked into is named, with what unpacks it.
func TestNamedArchives(t *testing.T) {
	inner := zipOf(t, captureFiles(dispatch))
	root := write(t, map[string]string{
		"a.7z": "7z\xbc\xaf\x27\x1c and more", "a.rar": "Rar!\x1a\x07\x00", "a.db.lz4": "\x04\x22\x4d\x18",
		"outer.tar": tarOf(t, map[string]string{"run/inner.zip": inner}), "dir/inner.zip": inner,
		"raw.tar": tarOf(t, map[string]string{"run/out_14_shader_engine_0_3.att": "x"}), "raw.zip": zipOf(t, map[string]string{"run/out_14_shader_engine_0_3.att": "x"}),
	})
	for name, want := range map[string]string{
		"a.7z": "7-Zip: unpack it (7z x)", "a.rar": "RAR: unpack it (unrar x)", "a.db.lz4": "lz4: unpack it (unlz4)",
		"outer.tar": "nothing but archives in it (inner.zip): unpack ", "dir": "nothing but archives in it (inner.zip): give the archive itself",
		"raw.tar": "1 thread trace that was not decoded (out_14_shader_engine_0_3.att): install rocprof-trace-decoder", "raw.zip": "1 thread trace that was not decoded",
	} {
		if _, err := Open(t.Context(), []string{filepath.Join(root, name)}, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// Rows of a database that are only in its write-ahead log are read in archives
// too.
func TestLogsInArchives(t *testing.T) {
	db, wal := walDatabase(t)
	files := map[string]string{"7_results.db": db, "7_results.db-wal": wal}
	for name, text := range map[string]string{"a.tar": tarOf(t, files), "a.zip": zipOf(t, files)} {
		tr, err := Open(t.Context(), []string{Stdin}, Options{Stdin: strings.NewReader(text)})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := dispatchesOf(t, tr); got != 2 {
			t.Errorf("%s: %d dispatches, want the 2 of the log", name, got)
		}
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	}
}

// walDatabase is a database whose rows are in its log alone.
func walDatabase(t *testing.T) (db, wal string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "7_results.db")
	s, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	s.SetMaxOpenConns(1)
	for _, q := range []string{
		`CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag TEXT, value TEXT)`,
		`CREATE TABLE rocpd_kernel_dispatch (id INTEGER PRIMARY KEY, guid TEXT, agent_id INTEGER, kernel_id INTEGER, start BIGINT, "end" BIGINT)`,
		`PRAGMA wal_checkpoint(TRUNCATE)`,
		`INSERT INTO rocpd_kernel_dispatch VALUES (1, 'g', 1, 1, 5, 9), (2, 'g', 1, 1, 10, 19)`,
	} {
		if _, err := s.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	return read(path), read(path + "-wal")
}

// What was unpacked is a file like others, beside the files of its place.
func TestSpooledFile(t *testing.T) {
	s, err := fill(strings.NewReader("text"), 9)
	if err != nil {
		t.Fatal(err)
	}
	fsys := &spooledFS{FS: fstest.MapFS{"d/other.csv": {Data: []byte("x")}}, name: "d/a.csv", data: s}
	info, err := fs.Stat(fsys, "d/a.csv")
	if err != nil || info.IsDir() || !info.Mode().IsRegular() || info.Name() != "a.csv" || info.Size() != 4 {
		t.Errorf("%+v, %v", info, err)
	}
	for name, want := range map[string]string{"d/a.csv": "text", "d/other.csv": "x"} {
		if b, err := fs.ReadFile(fsys, name); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if _, err := fill(strings.NewReader("0123456789"), 9); !errors.Is(err, errBomb) {
		t.Errorf("more than the limit: %v", err)
	}
	if whole, err := fill(strings.NewReader("012345678"), 9); err != nil || whole.size != 9 {
		t.Errorf("as much as the limit: %v", err)
	}
}
