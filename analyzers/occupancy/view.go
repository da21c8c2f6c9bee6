package occupancy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// Cmd shows how many waves fit.
var Cmd = view.Command{
	Use:   "occupancy [SOURCE...]",
	Short: "How many waves of a kernel fit on a SIMD, and what limits them",
	Help: `Computes waves per SIMD and workgroups per CU in whole workgroups, names every
limit that binds, and says what one more step would take: or that occupancy is
not the problem (the grid is too small, or nothing more fits).

SOURCE is a rocpd database (*_results.db), a kernel trace (*_kernel_trace.csv of
rocprofv3 or rocprof), a dispatch directory of a thread trace, a code object
(.hsaco, .co, .o, .out, or the binary that holds it), its assembly (.s, .amdgcn;
with the host's in front of it, as hipcc -S writes it), or a directory of any of
them. Without SOURCE, the flags describe the kernel.

The GPU comes from the database, or the agent_info.csv beside a capture, else from
--device or --arch, else from the code; of a file with code for several GPUs
--arch selects. --workgroup, --lds and --grid replace what a SOURCE says: a code
object does not know how it is launched, nor a CSV the LDS that is added at
launch.

Limiters: vgpr, sgpr, lds, wg_slots (workgroup slots), waves (the wave slots).
On RDNA in WGP mode workgroups are counted per WGP (two CUs).`,
	Example: `  rocanalyze occupancy --arch gfx942 --vgpr 134 --lds 20480 --workgroup 256
  rocanalyze occupancy --device MI300X --vgpr 134 --workgroup 256 --grid 1048576 -v
  rocanalyze occupancy out_kernel_trace.csv
  rocanalyze occupancy --what-if vgpr ui_output_agent_14705_dispatch_25
  rocanalyze occupancy --llvm-rule kernel.hsaco
  rocanalyze occupancy --format json out/ | jq '.kernels[] | {name, waves_per_simd, limiters}'`,
	Exit: [4]string{
		"done; also when a workgroup does not fit at all", "",
		"bad usage, an input that cannot be read (whole), or an unknown GPU",
		"readable, but it holds no kernel whose occupancy can be told",
	},
	Reads: trace.ThreadTraces | trace.Dispatches | trace.Code,
	Runs:  []analysis.Required{Analyzer},
	Flags: []view.Flag{
		view.Top(15, "`kernels` shown in text and markdown"),
		{Name: "arch", Default: "", Usage: "`gfx` name of the architecture (gfx942)"},
		{Name: "vgpr", Default: 0, Usage: "v `registers` per lane (without SOURCE)"},
		{Name: "agpr", Default: 0, Usage: "a `registers` per lane (without SOURCE)"},
		{Name: "sgpr", Default: 0, Usage: "scalar `registers` per wave, VCC included (without SOURCE)"},
		{Name: "lds", Default: 0, Usage: "LDS `bytes` per workgroup, static and dynamic"},
		{Name: "workgroup", Default: "", Usage: "`work-items` of a workgroup: 256 or 16x16x1"},
		{Name: "grid", Default: "", Usage: "`work-items` of the launch (not workgroups): 1048576 or 4096x4096"},
		{Name: "wave", Default: 0, Usage: "wave `size`, 32 or 64, where the source does not tell", Param: "occupancy." + paramWave},
		{Name: "wgp", Default: true, Usage: "WGP mode on RDNA; --wgp=false is CU mode, where the source does not tell"},
		{Name: "dynamic-vgpr-block", Default: 0, Usage: "`VGPRs` of a block of dynamic VGPRs: 16 or 32 (gfx12)", Param: "occupancy." + paramDynamic},
		{Name: "what-if", Default: "", Words: []string{"", "vgpr", "lds", "workgroup"}, Usage: "the curve over one `resource`: vgpr, lds or workgroup", Param: "occupancy." + paramWhatIf},
		{Name: "llvm-rule", Default: false, Usage: "show the occupancy that LLVM prints beside", Param: "occupancy." + paramLLVM},
	},
	Prepare: prepare,
	Show:    show,
	Output:  output{},
}

