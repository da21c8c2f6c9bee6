package capture

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Arch says which architecture something ran on and how that is known.
type Arch struct {
	// Target is an architecture such as "gfx950"; empty when it is not known
	// which of several it is.
	Target isa.Target `json:"arch,omitempty"`
	// Candidates are what the instructions or counters allow when Target is
	// empty.
	Candidates []isa.Target `json:"archs,omitempty"`
	// Source is "--device", a companion file, or "instructions".
	Source string `json:"arch_source"`
	// Evidence are the reasons, for example the deciding mnemonics.
	Evidence []string `json:"reasons,omitempty"`
	// Conflict is set when the instructions do not exist on Target.
	Conflict string `json:"conflict,omitempty"`
}

// String names the target or its candidates; many candidates are named by
// their generations.
func (a Arch) String() string {
	if a.Target != "" {
		return string(a.Target)
	}
	return alternatives(a.Candidates)
}

// maxNamed is how many candidate architectures are named one by one.
const maxNamed = 3

func alternatives(candidates []isa.Target) string {
	var names []string
	for _, c := range candidates {
		name := string(c)
		if len(candidates) > maxNamed {
			name = fmt.Sprintf("gfx%d", c.Generation())
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch n := len(names); n {
	case 0:
		return "unknown architecture"
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
}

// ParseTarget is the target whose rules the code is read by: Target, else the
// first candidate, else "".
func (a Arch) ParseTarget() isa.Target {
	if a.Target == "" && len(a.Candidates) > 0 {
		return a.Candidates[0]
	}
	return a.Target
}

// code is what the instructions of a trace say about the architecture.
type code struct {
	// candidates are the targets that have all of the instructions, of the
	// trace's generation; nil when nothing or nothing consistent is said.
	candidates []isa.Target
	evidence   []string
	// major is the generation that the decoder wrote down; 0 when it did not.
	major int
}

func codeOf(tt *trace.ThreadTrace) code {
	candidates, evidence := isa.InferTarget(func(yield func(string) bool) {
		for i := range tt.Code {
			if !yield(tt.Code[i].Text) {
				return
			}
		}
	})
	if tt.GfxMajor != 0 {
		candidates = slices.DeleteFunc(candidates, func(t isa.Target) bool { return t.Generation() != tt.GfxMajor })
	}
	return code{candidates, evidence, tt.GfxMajor}
}

// allows reports whether the code can have run on a target; a target that the
// instruction tables do not know is not refused.
func (c *code) allows(t isa.Target) bool {
	if c.major != 0 && t.Generation() != 0 && t.Generation() != c.major {
		return false
	}
	known := t.Representative()
	return known == "" || len(c.candidates) == 0 || slices.Contains(c.candidates, known)
}

// proof words what forbids a target.
func (c *code) proof(t isa.Target) (ran, source string) {
	if c.major != 0 && t.Generation() != c.major {
		return fmt.Sprintf("gfx%d", c.major), "gfxip of filenames.json"
	}
	return alternatives(c.candidates), "instructions: " + strings.Join(c.evidence, "; ")
}
