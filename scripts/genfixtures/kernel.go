package main

import (
	"embed"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

//go:embed sources
var sources embed.FS

// kernel is one kernel as a code object holds it, whatever file format it is
// then written in.
type kernel struct {
	// symbol is the mangled name; demangled is "" where they are the same.
	symbol, demangled string
	arch              arch
	// codeObject is the load id, vaddr the first instruction's address.
	codeObject, vaddr int
	// firstLine is the LineNumber of the label row.
	firstLine int
	// lines are the LineNumbers of the instructions, where they do not simply
	// follow the label's.
	lines []int
	insts []inst
	// sourcePath is where the compiler found the source.
	sourcePath string
	source     []byte
	// ldsBytes is the static LDS of a workgroup.
	ldsBytes int
}

// inst is one instruction of a kernel.
type inst struct {
	text string
	// vaddr is inside the code object; bytes is the size of the encoding.
	vaddr, bytes int
	// line is the line in the kernel's source, from 1.
	line  int
	class class
	// target is the index of the instruction that a branch goes to, -1 for
	// everything else.
	target int
	// taken is how often a wave takes the branch before it falls through;
	// idleOnly branches are taken by waves without work instead.
	taken    int
	idleOnly bool
	// restOnly branches are taken by all waves of a workgroup but its first.
	restOnly bool
	// waits lists the counters that the instruction waits for.
	waits []waitFor
}

// waitFor is one counter of a wait: at most left operations may be outstanding.
type waitFor struct {
	counter string
	left    int
}

// sourceOf is the Source cell of an instruction's row.
func (k *kernel) sourceOf(in inst) string {
	return fmt.Sprintf("%s:%d", k.sourcePath, in.line)
}

// lineNumber is the decoder's ordinal of an instruction: the label row comes
// first.
func (k *kernel) lineNumber(i int) int {
	if k.lines != nil {
		return k.lines[i]
	}
	return k.firstLine + 1 + i
}

var (
	branchTarget = regexp.MustCompile(`^(s_cbranch_\w+) (\w+)$`)
	waitGfx9     = regexp.MustCompile(`(vmcnt|lgkmcnt)\((\d+)\)`)
	waitGfx12    = regexp.MustCompile(`^s_wait_(\w+cnt) 0x([0-9a-f]+)$`)
	literal      = regexp.MustCompile(`(^|[ ,])(0x[0-9a-f]+|-?\d+)\b`)
)

// assemble reads the listing sources/name: one instruction a line, labels with
// a colon, and behind a semicolon the source line and what a branch does. It
// fills in k.insts.
func (k *kernel) assemble(name string) error {
	data, err := sources.ReadFile(path.Join("sources", name))
	if err != nil {
		return err
	}
	labels := map[string]int{}
	addr := k.vaddr
	for n, row := range strings.Split(string(data), "\n") {
		code, note, _ := strings.Cut(row, ";")
		code = strings.TrimSpace(code)
		if label, ok := strings.CutSuffix(code, ":"); ok {
			labels[label] = len(k.insts)
			continue
		}
		if code == "" {
			continue
		}
		in, err := k.parse(code, note)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, n+1, err)
		}
		in.vaddr = addr
		addr += in.bytes
		k.insts = append(k.insts, in)
	}
	return k.link(name, labels)
}

func (k *kernel) parse(code, note string) (inst, error) {
	in := inst{text: code, target: -1}
	fields := strings.Fields(note)
	if len(fields) == 0 {
		return in, fmt.Errorf("%q has no source line", code)
	}
	line, err := strconv.Atoi(fields[0])
	if err != nil {
		return in, err
	}
	in.line = line
	for _, f := range fields[1:] {
		if f == "idle" {
			in.idleOnly = true
		} else if f == "rest" {
			in.restOnly = true
		} else if in.taken, err = strconv.Atoi(strings.TrimPrefix(f, "x")); err != nil {
			return in, err
		}
	}
	in.class, err = k.arch.classOf(code)
	if err != nil {
		return in, err
	}
	in.bytes = k.arch.sizeOf(code)
	in.waits = waitsOf(code)
	return in, nil
}

// link replaces the labels of branches by the raw operand that a disassembler
// prints: the distance from the next instruction in dwords, unsigned 16 bits.
func (k *kernel) link(name string, labels map[string]int) error {
	for i := range k.insts {
		in := &k.insts[i]
		m := branchTarget.FindStringSubmatch(in.text)
		if m == nil {
			continue
		}
		target, ok := labels[m[2]]
		if !ok {
			return fmt.Errorf("%s: no label %q", name, m[2])
		}
		in.target = target
		in.text = fmt.Sprintf("%s %d", m[1], uint16((k.insts[target].vaddr-in.vaddr-4)/4))
	}
	return nil
}

func (a arch) classOf(code string) (class, error) {
	for _, c := range a.classes {
		if strings.HasPrefix(code, c.prefix) {
			return c, nil
		}
	}
	return class{}, fmt.Errorf("no class for %q", code)
}

// sizeOf is the size of an encoding in bytes: 4 for the short ones, 4 more for
// a literal constant. Source: the CDNA3 and RDNA4 instruction set manuals,
// chapter "Microcode Formats"; the listings are checked with llvm-mc.
func (a arch) sizeOf(code string) int {
	op, args, _ := strings.Cut(code, " ")
	has := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(op, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("buffer_", "global_"):
		return a.vmemBytes
	case has("ds_", "s_load_", "v_dual_"):
		return 8
	case has("s_wait", "s_nop", "s_barrier", "s_cbranch", "s_sendmsg", "s_endpgm"):
		return 4
	case has("v_") && !strings.HasSuffix(op, "_e32"):
		return 8
	}
	if hasLiteral(args) {
		return 8
	}
	return 4
}

// hasLiteral says whether one of the operands is a number that is no inline
// constant (-16 to 64).
func hasLiteral(args string) bool {
	for _, m := range literal.FindAllStringSubmatch(args, -1) {
		if v, err := strconv.ParseInt(m[2], 0, 64); err == nil && (v < -16 || v > 64) {
			return true
		}
	}
	return false
}

func waitsOf(code string) []waitFor {
	var out []waitFor
	if m := waitGfx12.FindStringSubmatch(code); m != nil {
		if n, err := strconv.ParseInt(m[2], 16, 32); err == nil {
			out = append(out, waitFor{m[1], int(n)})
		}
		return out
	}
	if !strings.HasPrefix(code, "s_waitcnt") {
		return nil
	}
	for _, m := range waitGfx9.FindAllStringSubmatch(code, -1) {
		n, err := strconv.Atoi(m[2])
		if err == nil {
			out = append(out, waitFor{m[1], n})
		}
	}
	return out
}

var register = regexp.MustCompile(`\b([vs])(?:(\d+)|\[(\d+):(\d+)\])`)

// registers is one more than the highest number of a register file, 'v' or 's',
// that the instructions name.
func (k *kernel) registers(file string) int {
	most := 0
	for _, in := range k.insts {
		for _, m := range register.FindAllStringSubmatch(in.text, -1) {
			if m[1] != file {
				continue
			}
			n, err := strconv.Atoi(m[2] + m[4])
			if err == nil {
				most = max(most, n+1)
			}
		}
	}
	return most
}
