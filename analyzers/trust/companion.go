package trust

import "github.com/rocanalyze/rocanalyze/pkg/capture"

// Companion is the kernel-trace row that is taken for a traced kernel.
type Companion = capture.Companion
