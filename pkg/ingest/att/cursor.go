package att

import "github.com/rocanalyze/rocanalyze/pkg/ingest/jsonscan"

// cursor reads the JSON of a decoded trace: a part of an unexpected shape is
// passed over where the rest can still be of use.
type cursor struct{ jsonscan.Cursor }

func newCursor(b []byte) cursor { return cursor{jsonscan.Cursor{Text: b}} }
