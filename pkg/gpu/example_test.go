package gpu_test

import (
	"fmt"

	"github.com/rocanalyze/rocanalyze/pkg/gpu"
)

func ExampleOccupancy() {
	arch, err := gpu.ArchByName("gfx942")
	if err != nil {
		fmt.Println(err)
		return
	}
	kernel := gpu.Resources{ArchVGPR: 134, SGPR: 92, LDSBytes: 16384, WorkgroupSize: 256}
	res, err := gpu.Occupancy(arch, kernel, gpu.Hardware)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d workgroups/%s, %g of %d waves/SIMD, limited by %v\n",
		res.Groups, res.Unit, res.WavesPerSIMD, res.MaxWaves, res.LimitedBy)
	for _, l := range res.Limits {
		fmt.Println(l)
		if l.Next != nil {
			fmt.Println("   ", l.Next.Text)
		}
	}
	// Output:
	// 3 workgroups/CU, 3 of 8 waves/SIMD, limited by [vgpr]
	// 8 wave slots/SIMD x 4 SIMDs / 4 waves per workgroup -> 8 workgroups/CU
	// 16 workgroup slots (barriers) -> 16 workgroups/CU
	// 16384 B LDS -> 16384 B allocated (granule 512); 65536/16384 -> 4 workgroups/CU
	// 134 VGPRs -> 136 allocated (granule 8); 512/136 = 3 waves/SIMD -> 3 workgroups/CU
	//     free 6 VGPRs to reach 128: 4 workgroups/CU, 4 waves/SIMD, then limited by lds, vgpr
	// 92 SGPRs -> 96 + 16 trap handler = 112 (granule 16); 800/112 = 7 waves/SIMD -> 7 workgroups/CU
}

func ExampleCompare() {
	arch, err := gpu.ArchByName("gfx942")
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := gpu.Compare(arch, gpu.Resources{ArchVGPR: 168, WorkgroupSize: 512})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("LLVM prints %d, hardware holds %d: %v\n", c.LLVM.FullestSIMD, c.Hardware.FullestSIMD, c.Reasons)
	// Output: LLVM prints 3, hardware holds 2: [whole_groups]
}
