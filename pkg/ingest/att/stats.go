package att

import (
	"io"
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

// readStats sums a stats CSV; label rows do not count. It returns nil when the
// file is not such a table.
func readStats(r io.Reader, file string, n *notes) *trace.StatsSums {
	t, err := csvtable.Open(r)
	if err != nil {
		n.add(trace.Damage, file, "%s: left out", reason(err))
		return nil
	}
	for _, c := range statsColumns {
		if t.Column(c.name) == "" {
			n.add(trace.Warning, file, "there is no column %q: left out", c.name)
			return nil
		}
	}
	sums := &trace.StatsSums{File: file}
	for t.Next() {
		if strings.HasPrefix(t.Cell("instruction"), ";") {
			continue
		}
		var row trace.Counts
		if !statsRow(t, &row) {
			t.Reject()
			continue
		}
		sums.Rows++
		sums.Add(row)
	}
	*n = append(*n, t.Notes(file)...)
	return sums
}

func statsRow(t *csvtable.Table, row *trace.Counts) bool {
	for _, c := range statsColumns {
		v := t.Int(c.name)
		if v == nil {
			return false
		}
		*c.to(row) = *v
	}
	return true
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
