package balance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/rocanalyze/rocanalyze/pkg/analysis"
	"github.com/rocanalyze/rocanalyze/pkg/ingest"
)

// naive recomputes the load from the files of a directory: it pairs the events
// of each slot, merges the intervals of each unit, and puts engines on one time
// in nanoseconds.
type naive struct {
	cuTime, spanNs, lossPct, usedPct float64
	ends                             []float64 // in percent of the span
	waves                            map[[2]int]int
}

func naiveLoad(t *testing.T, dir string) (n naive, ok bool) {
	t.Helper()
	var occ map[string]json.RawMessage
	if !readJSON(t, filepath.Join(dir, "occupancy.json"), &occ) {
		return n, false
	}
	nsPerCycle, origin := naiveClock(t, filepath.Join(dir, "realtime.json"))
	type interval struct{ from, to float64 }
	units := map[[2]int][]interval{}
	n.waves = map[[2]int]int{}
	for key, raw := range occ {
		se, err := strconv.Atoi(key)
		var rows [][]int64
		if err != nil || json.Unmarshal(raw, &rows) != nil || len(rows) == 0 {
			continue
		}
		ns := func(cycle int64) float64 { return float64(cycle-rows[0][0]) * nsPerCycle }
		if o, known := origin[se]; known {
			ns = func(cycle int64) float64 { return o[1] + float64(cycle-int64(o[0]))*nsPerCycle }
		}
		open := map[[3]int64]int64{}
		for _, r := range rows {
			slot, unit := [3]int64{r[1], r[2], r[3]}, [2]int{se, int(r[1])}
			if r[4] == 1 {
				open[slot] = r[0]
				n.waves[unit]++
				continue
			}
			units[unit] = append(units[unit], interval{ns(open[slot]), ns(r[0])})
		}
	}
	var first, last, most float64
	resident := map[[2]int]float64{}
	end := map[[2]int]float64{}
	for unit, list := range units {
		slices.SortFunc(list, func(a, b interval) int {
			if a.from < b.from {
				return -1
			}
			return 1
		})
		at := list[0].from
		for _, x := range list {
			if x.to > at {
				resident[unit] += x.to - max(x.from, at)
				at = x.to
			}
		}
		if len(end) == 0 || list[0].from < first {
			first = list[0].from
		}
		end[unit] = at
		last = max(last, at)
	}
	for unit, r := range resident {
		n.cuTime += r
		most = max(most, r)
		n.ends = append(n.ends, 100*(end[unit]-first)/(last-first))
	}
	slices.Sort(n.ends)
	n.spanNs = last - first
	mean := n.cuTime / float64(len(resident))
	n.lossPct, n.usedPct = 100*(most-mean)/n.spanNs, 100*mean/n.spanNs
	return n, true
}

// naiveClock is the length of a cycle, and a point of each engine: cycle and
// nanoseconds. Without the file a cycle is 1 ns.
func naiveClock(t *testing.T, file string) (nsPerCycle float64, origin map[int][2]float64) {
	t.Helper()
	var clock map[string]json.RawMessage
	if !readJSON(t, file, &clock) {
		return 1, nil
	}
	origin = map[int][2]float64{}
	base, sum := 0.0, 0.0
	for key, raw := range clock {
		var points [][2]float64
		if key == "metadata" || json.Unmarshal(raw, &points) != nil {
			continue
		}
		a, b := points[0], points[len(points)-1]
		if base == 0 {
			base = a[1]
		}
		sum += (b[1] - a[1]) * 10 / (b[0] - a[0]) // ticks of 10 ns
		se, _ := strconv.Atoi(key[2:])
		origin[se] = [2]float64{a[0], (a[1] - base) * 10}
	}
	return sum / float64(len(origin)), origin
}

func readJSON(t *testing.T, file string, into any) bool {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
	return true
}

func TestAgainstNaive(t *testing.T) {
	dirs, err := filepath.Glob("../../fixtures/att/*/*ui_output_*")
	if err != nil {
		t.Fatal(err)
	}
	real, err := filepath.Glob("../../../shared/data/att/*/ui_output_*")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, dir := range append(dirs, real...) {
		want, ok := naiveLoad(t, dir)
		if !ok || filepath.Base(filepath.Dir(dir)) == "schema31" {
			continue
		}
		tr, err := ingest.Open(t.Context(), []string{dir}, ingest.Options{})
		if err != nil || len(tr.ThreadTraces) != 1 {
			continue
		}
		out, err := analysis.Run(t.Context(), tr, analysis.Options{}, Analyzer)
		if err != nil {
			t.Fatal(err)
		}
		b := Analyzer.Of(out, tr.ThreadTraces[0])
		if b == nil {
			t.Errorf("%s: nothing, want %+v", dir, want)
			continue
		}
		checked++
		// The clocks of the engines are read to a tick of 10 ns.
		slack := 100 * 25 / want.spanNs
		waves := 0
		for _, w := range want.waves {
			waves += w
		}
		if d := b.LossPct - want.lossPct; d > slack || -d > slack {
			t.Errorf("%s: loss %.3f, want %.3f", dir, b.LossPct, want.lossPct)
		}
		if d := b.UsedResidentPct - want.usedPct; d > slack || -d > slack {
			t.Errorf("%s: resident %.3f, want %.3f", dir, b.UsedResidentPct, want.usedPct)
		}
		if d := b.MostByPct - want.ends[b.MostCUs-1]; d > slack || -d > slack || b.Used != len(want.ends) {
			t.Errorf("%s: %d of %d done by %.2f, want %d and %.2f", dir, b.MostCUs, b.Used, b.MostByPct, len(want.ends), want.ends[b.MostCUs-1])
		}
		if int64(waves) != tr.ThreadTraces[0].Occupancy.Starts() {
			t.Errorf("%s: %d waves, want %d", dir, tr.ThreadTraces[0].Occupancy.Starts(), waves)
		}
	}
	if checked < 2 {
		t.Errorf("%d directories checked", checked)
	}
}
