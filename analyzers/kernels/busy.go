package kernels

import (
	"cmp"
	"slices"

	"github.com/rocanalyze/rocanalyze/pkg/stats"
)

// interval is the time of one dispatch, or of several that overlap, in ns.
type interval struct{ start, end int64 }

// Intervals are allocated in chunks, so that growing copies nothing: the first
// of minChunk, each twice as long as the one before, up to maxChunk.
const (
	minChunk = 64
	maxChunk = 1 << 16
)

// timeline collects the intervals of one queue, 16 bytes each. Profilers write
// them mostly in order, but do not promise it.
type timeline struct {
	chunks   [][]interval
	last     int64 // start of the latest
	unsorted bool
	span     span
	n, ns    int64 // intervals, and the sum of their lengths
}

func (t *timeline) add(start, end int64) {
	at := len(t.chunks) - 1
	switch {
	case at < 0:
		t.chunks = append(t.chunks, make([]interval, 0, minChunk))
		at++
	case len(t.chunks[at]) == cap(t.chunks[at]):
		t.chunks = append(t.chunks, make([]interval, 0, min(2*cap(t.chunks[at]), maxChunk)))
		at++
	}
	t.chunks[at] = append(t.chunks[at], interval{start, end})
	t.unsorted = t.unsorted || start < t.last
	t.last = start
	t.span.add(start, end)
	t.n++
	t.ns += end - start
}

// join puts all intervals of o behind those of t.
func (t *timeline) join(o *timeline) {
	if len(o.chunks) == 0 {
		return
	}
	t.unsorted = t.unsorted || o.unsorted || o.chunks[0][0].start < t.last
	t.chunks = append(t.chunks, o.chunks...)
	t.last = o.last
	t.span.merge(o.span)
	t.n += o.n
	t.ns += o.ns
}

// sort orders the intervals by start.
func (t *timeline) sort() {
	if !t.unsorted {
		return
	}
	all := slices.Concat(t.chunks...)
	slices.SortFunc(all, func(a, b interval) int { return cmp.Compare(a.start, b.start) })
	t.chunks, t.unsorted = [][]interval{all}, false
}

// maxMerged is up to how many timelines are merged by looking at the head of
// each; more are sorted as one.
const maxMerged = 16

// merged hands the intervals of timelines to f in order of their starts.
func merged(ts []*timeline, f func(interval)) {
	if len(ts) > maxMerged {
		all := &timeline{unsorted: true}
		for _, t := range ts {
			all.chunks = append(all.chunks, t.chunks...)
		}
		ts = []*timeline{all}
	}
	heads := make([]cursor, 0, len(ts))
	for _, t := range ts {
		if t.sort(); len(t.chunks) > 0 {
			heads = append(heads, cursor{chunks: t.chunks})
		}
	}
	for len(heads) > 0 {
		first := 0
		for i := range heads {
			if heads[i].interval().start < heads[first].interval().start {
				first = i
			}
		}
		f(heads[first].interval())
		if !heads[first].advance() {
			heads = slices.Delete(heads, first, first+1)
		}
	}
}

// cursor is a place in a timeline.
type cursor struct {
	chunks [][]interval
	at     int // in the first chunk
}

func (h *cursor) interval() interval { return h.chunks[0][h.at] }

// advance reports whether there is another interval.
func (h *cursor) advance() bool {
	if h.at++; h.at == len(h.chunks[0]) {
		h.chunks, h.at = h.chunks[1:], 0
	}
	return len(h.chunks) > 0
}

// Gaps are times between dispatches in which nothing ran, in ns.
type Gaps struct {
	Count    int64    `json:"count"`
	TotalNs  int64    `json:"total_ns"`
	MedianNs *float64 `json:"median_ns,omitempty"`
	MaxNs    int64    `json:"max_ns"`
}

// busyOf sums the union of the intervals of timelines, and the gaps in it.
// What overlaps or touches counts once.
func busyOf(ts []*timeline) (busyNs int64, gaps Gaps) {
	var sample stats.Sample
	var open interval
	merged(ts, func(v interval) {
		switch {
		case open.end == 0:
			open = v
		case v.start <= open.end:
			open.end = max(open.end, v.end)
		default:
			gap := v.start - open.end
			sample.Add(gap)
			gaps.Count++
			gaps.TotalNs += gap
			gaps.MaxNs = max(gaps.MaxNs, gap)
			busyNs += open.end - open.start
			open = v
		}
	})
	busyNs += open.end - open.start
	if q, ok := sample.Quantiles(0.5); ok {
		gaps.MedianNs = &q[0]
	}
	return busyNs, gaps
}