// output is the machine output.
type output struct {
	*Result
	Findings []finding.Finding `json:"findings"`
}

// prepare checks the flags and sets the parameters that they mean. Without
// paths they have to describe a kernel.
func prepare(in *view.Input) error {
	device, err := machineFlag(in.Flags)
	if err != nil {
		return err
	}
	in.Options.Device = device
	size, items, err := shapeFlags(in.Flags)
	if err != nil {
		return err
	}
	if err := checkNumbers(in); err != nil {
		return err
	}
	in.Set("occupancy."+paramWorkgroup, float64(size))
	in.Set("occupancy."+paramGrid, float64(items))
	if in.Flags.Given("lds") {
		in.Set("occupancy."+paramLDS, float64(in.Flags.Int("lds")))
	}
	if in.Flags.Given("wgp") {
		in.Set("occupancy."+paramMode, map[bool]float64{false: 1, true: 2}[in.Flags.Is("wgp")])
	}
	if len(in.Paths) == 0 {
		in.Trace = &trace.Trace{CodeObjects: []*trace.CodeObject{described(in.Flags, device)}}
	}
	return nil
}

func show(in *view.Input) (*view.Shown, error) {
	res := Analyzer.Of(in.Outcome)
	if len(res.Kernels) == 0 {
		return nil, nothing(in)
	}
	if res.NoGPU != "" {
		return nil, errors.New(res.NoGPU)
	}
	findings := slices.DeleteFunc(in.Findings(), func(x finding.Finding) bool { return !Relevant(x) })
	v := View{Top: in.Top(), Verbose: in.Verbose(), FullNames: in.FullNames(), LLVM: in.Flags.Is("llvm-rule"), WhatIf: in.Flags.Text("what-if") != "", Flag: capture.SourceFlag}
	if in.Flags.Text("device") == "" {
		v.Flag = "--arch"
	}
	res.worded(v.Flag)
	whole := v
	whole.Top = 0
	s := &view.Shown{
		Document: Sections(res, findings, v), Table: CSV(res, whole), Result: output{res, findings}, Findings: findings,
		Nothing: "no occupancy can be told: " + res.Kernels[0].Advice,
	}
	for i := range res.Kernels {
		k := &res.Kernels[i]
		s.Rows = append(s.Rows, k.Name)
		if k.WavesPerSIMD != nil {
			s.Nothing = ""
		}
	}
	return s, nil
}

// nothing says why there is no kernel at all.
func nothing(in *view.Input) error {
	names := in.KernelNames()
	switch {
	case in.Selects() && len(names) > 0:
		return in.NoKernel(names)
	case in.Trace.Damaged():
		return errors.New("nothing could be read of " + in.Where() + in.Trace.Lost())
	}
	// The kernels of a results.json are not looked at.
	return view.Nothing(in.Where() + ": there is no kernel in it")
}

// checkNumbers refuses counts that cannot be, and flags that describe a kernel
// beside paths, or too few of them without.
func checkNumbers(in *view.Input) error {
	f := in.Flags
	for _, name := range []string{"vgpr", "agpr", "sgpr", "lds", "dynamic-vgpr-block"} {
		if n := f.Int(name); n < 0 || n > maxCount {
			return fmt.Errorf("--%s is %d: give a count from 0 to %d", name, n, maxCount)
		}
	}
	if w := f.Int("wave"); w != 0 && w != 32 && w != 64 {
		return fmt.Errorf("--wave is %d: give 32 or 64", w)
	}
	for _, name := range []string{"vgpr", "agpr", "sgpr"} {
		if len(in.Paths) > 0 && f.Given(name) {
			return fmt.Errorf("--%s describes a kernel by itself: leave SOURCE out, or the flag", name)
		}
	}
	noGPU, noShape := f.Text("arch")+f.Text("device") == "", f.Text("workgroup") == ""
	switch {
	case len(in.Paths) > 0:
	case noGPU && noShape:
		return errors.New("nothing to do: give a SOURCE, or describe a kernel with --arch, --vgpr, --lds and --workgroup (see 'rocanalyze occupancy --help')")
	case noGPU:
		return errors.New("which GPU? give --arch (gfx942) or --device (MI300X)")
	case noShape:
		return errors.New("how large is a workgroup? give --workgroup (256)")
	}
	return nil
}

