// Package jsonscan reads large JSON documents from memory where they lie,
// without a tree and, but for strings with escapes, without allocations. All
// readers of large JSON use it.
package jsonscan

import (
	"encoding/json"
	"fmt"
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth bounds the nesting of a document.
const MaxDepth = 1024

// Cursor reads JSON. Its methods return false at the first byte that is not
// what was asked for, and leave the reason in Why and the place in At.
type Cursor struct {
	// Text is the document, At the byte of it that is next.
	Text []byte
	At   int
	// Why says what is wrong at At after a method returned false.
	Why string
	// BadUTF8 is set once a string held bytes that are not UTF-8.
	BadUTF8 bool

	depth     int
	unescaped []byte // the last string that had to be unescaped
}

// Mark is a place to come back to.
type Mark struct{ at, depth int }

// Mark returns the place of the cursor.
func (c *Cursor) Mark() Mark { return Mark{c.At, c.depth} }

// Reset goes back to a place.
func (c *Cursor) Reset(m Mark) { c.At, c.depth = m.at, m.depth }

// Restart goes to a byte of another document, or of the same, outside of all
// lists and objects.
func (c *Cursor) Restart(text []byte, at int) { c.Text, c.At, c.depth = text, at, 0 }

// Fail has a method return false for a reason of the caller's.
func (c *Cursor) Fail(why string) bool {
	c.Why = why
	return false
}

// Place describes the failure of the last method.
func (c *Cursor) Place() string { return fmt.Sprintf("byte %d: %s", c.At, c.Why) }

// Peek skips white space and returns the next byte, 0 at the end.
func (c *Cursor) Peek() byte {
	for c.At < len(c.Text) {
		switch ch := c.Text[c.At]; ch {
		case ' ', '\t', '\n', '\r':
			c.At++
		default:
			return ch
		}
	}
	return 0
}

// End reports whether nothing but white space is left.
func (c *Cursor) End() bool {
	if c.Peek(); c.At < len(c.Text) {
		return c.Fail("more text after the end of the document")
	}
	return true
}

// punctuation reads one punctuation mark.
func (c *Cursor) punctuation(want byte, why string) bool {
	if c.Peek() != want {
		return c.Fail(why)
	}
	c.At++
	return true
}

// Object reads an object; value reads the value of each key. The key is valid
// until value reads a string.
func (c *Cursor) Object(value func(key []byte) bool) bool {
	if !c.punctuation('{', "an object was expected") || !c.enter() {
		return false
	}
	if c.Peek() == '}' {
		return c.leave()
	}
	for {
		key, ok := c.Str()
		if !ok || !c.punctuation(':', "a colon was expected") || !value(key) {
			return false
		}
		switch c.Peek() {
		case ',':
			c.At++
		case '}':
			return c.leave()
		default:
			return c.Fail("a comma or the end of the object was expected")
		}
	}
}

// Array reads an array; value reads each element.
func (c *Cursor) Array(value func() bool) bool {
	if !c.punctuation('[', "a list was expected") || !c.enter() {
		return false
	}
	if c.Peek() == ']' {
		return c.leave()
	}
	for {
		if !value() {
			return false
		}
		switch c.Peek() {
		case ',':
			c.At++
		case ']':
			return c.leave()
		default:
			return c.Fail("a comma or the end of the list was expected")
		}
	}
}

func (c *Cursor) enter() bool {
	if c.depth >= MaxDepth {
		return c.Fail("the document is nested too deeply")
	}
	c.depth++
	return true
}

// leave reads the closing mark that was just seen.
func (c *Cursor) leave() bool {
	c.At++
	c.depth--
	return true
}

// Null reads a null if there is one.
func (c *Cursor) Null() bool {
	return c.Peek() == 'n' && c.literal("null")
}

func (c *Cursor) literal(want string) bool {
	if len(c.Text)-c.At < len(want) || string(c.Text[c.At:c.At+len(want)]) != want {
		return c.Fail("not a JSON value")
	}
	c.At += len(want)
	return true
}

// Skip reads any value and forgets it.
func (c *Cursor) Skip() bool {
	switch ch := c.Peek(); {
	case ch == '{' || ch == '[':
		return c.skipNested()
	case ch == '"':
		return c.skipString()
	case ch == '-' || isDigit(ch):
		_, ok := c.number()
		return ok
	case ch == 't':
		return c.literal("true")
	case ch == 'f':
		return c.literal("false")
	case ch == 'n':
		return c.literal("null")
	default:
		return c.Fail("a value was expected")
	}
}

// Raw reads any value and returns its text.
func (c *Cursor) Raw() (text []byte, ok bool) {
	c.Peek()
	start := c.At
	ok = c.Skip()
	return c.Text[start:c.At], ok
}

// Decode reads a value into v, as encoding/json does: for what is small.
func (c *Cursor) Decode(v any) bool {
	text, ok := c.Raw()
	if !ok {
		return false
	}
	if err := json.Unmarshal(text, v); err != nil {
		c.At -= len(text)
		return c.Fail(err.Error())
	}
	return true
}

// skipNested reads a list or an object without recursion: closing holds the
// closing mark of each level that is open.
func (c *Cursor) skipNested() bool {
	var closing [MaxDepth]byte
	n := 0
	for {
		whole := false
		if n > 0 && closing[n-1] == ']' {
			c.At, whole = skipPlain(c.Text, c.At)
		}
		switch ch := c.Peek(); ch {
		case '[', '{':
			if n+c.depth >= MaxDepth {
				return c.Fail("the document is nested too deeply")
			}
			closing[n] = ch + 2 // ASCII: ']' is '[' + 2, '}' is '{' + 2
			n++
			c.At++
			if c.Peek() != ch+2 {
				if ch == '{' && !c.skipKey() {
					return false
				}
				continue
			}
		default:
			if !whole && !c.Skip() {
				return false
			}
		}
		for n > 0 && c.Peek() == closing[n-1] {
			c.At++
			n--
		}
		if n == 0 {
			return true
		}
		if !c.punctuation(',', "a comma or the end of the list or object was expected") {
			return false
		}
		if closing[n-1] == '}' && !c.skipKey() {
			return false
		}
	}
}

// skipPlain passes over plain decimals that a comma follows. last is true when
// it also passed over the last one of the list, and i is at the list's end.
// Such lists are most of what is ever skipped.
func skipPlain(b []byte, i int) (next int, last bool) {
	for {
		_, end := shortInt(b, i)
		if end >= len(b) {
			return i, false
		}
		switch b[end] {
		case ',':
			i = end + 1
		case ']':
			return end, true
		default:
			return i, false
		}
	}
}

func (c *Cursor) skipKey() bool {
	return c.Peek() == '"' && c.skipString() && c.punctuation(':', "a colon was expected") || c.Fail("a key was expected")
}

// skipString reads a string without looking at its escapes' meaning.
func (c *Cursor) skipString() bool {
	for i := c.At + 1; i < len(c.Text); i++ {
		switch ch := c.Text[i]; {
		case ch == '"':
			c.At = i + 1
			return true
		case ch == '\\':
			if _, n := unescape(c.Text[i:]); n > 0 {
				i += n - 1
				continue
			}
			c.At = i
			return c.Fail("wrong escape in a string")
		case ch < ' ':
			c.At = i
			return c.Fail("control character in a string")
		}
	}
	c.At = len(c.Text)
	return c.Fail("the string does not end")
}

// Str reads a string. The result is valid until the next one is read. Bytes
// that are not UTF-8 become U+FFFD each, as in encoding/json.
func (c *Cursor) Str() (s []byte, ok bool) {
	if c.Peek() != '"' {
		return nil, c.Fail("a string was expected")
	}
	start := c.At + 1
	for i := start; i < len(c.Text); i++ {
		switch ch := c.Text[i]; {
		case ch == '"':
			c.At = i + 1
			return c.Text[start:i], true
		case ch == '\\' || ch >= utf8.RuneSelf:
			return c.strSlow(start, i)
		case ch < ' ':
			c.At = i
			return nil, c.Fail("control character in a string")
		}
	}
	c.At = len(c.Text)
	return nil, c.Fail("the string does not end")
}

// strSlow goes on at i with a string that has escapes or is not ASCII.
func (c *Cursor) strSlow(start, i int) ([]byte, bool) {
	c.unescaped = append(c.unescaped[:0], c.Text[start:i]...)
	for i < len(c.Text) {
		ch := c.Text[i]
		switch {
		case ch == '"':
			c.At = i + 1
			return c.unescaped, true
		case ch < ' ':
			c.At = i
			return nil, c.Fail("control character in a string")
		case ch == '\\':
			r, n := unescape(c.Text[i:])
			if n == 0 {
				c.At = i
				return nil, c.Fail("wrong escape in a string")
			}
			c.unescaped = utf8.AppendRune(c.unescaped, r)
			i += n
		default:
			r, n := utf8.DecodeRune(c.Text[i:])
			c.BadUTF8 = c.BadUTF8 || r == utf8.RuneError && n == 1
			c.unescaped = utf8.AppendRune(c.unescaped, r)
			i += n
		}
	}
	c.At = len(c.Text)
	return nil, c.Fail("the string does not end")
}

// unescape returns the character that an escape at the start of b stands for
// and the escape's length, 0 when it is none. Half a surrogate pair stands for
// U+FFFD.
func unescape(b []byte) (r rune, n int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	}
	r, ok := hex4(b)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := hex4(b[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 reads an escape of four hexadecimal digits.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, ch := range b[2:6] {
		switch {
		case isDigit(ch):
			r = r<<4 | rune(ch-'0')
		case 'a' <= ch|0x20 && ch|0x20 <= 'f':
			r = r<<4 | rune(ch|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

func isDigit(ch byte) bool { return '0' <= ch && ch <= '9' }

// number reads a number and returns its text.
func (c *Cursor) number() (text []byte, ok bool) {
	start := c.At
	if c.At < len(c.Text) && c.Text[c.At] == '-' {
		c.At++
	}
	whole := c.At
	if c.digits() == 0 || c.Text[whole] == '0' && c.At > whole+1 {
		return nil, c.Fail("a number was expected")
	}
	if c.At < len(c.Text) && c.Text[c.At] == '.' {
		c.At++
		if c.digits() == 0 {
			return nil, c.Fail("a digit was expected")
		}
	}
	if c.At < len(c.Text) && c.Text[c.At]|0x20 == 'e' {
		c.At++
		if c.At < len(c.Text) && (c.Text[c.At] == '+' || c.Text[c.At] == '-') {
			c.At++
		}
		if c.digits() == 0 {
			return nil, c.Fail("a digit was expected")
		}
	}
	return c.Text[start:c.At], true
}

// digits reads decimal digits and returns how many.
func (c *Cursor) digits() int {
	start := c.At
	for c.At < len(c.Text) && isDigit(c.Text[c.At]) {
		c.At++
	}
	return c.At - start
}

// Int reads a number that is an integer; 4.0 and 4e0 are.
func (c *Cursor) Int() (int64, bool) {
	c.Peek()
	if v, next := shortInt(c.Text, c.At); next < len(c.Text) && c.Text[next] != '.' && c.Text[next]|0x20 != 'e' {
		c.At = next
		return v, true
	}
	start := c.At
	text, ok := c.number()
	if !ok {
		return 0, false
	}
	v, ok := exactInt(text)
	if !ok {
		c.At = start
		return 0, c.Fail("not an integer of 64 bits")
	}
	return v, true
}

// exactInt returns the value of a JSON number; ok is false when it is not an
// integer or does not fit.
func exactInt(text []byte) (v int64, ok bool) {
	negative := text[0] == '-'
	if negative {
		text = text[1:]
	}
	var mag uint64
	exp, zeros, point := 0, 0, false
	for i, ch := range text {
		switch {
		case ch == '.':
			point = true
		case ch|0x20 == 'e':
			n, ok := exponent(text[i+1:])
			if !ok {
				return 0, mag == 0
			}
			return scale(mag, exp+zeros+n, negative)
		case ch == '0' && mag != 0:
			// Zeros count only when another digit follows.
			zeros++
			if point {
				exp--
			}
		default:
			for ; zeros > 0; zeros-- {
				if mag, ok = times10(mag); !ok {
					return 0, false
				}
			}
			if mag, ok = times10(mag); !ok || mag > math.MaxUint64-9 {
				return 0, false
			}
			mag += uint64(ch - '0')
			if point {
				exp--
			}
		}
	}
	return scale(mag, exp+zeros, negative)
}

// exponent reads the digits of an exponent; ok is false when it is absurd.
func exponent(text []byte) (n int, ok bool) {
	negative := text[0] == '-'
	if text[0] == '-' || text[0] == '+' {
		text = text[1:]
	}
	for _, ch := range text {
		if n = n*10 + int(ch-'0'); n > 1<<24 {
			return 0, false
		}
	}
	if negative {
		n = -n
	}
	return n, true
}

// scale returns mag * 10^exp, negated on demand. mag is 0 or does not end in a
// decimal zero, so that a negative exponent leaves a fraction.
func scale(mag uint64, exp int, negative bool) (int64, bool) {
	if mag == 0 {
		return 0, true
	}
	if exp < 0 {
		return 0, false
	}
	for ok := true; exp > 0; exp-- {
		if mag, ok = times10(mag); !ok {
			return 0, false
		}
	}
	switch {
	case negative && mag <= 1<<63:
		return int64(-mag), true
	case !negative && mag <= math.MaxInt64:
		return int64(mag), true
	default:
		return 0, false
	}
}

func times10(mag uint64) (uint64, bool) {
	if mag > math.MaxUint64/10 {
		return 0, false
	}
	return mag * 10, true
}

// Ints reads a list of integers into dst and returns how many it has; elements
// past the end of dst are skipped, whatever they are, and counted. This is the
// inner loop of all bulk reading: one call reads one record.
func (c *Cursor) Ints(dst []int64) (n int, ok bool) {
	if c.Peek() != '[' {
		return 0, c.Fail("a list was expected")
	}
	n, i, done := PlainInts(c.Text, c.At+1, dst)
	c.At = i
	if done {
		return n, true
	}
	if n == 0 && c.Peek() == ']' {
		c.At++
		return 0, true
	}
	for {
		if n >= len(dst) {
			ok = c.Skip()
		} else {
			dst[n], ok = c.Int()
		}
		if !ok {
			return n, false
		}
		n++
		switch c.Peek() {
		case ',':
			c.At++
		case ']':
			c.At++
			return n, true
		default:
			return n, c.Fail("a comma or the end of the list was expected")
		}
	}
}

// PlainInts reads plain decimals from i on, as long as nothing but a comma
// stands between them and dst has room. done is true when the list ended; else
// next is the start of an element.
func PlainInts(b []byte, i int, dst []int64) (n, next int, done bool) {
	for n < len(dst) {
		v, end := shortInt(b, i)
		if end >= len(b) {
			break
		}
		switch b[end] {
		case ',':
			dst[n] = v
			n++
			i = end + 1
			continue
		case ']':
			dst[n] = v
			return n + 1, end + 1, true
		}
		break
	}
	return n, i, false
}

// shortInt reads the plain decimal of up to 18 digits at i. next is len(b),
// where no number can end, when there is something else.
func shortInt(b []byte, i int) (v int64, next int) {
	start := i
	for i < len(b) {
		d := b[i] - '0'
		if d > 9 {
			break
		}
		v = v*10 + int64(d)
		i++
	}
	if n := i - start; n == 0 || n > 18 || n > 1 && b[start] == '0' {
		return 0, len(b)
	}
	return v, i
}
