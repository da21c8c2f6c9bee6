package main

import (
	"encoding/json"
	"iter"
	"strings"
)

// capture is what one process left.
type capture struct {
	pageSize int
	// script is the whole of a database of an older profiler, as SQL; the rest
	// is empty then.
	script string
	schema string
	// tracks writes the shape of schema 4.1.0.
	tracks     bool
	guid       string
	pid        int
	gpus       []gpu
	kernels    []kernel
	dispatches iter.Seq[dispatch]
	copies     []memoryCopy
	counters   []counter
	// counted gives the counter rows of a dispatch, by its number.
	counted func(id int) []reading
}

// gpu is one agent. Its node id is its place behind the CPUs.
type gpu struct {
	node              int
	name, product     string
	device            int
	cus, xccs         int
	ldsKB, waveSize   int
	maxWaves, perSIMD int
	engines, arrays   int
	clockMHz          int
}

// kernel is one symbol; registers are as the profiler derives them.
type kernel struct {
	id               int
	symbol, display  string
	lds              int
	sgpr, arch, accu int
}

// dispatch is one launch; grid and workgroup are in work-items.
type dispatch struct {
	id, kernel, node, queue, stream int
	start, end                      int64
	lds, scratch                    int
	workgroup, grid                 [3]int
}

type memoryCopy struct {
	name       string
	start, end int64
	from, to   int
	bytes      int64
}

// counter is a row of rocpd_info_pmc.
type counter struct {
	id, node                int
	name, block, expression string
	derived                 int
}

// reading is one value of a counter.
type reading struct {
	counter int
	value   float64
}

// node is the id of the machine in all tables.
const node = 3131912127

func (c *capture) suffix() string { return "_" + strings.ReplaceAll(c.guid, "-", "_") }

// rows is a table with its rows.
type rows struct {
	name string
	rows iter.Seq[[]any]
}

func list(all ...[]any) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for _, r := range all {
			if !yield(r) {
				return
			}
		}
	}
}

// tables are all tables in the order in which they are filled.
func (c *capture) tables() []rows {
	strings, copies := c.strings()
	out := []rows{
		{"rocpd_metadata", list([]any{1, "schema_version", c.schema}, []any{2, "uuid", c.suffix()}, []any{3, "guid", c.guid})},
		{"rocpd_string", strings},
		{"rocpd_info_node", list([]any{node, c.guid, node, "0", "Linux", "node1", "6.8.0", "#1", "x86_64", "(none)"})},
		{"rocpd_info_process", list([]any{c.pid, c.guid, node, 1, c.pid, 1, 2, 1, 2, "python train.py", `{"SECRET_TOKEN": "not to be shown"}`, "{}"})},
		{"rocpd_info_agent", c.agents()},
		{"rocpd_info_queue", list([]any{0, c.guid, node, c.pid, "Default Queue", "{}"}, []any{1, c.guid, node, c.pid, "Queue 0", "{}"})},
		{"rocpd_info_stream", list([]any{0, c.guid, node, c.pid, "Default Stream", "{}"})},
		{"rocpd_info_kernel_symbol", c.symbols()},
		{"rocpd_event", c.events()},
		{"rocpd_kernel_dispatch", c.dispatchRows()},
		{"rocpd_memory_copy", copies},
		{"rocpd_info_pmc", c.counterRows()},
		{"rocpd_pmc_event", c.readings()},
	}
	if c.tracks {
		out = append(out, rows{"rocpd_track", c.trackRows()})
	}
	return out
}

// strings are the names of copies behind the empty string.
func (c *capture) strings() (strings, copies iter.Seq[[]any]) {
	ids := map[string]int{}
	names := [][]any{{1, c.guid, ""}, {2, c.guid, "KERNEL_DISPATCH"}}
	var out [][]any
	for i, m := range c.copies {
		if ids[m.name] == 0 {
			ids[m.name] = len(names) + 1
			names = append(names, []any{len(names) + 1, c.guid, m.name})
		}
		row := []any{i + 1, c.guid, node, c.pid, c.pid, m.start, m.end, ids[m.name], m.to, 4096 * i, m.from, 8192 * i, m.bytes, nil, 0, nil, nil, "{}"}
		if c.tracks {
			row = []any{i + 1, c.guid, nil, m.start, m.end, ids[m.name], m.to, 4096 * i, m.from, 8192 * i, m.bytes, nil, nil, "{}"}
		}
		out = append(out, row)
	}
	return list(names...), list(out...)
}

