package counters

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// expr is a parsed formula: numbers, names of counters and facts, + - * / and
// parentheses. The text of a formula is thereby also what is computed.
type expr struct {
	op          byte // '+', '-', '*', '/', 'n' for a number, 'v' for a name
	value       float64
	name        string
	left, right *expr
}

// parse reads a formula. It fails with the place of what it cannot read.
func parse(text string) (*expr, error) {
	p := &formula{text: text}
	e, err := p.sum()
	if err != nil {
		return nil, err
	}
	if p.skip(); p.at < len(p.text) {
		return nil, p.fail("an operator")
	}
	return e, nil
}

type formula struct {
	text  string
	at    int
	depth int
}

func (p *formula) skip() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

func (p *formula) fail(want string) error {
	return fmt.Errorf("formula %q: %s expected at byte %d", p.text, want, p.at)
}

func (p *formula) sum() (*expr, error) { return p.chain("+-", p.product) }

func (p *formula) product() (*expr, error) { return p.chain("*/", p.operand) }

// chain reads operands of one precedence, from the left.
func (p *formula) chain(ops string, next func() (*expr, error)) (*expr, error) {
	left, err := next()
	for err == nil {
		if p.skip(); p.at == len(p.text) || !strings.ContainsRune(ops, rune(p.text[p.at])) {
			return left, nil
		}
		op := p.text[p.at]
		p.at++
		var right *expr
		right, err = next()
		left = &expr{op: op, left: left, right: right}
	}
	return nil, err
}

// maxDepth bounds parentheses.
const maxDepth = 32

func (p *formula) operand() (*expr, error) {
	if p.skip(); p.at == len(p.text) {
		return nil, p.fail("a number, a name or (")
	}
	if p.text[p.at] == '(' {
		if p.depth++; p.depth > maxDepth {
			return nil, p.fail("fewer parentheses")
		}
		p.at++
		e, err := p.sum()
		if err != nil {
			return nil, err
		}
		if p.skip(); p.at == len(p.text) || p.text[p.at] != ')' {
			return nil, p.fail(")")
		}
		p.at++
		p.depth--
		return e, nil
	}
	start := p.at
	for p.at < len(p.text) && wordByte(p.text[p.at]) {
		p.at++
	}
	word := p.text[start:p.at]
	switch {
	case word == "":
		return nil, p.fail("a number, a name or (")
	case word[0] >= 'A' && word[0] <= 'Z':
		return &expr{op: 'v', name: word}, nil
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil {
		p.at = start
		return nil, p.fail("a number")
	}
	return &expr{op: 'n', value: v}, nil
}

func wordByte(c byte) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// names lists what the formula needs, each once, in order.
func (e *expr) names() []string {
	if e == nil {
		return nil
	}
	if e.op == 'v' {
		return []string{e.name}
	}
	out := e.left.names()
	for _, n := range e.right.names() {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// eval computes the formula. absent names what is missing or the division by
// zero that leaves no value; it is "" when there is one.
func (e *expr) eval(lookup func(name string) (float64, bool)) (value float64, absent string) {
	switch e.op {
	case 'n':
		return e.value, ""
	case 'v':
		v, ok := lookup(e.name)
		if !ok {
			return 0, e.name + " is not known"
		}
		return v, ""
	}
	a, absent := e.left.eval(lookup)
	if absent != "" {
		return 0, absent
	}
	b, absent := e.right.eval(lookup)
	if absent != "" {
		return 0, absent
	}
	switch e.op {
	case '+':
		return a + b, ""
	case '-':
		return a - b, ""
	case '*':
		return a * b, ""
	}
	if b == 0 {
		return 0, e.right.String() + " is zero"
	}
	return a / b, ""
}

// String writes the formula with the parentheses that it needs.
func (e *expr) String() string {
	switch e.op {
	case 'n':
		return strconv.FormatFloat(e.value, 'f', -1, 64)
	case 'v':
		return e.name
	}
	side := func(x *expr, right bool) string {
		s := x.String()
		low := x.op == '+' || x.op == '-'
		tight := e.op == '*' || e.op == '/'
		if tight && low || right && (e.op == '-' && low || e.op == '/' && (x.op == '*' || x.op == '/')) {
			return "(" + s + ")"
		}
		return s
	}
	return side(e.left, false) + " " + string(e.op) + " " + side(e.right, true)
}
