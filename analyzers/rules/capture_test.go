package rules

import (
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers/regime"
)

// rocprofv3 searches the demangled name: a pattern is a piece of it.
func TestPatternIsOfTheDemangledName(t *testing.T) {
	for _, c := range []struct{ symbol, name, want string }{
		{"_Z9copy_vec4PK15HIP_vector_typeIfLj4EEPS0_i.kd", "", "copy_vec4"},
		{"_Z9copy_vec4PK15HIP_vector_typeIfLj4EEPS0_i.kd", "copy_vec4(HIP_vector_type<float, 4u> const*)", "copy_vec4"},
		{"", "void at::native::(anonymous namespace)::gather<float, 4>(float*)", `at::native::\(anonymous namespace\)::gather`},
		{"", "void ns::outer::inner_with_a_long_name::deeper_still::add_rows<int>(int*)", `deeper_still::add_rows`},
		{"matmul_kernel_0d1d2d.kd", "", "matmul_kernel_0d1d2d"},
		{"_Zbroken", "", "_Zbroken"},
	} {
		if got := pattern(&Kernel{Kernel: regime.Kernel{Symbol: c.symbol, Name: c.name}}); got != c.want {
			t.Errorf("%q, %q: pattern %q, want %q", c.symbol, c.name, got, c.want)
		}
	}
}
