package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
)

const (
	copyName = "copy_vec4(HIP_vector_type<float, 4u> const*, HIP_vector_type<float, 4u>*, int)"
	gemmName = "gemm_bf16_64x64x64"
)

// The figures of the kernels: copy_vec4 moves two vectors of 16 bytes for each
// of its work-items; the GEMM multiplies 1024 x 320 by 320 x 1024 in bf16.
const (
	copyItems = 933888
	copyBytes = copyItems * 2 * 16
	gemmItems = 65536
	gemmFLOPs = 2 * 1024 * 1024 * 320
)

// fixtures makes all files, by their path below fixtures/pmc.
func fixtures() map[string][]byte {
	out := map[string][]byte{"README.md": []byte(readme)}
	put := func(dir string, files map[string][]byte) {
		for name, data := range files {
			out[path.Join(dir, name)] = data
		}
	}
	memory, waves := copyPass(70001, 0, copyMemory()), copyPass(70001, 1, copyWaves())
	put("copy", map[string][]byte{
		"pass_1/copy_counter_collection.csv": long(70001, memory), "pass_1/copy_agent_info.csv": mi300x().agentInfo(),
		"pass_2/copy_counter_collection.csv": long(70002, waves), "pass_2/copy_agent_info.csv": mi300x().agentInfo(),
	})
	put("copy_json", map[string][]byte{"copy_results.json": results(mi300x(), 70001, memory)})
	put("gemm", map[string][]byte{
		"pass_1/70011_counter_collection.csv": long(70011, gemmPass(0, gemmMemory())), "pass_1/70011_agent_info.csv": mi350x().agentInfo(),
		"pass_2/70012_counter_collection.csv": long(70012, gemmPass(1, gemmSizes())), "pass_2/70012_agent_info.csv": mi350x().agentInfo(),
		"pass_3/70013_counter_collection.csv": long(70013, gemmPass(2, gemmCompute())), "pass_3/70013_agent_info.csv": mi350x().agentInfo(),
	})
	put("uneven", map[string][]byte{"uneven_results.json": results(mi300x(), 70021, []dispatch{uneven()})})
	put("workload", workload(mi210(), oldCopy()))
	for i, d := range judged() {
		pid := 70031 + i
		put("judged/"+d.folder, map[string][]byte{
			"pass_1/" + d.folder + "_counter_collection.csv": long(pid, []dispatch{d.dispatch}),
			"pass_1/" + d.folder + "_agent_info.csv":         mi300x().agentInfo(),
		})
	}
	return out
}

// judgedRun is a run whose verdict follows from how it was made.
type judgedRun struct {
	folder string
	dispatch
}

// judged are runs on MI300X at 2.1 GHz of what no thread trace in fixtures/att
// shows.
func judged() []judgedRun {
	const (
		streamed = 1 << 30 // bytes read, and as many written
		table    = 2 << 20 // bytes that every XCD reads again and again
		written  = 4 << 20
		lookups  = 20_160_000 // lines: 128 B x 20,160,000 / 100 us are 75 % of L2's peak
		gemmNs   = 100_000
		gxActive = gemmNs * 21 / 10 // clocks of one XCD
	)
	at := func(start, ns int64, name string, items int, values []value) dispatch {
		return dispatch{id: 1, kernel: name, grid: items, workgroup: 256, vgprs: 32, start: start, end: start + ns, values: values}
	}
	return []judgedRun{
		// 2 GiB in 480 us are 84 % of 5324.8 GB/s.
		{"stream", at(5501000200300, 480_000, "stream_scale(float4 const*, float4*, float, int)", streamed/16, append(streamMemory(streamed),
			value{name: "GRBM_GUI_ACTIVE", v: 8 * 1_008_000}))},
		{"lookup", at(5502000200300, 100_000, "table_lookup(float4 const*, int const*, float4*, int)", written/16, []value{
			{name: "TCC_REQ_sum", v: lookups},
			{name: "TCC_HIT_sum", v: lookups - 8*table/128},
			{name: "TCC_MISS_sum", v: 8 * table / 128},
			{name: "TCC_EA0_RDREQ_sum", v: 8 * table / 128},
			{name: "TCC_EA0_RDREQ_32B_sum", v: 0},
			{name: "TCC_BUBBLE_sum", v: 8 * table / 128},
			{name: "TCC_EA0_WRREQ_sum", v: written / 64},
			{name: "TCC_EA0_WRREQ_64B_sum", v: written / 64},
		})},
		// The matrix pipes are busy for 40 % of the time, and GRBM_GUI_ACTIVE is
		// of one XCD instead of the sum over eight: 320 %.
		{"one_xcd", at(5503000200300, gemmNs, gemmName, gemmItems, []value{
			{name: "GRBM_GUI_ACTIVE", v: gxActive},
			{name: "SQ_VALU_MFMA_BUSY_CYCLES", v: 304 * 4 * gxActive * 4 / 10},
			{name: "SQ_WAVES", v: gemmItems / 64},
		})},
	}
}

