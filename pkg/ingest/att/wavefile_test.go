package att

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

func TestReadWave(t *testing.T) {
	listed := listedWave{file: "w", se: 3, simd: 1, slot: 2, id: 4}
	at := func(w trace.Wave) trace.Wave {
		w.File, w.SE = "w", 3
		return w
	}
	for _, c := range []struct {
		name, json string
		want       trace.Wave
		problem    string
	}{
		{
			name: "all parts",
			json: `{"duration":20,"name":"SE3","wave":{"begin":100,"cu":5,"end":120,"id":7,"instructions":[[104,2,0,4,1],[108,9,8,8,2]],"simd":2,"slot":3,"timeline":[[1,4],[2,16]],"waitcnt":[[2,[[1,0],[3,0]]],[5,[]]]}}`,
			want: trace.Wave{
				SIMD: 2, Slot: 3, ID: 7, CU: 5, Begin: 100, End: 120,
				Records:  []trace.Record{{Time: 104, Category: trace.CatSALU, Duration: 4, Line: 1}, {Time: 108, Category: trace.CatImmed, Stall: 8, Duration: 8, Line: 2}},
				Waits:    []trace.WaitEdge{{Line: 2, Producers: []int{1, 3}}, {Line: 5, Producers: []int{}}},
				Timeline: []trace.Span{{State: 1, Cycles: 4}, {State: 2, Cycles: 16}},
			},
		},
		{
			name: "white space, unknown keys, other order, longer rows",
			json: " {\n\"wave\" : { \"info\" : {\"a\":[{\"b\":[[]]}]} , \"instructions\" : [ [ 104 , 2 , 0 , 4 , 1 , \"x\" , {} ] ] , \"end\" : 120.0 , \"begin\" : 1e2 , \"cu\" : 5 , \"workgroup_id\":null,\"dispatcher\":17 } , \"x\" : true } \n",
			want: trace.Wave{SIMD: 1, Slot: 2, ID: 4, CU: 5, Begin: 100, End: 120, Records: []trace.Record{{Time: 104, Category: 2, Duration: 4, Line: 1}}},
		},
		{
			name: "nulls", json: `{"wave":{"cu":0,"begin":0,"end":0,"simd":null,"instructions":null,"timeline":null,"waitcnt":null}}`,
			want: trace.Wave{SIMD: 1, Slot: 2, ID: 4},
		},
		{
			name: "the last of two wins", json: `{"wave":{"cu":9,"begin":1,"end":9,"instructions":[[1,1,1,1,1]]},"wave":{"cu":0,"begin":0,"end":0,"waitcnt":[[1,null]],"waitcnt":[]}}`,
			want: trace.Wave{SIMD: 1, Slot: 2, ID: 4},
		},
		{name: "stall longer than duration", json: `{"wave":{"cu":0,"begin":0,"end":9,"instructions":[[1,1,5,4,1]]}}`, want: trace.Wave{SIMD: 1, Slot: 2, ID: 4, End: 9, Records: []trace.Record{{Time: 1, Category: 1, Stall: 5, Duration: 4, Line: 1}}}},

		{name: "empty", json: ``, problem: "byte 0: an object was expected"},
		{name: "no wave", json: `{"name":"SE0"}`, problem: `no "wave"`},
		{name: "null wave", json: `{"wave":null}`, problem: "an object was expected"},
		{name: "no begin", json: `{"wave":{"cu":0,"end":0}}`, problem: "missing"},
		{name: "ends before it begins", json: `{"wave":{"cu":0,"begin":5,"end":4}}`, problem: "before it begins"},
		{name: "cut", json: `{"wave":{"cu":0,"begin":5,"end":6,"instructions":[[1,2`, problem: "byte 54"},
		{name: "more text", json: `{"wave":{"cu":0,"begin":5,"end":6}}}`, problem: "more text"},
		{name: "short row", json: `{"wave":{"cu":0,"begin":5,"end":6,"instructions":[[1,2,3,4]]}}`, problem: "less than 5"},
		{name: "fraction", json: `{"wave":{"cu":0,"begin":5,"end":6,"instructions":[[1,2,3,4,0.5]]}}`, problem: "not an integer"},
		{name: "beyond 64 bits", json: `{"wave":{"cu":0,"begin":5,"end":6,"instructions":[[9223372036854775808,2,3,4,5]]}}`, problem: "not an integer of 64 bits"},
		{name: "negative stall", json: `{"wave":{"cu":0,"begin":5,"end":6,"instructions":[[1,2,-3,4,5]]}}`, problem: "out of range"},
		{name: "negative time", json: `{"wave":{"cu":0,"begin":-5,"end":6}}`, problem: "out of range"},
		{name: "late time", json: `{"wave":{"cu":0,"begin":5,"end":4611686018427387904}}`, problem: "out of range"},
		{name: "category", json: `{"wave":{"cu":0,"begin":5,"end":6,"instructions":[[1,256,3,4,5]]}}`, problem: "out of range"},
		{name: "line", json: `{"wave":{"cu":0,"begin":5,"end":6,"instructions":[[1,2,3,4,-1]]}}`, problem: "out of range"},
		{name: "cu", json: `{"wave":{"cu":1024,"begin":5,"end":6}}`, problem: "out of range"},
		{name: "simd", json: `{"wave":{"cu":0,"simd":16,"begin":5,"end":6}}`, problem: "out of range"},
		{name: "slot", json: `{"wave":{"cu":0,"slot":256,"begin":5,"end":6}}`, problem: "out of range"},
		{name: "wait", json: `{"wave":{"cu":0,"begin":5,"end":6,"waitcnt":[[1]]}}`, problem: "less than 2"},
		{name: "producer", json: `{"wave":{"cu":0,"begin":5,"end":6,"waitcnt":[[1,[[]]]]}}`, problem: "missing or out of range"},
		{name: "deep", json: `{"x":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`, problem: "nested too deeply"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := waveReader{timeline: true}
			// A wave before this one must leave nothing behind.
			if p := r.read([]byte(`{"wave":{"cu":1,"begin":1,"end":2,"simd":1,"instructions":[[1,1,1,1,1]],"timeline":[[1,1]],"waitcnt":[[1,[[2,0]]]]}}`), listedWave{}); p != "" {
				t.Fatal(p)
			}
			problem := r.read([]byte(c.json), listed)
			if problem == "" && c.problem == "" {
				if diff := cmp.Diff(at(c.want), r.wave, cmp.Comparer(sameRecords), cmp.Comparer(sameWaits), cmp.Comparer(sameSpans)); diff != "" {
					t.Error(diff)
				}
			} else if c.problem == "" || !strings.Contains(problem, c.problem) {
				t.Errorf("problem %q, want %q", problem, c.problem)
			}
		})
	}
}

