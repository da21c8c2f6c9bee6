package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// The reader below shares nothing with the writers: it reads the files as a
// stranger would, and the invariants are checked on what it finds.

const fixturesDir = "../../fixtures"

// codeRow is one row of code.json by the usual columns.
type codeRow struct {
	isa, source               string
	line, codeObject, vaddr   int64
	hit, latency, stall, idle int64
}

type waveDoc struct {
	Name     string `json:"name"`
	Duration int64  `json:"duration"`
	NumInsts int    `json:"num_insts"`
	Wave     struct {
		CU           int64             `json:"cu"`
		SIMD         int64             `json:"simd"`
		Slot         int64             `json:"slot"`
		ID           int64             `json:"id"`
		Begin        int64             `json:"begin"`
		End          int64             `json:"end"`
		Instructions [][5]int64        `json:"instructions"`
		Timeline     [][2]int64        `json:"timeline"`
		Waitcnt      []json.RawMessage `json:"waitcnt"`
	} `json:"wave"`
	se string
}

// readDir is a dispatch directory as it was read.
type readDir struct {
	path, version string
	gfxip         int
	rows          []codeRow
	waves         []waveDoc
	occupancy     map[string][][]int64
	dispatches    map[string]string
	realtime      map[string][][]int64
	source        map[string][]string // lines by original path
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func read(t *testing.T, dir string) *readDir {
	t.Helper()
	d := &readDir{path: dir}
	d.readCode(t)
	d.readWaves(t)
	d.readOccupancy(t)
	var realtime map[string]json.RawMessage
	readJSON(t, filepath.Join(dir, "realtime.json"), &realtime)
	d.realtime = map[string][][]int64{}
	for name, raw := range realtime {
		if name != "metadata" {
			var points [][]int64
			if err := json.Unmarshal(raw, &points); err != nil {
				t.Fatal(err)
			}
			d.realtime[name] = points
		}
	}
	var tree map[string]any
	readJSON(t, filepath.Join(dir, "snapshots.json"), &tree)
	d.source = map[string][]string{}
	d.readSources(t, "", tree)
	return d
}

func (d *readDir) readCode(t *testing.T) {
	t.Helper()
	var code struct {
		Code    [][]any `json:"code"`
		Version string  `json:"version"`
	}
	readJSON(t, filepath.Join(d.path, "code.json"), &code)
	d.version = code.Version
	for _, c := range code.Code {
		n := func(i int) int64 { return int64(c[i].(float64)) }
		d.rows = append(d.rows, codeRow{c[0].(string), c[3].(string), n(2), n(4), n(5), n(6), n(7), n(8), n(9)})
	}
}

func (d *readDir) readWaves(t *testing.T) {
	t.Helper()
	var names struct {
		GfxIP int                                                `json:"gfxip"`
		Files map[string]map[string]map[string]map[string][3]any `json:"wave_filenames"`
	}
	readJSON(t, filepath.Join(d.path, "filenames.json"), &names)
	d.gfxip = names.GfxIP
	for se, simds := range names.Files {
		for simd, slots := range simds {
			for slot, ids := range slots {
				for id, entry := range ids {
					var w waveDoc
					readJSON(t, filepath.Join(d.path, entry[0].(string)), &w)
					w.se = se
					if want := "se" + se + "_sm" + simd + "_sl" + slot + "_wv" + id + ".json"; entry[0] != want {
						t.Errorf("file %v, want %s", entry[0], want)
					}
					if int64(entry[1].(float64)) != w.Wave.Begin || int64(entry[2].(float64)) != w.Wave.End {
						t.Errorf("%v: times differ from filenames.json", entry[0])
					}
					d.waves = append(d.waves, w)
				}
			}
		}
	}
	sort.Slice(d.waves, func(i, j int) bool { return d.waves[i].key() < d.waves[j].key() })
}

func (w *waveDoc) key() string {
	return w.se + "/" + strconv.FormatInt(w.Wave.Begin, 10) + "/" + strconv.FormatInt(w.Wave.SIMD, 10) + "/" + strconv.FormatInt(w.Wave.Slot, 10)
}

func (d *readDir) readOccupancy(t *testing.T) {
	t.Helper()
	var raw map[string]json.RawMessage
	readJSON(t, filepath.Join(d.path, "occupancy.json"), &raw)
	d.occupancy = map[string][][]int64{}
	for name, data := range raw {
		var err error
		if _, bad := strconv.Atoi(name); bad == nil {
			var rows [][]int64
			err = json.Unmarshal(data, &rows)
			d.occupancy[name] = rows
		} else if name == "dispatches" {
			err = json.Unmarshal(data, &d.dispatches)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (d *readDir) readSources(t *testing.T, prefix string, node map[string]any) {
	t.Helper()
	for name, v := range node {
		path := filepath.Join(prefix, name)
		if child, ok := v.(map[string]any); ok {
			d.readSources(t, path, child)
			continue
		}
		data, err := os.ReadFile(filepath.Join(d.path, v.(string)))
		if err != nil {
			t.Fatal(err)
		}
		d.source[path] = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	}
}

func readCSV(t *testing.T, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var out []map[string]string
	for _, r := range records[1:] {
		m := map[string]string{}
		for i, v := range r {
			m[records[0][i]] = v
		}
		out = append(out, m)
	}
	return out
}
