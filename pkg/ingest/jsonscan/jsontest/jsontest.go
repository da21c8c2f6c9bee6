// Package jsontest helps the tests of readers that use package jsonscan to
// compare them with encoding/json.
package jsontest

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/jsonscan"
)

// The readers are compared with encoding/json: Decode gives a document as a
// tree, ok is false when it does not accept the document, or when the document
// is nested more deeply than the cursor allows.
func Decode(b []byte) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if d.Decode(&v) != nil || !json.Valid(b) {
		return nil, false
	}
	return v, depthOf(v) < jsonscan.MaxDepth
}

func depthOf(v any) int {
	deepest := 0
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			deepest = max(deepest, depthOf(e))
		}
	case map[string]any:
		for _, e := range v {
			deepest = max(deepest, depthOf(e))
		}
	default:
		return 0
	}
	return deepest + 1
}

// AsInt gives the exact integer value of a JSON number.
func AsInt(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	mantissa, exponent, hasExp := strings.Cut(strings.ToLower(string(n)), "e")
	if exp, err := strconv.Atoi(exponent); hasExp && (err != nil || exp > 1000 || exp < -1000) {
		// big.Rat would compute a power of that many digits.
		return 0, strings.Trim(mantissa, "-0.") == ""
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return r.Num().Int64(), true
}

// AsInts gives the first n integers of a list.
func AsInts(v any, n int) ([]int64, bool) {
	list, ok := v.([]any)
	if !ok || len(list) < n {
		return nil, false
	}
	ints := make([]int64, n)
	for i := range ints {
		if ints[i], ok = AsInt(list[i]); !ok {
			return nil, false
		}
	}
	return ints, true
}
