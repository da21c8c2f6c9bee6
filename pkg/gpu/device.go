package gpu

import (
	_ "embed" // the device table
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
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
	// Also are other names of it, or of the family that it belongs to: the
	// chip's, marketing's.
	Also []string `json:"also_called,omitempty"`
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

// list is a cell of several values.
func (r *row) list(name string) []string {
	var out []string
	for v := range strings.SplitSeq(r.text(name), ";") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
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
		Name: r.text("name"), Also: r.list("also"), Arch: r.text("gfx"), ID: r.whole("device_id"),
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

// OneAgent is the part of a product that a dispatch can run on: one die of an
// MI200, which is a device of its own with its own memory; else the product.
func (d Device) OneAgent() Device {
	if !d.MemoryPerDie || d.Dies < 2 {
		return d
	}
	return d.Scale(Agent{XCCs: 1, CUs: d.CUs / d.Dies})
}

// Match is what FindDevices found.
type Match struct {
	Devices []Device
	// How is the rule that matched: "device id", "architecture", "name",
	// "family", "name within the text" or "part of the name".
	How string
}

// FindDevices looks a device up. The first rule that matches decides:
//
//  1. a PCI device id, decimal or 0x-hexadecimal;
//  2. a gfx name or alias: all devices of that architecture;
//  3. the table's name;
//  4. another name that the table knows, or a generation ("Strix Halo", "CDNA 3"):
//     all devices that it is of;
//  5. a name of the table found whole in the query ("AMD Instinct MI300X OAM"):
//     the longest such name;
//  6. the query, of at least three characters, found in table names.
//
// Case, hyphens and spaces do not matter. Rules 2, 4, 5 and 6 may give
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
		{"family", byFamily},
		{"name within the text", byNameInQuery},
		{"part of the name", byQueryInName},
	}
	for _, rule := range rules {
		if found := rule.pick(all, q); len(found) > 0 {
			return Match{Devices: found, How: rule.how}, nil
		}
	}
	return Match{}, fmt.Errorf("no device matches %q: 'rocanalyze devices' lists the names that are known; a gfx name or a PCI device id will do too", query)
}

// words lowers a name and joins its words with single spaces.
func words(s string) string {
	s = strings.NewReplacer("-", " ", "_", " ", "(", " ", ")", " ").Replace(strings.ToLower(s))
	return strings.Join(strings.Fields(s), " ")
}

// joined is a name without spaces: "RX 9070 XT" and "rx9070xt" are the same.
func joined(s string) string { return strings.ReplaceAll(words(s), " ", "") }

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
	return filter(all, func(d Device) bool { return joined(d.Name) == joined(q) })
}

func byFamily(all []Device, q string) []Device {
	generation := map[string]bool{} // architectures of the generation q
	for _, a := range Archs() {
		generation[a.Name] = joined(a.Family) == joined(q)
	}
	return filter(all, func(d Device) bool {
		return generation[d.Arch] || slices.ContainsFunc(d.Also, func(n string) bool { return joined(n) == joined(q) })
	})
}

func byNameInQuery(all []Device, q string) []Device {
	var best []Device
	longest := 0
	for _, d := range all {
		for _, name := range append([]string{d.Name}, d.Also...) {
			switch n := len(name); {
			case n < longest || !strings.Contains(" "+q+" ", " "+words(name)+" "):
			case n > longest:
				best, longest = []Device{d}, n
			default:
				best = append(best, d)
			}
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
