package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/analyzers/occupancy"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

type occupancyFlags struct {
	common
	arch             string
	vgpr, agpr, sgpr int
	lds              int
	workgroup, grid  string
	wave             int
	wgp              bool
	dynamicBlock     int
	whatIf           string
	llvmRule         bool

	// given names the flags that the user set.
	given func(name string) bool
}

func newOccupancy(a *app) *cobra.Command {
	f := &occupancyFlags{}
	cmd := &cobra.Command{
		Use:   "occupancy [SOURCE...]",
		Short: "How many waves of a kernel fit on a SIMD, and what limits them",
		Long: `Computes waves per SIMD and workgroups per CU in whole workgroups, names every
limit that binds, and says what one more step would take: or that occupancy is
not the problem (the grid is too small, or nothing more fits).

SOURCE is a rocpd database (*_results.db), a kernel trace (*_kernel_trace.csv of
rocprofv3 or rocprof), a dispatch directory of a thread trace, a code object
(.hsaco, .co, .o, .out, or the binary that holds it), its assembly (.s), or a
directory of any of them. Without SOURCE, the flags describe the kernel.

The GPU comes from the database, or the agent_info.csv beside a capture, else from
--device or --arch, else from the code. --workgroup, --lds and --grid replace what a SOURCE
says: a code object does not know how it is launched, nor a CSV the LDS that is
added at launch.

Limiters: vgpr, sgpr, lds, wg_slots (workgroup slots), waves (the wave slots).
On RDNA in WGP mode workgroups are counted per WGP (two CUs).

Exit status:
  0  done; also when a workgroup does not fit at all
  2  bad usage, an input that cannot be read (whole), or an unknown GPU
  3  readable, but it holds no kernel whose occupancy can be told`,
		Example: `  rocanalyze occupancy --arch gfx942 --vgpr 134 --lds 20480 --workgroup 256
  rocanalyze occupancy --device MI300X --vgpr 134 --workgroup 256 --grid 1048576 -v
  rocanalyze occupancy out_kernel_trace.csv
  rocanalyze occupancy --what-if vgpr ui_output_agent_14705_dispatch_25
  rocanalyze occupancy --llvm-rule kernel.hsaco
  rocanalyze occupancy --format json out/ | jq '.kernels[] | {name, waves_per_simd, limiters}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.given = cmd.Flags().Changed
			return a.occupancy(cmd.Context(), f, args)
		},
	}
	f.register(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.top, "top", 15, "`kernels` shown in text and markdown; 0 shows all")
	fl.StringVar(&f.arch, "arch", "", "`gfx` name of the architecture (gfx942)")
	fl.IntVar(&f.vgpr, "vgpr", 0, "v `registers` per lane (without SOURCE)")
	fl.IntVar(&f.agpr, "agpr", 0, "a `registers` per lane (without SOURCE)")
	fl.IntVar(&f.sgpr, "sgpr", 0, "scalar `registers` per wave, VCC included (without SOURCE)")
	fl.IntVar(&f.lds, "lds", 0, "LDS `bytes` per workgroup, static and dynamic")
	fl.StringVar(&f.workgroup, "workgroup", "", "`work-items` of a workgroup: 256 or 16x16x1")
	fl.StringVar(&f.grid, "grid", "", "`work-items` of the launch (not workgroups): 1048576 or 4096x4096")
	fl.IntVar(&f.wave, "wave", 0, "wave `size`, 32 or 64, where the source does not tell")
	fl.BoolVar(&f.wgp, "wgp", true, "WGP mode on RDNA; --wgp=false is CU mode, where the source does not tell")
	fl.IntVar(&f.dynamicBlock, "dynamic-vgpr-block", 0, "`VGPRs` of a block of dynamic VGPRs: 16 or 32 (gfx12)")
	fl.StringVar(&f.whatIf, "what-if", "", "the curve over one `resource`: vgpr, lds or workgroup")
	fl.BoolVar(&f.llvmRule, "llvm-rule", false, "show the occupancy that LLVM prints beside")
	return cmd
}

// occupancyOutput is the machine output of the command.
type occupancyOutput struct {
	*occupancy.Result
	Findings []finding.Finding `json:"findings"`
}

func (a *app) occupancy(ctx context.Context, f *occupancyFlags, paths []string) error {
	if err := f.check(); err != nil {
		return err
	}
	opts, err := f.options(len(paths) == 0)
	if err != nil {
		return err
	}
	busy := a.busy("reading " + strings.Join(paths, " "))
	defer busy.stop()
	t := &trace.Trace{CodeObjects: []*trace.CodeObject{f.described()}}
	if len(paths) > 0 {
		if t, err = ingest.Open(ctx, paths, ingest.Options{Kernels: true}); err != nil {
			return err
		}
	}
	out, err := analysis.Run(ctx, t, opts, occupancy.Analyzer)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "occupancy: "))
	}
	busy.stop()
	res := occupancy.Analyzer.Of(out)
	if res == nil {
		return errors.New("no occupancy was computed")
	}
	findings := slices.DeleteFunc(slices.Clone(out.Findings), func(x finding.Finding) bool { return !occupancy.Relevant(x) })
	return a.showOccupancy(f, paths, t, res, findings)
}

func (a *app) showOccupancy(f *occupancyFlags, paths []string, t *trace.Trace, res *occupancy.Result, findings []finding.Finding) error {
	notes := notesOf(t, f.verbose)
	if len(res.Kernels) == 0 {
		a.warn(&f.common, notes)
		return f.nothing(paths, t)
	}
	if findings == nil {
		findings = []finding.Finding{}
	}
	if paths == nil {
		paths = []string{}
	}
	v := occupancy.View{Top: f.top, Verbose: f.verbose, FullNames: f.fullNames, LLVM: f.llvmRule, WhatIf: f.whatIf != ""}
	whole := v
	whole.Top = 0
	err := a.show(&f.common, view{
		doc: occupancy.Sections(res, findings, v), tables: occupancy.Tables(res, whole), table: occupancy.TableID,
		result: occupancyOutput{res, findings}, env: envelope("occupancy", paths, t.Damaged(), notes),
	})
	if err != nil {
		return err
	}
	a.warn(&f.common, notes)
	switch {
	case t.Damaged():
		return &statusError{exitUnreadable, "parts of the input could not be read: the results are partial"}
	case !slices.ContainsFunc(res.Kernels, func(k occupancy.Kernel) bool { return k.WavesPerSIMD != nil }):
		return &statusError{exitNothingSaid, "no occupancy can be told: " + res.Kernels[0].Advice}
	}
	return nil
}

// nothing says why there is no kernel at all.
func (f *occupancyFlags) nothing(paths []string, t *trace.Trace) error {
	var names []string
	for _, lt := range t.LaunchTables {
		for i := range lt.Launches {
			names = append(names, lt.Launches[i].Kernel)
		}
	}
	for _, co := range t.CodeObjects {
		for i := range co.Kernels {
			names = append(names, co.Kernels[i].Name)
		}
	}
	for _, tt := range t.ThreadTraces {
		for _, k := range tt.Kernels {
			names = append(names, k.Name())
		}
	}
	switch {
	case t.Damaged():
		return &statusError{exitUnreadable, "nothing could be read of " + strings.Join(paths, " ")}
	case len(names) == 0:
		return &statusError{exitNothingSaid, strings.Join(paths, " ") + ": there is no kernel in it"}
	}
	slices.Sort(names)
	return fmt.Errorf("no kernel matches --kernel %q; there are: %s", f.kernel, firstNames(slices.Compact(names)))
}

// firstNames joins the first of a list of names.
func firstNames(names []string) string {
	if len(names) > 5 {
		names = append(names[:5:5], fmt.Sprintf("and %d more", len(names)-5))
	}
	return strings.Join(names, ", ")
}

// options checks the flags and makes the analysis options of them. alone says
// that they have to describe the kernel by themselves.
func (f *occupancyFlags) options(alone bool) (analysis.Options, error) {
	opts, err := f.common.options()
	if err != nil {
		return opts, err
	}
	if opts.Device, err = f.gpu(); err != nil {
		return opts, err
	}
	size, items, err := f.shape()
	if err != nil {
		return opts, err
	}
	if err := f.checkNumbers(alone); err != nil {
		return opts, err
	}
	whatIf, ok := occupancy.WhatIfParam(f.whatIf)
	if !ok {
		return opts, oneOf("--what-if", f.whatIf, []string{"vgpr", "lds", "workgroup"})
	}
	opts.Params["occupancy.workgroup"] = float64(size)
	opts.Params["occupancy.grid"] = float64(items)
	opts.Params["occupancy.wave"] = float64(f.wave)
	opts.Params["occupancy.dynamic_vgpr_block"] = float64(f.dynamicBlock)
	opts.Params["occupancy.what_if"] = whatIf
	if f.given("lds") {
		opts.Params["occupancy.lds_bytes"] = float64(f.lds)
	}
	if f.given("wgp") {
		opts.Params["occupancy.mode"] = map[bool]float64{false: 1, true: 2}[f.wgp]
	}
	if f.llvmRule {
		opts.Params["occupancy.llvm_rule"] = 1
	}
	return opts, nil
}

// registerFlags describe a kernel that has no SOURCE.
var registerFlags = []string{"vgpr", "agpr", "sgpr"}

func (f *occupancyFlags) checkNumbers(alone bool) error {
	for _, n := range []struct {
		flag  string
		value int
	}{{"vgpr", f.vgpr}, {"agpr", f.agpr}, {"sgpr", f.sgpr}, {"lds", f.lds}, {"dynamic-vgpr-block", f.dynamicBlock}} {
		if n.value < 0 || n.value > maxCount {
			return fmt.Errorf("--%s is %d: give a count from 0 to %d", n.flag, n.value, maxCount)
		}
	}
	if f.wave != 0 && f.wave != 32 && f.wave != 64 {
		return fmt.Errorf("--wave is %d: give 32 or 64", f.wave)
	}
	if !alone {
		for _, name := range registerFlags {
			if f.given(name) {
				return fmt.Errorf("--%s describes a kernel by itself: leave SOURCE out, or the flag", name)
			}
		}
		return nil
	}
	switch {
	case f.arch == "" && f.device == "" && f.workgroup == "":
		return errors.New("nothing to do: give a SOURCE, or describe a kernel with --arch, --vgpr, --lds and --workgroup (see 'rocanalyze occupancy --help')")
	case f.arch == "" && f.device == "":
		return errors.New("which GPU? give --arch (gfx942) or --device (MI300X)")
	case f.workgroup == "":
		return errors.New("how large is a workgroup? give --workgroup (256)")
	}
	return nil
}

// maxCount bounds what the flags take, far above any hardware.
const maxCount = 1 << 30

// gpu joins --arch and --device.
func (f *occupancyFlags) gpu() (string, error) {
	if f.arch == "" {
		return f.device, nil
	}
	arch, err := gpu.ArchByName(f.arch)
	if err != nil {
		return "", fmt.Errorf("--arch: %w", err)
	}
	if f.device == "" {
		return f.arch, nil
	}
	m, err := gpu.FindDevices(f.device)
	if err != nil {
		return "", fmt.Errorf("--device: %w", err)
	}
	for _, d := range m.Devices {
		if d.Arch != arch.Name {
			return "", fmt.Errorf("--arch %s and --device %s (%s, %s) contradict each other", f.arch, f.device, d.Name, d.Arch)
		}
	}
	return f.device, nil
}

// shape reads --workgroup and --grid: the work-items of a workgroup, and those
// of the launch with partial workgroups counted whole.
func (f *occupancyFlags) shape() (size, items int64, err error) {
	var group, grid [3]int64
	if f.workgroup != "" {
		if group, err = extents("--workgroup", f.workgroup); err != nil {
			return 0, 0, err
		}
		size = group[0] * group[1] * group[2]
	}
	if f.grid == "" {
		return size, 0, nil
	}
	if grid, err = extents("--grid", f.grid); err != nil {
		return 0, 0, err
	}
	if f.workgroup == "" && grid[1]*grid[2] > 1 {
		return 0, 0, errors.New("--grid in several dimensions needs --workgroup in the same ones (16x16)")
	}
	items = 1
	for i := range grid {
		if w := group[i]; w > 0 {
			grid[i] = (grid[i]-1)/w*w + w
		}
		if grid[i] > maxItems/items {
			return 0, 0, fmt.Errorf("--grid %s is more than %d work-items", f.grid, int64(maxItems))
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
func (f *occupancyFlags) described() *trace.CodeObject {
	k := trace.CodeKernel{
		Name: "(flags)", ArchVGPRs: new(f.vgpr), AGPRs: new(f.agpr), SGPRs: new(f.sgpr), LDSBytes: new(f.lds),
	}
	target, err := f.gpu()
	if err != nil || f.arch != "" {
		target = f.arch
	} else if m, err := gpu.FindDevices(target); err == nil {
		target = m.Devices[0].Arch
	}
	return &trace.CodeObject{Path: "(flags)", Kind: "flags", Target: target, Kernels: []trace.CodeKernel{k}}
}
