package counters

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/csvtable"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/resultsjson"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// SniffBytes of a file are enough for Sniff.
const SniffBytes = 64 << 10

// maxNameBytes bounds all names that are kept of one table.
const maxNameBytes = 256 << 20

// maxColumns bounds a table's header: rocprofiler-compute writes up to 3000.
const maxColumns = 1 << 16

// Kind is what the beginning of a file says.
type Kind int

// The kinds of files with counters.
const (
	// NotCounters: nothing that this package knows.
	NotCounters Kind = iota
	// LongTable: CSV, one row per dispatch and counter.
	LongTable
	// WideTable: CSV, one column per counter.
	WideTable
	// Results: rocprofv3's results.json, which package resultsjson reads.
	Results
	// Database: a rocpd database, which package rocpd reads.
	Database
)

// String names the kind for people.
func (k Kind) String() string {
	return [...]string{"not a counter table", "counter CSV, long", "counter CSV, wide", "results.json", "rocpd"}[k]
}

// Sniff recognises a file by its beginning.
func Sniff(head []byte) Kind {
	if resultsjson.Sniff(head) {
		return Results
	}
	rows := csvtable.NewRows(bytes.NewReader(head))
	line, _, _ := rows.Next()
	c, ok := readHeader(headerNames(line))
	switch {
	case !ok:
		return NotCounters
	case c.counter >= 0:
		return LongTable
	case len(c.wide) == 0:
		// The header of an empty workload has no counters: with rows it is
		// another table.
		if row, _, _ := rows.Next(); len(row) > 0 {
			return NotCounters
		}
	}
	return WideTable
}

// Columns are the counter columns of a wide table that begins so, none for
// anything else.
func Columns(head []byte) []string {
	line, _, _ := csvtable.NewRows(bytes.NewReader(head)).Next()
	c, ok := readHeader(headerNames(line))
	if !ok {
		return nil
	}
	var out []string
	for _, w := range c.wide {
		out = append(out, fmt.Sprintf("%s[%d]", w.counter, w.instance))
	}
	return out
}

// headerNames copies the names of a header.
func headerNames(line []byte) []string {
	if bytes.Count(line, []byte{','}) >= maxColumns {
		return nil
	}
	var names []string
	cells, _ := csvtable.Split(line, nil)
	for _, cell := range cells {
		names = append(names, string(bytes.TrimSpace(cell)))
	}
	return names
}

// Table is a counter CSV, long or wide. It is a trace.CounterSource.
type Table struct {
	// FS and Name find the file, Shown is its path for the user.
	FS    fs.FS
	Name  string
	Shown string
	// Pass tells the table from those of other runs of the application.
	Pass string
	// Only keeps one counter and what it accumulated: rocprofiler-compute has
	// a table for each level counter, whose other columns repeat those of
	// pmc_perf.csv. "" keeps all.
	Only string
}

var _ trace.CounterSource = (*Table)(nil)

// Fold reads the table; see trace.CounterSource.
func (t *Table) Fold(ctx context.Context, workers int, newFolder func() trace.CounterFolder) (report trace.CounterReport, err error) {
	report.File = t.Shown
	file, err := t.FS.Open(t.Name)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	rows := csvtable.NewRows(file)
	head, _, err := rows.Next()
	if err != nil && !errors.Is(err, io.EOF) {
		return report, fmt.Errorf("%s: %w", t.Shown, err)
	}
	cols, ok := readHeader(headerNames(head))
	if !ok {
		return report, fmt.Errorf("%s: no longer a counter table", t.Shown)
	}
	if t.Only != "" {
		cols.wide = levelColumns(cols.wide, t.Only)
	}
	parsers := make([]*parser, max(workers, 1))
	for i := range parsers {
		parsers[i] = newParser(t.Pass, cols, newFolder())
	}
	end, err := rows.Blocks(ctx, len(parsers), func(w int, b csvtable.Block) { parsers[w].block(b) })
	if ctx.Err() != nil {
		return report, ctx.Err()
	}
	report = t.report(parsers)
	report.Bytes = end
	if err != nil {
		report.Notes = append(report.Notes, trace.Note{
			Level: trace.Damage, File: t.Shown, Text: err.Error() + ": what follows is lost",
		})
	}
	return report, nil
}

// report adds up what the parsers read.
func (t *Table) report(parsers []*parser) trace.CounterReport {
	r := trace.CounterReport{File: t.Shown}
	first := bad{at: math.MaxInt64}
	skipped := trace.Others{}
	for _, p := range parsers {
		r.Rows += p.rows
		r.Bad += p.bad
		skipped.Join(p.skipped)
		if p.bad > 0 && p.firstBad.at < first.at {
			first = p.firstBad
		}
	}
	r.Empty = r.Rows == 0 && r.Bad == 0
	r.Notes = skipped.Notes(t.Shown)
	if r.Bad > 0 {
		r.Notes = append(r.Notes, trace.Note{
			Level: trace.Damage, File: t.Shown, Place: fmt.Sprintf("byte %d", first.at),
			Text: fmt.Sprintf("%s (the first: %s)", trace.LeftOut(r.Bad, "row", "rows"), first.why),
		})
	}
	return r
}

