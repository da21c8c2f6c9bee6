package roofline

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/analyzers/regime"
	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
	"github.com/rocanalyze/rocanalyze/pkg/view"
)

// Cmd shows how far kernels are from the roof.
var Cmd = view.Command{
	Use:   "roofline [PATH...]",
	Short: "How far a kernel, or a matrix product of a given size, is from the roof",
	Help: `Puts kernels under the ceilings of their device: operations per byte at each
memory level, ridge points, what was achieved, what is attainable, and a plot.

Operations and bytes come from counters, from --gemm, or from a thread trace
(matrix operations and requested bytes, with what that leaves out said). Roofs
are the device table's peaks; a roofline.csv beside the counters (as
rocprof-compute writes it) replaces them by measured ones. Of a thread trace it
also shows what is left of the peak, step by step.`,
	Example: `  rocanalyze roofline --gemm 5120,5120,8320 --dtype fp8 --device MI300X
  rocanalyze roofline --gemm 4096,4096,4096 --dtype bf16 --time-us 310 --device MI355X
  rocanalyze roofline --format json workloads/vcopy/MI300X_A1`,
	Exit: [4]string{3: "readable, but nothing in it tells operations"},
	Runs: []analysis.Required{Analyzer},
	Flags: []view.Flag{
		{Name: "gemm", Default: "", Usage: "a matrix product: `M,N,K`"},
		{Name: "dtype", Default: "fp8", Usage: "its element `type`: fp8, bf8, int8, int4, fp4, fp6, bf16, fp16, xf32, fp32 or fp64"},
		{Name: "time-us", Default: 0.0, Usage: "how long it took, in `microseconds`"},
	},
	Prepare: product,
	Show:    show,
	Output:  &Result{},
}

// product sets the parameters of the matrix product that the flags describe.
func product(in *view.Input) error {
	gemm, micros := in.Flags.Text("gemm"), in.Flags.Number("time-us")
	switch {
	case micros < 0 || math.IsNaN(micros) || math.IsInf(micros, 0):
		return fmt.Errorf("--time-us is %g: give a time above 0", micros)
	case gemm == "" && micros > 0:
		return errors.New("--time-us is the time of --gemm: give both")
	case gemm == "" && len(in.Paths) == 0:
		return errors.New("nothing to do: give a PATH with counters or a thread trace, or a product with --gemm M,N,K")
	}
	if len(in.Paths) == 0 {
		in.Trace = &trace.Trace{}
	}
	if gemm == "" {
		return nil
	}
	at, err := DtypeIndex(in.Flags.Text("dtype"))
	if err != nil {
		return fmt.Errorf("--dtype: %w", err)
	}
	parts := strings.FieldsFunc(gemm, func(r rune) bool { return r == ',' || r == 'x' })
	if len(parts) != 3 {
		return fmt.Errorf("--gemm is %q: give M,N,K", gemm)
	}
	for i, name := range []string{paramM, paramN, paramK} {
		n, err := strconv.ParseInt(strings.TrimSpace(parts[i]), 10, 64)
		if err != nil || n < 1 || n > 1<<30 {
			return fmt.Errorf("--gemm is %q: %q is not a size from 1 to 2^30", gemm, parts[i])
		}
		in.Set("roofline."+name, float64(n))
	}
	in.Set("roofline."+paramType, float64(at))
	in.Set("roofline."+paramTime, micros*1000)
	return nil
}

func show(in *view.Input) (*view.Shown, error) {
	res := Analyzer.Of(in.Outcome)
	if in.Selects() && len(in.Paths) > 0 && len(regime.Analyzer.Of(in.Outcome).Kernels) == 0 {
		return nil, in.NoKernel(counters.KernelNames(in))
	}
	s := &view.Shown{Document: Sections(res, View{Verbose: in.Verbose(), FullNames: in.FullNames()}), Table: CSV(res), Result: res}
	for i := range res.Points {
		s.Rows = append(s.Rows, res.Points[i].Name)
	}
	if len(res.Points) == 0 {
		s.Nothing = "nothing in " + in.Where() + " tells operations: counters (SQ_INSTS_VALU_*), matrix instructions in a trace, or --gemm"
	}
	return s, nil
}
