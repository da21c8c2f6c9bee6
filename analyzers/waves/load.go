package waves

import (
	"fmt"
	"math"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/balance"
	"github.com/rocanalyze/rocanalyze/pkg/report"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// CounterPhases is how often a hardware counter counted over the time of the
// trace.
type CounterPhases struct {
	Counter string `json:"counter"`
	Value   int64  `json:"value"`
	// PerCycle is the mean of the engines that sampled it, Slices the same in
	// equal parts of the time that their samples cover, each on its own clock.
	PerCycle float64   `json:"per_cycle"`
	Slices   []float64 `json:"per_cycle_by_slice"`
}

// phases sums the counters over the engines, in the order of the trace.
func phases(tt *trace.ThreadTrace) []CounterPhases {
	var out []CounterPhases
	cycles := 0.0
	for _, e := range tt.Counters {
		if e.Last <= e.First {
			continue
		}
		cycles += float64(e.Last - e.First)
		for i, v := range e.Values {
			if i == len(out) {
				out = append(out, CounterPhases{Counter: v.Name, Slices: make([]float64, trace.CounterSlices)})
			}
			out[i].Value += v.Value
			for j, x := range v.Slices {
				out[i].Slices[j] += x
			}
		}
	}
	for i := range out {
		out[i].PerCycle = float64(out[i].Value) / cycles
		for j := range out[i].Slices {
			out[i].Slices[j] *= trace.CounterSlices / cycles
		}
	}
	return out
}

// phaseTable draws each counter in digits, 9 for its busiest slice.
func phaseTable(t *Trace, id string) report.Table {
	table := report.Table{ID: id, Columns: []report.Column{
		{Key: "counter", Title: "counter", Flex: true}, right("value", "value"), right("per_cycle", "per cycle"), right("most", "most"), {Key: "phases", Title: "over time"},
	}, Note: fmt.Sprintf("per cycle: mean over the engines that sampled it; most: its busiest of %d equal parts of the time; over time: 9 that part, blank none", trace.CounterSlices)}
	for i := range t.Counters {
		c := &t.Counters[i]
		most := 0.0
		for _, x := range c.Slices {
			most = max(most, x)
		}
		table.Rows = append(table.Rows, []report.Cell{
			report.Text(c.Counter), report.Cycles(c.Value), report.Float(c.PerCycle, 4), report.Float(most, 4), report.Text(phaseLine(c.Slices, most)),
		})
	}
	return table
}

func phaseLine(slices []float64, most float64) string {
	line := make([]byte, len(slices))
	for i, x := range slices {
		line[i] = ' '
		if x > 0 {
			line[i] = '0' + byte(math.Round(9*x/most))
		}
	}
	return string(line)
}

// loadSection says how evenly all compute units of the traced engines were
// loaded.
func loadSection(b *balance.Balance, suffix string) report.Section {
	kv := report.KeyValues{}
	add := func(key, value, note string) {
		kv.Items = append(kv.Items, report.KV{Key: key, Value: value, Note: note})
	}
	if b.CUs != nil {
		add("with a wave", fmt.Sprintf("%.1f %% of the CUs' time", *b.ResidentPct), fmt.Sprintf("%d of %g CUs held waves", b.Used, *b.CUs))
	}
	clock := "engines on the clock of realtime.json"
	if !b.Aligned {
		clock = "engines' first waves taken as simultaneous"
	}
	add("used CUs", fmt.Sprintf("%.1f %% of their time with a wave", b.UsedResidentPct), fmt.Sprintf("%s cycles, %s", report.Count(b.SpanCycles), clock))
	add("even loads", fmt.Sprintf("would save at most %.1f %%", b.LossPct), "longest time of a CU with a wave less the mean")
	f := b.FinishPct
	add("done by", fmt.Sprintf("%.0f %% first, %.0f %% half, %.0f %% last", f.Min, f.Median, f.Max), fmt.Sprintf("of the span; %d by %.0f %%", b.MostCUs, b.MostByPct))
	add("waves per CU", fmt.Sprintf("%g to %g, median %g", b.Waves.Min, b.Waves.Max, b.Waves.Median), "")
	if l := b.Lifetimes; l != nil {
		add("lifetimes", fmt.Sprintf("%s to %s cycles, median %s", report.Count(int64(l.Min)), report.Count(int64(l.Max)), report.Count(int64(l.Median))), "all waves of the traced engines")
	}
	var simds []string
	for _, s := range b.SIMDs {
		simds = append(simds, fmt.Sprintf("%d: %d waves, %.0f %%", s.SIMD, s.Starts, s.ResidentPct))
	}
	fill := ""
	if b.SIMDFillPct != nil {
		fill = fmt.Sprintf("of their CU's time with a wave; all SIMDs %.0f %%", *b.SIMDFillPct)
	}
	add("SIMDs", strings.Join(simds, "; "), fill)
	for _, t := range b.Trips {
		add("trips", fmt.Sprintf("%d to %d, median %d", t.Least, t.Most, t.Median), fmt.Sprintf("loop of lines %d to %d, by wave", t.FirstLine, t.LastLine))
	}
	return report.Section{ID: "load" + suffix, Title: "Load of the compute units", Items: []report.Item{kv}}
}
