package kerneltrace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/csvtable"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// SniffStats reports whether a file begins as the statistics tables of
// rocprof and rocprofv3 do. Those of kernels, copies and API calls look alike:
// StatsOf tells them apart.
func SniffStats(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	t, err := csvtable.Open(bytes.NewReader(line))
	return err == nil && isStats(t)
}

func isStats(t *csvtable.Table) bool {
	return t.Column("name") != "" && t.Column("calls") != "" && t.Column("totaldurationns") != ""
}

// StatsOf says what a statistics table is of: "" for kernels, else "API calls",
// "copies" and the like. Its rows decide; where their names could be anything's
// (ranges of markers have the names that the user gave them), that of the file.
func StatsOf(head []byte, file string) (what string) {
	t, err := csvtable.Open(bytes.NewReader(head))
	if err != nil || !isStats(t) {
		return ""
	}
	t.Named("name")
	kinds := map[string]int{}
	calls := 0
	for t.Next() {
		name := t.Cell("name")
		kind, other := trace.NotKernel(name)
		if !other && surely(name) {
			return ""
		}
		kinds[kind]++
		if kind == "" && hipName(name) {
			calls++
		}
	}
	by := statsFile(file)
	if kinds[""] == calls && kinds["API calls"] > 0 {
		kinds[""] = 0 // calls of a release that is not known yet
	}
	if kinds[""] > 0 {
		return by
	}
	delete(kinds, "")
	delete(kinds, "unknown commands")
	delete(kinds, "barriers and markers") // they stand among kernels and calls
	switch list := slices.Sorted(maps.Keys(kinds)); len(list) {
	case 0:
		return by
	case 1:
		return list[0]
	default:
		return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
	}
}

// hipName reports whether a name is like that of a function of HIP.
func hipName(name string) bool {
	rest, ok := strings.CutPrefix(name, "hip")
	return ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' && !strings.ContainsAny(rest, "<( ")
}

// surely reports whether a name is one that only kernels have.
func surely(name string) bool {
	return trace.BareName(name) != strings.TrimSpace(name) || strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "Cijk_") || strings.HasPrefix(name, "__amd_rocclr_")
}

// statsFile says what a statistics table is of by the end of its file's name.
// Sources: rocprofv3 --stats, rocprofiler bin/tblextr.py.
func statsFile(file string) string {
	for _, s := range [...]struct{ suffix, what string }{
		{"api_stats.csv", "API calls"},
		{".hip_stats.csv", "API calls"},
		{".hsa_stats.csv", "API calls"},
		{".kfd_stats.csv", "API calls"},
		{"copy_stats.csv", "copies"},
		{"domain_stats.csv", "domains"},
		{"memory_allocation_stats.csv", "allocations"},
		{"scratch_memory_stats.csv", "allocations"},
		{"marker_stats.csv", "markers"},
	} {
		if strings.HasSuffix(path.Base(file), s.suffix) {
			if strings.HasSuffix(file, "marker_api_stats.csv") {
				return "markers"
			}
			return s.what
		}
	}
	return ""
}

// maxStats bounds the rows of a statistics table.
const maxStats = 1 << 20

// ReadStats reads a kernel_stats.csv, or the .stats.csv of rocprof. It fails
// when the input is not such a table, or when most of its time is in rows that
// cannot be understood; other damage is a note.
func ReadStats(r io.Reader, file string) (*trace.KernelStats, []trace.Note, error) {
	t, err := csvtable.Open(r)
	if err != nil {
		return nil, nil, err
	}
	if !isStats(t) {
		return nil, nil, errors.New("not a statistics table: its header has no Name, Calls and TotalDurationNs")
	}
	t.Named("name")
	out := &trace.KernelStats{Path: file}
	others := trace.Others{}
	sharePct := 0.0
	for t.Next() && len(out.Rows) < maxStats {
		calls, total, share := t.Int("calls"), t.Int("totaldurationns"), t.Float("percentage")
		name := trace.BareName(t.Cell("name"))
		least, most, sd := t.Int("minns"), t.Int("maxns"), t.Float("stddev")
		if calls == nil || total == nil || *calls == 0 || name == "" || t.Wrong() {
			t.Reject()
			continue
		}
		if share != nil {
			sharePct += *share
		}
		if what, ok := trace.NotKernel(name); ok {
			others.Add(what, *calls, *total)
			continue
		}
		row := trace.KernelStat{Name: strings.Clone(name), Calls: *calls, TotalNs: *total, MinNs: least, MaxNs: most}
		if sd != nil && *sd >= 0 && !math.IsInf(*sd, 0) {
			row.StdDevNs = sd
		}
		out.Rows = append(out.Rows, row)
	}
	notes := t.Notes(file)
	switch lostPct := 100 - sharePct; {
	case t.Bad() == 0:
	case sharePct > 0 && lostPct > 50, sharePct == 0 && t.Bad() > len(out.Rows)+others.Rows():
		return nil, nil, fmt.Errorf("%s: most of the time, so that what is left would mislead", trace.LeftOut(t.Bad(), "row", "rows"))
	case sharePct > 0 && lostPct >= 0.05:
		notes[len(notes)-1].Text += fmt.Sprintf(": %.1f %% of the time by the table's own Percentage", lostPct)
	}
	return out, append(notes, others.Notes(file)...), nil
}