// copyPass is four dispatches; the first is slower, and passes differ a little.
func copyPass(pid, pass int, values []value) []dispatch {
	var out []dispatch
	start := int64(1228710358604 + pass*60_000_000_000)
	for i := range 4 {
		ns := int64(17751 - 40*pass)
		if i == 0 {
			ns = 19880
		}
		out = append(out, dispatch{
			id: 3 + i, kernel: copyName, grid: copyItems, workgroup: 256, vgprs: 32, start: start, end: start + ns, values: values,
		})
		start += 60000
	}
	return out
}

func copyMemory() []value { return streamMemory(copyBytes) }

// streamMemory reads and writes so many bytes: L1 reads lines of 128 bytes and
// writes 64 at a time, so that the second write of each line hits.
func streamMemory(size int) []value {
	lines := float64(size / 128)
	return []value{
		{name: "TCC_HIT_sum", v: lines},
		{name: "TCC_MISS_sum", v: 2 * lines},
		{name: "TCC_EA0_RDREQ_sum", v: lines},
		{name: "TCC_EA0_RDREQ_32B_sum", v: 0},
		{name: "TCC_BUBBLE_sum", v: lines},
		{name: "TCC_EA0_WRREQ_sum", v: 2 * lines},
		{name: "TCC_EA0_WRREQ_64B_sum", v: 2 * lines},
		{name: "TCC_EA0_RDREQ_DRAM_sum", v: lines},
	}
}

func copyWaves() []value {
	const waves = copyItems / 64
	return []value{
		{name: "GRBM_GUI_ACTIVE", v: 8 * 45000},
		{name: "SQ_WAVES", v: waves},
		{name: "SQ_WAVE_CYCLES", v: waves * 2600},
		{name: "SQ_WAIT_ANY", v: waves * 2300},
		{name: "SQ_ACTIVE_INST_VALU", v: waves * 12},
		{name: "SQ_BUSY_CU_CYCLES", v: 304 * 9000},
		{name: "TCP_TCC_READ_REQ_sum", v: copyBytes / 128},
		{name: "TCP_TCC_WRITE_REQ_sum", v: copyBytes / 64},
	}
}

func gemmPass(pass int, values []value) []dispatch {
	var out []dispatch
	start := int64(3100440991850 + pass*90_000_000_000)
	for i, ns := range []int64{6430, 6270, 6110, 5950, 5790} {
		out = append(out, dispatch{
			id: 3 + i, kernel: gemmName, grid: gemmItems, workgroup: 256, lds: 32768, vgprs: 44, start: start, end: start + ns, values: values,
		})
		start += 60000
	}
	return out
}

// gemmReads are the bytes that a dispatch reads: both matrices, each of the 8
// XCDs its share of one and all of the other.
const gemmReads = 1024*320*2 + 8*1024*320*2

func gemmMemory() []value {
	return []value{
		{name: "TCC_HIT_sum", v: 71680},
		{name: "TCC_MISS_sum", v: gemmReads/128 + 16384},
		{name: "TCC_EA0_RDREQ_sum", v: gemmReads / 128},
		{name: "TCC_EA0_RDREQ_32B_sum", v: 0},
	}
}

func gemmSizes() []value {
	return []value{
		{name: "TCC_EA0_RDREQ_128B_sum", v: gemmReads / 128},
		{name: "TCC_EA0_RDREQ_64B_sum", v: 0},
		{name: "TCC_EA0_WRREQ_sum", v: 1024 * 1024 * 2 / 64},
		{name: "TCC_EA0_WRREQ_64B_sum", v: 1024 * 1024 * 2 / 64},
	}
}

