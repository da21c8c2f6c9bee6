package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Envelope is what every JSON output begins with.
type Envelope struct {
	SchemaVersion int      `json:"schema_version"`
	ToolVersion   string   `json:"tool_version"`
	Command       string   `json:"command"`
	Inputs        []string `json:"inputs"`  // as the user gave them; an empty list, never null
	Partial       bool     `json:"partial"` // a damaged or missing part of the inputs is not in the result
	Warnings      []string `json:"warnings,omitempty"`
}

// JSON writes one object: the envelope's fields, then those of result, which must marshal to an object with other
// names. Two-space indent, map keys sorted, no HTML escaping, one line end after it. Characters that Escape would show
// as escapes (DEL, C1 controls, bidirectional overrides, ...) are written as JSON escapes, so that a terminal obeys
// none and a reader still gets them; bytes that are not UTF-8 become \ufffd, because JSON has no way to keep them.
//
// A NaN or an infinity in result is an error that names the field: JSON has neither. Nothing is written on an error
// other than the writer's.
func JSON(w io.Writer, env Envelope, result any) error {
	if env.Inputs == nil {
		env.Inputs = []string{}
	}
	head, err := marshal(env)
	if err != nil {
		return err
	}
	body, err := marshal(result)
	if err != nil {
		if path := nonFinite(reflect.ValueOf(result), "", 0); path != "" {
			return fmt.Errorf("result field %s: %w", path, err)
		}
		return err
	}
	merged, err := mergeObjects(head, body)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, asciiControls(merged), "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err = w.Write(out.Bytes())
	return err
}

// marshal is json.Marshal without HTML escaping.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// mergeObjects joins two JSON objects into one; a name in both is an error, as JSON readers would keep only one.
func mergeObjects(a, b []byte) ([]byte, error) {
	if len(b) == 0 || b[0] != '{' {
		return nil, errors.New("the result is not a JSON object")
	}
	var first, second map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(a, &first), json.Unmarshal(b, &second)); err != nil {
		return nil, err
	}
	for name := range first {
		if _, ok := second[name]; ok {
			return nil, fmt.Errorf("the result has a field %q, which belongs to the envelope", name)
		}
	}
	if len(second) == 0 {
		return a, nil
	}
	return slices.Concat(a[:len(a)-1], []byte(","), b[1:]), nil
}

// asciiControls writes every character that is not printable as a JSON escape. Outside of strings JSON is printable
// ASCII, and encoding/json has escaped the controls below U+0020 and replaced what is not UTF-8.
func asciiControls(in []byte) []byte {
	var out bytes.Buffer
	for len(in) > 0 {
		r, size := utf8.DecodeRune(in)
		switch {
		case unicode.IsPrint(r):
			out.Write(in[:size])
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		in = in[size:]
	}
	return out.Bytes()
}

// maxDepth bounds the search for a field; encoding/json refuses cycles beyond a depth of its own.
const maxDepth = 64

// nonFinite finds the first NaN or infinity in v, depth first and in the order of the output, and returns its path in
// the names of the output ("kernels[3].share_pct"), "" if there is none.
func nonFinite(v reflect.Value, path string, depth int) string {
	if depth > maxDepth {
		return ""
	}
	depth++
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if !finite(v.Float()) {
			return path
		}
	case reflect.Pointer, reflect.Interface:
		return nonFinite(v.Elem(), path, depth)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if p := nonFinite(v.Index(i), fmt.Sprintf("%s[%d]", path, i), depth); p != "" {
				return p
			}
		}
	case reflect.Map:
		return nonFiniteInMap(v, path, depth)
	case reflect.Struct:
		return nonFiniteInStruct(v, path, depth)
	}
	return ""
}

func nonFiniteInMap(v reflect.Value, path string, depth int) string {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		return strings.Compare(fmt.Sprint(a.Interface()), fmt.Sprint(b.Interface()))
	})
	for _, k := range keys {
		if p := nonFinite(v.MapIndex(k), join(path, fmt.Sprint(k.Interface())), depth); p != "" {
			return p
		}
	}
	return ""
}

func nonFiniteInStruct(v reflect.Value, path string, depth int) string {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		embedded := field.Anonymous && name == ""
		if name == "-" || !field.IsExported() && !embedded {
			continue
		}
		at := path
		if !embedded {
			if name == "" {
				name = field.Name
			}
			at = join(path, name)
		}
		if p := nonFinite(v.Field(i), at, depth); p != "" {
			return p
		}
	}
	return ""
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
