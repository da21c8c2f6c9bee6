package att

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/csvtable"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// statsColumns are the columns that are summed. Source: rocprofiler-sdk
// att-tool, code.cpp.
var statsColumns = [...]struct {
	name string
	to   func(*trace.Counts) *int64
}{
	{"hitcount", func(c *trace.Counts) *int64 { return &c.Hits }},
	{"latency", func(c *trace.Counts) *int64 { return &c.LatencyCycles }},
	{"stall", func(c *trace.Counts) *int64 { return &c.StallCycles }},
	{"idle", func(c *trace.Counts) *int64 { return &c.IdleCycles }},
}

// statsTable reads the rows of a stats CSV.
type statsTable struct{ *csvtable.Table }

// openStats reads the header; it is an error when the file is no such table.
func openStats(r io.Reader) (statsTable, error) {
	t, err := csvtable.Open(r)
	if err != nil {
		return statsTable{}, err
	}
	for _, c := range statsColumns {
		if t.Column(c.name) == "" {
			return statsTable{}, fmt.Errorf("there is no column %q", c.name)
		}
	}
	return statsTable{t}, nil
}

// SniffStats reports whether a file begins as the table that the thread trace
// decoder writes beside a dispatch directory.
func SniffStats(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	t, err := openStats(bytes.NewReader(line))
	return err == nil && t.Column("instruction") != "" && t.Column("vaddr") != ""
}

// label returns the name of a row that begins a kernel.
func (t statsTable) label() (name string, ok bool) {
	return strings.CutPrefix(t.Cell("instruction"), ";")
}

// counts reads the four columns of the current row.
func (t statsTable) counts() (row trace.Counts, ok bool) {
	for _, c := range statsColumns {
		v := t.Int(c.name)
		if v == nil {
			return row, false
		}
		*c.to(&row) = *v
	}
	return row, true
}

// readStats sums a stats CSV; label rows do not count. It returns nil when the
// file is not such a table.
func readStats(r io.Reader, file string, n *notes) *trace.StatsSums {
	t, err := openStats(r)
	if err != nil {
		n.add(trace.Warning, file, "%s: left out", reason(err))
		return nil
	}
	sums := &trace.StatsSums{File: file}
	for t.Next() {
		if _, ok := t.label(); ok {
			continue
		}
		row, ok := t.counts()
		if !ok {
			t.Reject()
			continue
		}
		sums.Rows++
		sums.Add(row)
	}
	*n = append(*n, t.Notes(file)...)
	return sums
}

// ReadStats makes a thread trace of a stats CSV alone. Its rows are those of
// code.json, in their order: the number of a row is the line number there.
// Everything else is absent, as there are no waves. shown is the path as the
// user can find it.
func ReadStats(r io.Reader, shown string) (*trace.ThreadTrace, []trace.Note, error) {
	t, err := openStats(r)
	if err != nil {
		return nil, nil, err
	}
	name := strings.TrimSuffix(strings.TrimPrefix(path.Base(shown), "stats_"), ".csv")
	tt := &trace.ThreadTrace{Path: shown, Name: name, StatsOnly: true, Files: readSources(nil, nil, nil)}
	tt.AgentHandle, tt.DispatchID, _ = ParseName(name)
	var n notes
	rd := &codeReader{notes: &n}
	rd.want.add(colIdle)
	for t.Next() {
		w, problem := t.cells()
		if problem == "" {
			problem = rd.check(w)
		}
		if problem != "" || len(rd.doc.code) >= maxRows {
			t.Reject()
			continue
		}
		rd.take(w)
	}
	rd.finish(true)
	tt.CodeState, tt.Code, tt.Kernels = rd.doc.state, rd.doc.code, rd.doc.kernels
	return tt, append(t.Notes(shown), n...), nil
}

// cells is the current row in the form of code.json.
func (t statsTable) cells() (w *cells, problem string) {
	w = &cells{isa: t.Cell("instruction"), source: t.Cell("source")}
	if w.isa == "" {
		return nil, "no instruction"
	}
	row, ok := t.counts()
	if _, label := t.label(); !ok && !label {
		return nil, "a count is missing"
	}
	w.num[colLine] = int64(t.Row() - 1)
	w.num[colHits], w.num[colLatency], w.num[colStall], w.num[colIdle] = row.Hits, row.LatencyCycles, row.StallCycles, row.IdleCycles
	for _, c := range [...]struct {
		name string
		col  column
	}{{"codeobj", colObject}, {"vaddr", colVaddr}} {
		if v := t.Int(c.name); v != nil {
			w.num[c.col] = *v
		}
	}
	if t.Wrong() {
		return nil, "a number is none"
	}
	return w, ""
}

// statsName picks the stats CSV of a directory among its neighbours: the exact
// name, else the first whose name only goes on after the directory's.
func statsName(names []string, dirName string) string {
	prefix := "stats_" + dirName
	best := ""
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok || !strings.HasSuffix(rest, ".csv") || isDigit(rest[0]) {
			continue
		}
		if rest == ".csv" {
			return name
		}
		if best == "" || name < best {
			best = name
		}
	}
	return best
}
