package kernels

import (
	"github.com/rocanalyze/rocanalyze/pkg/stats"
	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// launch is everything that tells dispatches of one run apart in any view.
type launch struct {
	kernel, agent, queue, stream int64
	lds, scratch                 int64
	workgroup, grid              [3]int64
}

// recentBits is the logarithm of the number of launches that are found without
// looking into the map.
const recentBits = 12

// recentLaunch is a launch that was just met.
type recentLaunch struct {
	launch
	sums *sums
}

// slot is where a launch is among the recent ones.
func (l *launch) slot() uint64 {
	mixed := uint64(l.kernel)*31 + uint64(l.agent)*17 + uint64(l.queue)*13 + uint64(l.stream)*11 + uint64(l.grid[0])*7 + uint64(l.grid[1])*5 + uint64(l.lds)*3
	return mixed * 0x9e3779b97f4a7c15 >> (64 - recentBits) // Knuth's multiplicative hash
}

// maxLaunches bounds the launches that one goroutine tells apart; the shapes
// of more are not kept.
const maxLaunches = 1 << 20

// sums are those of equal dispatches.
type sums struct {
	stats.Moments
	sample *stats.Sample // of the row that they belong to; nil for none
	queue  *timeline
}

// excluded counts dispatches that are in no sum, by reason.
type excluded struct {
	// noTime have no start or end, reversed end before they start, empty end
	// when they start, tooLong take more than an hour.
	noTime, reversed, empty, tooLong int64
	// replays repeat a dispatch to count more; outside are not in the window.
	replays, outside int64
}

func (e *excluded) add(o excluded) {
	e.noTime += o.noTime
	e.reversed += o.reversed
	e.empty += o.empty
	e.tooLong += o.tooLong
	e.replays += o.replays
	e.outside += o.outside
}

// queueKey is one hardware queue of one agent.
type queueKey struct{ agent, queue int64 }

// folder sums the dispatches of one part of a run.
type folder struct {
	r       *runBuilder
	sums    map[launch]*sums
	samples map[rowKey]*stats.Sample
	queues  map[queueKey]*timeline
	recent  [1 << recentBits]recentLaunch
	// others are the launches of dispatches that are in no sum, replays apart.
	others map[launch]*trace.LaunchSum
	excluded
	identity
	crowded int64 // dispatches whose shape was not kept
}

func newFolder(r *runBuilder) *folder {
	return &folder{
		r: r, sums: map[launch]*sums{}, samples: map[rowKey]*stats.Sample{}, queues: map[queueKey]*timeline{},
		others: map[launch]*trace.LaunchSum{},
	}
}

// Dispatch adds one dispatch.
func (f *folder) Dispatch(d *trace.Dispatch) {
	f.identity.add(d)
	ns, ok := d.DurationNs()
	switch {
	case !ok:
		f.reject(d)
		f.other(d, trace.LaunchSum{Count: 1})
		return
	case d.Replay > 0:
		f.replays++
		return
	case !f.r.window.holds(d.Start):
		f.outside++
		f.other(d, trace.LaunchSum{Count: 1, Timed: 1, TotalNs: ns, MinNs: ns, MaxNs: ns})
		return
	}
	key := launchKey(d)
	recent := &f.recent[key.slot()]
	if recent.sums == nil || recent.launch != key {
		*recent = recentLaunch{key, f.find(key)}
	}
	s := recent.sums
	s.Add(ns)
	if s.sample != nil {
		s.sample.Add(ns)
	}
	s.queue.add(d.Start, d.End)
}

func launchKey(d *trace.Dispatch) launch {
	return launch{d.Kernel, d.Agent, d.Queue, d.Stream, d.LDSBytes, d.ScratchBytes, d.Workgroup, d.Grid}
}

// other adds a dispatch that is in no sum to its launch.
func (f *folder) other(d *trace.Dispatch, one trace.LaunchSum) {
	key := launchKey(d)
	switch s := f.others[key]; {
	case d.Replay > 0:
	case s != nil:
		addLaunches(s, &one)
	case len(f.others) < maxLaunches:
		f.others[key] = &one
	}
}

// reject counts a dispatch whose times cannot be.
func (f *folder) reject(d *trace.Dispatch) {
	switch {
	case d.Start <= 0 || d.End <= 0:
		f.noTime++
	case d.End < d.Start:
		f.reversed++
	case d.End == d.Start:
		f.empty++
	default:
		f.tooLong++
	}
}

// find returns the sums of a launch.
func (f *folder) find(key launch) *sums {
	if s := f.sums[key]; s != nil {
		return s
	}
	return f.start(key)
}

// start begins the sums of a launch.
func (f *folder) start(key launch) *sums {
	if len(f.sums) >= maxLaunches {
		f.crowded++
		key.workgroup, key.grid = [3]int64{}, [3]int64{}
		if s := f.sums[key]; s != nil {
			return s
		}
	}
	s := &sums{}
	f.sums[key] = s
	q := queueKey{key.agent, key.queue}
	if s.queue = f.queues[q]; s.queue == nil {
		s.queue = &timeline{}
		f.queues[q] = s.queue
	}
	row, ok := f.r.rowOf(key)
	if !ok {
		return s
	}
	if s.sample = f.samples[row]; s.sample == nil {
		s.sample = &stats.Sample{}
		f.samples[row] = s.sample
	}
	return s
}