// Empty and absent lists are the same.
func sameRecords(a, b []trace.Record) bool { return slices.Equal(a, b) }
func sameSpans(a, b []trace.Span) bool     { return slices.Equal(a, b) }
func sameWaits(a, b []trace.WaitEdge) bool {
	return slices.EqualFunc(a, b, func(a, b trace.WaitEdge) bool {
		return a.Line == b.Line && slices.Equal(a.Producers, b.Producers)
	})
}

const goodWave = `{"wave":{"cu":0,"begin":0,"end":9,"instructions":[[1,1,0,4,1]],"timeline":[[1,9]]}}`

func TestFold(t *testing.T) {
	fsys := fstest.MapFS{"d/filenames.json": {Data: []byte(`{"gfxip":12,"wave_filenames":{"0":{"1":{"2":{
		"0":["se0_sm1_sl2_wv0.json",0,9],"1":["gone1.json",0,9],"2":["bad.json",0,9],"3":["../../x/y.json",0,9],
		"4":["sub/w.json",0,9],"5":["se0_sm1_sl2_wv0.json",0,9],"6":["/etc/passwd",0,9]}}},"5000":{},"1":{"0":7},"2":null}}`)}}
	for name, text := range map[string]string{
		"d/se0_sm1_sl2_wv0.json": goodWave, "d/bad.json": `{"wave":`, "d/sub/w.json": goodWave,
		"d/se0_sm0_sl0_wv0.json": goodWave, "x/y.json": goodWave,
	} {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tt, n, err := Open(context.Background(), fsys, "d", "shown/d", direct{})
	if err != nil {
		t.Fatal(err)
	}
	checkNotes(t, n, []string{"2 entries of the wave list cannot", "1 entry of the wave list names a file", "1 wave file is not in its list"})
	if tt.GfxMajor != 12 || tt.CodeState != trace.CodeMissing || tt.Waves.Listed() != 6 {
		t.Errorf("gfx %d, state %v, %d waves", tt.GfxMajor, tt.CodeState, tt.Waves.Listed())
	}
	for _, workers := range []int{-1, 1, 2, 100} {
		_, report := fold(t, tt.Waves, workers)
		if report.Read != 1 || report.Missing != 4 || report.Damaged != 1 || report.Bytes != int64(len(goodWave)+len(`{"wave":`)) {
			t.Errorf("%d workers: %+v", workers, report)
		}
		checkNotes(t, notes(report.Notes), []string{"shown/d/../../x/y.json: listed", "/etc/passwd: listed", "bad.json: byte 8", "gone1.json: listed", "sub/w.json: listed"})
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := tt.Waves.Fold(ctx, 2, func() trace.Folder { return newRecount() }); err == nil {
		t.Error("no error from a cancelled context")
	}
}

// spanFolder counts timeline entries.
type spanFolder struct{ spans int }

func (f *spanFolder) Wave(w *trace.Wave) { f.spans += len(w.Timeline) }

func TestTimelineOnDemand(t *testing.T) {
	fsys := fstest.MapFS{"se0_sm1_sl2_wv0.json": {Data: []byte(goodWave)}}
	tt, n, err := Open(context.Background(), fsys, ".", "d", direct{})
	if err != nil {
		t.Fatal(err)
	}
	checkNotes(t, n, []string{"listed by their names"})
	for _, want := range []int{0, 1} {
		w := tt.Waves.(*Waves)
		w.Timeline = want > 0
		var f spanFolder
		if _, err := w.Fold(context.Background(), 1, func() trace.Folder { return &f }); err != nil || f.spans != want {
			t.Errorf("%d entries, %v; want %d", f.spans, err, want)
		}
	}
}

func TestParseWaveName(t *testing.T) {
	for name, ok := range map[string]bool{
		"se0_sm1_sl2_wv3.json": true, "se1023_sm15_sl255_wv4294967.json": true,
		"se1024_sm1_sl2_wv3.json": false, "se0_sm16_sl2_wv3.json": false, "se0_sm1_sl2_wv3.txt": false,
		"se0_sm1_sl2.json": false, "se_sm1_sl2_wv3.json": false, "other_simd_se0_0.json": false, "se-1_sm1_sl2_wv3.json": false,
	} {
		w, got := parseWaveName(name)
		if got != ok || ok && w.file != name {
			t.Errorf("%s: %v %+v", name, got, w)
		}
	}
	if w, _ := parseWaveName("se7_sm1_sl2_wv3.json"); w != (listedWave{"se7_sm1_sl2_wv3.json", 7, 1, 2, 3}) {
		t.Errorf("%+v", w)
	}
}

func TestEndOfPairs(t *testing.T) {
	for _, c := range []struct {
		text string
		end  int
		ok   bool
	}{
		{"[[1,2],[3,4]],x", 13, true},
		{"[[]]", 4, true},
		{"[]", 0, false},
		{"null", 0, false},
		{"[[1,[2]],[3]]", 0, false},       // deeper
		{"[[1],2],\"x\":[[3]]", 0, false}, // ended before
		{"[[\"]]\"]]", 0, false},          // a string
		{"[ [1] ]", 0, false},             // not compact
		{"[[1,2],[3", 0, false},
	} {
		if end, ok := endOfPairs([]byte(c.text), 0); end != c.end || ok != c.ok {
			t.Errorf("%s ends at %d, %v; want %d, %v", c.text, end, ok, c.end, c.ok)
		}
	}
}
