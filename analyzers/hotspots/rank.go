package hotspots

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/analyzers/stalls"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

func isMatrix(in *isa.Inst) bool { return in.Class == isa.MFMA }

// instruction describes one row of the code.
func (b *builder) instruction(row int) Instruction {
	in, r := &b.tt.Code[row], &b.stalls.Rows[row]
	i := Instruction{
		Line: in.Line, Text: in.Text, Source: in.Source, Class: r.Class(), Kind: b.listing.Insts[row].Class.String(),
		Hits: r.Hits, LatencyCycles: r.LatencyCycles, StallCycles: r.StallCycles, IdleCycles: r.IdleCycles,
		SharePct:    value(ratioPct(r.StallCycles, b.counted.StallCycles)),
		StallPerHit: perHit(r.StallCycles, r.Hits), LatencyPerHit: perHit(r.LatencyCycles, r.Hits),
	}
	i.Cost = b.exported(b.costOf(row), r.StallCycles)
	if in.PC != nil {
		i.Samples = &PCSamples{in.PC.Issued, in.PC.Stalled}
	}
	return i
}

// heat orders rows: exposed cycles where they are known, then stall cycles,
// then latency; samples of a program-counter sampling trace.
func (b *builder) heat(row int) [3]float64 {
	if pc := b.tt.Code[row].PC; pc != nil {
		return [3]float64{0, float64(pc.Stalled), float64(pc.Issued)}
	}
	r := &b.stalls.Rows[row]
	return [3]float64{b.costOf(row).total(), float64(r.StallCycles), float64(r.LatencyCycles)}
}

// hottest returns the rows that cost anything, the most expensive first.
func (b *builder) hottest(rows []int) []int {
	out := make([]int, 0, len(rows))
	for _, row := range rows {
		if b.heat(row) != ([3]float64{}) {
			out = append(out, row)
		}
	}
	slices.SortFunc(out, func(r1, r2 int) int {
		h1, h2 := b.heat(r1), b.heat(r2)
		return cmp.Or(slices.Compare(h2[:], h1[:]), cmp.Compare(r1, r2))
	})
	return out
}

// instructions ranks the instructions by stall; those that cost nothing are
// left out.
func (b *builder) instructions() []Instruction {
	return b.describeRows(top(b, b.hottest(b.allRows())))
}

func (b *builder) describeRows(rows []int) []Instruction {
	out := make([]Instruction, 0, len(rows))
	for _, row := range rows {
		out = append(out, b.instruction(row))
	}
	return out
}

// lineRows gathers the rows of one source line.
type lineRows struct {
	frame trace.Frame
	rows  []int
	at    map[string]bool
}

// lines ranks source lines by the stall of their instructions. A line is the
// innermost frame; where it was inlined is kept beside it.
func (b *builder) lines() []Line {
	byFrame := map[trace.Frame]*lineRows{}
	for row := b.kernel.First; row < b.kernel.Last; row++ {
		frames := trace.Frames(b.tt.Code[row].Source)
		if len(frames) == 0 {
			continue
		}
		l := byFrame[frames[0]]
		if l == nil {
			l = &lineRows{frame: frames[0], at: map[string]bool{}}
			byFrame[frames[0]] = l
		}
		l.rows = append(l.rows, row)
		if len(frames) > 1 {
			l.at[frameText(frames[1])] = true
		}
	}
	out := []Line{}
	for _, l := range byFrame {
		if line, hot := b.line(l); hot {
			out = append(out, line)
		}
	}
	slices.SortFunc(out, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.total(), a.total()), cmp.Compare(b.heat(), a.heat()), cmp.Compare(b.LatencyCycles, a.LatencyCycles), cmp.Compare(a.Source, b.Source))
	})
	out = top(b, out)
	for i := range out {
		l := byFrame[out[i].frame]
		rows := b.hottest(l.rows)
		out[i].Top = b.describeRows(rows[:min(topInLine, len(rows))])
		b.addSource(&out[i], l)
	}
	return out
}

func (l *Line) heat() int64 {
	if l.Samples != nil {
		return l.Samples.Stalled
	}
	return l.StallCycles
}

// line sums the rows of one source line; hot is false when they cost nothing.
func (b *builder) line(l *lineRows) (out Line, hot bool) {
	out = Line{Source: frameText(l.frame), frame: l.frame, Instructions: len(l.rows)}
	sums := map[stalls.Class]int64{}
	for _, row := range l.rows {
		r := &b.stalls.Rows[row]
		out.Hits += r.Hits
		out.LatencyCycles += r.LatencyCycles
		out.StallCycles += r.StallCycles
		if pc := b.tt.Code[row].PC; pc != nil {
			if out.Samples == nil {
				out.Samples = &PCSamples{}
			}
			out.Samples.Issued += pc.Issued
			out.Samples.Stalled += pc.Stalled
		}
		for _, p := range b.stalls.Rows[row].Parts {
			sums[p.Class] += p.Cycles
		}
	}
	out.SharePct = value(ratioPct(out.StallCycles, b.counted.StallCycles))
	out.Classes = b.lineClasses(sums, l.rows)
	out.Cost = b.exported(b.costOf(l.rows...), out.StallCycles)
	hot = b.anyHeat(l.rows)
	switch {
	case len(out.Classes) > 0:
		out.Class = out.Classes[0].Class
	case hot:
		out.Class = b.stalls.Rows[b.hottest(l.rows)[0]].Class()
	}
	return out, hot
}