func gemmCompute() []value {
	return []value{
		{name: "GRBM_GUI_ACTIVE", v: 8 * 14000},
		{name: "SQ_WAVES", v: gemmItems / 64},
		{name: "SQ_VALU_MFMA_BUSY_CYCLES", v: gemmFLOPs / 2048 * 4},
		{name: "SQ_INSTS_VALU_MFMA_MOPS_BF16", v: gemmFLOPs / 512},
		{name: "SQ_LDS_BANK_CONFLICT", v: 2048},
		{name: "SQ_LDS_IDX_ACTIVE", v: 67584},
		{name: "SQ_INSTS_LDS", v: 16384},
		{name: "SQ_WAVE_CYCLES", v: gemmItems / 64 * 1850},
	}
}

// uneven is a transposing kernel whose rows are a power of two apart: some of
// the 128 channels carry half as much again as others.
func uneven() dispatch {
	reads, total := make([]float64, 128), 0.0
	for i := range reads {
		reads[i] = 6144
		if i%4 == 0 {
			reads[i] = 10240
		}
		total += reads[i]
	}
	return dispatch{
		id: 1, kernel: "transpose_naive(float const*, float*, int)", grid: 1 << 22, workgroup: 256, vgprs: 16, start: 88100200300, end: 88100290300,
		values: []value{
			{name: "TCC_EA0_RDREQ", v: total, channels: reads},
			{name: "TCC_EA0_RDREQ_32B_sum", v: total / 2},
			{name: "TCC_BUBBLE_sum", v: total / 4},
			{name: "TCC_HIT_sum", v: total / 2},
			{name: "TCC_MISS_sum", v: total},
		},
	}
}

// oldCopy is a copy on MI210, where requests are of 64 bytes.
func oldCopy() []dispatch {
	const total = 8 << 20
	var out []dispatch
	for i := range 2 {
		start := int64(1412832625908622 + i*1_000_000)
		out = append(out, dispatch{
			id: i, kernel: "vec_copy(double*, double*, int)", grid: 1 << 20, workgroup: 256, vgprs: 8, start: start, end: start + 17440,
			values: []value{
				{name: "SQ_WAVES", v: 16384},
				{name: "SQC_DCACHE_REQ_READ_2", v: 32768},
				{name: "GRBM_GUI_ACTIVE", v: 37000},
				{name: "TCC_HIT_sum", v: total / 128},
				{name: "TCC_MISS_sum", v: 2 * total / 128},
				{name: "TCC_EA_RDREQ_sum", v: total / 64},
				{name: "TCC_EA_RDREQ_32B_sum", v: 0},
				{name: "TCC_EA_WRREQ_sum", v: total / 64},
				{name: "TCC_EA_WRREQ_64B_sum", v: total / 64},
			},
		})
	}
	return out
}

// writeBig writes 500,000 rows of 214 bytes: 62,500 dispatches of three
// kernels with eight counters each.
func writeBig(file string) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	if _, err := w.WriteString(longHeader); err != nil {
		return err
	}
	var row bytes.Buffer
	start := int64(1228710358604000)
	for i := range 62500 {
		d := dispatch{
			id: i + 1, kernel: fmt.Sprintf("%s::instance_%d", copyName, i%3), grid: copyItems, workgroup: 256, vgprs: 32,
			start: start, end: start + 17751 + int64(i%97), values: copyMemory(),
		}
		start += 60000
		row.Reset()
		for _, v := range d.values {
			longRow(&row, 70001, d, v)
		}
		if _, err := w.Write(row.Bytes()); err != nil {
			return err
		}
	}
	return w.Flush()
}

const readme = `# Counter fixtures

Counters of invented runs of the kernels in ../att, for tests and examples. Nothing here was measured: the figures
follow from the bytes that the kernels move. Never edit them; change ` + "`scripts/gencounters`" + ` and write them anew with

    go run ./scripts/gencounters

| folder | what |
|---|---|
| copy | copy_vec4 on MI300X, four dispatches, two passes of rocprofv3 (memory; waves and L1) |
| copy_json | the first pass of the same run as results.json |
| gemm | gemm_bf16_64x64x64 on MI350X, five dispatches, three passes: requests, their sizes, compute. Without pass_2 the bytes read are a range |
| uneven | a transpose on MI300X with one record for each L2 channel, a quarter of which is busier (results.json) |
| judged/stream | 1 GiB read and 1 GiB written on MI300X in 480 us: at the memory roof (84 %) |
| judged/lookup | a table of 2 MiB read again and again: L2 at 75 % of its peak, memory at 4 % |
| judged/one_xcd | GRBM_GUI_ACTIVE of one XCD of eight: rates eight times too high, which must not be believed |
| workload | a copy on MI210 as a rocprof-compute directory: one wide table and sysinfo.csv |
`
