package trace

import "testing"

func TestBareName(t *testing.T) {
	for name, want := range map[string]string{
		"_Z3addv.kd":             "_Z3addv",
		"add(int) [clone .kd]":   "add(int)",
		"add(int) (.kd)":         "add(int)",
		"_Z3addv.kd [clone .kd]": "_Z3addv",
		" add(int)\t":            "add(int)",
		"add(int)":               "add(int)",
		"a.kd.cold":              "a.kd.cold",
		"x[clone .kd] y":         "x[clone .kd] y",
		".kd":                    "",
		"":                       "",
	} {
		if got := BareName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
