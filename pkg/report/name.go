package report

import (
	"cmp"
	"slices"
	"strings"
)

// ShortenName shortens a demangled C++ kernel name to at most limit terminal cells, giving up what tells kernels apart
// least first, and stopping as soon as the name fits:
//
//  1. the return type "void " (always dropped: every kernel has it);
//  2. parameter lists and the qualifiers behind them, lambdas' too; casts, "(anonymous namespace)" and "operator()" stay;
//  3. namespaces, of the kernel and of its template arguments;
//  4. template argument lists, which become "<...>", or "<4, ...>" where there is room, the innermost and among those
//     the longest first;
//  5. the end, or the middle of flat names (Triton, Tensile), whose ends tell apart too: it becomes "...".
//
// A name whose brackets do not match is shortened as far as its matching ones allow. No character is split. limit below 1
// gives "".
func ShortenName(name string, limit int) string { return shortenName(name, limit, "...") }

func shortenName(name string, limit int, mark string) string {
	if limit < 1 {
		return ""
	}
	s := strings.TrimSpace(name)
	if rest := strings.TrimSpace(strings.TrimPrefix(s, "void ")); rest != "" {
		s = rest
	}
	steps := []func(string) string{
		dropParameters,
		dropNamespaces,
		func(s string) string { return collapseTemplates(s, limit) },
	}
	for _, step := range steps {
		if displayWidth(s) <= limit {
			return s
		}
		s = step(s)
	}
	if strings.Contains(s, "<") {
		return elide(s, limit, ElideTail, mark)
	}
	return elide(s, limit, ElideMiddle, mark)
}

// group is a matching pair of brackets in a C++ name.
type group struct {
	open, end int // byte offsets: the opening bracket, and one behind the closing one
	depth     int // how many template argument lists enclose it
	parent    int // open of the innermost list that does; -1 for none
}

