package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/report"

	"github.com/rocanalyze/rocanalyze/pkg/view"
)

func newDevices(a *app) *cobra.Command {
	var f view.Values
	cmd := &cobra.Command{
		Use:   "devices [NAME]",
		Short: "The GPUs that rocanalyze knows, and their peaks with sources",
		Long: `Lists the device table, or shows the devices that NAME finds in full: their
compute units, clocks and memory, and every theoretical peak with its formula and
source. NAME is a product (MI300X, "AMD Instinct MI300X"), a gfx name (gfx942) or
a PCI device id (0x74a1).

Peaks are dense operations per clock and CU, times CUs, times the highest clock;
a multiply-add counts as two. What a kernel reaches is lower.

Exit status:
  0  done
  2  bad usage, or no device of that name`,
		Example: `  rocanalyze devices
  rocanalyze devices MI300X
  rocanalyze devices --format json gfx950 | jq '.devices[].peaks.memory'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.devices(f, args) },
	}
	f = plain(cmd, fileFlags)
	return cmd
}

// deviceOutput is the machine output of the command.
type deviceOutput struct {
	Devices []deviceInfo `json:"devices"`
}

type deviceInfo struct {
	gpu.Device
	Family string    `json:"family"`
	Peaks  gpu.Peaks `json:"peaks"`
}

func (a *app) devices(f view.Values, args []string) error {
	found, err := gpu.Devices()
	if len(args) == 1 {
		var m gpu.Match
		m, err = gpu.FindDevices(args[0])
		found = m.Devices
	}
	if err != nil {
		return err
	}
	out := deviceOutput{Devices: []deviceInfo{}}
	for _, d := range found {
		info, err := describe(d)
		if err != nil {
			return err
		}
		out.Devices = append(out.Devices, info)
	}
	v := shown{result: out, table: deviceTable(out.Devices), env: envelope("devices", append([]string{}, args...), false, nil)}
	v.doc = report.Document{Sections: []report.Section{{ID: "devices", Title: "Devices", Items: []report.Item{deviceTable(out.Devices)}}}}
	if len(args) == 1 {
		v.doc = report.Document{}
		for _, d := range out.Devices {
			v.doc.Sections = append(v.doc.Sections, deviceSection(d))
		}
		v.table = peakTable("peaks", out.Devices)
	}
	return a.print(f, v)
}

func describe(d gpu.Device) (deviceInfo, error) {
	arch, archErr := gpu.ArchByName(d.Arch)
	peaks, err := d.Peaks()
	return deviceInfo{Device: d, Family: arch.Family, Peaks: peaks}, errors.Join(archErr, err)
}

// deviceTable is one line per device.
func deviceTable(devices []deviceInfo) report.Table {
	right := func(key, title string) report.Column {
		return report.Column{Key: key, Title: title, Align: report.AlignRight}
	}
	t := report.Table{ID: "devices", Columns: []report.Column{
		{Key: "name", Title: "device", Flex: true},
		{Key: "arch", Title: "arch"},
		right("device_id", "id"),
		right("cus", "CUs"),
		right("max_mhz", "MHz"),
		right("memory_gb_per_s", "GB/s"),
		right("matrix_fp16_tflops", "fp16"),
		right("matrix_fp8_tflops", "fp8"),
		right("matrix_fp4_tflops", "fp4"),
	}, Note: "fp16, fp8, fp4: dense matrix peaks in TFLOPS; devices NAME shows all peaks with their sources. " +
		"A dispatch runs on one die of an MI250 or MI250X, and is judged by half of the figures here"}
	for _, d := range devices {
		id := report.Absent("")
		if d.ID > 0 {
			id = report.Cell{Text: fmt.Sprintf("0x%04x", d.ID), Value: int64(d.ID)}
		}
		t.Rows = append(t.Rows, []report.Cell{
			report.Text(d.Name), report.Text(d.Arch), id, known(float64(d.CUs), 0), known(d.MaxMHz, 0), known(d.MemoryGBps, 0),
			mathCell(d, gpu.MatrixFP16), mathCell(d, gpu.MatrixFP8), mathCell(d, gpu.MatrixFP4),
		})
	}
	return t
}

// known is a figure of which zero means unknown.
func known(x float64, decimals int) report.Cell {
	if x == 0 {
		return report.Absent("")
	}
	return report.Float(x, decimals)
}

func mathCell(d deviceInfo, m gpu.Math) report.Cell {
	p, ok := d.Peaks.Of(m)
	if !ok {
		return report.Absent("")
	}
	return report.Float(p.Value, 1)
}

// deviceSection shows one device in full.
func deviceSection(d deviceInfo) report.Section {
	kv := report.KeyValues{}
	add := func(key, value string) {
		if value != "" {
			kv.Items = append(kv.Items, report.KV{Key: key, Value: value})
		}
	}
	size := func(x float64, unit string) string {
		if x == 0 {
			return ""
		}
		return fmt.Sprintf("%g %s", x, unit)
	}
	add("architecture", d.Arch+", "+d.Family)
	if d.ID > 0 {
		add("device id", fmt.Sprintf("0x%04x (%d)", d.ID, d.ID))
	}
	cus := fmt.Sprintf("%d CUs", d.CUs)
	if d.Dies > 1 {
		cus += fmt.Sprintf(" on %d dies", d.Dies)
	}
	add("compute", cus)
	if one := d.OneAgent(); one.Scaled != "" {
		add("dispatch", fmt.Sprintf("runs on one of the %d dies: %d CUs, %g GB/s, which is what other commands reckon with", d.Dies, one.CUs, one.MemoryGBps))
	}
	add("clock", size(d.MaxMHz, "MHz at most"))
	add("memory", strings.TrimSpace(size(d.VRAMGiB, "GiB")+" "+d.Memory))
	add("L2", size(d.L2MiBPerDie, "MiB per die"))
	add("MALL", size(d.MALLMiB, "MiB"))
	add("note", d.Note)
	add("sources", d.Sources)
	t := peakTable("peaks-"+d.Name, []deviceInfo{d})
	t.Columns = t.Columns[1:]
	for i := range t.Rows {
		t.Rows[i] = t.Rows[i][1:]
	}
	return report.Section{ID: "device-" + d.Name, Title: d.Name, Items: []report.Item{kv, shortSources(t, d)}}
}

// shortSources takes the device's own sources out of a table that stands below
// them, and lists what remains once.
func shortSources(t report.Table, d deviceInfo) report.Table {
	const source = 4
	var marks []string
	for i, row := range t.Rows {
		s := strings.TrimSuffix(row[source].Text, "; "+d.Scaled)
		s = strings.TrimPrefix(strings.TrimPrefix(s, "device table: "+d.Name), ", "+d.Sources)
		s = strings.TrimPrefix(s, "; ")
		if s == "" {
			s = "device table"
		}
		at := indexOrAppend(&marks, s)
		t.Rows[i] = append(row[:source:source], report.Text(fmt.Sprintf("[%d]", at+1)))
	}
	notes := make([]string, 0, len(marks))
	for i, m := range marks {
		notes = append(notes, fmt.Sprintf("[%d] %s", i+1, m))
	}
	t.Note = strings.Join(notes, "; ")
	return t
}

func indexOrAppend(list *[]string, s string) int {
	for i, have := range *list {
		if have == s {
			return i
		}
	}
	*list = append(*list, s)
	return len(*list) - 1
}

// peakTable lists the peaks of devices with unit, formula and source.
func peakTable(id string, devices []deviceInfo) report.Table {
	t := report.Table{ID: id, Columns: []report.Column{
		{Key: "device", Title: "device"},
		{Key: "peak", Title: "peak"},
		{Key: "value", Title: "value", Align: report.AlignRight},
		{Key: "unit", Title: "unit"},
		{Key: "formula", Title: "formula"},
		{Key: "source", Title: "source", Flex: true},
	}}
	for _, d := range devices {
		add := func(name string, p *gpu.Peak) {
			if p == nil {
				return
			}
			t.Rows = append(t.Rows, []report.Cell{
				report.Text(d.Name), report.Text(strings.ReplaceAll(name, "_", " ")),
				{Text: fmt.Sprintf("%.1f", p.Value), Value: p.Value},
				report.Text(p.Unit), report.Text(p.Formula), report.Text(p.Source),
			})
		}
		for _, m := range d.Peaks.Math {
			add(string(m.Math), &m.Peak)
		}
		add("memory", d.Peaks.Memory)
		add("MALL", d.Peaks.MALL)
		add("L2", d.Peaks.L2)
		add("LDS read", d.Peaks.LDSRead)
		add("LDS write", d.Peaks.LDSWrite)
	}
	return t
}
