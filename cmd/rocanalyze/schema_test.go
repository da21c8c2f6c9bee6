package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rocanalyze/rocanalyze/analyzers"
	"github.com/rocanalyze/rocanalyze/analyzers/counters"
	"github.com/rocanalyze/rocanalyze/pkg/report"
)

const schemaDir = "../../schema"

// outputs are the machine outputs of all commands by name.
func outputs() map[string]any {
	out := map[string]any{
		"devices": deviceOutput{}, "metrics": metricsOutput{},
		"query": queryOutput{}, "rules": rulesOutput{}, "explain": explainOutput{},
	}
	for _, c := range analyzers.Commands() {
		out[c.Name()] = c.Output
	}
	return out
}

// TestSchemas compares the JSON Schemas in the repository with those that the
// types of the results give; go test ./cmd/rocanalyze -run Schemas -update
// rewrites them.
func TestSchemas(t *testing.T) {
	docs := fieldDocs(t)
	var want []string
	for name, out := range outputs() {
		want = append(want, name+".json")
		got, err := json.MarshalIndent(schemaOf(name, out, docs), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
		file := filepath.Join(schemaDir, name+".json")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, got) {
			t.Errorf("schema/%s.json is not what the types give (%v): make schemas", name, err)
		}
	}
	slices.Sort(want)
	if have := names(t, schemaDir); !slices.Equal(have, want) {
		t.Errorf("schema/ holds %v, want %v", have, want)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// TestOutputsFollowSchemas validates the JSON of the scripts, and that of every
// command over every fixture.
func TestOutputsFollowSchemas(t *testing.T) {
	schemas := map[string]*jsonschema.Schema{}
	for name := range outputs() {
		s, err := jsonschema.NewCompiler().Compile(filepath.Join(schemaDir, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		schemas[name] = s
	}
	validate := func(where string, text []byte) {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", where, err)
			return
		}
		command, _ := v.(map[string]any)["command"].(string)
		if schemas[command] == nil {
			t.Errorf("%s: no schema for command %q", where, command)
		} else if err := schemas[command].Validate(v); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	golden := 0
	for _, file := range scripts {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			if bytes.HasPrefix(f.Data, []byte("{\n  \"schema_version\"")) {
				golden++
				validate(file+": "+f.Name, f.Data)
			}
		}
	}
	ran := 0
	for _, args := range fixtureCommands(t, "json") {
		var stdout, stderr bytes.Buffer
		// Many fixtures hold nothing for a command, or are damaged on purpose:
		// what is printed all the same has to follow the schema.
		_ = run(t.Context(), os.Stdin, &stdout, &stderr, func(string) string { return "" }, args)
		if stdout.Len() > 0 {
			ran++
			validate(strings.Join(args, " "), stdout.Bytes())
		}
	}
	if golden < 3 || ran < 50 {
		t.Errorf("validated %d golden outputs and %d of fixtures: too few", golden, ran)
	}
}

// fixtureCommands are command lines over all fixtures, and those that need none.
func fixtureCommands(t *testing.T, format string) [][]string {
	t.Helper()
	out := [][]string{
		{"devices"},
		{"devices", "gfx950"},
		{"metrics"},
		{"metrics", "l2_hit_pct"},
		{"rules"},
		{"explain"},
		{"explain", "latency", "loops"},
		{"demo"},
		{"query", "../../fixtures/rocpd/gemm.db", "SELECT * FROM kernels"},
		{"occupancy", "--device", "MI300X", "--vgpr", "134", "--workgroup", "256", "--what-if", "vgpr", "--llvm-rule"},
		{"roofline", "--gemm", "4096,4096,4096", "--dtype", "bf16", "--device", "MI355X"},
	}
	for _, pattern := range []string{"att/*", "att/judged/*", "pmc/*", "pmc/judged/*", "rocpd/*"} {
		paths, err := filepath.Glob("../../fixtures/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			for _, c := range analyzers.Commands() {
				out = append(out, []string{c.Name(), p})
			}
		}
	}
	for i := range out {
		out[i] = append(out[i], "--format", format)
	}
	return out
}

// schemaMaker collects the definitions of a schema.
type schemaMaker struct {
	docs map[string]string
	defs map[string]any
}

// schemaOf is the JSON Schema of a command's output: the envelope's fields and
// those of the result.
func schemaOf(command string, result any, docs map[string]string) map[string]any {
	m := &schemaMaker{docs, map[string]any{}}
	o := object{properties: map[string]any{}}
	m.fields(reflect.TypeFor[report.Envelope](), &o)
	m.fields(reflect.TypeOf(result), &o)
	o.properties["command"] = map[string]any{"const": command}
	out := o.schema("What 'rocanalyze " + command + " --format json' writes.")
	out["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	out["title"] = "rocanalyze " + command
	out["$defs"] = m.defs
	return out
}

// object is a schema of an object that is being made.
type object struct {
	properties map[string]any
	required   []string
}

func (o *object) schema(doc string) map[string]any {
	out := map[string]any{"type": "object", "properties": o.properties, "additionalProperties": false}
	if len(o.required) > 0 {
		out["required"] = o.required
	}
	if doc != "" {
		out["description"] = doc
	}
	return out
}

// fields adds those of a struct, of the structs that it embeds as well.
func (m *schemaMaker) fields(t reflect.Type, o *object) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for f := range t.Fields() {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			m.fields(f.Type, o)
			continue
		case !f.IsExported() || name == "-":
			continue
		}
		if name == "" {
			name = f.Name
		}
		optional := strings.Contains(opts, "omitempty") || strings.Contains(opts, "omitzero")
		s := m.value(f.Type, !optional)
		if doc := m.docs[key(t)+"."+f.Name]; doc != "" {
			s["description"] = doc
		}
		o.properties[name] = s
		if !optional {
			o.required = append(o.required, name)
		}
	}
}

var (
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
)

// value is the schema of a value; null says that nil pointers are written.
func (m *schemaMaker) value(t reflect.Type, null bool) map[string]any {
	switch {
	case t.Implements(jsonMarshaler):
		return map[string]any{}
	case t.Implements(textMarshaler):
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Pointer:
		s := m.value(t.Elem(), false)
		if null {
			s = map[string]any{"anyOf": []any{s, map[string]any{"type": "null"}}}
		}
		return s
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": "array", "items": m.value(t.Elem(), true)}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": m.value(t.Elem(), true)}
	case reflect.Struct:
		return m.ref(t)
	case reflect.Interface:
		return map[string]any{}
	}
	return map[string]any{"type": "integer"}
}

