package kernels

import (
	"github.com/rocanalyze/rocanalyze/pkg/report"
)

// TableID is the id of the table that CSV makes.
const TableID = "kernels"

// CSV lays a result out as one table, with every figure of every row.
func CSV(r *Result, v View) report.Table {
	all := r.Rows()
	if v.Top > 0 && len(all) > v.Top {
		all = all[:v.Top]
	}
	rows := make([]*Row, len(all))
	for i := range all {
		rows[i] = &all[i]
	}
	return fields().Table(TableID, rows)
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
func fields() report.Columns[*Row] {
	col := func(key string, cell func(*Row) report.Cell) report.ColumnOf[*Row] { return report.Col(key, key, cell) }
	return report.Columns[*Row]{
		col("name", func(r *Row) report.Cell { return report.Text(r.Name) }),
		col("runtime", kernelField(func(r *Row) int { return map[bool]int{true: 1}[r.Runtime] })),
		col("calls", func(r *Row) report.Cell { return report.Int(r.Calls) }),
		col("total_ns", func(r *Row) report.Cell { return report.Int(r.TotalNs) }),
		col("share_pct", func(r *Row) report.Cell { return report.Pct(r.SharePct) }),
		col("mean_ns", func(r *Row) report.Cell { return number(&r.MeanNs) }),
		col("median_ns", func(r *Row) report.Cell { return number(r.MedianNs) }),
		col("p95_ns", func(r *Row) report.Cell { return number(r.P95Ns) }),
		col("min_ns", func(r *Row) report.Cell { return number(r.MinNs) }),
		col("max_ns", func(r *Row) report.Cell { return number(r.MaxNs) }),
		col("std_dev_ns", func(r *Row) report.Cell { return number(r.StdDevNs) }),
		col("cv_pct", func(r *Row) report.Cell { return number(r.CVPct) }),
		col("max_speedup", func(r *Row) report.Cell { return number(r.MaxSpeedup) }),
		col("kernel_count", func(r *Row) report.Cell { return count0(r.Kernels) }),
		col("shapes", kernelField(func(r *Row) int { return len(r.Shapes) })),
		col("gpus", func(r *Row) report.Cell { return report.Int(len(r.Agents)) }),
		col("grid_work_items", shapeField(func(s *Shape) report.Cell { return report.Text(extents(s.Grid)) })),
		col("workgroup", shapeField(func(s *Shape) report.Cell { return report.Text(extents(s.Workgroup)) })),
		col("workgroups", shapeField(func(s *Shape) report.Cell { return number(s.Workgroups) })),
		col("lds_bytes", shapeField(func(s *Shape) report.Cell { return number(s.LDSBytes) })),
		col("arch_vgpr_count", registerField(func(g *Registers) *int64 { return g.VGPRs })),
		col("accum_vgpr_count", registerField(func(g *Registers) *int64 { return g.Accum })),
		col("sgpr_count", registerField(func(g *Registers) *int64 { return g.SGPRs })),
		col("static_lds_bytes", registerField(func(g *Registers) *int64 { return g.StaticLDS })),
	}
}
