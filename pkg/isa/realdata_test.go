package isa

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// realData is the folder of real captures; tests that need it are skipped where
// it is absent.
const realData = "../../../shared/data"

// codeRows reads the instruction texts of a code.json, labels left out.
func codeRows(t *testing.T, path string) []string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Code [][]any `json:"code"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var rows []string
	for _, r := range doc.Code {
		if len(r) == 0 {
			continue
		}
		if text, ok := r[0].(string); ok && !strings.HasPrefix(text, ";") {
			rows = append(rows, text)
		}
	}
	return rows
}

// codeFiles returns every code.json below the real captures.
func codeFiles(t *testing.T) []string {
	t.Helper()
	root := filepath.Join(realData, "att")
	if _, err := os.Stat(root); err != nil {
		t.Skip("no real captures at ", root)
	}
	var files []string
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err == nil && filepath.Base(path) == "code.json" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("only %d code.json found", len(files))
	}
	return files
}

func TestRealInstructionsAreKnown(t *testing.T) {
	n := 0
	for _, path := range codeFiles(t) {
		for _, text := range codeRows(t, path) {
			n++
			if in := Parse(text, "gfx950"); in.Class == Unknown {
				t.Errorf("%s: %q is unknown", path, text)
			}
		}
	}
	if n < 10000 {
		t.Errorf("only %d instructions seen", n)
	}
}

func TestRealAssemblyIsKnown(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(realData, "arch/codeobj/*.s"))
	if err != nil || len(files) == 0 {
		t.Skip("no assembly at ", realData)
	}
	n := 0
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			line, _, _ = strings.Cut(line, ";")
			line = strings.TrimSpace(line)
			// Metadata behind the code is indented too: an instruction is a
			// word with an underscore that no colon ends.
			word, _ := cutWord(line)
			if !strings.Contains(word, "_") || strings.ContainsAny(word, ".:,\"") {
				continue
			}
			n++
			if in := Parse(line, "gfx942"); in.Class == Unknown {
				t.Errorf("%s: %q is unknown", path, line)
			}
		}
	}
	if n < 500 {
		t.Errorf("only %d instructions seen", n)
	}
}

// mixOf maps the classes to the groups of expected.json's static_mix.
var mixOf = map[Class]string{
	SMEM: "s_load", WaitCount: "s_waitcnt", VMEMLoad: "vmem_load", VMEMToLDS: "vmem_load", VMEMStore: "vmem_store",
	LDSRead: "ds_mem", LDSWrite: "ds_mem", LDSTranspose: "ds_mem", CrossLane: "ds_cross_lane", Barrier: "s_barrier", MFMA: "mfma",
}

// expectation is what expected.json says of one capture.
type expectation struct {
	Kernel   string         `json:"kernel"`
	Dispatch string         `json:"dispatch"`
	Total    int            `json:"instructions"`
	Mix      map[string]int `json:"static_mix"`
	MaxVGPR  int            `json:"isa_max_vgpr"`
	MaxAGPR  int            `json:"isa_max_agpr"`
}

func expectations(t *testing.T) []expectation {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(realData, "att/expected.json"))
	if err != nil {
		t.Skip("no expected.json: ", err)
	}
	var doc struct {
		Dispatches []expectation `json:"dispatches"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Dispatches
}

// limit returns one more than the highest register of a file.
func limit(regs []Reg, file RegFile, highest int) int {
	for _, r := range regs {
		if r.File == file {
			highest = max(highest, r.First+r.Count)
		}
	}
	return highest
}