func (b *builder) anyHeat(rows []int) bool {
	return slices.ContainsFunc(rows, func(row int) bool {
		return b.heat(row) != [3]float64{}
	})
}

func (b *builder) lineClasses(sums map[stalls.Class]int64, rows []int) []Stall {
	var list []stalls.ClassSum
	for c, n := range sums {
		if n > 0 {
			list = append(list, stalls.ClassSum{Class: c, Cycles: n})
		}
	}
	slices.SortFunc(list, func(a, b stalls.ClassSum) int {
		return cmp.Or(cmp.Compare(b.Cycles, a.Cycles), cmp.Compare(a.Class, b.Class))
	})
	out := b.classes(list, rows)
	for i := range out {
		out[i].Fix = ""
	}
	return out
}

// addSource adds the text of a line and of those around it.
func (b *builder) addSource(l *Line, rows *lineRows) {
	for at := range rows.at {
		l.InlinedAt = append(l.InlinedAt, at)
	}
	slices.Sort(l.InlinedAt)
	lines, ok, err := b.tt.Files.Lines(l.frame.File)
	n := l.frame.Line
	if !ok || err != nil || n < 1 || n > len(lines) {
		return
	}
	l.Code = strings.TrimSpace(lines[n-1])
	context := max(int(b.p.Param("context")), 0)
	l.first = max(n-context, 1)
	l.snippet = lines[l.first-1 : min(n+context, len(lines))]
}

// waits ranks the waiting instructions by their cycles.
func (b *builder) waits() []Wait {
	out := []Wait{}
	for row := b.kernel.First; row < b.kernel.Last; row++ {
		if w, ok := b.wait(row); ok {
			out = append(out, w)
		}
	}
	slices.SortStableFunc(out, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(b.Cycles, a.Cycles), cmp.Compare(a.Line, b.Line))
	})
	return top(b, out)
}

// wait describes a wait, a barrier or the end of the program.
func (b *builder) wait(row int) (Wait, bool) {
	in, r := &b.listing.Insts[row], &b.stalls.Rows[row]
	w := Wait{
		Line: b.tt.Code[row].Line, Text: b.tt.Code[row].Text, Source: b.tt.Code[row].Source,
		Class: r.Class(), Executions: r.Hits, Cycles: r.StallCycles, Estimated: r.Estimated,
	}
	switch {
	case in.Class == isa.EndPgm:
		w.Cycles, w.Class = r.DrainCycles, stalls.StoreDrain
	case len(in.Waits) == 0 && in.Class != isa.Barrier && in.Class != isa.BarrierWait:
		return w, false
	}
	if r.Hits == 0 || w.Cycles == 0 {
		return w, false
	}
	w.SharePct = value(ratioPct(w.Cycles, b.counted.StallCycles+b.drain))
	w.MeanCycles = perHit(w.Cycles, r.Hits)
	if s := b.replay.Site(row, b.stalls.AllWaves); s != nil {
		if p95, ok := s.Executions.Quantile(0.95); ok {
			most := s.Executions.Max()
			w.P95Cycles, w.MaxCycles = &p95, &most
		}
		w.Producers = b.producers(s)
	}
	if first := b.stalls.StageOf(row); first >= 0 {
		w.StageLine = &b.tt.Code[first].Line
	}
	return w, true
}

// producers lists what a wait waited for, most often first.
func (b *builder) producers(s *replay.Site) []Producer {
	var out []Producer
	for _, p := range s.Producers {
		in := &b.tt.Code[p.Row]
		out = append(out, Producer{Line: in.Line, Text: in.Text, Source: in.Source, Class: stalls.OfWait(p.Class), Count: p.Count})
	}
	slices.SortStableFunc(out, func(a, b Producer) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// combinations sums the waits by what they waited for together.
func (b *builder) combinations() []Combination {
	type key struct{ counters, producers string }
	sums := map[key]int64{}
	for row := b.kernel.First; row < b.kernel.Last; row++ {
		s := b.replay.Site(row, b.stalls.AllWaves)
		if s == nil || len(b.listing.Insts[row].Waits) == 0 {
			continue
		}
		for _, c := range s.Combos {
			counters, producers := describe(&b.listing.Insts[row], c)
			sums[key{counters, producers}] += c.Cycles
		}
	}
	var out []Combination
	for k, n := range sums {
		if n > 0 {
			out = append(out, Combination{
				Producers: k.producers, Counters: k.counters, StallCycles: n,
				SharePct: value(ratioPct(n, b.counted.StallCycles)),
			})
		}
	}
	slices.SortFunc(out, func(a, b Combination) int {
		return cmp.Or(cmp.Compare(b.StallCycles, a.StallCycles), cmp.Compare(a.Counters, b.Counters), cmp.Compare(a.Producers, b.Producers))
	})
	return out
}

// describe names the counters that held something and the classes on them.
func describe(in *isa.Inst, c replay.ComboCycles) (counters, producers string) {
	var names, classes []string
	for i, set := range c.Sets {
		if len(set) == 0 || i >= len(in.Waits) {
			continue
		}
		names = append(names, in.Waits[i].Counter.String())
		for _, class := range set {
			if name := string(stalls.OfWait(class)); !slices.Contains(classes, name) {
				classes = append(classes, name)
			}
		}
	}
	if len(classes) == 0 {
		return "none", string(stalls.SatisfiedWait)
	}
	slices.Sort(classes)
	return strings.Join(names, "+"), strings.Join(classes, "+")
}