// levelColumns are the columns of a level counter's own table: the counter,
// and SQ_ACCUM_PREV_HIRES, which there holds its sum over time and gets the
// name that later releases use (rocprofiler-compute counter_defs.yaml).
func levelColumns(wide []wideColumn, only string) []wideColumn {
	var out []wideColumn
	for _, w := range wide {
		switch w.counter {
		case only:
			out = append(out, w)
		case "SQ_ACCUM_PREV_HIRES", only + "_ACCUM":
			w.counter = only + "_ACCUM"
			out = append(out, w)
		}
	}
	return out
}

// bad is a row that cannot be understood.
type bad struct {
	at  int64
	why string
}

// parser turns the rows of its blocks into dispatches. It belongs to one
// worker.
type parser struct {
	cols    columns
	folder  trace.CounterFolder
	cells   [][]byte
	last    [len(meanings)][]byte // the cells that d was made of
	strings map[string]string
	kernels map[string]string
	// others are the names among kernels that are none, with what they are;
	// skipped counts their rows.
	others  map[string]string
	skipped trace.Others
	kept    int // bytes of all names
	d       trace.CounterDispatch
	pending bool
	// before and behind are the parts of the last row around its counter.
	before, behind []byte

	rows, bad int64
	firstBad  bad
}

func newParser(pass string, cols columns, folder trace.CounterFolder) *parser {
	return &parser{
		cols: cols, folder: folder, strings: map[string]string{}, kernels: map[string]string{},
		others: map[string]string{}, skipped: trace.Others{},
		d: trace.CounterDispatch{Pass: pass}, firstBad: bad{at: math.MaxInt64},
	}
}

// block parses whole rows.
func (p *parser) block(b csvtable.Block) {
	b.Each(p.row)
	p.flush()
}

func (p *parser) row(row []byte, at int64) {
	if p.again(row) {
		return
	}
	var ok bool
	if p.cells, ok = csvtable.Split(row, p.cells); !ok {
		p.reject(at, "a quote is out of place")
		return
	}
	rejoined := false
	if len(p.cells) > p.cols.width {
		p.cells, rejoined = csvtable.Rejoin(row, p.cells, p.cols.width, p.cols.kernel)
	}
	if len(p.cells) != p.cols.width {
		p.reject(at, fmt.Sprintf("%d cells under %d names", len(p.cells), p.cols.width))
		return
	}
	if p.cols.counter < 0 {
		p.wide(at)
		return
	}
	if !p.same() {
		p.flush()
		if !p.begin(at) {
			return
		}
	}
	if p.before, p.behind = nil, nil; !rejoined {
		p.remember(row)
	}
	if !p.add(p.cells[p.cols.counter], p.cells[p.cols.value]) {
		p.reject(at, fmt.Sprintf("counter %q has the value %q", clip(p.cells[p.cols.counter]), clip(p.cells[p.cols.value])))
	}
}

// add adds a value to the dispatch; ok is false when it is none.
func (p *parser) add(name, cell []byte) (ok bool) {
	value, ok := number(cell)
	name = bytes.TrimSpace(name)
	if !ok || len(name) == 0 {
		return false
	}
	counter, instance := splitInstance(p.intern(name))
	p.d.Values = append(p.d.Values, trace.CounterValue{Counter: counter, Instance: instance, Value: value})
	p.rows++
	return true
}

// remember keeps what stands before the counter and behind its value: the next
// rows are mostly of the same dispatch and need not be split then.
func (p *parser) remember(row []byte) {
	p.before, p.behind = nil, nil
	if p.cols.value != p.cols.counter+1 {
		return
	}
	start := csvtable.CellStart(row, p.cols.counter)
	_, rest, _ := csvtable.NextCell(row[start:])
	_, rest, _ = csvtable.NextCell(rest)
	p.before, p.behind = row[:start], rest
}

// again adds a row that differs from the last in counter and value alone; ok
// is false when it does not, or cannot be understood.
func (p *parser) again(row []byte) (ok bool) {
	if !p.pending || len(p.before) == 0 || !bytes.HasPrefix(row, p.before) {
		return false
	}
	name, rest, _ := csvtable.NextCell(row[len(p.before):])
	cell, rest, _ := csvtable.NextCell(rest)
	return bytes.Equal(rest, p.behind) && p.add(name, cell)
}

// wide adds a row of a wide table: a dispatch of its own.
func (p *parser) wide(at int64) {
	p.flush()
	if !p.begin(at) {
		return
	}
	for _, w := range p.cols.wide {
		// An empty cell is a counter that this dispatch does not have.
		value, ok := number(p.cells[w.at])
		if ok {
			p.d.Values = append(p.d.Values, trace.CounterValue{Counter: w.counter, Instance: w.instance, Value: value})
		} else if hardware(w.counter) && !csvtable.Number(p.cells[w.at]) {
			p.reject(at, fmt.Sprintf("counter %q has the value %q", w.counter, clip(p.cells[w.at])))
			p.pending, p.d.Values = false, p.d.Values[:0]
			return
		}
	}
	p.rows++
	p.flush()
}

