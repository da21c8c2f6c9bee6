package counters

import (
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxInstance bounds the instance numbers that are believed.
const maxInstance = 1 << 16

// splitInstance takes "TCC_HIT[12]" apart; a name without an instance stands
// for all of them.
func splitInstance(name string) (counter string, instance int) {
	open := strings.IndexByte(name, '[')
	if open < 0 || !strings.HasSuffix(name, "]") {
		return name, trace.AllInstances
	}
	n, err := strconv.Atoi(name[open+1 : len(name)-1])
	if err != nil || n < 0 || n > maxInstance {
		return name, trace.AllInstances
	}
	return name[:open], n
}

// KernelName takes off what profilers put behind a kernel's name: " [clone
// .kd]" (rocprof v1), " (.kd)" (v2) and ".kd" (the symbol of the descriptor).
func KernelName(name string) string {
	name = strings.TrimSpace(name)
	for _, suffix := range []string{"[clone .kd]", "(.kd)", ".kd"} {
		if short, ok := strings.CutSuffix(name, suffix); ok {
			return strings.TrimSpace(short)
		}
	}
	return name
}
