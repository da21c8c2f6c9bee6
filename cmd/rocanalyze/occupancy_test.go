package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const sharedData = "../../../shared/data"

// occupancyJSON is the part of the JSON output that scripts rely on.
type occupancyJSON struct {
	Kernels []struct {
		Name   string
		Symbol string
		Arch   string
		// Registers as in the machine output.
		Registers struct {
			VGPRs       *int `json:"vgprs"`
			Allocated   *int `json:"vgprs_in_descriptor"`
			AGPRs       *int `json:"agprs"`
			AccumOffset *int `json:"accum_offset"`
			SGPRs       *int `json:"sgprs"`
			SGPRsKD     *int `json:"sgprs_in_descriptor"`
			VGPRSpills  *int `json:"vgpr_spills"`
			SGPRSpills  *int `json:"sgpr_spills"`
			LDS         *int `json:"lds_bytes"`
			Scratch     *int `json:"scratch_bytes_per_lane"`
		}
		WaveSize        int      `json:"wave_size"`
		WorkgroupSize   int      `json:"workgroup_size"`
		WavesPerSIMD    *float64 `json:"waves_per_simd"`
		WorkgroupsPerCU *int     `json:"workgroups_per_cu"`
		Limiters        []string `json:"limited_by"`
		Limits          map[string]struct {
			Workgroups *int `json:"workgroups_per_unit"`
		}
		NextStep []struct {
			Resource      string
			Now, Target   int
			ThenLimitedBy []string `json:"then_limited_by"`
		} `json:"next_step"`
		LLVM *struct {
			Waves   int      `json:"waves_per_simd"`
			Reasons []string `json:"reasons"`
		} `json:"llvm"`
		Notes []struct{ ID, Text string }
	}
	Findings []struct {
		ID    string
		Place struct{ Kernel string }
	}
}

// occupancyOf runs the whole command and reads its JSON.
func occupancyOf(t *testing.T, args ...string) occupancyJSON {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args = append([]string{"occupancy", "--format", "json"}, args...)
	if err := run(t.Context(), os.Stdin, &stdout, &stderr, func(string) string { return "" }, args); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderr.String())
	}
	var out occupancyJSON
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestOccupancyExpected runs the command on every real dispatch directory.
func TestOccupancyExpected(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(sharedData, "att", "expected.json"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the real captures are not here: ../shared/data/att")
	}
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		Dispatches []struct {
			Kernel, Dispatch string
			Want             struct {
				Waves     float64        `json:"waves_per_simd"`
				Groups    int            `json:"wgs_per_cu"`
				LimitedBy []string       `json:"limited_by"`
				Limits    map[string]any `json:"limits_wg_per_cu"`
			} `json:"corrected_occupancy"`
		}
	}
	if err := json.Unmarshal(raw, &expected); err != nil {
		t.Fatal(err)
	}
	for _, d := range expected.Dispatches {
		t.Run(d.Kernel, func(t *testing.T) {
			out := occupancyOf(t, filepath.Join(sharedData, "att", d.Kernel, d.Dispatch))
			if len(out.Kernels) != 1 {
				t.Fatalf("%d kernels", len(out.Kernels))
			}
			k := out.Kernels[0]
			if k.WavesPerSIMD == nil || *k.WavesPerSIMD != d.Want.Waves || *k.WorkgroupsPerCU != d.Want.Groups {
				t.Errorf("%v waves, %v groups; want %g, %d", k.WavesPerSIMD, k.WorkgroupsPerCU, d.Want.Waves, d.Want.Groups)
			}
			want := slices.Clone(d.Want.LimitedBy)
			for i := range want {
				if want[i] == "hw_max" {
					want[i] = "waves"
				}
			}
			slices.Sort(want)
			got := slices.Sorted(slices.Values(k.Limiters))
			if !slices.Equal(got, want) {
				t.Errorf("limited by %v, want %v", got, want)
			}
			if len(k.Limiters) > 1 && k.Limiters[0] != "lds" {
				t.Errorf("%v: LDS is to be blamed first", k.Limiters)
			}
			for _, name := range []string{"vgpr", "waves", "lds", "wg_slots"} {
				checkLimit(t, name, k.Limits[name].Workgroups, d.Want.Limits[name])
			}
			if len(k.Notes) == 0 || !slices.ContainsFunc(k.Notes, func(n struct{ ID, Text string }) bool {
				return n.ID == "halved_vgpr_count" && !strings.Contains(n.Text, "\n")
			}) {
				t.Errorf("halved registers are not explained: %v", k.Notes)
			}
		})
	}
}

// checkLimit compares one limit; the expected LDS limit is null without LDS.
func checkLimit(t *testing.T, name string, got *int, want any) {
	t.Helper()
	w, ok := want.(float64)
	if !ok && got != nil || ok && (got == nil || float64(*got) != w) {
		t.Errorf("limit %s: %v, want %v", name, got, want)
	}
}

