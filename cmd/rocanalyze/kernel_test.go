package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/analyzers"
)

// TestKernelSelects runs every command with a --kernel that selects nothing,
// by name and by number, and with one that selects the first row.
func TestKernelSelects(t *testing.T) {
	att, pmc := "../../fixtures/att/gemm", "../../fixtures/pmc/copy"
	inputs := map[string]string{"counters": pmc, "l2": pmc, "samples": "../../fixtures/pcs/results"}
	try := func(args ...string) (string, error) {
		var out, errs bytes.Buffer
		err := run(t.Context(), os.Stdin, &out, &errs, func(string) string { return "" }, args)
		return out.String(), err
	}
	for _, c := range analyzers.Commands() {
		path := inputs[c.Name()]
		if path == "" {
			path = att
		}
		for kernel, want := range map[string]string{"nosuch": `no kernel matches --kernel "nosuch"; there are: `, "#99": "the last row of kernels is #"} {
			out, err := try(c.Name(), "--kernel", kernel, path)
			if err == nil || !strings.Contains(err.Error(), want) || out != "" || status(new(bytes.Buffer), err) != exitUnreadable {
				t.Errorf("%s --kernel %s: %v, and prints %q", c.Name(), kernel, err, out)
			}
		}
		if out, err := try(c.Name(), "--kernel", "#1", path); err != nil || out == "" {
			t.Errorf("%s --kernel '#1': %v", c.Name(), err)
		}
	}
}

// TestKernelLimitsWaves shows of two traces the one whose kernel is selected.
func TestKernelLimitsWaves(t *testing.T) {
	var out bytes.Buffer
	err := run(t.Context(), os.Stdin, &out, new(bytes.Buffer), func(string) string { return "" }, []string{"waves", "--kernel", "gemm", "../../fixtures/att/gemm", "../../fixtures/att/copy"})
	if err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "gemm_bf16") || strings.Contains(got, "copy_vec4") {
		t.Errorf("more or less than the selected kernel:\n%s", got)
	}
}
