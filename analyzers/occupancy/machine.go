package occupancy

import (
	"fmt"
	"path"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/capture"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// machine is the GPU that a kernel is judged for. A machine without an
// architecture is unknown.
type machine struct {
	arch gpu.Arch
	// name is the architecture's own name, where arch is that of its family.
	name string
	// device is a product's name, "" for none; cus is 0 when unknown.
	device string
	cus    int
	// source says where this comes from.
	source string
	gpu    *capture.Machine
	// unknown says why there is no architecture, unused that the GPU which the
	// user named is another one.
	unknown, unused string
}

func (m machine) known() bool { return m.arch.Name != "" }

// machine takes what the launch needs of a GPU of the capture; why says what
// is missing where it is not known.
func (b *builder) machine(m *capture.Machine, why string) machine {
	out := machine{name: string(m.Arch.Target), source: path.Base(m.Arch.Source), gpu: m}
	var err error
	switch out.arch, err = m.GPU(); {
	case m.Arch.Target == "":
		out.unknown = why + ": " + nameGPU
	case err != nil:
		out.unknown = err.Error()
	}
	if m.Device != nil && !m.Assumed {
		out.device, out.cus = m.DeviceName(), m.Device.CUs
	}
	return out
}

// compiledFor is the GPU of a code object. Nothing ran, so that another one
// that the user named is no contradiction, but not used.
func (b *builder) compiledFor(co *trace.CodeObject) machine {
	if _, err := gpu.ArchByName(co.Target); err != nil && co.Target != "" {
		return machine{unknown: err.Error()}
	}
	m := b.machine(b.p.Capture.Compiled(co), "it names no target (its author gave it by -mcpu)")
	named, err := gpu.ArchByName(string(b.p.Capture.NamedArch()))
	switch {
	case err != nil || !m.known() || m.source == capture.SourceFlag:
	case named.Name == m.arch.Name:
		m.source += ", " + capture.SourceFlag
	default:
		m.unused = fmt.Sprintf("%s says %s: %s %s is not used", m.source, m.name, capture.SourceFlag, b.p.Capture.Flag())
	}
	return m
}

// worded names the flag that the user gave where others all have --device.
func (r *Result) worded(flag string) {
	for i := range r.Kernels {
		k := &r.Kernels[i]
		k.ArchSource = strings.ReplaceAll(k.ArchSource, capture.SourceFlag, flag)
		for j := range k.Notes {
			if n := &k.Notes[j]; n.ID == noteFlagUnused {
				n.Text = strings.ReplaceAll(n.Text, capture.SourceFlag, flag)
			}
		}
	}
}

// noteFlagUnused says that a code object is of another GPU than was named.
const noteFlagUnused gpu.NoteID = "device_flag_unused"

// maxFigure is far above any figure of an agent or a dispatch; what exceeds it
// is unknown.
const maxFigure = 1 << 30

// whole is a figure as an int, 0 when it is absent or absurd.
func whole(p *int64) int {
	if p == nil || *p < 0 || *p > maxFigure {
		return 0
	}
	return int(*p)
}

func note(id gpu.NoteID, format string, args ...any) gpu.Note {
	return gpu.Note{ID: id, Text: fmt.Sprintf(format, args...)}
}
