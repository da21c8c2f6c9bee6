package view

import (
	"fmt"
	"slices"
	"strings"
)

// Flag is one flag of a command.
type Flag struct {
	Name string
	// Letter is its short form; "" for none.
	Letter string
	// Default gives the type, too: bool, int, float64, string or []string.
	Default any
	// Usage is its line in the help, with the name of its value in `quotes`.
	Usage string
	// Param is the parameter that takes its value, 1 for true: OWNER.NAME.
	Param string
	// Words are the values that a string may have. Its parameter takes the
	// position among them.
	Words []string
}

// Common are the flags that every command has.
func Common() []Flag {
	return []Flag{
		{Name: "format", Default: "text", Usage: "output `format`: text, json, csv or markdown"},
		{Name: "output", Letter: "o", Default: "", Usage: "write to `file` instead of standard output; - is standard output"},
		{Name: "force", Default: false, Usage: "let --output overwrite a file that is no capture"},
		{Name: "kernel", Default: "", Usage: "only kernels whose name matches this `regexp`, or '#N' for row N"},
		{Name: "device", Default: "", Usage: "`name` of the device or architecture (MI300X, gfx950)"},
		{Name: "verbose", Letter: "v", Default: false, Usage: "show more"},
		{Name: "quiet", Letter: "q", Default: false, Usage: "no warnings on standard error"},
		{Name: "color", Default: "auto", Usage: "colour: auto, always or never"},
		{Name: "full-names", Default: false, Usage: "do not shorten kernel names"},
		{Name: "set", Default: []string{}, Usage: "change a parameter: `OWNER.PARAM=VALUE` (see 'rocanalyze rules')"},
		{Name: "rules", Default: "", Usage: "`file` of OWNER.PARAM=VALUE lines; # begins a comment"},
		{Name: "fail-on", Default: "", Words: []string{"", "low", "medium", "high"}, Usage: "exit 1 on a finding of this `severity` or a higher one: low, medium or high"},
	}
}

// Top is the flag that bounds what is shown.
func Top(n int, usage string) Flag {
	return Flag{Name: "top", Default: n, Usage: usage + "; 0 shows all"}
}

// AllWaves is the flag of the commands that leave out waves without work.
func AllWaves() Flag {
	return Flag{Name: "all-waves", Default: false, Usage: "count waves that did no work", Param: "stalls.all_waves"}
}

// Values are the values of flags by name. Those of flags that a command does
// not have are zero.
type Values struct {
	values map[string]any // pointers to the types of Flag.Default
	given  func(name string) bool
}

// NewValues makes values of pointers by name; given tells which of them the
// user set.
func NewValues(pointers map[string]any, given func(name string) bool) Values {
	return Values{pointers, given}
}

// Defaults are the values of flags of which the user set none.
func Defaults(flags []Flag) Values {
	out := map[string]any{}
	for _, f := range flags {
		switch def := f.Default.(type) {
		case bool:
			out[f.Name] = &def
		case int:
			out[f.Name] = &def
		case float64:
			out[f.Name] = &def
		case string:
			out[f.Name] = &def
		case []string:
			out[f.Name] = &def
		}
	}
	return Values{out, func(string) bool { return false }}
}

// Text is the value of a string flag.
func (v Values) Text(name string) string { return value[string](v, name) }

// Int is the value of an int flag.
func (v Values) Int(name string) int { return value[int](v, name) }

// Number is the value of a float64 flag.
func (v Values) Number(name string) float64 { return value[float64](v, name) }

// Is is the value of a bool flag.
func (v Values) Is(name string) bool { return value[bool](v, name) }

// List is the value of a flag that may stand several times.
func (v Values) List(name string) []string { return value[[]string](v, name) }

// Given reports whether the user set a flag.
func (v Values) Given(name string) bool { return v.given(name) }

func value[T any](v Values, name string) T {
	p, ok := v.values[name].(*T)
	if !ok {
		var zero T
		return zero
	}
	return *p
}

// Check refuses values that flags may not have.
func (v Values) Check(flags []Flag) error {
	for _, f := range flags {
		if s := v.Text(f.Name); len(f.Words) > 0 && !slices.Contains(f.Words, s) {
			return OneOf("--"+f.Name, s, f.Words)
		}
	}
	if n := v.Int("top"); n < 0 {
		return fmt.Errorf("--top is %d: give 0 for all rows, or a positive number", n)
	}
	return nil
}

// OneOf is the error of a value that is none of those allowed.
func OneOf(what, value string, allowed []string) error {
	allowed = slices.DeleteFunc(slices.Clone(allowed), func(s string) bool { return s == "" })
	last := len(allowed) - 1
	return fmt.Errorf("%s is %q: use %s or %s", what, value, strings.Join(allowed[:last], ", "), allowed[last])
}

// Params sets the parameters that flags stand for.
func (v Values) Params(flags []Flag, to map[string]float64) {
	for _, f := range flags {
		if f.Param == "" {
			continue
		}
		switch f.Default.(type) {
		case bool:
			if v.Is(f.Name) {
				to[f.Param] = 1
			}
		case int:
			to[f.Param] = float64(v.Int(f.Name))
		case float64:
			to[f.Param] = v.Number(f.Name)
		case string:
			to[f.Param] = float64(slices.Index(f.Words, v.Text(f.Name)))
		}
	}
}
