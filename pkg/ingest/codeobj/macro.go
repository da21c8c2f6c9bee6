package codeobj

import (
	"strconv"
	"strings"
)

// Limits of what macros may make of a listing.
const (
	maxMacroBytes = 16 << 20 // of all bodies together
	maxExpanded   = 1 << 20  // lines that come out of macros and repetitions
	maxMacroDepth = 64       // of macros in macros, and of conditions
)

// preprocessor expands what the assembler's macro language writes (GNU as
// manual: .macro, .rept, .if): hand-written listings make their kernels with it.
// What cannot be decided is taken, and unsure is set.
type preprocessor struct {
	// emit takes a line that is no directive of the macro language; eval gives
	// the value of an expression at this place, defined tells about a symbol.
	emit    func(line string) error
	eval    func(expr string) value
	defined func(name string) bool

	macros   map[string]*macro
	body     *macro // being collected
	nested   int    // openings in body that are not closed yet
	ifs      []condition
	size     int // bytes of all bodies
	expanded int // lines that came out of bodies
	calls    int // macros called, for \@
	depth    int
	unsure   bool
}

// macro is the body of a .macro, or of a .rept (then count is its expression).
type macro struct {
	name, count string
	params      []param
	lines       []string
}

type param struct{ name, value string }

// condition is an .if that is open: on is whether its branch at hand is
// assembled, done whether one was.
type condition struct{ on, done, unknown bool }

// line takes one line; text is the same without blanks around it.
func (p *preprocessor) line(line, text string) error {
	word, rest := splitWord(text)
	if p.body != nil {
		return p.collect(line, word)
	}
	if strings.HasPrefix(word, ".if") || strings.HasPrefix(word, ".else") || word == ".endif" {
		p.condition(word, stripComment(rest))
		return nil
	}
	for _, c := range p.ifs {
		if !c.on {
			return nil
		}
	}
	switch word {
	case ".macro":
		p.body = newMacro(stripComment(rest))
		return nil
	case ".rept":
		p.body = &macro{count: stripComment(rest)}
		return nil
	case ".irp", ".irpc":
		p.body, p.unsure = &macro{count: "0"}, true
		return nil
	case ".include":
		p.unsure = true
	}
	if m := p.macros[word]; m != nil {
		return p.call(m, stripComment(rest))
	}
	return p.emit(line)
}

// collect adds a line to the body that is being read.
func (p *preprocessor) collect(line, word string) error {
	switch word {
	case ".macro", ".rept", ".irp", ".irpc":
		p.nested++
	case ".endm", ".endmacro", ".endr":
		if p.nested == 0 {
			return p.close()
		}
		p.nested--
	}
	if p.size += len(line) + 16; p.size > maxMacroBytes {
		p.unsure = true
		return nil
	}
	p.body.lines = append(p.body.lines, strings.Clone(line))
	return nil
}

// close ends a body: a macro is kept, a repetition is assembled.
func (p *preprocessor) close() error {
	m := p.body
	p.body = nil
	if m.name != "" {
		if p.macros == nil {
			p.macros = make(map[string]*macro)
		}
		p.macros[m.name] = m
		return nil
	}
	n := p.eval(m.count)
	if !n.ok {
		p.unsure, n.n = true, 1
	}
	for range n.n {
		if p.expanded >= maxExpanded || len(m.lines) == 0 {
			break
		}
		if err := p.expand(m, nil); err != nil {
			return err
		}
	}
	return nil
}

// expand assembles the lines of a body with its parameters put in.
func (p *preprocessor) expand(m *macro, args []param) error {
	if p.depth >= maxMacroDepth {
		p.unsure = true
		return nil
	}
	p.depth++
	defer func() { p.depth-- }()
	calls := strconv.Itoa(p.calls)
	for _, line := range m.lines {
		if p.expanded++; p.expanded > maxExpanded {
			p.unsure = true
			return nil
		}
		line = substitute(line, args, calls)
		if err := p.line(line, strings.TrimSpace(line)); err != nil {
			return err
		}
	}
	return nil
}

