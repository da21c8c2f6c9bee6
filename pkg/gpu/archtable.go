package gpu

// Sources shared by several rows.
const (
	// srcGFX9 covers wave slots, register files, granules and workgroup slots
	// of gfx9, each confirmed against llc 19 and 22.
	srcGFX9 = "LLVM 22 AMDGPUBaseInfo.cpp; LLVM AMDGPUUsage (GRANULATED_LDS_SIZE); llvm-project#201342 (trap SGPRs)"
	// srcRDNA adds the LDS granule of gfx10.3 and later: descriptors count in
	// 512 bytes, hardware allocates 1024.
	srcRDNA = "LLVM 22 AMDGPUBaseInfo.cpp; Mesa ac_gpu_info.c (lds_alloc_granularity); rocm-libraries#10078, #11791"
	// srcGFX125 is the compiler alone; no board was published about.
	srcGFX125 = "LLVM 22 AMDGPUBaseInfo.cpp, AMDGPUUsage (gfx125x)"
	// srcCDNARates are the dense instruction rates of the calculator; the
	// published TFLOPS of the device table follow from them.
	srcCDNARates = "AMD matrix instruction calculator 1.3.2; ROCm gpu-arch-specs"
	srcRDNARates = "ROCm gpu-arch-specs; AMD RDNA 3 and RDNA 4 ISA guides (WMMA)"
)

// Archs returns the architecture table in ascending order. Its register
// files, wave slots, LDS pools and workgroup slots reproduce LLVM 22's
// occupancy on every combination tried; see the package's tests.
func Archs() []Arch {
	return []Arch{
		vega("gfx900", "Vega 10"),
		vega("gfx906", "Vega 20"),
		gfx908(), gfx90a(), gfx942(), gfx950(),
		gfx1010(),
		rdna("gfx1030", "RDNA 2", small),
		rdna("gfx1100", "RDNA 3", large),
		rdna("gfx1101", "RDNA 3", large),
		rdna("gfx1102", "RDNA 3", small),
		// gfx1150 has the small file, gfx1151 the large one:
		// rocm-libraries#4023, rocm-systems#1986.
		rdna("gfx1150", "RDNA 3.5", small),
		rdna("gfx1151", "RDNA 3.5", large),
		rdna("gfx1200", "RDNA 4", large),
		rdna("gfx1201", "RDNA 4", large),
		gfx125x("gfx1250"),
		gfx125x("gfx1251"),
	}
}

// gcn is what all of gfx9 shares. The 64 B vL1D line holds up to gfx90a
// (rocprofiler-compute, vL1D metrics).
func gcn(name, family string) Arch {
	return Arch{
		Name: name, Family: family, DefaultWave: 64, AGPR: NoAGPR,
		Wave64:          VGPRFile{PerSIMD: 256, Granule: 4, Encoding: 4},
		AddressableVGPR: 256, AddressableArch: 256,
		MaxWaves:   10,
		SGPR:       SGPRFile{PerSIMD: 800, Granule: 16, TrapReserve: 16},
		CU:         Sharing{SIMDs: 4, LDSPool: 64 << 10, Groups: 16},
		LDSGranule: 512, LDSPerGroup: 64 << 10, LDSReadBytes: 128, LDSWriteBytes: 128,
		VL1LineBytes: 64,
		Source:       srcGFX9,
	}
}

// vega is gfx900 and gfx906. No source read gives their cache lines below L2
// or their rates in comparable form, so those stay absent.
func vega(name, family string) Arch {
	a := gcn(name, family)
	a.VL1LineBytes = 0
	return a
}

func gfx908() Arch {
	a := gcn("gfx908", "CDNA 1")
	a.AGPR = SeparateAGPR // 256 v and 256 a registers in two files
	a.EnginesPerDie = 8   // CDNA papers: 8 shader engines a die up to CDNA 2, 4 from CDNA 3 on
	a.L2LineBytes, a.L2ChannelsPerDie, a.L2ChannelBytes = 128, 32, 64
	a.RatesSource = srcCDNARates
	a.Rates = map[Math]float64{
		VectorFP64: 64, VectorFP32: 128, VectorFP16: 256,
		MatrixFP32: 256, MatrixFP16: 1024, MatrixBF16: 512, MatrixInt8: 1024,
	}
	return a
}

func gfx90a() Arch {
	a := gcn("gfx90a", "CDNA 2")
	a.AGPR = UnifiedAGPR
	a.EnginesPerDie = 8
	a.MaxWaves = 8
	a.Wave64 = VGPRFile{PerSIMD: 512, Granule: 8, Encoding: 8}
	a.AddressableVGPR = 512
	// rocprofiler-compute's peak uses 64 B per channel, but its own
	// microbenchmark exceeds that; 128 is the figure of the CDNA 2 paper.
	a.L2LineBytes, a.L2ChannelsPerDie, a.L2ChannelBytes = 128, 32, 128
	a.RatesSource = srcCDNARates
	a.Rates = map[Math]float64{
		VectorFP64: 128, VectorFP32: 256, VectorFP16: 256, // fp32: packed
		MatrixFP64: 256, MatrixFP32: 256, MatrixFP16: 1024, MatrixBF16: 1024, MatrixInt8: 1024,
	}
	return a
}

