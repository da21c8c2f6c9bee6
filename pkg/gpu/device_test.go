package gpu

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

func devices(t testing.TB) []Device {
	t.Helper()
	all, err := Devices()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func device(t testing.TB, name string) Device {
	t.Helper()
	m, err := FindDevices(name)
	if err != nil || len(m.Devices) != 1 {
		t.Fatalf("%s: %d devices, error %v", name, len(m.Devices), err)
	}
	return m.Devices[0]
}

// TestPeaksMatchPublished: rate x CUs x clock gives each published figure to
// within half of its last printed digit.
func TestPeaksMatchPublished(t *testing.T) {
	checked := 0
	for _, d := range devices(t) {
		p, err := d.Peaks()
		if err != nil {
			t.Fatal(err)
		}
		for m, want := range d.Published {
			got, ok := p.Of(m)
			if !ok || math.Abs(got.Value-want) > 0.05+1e-9 {
				t.Errorf("%s %s: %.2f %s (%s), published %g", d.Name, m, got.Value, got.Unit, got.Formula, want)
			}
			checked++
		}
		for _, m := range Maths() {
			_, have := p.Of(m)
			_, published := d.Published[m]
			// No row of the table publishes int4 rates, and the table leaves
			// the whole peak column of MI308X open for want of a clock.
			if have && !published && m != MatrixInt4 && len(d.Published) > 0 {
				t.Errorf("%s %s: computed, but not in the table", d.Name, m)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d figures checked", checked)
	}
}

// A dispatch runs on one die of an MI200, which is a device of its own; every
// other product is one device.
func TestOneAgent(t *testing.T) {
	for _, d := range devices(t) {
		one := d.OneAgent()
		switch d.Name {
		case "MI250", "MI250X":
			if one.CUs*2 != d.CUs || one.MemoryGBps != 1638.4 || one.Dies != 1 || one.Scaled == "" {
				t.Errorf("%s: one agent is %+v", d.Name, one)
			}
		default:
			if one.CUs != d.CUs || one.MemoryGBps != d.MemoryGBps || one.Scaled != "" {
				t.Errorf("%s: one agent is %+v", d.Name, one)
			}
		}
	}
}

// TestPeaksByHand holds figures multiplied out by hand.
func TestPeaksByHand(t *testing.T) {
	p, err := device(t, "MI300X").Peaks()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		m    Math
		want float64
	}{
		{MatrixFP8, 2614.8864},  // 4096 x 304 x 2.1e9
		{MatrixBF16, 1307.4432}, // 2048 x 304 x 2.1e9
		{VectorFP32, 163.4304},  // 256 x 304 x 2.1e9
	} {
		if got, _ := p.Of(tt.m); math.Abs(got.Value-tt.want) > 1e-6 || got.Unit != "TFLOPS" {
			t.Errorf("%s: %v %s, want %v", tt.m, got.Value, got.Unit, tt.want)
		}
	}
	// 128 channels x 128 B x 2.1 GHz; 128 B x 304 CUs x 2.1 GHz.
	for _, tt := range []struct {
		name string
		got  *Peak
		want float64
	}{
		{"L2", p.L2, 34406.4},
		{"LDS", p.LDSRead, 81715.2},
		{"memory", p.Memory, 5324.8},
		{"MALL", p.MALL, 17200},
	} {
		if tt.got == nil || math.Abs(tt.got.Value-tt.want) > 1e-6 || tt.got.Unit != "GB/s" {
			t.Errorf("%s: %+v, want %v GB/s", tt.name, tt.got, tt.want)
		}
	}
	if fp8, _ := p.Of(MatrixFP8); !strings.HasPrefix(fp8.Source, "device table: MI300X, ROCm docs mi300.md; gpu-arch-specs") ||
		fp8.Formula != "4096/clk/CU x 304 CUs x 2100 MHz" {
		t.Errorf("source %q, formula %q", fp8.Source, fp8.Formula)
	}
	mi355, err := device(t, "MI355X").Peaks()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := mi355.Of(MatrixXF32); ok {
		t.Error("gfx950 has XF32")
	}
	if got := mi355.LDSRead; got == nil || !strings.Contains(got.Source, "64- and 128-bit LDS reads alone") {
		t.Errorf("LDS peak of gfx950 without its condition: %+v", got)
	}
	unclocked, err := device(t, "MI308X").Peaks()
	if err != nil || len(unclocked.Math) != 0 || unclocked.L2 != nil || unclocked.Memory == nil {
		t.Errorf("MI308X has no clock, but peaks %+v, %v", unclocked, err)
	}
}

func TestFindDevices(t *testing.T) {
	tests := []struct {
		query string
		how   string
		want  []string
	}{
		{"mi300x", "name", []string{"MI300X"}},
		{"AMD Instinct MI300X OAM", "name within the text", []string{"MI300X"}},
		{"AMD Instinct MI250X / MI250", "name within the text", []string{"MI250X"}},
		{"AMD Radeon RX 7900 XTX", "name within the text", []string{"RX 7900 XTX"}},
		{"rx-7900-xtx", "name", []string{"RX 7900 XTX"}},
		{"MI300", "part of the name", []string{"MI300A", "MI300X"}},
		{"MI355", "part of the name", []string{"MI355X"}},
		{"9070 XT", "part of the name", []string{"RX 9070 XT"}},
		{"RX9070XT", "name", []string{"RX 9070 XT"}},
		{"Strix Halo", "family", []string{"Ryzen AI Max+ 395"}},
		{"strix-halo", "family", []string{"Ryzen AI Max+ 395"}},
		{"MI200", "family", []string{"MI210", "MI250", "MI250X"}},
		{"CDNA3", "family", []string{"MI300A", "MI300X", "MI308X", "MI325X"}},
		{"RDNA 4", "family", []string{"RX 9060 XT", "RX 9070", "RX 9070 XT", "Radeon AI PRO R9700"}},
		{"R9700", "family", []string{"Radeon AI PRO R9700"}},
		{"Radeon 8060S Graphics", "name within the text", []string{"Ryzen AI Max+ 395"}},
		{"AMD RYZEN AI MAX+ PRO 395 w/ Radeon 8060S", "name within the text", []string{"Ryzen AI Max+ 395"}},
		{"gfx950", "architecture", []string{"MI350X", "MI355X"}},
		{"gfx940", "architecture", []string{"MI300A", "MI300X", "MI308X", "MI325X"}},
		{"0x74a1", "device id", []string{"MI300X"}},
		{"30112", "device id", []string{"MI350X"}},
	}
	for _, tt := range tests {
		m, err := FindDevices(tt.query)
		if err != nil {
			t.Errorf("%q: %v", tt.query, err)
			continue
		}
		var names []string
		for _, d := range m.Devices {
			names = append(names, d.Name)
		}
		if m.How != tt.how || !reflect.DeepEqual(names, tt.want) {
			t.Errorf("%q: %v by %q, want %v by %q", tt.query, names, m.How, tt.want, tt.how)
		}
	}
	for _, q := range []string{"", "MI", "0", "H100", "MI3000X", "gfx803", "99999"} {
		if m, err := FindDevices(q); err == nil || !strings.Contains(err.Error(), "rocanalyze devices") {
			t.Errorf("%q: found %v, error %v", q, m.Devices, err)
		}
	}
}

func TestDeviceOfAgent(t *testing.T) {
	tests := []struct {
		name   string
		agent  Agent
		want   string
		scaled string
		cus    int
		dies   int
		mem    float64
	}{
		{"whole", Agent{Gfx: "gfx942", DeviceID: 29857, CUs: 304, XCCs: 8, MaxMHz: 2100}, "MI300X", "", 304, 8, 5324.8},
		{
			"CPX partition",
			Agent{Gfx: "gfx942", DeviceID: 29857, CUs: 38, XCCs: 1},
			"MI300X",
			"scaled to 1 of 8 dies, 38 of 304 CUs", 38, 1, 5324.8,
		},
		{
			"QPX with NPS4",
			Agent{Gfx: "gfx942", DeviceID: 29857, CUs: 76, XCCs: 2, MemoryPartitions: 4},
			"MI300X",
			"scaled to 2 of 8 dies, 76 of 304 CUs, 1 of 4 memory partitions", 76, 2, 1331.2,
		},
		{
			"one GCD",
			Agent{Gfx: "gfx90a", DeviceID: 29704, CUs: 110, XCCs: 1},
			"MI250X",
			"scaled to 1 of 2 dies, 110 of 220 CUs", 110, 1, 1638.4,
		},
		{
			"one GCD without dies",
			Agent{Gfx: "gfx90a", DeviceID: 29704, CUs: 110},
			"MI250X",
			"scaled to 1 of 2 dies, 110 of 220 CUs", 110, 1, 1638.4,
		},
		{
			"other clock",
			Agent{Gfx: "gfx950", DeviceID: 30115, CUs: 256, XCCs: 8, MaxMHz: 2100},
			"MI355X",
			"scaled to 2100 MHz (table: 2400)", 256, 8, 8000,
		},
		{
			"MI308X",
			Agent{Gfx: "gfx942", DeviceID: 29858, CUs: 80, MaxMHz: 1420},
			"MI308X",
			"scaled to 1420 MHz (table: unknown)", 80, 4, 5324.8,
		},
		{"by product", Agent{Gfx: "gfx942", DeviceID: 29877, Product: "AMD Instinct MI300X VF", CUs: 304}, "MI300X", "", 304, 8, 5324.8},
		{
			"another board of the architecture",
			Agent{Gfx: "gfx1101", Product: "unknown", CUs: 60, MaxMHz: 2430},
			"gfx1101",
			"not in the device table: CUs and clock as the agent reports them", 60, 0, 0,
		},
		// An id alone never overrides the architecture.
		{
			"id of another architecture",
			Agent{Gfx: "gfx950", DeviceID: 29857, CUs: 256, MaxMHz: 2400},
			"gfx950",
			"not in the device table: CUs and clock as the agent reports them", 256, 0, 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := DeviceOf(tt.agent)
			if err != nil {
				t.Fatal(err)
			}
			if d.Name != tt.want || d.Scaled != tt.scaled || d.CUs != tt.cus || d.Dies != tt.dies || math.Abs(d.MemoryGBps-tt.mem) > 1e-9 {
				t.Errorf("got %s, %q, %d CUs, %d dies, %g GB/s", d.Name, d.Scaled, d.CUs, d.Dies, d.MemoryGBps)
			}
		})
	}
	for _, g := range []Agent{{}, {Gfx: "gfx000"}, {Product: "unknown"}} {
		if d, err := DeviceOf(g); err == nil {
			t.Errorf("%+v is %s", g, d.Name)
		}
	}
}

func TestPartitionPeaks(t *testing.T) {
	d, err := DeviceOf(Agent{Gfx: "gfx942", DeviceID: 29857, CUs: 76, XCCs: 2, MaxMHz: 2100})
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Peaks()
	if err != nil {
		t.Fatal(err)
	}
	fp8, _ := p.Of(MatrixFP8)
	if math.Abs(fp8.Value-2614.8864/4) > 1e-6 || !strings.Contains(fp8.Source, "76 of 304 CUs") {
		t.Errorf("%+v", fp8)
	}
	if math.Abs(p.L2.Value-34406.4/4) > 1e-6 {
		t.Errorf("L2 %v", p.L2.Value)
	}
	unlisted, err := DeviceOf(Agent{Gfx: "gfx1101", CUs: 60, MaxMHz: 2430})
	if err != nil {
		t.Fatal(err)
	}
	p, err = unlisted.Peaks()
	if err != nil {
		t.Fatal(err)
	}
	// 512 x 60 x 2.43e9.
	if fp16, ok := p.Of(MatrixFP16); !ok || math.Abs(fp16.Value-74.6496) > 1e-6 || strings.HasPrefix(fp16.Source, "device table:") {
		t.Errorf("%+v", fp16)
	}
	if p.Memory != nil {
		t.Errorf("memory of an unlisted board: %+v", p.Memory)
	}
}

// TestDeviceTableAgainstShared compares the table with the collected one, and
// the architectures' per-die figures with its columns.
func TestDeviceTableAgainstShared(t *testing.T) {
	rows := readCSV(t, sharedPath(t, "arch", "devices.csv"))
	byName := map[string]Device{}
	for _, d := range devices(t) {
		byName[d.Name] = d
	}
	number := func(r record, column string) float64 {
		if r[column] == "" {
			return 0
		}
		v, err := strconv.ParseFloat(r[column], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, r := range rows {
		d, ok := byName[r["name"]]
		if !ok {
			t.Errorf("no device %q", r["name"])
			continue
		}
		a := mustArch(t, d.Arch)
		got := []any{d.Name, d.Arch, float64(d.ID), float64(d.Dies), float64(d.CUs), d.MaxMHz, d.MemoryGBps, d.VRAMGiB, d.MALLMiB, d.MALLGBps}
		want := []any{r["name"], r["gfx"]}
		for _, c := range []string{"device_id", "dies", "compute_units", "max_mhz", "mem_gbps", "vram_gib", "mall_mib", "mall_gbps"} {
			want = append(want, number(r, c))
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		for _, c := range columns() {
			if d.Published[c.math] != number(r, c.name) {
				t.Errorf("%s %s: %g, want %g", d.Name, c.name, d.Published[c.math], number(r, c.name))
			}
		}
		if want := number(r, "l2_channels_per_die"); want != 0 && float64(a.L2ChannelsPerDie) != want {
			t.Errorf("%s: %d L2 channels, want %g", a.Name, a.L2ChannelsPerDie, want)
		}
		if want := number(r, "l2_bytes_clk_channel"); want != 0 && float64(a.L2ChannelBytes) != want {
			t.Errorf("%s: %d B/clk/channel, want %g", a.Name, a.L2ChannelBytes, want)
		}
		if want := number(r, "lds_read_bytes_clk_cu"); want != 0 && float64(a.LDSReadBytes) != want {
			t.Errorf("%s: LDS reads %d B/clk, want %g", a.Name, a.LDSReadBytes, want)
		}
		if want := number(r, "lds_kib_per_cu"); float64(a.LDSPerGroup>>10) != want {
			t.Errorf("%s: %d KiB LDS, want %g", a.Name, a.LDSPerGroup>>10, want)
		}
	}
}

// TestRatesAgainstMatrixTable: the best dense instruction of each kind reaches
// the architecture's rate.
func TestRatesAgainstMatrixTable(t *testing.T) {
	kinds := map[string]Math{
		"fp64": MatrixFP64, "fp32": MatrixFP32, "xf32": MatrixXF32, "fp16": MatrixFP16,
		"bf16": MatrixBF16, "fp8": MatrixFP8, "int8": MatrixInt8, "fp6": MatrixFP6, "fp4": MatrixFP4,
	}
	best := map[string]float64{}
	for _, r := range readCSV(t, sharedPath(t, "arch", "mfma.csv")) {
		m, ok := kinds[r["in_type_a"]]
		if !ok || r["sparse"] != "no" || r["in_type_a"] != r["in_type_b"] {
			continue
		}
		v, err := strconv.ParseFloat(r["flops_per_cycle_per_cu"], 64)
		if err != nil {
			continue
		}
		key := r["arch"] + " " + string(m)
		best[key] = max(best[key], v)
	}
	checked := 0
	for _, name := range []string{"gfx908", "gfx90a", "gfx942", "gfx950"} {
		a := mustArch(t, name)
		for _, m := range Maths() {
			want, ok := best[name+" "+string(m)]
			if !ok {
				continue
			}
			checked++
			if a.Rates[m] != want {
				t.Errorf("%s %s: %g per clock, best instruction %g", name, m, a.Rates[m], want)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d rates checked", checked)
	}
}

func TestParseDevicesErrors(t *testing.T) {
	header, _, _ := strings.Cut(deviceTable, "\n")
	n := strings.Count(header, ",")
	tests := []struct{ name, table, want string }{
		{"empty", "", "header"},
		{"no columns", "name,also\nx,y\n", `no column "gfx"`},
		{"short row", header + "\nMI1,gfx942\n", "wrong number of fields"},
		{"bad number", header + "\nMI1,,gfx942,1,1,many" + strings.Repeat(",", n-5) + "\n", `"many"`},
		{"negative", header + "\nMI1,,gfx942,1,1,-3" + strings.Repeat(",", n-5) + "\n", `"-3"`},
		{"fraction", header + "\nMI1,,gfx942,1,1,3.5" + strings.Repeat(",", n-5) + "\n", "not whole"},
	}
	for _, tt := range tests {
		if _, err := parseDevices(strings.NewReader(tt.table)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}

func FuzzParseDevices(f *testing.F) {
	f.Add(deviceTable)
	f.Add("name,gfx\nx,y\n")
	f.Add("\"")
	f.Fuzz(func(t *testing.T, table string) {
		all, err := parseDevices(strings.NewReader(table))
		if err != nil {
			return
		}
		for _, d := range all {
			if d.CUs < 0 || d.MaxMHz < 0 || math.IsNaN(d.MemoryGBps) {
				t.Errorf("device %+v", d)
			}
		}
	})
}

func FuzzFindDevices(f *testing.F) {
	for _, q := range []string{"MI300X", "gfx942", "0x74a1", " - ", "mi"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, q string) {
		if m, err := FindDevices(q); err == nil && len(m.Devices) == 0 {
			t.Errorf("%q: neither devices nor an error", q)
		}
	})
}
