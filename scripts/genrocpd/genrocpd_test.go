package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// What lies in fixtures/rocpd is what the generator writes, byte for byte, and
// writing it twice gives the same bytes.
func TestFixturesAreCurrent(t *testing.T) {
	const committed = "../../fixtures/rocpd"
	var made [2]map[string][]byte
	for i := range made {
		dir := t.TempDir()
		if err := regenerate(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		made[i] = files(t, dir)
	}
	there := files(t, committed)
	if len(there) != len(made[0]) || len(there) < 6 {
		t.Errorf("%d files in %s, the generator writes %d", len(there), committed, len(made[0]))
	}
	total := 0
	for name, want := range made[0] {
		total += len(want)
		if !bytes.Equal(want, made[1][name]) {
			t.Errorf("%s differs from one writing to the next", name)
		}
		if !bytes.Equal(want, there[name]) {
			t.Errorf("%s is not what the generator writes; run: go run ./scripts/genrocpd", name)
		}
	}
	if total > 300_000 {
		t.Errorf("the databases have %d bytes", total)
	}
}

func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		out[name], err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The large database has as many rows as asked, in the range of both GPUs.
func TestBigCapture(t *testing.T) {
	c := bigCapture(1000)
	n, counted, nodes, kernels := 0, 0, map[int]int{}, map[int]bool{}
	last := map[int]int64{}
	for d := range c.dispatches {
		n++
		counted += len(c.counted(d.id))
		nodes[d.node]++
		kernels[d.kernel] = true
		if d.id != n || d.start <= last[d.node] || d.end <= d.start || d.kernel < 1 || d.kernel > len(c.kernels) {
			t.Fatalf("%+v", d)
		}
		last[d.node] = d.end
	}
	if n != 1000 || counted != 40 || len(nodes) != 2 || nodes[2] < 400 || len(kernels) < 150 {
		t.Errorf("%d rows, %d counted, %v, %d kernels", n, counted, nodes, len(kernels))
	}
}
