package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// malformedDir is the dispatch directory of every malformed capture.
const malformedDir = "ui_output_agent_1_dispatch_1"

// malformed is one way in which a capture can be wrong or unusual. The function
// gets a sound capture of its own and returns the files of the folder.
type malformed struct {
	kind, about string
	make        func(c *capture) (tree, error)
}

// malformedKinds lists them in the order of the README.
func malformedKinds() []malformed {
	return []malformed{
		{"code_null", "`\"code\": null` and no wave files: nothing was decoded, but occupancy.json knows waves", codeNull},
		{"code_empty", "`\"code\": []` and no wave files", codeEmpty},
		{"zero_hits", "the kernel was disassembled and no instruction was hit", zeroHits},
		{"short_row", "one row of code.json ends after Hit", shortRow},
		{"no_label", "no label row, so the first instruction has LineNumber 0", noLabel},
		{"two_kernels", "two kernels ran, one after the other", twoKernels},
		{"float_cells", "the counts of code.json and a wave file are written as floats", floatCells},
		{"nonutf8_source", "the source file is Latin-1", nonUTF8Source},
		{"relative_source", "the source path is relative, so snapshots.json has no `/` root", relativeSource},
		{"inlined_source", "Source cells are chains, innermost frame first", inlinedSource},
		{"extra_columns", "code.json's header is an array, its columns are in another order and there are more of them", extraColumns},
		{"pc_sampling", "the PC-sampling flavour: no waves, a nested array in the last column", pcSampling},
		{"missing_wave_file", "filenames.json lists a wave file that is not there", missingWaveFile},
		{"truncated_wave", "a wave file ends in the middle", truncated("se0_sm2_sl0_wv0.json")},
		{"truncated_code", "code.json ends in the middle", truncated("code.json")},
		{"not_json", "code.json is a Git LFS pointer", notJSON},
		{"escaping_snapshot", "snapshots.json names `../../outside`", escapingSnapshot},
		{"line_collision", "two rows share a LineNumber, and others leave gaps", lineCollision},
		{"wave_mismatch", "code.json's counts are not the sums of the wave files", waveMismatch},
		{"huge_number", "counts and times that overflow 64 bits", hugeNumber},
		{"wrong_companion", "the kernel trace has the dispatch id, but of another kernel", wrongCompanion},
		{"no_source", "no debug information: Source is empty everywhere and snapshots.json absent", noSource},
	}
}

const outsideText = "This file lies outside of every capture.\n"

// malformedTrees makes all malformed captures.
func malformedTrees() (tree, error) {
	out := tree{"outside": []byte(outsideText)}
	for _, m := range malformedKinds() {
		c, err := saxpyCapture()
		if err != nil {
			return nil, err
		}
		files, err := m.make(c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.kind, err)
		}
		out.put(m.kind, files)
	}
	return out, nil
}

// saxpyCapture is one workgroup of four waves.
func saxpyCapture() (*capture, error) {
	g := mi300x()
	g.handle = 1
	k := &kernel{
		symbol: "saxpy", arch: cdna("gfx942"), codeObject: 2, vaddr: 4608, sourcePath: "/src/kernels/saxpy.hip",
	}
	c, err := build(k, &launch{
		seed: 5, dispatch: 1, gpu: g, workgroup: 256, groups: [2]int{608, 1}, working: -1, resident: 8,
		serveLoad: 20, serveStore: 24, tracedSIMD: -1, shaderMHz: 2100, startTicks: 77_310_004_400,
		engines: []engine{{se: 0, target: 1, cus: cuRange(0, 2), groups: 1}},
	})
	if err != nil {
		return nil, err
	}
	c.noWstates = true
	return c, nil
}

// sound is the capture with nothing wrong.
func sound(c *capture) tree {
	out := tree{c.statsName(): quotedCSV(statsHeader, c.statsRows())}
	out.put(malformedDir, c.att300())
	return out
}

func inDir(name string) string { return path.Join(malformedDir, name) }

// setCode replaces code.json.
func setCode(t tree, rows any, header any) {
	t[inDir("code.json")] = compact(object{"code": rows, "header": header, "version": "3.0.0"})
}

// withoutWaves removes the wave files and their names.
func withoutWaves(c *capture, t tree) {
	for _, w := range c.waves {
		delete(t, inDir(w.fileName()))
	}
	names := c.filenames("3.0.0")
	names["wave_filenames"] = nil
	t[inDir("filenames.json")] = compact(names)
}

func codeNull(c *capture) (tree, error) {
	out := sound(c)
	withoutWaves(c, out)
	setCode(out, nil, codeHeader)
	out[c.statsName()] = quotedCSV(statsHeader, nil)
	return out, nil
}

