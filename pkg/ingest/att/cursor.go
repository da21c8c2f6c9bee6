package att

import (
	"fmt"
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a document.
const maxDepth = 1024

// cursor reads JSON from memory where it lies, without a tree and without
// allocations. Its methods return false at the first byte that is not what was
// asked for, and leave the reason in why and the place in i.
type cursor struct {
	b     []byte
	i     int
	depth int
	// why says what is wrong at i after a method returned false.
	why string
	// badUTF8 is set once a string held bytes that are not UTF-8.
	badUTF8 bool
	// text holds the last string that had to be unescaped.
	text []byte
}

// mark is a place to come back to.
type mark struct{ i, depth int }

func (c *cursor) mark() mark   { return mark{c.i, c.depth} }
func (c *cursor) reset(m mark) { c.i, c.depth = m.i, m.depth }

func (c *cursor) fail(why string) bool {
	c.why = why
	return false
}

// place describes the failure of the last method.
func (c *cursor) place() string { return fmt.Sprintf("byte %d: %s", c.i, c.why) }

// peek skips white space and returns the next byte, 0 at the end.
func (c *cursor) peek() byte {
	for c.i < len(c.b) {
		switch ch := c.b[c.i]; ch {
		case ' ', '\t', '\n', '\r':
			c.i++
		default:
			return ch
		}
	}
	return 0
}

// end reports whether nothing but white space is left.
func (c *cursor) end() bool {
	if c.peek(); c.i < len(c.b) {
		return c.fail("more text after the end of the document")
	}
	return true
}

// byte reads one punctuation mark.
func (c *cursor) byte(want byte, why string) bool {
	if c.peek() != want {
		return c.fail(why)
	}
	c.i++
	return true
}

// object reads an object; value reads the value of each key. The key is valid
// until value reads a string.
func (c *cursor) object(value func(key []byte) bool) bool {
	if !c.byte('{', "an object was expected") || !c.enter() {
		return false
	}
	if c.peek() == '}' {
		return c.leave()
	}
	for {
		key, ok := c.str()
		if !ok || !c.byte(':', "a colon was expected") || !value(key) {
			return false
		}
		switch c.peek() {
		case ',':
			c.i++
		case '}':
			return c.leave()
		default:
			return c.fail("a comma or the end of the object was expected")
		}
	}
}

// array reads an array; value reads each element.
func (c *cursor) array(value func() bool) bool {
	if !c.byte('[', "a list was expected") || !c.enter() {
		return false
	}
	if c.peek() == ']' {
		return c.leave()
	}
	for {
		if !value() {
			return false
		}
		switch c.peek() {
		case ',':
			c.i++
		case ']':
			return c.leave()
		default:
			return c.fail("a comma or the end of the list was expected")
		}
	}
}

func (c *cursor) enter() bool {
	if c.depth >= maxDepth {
		return c.fail("the document is nested too deeply")
	}
	c.depth++
	return true
}

// leave reads the closing mark that was just seen.
func (c *cursor) leave() bool {
	c.i++
	c.depth--
	return true
}

// null reads a null if there is one.
func (c *cursor) null() bool {
	return c.peek() == 'n' && c.literal("null")
}

func (c *cursor) literal(want string) bool {
	if len(c.b)-c.i < len(want) || string(c.b[c.i:c.i+len(want)]) != want {
		return c.fail("not a JSON value")
	}
	c.i += len(want)
	return true
}

// skip reads any value and forgets it.
func (c *cursor) skip() bool {
	switch ch := c.peek(); {
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
		return c.fail("a value was expected")
	}
}

// skipNested reads a list or an object without recursion: closing holds the
// closing mark of each level that is open.
func (c *cursor) skipNested() bool {
	var closing [maxDepth]byte
	n := 0
	for {
		whole := false
		if n > 0 && closing[n-1] == ']' {
			c.i, whole = skipPlain(c.b, c.i)
		}
		switch ch := c.peek(); ch {
		case '[', '{':
			if n+c.depth >= maxDepth {
				return c.fail("the document is nested too deeply")
			}
			closing[n] = ch + 2 // ASCII: ']' is '[' + 2, '}' is '{' + 2
			n++
			c.i++
			if c.peek() != ch+2 {
				if ch == '{' && !c.skipKey() {
					return false
				}
				continue
			}
		default:
			if !whole && !c.skip() {
				return false
			}
		}
		for n > 0 && c.peek() == closing[n-1] {
			c.i++
			n--
		}
		if n == 0 {
			return true
		}
		if !c.byte(',', "a comma or the end of the list or object was expected") {
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

func (c *cursor) skipKey() bool {
	return c.peek() == '"' && c.skipString() && c.byte(':', "a colon was expected") || c.fail("a key was expected")
}

// skipString reads a string without looking at its escapes' meaning.
func (c *cursor) skipString() bool {
	for i := c.i + 1; i < len(c.b); i++ {
		switch ch := c.b[i]; {
		case ch == '"':
			c.i = i + 1
			return true
		case ch == '\\':
			if _, n := unescape(c.b[i:]); n > 0 {
				i += n - 1
				continue
			}
			c.i = i
			return c.fail("wrong escape in a string")
		case ch < ' ':
			c.i = i
			return c.fail("control character in a string")
		}
	}
	c.i = len(c.b)
	return c.fail("the string does not end")
}

// str reads a string. The result is valid until the next one is read. Bytes
// that are not UTF-8 become U+FFFD each, as in encoding/json.
func (c *cursor) str() (s []byte, ok bool) {
	if c.peek() != '"' {
		return nil, c.fail("a string was expected")
	}
	start := c.i + 1
	for i := start; i < len(c.b); i++ {
		switch ch := c.b[i]; {
		case ch == '"':
			c.i = i + 1
			return c.b[start:i], true
		case ch == '\\' || ch >= utf8.RuneSelf:
			return c.strSlow(start, i)
		case ch < ' ':
			c.i = i
			return nil, c.fail("control character in a string")
		}
	}
	c.i = len(c.b)
	return nil, c.fail("the string does not end")
}

// strSlow goes on at i with a string that has escapes or is not ASCII.
func (c *cursor) strSlow(start, i int) ([]byte, bool) {
	c.text = append(c.text[:0], c.b[start:i]...)
	for i < len(c.b) {
		ch := c.b[i]
		switch {
		case ch == '"':
			c.i = i + 1
			return c.text, true
		case ch < ' ':
			c.i = i
			return nil, c.fail("control character in a string")
		case ch == '\\':
			r, n := unescape(c.b[i:])
			if n == 0 {
				c.i = i
				return nil, c.fail("wrong escape in a string")
			}
			c.text = utf8.AppendRune(c.text, r)
			i += n
		default:
			r, n := utf8.DecodeRune(c.b[i:])
			c.badUTF8 = c.badUTF8 || r == utf8.RuneError && n == 1
			c.text = utf8.AppendRune(c.text, r)
			i += n
		}
	}
	c.i = len(c.b)
	return nil, c.fail("the string does not end")
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
func (c *cursor) number() (text []byte, ok bool) {
	start := c.i
	if c.i < len(c.b) && c.b[c.i] == '-' {
		c.i++
	}
	whole := c.i
	if c.digits() == 0 || c.b[whole] == '0' && c.i > whole+1 {
		return nil, c.fail("a number was expected")
	}
	if c.i < len(c.b) && c.b[c.i] == '.' {
		c.i++
		if c.digits() == 0 {
			return nil, c.fail("a digit was expected")
		}
	}
	if c.i < len(c.b) && c.b[c.i]|0x20 == 'e' {
		c.i++
		if c.i < len(c.b) && (c.b[c.i] == '+' || c.b[c.i] == '-') {
			c.i++
		}
		if c.digits() == 0 {
			return nil, c.fail("a digit was expected")
		}
	}
	return c.b[start:c.i], true
}

// digits reads decimal digits and returns how many.
func (c *cursor) digits() int {
	start := c.i
	for c.i < len(c.b) && isDigit(c.b[c.i]) {
		c.i++
	}
	return c.i - start
}

// int reads a number that is an integer; 4.0 and 4e0 are.
func (c *cursor) int() (int64, bool) {
	c.peek()
	if v, next := shortInt(c.b, c.i); next < len(c.b) && c.b[next] != '.' && c.b[next]|0x20 != 'e' {
		c.i = next
		return v, true
	}
	start := c.i
	text, ok := c.number()
	if !ok {
		return 0, false
	}
	v, ok := exactInt(text)
	if !ok {
		c.i = start
		return 0, c.fail("not an integer of 64 bits")
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

// ints reads a list of integers into dst and returns how many it has; elements
// past the end of dst are skipped, whatever they are, and counted. This is the
// inner loop of all bulk reading: one call reads one record.
func (c *cursor) ints(dst []int64) (n int, ok bool) {
	if c.peek() != '[' {
		return 0, c.fail("a list was expected")
	}
	n, i, done := plainInts(c.b, c.i+1, dst)
	c.i = i
	if done {
		return n, true
	}
	if n == 0 && c.peek() == ']' {
		c.i++
		return 0, true
	}
	for {
		if n >= len(dst) {
			ok = c.skip()
		} else {
			dst[n], ok = c.int()
		}
		if !ok {
			return n, false
		}
		n++
		switch c.peek() {
		case ',':
			c.i++
		case ']':
			c.i++
			return n, true
		default:
			return n, c.fail("a comma or the end of the list was expected")
		}
	}
}

// plainInts reads plain decimals from i on, as long as nothing but a comma
// stands between them and dst has room. done is true when the list ended; else
// next is the start of an element.
func plainInts(b []byte, i int, dst []int64) (n, next int, done bool) {
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
