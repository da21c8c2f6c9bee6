package codeobj

import (
	"strconv"
	"strings"
)

// symbolTable holds the assignments of a listing (.set, .equ) as they are written
// and evaluates them on demand: LLVM assigns register counts of callees behind the
// kernels that use them.
type symbolTable struct {
	exprs map[string]string
	// done holds what was evaluated; a symbol being evaluated is there as unknown,
	// which ends cycles.
	done map[string]value
	// now holds the values that symbols have at the place that is being read: they
	// may be set again.
	now  map[string]int64
	size int // bytes kept in exprs and now
	g    generation
}

func newSymbolTable() symbolTable {
	return symbolTable{exprs: make(map[string]string), done: make(map[string]value), now: map[string]int64{nextFreeVGPR: 0, nextFreeSGPR: 0}}
}

// value is a 64-bit integer, or unknown.
type value struct {
	n  int64
	ok bool
}

const (
	maxSymbolBytes = 64 << 20 // of all assignments together
	maxExprDepth   = 512      // of nested parentheses and symbols
)

// define records an assignment. A symbol that is assigned twice, differently, has no
// single value and stays unknown.
func (t *symbolTable) define(name, expr string) {
	if v := t.at(expr); v.ok {
		if _, dup := t.now[name]; dup || t.size+len(name) <= maxSymbolBytes {
			if !dup {
				t.size += len(name)
			}
			t.now[strings.Clone(name)] = v.n
		}
	} else {
		delete(t.now, name)
	}
	old, dup := t.exprs[name]
	switch {
	case dup && old != expr:
		t.exprs[name] = ""
	case !dup && t.size+len(name)+len(expr) <= maxSymbolBytes:
		t.size += len(name) + len(expr)
		// The pieces of a line would keep the whole line alive.
		t.exprs[strings.Clone(name)] = strings.Clone(expr)
	}
}

// eval evaluates an expression as LLVM MC does, with the AMDGPU functions max, or,
// alignto, totalnumvgprs and extrasgprs (LLVM AMDGPUMCExpr.cpp). Symbols without a
// value make it unknown.
func (t *symbolTable) eval(expr string) value { return t.evalAt(expr, 0, false) }

// at evaluates an expression at the place that is being read, as LLVM puts the
// value of a symbol that is set in place of its name.
func (t *symbolTable) at(expr string) value { return t.evalAt(expr, 0, true) }

func (t *symbolTable) evalAt(expr string, depth int, now bool) value {
	p := exprParser{text: expr, depth: depth, symbols: t, now: now}
	v := p.binary(1)
	if p.next() != 0 {
		return value{}
	}
	return v
}

func (t *symbolTable) symbol(name string, depth int) value {
	if v, ok := t.done[name]; ok {
		return v
	}
	t.done[name] = value{}
	v := t.evalAt(t.exprs[name], depth+1, false)
	t.done[name] = v
	return v
}

// exprParser is a precedence-climbing parser over one expression.
type exprParser struct {
	text    string
	pos     int
	depth   int
	symbols *symbolTable
	now     bool // symbols have the values of the place that is being read
}

// next skips blanks and gives the next byte without taking it; 0 at the end.
func (p *exprParser) next() byte {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t') {
		p.pos++
	}
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

func (p *exprParser) take(c byte) bool {
	if p.next() != c || c == 0 {
		return false
	}
	p.pos++
	return true
}

// operator gives the binary operator that comes next, with the precedence of the GNU
// dialect (LLVM AsmParser.cpp getGNUBinOpPrecedence); 0 when there is none.
func (p *exprParser) operator() (op string, precedence int) {
	c := p.next()
	two := ""
	if p.pos+1 < len(p.text) {
		two = p.text[p.pos : p.pos+2]
	}
	switch two {
	case "||":
		return two, 1
	case "&&":
		return two, 2
	case "==", "!=", "<=", ">=", "<>":
		return two, 3
	case "<<", ">>":
		return two, 6
	}
	switch c {
	case '<', '>':
		return string(c), 3
	case '+', '-':
		return string(c), 4
	case '|', '^', '&':
		return string(c), 5
	case '*', '/', '%':
		return string(c), 6
	}
	return "", 0
}

func (p *exprParser) binary(least int) value {
	left := p.unary()
	for {
		op, precedence := p.operator()
		if precedence < least || precedence == 0 {
			return left
		}
		p.pos += len(op)
		right := p.binary(precedence + 1)
		left = apply(op, left, right)
	}
}

