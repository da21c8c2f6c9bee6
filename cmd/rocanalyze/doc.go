// Command rocanalyze reads what ROCm's profilers leave behind and says, per
// kernel, where its cycles go, what they wait for and how far the capture can
// be trusted. It runs offline: no GPU, no ROCm, no Python.
//
// # Diagnose
//
// Given any mix of captures, diagnose (or no command at all) says what bounds
// each kernel: compute, bandwidth, latency, or that the evidence does not tell;
// how sure that is, which numbers it rests on, what to do, the most that it
// could give, and what to capture next. "rocanalyze demo" shows it on a bundled
// capture. A kernel in which three of four waves wait at every barrier:
//
//	$ rocanalyze diagnose --top 1 fixtures/att/judged/uneven
//	-- uneven_phases ---------------------------------------------------------------
//	verdict     latency-bound: the busiest resource (instruction issue) is at 21 %,
//	            waves wait 69 % of their time, most for barriers (42 %)
//	confidence  medium: the figures are of the traced waves, no counters
//	launch      MI300X (gfx942), 304 workgroups of 256 work-items
//	time        66.1 % of the GPU time: 1 call of 4.828 us; without it all kernels
//	            together would be at most 2.95 times faster
//	source      thread trace
//	            fixtures/att/judged/uneven/ui_output_agent_10001_dispatch_2
//
//	-- The numbers it rests on -----------------------------------------------------
//	issue                20.6 % of peak (cycles in which a resident wave issues /
//	                     cycles with a wave resident = 21.0 % of the SIMDs with
//	                     waves, x 0.98 of the CUs' time in use (occupancy.json,
//	                     uneven_agent_info.csv): of the device)
//	hbm                  at most 1.2 % of peak (bytes requested per wave x 1216
//	                     waves / 4.83 us / 5324.8 GB/s)
//	waiting              68.9 % of wave cycles (from 40 % on they bound an idle
//	                     machine)
//	cu time with a wave  98 % of the time of the traced engines' CUs
//	traced window        98 % of the time in which the launch's waves ran
//	waits for            barrier 42 %, store 21 %, smem 6 % (of wave cycles)
//
//	-- What to do ------------------------------------------------------------------
//	info: at most N %: of the traced SIMDs' time, in which a wave is in such a
//	  stall and none issues; other bounds say of what they are.
//	high: barrier (at most 42 %): 42.0 % of wave cycles; 100 % of that at
//	  s_barrier. At line 48 (uneven.hip:9), in the loop of lines 7 to 51. Fix: fewer
//	  barriers per iteration (two LDS buffers need one), the next phase's loads
//	  before the barrier; give all waves equal work: the last one to come sets the
//	  time.
//	info: 3 smaller findings left out (-v, --top 0).
//	info: 10 rules could not run for lack of evidence: see what to capture next
//	  (-v names them).
//
//	-- What to capture next --------------------------------------------------------
//	why  counters say how much of memory's bandwidth is really used
//	run  rocprofv3 -i pmc.yaml -d out -f csv -- <application>
//
//	pmc.yaml
//	  | jobs:
//	  |   - pmc: [TCC_EA0_RDREQ_sum, TCC_EA0_RDREQ_32B_sum,
//	  |           TCC_BUBBLE_sum]
//	  |     kernel_include_regex: "uneven_phases"
//	  |   - pmc: [TCC_EA0_WRREQ_sum, TCC_EA0_WRREQ_64B_sum,
//	  |           TCC_HIT_sum, TCC_MISS_sum]
//	  |     kernel_include_regex: "uneven_phases"
//
// # Hotspots
//
// A decoded thread trace is the ui_output_agent_*_dispatch_* directory that
// rocprofv3 --att writes. Given one, a tree of them, or an archive as attached
// to a bug report, hotspots ranks instructions, source lines and waits by stall
// cycles:
//
//	$ rocanalyze hotspots --by class fixtures/att/gemm
//	-- gemm_bf16_64x64x64 ----------------------------------------------------------
//	trace     fixtures/att/gemm/ui_output_agent_10001_dispatch_7
//	arch      gfx950 (from gemm_agent_info.csv)
//	code      151 of 151 instructions executed (100.0 %), 16 of 16 matrix; it names
//	          84 VGPRs, 0 AGPRs, 32 SGPRs
//	waves     8 traced of 1024 in the dispatch (8 SIMDs, 2 shader engines)
//	cycles    latency 59,996 = stall 43,076 (71.8 %) + issue 16,920; idle 896; over
//	          all waves
//	waiting   86.7 % of latency = stall + drain at s_endpgm (8,928 cycles, 14.9 %)
//	SIMD use  of the SIMDs with waves: issuing 13 % of resident cycles (VALU 5 %),
//	          matrix pipe 8.4 %; of the device, with 97 % of its CUs' time in use:
//	          issuing 13 % (VALU 4 %), matrix pipe 8.2 %
//	exposed   52,888 of 60,880 SIMD cycles (86.9 %) have waves and none issues;
//	          100.0 % of the stall is exposed, the rest hidden
//	window    7,808 cycles = 3.904 us at 2.00 GHz, 99 % of the waves' 3.950 us
//	duration  5.790 us; the waves ran 3.950 us of it: the rest is launch overhead,
//	          or the row is of another run
//	fill      64 waves started on 16 CUs of 16 (100 %); peak 1 per SIMD, mean 1.0 (2
//	          traced engines)
//	trust     high
//
//	-- What the stall cycles wait for ----------------------------------------------
//	class         stall cycles  of stall  exposed  of exposed
//	VMEM wait           21,604     50.2%   21,604       41.6% ####
//	store drain              0      0.0%    8,916       17.1% ##
//	LDS wait             5,628     13.1%    5,628       10.8% #
//	VMEM issue           4,276      9.9%    4,276        8.2% #
//	barrier              3,420      7.9%    3,420        6.6% #
//	MFMA issue           3,116      7.2%    3,116        6.0% #
//	LDS issue            2,448      5.7%    2,448        4.7%
//	SMEM wait            2,424      5.6%    2,424        4.7%
//	s_nop bubble           160      0.4%      160        0.3%
//
// Waits are classed by what they waited for: the wave files are replayed, and
// the stall of an s_waitcnt is charged to the loads, stores, LDS or scalar
// operations that were outstanding. Each wait has its own statistics:
//
//	$ rocanalyze hotspots --by wait --top 3 fixtures/att/copy
//	-- copy_vec4 -------------------------------------------------------------------
//	trace     fixtures/att/copy/ui_output_agent_10001_dispatch_3
//	arch      gfx942 (from copy_agent_info.csv)
//	code      33 of 33 instructions executed (100.0 %); it names 32 VGPRs, 0 AGPRs,
//	          18 SGPRs
//	waves     96 traced of 14592 in the dispatch (8 SIMDs, 2 shader engines)
//	cycles    latency 1,020,292 = stall 568,456 (55.7 %) + issue 451,836; idle
//	          6,432; over all waves
//	waiting   99.0 % of latency = stall + drain at s_endpgm (441,184 cycles, 43.2 %)
//	SIMD use  of the SIMDs with waves: issuing 5 % of resident cycles (VALU 2 %); of
//	          the device, with 100 % of its CUs' time in use: issuing 5 % (VALU 2 %)
//	exposed   196,744 of 235,168 SIMD cycles (83.7 %) have waves and none issues;
//	          14.5 % of the stall is exposed, the rest hidden
//	window    30,116 cycles = 15.85 us at 1.90 GHz, 100 % of the waves' 15.91 us
//	duration  17.75 us; the waves ran 15.91 us of it: the rest is launch overhead,
//	          or the row is of another run
//	fill      912 waves started on 19 CUs of 19 (100 %); peak 8 per SIMD, mean 5.0
//	          (2 traced engines)
//	trust     high
//
//	-- Waits that cost most --------------------------------------------------------
//	line   cycles  share  count  mean    p95     max  class
//	  33  441,184  43.7%     96  4596  6,840   7,120  store drain
//	  22  397,096  39.3%     96  4136  9,776  10,460  VMEM wait
//	   6   30,012   3.0%     96   313    360     364  SMEM wait
//	cycles: stall, or the drain at s_endpgm; share of all stall and drain; mean,
//	p95, max per execution
//
//	line  wait                  waits for                        stage
//	  33  s_endpgm                                                   -
//	  22  s_waitcnt vmcnt(3)    global_load_dwordx4@12              22
//	   6  s_waitcnt lgkmcnt(0)  s_load_dwordx4@1 s_load_dword@2      -
//	stage: the first wait of those for loads that absorb each other; moving the
//	loads of one alone moves its stall to the next
//
// A capture is checked before it is ranked. Here three of four waves found no
// work; they are left out of the rankings, and said:
//
//	$ rocanalyze hotspots --by class fixtures/att/early
//	-- scaled_relu_rows ------------------------------------------------------------
//	trace     fixtures/att/early/ui_output_agent_10001_dispatch_5
//	arch      gfx942 (from early_agent_info.csv)
//	code      58 of 58 instructions executed (100.0 %); it names 12 VGPRs, 0 AGPRs,
//	          14 SGPRs
//	waves     12 traced of 3648 in the dispatch; 9 did no work (4 SIMDs, 1 shader
//	          engine)
//	cycles    latency 41,800 = stall 33,436 (80.0 %) + issue 8,364; idle 1,088; over
//	          all waves
//	waiting   88.5 % of latency = stall + drain at s_endpgm (3,708 cycles, 9.5 %);
//	          without the no-work waves
//	SIMD use  of the SIMDs with waves: issuing 11 % of resident cycles (VALU 10 %);
//	          of the device, with 94 % of its CUs' time in use: issuing 11 % (VALU 9
//	          %)
//	exposed   35,760 of 40,368 SIMD cycles (88.6 %) have waves and none issues; 97.8
//	          % of the stall is exposed, the rest hidden
//	window    13,720 cycles = 6.533 us at 2.10 GHz, 99 % of the waves' 6.583 us
//	duration  8.422 us; the waves ran 6.583 us of it: the rest is launch overhead,
//	          or the row is of another run
//	fill      108 waves started on 9 CUs of 9.5 (95 %); peak 3 per SIMD, mean 1.1 (1
//	          traced engine)
//	trust     low: see findings
//
//	-- What the stall cycles wait for ----------------------------------------------
//	class        stall cycles  of stall  exposed  of exposed             estimated
//	VMEM wait          23,747     76.7%   23,731       69.8% #######        21,307
//	store wait          5,541     17.9%    5,537       16.3% ##              5,541
//	store drain             0      0.0%    3,704       10.9% #                   0
//	SMEM wait           1,676      5.4%    1,003        3.0%                     0
//
//	-- Findings --------------------------------------------------------------------
//	medium: few_waves: only 3 working waves traced: what they waited for may not
//	  be typical. Fix: trace more shader engines (--att-shader-engine-mask) or a
//	  larger dispatch.
//	low: line_collapse: /src/kernels/early.py:15 holds 63.8 % of the instructions:
//	  source lines are ranked on request only. Fix: rank loops (rocanalyze loops),
//	  instructions (--by instruction) or waits (--by wait); make the compiler keep
//	  line information inside the kernel.
//	low: no_work_waves: 9 of 12 waves did no work and hold 7.4 % of the stall;
//	  left out of every breakdown (--all-waves keeps them). Fix: launch fewer
//	  workgroups, or give the idle ones work.
//
// # Output
//
// Text fits the terminal (COLUMNS, else its width, else 80). --format json
// gives the full result for scripts, csv one table with raw values, markdown
// something to paste into a pull request. Results go to standard output,
// everything else to standard error.
//
// # Exit status
//
// 0: done. 2: bad usage, or an input that could not be read whole; what could
// be read is printed. 3: readable, but nothing can be said.
package main
