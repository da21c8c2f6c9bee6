package efficiency

import (
	"fmt"
	"strings"

	"github.com/rocanalyze/rocanalyze/pkg/report"
)

// Section lays the steps out for reading, or says why there are none.
func (e *Efficiency) Section(id string) report.Section {
	s := report.Section{ID: id, Title: "From the peak to what was achieved"}
	if e.Absent != "" {
		s.Items = append(s.Items, report.Paragraph{Text: "Not known: " + e.Absent + "."})
		return s
	}
	kv := report.KeyValues{Items: []report.KV{{Key: "peak", Value: e.peakText()}}}
	for _, f := range e.Factors {
		kv.Items = append(kv.Items, report.KV{
			Key: strings.ReplaceAll(f.ID, "_", " "), Value: fmt.Sprintf("x %.3f leaves %.1f %%", f.Value, f.LeftPct), Note: f.How,
		})
	}
	achieved := fmt.Sprintf("%.1f %% of the peak over %s", *e.AchievedPct, e.Over)
	if e.AchievedGFLOPs != nil {
		achieved = fmt.Sprintf("%.4g TFLOP/s, ", *e.AchievedGFLOPs/1000) + achieved
	}
	kv.Items = append(kv.Items, report.KV{Key: "achieved", Value: achieved})
	s.Items = append(s.Items, kv)
	return s
}

// peakText says what the peak is of.
func (e *Efficiency) peakText() string {
	if e.PeakGFLOPs == nil {
		return "a vector instruction on every SIMD in every cycle of the highest clock"
	}
	return fmt.Sprintf("%.4g TFLOP/s (%s)", *e.PeakGFLOPs/1000, e.Of)
}
