package trace

import "strings"

// BareName is a kernel's name without what profilers put behind it, and
// without the white space around it: " [clone .kd]" (rocprof v1 and
// demanglers), " (.kd)" (v2) and ".kd", which the symbol of a kernel's
// descriptor ends in (LLVM, User Guide for AMDGPU Backend, "Kernel
// Descriptor"). All readers give names in this form.
func BareName(name string) string {
	name = strings.TrimSpace(name)
	for _, suffix := range [...]string{"[clone .kd]", "(.kd)", ".kd"} {
		if short, ok := strings.CutSuffix(name, suffix); ok {
			return BareName(short)
		}
	}
	return name
}
