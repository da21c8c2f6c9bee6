package isa

import (
	"strconv"
	"strings"
)

// Bounds of what Parse looks at. The longest instruction of LLVM's own tests
// (an image operation with an address list) has fewer than 20 operands and 300
// bytes.
const (
	maxText     = 4096
	maxOperands = 32
)

// encodingSuffixes are appended to a mnemonic by the disassembler to tell
// encodings apart. Source: LLVM AMDGPUAsmParser, mnemonic suffixes.
var encodingSuffixes = []string{"_e32", "_dpp8", "_dpp", "_sdwa", "_e64"}

// Parse says what the instruction text is, disassembled for the target. It
// accepts trailing comments ("// ...", "; ..."), any spacing and dual-issue
// pairs. Text that is not a known instruction gives the class Unknown; so does
// text beyond 4096 bytes, of which only the beginning is read.
func Parse(text string, target Target) Inst {
	in := Inst{Text: text}
	first, second, dual := strings.Cut(stripComment(text), "::")
	in.parseOne(first, target)
	if dual && in.Class == VALU {
		var other Inst
		other.parseOne(second, target)
		in.Reads = append(in.Reads, other.Reads...)
		in.Writes = append(in.Writes, other.Writes...)
	}
	return in
}

// stripComment returns the text without its trailing comment, bounded.
func stripComment(text string) string {
	if len(text) > maxText {
		text = text[:maxText]
	}
	text, _, _ = strings.Cut(text, "//")
	text, _, _ = strings.Cut(text, ";")
	return text
}

// parseOne fills in what a single instruction is.
func (in *Inst) parseOne(text string, target Target) {
	mnemonic, rest := cutWord(text)
	in.Mnemonic = trimEncoding(mnemonic)
	r := findRule(in.Mnemonic)
	if r == nil {
		return
	}
	in.Class = r.class
	var ops operands
	switch in.Class {
	case WaitCount:
		in.parseWait(rest, target)
	case Branch:
		in.parseBranch(rest)
	case Export:
		_, rest = cutWord(rest) // the export target is not a register
	}
	ops.split(rest)
	track, f := r.track, r.form
	if r.atomic != notAtomic {
		track, f = in.atomic(r, &ops)
	}
	if (in.Class == VMEMLoad || in.Class == ScratchLoad) && ops.has("lds") {
		in.Class, f = VMEMToLDS, formReads
	}
	if track == trackLDS && ops.has("gds") {
		track = trackGDS
	}
	in.Counts = target.counts(track)
	in.Coherent = ops.coherent()
	in.registers(adjustForm(f, in.Class, mnemonic, &ops), &ops)
	in.sizes()
	if in.Class == MFMA {
		in.Matrix = findMatrix(in.Mnemonic, ops.modifiers, target)
	}
}

// trimEncoding removes the encoding suffixes from a mnemonic.
func trimEncoding(mnemonic string) string {
	for _, s := range encodingSuffixes {
		mnemonic = strings.TrimSuffix(mnemonic, s)
	}
	return mnemonic
}

// adjustForm corrects the operand roles of vector instructions for encodings.
func adjustForm(f form, class Class, mnemonic string, ops *operands) form {
	if class != VALU && class != Trans {
		return f
	}
	switch {
	case strings.HasPrefix(mnemonic, "v_cmpx_") && ops.n < 3:
		// From gfx10 on the result goes to EXEC alone and the text has no
		// destination (AMDGPUAsmGFX10).
		return formReads
	case strings.HasPrefix(mnemonic, "v_cmp"):
		return f
	case strings.HasSuffix(mnemonic, "_dpp"), strings.HasSuffix(mnemonic, "_dpp8"),
		strings.Contains(ops.modifiers, "UNUSED_PRESERVE"):
		// Lanes or bytes that are not written keep the old value.
		f.updates |= f.writes & 1
	}
	return f
}

// atomic decides whether an atomic returns the old value, and with that how its
// completion is tracked and which operand receives it: without return it
// completes like a store (LLVM AMDGPUUsage memory model, gfx10 and later).
func (in *Inst) atomic(r *rule, ops *operands) (tracker, form) {
	if r.atomic == atomicByName {
		in.Returns = strings.Contains(in.Mnemonic, "_rtn")
		if in.Returns {
			return r.track, formDst
		}
		return r.track, formReads
	}
	in.Returns = ops.returns() || r.class == VMEMAtomic && r.atomic == atomicVdst && ops.n == globalReturnOperands
	switch {
	case !in.Returns && r.track == trackLoad:
		return trackStore, formReads
	case !in.Returns && r.track == trackFlatLd:
		return trackFlatSt, formReads
	case !in.Returns:
		return r.track, formReads
	case r.atomic == atomicData:
		return r.track, formUpdate
	}
	return r.track, formDst
}

// coherent reports whether the modifiers ask for a scope beyond the compute
// unit.
func (ops *operands) coherent() bool {
	scope, ok := modifierValue(ops.modifiers, "scope")
	return ok && scope != "SCOPE_CU" || ops.has("sc0") || ops.has("sc1") || ops.has("glc")
}

// globalReturnOperands is how many operands a global atomic with a destination
// has: destination, address, data, and a scalar base or "off".
const globalReturnOperands = 4

// returns reports whether the modifiers ask an atomic to return the old value:
// glc up to gfx11 (sc0 on gfx940 and later gfx9), th:TH_ATOMIC_*RETURN on gfx12,
// or a raw th whose bit 0 is set. Source: LLVM AMDGPUModifierSyntax, "sc0",
// "glc", "th", and SIDefines.h, TH_ATOMIC_RETURN.
func (ops *operands) returns() bool {
	if ops.has("glc") || ops.has("sc0") {
		return true
	}
	_, th, ok := strings.Cut(ops.modifiers, "th:TH_ATOMIC")
	if !ok {
		return false
	}
	th, _ = cutWord(th)
	if raw, ok := strings.CutPrefix(th, "_0x"); ok {
		n, err := strconv.ParseUint(raw, 16, 8)
		return err == nil && n&1 != 0
	}
	return strings.HasSuffix(th, "RETURN")
}

// parseBranch reads the raw branch distance, an unsigned 16-bit number that
// stands for a signed one. It is the last operand.
func (in *Inst) parseBranch(rest string) {
	in.Conditional = strings.HasPrefix(in.Mnemonic, "s_cbranch") || strings.HasPrefix(in.Mnemonic, "s_subvector")
	_, last, _ := cutLast(rest, ',')
	word, _ := cutWord(last)
	n, err := strconv.ParseInt(word, 0, 32)
	if err != nil || n < -1<<15 || n > 1<<16-1 {
		return
	}
	offset := int(int16(n))
	in.BranchOffset = &offset
}

// registers fills Reads and Writes from the operands.
func (in *Inst) registers(f form, ops *operands) {
	for i := range ops.n {
		reg, ok := parseReg(ops.text[i])
		if !ok {
			continue
		}
		bit := uint8(0)
		if i < 8 {
			bit = 1 << i
		}
		if (f.writes|f.updates)&bit != 0 {
			in.Writes = append(in.Writes, reg)
		}
		if f.writes&bit == 0 || f.updates&bit != 0 {
			if in.Reads == nil {
				in.Reads = make([]Reg, 0, ops.n)
			}
			in.Reads = append(in.Reads, reg)
		}
	}
}
