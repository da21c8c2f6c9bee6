package rocpd

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// elder is a database of an older profiler, which holds kernels in one table of
// operations.
type elder struct {
	// kind is that of trace.Run.
	kind string
	// table holds the operations; columns are those without which it is not read.
	table   string
	columns []string
	read    func(*elders) error
}

// elderKinds are those that are read, the better table of one file first.
// Sources: ROCm/rocmProfileData rocpd_python schema_data/tableSchema.cmd,
// ROCm/rocprofiler bin/tblextr.py (fill_kernel_db, fill_ops_db).
func elderKinds() []elder {
	return []elder{
		{"rpd", "rocpd_op", []string{"description_id", "opType_id", "start", "end"}, (*elders).rpd},
		{"rocprof_db", "KERN", []string{"KernelName", "BeginNs", "EndNs"}, (*elders).kern},
		{"rocprof_db", "OPS", []string{"Name", "BeginNs", "EndNs"}, (*elders).ops},
	}
}

// elders reads one such database.
type elders struct {
	*info
	db    *DB
	table *table
	run   *trace.Run
	// ids are the kernels by the names that rows have for them, others what is
	// no kernel.
	ids    map[string]int64
	others trace.Others
}

// elderRun reads a database of an older profiler; it returns nil for another.
func (db *DB) elderRun(ctx context.Context, s *session, sch *schema) (*trace.Run, error) {
	for _, set := range sch.sets {
		if set.tables[dispatchTable] != nil {
			return nil, nil
		}
	}
	for _, k := range elderKinds() {
		m, ok := sch.objects[k.table]
		if !ok || m.Type != "table" {
			continue
		}
		t, err := s.table(ctx, m)
		if err != nil {
			return nil, s.unreadable(ctx, err)
		}
		if slices.ContainsFunc(k.columns, func(c string) bool { return !t.has(c) }) {
			continue
		}
		e := &elders{
			info: &info{session: s, ctx: ctx, set: &tableSet{}, shown: db.f.Shown},
			db:   db, table: t, ids: map[string]int64{}, others: trace.Others{},
			run: &trace.Run{Path: db.f.Shown, Kind: k.kind},
		}
		if err := k.read(e); err != nil {
			return nil, s.unreadable(ctx, err)
		}
		if len(e.run.Kernels) == 0 && k.table == "KERN" {
			continue // nothing but operations was traced
		}
		db.Notes = append(db.Notes, trace.Lower(e.others.Notes(db.f.Shown), trace.Warning, trace.Info)...)
		return e.run, nil
	}
	return nil, nil
}

// maxNameBytes bounds the name of a kernel in these databases.
const maxNameBytes = 1 << 16

// elderKernel is a kernel, or what is none, with the sum of its rows. Key is
// what rows have for it.
type elderKernel struct {
	Key   sql.NullString  `db:"key"`
	Name  sql.NullString  `db:"name"`
	Type  sql.NullString  `db:"type"`
	VGPRs sql.NullInt64   `db:"vgprs"`
	Accum sql.NullInt64   `db:"accum"`
	SGPRs sql.NullInt64   `db:"sgprs"`
	Calls int64           `db:"calls"`
	Ns    sql.NullFloat64 `db:"ns"`
}

// read lists the kernels of a query, and gives the rows of another to the run.
func (e *elders) read(kernels, rows string) error {
	var all []elderKernel
	if err := e.session.db.SelectContext(e.ctx, &all, kernels+fmt.Sprintf(" LIMIT %d", maxKernels)); err != nil {
		return err
	}
	for _, k := range all {
		name := strings.Trim(text(k.Name), `"`)
		if what, ok := notElderKernel(name, text(k.Type)); ok {
			e.others.Add(what, k.Calls, int64(k.Ns.Float64))
			continue
		}
		id := int64(len(e.run.Kernels) + 1)
		e.ids[k.Key.String] = id
		e.run.Kernels = append(e.run.Kernels, trace.RunKernel{
			ID: id, Name: trace.BareName(name), Symbol: trace.BareName(name),
			VGPRs: number(k.VGPRs), AccumVGPRs: number(k.Accum), SGPRs: number(k.SGPRs),
		})
	}
	e.run.Dispatches = &elderRows{db: e.db, ids: e.ids, query: rows}
	return nil
}

// notElderKernel says what an operation is that is no kernel. kind is that of
// rpd: "KernelExecution", "CopyDeviceToHost", "Barrier"; "" elsewhere. Where a
// trace was made of another profile it is the name again.
func notElderKernel(name, kind string) (what string, ok bool) {
	switch {
	case kind == "" || kind == name:
		if name == "" {
			return "operations without a name", true
		}
		return trace.NotKernel(name)
	case strings.Contains(strings.ToLower(kind), "kernel"):
		return "", false
	}
	if what, ok = trace.NotKernel(kind); !ok {
		what = kind + " operations"
	}
	return what, true
}

