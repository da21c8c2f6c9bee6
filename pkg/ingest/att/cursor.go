package att

import "github.com/rocanalyze/rocanalyze/pkg/ingest/jsonscan"

// cursor reads the JSON of a decoded trace: a part of an unexpected shape is
// passed over where the rest can still be of use.
type cursor struct{ jsonscan.Cursor }

func newCursor(b []byte) cursor { return cursor{jsonscan.Cursor{Text: b}} }

// stringOr reads a string into s; any other value is skipped.
func (c *cursor) stringOr(s *string) bool {
	if c.Peek() != '"' {
		*s = ""
		return c.Skip()
	}
	text, ok := c.Str()
	*s = string(text)
	return ok
}