// ref is a reference to the definition of a struct.
func (m *schemaMaker) ref(t reflect.Type) map[string]any {
	name := key(t)
	if t.Name() == "" {
		o := object{properties: map[string]any{}}
		m.fields(t, &o)
		return o.schema("")
	}
	if m.defs[name] == nil {
		m.defs[name] = true // stops cycles
		o := object{properties: map[string]any{}}
		m.fields(t, &o)
		m.defs[name] = o.schema(m.docs[name])
	}
	return map[string]any{"$ref": "#/$defs/" + name}
}

// key names a type: its package's folder and its name.
func key(t reflect.Type) string {
	return t.PkgPath()[strings.LastIndexByte(t.PkgPath(), '/')+1:] + "." + t.Name()
}

// fieldDocs are the comments on types and their fields, by package.Type and
// package.Type.Field.
func fieldDocs(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, root := range []string{"../../analyzers", "../../pkg", "."} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			pkg := filepath.Base(filepath.Dir(path))
			if root == "." {
				pkg = "main"
			}
			docsOf(file, pkg, out)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func docsOf(file *ast.File, pkg string, out map[string]string) {
	text := func(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
	ast.Inspect(file, func(n ast.Node) bool {
		d, ok := n.(*ast.GenDecl)
		if !ok {
			return true
		}
		for _, spec := range d.Specs {
			ts, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if out[pkg+"."+ts.Name.Name] = text(ts.Doc); ts.Doc == nil {
				out[pkg+"."+ts.Name.Name] = text(d.Doc)
			}
			if st, ok := ts.Type.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					for _, name := range f.Names {
						out[pkg+"."+ts.Name.Name+"."+name.Name] = strings.TrimSpace(text(f.Doc) + " " + text(f.Comment))
					}
				}
			}
		}
		return true
	})
}

// TestPropertyNames: over all commands one name has one type, and is written
// with its unit. An integer is a number.
func TestPropertyNames(t *testing.T) {
	types := map[string]string{}
	foreignUnit := regexp.MustCompile(`_(us|ms|s|seconds?|percent|percentage|kb|kib|mb|clocks|cyc|gbps)$`)
	snake := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	for command, out := range outputs() {
		properties(schemaOf(command, out, nil), func(name string, schema map[string]any) {
			if name == "command" { // which it is in the envelope, and what to type elsewhere
				return
			}
			if !snake.MatchString(name) || foreignUnit.MatchString(strings.TrimSuffix(name, "_per_s")) {
				t.Errorf("%s: property %q: names are snake_case and end in _ns, _pct, _bytes, _cycles", command, name)
			}
			typ := typeOf(schema)
			if was, ok := types[name]; ok && was != typ {
				t.Errorf("%s: property %q is %s, elsewhere %s", command, name, typ, was)
			}
			types[name] = typ
		})
	}
	if len(types) < 300 {
		t.Errorf("%d properties: too few", len(types))
	}
}