// operatorSymbols are the C++ operators spelt with brackets or with characters that look like them, longest first.
var operatorSymbols = [...]string{"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">"}

// groups finds the matching brackets of a name. Brackets in an operator's name, arrows, and brackets without a partner
// are no groups; any other closing bracket discards the "<" left open behind its partner (a less-than).
func groups(s string) []group {
	var out []group
	var open stack
	for i := 0; i < len(s); i++ {
		if n := operatorName(s, i); n > 0 {
			i += n - 1
			continue
		}
		switch c := s[i]; c {
		case '<', '(', '[', '{':
			open.push(s, i)
		case '>':
			if i > 0 && s[i-1] == '-' {
				continue
			}
			out = open.close(s, i, out)
		case ')', ']', '}':
			open.discardTemplates(s)
			out = open.close(s, i, out)
		}
	}
	return out
}

// stack is the brackets that are open at one place of a name.
type stack struct {
	groups    []group
	templates []int // open of those that are "<"
}

func (k *stack) push(s string, i int) {
	g := group{open: i, depth: len(k.templates), parent: -1}
	if g.depth > 0 {
		g.parent = k.templates[g.depth-1]
	}
	k.groups = append(k.groups, g)
	if s[i] == '<' {
		k.templates = append(k.templates, i)
	}
}

func (k *stack) pop(s string) group {
	g := k.groups[len(k.groups)-1]
	k.groups = k.groups[:len(k.groups)-1]
	if s[g.open] == '<' {
		k.templates = k.templates[:len(k.templates)-1]
	}
	return g
}

// top returns the innermost open bracket, 0 when there is none.
func (k *stack) top(s string) byte {
	if len(k.groups) == 0 {
		return 0
	}
	return s[k.groups[len(k.groups)-1].open]
}

func opener(closing byte) byte {
	const pairs = "<>()[]{}"
	return pairs[strings.IndexByte(pairs, closing)-1]
}

func (k *stack) discardTemplates(s string) {
	for k.top(s) == '<' {
		k.pop(s)
	}
}

// close matches the closing bracket at i and appends the group; a bracket that does not match is ignored.
func (k *stack) close(s string, i int, out []group) []group {
	if k.top(s) != opener(s[i]) {
		return out
	}
	g := k.pop(s)
	g.end = i + 1
	return append(out, g)
}

// operatorName returns the length of an operator's name ("operator<<") that begins at i, 0 if none does or if its
// symbol holds no bracket.
func operatorName(s string, i int) int {
	const word = "operator"
	if s[i] != 'o' || !strings.HasPrefix(s[i:], word) || i > 0 && identByte(s[i-1]) {
		return 0
	}
	rest := s[i+len(word):]
	for _, symbol := range operatorSymbols {
		if strings.HasPrefix(rest, symbol) {
			return len(word) + len(symbol)
		}
	}
	return 0
}

// identByte reports whether c can stand in an identifier; bytes of non-ASCII characters can.
func identByte(c byte) bool {
	return c >= 0x80 || c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// qualifiers may follow a parameter list.
var qualifiers = [...]string{" const", " volatile", " noexcept", " &&", " &"}

// dropParameters removes parenthesised lists that follow a name, "foo<int>(float*) const" -> "foo<int>". Parentheses
// that follow nothing of the kind are casts or "(anonymous namespace)".
func dropParameters(s string) string {
	var cuts []group
	for _, g := range groups(s) {
		if s[g.open] != '(' || g.open == 0 {
			continue
		}
		if prev := s[g.open-1]; identByte(prev) || strings.IndexByte(")]}>'", prev) >= 0 {
			g.end = skipQualifiers(s, g.end)
			cuts = append(cuts, g)
		}
	}
	return replace(s, cuts, "")
}

func skipQualifiers(s string, i int) int {
	for {
		start := i
		for _, q := range qualifiers {
			rest, ok := strings.CutPrefix(s[i:], q)
			if ok && (rest == "" || !identByte(rest[0])) {
				i += len(q)
			}
		}
		if i == start {
			return i
		}
	}
}

// replace puts with in place of byte ranges; a range inside another goes with it.
func replace(s string, ranges []group, with string) string {
	slices.SortFunc(ranges, func(a, b group) int { return cmp.Compare(a.open, b.open) })
	var b strings.Builder
	done := 0
	for _, g := range ranges {
		if g.open < done {
			continue
		}
		b.WriteString(s[done:g.open])
		b.WriteString(with)
		done = g.end
	}
	b.WriteString(s[done:])
	return b.String()
}

// dropNamespaces removes "at::native::" and "(anonymous namespace)::" in front of a name. What a lambda or an operator
// belongs to stays ("at::f::{lambda#1}" -> "f::{lambda#1}"), and so does what follows a class ("A<1>::b::run").
func dropNamespaces(s string) string {
	s = strings.ReplaceAll(s, "(anonymous namespace)::", "")
	var b strings.Builder
	for i := 0; i < len(s); {
		end := i
		for end < len(s) && identByte(s[end]) {
			end++
		}
		if end == i {
			b.WriteByte(s[i])
			i++
			continue
		}
		rest, qualifies := strings.CutPrefix(s[end:], "::")
		if qualifies && plainName(rest) && !strings.HasSuffix(b.String(), "::") {
			i = end + len("::")
			continue
		}
		b.WriteString(s[i:end])
		i = end
	}
	return b.String()
}

// plainName reports whether s begins with an identifier that says something by itself.
func plainName(s string) bool {
	end := 0
	for end < len(s) && identByte(s[end]) {
		end++
	}
	return end > 0 && s[:end] != "operator"
}

// collapsed stands for the content of a template argument list, whatever mark elision uses: it is part of the name.
const collapsed = "..."

// collapseTemplates replaces the content of template argument lists by "..." until s fits limit cells or none is left.
// The last list it takes keeps the leading arguments for which there is room.
func collapseTemplates(s string, limit int) string {
	lists := slices.DeleteFunc(groups(s), func(g group) bool { return s[g.open] != '<' })
	cells := widthBefore(s)
	content := func(g group) int { return cells[g.end-1] - cells[g.open+1] }
	slices.SortFunc(lists, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.depth, a.depth), cmp.Compare(content(b), content(a)), cmp.Compare(a.open, b.open))
	})
	need := cells[len(s)] - limit
	gone := map[int]int{} // cells that lists inside the one that begins at this byte have lost
	var chosen []group
	for _, g := range lists { // the innermost come first, so gone is complete for g
		if gain := content(g) - gone[g.open] - len(collapsed); gain > 0 {
			if gain >= need {
				return collapseLast(s, chosen, g, limit)
			}
			need -= gain
			gone[g.open] += gain
			chosen = append(chosen, group{open: g.open + 1, end: g.end - 1})
		}
		gone[g.parent] += gone[g.open]
	}
	return replace(s, chosen, collapsed)
}

// collapseLast collapses the chosen ranges, and of the list last, which encloses some of them, what does not fit limit.
func collapseLast(s string, chosen []group, last group, limit int) string {
	part := func(from, to int) string {
		var inside []group
		for _, g := range chosen {
			if from <= g.open && g.end <= to {
				inside = append(inside, group{open: g.open - from, end: g.end - from})
			}
		}
		return replace(s[from:to], inside, collapsed)
	}
	head, body, tail := part(0, last.open+1), part(last.open+1, last.end-1), part(last.end-1, len(s))
	return head + leadingArguments(body, limit-displayWidth(head)-displayWidth(tail)) + tail
}

// leadingArguments cuts a template argument list behind the last argument that leaves room for ", ...".
func leadingArguments(body string, room int) string {
	ends := map[int]int{}
	for _, g := range groups(body) {
		ends[g.open] = g.end
	}
	cells := widthBefore(body)
	kept := ""
	for i := 0; i < len(body); i++ {
		if end, ok := ends[i]; ok {
			i = end - 1
			continue
		}
		if body[i] == ',' && cells[i]+len(", "+collapsed) <= room {
			kept = body[:i] + ", "
		}
	}
	return kept + collapsed
}

// widthBefore gives for every byte offset of s, its length included, the cells in front of it.
func widthBefore(s string) []int {
	cells := make([]int, len(s)+1)
	n := 0
	for i, r := range s {
		cells[i] = n
		n += runeWidth(r)
	}
	cells[len(s)] = n
	return cells
}
