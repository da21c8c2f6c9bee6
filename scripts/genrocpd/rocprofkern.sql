CREATE TABLE KERN ("Index" INTEGER, "KernelName" TEXT, "gpu-id" INTEGER, "queue-id" INTEGER, "queue-index" INTEGER, "pid" INTEGER, "tid" INTEGER, "grd" INTEGER, "wgr" INTEGER, "lds" INTEGER, "scr" INTEGER, "arch_vgpr" INTEGER, "accum_vgpr" INTEGER, "sgpr" INTEGER, "wave_size" INTEGER, "sig" INTEGER, "obj" INTEGER, "DispatchNs" INTEGER, "BeginNs" INTEGER, "EndNs" INTEGER, "CompleteNs" INTEGER, "DurationNs" INTEGER);
INSERT INTO KERN VALUES
(0, '"gemm_bf16_64x64x64.kd"', 1, 0, 0, 70001, 70001, 65536, 256, 32768, 0, 44, 0, 48, 64, '0x0', '0x7f00', 1999000, 2000000, 2006000, 2007000, 6000),
(1, '"scaled_relu_rows(float*, int) [clone .kd]"', 1, 0, 2, 70001, 70001, 4096, 64, 0, 0, 12, 4, 32, 64, '0x0', '0x7f40', 2008000, 2010000, 2011800, 2012000, 1800),
(2, '"gemm_bf16_64x64x64.kd"', 1, 0, 4, 70001, 70001, 65536, 256, 32768, 0, 44, 0, 48, 64, '0x0', '0x7f00', 2019000, 2020000, 2026200, 2027000, 6200);
