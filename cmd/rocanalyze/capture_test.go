package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/analyzers/hotspots"
	"github.com/rocanalyze/rocanalyze/analyzers/loops"
	"github.com/rocanalyze/rocanalyze/analyzers/occupancy"
	"github.com/rocanalyze/rocanalyze/analyzers/roofline"
	"github.com/rocanalyze/rocanalyze/analyzers/rules"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// everything is what the commands show.
func everything(t *testing.T, tr *trace.Trace, device string) (*analysis.Outcome, error) {
	t.Helper()
	return analysis.Run(t.Context(), tr, analysis.Options{Device: device, Workers: 2, Params: map[string]float64{}},
		hotspots.Analyzer, loops.Analyzer, occupancy.Analyzer, counters.Analyzer, rules.Analyzer, roofline.Analyzer)
}

// gpusNamed lists the architectures and the products that the results name,
// each with who says so.
func gpusNamed(out *analysis.Outcome) (archs, devices map[string][]string) {
	archs, devices = map[string][]string{}, map[string][]string{}
	say := func(who, arch, device string) {
		if strings.Contains(arch, " ") { // open
			arch = ""
		}
		if arch != "" {
			archs[arch] = append(archs[arch], who)
		}
		if device != "" && device != arch {
			devices[device] = append(devices[device], who)
		}
	}
	if r := hotspots.Analyzer.Of(out); r != nil {
		for i := range r.Kernels {
			say("hotspots", string(r.Kernels[i].Arch.Target), "")
		}
	}
	if r := loops.Analyzer.Of(out); r != nil {
		for i := range r.Kernels {
			say("loops", string(r.Kernels[i].Arch.Target), "")
		}
	}
	for _, k := range occupancy.Analyzer.Of(out).Kernels {
		say("occupancy", k.Arch, k.Device)
	}
	if r := counters.Analyzer.Of(out); r != nil {
		for i := range r.Kernels {
			say("counters", r.Kernels[i].Machine.Arch(), r.Kernels[i].Machine.Device)
		}
	}
	for _, k := range rules.Analyzer.Of(out).Kernels {
		say("diagnose", k.Arch, k.Device)
	}
	if d := roofline.Analyzer.Of(out).Device; !strings.HasPrefix(d, "gfx") {
		say("roofline", "", d)
	}
	return archs, devices
}

