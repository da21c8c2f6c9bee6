package occupancy

import (
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/report"
)

// TableID is the id of the table that CSV makes.
const TableID = "kernels"

// CSV lays a result out as one table over all kernels: its occupancy, or
// where a curve was asked for the curve's points.
func CSV(r *Result, v View) report.Table {
	kernels := r.Kernels
	if v.Top > 0 && len(kernels) > v.Top {
		kernels = kernels[:v.Top]
	}
	if v.WhatIf {
		return pointTable(kernels)
	}
	return kernelTable(kernels)
}

// fields are the columns, from what identifies a kernel to its launch.
func fields() report.Columns[*Kernel] {
	col := func(key string, cell func(*Kernel) report.Cell) report.ColumnOf[*Kernel] {
		return report.Col(key, key, cell)
	}
	return report.Columns[*Kernel]{
		col("kernel", func(k *Kernel) report.Cell { return report.Text(k.Name) }),
		col("kind", func(k *Kernel) report.Cell { return report.Text(k.Source.Kind) }),
		col("path", func(k *Kernel) report.Cell { return report.TextOf(k.Source.Path) }),
		col("row", func(k *Kernel) report.Cell { return report.Positive(k.Source.Row) }),
		col("arch", func(k *Kernel) report.Cell { return report.TextOf(k.Arch) }),
		col("wave_size", func(k *Kernel) report.Cell { return report.Positive(k.WaveSize) }),
		col("waves_per_simd", wavesCell),
		col("max_waves_per_simd", func(k *Kernel) report.Cell { return report.Positive(k.MaxWavesPerSIMD) }),
		col("unit", func(k *Kernel) report.Cell { return report.TextOf(k.Unit) }),
		col("workgroups_per_unit", func(k *Kernel) report.Cell { return report.IntOf(k.WorkgroupsPerUnit) }),
		col("limited_by", func(k *Kernel) report.Cell { return report.TextOf(strings.Join(k.Limiters, " ")) }),
		col("vgprs", func(k *Kernel) report.Cell { return report.IntOf(k.Registers.VGPRs) }),
		col("vgprs_in_descriptor", func(k *Kernel) report.Cell { return report.IntOf(k.Registers.Allocated) }),
		col("agprs", func(k *Kernel) report.Cell { return report.IntOf(k.Registers.AGPRs) }),
		col("sgprs", func(k *Kernel) report.Cell { return report.IntOf(k.Registers.SGPRs) }),
		col("vgpr_spills", func(k *Kernel) report.Cell { return report.IntOf(k.Registers.VGPRSpills) }),
		col("sgpr_spills", func(k *Kernel) report.Cell { return report.IntOf(k.Registers.SGPRSpills) }),
		col("lds_bytes", func(k *Kernel) report.Cell { return report.IntOf(k.Registers.LDSBytes) }),
		col("scratch_bytes_per_lane", func(k *Kernel) report.Cell { return report.IntOf(k.Registers.ScratchBytes) }),
		col("workgroup_size", func(k *Kernel) report.Cell { return report.Positive(k.WorkgroupSize) }),
		col("workgroups", func(k *Kernel) report.Cell { return launchCell(k, func(l *Launch) int64 { return l.Groups }) }),
		col("dispatches", func(k *Kernel) report.Cell { return report.Positive(k.dispatches()) }),
		col("total_ns", func(k *Kernel) report.Cell { return report.Positive(k.timeNs()) }),
		col("llvm_waves_per_simd", func(k *Kernel) report.Cell {
			if k.LLVM == nil {
				return report.Absent("")
			}
			return report.Int(k.LLVM.WavesPerSIMD)
		}),
		col("next_step", func(k *Kernel) report.Cell { return report.TextOf(k.Advice) }),
	}
}

func launchCell(k *Kernel, get func(*Launch) int64) report.Cell {
	if k.Launch == nil {
		return report.Absent("")
	}
	return report.Positive(get(k.Launch))
}

func (k *Kernel) dispatches() int64 {
	var n int64
	for _, g := range k.Launches {
		n += g.Dispatches
	}
	return n
}

func kernelTable(kernels []Kernel) report.Table {
	rows := make([]*Kernel, len(kernels))
	for i := range kernels {
		rows[i] = &kernels[i]
	}
	return fields().Table(TableID, rows)
}

func pointTable(kernels []Kernel) report.Table {
	t := report.Table{ID: TableID}
	for _, key := range []string{"kernel", "resource", "unit", "now", "from", "to", "waves_per_simd", "workgroups_per_unit", "limited_by"} {
		t.Columns = append(t.Columns, report.Column{Key: key, Title: key})
	}
	for i := range kernels {
		w := kernels[i].WhatIf
		if w == nil {
			continue
		}
		for _, p := range w.Points {
			t.Rows = append(t.Rows, []report.Cell{
				report.Text(kernels[i].Name), report.Text(w.Resource), report.Text(w.Unit), report.Int(w.Now), report.Int(p.From), report.Int(p.To),
				report.Float(p.WavesPerSIMD, 2), report.Int(p.WorkgroupsPerUnit), report.Text(strings.Join(p.LimitedBy, " ")),
			})
		}
	}
	return t
}
