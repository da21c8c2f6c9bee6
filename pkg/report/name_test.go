package report

import (
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	fooCall = "void foo<int, Bar<3>>::operator()<float>(int*, long)"
	vecAdd  = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<c10::BFloat16>, " +
		"std::array<char*, 1ul> >(int, at::native::FillFunctor<c10::BFloat16>, std::array<char*, 1ul>)"
	lambda = "void at::native::k<128, at::native::copy(at::TensorIteratorBase&)::{lambda(int, bool)#1}::operator()() const" +
		"::{lambda(long)#2}>(int, at::native::copy(at::TensorIteratorBase&)::{lambda(int, bool)#1} const&)"
	tensile = "Cijk_Alik_Bljk_S_B_Bias_HA_S_SAV_UserArgs_MT256x16x32_MI16x16x1_SN_LDSB1_AFC0_WSGRB0_WS64_WG64_4_1"
)

func TestShortenName(t *testing.T) {
	for _, c := range []struct {
		what, name string
		limit      int
		want       string
	}{
		{"fits: only void goes", fooCall, 80, "foo<int, Bar<3>>::operator()<float>(int*, long)"},
		{"parameters", fooCall, 40, "foo<int, Bar<3>>::operator()<float>"},
		{"longest list", fooCall, 34, "foo<int, ...>::operator()<float>"},
		{"both lists", fooCall, 30, "foo<...>::operator()<float>"},
		{"float to dots", fooCall, 26, "foo<...>::operator()<...>"},
		{"nothing left but the end", fooCall, 16, "foo<...>::ope..."},

		{"namespaces before templates", vecAdd, 80, "vectorized_elementwise_kernel<4, FillFunctor<BFloat16>, array<char*, 1ul> >"},
		{"innermost list first", vecAdd, 74, "vectorized_elementwise_kernel<4, FillFunctor<BFloat16>, array<...> >"},
		{"leading arguments", vecAdd, 60, "vectorized_elementwise_kernel<4, FillFunctor<...>, ...>"},
		{"base name", vecAdd, 36, "vectorized_elementwise_kernel<...>"},

		{"lambda", lambda, 70, "k<128, copy::{lambda#1}::operator()::{lambda#2}>"},
		{"lambda arguments", lambda, 20, "k<128, ...>"},
		{"LLVM's lambda", "void f<g(int)::'lambda'(float)>(g(int)::'lambda'(float))", 20, "f<g::'lambda'>"},

		{"anonymous namespace stays", "void (anonymous namespace)::k<int>(int*, long)", 40, "(anonymous namespace)::k<int>"},
		{"anonymous namespace goes", "void (anonymous namespace)::k<int>(int*, long)", 20, "k<int>"},
		{"cast", "void mul_mat_vec_q<(ggml_type)13, 1, false>(void const*, int)", 50, "mul_mat_vec_q<(ggml_type)13, 1, false>"},
		{"function as argument", "void unary<&(op_silu(float)), float>(float const*, long)", 30, "unary<&(op_silu), float>"},
		{"const member", "A<int>::run(int) const volatile &", 20, "A<int>::run"},
		{"qualifier is a whole word", "f(int) constant", 12, "f constant"},
		{"class of a method", "Foo<int>::bar::run(long, long, long)", 18, "Foo<int>::bar::run"},
		{"void alone", "void ", 10, "void"},

		{"operator<", "bool ns::operator< <int>(A<int>, A<int>)", 26, "bool ns::operator< <int>"},
		{"operator<<", "ns::operator<< <LongType>(int)", 20, "ns::operator<< <...>"},
		{"operator->", "P<LongType>::operator->(int)", 18, "P<...>::operator->"},
		{"operator-> with a list", "P<LongType>::operator-><int>() const", 24, "P<...>::operator-><int>"},
		{"operator()", "A<LongType>::operator()(int, int) const", 20, "A<...>::operator()"},
		{"operator in a name", "my_operator<LongType>(int)", 20, "my_operator<...>"},

		{"unclosed", "foo<int, bar<LongType>(int", 22, "foo<int, bar<...>(int"},
		{"unopened", "foo>int)>", 5, "f...>"},
		{"less-than in parentheses", "foo<(a<b), LongType>(int)", 12, "foo<...>"},
		{"arrow in an argument", "foo<decltype(x->y), LongType>", 26, "foo<decltype, LongType>"},

		{"Tensile", tensile, 40, "Cijk_Alik_Bljk_S_B_...GRB0_WS64_WG64_4_1"},
		{"Triton fits", "_attn_fwd", 20, "_attn_fwd"},
		{"FlyDSL", "topk_gating_softmax_kernel_0", 15, "topk_g...rnel_0"},
		{"mangled", "_Z16kn_mla_reduce_v1I23MlaReduceKernelV1TraitsILi128EEvS0_", 21, "_Z16kn_ml...128EEvS0_"},
		{"wide characters are not split", "カーネル名前", 7, "カ...前"},
		{"limit of dots", "abcdef", 3, "abc"},
		{"no room", "abc", 0, ""},
	} {
		got := ShortenName(c.name, c.limit)
		if got != c.want {
			t.Errorf("%s: ShortenName(%q, %d) =\n%q, want\n%q", c.what, c.name, c.limit, got, c.want)
		}
		if w := displayWidth(got); w > c.limit {
			t.Errorf("%s: %q takes %d cells of %d", c.what, got, w, c.limit)
		}
	}
}

// A hostile name must not cost quadratic time: each of these takes milliseconds.
func TestShortenNameLong(t *testing.T) {
	const n = 1 << 16
	for _, name := range []string{
		strings.Repeat("<", n) + strings.Repeat(">", n),
		strings.Repeat("f<abcdef,", n) + strings.Repeat(">", n),
		strings.Repeat("f<abcdef>", n),
		strings.Repeat("f(a)", n),
		strings.Repeat("operator<", n),
		strings.Repeat("a::", n),
		strings.Repeat("(anonymous namespace)::", n),
	} {
		if got := ShortenName(name, 40); displayWidth(got) > 40 {
			t.Errorf("%.20q...: %d cells", name, displayWidth(got))
		}
	}
}

func FuzzShortenName(f *testing.F) {
	for _, s := range []string{fooCall, vecAdd, lambda, tensile, "a<b>>>(c", "operator<=><x>(y)", "\xff<\x1b>", "カ<ー>"} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, name string, limit int) {
		got := ShortenName(name, limit)
		if w := displayWidth(got); w > max(limit, 0) {
			t.Errorf("%q takes %d cells of %d", got, w, limit)
		}
		if utf8.ValidString(name) && !utf8.ValidString(got) {
			t.Errorf("%q is not UTF-8", got)
		}
		if len(got) > len(name) {
			t.Errorf("%q is longer than %q", got, name)
		}
	})
}
