package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// golden compares got with testdata/name, or writes it there under -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

// sample is a document with one of everything, with numbers made up to exercise the formats.
func sample() Document {
	return Document{Sections: []Section{
		{ID: "verdict", Title: "Verdict: gemm_kernel is bound by LDS reads", Items: []Item{
			Paragraph{"Waves spend most of their stalled time in s_waitcnt lgkmcnt(0) behind ds_read_b128.\nOne dispatch, " +
				"one shader engine."},
			KeyValues{[]KV{
				{"kernel", "gemm_kernel<float, 16>", ""},
				{"duration", Duration(123456), "median of 12 dispatches; the first one, which also loads the code object, left out"},
				{"LDS per workgroup", Bytes(65536), ""},
				{"a key that takes far more than a third of the line", "42", "so its value goes below it"},
			}},
		}},
		{ID: "hotspots", Title: "Hotspots", Items: []Item{sampleTable(), Snippet{
			Path: "src/gemm.hip",
			Lines: []SnippetLine{
				{Number: 99, Text: "for (int k = 0; k < K; ++k) {"},
				{Number: 100, Text: "\tacc = mfma(a[k], b[k], acc);  // a line that is far too long to be shown in a terminal", Mark: true, Left: "45.2%"},
				{Number: 101, Text: "}", Left: "3.1%"},
			},
		}}},
		{ID: "notes", Title: "Notes", Items: []Item{Notes{[]Note{
			{SeverityError, "se1.att ends in the middle of a record: 3 of 4 shader engines were read."},
			{SeverityWarning, "LDS bank conflicts take 31.0% of the LDS cycles; pad the rows of tile A by 16 bytes or swizzle the column index."},
			{SeverityInfo, "capture counters for the cache level: see the manual."},
			{"", "a note without a severity"},
		}}}},
	}}
}

func sampleTable() Table {
	return Table{
		ID: "hotspots",
		Columns: []Column{
			{Key: "pc", Title: "pc", Align: AlignRight},
			{Key: "instruction", Title: "instruction", Flex: true, Min: 16},
			{Key: "hits", Title: "hits", Exact: true},
			{Key: "stall_cycles", Title: "stall cyc"},
			{Key: "share_pct", Title: "share", Bar: true},
			{Key: "l2_hit_pct", Title: "L2 hit"},
		},
		Rows: [][]Cell{
			{Text("0x1a00"), Text("v_mfma_f32_32x32x16_bf16 a[0:15], v[2:5], v[6:9], a[0:15]"), Cycles(12345678), Cycles(59012345), Pct(45.234567), Pct(81.5)},
			{Text("0x1a08"), Text("s_waitcnt lgkmcnt(0)"), Cycles(4096), Cycles(5309332), Pct(31), Absent("no counters in this capture")},
			{Text("0x1a10"), Text("=1+1 | `rm` <b>*\x1b[31mred\u202e"), Cycles(0), Cycles(-3), Pct(0.01), Absent("no counters in this capture")},
		},
		Note: "share: of the stall cycles of all waves; 97 more instructions are not shown.",
	}
}

func TestGoldenTerminal(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
	}{
		{"plain80.txt", Options{}},
		{"plain100.txt", Options{Width: 100}},
		{"plain60.txt", Options{Width: 60}},
		{"plain32.txt", Options{Width: 32}},
		{"unicode80.txt", Options{Unicode: true}},
		{"color80.txt", Options{Color: true, Unicode: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Terminal(&b, sample(), c.o); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name, b.Bytes())
		})
	}
}

func TestGoldenMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := Markdown(&b, sample()); err != nil {
		t.Fatal(err)
	}
	golden(t, "sample.md", b.Bytes())
}

func TestGoldenCSV(t *testing.T) {
	var b bytes.Buffer
	if err := CSV(&b, sample(), "hotspots"); err != nil {
		t.Fatal(err)
	}
	golden(t, "hotspots.csv", b.Bytes())
}
