package replay

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"github.com/rocanalyze/rocanalyze/pkg/trace"
)

// maxKept is how many records are kept for a second look at the waves: 32 MiB.
// The waves of larger traces are read from their files again, so that memory
// does not grow with the trace.
const maxKept = 2 << 20

// keptWave is a wave with its records packed.
type keptWave struct {
	wave    trace.Wave
	records []keptRecord
}

// keptRecord is a trace.Record without its category; time counts from the
// begin of the wave.
type keptRecord struct {
	time            int32
	stall, duration uint32
	line            int32
}

// keeper keeps waves as long as all of them fit.
type keeper struct {
	left  *atomic.Int64 // records, shared by all workers
	waves []keptWave
	given bool // up
}

func (k *keeper) keep(w *trace.Wave) {
	if k.given {
		return
	}
	if k.left.Add(-int64(len(w.Records))) < 0 {
		k.waves, k.given = nil, true
		return
	}
	kept := keptWave{wave: *w, records: make([]keptRecord, len(w.Records))}
	kept.wave.Records, kept.wave.Waits, kept.wave.Timeline = nil, nil, nil
	for i := range w.Records {
		r := &w.Records[i]
		at := r.Time - w.Begin
		if int64(int32(at)) != at || uint64(r.Stall) > math.MaxUint32 || uint64(r.Duration) > math.MaxUint32 || int(int32(r.Line)) != r.Line {
			k.waves, k.given = nil, true
			return
		}
		kept.records[i] = keptRecord{int32(at), uint32(r.Stall), uint32(r.Duration), int32(r.Line)}
	}
	k.waves = append(k.waves, kept)
}

// replay hands the waves over again.
func (k *keeper) replay(ctx context.Context, folder trace.Folder) {
	var buf []trace.Record
	for i := range k.waves {
		if ctx.Err() != nil {
			return
		}
		w := k.waves[i].wave
		buf = buf[:0]
		for _, r := range k.waves[i].records {
			buf = append(buf, trace.Record{Time: w.Begin + int64(r.time), Stall: int64(r.stall), Duration: int64(r.duration), Line: int(r.line)})
		}
		w.Records = buf
		folder.Wave(&w)
	}
}

// Fold hands every wave that the replay has read to folders, as
// trace.WaveSource does, but without the decoder's categories, wait edges and
// timelines. A trace that is small enough is not read again.
func (r *Replay) Fold(ctx context.Context, workers int, newFolder func() trace.Folder) error {
	if r.kept == nil {
		_, err := r.source.Fold(ctx, workers, newFolder)
		return err
	}
	var wg sync.WaitGroup
	for i := range r.kept {
		folder := newFolder()
		wg.Go(func() { r.kept[i].replay(ctx, folder) })
	}
	wg.Wait()
	return ctx.Err()
}
