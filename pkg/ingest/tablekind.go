package ingest

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/csvtable"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/kerneltrace"
)

// otherTables are tables that tools leave behind and that no format reads, or
// that say something only beside others. Each is known by columns, whose names
// are normalized; the first that has all of them counts. Sources:
// rocprofiler-sdk output/generateCSV.cpp, rocprofiler src/tools/file,
// rocprofiler-compute utils/file_io.py and roofline.py, Nsight Compute and
// Nsight Systems --csv.
var otherTables = []struct {
	columns    []string
	what, help string
}{
	{[]string{"nodeid", "agenttype"}, "a table of the machine's GPUs (agent_info.csv)", helpTrace},
	{[]string{"gpuarch", "cupergpu"}, "the machine's description of rocprof-compute (sysinfo.csv)", helpWorkload},
	{[]string{"hbmbw", "l2bw"}, "rocprof-compute's measured peaks (roofline.csv)", helpWorkload},
	{[]string{"kernelname", "count", "sum(ns)"}, "the list of top kernels that rocprof-compute analyze leaves (pmc_kernel_top.csv), not counters", helpWorkload},
	{[]string{"metric", "unit"}, "a table of rocprof-compute analyze", helpWorkload},
	{[]string{"metricname", "metricvalue"}, "metrics of Nsight Compute, of an NVIDIA GPU", helpAMD},
	{[]string{"totaltime(ns)", "instances"}, "sums of Nsight Systems, of an NVIDIA GPU", helpAMD},
	{[]string{"corrid", "grdx"}, "a trace of Nsight Systems, of an NVIDIA GPU", helpAMD},
	{[]string{"domain", "function", "starttimestamp"}, "a trace of API calls or markers, not of kernels", helpTrace},
	{[]string{"domain", "operation", "starttimestamp"}, "a trace of the operations of HIP or HSA (rocprofv2), without launch shapes", helpTrace},
	{[]string{"direction", "starttimestamp"}, "a trace of memory copies, not of kernels", helpTrace},
	{[]string{"operation", "agentid", "starttimestamp"}, "a trace of memory allocations, not of kernels", helpTrace},
}

// rocprofTexts are what rocprof v1 leaves beside its tables and merges into
// them. Source: rocprofiler bin/rpl_run.sh, bin/tblextr.py.
var rocprofTexts = []struct{ begins, what, help string }{
	{`^[0-9]+:[0-9]+ [0-9]+:[0-9]+ `, "a raw trace of rocprof (its hip, hsa, roctx or hcc_ops trace), not a table", "give the results.csv or results.stats.csv that rocprof made of it"},
	{`^(CMD: rocminfo|ROCk module )`, "what rocminfo says of the machine (.sysinfo.txt)", "give the table that it lies beside"},
}

// What to give instead of such a table.
const (
	helpTrace    = "give the *_kernel_trace.csv of the same run (rocprofv3 --kernel-trace)"
	helpStats    = "give the table of the kernels (*_kernel_stats.csv, results.stats.csv), or better the *_kernel_trace.csv"
	helpWorkload = "give the workload's directory, or its pmc_perf.csv"
	helpAMD      = "give a profile of an AMD GPU"
)

// tableKind says what a CSV file, or a text of rocprof, is that no format takes,
// and what to give instead; what is "" when it is nothing that is known.
func tableKind(c *candidate) (what, help string) {
	if of := kerneltrace.StatsOf(c.head, c.name); of != "" {
		return "statistics of " + of + ", not of kernels", helpStats
	}
	for _, s := range rocprofTexts {
		if regexp.MustCompile(s.begins).Match(c.head) {
			return s.what, s.help
		}
	}
	names := headerOf(c.head)
	for _, n := range names { // as in dram__bytes_read.sum
		block, rest, _ := strings.Cut(strings.ToLower(n), "__")
		if rest != "" && block != "" && strings.Contains(rest, ".") {
			return "metrics of Nsight Compute, of an NVIDIA GPU", helpAMD
		}
	}
	for i, n := range names {
		names[i] = csvtable.Normalize(n)
	}
	has := func(column string) bool { return slices.Contains(names, column) }
	if len(names) == 3 && has("dispatchid") && has("kernelname") && has("gpuid") {
		return "the list of dispatches that rocprof-compute analyze leaves (pmc_dispatch_info.csv), not counters", helpWorkload
	}
	for _, t := range otherTables {
		if !slices.ContainsFunc(t.columns, func(n string) bool { return !has(n) }) {
			return t.what, t.help
		}
	}
	return "", ""
}

