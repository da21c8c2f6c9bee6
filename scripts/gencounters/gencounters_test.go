package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestFixturesAreCurrent proves that fixtures/pmc is what the generator
// writes, and nothing else.
func TestFixturesAreCurrent(t *testing.T) {
	want := fixtures()
	dir := filepath.Join("..", "..", "fixtures", "pmc")
	seen := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen++
		if w, ok := want[filepath.ToSlash(name)]; !ok || !bytes.Equal(w, data) {
			t.Errorf("%s is not what the generator writes: go run ./scripts/gencounters", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen != len(want) {
		t.Errorf("%d files, the generator writes %d: go run ./scripts/gencounters", seen, len(want))
	}
}

// TestFiguresAgree checks what every run has to satisfy.
func TestFiguresAgree(t *testing.T) {
	value := func(vs []value, name string) float64 {
		for _, v := range vs {
			if v.name == name {
				return v.v
			}
		}
		t.Fatalf("no %s", name)
		return 0
	}
	c := copyMemory()
	if got := 128*value(c, "TCC_BUBBLE_sum") + 64*(value(c, "TCC_EA0_RDREQ_sum")-value(c, "TCC_BUBBLE_sum")); got != copyBytes {
		t.Errorf("the copy reads %g bytes, not %d", got, copyBytes)
	}
	if got := 512 * value(gemmCompute(), "SQ_INSTS_VALU_MFMA_MOPS_BF16"); got != gemmFLOPs {
		t.Errorf("the GEMM has %g FLOPs, not %d", got, gemmFLOPs)
	}
	if got := value(copyWaves(), "SQ_WAVES") * 64; got != copyItems {
		t.Errorf("the copy has %g work-items, not %d", got, copyItems)
	}
}
