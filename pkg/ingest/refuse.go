package ingest

import (
	"bytes"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/codeobj"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/rocpd"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// offer is a kind of evidence as it is asked for.
type offer struct {
	part trace.Part
	// lacks names it where a directory has none, give says what to give where
	// nothing else is read, short the same among others.
	lacks, give, short string
}

// offers are the kinds, in the order in which they are named.
var offers = []offer{
	{trace.ThreadTraces, "dispatch directory (code.json)", "the ui_output_agent_*_dispatch_* directory that rocprofv3 --att wrote", "a ui_output_* directory"},
	{trace.Dispatches, "dispatches", "the database (*_results.db) or the *_kernel_trace.csv that rocprofv3 --kernel-trace wrote", "a database, *_kernel_trace.csv"},
	{trace.Counters, "counter table", "the *_counter_collection.csv of rocprofv3 --pmc, a rocpd database, or a rocprof-compute workload", "a counter table"},
	{trace.Sampled, "PC samples", "the *_pc_sampling_*.csv of rocprofv3 --pc-sampling-method", "PC samples"},
	{trace.Code, "code object", "a code object or its assembly (.s)", "a code object (.co, .s)"},
}

// asked are the offers that are of use.
func (o *opener) asked() []offer {
	var out []offer
	for _, f := range offers {
		if o.wants(f.part) {
			out = append(out, f)
		}
	}
	return out
}

// advice says what to give: nothing that is not read, and no more than fits a
// line.
func (o *opener) advice() string {
	asked := o.asked()
	if len(asked) == 1 {
		return "give " + asked[0].give
	}
	var words []string
	for _, f := range asked {
		words = append(words, f.short)
	}
	return "give " + joined(words)
}

// lacks says what a directory has none of.
func (o *opener) lacks() string {
	asked := o.asked()
	if len(asked) > 2 {
		return "nothing to analyse"
	}
	var words []string
	for _, f := range asked {
		words = append(words, f.lacks)
	}
	return "no " + joined(words)
}

func joined(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// stranger is a kind of file that is recognised and not read.
type stranger struct {
	what string
	// help says what to do for whoever wants a part of what is in it; others,
	// and all where it is "", are told what to give.
	help string
	part trace.Part
	is   func(c *candidate) bool
}

// Parts that help is for.
const anyPart = trace.ThreadTraces | trace.Dispatches | trace.Counters | trace.Code | trace.Sampled

// What to do about kinds of files that are not read.
const (
	helpDecoder = "install rocprof-trace-decoder and capture again (--att-library-path DIR), or decode them with its att_tool.py"
	helpFormat  = "capture with rocprofv3 --kernel-trace --output-format rocpd (or csv)"
	helpInput   = "run rocprofv3 -i with it, and give the directory that this writes (-d)"
	helpV1      = "give the results.csv, results.stats.csv or results.db that rocprof wrote beside it"
)

// strangers are told by their first bytes; by their names where those say
// nothing, or are not documented. The first that fits counts. Sources: the
// formats of the Trace Event profiling tool, Perfetto (protos/perfetto/trace/
// trace.proto), torch.profiler, OTF2, Python's pickletools, Mesa's
// ac_sqtt.h and rgp (for Radeon GPU Profiler), ROCm/rocprofiler bin/sqlitedb.py.
var strangers = []stranger{
	{"an empty file (0 bytes)", "", 0, func(c *candidate) bool { return len(c.head) == 0 }},
	{"a thread trace that was not decoded (.att)", helpDecoder, trace.ThreadTraces, suffixed(rawSuffix)},
	{"a report of Nsight Systems, of an NVIDIA GPU", helpAMD, anyPart, suffixed(".nsys-rep", ".qdrep", ".qdstrm")},
	{"a report of Nsight Compute, of an NVIDIA GPU", helpAMD, anyPart, either(begins("NVR\x00"), suffixed(".ncu-rep"))},
	{"a capture of Radeon GPU Profiler (.rgp)", "", 0, begins("AMD_RDF ", "B00P")},
	{"a Python pickle, which may run code", "", 0, isPickle},
	{"a Git LFS pointer, not the file", "fetch it with git lfs pull", anyPart, begins("version https://git-lfs.github.com/")},
	{"a Parquet table", "", 0, begins("PAR1")},
	{"an OTF2 trace", helpFormat, trace.Dispatches, suffixed(".otf2")},
	{"the Chrome trace that rocprof wrote (results.json)", helpV1, trace.Dispatches, begins(`{ "traceEvents":[{}`)},
	{"a trace of torch.profiler", helpFormat, trace.Dispatches, holds(`"traceEvents"`, `"deviceProperties"`)},
	{"a trace of torch.profiler", helpFormat, trace.Dispatches, holds(`"traceEvents"`, `"distributedInfo"`)},
	{"a trace of torch.profiler", helpFormat, trace.Dispatches, holds(`"schemaVersion"`, `"deviceProperties"`)},
	{"a Chrome trace (JSON)", helpFormat, trace.Dispatches, holds(`"traceEvents"`)},
	{"a Chrome trace (JSON)", helpFormat, trace.Dispatches, holds(`"ph"`, `"ts"`, `"pid"`)},
	{"a Perfetto trace (.pftrace)", helpFormat, trace.Dispatches, isPerfetto},
	{"an input file of rocprofv3, not its output", helpInput, anyPart, isInput},
	{"a web page", "", 0, holds("<html")},
}

// suffixed tells a file by its name.
func suffixed(suffixes ...string) func(*candidate) bool {
	f := format{suffixes: suffixes}
	return func(c *candidate) bool { return f.named(c.name) }
}

// begins tells a file by its first bytes.
func begins(marks ...string) func(*candidate) bool {
	return func(c *candidate) bool {
		for _, m := range marks {
			if bytes.HasPrefix(c.head, []byte(m)) {
				return true
			}
		}
		return false
	}
}

// holds tells a text by what is near its beginning: all of it.
func holds(marks ...string) func(*candidate) bool {
	return func(c *candidate) bool {
		for _, m := range marks {
			if !bytes.Contains(c.head, []byte(m)) {
				return false
			}
		}
		return bytes.IndexByte(c.head, 0) < 0
	}
}

func either(a, b func(*candidate) bool) func(*candidate) bool {
	return func(c *candidate) bool { return a(c) || b(c) }
}

// isPickle recognises protocol 2 and later, which frame what follows or put a
// simple opcode there.
func isPickle(c *candidate) bool {
	return len(c.head) > 3 && c.head[0] == 0x80 && c.head[1] >= 2 && c.head[1] <= 5 &&
		bytes.IndexByte([]byte("\x95}](cqX\x8c"), c.head[2]) >= 0
}

// isPerfetto recognises a Trace message: packets, field 1, one after the other,
// whose own first field is one that packets begin with.
func isPerfetto(c *candidate) bool {
	b, packets := c.head, 0
	for len(b) > 2 && b[0] == 0x0a {
		size, n := varint(b[1:])
		if n == 0 || size == 0 || size > 1<<28 {
			return false
		}
		field, n2 := varint(b[1+n:])
		if wire := field & 7; n2 == 0 || field>>3 == 0 || field>>3 > 4096 || wire != 0 && wire != 2 {
			return false
		}
		packets++
		if size > uint64(len(b)-1-n) {
			break
		}
		b = b[1+n+int(size):]
	}
	return packets > 0 && (len(b) == 0 || b[0] == 0x0a) && bytes.IndexByte(c.head, 0x0a) == 0 && !isText(c.head)
}

// isText reports whether a file looks like text.
func isText(head []byte) bool {
	for _, ch := range head {
		if ch < 0x20 && ch != '\n' && ch != '\r' && ch != '\t' {
			return false
		}
	}
	return true
}

// varint reads a number of Protocol Buffers; n is 0 when there is none.
func varint(b []byte) (v uint64, n int) {
	for n < len(b) && n < 10 {
		v |= uint64(b[n]&0x7f) << (7 * n)
		n++
		if b[n-1] < 0x80 {
			return v, n
		}
	}
	return 0, 0
}

// isInput recognises the inputs of rocprofv3 (YAML, JSON) and of its
// predecessors (text).
func isInput(c *candidate) bool {
	text := strings.TrimSpace(string(c.head))
	if rest, ok := strings.CutPrefix(text, "{"); ok {
		return strings.HasPrefix(strings.TrimSpace(rest), `"jobs"`)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line == "---" {
			continue
		}
		for _, key := range []string{"jobs:", "pmc:", "pmc ", "att:", "range:", "gpu:", "kernel:"} {
			if strings.HasPrefix(line, key) {
				return true
			}
		}
		return false
	}
	return false
}

// kinds are what formats hold, for a file that is read by other commands only.
var kinds = map[string]string{
	"rocpd": "a database of rocpd", "counter_table": "a counter table", "results_json": "a results.json of rocprofv3", "kernel_trace": "a kernel trace",
	"kernel_stats": "statistics of kernels", "thread_trace_stats": "the table of a thread trace", "thread_trace_code": "the code of a thread trace (code.json)", "code_object": "a code object", "assembly": "assembly of an AMD GPU",
	"pc_samples": "PC samples of rocprofv3",
}

// notDatabase is the error for a file that has the name of a database and is
// none.
func (o *opener) notDatabase(c *candidate) error {
	what, help, part := o.strange(c, false)
	if what == unknownKind {
		return rocpd.NotSQLite(c.head)
	}
	if help == "" || part&o.only == 0 {
		help = o.advice()
	}
	return &rocpd.NotDatabase{Problem: what, Advice: help}
}

// unwanted refuses a file that was named and is nothing of what is wanted.
// known says that it is of a kind that other commands read: beside other inputs
// that is no fault.
func (o *opener) unwanted(p string, c *candidate, known bool) error {
	what, help, part := o.strange(c, known)
	if known && len(o.tr.Given) > 1 {
		o.note(trace.Info, c.shown, what+": it has no part in this")
		return nil
	}
	if help == "" || part&o.only == 0 {
		help = o.advice()
	}
	return &PathError{Path: p, Problem: what, Advice: help}
}

// unknownKind is what is said of a file that nothing is known of.
const unknownKind = "not recognised"

// strange says what a file is that is not read, and what helps whoever wants
// some part.
func (o *opener) strange(c *candidate, known bool) (what, help string, part trace.Part) {
	if known {
		for _, f := range formats() {
			if f.sniff(c) && kinds[f.name] != "" {
				return kinds[f.name], "", 0
			}
		}
	}
	for _, s := range strangers {
		if s.is(c) {
			return s.what, s.help, s.part
		}
	}
	if what, help = tableKind(c); what != "" {
		return what, help, partOf(help)
	}
	if what, help = codeobj.Foreign(c.head); what != "" {
		return what, help, trace.Code
	}
	return unknownKind, "", 0
}

// partOf is the kind of evidence that the help about a table leads to.
func partOf(help string) trace.Part {
	switch help {
	case helpTrace, helpStats:
		return trace.Dispatches
	case helpWorkload:
		return trace.Counters
	}
	return anyPart
}