// maxCount bounds what the flags take, far above any hardware.
const maxCount = 1 << 30

// machineFlag joins --arch and --device.
func machineFlag(f view.Values) (string, error) {
	name, device := f.Text("arch"), f.Text("device")
	if name == "" {
		return device, nil
	}
	arch, err := gpu.ArchByName(name)
	if err != nil {
		return "", fmt.Errorf("--arch: %w", err)
	}
	if device == "" {
		return name, nil
	}
	m, err := gpu.FindDevices(device)
	if err != nil {
		return "", fmt.Errorf("--device: %w", err)
	}
	for _, d := range m.Devices {
		if d.Arch != arch.Name {
			return "", fmt.Errorf("--arch %s and --device %s (%s, %s) contradict each other", name, device, d.Name, d.Arch)
		}
	}
	return device, nil
}

// shapeFlags reads --workgroup and --grid: the work-items of a workgroup, and
// those of the launch with partial workgroups counted whole.
func shapeFlags(f view.Values) (size, items int64, err error) {
	var group, grid [3]int64
	if text := f.Text("workgroup"); text != "" {
		if group, err = extents("--workgroup", text); err != nil {
			return 0, 0, err
		}
		size = group[0] * group[1] * group[2]
	}
	if f.Text("grid") == "" {
		return size, 0, nil
	}
	if grid, err = extents("--grid", f.Text("grid")); err != nil {
		return 0, 0, err
	}
	if size == 0 && grid[1]*grid[2] > 1 {
		return 0, 0, errors.New("--grid in several dimensions needs --workgroup in the same ones (16x16)")
	}
	items = 1
	for i := range grid {
		if w := group[i]; w > 0 {
			grid[i] = (grid[i]-1)/w*w + w
		}
		if grid[i] > maxItems/items {
			return 0, 0, fmt.Errorf("--grid %s is more than %d work-items", f.Text("grid"), int64(maxItems))
		}
		items *= grid[i]
	}
	return size, items, nil
}

// maxItems is the most work-items that a parameter holds exactly.
const maxItems = 1 << 52

// extents reads "256", "16x16" or "16x16x1".
func extents(flag, s string) ([3]int64, error) {
	out := [3]int64{1, 1, 1}
	parts := strings.Split(s, "x")
	for i, p := range parts {
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil || n < 1 || n > maxCount || i > 2 {
			return out, fmt.Errorf("%s is %q: give work-items, in one to three dimensions (256, 16x16x1)", flag, s)
		}
		out[i] = n
	}
	if flag == "--workgroup" && out[0]*out[1] > maxCount || out[0]*out[1]*out[2] < 1 {
		return out, fmt.Errorf("%s is %q: too large", flag, s)
	}
	return out, nil
}

// described is the kernel that the flags describe.
func described(f view.Values, device string) *trace.CodeObject {
	k := trace.CodeKernel{
		Name: flagsName, ArchVGPRs: new(f.Int("vgpr")), AGPRs: new(f.Int("agpr")), SGPRs: new(f.Int("sgpr")), LDSBytes: new(f.Int("lds")),
	}
	target := device
	if arch := f.Text("arch"); arch != "" {
		target = arch
	} else if m, err := gpu.FindDevices(target); err == nil && !isArch(target) {
		target = m.Devices[0].Arch
	}
	return &trace.CodeObject{Path: flagsName, Kind: capture.KindFlags, Target: target, Kernels: []trace.CodeKernel{k}}
}

// isArch reports whether a device was named by its architecture.
func isArch(name string) bool {
	_, err := gpu.ArchByName(name)
	return err == nil
}