func apply(op string, a, b value) value {
	if !a.ok || !b.ok {
		return value{}
	}
	shift := uint64(b.n)
	if holds, ok := compare(op, a.n, b.n); ok {
		return truth(holds, -1)
	}
	switch op {
	case "||":
		return truth(a.n != 0 || b.n != 0, 1)
	case "&&":
		return truth(a.n != 0 && b.n != 0, 1)
	case "+":
		return value{a.n + b.n, true}
	case "-":
		return value{a.n - b.n, true}
	case "*":
		return value{a.n * b.n, true}
	case "/", "%":
		if b.n == 0 {
			return value{}
		}
		if op == "/" {
			return value{a.n / b.n, true}
		}
		return value{a.n % b.n, true}
	case "|":
		return value{a.n | b.n, true}
	case "^":
		return value{a.n ^ b.n, true}
	case "&":
		return value{a.n & b.n, true}
	case "<<":
		return value{a.n << min(shift, 63), shift < 64}
	case ">>":
		return value{int64(uint64(a.n) >> min(shift, 63)), shift < 64}
	}
	return value{}
}

// compare applies a comparison; ok is false for any other operator.
func compare(op string, a, b int64) (holds, ok bool) {
	switch op {
	case "==":
		return a == b, true
	case "!=", "<>":
		return a != b, true
	case "<":
		return a < b, true
	case "<=":
		return a <= b, true
	case ">":
		return a > b, true
	case ">=":
		return a >= b, true
	}
	return false, false
}

// truth is 0 or what LLVM's assembler has for true: -1 for comparisons, 1 for
// logical operators.
func truth(b bool, yes int64) value {
	if b {
		return value{yes, true}
	}
	return value{0, true}
}

func (p *exprParser) unary() value {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxExprDepth {
		return value{}
	}
	switch {
	case p.take('-'):
		v := p.unary()
		return value{-v.n, v.ok}
	case p.take('~'):
		v := p.unary()
		return value{^v.n, v.ok}
	case p.take('+'):
		return p.unary()
	case p.take('!'):
		v := p.unary()
		return value{truth(v.n == 0, 1).n, v.ok}
	case p.take('('):
		v := p.binary(1)
		return value{v.n, v.ok && p.take(')')}
	}
	return p.primary()
}

// primary reads a number, a symbol or a call.
func (p *exprParser) primary() value {
	p.next()
	start := p.pos
	for p.pos < len(p.text) && isSymbolByte(p.text[p.pos]) {
		p.pos++
	}
	word := p.text[start:p.pos]
	if word == "" {
		return value{}
	}
	if word[0] >= '0' && word[0] <= '9' {
		n, err := strconv.ParseInt(word, 0, 64)
		return value{n, err == nil}
	}
	if !p.take('(') {
		if p.now {
			n, ok := p.symbols.now[word]
			return value{n, ok}
		}
		return p.symbols.symbol(word, p.depth)
	}
	return p.call(word)
}

func isSymbolByte(c byte) bool {
	return c == '_' || c == '.' || c == '$' || c == '@' || c >= '0' && c <= '9' ||
		c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func (p *exprParser) call(name string) value {
	var args []int64
	ok := true
	for {
		v := p.binary(1)
		ok = ok && v.ok
		args = append(args, v.n)
		if !p.take(',') {
			break
		}
	}
	if !p.take(')') || !ok {
		return value{}
	}
	return p.symbols.g.function(name, args)
}

// function applies one of LLVM's AMDGPU functions (AMDGPUMCExpr.cpp).
func (g generation) function(name string, args []int64) value {
	switch {
	case name == "max":
		n := args[0]
		for _, a := range args[1:] {
			n = max(n, a)
		}
		return value{n, true}
	case name == "or":
		n := args[0]
		for _, a := range args[1:] {
			n |= a
		}
		return value{n, true}
	case name == "alignto" && len(args) == 2 && args[1] > 0:
		return value{alignTo(args[0], args[1]), true}
	case name == "totalnumvgprs" && len(args) == 2:
		return value{g.totalVGPRs(args[0], args[1]), true}
	case name == "extrasgprs" && len(args) == 3:
		return value{int64(g.extraSGPRs(args[0] != 0, args[1] != 0, args[2] != 0)), true}
	}
	return value{}
}

// defined reports whether a symbol is set, or is one of the assembler's own.
func (t *symbolTable) defined(name string) bool {
	_, now := t.now[name]
	_, set := t.exprs[name]
	return now || set
}
