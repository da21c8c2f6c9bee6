// Package occupancy is the analyzer that says how many waves of a kernel fit
// on a SIMD, what limits them, and how its launch fills the GPU.
package occupancy

import (
	_ "embed"
	"slices"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/flow"
	"github.com/rocanalyze/rocanalyze/analyzers/kernels"
	"github.com/rocanalyze/rocanalyze/analyzers/shape"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/analyzers/trust"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/rule"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

//go:embed doc.md
var doc string

// Names of the parameters.
const (
	paramWorkgroup = "workgroup"
	paramLDS       = "lds_bytes"
	paramGrid      = "grid"
	paramWave      = "wave"
	paramMode      = "mode"
	paramDynamic   = "dynamic_vgpr_block"
	paramLLVM      = "llvm_rule"
	paramWhatIf    = "what_if"
)

// Analyzer returns a *Result.
var Analyzer = analysis.New(analysis.Analyzer{
	Name:     "occupancy",
	Doc:      doc,
	Requires: []analysis.Required{code.Analyzer, flow.Analyzer, kernels.Analyzer, shape.Analyzer, stalls.Analyzer, trust.Analyzer},
	Rules:    append(rule.Rules(checks()), rule.Rules(captureChecks())...),
	Params: []analysis.Param{
		{Name: paramWorkgroup, Unit: "work-items", Doc: "size of a workgroup, in place of the source's; 0 is the source's"},
		{Name: paramLDS, Default: -1, Unit: "bytes", Doc: "LDS of a workgroup, static and dynamic, in place of the source's; -1 is the source's"},
		{Name: paramGrid, Unit: "work-items", Doc: "work-items of the launch, in place of the source's; 0 is the source's"},
		{Name: paramWave, Unit: "lanes", Doc: "wave size where the source does not tell, 32 or 64; 0 is the architecture's default"},
		{Name: paramMode, Doc: "where the source does not tell: 1 is CU mode, 2 WGP mode; 0 is the architecture's default"},
		{Name: paramDynamic, Unit: "VGPRs", Doc: "block of dynamic VGPRs, 16 or 32; 0 is static VGPRs"},
		{Name: paramLLVM, Doc: "1 adds the occupancy that LLVM 22 prints"},
		{Name: paramWhatIf, Doc: "adds the curve over 1 VGPRs, 2 LDS, 3 workgroup size; 0 is none"},
	},
}, run)

func run(p *analysis.Pass) (*Result, error) {
	b := &builder{p: p, res: &Result{Kernels: []Kernel{}}, decided: map[decision]int{}, joined: map[*trace.CodeKernel]bool{}}
	b.index()
	for _, gather := range []func() error{b.threadTraces, b.launchTables, b.codeObjects} {
		if err := gather(); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(b.res.Kernels, func(k Kernel) bool { return k.shape != nil }) {
		b.res.NoGPU = ""
	}
	return b.res, nil
}