// Every command names one GPU, the same one, or refuses: for all fixtures and
// whatever the user names.
func TestOneGPU(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"att/*", "att/judged/*", "att/malformed/wrong_companion", "att/malformed/two_kernels", "pmc/*", "pmc/judged/*", "rocpd/*"} {
		found, err := filepath.Glob(filepath.Join("../../fixtures", pattern))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	refused, taken := 0, 0
	for _, path := range paths {
		switch filepath.Base(path) {
		case "judged", "malformed", "copy.zip", "gemm.tar.gz", "README.md":
			continue
		}
		tr, err := ingest.Open(t.Context(), []string{path}, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, device := range []string{"", "MI300X", "MI350X", "MI355X", "gfx942", "gfx950", "MI210", "RX 7900 XTX", "RX 9070 XT", "H100"} {
			out, err := everything(t, tr, device)
			if err != nil {
				if !strings.Contains(err.Error(), "--device") || device == "" {
					t.Errorf("--device %q %s: %v", device, path, err)
				}
				refused++
				continue
			}
			archs, devices := gpusNamed(out)
			if len(archs) > 1 || len(devices) > 1 {
				t.Errorf("--device %q %s: architectures %v, devices %v", device, path, archs, devices)
			}
			if device == "" {
				continue
			}
			taken++
			m, err := gpu.FindDevices(device)
			if err != nil {
				t.Errorf("--device %q is taken for %s: %v", device, path, err)
				continue
			}
			for arch, who := range archs {
				if arch != m.Devices[0].Arch {
					t.Errorf("--device %q %s: %v say %s", device, path, who, arch)
				}
			}
			for d, who := range devices {
				if !slices.ContainsFunc(m.Devices, func(x gpu.Device) bool { return strings.Contains(d, x.Name) }) {
					t.Errorf("--device %q %s: %v say %s", device, path, who, d)
				}
			}
		}
	}
	if refused < 100 || taken < 30 {
		t.Errorf("%d refused, %d taken: the fixtures do not try both", refused, taken)
	}
}

// With -v every command that names the GPU says the same words about it, a
// device that nothing names included, and which flag the user gave.
func TestSameEvidence(t *testing.T) {
	agentless, counted := t.TempDir(), t.TempDir()
	for dir, from := range map[string]string{agentless: "att/gemm", counted: "pmc/gemm"} {
		if err := os.CopyFS(dir, os.DirFS("../../fixtures/"+from)); err != nil {
			t.Fatal(err)
		}
		for _, below := range []string{"", "pass_*", "pass_*/*"} {
			tables, err := filepath.Glob(filepath.Join(dir, below, "*_agent_info.csv"))
			for _, table := range tables {
				err = errors.Join(err, os.Remove(table))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		args, commands []string
		want           string
	}{
		{
			[]string{"../../fixtures/att/gemm"},
			[]string{"diagnose", "hotspots", "occupancy", "roofline"},
			"evidence MI350X, gfx950, 256 CUs, wave 64: Agent 2 from gemm_kernel_trace.csv, row 7; gfx950, MI350X, 8 XCCs, 32 shader engines, 256 CUs, 4 SIMDs per CU, 2200 MHz from gemm_agent_info.csv, row 3; ",
		},
		{
			[]string{"../../fixtures/pmc/gemm"},
			[]string{"diagnose", "counters", "l2", "roofline"},
			"evidence MI350X, gfx950, 256 CUs, wave 64: Agent 1 from gemm; gfx950, MI350X, 8 XCCs, 256 CUs, 4 SIMDs per CU, 2200 MHz from 70011_agent_info.csv, row 2; ",
		},
		{
			[]string{agentless},
			[]string{"diagnose", "hotspots", "occupancy", "roofline"},
			"MI350X or MI355X assumed: all gfx950 devices of the table have its CUs and memory",
		},
		{
			[]string{counted},
			[]string{"diagnose", "counters", "l2", "roofline"},
			"evidence MI350X or MI355X, gfx950, 256 CUs, wave 64: gfx950 from the counters (only gfx950 has these counters); MI350X or MI355X assumed: all gfx950",
		},
		{[]string{agentless, "--device", "gfx950"}, []string{"diagnose", "hotspots", "occupancy", "roofline"}, "gfx950 from --device; MI350X or MI355X assumed: all gfx950"},
		{[]string{agentless, "--arch", "gfx950"}, []string{"occupancy"}, "gfx950 from --arch; MI350X or MI355X assumed: all gfx950"},
	} {
		for _, command := range c.commands {
			var out, errs strings.Builder
			err := run(t.Context(), os.Stdin, &out, &errs, func(string) string { return "" }, append([]string{command, "-v"}, c.args...))
			var nothing view.Nothing // a verdict needs more than that
			if got := strings.Join(strings.Fields(out.String()), " "); err != nil && !errors.As(err, &nothing) || !strings.Contains(got, c.want) {
				t.Errorf("%s -v %v: %v, no %q in\n%s%s", command, c.args, err, c.want, out.String()[:min(out.Len(), 3000)], errs.String())
			}
		}
	}
}

// edited copies the gemm fixture and replaces text in one of its files.
func edited(t *testing.T, file, old, replacement string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../fixtures/att/gemm")); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, file))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(data), old, replacement, 1)
	if changed == string(data) {
		t.Fatalf("no %q in %s", old, file)
	}
	if err := os.WriteFile(found[0], []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// An APU's second GPU in the agent table changes nothing: the kernel trace's
// row names the one that it ran on.
func TestSecondGPU(t *testing.T) {
	want := judgeTraced(t, "../../fixtures/att/gemm")
	const apu = `3,3,"GPU",0,4,0,0,16,64,0,64,32,1,2,2,1,2,1,2,32,100306,4098,5710,0,0,129,1,0,8,1,2200,2200,0,0,0,2,32,143,1024,4294967295,0,0,1,1024,1024,1024,2147483647,65535,65535,"gfx1036","AMD","AMD Radeon Graphics",""` + "\n"
	const gpuRow = `2,2,"GPU",0,1024`
	got := judgeTraced(t, edited(t, "gemm_agent_info.csv", gpuRow, apu+gpuRow))
	if got.Device != "MI350X" || got.Main.Assumed || got.Confidence != want.Confidence || got.Verdict != want.Verdict {
		t.Errorf("%s (%s), confidence %s: %v", got.Device, got.Main.DeviceSource, got.Confidence, got.ConfidenceReasons)
	}
}

// What the agent table says need not be said by the decoder: without gfxip no
// level is lost.
func TestNoGeneration(t *testing.T) {
	want := judgeTraced(t, "../../fixtures/att/gemm")
	got := judgeTraced(t, edited(t, "ui_*/filenames.json", `"gfxip":9,`, ""))
	resources := func(k rules.Kernel) (names []string) {
		for _, l := range k.Levels {
			names = append(names, l.Resource)
		}
		return names
	}
	if len(want.Levels) < 4 || !slices.Equal(resources(got), resources(want)) || got.Confidence != want.Confidence {
		t.Errorf("levels %v at confidence %s, want %v at %s", resources(got), got.Confidence, resources(want), want.Confidence)
	}
}

// --kernel takes every name of a kernel.
func TestKernelNames(t *testing.T) {
	dir := edited(t, "ui_*/code.json", `"; gemm_bf16_64x64x64"`, `"; _Z4gemmIfEvPT_i"`)
	tr, err := ingest.Open(t.Context(), []string{dir}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]int{"^_Z4gemm": 1, "gemm<float>": 1, "^void gemm<float>\\(float\\*, int\\)$": 1, "nosuch": 0} {
		opts := analysis.Options{Kernel: regexp.MustCompile(pattern), Params: map[string]float64{}}
		out, err := analysis.Run(t.Context(), tr, opts, hotspots.Analyzer, loops.Analyzer, occupancy.Analyzer)
		if err != nil {
			t.Fatal(err)
		}
		hot := hotspots.Analyzer.Of(out).Kernels
		if len(hot) != want || len(loops.Analyzer.Of(out).Kernels) != want || occupancy.Analyzer.Of(out).Traced(tr.ThreadTraces[0], 0) == nil != (want == 0) {
			t.Errorf("%s selects %d kernels", pattern, len(hot))
		}
		if want > 0 && (hot[0].Name != "void gemm<float>(float*, int)" || hot[0].Symbol != "_Z4gemmIfEvPT_i") {
			t.Errorf("name %q, symbol %q", hot[0].Name, hot[0].Symbol)
		}
	}
}
