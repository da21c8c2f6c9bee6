package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// tree is a set of files by slash-separated path.
type tree map[string][]byte

// put adds the files of another tree below a folder.
func (t tree) put(folder string, files tree) {
	for name, data := range files {
		t[path.Join(folder, name)] = data
	}
}

// Columns of code.json.
const codeHeader = "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"

// compact is JSON on one line with sorted keys, as the profiler's writer makes
// it.
func compact(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // Source cells have "->"
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("genfixtures: %v", err)) // only maps, slices, strings and integers are written
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

type (
	object = map[string]any
	row    = []any
)

// dirName is the name of the dispatch directory.
func (c *capture) dirName() string {
	return fmt.Sprintf("ui_output_agent_%d_dispatch_%d", c.launch.gpu.handle, c.launch.dispatch)
}

// att300 writes the dispatch directory in schema 3.0.0, as rocprofv3 does.
func (c *capture) att300() tree {
	out := tree{
		"code.json":      compact(object{"code": c.codeRows(), "header": codeHeader, "version": "3.0.0"}),
		"filenames.json": compact(c.filenames("3.0.0")),
		"occupancy.json": compact(c.occupancy300()),
		"realtime.json":  compact(c.realtimes()),
	}
	for _, w := range c.traced() {
		out[w.fileName()] = compact(w.document(true))
	}
	for state := stateIdle; state <= stateStall && !c.noWstates; state++ {
		name := fmt.Sprintf("wstates%d.json", state)
		times, counts := c.stateCounts(state)
		out[name] = compact(object{"name": name, "state": counts, "time": times})
	}
	out.put("", c.snapshots())
	return out
}

// codeRows are the rows of code.json: for each kernel a label and its
// instructions.
func (c *capture) codeRows() []row {
	var out []row
	for _, k := range c.kernels {
		counts := c.sum(k)
		out = append(out, row{"; " + k.symbol, 0, k.firstLine, k.demangled, k.codeObject, k.vaddr, 0, 0, 0, 0})
		for i, in := range k.insts {
			s := counts[i]
			out = append(out, row{
				in.text, 0, k.lineNumber(i), k.sourceOf(in), k.codeObject, in.vaddr,
				s.hit, s.latency, s.stall, s.idle,
			})
		}
	}
	return out
}

func (w *wave) fileName() string {
	return fmt.Sprintf("se%d_sm%d_sl%d_wv%d.json", w.se, w.simd, w.slot, w.id)
}

// document is the content of a wave's file; waits says whether the wait edges
// are in it.
func (w *wave) document(waits bool) object {
	instructions, timeline, waitcnt := []row{}, []row{}, []row{}
	for _, r := range w.records {
		instructions = append(instructions, row{r.time, r.category, r.stall, r.duration, w.kernel.lineNumber(r.inst)})
	}
	for _, s := range w.timeline() {
		timeline = append(timeline, row{s.state, s.cycles})
	}
	for _, e := range w.edges() {
		producers := []row{}
		for _, line := range e.producers {
			producers = append(producers, row{line, 0})
		}
		if waits {
			waitcnt = append(waitcnt, row{e.wait, producers})
		}
	}
	return object{
		"name": fmt.Sprintf("SE%d", w.se), "duration": w.end - w.begin,
		"num_insts": len(w.records), "num_stitched": len(w.records),
		"wave": object{
			"cu": w.cu, "simd": w.simd, "slot": w.slot, "id": w.id, "begin": w.begin, "end": w.end,
			"instructions": instructions, "timeline": timeline, "waitcnt": waitcnt,
		},
	}
}

// waveFiles is {se: {simd: {slot: {wave: [file, begin, end]}}}}, or nil when
// there are no waves.
func (c *capture) waveFiles() any {
	files := object{}
	child := func(o object, key int) object {
		name := strconv.Itoa(key)
		if o[name] == nil {
			o[name] = object{}
		}
		return o[name].(object)
	}
	for _, w := range c.traced() {
		slot := child(child(child(files, w.se), w.simd), w.slot)
		slot[strconv.Itoa(w.id)] = row{w.fileName(), w.begin, w.end}
	}
	if len(files) == 0 {
		return nil
	}
	return files
}

func (c *capture) filenames(version string) object {
	a := c.kernels[0].arch
	return object{
		"counter_names": row{}, "gfxip": a.gfxip, "gfxv": a.gfxv, "global_begin_time": 0,
		"version": version, "wave_filenames": c.waveFiles(),
	}
}

// dispatchNames maps occupancy.json's kernel ids to names.
func (c *capture) dispatchNames() object {
	out := object{"0": "0 / 0x0"}
	for _, k := range c.kernels {
		out[strconv.Itoa(c.kernelID(k))] = k.symbol
	}
	return out
}

func (c *capture) occupancy300() object {
	out := object{"dispatches": c.dispatchNames(), "version": "3.0.0"}
	for _, e := range c.launch.engines {
		var rows []row // null for an engine without waves
		for _, ev := range c.occupancy(e) {
			rows = append(rows, row{ev.time, ev.cu, ev.simd, ev.slot, ev.start, ev.kernelID})
		}
		out[strconv.Itoa(e.se)] = rows
	}
	return out
}

func (c *capture) realtimes() object {
	out := object{"metadata": object{"descriptor": "[gfx_clock, realtime_clock]", "frequency": ticksPerSecond}}
	for _, e := range c.launch.engines {
		out[fmt.Sprintf("SE%d", e.se)] = c.realtime(e)
	}
	return out
}

// snapshots is snapshots.json and the sources that it names, one for each
// source file of the kernels.
func (c *capture) snapshots() tree {
	out, names := tree{}, object{}
	for _, k := range c.kernels {
		name := fmt.Sprintf("source_0_%s", path.Base(k.sourcePath))
		out[name] = k.source
		parts := strings.Split(k.sourcePath, "/")
		if parts[0] == "" {
			parts[0] = "/"
		}
		node := names
		for _, p := range parts[:len(parts)-1] {
			next, ok := node[p].(object)
			if !ok {
				next = object{}
				node[p] = next
			}
			node = next
		}
		node[parts[len(parts)-1]] = name
	}
	out["snapshots.json"] = compact(names)
	return out
}
