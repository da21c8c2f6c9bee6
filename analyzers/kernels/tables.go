package kernels

import (
	"github.com/rocanalyze/rocanalyze/pkg/report"
)

// TableID is the id of the table that CSV makes.
const TableID = "kernels"

// CSV lays a result out as one table, with every figure of every row.
func CSV(r *Result, v View) report.Table {
	t := report.Table{ID: TableID}
	for _, f := range fields() {
		t.Columns = append(t.Columns, report.Column{Key: f.key, Title: f.key})
	}
	rows := r.Rows()
	if v.Top > 0 && len(rows) > v.Top {
		rows = rows[:v.Top]
	}
	for i := range rows {
		cells := make([]report.Cell, 0, len(t.Columns))
		for _, f := range fields() {
			cells = append(cells, f.cell(&rows[i]))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// field is one column of the machine-readable table.
type field struct {
	key  string
	cell func(*Row) report.Cell
}

// number is a cell with a plain figure; an absent one is empty.
func number[N int64 | float64](p *N) report.Cell {
	if p == nil {
		return report.Absent("")
	}
	return report.Cell{Value: *p}
}

// kernelField is a count that rows of one kernel have, and others do not.
func kernelField(f func(*Row) int) func(*Row) report.Cell {
	return func(r *Row) report.Cell {
		if r.Kernels > 0 {
			return report.Absent("")
		}
		return report.Int(f(r))
	}
}

// count0 is a count that is empty when there is none.
func count0(n int) report.Cell {
	if n == 0 {
		return report.Absent("")
	}
	return report.Int(n)
}

func shapeField(f func(*Shape) report.Cell) func(*Row) report.Cell {
	return func(r *Row) report.Cell {
		if len(r.Shapes) != 1 {
			return report.Absent("")
		}
		return f(&r.Shapes[0])
	}
}

func registerField(f func(*Registers) *int64) func(*Row) report.Cell {
	return func(r *Row) report.Cell {
		if r.Registers == nil {
			return report.Absent("")
		}
		return number(f(r.Registers))
	}
}

// fields are the columns. Those of a shape are filled where a row has one.
func fields() []field {
	return []field{
		{"name", func(r *Row) report.Cell { return report.Text(r.Name) }},
		{"runtime", kernelField(func(r *Row) int { return map[bool]int{true: 1}[r.Runtime] })},
		{"calls", func(r *Row) report.Cell { return report.Int(r.Calls) }},
		{"total_ns", func(r *Row) report.Cell { return report.Int(r.TotalNs) }},
		{"share_pct", func(r *Row) report.Cell { return report.Pct(r.SharePct) }},
		{"mean_ns", func(r *Row) report.Cell { return number(&r.MeanNs) }},
		{"median_ns", func(r *Row) report.Cell { return number(r.MedianNs) }},
		{"p95_ns", func(r *Row) report.Cell { return number(r.P95Ns) }},
		{"min_ns", func(r *Row) report.Cell { return number(r.MinNs) }},
		{"max_ns", func(r *Row) report.Cell { return number(r.MaxNs) }},
		{"std_dev_ns", func(r *Row) report.Cell { return number(r.StdDevNs) }},
		{"cv_pct", func(r *Row) report.Cell { return number(r.CVPct) }},
		{"max_speedup", func(r *Row) report.Cell { return number(r.MaxSpeedup) }},
		{"kernels", func(r *Row) report.Cell { return count0(r.Kernels) }},
		{"shapes", kernelField(func(r *Row) int { return len(r.Shapes) })},
		{"gpus", func(r *Row) report.Cell { return report.Int(len(r.Agents)) }},
		{"grid", shapeField(func(s *Shape) report.Cell { return report.Text(extents(s.Grid)) })},
		{"workgroup", shapeField(func(s *Shape) report.Cell { return report.Text(extents(s.Workgroup)) })},
		{"workgroups", shapeField(func(s *Shape) report.Cell { return number(s.Workgroups) })},
		{"lds_bytes", shapeField(func(s *Shape) report.Cell { return number(s.LDSBytes) })},
		{"arch_vgpr_count", registerField(func(g *Registers) *int64 { return g.VGPRs })},
		{"accum_vgpr_count", registerField(func(g *Registers) *int64 { return g.Accum })},
		{"sgpr_count", registerField(func(g *Registers) *int64 { return g.SGPRs })},
		{"static_lds_bytes", registerField(func(g *Registers) *int64 { return g.StaticLDS })},
	}
}
