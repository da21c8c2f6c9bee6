package main

import (
	"fmt"
	"path"
)

// ownFolders are the folders below fixtures whose every file the generator
// writes.
var ownFolders = []string{"att", "pcs"}

// generate makes all fixtures.
func generate() (tree, error) {
	out := tree{}
	captures, err := goodCaptures()
	if err != nil {
		return nil, err
	}
	for _, g := range captures {
		out.put(path.Join("att", g.name), g.files())
	}
	bad, err := malformedTrees()
	if err != nil {
		return nil, err
	}
	out.put("att/malformed", bad)
	if out["att/gemm.tar.gz"], err = tarGz("gemm", out.below("att/gemm")); err != nil {
		return nil, err
	}
	if out["att/gemm.tar.xz"], err = xzOf(out["att/gemm.tar.gz"]); err != nil {
		return nil, err
	}
	if out["att/copy.zip"], err = zipped("copy", out.below("att/copy")); err != nil {
		return nil, err
	}
	out.put("pcs", sampleFolders(captures[0].capture))
	out["README.md"] = readme(captures)
	return out, nil
}

// good is a capture as the profiler wrote it.
type good struct {
	name, about string
	capture     *capture
	schema310   bool
	// note is a README.md for the capture's folder.
	note string
}

// files are the dispatch directory and what lies beside it.
func (g good) files() tree {
	c, out := g.capture, tree{}
	if g.schema310 {
		out.put(c.dirName(), c.att310())
		out[c.statsName()] = c.plainStats()
	} else {
		out.put(c.dirName(), c.att300())
		out[c.statsName()] = quotedCSV(statsHeader, c.statsRows())
		out[path.Base(g.name)+"_kernel_trace.csv"] = c.kernelTrace()
		out[path.Base(g.name)+"_agent_info.csv"] = c.launch.gpu.agentInfo()
	}
	if g.note != "" {
		out["README.md"] = []byte(g.note)
	}
	return out
}

const gemmNote = `# gemm

` + "`gemm_kernel_trace.csv`" + ` and ` + "`gemm_agent_info.csv`" + ` are of the same run as the dispatch directory.

The kernel trace is as ROCm 7.2 writes it on gfx950: VGPR_Count is half of what a wave allocates, and
Accum_VGPR_Count is 0. The code uses v0 to v83, which takes 88 registers; the column says 44.
Source: rocm-systems pull request 5862, which corrects it.

` + "`../gemm.tar.gz`" + ` is this folder packed, as people attach it to a bug report.
`

// goodCaptures simulates the kernels, each capture from its own fixed seed.
func goodCaptures() ([]good, error) {
	gemm, err := build(&kernel{
		symbol: "gemm_bf16_64x64x64", arch: cdna("gfx950"), codeObject: 3, vaddr: 6144,
		sourcePath: "/src/kernels/gemm.hip", ldsBytes: 32768,
	}, gemmLaunch())
	if err != nil {
		return nil, err
	}
	stream, err := build(&kernel{
		symbol:    "_Z9copy_vec4PK15HIP_vector_typeIfLj4EEPS0_i",
		demangled: "copy_vec4(HIP_vector_type<float, 4u> const*, HIP_vector_type<float, 4u>*, int)",
		arch:      cdna("gfx942"), codeObject: 2, vaddr: 5888, sourcePath: "/src/kernels/copy.hip",
	}, copyLaunch())
	if err != nil {
		return nil, err
	}
	early, err := build(&kernel{
		symbol: "scaled_relu_rows", arch: cdna("gfx942"), codeObject: 6, vaddr: 4096,
		sourcePath: "/src/kernels/early.py",
	}, earlyLaunch())
	if err != nil {
		return nil, err
	}
	wmma, err := build(&kernel{
		symbol:    "_Z9wmma_tilePK15HIP_vector_typeIjLj4EES2_Pfi",
		demangled: "wmma_tile(HIP_vector_type<unsigned int, 4u> const*, HIP_vector_type<unsigned int, 4u> const*, float*, int)",
		arch:      rdna4("gfx1201"), codeObject: 2, vaddr: 5632, sourcePath: "/src/kernels/wmma.hip", ldsBytes: 4096,
	}, wmmaLaunch())
	if err != nil {
		return nil, err
	}
	judged, err := judgedCaptures()
	if err != nil {
		return nil, err
	}
	return append([]good{
		{"gemm", "pipelined bf16 GEMM on MI350X (gfx950): prefetch through LDS, staged vmcnt waits, a loop of four rounds and its tail; 4 waves on each of 2 engines", gemm, false, gemmNote},
		{"gemm31", "the same run in schema 3.1.0: indented, no wait edges, 11-field occupancy rows, dispatch records in `events`", gemm, true, ""},
		{"copy", "streaming copy on MI300X (gfx942): 96 waves, up to 8 on a SIMD, most of the time in the store drain of `s_endpgm`", stream, false, ""},
		{"early", "12 waves on MI300X (gfx942) of which 9 find no work and leave at once; a second traced engine has no waves, its occupancy is null", early, false, ""},
		{"gfx12", "WMMA kernel on RX 9070 XT (gfx1201): wave32, WGP ids, one traced SIMD, split barriers, s_wait_*cnt", wmma, false, ""},
	}, judged...), nil
}