func TestRealStaticMixAndRegisters(t *testing.T) {
	seen := 0
	for _, e := range expectations(t) {
		path := filepath.Join(realData, "att", e.Kernel, e.Dispatch, "code.json")
		if _, err := os.Stat(path); err != nil {
			continue
		}
		seen++
		rows := codeRows(t, path)
		mix := map[string]int{}
		vgpr, agpr := 0, 0
		for _, text := range rows {
			in := Parse(text, "gfx950")
			if group := mixOf[in.Class]; group != "" {
				mix[group]++
			}
			for _, regs := range [][]Reg{in.Reads, in.Writes} {
				vgpr, agpr = limit(regs, VGPR, vgpr), limit(regs, AGPR, agpr)
			}
		}
		if len(rows) != e.Total || vgpr != e.MaxVGPR || agpr != e.MaxAGPR {
			t.Errorf("%s: rows %d vgpr %d agpr %d, want %d %d %d", e.Kernel, len(rows), vgpr, agpr, e.Total, e.MaxVGPR, e.MaxAGPR)
		}
		for group, want := range e.Mix {
			if mix[group] != want {
				t.Errorf("%s: %s %d, want %d", e.Kernel, group, mix[group], want)
			}
			delete(mix, group)
		}
		for group, got := range mix {
			t.Errorf("%s: %d %s unexpected", e.Kernel, got, group)
		}
	}
	if seen < 10 {
		t.Errorf("only %d captures compared", seen)
	}
}

// TestRealDestinationWidth holds the size named by the mnemonic against the
// register range that the text shows.
func TestRealDestinationWidth(t *testing.T) {
	loads := []Class{VMEMLoad, FlatLoad, ScratchLoad, LDSRead, LDSTranspose}
	n := 0
	for _, path := range codeFiles(t) {
		for _, text := range codeRows(t, path) {
			in := Parse(text, "gfx950")
			var got, bytes int
			switch {
			case slices.Contains(loads, in.Class) && in.BytesPerLane > 0:
				got, bytes = in.Writes[0].Count, in.BytesPerLane
			case in.Class == SMEM && in.BytesPerWave > 0 && len(in.Writes) == 1:
				got, bytes = in.Writes[0].Count, in.BytesPerWave
			case in.Class == VMEMStore && in.BytesPerLane > 0:
				got, bytes = storedRegs(&in), in.BytesPerLane
			case in.Class == LDSWrite:
				for _, r := range in.Reads[1:] {
					got += r.Count
				}
				bytes = in.BytesPerLane
			default:
				continue
			}
			n++
			if want := (bytes + 3) / 4; got != want {
				t.Errorf("%q: %d registers, want %d", text, got, want)
			}
		}
	}
	if n < 1200 {
		t.Errorf("only %d instructions compared", n)
	}
}

// storedRegs returns the width of a store's data operand: buffer stores have it
// first, global stores behind the address.
func storedRegs(in *Inst) int {
	if strings.HasPrefix(in.Mnemonic, "buffer_") {
		return in.Reads[0].Count
	}
	return in.Reads[1].Count
}

func TestRealMatricesAreKnown(t *testing.T) {
	n := 0
	for _, e := range expectations(t) {
		path := filepath.Join(realData, "att", e.Kernel, e.Dispatch, "code.json")
		if _, err := os.Stat(path); err != nil {
			continue
		}
		for _, text := range codeRows(t, path) {
			in := Parse(text, "gfx950")
			if in.Class != MFMA {
				continue
			}
			n++
			if in.Matrix == nil || in.Matrix.Cycles == 0 {
				t.Errorf("%q: no cost", text)
			}
		}
	}
	if n < 400 {
		t.Errorf("only %d matrix instructions seen", n)
	}
}

func TestRealTargets(t *testing.T) {
	for _, path := range codeFiles(t) {
		if !strings.Contains(path, "_dispatch_") || strings.Contains(path, "synthetic") {
			continue
		}
		want := Target("gfx950")
		if strings.Contains(path, "gfx90a") {
			want = "gfx90a"
		}
		candidates, evidence := InferTarget(slices.Values(codeRows(t, path)))
		if !slices.Contains(candidates, want) {
			t.Errorf("%s: %v (%q), want %s among them", path, candidates, evidence, want)
		}
		t.Logf("%s: %v %q", filepath.Base(filepath.Dir(filepath.Dir(path))), candidates, evidence)
	}
}