func (c *capture) agents() iter.Seq[[]any] {
	cpu := func(i int) []any {
		return []any{i, c.guid, node, c.pid, "CPU", i, i, i, 0, "AMD EPYC Processor", "", "CPU", "AMD EPYC Processor", "AMD EPYC Processor", "{}"}
	}
	var out [][]any
	for i := range c.gpus[0].node {
		out = append(out, cpu(i))
	}
	for i, g := range c.gpus {
		row := []any{g.node, c.guid, node, c.pid, "GPU", g.node, g.node, i, g.device, g.name, "ip discovery", "AMD", g.product, g.product, g.extra()}
		out = append(out, row)
	}
	if c.tracks { // generic_name stands before model_name, user_name is gone
		for _, row := range out {
			row[10], row[11], row[12], row[13] = "", row[10], row[11], row[12]
		}
	}
	return list(out...)
}

// extra is the JSON of an agent, as far as anything reads it.
func (g gpu) extra() string {
	raw, err := json.Marshal(map[string]any{
		"cu_count": g.cus, "simd_per_cu": g.perSIMD, "num_xcc": g.xccs, "max_waves_per_simd": g.maxWaves,
		"lds_size_in_kb": g.ldsKB, "wave_front_size": g.waveSize, "max_engine_clk_fcompute": g.clockMHz,
		"device_id": g.device, "array_count": g.engines * g.arrays, "simd_arrays_per_engine": g.arrays,
		"node_id": g.node, "name": g.name, "product_name": g.product,
	})
	if err != nil {
		panic(err) // numbers and strings always marshal
	}
	return string(raw)
}

func (c *capture) symbols() iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for _, k := range c.kernels {
			row := []any{k.id, c.guid, node, c.pid, 1, k.symbol + ".kd", k.display, 4096 * k.id, 64, 8, k.lds, 0, k.sgpr, k.arch, k.accu, "{}"}
			if !yield(row) {
				return
			}
		}
	}
}

func (c *capture) events() iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for d := range c.dispatches {
			row := []any{d.id, c.guid, 2, d.id, 0, 0, "{}", "{}", "{}"}
			if c.tracks {
				row = []any{d.id, c.guid, 2, d.id, 0, 0, "{}"}
			}
			if !yield(row) {
				return
			}
		}
	}
}

func (c *capture) dispatchRows() iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for d := range c.dispatches {
			w, g := d.workgroup, d.grid
			row := []any{
				d.id, c.guid, node, c.pid, c.pid, d.node, d.kernel, d.id, d.queue, d.stream, d.start, d.end, d.scratch, d.lds,
				w[0], w[1], w[2], g[0], g[1], g[2], 1, d.id, "{}",
			}
			if c.tracks {
				row = []any{d.id, c.guid, c.track(d), d.kernel, d.id, d.start, d.end, d.scratch, d.lds, w[0], w[1], w[2], g[0], g[1], g[2], 1, d.id, "{}"}
			}
			if !yield(row) {
				return
			}
		}
	}
}

// track is the id of a dispatch's track: one per agent, queue and stream.
func (c *capture) track(d dispatch) int { return d.node*100 + d.queue*10 + d.stream }

func (c *capture) trackRows() iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		seen := map[int]bool{}
		for d := range c.dispatches {
			id := c.track(d)
			if seen[id] {
				continue
			}
			seen[id] = true
			if !yield([]any{id, c.guid, node, nil, c.pid, c.pid, d.node, d.queue, d.stream, nil, "{}"}) {
				return
			}
		}
	}
}

func (c *capture) counterRows() iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for _, k := range c.counters {
			row := []any{k.id, c.guid, node, c.pid, k.node, "GPU", nil, nil, k.name, k.name, k.name, "", "rocm", "", "ABS", k.block, k.expression, 0, k.derived, "{}"}
			if !yield(row) {
				return
			}
		}
	}
}

func (c *capture) readings() iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		if c.counted == nil {
			return
		}
		id := 0
		for d := range c.dispatches {
			for _, r := range c.counted(d.id) {
				id++
				if !yield([]any{id, c.guid, d.id, r.counter, r.value, "{}"}) {
					return
				}
			}
		}
	}
}
