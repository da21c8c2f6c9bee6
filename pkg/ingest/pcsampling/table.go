package pcsampling

import (
	"bytes"
	"cmp"
	"io"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/csvtable"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// SniffBytes of a file are enough for Sniff.
const SniffBytes = 4096

// Sniff says how the samples of a table were taken; "" for another table.
func Sniff(head []byte) trace.SampleMethod {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	has := map[string]bool{}
	for name := range strings.SplitSeq(string(line), ",") {
		has[csvtable.Normalize(strings.Trim(strings.TrimSpace(name), `"`))] = true
	}
	switch {
	case !has["instruction"] || !has["execmask"] || !has["dispatchid"]:
		return ""
	case has["waveissuedinstruction"]:
		return trace.Stochastic
	}
	return trace.HostTrap
}

// Read sums the samples of a table. dispatches gives what is known of each; nil
// for nothing.
func Read(r io.Reader, shown string, dispatches func(id int64) *Dispatch) (*trace.SampleRun, []trace.Note, error) {
	t, err := csvtable.Open(r)
	if err != nil {
		return nil, nil, err
	}
	s := NewSums(&trace.SampleRun{Path: shown, Method: trace.HostTrap})
	if t.Column("waveissuedinstruction") != "" {
		s.Run.Method = trace.Stochastic
	}
	strange := int64(0)
	for t.Next() {
		x, ok := sample(t, s.Run.Method)
		if !ok {
			t.Reject()
			continue
		}
		if s.Run.Method == trace.Stochastic && !x.Issued && x.Reason == "" {
			strange++
		}
		x.Of = dispatches(x.Dispatch)
		s.Add(&x)
	}
	notes := t.Notes(shown)
	if strange > 0 {
		notes = append(notes, trace.Note{Level: trace.Warning, File: shown, Text: trace.Many(strange, "sample says", "samples say") + " that the wave did not issue, and not why"})
	}
	return s.Done(), notes, nil
}

// sample reads the current row.
func sample(t *csvtable.Table, method trace.SampleMethod) (x Sample, ok bool) {
	id := t.Int("dispatchid")
	exec, err := mask(t.Cell("execmask"))
	if id == nil || err != nil {
		return x, false
	}
	x = Sample{Dispatch: *id, Exec: exec, Text: t.Cell("instruction"), Source: t.Cell("instructioncomment"), Offset: trace.Absent, Waves: -1}
	x.Decoded = x.Text != ""
	if method != trace.Stochastic {
		return x, true
	}
	issued, known := flag(t.Cell("waveissuedinstruction"))
	x.Issued = issued
	x.Reason = Reason(t.Cell("stallreason"))
	if n := t.Int("wavecount"); n != nil {
		x.Waves = *n
	}
	return x, known && !t.Wrong()
}

// mask reads the mask of lanes, which some writers have in hexadecimal.
func mask(cell string) (uint64, error) {
	m, err := strconv.ParseUint(cmp.Or(cell, "0"), 0, 64)
	return m, err
}

func flag(cell string) (on, ok bool) {
	switch strings.ToLower(cell) {
	case "1", "true":
		return true, true
	case "0", "false":
		return false, true
	}
	return false, false
}