func codeEmpty(c *capture) (tree, error) {
	out := sound(c)
	withoutWaves(c, out)
	setCode(out, []row{}, codeHeader)
	out[c.statsName()] = quotedCSV(statsHeader, nil)
	return out, nil
}

func zeroHits(c *capture) (tree, error) {
	out := sound(c)
	withoutWaves(c, out)
	c.waves = nil
	setCode(out, c.codeRows(), codeHeader)
	out[c.statsName()] = quotedCSV(statsHeader, c.statsRows())
	return out, nil
}

func shortRow(c *capture) (tree, error) {
	out, rows := sound(c), c.codeRows()
	rows[6] = rows[6][:7]
	setCode(out, rows, codeHeader)
	return out, nil
}

func noLabel(c *capture) (tree, error) {
	c.kernels[0].firstLine = -1
	out := sound(c)
	setCode(out, c.codeRows()[1:], codeHeader)
	out[c.statsName()] = quotedCSV(statsHeader, c.statsRows()[1:])
	return out, nil
}

func twoKernels(c *capture) (tree, error) {
	first := c.kernels[0]
	second := &kernel{
		symbol: "scale", arch: first.arch, codeObject: first.codeObject, vaddr: first.vaddr + 256,
		firstLine: len(first.insts) + 1, sourcePath: first.sourcePath,
	}
	if err := second.load("scale.s"); err != nil {
		return nil, err
	}
	c.kernels = append(c.kernels, second)
	const later = 8000 // cycles between the two
	for _, w := range run(second, c.launch).waves {
		w.begin, w.end, w.id = w.begin+later, w.end+later, w.id+1
		for i := range w.records {
			w.records[i].time += later
		}
		c.waves = append(c.waves, w)
	}
	return sound(c), nil
}

func floatCells(c *capture) (tree, error) {
	out, rows := sound(c), c.codeRows()
	float := func(v any) any { return json.Number(fmt.Sprintf("%d.0", v)) }
	for _, r := range rows {
		for i := 6; i < len(r); i++ {
			r[i] = float(r[i])
		}
	}
	setCode(out, rows, codeHeader)
	w := c.waves[0]
	doc := w.document(true)
	for _, r := range doc["wave"].(object)["instructions"].([]row) {
		for i := range r {
			r[i] = float(r[i])
		}
	}
	out[inDir(w.fileName())] = compact(doc)
	return out, nil
}

func nonUTF8Source(c *capture) (tree, error) {
	k := c.kernels[0]
	k.source = bytes.Replace(k.source, []byte("// y = a * x + y"), []byte("// y = a \xd7 x + y, \xe0 la fran\xe7aise"), 1)
	return sound(c), nil
}

func relativeSource(c *capture) (tree, error) {
	c.kernels[0].sourcePath = "kernels/saxpy.hip"
	return sound(c), nil
}

// A header that every memory access of the kernel was inlined from.
const (
	inlineHeader = "/src/include/vec.h"
	inlineText   = "#pragma once\n\ntemplate <class T> __device__ T at(const T *p, int i) {\n  return p[i];\n}\n"
)

func inlinedSource(c *capture) (tree, error) {
	k, rows := c.kernels[0], c.codeRows()
	for i, in := range k.insts {
		if in.class.category == catFlat {
			rows[i+1][3] = inlineHeader + ":4 -> " + k.sourceOf(in)
		}
		if strings.HasPrefix(in.text, "v_lshl_or_b32") {
			rows[i+1][3] = inlineHeader + ":0 -> " + inlineHeader + ":3 -> " + k.sourceOf(in)
		}
	}
	out := sound(c)
	setCode(out, rows, codeHeader)
	out[inDir("source_1_vec.h")] = []byte(inlineText)
	out[inDir("snapshots.json")] = compact(object{"/": object{"src": object{
		"include": object{"vec.h": "source_1_vec.h"},
		"kernels": object{"saxpy.hip": "source_0_saxpy.hip"},
	}}})
	var stats []row
	for _, r := range rows {
		stats = append(stats, row{r[4], r[5], r[0], r[6], r[7], r[8], r[9], r[3]})
	}
	out[c.statsName()] = quotedCSV(statsHeader, stats)
	return out, nil
}

func extraColumns(c *capture) (tree, error) {
	var rows []row
	for _, r := range c.codeRows() {
		rows = append(rows, row{r[4], r[5], r[0], "", r[2], r[9], r[8], r[7], r[6], r[3], 0})
	}
	out := sound(c)
	setCode(out, rows, []string{
		"Codeobj", "Vaddr", "ISA", "Comment", "LineNumber", "Idle", "Stall", "Latency", "Hit", "Source", "_",
	})
	return out, nil
}

