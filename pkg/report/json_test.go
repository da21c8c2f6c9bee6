package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

type kernelResult struct {
	Name     string             `json:"name"`
	SharePct float64            `json:"share_pct"`
	L2HitPct *float64           `json:"l2_hit_pct,omitempty"`
	Extra    map[string]float64 `json:"extra,omitempty"`
	skipped  float64
}

type embedded struct {
	Ratio float64 `json:"ratio"`
}

type result struct {
	Kernels []kernelResult `json:"kernels"`
	Any     any            `json:"any,omitempty"`
	Hidden  float64        `json:"-"`
	Plain   float64
	embedded
}

func TestGoldenJSON(t *testing.T) {
	env := Envelope{SchemaVersion: 1, ToolVersion: "0.1.0", Command: "hotspots", Inputs: []string{"a&b", "c\u202ed"}, Partial: true, Warnings: []string{"one"}}
	res := result{Kernels: []kernelResult{
		{Name: "foo<int>\x1b\x7f\u009b\U000e0041\xff カ", SharePct: 45.234567, Extra: map[string]float64{"b": 2, "a": 1}},
	}}
	var b bytes.Buffer
	if err := JSON(&b, env, res); err != nil {
		t.Fatal(err)
	}
	golden(t, "result.json", b.Bytes())

	var back struct {
		Inputs  []string       `json:"inputs"`
		Kernels []kernelResult `json:"kernels"`
	}
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if want := "foo<int>\x1b\x7f\u009b\U000e0041\ufffd カ"; back.Kernels[0].Name != want {
		t.Errorf("read back %q, want %q", back.Kernels[0].Name, want)
	}
	if back.Inputs[1] != "c\u202ed" {
		t.Errorf("read back %q", back.Inputs[1])
	}
}

func TestJSONEmptyResult(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, Envelope{SchemaVersion: 1, Command: "x"}, struct{}{}); err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"schema_version\": 1,\n  \"tool_version\": \"\",\n  \"command\": \"x\",\n  \"inputs\": [],\n  \"partial\": false\n}\n"
	if b.String() != want {
		t.Errorf("got %s, want %s", b.String(), want)
	}
}

func TestJSONErrors(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		what   string
		result any
		want   string
	}{
		{"nil", nil, "not a JSON object"},
		{"list", []int{1}, "not a JSON object"},
		{"nil pointer", (*result)(nil), "not a JSON object"},
		{"envelope's field", map[string]int{"inputs": 1}, `a field "inputs"`},
		{"field", result{Kernels: []kernelResult{{}, {SharePct: nan}}}, "kernels[1].share_pct:"},
		{"pointer", &result{Kernels: []kernelResult{{L2HitPct: &nan}}}, "kernels[0].l2_hit_pct:"},
		{"map", result{Kernels: []kernelResult{{Extra: map[string]float64{"b": nan, "a": math.Inf(1)}}}}, "kernels[0].extra.a:"},
		{"interface", result{Any: []any{1, math.Inf(-1)}}, "any[1]:"},
		{"no tag", result{Plain: nan}, "Plain:"},
		{"embedded", result{embedded: embedded{Ratio: nan}}, "result field ratio:"},
		{"channel", struct{ C chan int }{make(chan int)}, "unsupported type"},
	} {
		var b bytes.Buffer
		err := JSON(&b, Envelope{}, c.result)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.what, err, c.want)
		}
		if b.Len() > 0 {
			t.Errorf("%s: wrote %q", c.what, b.String())
		}
	}
	ok := result{Hidden: nan, Kernels: []kernelResult{{skipped: nan}}}
	if err := JSON(&bytes.Buffer{}, Envelope{}, ok); err != nil {
		t.Errorf("fields that are not written: %v", err)
	}
}