func (p *preprocessor) call(m *macro, rest string) error {
	args := append([]param(nil), m.params...)
	for i, a := range splitArgs(rest) {
		if name, val, ok := strings.Cut(a, "="); ok {
			if at := indexParam(args, strings.TrimSpace(name)); at >= 0 {
				args[at].value = strings.TrimSpace(val)
				continue
			}
		}
		if i < len(args) {
			args[i].value = a
		}
	}
	p.calls++
	return p.expand(m, args)
}

func indexParam(params []param, name string) int {
	for i := range params {
		if params[i].name == name {
			return i
		}
	}
	return -1
}

// newMacro reads what stands behind .macro: a name, and parameters with defaults.
func newMacro(head string) *macro {
	end := strings.IndexAny(head, " \t,")
	if end < 0 {
		end = len(head)
	}
	name, rest := head[:end], strings.TrimPrefix(strings.TrimSpace(head[end:]), ",")
	m := &macro{name: strings.Clone(name)}
	for _, a := range splitArgs(rest) {
		key, val, _ := strings.Cut(a, "=")
		key, _, _ = strings.Cut(key, ":") // ":req", ":vararg"
		m.params = append(m.params, param{strings.Clone(strings.TrimSpace(key)), strings.Clone(strings.TrimSpace(val))})
	}
	return m
}

// splitArgs splits at commas outside brackets, or at blanks where there is none.
func splitArgs(s string) []string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	if !strings.Contains(s, ",") {
		return strings.Fields(s)
	}
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(s[start:]))
}

// substitute puts arguments in place of \name, the number of the call in place of
// \@, and nothing in place of \().
func substitute(line string, args []param, calls string) string {
	if !strings.Contains(line, `\`) {
		return line
	}
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(line, `\`)
		b.WriteString(before)
		if !ok || b.Len() > maxLine {
			return b.String()
		}
		line = after
		if rest, ok := strings.CutPrefix(after, "()"); ok {
			line = rest
			continue
		}
		if rest, ok := strings.CutPrefix(after, "@"); ok {
			b.WriteString(calls)
			line = rest
			continue
		}
		n := 0
		for n < len(after) && isSymbolByte(after[n]) && after[n] != '.' && after[n] != '$' && after[n] != '@' {
			n++
		}
		if at := indexParam(args, after[:n]); n > 0 && at >= 0 {
			b.WriteString(args[at].value)
			line = after[n:]
		} else {
			b.WriteByte('\\')
		}
	}
}

// condition follows .if, .else and .endif.
func (p *preprocessor) condition(word, rest string) {
	last := len(p.ifs) - 1
	switch {
	case word == ".endif":
		if last >= 0 {
			p.ifs = p.ifs[:last]
		}
	case word == ".else" && last >= 0:
		c := &p.ifs[last]
		c.on = c.unknown || !c.done
	case word == ".elseif" && last >= 0:
		c := &p.ifs[last]
		if c.done && !c.unknown {
			c.on = false
			return
		}
		p.decide(c, ".if", rest)
	case strings.HasPrefix(word, ".if"):
		if len(p.ifs) >= maxMacroDepth*16 {
			p.unsure = true
			return
		}
		c := condition{}
		p.decide(&c, word, rest)
		p.ifs = append(p.ifs, c)
	}
}

// decide sets whether the branch of a condition is assembled.
func (p *preprocessor) decide(c *condition, word, rest string) {
	var on, known bool
	switch word {
	case ".ifdef":
		on, known = p.defined(rest), true
	case ".ifndef", ".ifnotdef":
		on, known = !p.defined(rest), true
	case ".if", ".ifne", ".ifeq", ".ifgt", ".ifge", ".iflt", ".ifle":
		v := p.eval(rest)
		on, known = holds(word, v.n), v.ok
	}
	if !known {
		p.unsure = true
		on, c.unknown = true, true
	}
	c.on = on
	c.done = c.done || on
}

func holds(word string, n int64) bool {
	switch word {
	case ".ifeq":
		return n == 0
	case ".ifgt":
		return n > 0
	case ".ifge":
		return n >= 0
	case ".iflt":
		return n < 0
	case ".ifle":
		return n <= 0
	}
	return n != 0
}
