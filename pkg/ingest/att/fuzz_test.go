package att

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/rocanalyze/rocanalyze/pkg/ingest/jsonscan/jsontest"
	"github.com/rocanalyze/rocanalyze/pkg/ingest/kerneltrace"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

func member(v any, key string) any {
	m, _ := v.(map[string]any)
	return m[key]
}

// wantCode is what the rows of a document mean, by encoding/json.
func wantCode(v any) (code []trace.Instruction, ok bool) {
	rows, ok := member(v, "code").([]any)
	if !ok {
		return nil, false
	}
	for _, row := range rows {
		cells, ok := row.([]any)
		if !ok || len(cells) < 10 {
			continue
		}
		text, ok1 := cells[0].(string)
		source, ok2 := cells[3].(string)
		n, ok3 := jsontest.AsInts(append([]any{cells[2]}, cells[4:10]...), 7)
		if !ok1 || !ok2 && cells[3] != nil || !ok3 || n[0] < 0 || n[0] > math.MaxInt32 || slices.Min(n[3:]) < 0 || slices.Max(n[3:]) > maxCount || strings.HasPrefix(text, ";") {
			continue
		}
		code = append(code, trace.Instruction{
			Line: int(n[0]), Text: text, Source: source, CodeObject: n[1], Vaddr: n[2],
			Counts: trace.Counts{Hits: n[3], LatencyCycles: n[4], StallCycles: n[5], IdleCycles: n[6]},
		})
	}
	return code, true
}

