package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// ordered is a JSON object that keeps the order of its keys, as the decoder's
// Python writer does.
type ordered []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the members in order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			buf.WriteByte(',')
		}
		buf.Write(compact(m.key))
		buf.WriteByte(':')
		buf.Write(compact(m.value))
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

// indented is JSON with two blanks of indentation.
func indented(v any) []byte {
	var buf bytes.Buffer
	if err := json.Indent(&buf, compact(v), "", "  "); err != nil {
		panic(fmt.Sprintf("genfixtures: %v", err)) // compact's output is JSON
	}
	return buf.Bytes()
}

// att310 writes the dispatch directory in schema 3.1.0, as the open decoder's
// rcv.py does: no wstates files, no wait edges, events and dispatch records in
// occupancy.json, and a list of kernels in code.json.
func (c *capture) att310() tree {
	kernels := []ordered{}
	for _, k := range c.kernels {
		kernels = append(kernels, ordered{
			{"address", k.vaddr},
			{"codeobj", k.codeObject},
			{"name", k.symbol},
			{"demangled", k.demangled},
		})
	}
	files := c.filenames("3.1.0")
	files["other_simd_filenames"], files["shaderdata_filenames"] = object{}, object{}
	out := tree{
		"code.json": indented(ordered{
			{"version", "3.1.0"},
			{"header", codeHeader},
			{"kernels", kernels},
			{"code", c.codeRows()},
		}),
		"filenames.json": indented(files),
		"occupancy.json": indented(c.occupancy310()),
		"realtime.json":  indented(c.realtimes()),
	}
	for _, w := range c.traced() {
		out[w.fileName()] = indented(w.document(false))
	}
	for name, data := range c.snapshots() {
		if name == "snapshots.json" {
			data = indented(json.RawMessage(data))
		}
		out[name] = data
	}
	return out
}

func (c *capture) occupancy310() ordered {
	events := ordered{}
	out := ordered{
		{"occupancy_fields", []string{
			"time", "cu", "simd", "wave_id", "start", "kernel_id",
			"me_id", "pipe_id", "is_ext", "workgroup_id", "cluster_id",
		}},
	}
	rowsBySE := ordered{}
	for _, e := range c.launch.engines {
		rows := []row{}
		for _, ev := range c.occupancy(e) {
			rows = append(rows, row{ev.time, ev.cu, ev.simd, ev.slot, ev.start, ev.kernelID, 1, 0, 0, 0, 0})
		}
		rowsBySE = append(rowsBySE, member{strconv.Itoa(e.se), rows})
		events = append(events, member{strconv.Itoa(e.se), c.events(e)})
	}
	out = append(out, member{"events", events}, member{"dispatches", c.dispatchNames()}, member{"version", "3.1.0"})
	return append(out, rowsBySE...)
}

// events is the dispatch record of an engine and the flush behind it (type 1,
// CS_PARTIAL_FLUSH in rocprof-trace-decoder's trace_decoder_types.h).
func (c *capture) events(e engine) []ordered {
	k := c.kernels[0]
	begin, end := c.span(e)
	return []ordered{
		{
			{"kind", "dispatch"},
			{"time", begin - 120},
			{"me_id", 1},
			{"pipe_id", 0},
			{"kernel_id", c.kernelID(k)},
			{"kernel_name", k.symbol},
			{"entry_point", ordered{{"address", k.vaddr}, {"code_object_id", k.codeObject}}},
			{"user_sgprs", 2},
			{"vgprs", alignTo(k.registers("v"), 8)},
			{"sgprs", k.allocatedSGPRs()},
			{"lds_size", k.ldsBytes},
			{"thread_dim_x", c.launch.workgroup},
			{"thread_dim_y", 1},
			{"thread_dim_z", 1},
			{"dispatch_pkt_addr", 140_204_600_590_720},
			{"byte_offset", 416},
			{"flags", 0},
		},
		{
			{"kind", "event"},
			{"time", end + 40},
			{"type", 1},
			{"me_id", 1},
			{"pipe_id", 0},
			{"flags", 0},
			{"payload", 0},
			{"byte_offset", 20_480},
		},
	}
}