// hardware reports whether a name is that of a hardware counter: its block in
// capitals, as in SQ_WAVES. Other columns of wide tables may hold words.
func hardware(counter string) bool {
	block, _, ok := strings.Cut(counter, "_")
	return ok && len(block) > 1 && block == strings.ToUpper(block)
}

// same reports whether the row is of the dispatch that is being put together.
func (p *parser) same() bool {
	if !p.pending {
		return false
	}
	for i, m := range meanings {
		at := *m.to(&p.cols)
		if at < 0 || at == p.cols.counter || at == p.cols.value {
			continue
		}
		if !bytes.Equal(p.last[i], p.cells[at]) {
			return false
		}
	}
	return true
}

// begin starts a dispatch with the current row; ok is false when the row has
// no kernel, or something else where a size or a time belongs.
func (p *parser) begin(at int64) (ok bool) {
	for i, m := range meanings {
		if c := *m.to(&p.cols); c >= 0 {
			p.last[i] = p.cells[c]
		}
	}
	kernel := p.kernel()
	if kernel == "" {
		p.reject(at, "no kernel name, or too many of them")
		return false
	}
	if what := p.others[kernel]; what != "" {
		p.skipped.Add(what, 1, 0)
		return false
	}
	for _, c := range [...]int{p.cols.grid, p.cols.workgroup, p.cols.lds, p.cols.start, p.cols.end} {
		if cell := p.cell(c); !csvtable.Number(cell) {
			p.reject(at, fmt.Sprintf("%q is no number", clip(cell)))
			return false
		}
	}
	p.d = trace.CounterDispatch{
		Pass: p.d.Pass, Replay: int(p.whole(p.cols.replay, 0)),
		Process: p.intern(p.cell(p.cols.process)), Agent: p.intern(p.cell(p.cols.agent)),
		Kernel: kernel, Grid: p.whole(p.cols.grid, 0), Workgroup: p.whole(p.cols.workgroup, 0),
		LDSBytes: p.whole(p.cols.lds, -1), ID: p.whole(p.cols.dispatch, -1), Order: at,
		XCC: int(p.whole(p.cols.xcc, trace.AllInstances)), Values: p.d.Values[:0],
	}
	p.times()
	p.pending = true
	return true
}

// times fills in the times. Averages over passes have fractions, of which only
// the difference matters.
func (p *parser) times() {
	start, sf := timestamp(p.cell(p.cols.start))
	end, ef := timestamp(p.cell(p.cols.end))
	if start <= 0 || end <= 0 {
		return
	}
	p.d.StartNs, p.d.EndNs, p.d.FractionNs = start, end, ef-sf
}

// timestamp reads nanoseconds: whole numbers exactly, as those of hosts that
// are up for long do not fit a float; anything else as a float.
func timestamp(cell []byte) (ns int64, fraction float64) {
	if v, err := strconv.ParseInt(string(cell), 10, 64); err == nil {
		return v, 0
	}
	f, err := strconv.ParseFloat(string(cell), 64)
	if err != nil || !(f > 0 && f < 1<<62) {
		return 0, 0
	}
	whole, fraction := math.Modf(f)
	return int64(whole), fraction
}

func (p *parser) flush() {
	if p.pending && len(p.d.Values) > 0 {
		p.folder.Dispatch(&p.d)
	}
	p.pending, p.before = false, nil
	p.d.Values = p.d.Values[:0]
}

func (p *parser) cell(at int) []byte {
	if at < 0 {
		return nil
	}
	return bytes.TrimSpace(p.cells[at])
}

// intern returns the string of a cell, made only once.
func (p *parser) intern(cell []byte) string {
	if s, ok := p.strings[string(cell)]; ok {
		return s
	}
	s := strings.ToValidUTF8(string(cell), "\uFFFD")
	if p.kept += len(cell); p.kept <= maxNameBytes {
		p.strings[string(cell)] = s
	}
	return s
}

// kernel returns the kernel's name.
func (p *parser) kernel() string {
	cell := p.cell(p.cols.kernel)
	if s, ok := p.kernels[string(cell)]; ok {
		return s
	}
	if p.kept += len(cell); p.kept > maxNameBytes {
		return ""
	}
	s := trace.BareName(strings.ToValidUTF8(string(cell), "\uFFFD"))
	p.kernels[string(cell)] = s
	if what, ok := trace.NotKernel(s); ok {
		p.others[s] = what
	}
	return s
}

// whole reads a number that is not negative, else gives absent.
func (p *parser) whole(at int, absent int64) int64 {
	if v, ok := csvtable.Whole(p.cell(at)); ok {
		return v
	}
	return absent
}

// number reads a finite value.
func number(cell []byte) (float64, bool) {
	cell = bytes.TrimSpace(cell)
	if len(cell) == 0 {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(cell), 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return 0, false
	}
	return f, true
}

func (p *parser) reject(at int64, why string) {
	p.bad++
	if at < p.firstBad.at {
		p.firstBad = bad{at, why}
	}
}

// clip keeps a cell short for a message.
func clip(cell []byte) string {
	return strings.ToValidUTF8(string(cell[:min(len(cell), 40)]), "?")
}