// build reads the kernel's listing and source, which have the name of the
// source file, and runs it.
func build(k *kernel, l *launch) (*capture, error) {
	base := path.Base(k.sourcePath)
	listing := base[:len(base)-len(path.Ext(base))] + ".s"
	if err := k.load(listing); err != nil {
		return nil, err
	}
	return run(k, l), nil
}

func (k *kernel) load(listing string) error {
	source, err := sources.ReadFile(path.Join("sources", path.Base(k.sourcePath)))
	if err != nil {
		return fmt.Errorf("%s: %w", k.symbol, err)
	}
	k.source = source
	return k.assemble(listing)
}

// gemmLaunch multiplies 1024 x 320 by 320 x 1024: 256 workgroups, one for each
// CU.
func gemmLaunch() *launch {
	return &launch{
		seed: 1, dispatch: 7, gpu: mi350x(), workgroup: 256, groups: [2]int{16, 16}, working: -1,
		resident: 4, serveLoad: 36, serveStore: 48, tracedSIMD: -1, shaderMHz: 2000, startTicks: 310_044_120_508,
		engines: []engine{{se: 0, target: 1, cus: cuRange(0, 8), groups: 1}, {se: 1, target: 1, cus: cuRange(0, 8), groups: 1}},
	}
}

// copyLaunch moves 57 MB; a CU's share of 5.3 TB/s takes about 124 cycles for
// the 1024 bytes of one load.
func copyLaunch() *launch {
	return &launch{
		seed: 2, dispatch: 3, gpu: mi300x(), workgroup: 256, groups: [2]int{3648, 1}, working: -1,
		resident: 8, serveLoad: 100, serveStore: 148, tracedSIMD: -1, shaderMHz: 1900, startTicks: 122_871_033_040,
		engines: []engine{{se: 0, target: 1, cus: cuRange(0, 10), groups: 12}, {se: 2, target: 4, cus: cuRange(0, 9), groups: 12}},
	}
}

// earlyLaunch has a program for each of 3648 rows, but only 912 rows to do.
func earlyLaunch() *launch {
	return &launch{
		seed: 3, dispatch: 5, gpu: mi300x(), workgroup: 64, groups: [2]int{3648, 1}, working: 3,
		resident: 8, serveLoad: 60, serveStore: 80, tracedSIMD: -1, shaderMHz: 2100, startTicks: 98_102_377_216,
		engines: []engine{{se: 3, target: 2, cus: cuRange(0, 9), groups: 12}, {se: 5, target: 2, cus: cuRange(0, 9)}},
	}
}

func wmmaLaunch() *launch {
	return &launch{
		seed: 4, dispatch: 4, gpu: rx9070xt(), workgroup: 128, groups: [2]int{96, 1}, working: -1,
		resident: 16, serveLoad: 9, serveStore: 13, tracedSIMD: 3, shaderMHz: 2700, startTicks: 41_877_120_935,
		engines: []engine{{se: 0, target: 1, cus: append(cuRange(0, 4), cuRange(128, 4)...), groups: 3}, {se: 1, target: 1, cus: append(cuRange(0, 4), cuRange(128, 4)...), groups: 3}},
	}
}