func gfx942() Arch {
	a := gfx90a()
	a.Name, a.Family = "gfx942", "CDNA 3"
	a.VL1LineBytes = 128
	a.EnginesPerDie, a.L2ChannelsPerDie = 4, 16
	a.Rates = map[Math]float64{
		VectorFP64: 128, VectorFP32: 256, VectorFP16: 256, // fp32: packed
		MatrixFP64: 256, MatrixFP32: 256, MatrixXF32: 1024, MatrixFP16: 2048, MatrixBF16: 2048,
		MatrixFP8: 4096, MatrixInt8: 4096,
	}
	return a
}

// gfx950 has no XF32, and half of gfx942's fp64 matrix rate.
func gfx950() Arch {
	a := gfx942()
	a.Name, a.Family = "gfx950", "CDNA 4"
	a.CU.LDSPool, a.LDSPerGroup, a.LDSGranule = 160<<10, 160<<10, 1280
	// 256 B/clk holds for 64- and 128-bit reads only; see LDSAccess.
	a.LDSReadBytes = 256
	a.Rates = map[Math]float64{
		VectorFP64: 128, VectorFP32: 256, VectorFP16: 256, // fp32: packed
		MatrixFP64: 128, MatrixFP32: 256, MatrixFP16: 4096, MatrixBF16: 4096,
		MatrixFP8: 8192, MatrixInt8: 8192, MatrixFP6: 16384, MatrixFP4: 16384,
	}
	return a
}

// files is a pair of register files, for wave32 and wave64.
type files struct{ wave32, wave64 VGPRFile }

// small and large are the two RDNA register files; descriptors count in 8
// (wave32) or 4 (wave64) registers whatever the allocation granule.
func small() files {
	return files{VGPRFile{1024, 16, 8}, VGPRFile{512, 8, 4}}
}

func large() files {
	return files{VGPRFile{1536, 24, 8}, VGPRFile{768, 12, 4}}
}

// rdna is gfx10.3 to gfx12.
func rdna(name, family string, f func() files) Arch {
	a := Arch{
		Name: name, Family: family, DefaultWave: 32, AGPR: NoAGPR,
		Wave32: f().wave32, Wave64: f().wave64,
		AddressableVGPR: 256, AddressableArch: 256,
		MaxWaves:   16,
		CU:         Sharing{SIMDs: 2, LDSPool: 64 << 10, Groups: 16},
		WGP:        Sharing{SIMDs: 4, LDSPool: 128 << 10, Groups: 32},
		CUsPerWGP:  2,
		LDSGranule: 1024, LDSPerGroup: 64 << 10, LDSReadBytes: 128, LDSWriteBytes: 128,
		Source: srcRDNA,
	}
	switch family {
	case "RDNA 3", "RDNA 3.5":
		a.L2LineBytes = 128
		a.RatesSource = srcRDNARates
		a.Rates = map[Math]float64{ // fp32: dual issue
			VectorFP32: 256, VectorFP16: 512,
			MatrixFP16: 512, MatrixBF16: 512, MatrixInt8: 512, MatrixInt4: 1024,
		}
	case "RDNA 4":
		a.DynamicVGPR = true
		a.RatesSource = srcRDNARates
		a.Rates = map[Math]float64{ // fp32: dual issue
			VectorFP32: 256, VectorFP16: 512,
			MatrixFP16: 1024, MatrixBF16: 1024, MatrixFP8: 2048, MatrixInt8: 2048, MatrixInt4: 4096,
		}
	}
	return a
}

// gfx1010 differs from gfx10.3: 20 wave slots, half the allocation granule,
// and LDS in units of 512 bytes.
func gfx1010() Arch {
	a := rdna("gfx1010", "RDNA 1", func() files {
		return files{VGPRFile{1024, 8, 8}, VGPRFile{512, 4, 4}}
	})
	a.MaxWaves, a.LDSGranule = 20, 512
	return a
}

// gfx125x has wave32 alone and one unit instead of the CU and WGP modes. The
// two parts share every occupancy figure but not the instruction rates; those
// of gfx1251 are not public.
func gfx125x(name string) Arch {
	a := Arch{
		Name: name, Family: "gfx12.5", DefaultWave: 32, AGPR: NoAGPR,
		Wave32:          VGPRFile{PerSIMD: 1024, Granule: 16, Encoding: 16},
		AddressableVGPR: 1024, AddressableArch: 1024,
		DynamicVGPR: true,
		MaxWaves:    16,
		WGP:         Sharing{SIMDs: 4, LDSPool: 320 << 10, Groups: 16},
		CUsPerWGP:   1,
		LDSGranule:  2048, LDSPerGroup: 320 << 10,
		Source: srcGFX125,
	}
	if name == "gfx1250" {
		a.L2LineBytes = 128
		a.RatesSource = "LLVM instruction latencies; AMD's announced 20 PF FP8 and 40 PF FP4"
		a.Rates = map[Math]float64{
			MatrixFP32: 512, MatrixFP16: 8192, MatrixBF16: 8192, MatrixFP8: 32768,
			MatrixInt8: 8192, MatrixFP6: 32768, MatrixFP4: 65536,
		}
	}
	return a
}
