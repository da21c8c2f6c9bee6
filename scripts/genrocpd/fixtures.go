package main

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
)

// fixture is one file below fixtures/rocpd.
type fixture struct {
	name, about string
	capture     *capture
}

// The kernels of fixtures/att, with the registers that their kernel traces
// show.
const copySymbol = "_Z9copy_vec4PK15HIP_vector_typeIfLj4EEPS0_i"

func fill8() kernel {
	return kernel{id: 9, symbol: "__amd_rocclr_fillBufferAligned", display: "__amd_rocclr_fillBufferAligned", sgpr: 32, arch: 8}
}

func gemmKernel() kernel {
	return kernel{id: 17, symbol: "gemm_bf16_64x64x64", display: "gemm_bf16_64x64x64", lds: 32768, sgpr: 48, arch: 44}
}

func copyKernel() kernel {
	return kernel{
		id: 18, symbol: copySymbol, sgpr: 32, arch: 32,
		display: "copy_vec4(HIP_vector_type<float, 4u> const*, HIP_vector_type<float, 4u>*, int)",
	}
}

func reluKernel() kernel {
	return kernel{id: 19, symbol: "scaled_relu_rows", display: "scaled_relu_rows", sgpr: 32, arch: 12, accu: 4}
}

func mi350x(node int) gpu {
	return gpu{
		node: node, name: "gfx950", product: "AMD Instinct MI350X", device: 30112, cus: 256, xccs: 8, ldsKB: 160, waveSize: 64,
		maxWaves: 8, perSIMD: 4, engines: 32, arrays: 1, clockMHz: 2200,
	}
}

func mi300x(node int) gpu {
	return gpu{
		node: node, name: "gfx942", product: "AMD Instinct MI300X", device: 29857, cus: 304, xccs: 8, ldsKB: 64, waveSize: 64,
		maxWaves: 8, perSIMD: 4, engines: 32, arrays: 1, clockMHz: 2100,
	}
}

// smallPage keeps the fixtures small; profilers write pages of 4096 bytes.
const smallPage = 1024

func fixtures() []fixture {
	return []fixture{
		{"gemm.db", "the run of `../att/gemm/gemm_kernel_trace.csv`: MI350X, and its halved register counts", gemmRun("3", false)},
		{"gemm41.db", "the same run in the tables of schema 4.1.0", gemmRun("4.1.0", true)},
		{"train/70011_results.db", "first of two processes: three kernels of `../att` on one MI300X, two queues that overlap, copies, four dispatches with bad times", trainRun(0)},
		{"train/70012_results.db", "second of them, on another GPU", trainRun(1)},
		{"counters.db", "the copy kernel with counters: one row per instance, a derived one, and one that is always zero", countersRun()},
		{"elder/trace.rpd", "a trace of rocmProfileData: two kernels on two GPUs, a copy, a barrier, a marker", &capture{pageSize: smallPage, script: rpdScript}},
		{"elder/ops.db", "the results.db of rocprof --hip-trace: operations, one of them a barrier", &capture{pageSize: smallPage, script: rocprofScript}},
		{"elder/kern.db", "the results.db of rocprof --timestamp on: dispatches with their launches", &capture{pageSize: smallPage, script: rocprofKernScript}},
	}
}

// gemmRun has the times of the kernel trace in fixtures/att/gemm.
func gemmRun(schema string, tracks bool) *capture {
	const first, step = int64(3100440871850), int64(60000)
	lengths := []int64{2480, 2480, 6430, 6270, 6110, 5950, 5790}
	c := &capture{
		pageSize: smallPage, schema: schema, tracks: tracks, guid: "0190a1b2-0000-7000-8000-000000000001", pid: 70001,
		gpus: []gpu{mi350x(2)}, kernels: []kernel{fill8(), gemmKernel()},
		copies: []memoryCopy{{"MEMORY_COPY_HOST_TO_DEVICE", first - 100_000, first - 60_000, 0, 2, 2 << 20}},
	}
	var all []dispatch
	for i, ns := range lengths {
		d := dispatch{id: i + 1, kernel: 9, node: 2, queue: 1, start: first + int64(i)*step, workgroup: [3]int{256, 1, 1}, grid: [3]int{65536, 1, 1}}
		if i >= 2 {
			d.kernel, d.grid, d.lds = 17, [3]int{4096, 16, 1}, 32768
		}
		d.end = d.start + ns
		all = append(all, d)
	}
	c.dispatches = slices.Values(all)
	return c
}

