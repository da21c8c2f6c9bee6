package ingest

import (
	"path/filepath"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/att"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// besideTrace is a thread trace of a stats CSV, and the real path of the
// dispatch directory that the table was written beside.
type besideTrace struct {
	tt  *trace.ThreadTrace
	dir string
}

// traceStats reads a stats CSV as a trace of its own.
func (o *opener) traceStats(c *candidate) error {
	r, err := c.rest()
	if err != nil {
		return c.fail(err, "")
	}
	tt, notes, err := att.ReadStats(&contextReader{o.ctx, r}, c.shown)
	if err != nil {
		return c.fail(err, "")
	}
	o.tr.AddNotes(notes...)
	o.traceTables = append(o.traceTables, besideTrace{tt, filepath.Join(filepath.Dir(c.real), tt.Name)})
	return nil
}

// addTraceTables adds the stats CSVs that are traces of their own: one is a
// companion where the directory that it lies beside was read.
func (o *opener) addTraceTables() {
	for _, t := range o.traceTables {
		if tt := o.directories[t.dir]; tt == nil || len(tt.Code) == 0 && len(t.tt.Code) > 0 {
			o.tr.ThreadTraces = append(o.tr.ThreadTraces, t.tt)
		}
	}
}

// traceCode reads a code.json without its directory.
func (o *opener) traceCode(c *candidate) error {
	r, err := c.rest()
	if err != nil {
		return c.fail(err, "")
	}
	tt, notes, err := att.ReadCodeAlone(&contextReader{o.ctx, r}, c.shown)
	if err != nil {
		return c.fail(err, "")
	}
	o.tr.AddNotes(notes...)
	o.tr.ThreadTraces = append(o.tr.ThreadTraces, tt)
	return nil
}
