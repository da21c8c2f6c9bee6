package gpu

import (
	_ "embed" // the device table
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

//go:embed devices.csv
var deviceTable string

// Device is one product, or the part of it that an agent stands for.
// Zero means unknown in every number.
type Device struct {
	// Name is the short product name, for example "MI300X".
	Name string `json:"name"`
	// Arch is the gfx name.
	Arch string `json:"arch"`
	// ID is the PCI device id, as Device_Id of agent_info.
	ID int `json:"device_id,omitempty"`
	// Dies are XCDs (GCDs on MI200), CUs compute units over all of them.
	Dies int `json:"dies,omitempty"`
	CUs  int `json:"cus"`
	// MaxMHz is the peak engine clock.
	MaxMHz float64 `json:"max_mhz,omitempty"`
	Memory string  `json:"memory_type,omitempty"`
	// MemoryGBps is the theoretical memory bandwidth in 1e9 bytes per second.
	MemoryGBps float64 `json:"memory_gb_per_s,omitempty"`
	// MemoryPerDie is true where each die has memory of its own (MI200).
	MemoryPerDie bool    `json:"-"`
	VRAMGiB      float64 `json:"vram_gib,omitempty"`
	L2MiBPerDie  float64 `json:"l2_mib_per_die,omitempty"`
	MALLMiB      float64 `json:"mall_mib,omitempty"`
	MALLGBps     float64 `json:"mall_gb_per_s,omitempty"`
	// Published are AMD's peak figures in TFLOPS (TOPS), rounded as printed.
	// Peaks computes its own and does not use them.
	Published map[Math]float64 `json:"-"`
	Note      string           `json:"note,omitempty"`
	// Sources names the public documents of the row.
	Sources string `json:"documents,omitempty"`
	// Scaled says how this differs from the whole product, for example
	// "scaled to 38 of 304 CUs"; empty for the product itself.
	Scaled string `json:"scaled,omitempty"`
}

// Devices returns the embedded device table in its own order.
func Devices() ([]Device, error) {
	return parseDevices(strings.NewReader(deviceTable))
}

// columns maps the published-peak columns of the table.
func columns() []struct {
	name string
	math Math
} {
	return []struct {
		name string
		math Math
	}{
		{"tflops_vec_fp64", VectorFP64},
		{"tflops_vec_fp32", VectorFP32},
		{"tflops_vec_fp16", VectorFP16},
		{"tflops_mat_fp64", MatrixFP64},
		{"tflops_mat_fp32", MatrixFP32},
		{"tflops_mat_xf32", MatrixXF32},
		{"tflops_mat_fp16", MatrixFP16},
		{"tflops_mat_bf16", MatrixBF16},
		{"tflops_mat_fp8", MatrixFP8},
		{"tflops_mat_int8", MatrixInt8},
		{"tflops_mat_fp6", MatrixFP6},
		{"tflops_mat_fp4", MatrixFP4},
	}
}

// row reads the cells of one line by column name and keeps the first error.
type row struct {
	index map[string]int
	cells []string
	err   error
}

func (r *row) text(name string) string {
	i, ok := r.index[name]
	if !ok {
		r.fail(fmt.Errorf("no column %q", name))
		return ""
	}
	return strings.TrimSpace(r.cells[i])
}

func (r *row) number(name string) float64 {
	s := r.text(name)
	if s == "" || r.err != nil {
		return 0
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v < 0 || v > 1e9 || math.IsNaN(v) {
		r.fail(fmt.Errorf("column %q: %q is not a figure from 0 to 1e9", name, s))
		return 0
	}
	return v
}

func (r *row) whole(name string) int {
	v := r.number(name)
	if v != math.Trunc(v) {
		r.fail(fmt.Errorf("column %q: %v is not whole", name, v))
	}
	return int(v)
}

func (r *row) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// parseDevices reads a table with a header line; columns may be in any order.
func parseDevices(in io.Reader) ([]Device, error) {
	reader := csv.NewReader(in)
	header, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("device table: header: %w", err)
	}
	index := map[string]int{}
	for i, name := range header {
		index[strings.TrimSpace(name)] = i
	}
	var out []Device
	for {
		cells, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("device table: %w", err)
		}
		r := &row{index: index, cells: cells}
		d := r.device()
		if r.err != nil {
			return nil, fmt.Errorf("device table: %q: %w", d.Name, r.err)
		}
		out = append(out, d)
	}
}

