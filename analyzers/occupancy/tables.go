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

// field is one column of the machine-readable table.
type field struct {
	key  string
	cell func(*Kernel) report.Cell
}

func text(s string) report.Cell {
	if s == "" {
		return report.Absent("")
	}
	return report.Text(s)
}

func optional(p *int) report.Cell {
	if p == nil {
		return report.Absent("")
	}
	return report.Int(*p)
}

func positive[N int | int64](n N) report.Cell {
	if n <= 0 {
		return report.Absent("")
	}
	return report.Int(n)
}

// fields are the columns, from what identifies a kernel to its launch.
func fields() []field {
	return []field{
		{"kernel", func(k *Kernel) report.Cell { return report.Text(k.Name) }},
		{"source", func(k *Kernel) report.Cell { return report.Text(k.Source.Kind) }},
		{"path", func(k *Kernel) report.Cell { return text(k.Source.Path) }},
		{"row", func(k *Kernel) report.Cell { return positive(k.Source.Row) }},
		{"arch", func(k *Kernel) report.Cell { return text(k.Arch) }},
		{"wave_size", func(k *Kernel) report.Cell { return positive(k.WaveSize) }},
		{"waves_per_simd", wavesCell},
		{"max_waves_per_simd", func(k *Kernel) report.Cell { return positive(k.MaxWavesPerSIMD) }},
		{"unit", func(k *Kernel) report.Cell { return text(k.Unit) }},
		{"workgroups_per_unit", func(k *Kernel) report.Cell { return optional(k.WorkgroupsPerUnit) }},
		{"limiters", func(k *Kernel) report.Cell { return text(strings.Join(k.Limiters, " ")) }},
		{"vgprs", func(k *Kernel) report.Cell { return optional(k.Registers.VGPRs) }},
		{"vgprs_in_descriptor", func(k *Kernel) report.Cell { return optional(k.Registers.Allocated) }},
		{"agprs", func(k *Kernel) report.Cell { return optional(k.Registers.AGPRs) }},
		{"sgprs", func(k *Kernel) report.Cell { return optional(k.Registers.SGPRs) }},
		{"vgpr_spills", func(k *Kernel) report.Cell { return optional(k.Registers.VGPRSpills) }},
		{"sgpr_spills", func(k *Kernel) report.Cell { return optional(k.Registers.SGPRSpills) }},
		{"lds_bytes", func(k *Kernel) report.Cell { return optional(k.Registers.LDSBytes) }},
		{"scratch_bytes_per_lane", func(k *Kernel) report.Cell { return optional(k.Registers.ScratchBytes) }},
		{"workgroup_size", func(k *Kernel) report.Cell { return positive(k.WorkgroupSize) }},
		{"workgroups", func(k *Kernel) report.Cell { return launchCell(k, func(l *Launch) int64 { return l.Groups }) }},
		{"dispatches", func(k *Kernel) report.Cell { return positive(k.dispatches()) }},
		{"total_ns", func(k *Kernel) report.Cell { return positive(k.timeNs()) }},
		{"llvm_waves_per_simd", func(k *Kernel) report.Cell {
			if k.LLVM == nil {
				return report.Absent("")
			}
			return report.Int(k.LLVM.WavesPerSIMD)
		}},
		{"next_step", func(k *Kernel) report.Cell { return text(k.Advice) }},
	}
}

func launchCell(k *Kernel, get func(*Launch) int64) report.Cell {
	if k.Launch == nil {
		return report.Absent("")
	}
	return positive(get(k.Launch))
}

func (k *Kernel) dispatches() int64 {
	var n int64
	for _, g := range k.Launches {
		n += g.Dispatches
	}
	return n
}

func kernelTable(kernels []Kernel) report.Table {
	t := report.Table{ID: TableID}
	for _, f := range fields() {
		t.Columns = append(t.Columns, report.Column{Key: f.key, Title: f.key})
	}
	for i := range kernels {
		var row []report.Cell
		for _, f := range fields() {
			row = append(row, f.cell(&kernels[i]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func pointTable(kernels []Kernel) report.Table {
	t := report.Table{ID: TableID}
	for _, key := range []string{"kernel", "resource", "unit", "now", "from", "to", "waves_per_simd", "workgroups_per_unit", "limiters"} {
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