func pcSampling(c *capture) (tree, error) {
	out := sound(c)
	withoutWaves(c, out)
	delete(out, inDir("occupancy.json"))
	delete(out, inDir("realtime.json"))
	delete(out, c.statsName())
	waves := c.waves
	c.waves = nil
	rows := c.codeRows()
	for i := range rows {
		issued, stalled := 0, 0
		if i > 0 && len(waves) > 0 {
			issued, stalled = 2+i%3, int(waves[0].records[i-1].stall/16)
		}
		reasons := make([]int, 10)
		// The reasons are of the stalled samples: they sum to them.
		reasons[1], reasons[3] = stalled/4, stalled-stalled/4
		rows[i] = append(rows[i], issued, stalled, reasons)
	}
	setCode(out, rows, append(strings.Split(codeHeader, ", "), "PC_Issued", "PC_Stalled", "Stall_Reasons"))
	names := c.filenames("3.0.0")
	names["pc_sampling"], names["is_pcs_stochastic"], names["thread_trace"] = true, true, false
	out[inDir("filenames.json")] = compact(names)
	return out, nil
}

func missingWaveFile(c *capture) (tree, error) {
	out := sound(c)
	delete(out, inDir(c.waves[1].fileName()))
	return out, nil
}

// truncated cuts a file at three fifths of its length.
func truncated(name string) func(c *capture) (tree, error) {
	return func(c *capture) (tree, error) {
		out := sound(c)
		data, ok := out[inDir(name)]
		if !ok {
			return nil, fmt.Errorf("no file %s", name)
		}
		out[inDir(name)] = data[:len(data)*3/5]
		return out, nil
	}
}

func notJSON(c *capture) (tree, error) {
	out := sound(c)
	out[inDir("code.json")] = []byte("version https://git-lfs.github.com/spec/v1\n" +
		"oid sha256:9f2c1d7be4a05836c1f0a97d42b8e65013c4d9a77f60b2e81d5a3c9be07f4612\nsize 48213\n")
	return out, nil
}

func escapingSnapshot(c *capture) (tree, error) {
	out := sound(c)
	out[inDir("snapshots.json")] = compact(object{"/": object{"src": object{"kernels": object{"saxpy.hip": "../../outside"}}}})
	delete(out, inDir("source_0_saxpy.hip"))
	return out, nil
}

func lineCollision(c *capture) (tree, error) {
	k := c.kernels[0]
	for i := range k.insts {
		k.lines = append(k.lines, i+1)
	}
	k.lines[6] = k.lines[5]         // the second load has the number of the first
	k.lines[len(k.lines)-1] += 100  // far behind the others
	k.lines[1], k.lines[2] = 20, 21 // and out of order
	return sound(c), nil
}

func waveMismatch(c *capture) (tree, error) {
	out, rows := sound(c), c.codeRows()
	rows[8][7] = rows[8][7].(int64) + 4096
	rows[8][8] = rows[8][8].(int64) + 4096
	rows[9][6] = rows[9][6].(int64) + 1
	setCode(out, rows, codeHeader)
	return out, nil
}

func hugeNumber(c *capture) (tree, error) {
	out, rows := sound(c), c.codeRows()
	rows[5][7] = json.Number("99999999999999999999999")
	rows[8][7], rows[8][8] = json.Number("9223372036854775807"), json.Number("9223372036854775807")
	rows[9][7] = json.Number("9223372036854775807")
	rows[10][9] = json.Number("1e400")
	setCode(out, rows, codeHeader)
	w := c.waves[2]
	doc := w.document(true)
	instructions := doc["wave"].(object)["instructions"].([]row)
	last := instructions[len(instructions)-1]
	last[0], last[3] = int64(1<<63-4), int64(1<<62) // their sum does not fit
	out[inDir(w.fileName())] = compact(doc)
	return out, nil
}

func wrongCompanion(c *capture) (tree, error) {
	out := sound(c)
	symbol := c.kernels[0].symbol
	c.kernels[0].symbol = "softmax_rows"
	out["kernel_trace.csv"] = c.kernelTrace()
	out["agent_info.csv"] = c.launch.gpu.agentInfo()
	c.kernels[0].symbol = symbol
	return out, nil
}

func noSource(c *capture) (tree, error) {
	out, rows, stats := sound(c), c.codeRows(), c.statsRows()
	for i := range rows {
		rows[i][3], stats[i][7] = "", ""
	}
	setCode(out, rows, codeHeader)
	out[c.statsName()] = quotedCSV(statsHeader, stats)
	delete(out, inDir("snapshots.json"))
	delete(out, inDir("source_0_saxpy.hip"))
	return out, nil
}
