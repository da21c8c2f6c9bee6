package kerneltrace

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/csvtable"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// SniffStats reports whether a file begins as the statistics tables of
// rocprof and rocprofv3 do. Those of kernels, copies and API calls look alike.
func SniffStats(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	t, err := csvtable.Open(bytes.NewReader(line))
	return err == nil && t.Column("name") != "" && t.Column("calls") != "" && t.Column("totaldurationns") != ""
}

// maxStats bounds the rows of a statistics table.
const maxStats = 1 << 20

// ReadStats reads a kernel_stats.csv, or the .stats.csv of rocprof. It fails
// when the input is not such a table; a damaged row is a note.
func ReadStats(r io.Reader, file string) (*trace.KernelStats, []trace.Note, error) {
	t, err := csvtable.Open(r)
	if err != nil {
		return nil, nil, err
	}
	if t.Column("name") == "" || t.Column("calls") == "" || t.Column("totaldurationns") == "" {
		return nil, nil, errors.New("not a statistics table: its header has no Name, Calls and TotalDurationNs")
	}
	out := &trace.KernelStats{Path: file}
	for t.Next() && len(out.Rows) < maxStats {
		calls, total := t.Int("calls"), t.Int("totaldurationns")
		name := trace.BareName(t.Cell("name"))
		least, most, sd := t.Int("minns"), t.Int("maxns"), t.Float("stddev")
		if calls == nil || total == nil || *calls == 0 || name == "" || t.Wrong() {
			t.Reject()
			continue
		}
		row := trace.KernelStat{Name: strings.Clone(name), Calls: *calls, TotalNs: *total, MinNs: least, MaxNs: most}
		if sd != nil && *sd >= 0 && !math.IsInf(*sd, 0) {
			row.StdDevNs = sd
		}
		out.Rows = append(out.Rows, row)
	}
	return out, t.Notes(file), nil
}
