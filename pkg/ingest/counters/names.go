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
