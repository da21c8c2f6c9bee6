package loops

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/finding"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// Cmd shows what loops cost.
var Cmd = view.Command{
	Use:   "loops PATH...",
	Short: "What a traced kernel's loops execute, cost and could reach",
	Help: `Finds the loops of a decoded thread trace, follows its waves through them, and
says per iteration what is executed, which stalls cost time, how well the matrix
pipes are covered, and the least time that each unit would need.

PATH is what hotspots takes: a dispatch directory, a tree or an archive of them.`,
	Example: `  rocanalyze loops ui_output_agent_14705_dispatch_25
  rocanalyze loops --loop 2 traces/
  rocanalyze loops --gemm-tile 64,256,128 --dtype fp8 traces/
  rocanalyze loops --format json traces/ | jq '.kernels[].loops[].ideal'`,
	Exit:  [4]string{3: "readable, but nothing was executed"},
	Takes: "a dispatch directory, a tree or an archive of them",
	Reads: trace.ThreadTraces,
	Runs:  []analysis.Required{Analyzer},
	Flags: []view.Flag{
		{Name: "top", Default: 5, Usage: "`rows` of each table; 0 shows all", Param: "loops.top"},
		{Name: "loop", Default: 0, Usage: "describe the loop of this `number` (default: the costliest matrix loop)"},
		{Name: "registers", Default: false, Usage: "list the vector registers alive at every instruction", Param: "loops.registers"},
		{Name: "gemm-tile", Default: "", Usage: "compare the main matrix loop with a GEMM tile `M,N,K`"},
		{Name: "dtype", Default: "", Usage: "`type` of the tile's elements: fp4, fp6, fp8, int8, fp16, bf16 or fp32"},
		{Name: "tile-waves", Default: 4, Usage: "`waves` of a workgroup that share the tile's columns", Param: "loops.tile_waves"},
		view.AllWaves(),
	},
	Prepare: func(in *view.Input) error {
		in.Set("exposed.matrix_gaps", 1)
		return tileParams(in)
	},
	Show:   show,
	Output: output{},
}

// dtypeBits are the sizes of the element types.
var dtypeBits = map[string]float64{"fp4": 4, "fp6": 6, "fp8": 8, "bf8": 8, "int8": 8, "fp16": 16, "bf16": 16, "fp32": 32}

// tileParams sets the parameters that --gemm-tile and --dtype name.
func tileParams(in *view.Input) error {
	tile, dtype := in.Flags.Text("gemm-tile"), in.Flags.Text("dtype")
	if tile == "" {
		return nil
	}
	parts := strings.Split(tile, ",")
	bits, ok := dtypeBits[strings.ToLower(dtype)]
	switch waves := in.Flags.Int("tile-waves"); {
	case len(parts) != 3:
		return fmt.Errorf("--gemm-tile is %q: give M,N,K, for example 64,256,128", tile)
	case !ok:
		return fmt.Errorf("--gemm-tile needs --dtype: fp4, fp6, fp8, int8, fp16, bf16 or fp32 (it is %q)", dtype)
	case waves < 1:
		return fmt.Errorf("--tile-waves is %d: give a positive number", waves)
	}
	for i, name := range []string{"m", "n", "k"} {
		n, err := strconv.Atoi(strings.TrimSpace(parts[i]))
		if err != nil || n < 1 || n > 1<<20 {
			return fmt.Errorf("--gemm-tile is %q: %q is not a size", tile, parts[i])
		}
		in.Set("loops.tile_"+name, float64(n))
	}
	in.Set("loops.tile_bits", bits)
	return nil
}

// output is the machine output.
type output struct {
	*Result
	Findings []finding.Finding `json:"findings"`
}

func show(in *view.Input) (*view.Shown, error) {
	res := Analyzer.Of(in.Outcome)
	if res == nil {
		return nil, in.NoThreadTrace()
	}
	if len(res.Kernels) == 0 && in.Selects() {
		return nil, in.NoKernel(in.KernelNames())
	}
	if len(res.Kernels) == 0 {
		return nil, view.Nothing("no kernel with cycles to show; the traces hold: " + in.FirstKernels())
	}
	loop := in.Flags.Int("loop")
	if loop != 0 && !slices.ContainsFunc(res.Kernels, func(k Kernel) bool { return k.has(loop) }) {
		return nil, fmt.Errorf("--loop is %d: no kernel executed a loop of that number", loop)
	}
	v := View{Loop: loop, Top: in.Top(), Verbose: in.Verbose(), FullNames: in.FullNames()}
	findings := in.Findings()
	s := &view.Shown{Document: Sections(res, findings, v), Table: CSV(res), Result: output{res, findings}, Findings: findings, Nothing: "no traced wave executed an instruction"}
	for i := range res.Kernels {
		k := &res.Kernels[i]
		s.Rows = append(s.Rows, k.Name)
		if k.LatencyCycles > 0 {
			s.Nothing = ""
		}
	}
	return s, nil
}

// has reports whether the kernel executed the loop of a number.
func (k *Kernel) has(loop int) bool {
	return slices.ContainsFunc(k.Loops, func(l Loop) bool { return l.ID == loop })
}
