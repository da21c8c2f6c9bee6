package occupancy

import (
	"strings"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
)

// A kernel that ran has fitted: then the capture's figures are doubted, and not
// the kernel's.
func TestDoesNotFit(t *testing.T) {
	for kind, doubted := range map[string]bool{"rocpd": true, "kernel_trace": true, "thread_trace": true, "code_object": false, capture.KindFlags: false} {
		s := &subject{k: Kernel{Source: Source{Kind: kind}, shape: &gpu.Result{}}}
		f := doesNotFit(s, nil)
		if len(f) != 1 || strings.Contains(f[0].Text, "ran") != doubted || strings.Contains(f[0].Fix, "code object") != doubted {
			t.Errorf("%s: %+v, doubted: %v", kind, f, doubted)
		}
		s.k.shape.Fits = true
		if f := doesNotFit(s, nil); f != nil {
			t.Errorf("%s: %+v", kind, f)
		}
	}
}
