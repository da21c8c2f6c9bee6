package isa

import (
	"strconv"
	"strings"
)

// Target is an AMDGPU target as LLVM names it: a processor ("gfx942"), a family
// ("gfx9"), a generic target ("gfx9-4-generic"), with or without target
// features (":sramecc+:xnack-"). The empty Target is unknown.
type Target string

// processor returns the target without its features.
func (t Target) processor() string {
	name, _, _ := strings.Cut(string(t), ":")
	return name
}

// Generation returns 9, 10, 11 or 12 for gfx9 to gfx12 (and the number of any
// other generation), 0 when the target is unknown.
//
// The number of a processor is its generation followed by one character for
// the minor version and one for the stepping (LLVM AMDGPUUsage, Processors).
func (t Target) Generation() int {
	name, ok := strings.CutPrefix(t.processor(), "gfx")
	if !ok {
		return 0
	}
	name, _, _ = strings.Cut(name, "-")
	if len(name) > 2 {
		name = name[:len(name)-2]
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// IsGFX125x reports whether the target is gfx1250 or a sibling, whose counters
// and matrix instructions differ from those of gfx1200.
func (t Target) IsGFX125x() bool {
	name := t.processor()
	return strings.HasPrefix(name, "gfx125") || strings.HasPrefix(name, "gfx12-5")
}

// targetFamily is a name that stands for several processors of the tables.
type targetFamily struct {
	prefix  string
	members []Target
}

// targetFamilies maps a target to the processors of the matrix table that it
// may be; the first prefix that fits decides. gfx940 and gfx941 are early
// steppings of gfx942. Source: LLVM AMDGPUUsage, Processors and Generic
// Processors; LLVM 22 no longer has gfx940.
var targetFamilies = []targetFamily{
	{"gfx940", []Target{"gfx942"}},
	{"gfx941", []Target{"gfx942"}},
	{"gfx942", []Target{"gfx942"}},
	{"gfx950", []Target{"gfx950"}},
	{"gfx90a", []Target{"gfx90a"}},
	{"gfx908", []Target{"gfx908"}},
	{"gfx9-4", []Target{"gfx942", "gfx950"}},
	{"gfx90", nil},
	{"gfx9-generic", nil},
	{"gfx9", []Target{"gfx908", "gfx90a", "gfx942", "gfx950"}},
	{"gfx11", []Target{"gfx1100", "gfx1151"}},
	{"gfx1250", []Target{"gfx1250"}},
	{"gfx1251", []Target{"gfx1251"}},
	{"gfx125", []Target{"gfx1250", "gfx1251"}},
	{"gfx12-5", []Target{"gfx1250", "gfx1251"}},
	{"gfx120", []Target{"gfx1200", "gfx1201"}},
	{"gfx12-generic", []Target{"gfx1200", "gfx1201"}},
	{"gfx12", []Target{"gfx1200", "gfx1201", "gfx1250", "gfx1251"}},
	{"gfx", nil},
	{"", []Target{
		"gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151",
		"gfx1200", "gfx1201", "gfx1250", "gfx1251",
	}},
}

// members returns the processors of the matrix table that the target may be.
func (t Target) members() []Target {
	name := t.processor()
	for _, f := range targetFamilies {
		if strings.HasPrefix(name, f.prefix) {
			return f.members
		}
	}
	return nil
}
