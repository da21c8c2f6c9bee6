package capture

import (
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Names are what one kernel is called. An empty one is not known.
type Names struct {
	// Symbol is the name in the code object, without ".kd"; mangled if the
	// compiler mangled it.
	Symbol string
	// Demangled is the symbol as C++, where it is a mangled one.
	Demangled string
	// Display is the name that the source shows.
	Display string
}

// NamesOf makes the names of a kernel of what a source calls it: a symbol, a
// name to show, either of them mangled or with ".kd", either of them empty.
func NamesOf(symbol, display string) Names {
	n := Names{Symbol: trace.BareName(symbol), Display: trace.BareName(display)}
	if isMangled(n.Display) {
		if n.Symbol == "" {
			n.Symbol = n.Display
		}
		n.Display = ""
	}
	n.Demangled = demangled(n.Symbol)
	return n
}

// TracedNames are the names of a kernel of a thread trace.
func TracedNames(k trace.Kernel) Names { return NamesOf(k.Symbol, k.Demangled) }

// Shown is the name to show: that of the source where it is readable.
func (n Names) Shown() string {
	for _, s := range [...]string{n.Display, n.Demangled, n.Symbol} {
		if s != "" {
			return s
		}
	}
	return trace.Kernel{}.Name()
}

// All lists the names that there are, for a user to select by.
func (n Names) All() []string {
	var out []string
	for _, s := range [...]string{n.Symbol, n.Demangled, n.Display} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Keys are what the names of one kernel have in common, however sources spell
// them: names that are Same share a key.
func (n Names) Keys() []string {
	keys := n.All()
	for i, s := range keys {
		keys[i] = spaceless(s)
	}
	return keys
}

// Same reports whether two sources speak of one kernel: by symbol where both
// are mangled, for display names may be cut short or lack parameters, else by
// any name. Demanglers differ in their spaces.
func (n Names) Same(o Names) bool {
	if isMangled(n.Symbol) && isMangled(o.Symbol) {
		return n.Symbol == o.Symbol
	}
	for _, a := range n.All() {
		for _, b := range o.All() {
			if a == b || spaceless(a) == spaceless(b) {
				return true
			}
		}
	}
	return false
}

// Index finds what is known of kernels by their names, without comparing each
// with each.
type Index[T any] struct {
	names []Names
	of    []T
	byKey map[string][]int
}

// Add adds something that is known of a kernel.
func (x *Index[T]) Add(n Names, of T) {
	if x.byKey == nil {
		x.byKey = map[string][]int{}
	}
	for _, key := range n.Keys() {
		x.byKey[key] = append(x.byKey[key], len(x.of))
	}
	x.names, x.of = append(x.names, n), append(x.of, of)
}

// Find returns what was added of the Same kernel, in that order.
func (x *Index[T]) Find(n Names) []T {
	var at []int
	for _, key := range n.Keys() {
		for _, i := range x.byKey[key] {
			if x.names[i].Same(n) {
				at = append(at, i)
			}
		}
	}
	slices.Sort(at)
	var out []T
	for _, i := range slices.Compact(at) {
		out = append(out, x.of[i])
	}
	return out
}

// called are the kernels of which a source says more than one name, each once.
func called(t *trace.Trace) *Index[Names] {
	x, seen := &Index[Names]{}, map[[2]string]bool{}
	add := func(symbol, display string) {
		if key := [2]string{symbol, display}; !seen[key] {
			seen[key] = true
			n := NamesOf(symbol, display)
			x.Add(n, n)
		}
	}
	for _, tt := range t.ThreadTraces {
		for _, k := range tt.Kernels {
			add(k.Symbol, k.Demangled)
		}
	}
	for _, r := range t.Runs {
		for i := range r.Kernels {
			add(r.Kernels[i].Symbol, r.Kernels[i].Name)
		}
	}
	for _, r := range t.CounterRuns {
		for i := range r.Kernels {
			add(r.Kernels[i].Symbol, r.Kernels[i].Name)
		}
	}
	for _, co := range t.CodeObjects {
		for i := range co.Kernels {
			add(co.Kernels[i].Symbol, co.Kernels[i].Name)
		}
	}
	return x
}

func spaceless(s string) string { return strings.ReplaceAll(s, " ", "") }

func isMangled(name string) bool { return strings.HasPrefix(name, "_Z") }

// maxMangled bounds the names that are demangled, maxDemangled (a power of two)
// what they may become: substitutions make them grow exponentially.
const (
	maxMangled   = 1 << 14
	maxDemangled = 16
)

// demangled is a mangled symbol as C++, "" for any other.
func demangled(symbol string) string {
	if !isMangled(symbol) || len(symbol) > maxMangled {
		return ""
	}
	s, err := demangle.ToString(symbol, demangle.MaxLength(maxDemangled))
	if err != nil {
		return ""
	}
	return s
}

// Shape is a launch in work-items over all dimensions; 0 is unknown.
type Shape struct {
	Workgroup  int64 `json:"workgroup_size,omitempty"`
	Grid       int64 `json:"grid_size,omitempty"`
	Workgroups int64 `json:"workgroups,omitempty"`
	// Ran is what a trace saw of the launch; nil for nothing.
	Ran *Ran `json:"-"`
}

// Fits reports whether two shapes can be of one launch: no figure that both
// know differs, and it has the waves that a trace saw.
func (s Shape) Fits(o Shape) bool {
	agree := func(a, b int64) bool { return a == 0 || b == 0 || a == b }
	return agree(s.Workgroup, o.Workgroup) && agree(s.Grid, o.Grid) && s.Ran.shaped(o) && o.Ran.shaped(s)
}

// shaped is is for a shape.
func (r *Ran) shaped(s Shape) bool {
	if s.Workgroup <= 0 || s.Grid <= 0 {
		return true
	}
	fits, _ := r.has((s.Grid-1)/s.Workgroup+1, s.Workgroup)
	return fits
}

// Take fills in what only o knows.
func (s *Shape) Take(o Shape) {
	for _, f := range [][2]*int64{{&s.Workgroup, &o.Workgroup}, {&s.Grid, &o.Grid}, {&s.Workgroups, &o.Workgroups}} {
		if *f[0] == 0 {
			*f[0] = *f[1]
		}
	}
	if s.Ran == nil {
		s.Ran = o.Ran
	}
}
