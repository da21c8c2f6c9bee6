package regime

import (
	"fmt"
	"math"
	"strings"

	"github.com/rocanalyze/rocanalyze/analyzers/code"
	"github.com/rocanalyze/rocanalyze/analyzers/replay"
	"github.com/rocanalyze/rocanalyze/pkg/gpu"
	"github.com/rocanalyze/rocanalyze/pkg/isa"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// isVectorMemory says which instructions request bytes from memory.
func isVectorMemory(c isa.Class) bool {
	switch c {
	case isa.VMEMLoad, isa.VMEMStore, isa.VMEMAtomic, isa.VMEMToLDS, isa.VMEMFromLDS,
		isa.FlatLoad, isa.FlatStore, isa.FlatAtomic, isa.ScratchLoad, isa.ScratchStore:
		return true
	}
	return false
}

// requested sums the bytes that the read waves of kernel kn asked for: of
// memory, and of LDS by read width class.
type requested struct {
	memory float64
	// wideRead are reads of 8 and 16 bytes per lane, other all other reads and
	// writes: their peaks differ on gfx950.
	wideRead, otherLDS float64
}

func requestedBytes(tt *trace.ThreadTrace, kn trace.Kernel, l *code.Listing, r *replay.Replay, lanes float64) requested {
	var req requested
	for row := kn.First; row < kn.Last; row++ {
		in := &l.Insts[row]
		n := float64(r.Hits(tt, row)) * lanes * float64(in.BytesPerLane)
		switch {
		case isVectorMemory(in.Class):
			req.memory += n
			if in.Class == isa.VMEMToLDS {
				req.otherLDS += n
			}
		case in.Class == isa.LDSRead && (in.BytesPerLane == 8 || in.BytesPerLane == 16):
			req.wideRead += n
		case in.Class == isa.LDSRead, in.Class == isa.LDSWrite, in.Class == isa.LDSAtomic, in.Class == isa.LDSTranspose:
			req.otherLDS += n
		}
	}
	return req
}

// windowCycles sums, over the traced CUs, the time from first wave begin to
// last wave end.
func windowCycles(simds []replay.SIMD) float64 {
	type cu struct{ se, cu int }
	first, last := map[cu]int64{}, map[cu]int64{}
	for _, s := range simds {
		id := cu{s.SE, s.CU}
		if f, ok := first[id]; !ok || s.First < f {
			first[id] = s.First
		}
		last[id] = max(last[id], s.Last)
	}
	var sum int64
	for id := range first {
		sum += last[id] - first[id]
	}
	return float64(sum)
}

// bytes fills in what the trace requested, against the peaks of its device. A
// CU's requests in a window are known only where all of its SIMDs are traced:
// gfx9.
func (m *TraceMeasure) bytes(tt *trace.ThreadTrace, l *code.Listing, r *replay.Replay, overheadNs float64) {
	window := windowCycles(r.SIMDs)
	if window <= 0 || m.Resolved.Wave == 0 {
		return
	}
	req := requestedBytes(tt, tt.Kernels[m.Kernel], l, r, float64(m.Resolved.Wave))
	m.RequestedBytes = &req.memory
	m.dispatchRatio(req.memory, overheadNs)
	if !m.Resolved.IsGFX9() {
		return
	}
	m.BytesPerClockCU = new(req.memory / window)
	if a, err := gpu.ArchByName(string(l.Arch.ParseTarget())); err == nil && a.LDSReadBytes > 0 && a.LDSWriteBytes > 0 {
		m.LDSPct = new(100 * (req.wideRead/float64(a.LDSReadBytes) + req.otherLDS/float64(a.LDSWriteBytes)) / window)
	}
	if share, _, ok := hbmShare(m.Device, m.ClockMHz); ok {
		m.HBMShare = &share
		m.WindowRatio = new(*m.BytesPerClockCU / share)
	}
}

// dispatchRatio scales the bytes of the traced waves to all waves of the
// dispatch, and divides by its time and the memory's peak.
func (m *TraceMeasure) dispatchRatio(bytes, overheadNs float64) {
	h := m.Hot
	if h.Waves == nil || h.Waves.InDispatch == nil || h.Waves.Sampled == 0 || m.Device == nil || m.Device.MemoryGBps <= 0 {
		return
	}
	switch l := h.Launch; {
	case l != nil && l.DurationNs != nil:
		m.DispatchNs, m.DispatchTime, m.DispatchSource = *l.DurationNs, fmt.Sprintf("%.2f us", *l.DurationNs/1000), "kernel_trace.csv"
		if l.Calls > 0 {
			m.DispatchTime += fmt.Sprintf(" (median of %d)", l.Calls)
		}
	case h.Machine.WavesNs != nil:
		m.DispatchNs, m.DispatchSource = *h.Machine.WavesNs, "occupancy.json, realtime.json"
		m.DispatchTime = fmt.Sprintf("%.2f us of waves", m.DispatchNs/1000)
		m.LaunchNs = overheadNs
	default:
		return
	}
	all := bytes / float64(h.Waves.Sampled) * float64(*h.Waves.InDispatch)
	m.DispatchRatio = new(all / m.DispatchNs / m.Device.MemoryGBps) // 1 B/ns is 1 GB/s
}

// fill says how much of the device does what the traced CUs do. Held is the
// share of the CUs that ever held a wave, Fill that of their time: where
// occupancy.json tells when each of them did, one CU's burst counts for no more
// than its share of the time of all; else the rounds of workgroups tell.
func (m *TraceMeasure) fill() {
	m.Held, m.Fill = 1, 1
	o := m.Hot.Machine.Occupancy
	l := m.launch()
	switch {
	case o != nil && o.FillPct != nil:
		m.Held, m.FillSource = min(*o.FillPct/100, 1), "occupancy.json, "+o.CUsSource
	case l != nil:
		m.Held, m.FillSource = min(1, float64(l.Workgroups)/float64(l.Units)), "kernel_trace.csv"
	}
	m.Fill, m.FillWords = m.Held, "of the CUs in use"
	if f := m.Balance.DeviceShare(m.Trace.Occupancy, m.SIMDs); f != nil {
		m.Fill = *f
		m.FillWords = "of the CUs' time in use"
		return
	}
	if l != nil && l.Rounds > 1 {
		last := l.Workgroups - (l.Rounds-1)*l.Slots
		m.FillSource = strings.TrimPrefix(m.FillSource+", rounds of workgroups", ", ")
		m.Fill *= (float64(l.Rounds-1) + min(1, float64(last)/float64(l.Units))) / float64(l.Rounds)
	}
}

// launch is the launch shape where it and the occupancy are known.
func (m *TraceMeasure) launch() *gpu.LaunchShape {
	if m.Occupancy == nil || m.Occupancy.Launch == nil {
		return nil
	}
	return m.Occupancy.Launch.LaunchShape
}

// leastPct is the dispatch's requested bytes in percent of the memory's peak if
// its launch took as long as launches do; above any where that is not open.
func (m *TraceMeasure) leastPct() float64 {
	if m.DispatchRatio == nil || m.LaunchNs <= 0 {
		return math.Inf(1)
	}
	return 100 * *m.DispatchRatio * m.DispatchNs / (m.DispatchNs + m.LaunchNs)
}
