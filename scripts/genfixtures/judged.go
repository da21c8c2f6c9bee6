package main

// judgedCaptures are of kernels that one thing bounds, for the verdicts that
// other captures do not show.
func judgedCaptures() ([]good, error) {
	var out []good
	for _, c := range []struct {
		name, about string
		kernel      kernel
		launch      *launch
	}{
		{
			"judged/mfma", "compute-bound on MI350X (gfx950): two waves per SIMD issue matrix instructions back to back",
			kernel{symbol: "mfma_peak", arch: cdna("gfx950"), codeObject: 2, vaddr: 5120, sourcePath: "/src/kernels/mfma.hip"},
			mfmaLaunch(),
		},
		{
			"judged/lds", "LDS-bound on MI300X (gfx942): eight waves read 16 bytes per lane from LDS all the time",
			kernel{symbol: "lds_stream", arch: cdna("gfx942"), codeObject: 2, vaddr: 5376, sourcePath: "/src/kernels/lds.hip", ldsBytes: 16384},
			ldsLaunch(),
		},
		{
			"judged/uneven", "barrier-bound on MI300X (gfx942): three of four waves wait at every barrier for the first one",
			kernel{symbol: "uneven_phases", arch: cdna("gfx942"), codeObject: 2, vaddr: 4864, sourcePath: "/src/kernels/uneven.hip"},
			unevenLaunch(),
		},
		{
			"judged/tail", "the streaming copy with 40 workgroups more than fit at once: most of the GPU idles while they run",
			kernel{
				symbol:    "_Z9copy_vec4PK15HIP_vector_typeIfLj4EEPS0_i",
				demangled: "copy_vec4(HIP_vector_type<float, 4u> const*, HIP_vector_type<float, 4u>*, int)",
				arch:      cdna("gfx942"), codeObject: 2, vaddr: 5888, sourcePath: "/src/kernels/copy.hip",
			},
			tailLaunch(),
		},
	} {
		built, err := build(&c.kernel, c.launch)
		if err != nil {
			return nil, err
		}
		out = append(out, good{name: c.name, about: c.about, capture: built})
	}
	return out, nil
}

// mfmaLaunch has two workgroups on each CU.
func mfmaLaunch() *launch {
	return &launch{
		seed: 11, dispatch: 2, gpu: mi350x(), workgroup: 256, groups: [2]int{512, 1}, working: -1,
		resident: 2, serveLoad: 36, serveStore: 48, tracedSIMD: -1, shaderMHz: 2000, startTicks: 210_044_120_508,
		engines: []engine{{se: 0, target: 1, cus: cuRange(0, 8), groups: 2}},
	}
}

func ldsLaunch() *launch {
	return &launch{
		seed: 12, dispatch: 2, gpu: mi300x(), workgroup: 256, groups: [2]int{608, 1}, working: -1,
		resident: 2, serveLoad: 60, serveStore: 80, tracedSIMD: -1, shaderMHz: 2000, startTicks: 220_044_120_508,
		engines: []engine{{se: 0, target: 1, cus: cuRange(0, 10), groups: 2}},
	}
}

func unevenLaunch() *launch {
	return &launch{
		seed: 13, dispatch: 2, gpu: mi300x(), workgroup: 256, groups: [2]int{304, 1}, working: -1,
		resident: 2, serveLoad: 60, serveStore: 80, tracedSIMD: -1, shaderMHz: 2000, startTicks: 230_044_120_508,
		engines: []engine{{se: 0, target: 1, cus: cuRange(0, 10), groups: 1}},
	}
}

// tailLaunch has 8 workgroups on each of 304 CUs, and 40 more; the traced CU
// and another of its engine run one of them.
func tailLaunch() *launch {
	return &launch{
		seed: 14, dispatch: 2, gpu: mi300x(), workgroup: 256, groups: [2]int{2472, 1}, working: -1,
		resident: 8, serveLoad: 260, serveStore: 320, tracedSIMD: -1, shaderMHz: 1900, startTicks: 240_044_120_508,
		engines: []engine{{se: 0, target: 1, cus: cuRange(0, 10), groups: 9, short: 8}},
	}
}
