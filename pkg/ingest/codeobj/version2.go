package codeobj

import (
	"fmt"
	"strings"
)

// directivesV2 are the fields of an .amd_kernel_code_t that later listings write as
// directives (LLVM AMDGPUUsage, "Code Object V2"). The counts of scalar registers
// include the special ones there.
func directivesV2() map[string]string {
	return map[string]string{
		"workitem_vgpr_count":                ".amdhsa_next_free_vgpr",
		"wavefront_sgpr_count":               ".amdhsa_next_free_sgpr",
		"workgroup_group_segment_byte_size":  ".amdhsa_group_segment_fixed_size",
		"workitem_private_segment_byte_size": ".amdhsa_private_segment_fixed_size",
		"kernarg_segment_byte_size":          ".amdhsa_kernarg_size",
	}
}

// beginV2 begins a kernel of code object V2, which has the name of the label before.
func (l *listing) beginV2() error {
	if l.label == "" {
		return fmt.Errorf(".amd_kernel_code_t without a label before it: the listing is damaged; write it again")
	}
	if err := l.begin(l.label); err != nil {
		return err
	}
	for _, special := range []string{"vcc", "flat_scratch", "xnack_mask"} {
		l.open.directives[".amdhsa_reserve_"+special] = "0"
	}
	l.v2 = true
	return nil
}

// valueV2 reads a "field = value" of an .amd_kernel_code_t.
func (l *listing) valueV2(text string) {
	name, expr, _ := strings.Cut(text, "=")
	directive := directivesV2()[strings.TrimSpace(name)]
	if directive != "" && l.open != nil {
		l.directive(directive, strings.TrimSpace(expr))
	}
}

// isa takes the target of an .hsa_code_object_isa: major, minor, stepping.
func (l *listing) isa(rest string) {
	var v [3]int64
	for i, part := range strings.SplitN(rest, ",", 4) {
		n := l.symbols.at(strings.TrimSpace(part))
		if i > 2 {
			break
		}
		if !n.ok || n.n < 0 || n.n > 15 {
			return
		}
		v[i] = n.n
	}
	if l.object.Target == "" && v[0] > 0 {
		l.object.Target = fmt.Sprintf("gfx%d%x%x", v[0], v[1], v[2])
		l.useTarget()
	}
}
