package isa

import (
	"strings"
)

// operands are the comma-separated operands of an instruction, lists flattened,
// and the modifiers behind the last one.
type operands struct {
	n         int
	text      [maxOperands]string
	modifiers string
}

// isSpace reports whether c separates words.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// cutWord returns the first word of s and what follows it.
func cutWord(s string) (word, rest string) {
	start := 0
	for start < len(s) && isSpace(s[start]) {
		start++
	}
	end := start
	for end < len(s) && !isSpace(s[end]) {
		end++
	}
	return s[start:end], s[end:]
}

// split reads the operands. An operand is the first word of what stands between
// two commas; an address list in brackets is a run of operands.
func (ops *operands) split(s string) {
	for ops.n < maxOperands {
		for s != "" && (isSpace(s[0]) || s[0] == ',' || s[0] == '[' || s[0] == ']') {
			s = s[1:]
		}
		if s == "" {
			return
		}
		end := operandEnd(s)
		if end == 0 {
			s = s[1:] // a stray separator
			continue
		}
		ops.text[ops.n] = s[:end]
		ops.n++
		var last bool
		if s, last = ops.skipComment(s[end:]); last {
			ops.modifiers = s
			return
		}
	}
}

// skipComment steps to the next comma. The compiler's assembly for gfx1250 puts
// the full register of a banked operand behind it ("v1 /*v257*/"); it then
// replaces the operand. It reports whether the last operand was read, and then
// returns the modifiers.
func (ops *operands) skipComment(s string) (rest string, last bool) {
	rest = strings.TrimLeft(s, " \t\r\n]")
	if comment, after, ok := strings.Cut(rest, "*/"); ok && strings.HasPrefix(comment, "/*") {
		if _, ok := parseReg(comment[2:]); ok {
			ops.text[ops.n-1] = comment[2:]
		}
		rest = strings.TrimLeft(after, " \t\r\n]")
	}
	if strings.HasPrefix(rest, ",") {
		return rest[1:], false
	}
	return rest, true
}

// operandEnd returns the length of the operand at the start of s. Brackets,
// parentheses and comments may contain separators.
func operandEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
			if depth < 0 {
				return i
			}
		case depth > 0:
		case c == ',' || isSpace(c), strings.HasPrefix(s[i:], "/*"):
			return i
		}
	}
	return len(s)
}

// has reports whether a word is among the modifiers.
func (ops *operands) has(word string) bool {
	for rest := ops.modifiers; ; {
		i := strings.Index(rest, word)
		if i < 0 {
			return false
		}
		end := i + len(word)
		if (i == 0 || isSpace(rest[i-1])) && (end == len(rest) || isSpace(rest[end])) {
			return true
		}
		rest = rest[end:]
	}
}

// value returns what follows "name:" among the modifiers.
func modifierValue(modifiers, name string) (value string, ok bool) {
	for rest := modifiers; ; {
		var word string
		word, rest = cutWord(rest)
		if word == "" {
			return "", false
		}
		if v, found := strings.CutPrefix(word, name); found && strings.HasPrefix(v, ":") {
			return v[1:], true
		}
	}
}

// maxRegister bounds register numbers: gfx1250 has 1024 VGPRs, the most.
// Source: LLVM AMDGPUUsage, gfx125x register file.
const maxRegister = 1024

// namedReg is a register with a name of its own.
type namedReg struct {
	name string
	reg  Reg
}

var namedRegs = []namedReg{
	{"vcc", Reg{VCC, 0, 2}},
	{"vcc_lo", Reg{VCC, 0, 1}},
	{"vcc_hi", Reg{VCC, 1, 1}},
	{"exec", Reg{EXEC, 0, 2}},
	{"exec_lo", Reg{EXEC, 0, 1}},
	{"exec_hi", Reg{EXEC, 1, 1}},
	{"m0", Reg{M0, 0, 1}},
}

// regPrefixes are the spellings of numbered registers.
var regPrefixes = []struct {
	prefix string
	file   RegFile
}{{"v", VGPR}, {"s", SGPR}, {"acc", AGPR}, {"a", AGPR}, {"ttmp", TTMP}}

// parseReg reads a register operand with its source modifiers: v1, v[4:7],
// a[0:15], -v1, |v1|, neg(v1), v1.l. It reports false for everything else.
func parseReg(s string) (Reg, bool) {
	s = trimSourceModifiers(s)
	for _, p := range regPrefixes {
		rest, ok := strings.CutPrefix(s, p.prefix)
		if !ok {
			continue
		}
		if first, count, ok := parseIndex(rest); ok {
			return Reg{p.file, first, count}, true
		}
	}
	for _, n := range namedRegs {
		if s == n.name {
			return n.reg, true
		}
	}
	return Reg{}, false
}

// trimSourceModifiers removes negation, absolute value, sign extension and the
// half selector of a 16-bit operand.
func trimSourceModifiers(s string) string {
	s = strings.Trim(s, "-|")
	for _, m := range []string{"neg(", "abs(", "sext("} {
		if inner, ok := strings.CutPrefix(s, m); ok {
			return trimSourceModifiers(strings.TrimSuffix(inner, ")"))
		}
	}
	s = strings.TrimSuffix(s, ".l")
	return strings.TrimSuffix(s, ".h")
}

// parseIndex reads "5", "[5]" or "[4:7]" as a first register and a count.
func parseIndex(s string) (first, count int, ok bool) {
	inner, bracket := strings.CutPrefix(s, "[")
	if !bracket {
		first, ok = parseNumber(s)
		return first, 1, ok
	}
	inner, closed := strings.CutSuffix(inner, "]")
	lo, hi, isRange := strings.Cut(inner, ":")
	first, ok = parseNumber(lo)
	if !ok || !closed {
		return 0, 0, false
	}
	if !isRange {
		return first, 1, true
	}
	last, ok := parseNumber(hi)
	if !ok || last < first {
		return 0, 0, false
	}
	return first, last - first + 1, true
}

// parseNumber reads a register number.
func parseNumber(s string) (int, bool) {
	if s == "" || len(s) > 4 {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, n < maxRegister
}