func FuzzCode(f *testing.F) {
	for _, s := range []string{
		`{"code":[["; k",0,0,"k()",2,64,0,0,0,0],["s_nop 0",0,1,"a:1",2,64,3,40,30,10]],` + header10 + `,"version":"3.0.0"}`,
		`{"code":[["s",0,1,null,2,64.0,3,40,30,10,5,6,[1]],[1]],"kernels":[{"address":64,"codeobj":2,"name":"a"}]}`,
		`{"code": [["; Begin k()", 100, null, "k.hip:1", 0, 0, 0, 0], ["s_nop 0 // 0019", 9, 1, null, 1, 1, 2, 8]], "top_n": []}`,
		`{"header":["ISA","_","LineNumber"],"code":null}`, `{"code":[["s_nop`, `{"code":{}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var n notes
		doc := readCode(b, &n)
		checkCode(t, doc)
		if alone, _, err := ReadCodeAlone(bytes.NewReader(b), "x.json"); err != nil || len(alone.Code) != len(doc.code) {
			t.Fatalf("alone: %v", err)
		}
		v, ok := jsontest.Decode(b)
		if !ok || doc.cyclesOnly || member(v, "header") != nil || len(doc.code) > 0 && doc.code[0].PC != nil || bytes.Contains(b, []byte("\"header\"")) {
			return
		}
		if want, ok := wantCode(v); ok {
			if diff := cmp.Diff(want, doc.code); len(want)+len(doc.code) > 0 && diff != "" {
				t.Error(diff)
			}
		}
	})
}

// checkCode checks what holds for every document.
func checkCode(t *testing.T, doc codeDocument) {
	t.Helper()
	if (doc.state == trace.CodeRead) != (len(doc.code) > 0) || (len(doc.kernels) > 0) != (len(doc.code) > 0) {
		t.Fatalf("state %v, %d rows, %d kernels", doc.state, len(doc.code), len(doc.kernels))
	}
	next := 0
	for _, k := range doc.kernels {
		if k.First != next || k.Last <= k.First {
			t.Fatalf("kernels %+v", doc.kernels)
		}
		next = k.Last
	}
	if next != len(doc.code) {
		t.Fatalf("kernels %+v end before row %d", doc.kernels, len(doc.code))
	}
	for _, inst := range doc.code {
		if !utf8.ValidString(inst.Text) || !utf8.ValidString(inst.Source) {
			t.Fatalf("not UTF-8: %q %q", inst.Text, inst.Source)
		}
	}
}

// hasRepeats reports whether an object has a key twice: what a reader says of
// the value that does not count is its own affair.
func hasRepeats(b []byte) bool {
	d := json.NewDecoder(bytes.NewReader(b))
	var visit func() bool
	visit = func() bool {
		token, err := d.Token()
		if err != nil {
			return false
		}
		delim, ok := token.(json.Delim)
		if !ok {
			return false
		}
		seen := map[string]bool{}
		repeats := false
		for d.More() {
			if delim == '{' {
				token, err := d.Token()
				if err != nil {
					return repeats
				}
				key := token.(string)
				repeats = repeats || seen[key]
				seen[key] = true
			}
			repeats = visit() || repeats
		}
		if _, err := d.Token(); err != nil {
			return repeats
		}
		return repeats
	}
	return visit()
}

// wantWave is what a wave file means, by encoding/json; ok is false when it
// must not be used.
func wantWave(v any) (w trace.Wave, ok bool) {
	m, ok := member(v, "wave").(map[string]any)
	if !ok {
		return w, false
	}
	places := []struct {
		key      string
		limit    int64
		to       *int
		required bool
	}{{"cu", maxCU, &w.CU, true}, {"simd", maxSIMD, &w.SIMD, false}, {"slot", maxSlot, &w.Slot, false}, {"id", maxWaveID, &w.ID, false}}
	for _, p := range places {
		n, ok := jsontest.AsInt(m[p.key])
		if ok && n >= 0 && n < p.limit {
			*p.to = int(n)
		} else if m[p.key] != nil || p.required {
			return w, false
		}
	}
	var ok1, ok2 bool
	w.Begin, ok1 = jsontest.AsInt(m["begin"])
	w.End, ok2 = jsontest.AsInt(m["end"])
	if !ok1 || !ok2 || w.Begin < 0 || w.End >= maxTime || w.Begin > w.End {
		return w, false
	}
	rows, isList := m["instructions"].([]any)
	if !isList && m["instructions"] != nil {
		return w, false
	}
	for _, row := range rows {
		n, ok := jsontest.AsInts(row, 5)
		if !ok || slices.Min(n) < 0 || n[0] >= maxTime || n[1] > 255 || n[2] >= maxLength || n[3] >= maxLength || n[4] > maxLine {
			return w, false
		}
		w.Records = append(w.Records, trace.Record{Time: n[0], Category: trace.Category(n[1]), Stall: n[2], Duration: n[3], Line: int(n[4])})
	}
	w.Waits, ok1 = wantWaits(m["waitcnt"])
	w.Timeline, ok2 = wantTimeline(m["timeline"])
	return w, ok1 && ok2
}

func wantWaits(v any) (waits []trace.WaitEdge, ok bool) {
	list, isList := v.([]any)
	for _, e := range list {
		parts, ok := e.([]any)
		if !ok || len(parts) < 2 {
			return nil, false
		}
		line, ok := jsontest.AsInt(parts[0])
		if !ok || line < 0 || line > maxLine {
			return nil, false
		}
		edge := trace.WaitEdge{Line: int(line)}
		producers, ok := parts[1].([]any)
		if !ok && parts[1] != nil {
			return nil, false
		}
		for _, p := range producers {
			// All numbers up to the first must be readable, as in any record.
			n, ok := jsontest.AsInts(p, 1)
			if !ok || n[0] < 0 || n[0] > maxLine {
				return nil, false
			}
			edge.Producers = append(edge.Producers, int(n[0]))
		}
		waits = append(waits, edge)
	}
	return waits, isList || v == nil
}

func wantTimeline(v any) (spans []trace.Span, ok bool) {
	list, isList := v.([]any)
	for _, e := range list {
		n, ok := jsontest.AsInts(e, 2)
		if !ok || slices.Min(n) < 0 || n[0] > 255 || n[1] >= maxLength {
			return nil, false
		}
		spans = append(spans, trace.Span{State: uint8(n[0]), Cycles: n[1]})
	}
	return spans, isList || v == nil
}

func FuzzWave(f *testing.F) {
	f.Add([]byte(`{"wave":{"begin":100,"cu":5,"end":120,"id":7,"instructions":[[104,2,0,4,1],[108,9,8,8,2]],"simd":2,"slot":3,"timeline":[[1,4],[2,16]],"waitcnt":[[2,[[1,0],[3,0]]],[5,[]]]}}`))
	f.Add([]byte(` { "x" : [ { } ] , "wave" : { "cu" : 0.0 , "end" : 9 , "begin" : 1e0 , "waitcnt" : null } } `))
	f.Add([]byte(goodWave))
	f.Add([]byte(`{"wave":{"begin":0,"cu":0,"end":0,"instructions":[[0,0,0,0,0][0,0,0,0,0]]}}`))
	f.Add([]byte(`{"wave":{"begin":0,"cu":0,"end":0,"instructions":[[0,0,0,0,0],[0,0,1e0,0,0],]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := waveReader{timeline: true}
		problem := r.read(b, listedWave{})
		v, ok := jsontest.Decode(b)
		if !ok || hasRepeats(b) {
			if problem == "" && !json.Valid(b) {
				t.Fatal("a damaged file was used")
			}
			return
		}
		want, ok := wantWave(v)
		if ok != (problem == "") {
			t.Fatalf("problem %q, want %v", problem, ok)
		}
		if ok {
			if diff := cmp.Diff(want, r.wave, cmp.Comparer(sameRecords), cmp.Comparer(sameWaits), cmp.Comparer(sameSpans)); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func FuzzOccupancy(f *testing.F) {
	f.Add([]byte(`{"0":[[10,3,1,0,1,7],[20,3,1,1,1,7],[30,3,1,0,0,7],[40,3,1,1,0,7]],"dispatches":{"7":"3 / 0x1700"}}`))
	f.Add([]byte(`{"0":[[9,7,10,1,0,3,1]],"occupancy_fields":["me_id","kernel_id","time","start","wave_id","cu","simd"],"events":{}}`))
	f.Add([]byte(`{"1":[[10,130,0,0,1,1],[20,130,0,0,1,2],[30,130,0,1,0,1],7,[1],[50,2,0,0,0,1`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var n notes
		occ := readOccupancy(b, nil, &n)
		if occ == nil {
			return
		}
		for _, e := range occ.Engines {
			if e.Unmatched < 0 || e.PeakPerSIMD < 0 || e.WaveCycles < e.SIMDCycles || e.First > e.Last || int64(e.PeakPerSIMD) > e.Starts {
				t.Fatalf("%+v", e)
			}
			for _, cu := range e.CUs {
				if int64(len(cu.Lifetimes)) > cu.Starts || cu.ResidentCycles > cu.Last-cu.First || cu.ResidentCycles > cu.WaveCycles || cu.Last > e.Last {
					t.Fatalf("%+v", cu)
				}
			}
		}
		v, ok := jsontest.Decode(b)
		if !ok || bytes.Contains(b, []byte("occupancy_fields")) || bytes.Contains(b, []byte(`\`)) {
			return
		}
		compareOccupancy(t, v, occ)
	})
}

func compareOccupancy(t *testing.T, v any, occ *trace.Occupancy) {
	t.Helper()
	for _, e := range occ.Engines {
		var starts, ends int64
		for key, rows := range v.(map[string]any) {
			// Two spellings of one engine, "0" and "00", are left alone.
			if se, ok := smallDecimal(key, maxSE); !ok || se != e.SE || len(key) != len(strings.TrimLeft(key, "0")) && key != "0" {
				continue
			}
			list, _ := rows.([]any)
			for _, row := range list {
				r, ok := jsontest.AsInts(row, 6)
				if !ok || uint64(r[0]) >= maxTime || uint64(r[1]) >= maxCU || uint64(r[2]) >= maxSIMD || uint64(r[3]) >= maxSlot || uint64(r[4]) > 1 {
					continue
				}
				starts += r[4]
				ends += 1 - r[4]
			}
			if starts != e.Starts || ends != e.Ends {
				t.Fatalf("engine %d: %d starts, %d ends; want %d, %d", e.SE, e.Starts, e.Ends, starts, ends)
			}
		}
	}
}

// FuzzSmallFiles runs the readers of the other files of a directory: they must
// neither panic nor lose track.
func FuzzSmallFiles(f *testing.F) {
	f.Add([]byte(`{"counter_names":["A"],"gfxip":9,"wave_filenames":{"0":{"1":{"2":{"3":["a.json",1,2]}}}}}`))
	f.Add([]byte(`{"/":{"a":{"..":{"k.py":"source_0_k.py"}}},"r":"s"}`))
	f.Add([]byte(`{"SE0":[[8764,236563243339889],[95164,236563243343813]],"metadata":{"frequency":100000000}}`))
	f.Add([]byte(`{"data":[[1,10,20,30,40,0,0],[2,5,0,0,0,0,1]]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var n notes
		var list fileList
		list.parse(b, &n)
		list.sortWaves(&n)
		for _, w := range list.waves {
			if w.se < 0 || w.se >= maxSE || w.simd < 0 || w.simd >= maxSIMD || w.slot < 0 || w.slot >= maxSlot || w.file == "" {
				t.Fatalf("%+v", w)
			}
		}
		clocks := readClocks(b, &n)
		for i, e := range clocks.Engines {
			if e.SE < 0 || e.SE >= maxSE || i > 0 && clocks.Engines[i-1].SE >= e.SE {
				t.Fatalf("%+v", clocks)
			}
		}
		readPerfCounters(b, "f", 0, []string{"A", "B", "C", "D", "E"}, &n)
		d, err := openFolder(fstest.MapFS{"source_0_k.py": {Data: b}})
		if err != nil {
			t.Fatal(err)
		}
		s := readSources(b, d, &n)
		for file := range s.exact {
			lines, ok, _ := s.Lines(file)
			if !ok {
				t.Fatalf("%q is not found", file)
			}
			for _, line := range lines {
				if !utf8.ValidString(line) || strings.Contains(line, "\n") {
					t.Fatalf("line %q", line)
				}
			}
		}
	})
}

func FuzzTables(f *testing.F) {
	f.Add([]byte(launchHeader + "\n" + launchRow(25, "k", 8) + "\n"))
	f.Add([]byte("\"Instruction\",\"Hitcount\",\"Latency\",\"Stall\",\"Idle\"\n\"; k\",0,0,0,0\nx,1,2,1,1\n"))
	f.Add([]byte("CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n1,2,; k,0,0,0,0,k()\n1,2,x,1,2,1,1,/s:1\n"))
	f.Add([]byte("Node_Id,Agent_Type,Name\n2,GPU,gfx950\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var n notes
		if table, err := kerneltrace.Read(bytes.NewReader(b), "f"); err == nil {
			tt := &trace.ThreadTrace{DispatchID: ptr(25), Kernels: []trace.Kernel{{Symbol: "k"}}}
			if addLaunches(tt, table, kernelNames(tt), trace.Warning, &n); len(tt.Launches) > 2*maxLaunches {
				t.Fatalf("%d launches", len(tt.Launches))
			}
		}
		readStats(bytes.NewReader(b), "f", &n)
		alone, _, err := ReadStats(bytes.NewReader(b), "f")
		if err != nil {
			return
		}
		for _, k := range alone.Kernels {
			if k.First < 0 || k.First >= k.Last || k.Last > len(alone.Code) {
				t.Fatalf("kernel %+v of %d rows", k, len(alone.Code))
			}
		}
	})
}
