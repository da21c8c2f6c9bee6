package occupancy

import "github.com/rocanalyze/rocanalyze/pkg/rule"

// Terms explain the limits of the occupancy.
func Terms() []rule.Term {
	const src = "LLVM AMDGPUUsage and AMDGPUBaseInfo.cpp"
	return []rule.Term{
		{
			Name: "vgpr", Kind: "limiter", Source: src,
			Text: "Vector registers: a SIMD's register file divided by what one wave allocates, rounded up to the granule (8 on gfx90a and later CDNA). Arch and accumulation registers share one file of 512 there: 64 registers allow 8 waves, 128 allow 4, 168 allow 3, 256 allow 2.",
			Fix:  "fewer live values: less work per wave, fewer buffers; in matrix kernels smaller tiles and asynchronous copies to LDS",
		},
		{
			Name: "sgpr", Kind: "limiter", Source: src,
			Text: "Scalar registers, gfx9 only: 800 per SIMD in granules of 16, with 16 more for the trap handler. Rarely the limit.",
			Fix:  "fewer descriptors and uniform values alive",
		},
		{
			Name: "lds", Kind: "limiter", Source: src,
			Text: "LDS: the CU's pool (64 KiB, 160 KiB on gfx950) divided by what a workgroup takes, launch-time LDS included.",
			Fix:  "less LDS for each workgroup: fewer buffers, in a GEMM a smaller tile_k",
		},
		{
			Name: "wg_slots", Kind: "limiter", Source: src,
			Text: "Workgroup slots: a CU has room for 16 workgroups of more than one wave (32 in WGP mode).",
			Fix:  "larger workgroups",
		},
		{
			Name: "waves", Kind: "limiter", Source: src,
			Text: "Wave slots: 8 per SIMD on gfx90a and later CDNA (10 before, 16 on RDNA). Nothing more fits.",
		},
	}
}
