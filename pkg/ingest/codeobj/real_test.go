package codeobj

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// samples finds the sample code objects and listings, or skips the test.
func samples(t *testing.T, patterns ...string) []string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "shared", "data", "arch", "codeobj")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no sample code objects in %s", dir)
	}
	var files []string
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join(dir, p))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Skipf("no %v in %s", patterns, dir)
	}
	return files
}

func readSample(t *testing.T, path string) Object {
	t.Helper()
	if filepath.Ext(path) == ".s" {
		return readListing(t, path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return readOne(t, b)
}

// cell compares one column of the table; "-" is unknown.
func cell(t *testing.T, row map[string]string, column string, got *int) {
	t.Helper()
	text := "-"
	if got != nil {
		text = strconv.Itoa(*got)
	}
	if text != row[column] {
		t.Errorf("%s %s: %s is %s, want %s", row["file"], row["kernel"], column, text, row[column])
	}
}

// The table was made from the same files by LLVM's own tools: md_ is the metadata,
// kd_ the descriptor. rocprof_vgpr_fixed and rocprof_accum_fixed are what a correct
// rocprofv3 prints, which follows from the descriptor alone.
func TestSampleTable(t *testing.T) {
	path := samples(t, "expected_kd.csv")[0]
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		row := make(map[string]string)
		for i, name := range rows[0] {
			row[name] = r[i]
		}
		checkRow(t, row, filepath.Join(filepath.Dir(path), row["file"]))
		listing := filepath.Join(filepath.Dir(path), strings.Replace(row["file"], ".hsaco", ".s", 1))
		if _, err := os.Stat(listing); err == nil {
			checkRow(t, row, listing)
		}
	}
	t.Logf("%d kernels", len(rows)-1)
}

func checkRow(t *testing.T, row map[string]string, path string) {
	t.Helper()
	o := readSample(t, path)
	i := kernelIndex(o, row["kernel"])
	if i < 0 || o.Target != row["target"] {
		t.Errorf("%s: target %q, kernel %s at %d", path, o.Target, row["kernel"], i)
		return
	}
	k := o.Kernels[i]
	m, d := k.Metadata, k.Descriptor
	cell(t, row, "md_vgpr", m.VGPRCount)
	cell(t, row, "md_agpr", m.AGPRCount)
	cell(t, row, "md_sgpr", m.SGPRCount)
	cell(t, row, "md_lds", m.LDSBytes)
	cell(t, row, "md_scratch", m.ScratchBytes)
	cell(t, row, "md_wg", m.MaxWorkgroupSize)
	cell(t, row, "md_wave", m.WavefrontSize)
	cell(t, row, "md_vspill", m.VGPRSpillCount)
	cell(t, row, "md_sspill", m.SGPRSpillCount)
	cell(t, row, "kd_granulated_vgpr", new(*d.VGPRBlocks-1))
	cell(t, row, "kd_total_vgpr", d.VGPRs)
	cell(t, row, "kd_sgpr", d.SGPRs)
	cell(t, row, "kd_lds", d.LDSBytes)
	cell(t, row, "kd_scratch", d.ScratchBytes)
	cell(t, row, "kd_wave32", map[bool]*int{true: new(1), false: new(0)}[*d.Wave32])
	arch, accum := d.VGPRs, new(0)
	if d.AccumOffset != nil {
		cell(t, row, "kd_accum_offset", d.AccumOffset)
		arch, accum = d.AccumOffset, new(*d.VGPRs-*d.AccumOffset)
	}
	cell(t, row, "rocprof_vgpr_fixed", arch)
	cell(t, row, "rocprof_accum_fixed", accum)
}

func kernelIndex(o Object, name string) int {
	for i, k := range o.Kernels {
		if k.Name == name {
			return i
		}
	}
	return -1
}

// LLVM's remarks say what a kernel uses, as the metadata does. The relations:
//
//	TotalSGPRs   = .sgpr_count (VCC and other special registers included)
//	VGPRs, AGPRs = the two parts of .vgpr_count: total = alignTo(VGPRs, 4)+AGPRs on
//	               gfx90a and later with AGPRs, else VGPRs. So ArchVGPRs from the
//	               metadata is VGPRs rounded to 4 with AGPRs, exact without and in a listing
//	ScratchSize  = .private_segment_fixed_size = the descriptor's
//	LDS Size     = .group_segment_fixed_size = the descriptor's
//
// The descriptor's registers are at least as many, as they may be padded.
func TestSampleRemarks(t *testing.T) {
	kernels := 0
	for _, path := range samples(t, "sample_*.hsaco", "sample_*.o", "sample_*.s") {
		o := readSample(t, path)
		remarks := readRemarks(t, strings.TrimSuffix(path, filepath.Ext(path))+".remarks.txt")
		if len(remarks) != len(o.Kernels) {
			t.Errorf("%s: %d kernels, remarks for %d", path, len(o.Kernels), len(remarks))
		}
		for _, k := range o.Kernels {
			r, ok := remarks[k.Name]
			if !ok {
				t.Errorf("%s: no remark for %s", path, k.Name)
				continue
			}
			kernels++
			checkRemark(t, filepath.Base(path)+" "+k.Name, k, r)
		}
	}
	t.Logf("%d kernels", kernels)
}

func checkRemark(t *testing.T, name string, k Kernel, r map[string]int) {
	t.Helper()
	arch := r["VGPRs"]
	if r["AGPRs"] > 0 && k.Comments == nil {
		arch = (arch + 3) / 4 * 4
	}
	agprs := k.Metadata.AGPRCount
	if agprs == nil {
		agprs = new(0) // no such key on processors without AGPRs, and no such remark
	}
	for _, c := range []struct {
		what string
		got  *int
		want int
	}{
		{"VGPRs", k.ArchVGPRs, arch},
		{"AGPRs", agprs, r["AGPRs"]},
		{"SGPRs", k.Metadata.SGPRCount, r["TotalSGPRs"]},
		{"scratch", k.Metadata.ScratchBytes, r["ScratchSize"]},
		{"descriptor scratch", k.Descriptor.ScratchBytes, r["ScratchSize"]},
		{"SGPR spills", k.Metadata.SGPRSpillCount, r["SGPRs Spill"]},
		{"VGPR spills", k.Metadata.VGPRSpillCount, r["VGPRs Spill"]},
		{"LDS", k.Metadata.LDSBytes, r["LDS Size"]},
		{"descriptor LDS", k.Descriptor.LDSBytes, r["LDS Size"]},
	} {
		if c.got == nil || *c.got != c.want {
			t.Errorf("%s: %s is %v, the remark says %d", name, c.what, show(c.got), c.want)
		}
	}
	if *k.Descriptor.VGPRs < *k.Metadata.VGPRCount || *k.Descriptor.SGPRs < *k.Metadata.SGPRCount {
		t.Errorf("%s: allocated fewer registers than used", name)
	}
	if k.Metadata.UsesDynamicStack == nil || *k.Metadata.UsesDynamicStack != (r["Dynamic Stack"] == 1) {
		t.Errorf("%s: dynamic stack %v", name, k.Metadata.UsesDynamicStack)
	}
	if c := k.Comments; c != nil && (*c.Occupancy != r["Occupancy"] || *c.NumAGPRs != r["AGPRs"] ||
		*c.TotalNumVGPRs != *k.Metadata.VGPRCount || *c.TotalNumSGPRs != r["TotalSGPRs"] || *c.ScratchBytes != r["ScratchSize"] || *c.LDSBytes != r["LDS Size"]) {
		t.Errorf("%s: comments %+v do not agree with the remark %v", name, c, r)
	}
}

func readRemarks(t *testing.T, path string) map[string]map[string]int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`remark: +([A-Za-z ]+?)(?: \[[a-z/A-Z]+\])?: (\S+) \[-R`)
	all := make(map[string]map[string]int)
	var kernel string
	for _, m := range line.FindAllStringSubmatch(string(b), -1) {
		if m[1] == "Function Name" {
			kernel = m[2]
			all[kernel] = make(map[string]int)
			continue
		}
		n, err := strconv.Atoi(strings.NewReplacer("False", "0", "True", "1").Replace(m[2]))
		if err != nil {
			t.Fatalf("%s: %q", path, m[0])
		}
		all[kernel][m[1]] = n
	}
	return all
}

// A listing assembles to the code object beside it: what ReadAssembly works out from
// the directives is what stands in the descriptor.
func TestSampleListingEqualsObject(t *testing.T) {
	for _, path := range samples(t, "sample_*.s") {
		listing := readSample(t, path)
		object := readSample(t, strings.TrimSuffix(path, ".s")+".hsaco")
		ignore := []cmp.Option{
			cmpopts.IgnoreFields(Object{}, "Path"),
			cmpopts.IgnoreFields(Kernel{}, "Comments"),
			cmpopts.IgnoreFields(Descriptor{}, "Entry", "Raw"),
		}
		if diff := cmp.Diff(object, listing, ignore...); diff != "" {
			t.Errorf("%s (-object +listing):\n%s", path, diff)
		}
		for i, k := range object.Kernels {
			if e := *k.Descriptor.Entry; e%256 != 0 || e == 0 {
				t.Errorf("%s: entry %#x of %s is not on 256 bytes", path, e, k.Name)
			}
			if i > 0 && *k.Descriptor.Entry == *object.Kernels[i-1].Descriptor.Entry {
				t.Errorf("%s: two kernels enter at %#x", path, *k.Descriptor.Entry)
			}
		}
	}
}
