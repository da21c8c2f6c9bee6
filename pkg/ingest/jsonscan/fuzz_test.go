package jsonscan_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/jsonscan"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/jsonscan/jsontest"
)

func FuzzCursor(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-2.5e3,true,false,null,"x\u00e9\n"],"b":{}}`, `[[[]],[{}],{"a":{"b":[1,2,3]}}]`, `[01]`, `[1,]`, `{"a":1,}`, `"\ud800\u0000"`, `[1 2]`, ` 7 `, `-`, "\"\x01\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, ok := jsontest.Decode(b)
		c := jsonscan.Cursor{Text: b}
		got := c.Skip() && c.End()
		if ok && !got || got && !json.Valid(b) {
			t.Errorf("accepted %v, encoding/json %v: %s", got, ok, c.Place())
		}
		if want, isString := v.(string); ok && isString {
			c := jsonscan.Cursor{Text: b}
			if s, ok := c.Str(); !ok || string(s) != want {
				t.Errorf("%q %v, want %q", s, ok, want)
			}
		}
		if _, isNumber := v.(json.Number); ok && isNumber {
			want, fits := jsontest.AsInt(v)
			c := jsonscan.Cursor{Text: b}
			if got, ok := c.Int(); ok != fits || got != want {
				t.Errorf("%d %v, want %d %v", got, ok, want, fits)
			}
		}
	})
}

func FuzzInts(f *testing.F) {
	f.Add([]byte(`[1, 2,3 ,4.0,5,6,"x",{}]`))
	f.Add([]byte(`[123456789012345678,1234567890123456789,-1,00]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, ok := jsontest.Decode(b)
		var row [5]int64
		c := jsonscan.Cursor{Text: b}
		n, got := c.Ints(row[:])
		if got && !ok {
			c.End()
			ok = c.At < len(b) // there may be more text
			if !ok && !json.Valid(b) {
				t.Errorf("accepted")
			}
			return
		}
		list, isList := v.([]any)
		if !ok || !isList {
			return
		}
		want, ints := jsontest.AsInts(v, min(len(list), len(row)))
		if got != ints || got && (n != len(list) || !slices.Equal(row[:min(n, len(row))], want)) {
			t.Errorf("%v %d %v, want %v %v", row, n, got, want, ints)
		}
	})
}