// rpd reads a trace of rocmProfileData. How a kernel was launched depends on
// the call that did, and is not read.
func (e *elders) rpd() error {
	const key = `coalesce(o.description_id, '') || ' ' || coalesce(o.opType_id, '')`
	return e.read(`SELECT `+key+fmt.Sprintf(` AS key, substr(d.string, 1, %d) AS name, substr(t.string, 1, %d) AS type,
		NULL AS vgprs, NULL AS accum, NULL AS sgprs, count(*) AS calls, total(o."end" - o.start) AS ns
		FROM rocpd_op o LEFT JOIN rocpd_string d ON d.id = o.description_id LEFT JOIN rocpd_string t ON t.id = o.opType_id
		GROUP BY 1 ORDER BY min(o.id)`, maxNameBytes, maxNameBytes),
		`SELECT `+key+e.selected(` FROM rocpd_op o ORDER BY o.id`, "id", "gpuId", "queueId", "", "start", "end", "", "", "", ""))
}

// kern reads the table of dispatches that rocprof leaves in its results.db.
// Different registers make different kernels.
func (e *elders) kern() error {
	vgprs := "arch_vgpr"
	if !e.table.has(vgprs) {
		vgprs = "vgpr" // before it was told from accumulation registers
	}
	key := `coalesce(KernelName, '') || ' ' || ` + strings.Join([]string{e.orNull(vgprs, "''"), e.orNull("accum_vgpr", "''"), e.orNull("sgpr", "''")}, ` || ' ' || `)
	return e.read(`SELECT `+key+fmt.Sprintf(` AS key, substr(KernelName, 1, %d) AS name, NULL AS type, %s AS vgprs, %s AS accum, %s AS sgprs,
		count(*) AS calls, total(EndNs - BeginNs) AS ns FROM KERN GROUP BY 1 ORDER BY min(rowid)`,
		maxNameBytes, e.orNull(vgprs, ""), e.orNull("accum_vgpr", ""), e.orNull("sgpr", "")),
		`SELECT `+key+e.selected(` FROM KERN ORDER BY rowid`, "", "gpu-id", "queue-id", "", "BeginNs", "EndNs", "lds", "scr", "wgr", "grd"))
}

// ops reads the table of operations of the GPU in rocprof's results.db.
func (e *elders) ops() error {
	return e.read(fmt.Sprintf(`SELECT Name AS key, substr(Name, 1, %d) AS name, NULL AS type, NULL AS vgprs, NULL AS accum, NULL AS sgprs,
		count(*) AS calls, total(EndNs - BeginNs) AS ns FROM OPS GROUP BY 1 ORDER BY min(rowid)`, maxNameBytes),
		`SELECT Name`+e.selected(` FROM OPS ORDER BY rowid`, "", "dev-id", "queue-id", "stream-id", "BeginNs", "EndNs", "", "", "", ""))
}

// orNull is a column, or what stands for one that is not there or has nothing.
func (e *elders) orNull(column, null string) string {
	switch {
	case e.table.has(column) && null != "":
		return "coalesce(" + quote(column) + ", " + null + ")"
	case e.table.has(column):
		return quote(column)
	case null != "":
		return null
	}
	return "NULL"
}

// selected are more columns of a query, of which those that are not there are
// NULL, and what follows them.
func (e *elders) selected(tail string, columns ...string) string {
	out := ""
	for _, c := range columns {
		out += ", " + e.orNull(c, "")
	}
	return out + tail
}

// elderRows is the trace.DispatchSource of such a database.
type elderRows struct {
	db    *DB
	ids   map[string]int64
	query string
}

// Fold reads the rows in their order.
func (r *elderRows) Fold(ctx context.Context, _ int, newFolder func() trace.DispatchFolder) (trace.DispatchReport, error) {
	var out trace.DispatchReport
	to := newFolder()
	err := r.db.with(func(s *session) error { return r.fold(ctx, s, to, &out) })
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil {
		out.Notes = append(out.Notes, trace.Note{Level: trace.Damage, File: r.db.f.Shown, Text: fmt.Sprintf(
			"damaged: what follows %s is lost (%s)", trace.Many(out.Rows, "dispatch", "dispatches"), sqlText(err))})
	}
	return out, nil
}

func (r *elderRows) fold(ctx context.Context, s *session, to trace.DispatchFolder, out *trace.DispatchReport) (err error) {
	rows, err := s.db.QueryContext(ctx, r.query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var key sql.NullString
	var v [10]any
	into := []any{&key}
	for i := range v {
		into = append(into, &v[i])
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		id, ok := r.ids[key.String]
		if !ok {
			continue
		}
		n := func(i int) int64 {
			if x, ok := v[i].(int64); ok {
				return x
			}
			return trace.Absent
		}
		d := trace.Dispatch{
			ID: n(0), Kernel: id, Agent: n(1), Queue: n(2), Stream: n(3), Start: n(4), End: n(5), LDSBytes: n(6), ScratchBytes: n(7),
			Workgroup: line(n(8)), Grid: line(n(9)),
		}
		out.Rows++
		to.Dispatch(&d)
	}
	return rows.Err()
}

// line is a number of work-items in one dimension, as rocprof gives them.
func line(n int64) [3]int64 {
	if n == trace.Absent {
		return [3]int64{n, n, n}
	}
	return [3]int64{n, 1, 1}
}