// TestDocumentedNames: the paragraphs on JSON in README.md name properties.
func TestDocumentedNames(t *testing.T) {
	known := map[string]bool{}
	for command, out := range outputs() {
		properties(schemaOf(command, out, nil), func(name string, _ map[string]any) { known[name] = true })
	}
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, paragraph := range strings.Split(string(raw), "\n\n") {
		if !strings.HasPrefix(paragraph, "JSON: ") && !strings.HasPrefix(paragraph, "One object: ") {
			continue
		}
		for _, m := range regexp.MustCompile("`([a-z][a-z0-9_]*)(\\[\\]|\\{\\})?`").FindAllStringSubmatch(paragraph, -1) {
			if found++; !known[m[1]] {
				t.Errorf("README.md documents the property %q, which no command has", m[1])
			}
		}
	}
	if found < 50 {
		t.Errorf("%d documented properties: too few", found)
	}
}

// columnsOfTheirOwn are columns of CSV that are no properties: the row is of one
// entry of a map or a list, or of a sum over one.
func columnsOfTheirOwn() map[string][]string {
	return map[string][]string{
		"counters": {"metric"},   // the key in metrics{}
		"diagnose": {"finding"},  // the id of findings[0]
		"l2":       {"decision"}, // the id of decisions[0]
		"roofline": {"level"},    // the name of levels[]
		// wave_cycles in percent of their sum
		"waves": {"issue_pct", "wait_pct", "stall_pct"},
		// the value of math_peaks[], the name of devices[], the key in peaks{}
		"devices": {"matrix_fp16_tflops", "matrix_fp8_tflops", "matrix_fp4_tflops", "device", "peak"},
	}
}

// TestCSVNames: the columns of CSV are properties of the same command's JSON, or
// of an object in it: bound_pct is the pct of bound, cycles_per_iteration are the
// cycles of per_iteration.
func TestCSVNames(t *testing.T) {
	known := map[string]map[string]bool{}
	for command, out := range outputs() {
		names := map[string]bool{"kernel": true} // the name of one of kernels[], beside other columns
		schema := schemaOf(command, out, nil)
		properties(schema, func(name string, p map[string]any) {
			names[name] = true
			ref, _ := p["$ref"].(string)
			if def, ok := schema["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")]; ok {
				properties(def.(map[string]any), func(inner string, _ map[string]any) {
					names[name+"_"+inner], names[inner+"_"+name] = true, true
				})
			}
		})
		for _, own := range columnsOfTheirOwn()[command] {
			names[own] = true
		}
		known[command] = names
	}
	for _, m := range counters.Catalogue() { // properties of metrics{}
		known["l2"][m.ID], known["l2"][m.ID+"_low"], known["l2"][m.ID+"_high"] = true, true, true
	}
	tables := 0
	for _, args := range fixtureCommands(t, "csv") {
		command := args[0]
		if command == "demo" {
			command = "diagnose"
		} else if command == "query" { // the columns are the user's
			continue
		}
		var stdout, stderr bytes.Buffer
		_ = run(t.Context(), os.Stdin, &stdout, &stderr, func(string) string { return "" }, args)
		header, _, ok := strings.Cut(stdout.String(), "\n")
		if !ok {
			continue
		}
		tables++
		for _, column := range strings.Split(strings.TrimSuffix(header, "\r"), ",") {
			if !known[command][column] {
				t.Errorf("%s: no property for column %q", strings.Join(args, " "), column)
				known[command][column] = true // said once
			}
		}
	}
	if tables < 50 {
		t.Errorf("%d tables: too few", tables)
	}
}

// properties visits the properties of a schema, with those of its definitions.
func properties(schema map[string]any, visit func(name string, schema map[string]any)) {
	for name, p := range schema["properties"].(map[string]any) {
		visit(name, p.(map[string]any))
	}
	defs, _ := schema["$defs"].(map[string]any)
	for _, d := range defs {
		properties(d.(map[string]any), visit)
	}
}

// typeOf is the JSON type of what a property holds.
func typeOf(schema map[string]any) string {
	if types, ok := schema["anyOf"].([]any); ok {
		return typeOf(types[0].(map[string]any))
	}
	switch typ, _ := schema["type"].(string); {
	case schema["$ref"] != nil:
		return "object"
	case typ == "integer":
		return "number"
	case typ == "array":
		return "array of " + typeOf(schema["items"].(map[string]any))
	default:
		return typ
	}
}