func (r *row) device() Device {
	d := Device{
		Name: r.text("name"), Arch: r.text("gfx"), ID: r.whole("device_id"),
		Dies: r.whole("dies"), CUs: r.whole("compute_units"), MaxMHz: r.number("max_mhz"),
		Memory: r.text("memory"), MemoryGBps: r.number("mem_gbps"),
		MemoryPerDie: r.text("memory_per_die") == "yes",
		VRAMGiB:      r.number("vram_gib"), L2MiBPerDie: r.number("l2_mib_per_die"),
		MALLMiB: r.number("mall_mib"), MALLGBps: r.number("mall_gbps"),
		Note: r.text("note"), Sources: r.text("sources"),
		Published: map[Math]float64{},
	}
	for _, c := range columns() {
		if v := r.number(c.name); v > 0 {
			d.Published[c.math] = v
		}
	}
	return d
}

// Match is what FindDevices found.
type Match struct {
	Devices []Device
	// How is the rule that matched: "device id", "architecture", "name",
	// "name within the text" or "part of the name".
	How string
}

// FindDevices looks a device up. The first rule that matches decides:
//
//  1. a PCI device id, decimal or 0x-hexadecimal;
//  2. a gfx name or alias: all devices of that architecture;
//  3. the table's name;
//  4. a table name found whole in the query ("AMD Instinct MI300X OAM"): the
//     longest such name;
//  5. the query, of at least three characters, found in table names.
//
// Case, hyphens and repeated spaces do not matter. Rules 2 and 5 may give
// several devices, in table order; the caller must choose or say so. It fails
// when nothing matches.
func FindDevices(query string) (Match, error) {
	all, err := Devices()
	if err != nil {
		return Match{}, err
	}
	q := words(query)
	rules := []struct {
		how  string
		pick func([]Device, string) []Device
	}{
		{"device id", byID},
		{"architecture", byArch},
		{"name", byName},
		{"name within the text", byNameInQuery},
		{"part of the name", byQueryInName},
	}
	for _, rule := range rules {
		if found := rule.pick(all, q); len(found) > 0 {
			return Match{Devices: found, How: rule.how}, nil
		}
	}
	names := make([]string, 0, len(all))
	for _, d := range all {
		names = append(names, d.Name)
	}
	return Match{}, fmt.Errorf("no device matches %q: known are %s, or a gfx name or device id of one of them",
		query, strings.Join(names, ", "))
}

// words lowers a name and joins its words with single spaces.
func words(s string) string {
	s = strings.NewReplacer("-", " ", "_", " ", "(", " ", ")", " ").Replace(strings.ToLower(s))
	return strings.Join(strings.Fields(s), " ")
}

func filter(all []Device, keep func(Device) bool) []Device {
	var out []Device
	for _, d := range all {
		if keep(d) {
			out = append(out, d)
		}
	}
	return out
}

func byID(all []Device, q string) []Device {
	id, err := strconv.ParseInt(q, 0, 32)
	if err != nil || id <= 0 {
		return nil
	}
	return filter(all, func(d Device) bool { return d.ID == int(id) })
}

func byArch(all []Device, q string) []Device {
	a, err := ArchByName(q)
	if err != nil {
		return nil
	}
	return filter(all, func(d Device) bool { return d.Arch == a.Name })
}

func byName(all []Device, q string) []Device {
	return filter(all, func(d Device) bool { return words(d.Name) == q })
}

func byNameInQuery(all []Device, q string) []Device {
	var best []Device
	for _, d := range all {
		if !strings.Contains(" "+q+" ", " "+words(d.Name)+" ") {
			continue
		}
		if len(best) == 0 || len(d.Name) > len(best[0].Name) {
			best = []Device{d}
		}
	}
	return best
}

func byQueryInName(all []Device, q string) []Device {
	if len(q) < 3 {
		return nil
	}
	return filter(all, func(d Device) bool { return strings.Contains(words(d.Name), q) })
}
