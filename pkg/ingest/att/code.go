package att

import (
	"fmt"
	"math"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// Bounds of code.json beyond its size in bytes.
const (
	maxRows    = 1 << 22
	maxReasons = 64
	maxLine    = math.MaxInt32
	// maxCount bounds a hit or cycle count: half an hour of one wave, or some
	// thousand waves for a tenth of a second. With maxRows, sums fit 63 bits.
	maxCount = 1 << 40
	// bytesPerRow guesses how many rows to make room for.
	bytesPerRow = 128
)

// column is what a cell of a row of code.json means.
type column uint8

const (
	colOther column = iota
	colISA
	colLine
	colSource
	colObject
	colVaddr
	colHits
	colLatency
	colStall
	colIdle
	colService
	colIssued
	colStalled
	colType
	colReasons
)

// columnNames are the header's names in lower case. The program-counter
// samples have two generations of names.
var columnNames = [...]struct {
	name string
	col  column
}{
	{"isa", colISA},
	{"linenumber", colLine},
	{"source", colSource},
	{"codeobj", colObject},
	{"vaddr", colVaddr},
	{"hit", colHits},
	{"latency", colLatency},
	{"stall", colStall},
	{"idle", colIdle},
	{"servicetype", colService},
	{"issued", colIssued},
	{"stalled", colStalled},
	{"notissuedreasons", colReasons},
	{"pc_issued", colIssued},
	{"pc_stalled", colStalled},
	{"stall_reasons", colReasons},
}

// requiredColumns are those without which a row says nothing.
var requiredColumns = [...]column{colISA, colLine, colHits, colLatency, colStall}

const defaultHeader = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"

// The rows of rocprofv2, which writes neither a header nor a version: the text,
// what kind of instruction it is, where it branches to, the source position, two
// ordinals, executions and cycles. A row's place in the list is the line that
// wave files name. Source: ROCm/rocprofiler plugin/att, att.py (parse_binary and
// the sums over hitcount_map and latency_map) and trace_view.py (code_sel).
func v2Columns() []column {
	return []column{colISA, colType, colOther, colSource, colOther, colOther, colHits, colLatency}
}

// Kinds of instructions that rocprofv2 tells apart (stitch.py): waits, s_nop and
// the like, of which the time is all stall, and what is no instruction.
const (
	immediate = 9
	v2Comment = 100
)

// columnSet is a set of columns.
type columnSet uint32

func (s columnSet) has(c column) bool { return s>>c&1 != 0 }
func (s *columnSet) add(c column)     { *s |= 1 << c }

// parseColumns resolves the names of a header. A name that comes twice counts
// once.
func parseColumns(names []string) []column {
	cols := make([]column, len(names))
	var seen columnSet
	for i, name := range names {
		name = strings.ToLower(strings.TrimSpace(name))
		for _, known := range columnNames {
			if known.name == name && !seen.has(known.col) {
				cols[i] = known.col
				seen.add(known.col)
			}
		}
	}
	return cols
}

func setOf(cols []column) columnSet {
	var s columnSet
	for _, c := range cols {
		if c != colOther {
			s.add(c)
		}
	}
	return s
}

// codeDocument is what code.json holds.
type codeDocument struct {
	version string
	state   trace.CodeState
	flavour trace.Flavour
	// cyclesOnly: see trace.ThreadTrace.
	cyclesOnly bool
	code       []trace.Instruction
	kernels    []trace.Kernel
}

// symbol is an entry of the "kernels" list of newer documents.
type symbol struct {
	object, address int64
	name, demangled string
}

// codeReader reads code.json in two passes: the first finds the parts, because
// the header may come after the rows, the second reads the rows.
type codeReader struct {
	cursor
	cols    []column
	want    columnSet
	strings map[string]string
	symbols []symbol
	reasons [maxReasons]int64

	doc      codeDocument
	v2       bool // the rows are those of rocprofv2
	labelled bool
	open     bool // the last kernel still takes rows
	rows     int
	bad      int
	firstBad string
	services int64 // rows of a sampling service
	notes    *notes
}

// readCode reads the bytes of code.json.
func readCode(b []byte, n *notes) codeDocument {
	r := &codeReader{cursor: newCursor(b), strings: map[string]string{}, notes: n}
	start, ok := r.find()
	switch {
	case start < 0 && !ok:
		n.add(trace.Damage, "code.json", "%s: no instruction can be read", r.Place())
		r.doc.state = trace.CodeUnreadable
	case start < 0:
		n.add(trace.Damage, "code.json", `there is no "code" list: no instruction can be read`)
		r.doc.state = trace.CodeUnreadable
	default:
		r.readList(start, !ok)
	}
	if r.BadUTF8 {
		n.add(trace.Warning, "code.json", "some text is not UTF-8: the bytes in question show as U+FFFD")
	}
	return r.doc
}

// find reads the top level: header, version and kernel list are kept, and
// start says where the rows are, -1 if they were not met. ok is false when the
// document is damaged.
func (r *codeReader) find() (start int, ok bool) {
	start = -1
	ok = r.Object(func(key []byte) bool {
		switch string(key) {
		case "code":
			r.Peek()
			start = r.At
			return r.Skip()
		case "header":
			return r.header()
		case "version":
			return r.stringOr(&r.doc.version)
		case "kernels":
			return r.kernelList()
		default:
			return r.Skip()
		}
	}) && r.End()
	return start, ok
}

// header reads "ISA, _, ..." or ["ISA", "_", ...].
func (r *codeReader) header() bool {
	var names []string
	switch r.Peek() {
	case '"':
		text, ok := r.Str()
		if !ok {
			return false
		}
		names = strings.Split(string(text), ",")
	case '[':
		if !r.Array(func() bool {
			var name string
			ok := r.stringOr(&name)
			names = append(names, name)
			return ok
		}) {
			return false
		}
	default:
		return r.Skip()
	}
	r.cols = parseColumns(names)
	return true
}

// kernelList reads the "kernels" of newer documents; entries of another shape
// are passed over.
func (r *codeReader) kernelList() bool {
	r.symbols = nil
	if r.Peek() != '[' {
		return r.Skip()
	}
	return r.Array(func() bool {
		if r.Peek() != '{' {
			return r.Skip()
		}
		var s symbol
		ok := r.Object(func(key []byte) bool {
			switch string(key) {
			case "codeobj":
				return r.intOr(&s.object)
			case "address":
				return r.intOr(&s.address)
			case "name":
				return r.stringOr(&s.name)
			case "demangled":
				return r.stringOr(&s.demangled)
			default:
				return r.Skip()
			}
		})
		s.name, s.demangled = trace.BareName(s.name), trace.BareName(s.demangled)
		if len(r.symbols) < maxRows && s.name+s.demangled != "" {
			r.symbols = append(r.symbols, s)
		}
		return ok
	})
}

// intOr reads an integer into v; any other value is skipped.
func (r *codeReader) intOr(v *int64) bool {
	m := r.Mark()
	var ok bool
	if *v, ok = r.Int(); ok {
		return true
	}
	r.Reset(m)
	return r.Skip()
}

// readList reads the rows at start. damaged says that the first pass did not
// reach the end of the document.
func (r *codeReader) readList(start int, damaged bool) {
	end, why := r.At, r.Why
	r.Restart(r.Text, start)
	if r.Null() {
		r.doc.state = trace.CodeNull
		r.noteCut(damaged, end, why)
		return
	}
	if r.Peek() != '[' {
		r.notes.add(trace.Damage, "code.json", `"code" is not a list: no instruction can be read`)
		r.doc.state = trace.CodeUnreadable
		return
	}
	if !r.resolveColumns(start) {
		r.doc.state = trace.CodeUnreadable
		return
	}
	r.doc.code = make([]trace.Instruction, 0, (len(r.Text)-start)/bytesPerRow)
	complete := r.Array(r.readRow)
	if !complete {
		damaged, end, why = true, r.At, r.Why
	}
	r.noteCut(damaged, end, why)
	r.finish(complete)
}

func (r *codeReader) noteCut(damaged bool, at int, why string) {
	if damaged {
		r.notes.add(trace.Damage, fmt.Sprintf("code.json: byte %d", at), "%s: what follows is lost, %s", why,
			trace.Many(r.rows, "row before it is used", "rows before it are used"))
	}
}

// resolveColumns settles which cell means what before the first row is read.
func (r *codeReader) resolveColumns(start int) bool {
	if r.cols == nil && r.doc.version == "" && r.firstRowCells() == len(v2Columns()) {
		r.Restart(r.Text, start)
		r.v2, r.doc.cyclesOnly, r.doc.version = true, true, "rocprofv2"
		r.cols, r.want = v2Columns(), setOf(v2Columns())
		return true
	}
	r.Restart(r.Text, start)
	if r.cols == nil {
		r.cols = parseColumns(strings.Split(defaultHeader, ","))
	}
	if len(r.cols) == 10 && !setOf(r.cols).has(colReasons) && r.firstRowSamples() {
		r.cols = append(r.cols, colIssued, colStalled, colReasons)
	}
	r.Restart(r.Text, start)
	r.want = setOf(r.cols)
	for _, c := range requiredColumns {
		if !r.want.has(c) {
			r.notes.add(trace.Damage, "code.json", "the header has no column %q: no instruction can be read", nameOf(c))
			return false
		}
	}
	if !r.want.has(colIdle) {
		r.notes.add(trace.Warning, "code.json", "the header has no Idle column: idle cycles show as 0")
	}
	return true
}

func nameOf(c column) string {
	for _, known := range columnNames {
		if known.col == c {
			return known.name
		}
	}
	return "_"
}

// firstRowCells is how many cells the first row has.
func (r *codeReader) firstRowCells() (n int) {
	if r.Peek() != '[' {
		return 0
	}
	if r.At++; r.Peek() != '[' {
		return 0
	}
	if !r.Array(func() bool { n++; return r.Skip() }) {
		return 0
	}
	return n
}

// firstRowSamples reports whether the first row has the shape of a
// program-counter sample without the header saying so: 13 cells, the last one
// a list, two numbers before it.
func (r *codeReader) firstRowSamples() bool {
	if r.Peek() != '[' {
		return false
	}
	if r.At++; r.Peek() != '[' {
		return false
	}
	var starts []byte // of each cell
	ok := r.Array(func() bool {
		starts = append(starts, r.Peek())
		return r.Skip()
	})
	return ok && len(starts) == 13 && isDigit(starts[10]) && isDigit(starts[11]) && starts[12] == '['
}

// cells is one row before it is checked.
type cells struct {
	got         columnSet
	isa, source string
	num         [colReasons]int64
	reasons     []int64 // valid until the next row
}

// readRow reads one row. A row that is not understood is counted and skipped;
// the result is false only where the text itself is broken.
func (r *codeReader) readRow() bool {
	m := r.Mark()
	r.rows++
	var w cells
	problem := r.readCells(&w)
	if problem == "" {
		problem = r.check(&w)
	}
	if problem != "" {
		r.Reset(m)
		if !r.Skip() {
			r.rows--
			return false
		}
		if r.bad++; r.bad == 1 {
			r.firstBad = fmt.Sprintf("row %d: %s", r.rows, problem)
		}
		return true
	}
	if len(r.doc.code) >= maxRows {
		return r.Fail("too many rows")
	}
	r.take(&w)
	return true
}

// readCells reads a row's cells by the columns; problem is "" when all could
// be read.
func (r *codeReader) readCells(w *cells) (problem string) {
	if r.Peek() != '[' {
		return "not a list"
	}
	cell := 0
	ok := r.Array(func() bool {
		col := colOther
		if cell < len(r.cols) {
			col = r.cols[cell]
		}
		cell++
		if col == colOther {
			return r.Skip()
		}
		w.got.add(col)
		return r.readCell(col, w)
	})
	if !ok {
		return r.Why
	}
	if w.got != r.want {
		return fmt.Sprintf("%d cells instead of %d", cell, len(r.cols))
	}
	return ""
}

func (r *codeReader) readCell(col column, w *cells) (ok bool) {
	switch col {
	case colISA:
		w.isa, ok = r.text()
		return ok
	case colSource:
		if r.Null() {
			return true
		}
		w.source, ok = r.text()
		return ok
	case colReasons:
		if r.Null() {
			return true
		}
		n, ok := r.Ints(r.reasons[:])
		w.reasons = r.reasons[:min(n, maxReasons)]
		return ok
	default:
		w.num[col], ok = r.Int()
		return ok
	}
}

// text reads a string; equal strings share their memory.
func (r *codeReader) text() (string, bool) {
	b, ok := r.Str()
	if !ok {
		return "", false
	}
	s, ok := r.strings[string(b)]
	if !ok {
		s = string(b)
		r.strings[s] = s
	}
	return s, true
}

// check applies the ranges that the rest of the program relies on.
func (r *codeReader) check(w *cells) (problem string) {
	if line := w.num[colLine]; line < 0 || line > maxLine {
		return fmt.Sprintf("line number %d", line)
	}
	for c := colHits; c <= colIdle; c++ {
		if w.num[c] < 0 {
			return fmt.Sprintf("negative %s %d", nameOf(c), w.num[c])
		}
		if w.num[c] > maxCount {
			return fmt.Sprintf("%s %d is more than any trace can hold", nameOf(c), w.num[c])
		}
	}
	return ""
}

// take adds a row to the code: a label opens a kernel, an instruction goes to
// the kernel that is open.
func (r *codeReader) take(w *cells) {
	if r.v2 && !r.v2Row(w) {
		return
	}
	object, vaddr := w.num[colObject], w.num[colVaddr]
	if label, ok := strings.CutPrefix(w.isa, ";"); ok {
		r.labelled = true
		r.openKernel(trace.Kernel{Symbol: trace.BareName(label), Demangled: trace.BareName(w.source), CodeObject: object, Vaddr: vaddr})
		return
	}
	inst := trace.Instruction{
		Line: int(w.num[colLine]), Text: w.isa, Source: w.source, CodeObject: object, Vaddr: vaddr,
		Counts: trace.Counts{
			Hits: w.num[colHits], LatencyCycles: w.num[colLatency],
			StallCycles: w.num[colStall], IdleCycles: w.num[colIdle],
		},
	}
	if r.want.has(colReasons) || r.want.has(colIssued) || r.want.has(colStalled) {
		inst.PC = &trace.PCSamples{
			Issued: w.num[colIssued], Stalled: w.num[colStalled],
			Reasons: append([]int64(nil), w.reasons...),
		}
	}
	if w.num[colService] != 0 {
		r.services++
	}
	// A row of another code object is not part of the labelled symbol: the
	// profiler appends program counters for which it found no symbol.
	if !r.open || r.lastKernel().CodeObject != object && !r.adopt(object) {
		r.openKernel(trace.Kernel{CodeObject: object, Vaddr: vaddr})
	}
	r.doc.code = append(r.doc.code, inst)
}

// v2Row brings a row of rocprofv2 into the form of the others; ok is false for
// a comment that names no kernel.
func (r *codeReader) v2Row(w *cells) (ok bool) {
	w.num[colLine] = int64(r.rows - 1)
	text, _, _ := strings.Cut(w.isa, "//") // the disassembler's address and code
	w.isa = strings.TrimSpace(text)
	if w.num[colType] == immediate {
		w.num[colStall] = w.num[colLatency]
	}
	if w.num[colType] != v2Comment {
		text, _, _ = strings.Cut(w.isa, ";")
		w.isa = strings.TrimSpace(text)
		return w.isa != ""
	}
	name, ok := strings.CutPrefix(w.isa, ";")
	name = strings.TrimSpace(name)
	name = strings.TrimPrefix(name, "Begin ")
	w.isa, w.source = ";"+name, ""
	return ok
}

func (r *codeReader) lastKernel() *trace.Kernel { return &r.doc.kernels[len(r.doc.kernels)-1] }

// adopt gives a label without a code object that of its first instruction.
func (r *codeReader) adopt(object int64) bool {
	k := r.lastKernel()
	if k.CodeObject != 0 || k.First != len(r.doc.code) {
		return false
	}
	k.CodeObject = object
	return true
}

func (r *codeReader) openKernel(k trace.Kernel) {
	r.closeKernel()
	k.First = len(r.doc.code)
	r.doc.kernels = append(r.doc.kernels, k)
	r.open = true
}

// closeKernel ends the open kernel; a label without instructions names none.
func (r *codeReader) closeKernel() {
	if !r.open {
		return
	}
	k := r.lastKernel()
	if k.Last = len(r.doc.code); k.Last == k.First {
		r.doc.kernels = r.doc.kernels[:len(r.doc.kernels)-1]
	}
	r.open = false
}

// finish settles what depends on all rows.
func (r *codeReader) finish(complete bool) {
	r.closeKernel()
	r.nameKernels()
	r.settleFlavour()
	r.noteBadRows()
	r.noteSharedLines()
	switch {
	case len(r.doc.code) > 0:
		r.doc.state = trace.CodeRead
	case complete && r.bad == 0:
		r.doc.state = trace.CodeEmpty
	default:
		r.doc.state = trace.CodeUnreadable
	}
}

func (r *codeReader) noteBadRows() {
	if r.bad > 0 {
		r.notes.add(trace.Damage, "code.json", "%s (first: %s)",
			trace.LeftOut(r.bad, fmt.Sprintf("of %s", trace.Many(r.rows, "row", "rows")), fmt.Sprintf("of %d rows", r.rows)), r.firstBad)
	}
}

// settleFlavour tells samples from cycles. A document may have the columns of
// both; samples are what it is about unless it holds cycles.
func (r *codeReader) settleFlavour() {
	if len(r.doc.code) == 0 || r.doc.code[0].PC == nil {
		return
	}
	var sum trace.Counts
	var samples int64
	for i := range r.doc.code {
		sum.Add(r.doc.code[i].Counts)
		samples += r.doc.code[i].PC.Issued + r.doc.code[i].PC.Stalled
	}
	if sum.LatencyCycles == 0 {
		r.doc.flavour = trace.Samples
		return
	}
	if samples > 0 || r.services > 0 {
		r.notes.add(trace.Info, "code.json", "the rows hold cycles and program-counter samples: the cycles are used")
	}
}

// noteSharedLines warns when wave records cannot tell two rows apart.
func (r *codeReader) noteSharedLines() {
	last, ordered := -1, true
	for i := range r.doc.code {
		ordered = ordered && r.doc.code[i].Line > last
		last = r.doc.code[i].Line
	}
	if ordered {
		return
	}
	seen := make(map[int]bool, len(r.doc.code))
	shared := 0
	for i := range r.doc.code {
		if line := r.doc.code[i].Line; seen[line] {
			shared++
		} else {
			seen[line] = true
		}
	}
	if shared > 0 {
		r.notes.add(trace.Warning, "code.json", "%s: wave records cannot tell them apart",
			trace.Many(shared, "row shares its line number with another row", "rows share their line number with another row"))
	}
}

// nameKernels uses the "kernels" list where the rows have no labels.
func (r *codeReader) nameKernels() {
	if len(r.symbols) == 0 {
		return
	}
	type place struct{ object, address int64 }
	at := make(map[place]symbol, len(r.symbols))
	for _, s := range r.symbols {
		at[place{s.object, s.address}] = s
	}
	if !r.labelled {
		r.doc.kernels = r.doc.kernels[:0]
		for i := range r.doc.code {
			inst := &r.doc.code[i]
			_, entry := at[place{inst.CodeObject, inst.Vaddr}]
			if entry || i == 0 || r.lastKernel().CodeObject != inst.CodeObject {
				r.doc.kernels = append(r.doc.kernels, trace.Kernel{CodeObject: inst.CodeObject, Vaddr: inst.Vaddr, First: i})
			}
			r.lastKernel().Last = i + 1
		}
	}
	for i := range r.doc.kernels {
		k := &r.doc.kernels[i]
		s := at[place{k.CodeObject, k.Vaddr}]
		if k.Symbol == "" {
			k.Symbol = s.name
		}
		if k.Demangled == "" && k.Symbol == s.name {
			k.Demangled = s.demangled
		}
	}
}
