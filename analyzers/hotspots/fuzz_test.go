package hotspots_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/rocanalyze/rocanalyze/analyzers/hotspots"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/att"
	"github.com/rocanalyze/rocanalyze/pkg/report"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// FuzzHotspots takes a capture's files through readers, analyzers and all
// renderers: whatever they hold, nothing panics, and the stall classes sum to
// the stall that counts.
func FuzzHotspots(f *testing.F) {
	for _, dir := range []string{
		"gemm/ui_output_agent_10001_dispatch_7", "early/ui_output_agent_10001_dispatch_5", "gfx12/ui_output_agent_10001_dispatch_4",
		"malformed/line_collision/ui_output_agent_1_dispatch_1", "malformed/pc_sampling/ui_output_agent_1_dispatch_1",
	} {
		root := filepath.Join("../../fixtures/att", dir)
		waves, err := filepath.Glob(filepath.Join(root, "se*_sm*.json"))
		if err != nil {
			f.Fatal(err)
		}
		wave := []byte("{}")
		if len(waves) > 0 {
			wave = read(f, waves[0])
		}
		f.Add(read(f, filepath.Join(root, "code.json")), wave)
	}
	f.Fuzz(func(t *testing.T, code, wave []byte) {
		const dir = "ui_output_agent_1_dispatch_1"
		fsys := fstest.MapFS{
			dir + "/code.json":            {Data: code},
			dir + "/filenames.json":       {Data: []byte(`{"gfxip":9,"wave_filenames":{"0":{"0":{"0":{"0":["se0_sm0_sl0_wv0.json",0,1]}}}}}`)},
			dir + "/se0_sm0_sl0_wv0.json": {Data: wave},
		}
		tt, _, err := att.Open(t.Context(), fsys, dir, dir, nil)
		if err != nil {
			return
		}
		out, err := analysis.Run(t.Context(), &trace.Trace{ThreadTraces: []*trace.ThreadTrace{tt}}, analysis.Options{Workers: 2}, hotspots.Analyzer)
		if err != nil {
			t.Fatal(err)
		}
		res := hotspots.Analyzer.Of(out)
		for i := range res.Kernels {
			var sum int64
			for _, s := range res.Kernels[i].Stalls {
				sum += s.StallCycles
			}
			if sum != res.Kernels[i].Counted.StallCycles {
				t.Fatalf("classes sum to %d, counted stall is %d", sum, res.Kernels[i].Counted.StallCycles)
			}
		}
		render(t, res, out)
	})
}

func render(t *testing.T, res *hotspots.Result, out *analysis.Outcome) {
	t.Helper()
	for _, by := range []hotspots.By{hotspots.BySummary, hotspots.ByLine, hotspots.ByWait, hotspots.ByClass} {
		v := hotspots.View{By: by, Detail: true, Verbose: true}
		doc := hotspots.Sections(res, out.Findings, v)
		if err := report.Terminal(io.Discard, doc, report.Options{}); err != nil {
			t.Fatal(err)
		}
		if err := report.Markdown(io.Discard, doc); err != nil {
			t.Fatal(err)
		}
		if table, err := hotspots.CSV(res, v); err == nil {
			if err := report.CSV(io.Discard, report.Document{Sections: []report.Section{{Items: []report.Item{table}}}}, hotspots.TableID); err != nil {
				t.Fatal(err)
			}
		}
	}
	var b bytes.Buffer
	if err := report.JSON(&b, report.Envelope{}, res); err != nil {
		t.Fatal(err)
	}
}

func read(f *testing.F, path string) []byte {
	f.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	return data
}
