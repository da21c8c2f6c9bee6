package report

import (
	"slices"
	"strings"
)

// shortenNames shortens the names of one column as shortenName does, but keeps apart those that differ: of names that
// would become the same text, the arguments that tell them apart are shown instead of the first ones. Two names may
// still become the same where what tells them apart does not fit limit.
func shortenNames(names []string, limit int, mark string) map[string]string {
	short := map[string]string{}
	same := map[string][]string{} // names by what they are shortened to
	var order []string
	for _, n := range names {
		if _, seen := short[n]; seen {
			continue
		}
		s := elide(n, limit, ElideName, mark)
		short[n] = s
		if len(n) > maxName {
			continue
		}
		if same[s] == nil {
			order = append(order, s)
		}
		same[s] = append(same[s], n)
	}
	for _, s := range order {
		if group := same[s]; len(group) > 1 {
			for i, text := range distinguish(group, limit, mark) {
				short[group[i]] = text
			}
		}
	}
	return short
}

// collide reports whether shortening makes different names of a column the same.
func collide(names []string, limit int, mark string) bool {
	of := map[string]string{}
	for _, n := range names {
		s := elide(n, limit, ElideName, mark)
		if first, seen := of[s]; seen && first != n {
			return true
		}
		of[s] = n
	}
	return false
}

// splitName is a name cut into what can tell it from others: the function, its template arguments and its parameters;
// or, of a flat name (Triton, Tensile), its words.
type splitName struct {
	base       string
	args       []string // template arguments, then parameters
	parameters int      // index of the first parameter in args
	flat       bool     // args are words joined by "_"
}

// flatJoin is between the words of generated names.
const flatJoin = "_"

func split(name string) splitName {
	s := dropNamespaces(strings.TrimPrefix(strings.TrimSpace(name), "void "))
	list, params := -1, -1
	all := groups(s)
	for i, g := range all {
		if s[g.open] == '<' && g.depth == 0 && (list < 0 || g.open > all[list].open) {
			list = i
		}
		if s[g.open] == '(' && g.depth == 0 && g.open > 0 && (params < 0 || g.open > all[params].open) {
			params = i
		}
	}
	if list < 0 && params < 0 {
		words := strings.Split(s, flatJoin)
		return splitName{base: words[0], args: words[1:], parameters: len(words) - 1, flat: true}
	}
	out := splitName{base: s}
	if list >= 0 {
		out.base = s[:all[list].open]
		out.args = arguments(s[all[list].open+1 : all[list].end-1])
	} else {
		out.base = s[:all[params].open]
	}
	out.parameters = len(out.args)
	if params >= 0 && (list < 0 || all[params].open >= all[list].end) {
		out.args = append(out.args, arguments(s[all[params].open+1:all[params].end-1])...)
	}
	return out
}

// arguments cuts a list at its outer commas.
func arguments(body string) []string {
	ends := map[int]int{}
	for _, g := range groups(body) {
		ends[g.open] = g.end
	}
	var out []string
	start := 0
	for i := 0; i < len(body); i++ {
		if end, ok := ends[i]; ok {
			i = end - 1
		} else if body[i] == ',' {
			out = append(out, strings.TrimSpace(body[start:i]))
			start = i + 1
		}
	}
	return append(out, strings.TrimSpace(body[start:]))
}

func (s *splitName) arg(i int) string {
	if i < len(s.args) {
		return s.args[i]
	}
	return ""
}

// distinguish shortens different names that have the same beginning: the arguments are shown that tell them apart, as
// few as do.
func distinguish(names []string, limit int, mark string) []string {
	parts := make([]splitName, len(names))
	for i, n := range names {
		parts[i] = split(n)
	}
	chosen := telling(parts)
	texts := make([][]string, len(chosen)) // by argument and name
	for k, c := range chosen {
		for i := range parts {
			texts[k] = append(texts[k], parts[i].arg(c))
		}
	}
	out := make([]string, len(names))
	write := func(tight bool) (over int) {
		for i := range parts {
			out[i] = parts[i].show(chosen, column(texts, i), mark, tight)
			over = max(over, displayWidth(out[i])-limit)
		}
		return over
	}
	if write(false) <= 0 || write(true) <= 0 {
		return out
	}
	// The function gives way before the arguments do, but stays to be guessed.
	longest := 0
	for i := range parts {
		longest = max(longest, displayWidth(out[i])-displayWidth(parts[i].base))
	}
	for i := range parts {
		parts[i].base = elide(parts[i].base, max(limit-longest, min(leastBase, limit/3)), ElideTail, "")
	}
	for k := range texts {
		for i := range texts[k] {
			texts[k][i] = withoutCast(texts[k][i])
		}
	}
	for len(chosen) > 0 && write(true) > 0 && shortenLongest(texts, write(true), mark) {
	}
	for i := range out {
		out[i] = elide(out[i], limit, ElideTail, mark)
	}
	return out
}