// trainRun is one rank of two: steps of a GEMM-like copy, two activations and
// a fill, on two queues.
func trainRun(rank int) *capture {
	node, pid := 2+rank, 70011+rank
	random := rand.New(rand.NewPCG(7, uint64(rank)))
	const first = int64(5_000_000_000_000)
	c := &capture{
		pageSize: smallPage, schema: "3.0.0", guid: fmt.Sprintf("0190a1b2-0000-7000-8000-00000000001%d", rank), pid: pid,
		gpus: []gpu{mi300x(2), mi300x(3)}, kernels: []kernel{fill8(), copyKernel(), reluKernel()},
		copies: []memoryCopy{
			{"MEMORY_COPY_HOST_TO_DEVICE", first - 900_000, first - 500_000, 0, node, 16 << 20},
			{"MEMORY_COPY_DEVICE_TO_HOST", first + 4_000_000, first + 4_250_000, node, 0, 8 << 20},
			{"MEMORY_COPY_DEVICE_TO_HOST", first + 4_300_000, first + 4_300_000, node, 0, 4096},
		},
	}
	var all []dispatch
	at := first + int64(rank)*1000
	for step := range 16 {
		length := 17_000 + random.Int64N(1500)
		all = append(all,
			dispatch{kernel: 18, queue: 1, start: at, end: at + length, workgroup: [3]int{256, 1, 1}, grid: [3]int{933888, 1, 1}},
			// The activation of the step before overlaps the copy's end.
			dispatch{kernel: 19, queue: 2, stream: 1, start: at + 12_000, end: at + 20_500 + random.Int64N(300), workgroup: [3]int{64, 1, 1}, grid: [3]int{233472, 1, 1}},
		)
		if step%4 == 0 {
			all = append(all,
				dispatch{kernel: 19, queue: 2, stream: 1, start: at + 25_000, end: at + 27_200, workgroup: [3]int{64, 1, 1}, grid: [3]int{58368, 1, 1}},
				dispatch{kernel: 9, queue: 1, start: at + 30_000, end: at + 32_480, workgroup: [3]int{256, 1, 1}, grid: [3]int{65536, 1, 1}},
			)
		}
		at += 40_000 + random.Int64N(2000)
	}
	if rank == 0 {
		for _, bad := range [][2]int64{{at, at - 5}, {at, at}, {0, 0}, {at, 1<<63 - 1}} {
			all = append(all, dispatch{kernel: 18, queue: 1, start: bad[0], end: bad[1], workgroup: [3]int{256, 1, 1}, grid: [3]int{933888, 1, 1}})
		}
	}
	for i := range all {
		all[i].id, all[i].node = i+1, node
	}
	c.dispatches = slices.Values(all)
	return c
}

// countersRun counts four dispatches of the copy kernel: 3648 workgroups of
// four waves that read and write 14,942,208 bytes each.
func countersRun() *capture {
	c := &capture{
		pageSize: smallPage, schema: "3", guid: "0190a1b2-0000-7000-8000-000000000020", pid: 70020,
		gpus: []gpu{mi300x(2)}, kernels: []kernel{copyKernel()},
		counters: []counter{
			{id: 301, node: 2, name: "SQ_WAVES", block: "SQ"},
			{id: 302, node: 2, name: "TCC_HIT", block: "TCC"},
			{id: 303, node: 2, name: "FETCH_SIZE", expression: "TCC_EA0_RDREQ_sum*64/1024", derived: 1},
			{id: 304, node: 2, name: "SQ_INSTS_LDS", block: "SQ"},
		},
	}
	var all []dispatch
	for i := range 4 {
		start := int64(9_000_000_000_000 + 500_000*i)
		all = append(all, dispatch{
			id: i + 1, kernel: 18, node: 2, queue: 1, start: start, end: start + 21_000 + int64(100*i), workgroup: [3]int{256, 1, 1}, grid: [3]int{933888, 1, 1},
		})
	}
	c.dispatches = slices.Values(all)
	c.counted = func(id int) []reading {
		var out []reading
		for xcc := range 8 {
			out = append(out, reading{301, 1824}, reading{302, float64(100*id + xcc)}, reading{304, 0})
		}
		return append(out, reading{303, 14592})
	}
	return c
}

// bigCapture has n dispatches of 200 kernels on two GPUs, in an order in which
// both advance, and a counter row for every 25th dispatch.
func bigCapture(n int) *capture {
	c := &capture{pageSize: 4096, schema: "3", guid: "0190a1b2-0000-7000-8000-000000000099", pid: 70099, gpus: []gpu{mi300x(2), mi300x(3)}}
	for i := range 200 {
		name := fmt.Sprintf("kernel_%03d<float, %d>(float const*, float*, int)", i, 64<<(i%5))
		c.kernels = append(c.kernels, kernel{id: i + 1, symbol: fmt.Sprintf("_Z10kernel_%03dv", i), display: name, lds: 1024 * (i % 32), sgpr: 48, arch: 8 * (1 + i%32)})
	}
	c.counters = []counter{{id: 301, node: 2, name: "SQ_WAVES", block: "SQ"}}
	c.counted = func(id int) []reading {
		if id%25 != 0 {
			return nil
		}
		return []reading{{301, float64(64 * (id % 100))}}
	}
	c.dispatches = bigDispatches(n)
	return c
}

func bigDispatches(n int) iter.Seq[dispatch] {
	return func(yield func(dispatch) bool) {
		random := rand.New(rand.NewPCG(1, 1))
		at := [2]int64{2_365_469_100_000_000, 2_365_469_100_000_700}
		for i := range n {
			g := random.IntN(2)
			// Few kernels are launched most, as in training.
			k := int(float64(200) * random.Float64() * random.Float64())
			length := int64(2000+300*k) + random.Int64N(int64(500+50*k))
			d := dispatch{
				id: i + 1, kernel: k + 1, node: 2 + g, queue: 1 + g, stream: g, start: at[g], end: at[g] + length,
				lds: 1024 * (k % 32), workgroup: [3]int{256, 1, 1}, grid: [3]int{65536 * (1 + k%7 + random.IntN(3)), 1, 1},
			}
			at[g] = d.end + 1200 + random.Int64N(800)
			if !yield(d) {
				return
			}
		}
	}
}

func readme() string {
	s := "# rocpd databases\n\nWritten by `go run ./scripts/genrocpd`; made-up processes that ran the kernels of `../att`.\n\n| file | what |\n|---|---|\n"
	for _, f := range fixtures() {
		s += fmt.Sprintf("| `%s` | %s |\n", f.name, f.about)
	}
	return s
}
