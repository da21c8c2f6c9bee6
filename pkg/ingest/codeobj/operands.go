package codeobj

import "strings"

// The symbols that the assembler keeps at one more than the highest register
// named so far (LLVM AMDGPUUsage, "Predefined Symbols"; a registers do not count,
// LLVM AMDGPUAsmParser.cpp getGprCountSymbolName). Kernels are told apart by
// setting them back.
const (
	nextFreeVGPR = ".amdgcn.next_free_vgpr"
	nextFreeSGPR = ".amdgcn.next_free_sgpr"
)

// maxRegister bounds what is taken for a register's number.
const maxRegister = 1 << 16

// uses raises the next free registers to those that an instruction names.
func (l *listing) uses(text string) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != 'v' && c != 's' || i > 0 && isSymbolByte(text[i-1]) {
			continue
		}
		n, ok := l.register(text[i+1:])
		if !ok {
			continue
		}
		name := nextFreeVGPR
		if c == 's' {
			name = nextFreeSGPR
		}
		if n >= l.symbols.now[name] {
			l.symbols.now[name] = n + 1
		}
	}
}

// register reads the number of the last register of "12", "[12]" or "[12:15]".
func (l *listing) register(s string) (last int64, ok bool) {
	if inside, found := strings.CutPrefix(s, "["); found {
		inside, _, found = strings.Cut(inside, "]")
		if !found || strings.Contains(inside, ",") {
			return 0, false
		}
		if _, to, pair := strings.Cut(inside, ":"); pair {
			inside = to
		}
		v := l.symbols.at(inside)
		if !v.ok || v.n < 0 || v.n > maxRegister {
			l.unnamed = true
			return 0, false
		}
		return v.n, true
	}
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' && last <= maxRegister {
		last = last*10 + int64(s[i]-'0')
		i++
	}
	half := strings.HasPrefix(s[i:], ".l") || strings.HasPrefix(s[i:], ".h") // 16-bit halves, gfx11
	return last, i > 0 && last <= maxRegister && (i == len(s) || !isSymbolByte(s[i]) || half)
}