// leastBase is how many cells of a function's name are kept, and leastArg of an argument.
const (
	leastBase = 6
	leastArg  = 4
)

// shortenLongest shortens the longest argument by at least over cells, or as far as an argument may be; it reports
// whether it could.
func shortenLongest(texts [][]string, over int, mark string) bool {
	longest, width := -1, 0
	for k := range texts {
		for _, t := range texts[k] {
			if w := displayWidth(t); w > width {
				longest, width = k, w
			}
		}
	}
	to := max(width-over, leastArg+len(mark))
	if longest < 0 || to >= width {
		return false
	}
	short := shortenNames(texts[longest], to, mark)
	for i, t := range texts[longest] {
		texts[longest][i] = short[t]
	}
	return true
}

func column(texts [][]string, i int) []string {
	out := make([]string, len(texts))
	for k := range texts {
		out[k] = texts[k][i]
	}
	return out
}

// maxArgs is how many arguments of a name are looked at, and maxName the longest name, in bytes, that is told apart:
// names are untrusted, and the search is quadratic.
const (
	maxArgs = 64
	maxName = 1 << 12
)

// telling chooses the arguments by which names differ, each time the one that tells most of the names apart that are
// still alike.
func telling(parts []splitName) []int {
	n := 0
	for i := range parts {
		n = min(max(n, len(parts[i].args)), maxArgs)
	}
	key := make([]string, len(parts)) // what the chosen arguments say
	for i := range parts {
		key[i] = parts[i].base
	}
	var chosen []int
	for count(key) < len(parts) {
		best, most := -1, count(key)
		for a := range n {
			if c := count(with(key, parts, a)); c > most {
				best, most = a, c
			}
		}
		if best < 0 {
			break
		}
		key = with(key, parts, best)
		chosen = append(chosen, best)
	}
	slices.Sort(chosen)
	return chosen
}

// with adds an argument to what is said of each name.
func with(key []string, parts []splitName, arg int) []string {
	out := make([]string, len(key))
	for i := range key {
		out[i] = key[i] + "\x00" + parts[i].arg(arg)
	}
	return out
}

// count is how many different texts there are.
func count(texts []string) int {
	seen := map[string]bool{}
	for _, t := range texts {
		seen[t] = true
	}
	return len(seen)
}

// show writes a name with some of its arguments: "f<2, ..., true>", or "f<2...true>" where room is tight.
func (s *splitName) show(chosen []int, texts []string, mark string, tight bool) string {
	if s.flat {
		return s.base + s.list(chosen, texts, 0, len(s.args), mark, flatJoin, true)
	}
	out := s.base
	if inner := s.list(chosen, texts, 0, s.parameters, mark, ", ", tight); inner != "" {
		out += "<" + inner + ">"
	}
	if inner := s.list(chosen, texts, s.parameters, max(len(s.args), s.parameters+1), mark, ", ", tight); inner != "" {
		out += "(" + inner + ")"
	}
	return out
}

// list writes the chosen of the arguments from one to another, with mark where some are missing between them.
func (s *splitName) list(chosen []int, texts []string, from, to int, mark, sep string, tight bool) string {
	var b strings.Builder
	next := from
	for k, c := range chosen {
		if c < from || c >= to || texts[k] == "" {
			continue
		}
		text := texts[k]
		switch first := b.Len() == 0; {
		case tight && c > next && (!first || s.flat):
			b.WriteString(mark)
		case !tight && c > next:
			if !first {
				b.WriteString(sep)
			}
			b.WriteString(mark + sep)
		case !first || s.flat:
			b.WriteString(sep)
		}
		if tight {
			text = withoutCast(text)
		}
		b.WriteString(text)
		next = c + 1
	}
	if b.Len() > 0 && next < min(to, len(s.args)) && (!tight || s.flat) {
		if !s.flat {
			b.WriteString(sep)
		}
		b.WriteString(mark)
	}
	return b.String()
}

// withoutCast drops the type in front of an enumerator's number: "(qtype)2" -> "2".
func withoutCast(arg string) string {
	if !strings.HasPrefix(arg, "(") {
		return arg
	}
	_, value, ok := strings.Cut(arg, ")")
	if !ok || value == "" || strings.Trim(value, "-0123456789") != "" {
		return arg
	}
	return value
}
