package regime

import (
	"fmt"
)

// Names of resources.
const (
	resMatrix = "matrix"
	resVALU   = "valu"
	resIssue  = "issue"
	resHBM    = "hbm"
	resMALL   = "mall"
	resL2     = "l2"
	resLDS    = "lds"
)

// resourceWords names a resource in a sentence.
var resourceWords = map[string]string{
	resMatrix: "matrix pipe", resVALU: "VALU issue", resIssue: "instruction issue",
	resHBM: "HBM", resMALL: "MALL", resL2: "L2", resLDS: "LDS",
}

// levels turns the measures of a trace into utilisations of the device: what
// the traced SIMDs show, times the share of the CUs that run waves.
func (m *TraceMeasure) levels() []Level {
	var out []Level
	busy := func(resource string, r Regime, units string, local *float64, how, source string) {
		if local == nil {
			return
		}
		l := Level{Resource: resource, Regime: r, Pct: *local * m.Fill, Basis: Traced, How: how, Source: source}
		switch {
		case m.Fill < 1:
			l.How += fmt.Sprintf(" = %.1f %% of the %s with waves, x %.2f %s (%s): of the device", *local, units, m.Fill, m.FillWords, m.FillSource)
		case m.FillSource != "":
			l.How += fmt.Sprintf("; of the %s with waves, and of the device", units)
		default:
			l.How += fmt.Sprintf("; of the %s with waves, of the device no more", units)
		}
		if l.Pct > 100 {
			l.Flag = "more than the peak: the waves of the trace are not whole, or the clock of the window is wrong"
		}
		out = append(out, l)
	}
	if u := m.Hot.Utilisation; u != nil {
		if m.HasMatrix {
			busy(resMatrix, Compute, "SIMDs", u.MFMAPct, "executions x cycles of the matrix instructions / windows of the traced SIMDs", "code.json, wave files, matrix instruction table")
		}
		busy(resVALU, Compute, "SIMDs", u.VALUIssuePct, "cycles in which a resident wave issues to the VALU / cycles with a wave resident", "wave files")
		busy(resIssue, Compute, "SIMDs", u.IssuePct, "cycles in which a resident wave issues / cycles with a wave resident", "wave files")
	}
	if l, ok := m.memory(); ok {
		out = append(out, l)
	}
	busy(resLDS, Bandwidth, "CUs", m.LDSPct, "bytes of LDS instructions, 64 lanes each, per clock and CU / the LDS peak", "code.json, wave files, architecture table")
	return out
}

// memory is the upper bound of HBM's use: the bytes that are requested, in the
// traced window or over the whole dispatch, whichever is the lower bound.
func (m *TraceMeasure) memory() (Level, bool) {
	if m.WindowRatio == nil && m.DispatchRatio == nil {
		return Level{}, false
	}
	l := Level{Resource: resHBM, Regime: Bandwidth, Basis: UpperBound}
	if m.WindowRatio != nil {
		_, share, _ := hbmShare(m.Device, m.ClockMHz)
		l.Pct = 100 * *m.WindowRatio * m.Fill
		l.How = fmt.Sprintf("%.1f B/clk/CU requested in the window / %.1f (%s)", *m.BytesPerClockCU, *m.HBMShare, share)
		if m.Fill < 1 {
			l.How += fmt.Sprintf(", x %.2f %s (%s)", m.Fill, m.FillWords, m.FillSource)
		}
		l.Source = "code.json, wave files, device table"
	}
	if m.DispatchRatio != nil && (m.WindowRatio == nil || m.Lost > 0 || 100**m.DispatchRatio < l.Pct) {
		l.Pct = 100 * *m.DispatchRatio
		l.How = fmt.Sprintf("bytes requested per wave x %d waves / %s / %g GB/s", *m.Hot.Waves.InDispatch, m.DispatchTime, m.Device.MemoryGBps)
		l.whole = true
		l.Source = "code.json, " + m.DispatchSource + ", device table"
	}
	if l.Pct > 100 {
		l.Flag = "more is requested than memory can give: caches serve a part"
	}
	return l, true
}