// TestOccupancyTraceTables: the table beside each directory gives the traced
// kernel's row the same occupancy as the directory, and every row has one.
func TestOccupancyTraceTables(t *testing.T) {
	tables, err := filepath.Glob(filepath.Join(sharedData, "att", "*", "*kernel_trace.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if len(tables) == 0 {
		t.Skip("the real captures are not here: ../shared/data/att")
	}
	for _, table := range tables {
		dirs, err := filepath.Glob(filepath.Join(filepath.Dir(table), "ui_output_*"))
		if err != nil || len(dirs) != 1 {
			t.Fatalf("%s: %v, %v", table, dirs, err)
		}
		all, one := occupancyOf(t, table), occupancyOf(t, dirs[0]).Kernels[0]
		found := false
		for _, k := range all.Kernels {
			if k.WavesPerSIMD == nil || len(k.Limiters) == 0 {
				t.Errorf("%s: %s has no occupancy", table, k.Name)
			}
			found = found || k.Name == one.Name && *k.WavesPerSIMD == *one.WavesPerSIMD && slices.Equal(k.Limiters, one.Limiters) && *k.Registers.VGPRs == *one.Registers.VGPRs
		}
		if !found {
			t.Errorf("%s: no row of %s has the occupancy of its directory", table, one.Name)
		}
	}
}

// TestOccupancyCodeObjects holds every kernel of the sample code objects
// against the decoded descriptors, and LLVM's occupancy against its remarks.
func TestOccupancyCodeObjects(t *testing.T) {
	dir := filepath.Join(sharedData, "arch", "codeobj")
	f, err := os.Open(filepath.Join(dir, "expected_kd.csv"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the sample code objects are not here: ../shared/data/arch/codeobj")
	}
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(f).ReadAll()
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	cache := map[string]occupancyJSON{}
	for _, cells := range rows[1:] {
		row := map[string]string{}
		for i, name := range rows[0] {
			row[name] = cells[i]
		}
		out, ok := cache[row["file"]]
		if !ok {
			out = occupancyOf(t, "--llvm-rule", filepath.Join(dir, row["file"]))
			cache[row["file"]] = out
		}
		checkDescriptor(t, out, row)
	}
	for file, out := range cache {
		remarks := remarksOf(t, filepath.Join(dir, strings.TrimSuffix(file, ".hsaco")+".remarks.txt"))
		seen := 0
		for _, k := range out.Kernels {
			want, ok := remarks[k.Name]
			if !ok {
				continue // written in assembly: the compiler remarks nothing
			}
			seen++
			if k.LLVM == nil || k.LLVM.Waves != want {
				t.Errorf("%s %s: LLVM %+v, its remark says %d", file, k.Name, k.LLVM, want)
			}
			if f := *k.WavesPerSIMD; int(math.Ceil(f)) != want && len(k.LLVM.Reasons) == 0 {
				t.Errorf("%s %s: hardware %g, LLVM %d, and no reason", file, k.Name, f, want)
			}
		}
		if seen < 5 {
			t.Errorf("%s: only %d kernels have a remark", file, seen)
		}
	}
}

func checkDescriptor(t *testing.T, out occupancyJSON, row map[string]string) {
	t.Helper()
	for _, k := range out.Kernels {
		if k.Name != row["kernel"] {
			continue
		}
		r := k.Registers
		for column, got := range map[string]*int{
			"md_vgpr": r.VGPRs, "md_agpr": r.AGPRs, "md_sgpr": r.SGPRs, "md_lds": r.LDS, "md_scratch": r.Scratch, "md_wave": &k.WaveSize,
			"md_wg": &k.WorkgroupSize, "md_vspill": r.VGPRSpills, "md_sspill": r.SGPRSpills,
			"kd_total_vgpr": r.Allocated, "kd_accum_offset": r.AccumOffset, "kd_sgpr": r.SGPRsKD,
		} {
			want, text := row[column], "-"
			if got != nil {
				text = strconv.Itoa(*got)
			}
			if text != want && !(text == "-" && want == "0") {
				t.Errorf("%s %s: %s is %s, want %s", row["file"], k.Name, column, text, want)
			}
		}
		spilled := slices.ContainsFunc(out.Findings, func(f struct {
			ID    string
			Place struct{ Kernel string }
		},
		) bool {
			return f.ID == "spills" && f.Place.Kernel == k.Name
		})
		if want := row["md_vspill"] != "0" || row["md_sspill"] != "0"; spilled != want {
			t.Errorf("%s %s: spills reported: %v, want %v", row["file"], k.Name, spilled, want)
		}
		return
	}
	t.Errorf("%s: no kernel %s", row["file"], row["kernel"])
}

// remarksOf reads the occupancy of -Rpass-analysis=kernel-resource-usage.
func remarksOf(t *testing.T, name string) map[string]int {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	kernel := ""
	for line := range strings.Lines(string(raw)) {
		if _, after, ok := strings.Cut(line, "Function Name: "); ok {
			kernel, _, _ = strings.Cut(after, " ")
		}
		if _, after, ok := strings.Cut(line, "Occupancy [waves/SIMD]: "); ok {
			number, _, _ := strings.Cut(after, " ")
			n, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(err)
			}
			out[kernel] = n
		}
	}
	return out
}