// headerOf are the names in the first row of a CSV file.
func headerOf(head []byte) []string {
	line, _, _ := csvtable.NewRows(bytes.NewReader(head)).Next()
	cells, _ := csvtable.Split(line, nil)
	names := make([]string, len(cells))
	for i, cell := range cells {
		names[i] = string(bytes.TrimSpace(cell))
	}
	return names
}

// tableShapes name the kinds of tables that are read, by columns that only they
// have; the first that fits counts.
var tableShapes = []struct {
	columns []string
	name    string
	show    []string
}{
	{[]string{"execmask", "instruction", "waveissuedinstruction"}, "rocprofv3 pc_sampling_stochastic.csv", []string{"execmask", "instruction", "waveissuedinstruction"}},
	{[]string{"execmask", "instruction"}, "rocprofv3 pc_sampling_host_trap.csv", []string{"execmask", "instruction"}},
	{[]string{"codeobj", "vaddr", "instruction"}, "rocprofv3 stats_ui_output.csv", []string{"codeobj", "vaddr", "instruction"}},
	{[]string{"countername", "countervalue", "guid"}, "counters that rocpd convert wrote", []string{"countername", "countervalue"}},
	{[]string{"countername", "countervalue"}, "rocprofv3 counter_collection.csv", []string{"countername", "countervalue"}},
	{[]string{"kind", "kernelname"}, "rocprofv3 kernel_trace.csv", []string{"kind", "kernelname", "starttimestamp"}},
	{[]string{"kernelname", "grd"}, "rocprof v1 results.csv", []string{"index", "kernelname", "grd", "beginns"}},
	{[]string{"kernelname", "gridsize", "ldsperworkgroup"}, "rocprofv2 or rocprof-compute CSV", []string{"dispatchid", "kernelname", "gridsize", "starttimestamp"}},
	{[]string{"name", "calls", "totaldurationns", "minns"}, "rocprofv3 kernel_stats.csv", []string{"name", "calls", "totaldurationns"}},
	{[]string{"name", "calls", "totaldurationns"}, "rocprof v1 results.stats.csv", []string{"name", "calls", "totaldurationns"}},
	{[]string{"kernelname"}, "table of kernels", []string{"kernelname", "gridsize", "gridsizex", "starttimestamp"}},
}

// recognisedBy says in words what a file was recognised as, and by what.
func recognisedBy(format string, c *candidate) string {
	switch format {
	case "rocpd":
		return "SQLite database"
	case "results_json":
		return "JSON with the keys of rocprofv3"
	case "counter_table", "kernel_trace", "kernel_stats", "pc_samples", "thread_trace_stats":
	default:
		return "its first bytes"
	}
	header := headerOf(c.head)
	at := map[string]string{}
	for _, n := range header {
		if key := csvtable.Normalize(n); at[key] == "" {
			at[key] = n
		}
	}
	for _, s := range tableShapes {
		if slices.ContainsFunc(s.columns, func(n string) bool { return at[n] == "" }) {
			continue
		}
		var show []string
		for _, n := range s.show {
			if at[n] != "" {
				show = append(show, at[n])
			}
		}
		return s.name + " (columns " + strings.Join(show, ", ") + ")"
	}
	return "its columns"
}
